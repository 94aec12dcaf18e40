"""Tuples that the towers read: nothing can be assigned to their items, so each is made anew."""

from __future__ import annotations

import ast

import pytest

from tests.scripts import INPUTS, STEP, TRAINING, codes, converted, parts

BEFORE, INSIDE, AFTER = 0, 1, 2
HPS = "from collections import namedtuple\nHps = namedtuple('Hps', 'batch_size width')\n"
LOSS = "loss = tf.reduce_mean(tf.square(tf.layers.dense(X + tf.zeros({shape}), 1) - Y))\n"
NET = """\
class Net(object):
    def __init__(self, hps, x, y):
        self.hps, self.x, self.y = hps, x, y
        self.build()

    def noise(self):
        return tf.random_normal([self.hps.batch_size, 4])

    def build(self):
        hps = self.hps
        hidden = tf.layers.dense(self.x + self.noise() + tf.ones([hps.batch_size, 4]), 1)
        self.loss = tf.reduce_mean(tf.square(hidden - self.y))


net = Net(Hps(batch_size, 4), X, Y)
train_op = tf.train.AdamOptimizer(0.1).minimize(net.loss)
"""

PAIR = """\
class Net(object):
    def __init__(self, pair, y):
        self.pair, self.y = pair, y
        self.build()

    def hidden(self):
        return tf.layers.dense(self.pair.x, 4)

    def build(self):
        pair = self.pair
        hidden = tf.layers.dense(self.hidden() + pair.x, 1)
        self.loss = tf.reduce_mean(tf.square(hidden - self.y))


Pair = namedtuple('Pair', 'x width')
net = Net(Pair(X, 4), Y)
train_op = tf.train.AdamOptimizer(0.1).minimize(net.loss)
"""


@pytest.mark.parametrize(
    ("sizes", "shape", "inside"),
    [
        (
            "(batch_size, 4)",
            "[sizes[0], 4]",
            ["sizes_0 = shard_size(sizes_batch[0], gpu)", "sizes = (sizes_0, sizes[1])"],
        ),
        (
            "(4, batch_size)",
            "[sizes[1], sizes[0]]",
            ["sizes_1 = shard_size(sizes_batch[1], gpu)", "sizes = (sizes[0], sizes_1)"],
        ),
        (
            "Hps(batch_size, 4)",
            "[sizes.batch_size, sizes.width]",
            [
                "tower_batch_size = shard_size(sizes_batch.batch_size, gpu)",
                "sizes = sizes_batch._replace(batch_size=tower_batch_size)",
            ],
        ),
        (
            "Hps(batch_size, 4)",
            "[sizes[0], 4]",
            ["sizes_0 = shard_size(sizes_batch.batch_size, gpu)", "sizes = sizes_batch._replace(batch_size=sizes_0)"],
        ),
        ("[batch_size, 4]", "[sizes[0], 4]", ["sizes[0] = shard_size(global_sizes_0, gpu)"]),
    ],
    ids=["tuple", "second", "named tuple", "by its place", "a list can be assigned to"],
)
def test_batch_sizes_in_tuples(sizes: str, shape: str, inside: list[str]) -> None:
    text = HPS + INPUTS + f"sizes = {sizes}\n" + LOSS.format(shape=shape) + STEP + TRAINING
    found = parts(text)
    assert [line for line in found[INSIDE] if "sizes" in line][: len(inside)] == inside
    assert any(line.startswith("X, Y, sizes") for line in found[AFTER])
    ast.parse(converted(text))


def test_a_tuple_is_made_anew_under_every_name_that_the_towers_read_it_by() -> None:
    found = parts(HPS + INPUTS + NET + TRAINING)
    assert "hps = hps_batch._replace(batch_size=tower_batch_size)" in found[INSIDE]
    assert "self.hps = all_hps._replace(batch_size=tower_batch_size)" in found[INSIDE]
    assert "self.x, self.y, hps, self.hps = x_batch, y_batch, hps_batch, all_hps" in found[AFTER]


def test_inputs_in_a_tuple_are_cut_under_every_name_too() -> None:
    found = parts(HPS + INPUTS + PAIR + TRAINING)
    assert "pair = pair_batch._replace(x=x)" in found[INSIDE]
    assert "self.pair = all_pair._replace(x=x)" in found[INSIDE]


TYPED = "from typing import NamedTuple\n"
FIELDS = "    batch_size: int\n    width: int = 4\n"


@pytest.mark.parametrize(
    "made",
    [
        f"class Hps(NamedTuple):\n{FIELDS}",
        f"class Hps(typing.NamedTuple):\n{FIELDS}\n    def half(self):\n        return self.width // 2\n",
        f"class Base(NamedTuple):\n{FIELDS}class Hps(Base):\n    pass\n",
        "Hps = NamedTuple('Hps', [('batch_size', int), ('width', int)])\n",
        "Hps = NamedTuple(typename='Hps', fields=[('batch_size', int), ('width', int)])\n",
    ],
    ids=["class", "by its module", "derived", "function", "keywords"],
)
def test_named_tuples_with_types(made: str) -> None:
    loss = LOSS.format(shape="[sizes.batch_size, sizes.width]")
    text = "import typing\n" + TYPED + made + INPUTS + "sizes = Hps(batch_size, 4)\n" + loss + STEP + TRAINING
    assert "sizes = sizes_batch._replace(batch_size=tower_batch_size)" in parts(text)[INSIDE]


@pytest.mark.parametrize("read", ["sizes.batch_size", "inputs.x"])
@pytest.mark.parametrize(
    ("decorator", "expected"),
    [
        ("@dataclasses.dataclass(frozen=True)", ["TMG205"]),
        ("@dataclass(eq=True, frozen=True)", ["TMG205"]),
        ("@dataclass(frozen=False)", []),
        ("@dataclass", []),
    ],
)
def test_nothing_is_assigned_to_a_frozen_object(read: str, decorator: str, expected: list[str]) -> None:
    made = f"import dataclasses\nfrom dataclasses import dataclass\n{decorator}\nclass Made:\n"
    size = (
        made
        + "    batch_size: int\n"
        + INPUTS
        + "sizes = Made(batch_size)\n"
        + LOSS.format(shape="[sizes.batch_size, 4]")
    )
    data = (
        made
        + "    x: tf.Tensor\n"
        + INPUTS
        + "inputs = Made(X)\n"
        + LOSS.format(shape="[4]").replace("X +", "inputs.x +")
    )
    assert codes((size if read.startswith("sizes") else data) + STEP + TRAINING) == expected


def test_a_function_reads_a_tuple_of_the_module() -> None:
    model = "def net():\n    return tf.layers.dense(X + tf.zeros([hps.batch_size, hps.width]), 1)\n\n\n"
    loss = "loss = tf.reduce_mean(tf.square(net() - Y))\n"
    text = HPS + INPUTS + "hps = Hps(batch_size, 4)\n" + model + loss + STEP + TRAINING
    assert "hps = hps_batch._replace(batch_size=tower_batch_size)" in parts(text)[INSIDE]
    body = "".join(f"    {line}\n" for line in (loss + STEP + TRAINING).splitlines())
    inner = HPS + INPUTS + "hps = Hps(batch_size, 4)\n" + model + f"def main():\n{body}\n\nmain()\n"
    assert "global X, Y, hps" in converted(inner) and codes(inner) == []


def test_a_tuple_of_unknown_length_is_not_made_anew() -> None:
    text = INPUTS + "sizes = tuple(batch_size for _ in load())\n" + LOSS.format(shape="[sizes[0], 4]") + STEP + TRAINING
    assert codes(text) == ["TMG205"]
