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


class Original(replay.Replay):
    """Follows the workers' records."""

    def read(self, command):
        """All workers' records as one."""
        records = []
        for path in command['records']:
            with open(path, 'rb') as stream:
                records.append(pickle.load(stream))
        together = list(zip(*[one['steps'] for one in records]))
        self.shares, self.taken = [rows(parts) for parts in together], [len(one['steps']) for one in records]
        for name in sorted({name for parts in together for name in apart(parts)}):
            self.channel.leave('shapes', name=name)
        self.alike = all(is_alike([part['applied'] for part in parts]) for parts in together)
        kept = [joined(parts) for parts in together]
        first = dict(records[0]['first'], uneven={}, uneven_errors={})
        error = next((one['error'] for one in records if one['error']), None)
        return {'steps': kept, 'first': first, 'asides': [], 'evaluations': [], 'error': error}

    def _figures(self):
        return dict(replay.Replay._figures(self), shares=self.shares, taken=self.taken, alike=self.alike)


def joined(parts):
    """One step of all workers; parts: what each has kept, the chief's first."""
    weights = [_weight(part['arrays']) for part in parts]
    busy = [part for part, weight in zip(parts, weights) if weight is None or weight > 0]
    cut = _cut(busy)
    arrays = {
        name: np.concatenate([part['arrays'][name] for part in busy]) if name in cut else value
        for name, value in busy[0]['arrays'].items()
        if not name.startswith(WEIGHT)
    }
    inputs = [
        dict(item, shape=list(arrays[item['name']].shape)) for item in parts[0]['inputs'] if item['name'] in arrays
    ]
    return dict(
        parts[0],
        arrays=arrays,
        inputs=inputs,
        applied=_mean_applied([part['applied'] for part in parts]),
        losses=[_mean_loss(values, weights) for values in zip(*[part['losses'] for part in parts])],
        scalars={},
        fetches=NOTHING,
    )


def apart(parts):
    """The names of the inputs whose parts are no rows of one array."""
    return [name for name in _cut(parts) if len({part['arrays'][name].shape[1:] for part in parts}) > 1]


def rows(parts):
    """How many rows each worker has taken in one step; 0 for one whose gradient has no weight."""
    cut = _cut(parts)
    names = sorted(cut)
    return [
        0 if _weight(part['arrays']) == 0 or not names else len(part['arrays'][names[0]]) for part in parts
    ]


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
    return different or set(names)


def is_alike(several):
    """Whether all workers apply the same gradients, given as {index: {variable: gradient}} for each."""
    first = several[0]
    return all(
        (value is None) == (other[index][name] is None)
        and (value is None or np.allclose(value, other[index][name], 1e-5, 1e-7))
        for other in several[1:]
        for index, variables in first.items()
        for name, value in variables.items()
    )


def _mean_loss(values, weights):
    """The mean of the workers' losses, each with its weight in the mean."""
    counts = [1.0 if weight is None else weight for weight in weights]
    return sum(value * count for value, count in zip(values, counts)) / sum(counts)


def _mean_applied(several):
    """The mean of what the workers apply, which is the same in all, as {index: {variable: gradient}}."""
    return {
        index: {name: _mean([one[index][name] for one in several]) for name in variables}
        for index, variables in several[0].items()
    }


def _mean(values):
    if any(value is None for value in values):
        return None
    return sum(np.asarray(value, np.float64) for value in values) / len(values)
