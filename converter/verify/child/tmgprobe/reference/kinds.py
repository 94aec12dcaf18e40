"""Steps of one kind: what the first of them were found to be is looked for in the later ones before all else.

A step is compared in full by every reference that the contract allows, by both ways in which its update may be fed,
and along the original's own way. Where the first steps of a kind (one train op, with as many examples and the same
fetches) all came to one plain result, a later one has to come to it again: its gradients are those of that reference,
and its update is the original's from them. One that does not is compared in full.
"""

from __future__ import absolute_import, division, print_function

import collections

from tmgprobe.reference import faults, merge
from tmgprobe.reference.reference import PLAIN

FULL = 6  # steps of a kind that are compared in full before a later one is compared by their result
# reference: the name of the one that the gradients fit; kind: what the loss is, see StepComparison.kind
Result = collections.namedtuple('Result', 'reference kind')


class Kinds(object):
    """The results of steps that were compared in full, by the kind of step."""

    def __init__(self):
        self._results = collections.defaultdict(list)

    def result(self, one):
        """The result that the last FULL steps of a comparison's kind had; None where they had several, or too few."""
        last = self._results[_kind(one)][-FULL:]
        return last[0] if len(last) == FULL and len(set(last)) == 1 else None

    def learn(self, one, plain):
        """Notes what a step was found to be; plain: whether the first share alone explains its whole update."""
        found = one.figures
        fits = found['reference'] in PLAIN and all(error < faults.CLOSE for error in found['gradients'].values())
        excused = found['unsteady'] or found['less_exact'] or found['matches']
        plain = plain and fits and not excused and all(error <= merge.CLOSE for error in found['update'].values())
        self._results[_kind(one)].append(Result(found['reference'], found['kind']) if plain else None)

    def forget(self, one):
        """A step of this kind came to something else: the next ones are compared in full."""
        del self._results[_kind(one)]


def _kind(one):
    return one.step, one.figures['rows'], one.figures['own_rows']
