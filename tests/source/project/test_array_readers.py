"""Scripts of a folder that reshape what another one saves, by a number of rows that they write out themselves."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.source.project.test_graph_readers import outcome

TRAIN = """\
import pickle
import numpy as np
import tensorflow as tf

batch_size = 16
x = tf.placeholder(tf.float32, [None, 4])
codes = tf.layers.dense(x, 8)
loss = tf.reduce_mean(tf.square(tf.layers.dense(codes, 4) - x))
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(9):
        _, made = sess.run([train_op, codes], {x: next_batch(batch_size)})
    np.save('out/codes.npy', made)
"""
DRAW = """\
import numpy as np

BATCH = 16
rows = np.load('out/codes.npy')
print(rows.reshape({}))
"""
FLAG = "batch_size = 16\n", "tf.app.flags.DEFINE_integer('rows', 16, '')\nbatch_size = tf.app.flags.FLAGS.rows\n"


@pytest.mark.parametrize(
    ("given", "place"),
    [
        ("16, 8", "draw.py:5:20"),
        ("(16, -1)", "draw.py:5:21"),
        ("[BATCH, 8]", "draw.py:3:9"),
        ("newshape=(16, 8)", "draw.py:5:30"),
    ],
)
def test_a_number_of_rows_that_is_the_batch_size(tmp_path: Path, given: str, place: str) -> None:
    assert outcome(tmp_path, TRAIN, draw=DRAW.format(given))[0] == [f"{place} TMG390"]


@pytest.mark.parametrize(
    "train",
    [
        TRAIN.replace("np.save('out/codes.npy', made)", "pickle.dump(made, open('out/codes.npy', 'wb'))"),
        TRAIN.replace("np.save('out/codes.npy', made)", "np.savez('out/codes.npy', rows=np.array(made))"),
        TRAIN.replace(*FLAG),
    ],
)
def test_ways_to_save(tmp_path: Path, train: str) -> None:
    assert outcome(tmp_path, train, draw=DRAW.format("16, 8"))[0] == ["draw.py:5:20 TMG390"]


@pytest.mark.parametrize(
    ("train", "draw"),
    [
        (TRAIN, DRAW.format("-1, 8")),
        (TRAIN, DRAW.format("32, 4")),
        (TRAIN, DRAW.format("rows.shape[0], 8")),
        (TRAIN, DRAW.format("16, 8").replace("out/codes", "out/others")),
        (TRAIN.replace("[train_op, codes]", "[train_op, loss]"), DRAW.format("16, 8")),
        (TRAIN.replace(", made)\n", ", np.zeros((16, 8)))\n"), DRAW.format("16, 8")),
    ],
    ids=["any rows", "another number", "its own", "another file", "a loss", "not of a run"],
)
def test_near_misses(tmp_path: Path, train: str, draw: str) -> None:
    assert outcome(tmp_path, train, draw=draw)[0] == []


def test_batches_that_stay_as_large(tmp_path: Path) -> None:
    (tmp_path / "draw.py").write_text(DRAW.format("16, 8"))
    train = TRAIN.replace("x: next_batch(batch_size)", "x: unknown.rows()")
    assert outcome(tmp_path, train)[0] == ["train.py:13:19 TMG303"]
