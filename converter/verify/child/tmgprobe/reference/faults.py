"""If gradients differ: which known fault would cause them, or whether they are only rounding."""

from __future__ import absolute_import, division, print_function

import numpy as np
from tmgprobe.values import compare

CLOSE = 1e-4  # a diagnosis names a fault whose consequence it finds this closely
FACTORS = (0.9, 0.7, 0.3)  # of the losses: no powers of two, so that all products are rounded otherwise
SHARE = 0.1  # of a difference: what rounding alone has to move a gradient by, for the difference to be rounding
MOST = 1e-2  # an error above it is taken for rounding only if rounding alone moves the gradient by LARGE_SHARE of it
LARGE_SHARE = 1.0 / 3
PARTS = (40, 150)  # into how many parts a batch is cut to add up its gradients more exactly


def gradient_errors(recorded, wanted):
    """{(index, variable): error} of the gradients that each train op applies."""
    errors = {}
    for index in {key[0] for key in wanted}:
        ours = {key: value for key, value in wanted.items() if key[0] == index}
        errors.update(compare.gradient_errors(recorded, ours))
    return errors


def worst(errors):
    """The largest of the errors; 0 where there are none."""
    return max(list(errors.values()) or [0.0])


def moved_by_rounding(one, errors, wanted, reference):
    """{gradient: how far it moves by rounding alone}, of those that differ.

    It is measured: the original's weights change in the last place, and its loss is multiplied by a number by
    which the gradients are divided again. A gradient that is zero in truth is as large as it moves.
    """
    doubtful, moved = [key for key, error in errors.items() if not error < CLOSE], {}
    scales = _scales(one, reference)
    for seed, factor in enumerate(FACTORS):
        weights = compare.nudged(one.kept['before'], seed)
        raw, _, feed = one.reference(weights, reference, factor if scales else None)
        found = one.dense(one.applied(weights, raw, feed))
        for key in doubtful:
            if wanted[key] is not None and found[key] is not None:
                moved[key] = max(moved.get(key, 0.0), compare.distance(found[key], wanted[key]))
    return {key: far for key, far in moved.items() if far - far == 0}


def only_rounding(moved, recorded, wanted):
    """The gradients that are zero but for rounding: they move as much as they are, and as they differ (a tenth).

    No error is to be had from them. So it is with a bias in front of a batch norm.
    """
    return [
        key
        for key, far in moved.items()
        if recorded.get(key) is not None
        and far >= SHARE * max(compare.largest(wanted[key]), compare.distance(recorded[key], wanted[key]))
    ]


def within_rounding(moved, errors, recorded, wanted):
    """{gradient: its error} of those that differ by no more than rounding does to them: ten times how far they move.

    So it is where large numbers nearly cancel, as in the deviation of numbers far from zero. Three times how far they
    move if they differ by more than a hundredth.
    """
    return {
        key: errors[key]
        for key, far in moved.items()
        if recorded.get(key) is not None
        and errors[key] >= CLOSE
        and far >= (SHARE if errors[key] <= MOST else LARGE_SHARE) * compare.distance(recorded[key], wanted[key])
    }


def _scales(one, reference):
    """Whether a multiple of the loss can be asked for: half of it has half of each gradient, without rounding."""
    weights = one.kept['before']
    raw, halves = [one.reference(weights, reference, factor)[0] for factor in (None, 0.5)]
    pairs = [pair for mine, half in zip(raw, halves) for pair in zip(mine, half) if pair[0] is not None]
    values = [[gradient[0] if isinstance(gradient, tuple) else gradient for gradient in pair] for pair in pairs]
    return all(compare.distance(half, mine) <= CLOSE * compare.largest(mine) for mine, half in values)


def less_exact(one, errors, recorded, wanted):
    """The gradients that differ only because float32 adds up the whole batch less exactly than parts of it.

    It is measured, for a loss that is a mean: the original's own gradients of smaller and smaller consecutive parts
    agree among themselves, the one of the whole batch stands apart from them, and the recorded one is no farther
    from them than that. So it is with thousands of examples whose gradients nearly cancel.
    """
    doubtful, finer = [key for key, error in errors.items() if not error < CLOSE], []
    for count in PARTS:
        raw, feed = one.in_parts(one.kept['before'], count)
        if raw is None:
            return []
        finer.append(one.dense(one.applied(one.kept['before'], raw, feed)))
    found = []
    for key in doubtful:
        known = [gradients.get(key) for gradients in [recorded, wanted] + finer]
        if any(gradient is None for gradient in known):
            continue
        mine, whole, coarse, fine = known
        away = compare.distance(whole, fine)
        if compare.distance(coarse, fine) <= away / 2 and compare.distance(mine, fine) <= 2 * away:
            found.append(key)
    return found


def explain(one, recorded, wanted, found, parts, used):
    """The known faults that would cause the recorded gradients: [[name, error], ...]."""
    weights, feed = one.kept['before'], found[used][2]
    errors, matches = gradient_errors(recorded, wanted), []
    most = 0.1 * worst(errors)
    tried = [
        (name, one.dense(one.applied(weights, raw, feed))) for name, raw in _candidates(one, found, parts, used)
    ]
    for shards in parts.values():
        each = [one.dense(one.applied(weights, part[0], shard)) for part, _, shard in shards]
        shares = [share for _, share, _ in shards]
        joined = {key: compare.mean([dense[key] for dense in each], shares) for key in wanted}
        tried.append(('changed before averaging', joined))
    for name, gradients in tried:
        error = worst(gradient_errors(recorded, gradients))
        if error < 10 * CLOSE and error < most:
            matches.append([name, error])
    return matches or _weight_decay(errors, recorded, wanted, weights)


def _candidates(one, found, parts, used):
    """(name of a fault, the raw gradients that it would lead to), ...."""
    count, candidates = float(one.gpus), []
    if one.gpus > 1:
        raw = found[used][0]
        candidates.append(('summed', one.averaged([raw], [count])))
        candidates.append(('divided twice', one.averaged([raw], [1 / count])))
    for shards in parts.values():
        computed, many = [part[0] for part, _, _ in shards], len(shards)
        if many < 2:
            continue
        candidates.append(('plain sum', one.averaged(computed, [1.0] * many)))
        candidates.append(('unweighted', one.averaged(computed, [1.0 / many] * many)))
        candidates.append(('divided by all towers', one.averaged(computed, [1.0 / count] * many)))
        for index, raw in enumerate(computed):
            name = 'first shard' if index == 0 else 'shard %d' % index
            candidates.append((name, raw))
            candidates.append((name + ' times its share', one.averaged([raw], [shards[index][1]])))
    if 'whole' in found and used != 'whole':
        candidates.append(('whole batch', found['whole'][0]))
    return candidates


def _weight_decay(errors, recorded, wanted, weights):
    """The fault of weight decay: the whole difference is proportional to the weights."""
    factors = []
    for key, error in errors.items():
        if error < CLOSE or recorded.get(key) is None or wanted[key] is None or key[1] not in weights:
            continue
        if np.shape(recorded[key]) == np.shape(wanted[key]) and wanted[key].size > 1:
            factors.append(compare.proportional(recorded[key] - wanted[key], weights[key[1]]))
    return [['weight decay', factors[0]]] if factors and all(factor is not None for factor in factors) else []
