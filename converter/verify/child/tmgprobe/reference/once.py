"""The gradients of a loss that the conversion computes once, from what its towers give.

What a tower gives is computed from its shard alone, with that shard's statistics (batch normalisation). So the loss is
computed of the rows that the shards give, put together, and its gradient with respect to these rows is taken back
through each shard by itself. The operations for that are added to the original's graph.
"""

from __future__ import absolute_import, division, print_function

import collections
import contextlib

import numpy as np
from tmgprobe.graph import graphs
from tmgprobe.reference import merge, region
from tmgprobe.session import step as steps
from tmgprobe.values import compare, inputs

SCOPE = 'tf_multigpu_probe_once/'
SAME = 1e-3  # relative error up to which these operations differentiate as the script does

# border: the tensors that towers give; rows: the gradient of the losses with respect to these; given: what is fed for
# it; back: the gradients by the variables through the border; beside: past it, as of weight decay.
Parts = collections.namedtuple('Parts', 'border rows given back beside')


def gradients(one, weights, shards, factor):
    """(raw gradients of every group, losses, the first shard's feed).

    None where the towers give something else than rows, or the script does not differentiate plainly.
    shards: [(feed, rows)]; factor: see StepComparison.micro.
    """
    everything = inputs.whole(one.pairs, one.kept['arrays'])
    held, key = one.step.watched.once, tuple(id(group) for group in one.groups)
    if key not in held:
        held[key] = None if any(one.stages.groups) else _plain(one, weights, shards[0])
    if held[key] is None:
        return None
    graphs_of = [one.model(feed) for feed in (everything, shards[0][0])]
    if graphs_of[0] is not graphs_of[1] and len(held[key]) == 1:
        held[key].append(_made(one, *graphs_of))
    parts = held[key][-1]
    return None if parts is None else _taken(one, weights, everything, shards, parts, factor)


def _plain(one, weights, shard):
    """[the operations for one shard by itself]; None where they do not differentiate as the script does."""
    parts = _made(one, *[one.model(shard[0])] * 2)
    alone = None if parts is None else _taken(one, weights, shard[0], [shard], parts, None)
    raw = () if alone is None else one.micro(weights, shard[0])[0]
    alike = alone is not None and all(_alike(*pair) for pairs in zip(alone[0], raw) for pair in zip(*pairs))
    return [parts] if alike else None


def _alike(value, wanted):
    if value is None or wanted is None or isinstance(wanted, tuple):
        return value is wanted
    return np.shape(value) == np.shape(wanted) and compare.largest(value - wanted) <= SAME * compare.largest(wanted)


def _made(one, whole, shard):
    """The operations for each group of gradients; None where there is no such way.

    whole, shard: the model that takes the whole batch, and the one that takes a shard; None for the own graph.
    """
    reference, (way,), found = merge.Reference(one, {}, []), region.ways(one.region, (), False), []
    for group in one.groups if reference.base is not None else ():
        border = reference.border(group.losses, set(), way, False)
        targets = [one.store.variables.get(name) for name in group.variables]
        if not border or None in targets or any(set_ or not tensor.dtype.is_floating for tensor, set_ in border):
            return None
        try:
            found.append(_added(one, group.losses, [tensor for tensor, _ in border], targets, (whole, shard)))
        except (LookupError, ValueError, AttributeError):  # of a loop in the graph for another size
            return None
    return None if None in found else found or None


def _added(one, losses, border, targets, models):
    """The operations for one group of gradients; None where some are sparse, or a border leads to no loss."""
    tf, differentiate = one.call.tf, one.step.watched.differentiate
    with _inside(one, models[0]) as of:
        rows = differentiate(of(losses), of(border))
        beside = differentiate(of(losses), of(targets), stop_gradients=of(border))
    with _inside(one, models[1]) as of:
        given = [tf.placeholder(tensor.dtype.base_dtype, tensor.get_shape()) for tensor in of(border)]
        back = differentiate(of(border), of(targets), grad_ys=given)
    if any(found is None for found in rows):
        return None
    sparse = any(isinstance(found, tf.IndexedSlices) for found in rows + back + beside)
    return None if sparse else Parts(border, rows, given, back, beside)


@contextlib.contextmanager
def _inside(one, model):
    """Adds operations to a graph, under names of their own: the own one, or a model's. Gives what has tensors there."""
    graph = one.step.graph if model is None else model.graph
    scope = graph.name_scope(SCOPE)
    with graphs.opened(graph), graph.as_default(), graph.device(None), graph.control_dependencies(None), scope:
        yield (lambda tensors: tensors) if model is None else model.of


def _taken(one, weights, everything, shards, parts, factor):
    """The gradients of all groups with these shards, and the losses; see `gradients`."""

    def run(tensors, feed):
        one.load(weights)
        return one.run(tensors, feed)

    raw, joined = [], {}
    for made in parts:
        whole, pieces = run(made.border, everything), [run(made.border, feed) for feed, _ in shards]
        axes = [merge.row_axis(each, [size for _, size in shards], all_) for each, all_ in zip(zip(*pieces), whole)]
        if None in axes:
            return None
        rows = [np.concatenate(each, axis) for each, axis in zip(zip(*pieces), axes)]
        joined.update((tensor.name, value) for tensor, value in zip(made.border, rows))
        count = len(made.back)
        feed = dict(everything, **{tensor.name: value for tensor, value in zip(made.border, rows)})
        slopes, beside = run([made.rows, steps.gradients_fetch(made.beside)], feed)
        total, begins = steps.gradients_values(beside, count), [0] * len(axes)
        for (feed, _), piece in zip(shards, pieces):
            fed = dict(feed)
            for place, axis in enumerate(axes):
                length = piece[place].shape[axis]
                cut = np.take(slopes[place], range(begins[place], begins[place] + length), axis)
                fed[made.given[place].name] = cut * (1.0 if factor is None else factor)
                begins[place] += length
            back = steps.gradients_values(run(steps.gradients_fetch(made.back), fed), count)
            back = back if factor is None else compare.divided(back, factor)
            total = [new if old is None else old if new is None else old + new for old, new in zip(total, back)]
        raw.append(total)
    return raw, run(one.losses, dict(everything, **joined)), shards[0][0]
