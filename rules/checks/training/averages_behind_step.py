"""An optimizer keeps moving averages of the variables, behind its own update."""

from __future__ import annotations

from collections.abc import Iterator

from converter.analysis.traits import Trait, has
from converter.analysis.values import Typed
from converter.diagnostics import Diagnostic
from converter.planner.cases import Placed
from converter.planner.checking import check
from converter.planner.writing.findings import error
from converter.rule import Rule

_SCRIPT = """\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
loss = tf.reduce_mean(tf.square(tf.layers.dense(X, 10)))
{step}
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(100):
        sess.run(train_op, {{X: next_batch(batch_size)}})
"""

RULES = (
    Rule(
        code="TMG238",
        title="an optimizer averages variables behind its own update",
        why="MovingAverageOptimizer updates its averages under tf.control_dependencies inside TensorFlow, and leaves "
        "open on which device. With the variables on the CPU that is a GPU, which gets copies of the variables as they "
        "were before the update: the averages would be those of one step earlier. In a block of the script's own the "
        "tool lets operations read behind the update (TMG148); inside the library it cannot. With --variables gpu:0 "
        "the averages are updated where the variables are.",
        before=_SCRIPT.format(
            step="optimizer = tf.contrib.opt.MovingAverageOptimizer(tf.train.AdamOptimizer(0.001))\n"
            "train_op = optimizer.minimize(loss)\n"
        ),
        after=_SCRIPT.format(
            step="step = tf.train.AdamOptimizer(0.001).minimize(loss)\n"
            "averages = tf.train.ExponentialMovingAverage(0.9999)\n"
            "with tf.control_dependencies([step]):\n"
            "    train_op = averages.apply(tf.trainable_variables())\n"
        ),
        references=(
            "MovingAverageOptimizer.apply_gradients (contrib/opt/python/training/moving_average_optimizer.py, 1.15)",
            "assign_moving_average: only the assignment is placed beside the average (python/training/"
            "moving_averages.py, 1.15)",
        ),
    ),
)


@check(Placed)
def averages_behind_step(case: Placed) -> Iterator[Diagnostic]:
    """Optimizers that average variables which another device holds."""
    if case.options.variables == "gpu:0":
        return
    made = {id(step.optimizer): step.optimizer for step in case.steps}
    for optimizer in made.values():
        if isinstance(optimizer, Typed) and optimizer.node and has(_last(optimizer.name), Trait.AVERAGES_BEHIND_STEP):
            yield error(
                case.facts,
                optimizer.node,
                "TMG238",
                "this optimizer averages the variables behind its update, and a GPU would read them as they were "
                "before it",
                "use --variables gpu:0, or update tf.train.ExponentialMovingAverage under tf.control_dependencies",
            )


def _last(name: str) -> str:
    return name.rpartition(".")[2]
