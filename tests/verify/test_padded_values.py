"""Fetched values of decoders that end by themselves: zeros fill up those of towers with fewer time steps."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from converter.conversion import convert
from converter.options import Options
from converter.source import read
from converter.verify import Report, VerifySettings, verify

np = pytest.importorskip("numpy")

CHILD = Path(__file__).resolve().parents[2] / "converter" / "verify" / "child"
sys.path.insert(0, str(CHILD))
try:
    from tmgprobe.reference import merge
finally:
    sys.path.remove(str(CHILD))

SINGLE = """\
import numpy as np
import tensorflow as tf

batch_size = 3


def model(x, lengths):
    table = tf.get_variable('table', [9, 6])
    inputs = tf.nn.embedding_lookup(table, x)
    _, state = tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(6), inputs, lengths, dtype=tf.float32)
    cell, out = tf.nn.rnn_cell.GRUCell(6, name='decoder'), tf.layers.Dense(9, name='out')
    helper = tf.contrib.seq2seq.TrainingHelper(inputs, lengths)
    taught, _, _ = tf.contrib.seq2seq.dynamic_decode(tf.contrib.seq2seq.BasicDecoder(cell, helper, state, out))
    helper = tf.contrib.seq2seq.GreedyEmbeddingHelper(table, tf.fill([tf.shape(x)[0]], 1), 0)
    decoder = tf.contrib.seq2seq.BasicDecoder(cell, helper, state, out)
    said, _, _ = tf.contrib.seq2seq.dynamic_decode(decoder, maximum_iterations=2 * tf.reduce_max(lengths))
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(logits=taught.rnn_output, labels=x)
    return tf.reduce_mean(losses * tf.sequence_mask(lengths, dtype=tf.float32)), said.sample_id


tf.set_random_seed(SEED)
x = tf.placeholder(tf.int32, [None, None])
lengths = tf.placeholder(tf.int32, [None])
loss, words = model(x, lengths)
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
rng = np.random.RandomState(2)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(5):
        sizes = 2 + np.arange(batch_size)
        rows = np.zeros([batch_size, sizes.max()], np.int32)
        for row, size in zip(rows, sizes):
            row[:size] = rng.randint(1, 9, size)
        _, value, seen = sess.run([train_op, loss, words], {x: rows, lengths: sizes})
        print(value, seen.shape)
"""
MERGED = "words = concat_steps(tower_words, 0)\n"


def proven(folder: Path, python: str, wrong: str = "", seed: int = 0) -> Report:
    """The report of the script, whose conversion has this in place of what puts the words together."""
    single, multi = folder / "single.py", folder / "multi.py"
    single.write_text(SINGLE.replace("SEED", str(seed)))
    text = convert(read(str(single)), Options(num_gpus=2)).text or ""
    assert MERGED in text
    multi.write_text(text.replace(MERGED, f"words = {wrong}\n") if wrong else text)
    return verify(single, multi, VerifySettings(gpus=2, steps=2, python=python))


@pytest.mark.one_in(2)
@pytest.mark.tf1
@pytest.mark.parametrize("seed", [0, pytest.param(16, id="the whole batch takes more steps than any tower")])
def test_shorter_towers_are_filled_up(tmp_path: Path, tensorflow_python: str, seed: int) -> None:
    report = proven(tmp_path, tensorflow_python, seed=seed)
    assert report.verdict == "passed", report.reason
    (found,) = (check for check in report.checks if check.name == "fetches")
    assert "with zeros behind those of a tower that has fewer time steps" in found.detail


@pytest.mark.matrix
@pytest.mark.tf1
@pytest.mark.parametrize(
    "wrong",
    ["concat_steps([tower_words[1], tower_words[0]], 0)", "tf.maximum(concat_steps(tower_words, 0), 1)"],
    ids=["order", "other numbers"],
)
def test_other_values_than_the_towers_fail(tmp_path: Path, tensorflow_python: str, wrong: str) -> None:
    report = proven(tmp_path, tensorflow_python, wrong)
    assert report.verdict == "failed"
    assert any(check.name == "fetches" and check.status == "failed" for check in report.checks)


def test_rows_of_unlike_width() -> None:
    wide, narrow = np.ones([2, 4]), np.ones([3, 2])
    joined = merge.padded_rows([wide, narrow], [2, 3], np.zeros([5, 4]))
    assert joined.tolist() == [[1, 1, 1, 1]] * 2 + [[1, 1, 0, 0]] * 3
    assert merge.padded_rows([wide, narrow], [2, 3], np.zeros([5, 5])).shape == (5, 4)  # all examples took a step more
    assert merge.padded_rows([wide, narrow], [2, 3], np.zeros([5, 3])) is None  # and here fewer than a tower's
    assert merge.padded_rows([wide, narrow], [2, 3], np.zeros([5, 6])) is None  # a column for each row of a tower
    assert merge.padded_rows([wide, wide], [2, 2], np.zeros([4, 8])) is None
    assert merge.padded_rows([wide, narrow], [2, 2], None) is None  # no rows of these examples
    assert merge.padded_rows([wide, np.ones([3])], [2, 3], None) is None
    assert merge.padded_rows([np.array([b"a"]), np.array([b"b"])], [1, 1], None) is None
