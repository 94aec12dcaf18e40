"""Compares the gradients that a conversion applied, and its loss, with those that the contract allows."""

from __future__ import absolute_import, division, print_function

import collections

import numpy as np
from tmgprobe.graph import graphs
from tmgprobe.reference import faults, kinds, merge
from tmgprobe.values import compare

LOSS = 1e-5  # the relative error above which a loss is not the original's, as in checks/training.py

ADDED = ('Add', 'AddV2', 'AddN', 'Sub')
PASSED = ('Neg', 'Identity', 'Cast', 'Squeeze', 'StopGradient', 'Abs')
REDUCED = {'Sum': np.sum, 'Mean': np.mean}

# found: the references by name, and the name of the one used; wanted: {(index, variable): gradient} by that one,
# and the largest number in it; shards: [(feed, share), ...]
Checked = collections.namedtuple('Checked', 'found used wanted scale shards')
# worst: of the errors by (index, variable) of the reference with this name; wanted, applied: what the original applies
Nearest = collections.namedtuple('Nearest', 'worst name errors wanted applied')
# the gradients that differ by rounding alone, or as whole batches are added up less exactly; the faults that explain
# the others; and those, with their errors, that rounding moves as far
Excused = collections.namedtuple('Excused', 'rounding coarse matches unsteady')


class NoShard(Exception):
    """No part of the conversion's batch fits the fixed shapes of the original's inputs."""


def check(one, result=None):
    """Compares the applied gradients and the loss at the recorded weights; the figures go to those of the step.

    result: a kinds.Result, where the gradients are compared by its reference alone; None then, and no figures, where
    they do not fit it closely.
    """
    weights, recorded = one.kept['before'], one.dense(one.kept['applied'])
    if result is None:
        found, parts = one.references(weights)
        kind = one.kind(found)
        names = one.allowed(found, kind)
    else:
        reference = one.reference(weights, result.reference)
        found, parts, kind = {result.reference: reference}, {}, result.kind
        names = [] if reference is None else [result.reference]
    best = _nearest(one, recorded, found, names)
    if result is not None and (best is None or not best.worst < faults.CLOSE):
        return None
    if best is None:
        raise NoShard
    excused = _excused(one, best, recorded, found, parts, kind)
    _note(one, kinds.Result(best.name, kind), found[best.name], (best.errors, recorded, best.wanted, best.applied))
    scale = _largest(best.wanted)
    one.figures.update(
        matches=excused.matches,
        unsteady={key[1]: error for key, error in excused.unsteady.items()},
        less_exact=sorted(key[1] for key in excused.coarse),
        noise=sorted(
            key[1]
            for key, value in best.wanted.items()
            if result is None
            and (key in excused.rounding or (value is not None and compare.largest(value) <= compare.NOISE * scale))
        ),
    )
    shards = [(feed, share) for _, share, feed in parts.get('shards', ())]
    return Checked(found, best.name, best.wanted, scale, shards)


def _nearest(one, recorded, found, names):
    """The reference of these to which the recorded gradients are nearest; None where there are none."""
    best = None
    for name in names:
        raw, _, feed = found[name]
        applied = one.applied(one.kept['before'], raw, feed)
        wanted = one.dense(applied)
        errors = faults.gradient_errors(recorded, wanted)
        worst = faults.worst(errors)
        if best is None or worst < best.worst:
            best = Nearest(worst, name, errors, wanted, applied)
        if worst < faults.CLOSE:
            break
    return best


def _excused(one, best, recorded, found, parts, kind):
    """What tells the errors of the nearest reference; those that only rounding makes are set to nothing."""
    errors, wanted, name = best.errors, best.wanted, best.name
    moved = {} if best.worst < faults.CLOSE else faults.moved_by_rounding(one, errors, wanted, name)
    rounding, coarse = faults.only_rounding(moved, recorded, wanted), []
    errors.update((key, 0.0) for key in rounding)
    if name == 'whole' and kind == 'mean' and not faults.worst(errors) < faults.CLOSE:
        coarse = faults.less_exact(one, errors, recorded, wanted)
        errors.update((key, 0.0) for key in coarse)
    matches = [] if faults.worst(errors) < faults.CLOSE else faults.explain(one, recorded, wanted, found, parts, name)
    unsteady = {} if matches else faults.within_rounding(moved, errors, recorded, wanted)
    errors.update((key, 0.0) for key in unsteady)
    return Excused(rounding, coarse, matches, unsteady)


def _note(one, result, reference, gradients):
    """Puts into a step's figures what its gradients were found to be.

    gradients: their errors by (index, variable), those that were recorded, those that the original applies, dense, and
    the same as they are.
    """
    errors, recorded, wanted, applied = gradients
    index, pair = _read(one, reference)
    one.figures.update(
        {
            'reference': result.reference,
            'kind': result.kind,
            'gradients': {key[1]: value for key, value in errors.items()},
            'finite': compare.all_finite(recorded.values()),
            'diverged': not compare.all_finite(wanted.values()),
            'sparse': _sparse(one, applied),
            'loss': pair,
            'summands': _summands(one, index, pair, reference),
            'idle': _idle(one, reference[0], applied),
        }
    )


def _largest(gradients):
    return max([compare.largest(value) for value in gradients.values() if value is not None] or [0.0])


def _idle(one, raw, applied):
    """The gradients that the original changes before it applies them, and that stay as they are in this step.

    So it is with clipping by a norm that they do not reach. Empty where some are changed, None where none would be.
    """
    raws, plain = {}, set()
    for group, values in zip(one.groups, raw):
        raws.update(zip(group.variables, values))
        plain.update(tensor.name for tensor in graphs.tensors(*group.gates))
    idle = []
    for apply in one.applies:
        for name, given in zip(apply.variables, apply.given):
            value = raws.get(name)
            if given is None or value is None or isinstance(given, tuple) or isinstance(value, tuple):
                continue
            if given.op.type == 'Identity' and given.op.inputs[0].name in plain:
                continue  # as it was computed
            if compare.value_error(applied[apply.index][name], value) > 1e-6:
                return []
            idle.append(name)
    return sorted(idle) or None


def gathered(one, batch):
    """The rows of merge.figures for a run that gathers gradients: those of the towers' shards are put in."""
    rows = []
    found, _ = one.references(one.kept['before'])
    for name in one.allowed(found, one.kind(found)):
        rows = merge.figures(one, one.gates(found[name][0]), batch)
        if all(row['status'] != 'differs' for row in rows):
            break
    return rows


def _sparse(one, applied):
    """{variable: [sparse in the conversion, sparse in the original]} where these differ."""
    result = {}
    for index, gradients in applied.items():
        for name, gradient in gradients.items():
            theirs = one.kept['applied'].get(index, {}).get(name)
            if theirs is not None and gradient is not None:
                pair = [isinstance(theirs, tuple), isinstance(gradient, tuple)]
                if pair[0] != pair[1]:
                    result[name] = pair
    return result


def _summands(one, index, pair, reference):
    """What the magnitudes of a loss's summands add up to; None where the loss is right and nothing needs excuse.

    A loss that is a difference of means (a critic's, before it has learned) is small because they nearly cancel, and
    is as exact as they are.
    """
    if pair is None or compare.value_error(pair[0], pair[1]) <= LOSS or np.size(reference[1][index]) != 1:
        return None
    return magnitude(one.losses[index], lambda tensors: one.run(tensors, reference[2]))


def loss(one, reference):
    """[the conversion's, the original's, how it was read]; None where nothing can be compared."""
    return _read(one, reference)[1]


def _read(one, reference):
    """The index of the loss that is compared, and what `loss` says of it."""
    wanted = reference[1]
    places = {element.name: place for place, element in enumerate(one.step.elements)}
    for index, tensor in enumerate(one.losses):
        if tensor.name in places and places[tensor.name] in one.kept['scalars']:
            return index, [one.kept['scalars'][places[tensor.name]], _number(wanted[index]), 'fetched']
    if any(np.size(value) != 1 for value in list(one.kept['losses']) + list(wanted)):
        return 0, None  # a loss for each example is no one number
    theirs, count = [_number(value) for value in one.kept['losses']], len(one.losses)
    if not count or not theirs or len(theirs) % count:
        return 0, None
    if len(theirs) == count:
        return 0, [theirs[0], _number(wanted[0]), 'differentiated']
    summed = sum(theirs[::count])
    mean = summed / (len(theirs) // count)
    target = _number(wanted[0])
    return 0, [min((summed, mean), key=lambda value: abs(value - target)), target, 'towers']


def _number(value):
    """The number in an array of one, which may have axes: that of a batch of one example, of a loss with rows."""
    return np.asarray(value).item()


def magnitude(loss, run):
    """The sum of the magnitudes of what a scalar is the sum, difference or mean of, as far as that can be followed.

    It is the size of the scalar where nothing cancels, and larger where something does. loss: a scalar tensor;
    run: a function from tensors to their values.
    """
    needed = {}
    _collect(loss, needed)
    names = sorted(needed)
    values = dict(zip(names, run([needed[name] for name in names])))
    return float(np.sum(_size(loss, values)))


def _collect(tensor, needed):
    if tensor.name not in needed:
        needed[tensor.name] = tensor
        for one in _parts(tensor):
            _collect(one, needed)


def _parts(tensor):
    """The tensors that are added up, or scaled, into this one."""
    operation = tensor.op
    if operation.type in ADDED or operation.type in ('Mul', 'RealDiv'):
        return list(operation.inputs)
    if operation.type in PASSED:
        return [operation.inputs[0]]
    if operation.type in REDUCED and tensor.get_shape().ndims == 0:
        return [operation.inputs[0]]
    return []


def _size(tensor, values):
    """The magnitudes of what a tensor is the sum of, an array of its shape."""
    operation, parts = tensor.op, _parts(tensor)
    if not parts:
        return np.abs(np.asarray(values[tensor.name], np.float64))
    sizes = [_size(part, values) for part in parts]
    if operation.type in REDUCED:
        return REDUCED[operation.type](sizes[0])
    if operation.type == 'Squeeze':
        return sizes[0].reshape(np.shape(values[tensor.name]))
    if operation.type == 'Mul':
        return sizes[0] * sizes[1]
    if operation.type == 'RealDiv':
        return sizes[0] / np.abs(np.asarray(values[parts[1].name], np.float64))
    return sum(sizes)
