"""Compares the records of a conversion's processes with the original's steps on their batches."""

from __future__ import absolute_import, division, print_function

from tmgprobe.strategy import trial


def facts(mine, theirs, replay):
    """What the judge needs to know; mine: the record of the original, theirs: those of the processes, by rank."""
    return {
        'steps': len(mine['weights']) - 1,
        'taken': [len(one['weights']) - 1 for one in theirs],
        'rows': rows(mine, theirs),
        'apart': largest_difference(theirs),
        'gradients': max(gradients(mine, one) for one in theirs),
        'settings': [one['hyper'] == mine['hyper'] for one in theirs],
        'own': mine['training'][0],
        'training': [
            [{key: one[key] for key in one if key != 'indices'} for one in each['training']] for each in theirs
        ],
        'shares': shares(theirs),
        'evaluations': [mine['evaluations']] + [one['evaluations'] for one in theirs],
        'saved': [mine['saved']] + [one['saved'] for one in theirs],
        'norm': mine['norm'],
        'same_begin': replay.same_begin,
    }


def rows(mine, theirs):
    """A row for each parameter, with the worst error of all steps and processes."""
    found = []
    shapes = [[(n, w.shape) for n, w in zip(one['names'], one['weights'][0])] for one in [mine] + theirs]
    for place, (name, shape) in enumerate(shapes[0]):
        row = {'name': name, 'shape': list(shape), 'dtype': str(mine['weights'][0][place].dtype), 'error': None}
        if all(place < len(other) and other[place] == (name, shape) for other in shapes[1:]):
            own = [step[place] for step in mine['weights']]
            errors = [trial.way_error(own, [step[place] for step in one['weights']]) for one in theirs]
            row.update(error=max(error['error'] for error in errors), finite=all(e['finite'] for e in errors))
        found.append(row)
    extra = [name for other in shapes[1:] for name, _ in other[len(shapes[0]) :]]
    return found + [{'name': name, 'shape': [], 'dtype': '', 'error': None} for name in extra]


def gradients(mine, other):
    """The largest difference between gradients of a step, as a part of the largest of the original's."""
    worst = 0.0
    for step, applied in zip(mine['gradients'], other['gradients']):
        for one, two in zip(step, applied):
            if (one is None) != (two is None):
                return float('inf')
            if one is not None and one.size and one.shape == two.shape and abs(one).max() > 1e-7:
                worst = max(worst, float(abs(one - two).max() / abs(one).max()))
    return worst


def largest_difference(theirs):
    """The largest difference between the weights of two processes after any step."""
    worst = 0.0
    for one in theirs[1:]:
        for mine, other in zip(theirs[0]['weights'][1:], one['weights'][1:]):
            worst = max([worst] + [float(abs(a - b).max()) for a, b in zip(mine, other) if a.size])
    return worst


def shares(theirs):
    """How the processes share the training data in each pass: examples missing and repeated, and whether as before."""
    found, before = [], None
    for passes in zip(*[one['training'] for one in theirs]):
        lists = [one['indices'] for one in passes]
        if any(one is None for one in lists):
            found.append(None)
            continue
        seen = [index for one in lists for index in one]
        examples = passes[0]['examples']
        found.append({
            'missing': len(set(range(examples)) - set(seen)),
            'repeated': len(seen) - len(set(seen)),
            'even': len({len(one) for one in lists}) == 1,
            'again': lists == before,
            'shuffled': passes[0]['shuffled'],
        })
        before = lists
    return found
