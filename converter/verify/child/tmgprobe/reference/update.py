"""One step of the original: its update from given gradients, and the weights after it."""

from __future__ import absolute_import, division, print_function

import collections

import numpy as np
from tmgprobe.graph import graphs
from tmgprobe.reference import gradients, merge, region
from tmgprobe.session import fetches as fetched
from tmgprobe.values import compare

# result: of the script's own run; weights: that it leads to; fed: for its inputs; plain: see kinds.Kinds.learn
Taken = collections.namedtuple('Taken', 'result weights fed plain')


def take(one, own, metadata=None):
    """All of one step; `own` are the weights that the original's own way has reached, if others.

    metadata: a RunMetadata for the trace of the original's own run.
    """
    weights = one.kept['before']
    one.load(weights)
    checked = gradients.check(one)
    raw, losses, feed = checked.found[checked.used]
    one.figures['fetches'] = merge.figures(one, one.gates(raw))
    raised = hold(one, checked)
    one.figures['curve'] = one.figures['loss']
    if own is None:
        own = weights
    else:
        again = one.reference(own, checked.used)
        raw, losses, feed = again
        one.figures['curve'] = gradients.loss(one, again)
    one.load(own)
    result = _train(one, raw, _with_losses(one, feed, losses), {}, metadata)
    after = one.store.read(list(one.kept['after']))
    by_feed = one.figures.get('by_feed', {})
    of_whole = sorted(name for name, (cut, whole) in by_feed.items() if whole < cut)
    if of_whole:  # computed from the whole batch beside the gradients, as the moving average of a loss is
        whole = _after_whole(one, own, raw, checked, losses, {})
        after.update((name, whole[name]) for name in of_whole)
    after.update((name, own[name] + amount) for name, amount in raised.items() if name in own)
    one.figures['slack'] = _slack(one.kept['after'], weights, checked)
    plain = not raised and all(first <= merge.CLOSE for first, _ in by_feed.values())
    return Taken(result, after, feed, plain and all(_written(one).values()))


def take_again(one, result):
    """A step that comes to the result of those of its kind; None where it does not. result: a kinds.Result.

    The original's run is fed the conversion's gradients, so that its update and its weights are those of one run.
    """
    weights = one.kept['before']
    one.load(weights)
    try:
        checked = gradients.check(one, result)
        if checked is None:
            return None
        raw, losses, feed = checked.found[checked.used]
        rows = merge.figures(one, one.gates(raw))
        one.load(weights)
        taken = _train(one, raw, _with_losses(one, feed, losses), _recorded(one))
    except one.refused:
        return None
    after = one.store.read(list(one.kept['after']))
    errors = _movements(one, weights, after)
    if not all(error <= merge.CLOSE for error in errors.values()):
        return None
    one.figures.update(fetches=rows, update=errors, counted=_counted(one, weights, after), slack={})
    one.figures.update(pace=_pace(one, weights, after), curve=one.figures['loss'])
    return Taken(taken, after, feed, True)


def _slack(moved, weights, checked):
    """{variable: how far its values may lie apart after the step}, by the rounding of their gradients."""
    slack = {}
    for (_, name), gradient in checked.wanted.items():
        if gradient is None or name not in moved or moved[name].shape != gradient.shape:
            continue
        way = np.abs(np.asarray(moved[name], np.float64) - weights[name])
        doubt = 1e-5 * max(compare.largest(gradient), 1e-2 * checked.scale)
        with np.errstate(divide='ignore', invalid='ignore'):
            slack[name] = np.where(
                gradient != 0, way * np.minimum(2.0, 2 * doubt / np.abs(gradient)), 2 * way
            )
    return slack


def walk(one, own, used):
    """One step of the original's own way from these weights: the weights after it."""
    raw, losses, feed = one.reference(own, used)
    return _after(one, own, raw, _with_losses(one, feed, losses), {})


def _train(one, raw, feed, applied, metadata=None):
    """The script's own run, with these raw gradients and (where given) these applied ones."""
    values = dict(dict(one.extra, **feed), **one.gates(raw))
    values.update(applied)
    options = one.call.tf.RunOptions
    trace = None if metadata is None else options(trace_level=options.FULL_TRACE)
    return one.call.run(one.call.fetches, values, trace, metadata)


def hold(one, checked):
    """One update from the conversion's own applied gradients: {variable: error} and who was late.

    Returns what accumulators are raised by where only rows put together from the shards explain it, see `_raised`.
    """
    weights, raw = one.kept['before'], checked.found[checked.used][0]
    planned = _planned(one, one.gates(raw)) if 'whole' in checked.found else {}
    afters, written, moved = list(_afters(one, checked, planned)), {}, {}
    by_feed = [_movements(one, weights, after) for after in afters]
    counted = {name: pair for after in afters for name, pair in _counted(one, weights, after).items()}
    one.figures['pace'] = _pace(one, weights, afters[0])
    if len(by_feed) == 2:
        one.figures['by_feed'] = {name: [by_feed[0][name], by_feed[1][name]] for name in by_feed[0]}
        written = _written(one) if 'whole' in checked.found else {}
        set_ = [name for name, op in _setting(one) if op.inputs[1].name in planned]
        moved = {name: afters[1][name] - weights[name] for name in set_ if name in afters[1] and name in weights}
    errors = {name: _error(one, name, [way[name] for way in by_feed], written.get(name)) for name in by_feed[0]}
    raised = _raised(one, weights, raw, [name for name, error in errors.items() if not error <= merge.CLOSE])
    one.figures['update'] = dict(errors, **dict.fromkeys(raised, 0.0))
    one.figures['counted'] = {name: pair for name, pair in counted.items() if name not in raised}
    return dict(moved, **raised)


def _afters(one, checked, planned):
    """The variables after an update from the conversion's gradients: with the first shard fed, then the whole batch.

    planned: as of `_planned`. One reference may be the whole batch itself, and the original may not take the second.
    """
    weights, applied = one.kept['before'], _recorded(one)
    raw, losses, feed = checked.found[checked.used]
    yield _after(one, weights, raw, _with_losses(one, feed, losses), applied)
    if checked.used != 'whole' or planned:
        try:
            yield _after_whole(one, weights, raw, checked, losses, dict(applied, **planned))
        except one.refused:
            pass


def _recorded(one):
    """What is fed for the conversion's gradients, {tensor: value}, where the original applies its own."""
    applied = {}
    for apply in one.applies:
        for name, gate in zip(apply.variables, apply.gates):
            value = one.kept['applied'][apply.index].get(name)
            own = graphs.tensors(gate)
            theirs = value if isinstance(value, tuple) else (value,)
            if value is not None and len(own) == len(theirs):
                applied.update((tensor.name, part) for tensor, part in zip(own, theirs))
    return applied


def _movements(one, weights, after):
    """{variable: how far the conversion leaves it from these values of the original's update}."""
    ends = one.kept['after']
    return {name: compare.movement_error(ends[name], value, weights.get(name, value)) for name, value in after.items()}


def _counted(one, weights, after):
    """{variable: [by how much the conversion has counted it up, and the original]} of whole numbers."""
    whole = [name for name, value in after.items() if np.ndim(value) == 0 and np.asarray(value).dtype.kind in 'iu']
    return {name: [int(ends[name] - weights[name]) for ends in (one.kept['after'], after)] for name in whole}


def _setting(one):
    """[(variable, operation)] that sets a variable which is not trained, where a plan says what the towers write."""
    trained = {name for apply in one.applies for name in apply.variables}
    found = [('%s:0' % graphs.assigned(op), op) for op in one.step.operations if graphs.assigned(op)]
    return [(name, operation) for name, operation in found if name not in trained] if one.region is not None else []


def _written(one):
    """{variable: whether towers write it, by the plan} of those that a step sets and does not train.

    One in which towers count is left out: each adds its own.
    """
    found, counted = {}, set()
    for name, operation in _setting(one):
        inside = one.region.holds(operation)
        found[name] = found.get(name, False) or inside
        counted.update([name] if inside and merge.adds_up(operation) else ())
    return {name: inside for name, inside in found.items() if name not in counted}


def _planned(one, gates):
    """{tensor: value} of what a step writes into variables behind the towers, put together as the plan says."""
    train, fetches = {apply.operation for apply in one.applies}, []
    for _, operation in _setting(one):
        value = operation.inputs[1]
        of_train = train & graphs.computed_from([value.op])
        if not of_train and not one.region.holds(operation) and fetched.comparable(value):
            fetches.append(fetched.of(value))
    if not fetches:
        return {}
    reference = merge.Reference(one, gates, fetches)
    taken = [fetch for fetch in fetches if fetch.tensor.op in reference.dependent and reference.is_free(fetch.tensor)]
    readings = {fetch.place: reference.readings(fetch) for fetch in taken} if reference.base is not None else {}
    return {name: found[0][1] for name, found in readings.items() if found}


def _error(one, name, errors, written):
    """How far a variable is from what the original makes of it.

    errors: by the first tower's share of the batch and by the whole, in this order, as far as there are both.
    written: whether the towers write it, so that it is the first; None where no plan says which: then it is the same in
    all steps.
    """
    if written is not None:
        return errors[0 if written else 1]
    return region.nearest(one.step.ways, name, [(error, way) for way, error in enumerate(errors)], merge.CLOSE)[0]


def _raised(one, weights, raw, names):
    """What the conversion adds to variables that are not trained, {name: amount}, where it is the original's.

    names: variables that neither the first shard nor the whole batch explains. What is written into them may be made
    of rows that depend on each tower's statistics, as a fetched value may be: see merge.py. A plan tells what else than
    counts is, see `_planned`.
    """
    trained, written = {name for apply in one.applies for name in apply.variables}, {}
    for operation in one.step.operations if set(names) - trained else ():
        if graphs.assigned(operation) and (one.region is None or merge.adds_up(operation)):
            written.setdefault(graphs.assigned(operation), []).append(operation)
    found = {}
    for name in set(names) - trained:
        writes = written.get(name.split(':')[0], ())
        if len(writes) == 1 and fetched.comparable(writes[0].inputs[1]):
            before, after = weights[name], one.kept['after'][name]
            for amount in _amounts(one, writes[0], before, one.gates(raw)):
                if compare.movement_error(after, before + amount, before) <= merge.CLOSE:
                    found[name] = np.asarray(amount, before.dtype)
                    break
    return found


def _amounts(one, write, before, gates):
    """By how much an operation may change its variable, where its value is put together from the shards'.

    before: the variable's value. What towers write by themselves is the first one's, and no mean of theirs.
    """
    tensor = write.inputs[1]
    fetch = fetched.of(tensor)
    reference = merge.Reference(one, gates, [fetch])
    reference.growth = one.figures['own_rows'], one.figures['rows']
    for how, value in reference.readings(fetch):
        if merge.adds_up(write):
            yield value
        elif not how.endswith('means'):
            yield -value if write.type.startswith('AssignSub') else value - before
        rows, recorded = reference.growth
        if tensor.op not in reference.dependent and np.ndim(value) == 0 and value == rows != 1:
            yield recorded  # the size of the batch, as a number in the graph


def _after(one, weights, raw, feed, applied):
    """What the variables become in the script's own run: {name: value}."""
    one.load(weights)
    _train(one, raw, feed, applied)
    return one.store.read(list(one.kept['after']))


def _after_whole(one, weights, raw, checked, losses, applied):
    """The same with the whole batch fed, or the mean over the shards where the original takes no such batch.

    What follows means of the batch, as a moving average of a loss does, comes to the same on either way.
    """
    if 'whole' in checked.found:
        return _after(one, weights, raw, _with_losses(one, checked.found['whole'][2], losses), applied)
    mean = {}
    for feed, share in checked.shards:
        for name, value in _after(one, weights, raw, _with_losses(one, feed, losses), applied).items():
            weigh = share if np.asarray(value).dtype.kind == 'f' else None
            mean[name] = value if weigh is None else mean.get(name, 0) + np.asarray(value, np.float64) * weigh
    return mean


def _with_losses(one, feed, losses):
    """A feed with the mean loss over the shards, as a moving average of the loss takes it up."""
    means = {
        loss.name: value
        for loss, value in zip(one.losses, losses)
        if np.ndim(value) == 0 and one.step.graph.is_feedable(loss)
    }
    return dict(feed, **means)


def _pace(one, weights, after):
    """How far the conversion's update went, over how far the original's goes from the same gradients."""
    ways = []
    for ends in (one.kept['after'], after):
        gone = [
            np.asarray(ends[name], np.float64) - weights[name]
            for apply in one.applies
            for name in apply.variables
            if name in ends and name in weights
        ]
        ways.append(np.sqrt(sum(float(np.sum(np.square(step))) for step in gone)))
    return ways[0] / ways[1] if ways[1] else None
