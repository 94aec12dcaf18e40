"""Puts variables that are cut into slices together, to compare them with whole ones.

TensorFlow's saver knows slices by the same mark, and writes them under the name of the whole.
"""

from __future__ import absolute_import, division, print_function

import numpy as np
from tmgprobe.values import compare
from tmgprobe.values.lazy import reached


def described(variables):
    """{name of a slice: the whole's name and shape, where in it the slice begins, its shape and device}."""
    found = {}
    for name, variable in variables.items():
        info = getattr(variable, '_get_save_slice_info', lambda: None)()
        if info is not None:
            found[name] = {
                'whole': info.full_name + ':0',
                'whole_shape': [int(size) for size in info.full_shape],
                'offset': [int(place) for place in info.var_offset],
                'shape': [int(size) for size in variable.get_shape().as_list()],
                'device': variable.device,
            }
    return found


def put_together(variables, wholes):
    """{name: variable} with one Whole for the slices of each of these wholes."""
    found, parts = dict(variables), {}
    for name, info in described(variables).items() if wholes else ():
        if info['whole'] in wholes:
            parts.setdefault(info['whole'], []).append((info, found.pop(name)))
    found.update((name, SlicedVariable(several)) for name, several in parts.items())
    return found


class SlicedVariable(object):
    """A variable that is cut into slices: pairs of what `described` says and the slice."""

    def __init__(self, parts):
        self.infos, self.variables = [info for info, _ in parts], [variable for _, variable in parts]
        self.dtype = self.variables[0].dtype

    def get_shape(self):
        """The shape of the whole."""
        return type(self.variables[0].get_shape())(self.infos[0]['whole_shape'])

    def value(self, values):
        """The value of the whole from those of the slices."""
        return join(list(zip(self.infos, values)))

    def cut(self, value):
        """The slices, each with its part of a value of the whole."""
        return [(variable, value[place(info)]) for info, variable in zip(self.infos, self.variables)]


def joined(named, cut, wholes):
    """Values by the names of variables, with those of slices of these wholes put together.

    named: {name: an array, a pair of values and indices, or None}. cut: of `described`.
    """
    found, parts = {}, {}
    for name, value in named.items():
        whole = cut[name]['whole'] if name in cut else None
        if whole in wholes:
            parts.setdefault(whole, []).append((cut[name], value))
        else:
            found[name] = value
    found.update((whole, join(several)) for whole, several in parts.items())
    return found


def join(parts):
    """One value out of those of slices, each with what `described` says; numbers that no slice gives are NaN."""
    values = [value for _, value in parts if value is not None]
    if not values:
        return None
    if len(values) == len(parts) and all(isinstance(value, tuple) for value in values):
        sparse = _join_sparse(sorted(parts, key=lambda part: part[0]['offset']))
        if sparse is not None:
            return sparse
    dtype = np.asarray(values[0][0] if isinstance(values[0], tuple) else values[0]).dtype
    whole = np.full(parts[0][0]['whole_shape'], np.nan if dtype.kind == 'f' else 0, dtype)
    for info, value in parts:
        whole[place(info)] = 0 if value is None else compare.dense(value, info['shape'])
    return whole


def _join_sparse(parts):
    """The rows of slices as rows of the whole; None where the slices have parts of other rows each."""
    axes = [axis for axis, _ in enumerate(parts[0][0]['shape']) if any(info['offset'][axis] for info, _ in parts)]
    if axes in ([], [0]):
        indices = [value[1] + info['offset'][0] for info, value in parts]
        return np.concatenate([value[0] for _, value in parts]), np.concatenate(indices)
    indices = parts[0][1][1]
    if len(axes) > 1 or not all(np.array_equal(value[1], indices) for _, value in parts):
        return None
    return np.concatenate([value[0] for _, value in parts], axes[0]), indices


def place(info):
    """Where a slice lies in the whole, as an index."""
    return tuple(slice(begin, begin + size) for begin, size in zip(info['offset'], info['shape']))


def counted(items, cut):
    """The number of entries of a graph collection; later slices of a variable, and what is made of them, count none.

    items: of the collection. cut: of `described`.
    """
    later = {name.split(':')[0] for name, info in cut.items() if any(info['offset'])}
    first = {name.split(':')[0] for name in cut} - later
    return sum(not _is_later(item, later, first) for item in items)


def _is_later(item, later, first):
    name = getattr(item, 'name', None)
    if not isinstance(name, str):
        return False
    if name.split(':')[0] in later:
        return True
    return _read(item, later) and not _read(item, first)


def _read(item, names):
    """Whether a tensor is computed of one of these variables, by operations under its name or next to it."""
    own = [item.op] if hasattr(item, 'op') and hasattr(item, 'consumers') else []
    above = reached(own, lambda operation: [tensor.op for tensor in operation.inputs])
    return not names.isdisjoint(operation.name for operation in above)
