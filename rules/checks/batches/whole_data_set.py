"""The whole data set goes into each step."""

from __future__ import annotations

from converter.planner.found import Found
from converter.planner.wording import Words
from converter.rule import Rule
from rules.checks.batches.size_not_found import GOES_ON

RULES = (
    Rule(
        code="TMG304",
        title="the whole data set goes into each step",
        why="Every step takes all examples there are, fed to placeholders or read from arrays, lists and "
        "constants in the graph, so there is no batch size to raise: the towers share "
        "the data set, each step is the original's, computed by N GPUs, and the number of steps stays. "
        "That is --batch total, whatever was asked for. The same holds for one batch that is made before the "
        "loop and fed in each turn: with more examples in it, the script would train on other data. "
        "Feeding batches (of a size that the script "
        "names) makes steps cheaper, and lets them grow with the number of GPUs.",
        before="""\
import numpy as np
import tensorflow as tf

images = np.load('images.npy')
labels = np.load('labels.npy')
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
logits = tf.layers.dense(X, 10)
loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        sess.run(train_op, {X: images, Y: labels})
""",
        after="""\
import numpy as np
import tensorflow as tf

batch_size = 64
images = np.load('images.npy')
labels = np.load('labels.npy')
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
logits = tf.layers.dense(X, 10)
loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(0, len(images), batch_size):
        sess.run(train_op, {X: images[i:i + batch_size], Y: labels[i:i + batch_size]})
""",
        references=("docs: TMG110, how the number is followed",),
    ),
)

WORDS = {
    Found.WHOLE_DATA_SET_BESIDE_BATCHES: Words(
        "TMG304",
        "the whole data set is fed in this training step, and batches are in another" + GOES_ON,
        "convert the models separately, each in a script of its own",
    ),
    Found.DATA_IN_GRAPH: Words(
        "TMG304",
        "the whole data set goes into each step as a part of the graph" + GOES_ON,
        "feed batches of the size of one tower times the number of GPUs to scale up",
    ),
    Found.WHOLE_DATA_SET: Words(
        "TMG304",
        "the whole data set is fed in each step" + GOES_ON,
        "feed batches of the size of one tower times the number of GPUs to scale up",
    ),
    Found.REFILLED: Words(
        "TMG304",
        "the array that is fed here is filled again in the training loop, and it was not found that all of its rows "
        "are, if it has more" + GOES_ON,
        "fill it by the number that it was made with: for i in range(batch_size), or batch[:] = …",
    ),
    Found.SAME_BATCH: Words(
        "TMG304",
        "the batch is made before the training loop, and each step is fed the same one" + GOES_ON,
        "make a batch in each turn of the loop, or make it larger by hand, to scale up",
    ),
}
