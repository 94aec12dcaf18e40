"""Rows of the tables of calls: what each says of a call, and that no name stands in two."""

from __future__ import annotations

import ast
from typing import cast

import pytest

from converter.analysis.call import Call, Handler
from converter.analysis.effects import EffectKind
from converter.analysis.rows import (
    below,
    first_axis,
    itself,
    keeps,
    makes,
    nothing,
    on_host,
    one_more,
    rank_alone,
    table,
    together,
    unbatched,
)
from converter.analysis.values import Batch, Constant, Host, Sequence, Tensor, Typed, Value
from converter.analysis.walk import Walk

NODE = cast("ast.Call", ast.parse("f(x)", mode="eval").body)
SECOND = Tensor(Batch("example", 1), (), (3, None))


class Notes:
    """Stands for the walk: keeps the effects that a row notes."""

    def __init__(self) -> None:
        self.noted: list[tuple[object, ...]] = []

    def effect(self, *noted: object) -> None:
        """Keeps an effect."""
        self.noted.append(noted[:2])


def called(row: Handler, *args: Value, receiver: Value | None = None) -> tuple[Value, list[tuple[object, ...]]]:
    """What a row gives for a call of `f`, and the effects that it notes."""
    notes = Notes()
    return row(Call(cast("Walk", notes), "f", [*args], {}, NODE, receiver)), notes.noted


def test_rows_of_several_names_share_a_handler() -> None:
    assert table(("a b", nothing), (["c"], on_host)) == {"a": nothing, "b": nothing, "c": on_host}
    assert below("m. n.", "a b") == ["m.a", "m.b", "n.a", "n.b"]
    assert below(("", "m."), {"a": 1}) == ["a", "m.a"]


@pytest.mark.parametrize("rows", [[("a", nothing), ("b a", on_host)], [("a a", nothing)], [(["a"], nothing)] * 2])
def test_a_name_in_two_rows_is_refused(rows: list[tuple[str, Handler]]) -> None:
    with pytest.raises(ValueError, match="registered twice: a"):
        table(*rows)


@pytest.mark.parametrize(
    ("row", "axis", "lengths", "op"),
    [
        (keeps("x"), 1, (3, None), "f"),
        (keeps("x", batch=first_axis, lengths=(None,), op="g"), 0, (None,), "g"),
        (keeps("x", lengths=rank_alone), 1, (None, None), "f"),
        (keeps("x", lengths=one_more), 1, (3, None, None), "f"),
    ],
)
def test_a_tensor_with_the_batch_of_an_argument(
    row: Handler, axis: int, lengths: tuple[int | None, ...], op: str
) -> None:
    made, noted = called(row, SECOND)
    assert isinstance(made, Tensor) and not noted
    assert (made.batch, made.dims, made.op, made.inputs) == (Batch("example", axis), lengths, op, (SECOND,))


def test_the_place_of_the_argument() -> None:
    made, noted = called(keeps("y", at=1, effect=EffectKind.VARIABLE), Tensor(), SECOND)
    assert isinstance(made, Tensor) and made.batch == SECOND.batch
    assert noted == [(EffectKind.VARIABLE, "f")]


def test_a_tensor_of_no_batch() -> None:
    made, noted = called(unbatched((2,), "g", EffectKind.COLLECTION, about="summaries"), SECOND)
    assert isinstance(made, Tensor) and (made.batch.kind, made.dims, made.op) == ("free", (2,), "g")
    assert noted == [(EffectKind.COLLECTION, "summaries")]


def test_objects_and_results_of_python() -> None:
    made, noted = called(makes("Object", EffectKind.EAGER, about="tf.{}"))
    assert isinstance(made, Typed) and (made.kind, made.name) == ("Object", "f")
    assert noted == [(EffectKind.EAGER, "tf.f")]
    both, _ = called(together(on_host, nothing))
    assert isinstance(both, Sequence) and [type(v) for v in both.elements] == [Host, Constant]
    assert called(itself, receiver=made)[0] is made
