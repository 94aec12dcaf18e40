"""Variables that are cut into slices (`--variables partitioned`)."""

from __future__ import annotations

from converter.rule import Rule

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


_CLIPPED = """\
gradients = optimizer.compute_gradients(loss)
train_op = optimizer.apply_gradients([({clip}, v) for g, v in gradients])"""
_LOOKED_UP = """\
logits = tf.layers.dense(X, 1024)
kernel = tf.get_default_graph().get_tensor_by_name('dense/kernel:0')
logits = tf.layers.dense(logits, 10) + 0.01 * tf.reduce_sum(kernel)"""

RULES = (
    Rule(
        code="TMG245",
        title="variables or gradients are taken one by one from a list",
        why="With --variables partitioned tf.trainable_variables() and compute_gradients() give the slices of "
        "variables that are cut. What adds up over all numbers, or treats every number alike, means the same: weight "
        "decay by l2_loss, clipping by value or by the global norm, lists by parts of names, savers, var_list. A "
        "norm of each gradient, a shape, a summary or a message for each variable, a place in the list do not.",
        before=script(train=_CLIPPED.replace("{clip}", "tf.clip_by_norm(g, 1.0)")),
        after=script(train=_CLIPPED.replace("{clip}", "tf.clip_by_value(g, -1.0, 1.0)")),
        references=("docs: TMG139, what is cut",),
        options=PARTITIONED,
    ),
    Rule(
        code="TMG246",
        title="something treats each variable as a whole",
        why="With --variables partitioned a slice is a variable of its own to TensorFlow. Libraries that look up rows "
        "of tables that they make themselves would take rows of slices by other numbers; constraints, optimizers "
        "with a norm for each variable (LARS), moving averages that are restored by name and regularizers that are "
        "no sum over the numbers of a variable would come to other values.",
        before=script("logits = tf.layers.dense(X, 10, kernel_constraint=lambda w: w / tf.norm(w))"),
        after=script("logits = tf.layers.dense(X, 10)"),
        references=("tf.nn.embedding_lookup: rows of slices by `mod` (embedding_ops.py, 1.15)",),
        options=PARTITIONED,
    ),
    Rule(
        code="TMG247",
        title="a variable is found by its name, or in another scope",
        why="With --variables partitioned the graph holds slices, kernel/part_0 and on, and no operation reads the "
        "whole variable under its name but in the towers. A model that is built again finds the slices by the custom "
        "getter of the scope around the loop; outside of that scope TensorFlow stops. An optimizer that stands in a "
        "variable scope would have its slots of slices saved under names that the original does not know.",
        before=script(_LOOKED_UP),
        after=script(),
        references=("tf.VariableScope.set_custom_getter (tensorflow/python/ops/variable_scope.py, 1.15)",),
        options=PARTITIONED,
    ),
    Rule(
        code="TMG318",
        title="variables that cannot be cut stay whole",
        why="tf.Variable and the layers of Keras ask no getter, so that --variables partitioned cannot cut what they "
        "make. These variables stay whole and are spread over the GPUs by size, as with --variables balanced: a "
        "large one keeps the GPU that holds it busier than the others. The numbers are the same.",
        before=script("weights = tf.Variable(tf.zeros([784, 10]))\nlogits = tf.matmul(X, weights)"),
        after=script(
            "weights = tf.get_variable('weights', [784, 10], initializer=tf.zeros_initializer())\n"
            "logits = tf.matmul(X, weights)"
        ),
        references=("docs: TMG139, what is cut",),
        options=PARTITIONED,
    ),
    Rule(
        code="TMG319",
        title="a variable that the script takes as an object stays whole",
        why="With --variables partitioned a variable of tf.get_variable that is assigned to, listed, averaged or asked "
        "for its name stays whole, so that all of this means what it did; it is spread over the GPUs by size.",
        before=script(
            "weights = tf.get_variable('weights', [784, 10])\nlogits = tf.matmul(X, weights)",
            "train_op = optimizer.minimize(loss, var_list=[weights])",
        ),
        after=script("weights = tf.get_variable('weights', [784, 10])\nlogits = tf.matmul(X, weights)"),
        references=("docs: TMG139, what is cut",),
        options=PARTITIONED,
    ),
)
