"""What can be read once, and is made before the towers: each tower reads an iterator of its own."""

from __future__ import annotations

import pytest

from tests.scripts import INPUTS, STEP, TRAINING, codes, converted, parts

LOSS = "loss = tf.reduce_mean(tf.square(h - Y))\n"
BEFORE, INSIDE = 0, 1
LAYERS = "h = X\nfor size in sizes:\n    h = tf.layers.dense(h, size)\n"
CLASS = """\
class Model(object):
    def __init__(self, x, sizes):
        self.sizes = sizes
        self.x = x

    def build(self):
        h = self.x
        for size in self.sizes:
            h = tf.layers.dense(h, size)
        return h


model = Model(X, map(int, '8,1'.split(',')))
"""
IN_INIT = """\
class Model(object):
    def __init__(self, sizes):
        self.x = tf.placeholder(tf.float32, [None, 4])
        self.y = tf.placeholder(tf.float32, [None, 1])
        h = self.x
        for size in sizes:
            h = tf.layers.dense(h, size)
        self.loss = tf.reduce_mean(tf.square(h - self.y))
        self.train_op = tf.train.GradientDescentOptimizer(0.1).minimize(self.loss)


model = Model(map(int, read_sizes()))
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(10):
        sess.run(model.train_op, {model.x: np.ones((32, 4)), model.y: np.ones((32, 1))})
"""


def script(before: str, model: str) -> str:
    return INPUTS + before + model + LOSS + STEP + TRAINING


@pytest.mark.parametrize(
    ("before", "model"),
    [
        ("sizes = map(int, '8,1'.split(','))\n", LAYERS),
        ("sizes = map(int, read_sizes())\n", LAYERS),
        ("sizes = filter(None, read_sizes())\n", LAYERS),
        ("sizes = reversed([1, 8])\n", LAYERS),
        ("sizes = (2 ** n for n in (3, 0))\n", LAYERS),
        ("sizes = iter([8, 1])\n", "h = tf.layers.dense(tf.layers.dense(X, next(sizes)), next(sizes))\n"),
        ("sizes = zip([8, 1], ['a', 'b'])\n", LAYERS.replace("in sizes", "in dict(sizes)")),
    ],
)
def test_each_tower_reads_its_own(before: str, model: str) -> None:
    text = parts(script(before, model))
    assert any("list(sizes)" in line for line in text[BEFORE])
    assert "sizes = iter(first_sizes)" in text[INSIDE]


def test_an_attribute() -> None:
    text = parts(script(CLASS, "h = model.build()\n"))
    assert any("list(model.sizes)" in line for line in text[BEFORE])
    assert "model.sizes = iter(first_sizes)" in text[INSIDE]


def test_an_argument_of_the_function_that_holds_the_loop() -> None:
    assert "sizes = iter(first_sizes)" in converted("import numpy as np\nimport tensorflow as tf\n\n\n" + IN_INIT)


KEPT_IN_A_CLOSURE = """\
def keep(sizes):
    def build(x):
        for size in sizes:
            x = tf.layers.dense(x, size)
        return x
    return build


build = keep(map(int, ['8', '1']))
"""


def test_a_place_that_has_no_name_where_the_loop_stands() -> None:
    assert codes(script(KEPT_IN_A_CLOSURE, "h = build(X)\n")) == ["TMG231"]


@pytest.mark.parametrize(
    ("before", "model"),
    [
        ("sizes = list(map(int, '8,1'.split(',')))\n", LAYERS),
        ("sizes = tuple(2 ** n for n in (3, 0))\n", LAYERS),
        ("sizes = [2 ** n for n in (3, 0)]\n", LAYERS),
        ("sizes = sorted([8, 1])[::-1]\n", LAYERS),
        ("", LAYERS.replace("in sizes", "in map(int, ['8', '1'])")),
        ("first, second = map(int, ['8', '1'])\n", "h = tf.layers.dense(tf.layers.dense(X, first), second)\n"),
        ("sizes = map(int, ['8', '1'])\n", "h = tf.layers.dense(tf.layers.dense(X, sizes[0]), sizes[1])\n"),
        ("sizes = map(int, ['8', '1'])\n", "h = X\nfor n in range(len(sizes)):\n    h = tf.layers.dense(h, 1)\n"),
    ],
)
def test_what_can_be_read_again_stays(before: str, model: str) -> None:
    assert "iter(" not in parts(script(before, model))[INSIDE]
