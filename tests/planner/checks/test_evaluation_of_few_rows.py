"""Evaluations over whole batches, which a larger batch may leave without any."""

from __future__ import annotations

import pytest

from tests.scripts import codes, run

SCRIPT = """\
import argparse
import numpy as np
import tensorflow as tf
{head}
xs, test = load()
X = tf.placeholder(tf.float32, [None, 4])
loss = tf.reduce_mean(tf.square(tf.layers.dense(X, 4) - X))
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
sess = tf.Session()
sess.run(tf.global_variables_initializer())
for step in range(len(xs) // SIZE):
    sess.run(train_op, {{X: xs[step * SIZE:(step + 1) * SIZE]}})
"""
HEADS = {
    "batch_size = 32\n": "batch_size",
    "tf.app.flags.DEFINE_integer('batch_size', 32, '')\nFLAGS = tf.app.flags.FLAGS\n": "FLAGS.batch_size",
    "class Config(object):\n    batch_size = 32\n": "Config.batch_size",
    "parser = argparse.ArgumentParser()\nparser.add_argument('--batch_size', type=int, default=32)\n"
    "args = parser.parse_args()\n": "args.batch_size",
}
EACH = "    total.append(sess.run(loss, {X: test[i * SIZE:(i + 1) * SIZE]}))"
BEGIN = "    total.append(sess.run(loss, {X: test[i:i + SIZE]}))"

WAITS = "total, i = [], 0\nwhile i + SIZE <= len(test):\n" + BEGIN + "\n    i += SIZE"


SKIPS = """\
total = []
for i in range(0, len(test), SIZE):
    rows = test[i:i + SIZE]
    if len(rows) < SIZE: continue
    total.append(sess.run(loss, {X: rows}))"""
FILLS = """\
total, rows = [], []
for row in test:
    rows.append(row)
    if len(rows) == SIZE:
        total.append(sess.run(loss, {X: rows}))
        rows = []"""


def script(loop: str, body: str = EACH, head: str = "batch_size = 32\n") -> str:
    lines = f"total = []\n{loop}\n{body}\n" if loop.startswith("for") else f"{loop}\n"
    return (SCRIPT.format(head=head) + lines).replace("SIZE", HEADS[head])


@pytest.mark.one_in(2)
@pytest.mark.parametrize("head", HEADS, ids=["name", "flag", "attribute", "argument"])
@pytest.mark.parametrize(
    ("loop", "body"),
    [
        ("for i in range(len(test) // SIZE):", EACH),
        ("for i in range(int(len(test) / SIZE)):", EACH),
        ("for i in range(test.shape[0] // SIZE):", EACH),
        ("for i in range(data.test.num_examples // SIZE):", EACH),
        ("for i in range(len(test) // SIZE - 1):", EACH),
        ("for i in range(len(test) // SIZE + 0):", EACH),
        ("for i in range(int((len(test) + 1) / SIZE)):", EACH),
        ("for i in range(0, len(test) - SIZE + 1, SIZE):", BEGIN),
        (WAITS, ""),
        ("for i in range(20):", EACH),
        (
            "for i in range(20):",
            EACH.replace("test[i * SIZE:(i + 1) * SIZE]", "test.take(range(i * SIZE, i * SIZE + SIZE))"),
        ),
        (
            "for i in range(20):",
            EACH.replace("test[i * SIZE:(i + 1) * SIZE]", "[test[i * SIZE + k] for k in range(SIZE)]"),
        ),
        (SKIPS, ""),
        (SKIPS.replace("if len(rows) < SIZE: continue", "if rows.shape[0] != SIZE: break"), ""),
        (FILLS, ""),
        ("total, i = [], 0\nwhile i <= len(test) - SIZE:\n" + BEGIN + "\n    i += SIZE", ""),
        ("total, i = [], 0\nwhile len(test) >= i + SIZE:\n" + BEGIN + "\n    i = i + SIZE", ""),
        ("print(sum(sess.run(loss, {X: test[i * SIZE:(i + 1) * SIZE]}) for i in range(len(test) // SIZE)))", ""),
        (
            "def mean(rows):\n    n = len(rows) // SIZE\n"
            "    return np.mean([sess.run(loss, {X: rows[i * SIZE:(i + 1) * SIZE]}) for i in range(n)])\n"
            "print(mean(test))",
            "",
        ),
    ],
)
def test_whole_batches_of_an_evaluation_are_told(head: str, loop: str, body: str) -> None:
    assert codes(script(loop, body, head)) == ["TMG345"]
    assert codes(script(loop, body, head), batch="total") == []


@pytest.mark.parametrize(
    ("loop", "body"),
    [
        ("for i in range(0, len(test), SIZE):", BEGIN),
        ("for i in range(int(np.ceil(len(test) / SIZE))):", EACH),
        ("for i in range(max(1, len(test) // SIZE)):", EACH),
        ("for i in range(int((len(test) - 1) / SIZE) + 1):", EACH),
        ("for i in range(1 + (len(test) - 1) // SIZE):", EACH),
        ("for i in range(int(len(test) / SIZE + 1)):", EACH),
        ("for i in range(len(test) // SIZE + int(len(test) % SIZE != 0)):", EACH),
        ("for i in range(len(test) // SIZE + (1 if len(test) % SIZE else 0)):", EACH),
        ("total, i = [], 0\nwhile i < len(test):\n" + BEGIN + "\n    i += SIZE", ""),
        (
            "total, i = [], 0\nwhile i + SIZE <= len(test):\n"
            + BEGIN
            + "\n    i += SIZE\nsess.run(loss, {X: test[i:]})",
            "",
        ),
        ("for i in range(10):", EACH.replace("i * SIZE:(i + 1) * SIZE", ":")),
        ("for i in range(10):", EACH.replace("i * SIZE:(i + 1) * SIZE", "i * 32:(i + 1) * 32")),
        (SKIPS.replace("< SIZE", "< 1"), ""),
        (FILLS + "\nif rows: total.append(sess.run(loss, {X: rows}))", ""),
        ("for i in range(len(test) // 100):", EACH.replace("SIZE", "100")),
        ("for i in range(10000 // SIZE):", EACH),
        ("print(sess.run(loss, {X: test}))", ""),
    ],
)
def test_others_take_all_rows_or_as_many_as_before(loop: str, body: str) -> None:
    assert codes(script(loop, body)) == []


@pytest.mark.parametrize(("rows", "gpus", "found"), [(50, 2, 1), (100, 2, 0), (100, 4, 1), (20, 2, 0)])
def test_a_known_number_of_rows_is_compared(rows: int, gpus: int, found: int) -> None:
    made = run(script(f"for i in range({rows} // SIZE):"), num_gpus=gpus)
    assert [d.code for d in made.diagnostics] == ["TMG345"] * found
    assert all(f"none of {gpus} GPUs" in d.message for d in made.diagnostics)


def test_the_training_loop_itself_is_none() -> None:
    text = script("for i in range(0, len(test), SIZE):", BEGIN)
    assert codes(text.replace("    sess.run(train_op", "    sess.run(loss, {X: xs[:5]})\n    sess.run(train_op")) == []


@pytest.mark.parametrize(
    ("guard", "inner"),
    [("if len(rows) < SIZE: continue", "    "), ("if len(rows) == SIZE:", "        ")],
)
@pytest.mark.parametrize("trained", [True, False])
def test_what_runs_beside_a_step_with_its_batch_is_none(guard: str, inner: str, trained: bool) -> None:
    loop = f"for i in range(0, len(xs), SIZE):\n    rows = xs[i:i + SIZE]\n    {guard}\n"
    step, shown = "sess.run(train_op, {X: rows})\n", "print(sess.run(loss, {X: rows}))\n"
    text = script(loop + (f"{inner}{step}" if trained else "") + f"{inner}{shown}", "")
    assert codes(text) == ([] if trained else ["TMG345"])


GENERATOR = """\
def batches(rows, size):
    for i in range(len(rows) // size):
        yield rows[i * size:(i + 1) * size]
"""
LISTED = """\
def batches(rows, size):
    made = []
    for i in range(len(rows) // size):
        made.append(rows[i * size:(i + 1) * size])
    return made
"""
METHOD = """\
class Reader(object):
    def __init__(self, rows):
        self.rows = rows

    def batches(self, size):
        for i in range(len(self.rows) // size):
            yield self.rows[i * size:(i + 1) * size]


def batches(rows, size):
    return Reader(rows).batches(size)
"""
TRAINS = "for rows in batches(xs, batch_size):\n    sess.run(train_op, {X: rows})\n"
TESTS = "for rows in batches(test, batch_size):\n    print(sess.run(loss, {X: rows}))\n"


def of_function(function: str, lines: str) -> str:
    head = SCRIPT.format(head="batch_size = 32\n").split("for step in")[0]
    return head.replace("xs, test", f"{function}xs, test") + lines


@pytest.mark.parametrize("function", [GENERATOR, LISTED, METHOD], ids=["generator", "list", "method"])
def test_a_function_that_makes_batches_of_both_sets_is_told_by_its_loop(function: str) -> None:
    text = of_function(function, TRAINS + TESTS)
    loop = next(number for number, line in enumerate(text.splitlines(), 1) if "for i in range(len(" in line)
    assert [(d.code, d.line) for d in run(text).diagnostics] == [("TMG345", loop)]
    assert codes(text, batch="total") == []


@pytest.mark.parametrize("function", [GENERATOR, LISTED, METHOD], ids=["generator", "list", "method"])
@pytest.mark.parametrize(
    "lines",
    [
        TRAINS,
        TRAINS + "print(sess.run(loss, {X: test}))\n",
        TRAINS + "    print(sess.run(loss, {X: rows}))\n",  # of the batch that it trains on
        TRAINS + TESTS.replace("batch_size", "50"),
    ],
)
def test_a_function_that_makes_batches_for_training_alone_is_not(function: str, lines: str) -> None:
    assert codes(of_function(function, lines)) == []


@pytest.mark.parametrize(("how", "found"), [("False", ["TMG345"]), ("True", [])])
def test_an_epoch_that_trains_or_evaluates_by_its_arguments(how: str, found: list[str]) -> None:
    function = """\
def epoch(rows, train):
    for i in range(len(rows) // batch_size):
        batch = rows[i * batch_size:(i + 1) * batch_size]
        if train:
            sess.run(train_op, {X: batch})
        else:
            print(sess.run(loss, {X: batch}))
"""
    head = SCRIPT.format(head="batch_size = 32\n").split("for step in")[0]
    assert codes(f"{head}{function}epoch(xs, True)\nepoch(test, {how})\n") == found
