"""Which input of one script is which of the other, and along which axis the towers share it.

Plain data in and out. An input is {'name', 'shape', 'static', 'source', 'sliced'}: a fed tensor or one that
a dataset or queue fills (`source`), with the axis on which towers cut it (`sliced`, None: they do not).
A sparse tensor is three inputs, its indices, values and shape, whose names are `sparse` in each of them;
their `shape` is the number of its rows. `of`: the input of the original of which this is one worker's batch, which has
a shape of its own. `each`: it is what one tower alone is fed: an example of any shape, which counts as one.
"""

from __future__ import absolute_import, division, print_function

import numpy as np
from tmgprobe.values import compare
from tmgprobe.values import rows as rows_of

# Why no smaller batch is tried; see TMG342.
FIXED = 'static shape'
APART = 'a step takes batches of different sizes, and one weight stands for their shares'


def match(own, recorded, gpus, total):
    """Pairs the original's inputs with the conversion's.

    Returns ([{'own', 'parts', 'axis', 'alone'}], [names that only the original has]): `parts` are the names of
    the conversion's tensors (one, or one for each tower where every tower reads for itself), `axis`
    the batch axis, None for what all towers get whole. alone: whether each tower's batch counts as one, as its inputs
    have different numbers of rows (an image, and the boxes in it).
    """
    parted = [(item, _parts(item, own, recorded, gpus)) for item in own]
    pairs, alone = [pair for pair in parted if pair[1]], [item['name'] for item, parts in parted if not parts]
    axes = _axes(pairs, gpus, total)
    several = [parts for _, parts in pairs if len(parts) > 1 and parts[0]['shape']]
    single = any(len({part['shape'][0] for part in of_one}) > 1 for of_one in zip(*several))
    return [
        {
            'own': item['name'],
            'parts': [part['name'] for part in parts],
            'axis': axis,
            'sparse': parts[0].get('sparse'),
            'alone': len(parts) > 1 and (single or bool(parts[0].get('each'))),
            'each': bool(parts[0].get('each')),
        }
        for (item, parts), axis in zip(pairs, axes)
    ], alone


def _parts(item, own, recorded, gpus):
    """The conversion's inputs that one of the original is; none where it has none."""
    parts = [one for one in recorded if one.get('of') == item['name']]
    mine, theirs = ([one for one in items if one['source']] for items in (own, recorded))
    place = mine.index(item) if item['source'] else None
    if not parts and place is not None and gpus > 1 and len(theirs) == gpus * len(mine):
        parts = theirs[place :: len(mine)]
    parts = parts or [one for one in recorded if one['name'] == item['name']]
    return parts or ([theirs[place]] if place is not None and len(theirs) == len(mine) else [])


def _axis(mine, parts, gpus, total):
    """The batch axis of an input with this shape in the original; None where its sizes and slices do not tell."""
    theirs, sliced = parts[0]['shape'], parts[0]['sliced']
    if len(parts) > 1:
        return 0 if mine else None
    grown = [axis for axis, sizes in enumerate(zip(mine, theirs)) if sizes[0] != sizes[1] and not total]
    exact = [axis for axis in grown if theirs[axis] == gpus * mine[axis]]
    if not exact and sliced is not None and sliced < len(theirs):
        return sliced
    return exact[0] if exact else 0 if 0 in grown else None


def _axes(pairs, gpus, total):
    found = [_axis(item['shape'], parts, gpus, total) for item, parts in pairs]
    if any(axis is not None for axis in found):
        return _with_uncut(found, pairs)
    # nothing tells: the batch is the leading dimension that most inputs have
    leading = [parts[0]['shape'][0] for _, parts in pairs if parts[0]['shape']]
    if not leading:
        return found
    batch = max(leading, key=lambda size: (leading.count(size), -leading.index(size)))
    return [0 if parts[0]['shape'] and parts[0]['shape'][0] == batch else None for _, parts in pairs]


def _with_uncut(found, pairs):
    """Inputs that go whole into a loss on merged results are batches too: as long as the others, as fed."""
    lengths = [parts[0]['shape'][axis] for axis, (_, parts) in zip(found, pairs) if axis is not None]
    result = []
    for axis, (item, parts) in zip(found, pairs):
        shape, static = parts[0]['shape'], item.get('static')
        unknown = bool(static) and static[0] is None
        result.append(0 if axis is None and shape and unknown and shape[0] == lengths[0] else axis)
    return result


def with_axes(pairs, axes, arrays):
    """The inputs of a run with the batch axes of a training step: {name: axis}.

    One that is fed a single number here, as `None` for labels of which the run makes no use, has no rows to cut.
    """
    result = []
    for pair in pairs:
        axis = axes.get(pair['own'], pair['axis'])
        axis = None if axis == rows_of.EACH else axis  # a run that trains nothing gives all towers the same example
        lacks = axis is not None and any(arrays[part].ndim <= axis for part in pair['parts'] if part in arrays)
        result.append(dict(pair, axis=None if lacks and not pair['sparse'] else axis))
    return result


def rows(pairs, arrays):
    """The examples in these inputs; None where no input has a batch axis."""
    for pair in pairs:
        if pair.get('alone'):
            return len(pair['parts'])
        if pair['axis'] is not None:
            return sum(_length(pair, part, arrays) for part in pair['parts'])
    return None


def are_apart(pairs, arrays):
    """Whether inputs have different numbers of examples: no smaller batch keeps them in proportion."""
    cut = [pair for pair in pairs if pair['axis'] is not None]
    return len({sum(_length(pair, part, arrays) for part in pair['parts']) for pair in cut}) > 1


def _counts(value, count):
    """Whether a number that is fed is that of the examples: each part of the batch has one of its own."""
    return value.shape == () and value.dtype.kind in 'iu' and count is not None and value == count


def _length(pair, part, arrays):
    """What lies along the batch axis of an input: rows, where it is sparse."""
    return int(arrays[pair['sparse'][2]][0]) if pair['sparse'] else arrays[part].shape[pair['axis']]


def _cut(pair, part, arrays, begin, end):
    """An input's examples begin..end."""
    if not pair['sparse']:
        return compare.cut(arrays[part], pair['axis'], begin, end)
    indices, value = arrays[pair['sparse'][0]], arrays[part].copy()
    place = pair['sparse'].index(part)
    if place == 2:
        value[0] = end - begin
        return value
    value = value[(indices[:, 0] >= begin) & (indices[:, 0] < end)]
    if place == 0:
        value[:, 0] -= begin
    return value


def shards(pairs, arrays, gpus, upper=True):
    """The towers' feeds for the original: [({tensor name: array}, rows)], without the empty ones."""
    count = rows(pairs, arrays)
    if not count:  # no batch, or one without an example
        return [(whole(pairs, arrays), 1)]
    result = []
    for gpu, (begin, end) in enumerate(compare.bounds(count, gpus, upper)):
        feed, size = {}, end - begin
        for pair in pairs:
            part = pair['parts'][min(gpu, len(pair['parts']) - 1)]
            value = arrays[part]
            if len(pair['parts']) > 1:
                size = 1 if pair.get('alone') else value.shape[pair['axis']] if pair['axis'] is not None else size
            elif pair['axis'] is not None:  # several rows for each example, or one for several, where it is no count
                length = _length(pair, part, arrays)
                value = _cut(pair, part, arrays, length * begin // count, length * end // count)
            elif _counts(value, count):
                value = value * 0 + size
            feed[pair['own']] = value
        if size:
            result.append((feed, size))
    return result


def whole(pairs, arrays):
    """The whole global batch as one feed for the original; None where its parts have different shapes."""
    feed = {}
    for pair in pairs:
        values = [arrays[part] for part in pair['parts']]
        joined = len(values) > 1 and pair['axis'] is not None
        if joined and (pair.get('alone') or len({value.shape[1:] for value in values}) > 1):
            return None
        feed[pair['own']] = np.concatenate(values, pair['axis']) if joined else values[0]
    return feed


def twice(pairs, arrays):
    """The whole global batch with all of its examples given a second time, as one feed for the original."""
    feed, count = whole(pairs, arrays), rows(pairs, arrays)
    for pair in pairs:
        if pair['axis'] is not None:
            feed[pair['own']] = np.concatenate([feed[pair['own']]] * 2, pair['axis'])
        elif _counts(feed[pair['own']], count):
            feed[pair['own']] = feed[pair['own']] * 2
    return feed


def in_reverse(pairs, feed):
    """A feed for the original with its examples from the last to the first; None where it has sparse inputs."""
    if any(pair['sparse'] for pair in pairs):
        return None
    cut = {pair['own']: pair['axis'] for pair in pairs if pair['axis'] is not None}
    return {name: np.flip(value, cut[name]) if name in cut else value for name, value in feed.items()}


def turned(pairs, arrays, gpus):
    """The conversion's arrays with the examples of its first tower behind the others; None where some are sparse."""
    result, count = dict(arrays), rows(pairs, arrays)
    _, first = compare.bounds(count, gpus)[0]
    for pair in pairs:
        parts = pair['parts']
        if pair['sparse']:
            return None
        if len(parts) > 1:
            result.update(zip(parts, [arrays[part] for part in parts[1:] + parts[:1]]))
        elif pair['axis'] is not None:
            behind = _length(pair, parts[0], arrays) * first // count
            result[parts[0]] = np.roll(arrays[parts[0]], -behind, pair['axis'])
    return result


def fits(feed, statics):
    """Whether there are arrays, and they fit the static shapes {name: list or None} of the tensors they go to."""
    if feed is None:
        return False
    for name, value in feed.items():
        static = statics.get(name)
        if static is None:
            continue
        if len(static) != value.ndim or any(s is not None and s != v for s, v in zip(static, value.shape)):
            return False
    return True


def cut_rows(pairs, arrays, size):
    """The conversion's arrays cut to their first `size` examples; None where towers read for themselves."""
    if any(len(pair['parts']) > 1 for pair in pairs):
        return None
    result = dict(arrays)
    count = rows(pairs, arrays)
    for pair in pairs:
        if pair['axis'] is not None:
            name = pair['parts'][0]
            result[name] = _cut(pair, name, arrays, 0, _length(pair, name, arrays) * size // count)
        elif _counts(arrays[pair['parts'][0]], count):
            result[pair['parts'][0]] = arrays[pair['parts'][0]] * 0 + size
    return result
