"""What a fetched value of the conversion may be, computed by the original's own graph.

Three readings of "the same value" count, tried in this order:

whole: the value on the whole recorded batch;
rows: where statistics of the batch are in it (batch norm): what has a row for each example is taken from
    the original's runs on the shards and put together; what is computed from such rows, once on all;
means: the same, and what the loss itself is made of, which is built in the towers, is the weighted
    mean over the shards (its sum where it adds up), as the loss is.

What the model writes into a variable may also be the value on the first shard: one tower writes it.

A batch of a size that is fixed in the graph cannot be taken whole; there the values on the shards are
put together by what they are: rows, or the means and sums of which the graph computes them (reductions.py).
"""

from __future__ import absolute_import, division, print_function

import numpy as np
from tmgprobe.graph import graphs
from tmgprobe.reference import reductions
from tmgprobe.session import fetches as fetched
from tmgprobe.values import compare, inputs, summary

CLOSE = 1e-4  # see "The tolerances" in docs/verify.md
ROUNDS = 60  # operations between a value and the rows it is made of, at most
MERGES = {'Mean': ('mean',), 'Sum': ('sum',), 'Max': ('largest',), 'Min': ('smallest',)}


def _sum(pieces, sizes):
    return sum(np.asarray(piece, np.float64) for piece in pieces)


def _mean(pieces, sizes):
    total = float(sum(sizes))
    return _weighted(pieces, [size / total for size in sizes])


def _weighted(pieces, shares):
    """The sum of the shards' values with these weights, which need not add up to one."""
    return sum(np.asarray(piece, np.float64) * share for piece, share in zip(pieces, shares))


COMBINED = {
    'mean': _mean,
    'sum': _sum,
    'largest': lambda pieces, sizes: np.maximum.reduce(pieces),
    'smallest': lambda pieces, sizes: np.minimum.reduce(pieces),
}


class Reference(object):
    """The original's side of one run call: its values on the recorded batch and on the towers' shards.

    one: the comparison (reference.Comparison); gates: what is fed for the original's gradients.
    """

    def __init__(self, one, gates):
        self.one, self.gates = one, gates
        self.graph, self.arrays = one.step.graph, one.kept['arrays']
        everything = inputs.whole(one.pairs, self.arrays)
        self.base = everything if inputs.fits(everything, one.statics) else None
        self.splits = []
        for upper in (True, False):
            shards = inputs.shards(one.pairs, self.arrays, one.gpus, upper)
            sizes = [size for _, size in shards]
            if all(inputs.fits(feed, one.statics) for feed, _ in shards) and sizes not in [
                [size for _, size in others] for others in self.splits
            ]:
                self.splits.append(shards)
        if self.base is None and not self.splits:
            raise ValueError('neither the batch nor a shard of it fits the static shapes of the original')
        batch = [self.graph.as_graph_element(pair['own']) for pair in one.pairs if pair['axis'] is not None]
        self.batch, self.growth = {tensor.name for tensor in batch}, (None, None)
        fed = {self.graph.as_graph_element(name).op for name in gates}
        self.dependent = graphs.descendants(batch, set(one.step.operations) - fed)
        self.trunk = graphs.ancestors(loss.op for loss in _losses(one.step))
        self.reset()

    def reset(self, weights=None):
        """Loads the weights at which the run was recorded, or others."""
        self.one.store.write(self.one.kept['before'] if weights is None else weights)

    def run(self, tensors, feed):
        """Runs tensors in any structure, with gradients put in and randomness held still."""
        values = dict(dict(self.one.extra, **feed), **self.gates)
        return self.one.call.run(tensors, values)

    def values(self, fetches, feed):
        """{place: value} on one feed; without those that do not take it."""
        return fetched.values(lambda tensors: self.run(tensors, feed), fetches, self.reset, self.one.refused)

    def readings(self, fetch, is_whole):
        """The values that one fetch may have, one after the other: (how, value).

        is_whole: whether the original has a value on the whole batch, which the caller has tried.
        """
        if fetch.tensor.op not in self.dependent:
            if not is_whole:
                for value in self.values([fetch], self.splits[0][0][0]).values():
                    yield 'whole', value
            return
        for shards in self.splits:
            if not is_whole:
                for how, value in self._by_kind(fetch, shards):
                    yield how, value
            elif len(shards) > 1:
                for how, scalars in (('rows', False), ('means', True)):
                    try:
                        yield how, self._merged(fetch, shards, scalars)
                    except self.one.refused:
                        pass

    def by_grown_size(self, fetch):
        """A value that the graph divides by the size of the original's batch, where each tower has one of this size.

        It is divided by N times the size, or the mean over the towers.
        """
        if self.base is None or self.one.total or self.one.gpus == 1:
            return
        between = graphs.ancestors([fetch.tensor.op]) & self.dependent
        divisors = {op.inputs[1].name: op.inputs[1] for op in between if op.type in graphs.DIVISIONS}
        plain = [one for one in divisors.values() if one.op not in self.dependent and one.get_shape().ndims == 0]
        taken = [one for one in plain if self.graph.is_feedable(one) and self.graph.is_fetchable(one)]
        values = self.run(taken, self.base) if taken else []
        sizes = [(one, value) for one, value in zip(taken, values) if value in self.one.step.own_sizes]
        if not sizes:
            return
        grown = {one.name: np.asarray(value * self.one.gpus, np.asarray(value).dtype) for one, value in sizes}
        for value in self.values([fetch], dict(self.base, **grown)).values():
            yield value
        for shards in self.splits:
            pieces = [value for part, _ in shards for value in self.values([fetch], part).values()]
            if len(pieces) == len(shards) and all(np.ndim(piece) == 0 for piece in pieces):
                yield _mean(pieces, [size for _, size in shards])

    def takes_shards(self):
        """Whether the original takes one tower's share of the batch: its batch may be of one size only."""
        return self.one.gpus == 1 or any(len(shards) > 1 for shards in self.splits)

    def on_shards(self, fetch):
        """(tower, value on its shard) for all shards that are not empty."""
        for shards in self.splits:
            for number, (feed, _) in enumerate(shards):
                for value in self.values([fetch], feed).values():
                    yield number, value

    def from_first_shard(self, fetch):
        """A value computed from what the first tower's share of the batch has written, for each way to share it."""
        written, others = self._written(fetch.tensor)
        if not written or others and self.base is None:
            return
        if written != [fetch.tensor] and any(adds_up(tensor.op) for tensor in written):
            return  # a metric of all examples: each tower's count
        for shards in self.splits:
            feed = shards[0][0]
            if others:  # all else is of the whole batch
                try:
                    values = self.run(written, feed)
                except self.one.refused:
                    continue
                self.reset()
                feed = dict(self.base, **dict(zip([tensor.name for tensor in written], values)))
            for value in self.values([fetch], feed).values():
                yield value

    def _written(self, tensor):
        """What is written into variables and a value is computed from; whether the batch goes into it otherwise."""
        found, others, seen, ahead = [], False, set(), [tensor]
        while ahead:
            tensor = ahead.pop()
            if tensor.name in seen:
                continue
            seen.add(tensor.name)
            if tensor.name in self.batch:
                others = True
            elif writes_variable(tensor.op):
                found.append(tensor)
            else:
                ahead += list(tensor.op.inputs)
        return found, others

    def _merged(self, fetch, shards, scalars):
        """A value computed from rows that the shards gave."""
        writes = fetch.order == fetched.WRITES

        def run(tensors, feed):
            if writes:
                self.reset()
            return self.run(tensors, feed)

        feed, ahead, seen = {}, [fetch.tensor], {fetch.tensor.name}
        sizes = [size for _, size in shards]
        for _ in range(ROUNDS):
            if not ahead:
                break
            whole = run(ahead, self.base)
            parts = list(zip(*[run(ahead, part) for part, _ in shards]))
            later = []
            for one, value, pieces in zip(ahead, whole, parts):
                joined = rows(pieces, sizes, value)
                if joined is None and scalars and one.op in self.trunk:
                    joined = self._added(one, pieces, sizes, value)
                if joined is not None:
                    feed[one.name] = joined
                elif writes or any(compare.value_error(piece, value) for piece in pieces):
                    later += self._below(one.op, seen, writes)
            ahead = later
        result = feed.get(fetch.tensor.name)
        if result is None:
            result = run(fetch.tensor, dict(self.base, **feed))
        if writes:
            self.reset()
        return result

    def _below(self, operation, seen, ordered):
        """The values from which an operation computes, and which depend on the batch.

        ordered: whether to look also behind the operations that it only waits for, such as writes.
        """
        found = []
        for tensor in operation.inputs:
            if tensor.name in seen or tensor.name in self.base or tensor.name in self.gates:
                continue
            seen.add(tensor.name)
            if tensor.op not in self.dependent:
                continue
            free = self.graph.is_fetchable(tensor) and self.graph.is_feedable(tensor)
            if free and fetched.comparable(tensor) and not tensor.dtype._is_ref_dtype:
                found.append(tensor)
            else:
                found += self._below(tensor.op, seen, ordered)
        for before in operation.control_inputs if ordered else ():
            if before in self.dependent and before.name not in seen:
                seen.add(before.name)
                found += self._below(before, seen, ordered)
        return found

    def _added(self, tensor, pieces, sizes, whole):
        """The mean over the shards of a part of the loss; the sum where the shards' values add up to the whole."""
        if np.asarray(whole).dtype.kind not in 'fiu' or any(np.shape(piece) != np.shape(whole) for piece in pieces):
            return None
        summed, mean = _sum(pieces, sizes), _mean(pieces, sizes)
        adds_up = compare.value_error(summed, whole) < CLOSE < compare.value_error(mean, whole)
        is_loss = any(tensor.op is loss.op for loss in _losses(self.one.step))
        return np.asarray(summed if adds_up and not is_loss else mean, np.asarray(whole).dtype)

    def _by_kind(self, fetch, shards):
        """A value put together from the shards' by what the graph ends with; on one shard it is the value."""
        pieces = [value for part, _ in shards for value in self.values([fetch], part).values()]
        sizes = [size for _, size in shards]
        if len(pieces) < len(shards):
            return
        if len(pieces) == 1:
            yield 'rows', pieces[0]
        elif summary.is_summary(fetch.tensor):
            for how, value in self._summary(fetch.tensor, pieces, shards):
                yield how, value
        elif rows(pieces, sizes, None) is not None:
            yield 'rows', rows(pieces, sizes, None)
        elif self._of_losses_only(fetch.tensor.op):
            losses = list(_losses(self.one.step))
            parts = list(zip(*[self.run(losses, part) for part, _ in shards]))
            plain = [size / float(sum(sizes)) for size in sizes]
            for share in filter(None, (plain, self.one.counts([part for part, _ in shards]))):
                sums = [np.asarray(_weighted(part, share), part[0].dtype) for part in parts]
                feed = {loss.name: value for loss, value in zip(losses, sums)}
                known = feed.get(fetch.tensor.name)
                yield 'means', self.run(fetch.tensor, dict(shards[0][0], **feed)) if known is None else known
        elif len({np.shape(piece) for piece in pieces}) == 1 and np.asarray(pieces[0]).dtype.kind in 'fiu':
            exact, alone = self._reduced(fetch.tensor, shards) if fetch.order != fetched.WRITES else (None, False)
            if exact is not None:
                yield 'rows', exact
            if not alone:
                for how in self._reduction(fetch.tensor.op):
                    yield how, COMBINED[how](pieces, sizes)

    def _summary(self, tensor, pieces, shards):
        """A summary put together from the shards': each scalar by what it is computed of, or their mean or sum."""
        sizes, tf = [size for _, size in shards], self.one.call.tf
        parsed, computed, certain = [summary.parts(tf, piece)[0] for piece in pieces], {}, {}
        for operation in graphs.ancestors([tensor.op]) & self.dependent:
            exact, alone = None, False
            if operation.type == 'ScalarSummary':
                exact, alone = self._reduced(operation.outputs[0], shards)
            if exact is not None:
                computed.update(summary.parts(tf, exact)[0])
                certain.update(summary.parts(tf, exact)[0] if alone else {})
        if computed:
            yield 'rows', dict(parsed[0], **{tag: computed[tag] for tag in computed if tag in parsed[0]})
        for how in ('mean', 'sum'):
            yield how, {
                tag: certain[tag]
                if tag in certain
                else summary.joined([piece[tag] for piece in parsed], sizes, COMBINED[how])
                for tag in parsed[0]
                if all(tag in piece for piece in parsed)
            }

    def _reduced(self, tensor, shards):
        """The value computed from the sums and means of all shards, and whether it can be no other.

        None where it is not computed of such alone. Of what is a part of a loss, the mean of the towers' is right, too.
        """
        numbers = reductions.nearest(self, tensor)
        if not numbers:
            return None, False
        return reductions.of_all_shards(self, tensor, shards), not self.trunk & {number.op for number in numbers}

    def _of_losses_only(self, operation):
        """Whether a value is a loss, or depends on the batch only through losses."""
        ends, seen, ahead = {loss.op for loss in _losses(self.one.step)}, set(), [operation]
        while ahead:
            operation = ahead.pop()
            if operation in ends or operation in seen:
                continue
            seen.add(operation)
            if any(tensor.name in self.batch for tensor in operation.inputs):
                return False
            ahead += [tensor.op for tensor in operation.inputs if tensor.op in self.dependent]
        return True

    def _reduction(self, operation):
        """How the values of shards become one, by the nearest operation that reduces over the batch."""
        ahead, seen = [operation], set()
        while ahead:
            operation = ahead.pop(0)
            if operation.type in MERGES and operation in self.dependent:
                return MERGES[operation.type]
            if operation in seen:
                continue
            seen.add(operation)
            ahead += [tensor.op for tensor in operation.inputs if tensor.op in self.dependent]
        return 'mean', 'sum'


def _losses(step):
    """The losses that were differentiated anywhere in the graph, as far as this run computes them."""
    return [
        loss
        for group in step.watched.groups
        for loss in group.losses
        if hasattr(loss, 'op') and loss.op in step.operations
    ]


def rows(pieces, sizes, whole):
    """Values put together along the axis on which they have rows for the examples; None where there is none.

    sizes: examples in each shard; whole: the value on the whole batch, None where there is none.
    """
    pieces = [np.asarray(piece) for piece in pieces]
    shapes = [piece.shape for piece in pieces]
    for axis in range(pieces[0].ndim):
        lengths = [shape[axis] for shape in shapes if len(shape) == len(shapes[0])]
        rest = {shape[:axis] + shape[axis + 1 :] for shape in shapes}
        if len(lengths) < len(shapes) or len(rest) > 1:
            continue
        if whole is not None:
            size, whole_rest = np.shape(whole)[axis], np.shape(whole)[:axis] + np.shape(whole)[axis + 1 :]
            fits = size == sum(lengths) and rest == {whole_rest}
        else:
            fits = all(lengths[0] * size == length * sizes[0] for length, size in zip(lengths, sizes))
        if fits and sum(lengths):
            return np.concatenate(pieces, axis)
    return None


def figures(one, gates, batch=None):
    """One row for each value that the original fetches in this run call, see Value.row.

    batch: (the original's examples in a training step, the conversion's), where the run itself may not tell.
    """
    recorded = one.kept['fetches']
    if recorded['count'] != len(one.step.elements):
        return [{'name': '', 'status': 'other fetches', 'found': recorded['count'], 'wanted': len(one.step.elements)}]
    reference, found = Reference(one, gates), []
    reference.growth = batch or (one.figures['own_rows'], one.figures['rows'])
    whole = reference.values(one.step.fetches, reference.base) if reference.base is not None else {}
    for fetch in one.step.fetches:
        if fetch.place not in recorded['tensors']:
            found.append({'name': fetch.name, 'status': 'lost'})
        elif fetch.place not in recorded['values'] or fetch.order == fetched.AFTER:
            found.append({'name': fetch.name, 'status': 'not apart'})
        else:
            value = Value(reference, fetch, recorded['values'][fetch.place], whole)
            value.by_form = set(recorded.get('shown', {}).get(fetch.place, ()))
            found.append(dict(value.row(), name=fetch.name))
    reference.reset()
    return found


class Value(object):
    """One fetched value against what it may be, part by part (a summary has a part for each tag)."""

    def __init__(self, reference, fetch, found, whole):
        self.reference, self.fetch = reference, fetch
        self.renamed, self.by_form = [], set()
        self.is_summary = summary.is_summary(fetch.tensor)
        tf = reference.one.call.tf
        self.waiting = waiting(tf, fetch.tensor) if self.is_summary else set()
        self.found, self.single, self.twice = self._parts(found)
        self.whole = [('whole', whole[fetch.place])] if fetch.place in whole else []

    def _parts(self, value):
        if isinstance(value, dict):
            return value, set(), []
        if self.is_summary and np.ndim(value) == 0:
            return summary.parts(self.reference.one.call.tf, value)
        return {'': np.asarray(value)}, set(), []

    def _named(self, value):
        """The parts of a value of the original's, under the conversion's tags."""
        parts = summary.with_more_shown(self._parts(value)[0], self.found)
        named = _under_tags(parts, self.found)
        self.renamed = sorted(set(named) - set(parts))
        return named

    def row(self):
        """{'status': 'same', 'how'} or {'status': 'differs' or 'unsteady', 'part', 'error', 'found', 'wanted', ...}."""
        if self.twice:
            return {'status': 'twice', 'part': self.twice[0]}
        if not self.is_summary and graphs.counts_waiting(self.fetch.tensor.op):
            return {'status': 'waiting'}
        best, tried, left = {}, {}, [] if self.reference.takes_shards() else sorted(self.single)
        aside = _those_under(self.waiting, self.found)
        for how, value in self._readings():
            parts = self._named(value)
            if set(parts) != set(self.found):
                return {
                    'status': 'other tags',
                    'missing': sorted(set(parts) - set(self.found)),
                    'added': sorted(set(self.found) - set(parts)),
                }
            for part, number in parts.items():
                if part in left or part in aside or how == 'one tower' and part not in self.single:
                    continue
                if how in ('shown', 'mean of shown') and part not in self.by_form:
                    continue
                error = compare.value_error(self.found[part], number)
                tried.setdefault(part, []).append(number)
                if part not in best or error < best[part][0]:
                    best[part] = (error, how, number)
            if all(error <= CLOSE for error, _, _ in best.values()):
                break
        if not best:
            return {'status': 'waiting' if aside else 'not taken'}
        worst = max(best, key=lambda part: best[part][0])
        if best[worst][0] <= CLOSE:
            how = sorted({how for _, how, _ in best.values()})
            if self.by_form and set(how) & {'shown', 'mean of shown'} and set(best) <= self.by_form:
                return {'status': 'shown'}
            row = {'status': 'same', 'how': how, 'error': best[worst][0], 'renamed': self.renamed}
            return dict(row, left=left, waiting=aside)
        return self._different(worst, best[worst][0], best[worst][2], tried[worst])

    def _readings(self):
        for reading in self.whole:
            yield reading
        for reading in self.reference.readings(self.fetch, bool(self.whole)):
            yield reading
        if self.whole and self.fetch.tensor.op not in self.reference.dependent and '' in self.found:
            grown = _repeated(self.whole[0][1], self.found[''], self.reference.growth)
            if grown is not None:
                yield 'repeated', grown
        for value in self.reference.by_grown_size(self.fetch):
            yield 'grown', value
        # what the model writes into a variable, such as a moving average, the first tower writes
        for value in self.reference.from_first_shard(self.fetch):
            yield 'first tower', value
        for how, value in self._by_form() if self.by_form else ():
            yield how, value
        if self.single:
            # a summary that the model makes in the towers is the first tower's, as its tag says
            for _, value in self.reference.on_shards(self.fetch):
                yield 'one tower', value

    def _by_form(self):
        """What a value may be that the conversion only shows: the first tower's, or the mean of the towers'."""
        for shards in self.reference.splits:
            pieces = [v for part, _ in shards for v in self.reference.values([self.fetch], part).values()]
            if pieces:
                yield 'shown', pieces[0]
            sizes = [size for _, size in shards]
            if len(pieces) == len(shards) and self.is_summary:
                parsed = [self._parts(piece)[0] for piece in pieces]
                yield 'mean of shown', {
                    tag: summary.joined([piece[tag] for piece in parsed], sizes, _mean)
                    for tag in parsed[0]
                    if all(tag in piece for piece in parsed)
                }
            elif len(pieces) == len(shards) and np.ndim(pieces[0]) == 0:
                yield 'mean of shown', _mean(pieces, sizes)

    def _different(self, part, error, wanted, tried):
        found = self.found[part]
        row = {'status': 'differs', 'part': part, 'error': error, 'words': _words(found, wanted)}
        spread = self._spread(part)
        if spread >= error / 10:
            return dict(row, status='unsteady', spread=spread)
        faults = [self._fault(part, found, np.asarray(reading)) for reading in tried]
        return dict(row, fault=next((fault for fault in faults if fault), None))

    def _spread(self, part):
        """How far the original's own value moves when its weights change in the last place."""
        feed = self.reference.base if self.whole else self.reference.splits[0][0][0]
        before, values = self.reference.one.kept['before'], []
        for weights in [before] + [compare.nudged(before, seed) for seed in range(3)]:
            self.reference.reset(weights)
            for value in self.reference.values([self.fetch], feed).values():
                values.append(self._named(value)[part])
        self.reference.reset()
        errors = [compare.value_error(value, values[0]) for value in values[1:]]
        return max([error for error in errors if error - error == 0] or [0.0])

    def _fault(self, part, found, wanted):
        """What the value is instead, where it is something known."""
        for tower, value in self.reference.on_shards(self.fetch):
            value = self._named(value).get(part)
            if value is not None and compare.value_error(found, value) <= CLOSE:
                return 'tower %d' % tower
        gpus = float(self.reference.one.gpus)
        if found.dtype.kind in 'fiu' and found.shape == wanted.shape:
            for name, factor in (('divided', 1 / gpus), ('multiplied', gpus)):
                if gpus > 1 and compare.value_error(found, wanted * factor) <= CLOSE:
                    return name
            if found.ndim and found.size and _sorted_rows(found, wanted):
                return 'order'
        return None


def writes_variable(operation):
    """Whether a value is what an operation has just written into a variable: the result of `tf.assign` and its like."""
    if operation.type == 'ReadVariableOp':
        return any(writes_variable(before) for before in operation.control_inputs)
    return operation.type.startswith('Assign')


def adds_up(operation):
    """Whether a variable has just been raised, as the counts of tf.metrics are (TensorFlow 1.15, metrics_impl.py)."""
    if operation.type == 'ReadVariableOp':
        return any(adds_up(before) for before in operation.control_inputs)
    return operation.type.startswith('AssignAdd')


def waiting(tf, tensor):
    """The tags of a summary under which stands how full a queue is."""
    found = set()
    for operation in graphs.ancestors([tensor.op]):
        if operation.type == 'ScalarSummary' and graphs.counts_waiting(operation):
            tags = operation.inputs[0].op
            if tags.type == 'Const':
                found.update(str(tf.compat.as_str(tag)) for tag in tags.get_attr('value').string_val)
    return {summary.TOWER.sub('', tag) for tag in found}


def _under_tags(parts, found):
    """Parts of a summary under the tags that they have in another, where only the numbers behind these differ.

    A scope that the towers open is not open at the top, and its name is not taken there: `loss` and not `loss_1`.
    The queue of a larger batch may hold more: `fraction_of_64_full` and not `fraction_of_32_full`.
    """
    plain = [sorted((summary.plain(tag), tag) for tag in tags) for tags in (parts, found)]
    if set(parts) == set(found) or [name for name, _ in plain[0]] != [name for name, _ in plain[1]]:
        return parts
    return {new: parts[old] for (_, old), (_, new) in zip(*plain)}


def _those_under(tags, found):
    """The tags of a summary that another has as well, or has but for the numbers behind them."""
    plain = {summary.plain(tag) for tag in tags if tag not in found}
    return sorted(tag for tag in found if tag in tags or summary.plain(tag) in plain)


def _sorted_rows(found, wanted):
    """Whether two arrays have the same rows in another order."""
    found, wanted = (np.sort(array.reshape(len(array), -1), 0) for array in (found, wanted))
    return compare.value_error(found, wanted) <= CLOSE


def _repeated(value, found, growth):
    """A value without the batch in it, but with its size in its shape (the zero state of a recurrent net)."""
    own, recorded = growth
    if not own or not recorded or recorded % own or np.ndim(value) != found.ndim:
        return None
    for axis, (mine, theirs) in enumerate(zip(np.shape(value), found.shape)):
        if (mine, theirs) == (own, recorded):
            return np.concatenate([np.asarray(value)] * (recorded // own), axis)
    return None


def _words(found, wanted):
    """How two values differ, in words."""
    wanted = np.asarray(wanted)
    if found.shape != wanted.shape:
        return 'has the shape %s instead of %s' % (list(found.shape), list(wanted.shape))
    if found.ndim == 0 and found.dtype.kind in 'fiub':
        return 'is %.6g instead of %.6g' % (float(found), float(wanted))
    if found.ndim == 0:
        return 'is another text'
    apart = [compare.value_error(one, other) > CLOSE for one, other in zip(found.ravel(), wanted.ravel())]
    return 'differs in %d of %d numbers' % (sum(apart), len(apart))
