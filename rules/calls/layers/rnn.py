"""Recurrent nets: cells, and the functions that unroll them over time."""

from __future__ import annotations

from collections.abc import Callable

from converter.analysis.call import Attribute, Call, Handler
from converter.analysis.effects import EffectKind
from converter.analysis.reasons import Why
from converter.analysis.rows import below, first_axis, keeps, makes, on_host, table, together, unbatched
from converter.analysis.tensors import algebra, moving, shaping
from converter.analysis.tensors.sparse import sparse_input
from converter.analysis.traits import Argument, Trait
from converter.analysis.values import (
    FREE,
    Batch,
    Constant,
    Count,
    Counted,
    Number,
    Record,
    Sequence,
    Tensor,
    Typed,
    Value,
    is_none,
    opaque,
    tensors_in,
)
from rules.calls.layers.cell_states import output_size, state_of, state_size

CELLS = (
    "BasicLSTMCell LSTMCell GRUCell BasicRNNCell RNNCell MultiRNNCell DropoutWrapper ResidualWrapper DeviceWrapper "
    "OutputProjectionWrapper InputProjectionWrapper EmbeddingWrapper AttentionCellWrapper LayerNormBasicLSTMCell "
    "LSTMBlockCell GRUBlockCell UGRNNCell NASCell GridLSTMCell TimeFreqLSTMCell PhasedLSTMCell"
).split()


def _lstm_state(call: Call) -> Value:
    """`LSTMStateTuple(c, h)`, as scripts put a state together that they feed."""
    parts = [call.get(at, name) for at, name in enumerate(("c", "h"))]
    return Record(("c", "h"), [part if part is not None else Tensor() for part in parts])


def _zero_state(call: Call) -> Value:
    size = call.get(0, "batch_size")
    kept = shaping.batch_of_shape(call.walk.facts, None if size is None else [size])
    made = state_of(call, call.receiver, kept)
    rows = shaping.lengths_of([size] if size is not None else None)
    for state in tensors_in(made):
        state.lengths = (*rows, None) if rows and state.rank == 2 else state.lengths
    return made


def _call_cell(call: Call) -> Value:
    inputs = call.tensor(0, "inputs")
    call.walk.effect(EffectKind.VARIABLE, "cell", None, call.node)
    kept = _rows(inputs.batch)
    return Sequence([Tensor(kept, call.values(), (None, None), "cell"), state_of(call, call.receiver, kept)])


def _joined_sizes(call: Call) -> Value:
    """`_concat` of the cells: the shape of a state, of the sizes of its first axes and the width of a cell."""
    before, width = call.get(0, "prefix"), call.get(1, "suffix")
    first = before.elements if isinstance(before, Sequence) and not before.many else [before]
    sizes = [size for size in (*first, width) if isinstance(size, (Number, Count, Constant))]
    return Sequence(sizes) if len(sizes) == len(first) + 1 else call.gives(FREE)


def _make_linear(call: Call) -> Value:
    """`_Linear(args, output_size, …)` of TensorFlow 1.4 to 1.10: makes the matrix, and is called like `_linear`."""
    call.walk.effect(EffectKind.VARIABLE, call.name, None, call.node)
    return call.typed(LINEAR)


def _linear(call: Call) -> Value:
    """`_linear` of the cells: one matrix for a tensor, or for several that are joined along their columns."""
    given, made = call.get(0, "args"), call.receiver
    joined = moving.concat(given, Number(1)) if isinstance(given, Sequence) else call.tensor(0, "args")
    columns = call.constant(1, "output_size")
    if isinstance(made, Typed):
        columns = getattr(made.args[1] if len(made.args) > 1 else made.kwargs.get("output_size"), "value", None)
    else:
        call.walk.effect(EffectKind.VARIABLE, call.name, None, call.node)
    rows = joined.dims[0] if joined.dims else None
    kept = algebra.along_last(joined, call.name)
    return call.gives(kept, (rows, columns if isinstance(columns, int) else None))


def _dynamic(call: Call) -> Value:
    kept, outputs = _over_time(call, _inputs(call), 7)
    # Without lengths a step is taken for each time step of the inputs (rnn.py, _dynamic_rnn_loop, 1.15).
    state = state_of(call, call.get(0, "cell"), _rows(kept), is_none(call.get(2, "sequence_length")))
    return Sequence([outputs(), state])


def _over_time(call: Call, inputs: Tensor, time_major: int) -> tuple[Batch, Callable[[], Tensor]]:
    """The batch of the outputs of a net that unrolls its inputs, and what makes them; the place of `time_major`."""
    call.walk.effect(EffectKind.VARIABLE, call.name, None, call.node)
    kept = call.laid_out(inputs, call.flag(time_major, "time_major"))
    return kept, lambda: call.gives(kept, (None, None, None))


def _inputs(call: Call) -> Tensor:
    """The input tensor of a recurrent net, or the first one if its cell takes several tensors of the same layout."""
    return next(tensors_in(call.get(1, "inputs") or Tensor()), call.tensor(1, "inputs"))


def _rows(kept: Batch) -> Batch:
    """The batch of a state: its batch axis is 0, wherever the batch axis of the inputs is."""
    return Batch("example", 0, kept.rows) if kept.kind == "example" else kept


def _bidirectional(call: Call) -> Value:
    kept, outputs = _over_time(call, call.tensor(2, "inputs"), 9)
    return Sequence([Sequence([outputs(), outputs()]), Sequence(_states_of_both(call, kept))])


def _states_of_both(call: Call, kept: Batch) -> list[Value]:
    return [state_of(call, call.get(at, name), _rows(kept)) for at, name in enumerate(("cell_fw", "cell_bw"))]


def _stacked(call: Call) -> Value:
    """Layers that read both ways: the outputs of the last one, and the states of each."""
    kept, outputs = _over_time(call, call.tensor(2, "inputs"), 8)
    return Sequence([outputs(), *_states_of_layers(call, kept)])


def _static(call: Call) -> Value:
    steps = call.get(1, "inputs")
    kept, outputs = _by_steps(call, steps if isinstance(steps, Sequence) or steps is None else Sequence([steps]))
    return Sequence([outputs.like(*([steps] if steps else [])), state_of(call, call.get(0, "cell"), _rows(kept))])


def _by_steps(call: Call, steps: Value | None) -> tuple[Batch, Sequence]:
    """The batch of the time steps in a list, and an output for each.

    The batch is opaque if they were unstacked along the supposed batch axis.
    """
    call.walk.effect(EffectKind.VARIABLE, call.name, None, call.node)
    elements = steps.elements if isinstance(steps, Sequence) else []
    first = algebra.as_tensor(elements[0]) if elements else Tensor()
    kept = opaque(Why.STEPS) if first.batch.why is Why.APART else first.batch
    made = [call.gives(kept, (None, None)) for _ in elements]
    return kept, Sequence(made, mutable=True, many=isinstance(steps, Sequence) and steps.many)


def _static_bidirectional(call: Call) -> Value:
    steps = call.get(2, "inputs")
    kept, outputs = _by_steps(call, steps)
    return Sequence([outputs.like(*([steps] if steps else [])), *_states_of_both(call, kept)])


def _stacked_static(call: Call) -> Value:
    """`_stacked` for a list of steps: the states of each layer's cell."""
    kept, outputs = _by_steps(call, call.get(2, "inputs"))
    return Sequence([outputs, *_states_of_layers(call, kept)])


def _states_of_layers(call: Call, kept: Batch) -> list[Sequence]:
    given = (call.get(i, name) for i, name in enumerate(("cells_fw", "cells_bw")))
    cells = [cell.elements if isinstance(cell, Sequence) else [] for cell in given]
    return [Sequence(state_of(call, cell, _rows(kept)) for cell in each) for each in cells]


def _sequence_loss(call: Call) -> Value:
    """A mean over the examples and steps, weighted by a mask."""
    logits, weights = call.tensor(0, "logits"), call.get(2, "weights")
    kept = logits.batch
    if kept.kind == "example":
        whole = not any(
            call.constant(at, name) is False
            for at, name in ((3, "average_across_timesteps"), (4, "average_across_batch"))
        )
        counted = None
        if isinstance(weights, Tensor) and weights.batch.kind == "example":
            counted = Counted(weights, "sum")
        kept = Batch("reduced", how="mean", over=counted)
        kept = kept if whole else opaque(Why.SEQUENCE_LOSS)
    return call.gives(kept, ())


def _sequence_loss_by_example(call: Call) -> Value:
    steps = call.get(0)
    logits = algebra.as_tensor(steps.elements[0]) if isinstance(steps, Sequence) else call.tensor(0, "logits")
    return call.gives(algebra.not_linear(logits.batch), (None,))


def _ctc_loss(call: Call) -> Value:
    """A loss for each sequence: the sparse labels have a row for each of them, whatever they are fed with."""
    inputs = call.tensor(1, "inputs")
    labels = sparse_input(call.get(0, "labels"))
    if labels is not None and labels.shape is None and inputs.batch.kind == "example":
        call.walk.effect(EffectKind.LABELS, call.name, labels, call.node)
    return call.gives(first_axis(inputs, call.name), (None,))


LIKELIHOOD = keeps("inputs", batch=first_axis, lengths=(None,), effect=EffectKind.VARIABLE)
# The best tags, a row for each example, and their score; along time, early tags depend on late scores.
TAGS = keeps("potentials", batch=first_axis, lengths=(None, None))
LINEAR = "LinearOfCell"
MODULES = ("nn.rnn_cell.", "contrib.rnn.")
POSITIONS: dict[Argument, dict[str, int]] = {
    Argument.LENGTHS: {
        "nn.dynamic_rnn": 2,
        "nn.bidirectional_dynamic_rnn": 3,
        "contrib.rnn.stack_bidirectional_dynamic_rnn": 6,
        "contrib.rnn.stack_bidirectional_rnn": 6,
        "nn.static_rnn": 4,
        "contrib.rnn.static_rnn": 4,
        "nn.static_bidirectional_rnn": 6,
        "contrib.rnn.static_bidirectional_rnn": 6,
    }
}

TRAITS: dict[Trait, str] = {
    Trait.KNOWS_LENGTHS: (
        "sequence_mask boolean_mask nn.ctc_loss contrib.crf.crf_log_likelihood contrib.seq2seq.sequence_loss "
        "contrib.legacy_seq2seq.sequence_loss_by_example nn.seq2seq.sequence_loss_by_example"
    ),
    Trait.TELLS_PADDING: "sign not_equal equal greater greater_equal less count_nonzero",
    Trait.STARTING_STATE: "zero_state",
    Trait.BY_OWN_CALL: "__call__ apply",
    Trait.BY_OWN_BUILD: "__call__ apply call",
    Trait.BESIDE_ROWS: (
        "cell nn.dynamic_rnn nn.bidirectional_dynamic_rnn contrib.rnn.stack_bidirectional_dynamic_rnn "
        "contrib.rnn.stack_bidirectional_rnn nn.static_rnn contrib.rnn.static_rnn nn.rnn "
        "contrib.rnn.core_rnn.static_rnn nn.static_bidirectional_rnn contrib.rnn.static_bidirectional_rnn"
    ),
    Trait.TAKES_SPARSE_ROWS: "nn.ctc_loss",
    Trait.MAKES_TABLES: "EmbeddingWrapper",
}

ATTRIBUTES: dict[str, Attribute] = {"Cell.output_size": output_size, "Cell.state_size": state_size}

CALLS: dict[str, Handler] = table(
    ((*below(MODULES, CELLS), "contrib.seq2seq.AttentionWrapper"), makes("Cell")),
    (below(MODULES, "LSTMStateTuple"), _lstm_state),
    ("Cell.zero_state Instance.zero_state", _zero_state),
    ("Cell.__call__ Cell.call", _call_cell),
    (below(MODULES, "_Linear"), _make_linear),
    ((*below(MODULES, "_linear"), f"{LINEAR}.__call__"), _linear),
    (below(MODULES, "_concat"), _joined_sizes),
    ("nn.dynamic_rnn", _dynamic),
    ("nn.bidirectional_dynamic_rnn", _bidirectional),
    ("contrib.rnn.stack_bidirectional_dynamic_rnn", _stacked),
    ("contrib.rnn.stack_bidirectional_rnn", _stacked_static),
    ("nn.static_rnn contrib.rnn.static_rnn nn.rnn contrib.rnn.core_rnn.static_rnn", _static),
    ("nn.static_bidirectional_rnn contrib.rnn.static_bidirectional_rnn", _static_bidirectional),
    ("contrib.seq2seq.sequence_loss", _sequence_loss),
    (below("contrib.legacy_seq2seq. nn.seq2seq.", "sequence_loss_by_example"), _sequence_loss_by_example),
    ("nn.ctc_loss", _ctc_loss),
    ("contrib.crf.crf_log_likelihood", together(LIKELIHOOD, unbatched((None, None), "transitions"))),
    ("contrib.crf.crf_decode", together(TAGS, keeps("potentials", batch=first_axis, lengths=(None,), op="score"))),
    ("contrib.crf.viterbi_decode", together(on_host, on_host)),
)
