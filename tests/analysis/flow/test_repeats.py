"""How much of a script is executed on stand-ins: counted, not timed."""

from __future__ import annotations

import ast
from collections.abc import Callable

import pytest

from converter.analysis import read_facts
from converter.analysis.project import Project
from converter.analysis.python.run import evaluate
from converter.analysis.python.run import run as run_through
from converter.analysis.values import Frame
from converter.analysis.walk import Known, Walk
from converter.options import Options
from tests.scripts import INPUTS, MODEL, STEP, TRAINING, codes, converted, run


def walked(text: str) -> Walk:
    walk = Walk("train.py", ast.parse(text), Project("."), Known(), evaluate)
    run_through(walk)
    return walk


def nested(depth: int, body: str, kind: str = "for i{} in range(9):\n") -> str:
    lines = ["    " * level + kind.format(level) for level in range(depth)]
    return "".join(lines) + "    " * depth + body


@pytest.mark.parametrize("kind", ["for i{} in range(9):\n", "for i{} in read():\n", "while more({}):\n"])
@pytest.mark.parametrize("body", ["total = step()\n", "numbers.append(step())\n", "count += 1\n"])
def test_a_further_loop_around_others_costs_their_statements_once_more(kind: str, body: str) -> None:
    head = "import tensorflow as tf\nnumbers, count = [], 0\n"
    costs = [walked(head + nested(depth, body, kind)).executed for depth in (6, 12, 18)]
    assert costs[2] < 4 * costs[1] < 16 * costs[0]
    assert costs[2] < 400


def test_a_loop_that_builds_is_followed_turn_by_turn() -> None:
    script = INPUTS + "h = X\n" + nested(3, "h = tf.layers.dense(h, 1)\n", "for i{} in range(3):\n")
    assert sum(tensor.op == "layers.dense" for tensor in walked(script).facts.tensors) == 27


def test_what_a_loop_builds_in_a_later_turn_of_an_outer_one_is_seen() -> None:
    script = INPUTS + (
        "h = X\nfor i in range(3):\n    for j in range(3):\n        if i > 0:\n            h = tf.layers.dense(h, 1)\n"
    )
    assert sum(tensor.op == "layers.dense" for tensor in walked(script).facts.tensors) == 6


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_numbers_that_turns_change_are_unknown_behind_loops_of_any_depth(depth: int) -> None:
    script = "n = 1\n" + nested(depth, "n += 1\n")
    assert walked(script).module.locals["n"].value is None


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_lists_that_turns_fill_hold_several_rows_at_any_depth(depth: int) -> None:
    rows = walked("import numpy as np\n" + nested(depth, "rows.append(0)\n").replace("rows", "rows")).module
    inner = "    " * (depth - 1)
    script = nested(depth, "rows.append(read())\n")
    script = script.replace(f"{inner}for", f"{inner}rows = []\n{inner}for", 1) if depth > 1 else "rows = []\n" + script
    rows = walked(script).module.locals["rows"]
    assert len(rows.elements) > 1 and rows.many


CALLING = "def f{n}(a, k):\n    for i in range(3):\n{calls}    return a\n\n\n"


def mutual(functions: int, body: str = "        a = f{m}(a, k - 1)\n") -> str:
    return "".join(
        CALLING.format(n=n, calls="".join(body.format(m=m) for m in range(functions) if m != n))
        for n in range(functions)
    )


def test_functions_that_call_each_other_are_entered_a_bounded_number_of_times() -> None:
    costs = [walked(mutual(number) + "a = f0(1, 3)\n").executed for number in (4, 8, 16)]
    assert costs[2] < 5 * costs[1] < 25 * costs[0]  # functions times calls in each


def test_a_word_is_said_of_calls_that_are_no_longer_followed() -> None:
    noted = "        numbers.append(a)\n        a = f{m}(a, k - 1)\n"
    script = "numbers = []\n" + mutual(4, noted) + INPUTS + "offset = f0(1, 3)\n" + MODEL + STEP + TRAINING
    assert "TMG018" in codes(script)
    assert "TMG018" not in codes(script.replace("numbers.append(a)", "print(a)"))
    assert "for gpu in range(num_gpus)" in converted(script)


def test_a_helper_that_is_called_in_a_loop_now_and_then_is_no_matter() -> None:
    helper = "def note(text):\n    lines.append(text)\n\n\nlines = []\n"
    assert codes(helper + INPUTS + MODEL + "note('a')\n" * 200 + STEP + TRAINING) == []


def test_what_the_loss_needs_of_such_calls_is_refused() -> None:
    script = mutual(4) + INPUTS + MODEL + "loss = loss * f0(1.0, 3)\n" + STEP + TRAINING
    assert run(script).status == "refused"


def test_a_graph_without_end_is_refused_and_not_walked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("converter.analysis.walk.MAX_STATEMENTS", 1000)
    script = INPUTS + "h = X\n" + nested(12, "h = tf.layers.dense(h, 1)\n", "for i{} in range(3):\n")
    facts = read_facts("train.py", ast.parse(script), Options())
    assert facts.endless is not None
    assert codes(script + MODEL.replace("X", "h") + STEP + TRAINING) == ["TMG018"]


TWICE = ["def f{n}(a):\n    return f{m}(f{m}(a))\n\n\n", "f{n} = lambda a: f{m}(f{m}(a))\n"]


@pytest.mark.parametrize("function", TWICE)
@pytest.mark.parametrize("built", ["tf.nn.relu(a)", "a + 1"])
@pytest.mark.parametrize("use", ["h = f17(X)\n", ""])
def test_functions_that_call_the_next_one_twice_are_no_two_to_the_power_of_them(
    function: str, built: str, use: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("converter.analysis.walk.MAX_STATEMENTS", 1000)
    calls: list[object] = []
    monkeypatch.setattr(Frame, "__init__", counted(Frame.__init__, calls))
    functions = "".join(function.format(n=n, m=n - 1) for n in range(1, 18))
    walk = walked(INPUTS + f"f0 = lambda a: {built}\n" + functions + use)
    assert len(calls) < 2000  # of 262,144
    assert (walk.facts.endless is not None) is bool(use)  # what nobody calls is followed as far as it goes


@pytest.mark.parametrize("function", TWICE)
@pytest.mark.parametrize("leaf", ["a", "a + 1", "read(a)"])
def test_such_functions_cost_a_bounded_number_of_calls_each_where_they_build_nothing(
    function: str, leaf: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    costs = []
    for number in (18, 36):
        calls: list[object] = []
        with monkeypatch.context() as patched:
            patched.setattr(Frame, "__init__", counted(Frame.__init__, calls))
            functions = "".join(function.format(n=n, m=n - 1) for n in range(1, number))
            walk = walked(f"f0 = lambda a: {leaf}\n" + functions + f"k = f{number - 1}(1)\n")
        assert walk.facts.endless is None
        costs.append(len(calls))
    assert costs[0] < 8000  # of 262,144
    assert costs[1] < 2 * 8000


def counted(done: Callable[..., None], calls: list[object]) -> Callable[..., None]:
    def counting(*args: object) -> None:
        calls.append(args)
        done(*args)

    return counting


@pytest.mark.parametrize("kind", ["[{} for i{} in read()]", "max({} for i{} in read())"])
def test_comprehensions_inside_each_other(kind: str) -> None:
    text = "0"
    for level in range(20):
        text = kind.format(text, level)
    assert walked(f"rows = {text}\n").executed < 5000  # not two to the power of twenty


DECODED = """\
import tensorflow as tf

x = tf.placeholder(tf.float32, [None, 5, 3])
scores = tf.layers.dense(x, 3)
transitions = tf.get_variable('transitions', [3, 3])
with tf.Session() as sess:
    for epoch in range(30):
        for one in sess.run(scores, {x: rows}):
            tags, score = tf.contrib.crf.viterbi_decode(one, sess.run(transitions))
            print(tags)
"""


def test_what_tensorflow_computes_by_numpy_builds_nothing() -> None:
    walk = walked(DECODED)
    assert "contrib.crf.viterbi_decode" not in {tensor.op for tensor in walk.facts.tensors}
    assert walk.executed < 60
    built = walked(DECODED.replace("contrib.crf.viterbi_decode(one, sess.run(", "contrib.crf.crf_decode(one, *("))
    assert built.executed > 60
