"""What is no training step, or one that cannot be taken apart."""

from __future__ import annotations

from converter.rule import Rule

RULES = (
    Rule(
        code="TMG201",
        title="no training step was found",
        why="The tool looks for what a training script does: minimize(), compute_gradients() or "
        "tf.gradients() of a loss, in the script or in the functions that it calls. This file has none "
        "that can be reached: it only builds a model, evaluates one, or trains it in another file. "
        "Towers speed up training, so there is nothing to do here. Convert the script that trains.",
        before="""\
import tensorflow as tf

X = tf.placeholder(tf.float32, [None, 784])
logits = tf.layers.dense(X, 10)

with tf.Session() as sess:
    tf.train.Saver().restore(sess, 'model.ckpt')
    print(sess.run(logits, {X: load()}))
""",
        after="""\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
logits = tf.layers.dense(X, 10)
loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(logits=logits, labels=Y))
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels})
""",
    ),
    Rule(
        code="TMG202",
        title="no batch of examples goes into the loss",
        why="Towers share a batch. The loss that is minimised here depends on no input with a batch axis: "
        "no placeholder of the shape [None, …] or [batch_size, …] and no batch of a pipeline leads to "
        "it, or what leads to it is a placeholder whose shape says nothing and that is fed with a "
        "number. Arrays, lists and constants that the model reads directly are cut where the script shows "
        "their shapes and the loss is surely a mean or a sum over their rows (TMG304); the message says "
        "what is in the way. Feed the examples through a placeholder with a batch axis; for one that has "
        "it elsewhere or does not show it, --batch-axis NAME=0 says where.",
        before="""\
import numpy as np
import tensorflow as tf

x, y = np.loadtxt('points.txt', unpack=True, dtype='float32')
w = tf.get_variable('w', [])
b = tf.get_variable('b', [])
loss = tf.reduce_mean(tf.square(w * x + b - y))
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        sess.run(train_op)
""",
        after="""\
import numpy as np
import tensorflow as tf

x, y = np.loadtxt('points.txt', unpack=True, dtype='float32')
batch_size = 20
X = tf.placeholder(tf.float32, [None])
Y = tf.placeholder(tf.float32, [None])
w = tf.get_variable('w', [])
b = tf.get_variable('b', [])
loss = tf.reduce_mean(tf.square(w * X + b - Y))
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        rows = np.random.choice(len(x), batch_size)
        sess.run(train_op, {X: x[rows], Y: y[rows]})
""",
        references=("docs: TMG103, which inputs are cut",),
    ),
    Rule(
        code="TMG209",
        title="the loss has no name where the towers are built",
        why="Each tower's loss is kept when its turn ends, and the merged loss takes its name after the "
        "loop. Here functions of the script build it right where it is minimised, so there is no statement "
        "for the towers to execute. The same goes for a tensor that is fetched or looked up by its name in the "
        "graph and may be a part of the model: it has another name in each tower, and no name in the script by which "
        "it could be merged. And where the towers end before the loss, as the function around them makes inputs too, "
        "what it takes from them has to have a name there. Give the loss, or the tensor, a name in a statement of "
        "its own.",
        before="""\
import tensorflow as tf

batch_size = 64


def loss_of(x, y):
    return tf.losses.sparse_softmax_cross_entropy(y, tf.layers.dense(x, 10))


X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
train_op = tf.train.AdamOptimizer(0.001).minimize(loss_of(X, Y))

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels})
""",
        after="""\
import tensorflow as tf

batch_size = 64


def loss_of(x, y):
    return tf.losses.sparse_softmax_cross_entropy(y, tf.layers.dense(x, 10))


X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
loss = loss_of(X, Y)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels})
""",
    ),
    Rule(
        code="TMG213",
        title="the training step is made by a call that cannot be taken apart",
        why="The towers need the halves of a training step apart: gradients for each, one update for all. "
        "A minimize() whose arguments are given by * or ** cannot be taken apart, and neither can "
        "slim.learning.create_train_op, tf.contrib.layers.optimize_loss and their like where the "
        "optimizer that they are given is not seen. Write the arguments out, and hand over the "
        "optimizer itself.",
        before="""\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
logits = tf.layers.dense(X, 10)
loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
arguments = {'global_step': tf.train.get_or_create_global_step()}
train_op = tf.train.AdamOptimizer(0.001).minimize(loss, **arguments)

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
logits = tf.layers.dense(X, 10)
loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss, global_step=tf.train.get_or_create_global_step())

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels})
""",
        references=("docs: TMG118, functions that build a whole training step",),
    ),
    Rule(
        code="TMG214",
        title="the model and its loss are not built in one place",
        why="The loop goes around one run of statements, in the innermost function that sees both the "
        "inputs and the finished loss. Here there is none: the whole model is written inside the call "
        "that minimises it, or its parts are built by functions that nothing in this file calls one "
        "after the other. Build the model and its loss in statements of one block, or call the "
        "functions that do from one place in this file.",
        before="""\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
train_op = tf.train.AdamOptimizer(0.001).minimize(
    tf.losses.sparse_softmax_cross_entropy(Y, tf.layers.dense(X, 10)))

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
logits = tf.layers.dense(X, 10)
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
        code="TMG216",
        title="the script uses several GPUs already",
        why="It places parts of its model on GPUs of its own choice, or builds them in a loop over devices. "
        "Towers around that would ask for the same devices again, each for all of its parts. Convert "
        "the script as it was for one GPU; where the parts of one model are spread over the GPUs "
        "because it does not fit on one of them, towers are not what is needed.",
        before="""\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
with tf.device('/gpu:0'):
    hidden = tf.layers.dense(X, 64)
with tf.device('/gpu:1'):
    logits = tf.layers.dense(hidden, 10)
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
hidden = tf.layers.dense(X, 64)
logits = tf.layers.dense(hidden, 10)
loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels})
""",
        references=("docs: TMG109, where variables and towers are placed",),
    ),
    Rule(
        code="TMG217",
        title="the script is distributed already",
        why="It belongs to a cluster (tf.train.Server, ClusterSpec, replica_device_setter), synchronises "
        "replicas (SyncReplicasOptimizer) or runs under a distribution strategy. What those do with "
        "gradients and variables contradicts what towers do. Convert the script as it was for one GPU "
        "on one machine.",
        before="""\
import tensorflow as tf

batch_size = 64
cluster = tf.train.ClusterSpec({'ps': ['localhost:2222'], 'worker': ['localhost:2223']})
server = tf.train.Server(cluster, 'worker', 0)
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
logits = tf.layers.dense(X, 10)
loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session(server.target) as sess:
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
logits = tf.layers.dense(X, 10)
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
        code="TMG218",
        title="each training step takes one example",
        why="The placeholders have no batch axis and the training loop feeds them with the examples of the "
        "data set one by one, or it feeds batches of a single row ([x], x[None], x.reshape(1, 4)), as "
        "programs do that take the gradients of each step of a game and feed back their mean. Or the rows "
        "that are fed are the steps of one sequence: a recurrent net (time_major=True), tf.scan or a loop "
        "of the graph takes what it made of one row to the next, and each tower would begin anew. There "
        "is nothing to share among towers, and on GPUs a step of one example is mostly waiting. Feed "
        "several examples at a time, to placeholders with a batch axis, and take the mean of their losses.",
        before="""\
import numpy as np
import tensorflow as tf

train_x = np.linspace(0, 1, 100)
train_y = 3 * train_x
X = tf.placeholder(tf.float32)
Y = tf.placeholder(tf.float32)
w = tf.Variable(0.0)
loss = tf.reduce_mean(tf.square(w * X - Y))
train_op = tf.train.GradientDescentOptimizer(0.01).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for x, y in zip(train_x, train_y):
        sess.run(train_op, {X: x, Y: y})
    print(sess.run(w), sess.run(loss, {X: train_x, Y: train_y}))
""",
        after="""\
import numpy as np
import tensorflow as tf

batch_size = 16
train_x = np.linspace(0, 1, 100)
train_y = 3 * train_x
X = tf.placeholder(tf.float32, [None])
Y = tf.placeholder(tf.float32, [None])
w = tf.Variable(0.0)
loss = tf.reduce_mean(tf.square(w * X - Y))
train_op = tf.train.GradientDescentOptimizer(0.01).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(0, len(train_x), batch_size):
        sess.run(train_op, {X: train_x[i:i + batch_size], Y: train_y[i:i + batch_size]})
""",
    ),
    Rule(
        code="TMG219",
        title="the training step stands among the statements of the model",
        why="The towers build the model N times; the training step is taken once, after the loop. Here one "
        "statement does both: a return that builds the loss and minimises it, or a block in which the "
        "step stands between parts of the model. Take the gradients in a statement of its own, after "
        "the loss. A with block, and a condition that calls nothing and that the model does not change, is "
        "opened once more behind the loop for what follows the loss in it; a for or a try is not.",
        before="""\
import tensorflow as tf

batch_size = 64


def cost(x, y):
    return tf.losses.sparse_softmax_cross_entropy(y, tf.layers.dense(x, 10))


def train_step(x, y):
    return tf.train.AdamOptimizer(0.001).minimize(cost(x, y))


X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
train_op = train_step(X, Y)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels})
""",
        after="""\
import tensorflow as tf

batch_size = 64


def cost(x, y):
    return tf.losses.sparse_softmax_cross_entropy(y, tf.layers.dense(x, 10))


def train_step(x, y):
    loss = cost(x, y)
    return tf.train.AdamOptimizer(0.001).minimize(loss)


X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
train_op = train_step(X, Y)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels})
""",
        references=("docs: TMG101 and TMG102, where gradients are taken",),
    ),
    Rule(
        code="TMG220",
        title="the script trains by an Estimator or by Keras",
        why="tf.estimator.Estimator, Model.fit and their like hold the session and the training loop "
        "themselves: they call the script's functions, feed them and apply the gradients, and they "
        "bring a way of their own to use several GPUs, tf.distribute.MirroredStrategy, which is handed "
        "to them in one line. Use that. Towers are for scripts that run a session; a model that is "
        "trained in one converts.",
        before="""\
import tensorflow as tf


def model_fn(features, labels, mode):
    logits = tf.layers.dense(features, 10)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    train_op = tf.train.AdamOptimizer(0.001).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


estimator = tf.estimator.Estimator(model_fn)
estimator.train(input_fn, steps=100)
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
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels})
""",
        references=(
            "tf.distribute.MirroredStrategy (TensorFlow 1.14; tf.contrib.distribute before)",
            "tf.estimator.RunConfig(train_distribute=...)",
        ),
    ),
    Rule(
        code="TMG222",
        title="an input is fed in training and is not seen to reach the loss",
        why="What is fed in a training step has a part in it, as a rule. This input has a batch axis and is "
        "fed together with the others and read by the script, but nothing that the tool sees leads "
        "from it to the loss: either the step does not need it, or it gets there on a way that the tool does not "
        "see, and then the towers would take whole batches of it beside shards of the others. An input of which "
        "operations compute what nothing reads stays whole. Leave this one out of the feed if the step does not "
        "need it.",
        before="""\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Z = tf.placeholder(tf.float32, [None, 3])
Y = tf.placeholder(tf.int64, [None])
logits = tf.layers.dense(X, 10)
loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)
extra_mean = tf.reduce_mean(Z, 0)
log_shape(extra_mean)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, extra, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Z: extra, Y: labels})
""",
        after="""\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Z = tf.placeholder(tf.float32, [None, 3])
Y = tf.placeholder(tf.int64, [None])
logits = tf.layers.dense(X, 10)
loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)
extra_mean = tf.reduce_mean(Z, 0)
log_shape(extra_mean)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, extra, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels})
""",
    ),
    Rule(
        code="TMG223",
        title="a value of the model is fed in its stead",
        why="TensorFlow lets any tensor be fed. A tensor that the towers compute is one in each of them, "
        "and the merged one after the loop; fed with a batch, the merged one would have its value and "
        "the towers would not. Feed a placeholder, and let the model read it "
        "(tf.placeholder_with_default takes a tensor that stands in where nothing is fed).",
        before="""\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
hidden = tf.layers.dense(X, 64)
logits = tf.layers.dense(hidden, 10)
loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels})
    print(sess.run(logits, {hidden: load_hidden()}))
""",
        after="""\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
hidden = tf.layers.dense(X, 64)
logits = tf.layers.dense(hidden, 10)
loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)
H = tf.placeholder(tf.float32, [None, 64])
with tf.variable_scope(tf.get_variable_scope(), reuse=True):
    decoded = tf.layers.dense(H, 10, name='dense_1')

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels})
    print(sess.run(decoded, {H: load_hidden()}))
""",
    ),
)
