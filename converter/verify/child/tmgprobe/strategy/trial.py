"""The task and the record of one script that a strategy trains."""

from __future__ import absolute_import, division, print_function

import pickle

import numpy

ORIGINAL, CONVERSION = 'strategy original', 'strategy conversion'


class Trial(object):
    """What one script is to do, and what it did.

    given: the original's batches, initial weights and notes, for the conversion. strategies: how many the script has
    made. converted: whether the script is the conversion. trains: whether graphs that are built now train. work: the
    number of operations of such graphs that do the model's work, by device; '' where TensorFlow chooses.
    """

    def __init__(self, tf, channel, job):
        self.tf, self.channel, self.job = tf, channel, job
        self.gpus, self.steps, self.total = job['gpus'], job['steps'], job['total']
        self.converted = job['role'] == CONVERSION
        self.given = None
        self.strategies = 0
        self.held = 0
        self.trains, self.work = False, {}

    def load(self, path):
        """What the original's process has written."""
        with open(path, 'rb') as stream:
            return pickle.load(stream)

    def leave(self, kind, batches, weights, **facts):
        """Saves the weights, a list with {name: array} before the first step and after each; ends the process."""
        content = dict(facts, kind=kind, batches=batches, weights=weights)
        if not self.converted:
            with open(self.job['record'], 'wb') as stream:
                pickle.dump(content, stream, 2)
        rows = self.compared(weights) if self.converted else []
        self.channel.leave('trained', kind=kind, steps=len(weights) - 1, rows=rows, held=self.held, work=self.work,
                           facts=facts)

    def compared(self, weights):
        """One row for each variable of either script, with the worst error of all steps.

        An error is the largest difference, as a part of the longest way that any element of the original's variable
        has gone since the first step; None where a script lacks the variable, or its shape is another.
        """
        rows = []
        mine = self.given['weights']
        for name in sorted(set(mine[0]) | set(weights[0])):
            one, other = mine[0].get(name), weights[0].get(name)
            row = {'name': name, 'original': one is not None, 'converted': other is not None, 'error': None}
            shown = one if one is not None else other
            row.update(shape=list(shown.shape), dtype=shown.dtype.name, finite=True)
            if one is not None and other is not None and one.shape == other.shape:
                row.update(way_error([step[name] for step in mine], [step[name] for step in weights]))
            rows.append(row)
        return rows

    def stop(self, reason):
        """Ends the process: this script cannot be compared, or fails."""
        self.channel.leave('ended', message=reason, trace='')


def way_error(mine, theirs):
    """The largest difference as a part of the way gone, see `Trial.compared`; and whether all is finite."""
    worst, finite = 0.0, True
    start = mine[0].astype('float64')
    for one, other in zip(mine, theirs):
        one, other = one.astype('float64'), other.astype('float64')
        finite = finite and bool(numpy.isfinite(one).all())
        apart = float(numpy.abs(one - other).max()) if one.size else 0.0
        way = float(numpy.abs(one - start).max()) if one.size else 0.0
        rounding = 1e-6 * (float(numpy.abs(one).max()) if one.size else 0.0)
        if apart > rounding or apart != apart:
            worst = max(worst, apart / way if way else float('inf')) if apart == apart else float('inf')
    return {'error': worst, 'finite': finite}
