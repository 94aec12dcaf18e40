"""`isinstance` where it is sure: nets whose layers are named by strings or handed as tensors, or as lists of them."""

from __future__ import annotations

import pytest

from tests.analysis.readings import facts_of, shown, value_of

SCRIPT = """\
import tensorflow as tf

layers = {{'data': tf.placeholder(tf.float32, [None, 4])}}
layers['first'] = tf.layers.dense(layers['data'], 4)


def taken(given):
    if isinstance(given, {kind}):
        tf.layers.dropout(layers['data'])
        return layers[given]
    tf.layers.flatten(layers['data'])
    return given


{before}
result = taken({given})
"""
BOTH = {"dropout", "flatten"}


def built(given: str, kind: str = "str", before: str = "") -> set[str]:
    facts = facts_of(SCRIPT.format(given=given, kind=kind, before=before))
    return {t.op.rpartition(".")[2] for t in facts.tensors if t.op.rpartition(".")[2] in BOTH}


@pytest.mark.parametrize("kind", ["str", "basestring", "six.string_types", "(str, basestring)"])
def test_a_tensor_is_no_string_and_a_string_is_one(kind: str) -> None:
    assert built("layers['first']", kind) == {"flatten"}
    assert built("'first'", kind) == {"dropout"}


@pytest.mark.parametrize("kind", ["list", "(list, tuple)"])
def test_a_list_is_one_and_a_tensor_is_none(kind: str) -> None:
    assert built("layers['first']", kind) == {"flatten"}
    assert built("layers['data']", kind) == {"flatten"}
    assert built("None", kind) == {"flatten"}
    assert built("[layers['first']]", kind) == {"dropout"}
    assert built("[layers['first']] + [layers['data']]", kind) == {"dropout"}


def test_kinds_of_structures() -> None:
    assert built("(layers['first'], 1)", "list") == {"flatten"}
    assert built("layers", "dict") == {"dropout"}
    assert built("layers", "(list, tuple)") == {"flatten"}


@pytest.mark.parametrize("kind", ["tf.Tensor", "(tf.Tensor, str)", "tf.contrib.rnn.LSTMStateTuple"])
def test_a_plain_list_or_tuple_is_no_tensor(kind: str) -> None:
    assert built("[layers['first']]", kind) == {"flatten"}
    assert built("(layers['first'], layers['data'])", kind) == {"flatten"}
    assert built("layers", kind) == {"flatten"}


def test_a_named_tuple_is_no_tensor() -> None:
    assert built("tf.contrib.rnn.LSTMStateTuple(layers['first'], 1)", "tf.Tensor") == {"flatten"}


@pytest.mark.parametrize(
    ("given", "kind", "before"),
    [
        ("layers['first']", "tf.Tensor", ""),
        ("tf.contrib.rnn.LSTMStateTuple(layers['first'], 1)", "tf.contrib.rnn.LSTMStateTuple", ""),
        ("layers['first']", "(tf.Tensor, list)", ""),
        ("[layers['first']]", "(tf.Tensor, set)", ""),
        ("[1] if flag() else layers['first']", "tf.Tensor", ""),
        ("batch", "list", "batch = tf.data.Dataset.range(9).batch(3).make_one_shot_iterator().get_next()"),
        ("[1] if flag() else None", "list", ""),
        ("[1] if flag() else 3", "list", ""),
        ("zip([1], [2])", "list", ""),
        ("{1, 2}", "list", ""),
        ("made()", "list", ""),
        ("state", "tuple", "_, state = tf.nn.dynamic_rnn(cell(), tf.ones([4, 3, 2]) * layers['first'])"),
        ("'first'", "bytes", ""),
        ("sys.argv[1]", "str", ""),
        ("layers['first']", "str", "str = type(layers['first'])"),
        ("either", "str", "either = layers['first'] if flag() else 'first'"),
        ("some[unknown()]", "str", "some = {'a': layers['first'], 'b': 'first'}"),
    ],
)
def test_what_may_be_a_string_or_not(given: str, kind: str, before: str) -> None:
    assert built(given, kind, before) == BOTH


@pytest.mark.parametrize(
    ("given", "kind", "found"),
    [
        ("[8, 8]", "int", "flatten"),
        ("(8, 8)", "(int, float)", "flatten"),
        ("'first'", "int", "flatten"),
        ("layers['first']", "int", "flatten"),
        ("None", "int", "flatten"),
        ("8", "int", "dropout"),
        ("8", "list", "flatten"),
        ("8", "float", "flatten"),
        ("0.5", "float", "dropout"),
        ("0.5", "(str, int)", "flatten"),
        ("True", "int", "dropout"),
        ("True", "float", "flatten"),
        ("2 * 8 + 1", "int", "dropout"),
        ("-2 * 0.5", "int", "flatten"),
    ],
)
def test_numbers(given: str, kind: str, found: str) -> None:
    assert built(given, kind) == {found}


@pytest.mark.parametrize(
    "given",
    [
        "layers['data'].get_shape()[1]",  # a Dimension
        "np.prod([2, 4])",  # int64 of NumPy, which is no int of Python 3
        "np.int64(8)",
        "7 / 2",
        "len(layers)",
        "unknown",
        "8 if unknown else 0.5",
    ],
)
@pytest.mark.parametrize("kind", ["int", "float"])
def test_numbers_whose_kind_is_not_sure(given: str, kind: str) -> None:
    assert built(given, kind, "import numpy as np") == BOTH


@pytest.mark.parametrize(
    ("compared", "known"),
    [
        ("type(x) == list", False),
        ("type(x) == list or type(x) == tuple", False),
        ("type([x]) is list", True),
        ("type((x,)) == tuple", True),
        ("type((x,)) != list", True),
        ("type('a') == str", True),
        ("type(True) == int", False),
        ("type(3) == int", True),
        ("type(x) == tf.Tensor", True),
        ("type({}) == dict", "host compare"),  # it may be an ordered one
        ("type(unknown()) == list", "host compare"),
        ("type(tf.contrib.rnn.LSTMStateTuple(x, x)) == tuple", "host compare"),
        ("type(x) == dtype", "host compare"),
        ("tf.bool == bool", "host compare"),
    ],
)
def test_types_that_are_compared(compared: str, known: object) -> None:
    assert shown(value_of(f"x = tf.placeholder(tf.float32, [None, 4])\nresult = {compared}\n")) == known
