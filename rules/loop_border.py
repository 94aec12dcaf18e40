"""The border of the tower loop: what goes in under its name, what comes out merged, and what cannot."""

from __future__ import annotations

from converter.rule import Rule

RULES = (
    Rule(
        code="TMG104",
        title="values of the towers that are read after the loop are merged",
        why="After the loop a name means what it meant on one GPU. Tensors with one row for each example "
        "(logits, predictions) are put together in the original order, so that accuracy, summaries and "
        "everything else computed from them has the value for the whole batch. Means over the examples "
        "become the mean weighted by the towers' rows, sums the sum, the loss the weighted mean. A "
        "tensor that had a name in the graph leaves it to the merged one: get_tensor_by_name and "
        "summary tags go on working. Only what the loss needs is built in the towers; metrics stand "
        "after the loop, as they are written.",
        before="""\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
logits = tf.layers.dense(X, 10)
loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(logits=logits, labels=Y), name='loss')
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)
accuracy = tf.reduce_mean(tf.to_float(tf.equal(tf.argmax(logits, 1), Y)))

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        _, value = sess.run([train_op, accuracy], {X: images, Y: labels})
""",
        after="""\
        tower_loss.append(loss * weight)
        tower_logits.append(logits[:rows])
loss = tf.add_n(tower_loss, name='loss')
logits = tf.concat(tower_logits, 0)
accuracy = tf.reduce_mean(tf.to_float(tf.equal(tf.argmax(logits, 1), Y)))
""",
        references=("docs: TMG210, what cannot be merged",),
    ),
    Rule(
        code="TMG203",
        title="a statement between those of the model cannot be moved",
        why="The loop holds the statements from the first use of an input to the loss. What stands between "
        "them and does not depend on the batch goes before it, what the loss does not need goes after "
        "it. This statement can do neither: it makes an input out of something that the model made, or "
        "ends the block. Inside the loop it would be done once for each tower. Move it before the model "
        "or after the loss.",
        before="""\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
hidden = tf.layers.dense(X, 64)
Y = tf.placeholder(tf.float32, [None, int(hidden.shape[1])])
loss = tf.reduce_mean(tf.square(hidden - Y))
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, targets = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: targets})
""",
        after="""\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.float32, [None, 64])
hidden = tf.layers.dense(X, 64)
loss = tf.reduce_mean(tf.square(hidden - Y))
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, targets = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: targets})
""",
    ),
    Rule(
        code="TMG204",
        title="an input is made by the same statement as the model that reads it",
        why="The placeholders stand before the loop, the model inside. One statement makes both here, a "
        "call that goes into a function for the one and the other, so there is no place between them "
        "for the loop to begin. Make the placeholders first and hand them to the function.",
        before="""\
import tensorflow as tf

batch_size = 64


def model(width):
    x = tf.placeholder(tf.float32, [None, width])
    return x, tf.layers.dense(x, 10)


Y = tf.placeholder(tf.int64, [None])
X, logits = model(784)
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


def model(x):
    return tf.layers.dense(x, 10)


X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
logits = model(X)
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
        code="TMG205",
        title="an input or a batch size is read through something that the loop cannot re-bind",
        why="Inside the loop the name under which the model reads an input stands for the tower's shard. "
        "That works for names, attributes and items that the loop's own block can write. This one is "
        "reached through a container or an object that has no name there, so the model would go on "
        "reading the whole batch, in every tower. Give it a name of its own before the model, or pass "
        "it to the function as an argument.",
        before="""\
import tensorflow as tf

batch_size = 64
feeds = {'train': {'x': tf.placeholder(tf.float32, [None, 784]), 'y': tf.placeholder(tf.int64, [None])}}
logits = tf.layers.dense(feeds['train']['x'], 10)
loss = tf.losses.sparse_softmax_cross_entropy(feeds['train']['y'], logits)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {feeds['train']['x']: images, feeds['train']['y']: labels})
""",
        after="""\
import tensorflow as tf

batch_size = 64
feeds = {'x': tf.placeholder(tf.float32, [None, 784]), 'y': tf.placeholder(tf.int64, [None])}
logits = tf.layers.dense(feeds['x'], 10)
loss = tf.losses.sparse_softmax_cross_entropy(feeds['y'], logits)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {feeds['x']: images, feeds['y']: labels})
""",
        references=("docs: TMG103, how names are re-bound",),
    ),
    Rule(
        code="TMG206",
        title="an input or a batch size belongs to the function around the loop",
        why="The loop stands in a function inside of another one and would have to re-bind a name of the "
        "outer one. Assigned in the inner function it becomes a local of it, and reading it before "
        "raises UnboundLocalError; Python 2 has no `nonlocal` to say otherwise. (A name of the module "
        "is declared global.) Pass it to the function as an argument.",
        before="""\
import tensorflow as tf

batch_size = 64


def train():
    X = tf.placeholder(tf.float32, [None, 784])
    Y = tf.placeholder(tf.int64, [None])

    def build():
        logits = tf.layers.dense(X, 10)
        loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
        return tf.train.AdamOptimizer(0.001).minimize(loss)

    train_op = build()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for step in range(100):
            images, labels = next_batch(batch_size)
            sess.run(train_op, {X: images, Y: labels})


train()
""",
        after="""\
import tensorflow as tf

batch_size = 64


def train():
    X = tf.placeholder(tf.float32, [None, 784])
    Y = tf.placeholder(tf.int64, [None])

    def build(x, y):
        logits = tf.layers.dense(x, 10)
        loss = tf.losses.sparse_softmax_cross_entropy(y, logits)
        return tf.train.AdamOptimizer(0.001).minimize(loss)

    train_op = build(X, Y)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for step in range(100):
            images, labels = next_batch(batch_size)
            sess.run(train_op, {X: images, Y: labels})


train()
""",
        references=("docs: TMG103, how names are re-bound",),
    ),
    Rule(
        code="TMG208",
        title="values of the towers are kept in a container that is not merged",
        why="Lists and dicts of tensors that are read after the loop are merged element by element, and the "
        "elements put back. A tuple takes no elements, a list whose length is not known cannot be "
        "walked, and containers inside containers are not followed: what is read here after the loop "
        "would be the last tower's part instead of the whole batch. Give each tensor that is read after "
        "the loss a name of its own.",
        before="""\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
logits = tf.layers.dense(X, 10)
outputs = (logits, tf.nn.softmax(logits))
loss = tf.losses.sparse_softmax_cross_entropy(Y, outputs[0])
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run([train_op, outputs], {X: images, Y: labels})
""",
        after="""\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
logits = tf.layers.dense(X, 10)
loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)
outputs = (logits, tf.nn.softmax(logits))

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run([train_op, outputs], {X: images, Y: labels})
""",
        references=("docs: TMG104, what is merged and how",),
    ),
    Rule(
        code="TMG210",
        title="a value of the towers is read after the loss and cannot be merged",
        why="The whole batch's value can be put together from the towers' only for what has a row for each "
        "example, a mean, or a sum. The maximum, the variance, a ratio of two sums, a rank or an F1 "
        "score of the whole batch is no mean of those of its parts, so any merging would show a wrong "
        "number. Compute it after the loss, from tensors that have one row for each example: those are "
        "put together exactly.",
        before="""\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
hidden = tf.layers.dense(X, 64)
mean, variance = tf.nn.moments(hidden, [0])
logits = tf.layers.dense((hidden - mean) / tf.sqrt(variance + 0.001), 10)
loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)
tf.summary.histogram('variance', variance)

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
hidden = tf.layers.dense(X, 64)
mean, variance = tf.nn.moments(hidden, [0])
logits = tf.layers.dense((hidden - mean) / tf.sqrt(variance + 0.001), 10)
loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)
tf.summary.histogram('variance', tf.nn.moments(hidden, [0])[1])

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels})
""",
        references=("docs: TMG104, what is merged and how",),
    ),
    Rule(
        code="TMG215",
        title="several batches behind each other meet an input with one row for each example",
        why="Two batches put behind each other (tf.concat along the batch axis, the two sides of a pair, "
        "real and generated images) are no longer one batch: a tower has the shard of the first behind "
        "the shard of the second. An input that is fed with rows for all of them at once, such as "
        "labels for both halves, would be cut down the middle instead, and its rows would belong to "
        "other examples. Feed what belongs to each of the batches on its own, and put it together as "
        "the batches are.",
        before="""\
import tensorflow as tf

batch_size = 64
A = tf.placeholder(tf.float32, [None, 784])
B = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.float32, [None, 1])
prediction = tf.layers.dense(tf.concat([A, B], 0), 1)
loss = tf.reduce_mean(tf.square(prediction - Y))
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        a, b, targets = next_batches(batch_size)
        sess.run(train_op, {A: a, B: b, Y: targets})
""",
        after="""\
import tensorflow as tf

batch_size = 64
A = tf.placeholder(tf.float32, [None, 784])
B = tf.placeholder(tf.float32, [None, 784])
YA = tf.placeholder(tf.float32, [None, 1])
YB = tf.placeholder(tf.float32, [None, 1])
prediction = tf.layers.dense(tf.concat([A, B], 0), 1)
loss = tf.reduce_mean(tf.square(prediction - tf.concat([YA, YB], 0)))
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        a, b, targets_a, targets_b = next_batches(batch_size)
        sess.run(train_op, {A: a, B: b, YA: targets_a, YB: targets_b})
""",
        references=("docs: TMG103, how batches are cut",),
    ),
    Rule(
        code="TMG225",
        title="a sparse batch would have to be cut into shards",
        why="A SparseTensor lists its values in one row after the other, any number to an example. Slicing "
        "it by examples needs operations that the TensorFlow versions do not share, and none of them keeps "
        "the feed as it is. A dense batch, or padded rows of indices with an embedding, can be cut.",
        before="""\
import tensorflow as tf

batch_size = 64
X = tf.sparse_placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
W = tf.get_variable('W', [784, 10])
logits = tf.sparse_tensor_dense_matmul(X, W)
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
W = tf.get_variable('W', [784, 10])
logits = tf.matmul(X, W)
loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels})
""",
        references=("tf.sparse_placeholder", "tf.sparse_slice"),
    ),
    Rule(
        code="TMG226",
        title="moving averages of the model's own tensors are made inside the model",
        why="ExponentialMovingAverage.apply names its variables after the tensors that it averages. Inside "
        "a tower these names begin with the tower's scope, so checkpoints of the original no longer fit, and "
        "a second tower cannot make them once more. Averages of variables, made after the training step, "
        "are not concerned.",
        before="""\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
mean = tf.reduce_mean(X, 0)
ema = tf.train.ExponentialMovingAverage(0.9)
with tf.control_dependencies([ema.apply([mean])]):
    centred = X - tf.identity(mean)
logits = tf.layers.dense(centred, 10)
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
centred = tf.layers.batch_normalization(X, training=True)
logits = tf.layers.dense(centred, 10)
loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
    train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels})
""",
        references=("tf.train.ExponentialMovingAverage",),
    ),
)
