"""What a fetched value of the conversion has to be, computed by the original's own graph.

What the towers give is computed on each shard and put together. What has a row for each example is put together along
its rows. Of numbers the mean counts, weighted with the shards' sizes, or their sum where the shards' numbers add up to
the whole's (never of a loss, unless the towers share the original's batch). Of what is written into variables the first
tower's counts. All else is computed of that, once, from the whole batch.

The plan of the conversion says what the towers give (region.py). Without a plan several ways are possible, and one of
them has to hold for a value in all of its runs.

Where the graph is made for batches of one size, the whole batch goes into the one that the original's text builds with
another size (resized.py). Where there is none, only what values look like is compared.
"""

from __future__ import absolute_import, division, print_function

import re

import numpy as np
from tmgprobe.graph import graphs
from tmgprobe.reference import grown, region
from tmgprobe.session import fetches as fetched
from tmgprobe.values import compare, inputs, spread, summary

TOWERS = re.compile('(?<=one tower) [0-9]+$|(?<=grown) .*')  # a tower's number, and a way beside that
CLOSE = 1e-4  # see "The tolerances" in docs/verify.md
ROUNDS = 60  # operations between a value and the rows it is made of, at most


def _sum(pieces, sizes):
    return sum(np.asarray(piece, np.float64) for piece in pieces)


def _mean(pieces, sizes):
    total = float(sum(sizes))
    return _weighted(pieces, [size / total for size in sizes])


def _weighted(pieces, shares):
    """The sum of the shards' values with these weights, which need not add up to one."""
    return sum(np.asarray(piece, np.float64) * share for piece, share in zip(pieces, shares))


class Reference(object):
    """The original's side of one run call: its values on the recorded batch and on the towers' shards.

    one: the comparison (reference.Comparison); gates: what is fed for the original's gradients; fetches: those that are
    asked for, all that the run has by default.
    """

    def __init__(self, one, gates, fetches=None):
        self.one, self.gates = one, gates
        self.graph, self.arrays = one.step.graph, one.kept['arrays']
        self.splits = _splits(one)
        everything = inputs.whole(one.pairs, self.arrays)
        taken = one.takes(everything)  # whether the original takes the whole batch
        if not taken and not self.splits:
            raise ValueError('neither the batch nor a shard of it fits the static shapes of the original')
        self.batch, self.growth = {tensor.name for tensor in one.batch}, (None, None)
        fed = {self.graph.as_graph_element(name).op for name in gates}
        self.dependent = _dependent(one.batch, set(one.step.operations) - fed)
        self.trunk = graphs.ancestors(loss.op for loss in one.step.computed_losses)
        self.fetches = one.step.fetches if fetches is None else fetches
        # grown: sizes of the batch as numbers; maybe: numbers that may be some, where no plan tells; base: what is fed
        # of the whole batch, where the original takes it. A graph for another size holds these numbers already.
        self.grown, self.maybe = {}, {}
        if taken and one.model(everything) is None:
            self.grown = grown.numbers(one, everything)
            if one.region is None:
                self.maybe = grown.divisors(one, dict(everything, **self.grown), self.dependent)
        self.base = dict(everything, **self.grown) if taken else None
        self.put_together, self._whole, self.padded = {}, None, set()  # padded: names of tensors, see padded_rows
        self.reset()

    @property
    def whole(self):
        """{place: value} of the fetches on the whole batch, as far as the original takes it."""
        if self._whole is None:
            self._whole = self.values(self.fetches, self.base) if self.base is not None else {}
        return self._whole

    def depends(self, tensor):
        """Whether a tensor is a part of the batch, or computed of it."""
        return tensor.name in self.batch or tensor.op in self.dependent

    def reset(self, weights=None):
        """Loads the weights at which the run was recorded, or others."""
        self.one.store.write(self.one.kept['before'] if weights is None else weights)

    def run(self, tensors, feed):
        """Runs tensors in any structure, with gradients put in and randomness held still."""
        return self.one.run(tensors, feed, self.gates)

    def values(self, fetches, feed):
        """{place: value} on one feed; without those that do not take it."""
        return fetched.values(lambda tensors: self.run(tensors, feed), fetches, self.reset, self.one.refused)

    def readings(self, fetch):
        """[(how, value)] that a fetch may have: several where no plan says which, or where shards are uneven."""
        if fetch.tensor.op in self.dependent and self.base is not None:
            found = self._by_ways(fetch)
            if found:
                return found
        if fetch.place in self.whole:
            return [('whole', self.whole[fetch.place])]
        if not self.depends(fetch.tensor):
            return [('whole', value) for value in self.values([fetch], self.splits[0][0][0]).values()]
        return [reading for shards in self.splits for reading in self._of_shards_alone(fetch, shards)]

    def _by_ways(self, fetch):
        found = []
        for way in region.ways(self.one.region, self.trunk, bool(self.maybe)):
            for number, shards in enumerate(self.splits):
                if (way.how, number) not in self.put_together:  # of one shard each way gives its value
                    whole = len(shards) == 1 and not self.grown and not self.maybe
                    expected = self.whole if whole else self._expected(self.fetches, shards, way)
                    self.put_together[way.how, number] = expected
                if fetch.place in self.put_together.get((way.how, number), ()):
                    found.append((way.how, self.put_together[way.how, number][fetch.place]))
        return found

    def _expected(self, fetches, shards, way):
        """{place: value} of the whole batch, put together in this way from what the shards give; see region.py."""
        together = [[fetch for fetch in fetches if fetch.order == fetched.STILL]]
        found = {}
        for few in together + [[fetch] for fetch in fetches if fetch.order == fetched.WRITES]:
            wanted = {fetch.place: fetch for fetch in few}
            merged = fetched.computable(lambda of: self._merged(of.values(), shards, way), wanted, self.one.refused)
            found.update(merged)
        return found

    def pieces(self, fetch, shards):
        """The values of a fetch on these shards, of those that take it."""
        return [value for part, _ in shards for value in self.values([fetch], part).values()]

    def on_shards(self, fetch):
        """(tower, value on its shard) for all shards that are not empty."""
        for shards in self.splits:
            for number, (feed, _) in enumerate(shards):
                for value in self.values([fetch], feed).values():
                    yield number, value

    def _merged(self, fetches, shards, way):
        """{place: value} computed from what the towers give and, beside it, from the whole batch."""
        writes = any(fetch.order == fetched.WRITES for fetch in fetches)

        def run(tensors, feed):
            if writes:
                self.reset()
            return self.run(tensors, feed)

        feed, seen = dict(self.maybe) if way.grown else {}, set()
        base = dict(self.base, **feed)
        ahead = self.border([fetch.tensor for fetch in fetches], seen, way, writes)
        for _ in range(ROUNDS):
            if not ahead:
                break
            tensors = [tensor for tensor, _ in ahead]
            parts = zip(*[run(tensors, part) for part, _ in shards])
            below = []
            for (tensor, written), value, pieces in zip(ahead, run(tensors, base), parts):
                joined = pieces[0] if written else self._joined(tensor, pieces, shards, value, way)
                if joined is None:
                    below += self._behind(tensor.op, writes)
                else:
                    feed[tensor.name] = joined
            ahead = self.border(below, seen, way, writes)
        found = {fetch.place: feed.get(fetch.tensor.name) for fetch in fetches}
        computed = {str(fetch.place): fetch.tensor for fetch in fetches if found[fetch.place] is None}
        values = run(computed, dict(base, **feed)) if computed else {}
        found.update((fetch.place, values[str(fetch.place)]) for fetch in fetches if str(fetch.place) in values)
        if writes:
            self.reset()
        return found

    def border(self, tensors, seen, way, ordered):
        """[(tensor, whether the first tower writes it)] of the nearest values that the towers give.

        ordered: whether to look also behind the operations that others only wait for, such as writes.
        """
        found, ahead = [], list(tensors)
        while ahead:
            tensor = ahead.pop()
            if tensor.name in seen or tensor.name in self.base or tensor.name in self.gates:
                continue
            seen.add(tensor.name)
            if tensor.op not in self.dependent:
                continue
            writes = [one for one in _writes(tensor.op) if way.how != 'planned' or way.inside(one)] if way.first else []
            written = [value for one in writes for value in one.inputs[1:]]
            if written and all(map(self.is_free, written)):
                found += [(one, True) for one in written if one.op in self.dependent and one.name not in seen]
                seen.update(one.name for one in written)
            elif way.inside(tensor.op) and self.is_free(tensor):
                found.append((tensor, False))
            else:
                ahead += self._behind(tensor.op, ordered)
        return found

    def is_free(self, tensor):
        """Whether a tensor can be had, and be put in for the rest of the graph."""
        free = self.graph.is_fetchable(tensor) and self.graph.is_feedable(tensor)
        return free and fetched.comparable(tensor) and not tensor.dtype._is_ref_dtype

    def _behind(self, operation, ordered):
        """The values from which an operation computes."""
        found = list(operation.inputs)
        for before in operation.control_inputs if ordered else ():
            found += before.outputs or self._behind(before, ordered)
        return found

    def _joined(self, tensor, pieces, shards, whole, way):
        """A value of the towers put together: its rows, else its mean or sum; None where it has to be computed.

        whole: the value on the whole batch.
        """
        sizes = [size for _, size in shards]
        joined = rows(pieces, sizes, whole)
        if joined is None:
            joined = padded_rows(pieces, sizes, whole)
            self.padded |= {tensor.name} if joined is not None else set()
        if joined is None and np.shape(pieces[0]) == np.shape(whole):
            joined = self._rows_of_number(tensor, pieces, shards)
        if joined is not None or not any(compare.value_error(piece, whole) for piece in pieces):
            return whole if joined is None else joined
        return self._added(tensor, pieces, shards, whole) if way.numbers(tensor.op) else None

    def _added(self, tensor, pieces, shards, whole):
        """The mean or the sum over the shards, which is nearer to the whole's; of a loss what the plan says."""
        if np.asarray(whole).dtype.kind not in 'fiu' or any(np.shape(piece) != np.shape(whole) for piece in pieces):
            return None
        values = self._allowed(pieces, shards, self._is_loss(tensor))
        return np.asarray(min(values, key=lambda one: compare.value_error(one, whole)), np.asarray(whole).dtype)

    def _is_loss(self, tensor):
        return any(tensor.op is loss.op for loss in self.one.step.computed_losses)

    def _allowed(self, pieces, shards, is_loss):
        """The numbers that those of the shards may be put together to."""
        plan, sizes = self.one.region, [size for _, size in shards]
        counted = self.one.counts([feed for feed, _ in shards]) if plan is None or plan.counted else None
        averaged = [_mean(pieces, sizes)] + ([_weighted(pieces, counted)] if counted else [])
        if is_loss and plan is not None and plan.summed is not None:
            return [_sum(pieces, sizes)] if plan.summed else averaged[-1:]
        return averaged + ([] if is_loss and not (self.one.total or self.one.added) else [_sum(pieces, sizes)])

    def _of_shards_alone(self, fetch, shards):
        """A value whose merge cannot be computed: its rows, or else what it looks like."""
        pieces, sizes = self.pieces(fetch, shards), [size for _, size in shards]
        if len(pieces) < len(shards):
            return
        joined = self.joined_rows(fetch.tensor, pieces, shards) if len(pieces) > 1 else pieces[0]
        if joined is None and len(set(map(np.shape, pieces))) > 1:
            joined = padded_rows(pieces, sizes, None)
            self.padded |= {fetch.tensor.name} if joined is not None else set()
        if joined is not None:
            yield 'rows', joined
        else:
            yield 'form', pieces[0]

    def _rows_of_number(self, tensor, pieces, shards):
        """The rows of what takes as many as the original's batch has, by a number in the graph: `x[:batch_size]`.

        None for what has no row for each example.
        """
        same, turning, _ = self._axes_turned(tensor, pieces, shards)
        return np.concatenate(pieces, turning[0]) if turning and not same else None

    def joined_rows(self, tensor, pieces, shards):
        """As `rows` without a whole batch: along the axis on which values change places as the examples do.

        Equal shards give [10 classes, 2 examples] as well as [2 examples, 10 classes]; a mean over the examples has
        no such axis.
        """
        same, turning, fitting = self._axes_turned(tensor, pieces, shards)
        axes = turning or ([] if same else fitting)
        return np.concatenate(pieces, axes[0]) if axes else None

    def _axes_turned(self, tensor, pieces, shards):
        """What a value on the first shard's examples in reverse tells of its axes.

        (whether it stays the same, the axes on which it changes places as the examples do, those that its shapes allow)
        """
        axes = row_axes(pieces, [size for _, size in shards])
        turned = inputs.in_reverse(self.one.pairs, shards[0][0]) if axes else None
        for value in self.values([fetched.of(tensor)], turned).values() if turned else ():
            if np.shape(value) == np.shape(pieces[0]):
                return compare.value_error(value, pieces[0]) <= CLOSE, _turning(axes, value, pieces[0]), axes
        return False, [], axes

    def joined_parts(self, pieces, sizes):
        """{tag: numbers} of a summary, each the mean of the shards', or what a histogram has of all."""
        parsed = [summary.parts(self.one.call.tf, piece)[0] for piece in pieces]
        tags = set(parsed[0]).intersection(*parsed[1:])
        return {tag: summary.joined([parts[tag] for parts in parsed], sizes, _mean) for tag in tags}


def _splits(one):
    """The towers' shards, rounded both ways, where that makes a difference, as far as the original takes them."""
    found = {}
    for upper in (True, False):
        shards = one.shards(one.kept['arrays'], one.gpus, upper)
        if all(one.takes(feed) for feed, _ in shards):
            found.setdefault(tuple(size for _, size in shards), shards)
    return [found[sizes] for sizes in sorted(found, reverse=True)]


def _dependent(batch, operations):
    """The operations that depend on the batch, also those that read a variable behind what is written of it."""
    found, reads = graphs.descendants(batch, operations), [one for one in operations if one.type == 'ReadVariableOp']
    while True:
        behind = [one for one in reads if one not in found and writes_variable(one) and found & set(one.control_inputs)]
        if not behind:
            return found
        found |= set(behind) | graphs.descendants([one.outputs[0] for one in behind], operations)


def _turning(axes, turned, value):
    """Those axes on which a value changes places as the examples do; turned: of the examples in reverse."""
    return [axis for axis in axes if compare.value_error(np.flip(turned, axis), value) <= CLOSE]


def rows(pieces, sizes, whole):
    """Values put together along the axis on which they have rows for the examples; None where there is none.

    sizes: examples in each shard; whole: the value on the whole batch, None where there is none.
    """
    axis = row_axis(pieces, sizes, whole)
    return None if axis is None else np.concatenate(pieces, axis)


def padded_rows(pieces, sizes, whole):
    """As `rows`, of values with unlike numbers of time steps: zeros fill up the shorter (as concat_steps does).

    The whole may have more steps than any shard, where a decoder ends with its batch (steps by the longest of the
    examples), but fewer than all shards together: as many as that are one for each example.
    """
    pieces = [np.asarray(piece) for piece in pieces]
    if len({piece.ndim for piece in pieces}) > 1 or any(piece.dtype.kind not in 'fiub' for piece in pieces):
        return None
    most = [max(lengths) for lengths in zip(*(piece.shape for piece in pieces))]
    for axis in range(pieces[0].ndim):
        wide = [_filled(piece, most[:axis] + [piece.shape[axis]] + most[axis + 1 :]) for piece in pieces]
        if row_axis(wide, sizes, None if _has_more_steps(whole, pieces, axis) else whole) == axis:
            return np.concatenate(wide, axis)
    return None


def _has_more_steps(whole, pieces, axis):
    """Whether the whole has the shards' rows, and more time steps than each of them, see padded_rows."""
    if whole is None or np.ndim(whole) != pieces[0].ndim:
        return False
    others = [(size, [piece.shape[at] for piece in pieces]) for at, size in enumerate(np.shape(whole)) if at != axis]
    unlike = [(size, lengths) for size, lengths in others if set(lengths) != {size}]
    all_rows = np.shape(whole)[axis] == sum(piece.shape[axis] for piece in pieces)
    return all_rows and len(unlike) == 1 and all(max(lengths) < size < sum(lengths) for size, lengths in unlike)


def _filled(value, shape):
    """An array with zeros behind it, up to this shape."""
    return np.pad(value, [(0, wanted - length) for length, wanted in zip(value.shape, shape)], 'constant')


def row_axis(pieces, sizes, whole):
    """The axis of `rows`; None where there is none."""
    return next(iter(row_axes(pieces, sizes, whole)), None)


def row_axes(pieces, sizes, whole=None):
    """The axes of which each may be that of `rows`, as far as the shapes tell."""
    shapes, found = [np.shape(piece) for piece in pieces], []
    for axis in range(len(shapes[0])):
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
            found.append(axis)
    return found


def figures(one, gates, batch=None, usual=None):
    """One row for each value that the original fetches in this run call, see Value.row.

    batch: (the original's examples in a training step, the conversion's), where the run itself may not tell. usual:
    what the conversion gives for its own examples, where these are others: only what depends on them is compared.
    """
    recorded = one.kept['fetches']
    if recorded['count'] != len(one.step.elements):
        return [{'name': '', 'status': 'other fetches', 'found': recorded['count'], 'wanted': len(one.step.elements)}]
    reference, found = Reference(one, gates), []
    reference.growth = batch or (one.figures['own_rows'], one.figures['rows'])
    fetches = one.step.fetches
    for fetch in fetches if usual is None else [each for each in fetches if reference.depends(each.tensor)]:
        fails = fetch.place in (usual or ()) and fetch.place not in recorded['values']
        if fetch.place not in recorded['tensors'] or (fails and fetch.place in reference.whole):
            found.append({'name': fetch.name, 'status': 'lost'})
        elif fetch.place not in recorded['values'] or fetch.order == fetched.AFTER:
            found.append({'name': fetch.name, 'status': 'not apart'})
        else:
            value = FetchedValue(reference, fetch, recorded['values'][fetch.place])
            value.by_form = set(recorded.get('shown', {}).get(fetch.place, ()))
            found.append(dict(value.row(), name=fetch.name))
    reference.reset()
    return found


class FetchedValue(object):
    """One fetched value against what it has to be, part by part (a summary has a part for each tag)."""

    def __init__(self, reference, fetch, found):
        self.reference, self.fetch = reference, fetch
        self.renamed, self.by_form = [], set()
        self.is_summary = summary.is_summary(fetch.tensor)
        tf = reference.one.call.tf
        self.waiting = waiting(tf, fetch.tensor) if self.is_summary else set()
        self.found, self.single, self.twice = self._parts(found)

    def _parts(self, value):
        if isinstance(value, dict):
            return value, set(), []
        whole = {'': np.asarray(value)}, set(), []
        if self.is_summary and np.ndim(value) == 0 and whole[0][''].dtype.kind in 'OS':
            return summary.parts(self.reference.one.call.tf, value) or whole
        return whole

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
        readings = [(how, self._named(value)) for how, value in self._readings()]
        if readings and readings[0][0] == 'form':
            return self._compared_by_form(readings[0][1])
        for _, parts in readings:
            missing, added = sorted(set(parts) - set(self.found)), sorted(set(self.found) - set(parts))
            if missing or added:
                return {'status': 'other tags', 'missing': missing, 'added': added}
        return self._compared(readings)

    def _compared(self, readings):
        """As `row`, of parts that have the tags of their readings."""
        taken = self.reference.one.gpus == 1 or any(len(shards) > 1 for shards in self.reference.splits)
        left = [] if taken else sorted(self.single)  # the original's batch may be of one size only
        aside = _those_under(self.waiting, self.found)
        tried = {}
        for part in set(self.found) - set(left) - set(aside):
            found = [(how, parts[part]) for how, parts in readings if self._applies(how, part)]
            values = [(compare.value_error(self.found[part], number), how, number) for how, number in found]
            tried.update({part: values} if values else {})
        if not tried:
            return {'status': 'waiting' if aside else 'not taken'}
        ways, place = self.reference.one.step.ways, self.fetch.place
        best = {part: region.nearest(ways, (place, part), values, CLOSE) for part, values in tried.items()}
        worst = max(sorted(best), key=lambda part: best[part][0])
        if best[worst][0] <= CLOSE:
            return self._same(best, worst, left, aside)
        return self._different(worst, best[worst], tried[worst])

    def _same(self, best, worst, left, aside):
        """As `row`, of parts that are as they should be; best: the nearest reading of each."""
        how, reference = sorted({TOWERS.sub('', how) for _, how, _ in best.values()}), self.reference
        if self.by_form and set(how) & {'shown', 'mean of shown'} and set(best) <= self.by_form:
            return {'status': 'shown'}
        if self.fetch.tensor.name in reference.padded:
            how = ['padded']
        row = {'status': 'same', 'how': how, 'error': best[worst][0], 'renamed': self.renamed}
        claimed = reference.one.region is not None or not reference.depends(self.fetch.tensor)
        return dict(row, left=left, waiting=aside, claimed=claimed or reference.one.gpus == 1)

    def _compared_by_form(self, parts):
        """As `row`, of parts that are of one tower's share: only their kinds and numbers of axes are to be the same."""
        unlike = sorted(part for part in set(parts) | set(self.found) if not self._are_alike(part, parts))
        if not unlike:
            return {'status': 'form'}
        words = 'is of another kind or has other axes'
        return {'status': 'differs', 'part': unlike[0], 'error': float('inf'), 'words': words, 'fault': None}

    def _are_alike(self, part, parts):
        both = [np.asarray(of[part]) for of in (parts, self.found) if part in of]
        return len(both) == 2 and len({(one.ndim, one.dtype.kind) for one in both}) == 1

    def _applies(self, how, part):
        """Whether this part may be read so: one tower's is only what its tag says, shown what the conversion marks."""
        if how.startswith('one tower'):
            return part in self.single
        return how not in ('shown', 'mean of shown') or part in self.by_form

    def _readings(self):
        """[(how, value)] by each of the ways in which it may be put together."""
        if self.by_form and not self.is_summary:
            return list(self._by_form())
        found = self.reference.readings(self.fetch)
        if not self.reference.depends(self.fetch.tensor) and '' in self.found:
            larger = [_repeated(value, self.found[''], self.reference.growth) for _, value in found[:1]]
            found += [('repeated', value) for value in larger if value is not None]
        found += self._by_form() if self.by_form else ()
        if self.single:
            # a summary that the model makes in the towers is the first tower's, as its tag says
            found += [('one tower %d' % tower, value) for tower, value in self.reference.on_shards(self.fetch)]
        return found

    def _by_form(self):
        """What a value may be that the conversion only shows: the first tower's, or the mean of the towers'."""
        for shards in self.reference.splits:
            pieces, sizes = self.reference.pieces(self.fetch, shards), [size for _, size in shards]
            whole = len(pieces) == len(shards)
            if whole and not self.is_summary and np.ndim(pieces[0]) == 0:
                yield 'mean of shown', _mean(pieces, sizes)
                continue
            for piece in pieces[:1]:
                yield 'shown', piece  # a fixed number of rows may be as large as a batch
            if whole and self.is_summary:
                yield 'mean of shown', self.reference.joined_parts(pieces, sizes)
            if whole and not self.is_summary:
                joined = self.reference.joined_rows(self.fetch.tensor, pieces, shards)
                for value in () if joined is None else (joined,):
                    yield 'shown', value

    def _different(self, part, best, tried):
        error, how, wanted = best
        found = self.found[part]
        free = not self.reference.depends(self.fetch.tensor)
        row = {'status': 'differs', 'part': part, 'error': error, 'words': _words(found, wanted), 'free': free}
        moved = self._spread(part, error)
        if moved >= error / 10:
            return dict(row, status='unsteady', spread=moved)
        others = {TOWERS.sub('', one) for distance, one, _ in tried if distance <= CLOSE}
        if others:
            return dict(row, fault='another way', how=[TOWERS.sub('', how), min(others)])
        faults = [self._fault(part, found, np.asarray(reading)) for _, _, reading in tried]
        return dict(row, fault=next((fault for fault in faults if fault), None))

    def _spread(self, part, error):
        """How far the original's own value moves when its weights change in the last place, as far as `error` asks.

        It may also move where gradients that are rounding alone are none, as the share of zeros in one does.
        """
        reference = self.reference
        feed = reference.base if reference.whole else reference.splits[0][0][0]
        before = reference.one.kept['before']

        def values(weights):
            reference.reset(weights)
            return [self._named(value)[part] for value in reference.values([self.fetch], feed).values()]

        def errors(weights):
            return {part: max([compare.value_error(*pair) for pair in zip(values(weights), own)] or [0.0])}

        own = values(before)
        moved = spread.largest_of_tries({part: error}, before, errors)[part]
        if moved < error / 10:
            gates = reference.gates
            reference.gates = _without_noise(gates)
            moved = max(moved, errors(before)[part])
            reference.gates = gates
        reference.reset()
        return moved

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


def _without_noise(gradients):
    """{name: gradient} with zeros for those that are rounding beside the largest one."""
    sizes = {name: compare.largest(value) for name, value in gradients.items() if np.asarray(value).dtype.kind == 'f'}
    most = compare.NOISE * max(list(sizes.values()) or [0.0])
    return {name: np.zeros_like(one) if sizes.get(name, most + 1) <= most else one for name, one in gradients.items()}


def writes_variable(operation, by='Assign'):
    """Whether a value is what an operation has just written into a variable: the result of `tf.assign` and its like."""
    if operation.type == 'ReadVariableOp':
        return any(writes_variable(before, by) for before in operation.control_inputs)
    return operation.type.startswith(by)


def _writes(operation):
    """The operations that set the variables of which an operation gives what they are then; none where it adds up."""
    if not writes_variable(operation) or adds_up(operation):
        return []
    if operation.type == 'ReadVariableOp':
        return [one for before in operation.control_inputs for one in _writes(before)]
    return [operation]


def adds_up(operation):
    """Whether a variable has just been raised, as the counts of tf.metrics are (TensorFlow 1.15, metrics_impl.py)."""
    return writes_variable(operation, 'AssignAdd')


def waiting(tf, tensor):
    """The tags of a summary under which stands how full a queue is."""
    found = set()
    for operation in graphs.ancestors([tensor.op]):
        if operation.type == 'ScalarSummary' and graphs.counts_waiting(operation):
            tags = operation.inputs[0].op
            if tags.type == 'Const':
                found.update(str(tf.compat.as_str(tag)) for tag in tags.get_attr('value').string_val)
    return {summary.untowered(tag) for tag in found}


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
    """A value without the batch in it, but with its size, or a multiple, in its shape (a recurrent net's zeros)."""
    own, recorded = growth
    if not own or not recorded or recorded % own or np.ndim(value) != found.ndim:
        return None
    for axis, (mine, theirs) in enumerate(zip(np.shape(value), found.shape)):
        if mine and mine % own == 0 and theirs * own == mine * recorded and theirs != mine:
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
