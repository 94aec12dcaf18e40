"""A variable is made with the batch size in its shape."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from converter.analysis.facts import Facts, behind_losses
from converter.analysis.values import Host, Number, Sequence, ShapeOf, Tensor, Value, Variable, closure, up_to
from converter.diagnostics import Diagnostic
from converter.planner.cases import Placed
from converter.planner.checking import check
from converter.planner.host.single_examples import only_of_single_examples
from converter.planner.questions.imported import library_behind, unseen_module
from converter.planner.questions.outside_calls import is_foreign
from converter.planner.wording import finding

CODES = ("TMG224",)

OWN_SHAPE = "make its shape independent of the batch size: [1, …] for all examples"
FED_STATE = (  # what to write in place of a variable that holds a state for each example
    "write a placeholder of that shape in its place, feed zeros to the first step, fetch the new state of each step "
    "and feed it to the next; a state that nothing assigns is tf.zeros([batch_size, …])"
)


@check(Placed)
def made_with_the_batch_size(case: Placed) -> Iterator[Diagnostic]:
    """Variables with the batch size in their shape: they have a value for each place of a batch, a shard has fewer."""
    keys = {o.key for o in case.size.origins}
    known: dict[int, bool] = {}
    for value in behind_losses(case.steps).values():
        if not isinstance(value, Variable):
            continue
        behind = _sizes_behind(value.inputs, known)
        foreign = [v for v in behind if isinstance(v, Host) and is_foreign(v, known)]
        if not _holds(_sizes_behind([i for v in foreign for i in v.inputs], known, given=True), keys):
            foreign = []
        node, how = value.node or case.steps[0].call, OWN_SHAPE if value.trainable else FED_STATE
        if _holds(behind, keys):
            size = _written(case.facts, behind, keys)
            yield finding(case.facts, node, "TMG224 made_with_size", size=size, how=how)
        elif given := next((v for v in foreign if _holds(_sizes_behind(v.inputs, known, given=True), keys)), None):
            package = library_behind(given).split(".")[0]
            unseen = unseen_module(case.facts, given)
            how = unseen.hint if unseen else f"take the size from what is not given the batch size, or {how}"
            yield finding(case.facts, node, "TMG224 not_followed", package=package, how=how)


@check(Placed)
def made_with_the_rows_of_a_batch(case: Placed) -> Iterator[Diagnostic]:
    """Variables of the shape of a batch that one branch takes in its place: `made = tf.Variable(tf.zeros(x.shape))`.

    Where they meet examples in every run, what they are set against tells (TMG233).
    """
    for value in behind_losses(case.steps).values():
        if not isinstance(value, Variable) or value.site is None or not value.site.sides():
            continue
        rows = _batch_behind(value.inputs)
        if rows is not None and not only_of_single_examples(case.facts, value.site):
            size = f" (the shape of {rows.label})" if rows.label else ""
            yield finding(
                case.facts, value.node or case.steps[0].call, "TMG224 made_with_size", size=size, how=OWN_SHAPE
            )


def _batch_behind(values: Iterable[Value]) -> Tensor | None:
    """A batch of which a variable has the shape, or the initial value; None if there is none."""
    behind = (value.tensor if isinstance(value, ShapeOf) else value for value in up_to(values, _ends_shape).values())
    batches = (value for value in behind if isinstance(value, Tensor) and value.batch.kind == "example")
    return next(batches, None)


def _ends_shape(value: Value) -> bool:
    """Whether the shape of a tensor is made of nothing behind a value: it goes through tensors and lists of numbers."""
    if isinstance(value, Tensor):
        return isinstance(value, Variable) or bool(value.roots)
    return not isinstance(value, Sequence)


@check(Placed)
def as_many_as_examples(case: Placed) -> Iterator[Diagnostic]:
    """Variables of which a loop makes one for each example of a batch: there would be N times as many."""
    facts, keys = case.facts, {o.key for o in case.size.origins}
    loops = {site for site, over in facts.turned.items() if _goes_by_size(facts, over, keys)}
    lists = {node for node, over in facts.comprehended if _goes_by_size(facts, over, keys)}
    for value in behind_losses(case.steps).values() if loops or lists else ():
        if not isinstance(value, Variable) or value.node is None or value.site is None:
            continue
        if not loops.isdisjoint(value.site.chain()) or not lists.isdisjoint(_gone_over(facts, value.node)):
            yield finding(facts, value.node, "TMG224 one_for_each")
            return


def _goes_by_size(facts: Facts, over: Value, keys: set[tuple[object, ...]]) -> bool:
    """Whether a loop has as many turns as a batch has examples."""
    ends = [end for end in facts.ranges.get(over.uid, [])[:2] if isinstance(end, Number)]
    return any(o.key in keys for end in ends for o in end.factors())


def _gone_over(facts: Facts, node: ast.AST) -> Iterator[ast.AST]:
    """What the comprehensions around an expression go over."""
    around: ast.AST | None = node
    while isinstance(around, (ast.expr, ast.keyword)):
        yield from (part.iter for part in getattr(around, "generators", ()))
        around = facts.parents.get(around)


def _holds(values: list[Value], keys: set[tuple[object, ...]]) -> bool:
    """Whether one of the numbers is made of the batch size."""
    return any(o.key in keys for value in values if isinstance(value, Number) for o in value.origins)


def _written(facts: Facts, values: list[Value], keys: set[tuple[object, ...]]) -> str:
    """The batch size among some numbers by its name and the line where it is written: ` (batch_size, line 3)`."""
    numbers = (v for v in values if isinstance(v, Number))
    origins = sorted({o for n in numbers for o in n.origins if o.key in keys}, key=lambda o: (o.path, o.line))
    for origin in origins:
        names = sorted(facts.names_of(origin)) or [origin.name or str(getattr(origin.node, "value", ""))]
        place = f"line {origin.line}" if not facts.path_of(origin.node) else f"{facts.shown(origin.node)}:{origin.line}"
        return f" ({names[0]}, {place})" if origin.line and names[0] else ""
    return ""


def _sizes_behind(values: Iterable[Value], known: dict[int, bool], given: bool = False) -> list[Value]:
    """The numbers that a variable's shape and initial value are made of, not those behind other tensors' shapes.

    What an unfollowed call into a package gives is among them; what it is given, too, if `given`. known: of is_foreign.
    """

    def onward(value: Value) -> Iterable[Value]:
        if isinstance(value, (ShapeOf, Variable)) or (isinstance(value, Tensor) and value.roots):
            return ()
        foreign = not given and isinstance(value, Host) and is_foreign(value, known)
        return () if foreign else (*value.inputs, *value.parts())

    return [value for value in closure(values, onward) if isinstance(value, (Number, Host))]
