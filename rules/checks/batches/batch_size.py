"""The batch size, from its uses to its definition: on the host it is the global batch's."""

from __future__ import annotations

from converter.rule import Rule

_ROWS_TOLD_APART = """\
import tensorflow as tf

batch_size = 32
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.float32, [None, 10])
rows = tf.range(tf.shape(X)[0])
predicted = tf.layers.dense(X, 10)
error = tf.where(tf.equal(rows % 2, 0), tf.square(predicted - Y), tf.abs(predicted - Y))
loss = tf.reduce_mean(error)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels})
"""

_ROWS_THAT_STAY = """\
import numpy as np
import tensorflow as tf

batch_size = 64
valid = np.load('valid.npy'){rows}
X = tf.placeholder(tf.float32, [{size}, 784])
loss = tf.reduce_mean(tf.square(tf.layers.dense(X, 10)))
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        sess.run(train_op, {X: next_batch(batch_size)})
    print(sess.run(loss, {X: valid}))
"""

_LITERAL_ROWS = """\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
noise = tf.random_normal([{rows}, 784])
loss = tf.reduce_mean(tf.square(tf.layers.dense(X + noise, 10)))
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        sess.run(train_op, {X: next_batch(batch_size)})
"""

_EXAMPLES_TOLD_APART = """\
import tensorflow as tf

batch_size = 32
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.float32, [None, 10])
even = tf.placeholder(tf.bool, [None])
predicted = tf.layers.dense(X, 10)
error = tf.where(even, tf.square(predicted - Y), tf.abs(predicted - Y))
loss = tf.reduce_mean(error)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels, is_even = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels, even: is_even})
"""

RULES = (
    Rule(
        code="TMG207",
        title="the model reads a number that depends on the batch size in an unknown way",
        why="Inside the towers a batch size means one shard's. That is known for the batch size itself and "
        "for multiples and fractions of it, which are re-bound there, and for numbers that the model's "
        "own block computes from it. This number is computed elsewhere and is neither: batch_size - 1, "
        "1 / batch_size. The model would read the one of the global batch. Compute it where the model "
        "uses it, from the batch size. A batch size that is fed to a placeholder of whole numbers is counted in each "
        "tower (TMG108); as a fraction, or in front of the model, or beside inputs with other numbers of rows, it "
        "cannot be: read it off an input, tf.shape(X)[0]. Lists and arrays that Python makes with the batch size "
        "(`[steps] * batch_size`, numpy.ones) are made by each tower where all their rows are alike. And a number of "
        "rows that a batch is reshaped to, and that nothing tells to be the batch size, would be the same in each "
        "tower.",
        before="""\
import tensorflow as tf

batch_size = 64
noise = 0.1 / batch_size


def build(x, y):
    x = x + tf.random_normal(tf.shape(x), stddev=noise)
    loss = tf.losses.sparse_softmax_cross_entropy(y, tf.layers.dense(x, 10))
    return tf.train.AdamOptimizer(0.001).minimize(loss)


X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
train_op = build(X, Y)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels})
""",
        after="""\
import tensorflow as tf

batch_size = 64


def build(x, y, size):
    x = x + tf.random_normal(tf.shape(x), stddev=0.1 / size)
    loss = tf.losses.sparse_softmax_cross_entropy(y, tf.layers.dense(x, 10))
    return tf.train.AdamOptimizer(0.001).minimize(loss)


X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
train_op = build(X, Y, batch_size)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels})
""",
        references=("docs: TMG108, the number inside the towers",),
    ),
    Rule(
        code="TMG212",
        title="one reading of the batch size serves the towers and the host",
        why="A batch size that comes from a flag stays what the user gives for one GPU: the towers read it "
        "as it is, and the host's readings are multiplied by the number of GPUs where they stand. This "
        "one stands in a function that both the towers and other code call, so it would need both "
        "values. Pass the batch size to the function as an argument.",
        before="""\
import tensorflow as tf

tf.app.flags.DEFINE_integer('batch_size', 64, 'Examples in a step.')
FLAGS = tf.app.flags.FLAGS


def shape(width):
    return [FLAGS.batch_size, width]


X = tf.placeholder(tf.float32, shape(784))
Y = tf.placeholder(tf.int64, [None])
logits = tf.layers.dense(X + tf.random_normal(shape(784)), 10)
loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(FLAGS.batch_size)
        sess.run(train_op, {X: images, Y: labels})
""",
        after="""\
import tensorflow as tf

tf.app.flags.DEFINE_integer('batch_size', 64, 'Examples in a step.')
FLAGS = tf.app.flags.FLAGS


def shape(size, width):
    return [size, width]


X = tf.placeholder(tf.float32, shape(FLAGS.batch_size, 784))
Y = tf.placeholder(tf.int64, [None])
logits = tf.layers.dense(X + tf.random_normal(shape(FLAGS.batch_size, 784)), 10)
loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(FLAGS.batch_size)
        sess.run(train_op, {X: images, Y: labels})
""",
        references=("docs: TMG110, where the number is changed",),
    ),
    Rule(
        code="TMG224",
        title="a variable is made with the batch size in its shape",
        why="Such a variable has a value for each place of a batch (a state that is carried from one batch "
        "to the next, a bias per row). A tower has only some of the places, and the global batch has N "
        "times as many as the checkpoint of the original. No share of the variable would be right. Make "
        "its shape independent of the batch size; a state that is carried over can be fed and fetched.",
        before="""\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
bias = tf.get_variable('bias', [batch_size, 10])
logits = tf.layers.dense(X, 10) + bias
loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels})
""",
        after="""\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
bias = tf.get_variable('bias', [10])
logits = tf.layers.dense(X, 10) + bias
loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels})
""",
    ),
    Rule(
        code="TMG303",
        title="the size of the batches was not found",
        why="What is fed here comes from code that the tool cannot follow: a generator, another file, a "
        "reader of its own. So the script goes on loading batches of the size that it had, and the "
        "towers share each of them. The steps are right, but each GPU has only 1/N of the work, and a "
        "run takes as many steps as before. Name the number batch_size where it is defined in the "
        "script, or make that code load N times as many.",
        before="""\
import tensorflow as tf

X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
logits = tf.layers.dense(X, 10)
loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for images, labels in batches():
        sess.run(train_op, {X: images, Y: labels})
""",
        after="""\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
logits = tf.layers.dense(X, 10)
loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for images, labels in batches(batch_size):
        sess.run(train_op, {X: images, Y: labels})
""",
        references=("docs: TMG110, how the number is followed",),
    ),
    Rule(
        code="TMG304",
        title="the whole data set goes into each step",
        why="Every step takes all examples there are, fed to placeholders or read from arrays, lists and "
        "constants in the graph, so there is no batch size to raise: the towers share "
        "the data set, each step is the original's, computed by N GPUs, and the number of steps stays. "
        "That is --batch total, whatever was asked for. Feeding batches (of a size that the script "
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
    Rule(
        code="TMG305",
        title="the batch size comes from the caller",
        why="A function takes the batch size as a parameter, and nothing in this file calls it, so the "
        "number's definition is out of sight. The parameter is multiplied where the function begins: it "
        "means the batch of one tower. A caller that does its own counting with it (steps in an epoch, "
        "slices of the data) still counts in batches of one tower. Let callers hand over the batch size "
        "of one tower and load their batches N times as large, or define the number in this file.",
        before="""\
import tensorflow as tf


def train(data, batch_size):
    X = tf.placeholder(tf.float32, [None, 784])
    Y = tf.placeholder(tf.int64, [None])
    logits = tf.layers.dense(X, 10)
    loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
    train_op = tf.train.AdamOptimizer(0.001).minimize(loss)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for step in range(100):
            images, labels = data.next_batch(batch_size)
            sess.run(train_op, {X: images, Y: labels})
""",
        after="""\
import tensorflow as tf


def train(data):
    batch_size = 64
    X = tf.placeholder(tf.float32, [None, 784])
    Y = tf.placeholder(tf.int64, [None])
    logits = tf.layers.dense(X, 10)
    loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
    train_op = tf.train.AdamOptimizer(0.001).minimize(loss)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for step in range(100):
            images, labels = data.next_batch(batch_size)
            sess.run(train_op, {X: images, Y: labels})
""",
        references=("docs: TMG110, how the number is followed",),
    ),
    Rule(
        code="TMG316",
        title="the same model is built for one example at a time",
        why="A script that trains a model and then writes texts with it often builds it twice: with the batch size "
        "for training, and with a batch of one example in which each step is read from what the step before "
        "gave. That one is not multiplied. One example has no shards: the first tower computes it, the others "
        "compute on a copy of it that is left out of the results. These are right, and come no faster. Let a "
        "script of its own build the model for one example, and restore the checkpoint there.",
        before="""\
import tensorflow as tf


class Model(object):
    def __init__(self, batch_size, writes=False):
        if writes:
            batch_size = 1
        self.X = tf.placeholder(tf.int32, [batch_size, 20])
        self.Y = tf.placeholder(tf.int32, [batch_size, 20])
        table = tf.get_variable('table', [50, 16])
        logits = tf.layers.dense(tf.nn.embedding_lookup(table, self.X), 50, name='logits')
        self.loss = tf.losses.sparse_softmax_cross_entropy(self.Y, logits)
        if not writes:
            self.train_op = tf.train.GradientDescentOptimizer(0.1).minimize(self.loss)


model = Model(32)
with tf.variable_scope(tf.get_variable_scope(), reuse=True):
    writer = Model(32, writes=True)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        x, y = next_batch(32)
        sess.run(model.train_op, {model.X: x, model.Y: y})
""",
        after="""\
import tensorflow as tf


class Model(object):
    def __init__(self, batch_size):
        self.X = tf.placeholder(tf.int32, [batch_size, 20])
        self.Y = tf.placeholder(tf.int32, [batch_size, 20])
        table = tf.get_variable('table', [50, 16])
        logits = tf.layers.dense(tf.nn.embedding_lookup(table, self.X), 50, name='logits')
        self.loss = tf.losses.sparse_softmax_cross_entropy(self.Y, logits)
        self.train_op = tf.train.GradientDescentOptimizer(0.1).minimize(self.loss)


model = Model(32)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        x, y = next_batch(32)
        sess.run(model.train_op, {model.X: x, model.Y: y})
""",
        references=("docs: TMG110, how the number is followed",),
    ),
    Rule(
        code="TMG244",
        title="the number of an example's row decides what is computed for it, in a batch that is shared",
        why="`tf.range` over the batch numbers its rows. As places in the batch (for tf.gather_nd, to pick a value of "
        "each row) such numbers are right in each tower, which has rows of its own. But where they are compared, "
        "taken modulo something, or looked up in a table, an example is computed on by its place in the batch. Each "
        "tower counts from 0: of a batch that the towers share, other examples would be chosen than on one GPU.",
        before=_ROWS_TOLD_APART,
        after=_EXAMPLES_TOLD_APART,
        options=("--batch", "total"),
        references=("docs: TMG317, where each tower has a batch of its own",),
    ),
    Rule(
        code="TMG317",
        title="the number of an example's row decides what is computed for it",
        why="`tf.range` over the batch numbers its rows, and an example is computed on by this number. Each tower "
        "counts the rows of its own batch from 0, as the script did on one GPU with its batch. Only where the last "
        "batch of an epoch is smaller, and shared by the towers, its rows are numbered in another way than there.",
        before=_ROWS_TOLD_APART,
        after=_EXAMPLES_TOLD_APART,
        references=("docs: TMG244, where the towers share a batch",),
    ),
    Rule(
        code="TMG252",
        title="what is fed to an input of a fixed size does not grow with it",
        why="A placeholder with the batch size in its shape takes N times the rows, as the host feeds a batch for all "
        "towers; so does a model that reshapes to the batch size. This run feeds it a fixed number of rows, which is "
        "one batch of the script as it was: an array of labels, a validation set of just as many rows. TensorFlow "
        "would refuse it. Make what is fed with the batch size, or leave the rows of the input open.",
        before=_ROWS_THAT_STAY.replace("{rows}", "[:64]").replace("{size}", "batch_size"),
        after=_ROWS_THAT_STAY.replace("{rows}", "[:64]").replace("{size}", "None"),
        references=("docs: TMG110, how the number is followed",),
    ),
    Rule(
        code="TMG254",
        title="the model has a number that is as large as the batch size",
        why="With --batch total the towers share a batch of the script's size, and the batch size means a share of it "
        "in each tower. This number is written in the model, is as large as the batch size (or as the flag for it is "
        "by default), and tells how many rows a batch is reshaped or cut to, or goes with: the rows of a tower are "
        "fewer. Write the batch size by its name, or read it off the batch: tf.shape(X)[0].",
        before=_LITERAL_ROWS.replace("{rows}", "64"),
        after=_LITERAL_ROWS.replace("{rows}", "batch_size"),
        options=("--batch", "total"),
        references=("docs: TMG108, the number inside the towers",),
    ),
)
