"""Dicts that are filled under names which only a run tells, as where a file of settings is read."""

from __future__ import annotations

import pytest

from tests.scripts import INPUTS, MODEL, TRAINING, codes

STEP = """\
settings = {start}
{fill}
optimizer = None
if settings.get('optimizer'{default}) == 'Adam':
    optimizer = tf.train.AdamOptimizer(0.1)
elif settings.get('optimizer'{default}) == 'SGD':
    optimizer = tf.train.GradientDescentOptimizer(0.1)
train_op = optimizer.minimize(loss)
"""
FILE = "for line in open('settings.txt'):\n    settings[line.split('=')[0]] = line.split('=')[1]"


def found(start: str, fill: str, default: str = "") -> list[str]:
    return codes(INPUTS + MODEL + STEP.format(start=start, fill=fill, default=default) + TRAINING)


@pytest.mark.parametrize("default", ["", ", 'none'"])
@pytest.mark.parametrize("fill", [FILE, "settings[tf.VERSION] = 'Adam'", "settings[name] = 'SGD'"])
def test_a_name_that_is_read_may_be_one_of_those(fill: str, default: str) -> None:
    assert found("{}", fill, default) == []


@pytest.mark.parametrize("default", ["", ", 'none'"])
@pytest.mark.parametrize(
    "fill",
    [
        "pass",
        "settings['rate'] = str(batch_size)",
        "settings[X] = 'Adam'",  # a dict of feeds
        "other = {}\n" + FILE.replace("settings[", "other["),
    ],
)
def test_nothing_trains_where_no_name_can_be_that_one(fill: str, default: str) -> None:
    assert found("{}", fill, default) == ["TMG201"]
