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


STEPS = "steps = tf.Variable(0, trainable=False)\n"
WEIGHT = "weight = tf.train.exponential_decay(1.0, {}, 100, 0.5)\n"
WEIGHTED = "loss = weight * tf.reduce_mean(tf.square(out - Y))\n"
COUNTED = "train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=steps)\n"


@pytest.mark.parametrize(
    ("count", "after", "found"),
    [
        ("steps * batch_size", "", []),
        ("batch_size * tf.to_float(steps)", "", []),
        ("steps * batch_size", "shown = weight\n", []),
        ("steps / batch_size", "shown = weight\n", ["TMG207"]),  # no number of examples
        ("steps * (batch_size + 1)", "shown = weight\n", ["TMG207"]),
        ("tf.Variable(0, trainable=False) * batch_size", "shown = weight\n", ["TMG207"]),  # what counts it is not known
        ("tf.placeholder(tf.float32, []) * batch_size", "shown = weight\n", ["TMG207"]),
    ],
)
def test_examples_counted_by_the_training_step(count: str, after: str, found: list[str]) -> None:
    text = INPUTS + STEPS + WEIGHT.format(count) + OUT + WEIGHTED + COUNTED + after + TRAINING
    assert [code for code in codes(text) if code == "TMG207"] == found


def test_a_count_of_examples_stays_in_front_of_the_towers() -> None:
    model = STEPS + WEIGHT.format("steps * batch_size") + OUT + WEIGHTED
    before, inside, _ = parts(INPUTS + model + COUNTED + TRAINING)
    assert any("steps * batch_size" in line for line in before)
    assert not any("batch_size" in line for line in inside)


def test_a_count_of_examples_inside_of_the_model() -> None:
    text = INPUTS + STEPS + OUT + WEIGHT.format("steps * batch_size") + WEIGHTED + COUNTED + TRAINING
    assert "TMG207" not in codes(text)  # it goes in front of the towers
    net = "def net(x):\n    out = tf.layers.dense(x, 1)\n" + "".join(
        f"    {line}" for line in (WEIGHT.format("steps * batch_size"), "return out * weight\n")
    )
    model = "out = net(X)\nloss = tf.reduce_mean(tf.square(out - Y))\n"
    assert "TMG207" in codes(INPUTS + STEPS + net + model + COUNTED + TRAINING)
