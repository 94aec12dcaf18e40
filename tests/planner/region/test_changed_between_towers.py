"""What one tower would hand on to the next: it is set back, made anew, or the script is refused."""

from __future__ import annotations

import ast

import pytest

from tests.scripts import BELOW, INPUTS, STEP, TRAINING, codes, converted, parts

LOSS = "loss = tf.reduce_mean(tf.square(h - Y))\n"
BEFORE, INSIDE, AFTER = 0, 1, 2


def script(before: str, model: str) -> str:
    return INPUTS + before + model + LOSS + STEP + TRAINING


COUNTER = """\
count = 0


def layer(x):
    global count
    count += 1
    return tf.layers.dense(x, 1, name='layer%d' % count)


"""
NAMER = """\
class Namer(object):
    def __init__(self):
        self.count = 0

    def next(self):
        self.count += 1
        return 'layer%d' % self.count


namer = Namer()


def layer(x):
    return tf.layers.dense(x, 1, name=namer.next())


"""
GROWING = """\
made = []
rate = 0.1


def layer(x):
    made.append(tf.layers.dense(x, 1))
    return made[-1]


"""
CACHE = """\
cache = {}
rate = 0.1


def layer(x):
    if 'layer' not in cache:
        cache['layer'] = tf.layers.dense(x, 1)
    return cache['layer']


"""
LAZY = """\
class Net(object):
    def output(self, x):
        if not hasattr(self, 'made'):
            self.made = tf.layers.dense(x, 1)
        return self.made


net = Net()
layer = net.output
"""
NONE_FIRST = LAZY.replace("class Net(object):\n", "class Net(object):\n    made = None\n\n").replace(
    "not hasattr(self, 'made')", "self.made is None"
)

COUNTED_BY_CLASS = """\
class Namer(object):
    count = 0

    def layer(self, x):
        self.count += 1
        return tf.layers.dense(x, 1, name='layer%d' % self.count)


namer = Namer()
layer = namer.layer
"""


@pytest.mark.parametrize(
    ("before", "saved", "reset"),
    [
        (COUNTER, "first_count", ["count = first_count"]),
        (NAMER, "first_count", ["namer.count = first_count"]),
        (GROWING, "list(made)", ["made[:] = first_made"]),
        (CACHE, "cache.copy()", ["cache.clear()", "cache.update(first_cache)"]),
        (LAZY, "", ["net.__dict__.pop('made', None)  # each tower makes its own"]),
        (NONE_FIRST, "", ["net.__dict__.pop('made', None)  # each tower makes its own"]),
        (COUNTED_BY_CLASS, "", ["namer.__dict__.pop('count', None)  # each tower makes its own"]),
    ],
    ids=["global", "attribute", "list", "dict", "attribute that is not there", "the class's at first", "counted"],
)
def test_state_of_python_is_set_back(before: str, saved: str, reset: list[str]) -> None:
    text = script(before, "h = layer(X)\n")
    found = parts(text)
    before = found[INSIDE][: found[INSIDE].index("h = layer(X)")]
    assert before[before.index(reset[0]) :][: len(reset)] == reset
    assert any(saved in line for line in found[BEFORE])
    ast.parse(converted(text))


@pytest.mark.parametrize(
    ("before", "model"),
    [
        ("", "h = layer(X)\n"),
        ("count = 0\n", "h = tf.layers.dense(X, 1, name='layer%d' % count)\n"),
        ("", "count = 0\nfor _ in range(2):\n    count += 1\nh = tf.layers.dense(X, count - 1)\n"),
        ("made = [1]\n", "h = tf.layers.dense(X, made[0])\n"),
        ("sizes = {'h': 1}\n", "h = tf.layers.dense(X, sizes['h'] if 'h' in sizes else 2)\n"),
        ("class Net(object):\n    size = 1\n\n\nnet = Net()\n", "h = tf.layers.dense(X, net.size)\n"),
        ("class Net(object):\n    pass\n\n\nnet = Net()\n", "net.h = tf.layers.dense(X, 1)\nh = net.h\n"),
        ("", "made = []\nmade.append(tf.layers.dense(X, 1))\nh = made[-1]\n"),
    ],
    ids=[
        "locals",
        "read only",
        "made inside",
        "list that stays",
        "dict that stays",
        "the class's, which stays",
        "written first",
        "list inside",
    ],
)
def test_what_no_tower_hands_on_stays(before: str, model: str) -> None:
    layer = "def layer(x):\n    n = 0\n    n += 1\n    return tf.layers.dense(x, n)\n\n\n"
    found = parts(script(layer + before, model))
    lines = [line.strip() for line in model.splitlines()]
    lines = lines[lines.index("h = tf.layers.dense(X, count - 1)") if "count - 1" in model else 0 :]
    above = next(i for i, line in enumerate(found[INSIDE]) if " = shard(" in line)
    assert found[BEFORE][found[BEFORE].index("X_batch, Y_batch = X, Y") + 1] == "tower_loss, tower_grads = [], []"
    assert found[INSIDE][above + 1 :] == [*lines, LOSS.strip(), *BELOW]


@pytest.mark.parametrize(
    ("before", "model", "place"),
    [
        ("", "total = 0.0\nh = tf.layers.dense(X, 1)\ntotal += h\nh = total\n", INSIDE),
        ("", "h = tf.layers.dense(X, 1)\ntotal = 0.0\ntotal += h\nh = total\n", INSIDE),
        ("total = 0.0\nrate = 0.1\n", "h = tf.layers.dense(X, 1)\ntotal += h\nh = total\n", BEFORE),
        ("total = 0.0\n", "h = tf.layers.dense(X, 1)\nh = h + total\n", BEFORE),
    ],
    ids=["right before", "among", "far before", "not changed"],
)
def test_a_plain_first_value(before: str, model: str, place: int) -> None:
    lines = [(index, line) for index, part in enumerate(parts(script(before, model))) for line in part]
    assert [index for index, line in lines if line == "total = 0.0"] == [place]


def test_a_value_far_before_is_set_back() -> None:
    inside = parts(script("total = 0.0\nrate = 0.1\n", "h = tf.layers.dense(X, 1)\ntotal += h\nh = total\n"))[INSIDE]
    assert "total = first_total" in inside


FAR = "import sys\ntotal = 0.0\nrate = 0.1\n"
FIRST = "h = tf.layers.dense(X, 1)\n"
MAYBE = "    total = tf.reduce_mean(h)\n"
GOES_ON = "total = total + h\nh = total\n"


@pytest.mark.parametrize(
    "model",
    [
        "if sys.argv[1:]:\n" + MAYBE + GOES_ON,
        "if sys.argv[1:]:\n" + MAYBE + "elif rate:\n    total = 2 * h\n" + GOES_ON,
        "if rate > 1:\n" + MAYBE + "else:\n    total += h\nh = total\n",
        "if sys.argv[1:]:\n" + MAYBE + "else:\n    total += h\nh = total\n",
        "for name in sys.argv[1:]:\n" + MAYBE + GOES_ON,
        "while sys.argv[1:]:\n" + MAYBE + "    sys.argv.pop()\n" + GOES_ON,
        "try:\n    open('weights')\n" + MAYBE + "except IOError:\n    pass\n" + GOES_ON,
        "if sys.argv[1:]:\n" + MAYBE + "total *= 2\nh = h + total\n",
    ],
)
def test_what_a_branch_or_a_loop_may_not_have_written_is_set_back(model: str) -> None:
    """Without the option the second tower would go on with what the first one has left."""
    assert "total = first_total" in parts(script(FAR, FIRST + model))[INSIDE]


@pytest.mark.parametrize(
    "model",
    [
        "total = tf.reduce_mean(h)\n" + GOES_ON,
        "if sys.argv[1:]:\n" + MAYBE + "else:\n    total = 2 * h\n" + GOES_ON,
        "if sys.argv[1:]:\n" + MAYBE + "h = h + total\n",  # the same branch in each tower
        "for name in sys.argv[1:]:\n" + MAYBE + "    total = total + h\nh = h + 1\n",
        "if sys.argv[1:]:\n" + MAYBE + "    total = total + h\n    h = total\n",
    ],
)
def test_what_is_always_written_first_is_not_set_back(model: str) -> None:
    assert "total = first_total" not in parts(script(FAR, FIRST + model))[INSIDE]


@pytest.mark.parametrize(
    ("before", "found"),
    [
        (
            "def numbered():\n    n = 0\n\n    def layer(x):\n        nonlocal n\n        n += 1\n"
            "        return tf.layers.dense(x, n)\n\n    return layer\n\n\nlayer = numbered()\n",
            ["TMG231"],
        ),
        (
            "def numbered():\n    n = 1\n\n    def layer(x):\n        return tf.layers.dense(x, n)\n\n"
            "    return layer\n\n\nlayer = numbered()\n",
            [],
        ),
    ],
    ids=["changed", "read"],
)
def test_what_the_loop_cannot_reach(before: str, found: list[str]) -> None:
    assert codes(script(before, "h = layer(X)\n")) == found


REPLACED = (
    "parts = []\n{between}parts.append(tf.layers.dense(X, 3))\nparts = tf.concat(parts, 1)\n"
    "h = tf.layers.dense(parts, 1)\n"
)


@pytest.mark.parametrize(
    "between",
    [
        "",
        "words = tf.get_variable('words', [10, 4])\n",
        "rate = tf.placeholder(tf.float32, [])\nscale = rate * 2\n",
    ],
)
def test_a_list_that_is_replaced_by_what_it_held_is_made_anew(between: str) -> None:
    before, inside, _ = parts(script("", REPLACED.format(between=between)))
    assert inside.count("parts = []") == 1 and "parts = []" not in before


@pytest.mark.parametrize(
    "between",
    [
        "words = tf.get_variable('words', [10, 4])\nprint(parts)\n",
        "parts.append(tf.ones([1, 3]))\nwords = tf.get_variable('words', [10, 4])\n",
    ],
)
def test_a_list_that_is_used_in_between_is_refused(between: str) -> None:
    assert codes(script("", REPLACED.format(between=between))) == ["TMG231"]
