"""Operations that are told places: which of them have a row for each example, and are the towers' own."""

from __future__ import annotations

import pytest

from tests.scripts import body, codes

SCRIPT = """\
import numpy as np
import tensorflow as tf

batch_size = 32
x = tf.placeholder(tf.float32, [{rows}, 8, 8, 3])
y = tf.placeholder(tf.int32, [{rows}])
b = tf.placeholder(tf.float32, [{rows}, 4])
n = tf.placeholder(tf.int32, [{rows}])
t = tf.sparse_placeholder(tf.int64, [None, None])
logits = tf.layers.dense(tf.layers.flatten(x), 5)
{model}
loss = tf.reduce_mean({loss})
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(9):
        xs, ys, bs, ns, ts = next_batch(batch_size)
        sess.run(train_op, {{x: xs, y: ys, b: bs, n: ns, t: ts}})
"""
ENTROPY = "tf.nn.softmax_cross_entropy_with_logits(logits=logits, labels=made)"


def found(model: str, loss: str = ENTROPY, rows: str = "None") -> list[str]:
    return codes(SCRIPT.format(model=model, loss=loss, rows=rows))


SIZE = "tf.shape(x)[0]"
PAIRS = "tf.concat([tf.expand_dims(tf.range({0}), 1), tf.expand_dims(y, 1)], 1)"


@pytest.mark.parametrize("rows", ["None", "batch_size"])
@pytest.mark.parametrize(
    "places",
    [
        PAIRS,
        PAIRS.replace("tf.range({0})", "tf.range(0, {0})").replace("], 1)", "], -1)"),
        PAIRS.replace("tf.range({0})", "tf.range({0}, dtype=tf.int32)"),
        PAIRS.replace("tf.range({0})", "tf.range(0, {0}, 1)"),
        PAIRS.replace("tf.expand_dims(tf.range({0}), 1)", "tf.reshape(tf.range({0}), [-1, 1])"),
        "tf.stack([tf.range({0}), y], 1)",
        "tf.stack([tf.range({0}), y], axis=1)",
    ],
)
@pytest.mark.parametrize(
    "made",
    [
        "made = tf.sparse_to_dense({1}, [{0}, 5], 1.0, 0.0)",
        "made = tf.sparse_to_dense({1}, tf.stack([{0}, 5]), 1.0)",
        "made = tf.scatter_nd({1}, tf.ones([{0}]), [{0}, 5])",
    ],
)
def test_rows_that_the_graph_numbers(made: str, places: str, rows: str) -> None:
    size = "batch_size" if rows == "batch_size" else SIZE
    assert found(made.format(size, places.format(size)), rows=rows) == []


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        ("made = tf.scatter_nd(tf.stack([n, y], 1), tf.ones([{0}]), [{0}, 5])", ["TMG249"]),
        ("made = tf.sparse_to_dense(tf.stack([n, y], 1), [{0}, 5], 1.0, 0.0)", ["TMG249"]),
        ("made = tf.gather(logits, n)", ["TMG249"]),
        ("made = tf.gather_nd(logits, tf.expand_dims(n, 1))", ["TMG249"]),
        ("made = tf.nn.embedding_lookup(logits, n)", ["TMG249"]),
        ("made = tf.nn.embedding_lookup([logits], n)", ["TMG249"]),
        ("made = tf.gather(tf.reshape(logits, [-1, 1]), n)", ["TMG249"]),
        ("made = tf.gather(tf.reshape(logits, [-1, 1]), tf.range({0}) * 5 + n)", []),  # the first of each row's five
        ("made = tf.nn.embedding_lookup(logits, tf.range({0}))", []),
        ("made = tf.nn.embedding_lookup(tf.get_variable('w', [9, 5]), n)", []),
        ("made = tf.nn.embedding_lookup([tf.get_variable('w', [9, 5]), tf.get_variable('v', [9, 5])], n)", []),
        ("made = tf.scatter_nd(tf.stack([y, tf.range({0})], 1), tf.ones([{0}]), [5, {0}])", ["TMG302"]),
        ("made = tf.scatter_nd(tf.stack([tf.range(1, {0}), y], 1), tf.ones([{0}]), [{0}, 5])", ["TMG302"]),
        ("made = tf.gather_nd(logits, tf.stack([tf.range({0}), y], 1))", []),
        ("made = tf.gather_nd(logits, tf.stack([tf.range({0}, dtype=tf.int32), y], axis=1))", []),
        ("made = tf.gather_nd(logits, tf.stack([tf.range(0, {0}, 2), y], axis=1))", ["TMG302"]),
        ("made = tf.gather(logits, tf.range({0}))", []),
        ("made = tf.gather(tf.get_variable('w', [9, 5]), n)", []),  # rows of a table
        ("made = tf.scatter_nd([[0]], [[1.0] * 5], [1, 5])", []),  # of no batch
    ],
)
def test_rows_by_other_numbers(made: str, expected: list[str]) -> None:
    loss = ENTROPY if "scatter" in made or "dense(" in made else "tf.square(logits - 1) + tf.reduce_mean(made)"
    assert found(made.format(SIZE), loss) == expected


LINES = "lines = tf.reshape(x, [-1, 8, 3])\nline_batch_size = tf.shape({})[0]\nnumbers = tf.range({})\n"
PIXELS = "made = tf.reshape(tf.gather_nd(lines, tf.stack([numbers, tf.to_int32(lines[:, 0, 0])], 1)), [-1, 24])"


@pytest.mark.parametrize(
    ("counted", "end", "expected"),
    [
        ("lines", "line_batch_size", []),  # eight lines for each image, each with its own number
        ("lines", "0, line_batch_size", []),
        ("tf.square(lines)", "line_batch_size", []),
        ("lines", "1, line_batch_size", ["TMG302"]),
        ("lines", "line_batch_size // 8", ["TMG302"]),
        ("x", "line_batch_size", ["TMG302"]),  # the first lines of all, as many as there are images
        ("tf.reshape(x, [-1, 3])", "line_batch_size", ["TMG302"]),  # lines beyond these are no lines
    ],
)
def test_rows_of_several_for_each_example(counted: str, end: str, expected: list[str]) -> None:
    loss = "tf.square(logits - 1) + tf.reduce_mean(made)"
    assert found(LINES.format(counted, end) + PIXELS, loss) == expected


CROPS = "tf.reduce_mean(tf.layers.dense(crops, 1), [1, 2, 3]) + tf.reduce_mean(logits, 1) * tf.to_float(y)"


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        ("tf.range(tf.shape(x)[0])", []),
        ("n", ["TMG249"]),
        ("tf.cast(n, tf.int32)", ["TMG249"]),
        ("tf.zeros([4], tf.int32)", ["TMG302"]),  # all of the first image
    ],
)
def test_boxes_in_images(numbers: str, expected: list[str]) -> None:
    assert found(f"crops = tf.image.crop_and_resize(x, b, {numbers}, [4, 4])", CROPS) == expected


SIGMOID = "tf.nn.sigmoid_cross_entropy_with_logits(logits=logits, labels=made)"


@pytest.mark.parametrize(
    "made",
    [
        "made = tf.to_float(tf.sparse_to_indicator(t, 5))",
        "made = tf.reshape(tf.to_float(tf.sparse_tensor_to_dense(t)), [-1, 5])",
        "made = tf.to_float(tf.sparse_to_dense(t.indices, [tf.shape(x)[0], 5], t.values))",
        "made = tf.to_float(tf.sparse_to_dense(t.indices, t.dense_shape, t.values))",
    ],
)
def test_sparse_rows_made_dense(made: str) -> None:
    assert found(made, SIGMOID) == []


CTC = """\
steps = tf.transpose(tf.layers.dense(tf.reshape(x, [-1, 8, 24]), 6), [1, 0, 2])
lengths = tf.fill([tf.shape(x)[0]], 8)
paths, scores = tf.nn.{}(steps, lengths)
wrong = tf.edit_distance(tf.to_int64(paths[0]), t, normalize=False)
"""


@pytest.mark.parametrize("decoder", ["ctc_greedy_decoder", "ctc_beam_search_decoder"])
def test_decoders_in_the_towers(decoder: str) -> None:
    script = SCRIPT.format(
        model=CTC.format(decoder), loss="tf.nn.ctc_loss(tf.to_int32(t), steps, lengths) + 0 * wrong", rows="None"
    )
    assert codes(script) == []
    lines = [line.strip() for line in body(script + "        print(sess.run([wrong, scores], {x: xs}))\n")]
    assert "wrong = tf.concat(tower_wrong, 0)" in lines and "scores = tf.concat(tower_scores, 0)" in lines


def test_decoders_of_examples_in_front_are_not_followed() -> None:
    model = CTC.format("ctc_greedy_decoder").replace("[1, 0, 2]", "[0, 1, 2]")
    assert found(model, "tf.reduce_mean(logits, 1) + wrong") == ["TMG302"]


def test_a_sparse_batch_has_as_many_rows_as_its_shape_says() -> None:
    fed = "t: (np.zeros([9, 2]), np.ones([9]), [9, 5])"
    script = SCRIPT.format(model="", loss="logits", rows="None").replace("t: ts", fed)
    script = script.replace("tf.reduce_mean(logits)", "tf.reduce_mean(logits) + tf.reduce_sum(tf.edit_distance(t, t))")
    assert "TMG342" not in codes(script)


FLAGS = "tf.app.flags.DEFINE_integer('parts', 2, '')\nFLAGS = tf.app.flags.FLAGS\n"
SUM = "tf.add_n([tf.square(part) for part in made])"


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        ("made = tf.split(logits, 2)", ["TMG215"]),
        ("made = tf.split(logits, FLAGS.parts)", ["TMG215"]),
        ("made = tf.split(logits, num_or_size_splits=FLAGS.parts, axis=0)", ["TMG215"]),
        ("made = tf.split(logits, [16, 16])", ["TMG215"]),
        ("made = tf.split(logits, batch_size)", ["TMG302"]),  # one example each
        ("made = tf.split(logits, FLAGS.parts, 1)", []),
        ("made = tf.split(tf.concat([logits, logits], 0), 2)", []),  # the batch, twice
    ],
)
def test_pieces_of_the_batch(made: str, expected: list[str]) -> None:
    assert found(FLAGS + made, SUM) == expected


TABLE = """\
import numpy as np
import tensorflow as tf

batch_size = 16
table = np.random.rand(40, 3)
x = tf.placeholder(tf.int32, [None])
y = tf.placeholder(tf.float32, [None])
rows = tf.placeholder(tf.float32, {shape})
picked = {picks}(rows, x)
loss = tf.reduce_mean(tf.square(tf.layers.dense(picked, 1)[:, 0] - y))
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(9):
        xs, ys = next_batch(batch_size)
        sess.run(train_op, {{x: xs, y: ys, rows: table}})
"""


@pytest.mark.parametrize("picks", ["tf.nn.embedding_lookup", "tf.gather"])
@pytest.mark.parametrize(
    ("shape", "shared", "expected"),
    [("[None, 3]", (), ["TMG249"]), ("[None, 3]", ("rows",), []), ("[40, 3]", (), []), ("[len(table), 3]", (), [])],
)
def test_a_table_that_is_fed(picks: str, shape: str, shared: tuple[str, ...], expected: list[str]) -> None:
    """Without a shape that says so, it may be a batch, which towers would cut."""
    assert codes(TABLE.format(shape=shape, picks=picks), shared=shared) == expected
