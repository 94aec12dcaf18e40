"""Gives many variables of a graph their values in one run."""

from __future__ import absolute_import, division, print_function


def assign(pairs, run):
    """Gives variables their values, [(variable, value)]; those whose initial values are one tensor in turn.

    run: session.run, of operations and what is fed.
    """
    while pairs:
        feed, now, later = {}, [], []
        for variable, value in pairs:
            initial = variable.initializer.inputs[1]
            if initial.name in feed:
                later.append((variable, value))
            else:
                feed[initial.name] = value
                now.append(variable.initializer)
        run(now, feed)
        pairs = later
