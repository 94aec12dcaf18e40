"""Learning rates that the script computes from its batch size: TMG341, and what the header says of them."""

from __future__ import annotations

import pytest

from converter.conversion import convert
from converter.options import Options
from converter.source import from_bytes

SCRIPT = """\
import tensorflow as tf

batch_size = 64
steps = 640 // batch_size
X = tf.placeholder(tf.float32, [None, 784])
loss = tf.reduce_mean(tf.square(tf.layers.dense(X, 10)))
{rate}
train_op = tf.train.MomentumOptimizer({argument}, momentum=0.9).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(steps):
        sess.run(train_op, {{X: next_batch(batch_size)}})
"""
GROWS = [
    ("rate = 0.1 * batch_size / 256", "rate"),
    ("rate = 0.1", "learning_rate=rate * (batch_size / 256.0)"),
    ("rate = batch_size * 1e-4", "rate"),
]
ROWS = "rows = tf.cast(tf.shape(X)[0], tf.float32)\n"
FOLLOWS = [
    ("rate = 0.1 * 64 / batch_size", "1/N of what it was"),
    ("rate = 0.1 * (batch_size / 64) ** 0.5", "sqrt(N) times as large"),
    ("rate = 0.1 / np.sqrt(batch_size)", "1/sqrt(N) of what it was"),
    ("rate = 0.1 + batch_size / 6400", "another one"),
    (ROWS + "rate = 0.01 * rows / 64.0", "N times as large"),
    (ROWS + "rate = tf.multiply(0.01, rows)", "N times as large"),
    (ROWS + "rate = 0.01 / rows", "1/N of what it was"),
    (ROWS + "rate = tf.train.exponential_decay(0.01 * rows, tf.Variable(0), steps, 0.9)", "N times as large"),
    ("rate = tf.train.exponential_decay(0.1 * batch_size, tf.Variable(0), 10, 0.9)", "N times as large"),
]
STAYS = [
    ("step = tf.train.get_or_create_global_step()\nrate = tf.where(step > steps, 0.01, 0.1)", "rate"),
    (ROWS + "rate = 0.01 * rows / tf.to_float(batch_size)", "rate"),
    ("rate = 0.1 * tf.to_float(tf.shape(X)[1]) / 784.0", "rate"),
    ("rate = 0.1", "rate"),
    ("rate = 0.1 * 64 / 256", "rate"),
    ("rate = tf.train.exponential_decay(0.1, tf.Variable(0, trainable=False), steps, 0.9)", "rate"),
]


def said(rate: str, argument: str, batch: str = "per-gpu") -> tuple[list[str], str]:
    """The codes of the findings, and what the conversion says of the learning rate."""
    script = from_bytes("train.py", SCRIPT.format(rate=rate, argument=argument).encode())
    done = convert(script, Options(num_gpus=2, batch=batch))
    assert done.text is not None, done.diagnostics
    return [d.code for d in done.diagnostics], next(d.text for d in done.decisions if d.topic == "learning rate")


@pytest.mark.parametrize(("rate", "argument"), GROWS)
def test_a_rate_that_grows_is_told(rate: str, argument: str) -> None:
    codes, text = said(rate, argument)
    assert codes == ["TMG341"]
    assert text == "as the script computes it from the batch size, which grows with the number of towers"


@pytest.mark.parametrize(("rate", "factor"), FOLLOWS)
def test_how_a_rate_follows_the_batch_size(rate: str, factor: str) -> None:
    script = SCRIPT.replace("import tensorflow", "import numpy as np\nimport tensorflow")
    done = convert(from_bytes("train.py", script.format(rate=rate, argument="rate").encode()), Options(num_gpus=2))
    (found,) = done.diagnostics
    assert found.code == "TMG341" and done.text is not None
    assert found.message == f"the learning rate is computed from the batch size, so it is {factor} on N GPUs"


@pytest.mark.parametrize(("rate", "argument"), STAYS)
def test_any_other_rate_is_not(rate: str, argument: str) -> None:
    codes, text = said(rate, argument)
    assert "TMG341" not in codes
    assert text == "unchanged; --scale-lr linear or sqrt would scale it with the number of towers"


def test_a_batch_size_that_stays_leaves_the_rate() -> None:
    codes, text = said(*GROWS[0], batch="total")
    assert codes == []
    assert text.startswith("unchanged;")


@pytest.mark.parametrize(
    ("optimizer", "expected"),
    [
        ("(tf.train.AdamOptimizer(0.1) if chosen() else tf.train.FtrlOptimizer(rate))", ["TMG341"]),
        ("tf.contrib.mixed_precision.LossScaleOptimizer(tf.train.AdamOptimizer(rate), m)", ["TMG341"]),
        ("tf.contrib.opt.AdamWOptimizer(1e-4, rate)", ["TMG341"]),
        ("tf.contrib.opt.AdamWOptimizer(rate, 0.1)", []),  # the weight decay
    ],
)
def test_each_optimizer_is_looked_at(optimizer: str, expected: list[str]) -> None:
    text = SCRIPT.format(rate="rate = 0.1 * batch_size / 256", argument="rate")
    text = text.replace("tf.train.MomentumOptimizer(rate, momentum=0.9)", optimizer)
    found = convert(from_bytes("train.py", text.encode()), Options(num_gpus=2)).diagnostics
    assert [finding.code for finding in found] == expected
