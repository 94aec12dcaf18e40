"""Code that runs eagerly, as TensorFlow 2 does."""

from __future__ import annotations

from collections.abc import Iterator

from converter.analysis.effects import EffectKind
from converter.diagnostics import Diagnostic
from converter.planner.cases import Selected
from converter.planner.checking import check
from converter.planner.writing.findings import error
from converter.rule import Rule

RULES = (
    Rule(
        code="TMG235",
        title="the script trains eagerly",
        why="A tower loop is a piece of a graph, built once and run in a session. Under eager execution, with a "
        "GradientTape or tf.function, there is no such graph in the script: operations run one by one as Python "
        "comes to them, and a loop over GPUs would run them one GPU after the other. tf.distribute.MirroredStrategy "
        "works with eager code. A script that can be written as a graph with placeholders and a session can be "
        "converted.",
        before="""\
import tensorflow as tf

tf.enable_eager_execution()
w = tf.Variable(tf.zeros([784, 10]))
optimizer = tf.train.AdamOptimizer(0.001)
for step in range(100):
    images, labels = next_batch(64)
    with tf.GradientTape() as tape:
        logits = tf.matmul(images, w)
        loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    gradients = tape.gradient(loss, [w])
    optimizer.apply_gradients(zip(gradients, [w]))
""",
        after="""\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
w = tf.Variable(tf.zeros([784, 10]))
logits = tf.matmul(X, w)
loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels})
""",
    ),
)


@check(Selected)
def trains_eagerly(case: Selected) -> Iterator[Diagnostic]:
    """Scripts without a graph."""
    eager = next((e for e in case.facts.effects_of(EffectKind.EAGER)), None)
    if eager is not None and not case.trains_on_batches:
        yield error(
            case.facts,
            eager.node,
            "TMG235",
            f"this script trains eagerly ({eager.name}): it has no graph",
            "use tf.distribute.MirroredStrategy, which works with eager code",
        )
