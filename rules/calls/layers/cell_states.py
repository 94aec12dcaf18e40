"""The states of recurrent cells: which tensors they consist of."""

from __future__ import annotations

from functools import reduce

from converter.analysis.call import Call
from converter.analysis.python.joins import join
from converter.analysis.reasons import Why
from converter.analysis.values import (
    ARRAY,
    FREE,
    STATE,
    STATES,
    Batch,
    Record,
    Sequence,
    Tensor,
    Typed,
    Value,
    opaque,
)

ATTENTION_STATE = ("cell_state", "attention", "time", "alignments", "alignment_history", "attention_state")
STATE_IS_TUPLE = frozenset(
    "BasicLSTMCell LSTMCell LayerNormBasicLSTMCell LSTMBlockCell LSTMBlockFusedCell NASCell PhasedLSTMCell "
    "CudnnCompatibleLSTMCell".split()
)


def state_of(call: Call, cell: Value | None, kept: Batch, all_steps: bool = False) -> Value:
    """The state of a cell: (c, h) for an LSTM, a tuple of states for stacked cells; for others, one or several.

    all_steps: whether as many steps are taken as the inputs have, and not only to the end of the longest sequence.
    """
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
