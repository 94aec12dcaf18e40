"""Loss objects of Keras that a graph calls on tensors."""

from __future__ import annotations

import pytest

from tests.scripts import INPUTS, STEP, TRAINING, codes, converted

LOSS = "error = tf.keras.losses.{made}\nloss = {use}\n"


@pytest.mark.parametrize(
    ("made", "use"),
    [
        ("MeanSquaredError()", "error(Y, tf.layers.dense(X, 1))"),
        ("MeanAbsoluteError(reduction='sum_over_batch_size')", "error(y_true=Y, y_pred=tf.layers.dense(X, 1))"),
        ("CategoricalCrossentropy()", "error(tf.nn.softmax(X), tf.layers.dense(X, 4, tf.nn.softmax))"),
        (
            "MeanSquaredError(reduction=tf.keras.losses.Reduction.NONE)",
            "tf.reduce_mean(error(Y, tf.layers.dense(X, 1)))",
        ),
    ],
)
def test_a_loss_object_gives_a_mean_over_the_examples(made: str, use: str) -> None:
    assert "tower_loss.append(loss * weight)" in converted(INPUTS + LOSS.format(made=made, use=use) + STEP + TRAINING)


@pytest.mark.parametrize(
    ("made", "found"),
    [
        ("MeanSquaredError(reduction='sum')", ["TMG301"]),
        ("MeanSquaredError(tf.keras.losses.Reduction.SUM)", ["TMG301"]),
        ("MeanSquaredError(**settings)", ["TMG302"]),
        ("MeanSquaredError(reduction=how)", ["TMG302"]),
    ],
)
def test_a_loss_object_that_sums_or_is_not_known(made: str, found: list[str]) -> None:
    script = (
        "from settings import how, settings\n" + INPUTS + LOSS.format(made=made, use="error(Y, tf.layers.dense(X, 1))")
    )
    assert codes(script + STEP + TRAINING) == found
