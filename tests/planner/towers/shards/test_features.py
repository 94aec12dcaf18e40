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
