"""What a function that reads and prepares examples hands out is what the towers share."""

from __future__ import annotations

import pytest

from converter.conversion import convert
from converter.options import Options
from converter.source import from_bytes
from tests.scripts import MODEL, STEP, codes, converted, parts

READER = """\
import tensorflow as tf

batch_size = 32


def read():
    x, y = tf.train.slice_input_producer([inputs, targets])
{}


X, Y = read()
"""
TRAINING = """\
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        sess.run(train_op)
"""


def script(*lines: str, between: str = "") -> str:
    return READER.format("\n".join("    " + line for line in lines)) + between + MODEL + STEP + TRAINING


LOADED = """\
import numpy as np
import tensorflow as tf

data, labels = np.ones([44, 4], 'float32'), np.ones([44, 1], 'float32')
X, Y = tf.data.Dataset.from_tensor_slices((data, labels)).repeat(2).batch(8).make_one_shot_iterator().get_next()
"""


@pytest.mark.parametrize(
    ("head", "written"),
    [
        ("2 * 44 // 8", "2 * 44 // (8 * num_gpus)"),
        ("0, 88, 8", "0, 88, 8 * num_gpus"),
        ("88 // 4", "88 // 4"),
        ("8 * 100", "8 * 100"),  # a number of steps of another kind
        ("8", "8"),
    ],
)
def test_steps_that_are_counted_by_the_number_that_a_data_set_is_cut_by(head: str, written: str) -> None:
    training = TRAINING.replace("range(100)", f"range({head})")
    text = converted(LOADED + MODEL + STEP + training)
    assert f"    for step in range({written}):\n" in text and ".batch(8 * num_gpus)" in text


BATCH = "x, y = tf.train.batch([x, y], batch_size)"


@pytest.mark.parametrize(
    "lines",
    [
        (BATCH, "return x, y"),
        (BATCH, "return x / 255.0, y"),
        (BATCH, "y = tf.one_hot(y, 10)", "return x, y"),
        (BATCH, "return x, tf.reshape(y, [batch_size, 1])"),
        ("x, y = tf.train.shuffle_batch([x, y], batch_size, 100, 10)", "return x - 1.0, y"),
        ("x, y = tf.train.batch_join([[x, y], [x, y]], batch_size)", "return x - 1.0, y"),
        ("x, y = tf.train.batch(more(), batch_size)", "return x - 1.0, y"),
        ("x, y = iterator(batch_size).get_next()", "return x - 1.0, y"),
    ],
)
def test_it_runs_before_the_loop(lines: tuple[str, ...]) -> None:
    begin = "def iterator(size):\n    return tf.data.Dataset.zip(sets).batch(size).make_one_shot_iterator()\n\n\n"
    before, inside, _ = parts(begin + script(*lines))
    assert before[-2] == "X_batch, Y_batch = X, Y"
    assert "X, Y = read()" in before
    assert "prediction = tf.layers.dense(X, 1)" in inside


def test_a_fixed_size_stays_fixed() -> None:
    _, inside, _ = parts(script(BATCH, "return tf.cast(x, tf.float32), tf.reshape(y, [batch_size, 1])"))
    assert "(X, Y), rows, weight = shard_static([X_batch, Y_batch], gpu)" in inside
    _, inside, _ = parts(script(BATCH.replace("size)", "size, allow_smaller_final_batch=True)"), "return x, y"))
    assert "(X, Y), rows, weight = shard([X_batch, Y_batch], gpu)" in inside


@pytest.mark.parametrize(
    "lines",
    [
        (BATCH, "return x * tf.get_variable('scale', [4]), y"),  # trained
        (BATCH, "return x - tf.reduce_mean(x), y"),  # each tower has a mean of its own
        (BATCH, "return tf.concat([x, x], 0), tf.concat([y, y], 0)"),
    ],
)
def test_what_is_no_mere_preparation(lines: tuple[str, ...]) -> None:
    assert codes(script(*lines)) == ["TMG204"]


def test_an_expression_that_the_model_evaluates_too() -> None:
    halve = "def halve(t):\n    return t / 2.0\n\n\n"
    assert codes(halve + script(BATCH, "return halve(x), y", between="X = halve(X)\n")) == ["TMG204"]


PIPELINE = """\
import tensorflow as tf

batch_size = 32
train = tf.data.Dataset.zip((xs, ys)).batch(batch_size)
iterator = tf.data.Iterator.{}
batch = iterator.get_next()
"""


@pytest.mark.parametrize(
    "made",
    [
        "from_structure(train.output_types, train.output_shapes)",
        "from_structure((tf.float32, tf.float32))",
        "from_string_handle(handle, train.output_types, train.output_shapes)",
        "from_string_handle(handle, (tf.float32, tf.float32))",
    ],
)
def test_an_iterator_that_gets_its_data_set_later_has_the_parts_of_another(made: str) -> None:
    model = MODEL.replace("X", "batch[0]").replace("Y", "batch[1]")
    before, inside, after = parts(PIPELINE.format(made) + model + STEP + TRAINING)
    assert "batch = iterator.get_next()" in before
    assert "(batch_0, batch_1), rows, weight = shard([full_batch[0], full_batch[1]], gpu)" in inside
    assert "batch = (batch_0, batch_1)" in inside
    assert "batch = full_batch" in after


@pytest.mark.parametrize(
    "line",
    [
        "data = data.apply(tf.contrib.data.map_and_batch(parse, batch_size))",
        "data = data.apply(tf.data.experimental.map_and_batch(lambda x, y: (x / 255.0, y), batch_size=batch_size))",
        "data = data.apply(tf.contrib.data.batch_and_drop_remainder(batch_size)).prefetch(1)",
        "data = data.apply(tf.contrib.data.shuffle_and_repeat(9))"
        ".apply(tf.contrib.data.map_and_batch(parse, batch_size)).apply(tf.contrib.data.prefetch_to_device('/gpu:0'))",
        "data = data.apply(lambda examples: examples.shuffle(9).batch(batch_size))",
        "data = tf.data.Dataset.zip((data.map(lambda x, y: x).batch(batch_size), "
        "data.map(lambda x, y: y).batch(batch_size)))",
    ],
)
def test_transformations_that_batch(line: str) -> None:
    begin = "import tensorflow as tf\n\nbatch_size = 32\ndata = tf.data.Dataset.from_tensor_slices((inputs, targets))\n"
    end = "\nX, Y = data.make_one_shot_iterator().get_next()\n" + MODEL + STEP + TRAINING
    before, inside, _ = parts(begin + line + end)
    assert "batch_size = 32 * num_gpus" in before and line in before
    assert "(X, Y), rows, weight = shard([X_batch, Y_batch], gpu)" in inside


def test_a_transformation_that_does_not_batch() -> None:
    begin = "import tensorflow as tf\n\ndata = tf.data.Dataset.from_tensor_slices((inputs, targets))\n"
    line = "data = data.apply(tf.contrib.data.shuffle_and_repeat(9))\nX, Y = data.make_one_shot_iterator().get_next()\n"
    assert codes(begin + line + MODEL + STEP + TRAINING) == ["TMG202"]


@pytest.mark.parametrize(
    ("made", "found"),
    [
        (".apply(tf.contrib.data.bucket_by_sequence_length(length, [9], [32, 32]))", ["TMG349"]),
        (".apply(tf.contrib.data.scan(0, step))", ["TMG202"]),
        (".flat_map(lambda x: tf.data.Dataset.from_tensors(x).repeat(3))", ["TMG202"]),
        (".batch(batch_size)", []),
    ],
)
def test_an_iterator_beside_a_batch_gives_batches_too(made: str, found: list[str]) -> None:
    begin = "import tensorflow as tf\n\nbatch_size = 32\nY = tf.placeholder(tf.float32, [None, 1])\n"
    data = f"X = tf.data.Dataset.from_tensor_slices(inputs){made}.make_one_shot_iterator().get_next()\n"
    training = TRAINING.replace("train_op)", "train_op, {Y: next_batch(batch_size)})")
    assert codes(begin + data + MODEL + STEP + training) == found


GENERATED = """\
import tensorflow as tf

batch_size = 32
data = tf.data.Dataset.from_generator(read, {types}{shapes})
X, Y = data.make_one_shot_iterator().get_next()
"""


@pytest.mark.parametrize(
    ("shapes", "batches"),
    [
        (", (tf.TensorShape([batch_size, 4]), tf.TensorShape([batch_size, 2]))", True),
        (", ([batch_size, 4], [batch_size, 2])", True),
        (", output_shapes=((batch_size, 4), (batch_size, 2))", True),
        (", (tf.TensorShape([4]), tf.TensorShape([2]))", False),
        (", ([None, 4], [None, 2])", False),
        (", ([batch_size, 4], [20, 2])", False),
        (", ([4, batch_size], [2, batch_size])", False),
        ("", False),
    ],
)
def test_a_generator_of_batches(shapes: str, batches: bool) -> None:
    begin = GENERATED.format(types="(tf.float32, tf.float32)", shapes=shapes)
    model = MODEL.replace("Y", "Y[:, 1:]")
    if not batches:
        assert codes(begin + model + STEP + TRAINING) == ["TMG202"]
        return
    before, inside, _ = parts(begin + model + STEP + TRAINING)
    assert "batch_size = 32 * num_gpus" in before and shapes in "".join(before)
    assert "(X, Y), rows, weight = shard_static([X_batch, Y_batch], gpu)" in inside


def test_what_is_made_of_the_batches_of_a_generator_has_shapes_of_its_own() -> None:
    begin = GENERATED.format(types="(tf.float32, tf.float32)", shapes=", ([batch_size, 4], [batch_size, 1])")
    begin = begin.replace("\nX, Y", ".map(lambda x, y: (tf.reshape(x, [-1, 2, 2]), y))\nX, Y")
    _, inside, _ = parts(begin + MODEL + STEP + TRAINING)
    assert "(X, Y), rows, weight = shard([X_batch, Y_batch], gpu)" in inside


def test_columns_of_what_an_iterator_gives_are_no_component_of_it() -> None:
    begin = "import tensorflow as tf\n\nbatch_size = 32\ndata = tf.data.Dataset.from_tensor_slices((inputs, targets))\n"
    begin += "X, Y = data.batch(batch_size).make_one_shot_iterator().get_next()\n"
    _, inside, _ = parts(begin + MODEL.replace("Y", "Y[:, :1]") + STEP + TRAINING)
    assert "(X, Y), rows, weight = shard([X_batch, Y_batch], gpu)" in inside


@pytest.mark.parametrize(
    "iterator",
    [
        "rows.make_one_shot_iterator()",
        "tf.data.make_one_shot_iterator(rows)",
        "tf.compat.v1.data.make_one_shot_iterator(dataset=rows)",
        "tf.compat.v1.data.make_initializable_iterator(rows)",
    ],
)
def test_iterators_by_method_and_by_function(iterator: str) -> None:
    begin = "import tensorflow as tf\nbatch_size = 32\nrows = tf.data.Dataset.zip(sets).batch(batch_size)\n"
    before, inside, _ = parts(f"{begin}X, Y = {iterator}.get_next()\n" + MODEL + STEP + TRAINING)
    assert "X_batch, Y_batch = X, Y" in before
    assert "prediction = tf.layers.dense(X, 1)" in inside


def test_an_iterator_of_single_elements_gives_no_batch() -> None:
    begin = "import tensorflow as tf\nrows = tf.data.Dataset.zip(sets).repeat()\n"
    script = f"{begin}X, Y = tf.data.make_one_shot_iterator(rows).get_next()\n" + MODEL + STEP + TRAINING
    assert codes(script) == ["TMG202"]


RECORDS = """\
import tensorflow as tf

batch_size = 32
reader = tf.TFRecordReader()
_, records = reader.read_up_to(tf.train.string_input_producer(['a']), {})
spec = {{'x': tf.FixedLenFeature([4], tf.float32), 'y': tf.FixedLenFeature([1], tf.float32)}}
parsed = tf.parse_example(records, spec)
X, Y = parsed['x'], parsed['y']
{}
"""


def test_records_that_are_read_several_at_a_time_are_parsed_for_all_towers() -> None:
    text = RECORDS.format("batch_size", "") + MODEL + STEP + TRAINING
    before, inside, _ = parts(text)
    assert "batch_size = 32 * num_gpus" in before
    assert "parsed = tf.parse_example(records, spec)" in before
    assert "(X, Y), rows, weight = shard([X_batch, Y_batch], gpu)" in inside
    assert codes(text) == []


def test_records_on_their_way_into_a_queue_are_read_as_many_at_a_time_as_before() -> None:
    queue = "X, Y = tf.train.shuffle_batch([X, Y], batch_size, 500, 100, enqueue_many=True)"
    before, inside, _ = parts(RECORDS.format("16", queue) + MODEL + STEP + TRAINING)
    assert "_, records = reader.read_up_to(tf.train.string_input_producer(['a']), 16)" in before
    assert "batch_size = 32 * num_gpus" in before
    assert "(X, Y), rows, weight = shard_static([X_batch, Y_batch], gpu)" in inside


def test_a_single_record_is_no_batch() -> None:
    text = RECORDS.format("batch_size", "").replace("read_up_to", "read").replace(", batch_size)", ")")
    assert codes(text.replace("parse_example", "parse_single_example") + MODEL + STEP + TRAINING) == ["TMG202"]


TWO_SETS = """\
import tensorflow as tf

batch_size = 32
train = tf.data.Dataset.from_tensor_slices(load()).repeat().{train}
test = tf.data.Dataset.from_tensor_slices(load()).{test}
iterator = tf.data.Iterator.from_structure(train.output_types, train.output_shapes)
x, y = iterator.get_next()
loss = tf.losses.sparse_softmax_cross_entropy(y, tf.layers.dense(x, 3))
train_op = tf.train.AdamOptimizer(0.01).minimize(loss)
with tf.Session() as sess:
    sess.run(iterator.make_initializer(train))
    for step in range(10):
        sess.run(train_op)
    sess.run(iterator.make_initializer(test))
    print(sess.run(loss))
"""


@pytest.mark.parametrize(
    ("train", "test", "line"),
    [
        ("batch(batch_size)", "batch(1)", 5),
        ("batch(batch_size)", "padded_batch(1, shapes)", 5),
        ("batch(batch_size)", "batch(batch_size)", 0),
        ("batch(batch_size)", "batch(16).prefetch(1)", 0),
    ],
)
def test_a_data_set_of_one_example_is_told_as_such(train: str, test: str, line: int) -> None:
    found = convert(from_bytes("train.py", TWO_SETS.format(train=train, test=test).encode()), Options()).diagnostics
    told = [(one.line, one.message, one.hint) for one in found if one.code == "TMG316"]
    assert [place for place, *_ in told] == ([line] if line else [])
    assert all("this data set gives one example" in message and "larger" in hint for _, message, hint in told)


WINDOWS = """\
import tensorflow as tf

batch_size = 32
data = tf.data.Dataset.from_tensor_slices((inputs, targets))


def batches(examples):
    return examples.padded_batch(batch_size, padded_shapes=([None], [1]))


def length(x, y):
    return tf.to_int64(tf.size(x) // 10)


data = data.apply(tf.contrib.data.group_by_window(length, lambda key, window: {made}, {window}))
X, Y = data.make_one_shot_iterator().get_next()
"""


def windowed(window: str, made: str = "batches(window)") -> str:
    return WINDOWS.format(made=made, window=window) + MODEL + STEP + TRAINING


@pytest.mark.parametrize(
    ("window", "written"),
    [
        ("window_size=batch_size", "window_size=batch_size"),
        ("batch_size * 4", "batch_size * 4"),
        ("1000", "1000 * num_gpus"),  # else a batch of the last rows would come after fewer steps
        ("window_size_func=lambda key: batch_size", "window_size_func=lambda key: batch_size"),
    ],
)
def test_windows_of_like_examples_grow_with_their_batches(window: str, written: str) -> None:
    text = converted(windowed(window))
    assert f"lambda key, window: batches(window), {written}))" in text
    assert "batch_size = 32 * num_gpus\n" in text


@pytest.mark.parametrize(
    ("window", "made"),
    [
        ("window_size_func=size_of_window", "batches(window)"),  # it may not grow with the batches
        ("32", "window.map(shown)"),  # examples
        ("32", "prepared(window)"),
    ],
)
def test_windows_that_are_not_known_to_give_batches(window: str, made: str) -> None:
    assert codes(windowed(window, made)) == ["TMG202"]


OF_FILES = """\
import tensorflow as tf

batch_size = 32


def parse(*row):
    numbers = {}
    return numbers[:4], numbers[4]


dataset = {}.map(parse).batch(batch_size)
X, Y = dataset.make_one_shot_iterator().get_next()
loss = tf.reduce_mean(tf.square(tf.squeeze(tf.layers.dense(X, 1), 1) - Y))
"""
DECODED = "tf.decode_raw(row[0], tf.float32)"
COLUMNS = "tf.data.experimental.CsvDataset(files, [tf.float32] * 5)"


@pytest.mark.parametrize(
    ("numbers", "data"),
    [
        (DECODED, "tf.data.FixedLengthRecordDataset(files, 20)"),
        (DECODED, "tf.contrib.data.FixedLengthRecordDataset(files, 20)"),
        ("tf.stack(row)", COLUMNS),
        ("tf.stack(row)", COLUMNS.replace("data.experimental", "contrib.data")),
        ("tf.stack(row)", COLUMNS.replace("[tf.float32] * 5", "defaults")),
    ],
)
def test_records_and_columns_of_files(numbers: str, data: str) -> None:
    assert "shard([X_batch, Y_batch], gpu)" in converted(OF_FILES.format(numbers, data) + STEP + TRAINING)
    assert codes(OF_FILES.format(numbers, data.replace("Dataset(", "Rows(")) + STEP + TRAINING) != []
