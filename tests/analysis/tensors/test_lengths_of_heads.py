"""Heads of detectors, whose channels are reshaped to boxes by numbers that the script computes."""

from __future__ import annotations

import pytest

from converter.analysis.values import Tensor
from tests.scripts import case_of

SCRIPT = """\
import numpy as np
import tensorflow as tf

anchors = np.array([float(one) for one in open('anchors.txt').readline().split(',')]).reshape(-1, 2)
masks = [[6, 7, 8], [3, 4, 5]]
count = {count}
classes = {classes}
x = tf.placeholder(tf.float32, [None, None, None, 8])
channels = tf.layers.conv2d(x, {filters}, 1)
shape = tf.shape(channels)
boxes = tf.reshape(channels, [-1, shape[1], shape[2], {boxes}, classes + 5])
"""


def rows_of_boxes(count: str, boxes: str, filters: str = "count / 3 * (classes + 5)", classes: str = "80") -> object:
    """The factors of the first axis: of the batch alone where the boxes are as many as the channels have."""
    facts = case_of(SCRIPT.format(count=count, boxes=boxes, filters=filters, classes=classes)).facts
    made = next(a.value for a in facts.accesses if a.write and a.place.key == "boxes")
    assert isinstance(made, Tensor)
    return made.batch.rows if made.batch.kind == "example" else None


@pytest.mark.parametrize("boxes", ["len(anchors[masks[0]])", "len(anchors[[1, 2, 3]])", "3", "count // 3", "count / 3"])
def test_as_many_boxes_as_the_channels_have(boxes: str) -> None:
    assert rows_of_boxes("9", boxes) == ("batch",)


@pytest.mark.parametrize(
    ("count", "boxes"),
    [
        ("9", "len(anchors)"),  # a file tells
        ("9", "len(anchors[np.arange(read())])"),
        ("9", "len(anchors[masks[0] + read()])"),
        ("9", "len(anchors[[1, 2]])"),  # joins rows of several examples, or fails
        ("10", "3"),
    ],
)
def test_boxes_that_may_not_divide_the_channels(count: str, boxes: str) -> None:
    assert rows_of_boxes(count, boxes) != ("batch",)
