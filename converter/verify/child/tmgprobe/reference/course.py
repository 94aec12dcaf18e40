"""Trains the original through the recorded steps, and compares its weights at their end with the conversion's."""

from __future__ import absolute_import, division, print_function

import collections

import numpy as np
from tmgprobe.reference import update
from tmgprobe.reference.reference import StepComparison
from tmgprobe.values import compare
from tmgprobe.values import spread as spreads

FAR = 1e-3  # what the original's own way may end away from the conversion's

# errors: as of `trajectory`; spread: as of `spread`, where some are large; steps: how many were taken
Walked = collections.namedtuple('Walked', 'errors spread steps')


def with_changes(weights, last, kept):
    """The weights of the original's own training, with changes that the script made between the steps."""
    own = dict(weights)
    for name, value in kept['before'].items():
        if name not in own or not np.array_equal(value, last['after'].get(name)):
            own[name] = value
    return own


def walked(replay):
    """The original's own way through the steps that were taken so far."""
    errors = trajectory(replay)
    far = any(error is not None and not error <= FAR for error in errors.values())
    return Walked(errors, spread(replay) if far else None, len(replay.calls))


def trajectory(replay, ends=None):
    """How far the original's own way ends from the conversion's: {variable: error or None (rounding)}.

    replay: replay.Replay, with the recording and the figures of the steps that were taken;
    ends: weights after the last step to take instead of the conversion's.
    """
    if replay.weights is None:
        return {}
    taken = [figures for figures in replay.figures if figures['order']]  # not one of another train op, the last
    kept = replay.recording['steps'][: len(taken)]
    before, ends = kept[0]['before'], kept[-1]['after'] if ends is None else ends
    stems = [name.split(':')[0] for figures in taken for name in figures.get('noise', ())]
    result = {}
    for name, wanted in replay.weights.items():
        if name not in ends or name not in before:
            continue
        if any(name.split(':')[0] == stem or name.startswith(stem + '/') for stem in stems):
            result[name] = None
            continue
        slack = sum(figures['slack'].get(name, 0.0) for figures in taken)
        result[name] = compare.movement_error(ends[name], wanted, before[name], slack)
    return result


def spread(replay):
    """How far the original's way ends from itself when its first weights are changed by rounding (values/spread.py).

    None where the script is over, so that it cannot be tried.
    """
    kept = replay.recording['steps'][: len(replay.figures)]
    found = max([error for error in trajectory(replay).values() if error is not None] or [0.0])
    try:
        return spreads.largest_of_tries({'': found}, kept[0]['before'], lambda first: {'': _parted(replay, first)})['']
    except (RuntimeError, KeyError):
        return None


def _parted(replay, weights):
    """How far the original ends from the conversion's steps if it begins with these weights."""
    kept = replay.recording['steps'][: len(replay.figures)]
    for index, (call, step) in enumerate(zip(replay.calls, kept)):
        one = StepComparison(call, step, replay.job)
        if index:
            weights = with_changes(weights, kept[index - 1], step)
        weights = update.walk(one, weights, replay.figures[index]['reference'])
    errors = [error for error in trajectory(replay, weights).values() if error is not None]
    return max([0.0] + [error for error in errors if error - error == 0])
