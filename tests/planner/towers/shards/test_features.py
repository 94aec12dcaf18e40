"""Dicts of features, sparse ones among them, and batches of sequences of similar lengths."""

from __future__ import annotations

import pytest

from tests.scripts import codes, parts

HEAD = "import tensorflow as tf\nfrom records import convert\n\nbatch_size = 32\n"
SPEC = "{'x': tf.FixedLenFeature([4], tf.float32), 'y': tf.FixedLenFeature([1], tf.float32)}"
NEXT = ".make_one_shot_iterator().get_next()\n"
MODEL = "loss = tf.reduce_mean(tf.square(tf.layers.dense(features['x'], 1) - features['y']))\n"
STEP = """\
train_op = tf.train.AdamOptimizer(0.01).minimize(loss)
with tf.Session() as sess:
    for step in range(100):
        sess.run(train_op)
"""
RECORDS = "features = tf.data.TFRecordDataset(files)"
FUNCTION = "def net(given):\n    return tf.reduce_mean(tf.square(tf.layers.dense(given['x'], 1) - given['y']))\n\n\n"
OBJECT = """\
class Net(object):
    def __init__(self, pipeline):
        self.rows = pipeline.make_one_shot_iterator().get_next()
        self.loss = tf.reduce_mean(tf.square(tf.layers.dense(self.rows['x'], 1) - self.rows['y']))


loss = Net(tf.data.TFRecordDataset(files).map(convert).batch(batch_size)).loss
"""


@pytest.mark.parametrize(
    "made",
    [
        f"{RECORDS}.map(lambda r: tf.parse_single_example(r, {SPEC})).batch(batch_size)",
        f"{RECORDS}.batch(batch_size).map(lambda r: tf.io.parse_example(r, features={SPEC}))",
        f"{RECORDS}.map(convert).batch(batch_size)",
        "features = tf.data.Dataset.from_tensor_slices({'x': xs, 'y': ys}).shuffle(9).batch(batch_size)",
        "features = tf.data.Dataset.from_tensor_slices({'x': xs, 'y': ys}).map(lambda d: dict(d)).batch(batch_size)",
    ],
)
@pytest.mark.parametrize("model", [MODEL, FUNCTION + "loss = net(features)\n"])
def test_a_dict_that_an_iterator_gives(made: str, model: str) -> None:
    before, inside, after = parts(HEAD + made + NEXT + model + STEP)
    assert before[-3:-1] != [] and "x_batch, y_batch = features['x'], features['y']" in before
    assert "(features['x'], features['y']), rows, weight = shard([x_batch, y_batch], gpu)" in inside
    assert after[0] == "features['x'], features['y'] = x_batch, y_batch"


@pytest.mark.parametrize("inline", [True, False], ids=["inline", "with a name"])
def test_examples_that_are_parsed_where_they_are_read(inline: bool) -> None:
    """Where the batch of records has no name, the features are cut; else the records, which each tower parses."""
    made = f"records = tf.data.TFRecordDataset(files).batch(batch_size){NEXT}"
    parse = f"features = tf.parse_example(records, {SPEC})\n"
    if inline:
        made, parse = "", parse.replace("records", made.partition(" = ")[2].strip())
    before, inside, _ = parts(HEAD + made + parse + MODEL + STEP)
    cut = "(features['x'], features['y']), rows, weight = shard([x_batch, y_batch], gpu)"
    assert (cut in inside, parse.strip() in before) == (inline, inline)
    assert ("(records,), rows, weight = shard([records_batch], gpu)" in inside) == (not inline)


def test_a_dict_that_an_attribute_holds() -> None:
    _, inside, _ = parts(HEAD + OBJECT + STEP)
    assert "(self.rows['x'], self.rows['y']), rows, weight = shard([x_batch, y_batch], gpu)" in inside


def test_an_entry_that_is_taken_out() -> None:
    parse = f"def parse(record):\n    found = tf.parse_single_example(record, {SPEC})\n"
    parse += "    return found, found.pop('y')\n\n\n"
    text = f"features, y = tf.data.TFRecordDataset(files).map(parse).batch(batch_size){NEXT}"
    _, inside, _ = parts(HEAD + parse + text + MODEL.replace("features['y']", "y") + STEP)
    assert "(features['x'], y), rows, weight = shard([x_batch, y_batch], gpu)" in inside


IDS = "{'ids': tf.VarLenFeature(tf.int64), 'y': tf.FixedLenFeature([1], tf.float32)}"
LOOKED_UP = """\
table = tf.get_variable('table', [9, 1])
loss = tf.reduce_mean(tf.square(tf.nn.embedding_lookup_sparse(table, {ids}, None) - {y}))
"""


@pytest.mark.parametrize(
    ("made", "ids", "y"),
    [
        (
            f"{RECORDS}.map(lambda r: tf.parse_single_example(r, {IDS})).batch(batch_size)",
            "features['ids']",
            "features['y']",
        ),
        (f"{RECORDS}.batch(batch_size).map(lambda r: tf.parse_example(r, {IDS}))", "features['ids']", "features['y']"),
        (f"{RECORDS}.map(convert).batch(batch_size)", "features['ids']", "features['y']"),
        (
            f"spec = {IDS}\n\n\ndef parse(r):\n    f = tf.parse_single_example(r, spec)\n"
            "    return f['ids'], f['y']\n\n\n"
            "ids, y = tf.data.TFRecordDataset(files).map(parse).shuffle(9).batch(batch_size)",
            "ids",
            "y",
        ),
        ("ids, y = tf.data.TFRecordDataset(files).map(convert).batch(batch_size)", "ids", "y"),
    ],
)
def test_sparse_features(made: str, ids: str, y: str) -> None:
    _, inside, _ = parts(HEAD + made + NEXT + LOOKED_UP.format(ids=ids, y=y) + STEP)
    assert f"({ids}, {y}), rows, weight = shard_sparse([ids_batch, y_batch], gpu)" in inside


def test_a_sparse_feature_that_a_pipeline_makes_dense() -> None:
    parse = f"def parse(r):\n    f = tf.parse_single_example(r, {IDS})\n"
    parse += "    return tf.sparse_tensor_to_dense(f['ids']), f['y']\n\n\n"
    text = f"ids, y = tf.data.TFRecordDataset(files).map(parse).padded_batch(batch_size, ([None], [1])){NEXT}"
    looked_up = LOOKED_UP.replace("embedding_lookup_sparse(table, {ids}, None)", "embedding_lookup(table, {ids})[:, 0]")
    _, inside, _ = parts(HEAD + parse + text + looked_up.format(ids="ids", y="y") + STEP)
    assert "(ids, y), rows, weight = shard([ids_batch, y_batch], gpu)" in inside


def test_a_batch_of_records_that_the_model_parses() -> None:
    text = f"records = tf.data.TFRecordDataset(files).batch(batch_size){NEXT}"
    text += f"features = tf.parse_example(records, {SPEC})\n"
    before, inside, _ = parts(HEAD + text + MODEL + STEP)
    assert codes(HEAD + text + MODEL + STEP) == []
    assert "(records,), rows, weight = shard([records_batch], gpu)" in inside or "features" in "".join(before)


BUCKETS = """\
data = tf.data.Dataset.from_generator(read, (tf.float32, tf.float32), ([None, 3], [1]))
data = data.apply(tf.{module}.bucket_by_sequence_length(lambda x, y: tf.shape(x)[0], [10, 20], {sizes}))
x, y = data.make_one_shot_iterator().get_next()
"""
SEQUENCES = "loss = tf.reduce_mean(tf.square(tf.layers.dense(tf.reduce_mean(x, 1), 1) - y))\n"


@pytest.mark.parametrize("module", ["data.experimental", "contrib.data"])
@pytest.mark.parametrize(
    ("sizes", "line"),
    [
        ("[batch_size] * 3", "batch_size = 32 * num_gpus"),
        ("[32, 16, 8]", "[32 * num_gpus, 16 * num_gpus, 8 * num_gpus]"),
        ("bucket_batch_sizes=[batch_size, batch_size // 2, 4]", "batch_size, batch_size // 2, 4 * num_gpus]"),
    ],
)
def test_buckets_of_sequences(module: str, sizes: str, line: str) -> None:
    before, inside, _ = parts(HEAD + BUCKETS.format(module=module, sizes=sizes) + SEQUENCES + STEP)
    assert line in "\n".join(before)
    assert "(x, y), rows, weight = shard([x_batch, y_batch], gpu)" in inside


def test_a_queue_of_buckets() -> None:
    text = "lengths, (x, y) = tf.contrib.training.bucket_by_sequence_length(n, [a, b], batch_size, [10, 20])\n"
    before, inside, _ = parts(HEAD + text + SEQUENCES + STEP)
    assert "batch_size = 32 * num_gpus" in before
    assert "(x, y), rows, weight = shard_static([x_batch, y_batch], gpu)" in inside


def test_an_entry_that_the_model_does_not_read() -> None:
    made = f"{RECORDS}.map(lambda r: tf.parse_single_example(r, {SPEC[:-1]}, 'ids': tf.VarLenFeature(tf.int64)}}))"
    _, inside, _ = parts(HEAD + made + ".batch(batch_size)" + NEXT + FUNCTION + "loss = net(features)\n" + STEP)
    assert "(features['x'], features['y']), tower_rows, weight = shard([x_batch, y_batch], gpu)" in inside or any(
        "(features['x'], features['y'])" in line for line in inside
    )


def test_an_entry_that_the_model_takes_out_is_refused() -> None:
    """The next tower would find the whole batch there, or nothing."""
    model = FUNCTION.replace("given['x']", "given.pop('x')") + "loss = net(features)\n"
    assert codes(
        HEAD + f"{RECORDS}.map(lambda r: tf.parse_single_example(r, {SPEC})).batch(batch_size)" + NEXT + model + STEP
    ) == ["TMG231"]


NESTED = (
    "data = {'pair': (xs, zs), 'y': ys}\nfeatures = tf.data.Dataset.from_tensor_slices((data, ws)).batch(batch_size)"
)
READ_NESTED = "out = tf.layers.dense({x}, 1) + tf.layers.dense({z}, 1)\nloss = tf.reduce_mean(tf.square(out - {y}))\n"
BY_KEYS = {"x": "features[0]['pair'][0]", "z": "features[0]['pair'][1]", "y": "features[0]['y']"}


@pytest.mark.parametrize(
    "model",
    [
        READ_NESTED.format(**BY_KEYS),
        "first = 'pair'\n" + READ_NESTED.format(**{**BY_KEYS, "z": "features[0][first][1]"}),
        "outs = [tf.layers.dense(features[0]['pair'][i], 1) for i in range(2)]\n"
        "loss = tf.reduce_mean(tf.square(outs[0] + outs[1] - features[0]['y']))\n",
        "def net(given):\n    return tf.layers.dense(given[0]['pair'][0], 1) - given[0]['y']\n\n\n"
        "loss = tf.reduce_mean(tf.square(net(features)))\n",
    ],
)
def test_a_nested_element_is_cut_as_a_whole(model: str) -> None:
    before, inside, after = parts(HEAD + NESTED + NEXT + model + STEP)
    assert "features_batch = features" in before
    assert inside.index("features = map_structure(lambda t: shard([t], gpu)[0][0], features_batch)") < 6
    assert not any("element" in line and " = " in line and "[0] =" in line for line in inside)
    assert after[0] == "features = features_batch"


def test_parts_of_a_nested_element_that_have_names() -> None:
    text = NESTED + NEXT + "data, w = features\n" + READ_NESTED.format(x="data['pair'][0]", z="w", y="data['y']")
    before, inside, _ = parts(HEAD + text + STEP)
    assert any("data_batch" in line for line in before)
    assert "data = map_structure(lambda t: shard([t], gpu)[0][0], data_batch)" in inside


def test_a_part_that_is_cut_beside_the_whole() -> None:
    text = "data = features[0]\nprint(data)\n" + READ_NESTED.format(**{**BY_KEYS, "y": "data['y']"})
    _, inside, after = parts(HEAD + NESTED + NEXT + text + STEP)
    assert "data = map_structure(lambda t: shard([t], gpu)[0][0], data_batch)" in inside
    assert after[0] == "features, data = features_batch, data_batch"


@pytest.mark.parametrize(
    ("read", "code"),
    [
        ("{'y': ys}, 'target'", ["TMG205"]),  # the dict that would be given the shard is the whole's, too
        ("{'y': ys}, None", []),
    ],
)
def test_a_part_that_is_read_by_two_names(read: str, code: list[str]) -> None:
    made, name = read.split(", ")
    text = f"features = tf.data.Dataset.from_tensor_slices(((xs, zs), {made})).batch(batch_size){NEXT}"
    text += "target = features[1]\nprint(target)\n"
    y = f"{name.strip(chr(39))}['y']" if name != "None" else "features[1]['y']"
    assert codes(HEAD + text + READ_NESTED.format(x="features[0][0]", z="features[0][1]", y=y) + STEP) == code


def test_an_item_of_a_tuple_cannot_be_put_back() -> None:
    text = f"features = tf.data.Dataset.from_tensor_slices((xs, ys)).batch(batch_size){NEXT}"
    text += "kept = (features, 3)\nprint(kept)\n"
    text += "net = lambda pair: tf.layers.dense(pair[0], 1) - pair[1]\nloss = tf.reduce_mean(tf.square(net(kept[0])))\n"
    assert codes(HEAD + text + STEP) == ["TMG205"]


READER = """\
def reader(files):
    queue = tf.train.string_input_producer(files)
    _, record = tf.TFRecordReader().read(queue)
    records = tf.train.shuffle_batch([record], batch_size, 100, 10)
    found = tf.parse_example(records, {spec})
    return found['x'], found['y']


x, y = reader(['a.tfrecords'])
"""


@pytest.mark.parametrize("feature", ["tf.FixedLenFeature([4], tf.float32)", "tf.VarLenFeature(tf.float32)"])
def test_a_function_that_reads_and_parses_a_batch(feature: str) -> None:
    """The features are parsed once: the function's call stands in front of the loop."""
    spec = SPEC.replace("tf.FixedLenFeature([4], tf.float32)", feature)
    sparse = "VarLen" in feature
    logits = "tf.sparse_tensor_dense_matmul(x, tf.get_variable('w', [4, 1]))" if sparse else "tf.layers.dense(x, 1)"
    model = f"loss = tf.reduce_mean(tf.square({logits} - y))\n"
    before, inside, after = parts(HEAD + READER.replace("{spec}", spec) + model + STEP)
    assert "x, y = reader(['a.tfrecords'])" in before
    cut = "shard_sparse" if sparse else "shard"
    assert {f"({a}, {b}), rows, weight = {cut}([{a}_batch, {b}_batch], gpu)" for a, b in ("xy", "yx")} & set(inside)
