"""Arguments of a call as handlers ask for them: by position, by any of their names, as constants."""

from __future__ import annotations

import ast
from typing import cast

import pytest

from converter.analysis.call import Call
from converter.analysis.values import Batch, Constant, Number, Tensor
from converter.analysis.walk import Walk

NODE = cast("ast.Call", ast.parse("f(1, None, axis=2, keep=True)", mode="eval").body)
CALL = Call(
    cast("Walk", None), "f", [Number(1), Constant(None)], {"axis": Number(2), "keep": Constant(True)}, NODE, None
)


@pytest.mark.parametrize(
    ("position", "names", "wanted"),
    [(0, (), 1), (5, ("axis",), 2), (0, ("axis",), 2), (5, ("dim", "axis"), 2), (5, (), None), (1, (), None)],
)
def test_constants(position: int, names: tuple[str, ...], wanted: object) -> None:
    assert CALL.constant(position, *names) == wanted


@pytest.mark.parametrize(("name", "wanted"), [("axis", True), ("keep", True), ("dim", False)])
def test_whether_a_keyword_is_given(name: str, wanted: bool) -> None:
    assert CALL.given(name) is wanted


@pytest.mark.parametrize(("position", "names", "wanted"), [(0, (), "1"), (9, ("axis",), "2"), (9, (), None)])
def test_where_an_argument_stands(position: int, names: tuple[str, ...], wanted: str | None) -> None:
    node = CALL.node_of(position, *names)
    assert (node and ast.unparse(node)) == wanted


def test_an_argument_as_a_tensor() -> None:
    assert CALL.tensor(0).dims == ()
    assert isinstance(CALL.tensor(9), Tensor)
    assert [type(v) for v in CALL.values()] == [Number, Constant, Number, Constant]


def test_a_tensor_that_the_call_gives() -> None:
    made = CALL.gives(Batch("example", 1), (None, 2))
    assert (made.batch, made.dims, made.op, made.inputs) == (Batch("example", 1), (None, 2), "f", (*CALL.values(),))
    assert CALL.gives(Batch()).dims is None
