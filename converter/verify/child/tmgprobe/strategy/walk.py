"""One step of the original for all replicas: the mean of the gradients of their batches, taken at the same weights."""

from __future__ import absolute_import, division, print_function

import numpy
from tmgprobe.strategy import batches


class ReplicaBatches(object):
    """The batches of the replicas in one step, and the weight of each: its part of the examples."""

    def __init__(self, batch, number):
        self.batches = batches.cut(batch, number) if number > 1 else [batch]
        rows = [len(batches.flat(part)[0]) for part in self.batches]
        self.weights = [row / float(sum(rows)) for row in rows]


def merged(before, after, weights):
    """A variable that each replica updates by itself, as the moving averages of a batch norm: the mean of theirs."""
    if not numpy.issubdtype(before.dtype, numpy.floating):
        return after[0]
    found = sum(numpy.asarray(value, numpy.float64) * weight for value, weight in zip(after, weights))
    return numpy.asarray(found, before.dtype)
