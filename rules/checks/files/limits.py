"""Scripts that are too deep, too much or too long to be followed."""

from __future__ import annotations

from converter.rule import Rule

RULES = (
    Rule(
        code="TMG017",
        title="the script is nested too deeply",
        why="Expressions and statements that hold each other are followed level by level: a chain of a thousand elif "
        "is a thousand conditions inside each other, and so is a chain of method calls or a sum of a thousand terms. "
        "Chains that no edit takes apart may be as long as Python itself reads. A statement that is taken apart may "
        "have a few hundred levels; write a longer chain as a loop, a dict or a list.",
        before="""\
# A chain of a thousand branches around the training step
if kind == 0:
    train_op = optimizer_0.minimize(loss)
elif kind == 1:
    train_op = optimizer_1.minimize(loss)
""",
        after="""\
train_op = optimizers[kind].minimize(loss)
""",
    ),
    Rule(
        code="TMG018",
        title="loops or calls build too much to be followed",
        why="The building of the graph is followed statement by statement, through every call and every turn of a loop "
        "that builds something. Loops inside each other and functions that call each other can take more turns than "
        "there is time for. Past 100,000 statements, and four more for each line of the script, the script is refused. "
        "What builds nothing (reading data, training, printing) is followed for two turns of each loop, and a call "
        "there fifty times: a warning names a function that is called more often, as what it would change later is "
        "not known.",
        before="""\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])

h = X
for a in range(30):
    for b in range(30):
        for c in range(30):
            for d in range(30):
                h = tf.layers.dense(h, 64, tf.nn.relu)
logits = tf.layers.dense(h, 10)
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

h = X
for a in range(30):
    h = tf.layers.dense(h, 64, tf.nn.relu)
logits = tf.layers.dense(h, 10)
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
        code="TMG019",
        title="the script is too long",
        why="What a script does is followed line by line, in memory. Scripts of more than 50,000 lines are refused at "
        "once, before they are read any further: they are mostly data or generated code. --max-lines N sets another "
        "limit, for scripts, for folders and in the arguments of hooks. Each line takes a fraction of a millisecond.",
    ),
)
