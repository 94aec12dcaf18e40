"""Placeholders: the batch that is fed is cut into shards, one for each tower."""

from __future__ import annotations

from converter.analysis import shaping
from converter.analysis.items import entry_of
from converter.analysis.signature import Call, Handler
from converter.analysis.sparse import BATCHES, PLACEHOLDERS, is_sparse
from converter.analysis.values import Constant, Input, Mapping, Number, Sequence, Symbol, Tensor, Typed, Value, opaque
from converter.rule import Rule


def _placeholder(call: Call) -> Value:
    shape = call.get(1, "shape")
    if isinstance(shape, Constant) and shape.value is None:
        shape = None
    return _input(call, shape, _dtype(call.get(0, "dtype")))


def _with_default(call: Call) -> Value:
    shape = call.get(1, "shape")
    default = call.tensor(0, "input")
    whole = isinstance(given := call.get(0, "input"), Number) and isinstance(given.value, int)
    made = _input(call, shape, "int32" if whole else "float")
    if default.dims == ():
        made.ambiguous, made.dims = False, ()
        made.batch, made.roots = type(made.batch)(), frozenset()
    elif default.dims is not None and default.dims[:1] == (1,) and made.batch.kind == "example":
        call.walk.effect("default of one row", call.name, made, call.node)
    made.inputs = tuple(call.values())
    return made


def _input(call: Call, shape: Value | None, dtype: str) -> Input:
    walk = call.walk
    entries = shaping.shape_entries(shape)
    made = Input(call.name, shaping.dims_of(entries), shape, dtype)
    axis = batch_axis(call, entries)
    if axis is not None:
        made.shard(axis)
        entry = (entries or [])[axis]
        if isinstance(entry, Number) and entry.linear:
            walk.facts.batch_sizes.append((entry, "the batch axis of a placeholder", call.node))
    elif entries is None and dtype != "bool":
        made.ambiguous = True  # a scalar or a batch: what is fed to it decides
    elif entries:
        made.ambiguous = True
    return made


def batch_axis(call: Call, entries: list[Value] | None) -> int | None:
    """Where a placeholder's batch is: at the batch size if it is written there, else at an unknown first dimension."""
    if not entries:
        return None
    named = shaping.batch_entry(call.walk, entries)
    if named is not None:
        return named
    first = entries[0]
    unknown = isinstance(first, Constant) and first.value is None or getattr(first, "value", 0) == -1
    return 0 if unknown else None


def _dtype(value: Value | None) -> str:
    if isinstance(value, Symbol):
        return value.name
    return str(getattr(value, "value", "")) if value is not None else ""


def _sparse_placeholder(call: Call) -> Value:
    made = _input(call, call.get(1, "shape"), _dtype(call.get(0, "dtype")))
    call.walk.effect("sparse placeholder", call.name, made, call.node)
    return made


def _iterator_next(call: Call) -> Value:
    """The batches of a tf.data pipeline."""
    receiver = call.receiver
    state = receiver.state if isinstance(receiver, Typed) else {}
    structure, shapes = state.get("structure"), state.get("shapes")
    made = _batches(call, structure, shapes, not isinstance(receiver, Typed) or "batched" in state)
    alone = isinstance(made, Sequence) and len(made.elements) == 1
    return made.elements[0] if alone and isinstance(made, Sequence) else made


def _batches(call: Call, structure: Value | None, shapes: Value | None, batched: bool) -> Value:
    """An input for each part of what an iterator gives."""
    if isinstance(structure, Mapping):
        return Mapping([(key, _batches(call, part, None, batched)) for key, part in structure.pairs])
    if isinstance(structure, Sequence):
        parts, known = structure.elements, shapes.elements if isinstance(shapes, Sequence) else []
        each: list[Value | None] = [*known] if len(known) == len(parts) else [None] * len(parts)
        return Sequence([_batches(call, part, shape, batched) for part, shape in zip(parts, each, strict=True)])
    op = BATCHES if structure is not None and is_sparse(structure) else "Iterator.get_next"
    made = Input(op, shaping.dims_of(shaping.shape_entries(shapes)), shapes, "")
    if batched:
        made.shard(0)
    made.inputs = tuple(call.values())
    return made


def _entry(call: Call) -> Value:
    """`batch.get('x')`, `batch.pop('x')`: a component of a batch that came in as a dict."""
    key, batch = call.constant(0, ""), call.receiver
    if not isinstance(batch, Input) or not batch.op.endswith("get_next") or not isinstance(key, str):
        return Tensor(opaque(f"the effect of {call.name} on the batch is not known"), call.values(), None, call.name)
    if call.name.endswith("pop"):
        call.walk.effect("mutation", call.name, batch, call.node)
    return entry_of(call.walk, batch, key, call.node)


CALLS: dict[str, Handler] = {
    "Input.get": _entry,
    "Input.pop": _entry,
    "placeholder": _placeholder,
    "placeholder_with_default": _with_default,
    **dict.fromkeys(PLACEHOLDERS, _sparse_placeholder),
    **dict.fromkeys(("Iterator.get_next", "data.Iterator.get_next"), _iterator_next),
}

_DEFAULT = """\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
noise = tf.placeholder_with_default({default}, [None, 784])
logits = tf.layers.dense(X + noise, 10)
loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels, noises = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels, noise: noises})
    print(sess.run(loss, {X: images, Y: labels}))
"""

_SHAPELESS = """\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
importance = tf.placeholder(tf.float32{shape})
logits = tf.layers.dense(X, 10)
loss = tf.losses.sparse_softmax_cross_entropy(Y, logits, weights=importance)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels, importance: rate(labels)})
"""

RULES = (
    Rule(
        code="TMG253",
        title="an input without a shape may be one value, or have a row for each example",
        why="A placeholder without a shape takes anything. What is fed to it often tells: a number goes to all towers, "
        "a slice of a data set is cut as the other inputs are. Here neither the script's feeds nor what the model "
        "does with it tell: shared by all towers, an array with a row for each example would meet the rows of one "
        "shard, and may spread over them without a word. Give the placeholder a shape, or say which it is: "
        "--shared NAME, or --batch-axis NAME=0.",
        before=_SHAPELESS.replace("{shape}", ""),
        after=_SHAPELESS.replace("{shape}", ", [None]"),
        references=("docs: TMG103, which inputs are cut",),
    ),
    Rule(
        code="TMG243",
        title="an input is left to a default of one row",
        why="tf.placeholder_with_default takes the default where nothing is fed. One of a single row goes with a "
        "batch of any size on one GPU, because TensorFlow repeats it for each example; but the towers cut "
        "their rows out of every input, and only the first would find one. Give it a default with a row for "
        "each example, made of the size of another input, or feed it in every run.",
        before=_DEFAULT.replace("{default}", "tf.zeros([1, 784])"),
        after=_DEFAULT.replace("{default}", "tf.zeros([tf.shape(X)[0], 784])"),
        references=("docs: TMG103, which inputs are cut",),
    ),
    Rule(
        code="TMG103",
        title="batches are cut into one shard for each tower",
        why="Every placeholder with a batch axis is cut along it into N consecutive shards whose sizes "
        "differ by at most one, and inside the loop its name means the shard, so that the model's lines "
        "stay as they are. Each tower counts with its share of the rows: a batch that does not divide "
        "by N, such as the last one of an epoch, gives the exact mean. A batch with fewer rows than "
        "there are towers leaves some without any; they compute on one row with weight 0, because the "
        "mean over no rows is NaN and NaN times 0 is NaN. Placeholders without a batch axis (keep_prob, "
        "learning_rate) go to all towers whole; --shared and --batch-axis say so where the script does "
        "not. Arrays, lists and constants that the model reads in place of placeholders are cut likewise, "
        "when the graph is built. An input that only one branch of a condition makes is cut where it is there.",
        before="""\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
keep_prob = tf.placeholder(tf.float32)
logits = tf.layers.dense(tf.nn.dropout(X, keep_prob), 10)
loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(logits=logits, labels=Y))
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels, keep_prob: 0.5})
""",
        after="""\
keep_prob = tf.placeholder(tf.float32)
X_batch, Y_batch = X, Y
for gpu in range(num_gpus):
        (X, Y), rows, weight = shard([X_batch, Y_batch], gpu)
        logits = tf.layers.dense(tf.nn.dropout(X, keep_prob), 10)
        tower_loss.append(loss * weight)
X, Y = X_batch, Y_batch
""",
        references=("tf.reduce_mean of an empty tensor is NaN (all versions)",),
    ),
)
