"""How large the numbers are that are added up into a loss: their rounding stays where they cancel."""

from __future__ import absolute_import, division, print_function

import numpy as np

ADDED = ('Add', 'AddV2', 'AddN', 'Sub')
PASSED = ('Neg', 'Identity', 'Cast', 'Squeeze', 'StopGradient', 'Abs')
REDUCED = {'Sum': np.sum, 'Mean': np.mean}


def of(loss, run):
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
