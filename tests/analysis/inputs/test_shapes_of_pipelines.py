"""The shapes of batches from pipelines and queues, where the script tells those of their elements."""

from __future__ import annotations

import pytest

from converter.analysis.values import Sequence, Tensor
from tests.analysis.readings import value_of

PIPELINE = """
def rows():
    yield ([1, 2], 2), [3]
types = ((tf.int32, tf.int32), tf.int32)
shapes = (([None], ()), [None])
data = tf.data.Dataset.from_generator(rows, types{told})
data = data{then}
result = data.make_one_shot_iterator().get_next()
"""
QUEUE = """
import numpy as np
{made}
one, two = tf.train.slice_input_producer([a, b])
result = tf.train.shuffle_batch([one, two], batch_size=8, capacity=100, min_after_dequeue=10)
"""


def ranks(value: object) -> object:
    """The ranks of tensors, in the structure that holds them."""
    if isinstance(value, Sequence):
        return [ranks(part) for part in value.elements]
    assert isinstance(value, Tensor)
    return value.rank


@pytest.mark.parametrize(
    ("told", "then", "wanted"),
    [
        (", shapes", ".padded_batch(8, shapes)", [[2, 1], 2]),
        ("", ".padded_batch(8, padded_shapes=shapes)", [[2, 1], 2]),
        ("", ".shuffle(100).repeat().padded_batch(8, shapes).prefetch(1)", [[2, 1], 2]),
        (", shapes", ".batch(8)", [[2, 1], 2]),
        (", shapes", ".padded_batch(8, (([None], ()), None))", [[2, 1], None]),
        ("", ".batch(8)", [[None, None], None]),
        (", shapes", ".padded_batch(8, [None])", [[None, None], None]),  # not in the structure of the elements
        (", shapes", ".map(lambda x, y: (x, y)).batch(8)", [[None, None], None]),
    ],
)
def test_batches_have_one_axis_more_than_their_elements(told: str, then: str, wanted: object) -> None:
    assert ranks(value_of(PIPELINE.format(told=told, then=then))) == wanted


@pytest.mark.parametrize(
    ("made", "wanted"),
    [
        ("a, b = np.zeros([50, 7]), np.zeros(50)", [2, 1]),
        ("a, b = tf.convert_to_tensor(np.zeros([50, 7])), tf.constant(np.zeros(50))", [2, 1]),
        ("a, b = load()", [None, None]),
        ("a, b = tf.convert_to_tensor(load()), np.zeros(50)", [None, 1]),
    ],
)
def test_slices_have_one_axis_less_than_what_they_are_taken_from(made: str, wanted: object) -> None:
    assert ranks(value_of(QUEUE.format(made=made))) == wanted
