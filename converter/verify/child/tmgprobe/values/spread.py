"""How far the original's own way ends from itself when its first weights are changed by rounding.

Where a unit sits on the edge of a ReLU, two numbers are level in a max pool, or an optimizer divides a gradient of
rounding alone by its own size, a change in the last places changes a step by a finite amount, and any two runs part.
"""

from __future__ import absolute_import, division, print_function

from tmgprobe.values import compare

TRIES = 12  # changes of the first weights in the last place


def largest_of_tries(found, weights, errors, tries=TRIES):
    """{what: how far the original ends from itself}, for what differs: the largest of several tries.

    Not every change meets the edge, so tries end when each shows a tenth of what was found. found: {what: error of the
    conversion}; weights: {variable: first value}; errors: a function from changed first weights to {what: error}.
    """
    largest = dict.fromkeys(found, 0.0)
    for seed in range(tries):
        if all(largest[what] >= error / 10 for what, error in found.items()):
            break
        moved = errors(compare.nudged(weights, seed))
        for what, error in moved.items():
            if what in largest and error - error == 0:
                largest[what] = max(largest[what], error)
    return largest
