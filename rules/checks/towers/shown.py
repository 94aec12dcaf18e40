"""Values are merged by their form, as they are only shown."""

from __future__ import annotations

from converter.planner.found import Found
from converter.planner.wording import Words
from converter.rule import Rule

_SCRIPT = """\
import tensorflow as tf

batch_size = 64


def layer(x):
    x = tf.layers.dense(x, 64)
    mean, variance = tf.nn.moments(x, [0])
    return (x - mean) / tf.sqrt(variance + 0.001), {returned}


X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
hidden, {name} = layer(X)
logits = tf.layers.dense(hidden, 10)
loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)
{after}
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        _, shown = sess.run([train_op, variance], {{X: images, Y: labels}})
        print(step, shown)
"""

RULES = (
    Rule(
        code="TMG393",
        title="a value that is only shown is not that of the whole batch",
        why="The script prints, logs, plots or summarises a value that cannot be put together exactly from the towers' "
        "own. As nothing else depends on it, the script is converted, and the value is merged by its form: rows are "
        "concatenated, a number is averaged, of anything else the first tower's is shown. It is then not the "
        "number that one GPU would show for the whole batch. Where it matters, compute it after the loss from tensors "
        "that have one row for each example.",
        before=_SCRIPT.format(returned="variance", name="variance", after=""),
        after=_SCRIPT.format(
            returned="x", name="dense", after="_, variance = tf.nn.moments(dense, [0])\n"
        ),
        references=("docs: TMG104, values with a known merge", "docs: TMG210, values that decide something"),
    ),
)

WORDS = {
    Found.SHOWN_BY_FORM: Words(
        "TMG393",
        "only shown, and no exact merge is known: {names}; a number is averaged over the towers, rows known by their "
        "static shape are concatenated, of anything else the first tower's is shown",
        "compute it after the loss, from tensors with one row for each example, if the exact value matters",
    ),
}
