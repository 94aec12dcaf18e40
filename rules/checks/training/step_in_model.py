"""The training step stands among the statements of the model."""

from __future__ import annotations

from converter.planner.found import Found
from converter.planner.wording import Words
from converter.rule import Rule

RULES = (
    Rule(
        code="TMG219",
        title="the training step stands among the statements of the model",
        why="The towers build the model N times; the training step is taken once, after the loop. Here one "
        "statement does both: a return that builds the loss and minimises it, or a block in which the "
        "step stands between parts of the model. Take the gradients in a statement of its own, after "
        "the loss; in a loop that makes several losses, put these into a list, and take the step for each of the "
        "list in a second loop. A with block, and a condition that calls nothing and that the model does not change, "
        "is opened once more behind the loop for what follows the loss in it; a for or a try is not.",
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
)

WORDS = {
    Found.STEP_AMONG_MODEL: Words(
        "TMG219",
        "the training step stands in the block of {line}, among the statements of the model",
        "end that block after the loss, and take the gradients in another one of the same kind behind it",
    ),
    Found.COLOCATION_GIVEN: Words(
        "TMG219",
        "the loss is computed from the towers' results, and its gradients where these are, which `{written}` may "
        "not say",
        "write colocate_gradients_with_ops=True among the arguments of the call",
    ),
    Found.STEP_IN_BRANCH_OF_MODEL: Words(
        "TMG219",
        "the training step stands in the same branch as the loss, of the condition in {line}",
        "end that condition after the loss, and take the gradients in another one of the same kind behind it",
    ),
    Found.STEP_IN_LOOP_OF_MODEL: Words(
        "TMG219",
        "the training step stands in the same loop as a part of the model, in {line}: every tower "
        "executes the whole loop",
        "put the losses into a list in that loop, and take the step for each of the list in a second loop, behind it",
    ),
    Found.STEP_IN_STATEMENT_OF_MODEL: Words(
        "TMG219",
        "the training step stands in the same statement as the model, in {line}",
        "let that statement end with the loss, and take the gradients in another one behind it",
    ),
    Found.MODEL_GOES_ON_BEHIND_STEP: Words(
        "TMG219",
        "the model of the same inputs goes on behind this training step, in {line}",
        "take the gradients behind that line, where all losses are there, and give each loss a name of its own",
    ),
}
