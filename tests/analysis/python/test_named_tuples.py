"""Which named tuple a value is one of."""

from __future__ import annotations

import pytest

from tests.scripts import INPUTS, STEP, TRAINING, codes

LAYERS = """\
import collections
Dense = collections.namedtuple('Dense', 'units')
Wide = collections.namedtuple('Wide', ['units', 'rate'])


class Deep(collections.namedtuple('Deep', 'units')):
    pass


def net(x, layers):
    points = {{}}
    for number, layer in enumerate(layers):
        if isinstance(layer, {first}):
            x = tf.layers.dense(x, layer.units)
            points['dense_%d' % number] = x
        elif isinstance(layer, {second}):
            x = tf.layers.dense(x, layer.units) * 2.0
            points['wide_%d' % number] = x
    return x, points


out, points = net(X, {layers})
loss = tf.reduce_mean(tf.square(out - Y))
"""
KNOWN = "[Dense(4), Wide(units=4, rate=0.5), Dense(1)]"


def script(layers: str, first: str = "Dense", second: str = "Wide", read: str = "points['dense_0']") -> str:
    model = LAYERS.format(layers=layers, first=first, second=second)
    return INPUTS + model + f"shown = tf.add_n([{read}])\n" + STEP + TRAINING + "        save(sess.run(shown))\n"


@pytest.mark.parametrize(
    ("layers", "first", "second", "read"),
    [
        (KNOWN, "Dense", "Wide", "points['wide_1']"),
        (KNOWN, "(Deep, Dense)", "Wide", "points['dense_2']"),
        ("[Deep(4), Wide(4, 0.5)]", "Deep", "Wide", "points['dense_0']"),
        ("[Dense(4)._replace(units=1)]", "Dense", "Wide", "points['dense_0']"),
        ("[Dense._make([1])]", "Dense", "Wide", "points['dense_0']"),
    ],
)
def test_only_the_branch_of_its_class_is_taken(layers: str, first: str, second: str, read: str) -> None:
    assert codes(script(layers, first, second, read)) == []


@pytest.mark.parametrize(
    ("layers", "first", "second"),
    [
        (KNOWN, "(Wide, Deep)", "kinds()"),
        ("[Dense(4) if flag() else Wide(4, 0.5)]", "Dense", "Wide"),
        ("[load()]", "Dense", "Wide"),
    ],
)
def test_what_is_not_known_may_be_of_either(layers: str, first: str, second: str) -> None:
    found = codes(script(layers, first, second))
    assert "TMG210" in found or "TMG208" in found or "TMG241" in found or "TMG209" in found
