"""Short marks for the examples of a batch, by which two streams of batches are compared."""

from __future__ import absolute_import, division, print_function

import collections
import hashlib

import numpy as np

EACH = 'each'  # in place of a batch axis: the whole array is one example
ZEROS = (0, False)  # a padding: the number, and whether it stands in front of an example instead of behind it
NUMBERS = 'fiub'  # kinds of arrays in which there may be padding
TRIED = 2  # numbers that may be the padding of an input: a last word of its own may be as frequent


def marks(array, axis, padding=ZEROS):
    """One mark for each example of an array: equal for equal examples, padded with zeros (or so) or not."""
    if axis == EACH:
        return [_mark(array)]
    rows = np.rollaxis(array, axis) if axis else array
    if isinstance(rows, np.ndarray) and rows.dtype.kind in NUMBERS and rows.ndim > 1 and rows.size:
        rows = _unpadded(rows, padding)
    return [_mark(row) for row in rows]


def lacks(array, axis):
    """Whether an array has no such axis with one entry for each example."""
    return axis is None or (axis != EACH and np.ndim(array) <= axis)


def paddings(batches):
    """With what examples may be padded to the longest of their batch, the likeliest first.

    batches: [(array, batch axis)] of one input. Batches have to differ in width, and many examples that are not the
    longest of theirs begin or end with their padding.
    """
    turned = [np.rollaxis(array, axis) if axis else array for array, axis in batches]
    numbers = all(rows.size and rows.dtype.kind in 'fiu' for rows in turned)
    if len({rows.ndim for rows in turned}) != 1 or not numbers:
        return []
    ends = {False: collections.Counter(), True: collections.Counter()}
    for axis in range(1, turned[0].ndim):
        if len({rows.shape[axis] for rows in turned}) == 1:
            continue
        for front, place in ((False, -1), (True, 0)) if axis == 1 else ((False, -1),):
            for rows in turned:
                last = np.take(rows, place, axis).reshape(len(rows), -1)
                ends[front].update(float(row[0]) for row in last if row.size and (row == row[0]).all())
    found = [(number, front) for front in (False, True) for number, _ in ends[front].most_common(TRIED)]
    return [padding for padding in found if padding != ZEROS]


def _mark(row):
    row = np.asarray(_in_order(row) if isinstance(row, bytes) else row)
    if row.dtype.kind == 'O':
        data = repr(row.tolist()).encode('utf-8')
    elif row.ndim and row.dtype.kind in NUMBERS:
        data = repr(row.shape).encode('utf-8') + row.tobytes()
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


def _unpadded(rows, padding):
    """Each example without its padding: how much there is may depend on the longest one of its batch."""
    number, front = padding
    there = rows != number
    if front:
        seen = there.reshape(len(rows), rows.shape[1], -1).any(2)
        begins = np.where(seen.any(1), seen.argmax(1), rows.shape[1]).tolist()
        return [row[begin:] for row, begin in zip(rows, begins)]
    ends = []  # of each example along each of its axes: what is cut along one of them is nothing along the others
    for axis in range(1, rows.ndim):
        seen = there.any(tuple(other for other in range(1, rows.ndim) if other != axis))
        length = rows.shape[axis]
        ends.append(np.where(seen.any(1), length - seen[:, ::-1].argmax(1), 0).tolist())
    return [row[tuple(slice(end) for end in found)] for row, found in zip(rows, zip(*ends))]


def joined(columns):
    """One mark for each example out of those of several inputs; None where these have different numbers of rows."""
    if len({len(column) for column in columns}) != 1:
        return None
    return ['/'.join(parts) for parts in zip(*columns)]
