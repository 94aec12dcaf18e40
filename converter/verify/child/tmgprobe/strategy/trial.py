"""The task and the record of one script that a strategy trains."""

from __future__ import absolute_import, division, print_function

import pickle

import numpy
from tmgprobe.strategy.gradients import GradientCalls
from tmgprobe.values import spread

ORIGINAL, CONVERSION = 'strategy original', 'strategy conversion'
# Replicas' sums round otherwise than one script's: of a gradient of rounding alone twelve tries showed a tenth of
# the conversion's error in 17 of 18 runs.
TRIES = 48


class Trial(object):
    """What one script is to do, and what it did.

    given: the original's batches, initial weights and notes, for the conversion. strategies: how many the script has
    made. converted: whether the script is the conversion. trains: whether graphs that are built now train. work: the
    number of operations of such graphs that do the model's work, by device; '' where TensorFlow chooses. gradients:
    those of the original.
    """

    def __init__(self, tf, channel, job):
        self.tf, self.channel, self.job = tf, channel, job
        self.gpus, self.steps, self.total = job['gpus'], job['steps'], job['total']
        self.converted = job['role'] == CONVERSION
        self.given = None
        self.strategies = 0
        self.held = 0
        self.trains, self.work = False, {}
        self.gradients = GradientCalls()

    def load(self, path):
        """What the original's process has written."""
        with open(path, 'rb') as stream:
            return pickle.load(stream)

    def trained(self, kind, batches, weights, states, again, **facts):
        """Of the original: saves the weights, as `leave`, and tells; then how far it ends from itself, and ends.

        states: the variables that can be set before the first step, and after each; again: computes them anew from
        other first values.
        """
        with open(self.job['record'], 'wb') as stream:
            pickle.dump(dict(facts, kind=kind, batches=batches, weights=weights), stream, pickle.HIGHEST_PROTOCOL)
        self.channel.send('trained', kind=kind, steps=len(weights) - 1, held=self.held, facts=facts)
        errors = self.channel.receive()['errors']
        found = {(name, kind): error for name, kinds in errors.items() for kind, error in kinds.items()}

        def ends(first):
            rows = self.compared(states, again(first))
            return {(row['name'], kind): row[kind] for row in rows for kind in row if kind in ('error', 'usual')}

        largest = spread.largest_of_tries(found, states[0], ends, TRIES)
        rows = {name: {kind: largest[name, kind] for kind in kinds} for name, kinds in errors.items()}
        self.channel.leave('tried', spread=rows)

    def leave(self, kind, weights, **facts):
        """Of the conversion: tells how its weights compare, a list with {name: array} as the original's."""
        rows = self.compared(self.given['weights'], weights)
        self.channel.leave('trained', kind=kind, steps=len(weights) - 1, rows=rows, held=self.held, work=self.work,
                           facts=facts)

    def compared(self, mine, weights):
        """One row for each variable of either script, with the worst error of all steps.

        An error is the largest difference, as a part of the longest way that any element of the original's variable
        has gone since the first step; None where a script lacks the variable, or its shape is another. Its usual error
        is the root of the mean square of the differences in place of the largest.
        """
        rows = []
        for name in sorted(set(mine[0]) | set(weights[0])):
            one, other = mine[0].get(name), weights[0].get(name)
            row = {'name': name, 'original': one is not None, 'converted': other is not None, 'error': None,
                   'usual': None, 'moved': False}
            shown = one if one is not None else other
            row.update(shape=list(shown.shape), dtype=shown.dtype.name, finite=True)
            if one is not None and other is not None and one.shape == other.shape:
                row.update(way_error([step[name] for step in mine], [step[name] for step in weights]))
            rows.append(row)
        return rows

    def stop(self, reason):
        """Ends the process: this script cannot be compared, or fails."""
        self.channel.end(reason, '')


def way_error(mine, theirs):
    """The largest and the usual difference, see `Trial.compared`; whether all is finite, and the variable moves."""
    worst, usual, finite, moved = 0.0, 0.0, True, False
    start = mine[0].astype('float64')
    for one, other in zip(mine, theirs):
        one, other = one.astype('float64'), other.astype('float64')
        finite = finite and bool(numpy.isfinite(one).all())
        apart = numpy.abs(one - other) if one.size else numpy.zeros(1)
        way = float(numpy.abs(one - start).max()) if one.size else 0.0
        moved = moved or way > 0
        rounding = 1e-6 * (float(numpy.abs(one).max()) if one.size else 0.0)
        for_all = float(numpy.sqrt(numpy.mean(apart ** 2)))
        if apart.max() != apart.max():
            worst = usual = float('inf')
        elif apart.max() > rounding:
            worst = max(worst, apart.max() / way if way else float('inf'))
            usual = max(usual, for_all / way if way else float('inf'))
    return {'error': float(worst), 'usual': float(usual), 'finite': finite, 'moved': moved}
