"""Recurrent nets that are one operation over all steps: fused cells of `tf.contrib.rnn`, and the layers of cuDNN.

They take and give tensors whose first axis is time and whose second one is the batch
(contrib/rnn/python/ops/fused_rnn_cell.py and contrib/cudnn_rnn/python/layers/cudnn_rnn.py, 1.15).
"""

from __future__ import annotations

from converter.analysis.call import Call, Handler
from converter.analysis.effects import EffectKind
from converter.analysis.reasons import Why
from converter.analysis.rows import below, makes, table
from converter.analysis.values import STATE, Batch, Sequence, Tensor, Typed, Value, opaque
from rules.calls.layers.cell_states import state_of

FUSED = "FusedCell"
CUDNN = {"CudnnLSTM": 2, "CudnnGRU": 1, "CudnnRNNTanh": 1, "CudnnRNNRelu": 1}  # with the number of their states


def _call_fused(call: Call) -> Value:
    given = call.get(0, "inputs")
    call.walk.effect(EffectKind.VARIABLE, call.name, None, call.node)
    if isinstance(given, Sequence):  # a list of steps
        return Sequence([call.gives(opaque(Why.UNKNOWN_CALL, call.name))] * 2)
    batch_major = call.get(3, "time_major") is not None and not call.flag(3, "time_major")
    kept = call.laid_out(call.tensor(0, "inputs"), not batch_major)
    return Sequence([call.gives(kept, (None, None, None)), _state(call, call.receiver, kept)])


def _state(call: Call, cell: Value | None, kept: Batch) -> Value:
    """The last state: of cuDNN one tensor for all layers, whose second axis is the batch as well."""
    name = cell.name.rpartition(".")[2] if isinstance(cell, Typed) else ""
    if name in CUDNN:
        return Sequence([Tensor(kept, call.values(), (None, None, None), STATE) for _ in range(CUDNN[name])])
    inner = (cell.kwargs.get("cell") or next(iter(cell.args), None)) if isinstance(cell, Typed) else None
    if name in ("TimeReversedFusedRNN", "FusedRNNCellAdaptor"):
        return _state(call, inner, kept)
    rows = Batch("example", 0, kept.rows) if kept.kind == "example" else kept
    return state_of(call, cell, rows)


CALLS: dict[str, Handler] = table(
    (below("contrib.rnn.", "LSTMBlockFusedCell TimeReversedFusedRNN FusedRNNCellAdaptor"), makes(FUSED)),
    (below("contrib.cudnn_rnn.", CUDNN), makes(FUSED)),
    (below("contrib.cudnn_rnn.", "CudnnCompatibleLSTMCell CudnnCompatibleGRUCell"), makes("Cell")),
    (f"{FUSED}.__call__ {FUSED}.call {FUSED}.apply", _call_fused),
)
