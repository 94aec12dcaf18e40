"""The batch size is found where the rows of what is fed are counted by a number without a name."""

from __future__ import annotations

import pytest

from tests.scripts import body, codes

GRAPH = """\
import random

import numpy as np
import tensorflow as tf

X = tf.placeholder(tf.float32, [None, 4])
Y = tf.placeholder(tf.float32, [None, 1])
loss = tf.reduce_mean(tf.square(tf.layers.dense(X, 1) - Y))
train_op = tf.train.AdamOptimizer(0.01).minimize(loss)
data, rng = np.load('data.npy'), np.random.RandomState(0)
"""
SESSION = """\
sess = tf.Session()
for step in range(100):
{}    sess.run(train_op, {{X: x, Y: y}})
"""
FLOW = """\
def flow(a, b, n):
    while True:
        for i in range(0, len(a), n):
            yield a[i:i + n], b[i:i + n]


"""


def script(*lines: str, above: str = "") -> str:
    return GRAPH + above + SESSION.format("".join(f"    {line}\n" for line in lines))


def scaled(text: str) -> list[str]:
    return [line.strip() for line in body(text) if "num_gpus" in line and "for gpu in" not in line]


APPENDED = (
    "x, y = [], []",
    "for j in range({}):",
    "    row = data[rng.randint(9)]",
    "    x.append(row[:4])",
    "    y.append(row[4:])",
)


@pytest.mark.parametrize(
    ("lines", "above", "at"),
    [
        (("x, y = np.random.rand({}, 4), np.random.rand({}, 1)",), "", 0),
        (("x = rng.randint(0, 50, ({}, 4))", "y = x.sum(1, keepdims=True)"), "", 0),
        (("x = rng.normal(size=[{}, 4])", "y = np.zeros(({}, 1))"), "", (0, 1)),
        (("rows = rng.choice(100, {})", "x, y = data[rows, :4], data[rows, 4:]"), "", 0),
        (("rows = np.random.permutation(100)[:n]", "x, y = data[rows, :4], data[rows, 4:]"), "n = {}\n", "n = {}"),
        (("b = np.array([random.random() for _ in range({})])", "x, y = b[:, :4], b[:, 4:]"), "", 0),
        (("b = random.sample(list(data), {})", "x, y = [r[:4] for r in b], np.array([r[4:] for r in b])"), "", 0),
        (APPENDED, "", 1),
        ((*APPENDED, "y = np.array(y).reshape({}, 1)"), "", (1, 5)),
        (
            ("x, y = next(batches)",),
            FLOW + "batches = flow(data[:, :4], data[:, 4:], {})\n",
            "batches = flow(data[:, :4], data[:, 4:], {})",
        ),
        (
            ("x, y = next(batches)",),
            FLOW.replace("n)", "n=64)", 1) + "batches = flow(data, data, n={})\n",
            "batches = flow(data, data, n={})",
        ),
        (("for x, y in flow(data, data, {}):", "    print(x)"), FLOW, 0),
        (("start = n * step % 90", "end = start + n", "x, y = data[start:end], data[start:end]"), "n = {}\n", "n = {}"),
        (("x, y = data[step * n:(step + 1) * n], data[n * step:n * step + n]",), "n = {}\n", "n = {}"),
    ],
)
def test_rows_that_are_made_in_each_step(lines: tuple[str, ...], above: str, at: object) -> None:
    found = [lines[i] for i in (at if isinstance(at, tuple) else (at,))] if not isinstance(at, str) else [at]
    expected = [line.replace("{}", "16 * num_gpus").strip() for line in found]
    assert scaled(script(*(line.replace("{}", "16") for line in lines), above=above.replace("{}", "16"))) == expected


@pytest.mark.parametrize(
    ("lines", "above", "code"),
    [
        (("x, y = a, b",), "a, b = np.random.rand(16, 4), np.random.rand(16, 1)\n", "TMG304"),  # a whole data set
        (("x, y = data[step * 16:(step + 1) * 16], data[step * 16:(step + 1) * 16]",), "", "TMG303"),
        (("x = np.random.rand(16, 4)", "y = np.load('y.npy')"), "", "TMG303"),  # y keeps its rows
        (("x, y = np.random.rand(16, 4), np.zeros((16, 1))", "y[np.arange(16)] = 1"), "", "TMG303"),
        (("x, y = np.random.rand(16, 4), np.zeros((16, 1))", "assert len(x) == 16"), "", "TMG303"),
        (
            (
                "x, y = [], []",
                "for j in range(16):",
                "    if data[j, 0] > 0:",
                "        x.append(data[j, :4])",
                "        y.append(data[j, 4:])",
            ),
            "",
            "TMG303",
        ),
        (("x, y = np.random.rand(len(data), 4), np.random.rand(len(data), 1)",), "", "TMG303"),
    ],
)
def test_numbers_that_may_not_be_all(lines: tuple[str, ...], above: str, code: str) -> None:
    assert codes(script(*lines, above=above)) == [code]


def test_a_list_that_is_fed_while_it_grows() -> None:
    lines = (
        "x, y = [], []",
        "for row in [rng.rand(5) for _ in range(99)]:",
        "    x.append(row[:4])",
        "    y.append(row[4:])",
        "    if len(x) == 16: sess.run(train_op, {X: x, Y: y})",
    )
    assert codes(script(*lines).replace("    sess.run(train_op, {X: x, Y: y})\n", "", 1)) == ["TMG303"]


LOADER = """\
class Loader(object):
    def __init__(self, batch_size, eval_batch_size):
        self.batch_size, self.eval_batch_size, self.at = batch_size, eval_batch_size, 0

    def next(self):
        rows = data[self.at:self.at + self.batch_size]
        self.at += self.batch_size
        return rows[:, :4], rows[:, 4:]

    def all(self):
        return data[:self.eval_batch_size, :4], data[:self.eval_batch_size, 4:]


loader = Loader({})
"""


@pytest.mark.parametrize("given", ["{}, 100", "batch_size={}, eval_batch_size=100"])
def test_another_batch_size_of_one_loader_stays(given: str) -> None:
    text = script("x, y = loader.next()", above=LOADER.format(given.format(16)))
    assert scaled(text) == [f"loader = Loader({given.format('16 * num_gpus')})"]
