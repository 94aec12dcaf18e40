"""Objects of several classes of the script of which a flag chooses one: each has its own methods and attributes."""

from __future__ import annotations

import pytest

from tests.scripts import INPUTS, STEP, TRAINING, codes, converted, parts

SCRIPT = """\
import argparse
import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument('--mixed', type=int, default=0)
parser.add_argument('--other', type=int, default=0)
args = parser.parse_args()
batch_size = 8


class Rows(object):
    def __init__(self, width):
        self.axis = 1
        self.kept = []

    def {method}(self, given):
{rows}


class Mixed(object):
    def __init__(self, width):
        self.axis = 0
        self.kept = []

    def {method}(self, given):
{mixed}

    def beside(self, given):
        return tf.nn.softmax(given, 0)


x = tf.placeholder(tf.float32, [None, 3])
y = tf.placeholder(tf.float32, [None, 1])
out = tf.layers.dense(x, 1)
{chosen}
loss = tf.reduce_mean(tf.square({called} - y))
train_op = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {{x: images, y: labels}})
"""
BRANCHES = "if args.mixed:\n    layer = {}(4)\nelse:\n    layer = {}(4)"
SOFTMAX = "        return tf.nn.softmax(given, self.axis)"
OWN = {"rows": "        return tf.square(given)", "mixed": "        return tf.nn.softmax(given, 0)"}
KEEPS = {
    "rows": "        self.kept.append(given)\n        self.out = tf.square(given)\n        return self.out",
    "mixed": "        self.kept.append(given)\n        self.out = tf.nn.softmax(given, 0)\n        return self.out",
}
CHOSEN = [
    BRANCHES.format("Rows", "Mixed"),
    BRANCHES.format("Mixed", "Rows"),
    "layer = Rows(4) if args.mixed else Mixed(4)",
    "layer = (Mixed if args.mixed else Rows)(4)",
    "layer = {0: Rows, 1: Mixed}[args.mixed](4)",
]


def found(chosen: str, method: str = "__call__", called: str = "layer(out)", **bodies: str) -> list[str]:
    bodies = {"rows": SOFTMAX, "mixed": SOFTMAX, **bodies}
    return codes(SCRIPT.format(method=method, chosen=chosen, called=called, **bodies))


@pytest.mark.parametrize("chosen", CHOSEN)
@pytest.mark.parametrize("bodies", [OWN, KEEPS, {}])
def test_one_of_two_that_mixes_the_examples_is_seen(chosen: str, bodies: dict[str, str]) -> None:
    assert found(chosen, **bodies) == ["TMG302"]
    assert found(chosen, "make", "layer.make(out)", **bodies) == ["TMG302"]


@pytest.mark.parametrize("chosen", CHOSEN)
def test_each_reads_its_own_attributes(chosen: str) -> None:
    """`Rows` runs along axis 1 and `Mixed` does nothing: none of them mixes examples, whatever the other's axis is."""
    assert found(chosen, mixed="        return given * self.axis") == []


BRANCH = "if {}:\n    found = {}\nelse:\n    found = out"


@pytest.mark.parametrize(
    ("condition", "taken", "wanted"),
    [
        ("args.mixed", "layer(out)", ["TMG302"]),
        ("not args.mixed", "layer(out)", []),  # here it is Rows
        ("args.other", "layer(out)", ["TMG302"]),  # another flag
        ("args.mixed > 0", "layer(out)", ["TMG302"]),
        ("args.mixed", "layer.beside(out)", ["TMG302"]),
    ],
)
def test_the_object_is_that_of_the_branch(condition: str, taken: str, wanted: list[str]) -> None:
    for chosen in (BRANCHES.format("Mixed", "Rows"), "layer = Mixed(4) if args.mixed else Rows(4)"):
        assert found(f"{chosen}\n{BRANCH.format(condition, taken)}", called="found", **OWN) == wanted


def test_an_object_that_is_set_in_between_is_no_longer_chosen_by_the_flag() -> None:
    chosen = BRANCHES.format("Mixed", "Rows") + "\nlayer = Mixed(4)\n" + BRANCH.format("not args.mixed", "layer(out)")
    assert found(chosen, called="found", **OWN) == ["TMG302"]


def test_another_name_of_one_of_them_stays_that_one() -> None:
    chosen = "one = Mixed(4)\nlayer = one\nif not args.mixed:\n    layer = Rows(4)\n"
    assert found(chosen + BRANCH.format("not args.mixed", "one(out)"), called="found", **OWN) == ["TMG302"]


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ("        return tf.square(given) + self.helper()", []),
        ("        return tf.square(given) + len(self.kept)", []),
        ("        hand(self)\n        return given * self.axis", []),
    ],
)
def test_methods_of_methods(body: str, wanted: list[str]) -> None:
    more = "\n\n    def helper(self):\n        return 1.0"
    assert found(CHOSEN[0], rows=body + more, mixed=body + more) == wanted


def test_what_is_set_later_is_set_for_each() -> None:
    chosen = CHOSEN[0] + "\nlayer.axis = 0"
    assert found(chosen) == ["TMG302"] and found(chosen, mixed="        return given") == ["TMG302"]


HELD = """\
import sys


class Linear(object):
    def __init__(self):
        self.units = 3

    def logits(self):
        return tf.layers.dense(self.shown(), self.units)

    def shown(self):
        return self.images


class Rectified(Linear):
    def __init__(self):
        self.units = 5

    def logits(self):
        return tf.nn.relu(tf.layers.dense(self.images, self.units))


net = Linear() if len(sys.argv) > 1 else Rectified()
net.images = X
loss = tf.reduce_mean(tf.square(tf.reduce_sum(net.logits(), 1, keepdims=True) - Y))
"""


def test_an_input_that_the_object_is_given_is_its_own_in_each_tower() -> None:
    _, inside, _ = parts(INPUTS + HELD + STEP + TRAINING)
    assert any(line.startswith("(net.images, Y), rows, weight = shard(") for line in inside), inside


SIZED = """\
import sys


class Plain(object):
    def __init__(self, size):
        self.batch_size = size

    def build(self, x, y):
        self.out = self.net(x)
        self.loss = tf.reduce_mean(tf.square(self.out - y)) + self.penalty(x)
        self.train_op = tf.train.GradientDescentOptimizer(0.1).minimize(self.loss)

    def net(self, x):
        return tf.layers.dense(x, 1, name='out', reuse=tf.AUTO_REUSE)

    def penalty(self, x):
        noise = tf.random_uniform([self.batch_size, 1])
        return tf.reduce_mean(tf.square(self.net(x + noise)))


class Twice({base}):
    def __init__(self, size):
        self.batch_size = size

{build}    def net(self, x):
        return tf.layers.dense({given}, 1, name='out', reuse=tf.AUTO_REUSE)

    def penalty(self, x):
        noise = 2 * tf.random_uniform([self.batch_size, 1])
        return tf.reduce_mean(tf.abs(self.net(x + noise)))


net = Plain(batch_size) if len(sys.argv) > 1 else Twice(batch_size)
net.build(X, Y)
train_op = net.train_op
"""
BUILD = SIZED[SIZED.index("    def build") : SIZED.index("    def net")]


def test_a_method_of_one_class_calls_the_methods_of_that_class() -> None:
    text = converted(INPUTS + SIZED.format(base="object", build=BUILD, given="x") + TRAINING)
    assert text.count("self.batch_size = shard_size(") == 2, text


@pytest.mark.parametrize(
    ("base", "build"),
    [("object", BUILD), ("Plain", ""), ("Plain", "    def build(self, x, y):\n        super().build(x, y)\n\n")],
    ids=["its own", "of the base", "by the base's"],
)
def test_a_net_that_mixes_the_examples_is_seen_from_each_build(base: str, build: str) -> None:
    mixed = SIZED.format(base=base, build=build, given="tf.nn.softmax(x, 0)")
    assert codes(INPUTS + mixed + TRAINING) == ["TMG302"]


DERIVED = """\
if args.mixed:
    Base = {}
else:
    Base = {}


class Net(Base):
    def more(self, given):
        {}
"""
MORE = "return self.make(given) + self.axis"


@pytest.mark.parametrize(("method", "wanted"), [("make", ["TMG302"]), ("more", ["TMG302"])])
def test_a_class_whose_base_is_one_of_two(method: str, wanted: list[str]) -> None:
    for pair in (("Rows", "Mixed"), ("Mixed", "Rows")):
        chosen = DERIVED.format(*pair, MORE) + "\n\nlayer = Net(4)"
        assert found(chosen, "make", f"layer.{method}(out)", **OWN) == wanted
        assert found(chosen, "make", f"layer.{method}(out)", rows=OWN["rows"], mixed=OWN["rows"]) == []


def test_a_class_in_a_branch_has_the_base_of_that_branch() -> None:
    derived = DERIVED.format("Mixed", "Rows", MORE)
    chosen = derived + "\n\nlayer = Net(4)\nif args.mixed:\n    found = out\nelse:\n    found = layer.make(out)\n"
    assert found(chosen, "make", "found", **OWN) == ["TMG302"]  # a class of two is not told by the flag
