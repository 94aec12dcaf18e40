"""Values that building a model changes, in Python and in variables: one tower must not pass them on to the next."""

from __future__ import annotations

from converter.rule import Rule

RULES = (
    Rule(
        code="TMG131",
        title="each tower starts with the values from before the loop",
        why="Building a model may change Python values and read them again: a counter that numbers scopes, a list of "
        "layers, a dict or an attribute that caches tensors, a loss that is added up from zero. The second tower "
        "would continue where the first ended: with layer3 instead of layer1, with the tensors of the first. So "
        "these names, attributes, lists and dicts are set back to their values from before the loop. A plain "
        "first value right in front of the model (`loss = 0`) goes into the loop instead. A number computed from "
        "the variables made so far (`n = len(tf.trainable_variables())` between two parts of the model) is taken "
        "from the first tower in all of them: the second would count the variables of the whole model.",
        before="""\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
count = 0


def layer(x, size):
    global count
    count += 1
    with tf.variable_scope('layer%d' % count):
        w = tf.get_variable('w', [int(x.shape[1]), size])
    return tf.matmul(x, w)


logits = layer(tf.nn.relu(layer(X, 64)), 10)
loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels})
""",
        after="""\
X_batch, Y_batch, first_count = X, Y, count
        count = first_count
        logits = layer(tf.nn.relu(layer(X, 64)), 10)
""",
    ),
)
