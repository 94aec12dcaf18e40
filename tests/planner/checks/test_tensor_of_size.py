"""Tensors that are made of the batch size: each tower makes its own, or the script is refused."""

from __future__ import annotations

import pytest

from tests.scripts import INPUTS, TRAINING, codes, parts

OUT = "out = tf.layers.dense(X, 1)\n"
LOSS = "loss = tf.reduce_sum(tf.square(out - Y)) / size\n"
STEP = "train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)\n"


@pytest.mark.parametrize(
    "made",
    [
        "tf.cast(batch_size, tf.float32)",
        "tf.constant(batch_size, tf.float32)",
        "1.0 / (1.0 / tf.to_float(batch_size))",
        "tf.constant([batch_size], tf.float32)[0]",
    ],
)
@pytest.mark.parametrize("above", [True, False], ids=["above the model", "in it"])
def test_towers_make_their_own(made: str, above: bool) -> None:
    size = f"size = {made}\n"
    _, inside, _ = parts(INPUTS + (size + OUT if above else OUT + size) + LOSS + STEP + TRAINING)
    assert [line for line in inside if line.startswith("batch_size = shard_size(")]
    assert size.strip() in inside


@pytest.mark.parametrize(
    ("made", "found"),
    [
        ("tf.placeholder_with_default(float(batch_size), [])", ["TMG207"]),
        ("tf.Variable(float(batch_size), trainable=False)", ["TMG224"]),
        ("tf.placeholder_with_default(2.0, [])", []),
        ("tf.Variable(2.0, trainable=False)", []),
        ("tf.constant(2.0)", []),
        ("batch_size", []),
    ],
)
def test_what_is_the_same_in_all_towers(made: str, found: list[str]) -> None:
    text = INPUTS + f"size = {made}\n" + OUT + LOSS + STEP + TRAINING
    assert [code for code in codes(text) if code in ("TMG207", "TMG224")] == found


@pytest.mark.parametrize(
    ("after", "found"),
    [
        ("shown = loss / size\n", ["TMG207"]),
        ("shown = tf.reduce_mean(out) * (size + 1.0)\n", ["TMG207"]),
        ("shown = loss / batch_size\n", []),
    ],
)
def test_what_is_read_after_the_towers_is_of_the_whole_batch(after: str, found: list[str]) -> None:
    text = INPUTS + OUT + "size = tf.cast(batch_size, tf.float32)\n" + LOSS + STEP + after + TRAINING
    assert [code for code in codes(text) if code == "TMG207"] == found
