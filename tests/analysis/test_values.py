"""Stand-ins: what they depend on, what dicts hold, and in which frames names are found."""

from __future__ import annotations

import ast

import pytest

from converter.analysis.reasons import Why
from converter.analysis.values import (
    FREE,
    Batch,
    Constant,
    Frame,
    Host,
    Input,
    Mapping,
    Number,
    Sequence,
    Tensor,
    Value,
    needed,
    opaque,
    other,
    tensors_in,
)


def fed() -> Input:
    made = Input("placeholder", (None,), None, "float32")
    made.shard(0)
    return made


def test_what_is_made_of_an_input_depends_on_it() -> None:
    x, free = fed(), Tensor()
    whole = Tensor(FREE, (Sequence([Constant(None), Tensor(FREE, (x, free))]),))
    assert whole.roots == {x}
    assert free.roots == frozenset()
    assert needed([whole]).keys() > {x.uid, free.uid}


def test_what_is_behind_an_input_is_not_needed() -> None:
    x, source = fed(), Host()
    x.inputs = (source,)
    made = Tensor(FREE, (x,))
    assert set(needed([made])) == {made.uid, x.uid}


def test_a_list_that_is_filled_later_depends_on_what_it_holds() -> None:
    x, row = fed(), Sequence([], mutable=True)
    row.elements.append(x)
    assert Tensor(FREE, (row,)).roots == {x}
    assert list(tensors_in(row)) == [x]


def test_a_list_may_hold_itself() -> None:
    row = Sequence([fed()], mutable=True)
    row.elements.append(row)
    assert len(list(tensors_in(row))) == 1


@pytest.mark.parametrize(
    ("key", "wanted"), [(Constant("a"), 1), (Number(2), 2), (Constant("b"), None), (Number(None), None)]
)
def test_dicts_know_keys_by_their_values(key: Value, wanted: int | None) -> None:
    found = Mapping([(Constant("a"), Number(1)), (Number(2), Number(2))]).get(key)
    assert getattr(found, "value", None) == wanted


def test_names_are_found_by_the_rules_of_scope() -> None:
    module = Frame(ast.parse(""), None, None)
    cls = Frame(ast.parse("class A: pass").body[0], module, None)
    method = Frame(ast.parse("def f(): pass").body[0], cls, None)
    module.locals["a"], cls.locals["b"] = Number(1), Number(2)
    assert method.lookup("a") == (module, module.locals["a"])
    assert method.lookup("b") is None  # methods do not see the names of their class
    assert cls.lookup("b") == (cls, cls.locals["b"])
    assert method.module is module


@pytest.mark.parametrize(
    ("batch", "reason"),
    [
        (FREE, ""),
        (Batch("example", 1), ""),
        (opaque(Why.PICKED), "one example of the batch is picked"),
        (opaque(Why.UNKNOWN_CALL, "tf.foo"), "the effect of tf.foo on the batch is not known"),
        (other(Why.GLOBAL_NORM), "a global norm"),
    ],
)
def test_the_reason_of_a_batch_in_words(batch: Batch, reason: str) -> None:
    assert batch.reason == reason
