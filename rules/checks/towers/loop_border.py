"""The border of the tower loop: what goes in under its name, what comes out merged, and what cannot."""

from __future__ import annotations

from converter.rule import Rule

RULES = (
    Rule(
        code="TMG203",
        title="a statement between those of the model cannot be moved",
        why="The loop holds the statements from the first use of an input to the loss. What stands between "
        "them and does not depend on the batch goes before it, what the loss does not need goes after "
        "it. This statement can do neither: it makes an input out of something that the model made, "
        "ends the block, or calls another package that may add to a collection of the graph which the loss reads. "
        "Inside the loop it would be done once for each tower. Move it before the model "
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
        "it to the function as an argument. Data that the model reads from arrays must not be read or "
        "changed by Python code between the model's statements, either: that code would see a shard.",
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
        why="Lists, tuples, named tuples and dicts of tensors that are read after the loop are merged element by "
        "element and put together again, or as a whole where all their tensors have one row for each "
        "example (the states of recurrent cells, for one; lists whose length is not known). Here the "
        "length is not known, and the tensors are of several kinds: a mean beside the rows. What is read "
        "after the loop would be the last tower's part instead of the whole batch. Give each tensor that "
        "is read after the loss a name of its own.",
        before="""\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
heads = [(tf.layers.dense(X, 10), tf.reduce_mean(X)) for _ in load_tasks()]
loss = tf.losses.sparse_softmax_cross_entropy(Y, tf.add_n([logits for logits, _ in heads]))
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run([train_op, heads], {X: images, Y: labels})
""",
        after="""\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
heads = [tf.layers.dense(X, 10) for _ in load_tasks()]
loss = tf.losses.sparse_softmax_cross_entropy(Y, tf.add_n(heads))
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)
mean = tf.reduce_mean(X)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run([train_op, heads, mean], {X: images, Y: labels})
""",
        references=("docs: TMG104, what is merged and how",),
    ),
    Rule(
        code="TMG210",
        title="a value of the towers is read after the loss and cannot be merged",
        why="The whole batch's value can be put together from the towers' only for what has a row for each "
        "example, a mean, or a sum. The maximum, the variance, a ratio of two sums, a rank or an F1 "
        "score of the whole batch is no mean of those of its parts, so any merging would show a wrong "
        "number. Where the statement that makes it does nothing else, it is repeated after the loop; this "
        "one makes variables too, draws random numbers, or stands in a function or a loop of its own. "
        "Compute the value in a statement of its own, from tensors that have one row for each example: "
        "those are put together exactly. Nor can a loss be merged that one call of a class or function makes and "
        "another leaves out (`if training:`): the towers of that call would miss it.",
        before="""\
import tensorflow as tf

batch_size = 64


def layer(x):
    x = tf.layers.dense(x, 64)
    mean, variance = tf.nn.moments(x, [0])
    return (x - mean) / tf.sqrt(variance + 0.001), variance


X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
hidden, variance = layer(X)
logits = tf.layers.dense(hidden, 10)
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


def normalised(x):
    mean, variance = tf.nn.moments(x, [0])
    return (x - mean) / tf.sqrt(variance + 0.001), variance


X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
dense = tf.layers.dense(X, 64)
hidden, variance = normalised(dense)
logits = tf.layers.dense(hidden, 10)
loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)
tf.summary.histogram('variance', variance)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels})
""",
        references=("docs: TMG104, what is merged and how", "docs: TMG116, what is computed once more"),
    ),
    Rule(
        code="TMG215",
        title="several batches behind each other meet an input with one row for each example",
        why="Two batches put behind each other (tf.concat along the batch axis, the two sides of a pair, "
        "real and generated images) are no longer one batch: a tower has the shard of the first behind "
        "the shard of the second. An input that is fed with rows for all of them at once, such as "
        "labels for both halves, would be cut down the middle instead, and its rows would belong to "
        "other examples. So would the pieces into which the model splits what is fed (tf.split into a "
        "given number of pieces along the batch axis, as for the parts of a recurrent net's state): those "
        "of a shard are other ones. Feed what belongs to each of the batches on its own, and put it "
        "together as the batches are.",
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
        title="nothing tells where the examples are in a sparse batch",
        why="Sparse batches are cut by their rows (TMG135), so the rows must be the examples. A shape with "
        "the batch axis in front says so, and so do a CTC loss, a product with a dense matrix and a look-up "
        "of embeddings, which read it row by row. Where a sparse placeholder has no shape and goes "
        "elsewhere, or its batch axis is another one, its rows may be anything, such as the nodes of a graph.",
        before="""\
import tensorflow as tf

batch_size = 64
X = tf.sparse_placeholder(tf.float32)
Y = tf.placeholder(tf.int64, [None])
logits = tf.layers.dense(tf.reshape(tf.sparse_tensor_to_dense(X), [-1, 784]), 10)
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
X = tf.sparse_placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
logits = tf.layers.dense(tf.reshape(tf.sparse_tensor_to_dense(X), [-1, 784]), 10)
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
        title="moving averages that the model makes of its tensors are used after it",
        why="ExponentialMovingAverage.apply names its variables after the tensors that it averages. Where the "
        "model does so, as in a batch norm written by hand, the first tower keeps the averages under the names that "
        "they have on one GPU, and the others read them (TMG106). After the loop such an object knows the "
        "last tower's tensors only: .average() would give nothing, and what makes the update depend on a "
        "condition there, or wait for it, would update nothing. The batch itself has no name in a tower. "
        "Averages of variables, made after the training step, are not concerned.",
        before="""\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
hidden = tf.layers.dense(X, 10)
mean = tf.reduce_mean(hidden, 0)
ema = tf.train.ExponentialMovingAverage(0.9)
with tf.control_dependencies([ema.apply([mean])]):
    logits = hidden - tf.identity(ema.average(mean))
loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)
tf.summary.histogram('mean', ema.average(mean))

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
hidden = tf.layers.dense(X, 10)
mean = tf.reduce_mean(hidden, 0)
ema = tf.train.ExponentialMovingAverage(0.9)
with tf.control_dependencies([ema.apply([mean])]):
    average = ema.average(mean)
    logits = hidden - tf.identity(average)
loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)
tf.summary.histogram('mean', average)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels})
""",
        references=("tf.train.ExponentialMovingAverage",),
    ),
)
