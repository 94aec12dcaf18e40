"""Statements in the middle of the model that go out of the loop."""

from __future__ import annotations

from converter.rule import Rule

RULES = (
    Rule(
        code="TMG121",
        title="statements in the middle of the model go before the loop or after it",
        why="The loop holds one run of statements, from the first use of an input to the loss. Inside it a statement "
        "is executed once for each tower. A statement that depends on no batch (a variable, a placeholder, the "
        "learning rate) goes before the loop; one that the loss does not need (accuracy, summaries) goes after it "
        "and reads the merged values. Each keeps its text, and moved statements keep their order; a statement "
        "that cannot be moved is refused (TMG203).",
        before="""\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
hidden = tf.layers.dense(X, 64)
rate = tf.Variable(0.001, trainable=False)
logits = tf.layers.dense(hidden, 10)
Y = tf.placeholder(tf.int64, [None])
accuracy = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1), Y), tf.float32))
loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(logits=logits, labels=Y))
train_op = tf.train.AdamOptimizer(rate).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels})
""",
        after="""\
rate = tf.Variable(0.001, trainable=False)
Y = tf.placeholder(tf.int64, [None])
for gpu in range(num_gpus):
        hidden = tf.layers.dense(X, 64)
        logits = tf.layers.dense(hidden, 10)
logits = tf.concat(tower_logits, 0)
loss = tf.add_n(tower_loss)
accuracy = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1), Y), tf.float32))
""",
        references=("docs: TMG104, what the moved statements read; TMG203, what cannot be moved",),
    ),
)
