"""The original of a script that was converted for a cluster, on the rows that all of its workers have taken.

The records of the workers become one: a step of the cluster is a step on the rows of all, in the workers' order. From
there on the comparison is that of towers (roles/replay.py).
"""

from __future__ import absolute_import, division, print_function

import pickle

import numpy as np
from tmgprobe.roles import replay

WEIGHT = 'cluster_weight'  # the placeholder that a worker is fed its part in the mean by
NOTHING = {'count': -1, 'tensors': (), 'values': {}}  # fetched values are those of one worker's rows


class Original(replay.Replayer):
    """Follows the workers' records."""

    def read(self, command):
        """All workers' records as one."""
        records = []
        for path in command['records']:
            with open(path, 'rb') as stream:
                records.append(pickle.load(stream))
        together = list(zip(*[one['steps'] for one in records]))
        self.shares, self.taken = [rows(parts) for parts in together], [len(one['steps']) for one in records]
        self.alike = all(is_alike([part['applied'] for part in parts]) for parts in together)
        kept = [joined(parts) for parts in together]
        first = dict(records[0]['first'], uneven={}, uneven_errors={})
        error = next((one['error'] for one in records if one['error']), None)
        return {'steps': kept, 'first': first, 'asides': [], 'evaluations': [], 'error': error}

    def _figures(self):
        return dict(replay.Replayer._figures(self), shares=self.shares, taken=self.taken, alike=self.alike)


def joined(parts):
    """One step of all workers; parts: what each has kept, the chief's first."""
    weights = [_weight(part['arrays']) for part in parts]
    busy = [part for part, weight in zip(parts, weights) if weight is None or weight > 0]
    cut, each = _cut(busy), set(inputs_not_of_rows(busy))
    arrays, inputs = {}, []
    for item in parts[0]['inputs']:
        name = item['name']
        if name.startswith(WEIGHT):
            continue
        of_all = [part['arrays'][name] for part in busy]
        if each and name in cut:
            for number, value in enumerate(of_all):
                own = 'worker %d: %s' % (number, name)
                arrays[own] = value
                inputs.append(dict(item, name=own, of=name, shape=list(value.shape)))
        else:
            arrays[name] = _together(name, item['sparse'], busy) if name in cut else of_all[0]
            shape = [sum(_lengths(busy, [name]))] if item['sparse'] else list(arrays[name].shape)
            inputs.append(dict(item, shape=shape))
    return dict(
        parts[0],
        arrays=arrays,
        inputs=inputs,
        applied=parts[0]['applied'],  # as all others', which `alike` tells
        losses=[_mean_loss(values, weights) for values in zip(*[part['losses'] for part in parts])],
        scalars={},
        fetches=NOTHING,
    )


def _together(name, sparse, parts):
    """An input of all workers; sparse: the names of the parts of a sparse one, indices, values and shape, else None."""
    arrays = [part['arrays'][name] for part in parts]
    if sparse is None or name == sparse[1]:
        return np.concatenate(arrays)
    if name == sparse[2]:
        return np.concatenate([[sum(one[0] for one in arrays)], np.max(arrays, 0)[1:]]).astype(arrays[0].dtype)
    begins = np.cumsum([0] + [part['arrays'][sparse[2]][0] for part in parts])
    return np.concatenate([one + ([begin] + [0] * (one.shape[1] - 1)) for one, begin in zip(arrays, begins)])


def inputs_not_of_rows(parts):
    """The names of the inputs whose parts are no rows of one array: of other sizes, or an image with some boxes."""
    cut = _cut(parts)
    if any(len(set(of_worker)) > 1 for of_worker in zip(*[_lengths(parts, [name]) for name in cut])):
        return sorted(cut)
    return [name for name in cut if len({part['arrays'][name].shape[1:] for part in parts}) > 1]


def _lengths(parts, names):
    """The numbers of rows that each worker's inputs have: the most of these inputs."""
    sparse = {item['name']: item['sparse'] for item in parts[0]['inputs']}
    return [
        max([int(arrays[sparse[name][2]][0]) if sparse.get(name) else len(arrays[name]) for name in names] or [0])
        for arrays in (part['arrays'] for part in parts)
    ]


def rows(parts):
    """How many rows each worker has taken in one step; 0 for one whose gradient has no weight.

    Where a worker's inputs have different numbers of rows its batch counts as one.
    """
    cut = sorted(_cut(parts))
    counts = [1 if len(set(several)) > 1 else several[0] for several in zip(*[_lengths(parts, [name]) for name in cut])]
    return [0 if _weight(part['arrays']) == 0 else count for part, count in zip(parts, counts or [0] * len(parts))]


def _weight(arrays):
    """A worker's part in the mean, None where none is fed."""
    return next((float(value) for name, value in arrays.items() if name.startswith(WEIGHT)), None)


def _cut(parts):
    """The names of the inputs of which each worker has rows of its own.

    Arrays are rows, unless all workers have the same ones while they differ in others. Where all of them are the same
    they count as rows: a worker that takes another one's is no reason to call them shared.
    """
    arrays = [part['arrays'] for part in parts]
    names = [name for name, value in arrays[0].items() if np.ndim(value)]
    different = {
        name for name in names if any(not np.array_equal(arrays[0][name], other[name]) for other in arrays[1:])
    }
    for item in parts[0]['inputs']:  # what is fed of a sparse tensor goes together
        if item['sparse'] and different.intersection(item['sparse']):
            different.update(item['sparse'])
    return different or set(names)


def is_alike(several):
    """Whether all workers apply the same gradients, given as {index: {variable: gradient}} for each."""
    first = several[0]
    return all(
        _is_same(value, other[index][name])
        for other in several[1:]
        for index, variables in first.items()
        for name, value in variables.items()
    )


def _is_same(value, other):
    """Whether two gradients are the same; a sparse one is a tuple of its values, rows and shape."""
    if value is None or other is None:
        return value is other
    parts = [one if isinstance(one, tuple) else (one,) for one in (value, other)]
    return len(parts[0]) == len(parts[1]) and all(
        np.shape(one) == np.shape(two) and np.allclose(one, two, 1e-5, 1e-7)
        for one, two in zip(*parts)
        if one is not None and two is not None
    )


def _mean_loss(values, weights):
    """The mean of the workers' losses, each with its weight in the mean."""
    counts = [1.0 if weight is None else weight for weight in weights]
    return sum(value * count for value, count in zip(values, counts)) / sum(counts)
