"""Batches as arrays in lists, tuples and dicts: noted, put together, and cut for the replicas of a step."""

from __future__ import absolute_import, division, print_function

import numpy


def note(tf, input_fn, number):
    """The first `number` batches that an input function gives, and their dtypes and shapes; fewer where it ends."""
    with tf.Graph().as_default():
        tf.compat.v1.set_random_seed(20)
        found = input_fn()
        dataset = is_dataset(found)
        tensors = found
        hooks = []
        if dataset:
            iterator = tf.compat.v1.data.make_initializable_iterator(found)
            tensors, hooks = iterator.get_next(), [iterator.initializer]
        shapes = [tensor.shape for tensor in flat(tensors)]
        with tf.compat.v1.Session() as session:
            session.run([tf.compat.v1.global_variables_initializer(), tf.compat.v1.local_variables_initializer(),
                         tf.compat.v1.tables_initializer()])
            session.run(hooks)
            coordinator = tf.compat.v1.train.Coordinator()
            threads = tf.compat.v1.train.start_queue_runners(session, coordinator)
            taken = take(tf, number, lambda: session.run(tensors))
            coordinator.request_stop()
            coordinator.join(threads, stop_grace_period_secs=10, ignore_live_threads=True)
    return taken, shapes, dataset


def take(tf, number, one):
    """So many batches, each what `one` gives; fewer where its data end."""
    taken = []
    try:
        for _ in range(number):
            taken.append(one())
    except tf.errors.OutOfRangeError:
        pass
    return taken


def together(taken, number):
    """Batches put together, so many at a time; those that are left over are not."""
    return [taken[place : place + number] for place in range(0, len(taken) - number + 1, number)]


def compared(own, given):
    """Whether the conversion's own steps take as many rows as the given ones of the original, and the same examples."""
    rows = [[len(flat(one)[0]) for one in held] for held in (own, given)]
    return {'rows': rows[0] == rows[1], 'same': all_same(own, given)}


def all_same(own, others):
    """Whether two lists hold the same batches."""
    return len(own) == len(others) and all(map(same, own, others))


def is_dataset(found):
    """Whether an input function gave a dataset, and not tensors."""
    return any(kind.__name__ in ('DatasetV1', 'DatasetV2', 'Dataset') for kind in type(found).__mro__)


def flat(nested):
    """The arrays or tensors of a batch in a fixed order."""
    if isinstance(nested, dict):
        return [item for name in sorted(nested) for item in flat(nested[name])]
    if isinstance(nested, (list, tuple)):
        return [item for inner in nested for item in flat(inner)]
    return [] if nested is None else [nested]


def mapped(function, nested, *others):
    """A batch with the function's results in place of its arrays."""
    if isinstance(nested, dict):
        return {name: mapped(function, nested[name], *[o[name] for o in others]) for name in nested}
    if isinstance(nested, (list, tuple)):
        return tuple(mapped(function, *items) for items in zip(nested, *others))
    return None if nested is None else function(nested, *others)


def joined(batches):
    """Batches one below the other."""
    return mapped(lambda *arrays: numpy.concatenate(arrays), *batches)


def cut(batch, number):
    """A batch in consecutive parts of as many rows."""
    rows = len(flat(batch)[0])
    return [rows_of(batch, rows * i // number, rows * (i + 1) // number) for i in range(number)]


def rows_of(batch, begin, end):
    """Some rows of a batch."""
    return mapped(lambda array: numpy.asarray(array)[begin:end], batch)


def same(one, other):
    """Whether two batches hold the same arrays."""
    mine, theirs = flat(one), flat(other)
    return len(mine) == len(theirs) and all(
        a.shape == b.shape and (a == b).all() for a, b in zip(mine, theirs)
    )


class ReplicaBatches(object):
    """The batches of the replicas in one step, and the weight of each: its part of the examples."""

    def __init__(self, batch, number):
        self.batches = cut(batch, number) if number > 1 else [batch]
        rows = [len(flat(part)[0]) for part in self.batches]
        self.weights = [row / float(sum(rows)) for row in rows]


def merged(before, after, weights):
    """A variable that each replica updates by itself, as the moving averages of a batch norm: the mean of theirs."""
    if not numpy.issubdtype(before.dtype, numpy.floating):
        return after[0]
    found = sum(numpy.asarray(value, numpy.float64) * weight for value, weight in zip(after, weights))
    return numpy.asarray(found, before.dtype)
