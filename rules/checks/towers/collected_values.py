"""A collection is read after the towers, which add values to it that are not means."""

from __future__ import annotations

from collections.abc import Iterator

from converter.analysis.effects import EffectKind
from converter.analysis.facts import Effect
from converter.analysis.values import Tensor
from converter.diagnostics import Diagnostic
from converter.planner.cases import Placed
from converter.planner.checking import check
from converter.planner.region.region import Region
from converter.planner.writing.findings import error
from converter.rule import Rule

RULES = (
    Rule(
        code="TMG236",
        title="a collection is read after the towers, which add values to it that are not means",
        why="Each tower adds its own tensors to a collection of the graph. After the loop the collection holds as many "
        "as the original's: means over the examples are merged in it, operations and variables are the first tower's. "
        "Rows of the examples, sums and what the tool cannot follow would be those of the first tower's shard alone. "
        "Keep such tensors in a list of the script, or return them: lists are merged.",
        before="""\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])


def layer(x, units):
    y = tf.layers.dense(x, units, tf.nn.relu)
    tf.add_to_collection('activations', y)
    return y


logits = tf.layers.dense(layer(layer(X, 64), 32), 10)
loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)
activations = tf.get_collection('activations')

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run([train_op, activations], {X: images, Y: labels})
""",
        after="""\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
activations = []


def layer(x, units):
    y = tf.layers.dense(x, units, tf.nn.relu)
    activations.append(y)
    return y


logits = tf.layers.dense(layer(layer(X, 64), 32), 10)
loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run([train_op, activations], {X: images, Y: labels})
""",
    ),
)


@check(Placed)
def read_after_the_towers(case: Placed) -> Iterator[Diagnostic]:
    """Reads, after a loop, of collections to which its towers add tensors of the batch that are not means."""
    for region in case.regions:
        added = {e.name for e in case.facts.effects_of(EffectKind.COLLECTION) if _is_one_towers(region, e)}
        for effect in case.facts.effects_of(EffectKind.GET_COLLECTION):
            after = effect.time > region.end and not region.in_tower(effect.site)
            if after and effect.name in added and effect.name not in OWN:
                yield error(
                    case.facts,
                    effect.node,
                    "TMG236",
                    f"the towers add values to the collection {effect.name!r} that are not means over the "
                    "examples: here it would hold only the first tower's",
                    "keep them in a list of the script instead of a collection",
                )


OWN = ("update_ops", "summaries")  # what TensorFlow adds there has rules of its own


def _is_one_towers(region: Region, effect: Effect) -> bool:
    """Whether the towers add something to a collection that depends on their shards, and is not a mean."""
    value = effect.value
    if not isinstance(value, Tensor) or not region.in_tower(effect.site) or value.batch.kind == "free":
        return False
    return value.batch.kind != "reduced" or value.batch.how != "mean" or value.batch.over is not None
