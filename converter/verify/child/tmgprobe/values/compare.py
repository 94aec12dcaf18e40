"""Measures the difference of two arrays."""

from __future__ import absolute_import, division, print_function

import numpy as np
from tmgprobe.values import own_random

ROUNDING = 2.0**-23  # float32
NOISE = 1e-5  # share of the largest gradient below which a variable's gradient is rounding


def dense(gradient, shape):
    """A gradient as one array; the rows of a sparse one (values, indices) are added up."""
    if gradient is None:
        return None
    if not isinstance(gradient, tuple):
        return np.asarray(gradient)
    values, indices = gradient
    result = np.zeros(shape, np.result_type(values.dtype, np.float32))
    np.add.at(result, indices, values)
    return result


def largest(array):
    """The largest magnitude; 0 for empty arrays."""
    array = np.asarray(array)
    return float(np.max(np.abs(array.astype(np.float64)))) if array.size else 0.0


def all_finite(arrays):
    """Whether no number of some arrays, or None, is infinite or NaN."""
    return all(bool(np.all(np.isfinite(array))) for array in arrays if array is not None)


def _numbers(found, wanted):
    """(error, None, None) of arrays that have other shapes, are empty or no numbers; else (None, both as float64)."""
    found, wanted = np.asarray(found), np.asarray(wanted)
    if found.shape != wanted.shape:
        return float('inf'), None, None
    if not found.size or found.dtype.kind not in 'fiub' or wanted.dtype.kind not in 'fiub':
        return 0.0 if np.array_equal(found, wanted) else float('inf'), None, None
    return None, found.astype(np.float64), wanted.astype(np.float64)


def distance(found, wanted):
    """The largest difference; inf where one is not finite or the shapes differ."""
    error, found, wanted = _numbers(found, wanted)
    if error is not None:
        return error
    worst = float(np.max(np.abs(found - wanted)))
    return worst if worst == worst else float('inf')


def value_error(found, wanted):
    """How far a fetched value is from what it should be, relative to its largest number.

    Values that are not finite have to be so in the same places; texts differ or do not. Below 1e-6 a
    difference is measured against that: losses near zero are differences of numbers of order one,
    which float32 holds to 1e-7.
    """
    error, found, wanted = _numbers(found, wanted)
    if error is not None:
        return error
    same = (found == wanted) | (np.isnan(found) & np.isnan(wanted))
    finite = np.isfinite(found) & np.isfinite(wanted)
    if not np.all(same | finite):
        return float('inf')
    if not np.any(finite):
        return 0.0
    return float(np.max(np.abs(found[finite] - wanted[finite]))) / max(largest(wanted[finite]), 1e-6)


def gradient_errors(found, wanted):
    """{variable: error} of one set of dense gradients against another.

    An error is the largest difference, relative to the variable's largest gradient, but at least to
    a hundredth of the largest gradient of the set: a gradient that is zero but for rounding (a bias
    in front of a batch norm) has no relative error worth the name.
    """
    scale = max([largest(value) for value in wanted.values() if value is not None] or [0.0])
    errors = {}
    for name, value in wanted.items():
        other = found.get(name)
        if value is None or other is None:
            errors[name] = 0.0 if value is None and other is None else float('inf')
            continue
        measure = max(largest(value), 1e-2 * scale)
        gap = distance(other, value)
        errors[name] = gap / measure if measure and gap else gap if not gap else float('inf')
    return errors


def nudged(weights, seed):
    """Weights that differ from these in the last place, as another order of the same sums makes them."""
    randomly, result = own_random.Generator(seed), {}
    for name, value in sorted(weights.items()):
        rounding = ROUNDING * randomly.uniform(-1, 1, np.shape(value)) if value.dtype.kind == 'f' else None
        result[name] = value if rounding is None else np.asarray(value * (1 + rounding), value.dtype)
    return result


def movement_error(found, wanted, before, slack=None):
    """How far a value that moved from `before` ends from where it should, relative to the way it went.

    A difference of a few units in the last place of the value is rounding and counts as none;
    `slack` (same shape) is what else each element is allowed.
    """
    error, found, wanted = _numbers(found, wanted)
    if error is not None:
        return error
    before = np.asarray(before).astype(np.float64)
    with np.errstate(invalid='ignore', over='ignore'):
        gap = np.abs(found - wanted)
        if not np.all(np.isfinite(gap)):
            same = np.array_equal(np.isfinite(found), np.isfinite(wanted))
            return 0.0 if same and not np.any(np.isfinite(gap)) else float('inf')
    gap = gap - 8 * ROUNDING * np.maximum(np.abs(wanted), np.abs(before))
    if slack is not None:
        gap = gap - slack
    worst = float(np.max(gap))
    if worst <= 0:
        return 0.0
    moved = largest(wanted - before)
    return worst / moved if moved else float('inf')


def divided(gradients, factor):
    """Gradients in any form, each divided by a number."""
    result = []
    for gradient in gradients:
        values = gradient[0] if isinstance(gradient, tuple) else gradient
        if values is not None:
            values = np.asarray(np.asarray(values, np.float64) / factor, np.asarray(values).dtype)
        result.append((values, gradient[1]) if isinstance(gradient, tuple) else values)
    return result


def proportional(difference, weights):
    """The c for which `difference` is c times `weights`, or None where there is none."""
    difference, weights = np.asarray(difference, np.float64).ravel(), np.asarray(weights, np.float64).ravel()
    square = float(np.dot(weights, weights))
    if not square or not np.all(np.isfinite(difference)):
        return None
    factor = float(np.dot(difference, weights)) / square
    rest = np.abs(difference - factor * weights).max() if difference.size else 0.0
    return factor if factor and rest <= 1e-2 * np.abs(difference).max() else None


def bounds(total, parts, upper=True):
    """Consecutive shards of `total` rows, sizes differing by at most one: [(begin, end), ...]."""

    def edge(part):
        return (total * part + (parts - 1 if upper else 0)) // parts

    return [(edge(part), edge(part + 1)) for part in range(parts)]


def cut(array, axis, begin, end):
    """Rows begin..end of an array along its batch axis."""
    index = [slice(None)] * array.ndim
    index[axis] = slice(begin, end)
    return array[tuple(index)]


def mean(gradients, weights):
    """The weighted sum of gradients; sparse ones are joined. None where all are None."""
    present = [(gradient, weight) for gradient, weight in zip(gradients, weights) if gradient is not None]
    if not present:
        return None
    if isinstance(present[0][0], tuple):
        values = np.concatenate(
            [gradient[0] * np.asarray(weight, gradient[0].dtype) for gradient, weight in present]
        )
        return values, np.concatenate([gradient[1] for gradient, _ in present])
    total = sum(np.asarray(gradient, np.float64) * weight for gradient, weight in present)
    return np.asarray(total, present[0][0].dtype)
