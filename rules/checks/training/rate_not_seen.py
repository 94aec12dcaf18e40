"""--scale-lr asks for a larger learning rate, and the script's is not seen."""

from __future__ import annotations

from collections.abc import Iterator

from converter.diagnostics import Diagnostic
from converter.planner.cases import Placed
from converter.planner.checking import check
from converter.planner.host.learning_rate import rates_not_seen
from converter.planner.writing.findings import error
from converter.rule import Rule

_SCRIPT = """\
import tensorflow as tf

batch_size = 64
settings = {{'learning_rate': 0.1, 'momentum': 0.9}}
X = tf.placeholder(tf.float32, [None, 784])
loss = tf.reduce_mean(tf.square(tf.layers.dense(X, 10)))
train_op = tf.train.MomentumOptimizer({settings}).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        sess.run(train_op, {{X: next_batch(batch_size)}})
"""

RULES = (
    Rule(
        code="TMG256",
        title="the learning rate that --scale-lr would change is not seen",
        why="--scale-lr multiplies the learning rate where the script gives it to an optimizer. Here it goes there in "
        "a way that is not followed (`**settings`, functools.partial, a class out of a dict), so it would stay as it "
        "is. A conversion that says it is scaled would be wrong.",
        options=("--scale-lr", "linear"),
        before=_SCRIPT.format(settings="**settings"),
        after=_SCRIPT.format(settings="settings['learning_rate'], settings['momentum']"),
        references=("docs: TMG113, --scale-lr",),
    ),
)


@check(Placed)
def rate_not_seen(case: Placed) -> Iterator[Diagnostic]:
    """Optimizers whose rate cannot be scaled."""
    if case.options.scale_lr == "none":
        return
    for node in rates_not_seen(case.facts, case.steps):
        yield error(
            case.facts,
            node,
            "TMG256",
            "the learning rate is not written in a call of an optimizer that is followed, so --scale-lr cannot change "
            "it",
            "give it to the optimizer by its name or position, or leave --scale-lr out",
        )
