"""What is fed to an input whose fixed number of rows grows must grow with it."""

from __future__ import annotations

import pytest

from tests.scripts import codes, parts

HEAD = """\
import numpy as np
import tensorflow as tf

batch_size = {size}
data, valid = np.load('data.npy'), np.load('valid.npy')
"""
FIXED = """\
X = tf.placeholder(tf.float32, [batch_size, 4])
loss = tf.reduce_mean(tf.square(tf.layers.dense(X, 1)))
"""
OPEN = FIXED.replace("[batch_size", "[None")
RESHAPED = OPEN.replace("dense(X, 1)", "dense(tf.reshape(X, [batch_size, 2, 2]), 1)")
STEP = """\
train_op = tf.train.AdamOptimizer(0.01).minimize(loss)
with tf.Session() as sess:
    for i in range(0, 640, batch_size):
        sess.run(train_op, {X: data[i:i + batch_size]})
"""
LABELS = "def rows(n=32):\n    return np.ones((n, 4))\n\n\n"


def script(graph: str, fed: str, size: str = "32", above: str = "", step: str = STEP) -> str:
    return HEAD.replace("{size}", size) + above + graph + step + f"    print(sess.run(loss, {{X: {fed}}}))\n"


@pytest.mark.parametrize("fed", ["valid[:32]", "data[-32:]", "np.ones((32, 4))", "valid", "rows()", "np.array(few)"])
def test_a_run_of_another_size_is_refused(fed: str) -> None:
    above = LABELS + "few = []\nfor j in range(32):\n    few.append(valid[j])\n"
    assert codes(script(FIXED, fed, above=above)) == ["TMG252"]


@pytest.mark.parametrize(
    "fed",
    [
        "valid[:batch_size]",
        "data[-batch_size:]",
        "np.ones((batch_size, 4))",
        "rows(batch_size)",
        "np.array(few)",
        "loader.next()",
        "valid[np.random.choice(99, batch_size)]",
        "np.ones((16, 4))",  # which failed before, too
    ],
)
def test_what_is_made_with_the_batch_size_grows(fed: str) -> None:
    above = LABELS + "few = []\nfor j in range(batch_size):\n    few.append(valid[j])\n"
    above += "loader = Loader(valid, batch_size)\n"
    assert codes(script(FIXED, fed, above=above)) == []


@pytest.mark.parametrize("fed", ["valid[:32]", "valid", "rows()"])
def test_open_rows_take_any_number(fed: str) -> None:
    assert codes(script(OPEN, fed, above=LABELS)) == []


@pytest.mark.parametrize(("fed", "found"), [("valid[:32]", ["TMG252"]), ("valid[:batch_size]", []), ("valid", [])])
def test_a_model_that_is_made_for_a_batch(fed: str, found: list[str]) -> None:
    """Of a whole array nothing is known: where it has as many rows as a batch, the reshape fails loudly."""
    assert codes(script(RESHAPED, fed)) == found


def test_the_total_stays() -> None:
    """Each tower's share of the same batch: a shape of 32 rows still takes what is fed."""
    text = script(FIXED, "valid[:32]")
    before, inside, _ = parts(text, batch="total")
    assert codes(text, batch="total") == [] and before[0] == "batch_size = 32"
    assert "(X,), rows, weight = shard_static([X_batch], gpu)" in inside


def test_a_batch_of_training_that_keeps_its_rows() -> None:
    """The batch size only counts the turns of the loop: nothing grows, and the towers share the 32 rows."""
    step = STEP.replace("data[i:i + batch_size]", "np.ones((32, 4)) * i")
    text = script(FIXED, "valid[:batch_size]", step=step)
    assert codes(text) == ["TMG303"]
    assert "batch_size = 32" in parts(text)[0]


def test_a_list_that_is_fed_when_it_has_a_batch() -> None:
    step = """\
train_op = tf.train.AdamOptimizer(0.01).minimize(loss)
with tf.Session() as sess:
    batch = []
    for line in open('data'):
        batch.append([float(v) for v in line.split()])
        if len(batch) == batch_size:
            sess.run(train_op, {X: batch})
            batch = []
"""
    assert codes(script(FIXED, "valid[:batch_size]", step=step)) == []


@pytest.mark.parametrize(("rows", "expected"), [("i:i + batch_size", []), (":32", ["TMG252"])])
def test_rows_that_a_comprehension_makes_of_a_batch(rows: str, expected: list[str]) -> None:
    """The files of a shuffled list, read one by one: as many as the slice has."""
    above = "files = sorted(glob.glob('*.npy'))\nfiles = [files[j] for j in np.random.permutation(len(files))[:]]\n"
    assert codes(script(FIXED, f"[np.load(f) for f in files[{rows}]]", above=above)) == expected


@pytest.mark.parametrize(
    ("fetched", "found"),
    [
        ("samples", []),  # nothing of them is made with the batch size
        ("loss", ["TMG252"]),
        ("wrong", ["TMG252"]),
        ("[samples, rows]", ["TMG252"]),
    ],
)
def test_only_what_is_computed_must_fit(fetched: str, found: list[str]) -> None:
    """Labels that have the rows of a batch are read by the loss: samples of any number of rows do without them."""
    graph = """\
X = tf.placeholder(tf.float32, [None, 4])
samples = tf.layers.dense(X, 1)
rows = tf.ones([batch_size, 1])
wrong = samples - rows
loss = tf.reduce_mean(tf.square(wrong))
"""
    text = script(graph, "valid[:32]").replace("sess.run(loss", f"sess.run({fetched}")
    assert codes(text) == found


RUNS = """\
    begin = 0
    while begin + batch_size < len(valid):
        rows = RANGE
        print(sess.run(loss, {X: valid[rows]}))
        begin += batch_size
"""


@pytest.mark.parametrize("size", ["4", "64"])  # Python's numbers of a short range are known one by one
@pytest.mark.parametrize(
    ("rows", "wanted"),
    [
        ("range(begin, begin + batch_size)", []),
        ("range(0, batch_size)", []),
        ("range(batch_size)", []),
        ("range(begin, begin + {size})", ["TMG252"]),
        ("range({size})", ["TMG252"]),
    ],
)
def test_rows_that_a_range_numbers(size: str, rows: str, wanted: list[str]) -> None:
    text = HEAD.replace("{size}", size) + FIXED + STEP + RUNS.replace("RANGE", rows.replace("{size}", size))
    assert [code for code in codes(text) if code != "TMG345"] == wanted


OF_FLAGS = """\
import argparse
import numpy as np
import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument('--batch_size', type=int, default={size})
parser.add_argument('--sample_num', type=int, default=32)
args = parser.parse_args()
batch_size, n = args.batch_size, 32
data = np.load('data.npy')
"""


@pytest.mark.parametrize("fed", ["data[:32]", "data[:n]", "np.ones((n, 4))", "data[:args.sample_num]", "data[0:n]"])
@pytest.mark.parametrize("graph", [FIXED, RESHAPED])
def test_the_default_of_a_flag_is_as_large(graph: str, fed: str) -> None:
    """By default the script feeds a batch, and a model of N batches would reject it."""
    text = OF_FLAGS.replace("{size}", "32") + graph + STEP + f"    print(sess.run(loss, {{X: {fed}}}))\n"
    assert codes(text) == ["TMG252"]


@pytest.mark.parametrize(
    ("graph", "fed", "size"),
    [
        (OPEN, "data[:args.sample_num]", "32"),  # takes any number of rows
        (RESHAPED, "data[:args.sample_num]", "16"),  # failed before, too, by default
        (RESHAPED, "data[:args.sample_num + 1]", "32"),
        (RESHAPED, "data[:n]", "None"),
        (RESHAPED, "data[:args.batch_size]", "32"),
        (RESHAPED, "data[:batch_size]", "32"),
    ],
)
def test_other_defaults(graph: str, fed: str, size: str) -> None:
    text = OF_FLAGS.replace("{size}", size) + graph + STEP + f"    print(sess.run(loss, {{X: {fed}}}))\n"
    assert codes(text) == []
