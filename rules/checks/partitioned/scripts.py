"""The script that the examples of `--variables partitioned` are made from."""

from __future__ import annotations

PARTITIONED = ("--variables", "partitioned")

SCRIPT = """\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
{model}
loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(logits=logits, labels=Y))
optimizer = tf.train.AdamOptimizer(0.001)
{train}

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels})
"""

MODEL = "logits = tf.layers.dense(tf.layers.dense(X, 1024, activation=tf.nn.relu), 10)"

TRAIN = "train_op = optimizer.minimize(loss)"



def script(model: str = MODEL, train: str = TRAIN) -> str:
    """The example with another model, or another training step."""
    return SCRIPT.replace("{model}", model).replace("{train}", train)
