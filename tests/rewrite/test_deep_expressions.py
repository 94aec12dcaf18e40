"""Expressions and statements with more levels than recursion allows."""

from __future__ import annotations

import ast

import pytest

from converter.plan import At, Plan, Replace
from converter.rewrite.deep_expressions import DepthError, flat
from tests.scripts import INPUTS, MODEL, STEP, TRAINING, codes, converted, run

DEEP = {
    "sum": "1" + " + 1" * 1500,
    "strings": "'a'" + " + 'a'" * 1500,
    "power": "1" + " ** 1" * 1000,
    "methods": "builder" + ".add(1)" * 1000,
    "attributes": "config" + ".a" * 1500,
    "parentheses": "(" * 198 + "1" + ")" * 198,
    "lists": "[" * 199 + "1" + "]" * 199,
    "not": "not " * 1500 + "1",
    "minus": "-" * 1500 + "1",
    "lambdas": "lambda: " * 1000 + "1",
    "conditions": "1 if a else " * 1500 + "1",
    "comparisons": "1" + " < 1" * 1500,
    "calls": "f(" * 190 + "1" + ")" * 190,
}


@pytest.mark.parametrize("deep", DEEP.values(), ids=DEEP)
def test_deep_expressions_beside_the_model_stay_as_they_are(deep: str) -> None:
    script = f"{INPUTS}made = {deep}\n{MODEL}{STEP}{TRAINING}"
    assert f"\nmade = {deep}\n" in converted(script)


@pytest.mark.parametrize("name", ["sum", "parentheses"])
def test_deep_expressions_in_the_model_move_into_the_loop(name: str) -> None:
    deep = DEEP[name].replace("1", "(X * 2)")
    script = f"{INPUTS}h = {deep}\n{MODEL.replace('dense(X', 'dense(h')}{STEP}{TRAINING}"
    assert f"\n        h = {deep}\n" in converted(script)


def test_a_long_chain_of_branches() -> None:
    chain = "if kind == 0:\n    width = 0\n" + "".join(f"elif kind == {n}:\n    width = {n}\n" for n in range(1, 1000))
    script = f"{INPUTS}kind = int(input())\n{chain}{MODEL}{STEP}{TRAINING}"
    assert chain in converted(script)


def test_an_edit_inside_of_a_deep_statement_is_refused() -> None:
    chain = "if kind == 0:\n    pass\n" + "".join(f"elif kind == {n}:\n    pass\n" for n in range(1, 400))
    loss = f"{chain}else:\n    loss = tf.reduce_mean(tf.square(tf.layers.dense(X, 1) - Y))\n    {STEP}"
    assert codes(f"{INPUTS}kind = int(input())\n{loss}{TRAINING}") == ["TMG017"]


def test_a_list_that_holds_itself_is_no_matter() -> None:
    script = f"{INPUTS}rows = []\nrows.append(rows)\nshow(rows)\n{MODEL}{STEP}{TRAINING}"
    assert run(script).status == "converted"


def _plan(*replaces: Replace) -> Plan:
    return Plan((), replaces, (), (), (), "tf", False, "num_gpus", "", options=None)


SUM = "x" + " + x" * 100


@pytest.mark.parametrize(
    "line",
    [f"y = {SUM}", f"y = 'ä', {SUM}, 1", f"return_({SUM})if a else b", f"y = [{SUM} for x in z]", f"y[{SUM}] = {SUM}"],
)
def test_a_name_as_long_takes_the_place_and_goes_again(line: str) -> None:
    text = f"{line}\n"
    made = flat(text, ast.parse(text), _plan())
    assert made.held and len(made.text) == len(text)
    assert max(map(len, made.held)) >= len(SUM)
    assert made.filled(made.text) == text


TWO_LINES = SUM.replace(" + x", " +\n x", 1)


@pytest.mark.parametrize("line", [f"y = ({TWO_LINES})", "y = x + x", f"y = f'{{{SUM}}}'"])
def test_what_stays(line: str) -> None:
    assert not flat(line, ast.parse(line), _plan()).held


def test_an_expression_with_an_edit_inside_stays() -> None:
    text = f"y = f({SUM}, 64)\n"
    place = At(1, text.index("64"), "")
    replace = Replace(place, At(1, place.column + 2, ""), "64 * num_gpus", "TMG101")
    made = flat(text, ast.parse(text), _plan(replace))
    assert made.held == (SUM,)
    with pytest.raises(DepthError):
        flat(text, ast.parse(text), _plan(Replace(place, place, "x" + " + x" * 1000, "TMG101")))
