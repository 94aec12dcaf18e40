"""Numbers of batches that a data set is told: TMG396; and batches of several data sets."""

from __future__ import annotations

import pytest

from tests.scripts import codes, converted

SCRIPT = """\
import numpy as np
import tensorflow as tf

batch_size = 16
rows = tf.data.Dataset.from_tensor_slices(np.random.rand(640, 4).astype('float32'))
{data}
x = data.make_one_shot_iterator().get_next()
loss = tf.reduce_mean(tf.square(tf.layers.dense(x, 4) - x))
train_op = tf.train.AdamOptimizer().minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(20):
        sess.run(train_op)
"""


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ("data = rows.batch(batch_size).skip(10)", ["TMG396"]),
        ("data = rows.repeat().batch(batch_size).prefetch(1).take(20)", ["TMG396"]),
        ("data = rows.skip(160).batch(batch_size)", []),
        ("data = rows.batch(batch_size).skip(160 // batch_size)", []),
        ("data = rows.take(320).repeat().batch(batch_size)", []),
    ],
)
def test_batches_that_are_counted(data: str, expected: list[str]) -> None:
    assert codes(SCRIPT.format(data=data)) == expected
    assert codes(SCRIPT.format(data=data), batch="total") == []


MIXED = """\
even, odd = rows.take(320).repeat(){within}, rows.skip(320).repeat(){within}
data = tf.data.experimental.sample_from_datasets([even, odd]){behind}"""


@pytest.mark.parametrize(("within", "behind"), [("", ".batch(batch_size)"), (".batch(batch_size)", "")])
def test_batches_of_several_data_sets(within: str, behind: str) -> None:
    text = converted(SCRIPT.format(data=MIXED.format(within=within, behind=behind)))
    assert "batch_size = 16 * num_gpus" in text


def test_elements_of_several_data_sets_of_which_one_gives_batches() -> None:
    data = MIXED.format(within="", behind="").replace("rows.skip(320).repeat()", "rows.skip(320).batch(batch_size)")
    assert codes(SCRIPT.format(data=data)) == ["TMG202"]
