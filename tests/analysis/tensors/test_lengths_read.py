"""Shapes that a program reads off its tensors, static where they are and dynamic elsewhere, and reshapes others to."""

from __future__ import annotations

import ast

import pytest

from converter.analysis import read_facts
from converter.analysis.values import Tensor
from converter.options import Options

SCRIPT = """
import tensorflow as tf

words = tf.placeholder(tf.int32, [None, None])
fixed = tf.placeholder(tf.float32, [None, 16, 32])
steps = tf.placeholder(tf.float32, [None, None, 32])
table = tf.get_variable('table', [100, 32])


def lengths(tensor):
    shape = tensor.shape.as_list()
    unknown = []
    for (place, length) in enumerate(shape):
        if length is None:
            unknown.append(place)
    if not unknown:
        return shape
    dynamic = tf.shape(tensor)
    for place in unknown:
        shape[place] = dynamic[place]
    return shape


def of_rank(tensor, rank):
    if tensor.get_shape().is_fully_defined():
        return tensor.get_shape().as_list()
    static = tensor.get_shape().with_rank(rank).as_list()
    return [s if s is not None else d for s, d in zip(static, tf.unstack(tf.shape(tensor), rank))]


def to_rows(tensor):
    if tensor.shape.ndims == 2:
        return tensor
    return tf.reshape(tensor, [-1, lengths(tensor)[-1]])


def back(rows, shape):
    if len(shape) == 2:
        return rows
    return tf.reshape(rows, shape[0:-1] + [lengths(rows)[-1]])


def heads(rows, batch, length):
    return tf.transpose(tf.reshape(rows, [batch, length, 4, 8]), [0, 2, 1, 3])


result = {expression}
"""

CASES = """
to_rows(fixed)                                                    -> 0 ('batch', 16)
to_rows(words)                                                    -> 0 ('batch',)
back(to_rows(fixed), lengths(fixed))                              -> 0 ('batch',)
back(to_rows(steps), lengths(steps))                              -> 0 ('batch',)
back(tf.layers.dense(to_rows(steps), 8), lengths(steps))          -> 0 ('batch',)
back(tf.contrib.layers.layer_norm(to_rows(steps)), lengths(steps)) -> 0 ('batch',)
back(to_rows(tf.gather(table, words)), lengths(tf.gather(table, words))) -> 0 ('batch',)
heads(to_rows(fixed), lengths(fixed)[0], lengths(fixed)[1])       -> 0 ('batch',)
heads(to_rows(steps), lengths(steps)[0], lengths(steps)[1])       -> 0 ('batch',)
tf.matmul(heads(fixed, -1, 16), heads(fixed, -1, 16), transpose_b=True) -> 0 ('batch',)
tf.reshape(heads(fixed, -1, 16), [-1, 8])                         -> 0 ('batch', 64)
tf.reshape(heads(steps, lengths(steps)[0], lengths(steps)[1]), [-1, 8])[0] -> opaque
tf.reshape(to_rows(steps), [lengths(words)[1], -1, 32])           -> opaque
tf.reshape(fixed, of_rank(fixed, 3)[:-1] + [8, 4])                -> 0 ('batch',)
tf.reshape(steps, of_rank(steps, 3)[:-1] + [8, 4])                -> 0 ('batch',)
tf.reshape(to_rows(steps), of_rank(steps, 3)[1:])                 -> opaque
tf.reshape(fixed, [16, -1, of_rank(fixed, 3)[2]])                 -> opaque
tf.reshape(tf.transpose(steps, [1, 0, 2]), [-1, 32])              -> 0 ('open', 'batch')
tf.reshape(tf.reshape(tf.transpose(steps, [1, 0, 2]), [-1, 32]), [lengths(steps)[1], -1, 32]) -> 1 ('batch',)
tf.reshape(tf.reshape(tf.transpose(steps, [1, 0, 2]), [-1, 32]), [lengths(words)[1], -1, 32]) -> opaque
"""


def found(expression: str) -> str:
    text = SCRIPT.replace("{expression}", expression)
    value = read_facts("script.py", ast.parse(text), Options()).module.locals["result"]
    assert isinstance(value, Tensor)
    rows = tuple(factor.split()[0] if isinstance(factor, str) else factor for factor in value.batch.rows)
    return f"{value.batch.axis} {rows}" if value.batch.kind == "example" else value.batch.kind


@pytest.mark.parametrize(("expression", "wanted"), [line.split(" -> ") for line in CASES.strip().splitlines()])
def test_where_the_batch_is(expression: str, wanted: str) -> None:
    assert found(expression.strip()) == wanted
