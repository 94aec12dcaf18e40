"""Sparse placeholders: cut by their rows where these are known to be the examples."""

from __future__ import annotations

import pytest

from tests.scripts import codes, parts

SCRIPT = """\
import tensorflow as tf

batch_size = 32
S = tf.sparse_placeholder({})
Y = tf.placeholder(tf.float32, [None, 5, 8])
{}
train_op = tf.train.AdamOptimizer().minimize(loss)
with tf.Session() as sess:
    for step in range(100):
        s, y = next_batch(batch_size)
        sess.run(train_op, {{S: s, Y: y}})
"""
PRODUCT = "loss = tf.reduce_mean(tf.square(tf.sparse_tensor_dense_matmul(S, W) - Y))"
DENSE = "loss = tf.reduce_mean(tf.square(tf.layers.dense(tf.sparse_tensor_to_dense(S), 1) - Y))"
LOOKED_UP = "loss = tf.reduce_mean(tf.square(tf.nn.embedding_lookup_sparse(W, S, None) - Y))"
TURNED = "loss = tf.reduce_mean(tf.sparse_tensor_dense_matmul(S, W, adjoint_a=True)) + tf.reduce_mean(Y)"
CTC = "loss = tf.reduce_mean(tf.nn.ctc_loss(S, tf.transpose(tf.layers.dense(Y, 9), [1, 0, 2]), lengths))"


@pytest.mark.parametrize(
    ("arguments", "model"),
    [
        ("tf.float32, [None, 8]", PRODUCT),
        ("tf.float32, [batch_size, 8]", PRODUCT),
        ("tf.float32", PRODUCT),
        ("tf.float32, shape=[None, 8]", DENSE),
        ("tf.int64", LOOKED_UP),
        ("tf.int32", CTC),
        ("tf.int32", CTC.replace("S,", "tf.cast(S, tf.int32),", 1)),
    ],
)
def test_rows_are_cut(arguments: str, model: str) -> None:
    _, inside, after = parts(SCRIPT.format(arguments, model))
    whole = {f"({a}, {b}), rows, weight = shard_sparse([{a}_batch, {b}_batch], gpu)" for a, b in ("SY", "YS")}
    assert whole & set(inside)
    assert {"S, Y = S_batch, Y_batch", "Y, S = Y_batch, S_batch"} & set(after)


def test_other_axes_are_cut_apart() -> None:
    script = SCRIPT.format("tf.int32", "loss = tf.reduce_mean(tf.nn.ctc_loss(S, tf.layers.dense(Y, 9), lengths))")
    _, inside, _ = parts(script.replace("[None, 5, 8]", "[5, batch_size, 8]"))
    assert "(Y,), rows_Y, weight_Y = shard_static_along([Y_batch], [1], gpu)" in inside
    assert "(S,), rows_S, weight_S = shard_sparse([S_batch], gpu)" in inside


@pytest.mark.parametrize(
    ("arguments", "model", "code"),
    [
        ("tf.float32", DENSE, "TMG225"),  # rows of what?
        ("tf.float32, [8, batch_size]", TURNED, "TMG225"),
        ("tf.float32", "loss = tf.reduce_mean(tf.sparse_tensor_dense_matmul(S, tf.layers.dense(Y, 4)))", "TMG233"),
    ],
)
def test_refused(arguments: str, model: str, code: str) -> None:
    assert codes(SCRIPT.format(arguments, model)) == [code]


def test_sparse_tensors_are_made_once_more_and_not_merged() -> None:
    model = "T = tf.cast(S, tf.float32)\nloss = tf.reduce_mean(tf.sparse_tensor_dense_matmul(T, W)) + tf.reduce_mean(Y)"
    script = SCRIPT.format("tf.int32, [None, 8]", model)
    _, inside, after = parts(script + "        print(sess.run(T, {S: s}))\n")
    assert "T = tf.cast(S, tf.float32)" in inside
    assert after.index("T = tf.cast(S, tf.float32)") > after.index("Y, S = Y_batch, S_batch")


@pytest.mark.parametrize("part", ["values", "indices"])
def test_entries_are_no_rows(part: str) -> None:
    model = "loss = tf.reduce_mean(tf.sparse_tensor_dense_matmul(S, W)) + tf.reduce_mean({})"
    assert codes(SCRIPT.format("tf.float32, [None, 8]", model.format("Y"))) == []
    model = model.format(f"S.{part}") + " + tf.reduce_mean(Y)"
    assert codes(SCRIPT.format("tf.float32, [None, 8]", model)) == ["TMG302"]


PARTS = """\
import tensorflow as tf

batch_size = 32
indices = tf.placeholder(tf.int64{})
values = tf.placeholder(tf.float32, [None])
dense_shape = tf.placeholder(tf.int64)
Y = tf.placeholder(tf.float32, [None, 1])
S = {}
loss = tf.reduce_mean(tf.square(tf.sparse_tensor_dense_matmul(S, tf.get_variable('w', [8, 1])) - Y))
train_op = tf.train.AdamOptimizer().minimize(loss)
with tf.Session() as sess:
    for step in range(100):
        i, v, s, y = next_batch(batch_size)
        sess.run(train_op, {{indices: i, values: v, dense_shape: s, Y: y}})
"""


MADE = "tf.SparseTensor(indices, values, dense_shape)"
IN_ONE = (
    "tf.SparseTensor(tf.placeholder(tf.int64, [None, 2]), tf.placeholder(tf.float32), tf.placeholder(tf.int64, [2]))"
)


@pytest.mark.parametrize("made", [MADE, "tf.SparseTensor(dense_shape=dense_shape, values=values, indices=indices)"])
@pytest.mark.parametrize("shape", ["", ", [None, 2]"])
def test_placeholders_that_make_one_are_cut_as_one(made: str, shape: str) -> None:
    _, inside, after = parts(PARTS.format(shape, made))
    assert any("shard_sparse([" in line and "S_batch" in line for line in inside)
    assert not any("indices" in line or "dense_shape" in line for line in inside)
    assert {"S, Y = S_batch, Y_batch", "Y, S = Y_batch, S_batch"} & set(after)


def test_ids_and_their_weights_share_their_places() -> None:
    made = f"{MADE.replace('values', 'ids')}\nweights = {MADE}"
    product = "tf.sparse_tensor_dense_matmul(S, tf.get_variable('w', [8, 1]))"
    looked_up = "tf.nn.embedding_lookup_sparse(tf.get_variable('w', [8, 1]), S, {})"
    script = PARTS.format("", made).replace("{indices: i,", "{indices: i, ids: v,")
    script = script.replace("Y = ", "ids = tf.placeholder(tf.int64, [None])\nY = ", 1)
    _, inside, _ = parts(script.replace(product, looked_up.format("weights")))
    assert any("shard_sparse([" in line and "S_batch" in line and "weights_batch" in line for line in inside)
    assert codes(script.replace(product, looked_up.format("None") + " + tf.reduce_mean(values)")) == ["TMG225"]


def test_a_sparse_tensor_of_placeholders_is_fed_as_a_whole() -> None:
    script = PARTS.format("", IN_ONE).replace("indices: i, values: v, dense_shape: s", "S: (i, v, s)")
    _, inside, _ = parts(script)
    assert any("shard_sparse([" in line and "S_batch" in line for line in inside)


@pytest.mark.parametrize(
    "made",
    [
        "tf.SparseTensor(dense_shape=dense_shape, values=values, indices=tf.cast(indices, tf.int64))",
        "tf.SparseTensor(indices, values, [batch_size, 8])",
        MADE + "\nY = Y * tf.reduce_max(values)",
        MADE + "\nY = Y / tf.cast(dense_shape[0], tf.float32)",
        MADE + "\nY = Y + tf.cast(tf.size(indices), tf.float32)",
    ],
)
@pytest.mark.parametrize("shape", ["", ", [None, 2]"])
def test_parts_that_are_read_on_their_own_are_refused(made: str, shape: str) -> None:
    """Entries are no rows, and neither are the lengths of the axes."""
    assert codes(PARTS.format(shape, made)) == ["TMG225"]


@pytest.mark.parametrize("matrix", ["(where, values_, [9, 9])", "(where, numpy.ones(30), shape_)", "matrix"])
def test_a_matrix_that_all_steps_are_fed_is_not_cut(matrix: str) -> None:
    """Three arrays are no three rows: only what comes out of batches has one for each example."""
    model = "tf.reduce_mean(tf.sparse_tensor_dense_matmul(one, w)) + y"
    script = FED.format(shape="tf.float32", number=1, model=model, feeding=f"feed[one] = {matrix}")
    made = "where, values_, shape_ = numpy.load('a.npy'), numpy.load('b.npy'), numpy.load('c.npy')\n"
    script = script.replace("where, labels =", "_, labels =").replace(
        "import tensorflow", f"import numpy\n{made}import tensorflow"
    )
    script = script.replace("with tf.Session", "matrix = (where, values_, shape_)\nwith tf.Session")
    _, inside, _ = parts(script)
    assert any("shard(" in line for line in inside) and not any("one_batch" in line for line in inside)


def test_a_sparse_tensor_that_the_towers_make_of_rows_is_none_of_fed_parts() -> None:
    made = "places = tf.where(tf.not_equal(Y, 0))\n"
    made += "T = tf.SparseTensor(places, tf.gather_nd(Y, places), tf.shape(Y, out_type=tf.int64))\n"
    model = f"{made}loss = tf.reduce_mean(tf.nn.ctc_loss(tf.cast(T, tf.int32), tf.layers.dense(S, 9), lengths))"
    text = SCRIPT.format("tf.float32, [None, 8]", model).replace("tf.sparse_placeholder", "tf.placeholder")
    assert "TMG225" not in codes(text)


FED = """\
import tensorflow as tf

batch_size = 8
parts = [tf.sparse_placeholder({shape}) for i in range({number})]
one = tf.sparse_placeholder({shape})
y = tf.placeholder(tf.float32, [None, 1])
w = tf.get_variable('w', [10, 1])
loss = tf.reduce_mean(tf.square({model} - y))
train_op = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
with tf.Session() as sess:
    for step in range(100):
        where, labels = fields.next_batch(batch_size)
        feed = {{y: labels}}
        {feeding}
        sess.run(train_op, feed)
"""
ONE = "tf.sparse_tensor_dense_matmul(one, w)"
EACH = "tf.add_n([tf.sparse_tensor_dense_matmul(part, w) for part in parts])"
SPARSE = "tf.SparseTensorValue(where, [1] * len(where), {})"
IN_TURN = "for j in range(len(parts)): feed[parts[j]] = tf.SparseTensorValue(where[j], [1] * len(where[j]), {})"


@pytest.mark.parametrize(
    ("shape", "number", "model", "feeding", "found"),
    [
        ("tf.float32", 3, ONE, f"feed[one] = {SPARSE.format('[batch_size, 10]')}", ["one"]),
        ("tf.float32", 3, ONE, f"feed[one] = {SPARSE.format('(batch_size, 10)')}", ["one"]),
        ("tf.float32", 3, ONE, f"feed[one] = {SPARSE.format('[40, 10]')}", []),
        ("tf.float32", 3, ONE, f"feed[one] = {SPARSE.format('graph.shape')}", []),
        ("tf.float32", 3, ONE, "feed.update(fields.others())", "TMG225"),
        ("tf.float32", "fields.number", EACH, "feed.update(fields.others())", "TMG225"),
        ("tf.float32", "fields.number", EACH, IN_TURN.format("[batch_size, 10]"), "TMG225"),
        ("tf.float32, [10, 10]", 3, ONE, "feed.update(fields.others())", []),
        ("tf.float32", 3, "tf.matmul(y, w, transpose_b=True)", "feed.update(fields.others())", []),
    ],
    ids=[
        "a batch",
        "a tuple",
        "a number",
        "a matrix",
        "unseen",
        "a list",
        "each of a list",
        "a shape",
        "not behind the loss",
    ],
)
def test_what_is_fed_tells_whose_rows_they_are(
    shape: str, number: object, model: str, feeding: str, found: list[str] | str
) -> None:
    script = FED.format(shape=shape, number=number, model=model, feeding=feeding)
    if isinstance(found, str):
        assert codes(script) == [found]
    else:
        _, inside, _ = parts(script)
        assert any("shard_sparse([one_batch" in line for line in inside) == bool(found)


UNSEEN = """\
import tensorflow as tf
from queues import reader

batch_size = 8
S = tf.sparse_placeholder(tf.int32{shape})
Y = tf.placeholder(tf.float32, [None, 5, 8])
logits = tf.transpose(tf.layers.dense(Y, 9), [1, 0, 2])
loss = tf.reduce_mean({loss})
train_op = tf.train.AdamOptimizer().minimize(loss)
with tf.Session() as sess:
    for s, y in reader(batch_size):
        sess.run(train_op, {{S: s, Y: y}})
"""


@pytest.mark.parametrize("labels", ["S", "tf.cast(S, tf.int32)"])
def test_labels_of_sequences_are_rows_whatever_is_fed(labels: str) -> None:
    _, inside, _ = parts(UNSEEN.format(shape="", loss=f"tf.nn.ctc_loss({labels}, logits, lengths)"))
    assert any("S_batch" in line and "shard_sparse" in line for line in inside)


@pytest.mark.parametrize(
    ("shape", "found"),
    [("", ["TMG225"]), (", [9, 9]", [])],
    ids=["no shape", "a matrix"],
)
def test_a_sparse_input_that_is_fed_an_unseen_value_needs_a_shape(shape: str, found: list[str]) -> None:
    loss = "tf.reduce_mean(tf.sparse_tensor_dense_matmul(S, W)) + logits"
    assert codes(UNSEEN.format(shape=shape, loss=loss)) == found
