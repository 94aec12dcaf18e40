"""Which of the original's operations the conversion builds in the towers, and what becomes of a value behind them.

A way is one answer to both. The plan of the conversion gives one, `planned`, by the lines that made the operations. For
a conversion whose plan is not known there are five, of which one has to hold for a value in the whole run.
"""

from __future__ import absolute_import, division, print_function

import collections

from tmgprobe.graph import lines

# how: its name; inside: whether an operation is built in the towers; numbers: whether its numbers are put together
# there, as a loss's are, and not computed from what has rows; first: whether of what towers write into variables the
# first tower's counts; grown: whether numbers that may be sizes of batches grow behind the towers.
Way = collections.namedtuple('Way', 'how inside numbers first grown')


class PlannedOperations(object):
    """The operations that a plan puts into the towers.

    spans: [[file, first line, last line, whether it is in the towers]]; counted: whether the towers' losses are
    weighed by what masks leave of their shards; once: whether the end of a loss is computed once, from what they give;
    summed: whether their losses are added up, and not averaged; None where some are.
    """

    def __init__(self, spans, counted, once, summed, job):
        self.counted, self.once, self.summed, self.job, self.known = counted, once, summed, job, {}
        self.spans = {}
        for path, first, last, inside in spans:
            self.spans.setdefault(path, []).append((last - first, first, last, inside))

    def holds(self, operation):
        """Whether the narrowest statement of the plan, in the outermost line that it names, stands in the towers."""
        if operation not in self.known:
            self.known[operation] = self._holds(lines.script_lines(operation, self.job))
        return self.known[operation]

    def _holds(self, stack):
        for path, line in stack:
            around = [span for span in self.spans.get(path, ()) if span[1] <= line <= span[2]]
            if around:
                return min(around)[3]
        return False


def ways(region, trunk, sized):
    """The ways in which a value may be put together.

    trunk: what the losses are computed of; sized: whether there are numbers that may be sizes of batches.
    """
    if region is not None:
        return [Way('planned', region.holds, region.holds, True, False)]
    nowhere, everywhere = (lambda operation: False), (lambda operation: True)
    found = [
        Way('whole', nowhere, nowhere, False, False),
        Way('rows', everywhere, nowhere, False, False),
        Way('loss', trunk.__contains__, nowhere, False, False),
        Way('means', everywhere, trunk.__contains__, False, False),
        Way('first tower', nowhere, nowhere, True, False),
    ]
    return found + [one._replace(how='grown ' + one.how, grown=True) for one in found if sized]


def nearest(ways, key, readings, close):
    """Of readings [(error, how, ...)] of one value the nearest that it had in all of its runs so far.

    ways: {key: how it could be read in all of them}, to which this run's are noted; close: up to which error one fits.
    """
    allowed = [one for one in readings if key not in ways or one[1] in ways[key]] or readings
    fit = {one[1] for one in allowed if one[0] <= close}
    if fit:
        ways[key] = fit
    return min(allowed, key=lambda one: one[0])
