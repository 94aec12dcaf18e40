"""Placeholders that the model makes: each tower is handed its rows of one for the whole batch."""

from __future__ import annotations

from converter.rule import Rule

RULES = (
    Rule(
        code="TMG124",
        title="each tower is handed its rows of the placeholders that the model makes",
        why="A model often makes its own placeholders: in its constructor, in a function that builds it, under an if. "
        "Where the loop has to go around such a call, every tower would make placeholders of its own, and the script "
        "would feed the last one's. So while a tower is built, tf.placeholder and tf.placeholder_with_default are "
        "replaced: the first tower makes the placeholder for the whole batch, outside of the tower's scopes and under "
        "the name that it has on one GPU, and each tower is handed its rows of it. What has no dimensions (a dropout "
        "rate, a switch for training) is handed to all towers as it is. After the loop the attributes and names that "
        "hold a tower's rows get the whole placeholder back, so that the script feeds it as before. The model's own "
        "lines stay as they are.",
        before="""\
import tensorflow as tf

batch_size = 64


def model(width):
    x = tf.placeholder(tf.float32, [None, width], name='x')
    keep = tf.placeholder(tf.float32, [], name='keep')
    return x, keep, tf.layers.dense(tf.nn.dropout(x, keep), 64)


Y = tf.placeholder(tf.int64, [None])
X, keep, hidden = model(784)
logits = tf.layers.dense(hidden, 10)
loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels, keep: 0.5})
""",
        after="""\
tower_inputs = TowerInputs()
            tower_collections.tower(gpu), tower_inputs.tower(gpu):
        X, keep, hidden = model(784)
        logits = tf.layers.dense(hidden, 10)
        rows_X, weight_X = tower_inputs.share(X)
Y, X = Y_batch, tower_inputs.whole(X)
""",
        references=("docs: TMG103, inputs that the script makes; TMG230, placeholders that cannot be handed",),
    ),
)
