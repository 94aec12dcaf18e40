"""--shard files: each worker reads its own part of the files, where one call names those of the training."""

from __future__ import annotations

import pytest

from converter.conversion import Conversion, convert
from converter.options import Options
from converter.source import from_bytes

SCRIPT = """\
import tensorflow as tf

batch_size = 8
names = ['a', 'b', 'c', 'd']
dataset = tf.data.TFRecordDataset(names)
dataset = dataset.map(lambda row: tf.decode_raw(row, tf.float32)).batch(batch_size)
rows = dataset.make_one_shot_iterator().get_next()
w = tf.get_variable('w', [4, 1])
loss = tf.reduce_mean(tf.square(tf.matmul(rows, w)))
step = tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(20):
        sess.run(step)
"""
READS = "dataset = tf.data.TFRecordDataset(names)\n"


def converted(text: str, **options: object) -> Conversion:
    given = Options(target="cluster", shard="files", helpers="package", **options)  # type: ignore[arg-type]
    return convert(from_bytes("train.py", text.encode()), given)


QUEUE = "queue = tf.train.string_input_producer(string_tensor=names, shuffle=False)\n"
LISTED = "dataset = tf.data.Dataset.list_files('part-*').interleave(lambda n: tf.data.TFRecordDataset(n), 2)\n"
BY_NAME = "dataset = tf.data.Dataset.list_files('part-*').interleave(tf.data.TFRecordDataset, 2)\n"
FUNCTION = "def read():\n    return tf.data.TFRecordDataset(names)\n\n\ndataset = read()\n"
# What reads the files, and what becomes of it.
WRITTEN = [
    (READS, "dataset = tf.data.TFRecordDataset(cluster.part_of(names))"),
    (READS.replace("names", "names, num_parallel_reads=2"), "TFRecordDataset(cluster.part_of(names), num_parallel"),
    (QUEUE, "string_input_producer(string_tensor=cluster.part_of(names), shuffle=False)"),
    (LISTED, "cluster.part_of(tf.data.Dataset.list_files('part-*')).interleave(lambda n: tf.data.TFRecordDataset(n)"),
    (BY_NAME, "dataset = cluster.part_of(tf.data.Dataset.list_files('part-*')).interleave(tf.data.TFRecordDataset, 2)"),
    (FUNCTION, "    return tf.data.TFRecordDataset(cluster.part_of(names))"),
]


@pytest.mark.parametrize(("reads", "becomes"), WRITTEN)
def test_the_names_of_the_files_are_cut(reads: str, becomes: str) -> None:
    done = converted(SCRIPT.replace(READS, reads))
    assert done.status == "converted" and done.text is not None, done.diagnostics
    assert becomes in done.text and "deal='files'" in done.text
    assert "batch_size = 8\n" in done.text  # each worker's own
    assert done.text.count("part_of(") == 1 and not done.diagnostics
    told = [decision.text for decision in done.decisions]
    assert any("takes other examples than the original's" in text for text in told)


TESTS = "tests = tf.data.TFRecordDataset(['e'])\n"
TWICE = FUNCTION + "tests = read()\n"
# What reads the files, and why that is refused.
REFUSED = [
    (READS + TESTS, "cannot tell which files are trained on"),
    (TWICE, "read is used more than once"),
    ("dataset = tf.data.TFRecordDataset(*names)\n", "the files of this call are not seen"),
    ("dataset = tf.data.Dataset.from_tensor_slices(names)\n", "no call in this script names the files"),
]


@pytest.mark.parametrize(("reads", "why"), REFUSED)
def test_files_that_may_serve_more_than_the_training_are_refused(reads: str, why: str) -> None:
    done = converted(SCRIPT.replace(READS, reads))
    assert done.status == "refused"
    errors = [finding for finding in done.diagnostics if finding.severity == "error"]
    assert [finding.code for finding in errors] == ["TMG259"]
    assert errors[0].message.startswith(why) and errors[0].hint.startswith("leave --shard out")


def test_workers_with_their_own_files_share_no_batch() -> None:
    done = converted(SCRIPT, batch="total")
    assert [finding.code for finding in done.diagnostics] == ["TMG259"]


def test_towers_have_no_files_of_their_own() -> None:
    done = convert(from_bytes("train.py", SCRIPT.encode()), Options(shard="files"))
    assert [(finding.code, finding.severity) for finding in done.diagnostics] == [("TMG287", "error")]
    configured = convert(from_bytes("train.py", SCRIPT.encode()), Options(shard="files", configured=("shard",)))
    plain = convert(from_bytes("train.py", SCRIPT.encode()), Options())
    assert configured.status == "converted" and configured.text == plain.text
