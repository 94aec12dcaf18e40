"""Other programs read the graph of the towers: from a checkpoint's .meta file, a frozen graph or a SavedModel."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from converter.analysis.facts import Facts
from converter.analysis.traits import Trait, has
from converter.analysis.values import Typed
from converter.diagnostics import Diagnostic
from converter.planner.cases import Shared
from converter.planner.checking import check
from converter.planner.writing.findings import beside, warn
from converter.rule import Rule

_CLEARED = "for node in graph_def.node: node.device = ''"
EXPORTS = {  # how a call that writes a graph is told to leave the devices out
    "convert_variables_to_constants": f"drop the devices of the graph that is given to it: {_CLEARED}",
    "extract_sub_graph": f"drop the devices of the graph that is given to it: {_CLEARED}",
    "add_meta_graph_and_variables": "write clear_devices=True as an argument of the call",
}
_TRAINING = """\
# --- predict.py ---
import tensorflow as tf

with tf.Session() as sess:
    saver = tf.train.import_meta_graph({read})
    saver.restore(sess, './net')
    print(sess.run('scores:0', {{'x:0': images}}))


# --- train.py ---
import tensorflow as tf

batch_size = 64
x = tf.placeholder(tf.float32, [None, 784], name='x')
y = tf.placeholder(tf.int64, [None])
scores = tf.identity(tf.layers.dense(x, 10), name='scores')
loss = tf.losses.sparse_softmax_cross_entropy(y, scores)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)
saver = tf.train.Saver()
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {{x: images, y: labels}})
    saver.save(sess, './net')
"""

RULES = (
    Rule(
        code="TMG350",
        title="another script reads the graph with its towers",
        why="`saver.save` writes the graph beside the weights, into a `.meta` file. That of a conversion holds the "
        "towers: their operations name a GPU each. A script that reads it by tf.train.import_meta_graph, and has fewer "
        "GPUs, ends with 'Cannot assign a device for operation'. `clear_devices=True` drops the devices; so does a "
        "session with allow_soft_placement=True. The same is true of graphs that are frozen to a file or written as a "
        "SavedModel. Inputs, values with a name of their own (`name='scores'`) and "
        "variables are found under the names that they had. Operations of the towers that the script gave no name are "
        "found below `tower_0/`, for the first tower's share of the batch: give what the other script asks for a name "
        "by tf.identity. Scripts that build the model themselves, and read the weights only, need nothing.",
        before=_TRAINING.format(read="'./net.meta'"),
        after=_TRAINING.format(read="'./net.meta', clear_devices=True"),
        references=("tf.train.import_meta_graph (tensorflow/python/training/saver.py, 1.15)",),
    ),
)


@check(Shared)
def reads_the_towers(case: Shared) -> Iterator[Diagnostic]:
    """Calls in other scripts of the folder that read a graph that this script may have saved."""
    if not _saves_its_graph(case.facts):
        return
    texts = [node.value for node in case.facts.nodes(ast.Constant) if isinstance(node.value, str)]
    for reader in case.sources.readers():
        if reader.stem and not any(reader.stem in text for text in texts):
            continue  # another graph
        yield Diagnostic(
            code="TMG350",
            path=beside(case.facts, reader.path),
            line=reader.line,
            column=reader.column,
            message="a graph is read here, and that of the converted script names the GPUs of its towers",
            hint="write clear_devices=True as an argument of the call, so that fewer GPUs, or none, will do",
            severity="warning",
        )


@check(Shared)
def writes_the_towers(case: Shared) -> Iterator[Diagnostic]:
    """Calls that write the graph of the towers for other programs, with its devices."""
    for call in case.facts.nodes(ast.Call):
        name = getattr(call.func, "attr", getattr(call.func, "id", ""))
        if name not in EXPORTS or any(keyword.arg in (None, "clear_devices") for keyword in call.keywords):
            continue
        yield warn(
            case.facts,
            call,
            "TMG350",
            "the graph that is written here names the GPUs of its towers, for programs that may have fewer",
            EXPORTS[name],
        )


def _saves_its_graph(facts: Facts) -> bool:
    """Whether a script leaves its graph in a .meta file, as savers and managed sessions do."""
    made = {value.name for value in facts.results.values() if isinstance(value, Typed)}
    if any(has(name, Trait.MANAGED_SESSION) for name in made):
        return True
    if not any(has(name, Trait.SAVES) for name in made):
        return False
    calls = (c for c in facts.nodes(ast.Call) if isinstance(c.func, ast.Attribute) and c.func.attr == "save")
    return any(_with_graph(call) for call in calls)


def _with_graph(call: ast.Call) -> bool:
    told = (k.value for k in call.keywords if k.arg == "write_meta_graph")
    return not any(isinstance(value, ast.Constant) and value.value is False for value in told)
