"""Chains of operations that move axes, beside NumPy: each entry of the result belongs to the example that is claimed.

NumPy computes the same chain on an array that holds the number of the example in each entry. What the analysis claims
("along axis 1, two whole batches behind each other") must hold of it; it may claim nothing ("opaque").
"""

from __future__ import annotations

import ast
from math import prod

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from converter.analysis import read_facts
from converter.analysis.tensors.factors import equal, first, others, product, regrouped, without
from converter.analysis.values import BATCH, Axis, Tensor
from converter.options import Options
from tests.analysis.tensors.test_algebra import SCRIPT

EXAMPLES = 7  # a prime that divides no other length
STARTS = {"x": (EXAMPLES, 6), "s": (EXAMPLES, 5, 6), "t": (5, EXAMPLES, 6)}

Chain = tuple[str, np.ndarray]  # an expression, and the numbers of the examples


def evaluate(expression: str) -> Tensor:
    text = SCRIPT.replace("batch_size = 8", f"batch_size = {EXAMPLES}").replace("{expression}", expression)
    value = read_facts("script.py", ast.parse(text), Options()).module.locals["result"]
    assert isinstance(value, Tensor)
    return value


def start(name: str) -> Chain:
    """An input of the script, and which example each of its entries is of."""
    shape = STARTS[name]
    along = [EXAMPLES if length == EXAMPLES else 1 for length in shape]
    return name, np.broadcast_to(np.arange(EXAMPLES).reshape(along), shape)


def reshaped(chain: Chain, draw: st.DataObject) -> Chain:
    """Reshaped to lengths that fit any number of examples: the axis with the batch is -1, or the batch size."""
    text, ids = chain
    left, lengths = ids.size // EXAMPLES, list[int]()
    for _ in range(draw.draw(st.integers(0, 2))):
        lengths.append(draw.draw(st.sampled_from([n for n in (1, 2, 3, 5, 6, 10, 30) if left % n == 0])))
        left //= lengths[-1]
    at = draw.draw(st.integers(0, len(lengths)))
    rows = draw.draw(st.sampled_from(["-1", "batch_size"] if left == 1 else ["-1"]))
    written = [*map(str, lengths[:at]), rows, *map(str, lengths[at:])]
    return f"tf.reshape({text}, [{', '.join(written)}])", ids.reshape([*lengths[:at], left * EXAMPLES, *lengths[at:]])


def transposed(chain: Chain, draw: st.DataObject) -> Chain:
    text, ids = chain
    order = draw.draw(st.permutations(range(ids.ndim)))
    return f"tf.transpose({text}, {order})", ids.transpose(order)


def repeated(chain: Chain, draw: st.DataObject) -> Chain:
    text, ids = chain
    times = [draw.draw(st.sampled_from([1, 1, 2, 3])) for _ in range(ids.ndim)]
    return f"tf.tile({text}, {times})", np.tile(ids, times)


def joined(chain: Chain, draw: st.DataObject) -> Chain:
    text, ids = chain
    axis, count = draw.draw(st.integers(0, ids.ndim - 1)), draw.draw(st.integers(1, 3))
    return f"tf.concat([{', '.join([text] * count)}], {axis})", np.concatenate([ids] * count, axis)


def stacked(chain: Chain, draw: st.DataObject) -> Chain:
    text, ids = chain
    axis, count = draw.draw(st.integers(0, ids.ndim)), draw.draw(st.integers(1, 3))
    return f"tf.stack([{', '.join([text] * count)}], {axis})", np.stack([ids] * count, axis)


def split(chain: Chain, draw: st.DataObject) -> Chain:
    text, ids = chain
    axis = draw.draw(st.integers(0, ids.ndim - 1))
    count = draw.draw(st.sampled_from([n for n in (1, 2, 3, 4, 5) if ids.shape[axis] % n == 0]))
    at = draw.draw(st.integers(0, count - 1))
    return f"tf.split({text}, {count}, {axis})[{at}]", np.split(ids, count, axis)[at]


def widened(chain: Chain, draw: st.DataObject) -> Chain:
    text, ids = chain
    axis = draw.draw(st.integers(0, ids.ndim))
    return f"tf.expand_dims({text}, {axis})", np.expand_dims(ids, axis)


def picked(chain: Chain, draw: st.DataObject) -> Chain:
    text, ids = chain
    axis = draw.draw(st.integers(0, ids.ndim - 1))
    if ids.ndim == 1 or not draw.draw(st.booleans()):
        return f"{text}[{':, ' * axis}:2]", ids[(slice(None),) * axis + (slice(2),)]
    return f"{text}[{':, ' * axis}0]", ids.take(0, axis)


def first_batch(chain: Chain, draw: st.DataObject) -> Chain:
    text, ids = chain
    behind = draw.draw(st.booleans()) and ids.shape[0] > EXAMPLES
    taken = (f"{text}[batch_size:]", ids[EXAMPLES:]) if behind else (f"{text}[:batch_size]", ids[:EXAMPLES])
    return taken if ids.shape[0] >= EXAMPLES else chain


def multiplied(chain: Chain, draw: st.DataObject) -> Chain:
    """What stands last becomes another number of columns."""
    text, ids = chain
    if ids.ndim != 2 or ids.shape[1] != 6 or (ids != ids[:, :1]).any():
        return chain
    return f"tf.matmul({text}, w)", np.repeat(ids[:, :1], 4, 1)


STEPS = [reshaped, transposed, repeated, joined, stacked, split, widened, picked, first_batch, multiplied]


def numbered(rows: Axis, length: int) -> np.ndarray | None:
    """The example of each row as an axis has them; None where only the examples' order within a copy is claimed."""
    rest = length // EXAMPLES // prod(factor for factor in rows if isinstance(factor, int))
    unknown = [factor for factor in rows if factor is None or (isinstance(factor, str) and factor != BATCH)]
    if len(unknown) > 1:
        return None
    lengths = [factor if isinstance(factor, int) else EXAMPLES if factor == BATCH else rest for factor in rows]
    assert prod(lengths) == length
    along = [EXAMPLES if factor == BATCH else 1 for factor in rows]
    return np.broadcast_to(np.arange(EXAMPLES).reshape(along), lengths).reshape(-1)


def contradiction(value: Tensor, ids: np.ndarray) -> str:
    """What is claimed of the examples and does not hold, "" where all holds."""
    if value.batch.kind == "opaque" or (value.batch.kind == "reduced" and value.batch.how == "other"):
        return ""
    if value.batch.kind != "example":
        return f"taken for {value.batch.kind}"
    if value.dims is not None and any(d not in (None, n) for d, n in zip(value.dims, ids.shape, strict=True)):
        return f"its lengths are {value.dims}, not {ids.shape}"
    by_rows = np.moveaxis(ids, value.batch.axis, 0).reshape(ids.shape[value.batch.axis], -1)
    if (by_rows != by_rows[:, :1]).any():
        return "a row holds entries of several examples"
    claimed = numbered(value.batch.rows, len(by_rows))
    return "" if claimed is None or (claimed == by_rows[:, 0]).all() else f"its rows are not {value.batch.rows}"


@settings(max_examples=150, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_what_is_claimed_of_a_chain_holds(data: st.DataObject) -> None:
    chain = start(data.draw(st.sampled_from(sorted(STARTS))))
    for step in data.draw(st.lists(st.sampled_from(STEPS), min_size=1, max_size=5)):
        if chain[1].size < 20000 and chain[1].size % EXAMPLES == 0:  # small, and no example was taken out
            chain = step(chain, data)
    value = evaluate(chain[0])
    assert contradiction(value, chain[1]) == "", chain[0]


def test_a_wrong_claim_is_found() -> None:
    text, ids = "tf.concat([x, x], 0)", np.concatenate([start("x")[1]] * 2)
    value = evaluate(text)
    assert contradiction(value, ids) == ""
    assert contradiction(value, np.repeat(start("x")[1], 2, 0)) == "its rows are not (2, 'batch')"
    assert contradiction(value, (ids + np.arange(6)) % EXAMPLES) == "a row holds entries of several examples"


B = BATCH


@pytest.mark.parametrize(
    ("factors", "axis"),
    [
        ((), ()),
        ((1, B), (B,)),
        ((2, 3, B), (6, B)),
        ((2, B, 3, 1, 2), (2, B, 6)),
        ((None, None, B, None), (None, B, None)),
        ((2, "n", 3), (2, "n", 3)),
    ],
)
def test_products(factors: Axis, axis: Axis) -> None:
    assert product(factors) == axis


@pytest.mark.parametrize(
    ("axes", "wanted", "found"),
    [
        ([(B,), (6,)], [None, (6,)], (0, (B,))),
        ([(B,), (6,)], [None, (3,)], (0, (B, 2))),
        ([(B,), (6,)], [(B,), None], (0, (B,))),
        ([(B,), (6,)], [None], (0, (B, 6))),
        ([(B,), (6,)], [(1,), None, (6,)], (1, (B,))),
        ([(B,), (6,)], [None, (12,)], "joined"),
        ([(B,), (6,)], [None, (4,)], "cut"),
        ([(B,), (6,)], [(2,), None], "front"),
        ([(B,), ("n",), (6,)], [None, (6,)], (0, (B, "n"))),
        ([(B, "n"), (6,)], [None, ("n",), (6,)], (0, (B,))),
        ([(B, "n"), (6,)], [None, ("m",), (6,)], "unknown"),
        ([(B, 5), (6,)], [(B, 5), (6,)], (0, (B, 5))),
        ([(B, 5), (6,)], [(B,), None], (0, (B,))),
        ([(2, B), (6,)], [(2,), None, (6,)], (1, (B,))),
        ([(2, B), (6,)], [None, (6,)], (0, (2, B))),
        ([(2, B), (6,)], [(B,), None], "joined"),
        ([(2, B), (6,)], [(4,), None], "front"),
        ([(6, B), (6,)], [(2,), None, (6,)], (1, (3, B))),
        ([(5,), (B,), (6,)], [None, (6,)], (0, (5, B))),
        ([(None,), (B,), (6,)], [None, (B,), (6,)], (1, (B,))),
        ([(None,), (B,), (6,)], [(B,), None], "unknown"),
        ([(B,), (5,), (6,)], [None, (6,), (5,)], (0, (B,))),
    ],
)
def test_regrouped(axes: list[Axis], wanted: list[Axis | None], found: object) -> None:
    assert regrouped(axes, wanted) == found


@pytest.mark.parametrize(
    ("axes", "found"),
    [
        ([(B,), (B,)], (B,)),
        ([(B, 5), (B, None)], (B, 5)),
        ([(None, B), (2, B)], (2, B)),
        ([(B,), (2, B)], None),
        ([(B, 2), (2, B)], None),
        ([(3, B), (2, B)], None),
        ([(B,), (B, 5)], (B, None)),
    ],
)
def test_equal(axes: list[Axis], found: Axis | None) -> None:
    assert equal(axes) == found


@pytest.mark.parametrize(
    ("axis", "half", "one", "rest"),
    [
        ((2, B), (B,), (B,), (B,)),
        ((4, B), (2, B), (B,), (3, B)),
        ((B,), None, (B,), None),
        ((B, 2), None, None, None),
        ((2, B, 3), (B, 3), None, None),
        (("n", B), None, (B,), None),
    ],
)
def test_pieces(axis: Axis, half: Axis | None, one: Axis | None, rest: Axis | None) -> None:
    assert (without(axis, 2), first(axis), others(axis)) == (half, one, rest)
