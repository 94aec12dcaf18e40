"""A batch size that counts the turns of the training loop, and not the rows that each turn feeds."""

from __future__ import annotations

import pytest

from tests.scripts import INPUTS, MODEL, STEP, codes, converted

TRAINING = """\
import numpy as np

rows, labels = np.random.rand(64, 4), np.random.rand(64, 1)
{before}with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in {over}:
        {made}
        sess.run(train_op, {{X: rows[part], Y: labels[part]}})
"""
EIGHT = "part = slice(i * 8, (i + 1) * 8)"


def _script(over: str, made: str, before: str = "") -> str:
    return INPUTS + MODEL + STEP + TRAINING.format(over=over, made=made, before=before)


@pytest.mark.parametrize(
    ("over", "made", "before"),
    [
        ("range(batch_size)", EIGHT, ""),
        ("range(batch_size)", EIGHT.replace("8", "32"), ""),
        ("range(len(rows) // batch_size)", EIGHT, ""),
        ("range(0, 64, batch_size)", "part = slice(i, i + 8)", ""),
        ("range(0, 8 * batch_size, 8)", "part = slice(i, i + 8)", ""),
        ("range(batch_size)", EIGHT.replace("8", "count"), "count = len(rows) // batch_size\n"),
    ],
)
def test_the_rows_of_a_turn_are_another_number(over: str, made: str, before: str) -> None:
    """So it is not scaled: the total of a step stays as it is."""
    text = _script(over, made, before)
    assert codes(text) == ["TMG303"]
    assert "\nbatch_size = 32\n" in converted(text)


@pytest.mark.parametrize(
    ("over", "made", "before"),
    [
        ("range(64 // batch_size)", EIGHT.replace("8", "batch_size"), ""),
        ("range(0, 64, batch_size)", "part = slice(i, i + batch_size)", ""),
        ("range(0, 64, batch_size)", "part = slice(i, min(i + batch_size, len(rows)))", ""),
        ("range(0, 64, batch_size)", "part = np.arange(i, i + batch_size)", ""),
        ("range(64 // batch_size)", "part = np.random.permutation(64)[:batch_size]", ""),
        ("range(64 // batch_size)", EIGHT.replace("8", "count"), "count = batch_size\n"),
        ("range(64 // batch_size)", EIGHT.replace("8", "count"), "count = 2 * batch_size\n"),
        ("range(64 // batch_size)", EIGHT.replace("8", "count"), "count = batch_size // 2\n"),
    ],
)
def test_the_rows_of_a_turn_are_the_batch_size(over: str, made: str, before: str) -> None:
    text = _script(over, made, before)
    assert codes(text) == []
    assert "\nbatch_size = 32 * num_gpus\n" in converted(text)


PLACE = "part = slice(place * batch_size, (place + 1) * batch_size)"


@pytest.mark.parametrize(
    ("place", "found"),
    [
        ("i % int(rows.shape[0] / batch_size)", []),
        ("i % (load().shape[0] // batch_size)", []),
        ("i % count()", []),
        ("i % int(rows.shape[0] / 8)", []),
    ],
)
def test_a_place_in_the_data_that_begins_again_at_its_end(place: str, found: list[str]) -> None:
    """The rows behind a place are a batch, whatever the place is computed from: it is no setting of the script."""
    text = _script("range(300)", f"place = {place}\n        {PLACE}")
    assert codes(text) == found
    assert "\nbatch_size = 32 * num_gpus\n" in converted(text)
