"""Recurrent nets: cells, and the functions that unroll them over time."""

from __future__ import annotations

from converter.analysis import batch, shaping
from converter.analysis.signature import Call, Handler
from converter.analysis.values import FREE, Batch, Counted, Record, Sequence, Tensor, Typed, Value, opaque, tensors_in
from converter.rule import Rule

CELLS = (
    "BasicLSTMCell LSTMCell GRUCell BasicRNNCell RNNCell MultiRNNCell DropoutWrapper ResidualWrapper DeviceWrapper "
    "OutputProjectionWrapper InputProjectionWrapper EmbeddingWrapper AttentionCellWrapper LayerNormBasicLSTMCell "
    "LSTMBlockCell LSTMBlockFusedCell GRUBlockCell UGRNNCell NASCell GridLSTMCell TimeFreqLSTMCell PhasedLSTMCell"
).split()
ATTENTION_STATE = ("cell_state", "attention", "time", "alignments", "alignment_history", "attention_state")
STATE_IS_TUPLE = {"BasicLSTMCell", "LSTMCell", "LayerNormBasicLSTMCell", "LSTMBlockCell", "NASCell", "PhasedLSTMCell"}


def _lstm_state(call: Call) -> Value:
    """`LSTMStateTuple(c, h)`, as scripts put a state together that they feed."""
    parts = [call.get(at, name) for at, name in enumerate(("c", "h"))]
    return Record(("c", "h"), [part if part is not None else Tensor() for part in parts])


def _cell(call: Call) -> Value:
    return call.typed("Cell")


def _state(call: Call, cell: Value | None, kept: Batch) -> Value:
    """The state of a cell: (c, h) for an LSTM, a tuple of states for stacked cells."""
    if isinstance(cell, Typed):
        name = cell.name.rpartition(".")[2]
        stacked = cell.args[0] if cell.args else cell.kwargs.get("cells")
        if name == "MultiRNNCell" and isinstance(stacked, Sequence):
            return Sequence([_state(call, c, kept) for c in stacked.elements], many=stacked.many)
        wrapped = cell.args[0] if cell.args else cell.kwargs.get("cell")
        if name == "AttentionWrapper":
            rest = [Tensor(FREE if f == "time" else kept, call.values(), None, "state") for f in ATTENTION_STATE[1:]]
            return Record(ATTENTION_STATE, [_state(call, wrapped, kept), *rest])
        if name.endswith("Wrapper") and wrapped is not None:
            return _state(call, wrapped, kept)
        tuple_given = getattr(cell.kwargs.get("state_is_tuple"), "value", True)
        if name in STATE_IS_TUPLE and tuple_given is not False:
            both = [Tensor(kept, call.values(), (None, None), "state") for _ in range(2)]
            return Record(("c", "h"), both)
    return Tensor(kept, call.values(), (None, None), "state")


def _zero_state(call: Call) -> Value:
    size = call.args[:1] or list(call.kwargs.values())[:1]
    kept = Batch("example", 0) if shaping.batch_entry(call.walk, size) == 0 else FREE
    return _state(call, call.receiver, kept)


def _call_cell(call: Call) -> Value:
    inputs = call.tensor(0, "inputs")
    call.walk.effect("variable", "cell", None, call.node)
    kept = Batch("example", 0, inputs.batch.packed) if inputs.batch.kind == "example" else inputs.batch
    return Sequence([Tensor(kept, call.values(), (None, None), "cell"), _state(call, call.receiver, kept)])


def _dynamic(call: Call) -> Value:
    cell, inputs = call.get(0, "cell"), _inputs(call)
    call.walk.effect("variable", call.name, None, call.node)
    call.note_layout(inputs, call.flag(7, "time_major"))
    outputs = Tensor(inputs.batch, call.values(), (None, None, None), call.name)
    return Sequence([outputs, _state(call, cell, _rows(inputs))])


def _inputs(call: Call) -> Tensor:
    """What goes into a net, or the first of what does: a cell may take several tensors of one layout."""
    return next(tensors_in(call.get(1, "inputs") or Tensor()), call.tensor(1, "inputs"))


def _rows(inputs: Tensor) -> Batch:
    return Batch("example", 0, inputs.batch.packed) if inputs.batch.kind == "example" else inputs.batch


def _bidirectional(call: Call) -> Value:
    inputs = call.tensor(2, "inputs")
    call.walk.effect("variable", call.name, None, call.node)
    call.note_layout(inputs, call.flag(9, "time_major"))
    outputs = [Tensor(inputs.batch, call.values(), (None, None, None), call.name) for _ in range(2)]
    states = [_state(call, call.get(i, name), _rows(inputs)) for i, name in enumerate(("cell_fw", "cell_bw"))]
    return Sequence([Sequence(outputs), Sequence(states)])


def _stacked(call: Call) -> Value:
    """Layers that read both ways: the outputs of the last one, and the states of each."""
    inputs = call.tensor(2, "inputs")
    call.walk.effect("variable", call.name, None, call.node)
    outputs = Tensor(inputs.batch, call.values(), (None, None, None), call.name)
    given = (call.get(i, name) for i, name in enumerate(("cells_fw", "cells_bw")))
    cells = [cell.elements if isinstance(cell, Sequence) else [] for cell in given]
    states = [Sequence(_state(call, cell, _rows(inputs)) for cell in each) for each in cells]
    return Sequence([outputs, *states])


def _static(call: Call) -> Value:
    steps = call.get(1, "inputs")
    call.walk.effect("variable", call.name, None, call.node)
    elements = steps.elements if isinstance(steps, Sequence) else [steps] if steps is not None else []
    first = batch.as_tensor(elements[0]) if elements else Tensor()
    many = isinstance(steps, Sequence) and steps.many
    outputs = [Tensor(first.batch, call.values(), (None, None), call.name) for _ in elements]
    return Sequence([Sequence(outputs, mutable=True, many=many), _state(call, call.get(0, "cell"), _rows(first))])


def _static_bidirectional(call: Call) -> Value:
    steps = call.get(2, "inputs")
    call.walk.effect("variable", call.name, None, call.node)
    elements = steps.elements if isinstance(steps, Sequence) else []
    first = batch.as_tensor(elements[0]) if elements else Tensor()
    outputs = [Tensor(first.batch, call.values(), (None, None), call.name) for _ in elements]
    states = [_state(call, call.get(i, name), _rows(first)) for i, name in enumerate(("cell_fw", "cell_bw"))]
    return Sequence([Sequence(outputs, mutable=True, many=getattr(steps, "many", False)), *states])


def _sequence_loss(call: Call) -> Value:
    """A mean over the examples and steps, weighted by a mask."""
    logits, weights = call.tensor(0, "logits"), call.get(2, "weights")
    kept = logits.batch
    if kept.kind == "example":
        whole = not any(call.constant(at, name) is False for at, name in ((3, "average_across_timesteps"),
                                                                          (4, "average_across_batch")))  # fmt: skip
        masked = isinstance(weights, Tensor) and weights.batch.kind == "example"
        kept = Batch("reduced", how="mean", over=Counted(weights, "sum") if masked else None)  # type: ignore[arg-type]
        kept = kept if whole else opaque("a sequence loss that is not averaged over steps and examples")
    return Tensor(kept, call.values(), (), call.name)


def _sequence_loss_by_example(call: Call) -> Value:
    steps = call.get(0)
    logits = batch.as_tensor(steps.elements[0]) if isinstance(steps, Sequence) else call.tensor(0, "logits")
    return Tensor(logits.batch, call.values(), (None,), call.name)


def _ctc_loss(call: Call) -> Value:
    inputs = call.tensor(1, "inputs")
    kept = Batch("example", 0) if inputs.batch.kind == "example" else inputs.batch
    return Tensor(kept, call.values(), (None,), call.name)


def _crf(call: Call) -> Value:
    scores = call.tensor(0, "inputs")
    kept = Batch("example", 0) if scores.batch.kind == "example" else scores.batch
    call.walk.effect("variable", call.name, None, call.node)
    likelihood = Tensor(kept, call.values(), (None,), call.name)
    return Sequence([likelihood, Tensor(FREE, call.values(), (None, None), "transitions")])


MODULES = ("nn.rnn_cell.", "contrib.rnn.")
CALLS: dict[str, Handler] = {
    **dict.fromkeys([m + c for m in MODULES for c in CELLS], _cell),
    "contrib.seq2seq.AttentionWrapper": _cell,
    **dict.fromkeys([m + "LSTMStateTuple" for m in MODULES], _lstm_state),
    **dict.fromkeys(("Cell.zero_state", "Instance.zero_state"), _zero_state),
    "Cell.__call__": _call_cell,
    "Cell.call": _call_cell,
    "nn.dynamic_rnn": _dynamic,
    **dict.fromkeys(("nn.bidirectional_dynamic_rnn",), _bidirectional),
    "contrib.rnn.stack_bidirectional_dynamic_rnn": _stacked,
    **dict.fromkeys(("nn.static_rnn", "contrib.rnn.static_rnn", "nn.rnn", "contrib.rnn.core_rnn.static_rnn"), _static),
    **dict.fromkeys(("nn.static_bidirectional_rnn", "contrib.rnn.static_bidirectional_rnn"), _static_bidirectional),
    "contrib.seq2seq.sequence_loss": _sequence_loss,
    "contrib.legacy_seq2seq.sequence_loss_by_example": _sequence_loss_by_example,
    "nn.seq2seq.sequence_loss_by_example": _sequence_loss_by_example,
    "nn.ctc_loss": _ctc_loss,
    "contrib.crf.crf_log_likelihood": _crf,
}

RULES = (
    Rule(
        code="TMG108",
        title="batch sizes that the model reads mean one shard inside the towers",
        why="Models read the batch size: zero_state(batch_size, …), reshape to [batch_size, -1], a sum "
        "divided by it. On the host that number becomes the size of the global batch, inside the towers "
        "the model has only its shard; with the global number the state of a recurrent net would not "
        "fit its inputs, and a sum divided by it would be too small. So the name is re-bound to the "
        "shard's size inside the loop and restored after it. Where placeholders have a fixed batch size "
        "the shards have fixed sizes too, for code that reads x.get_shape()[0].",
        before="""\
import tensorflow as tf

batch_size = 16
X = tf.placeholder(tf.float32, [batch_size, 20, 8])
Y = tf.placeholder(tf.float32, [batch_size, 1])
cell = tf.nn.rnn_cell.GRUCell(32)
outputs, state = tf.nn.dynamic_rnn(cell, X, initial_state=cell.zero_state(batch_size, tf.float32))
loss = tf.reduce_mean(tf.square(tf.layers.dense(state, 1) - Y))
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        series, targets = next_batch(batch_size)
        sess.run(train_op, {X: series, Y: targets})
""",
        after="""\
batch_size = 16 * num_gpus
X = tf.placeholder(tf.float32, [batch_size, 20, 8])
X_batch, Y_batch, global_batch_size = X, Y, batch_size
for gpu in range(num_gpus):
        (X, Y), rows, weight = shard_static([X_batch, Y_batch], gpu)
        batch_size = shard_size(global_batch_size, gpu)
        outputs, state = tf.nn.dynamic_rnn(cell, X, initial_state=cell.zero_state(batch_size, tf.float32))
X, Y, batch_size = X_batch, Y_batch, global_batch_size
""",
        references=(
            "tf.nn.rnn_cell.RNNCell.zero_state(batch_size, dtype)",
            "docs: TMG110, the number on the host",
        ),
    ),
)
