"""The gradients of a loss that the conversion computes once, from what its towers give.

What a tower gives is computed from its shard alone, with that shard's statistics (batch normalisation). So the loss is
computed of the rows that the shards give, put together, and its gradient with respect to these rows is taken back
through each shard by itself. The operations for that are added to the original's graph.
"""

from __future__ import absolute_import, division, print_function

import collections

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


def gradients(one, weights, whole, shards, factor):
    """(raw gradients of every group, losses, the first shard's feed).

    None where the towers give something else than rows, or the script does not differentiate plainly.
    whole: these on the whole batch with its own statistics; shards: [(feed, rows)]; factor: see Comparison._micro.
    """
    raw, everything = whole[0], inputs.whole(one.pairs, one.kept['arrays'])
    held, key = one.step.watched.once, tuple(id(group) for group in one.groups)
    if key not in held:
        held[key] = {'parts': None if any(one.stages.groups) else _made(one), 'plain': False}
    parts = held[key]['parts']
    if parts and not held[key]['plain']:  # not seen yet to differentiate as the script does
        alone = _taken(one, weights, everything, [(everything, sum(size for _, size in shards))], parts, None)
        held[key]['plain'] = alone is not None and all(
            _alike(*pair) for pairs in zip(alone[0], raw) for pair in zip(*pairs)
        )
    return _taken(one, weights, everything, shards, parts, factor) if held[key]['plain'] else None


def _alike(value, wanted):
    if value is None or wanted is None or isinstance(wanted, tuple):
        return value is wanted
    return np.shape(value) == np.shape(wanted) and compare.largest(value - wanted) <= SAME * compare.largest(wanted)


def _made(one):
    """The operations for each group of gradients; None where there is no such way."""
    reference, (way,) = merge.Reference(one, {}, []), region.ways(one.region, (), False)
    model, found = None if reference.base is not None else one.model, []
    if reference.base is None and model is None:
        return None
    for group in one.groups:
        border = reference.border(group.losses, set(), way, False)
        targets = [one.store.variables.get(name) for name in group.variables]
        if not border or None in targets or any(set_ or not tensor.dtype.is_floating for tensor, set_ in border):
            return None
        parts = [group.losses, [tensor for tensor, _ in border]]
        found.append(_added(one, *(parts if model is None else model.of(parts)), targets=targets))
    return None if None in found else found


def _added(one, losses, border, targets):
    """The operations for one group of gradients; None where some are sparse, or a border leads to no loss."""
    tf, graph, differentiate = one.call.tf, one.step.graph, one.step.watched.differentiate
    scope = graph.name_scope(SCOPE)
    with graphs.opened(graph), graph.as_default(), graph.device(None), graph.control_dependencies(None), scope:
        rows = differentiate(losses, border)
        given = [tf.placeholder(tensor.dtype.base_dtype, tensor.get_shape()) for tensor in border]
        back = differentiate(border, targets, grad_ys=given)
        beside = differentiate(losses, targets, stop_gradients=border)
    if any(found is None for found in rows):
        return None
    sparse = any(isinstance(found, tf.IndexedSlices) for found in rows + back + beside)
    return None if sparse else Parts(border, rows, given, back, beside)


def _taken(one, weights, everything, shards, parts, factor):
    """The gradients of all groups with these shards, and the losses; see `gradients`."""
    model = None if inputs.fits(everything, one.statics) else one.model

    def run(tensors, feed):
        one.load(weights)
        return one.run(tensors, feed) if model is None else model.run(one, tensors, dict(one.extra, **feed))

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
