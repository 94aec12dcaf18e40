"""What the original's graph holds of the size of its batch, as it would be for the conversion's batch.

A script may compute with the size as a number (`tf.reduce_sum(losses) / batch_size`), which the graph then holds as a
constant. Behind the towers the conversion's is N times as large; the text of the original says which statements read
it.
"""

from __future__ import absolute_import, division, print_function

import numpy as np
from tmgprobe.graph import graphs, lines
from tmgprobe.session import fetches


class SizedStatements(object):
    """The original's statements that read a size of batches which grows with the towers.

    sizes: [[file, first line, last line, numbers written there]].
    """

    def __init__(self, sizes, job):
        self.job, self._sizes, self._constants = job, {}, {}
        for path, first, last, numbers in sizes:
            self._sizes.setdefault(path, []).append((first, last, tuple(numbers)))

    def constants(self, step):
        """[[(constant, numbers that are written there)]] of each of them, in the graph of a step."""
        if step not in self._constants:
            found = {}
            for operation in step.operations:
                short = operation.type == 'Const' and operation.outputs[0].get_shape().ndims in (0, 1)
                place = self._place(operation) if short and step.graph.is_feedable(operation.outputs[0]) else None
                if place is not None:
                    found.setdefault(place, []).append((operation.outputs[0], place[2]))
            self._constants[step] = list(found.values())
        return self._constants[step]

    def _place(self, operation):
        """The statement that made an operation, as (file, first line, numbers)."""
        for path, line in lines.script_lines(operation, self.job)[-1:]:
            for first, last, numbers in self._sizes.get(path, ()):
                if first <= line <= last:
                    return path, first, numbers
        return None


def numbers(one, given):
    """{name: value} of the constants of such statements that are sizes of the original's batch, or multiples of one.

    given: a feed for the original.
    """
    return {} if _none_grows(one) or one.sizes is None else _grown(one, given, one.sizes.constants(one.step), True)


def divisors(one, given, dependent):
    """As `numbers`, of others that may be sizes: nothing tells whether they are, or are so by chance.

    They divide what depends on the batch, and numbers of examples are taken away from them: (size - right) / size.
    dependent: the operations that depend on the batch.
    """
    if _none_grows(one):
        return {}
    taken = [(op.type in graphs.DIVISIONS, op.inputs) for op in dependent if op.type in graphs.DIVISIONS + ('Sub',)]
    pairs = [(divides, inputs[1 if divides else 0]) for divides, inputs in taken]
    beside = [pair for pair in pairs if pair[1].get_shape().ndims == 0 and _is_beside(pair[1], given, dependent)]
    found = _values(one, given, [number for divides, number in beside if divides]).values()
    sized = any(np.isin(value, list(one.step.own_sizes)) for value in found)
    return _grown(one, given, [[(number, ()) for _, number in beside]], False) if sized else {}


def _none_grows(one):
    return one.total or one.gpus == 1 or not one.step.own_sizes


def _grown(one, given, read, multiples):
    """{name: value} of constants for the conversion's batch; multiples: whether those of a size grow where none is one.

    read: see `SizedStatements.constants`.
    """
    sizes = sorted(one.step.own_sizes)
    values, found = _values(one, given, [tensor for several in read for tensor, _ in several]), {}
    for several in read:
        pairs = [(tensor.name, values[tensor.name], written) for tensor, written in several if tensor.name in values]
        loose = [(name, value, ~np.isin(value, written)) for name, value, written in pairs if value.dtype.kind in 'fiu']
        grown = [(name, _times(value, free & np.isin(value, sizes), one.gpus)) for name, value, free in loose]
        if multiples and all(value is None for _, value in grown):
            grown = [(name, _times(v, free & (v > 0) & (v % sizes[0] == 0), one.gpus)) for name, v, free in loose]
        found.update((name, value) for name, value in grown if value is not None)
    return found


def _is_beside(tensor, given, dependent):
    """Whether a tensor does not depend on the batch, and can be fed."""
    return tensor.op not in dependent and tensor.name not in given and tensor.graph.is_feedable(tensor)


def _values(one, given, tensors):
    """{name: array} of those tensors that can be had."""
    found = fetches.computable(lambda wanted: one.run(wanted, given), {t.name: t for t in tensors}, one.refused)
    return {name: np.asarray(value) for name, value in found.items()}  # a text comes as bytes


def _times(value, which, factor):
    """A value with the first of these numbers so many times as large; None where there is none."""
    places, grown = np.flatnonzero(which), np.array(value).ravel()
    if not len(places):
        return None
    grown[places[0]] = grown[places[0]] * factor
    return grown.reshape(np.shape(value))
