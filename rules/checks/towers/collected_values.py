"""Collections that the towers add values to, and that the script reads."""

from __future__ import annotations

from collections.abc import Iterator

from converter.analysis.effects import READS_COLLECTION, EffectKind
from converter.analysis.facts import Effect, Facts
from converter.analysis.traits import Trait, has
from converter.analysis.values import Site, Tensor
from converter.diagnostics import Diagnostic
from converter.planner.cases import Placed
from converter.planner.checking import check
from converter.planner.region.region import Region
from converter.planner.writing.findings import error
from converter.rule import Rule

_OWN_TERM = """\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])


def layer(x, units):
    weights = tf.get_variable('weights_%d' % units, [x.shape[1], units])
    tf.add_to_collection({add}, 0.001 * tf.nn.l2_loss(weights))
    return tf.matmul(x, weights)


decay = tf.contrib.layers.l2_regularizer(0.01)
logits = tf.layers.dense(layer(X, 64), 10, kernel_regularizer=decay)
terms = tf.add_n(tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)){more}
loss = tf.losses.sparse_softmax_cross_entropy(Y, logits) + terms
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {{X: images, Y: labels}})
"""

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
    Rule(
        code="TMG250",
        title="towers add to a collection that all of them share, and the script reads it",
        why="TensorFlow adds to some collections when it makes a variable: to the regularization losses, if the "
        "variable has a regularizer. Variables are made by the first tower, so that all towers read one list. What the "
        "model adds to that list by itself (tf.add_to_collection, tf.contrib.layers.apply_regularization) each tower "
        "would add again: the second tower's loss would count the first tower's term and its own. Under a name of its "
        "own a collection is kept apart for each tower.",
        before=_OWN_TERM.format(add="tf.GraphKeys.REGULARIZATION_LOSSES", more=""),
        after=_OWN_TERM.format(add="'weight_decay'", more=" + tf.add_n(tf.get_collection('weight_decay'))"),
        references=("docs: TMG107, collections",),
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


@check(Placed)
def added_again(case: Placed) -> Iterator[Diagnostic]:
    """Values that the model's own statements add to a collection that all towers share."""
    for effect in filter(_is_shared, case.facts.effects_of(EffectKind.COLLECTION)):
        reads = _reads(case.facts, effect)
        if any(r.in_tower(effect.site) or (r.comes_after(effect) and _inside(r, reads)) for r in case.regions if reads):
            yield error(
                case.facts,
                effect.node,
                "TMG250",
                f"each tower would add this value to the collection {effect.name!r} once more, where the towers share "
                "what variables add to it",
                "add it to a collection of another name, and add that collection's sum to the loss",
            )


def _is_shared(effect: Effect) -> bool:
    return has(effect.name, Trait.GROWS_WITH_VARIABLES) and isinstance(effect.value, Tensor)


def _reads(facts: Facts, added: Effect) -> list[Site]:
    """Where the script asks for the collection, or for the sum of it, after something is added."""
    asked = [e for kind in READS_COLLECTION for e in facts.effects_of(kind) if e.time > added.time]
    found = [e.site for e in asked if e.kind is EffectKind.TOTAL_LOSS or e.name == added.name]
    sums = (t for t in facts.tensors if has(t.op.rpartition(".")[2], Trait.GIVES_COLLECTED_LOSSES))
    return found + [t.site for t in sums if t.site is not None and added.value in t.inputs]


def _inside(region: Region, reads: list[Site]) -> bool:
    """Whether a tower reads what the script would add behind the loop."""
    return any(map(region.in_tower, reads))
