"""Placeholders that only give variables their initial values: no training step reads them.

    table_in = tf.placeholder(tf.int32, table.shape)
    table = tf.Variable(table_in, trainable=False)
    sess.run(tf.global_variables_initializer(), {table_in: data})

Such an array is no batch, whatever its rows are: it is fed once, and every tower reads the same variable.
"""

from __future__ import annotations

import ast
from collections.abc import Container, Iterable

from converter.analysis.facts import Facts
from converter.analysis.traits import Trait, has
from converter.analysis.values import Input, Sequence, Site, Tensor, Value, read_by


def initial_values(facts: Facts) -> frozenset[ast.AST]:
    """The calls that make such placeholders, all of which runs feed that do not alternate with training steps."""
    made = [v for v in facts.inputs if v.node is not None and has(v.op, Trait.PLACEHOLDER)]
    given = _entries_of(value for variable in facts.variables for value in variable.inputs) if made else set()
    starting = [v for v in made if v.uid in given]
    read = read_by(step.loss for step in facts.train_steps) if starting else {}
    found = [v for v in starting if v.uid not in read]
    if not found:
        return frozenset()
    trained = facts.runs_of(facts.train_steps)
    loops = {(loop.frame.uid, loop.stmt) for run in trained if (loop := _innermost_loop(run.site)) is not None}
    once = {v.uid for v in found if _is_fed_apart(facts, v, loops)}
    return frozenset(v.node for v in found if v.node and all(o.uid in once for o in made if o.node is v.node))


def _entries_of(values: Iterable[Value]) -> set[int]:
    """What tensors take their entries from, by its uid: not what only tells how large they are."""
    found: set[int] = set()
    todo = list(values)
    while todo:
        value = todo.pop()
        if value.uid in found or not isinstance(value, (Tensor, Sequence)):
            continue
        found.add(value.uid)
        todo += [*value.inputs, *(value.parts() if isinstance(value, Sequence) else ())]
    return found


def _is_fed_apart(facts: Facts, value: Input, loops: Container[tuple[int, ast.stmt]]) -> bool:
    """Whether runs are seen that feed a placeholder, and none of them trains or stands in a loop that trains."""
    fed = [run for run in facts.runs if any(key is value for key, _ in run.feeds)]
    trained = {step.result.uid for step in facts.train_steps}
    return bool(fed) and not any(
        run.computes(trained) or any((site.frame.uid, site.stmt) in loops for site in run.site.chain()) for run in fed
    )


def _innermost_loop(site: Site) -> Site | None:
    """The loop whose turns a training step stands in, or that is called in."""
    return next((one for one in site.chain() if isinstance(one.stmt, (ast.For, ast.While))), None)
