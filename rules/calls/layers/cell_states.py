"""The states of recurrent cells: which tensors they consist of."""

from __future__ import annotations

import ast
from functools import reduce
from typing import TYPE_CHECKING

from converter.analysis.call import Call
from converter.analysis.python.items import get_attribute
from converter.analysis.python.joins import join
from converter.analysis.reasons import Why
from converter.analysis.values import (
    ARRAY,
    FREE,
    STATE,
    STATES,
    Batch,
    Instance,
    Number,
    Record,
    Sequence,
    Tensor,
    Typed,
    Value,
    is_none,
    opaque,
)

if TYPE_CHECKING:
    from converter.analysis.walk import Walk

ATTENTION_STATE = ("cell_state", "attention", "time", "alignments", "alignment_history", "attention_state")
STATE_IS_TUPLE = frozenset(
    "BasicLSTMCell LSTMCell LayerNormBasicLSTMCell LSTMBlockCell LSTMBlockFusedCell NASCell PhasedLSTMCell "
    "CudnnCompatibleLSTMCell".split()
)

# Cells whose outputs are as wide as their first argument says, as is each tensor of their state.
OF_UNITS = frozenset(
    "BasicRNNCell GRUCell GRUBlockCell UGRNNCell BasicLSTMCell LSTMCell LayerNormBasicLSTMCell LSTMBlockCell".split()
)


def output_size(walk: Walk, cell: Typed, node: ast.AST) -> Value | None:
    """The `output_size` of a cell, None if it is not known."""
    units, projected = cell.args[0] if cell.args else cell.kwargs.get("num_units"), cell.kwargs.get("num_proj")
    if cell.options or len(cell.args) > 4 or cell.name.rpartition(".")[2] not in OF_UNITS:
        return None  # the fifth argument of LSTMCell is num_proj
    return units if is_none(projected) else projected


def state_size(walk: Walk, cell: Typed, node: ast.AST) -> Value | None:
    """The `state_size` of a cell, None if it is not known."""
    units = output_size(walk, cell, node)
    if units is None or cell.name.rpartition(".")[2] not in STATE_IS_TUPLE:
        return units
    known = not {"state_is_tuple", "num_proj"} & {*cell.kwargs}
    return Record(("c", "h"), [units, units]) if known else None


def _of_sizes(call: Call, sizes: Value | None, kept: Batch) -> Value:
    """The state of a cell of the script's own: a tensor for each number of its `state_size`."""
    if isinstance(sizes, Sequence):
        parts = [_of_sizes(call, size, kept) for size in sizes.elements]
        return Record(sizes.fields, parts) if isinstance(sizes, Record) else Sequence(parts, many=sizes.many)
    return Tensor(kept, call.values(), (None, None), STATE if isinstance(sizes, Number) else STATES)


def state_of(call: Call, cell: Value | None, kept: Batch, all_steps: bool = False) -> Value:
    """The state of a cell: (c, h) for an LSTM, a tuple of states for stacked cells; for others, one or several.

    all_steps: whether as many steps are taken as the inputs have, and not only to the end of the longest sequence.
    """
    if isinstance(cell, Instance):
        return _of_sizes(call, get_attribute(call.walk, cell, "state_size", call.node), kept)
    if isinstance(cell, Typed) and cell.options:
        return reduce(join, [state_of(call, option, kept, all_steps) for option in cell.options])
    if isinstance(cell, Typed):
        name = cell.name.rpartition(".")[2]
        stacked = cell.args[0] if cell.args else cell.kwargs.get("cells")
        if name == "MultiRNNCell" and isinstance(stacked, Sequence):
            return Sequence([state_of(call, c, kept, all_steps) for c in stacked.elements], many=stacked.many)
        wrapped = cell.args[0] if cell.args else cell.kwargs.get("cell")
        if name == "AttentionWrapper":
            rest: list[Value] = [
                Tensor(FREE if f == "time" else kept, call.values(), None, STATE) for f in ATTENTION_STATE[1:]
            ]
            history: Value = Sequence([])
            if getattr(cell.kwargs.get("alignment_history"), "value", False) is not False:
                entry = kept if all_steps or kept.kind == "free" else opaque(Why.HISTORY)
                history = Tensor(entry, call.values(), None, ARRAY)
            rest[ATTENTION_STATE.index("alignment_history") - 1] = history
            return Record(ATTENTION_STATE, [state_of(call, wrapped, kept, all_steps), *rest])
        if name.endswith("Wrapper") and wrapped is not None:
            return state_of(call, wrapped, kept, all_steps)
        tuple_given = getattr(cell.kwargs.get("state_is_tuple"), "value", True)
        if name in STATE_IS_TUPLE and tuple_given is not False:
            both = [Tensor(kept, call.values(), (None, None), STATE) for _ in range(2)]
            return Record(("c", "h"), both)
        if name != "MultiRNNCell" and not name.endswith("Wrapper"):
            return Tensor(kept, call.values(), (None, None), STATE)
    return Tensor(kept, call.values(), (None, None), STATES)
