"""An index that is computed from the batch size picks an entry of what does not grow with it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from converter.analysis.values import Host, Number, Site, Tensor, Value, needed
from converter.diagnostics import Diagnostic
from converter.planner.cases import Placed
from converter.planner.checking import check
from converter.planner.writing.findings import error
from converter.rule import Rule

_SCRIPT = """\
import tensorflow as tf

batch_size = 64{named}
theta = tf.get_variable('theta', [100])
X = tf.placeholder(tf.float32, [None, 784])
loss = tf.reduce_mean(tf.square(tf.layers.dense(X, 10) - theta[{index}]))
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        sess.run(train_op, {X: next_batch(batch_size)})
"""

RULES = (
    Rule(
        code="TMG386",
        title="an index is computed from the batch size",
        why="The model picks an entry by a number that is computed from the batch size, out of a variable or an array "
        "that does not become longer or shorter with it. With --batch total the batch size means a share of the batch "
        "in each tower, and behind the towers with --batch per-gpu N times as many examples: another entry would be "
        "picked. Write the index as a number of its own.",
        before=_SCRIPT.replace("{named}", "").replace("{index}", "batch_size + 1"),
        after=_SCRIPT.replace("{named}", "\nlast = 65").replace("{index}", "last"),
        options=("--batch", "total"),
        references=("docs: TMG108, the number inside the towers", "docs: TMG255, widths"),
    ),
)


@check(Placed)
def index_of_batch_size(case: Placed) -> Iterator[Diagnostic]:
    """Entries of batch-free tensors and arrays that are picked by a number which changes with the number of GPUs."""
    keys = {o.key for o in case.size.origins}
    found: dict[ast.AST, None] = {}
    for tensor in case.facts.tensors if keys else ():
        for whole, index, node in _picked(tensor):
            follows = any(_is_of(v, keys) for v in needed([whole]).values())
            if _is_of(index, keys) and not follows and _changes(case, tensor.site):
                found.setdefault(node)
    for node in found:
        yield error(
            case.facts,
            node,
            "TMG386",
            "this index is computed from the batch size, which is another number here with several GPUs",
            "give the index a number of its own",
        )


def _is_of(value: Value, keys: set[tuple[object, ...]]) -> bool:
    return isinstance(value, Number) and any(o.key in keys for o in value.origins)


def _picked(tensor: Tensor) -> Iterator[tuple[Value, Value, ast.AST]]:
    """What a tensor picks an entry from, the index and where: also an array's, where the tensor is computed of that."""
    picks: list[Tensor | Host] = [v for v in tensor.inputs if isinstance(v, Host) and v.call == "[]"]
    if tensor.op == "subscript" and tensor.batch.kind == "free":
        picks.append(tensor)
    for value in picks:
        if len(value.inputs) == 2 and value.node is not None and not value.roots:
            yield value.inputs[0], value.inputs[1], value.node


def _changes(case: Placed, site: Site | None) -> bool:
    """Whether the batch size is another number than the script's where something is computed."""
    in_tower = any(region.in_tower(site) for region in case.regions)
    return in_tower == (case.options.batch == "total")
