"""Methods that take a whole graph in each step: its nodes have no shards."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from converter.analysis.arrays.shapes import rows_from
from converter.analysis.facts import Facts, behind_losses
from converter.analysis.reasons import Why
from converter.analysis.tensors.shaping import is_one_batch
from converter.analysis.tensors.spreading import dims_of, is_as_long, is_of_variables
from converter.analysis.traits import Trait, has
from converter.analysis.values import Host, Input, Number, Sequence, Tensor, Value, Variable, closure, needed
from converter.diagnostics import Diagnostic
from converter.planner.cases import Placed, Selected
from converter.planner.checking import check
from converter.planner.wording import finding
from converter.planner.writing.findings import error
from rules.checks.batches.variable_of_batch_size import FED_STATE

PAIR = 2  # operands, or axes of a matrix
OVER_BOTH = (Why.MULTIPLIED, Why.PAIRED)

CODES = ("TMG233",)

IN_COLUMNS = "for examples in columns, --batch-axis NAME=1"


@check(Selected, unless=("TMG275",))
def multiplied_over_all_examples(case: Selected) -> Iterator[Diagnostic]:
    """Batches that meet a matrix over all of their examples, or variables with a row for each of them."""
    for value in sorted(behind_losses(case.steps).values(), key=lambda v: v.uid):  # the first, which others read
        if not isinstance(value, Tensor):
            continue
        if value.batch.why is Why.WHOLE_GRAPH and value.op == "matmul":
            fed, hint = ", as for a graph and its nodes", f"train on sampled batches of nodes; {IN_COLUMNS}"
        elif value.batch.why is Why.MEETS_VARIABLES and not _has_batch_size(case.facts, value):
            fed, hint = _of_variables(value.inputs)
        else:
            continue
        yield error(
            case.facts,
            value.node or case.steps[0].call,
            "TMG233",
            f"{value.batch.reason}{fed}: they cannot be cut into shards",
            hint,
        )
        return


def _has_batch_size(facts: Facts, value: Tensor) -> bool:
    """Whether a variable behind a value is made with a batch size in its shape: TMG224 says so."""
    variables = [v for v in needed([value]).values() if isinstance(v, Variable)]
    sizes = (n for v in variables for n in needed(v.inputs).values() if isinstance(n, Number))
    return any(is_one_batch(facts, size) for size in sizes)


@check(Placed)
def set_against_all_examples(case: Placed) -> Iterator[Diagnostic]:
    """Inputs with the examples along both axes, which a loss in the towers sets against products of all of them."""
    behind = behind_losses(case.steps)
    for value in behind.values():
        if not isinstance(value, Tensor) or value.batch.why not in OVER_BOTH or len(value.inputs) < PAIR:
            continue
        operands = [i for i in value.inputs if isinstance(i, Tensor)]
        products = any(i.batch.why in OVER_BOTH and i.rank in (None, PAIR) for i in operands)
        both = [root for i in operands if (root := _over_both(i)) is not None]
        if products and both and any(region.in_tower(value.site) for region in case.regions):
            line = getattr(both[0].node, "lineno", None)
            name = both[0].label or f"the input of line {line}"
            yield finding(case.facts, value.node or case.steps[0].call, "TMG233", name=name)
            return


@check(Placed, unless=("TMG224",))
def variables_with_a_row_for_each_example(case: Placed) -> Iterator[Diagnostic]:
    """Variables that operations behind a loss take row by row beside the examples: they have as many rows.

    An operation that spreads one of its operands takes a variable of one row, too; where the script shows no shape,
    the variable has a row for each example if it is made of the arrays that are fed.
    """
    fed: set[int] | None = None
    for value in behind_losses(case.steps).values():
        if not isinstance(value, Tensor) or not has(value.op, Trait.ROW_BY_ROW) or value.batch.packed == "minor":
            continue
        tensors = [v for v in value.inputs if isinstance(v, Tensor)]
        examples = [t for t in tensors if t.batch.kind == "example"]
        rows = [t for t in tensors if t.batch.kind == "free" and is_of_variables(t)] if examples else []
        for tensor in rows:
            dims = dims_of(tensor, tensor)
            doubtful = dims is None or (None in dims and any(example.rank is None for example in examples))
            if doubtful and fed is None:
                fed = _fed_arrays(case)
            joined = has(value.op, Trait.CONCATENATES) or (doubtful and fed and _is_made_of(tensor, fed))
            if joined or any(is_as_long(dims or (), example) for example in examples):
                yield _against_variables(case, value, tensor)
                return


def _against_variables(case: Placed, value: Tensor, tensor: Tensor) -> Diagnostic:
    """The refusal of an operation that takes variables row by row beside the examples."""
    shown, hint = _of_variables([tensor])
    message = f"{Why.MEETS_VARIABLES.value}{shown}: they cannot be cut into shards"
    return error(case.facts, value.node or case.steps[0].call, "TMG233", message, hint)


def _fed_arrays(case: Placed) -> set[int]:
    """The arrays that training steps are fed as a whole, and those whose rows these have."""
    feeds = [value for run in case.facts.runs_of(case.steps) for _, value in run.feeds]
    return set(_with_rows(feeds))


def _is_made_of(tensor: Tensor, fed: set[int]) -> bool:
    """Whether a variable, or one that a tensor is made of, is given rows of arrays, or the shape or length of one."""
    given = [i for v in needed([tensor]).values() if isinstance(v, Variable) for i in v.inputs]
    shapes = [i.inputs[0] for i in given if isinstance(i, Host) and i.call == "shape" and i.inputs]
    counts = [v for i in given if isinstance(i, Sequence) for n in i.elements for v in needed([n]).values()]
    return not fed.isdisjoint(_with_rows([*given, *shapes, *counts]))


def _with_rows(values: Iterable[Value]) -> Iterator[int]:
    """The numbers of some arrays, and of those that they have a row for each row of."""
    behind = closure(values, lambda value: rows_from(value) if isinstance(value, Host) else ())
    return (value.uid for value in behind if isinstance(value, Host))


def _over_both(value: Tensor) -> Input | None:
    """The placeholder, open along both axes or as large along both, that a tensor of its shape is made of."""
    root = next(iter(value.roots)) if len(value.roots) == 1 else None
    if not isinstance(root, Input) or value.batch.kind != "example" or root.rank != PAIR or value.dims != root.dims:
        return None
    sizes = root.shape.elements if isinstance(root.shape, Sequence) else []
    counts = [size.factors() for size in sizes if isinstance(size, Number) and size.factors()]
    return root if root.dims == (None, None) or (len(counts) == PAIR and counts[0] == counts[1]) else None


def _of_variables(operands: Iterable[Value]) -> tuple[str, str]:
    """What variables with a row for each example are, and what to write in their place."""
    rows = [v for v in operands if isinstance(v, Variable)]
    if rows and not any(variable.trainable for variable in rows):
        return f" ({rows[0].label or 'not trained'})", FED_STATE
    return ", as where a matrix is factorised", f"feed the numbers of some rows, and tf.gather these; {IN_COLUMNS}"
