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


MAPPED = """
data = tf.data.Dataset.from_tensor_slices(names).batch(8).map(lambda n: tf.py_func(load, [n], [tf.float32, tf.float32]))
image, boxes = data.make_one_shot_iterator().get_next()
both = [image, boxes]
{}
result = image, boxes
"""


@pytest.mark.parametrize(
    ("told", "wanted"),
    [
        ("image.set_shape([None, None, None, 3])", [4, None]),
        ("image.set_shape((8, 28, 28, 3))", [4, None]),
        ("for one in both:\n    one.set_shape([None, None, 5])", [3, 3]),
        ("image.set_shape(shape)", [None, None]),
        ("tf.identity(image).set_shape([None, 3])", [None, None]),
    ],
)
def test_what_a_function_of_python_gives_has_the_shape_that_it_is_given(told: str, wanted: object) -> None:
    assert ranks(value_of(MAPPED.format(told))) == wanted


def test_lengths_of_a_shape_that_is_given_are_those_of_each_example() -> None:
    shape = "image.set_shape([None, None, None, 3])\n"
    result = "result = tf.cast(tf.shape(image)[1:3] / tf.shape(tf.layers.conv2d(image, 4, 3))[1:3], tf.float32)"
    told, untold = (value_of(MAPPED.format(line).rpartition("result =")[0] + result) for line in (shape, ""))
    assert isinstance(told, Tensor) and told.batch.kind == "free"
    assert not isinstance(untold, Tensor) or untold.batch.kind != "free"
