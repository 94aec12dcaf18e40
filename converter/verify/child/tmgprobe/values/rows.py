"""Short marks for the examples of a batch, by which two streams of batches are compared."""

from __future__ import absolute_import, division, print_function

import collections
import hashlib

import numpy as np


def marks(array, axis, padding=0):
    """One mark for each example of an array: equal for equal examples, padded with zeros (or this number) or not."""
    rows = np.rollaxis(array, axis) if axis else array
    return [_mark(row, padding) for row in rows]


def padding(batches):
    """The number with which examples are padded to the longest of their batch; None where nothing tells.

    batches: [(array, batch axis)] of one input. Batches have to differ in width, and most examples that are not the
    longest of theirs end with their padding.
    """
    widths, ends = set(), collections.Counter()
    for array, axis in batches:
        rows = np.rollaxis(array, axis) if axis else array
        if rows.ndim < 2 or not rows.size or rows.dtype.kind not in 'fiu':
            return None
        widths.add(rows.shape[1])
        last = rows[:, -1].reshape(len(rows), -1)
        ends.update(float(row[0]) for row in last if (row == row[0]).all())
    return ends.most_common(1)[0][0] if len(widths) > 1 and ends else None


def _mark(row, padding=0):
    row = np.asarray(_in_order(row) if isinstance(row, bytes) else row)
    if row.dtype.kind == 'O':
        data = repr(row.tolist()).encode('utf-8')
    elif row.ndim and row.shape[0] and row.dtype.kind in 'fiub':
        data = _unpadded(row, padding).tobytes()
    else:
        data = row.tobytes()
    return hashlib.md5(data).hexdigest()[:16]


def _in_order(data):
    """A serialized tf.train.Example or SequenceExample with its features sorted; other bytes as they are.

    Its features are a map, which protobuf writes in an order of its own, another one in each process.
    """
    if data[:1] != b'\n':  # the key of the first field of both
        return data
    from tensorflow.core.example import example_pb2

    try:
        return example_pb2.SequenceExample.FromString(data).SerializeToString(deterministic=True)
    except Exception:  # protobuf's, for other bytes; TypeError from one that knows no order
        return data


def _unpadded(row, padding):
    """An example without the padding at its end: how much there is may depend on the longest one of its batch."""
    if (row[-1] != padding).any():
        return row
    there = (row.reshape(row.shape[0], -1) != padding).any(1)
    return row[: np.flatnonzero(there)[-1] + 1] if there.any() else row[:0]


def joined(columns):
    """One mark for each example out of those of several inputs; None where these have different numbers of rows."""
    if len({len(column) for column in columns}) != 1:
        return None
    return ['/'.join(parts) for parts in zip(*columns)]
