"""Inputs without a shape that training feeds with rows, and another run with a single value or example."""

from __future__ import annotations

import pytest

from tests.scripts import codes, parts, run

SCRIPT = """\
import sys
import numpy as np
import tensorflow as tf

batch_size = 8
xs = [1., 2., 3.]
numbers = np.linspace(0, 1, 64)
table = np.loadtxt('table.txt')
wide = np.random.rand(64, 4)
chunks = np.array_split(table, 8)
x = tf.placeholder(tf.float32{shape})
y = tf.placeholder(tf.float32{shape})
w = tf.Variable(0.5)
{model}
loss = tf.reduce_mean(tf.square(guess - y))
train_op = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
sess = tf.Session()
for step in range(len(numbers) // batch_size):
    rows = slice(step * batch_size, (step + 1) * batch_size)
    sess.run(train_op, {{x: {trained}, y: {trained}}})
{run}
"""
GUESS = "guess = x * w"
WITH_VARIABLE = "guess = x * w + tf.get_variable('b', [])"
NUMBERS = "numbers[rows]"
MERGED = "guess = tf.concat(tower_guess, 0)"


def script(run: str, model: str = GUESS, trained: str = NUMBERS, shape: str = "") -> str:
    return SCRIPT.format(run=run, model=model, trained=trained, shape=shape)


def after(text: str) -> list[str]:
    """The lines behind the loop that compute the guess."""
    return [line for line in parts(text)[2] if line.startswith(("guess =", "hidden ="))]


RUNS = [
    ("sess.run(guess, {x: 5})", NUMBERS),
    ("n = 5\nsess.run(guess, {x: n})", NUMBERS),
    ("guess.eval({x: 5}, sess)", NUMBERS),
    ("sess.run(guess, {x: np.float32(5)})", NUMBERS),
    ("sess.run(guess, {x: float(sys.argv[1])})", NUMBERS),
    ("sess.run(guess, {x: numbers[3]})", NUMBERS),
    ("sess.run(guess, {x: table[3]})", "table[rows]"),
    ("sess.run(guess, {x: table[3]})", "table"),
    ("sess.run(guess, {x: wide[3]})", "wide[rows]"),
    ("for a in xs: sess.run(guess, {x: a})", "xs"),
    ("for a, b in zip(xs, xs): sess.run(guess, {x: a})", "xs"),
    ("for a in table: sess.run(guess, {x: a})", NUMBERS),
]


@pytest.mark.parametrize(("run", "trained"), RUNS)
def test_what_is_computed_of_a_single_value_is_computed_once_more_after_the_loop(run: str, trained: str) -> None:
    assert after(script(run, trained=trained)) == [GUESS]


def test_all_that_leads_to_it_is_computed_once_more() -> None:
    text = script("sess.run(guess, {x: 5})", "hidden = x * w\nguess = hidden + 1.")
    assert after(text) == ["hidden = x * w", "guess = hidden + 1."]


@pytest.mark.parametrize(
    "fed",
    ["[5]", "[5, 6]", "np.array([5])", "numbers", "numbers[:1]", "table", "chunks[0]", "next_batch(9)", "sys.argv[1:]"],
)
def test_rows_are_merged(fed: str) -> None:
    assert after(script(f"sess.run(guess, {{x: {fed}}})")) == [MERGED]


def test_a_list_of_batches_is_no_batch() -> None:
    text = script("sess.run(guess, {x: chunks[0]})\nsess.run(loss, {x: table, y: table})", trained="chunks[step]")
    assert after(text) == after(text.replace("np.array_split(table, 8)", "chunks_of(table)")) == [MERGED]


def test_a_run_that_computes_nothing_of_the_value() -> None:
    assert after(script("sess.run(w, {x: 5})\nsess.run(guess, {x: numbers, y: 0})")) == [MERGED]


@pytest.mark.parametrize("fed", ["{x: 5, y: 4}", "{x: numbers[3], y: numbers[4]}"])
def test_a_loss_of_single_values_is_refused(fed: str) -> None:
    found = run(script(f"print(sess.run(loss, {fed}))")).diagnostics
    value = fed.split(":")[1].split(",")[0].strip()
    assert [(f.code, f.line, f.column) for f in found] == [("TMG253", 21, 7)]
    assert found[0].hint == f"feed a list of one: x: [{value}]"
    assert codes(script("print(sess.run(loss, {x: [5], y: [4]}))")) == []


def test_a_single_value_beside_rows_must_be_as_many() -> None:
    found = run(script("print(sess.run(loss, {x: numbers, y: 4.}))")).diagnostics
    assert [(f.code, f.hint) for f in found] == [("TMG253", "feed as many values as the other inputs have rows")]


def test_what_makes_variables_cannot_be_computed_once_more() -> None:
    assert codes(script("sess.run(guess, {x: 5})", WITH_VARIABLE)) == ["TMG253"]
    assert after(script("sess.run(guess, {x: [5]})", WITH_VARIABLE)) == [MERGED]


def test_feeds_that_are_written_elsewhere() -> None:
    found = run(script("feeds = {x: 5}\nsess.run(guess, feeds)", WITH_VARIABLE)).diagnostics
    assert [(f.code, f.line, f.hint) for f in found] == [("TMG253", 22, "feed a list of one: [value]")]


def test_a_loss_that_is_computed_once_of_merged_values_is_averaged_then() -> None:
    text = script("sess.run(guess, {x: 5})").replace("tf.reduce_mean(", "tf.sqrt(tf.reduce_mean(")
    text = text.replace("guess - y)", "guess - y))")
    assert codes(text, loss="global") == ["TMG302"] and after(text) == [GUESS]
    assert codes(text.replace("{x: 5}", "{x: [5]}"), loss="global") == []


def test_placeholders_with_a_shape() -> None:
    assert after(script("sess.run(guess, {x: 5})", shape=", [None]")) == [MERGED]


@pytest.mark.parametrize(
    "step",
    [
        "for a, b in zip(xs, xs): sess.run(train_op, {x: a, y: b})",
        "for a, b in zip(numbers, numbers): sess.run(train_op, {x: a, y: b})",
        "for i in range(len(table)): sess.run(train_op, {x: table[i], y: table[i]})",
        "sess.run(train_op, {x: 5, y: 4})",
    ],
)
def test_training_with_single_numbers(step: str) -> None:
    assert codes(script(step, trained="table[rows]")) == ["TMG218"]
    evaluated = script(f"{step}\nsess.run(loss, {{x: table, y: table}})")
    assert codes(evaluated.replace("    sess.run(train_op, {x: numbers[", "    print({x: numbers[")) == ["TMG218"]


def test_training_with_a_number_beside_rows() -> None:
    assert codes(script("sess.run(train_op, {x: numbers, y: 4.})")) == ["TMG253"]


def test_a_number_of_all_steps_is_shared() -> None:
    scaled = "z = tf.placeholder(tf.float32)\nguess = x * w * z"
    text = script("sess.run(guess, {x: numbers, z: 0.5})", scaled).replace("train_op, {", "train_op, {z: 0.5, ")
    assert codes(text) == [] and after(text) == [MERGED]


LOADED = """\
import tensorflow as tf
from loading import load

batch_size = 8
words, labels = load('train.txt')
tests, answers = load('test.txt', most=1000)
x = tf.placeholder(tf.float32, [None, 4])
y = tf.placeholder(tf.int32)
logits = tf.layers.dense(x, 2)
loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels=tf.one_hot(y, 2), logits=logits))
train_op = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(0, 64, batch_size):
        sess.run(train_op, {x: words[i:i + batch_size], y: labels[i:i + batch_size]})
    print(sess.run(loss, {x: FED, y: answers}))
"""


@pytest.mark.parametrize(("fed", "found"), [("tests", []), ("[tests]", ["TMG253"]), ("words", ["TMG253"])])
def test_what_a_function_returns_beside_fed_rows_has_rows(fed: str, found: list[str]) -> None:
    assert codes(LOADED.replace("FED", fed)) == found
