"""What the gradients of a recorded step must be: the original's own, computed for the shards of its batch."""

from __future__ import absolute_import, division, print_function

import numpy as np
from tmgprobe.graph import graphs, rates
from tmgprobe.reference import once
from tmgprobe.session import step as steps
from tmgprobe.values import compare, inputs
from tmgprobe.values import rows as rows_of
from tmgprobe.values.errors import describe

# references that are computed by themselves; the others are put together from several
PLAIN = ('shards', 'shards rounded down', 'whole')


class StepComparison(object):
    """One recorded step against the reference.

    The job has `gpus`; `total`, whether these share the original's batch; `added`, whether the conversion was to
    compute a loss that is no mean over the examples for the whole batch; `region`, what it builds in the towers
    (region.PlannedOperations), where its plan is known; `sizes`, where the original reads sizes of batches
    (grown.SizedStatements), where that is known; and `resized`, the original's graph for batches of other sizes
    (resized.ResizedGraphs), where there are some.
    """

    def __init__(self, call, kept, job):
        self.call, self.kept = call, kept
        self.gpus, self.total, self.added = job['gpus'], job['total'], job['added']
        self.step, self.region, self.sizes = call.step, job.get('region'), job.get('sizes')
        self.refused = (call.tf.errors.OpError, ValueError)
        mine = [apply.index for apply in self.step.applies]
        self.applies = [apply for apply in self.step.applies if apply.index in kept['triggered']]
        self.pairs, alone = inputs.match(
            self.step.describe(call.arrays, call.sources, call.sparse), kept['inputs'], self.gpus, self.total
        )
        self.groups = self.step.groups
        self.losses = self.step.losses
        self.stages = self.step.stages
        self.store = call.store()
        self.extra = {name: call.arrays[name] for name in alone}
        self.louder = 1.0  # so many times the losses are differentiated, for what changes the gradients then
        self.statics = {
            pair['own']: graphs.static_shape(call.session.graph.as_graph_element(pair['own']))
            for pair in self.pairs
        }
        resized = job.get('resized')
        self.models = [] if resized is None else resized.of(call.session.graph)
        own = dict(call.arrays)
        mapped = [dict(pair, parts=[pair['own']]) for pair in self.pairs]
        self.figures = {
            'triggered': [mine, kept['triggered']],
            'order': bool(self.applies),
            'alone': alone,
            'drawn': [self.step.numbers_drawn(), kept.get('drawn')],
            'rows': inputs.rows(self.pairs, kept['arrays']),
            'own_rows': inputs.rows(mapped, own),
            'axes': {pair['own']: rows_of.EACH if pair['each'] else pair['axis'] for pair in self.pairs},
        }
        if (self.figures['own_rows'] or 0) > 1:
            self.step.own_sizes.add(self.figures['own_rows'])
        schedules = rates.Schedules(
            rates=self.step.rates,
            kept=kept,
            ratio=1 if self.total else self.gpus,
            store=self.store,
            run=lambda tensors, fed=None: call.run(tensors, dict(own, **self.extra) if fed is None else fed),
            tried=self.step.tried_rates,
        )
        self.extra.update(schedules.fed)
        self.figures.update(schedules.figures)

    def load(self, weights):
        """Gives the variables these values."""
        self.store.write(weights)

    def run(self, tensors, *feeds):
        """Runs tensors with what the original alone is fed, and with these feeds; later ones count."""
        values = dict(self.extra)
        for feed in feeds:
            values.update(feed)
        model = self.model(values)
        return self.call.run(tensors, values) if model is None else model.run(self, tensors, values)

    def model(self, feed):
        """The original's graph that takes a feed which its own does not (resized.py); None where there is none."""
        if feed is None or inputs.fits(feed, self.statics):
            return None
        batch = {name: feed[name] for name in self.statics}
        return next((model for model in self.models if model.fits(batch)), None)

    def takes(self, feed):
        """Whether the original takes a feed, with its batch size or with another one."""
        return inputs.fits(feed, self.statics) or self.model(feed) is not None

    def settled(self, weights, feed):
        """A feed that the original takes itself, and with which its run writes and loses what this one leads to."""
        if inputs.fits(feed, self.statics):
            return feed
        wanted = {loss.name: loss for loss in self.losses if loss.get_shape().ndims == 0}
        trained = {name.split(':')[0] for name in self.step.trained}
        dependent = graphs.descendants(self.batch, self.step.operations)
        for operation in self.step.operations:
            written = graphs.assigned(operation)
            if written and written not in trained and operation.inputs[1].op in dependent:
                wanted[operation.inputs[1].name] = operation.inputs[1]
        self.load(weights)
        own = {tensor.name: self.call.arrays[tensor.name] for tensor in self.batch}
        return dict(feed, **dict(own, **self.run(wanted, feed)))

    @property
    def batch(self):
        """The original's inputs with a batch axis."""
        return [self.step.graph.as_graph_element(pair['own']) for pair in self.pairs if pair['axis'] is not None]

    def gates(self, raw):
        """The feed that puts raw gradients in place of the original's own."""
        feed = {}
        for group, values in zip(self.groups, raw):
            for gate, value in zip(group.gates, values):
                for tensor, part in zip(graphs.tensors(gate), value if isinstance(value, tuple) else (value,)):
                    feed[tensor.name] = part
        return feed

    def micro(self, weights, feed, factor=None):
        """Raw gradients of every group, and the losses, for one feed.

        factor: the gradients of so many times the losses, divided by it again: the same numbers, rounded otherwise.
        """
        return self._each(weights, [feed], [1.0], factor)[0]

    def _each(self, weights, feeds, share, factor=None):
        """Raw gradients and losses for each of these feeds: [(raw, losses), ...]; factor: see `micro`.

        Gradients that wait for an update (tf.control_dependencies) are computed behind the one update that a step
        makes: that of the mean of the gradients before it, each feed's counted with its share.
        """
        found = [([[] for _ in self.groups], [None] * len(self.losses)) for _ in feeds]
        known = {}
        for stage in sorted(set(self.stages.groups)) or [0]:
            for (raw, losses), feed in zip(found, feeds):
                self._stage(weights, dict(feed, **known), stage, (raw, losses), factor)
            known.update(self.gates(self.averaged([raw for raw, _ in found], share)))
        return found

    def _stage(self, weights, feed, stage, found, factor):
        """Computes the gradients that wait for so many updates, and their losses; puts them where they belong."""
        self.load(weights)
        places = [place for place, of in enumerate(self.stages.groups) if of == stage]
        indexes = [index for index, of in enumerate(self.stages.losses) if of == stage]
        groups = [self.groups[place] for place in places]
        seeds = {}
        for group in groups if factor is not None else ():
            seeds.update((name, factor) for name in graphs.seeds(self.call.session.graph, group))
        fetches = [[steps.gradients_fetch(group.raw) for group in groups], [self.losses[index] for index in indexes]]
        raw, losses = self.run(fetches, feed, seeds)
        for place, group, values in zip(places, groups, raw):
            values = steps.gradients_values(values, len(group.raw))
            found[0][place] = values if factor is None else compare.divided(values, factor)
        for index, value in zip(indexes, losses):
            found[1][index] = value

    def _average(self, parts, weights):
        """One set of raw gradients and losses out of those of several feeds."""
        losses = [
            sum(np.asarray(part[1][index], np.float64) * weight for part, weight in zip(parts, weights))
            for index in range(len(self.losses))
        ]
        return self.averaged([part[0] for part in parts], weights), losses

    def averaged(self, several, weights):
        """One set of raw gradients out of several, with these weights."""
        return [
            [compare.mean(of_each, weights) for of_each in zip(*[raw[place] for raw in several])]
            for place in range(len(self.groups))
        ]

    def applied(self, weights, raw, feed):
        """What reaches apply_gradients: {index: {variable: dense gradient}}."""
        if self.louder != 1.0:
            raw = [compare.divided(values, 1.0 / self.louder) for values in raw]
        fetches, gates = [steps.gradients_fetch(apply.given) for apply in self.applies], self.gates(raw)
        if all(one.name in gates for fetch in fetches for one in graphs.tensors(*fetch.values())):  # as computed
            fed = [{key: [gates[one.name] for one in graphs.tensors(fetch[key])] for key in fetch} for fetch in fetches]
            fetched = [{key: parts if parts[1:] else parts[0] for key, parts in one.items()} for one in fed]
        else:
            self.load(weights)
            fetched = self.run(fetches, feed, gates)
        return {
            apply.index: dict(zip(apply.variables, steps.gradients_values(values, len(apply.variables))))
            for apply, values in zip(self.applies, fetched)
        }

    def dense(self, applied):
        """{(index, variable): dense gradient}, of one set of applied gradients."""
        result = {}
        for index, gradients in applied.items():
            for name, gradient in gradients.items():
                variable = self.store.variables.get(name)
                shape = None if variable is None else variable.get_shape().as_list()
                if isinstance(gradient, tuple) and shape is None:
                    shape = self.kept['before'][name].shape
                result[index, name] = compare.dense(gradient, shape)
        return result

    def refuses(self, size):
        """Why the original cannot take `size` rows either, or a tower's share of these; None where it can."""
        few = inputs.cut_rows(self.pairs, self.kept['arrays'], size)
        if not few or not inputs.fits(inputs.whole(self.pairs, few), self.statics):
            return 'the batch size is fixed when the graph is built'
        feeds = [(inputs.whole(self.pairs, few), size)]
        if not self.total:  # else the step is the original's on the whole batch, whatever a share of it may be
            feeds += self.shards(few, self.gpus)
        for feed, rows in feeds:
            try:
                self.micro(self.kept['before'], feed)
            except self.refused as error:
                return 'the original takes no %d rows: %s' % (rows, describe(error))
        return None

    def _computed(self, weights, shards, factor=None):
        """(raw gradients and losses of each of these shards, their shares, their feeds); None if they are not taken."""
        if not all(self.takes(feed) for feed, _ in shards):
            return None
        rows, feeds = float(sum(size for _, size in shards)), [feed for feed, _ in shards]
        share = [size / rows for _, size in shards]
        try:
            return self._each(weights, feeds, share, factor), share, [self.settled(weights, feed) for feed in feeds]
        except self.refused:  # the original's model takes batches of one size only
            return None

    def reference(self, weights, name, factor=None):
        """The one of `references` that has this name; None where the original takes no such batches."""
        if name not in PLAIN:
            return self.references(weights, factor)[0].get(name)
        shards = [(inputs.whole(self.pairs, self.kept['arrays']), 1)]
        if name != 'whole':
            shards = self.shards(self.kept['arrays'], self.gpus, name == 'shards')
        taken = self._computed(weights, shards, factor)
        return None if taken is None else self._average(*taken[:2]) + (taken[2][0],)

    def references(self, weights, factor=None):
        """The gradients that the contract allows, {name: (raw, losses, first feed)}, and the shards' own.

        Which shards are the larger ones is left to the conversion, so both ways of rounding count:
        {name: [(gradients and losses, share, feed), ...]}. factor: see `micro`.
        """
        arrays, found, parts, seen = self.kept['arrays'], {}, {}, []
        for name, upper in (('shards', True), ('shards rounded down', False)):
            shards = self.shards(arrays, self.gpus, upper)
            sizes = [size for _, size in shards]
            taken = None if sizes in seen else self._computed(weights, shards, factor)
            seen.append(sizes)
            if taken is None:
                continue
            computed, share, feeds = taken
            found[name] = self._average(computed, share) + (feeds[0],)
            counted = self.counts(feeds)
            if counted and name == 'shards':
                found['counted'] = self._weighted(weights, feeds, counted, computed, factor)
            if 'added' not in found:
                found['added'] = self._weighted(weights, feeds, [1.0] * len(computed), computed, factor)
            parts[name] = list(zip(computed, share, feeds))
        everything = inputs.whole(self.pairs, arrays)
        if len(parts.get('shards', ())) != 1 and self.takes(everything):
            try:
                found['whole'] = self.micro(weights, everything, factor) + (self.settled(weights, everything),)
                found.update(self._once(weights, found, factor))
            except self.refused:
                pass
        return found, parts

    def _once(self, weights, found, factor):
        """{'once': the gradients of a loss that is computed once from what the towers give}; {} where it is not."""
        if self.region is None or not self.region.once or not {'shards', 'whole'} <= set(found):
            return {}
        shards = inputs.shards(self.pairs, self.kept['arrays'], self.gpus)
        taken = once.gradients(self, weights, shards, factor)
        return {} if taken is None else {'once': taken}

    def _weighted(self, weights, feeds, share, computed, factor):
        """A reference out of what was computed for these feeds; anew where gradients wait for an update with them."""
        if any(self.stages.groups):
            computed = self._each(weights, feeds, share, factor)
        return self._average(computed, share) + (feeds[0],)

    def counts(self, feeds):
        """What a mask leaves of each shard, as shares of one, where the losses are divided by it; None where not.

        A divisor that is kept from being zero (`tf.maximum(tf.reduce_sum(mask), 1)`) is that of the whole batch in
        all shares: these then need not add up to one.
        """
        batched = graphs.descendants(self.batch, self.step.operations)
        found = [
            (divisor, counted, graphs.is_quotient(loss, divisor))
            for loss in self.losses or self.step.computed_losses
            for divisor, counted in graphs.divisors(loss, batched)
        ]
        if not found:
            return None
        shares = []
        try:
            for tensor, counted, alone in found:
                sums = None if counted else graphs.summed(tensor, batched)
                values = [self.run([tensor, sums or []], feed) for feed in feeds]
                numbers = [float(np.size(value) if counted else np.sum(value)) for value, _ in values]
                parts = [part for _, part in values]
                added = {one.name: sum(column) for one, column in zip(sums or (), zip(*parts))}
                whole = float(np.sum(self.run(tensor, feeds[0], added))) if sums else sum(numbers)
                shares.append(_shares(numbers, [np.sum(part) for part in parts], whole, alone))
        except self.refused:
            return None
        same = None not in shares and all(np.allclose(share, shares[0], atol=1e-6) for share in shares)
        return shares[0] if same else None

    def shards(self, arrays, count, upper=True):
        """The feeds of the shards for the original, with their rows.

        All shards are as wide as the whole batch's longest example. A mask that the original makes as wide as the
        longest of its own batch (`tf.sequence_mask(lengths)`) gets that width too: `tf.boolean_mask` does not notice
        one that is too narrow, and takes other entries.
        """
        parts = inputs.shards(self.pairs, arrays, count, upper)
        widths = graphs.mask_widths(graphs.descendants(self.batch, self.step.operations))
        everything = inputs.whole(self.pairs, arrays)
        if not widths or not self.takes(everything) or not self._misses(parts, widths):
            return parts
        values = self.run(widths, everything)
        fed = {tensor.name: value for tensor, value in zip(widths, values)}
        return [(dict(feed, **fed), size) for feed, size in parts]

    def _misses(self, parts, widths):
        """Whether a mask of the original fits one of these shards not: it would fail, or take other entries."""
        masked = graphs.masked_entries(graphs.descendants(widths, self.step.operations))
        try:
            for feed, _ in parts:
                values = self.run([list(pair) for pair in masked], feed)
                if any(len(mask) != len(entries) for mask, entries in values):
                    return True
        except self.refused:
            return True
        return False

    def in_parts(self, weights, count):
        """Raw gradients averaged over so many consecutive parts of the batch, and the feed of the first.

        None for both where the batch has not several rows for each, or the original takes no parts of it.
        """
        rows, taken = inputs.rows(self.pairs, self.kept['arrays']), None
        if rows and rows >= 4 * count:
            taken = self._computed(weights, self.shards(self.kept['arrays'], count))
        return (None, None) if taken is None else (self._average(*taken[:2])[0], taken[2][0])

    def kind(self, found):
        """Whether the loss is a 'mean' or a 'sum' over examples; 'unknown' where not both fit.

        What is neither, because statistics of the batch go into it, is a 'coupled sum' where examples that are
        given twice, which leaves such statistics as they are, count twice; else 'other'.
        """
        if 'whole' not in found or 'shards' not in found:
            return 'unknown'
        whole = self._flat(found['whole'][0])
        errors = compare.gradient_errors(self._flat(found['shards'][0]), whole)
        self.figures['apart'] = max(errors.values() or [0])
        if self.figures['apart'] < 1e-3:
            return 'mean'
        if max(compare.gradient_errors(self._flat(found['added'][0]), whole).values() or [0]) < 1e-3:
            return 'sum'
        return 'coupled sum' if self._doubles(whole) else 'other'

    def _doubles(self, whole):
        """Whether the gradients are twice as large on a batch that holds each example twice."""
        feed = inputs.twice(self.pairs, self.kept['arrays'])
        if not self.takes(feed):
            return False
        try:
            doubled = self._flat(self.micro(self.kept['before'], feed)[0])
        except self.refused:
            return False
        halves = {key: None if value is None else value / 2.0 for key, value in doubled.items()}
        return max(compare.gradient_errors(halves, whole).values() or [0]) < 1e-3

    def _flat(self, raw):
        result = {}
        for place, group in enumerate(self.groups):
            for index, gradient in enumerate(raw[place]):
                shape = None
                if isinstance(gradient, tuple):
                    shape = self.store.variables[group.variables[index]].get_shape().as_list()
                result[place, index] = compare.dense(gradient, shape)
        return result

    def allowed(self, found, kind):
        """The references that count: see DESIGN in docs/verify.md, "What the towers' gradients must be"."""
        names = [name for name in ('shards', 'shards rounded down', 'counted') if name in found]
        if 'whole' not in found:
            return names
        if 'once' in found and kind in ('other', 'coupled sum'):
            return ['once']
        if self.added and kind == 'sum':
            return ['whole']
        if self.total:
            return ['whole'] + {'other': names, 'coupled sum': ['added']}.get(kind, [])
        # whether the gradients are the mean of those of the towers' losses, each for its shard alone
        alone = self.region is not None and not self.region.counted and not self.region.once
        by_towers = kind == 'sum' or (kind != 'mean' and alone)
        return names + ([] if by_towers and names else ['whole'])


def _shares(divisors, sums, whole, alone):
    """The weights of the shards' losses that make these the loss of the whole batch; None where these tell of none.

    divisors: of each shard's loss; sums: over what a mask leaves of each; whole: the divisor for the whole batch.
    alone: whether the loss is a quotient and no more. Else weights that do not add up to one would change its other
    terms, and only a shard of which nothing is left may have another divisor than its sum.
    """
    if alone or np.isclose(sum(divisors), whole, rtol=1e-6):
        return [number / whole for number in divisors] if whole else None
    told = sum(sums) and all(not part or np.isclose(part, number) for part, number in zip(sums, divisors))
    return [part / float(sum(sums)) for part in sums] if told else None
