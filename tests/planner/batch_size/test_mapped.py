"""Functions that data sets apply to whole batches, which are those of all GPUs once the batch size has grown."""

from __future__ import annotations

import pytest

from tests.scripts import MODEL, STEP, body, codes, parts, run

HEAD = """\
import tensorflow as tf

batch_size = 32
data = tf.data.Dataset.from_tensor_slices((inputs, targets))
"""
TAIL = """
X, Y = data.make_one_shot_iterator().get_next()
"""
TRAINING = """\
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    while True:
        sess.run(train_op)
"""
PYTHON = "lambda x, y: (tf.py_func(work, [x], tf.float32), y)"


def script(made: str) -> str:
    return HEAD + f"data = data{made}" + TAIL + MODEL + STEP + TRAINING


def scaled(made: str) -> list[str]:
    """The lines of a converted pipeline that hold the scaled batch size."""
    return [line for line in body(script(made)) if "* num_gpus" in line]


@pytest.mark.parametrize(
    ("x", "how"),
    [
        ("x - tf.reduce_mean(x, 0)", "a mean, a sum or another value of all rows"),
        ("x - tf.reduce_mean(x)", "a mean, a sum or another value of all rows"),
        ("x / tf.reduce_max(x)", "a mean, a sum or another value of all rows"),
        ("x / tf.nn.moments(x, [0])[1]", "a mean, a sum or another value of all rows"),
        ("x / tf.cast(tf.shape(x)[0], tf.float32)", "computes with the number of rows"),
        ("x / batch_size", "computes with the batch size"),
        ("x * tf.constant(1.0 / batch_size)", "computes with the batch size"),
        ("x + tf.cast(tf.range(tf.shape(x)[0]), tf.float32)[:, None]", "the rows of the batch are numbered"),
        ("x - x[0]", "one example of the batch is picked"),
        ("tf.cumsum(x)", "runs over the batch"),
        ("0.5 * x + 0.5 * tf.reverse(x, [0])", "the order of the batch is reversed"),
        ("tf.nn.softmax(x, 0)", "runs over the batch"),
        ("tf.matmul(x, x, transpose_b=True)", "examples of the batch are multiplied with each other"),
        ("unseen(x)", "code that is not followed"),
    ],
)
def test_what_a_function_makes_of_all_rows_together_keeps_the_batch(x: str, how: str) -> None:
    made = f".batch(batch_size).map(lambda x, y: ({x}, y))"
    (finding,) = run(script(made)).diagnostics
    assert finding.code == "TMG303" and how in finding.message and finding.line == 5
    assert scaled(made) == []


@pytest.mark.parametrize(
    "x",
    [
        "x / 255.0",
        "tf.cast(tf.reshape(x, [-1, 4]), tf.float32)",
        "tf.reshape(x, [batch_size, 4])",
        "tf.reshape(x, [tf.shape(x)[0], 4])",
        "tf.reshape(x, tf.stack([tf.shape(x)[0], 4]))",
        "x - tf.reduce_mean(x, 1, keepdims=True)",
        "tf.map_fn(lambda row: row - tf.reduce_mean(row), x)",
        "x + tf.random_normal(tf.shape(x))",
        "tf.image.per_image_standardization(x)",
    ],
)
def test_what_a_function_makes_of_each_row_grows_with_the_batch(x: str) -> None:
    assert scaled(f".batch(batch_size).map(lambda x, y: ({x}, y))") == ["batch_size = 32 * num_gpus"]
    assert codes(script(f".batch(batch_size).map(lambda x, y: ({x}, y))")) == []


def test_a_batch_that_stays_the_total_may_be_treated_as_a_whole() -> None:
    assert codes(script(".batch(batch_size).map(lambda x, y: (x - tf.reduce_mean(x), y))"), batch="total") == []


@pytest.mark.parametrize(
    "made",
    [
        ".map(lambda x, y: (x / batch_size, y)).batch(batch_size)",
        ".batch(batch_size).filter(lambda x, y: tf.reduce_sum(x) > 3)",
        ".apply(tf.contrib.data.map_and_batch(parse, batch_size)).map(lambda x, y: (x - tf.reduce_mean(x), y))",
        ".batch(batch_size).map(lambda x, y: (x, y, tf.reduce_max(x))).map(lambda x, y, z: (x / z, y))",
        ".batch(batch_size).map(lambda x, y: (x - tf.reduce_mean(x), y)).unbatch().batch(batch_size)",
    ],
)
def test_wherever_such_a_function_stands(made: str) -> None:
    assert codes(script(made)) == ["TMG303"]


@pytest.mark.parametrize(
    "made",
    [
        ".map(lambda x, y: (x - tf.reduce_mean(x), y)).batch(batch_size)",
        ".map(lambda x, y: (x, tf.reduce_sum(tf.zeros([4])))).batch(batch_size)",  # one number an example
        ".batch(batch_size).filter(lambda x, y: tf.equal(tf.shape(x)[0], batch_size))",
        ".batch(16).map(lambda x, y: (x - tf.reduce_mean(x), y)).unbatch().batch(batch_size)",
        ".batch(16).map(lambda x, y: (x - tf.reduce_mean(x), y))"
        ".apply(tf.data.experimental.unbatch()).batch(batch_size)",
        ".batch(16).flat_map(lambda x, y: tf.data.Dataset.from_tensor_slices((x, y))).batch(batch_size)",
        ".window(4).flat_map(lambda x, y: tf.data.Dataset.zip((x.batch(4), y.batch(4)))).batch(batch_size)",
        ".batch(4).batch(batch_size)",
        ".interleave(lambda x, y: tf.data.Dataset.from_tensors((x, y)).batch(batch_size), 4)",
    ],
)
def test_only_the_batches_of_the_step_grow(made: str) -> None:
    assert scaled(made) == ["batch_size = 32 * num_gpus"]
    assert codes(script(made)) == []


def test_batches_of_batches_whose_rows_lie_inside() -> None:
    assert codes(script(".batch(batch_size).batch(5)")) == ["TMG202"]
    assert codes(script(".batch(batch_size).batch(batch_size)")) == ["TMG202"]


def test_python_code_that_a_data_set_gives_whole_batches_is_warned_of() -> None:
    assert codes(script(f".batch(batch_size).map({PYTHON})")) == ["TMG313"]
    assert codes(script(f".map({PYTHON}).batch(batch_size)")) == []


def test_a_batch_that_a_function_turns_around_is_cut_along_its_examples() -> None:
    made = ".batch(batch_size).map(lambda x, y: (tf.transpose(tf.reshape(x, [-1, 2, 2]), [1, 0, 2]), y))"
    _, inside, _ = parts(HEAD + f"data = data{made}" + TAIL + MODEL + STEP + TRAINING)
    assert "(X,), rows_X, weight_X = shard_along([X_batch], [1], gpu)" in inside


QUEUE = """\
import tensorflow as tf

batch_size = 32


def read():
    x, y = tf.train.slice_input_producer([inputs, targets])
    x, y = tf.train.batch([x, y], batch_size)
    x = {}
    return x, y


X, Y = read()
"""


@pytest.mark.parametrize("x", ["x / tf.cast(tf.shape(x)[0], tf.float32)", "x / batch_size"])
def test_a_batch_that_is_prepared_with_its_number_of_rows(x: str) -> None:
    training = "with tf.Session() as sess:\n    for step in range(100):\n        sess.run(train_op)\n"
    assert codes(QUEUE.format(x) + MODEL + STEP + training) == ["TMG207"]
    assert "TMG207" not in codes(QUEUE.format("x / 255.0") + MODEL + STEP + training)
    assert "TMG207" not in codes(QUEUE.format(x) + MODEL + STEP + training, batch="total")


GENERATOR = """\
import numpy as np
import tensorflow as tf

batch_size = 8
xs, ys = np.ones([64, 4], 'float32'), np.ones([64, 1], 'float32')


def batches():
    for i in {loop}:
        yield xs[{rows}], ys[{rows}]


data = tf.data.Dataset.from_generator(batches, (tf.float32, tf.float32), {shapes})
X, Y = data.prefetch(2).make_one_shot_iterator().get_next()
"""
OPEN, SIZED = "([None, 4], [None, 1])", "([batch_size, 4], [batch_size, 1])"


def generated(loop: str, rows: str, shapes: str = OPEN) -> str:
    return GENERATOR.format(loop=loop, rows=rows, shapes=shapes) + MODEL + STEP + TRAINING


@pytest.mark.parametrize("shapes", [OPEN, SIZED])
@pytest.mark.parametrize(
    ("loop", "rows", "found", "grows"),
    [
        ("range(0, 64, batch_size)", "i:i + batch_size", [], True),
        ("range(64 // batch_size)", "i * batch_size:(i + 1) * batch_size", [], True),
        ("range(10)", "np.random.randint(0, 64, batch_size)", [], True),
        ("range(8)", "i * batch_size:(i + 1) * batch_size", ["TMG339"], False),  # larger batches: 8 times as far
        ("range(0, 64, 4)", "i:i + batch_size", ["TMG344"], True),
    ],
)
def test_whole_batches_of_a_generator(shapes: str, loop: str, rows: str, found: list[str], grows: bool) -> None:
    script = generated(loop, rows, shapes)
    assert codes(script) == found
    assert ("batch_size = 8 * num_gpus" in body(script)) == grows


@pytest.mark.parametrize(("loop", "rows"), [("range(64)", "i"), ("range(64)", "i:i + 3"), ("range(64)", "pick(i)")])
def test_what_is_not_seen_to_be_a_batch_of_a_generator(loop: str, rows: str) -> None:
    assert codes(generated(loop, rows)) == ["TMG202"]


def test_batches_of_a_generator_of_another_degree() -> None:
    assert codes(generated("range(0, 64, batch_size)", "i:i + batch_size - 1", SIZED)) == ["TMG303"]


def test_what_a_function_makes_of_batches_of_a_generator_is_not_one_for_it() -> None:
    script = generated("range(0, 64, batch_size)", "i:i + batch_size").replace(".prefetch(2)", ".map(prepare)")
    assert codes(script) == ["TMG202"]


def test_a_data_set_of_which_each_second_element_is_taken() -> None:
    """Its method has the name of one of the helpers."""
    assert codes(script(".shard(2, 0).batch(batch_size)")) == []
    assert codes(script(".batch(batch_size).shard(2, 0)")) == ["TMG396"]
