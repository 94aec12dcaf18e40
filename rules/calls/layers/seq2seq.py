"""Sequence to sequence models of tf.contrib: attention, decoders and their outputs."""

from __future__ import annotations

from converter.analysis.call import Call, Handler
from converter.analysis.effects import EffectKind
from converter.analysis.python.following import follow
from converter.analysis.python.standard.collections import with_parts
from converter.analysis.reasons import Why
from converter.analysis.rows import below, keeps, makes, table
from converter.analysis.traits import Trait, has
from converter.analysis.values import (
    ARRAY,
    BATCH,
    FREE,
    OPEN_ENDED,
    Batch,
    Constant,
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
from rules.calls.layers.cell_states import state_of

HELPERS = (
    "TrainingHelper GreedyEmbeddingHelper SampleEmbeddingHelper ScheduledEmbeddingTrainingHelper "
    "ScheduledOutputTrainingHelper InferenceHelper CustomHelper"
).split()
MECHANISMS = "LuongAttention BahdanauAttention LuongMonotonicAttention BahdanauMonotonicAttention".split()
BUCKETED = ((0, "encoder_inputs"), (1, "decoder_inputs"))  # the arguments that a bucket takes the first steps of
LISTS = ("contrib.legacy_seq2seq.", "nn.seq2seq.")  # modules of models that take lists of steps
LEGACY = (
    "basic_rnn_seq2seq tied_rnn_seq2seq embedding_rnn_seq2seq embedding_tied_rnn_seq2seq embedding_attention_seq2seq "
    "rnn_decoder embedding_rnn_decoder attention_decoder embedding_attention_decoder"
).split()


def _examples(value: Value | None) -> Batch:
    """The batch layout of a value once its batch axis is moved to 0, as attention and cell states have it."""
    for tensor in tensors_in(value) if value is not None else ():
        if tensor.batch.kind == "example":
            return Batch("example", 0, tensor.batch.rows)
        if tensor.batch.kind != "free":
            return tensor.batch
    return FREE


def _decode(call: Call) -> Value:
    """`dynamic_decode`: the outputs, the last state and the lengths that were reached."""
    decoder = call.get(0, "decoder")
    call.walk.effect(EffectKind.VARIABLE, call.name, None, call.node)
    parts = [*decoder.args, *decoder.kwargs.values()] if isinstance(decoder, Typed) else []
    given = [v for p in parts for v in ((*p.args, *p.kwargs.values()) if isinstance(p, Typed) else (p,))]
    kept = _examples(Sequence(given))
    op = call.name if _paced(call, parts) else OPEN_ENDED
    first = Batch("example", 1, kept.rows) if kept.kind == "example" and call.flag(1, "output_time_major") else kept
    outputs = [Tensor(first, call.values(), dims, op) for dims in ((None, None, None), (None, None))]
    beams = isinstance(decoder, Typed) and "Beam" in decoder.name
    names = ("predicted_ids", "beam_search_decoder_output") if beams else ("rnn_output", "sample_id")
    state = next((p for p in reversed(parts) if isinstance(p, (Sequence, Tensor))), Tensor(kept))
    return Sequence([Record(names, outputs), _alike(state, call), call.gives(kept, (None,))])


def _paced(call: Call, parts: list[Value]) -> bool:
    """Whether a decoder reads given sequences, as in training: then it stops at the end of the longest sequence."""
    helper = next((p for p in parts if isinstance(p, Typed) and p.kind == "Helper"), None)
    if helper is None or not helper.name.endswith("TrainingHelper"):
        return False
    given = dict(zip(("inputs", "sequence_length"), helper.args, strict=False)) | helper.kwargs
    steps = next(tensors_in(given["inputs"]), None) if "inputs" in given else None
    major = isinstance(time := given.get("time_major"), Constant) and time.value is True
    call.laid_out(steps or Tensor(), major)
    known = steps is not None and steps.dims is not None and steps.dims[0 if major else 1 :][:1] not in ((None,), ())
    lengths = given.get("sequence_length")
    if not known and isinstance(lengths, Tensor) and lengths.batch.kind == "example" and not _is_one_length(lengths):
        call.walk.effect(EffectKind.LONGEST, "dynamic_decode", lengths, call.node)
    return True


def _is_one_length(value: Value) -> bool:
    """True if all sequences are told to be as long as a number says: `tf.ones([rows], tf.int32) * steps`."""
    if not isinstance(value, Tensor):
        return True
    if value.batch.kind == "free" or has(value.op, Trait.ONES):
        return value.rank == (0 if value.batch.kind == "free" else 1)
    computed = any(has(value.op, trait) for trait in (Trait.SCALES, Trait.CASTS))
    return computed and all(map(_is_one_length, value.inputs))


def _alike(value: Value, call: Call) -> Value:
    """The state after a call: new tensors with the structure and batch layout of the state before."""
    if isinstance(value, Record):
        return Record(value.fields, [_alike(e, call) for e in value.elements])
    if isinstance(value, Sequence):
        return Sequence([_alike(e, call) for e in value.elements], value.mutable, value.many)
    if not isinstance(value, Tensor):
        return value
    return Tensor(value.batch, (*call.values(), value), value.lengths, ARRAY if value.op == ARRAY else call.name)


def _several_rows(tensor: Tensor, name: str) -> Batch:
    """The batch where each example is repeated several times in consecutive rows."""
    return Batch("example", 0, (BATCH, None)) if tensor.batch.kind == "example" else tensor.batch


def _legacy(call: Call) -> Value:
    """Decoders over lists of steps: one output for each step of the decoder, and a state."""
    steps = call.get(0 if call.name.endswith("decoder") else 1, "decoder_inputs")
    call.walk.effect(EffectKind.VARIABLE, call.name, None, call.node)
    kept = _examples(Sequence(call.values()))
    elements = steps.elements if isinstance(steps, Sequence) else [call.tensor(0)]
    outputs = [call.gives(kept, (None, None)) for _ in elements]
    many = isinstance(steps, Sequence) and steps.many
    cell = next((v for v in call.values() if isinstance(v, Typed) and v.kind == "Cell"), None)
    return Sequence([Sequence(outputs, mutable=True, many=many), state_of(call, cell, kept)])


def _legacy_loss(call: Call) -> Value:
    """A mean over the examples of sums over the steps, divided by the weights."""
    kept = _examples(call.get(0, "logits"))
    if kept.kind == "example":
        kept = Batch("reduced", how="mean")
    return call.gives(kept, ())


def _with_buckets(call: Call) -> Value:
    """`model_with_buckets`: for each pair of lengths the outputs and the loss of a model of so many steps.

    Source: tensorflow/contrib/legacy_seq2seq/python/ops/seq2seq.py of TensorFlow 1.15.
    """
    buckets = call.get(4, "buckets")
    known = isinstance(buckets, Sequence) and bool(buckets.elements) and not buckets.many
    lengths = buckets.elements if isinstance(buckets, Sequence) and known else [Constant(None)]
    made = [_bucket(call, length) for length in lengths]
    columns = ([outputs for outputs, _ in made], [loss for _, loss in made])
    return Sequence([Sequence(column, mutable=True, many=not known) for column in columns])


def _bucket(call: Call, lengths: Value) -> tuple[Value, Value]:
    """The outputs and the loss of the model of one bucket."""
    ends = lengths.elements if isinstance(lengths, Sequence) and len(lengths.elements) == 2 else [None, None]
    given = [_first_steps(call.get(at, name), end) for (at, name), end in zip(BUCKETED, ends, strict=True)]
    model = call.get(5, "seq2seq")
    result = follow(call, model, given) if model is not None else Tensor()
    outputs = result.elements[0] if isinstance(result, Sequence) and result.elements else result
    step, target = (next(tensors_in(v), None) for v in (outputs, call.get(2, "targets")) if v is not None)
    if step is None or target is None:
        return outputs, call.gives(opaque(Why.UNKNOWN_CALL, call.name))
    kept = _examples(step)
    function = call.get(6, "softmax_loss_function")
    if function is not None and not is_none(function):
        each = follow(call, function, [], {"labels": target, "logits": step})
        kept = each.batch if isinstance(each, Tensor) else opaque(Why.UNKNOWN_CALL, call.name)
    per_example = call.flag(7, "per_example_loss")
    if kept.kind == "example" and not per_example:
        kept = Batch("reduced", how="mean")
    return outputs, Tensor(kept, (*call.values(), outputs), (None,) if per_example else (), call.name)


def _first_steps(steps: Value | None, end: Value | None) -> Value:
    """The steps of a bucket: the first of a list."""
    if isinstance(steps, Sequence) and isinstance(end, Number) and isinstance(end.value, int) and not steps.many:
        return Sequence(steps.elements[: end.value], steps.mutable)
    return steps or Tensor()


TRAITS: dict[Trait, str] = {
    # copy.deepcopy(cell) in tensorflow/contrib/legacy_seq2seq/python/ops/seq2seq.py of TensorFlow 1.15
    Trait.COPIES_CELLS: "basic_rnn_seq2seq embedding_rnn_seq2seq embedding_attention_seq2seq one2many_rnn_seq2seq",
    Trait.DECODES: "dynamic_decode",
    Trait.TAKES_ROWS: "GreedyEmbeddingHelper SampleEmbeddingHelper ScheduledEmbeddingTrainingHelper",
    Trait.MAKES_TABLES: (
        "embedding_rnn_seq2seq embedding_attention_seq2seq embedding_rnn_decoder embedding_attention_decoder "
        "embedding_tied_rnn_seq2seq"
    ),
}

CALLS: dict[str, Handler] = table(
    (below("contrib.seq2seq.", MECHANISMS), makes("Attention", EffectKind.VARIABLE)),
    (below("contrib.seq2seq.", HELPERS), makes("Helper")),
    (below("contrib.seq2seq.", "BasicDecoder BeamSearchDecoder"), makes("Decoder")),
    ("contrib.seq2seq.dynamic_decode", _decode),
    ("contrib.seq2seq.tile_batch", keeps("t", batch=_several_rows)),
    ("Record.clone", with_parts),
    (below(LISTS, LEGACY), _legacy),
    (below(LISTS, "model_with_buckets"), _with_buckets),
    (below(LISTS, "sequence_loss"), _legacy_loss),
)
