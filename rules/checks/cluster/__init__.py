"""Pages of what keeps a script from a cluster."""

from converter.rule import with_changes

# A script that is converted; the examples of the pages differ from it in a line or two.
SCRIPT = """\
import numpy as np
import tensorflow as tf

batch_size = 64
images, labels = np.load('images.npy'), np.load('labels.npy')

x = tf.placeholder(tf.float32, [None, 784])
y = tf.placeholder(tf.int64, [None])
logits = tf.layers.dense(x, 10)
loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)
saver = tf.train.Saver()

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for begin in range(0, len(images), batch_size):
        batch = {x: images[begin:begin + batch_size], y: labels[begin:begin + batch_size]}
        sess.run(train_op, feed_dict=batch)
    saver.save(sess, 'model')
"""


def changed(*lines: str) -> str:
    """The script with some texts in place of others: old, new, old, new."""
    return with_changes(SCRIPT, lines)
