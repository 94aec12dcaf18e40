"""Data that lies in the graph without a placeholder: what is cut, and what is refused."""

from __future__ import annotations

import pytest

from tests.scripts import STEP, codes, converted, helpers, parts, run

HEAD = """\
import numpy as np
import tensorflow as tf

xs = np.random.rand(30, 4).astype(np.float32)
ys = np.random.rand(30, 1)
w = tf.Variable(tf.zeros([4, 1]))
v = tf.Variable([1.0])
"""
TRAINING = """\
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        sess.run(train_op)
"""
SQUARE = "loss = tf.reduce_mean(tf.square(tf.matmul({}, w) - {}))\n"


def script(model: str) -> str:
    return HEAD + model + STEP + TRAINING


def cut(model: str) -> str:
    return next(line for line in parts(script(model))[1] if "= shard" in line)


def why(model: str, code: str = "TMG202") -> str:
    findings = run(script(model)).diagnostics
    assert [f.code for f in findings] == [code]
    return findings[0].message


@pytest.mark.parametrize(
    ("model", "line"),
    [
        (SQUARE.format("xs", "ys"), "(xs, ys), rows, weight = shard_data([xs_batch, ys_batch], gpu)"),
        (
            "x = tf.constant(xs)\ny = tf.constant(ys, tf.float32)\n" + SQUARE.format("x", "y"),
            "(x, y), rows, weight = shard_data([x_batch, y_batch], gpu)",
        ),
        (
            "x, y = tf.convert_to_tensor(xs), tf.cast(ys, tf.float32)\n" + SQUARE.format("x", "y"),
            "(x, y), rows, weight = shard_data([x_batch, y_batch], gpu)",
        ),
        (
            "y = tf.matmul(tf.constant(xs), w)\nloss = tf.losses.mean_squared_error(ys, y)\n",
            "(xs, ys), rows, weight = shard_data([xs_batch, ys_batch], gpu)",
        ),
        (
            "data = [1, 2, 3]\nloss = tf.reduce_mean(tf.square(data * v - [1.0]))\n",
            "(data,), rows, weight = shard_data([data_batch], gpu)",
        ),
        (
            "rows = np.random.rand(1, 30)\nloss = tf.reduce_mean(tf.square(v * (rows ** 2 - 3 * rows) - 1.0))\n",
            "(rows,), tower_rows, weight = shard_data_along([rows_batch], [1], gpu)",
        ),
        (
            "c = [[1., 2., 3.], [4., 5., 6.]]\nu = tf.Variable(tf.zeros([1, 2]))\n"
            "loss = tf.reduce_mean(tf.square(tf.matmul(u, c) - [1, 2, 3]))\n".replace("[1, 2, 3])", "t)").replace(
                "u = ", "t = [1, 2, 3]\nu = "
            ),
            "(c, t), rows, weight = shard_data_along([c_batch, t_batch], [1, 0], gpu)",
        ),
        (
            "x = xs[:, 0]\nloss = tf.reduce_mean(tf.square(v * x - xs[:, 1]))\n",
            "(x, xs), rows, weight = shard_data([x_batch, xs_batch], gpu)",
        ),
    ],
    ids=["arrays", "constants", "converted", "inline constant", "list", "one row", "columns", "by row"],
)
def test_data_in_the_graph_is_cut(model: str, line: str) -> None:
    assert cut(model) == line
    assert codes(script(model)) == ["TMG304"]
    assert "--batch total" in converted(script(model)).splitlines()[0]


def test_what_is_computed_from_the_data_in_front_stays_there() -> None:
    model = "y = tf.matmul(xs, w)\ntarget = xs[:, :1] * 2\nloss = tf.reduce_mean(tf.square(y - target))\n"
    before, inside, after = parts(script(model))
    assert "target = xs[:, :1] * 2" in before
    assert "xs, target = xs_batch, target_batch" in after
    assert inside[-3] == "loss = tf.reduce_mean(tf.square(y - target))"


def test_a_sum_over_the_data_is_added_up() -> None:
    inside = parts(script("loss = tf.reduce_sum(tf.square(tf.matmul(xs, w) - ys)) / 30\n"))[1]
    assert any("tf.minimum(rows, 1)" in line for line in inside)


def test_what_is_prepared_in_one_statement_with_a_constant_is_cut_beside_it() -> None:
    inside = parts(script("x, y = tf.constant(xs), tf.square(ys)\n" + SQUARE.format("x", "tf.to_float(y)")))[1]
    assert [line for line in inside if "= shard" in line] == [
        "(x,), rows_x, weight_x = shard_data([x_batch], gpu)",
        "(y,), rows_y, weight_y = shard([y_batch], gpu)",
    ]


def test_functions_and_objects_read_the_shards() -> None:
    made = "model = Model(np.random.rand(30, 4).astype('float32'))\n"
    model = """\
class Model(object):
    def __init__(self, x):
        self.x = x
        self.y = tf.matmul(self.x, w)
        self.loss = cost(self.y)


def cost(y):
    return tf.reduce_mean(tf.square(y - ys))


model = Model(xs)
"""
    text = converted((HEAD + model + STEP + TRAINING).replace("minimize(loss)", "minimize(model.loss)"))
    assert "(self.x, ys), rows, weight = shard_data([x_batch, ys_batch], gpu)" in text
    assert "global ys" in text
    other = (HEAD + model.replace("model = Model(xs)\n", made) + STEP + TRAINING).replace("(loss)", "(model.loss)")
    assert "(self.x, ys), rows, weight = shard_data([x_batch, ys_batch], gpu)" in converted(other)


MIXED = HEAD + "X = tf.placeholder(tf.float32, [None, 4])\n" + SQUARE.format("X", "{}") + STEP
FED = TRAINING.replace("sess.run(train_op)", "sess.run(train_op, {X: xs})")


def test_an_array_beside_a_placeholder_is_cut_where_it_has_a_row_for_each_example() -> None:
    inside = parts(MIXED.format("ys") + FED)[1]
    assert "(X,), rows_X, weight_X = shard([X_batch], gpu)" in inside
    assert "(ys,), rows_ys, weight_ys = shard_data([ys_batch], gpu)" in inside
    assert codes(MIXED.format("ys") + FED) == ["TMG304"]


@pytest.mark.parametrize("same", ["np.zeros(1)", "np.zeros((1, 1))", "0.5", "np.float32(0.5)"])
def test_what_all_examples_share_is_left_whole(same: str) -> None:
    text = (MIXED.format("offset") + FED).replace("w = tf.Var", f"offset = {same}\nw = tf.Var")
    assert helpers(text) == {"check_gpus", "sum_gradients", "shard", "tower_device"}


def test_a_placeholder_that_is_fed_for_nothing_is_no_riddle() -> None:
    text = (MIXED.format("ys") + FED).replace("X = ", "Y = tf.placeholder(tf.float32, [None, 1])\nX = ")
    assert codes(text.replace("{X: xs}", "{X: xs, Y: ys}")) == ["TMG304"]
    used = text.replace("{X: xs}", "{X: xs, Y: ys}").replace("with tf.Session", "note(tf.shape(Y))\nwith tf.Session")
    assert "TMG222" in codes(used)


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        ("loss = tf.reduce_mean(tf.square(tf.matmul(xs, w) - np.random.rand(30, 1)))\n", "same statement"),
        ("t = np.random.rand(30)\n" + SQUARE.format("xs", "t"), "combined with each other"),
        ("t = np.random.rand(20, 1)\n" + SQUARE.format("xs", "t"), "20 and 30 rows"),
        ("u = tf.Variable(tf.zeros([30, 1]))\nloss = tf.reduce_mean(tf.square(u - ys))\n", "one entry for each"),
        ("loss = tf.reduce_mean(tf.square(v * ys - tf.ones([30, 1])))\n", "one entry for each"),
        ("loss = tf.sqrt(tf.reduce_mean(tf.square(tf.matmul(xs, w) - ys)))\n", "not linear"),
        ("x = tf.constant(xs)\nx = x - tf.reduce_mean(x, 0)\n" + SQUARE.format("x", "ys"), "computed from all of them"),
        (
            "x = tf.layers.batch_normalization(tf.constant(xs), training=True)\n" + SQUARE.format("x", "ys"),
            "statistics of all rows",
        ),
        (
            "x = tf.gather(tf.constant(xs), tf.range(8))\nloss = tf.reduce_mean(tf.square(tf.matmul(x, w)))\n",
            "picked by index",
        ),
        (
            "a = tf.Variable(tf.zeros([1, 30]))\nloss = tf.reduce_mean(tf.square(tf.matmul(a, tf.matmul(xs, w))))\n",
            "matrix over all of its examples",
        ),
        (
            "x = np.random.rand(1, 30).astype('float32')\nloss = tf.reduce_mean(tf.layers.dense(x, 1) ** 2)\n",
            "tf.layers.dense runs over the batch",
        ),
        (
            "x = np.random.rand(1, 30).astype('float32')\n"
            "loss = tf.reduce_mean(tf.nn.dropout(x * tf.Variable(1.0), 0.5))\n",
            "of columns is not known",
        ),
    ],
    ids=[
        "made inside",
        "broadcast",
        "lengths",
        "one variable each",
        "one constant each",
        "rmse",
        "centred",
        "batch norm",
        "gather",
        "across",
        "a row of features",
        "an operation on a row of features",
    ],
)
def test_what_is_not_surely_a_mean_or_sum_over_rows_is_refused(model: str, reason: str) -> None:
    assert reason in why(model, "TMG204" if reason == "same statement" else "TMG202")


@pytest.mark.parametrize(
    "model",
    [
        "loss = tf.reduce_sum(tf.square(v - 3.0))\n",
        "loss = tf.reduce_sum(tf.square(w - np.zeros((1, 1))))\n",
        "x = np.loadtxt('data')\nloss = tf.reduce_mean(tf.square(v * x - 1.0))\n",
        "image = np.random.rand(1, 8, 8, 3).astype('float32')\n"
        "loss = tf.reduce_mean(tf.square(tf.layers.conv2d(tf.constant(image), 4, 3)))\n",
    ],
    ids=["numbers", "one entry", "of unknown shape", "one image"],
)
def test_what_is_no_data_set_is_none(model: str) -> None:
    assert why(model).startswith(("no batch of examples goes into the loss", "the loss is computed from variables and"))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("loss = tf.reduce_sum(tf.square(y - ys)) / len(ys)\n", "read by Python code"),
        ("loss = tf.reduce_sum(tf.square(y - ys)) / ys.shape[0]\n", "read by Python code"),
        ("loss = tf.reduce_sum(tf.square(y - (ys - ys.mean())))\n", "read by Python code"),
        ("xs[0] = 1.0\n" + SQUARE.format("xs", "(ys - y)"), "changed while the model is built"),
    ],
)
def test_python_code_among_the_towers_must_not_see_a_shard(line: str, message: str) -> None:
    assert message in why("y = tf.matmul(xs, w)\n" + line, "TMG205")


BESIDE = """\
X = tf.placeholder(tf.float32, [None, 4])
prediction = tf.matmul(X, w)
"""
FED = TRAINING.replace("train_op)", "train_op, {X: xs})")


@pytest.mark.parametrize(
    "data", ["ys", "tf.constant(ys, tf.float32)", "np.eye(30)[:, :1]"], ids=["array", "constant", "index"]
)
def test_the_rest_of_a_data_set_that_is_fed_is_cut_with_it(data: str) -> None:
    text = f"y = {data}\n" + BESIDE + "loss = tf.reduce_mean(tf.square(prediction - y))\n"
    inside = parts(HEAD + text + STEP + FED)[1]
    assert any("= shard_data([y_batch], gpu)" in line for line in inside)
    assert any("= shard([X_batch], gpu)" in line for line in inside)


@pytest.mark.parametrize(
    ("data", "loss", "found"),
    [
        ("read_targets()", "tf.reduce_mean(tf.square(prediction - y))", ["TMG202"]),
        ("tf.constant(read_targets())", "tf.reduce_mean(tf.square(prediction - y))", ["TMG202"]),
        ("read_targets()", "tf.losses.mean_squared_error(y, prediction)", ["TMG202"]),
        ("tf.constant(read_targets())", "tf.losses.mean_squared_error(y, prediction)", ["TMG202"]),
        ("0.5", "tf.reduce_mean(tf.square(prediction - y))", ["TMG304"]),
        ("[0.5]", "tf.reduce_mean(tf.square(prediction - y))", ["TMG304"]),
        ("np.zeros([1, 1])", "tf.reduce_mean(tf.square(prediction - y))", ["TMG304"]),
        ("read_targets()", "tf.reduce_mean(tf.square(prediction)) + tf.reduce_sum(y * w)", ["TMG304"]),
    ],
)
def test_what_may_be_the_rest_of_a_data_set_that_is_fed(data: str, loss: str, found: list[str]) -> None:
    """Whole beside shards it would not fit them."""
    assert codes(HEAD + f"y = {data}\n" + BESIDE + f"loss = {loss}\n" + STEP + FED) == found


def test_beside_batches_it_cannot_be_the_rest_of_them() -> None:
    model = "batch_size = 10\ny = read_scale()\n" + BESIDE + "loss = tf.reduce_mean(tf.square(prediction * y))\n"
    fed = TRAINING.replace("train_op)", "train_op, {X: next_batch(batch_size)})")
    assert codes(HEAD + model + STEP + fed) == []


FED_MODEL = """\
import numpy as np
import tensorflow as tf

batch_size = 32
table = np.random.rand(32, 4).astype(np.float32)
square = np.random.rand(32, 32).astype(np.float32)
rows = np.random.rand(640, 4)
X = tf.placeholder(tf.float32, [None, 4])
h = tf.layers.dense(X, 32)
"""
FED_STEPS = TRAINING.replace("train_op)", "train_op, {X: next_batch(batch_size)})")


def of_fed(line: str, training: str = FED_STEPS) -> str:
    return FED_MODEL + line + "\nloss = tf.reduce_mean(tf.square(h))\n" + STEP + training


@pytest.mark.parametrize(
    "line",
    [
        "h = tf.matmul(h, table)",
        "h = tf.matmul(h, square, transpose_b=True)",
        "h = tf.matmul(a=h, b=tf.constant(table))",
        "h = h @ square @ tf.constant(table)",
        "h = tf.matmul(table, h, transpose_a=True, transpose_b=True)",
        "h = tf.matmul(square, tf.transpose(h))",
        "h = square @ tf.transpose(h)",
        "h = tf.matmul(np.ones((1, 4, 4), 'float32'), tf.reshape(h, [-1, 4, 8]))",
        "h = tf.reshape(tf.layers.dense(h, 64), [-1, 32, 2]) + table[:, :2]",
        "h = h * np.random.rand(1, 32).astype('float32') - square[0]",
    ],
)
@pytest.mark.parametrize("whole", [False, True])
def test_a_matrix_that_all_examples_are_multiplied_with_is_no_data(line: str, whole: bool) -> None:
    """Its length may equal the batch's by chance."""
    training = TRAINING.replace("train_op)", "train_op, {X: rows})") if whole else FED_STEPS
    inside = parts(of_fed(line, training))[1]
    assert "(X,), tower_rows, weight = shard([X_batch], gpu)" in inside
    assert codes(of_fed(line, training)) == ["TMG304"] * whole


@pytest.mark.parametrize(
    "line",
    [
        "h = tf.matmul(square, h)",
        "h = square @ h",
        "h = tf.matmul(table, h, transpose_a=True)",
        "h = tf.matmul(h, square, transpose_a=True)",
        "h = tf.matmul(tf.transpose(h), tf.constant(square))",
        "h = tf.matmul(table, tf.transpose(h), transpose_a=True, transpose_b=True)",
    ],
)
def test_a_matrix_over_the_examples_is_refused_once(line: str) -> None:
    assert codes(of_fed(line)) == ["TMG233"]


def test_a_product_whose_flag_is_not_known_is_refused() -> None:
    assert codes(of_fed("h = tf.matmul(h, square, transpose_a=bool(settings()))")) == ["TMG202"]
    assert codes(of_fed("h = tf.matmul(h, square, transpose_b=bool(settings()))")) == []


def test_rows_of_a_product_in_front_are_cut_with_the_batch() -> None:
    text = of_fed("t = np.random.rand(32, 4, 8)\nh = tf.matmul(t, tf.reshape(h, [-1, 8, 4]))")
    assert any("= shard_data([t_batch], gpu)" in line for line in parts(text)[1])
