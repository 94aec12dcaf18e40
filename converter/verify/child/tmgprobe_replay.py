"""The original script's side: take the recorded steps again, one shard after the other, and compare.

A step of the reference: the original's gradients are computed at the recorded weights for each
tower's shard, averaged with the shards' sizes as weights, and put in where the original's own
gradients were; whatever the script does to its gradients, and its update, then happens once.
"""

from __future__ import absolute_import, division, print_function

import os
import pickle

import numpy as np
import tmgprobe_compare as compare
import tmgprobe_graph as graphs
import tmgprobe_inputs as inputs
import tmgprobe_record as record
import tmgprobe_step as steps

CLOSE = 1e-4  # a diagnosis names a fault whose consequence it finds this closely
FAR = 1e-3  # what the original's own way may end away from the conversion's
NOISE = 1e-5  # share of the largest gradient below which a variable's gradient is rounding


class Replay(object):
    """Follows the recording; its figures go to the starter as one event."""

    def __init__(self, tf, watch, channel, job):
        self.tf, self.watch, self.channel, self.job = tf, watch, channel, job
        self.recording, self.figures, self.first = None, [], {}
        self.weights, self.calls = None, []

    def step(self, call):
        """Takes one recorded step again; the last one ends the process."""
        if self.recording is None:
            self._begin(call)
        kept = self.recording['steps'][len(self.figures)]
        one = Comparison(call, kept, self.job['gpus'], self.job['total'])
        if one.figures['order']:
            if not self.figures:
                self.first['uneven'] = {}
                self.first['restored'] = self._restore(call, kept)
            last = self.recording['steps'][len(self.figures) - 1] if self.figures else None
            if len(self.figures) == 0:
                self.first['uneven'] = self._uneven(call, kept, one)
            self.calls.append(call)
            one.compare(None if last is None else self._own(self.weights, last, kept))
            self.weights = one.weights
        self.figures.append(one.figures)
        if len(self.figures) == len(self.recording['steps']) or not one.figures['order']:
            self.finish()
        return one.result

    def finish(self):
        """Sends the figures and ends the process."""
        if not self.figures:
            return
        trajectory, spread = self._trajectory(), None
        if any(error is not None and not error <= FAR for error in trajectory.values()):
            spread = self._spread()
        for figures in self.figures:
            figures.pop('slack', None)
        self.channel.leave(
            'replayed',
            steps=self.figures,
            first=self.first,
            not_held=self.watch.not_held,
            trajectory=trajectory,
            spread=spread,
        )

    def _begin(self, call):
        checkpoint = self._save(call)
        facts = call.facts()
        facts.update(checkpoint)
        self.channel.send('ready', **facts)
        command = self.channel.receive()
        with open(command['record'], 'rb') as stream:
            self.recording = pickle.load(stream)

    def _save(self, call):
        """Writes a checkpoint in which every number of every variable is another one, then puts all back."""
        store = call.store()
        kept = store.read()
        names = sorted({variable.name for variable in call.session.graph.get_collection('variables')})
        randomly = np.random.RandomState(5)
        values = {}
        for name in names:
            if name not in kept:
                continue
            value = np.asarray(kept[name])
            if value.dtype.kind == 'f':
                value = np.asarray(randomly.uniform(0.1, 1, value.shape), value.dtype)
            elif value.dtype.kind in 'iu':
                value = np.asarray(randomly.randint(1, 50, value.shape), value.dtype)
            values[name] = value
        path = os.path.join(self.job['work'], 'original.ckpt')
        try:
            store.write(values)
            saved = steps.saver(self.tf, call.session.graph, sorted(values)).save(
                call.session, path, write_meta_graph=False
            )
        finally:
            store.write(kept)
        with open(path + '.values', 'wb') as stream:
            pickle.dump(values, stream, 2)
        return {'checkpoint': saved, 'checkpoint_values': path + '.values'}

    def _restore(self, call, kept):
        """Restores the conversion's checkpoint; the variables that got another value, or an error."""
        names = sorted({variable.name for variable in call.session.graph.get_collection('variables')})
        try:
            steps.saver(self.tf, call.session.graph, names).restore(
                call.session, self.recording['first']['saved']
            )
        except Exception as error:
            return {'error': record.first_line(error)}
        found = call.store().read(names)
        return {
            'variables': len(names),
            'wrong': [name for name in names if not np.array_equal(kept['after'].get(name), found.get(name))],
        }

    def _own(self, weights, last, kept):
        """The weights of the original's own way, with what the script changed between the steps."""
        own = dict(weights)
        for name, value in kept['before'].items():
            if name not in own or not np.array_equal(value, last['after'].get(name)):
                own[name] = value
        return own

    def _uneven(self, call, kept, one):
        """{rows: {'error', 'loss', 'finite', 'reference', 'matches'}} or {rows: {'skipped': why}}."""
        found = {}
        for size, few in self.recording['first']['uneven'].items():
            cut = dict(kept, arrays=few['arrays'], applied=few['applied'], losses=few['losses'], scalars={})
            part = Comparison(call, cut, self.job['gpus'], self.job['total'])
            try:
                part.gradients()
            except part.refused as error:
                found[size] = {'skipped': record.first_line(error)}
                continue
            figures = part.figures
            found[size] = {
                key: figures[key] for key in ('gradients', 'loss', 'reference', 'kind', 'finite', 'matches')
            }
        for size, error in self.recording['first']['uneven_errors'].items():
            cut_ok = one.takes(size)
            found[size] = {'skipped': cut_ok} if cut_ok else {'failed': error}
        return found

    def _trajectory(self, ends=None):
        """How far the original's own way ends from the conversion's: {variable: error or None (rounding)}.

        `ends`: weights after the last step to take instead of the conversion's.
        """
        kept = self.recording['steps'][: len(self.figures)]
        if self.weights is None:
            return {}
        before, ends = kept[0]['before'], kept[-1]['after'] if ends is None else ends
        stems = [name.split(':')[0] for figures in self.figures for name in figures.get('noise', ())]
        result = {}
        for name, wanted in self.weights.items():
            if name not in ends or name not in before:
                continue
            if any(name.split(':')[0] == stem or name.startswith(stem + '/') for stem in stems):
                result[name] = None
                continue
            slack = sum(figures['slack'].get(name, 0.0) for figures in self.figures)
            result[name] = compare.movement_error(ends[name], wanted, before[name], slack)
        return result

    def _spread(self):
        """How far the original's way ends from itself when its first weights are changed by rounding.

        Where a unit sits on the edge of a ReLU or two numbers are level in a max pool, a change in the
        last places changes a gradient by a finite amount, and any two runs part. The largest of three
        tries; None where the script is over, so that it cannot be tried.
        """
        kept, worst = self.recording['steps'][: len(self.figures)], 0.0
        try:
            for seed in range(3):
                own = {}
                randomly = np.random.RandomState(seed)
                for name, value in kept[0]['before'].items():
                    rounding = (
                        compare.ROUNDING * randomly.uniform(-1, 1, np.shape(value))
                        if value.dtype.kind == 'f'
                        else None
                    )
                    own[name] = value if rounding is None else np.asarray(value * (1 + rounding), value.dtype)
                for index, (call, step) in enumerate(zip(self.calls, kept)):
                    one = Comparison(call, step, self.job['gpus'], self.job['total'])
                    if index:
                        own = self._own(own, kept[index - 1], step)
                    own = one.walk(own, self.figures[index]['reference'])
                errors = [error for error in self._trajectory(own).values() if error is not None]
                worst = max([worst] + [error for error in errors if error - error == 0])
        except (RuntimeError, KeyError):
            return None
        return worst


class Comparison(object):
    """One recorded step against the reference."""

    def __init__(self, call, kept, gpus, total):
        self.call, self.kept, self.gpus, self.total = call, kept, gpus, total
        self.step, self.result, self.weights = call.step, None, None
        self.refused = (call.tf.errors.OpError, ValueError)
        mine = [apply.index for apply in self.step.applies]
        self.applies = [apply for apply in self.step.applies if apply.index in kept['triggered']]
        self.pairs, alone = inputs.match(
            self.step.describe(call.arrays, call.sources), kept['inputs'], gpus, total
        )
        self.groups = self.step.groups
        self.losses = self.step.losses
        self.store = call.store()
        self.stateful = bool(
            graphs.written(
                graphs.ancestors(
                    tensor.op for group in self.groups for raw in group.raw for tensor in steps.tensors(raw)
                )
            )
        )
        self.extra = {name: call.arrays[name] for name in alone}
        self.statics = {
            pair['own']: graphs.static_shape(call.session.graph.as_graph_element(pair['own']))
            for pair in self.pairs
        }
        own = dict(call.arrays)
        mapped = [dict(pair, parts=[pair['own']]) for pair in self.pairs]
        self.figures = {
            'triggered': [mine, kept['triggered']],
            'order': bool(self.applies),
            'alone': alone,
            'rows': inputs.rows(self.pairs, kept['arrays']),
            'own_rows': inputs.rows(mapped, own),
            'axes': {pair['own']: pair['axis'] for pair in self.pairs},
        }

    # gradients at given weights

    def _load(self, weights):
        self.store.write(weights)

    def _micro(self, weights, feed):
        """Raw gradients of every group, and the losses, for one feed."""
        self._load(weights)
        fetches = [[steps.gradients_fetch(group.raw) for group in self.groups], self.losses]
        raw, losses = self.call.run(fetches, dict(self.extra, **feed))
        return [
            steps.gradients_values(values, len(group.raw)) for values, group in zip(raw, self.groups)
        ], losses

    def _average(self, parts, weights):
        """One set of raw gradients and losses out of those of several feeds."""
        raw = [
            [
                compare.mean([part[0][place][index] for part in parts], weights)
                for index in range(len(group.raw))
            ]
            for place, group in enumerate(self.groups)
        ]
        losses = [
            sum(np.asarray(part[1][index], np.float64) * weight for part, weight in zip(parts, weights))
            for index in range(len(self.losses))
        ]
        return raw, losses

    def _gates(self, raw):
        """The feed that puts raw gradients in place of the original's own."""
        feed = {}
        for group, values in zip(self.groups, raw):
            for gate, value in zip(group.gates, values):
                for tensor, part in zip(steps.tensors(gate), value if isinstance(value, tuple) else (value,)):
                    feed[tensor.name] = part
        return feed

    def _applied(self, weights, raw, feed):
        """What reaches apply_gradients: {index: {variable: dense gradient}}."""
        self._load(weights)
        fetches = [steps.gradients_fetch(apply.given) for apply in self.applies]
        fetched = self.call.run(fetches, dict(dict(self.extra, **feed), **self._gates(raw)))
        return {
            apply.index: dict(zip(apply.variables, steps.gradients_values(values, len(apply.variables))))
            for apply, values in zip(self.applies, fetched)
        }

    def _dense(self, applied):
        """{(index, variable): dense gradient}, of one set of applied gradients."""
        result = {}
        for index, gradients in applied.items():
            for name, gradient in gradients.items():
                shape = (
                    self.store.variables[name].get_shape().as_list() if name in self.store.variables else None
                )
                if isinstance(gradient, tuple) and shape is None:
                    shape = self.kept['before'][name].shape
                result[index, name] = compare.dense(gradient, shape)
        return result

    def takes(self, size):
        """Why the original cannot take `size` rows either, or None where it can."""
        few = inputs.cut_rows(self.pairs, self.kept['arrays'], size)
        feed = inputs.whole(self.pairs, few) if few else {}
        if not few or not inputs.fits(feed, self.statics):
            return 'the batch size is fixed when the graph is built'
        try:
            self._micro(self.kept['before'], feed)
        except self.refused as error:
            return 'the original takes no %d rows: %s' % (size, record.first_line(error))
        return None

    def references(self, weights):
        """The gradients that the contract allows, {name: (raw, losses, first feed)}, and the shards' own.

        Which shards are the larger ones is left to the conversion, so both ways of rounding count:
        {name: [(gradients and losses, share, feed), ...]}.
        """
        arrays, found, parts, seen = self.kept['arrays'], {}, {}, []
        for name, upper in (('shards', True), ('shards rounded down', False)):
            shards = inputs.shards(self.pairs, arrays, self.gpus, upper)
            if not all(inputs.fits(feed, self.statics) for feed, _ in shards):
                continue
            sizes = [size for _, size in shards]
            if any([size for _, size in others] == sizes for others in seen):
                continue
            seen.append(shards)
            share = [size / float(sum(sizes)) for size in sizes]
            computed = [self._micro(weights, feed) for feed, _ in shards]
            found[name] = self._average(computed, share) + (shards[0][0],)
            parts[name] = list(zip(computed, share, [feed for feed, _ in shards]))
        everything = inputs.whole(self.pairs, arrays)
        if len(parts.get('shards', ())) != 1 and inputs.fits(everything, self.statics):
            try:
                found['whole'] = self._micro(weights, everything) + (everything,)
            except self.refused:
                pass
        return found, parts

    def kind(self, found, parts):
        """Whether the loss is a 'mean' or a 'sum' over examples, or 'other'; 'unknown' where not both fit."""
        if 'whole' not in found or 'shards' not in found:
            return 'unknown'
        whole = self._flat(found['whole'][0])
        if max(compare.gradient_errors(self._flat(found['shards'][0]), whole).values() or [0]) < 1e-3:
            return 'mean'
        summed = self._average([part for part, _, _ in parts['shards']], [1.0] * len(parts['shards']))[0]
        if max(compare.gradient_errors(self._flat(summed), whole).values() or [0]) < 1e-3:
            return 'sum'
        return 'other'

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
        names = [name for name in ('shards', 'shards rounded down') if name in found]
        if 'whole' not in found:
            return names
        if self.total:
            return ['whole'] + (names if kind == 'other' else [])
        return names + (['whole'] if kind != 'sum' or not names else [])

    # the comparison

    def gradients(self):
        """Compares the applied gradients and the loss at the recorded weights; returns the reference used."""
        weights = self.kept['before']
        found, parts = self.references(weights)
        kind = self.kind(found, parts)
        recorded = self._dense(self.kept['applied'])
        best = None
        for name in self.allowed(found, kind):
            raw, losses, feed = found[name]
            applied = self._applied(weights, raw, feed)
            wanted = self._dense(applied)
            errors = self._errors(recorded, wanted)
            worst = max(list(errors.values()) or [0.0])
            if best is None or worst < best[0]:
                best = (worst, name, errors, wanted, applied)
            if worst < CLOSE:
                break
        if best is None:
            raise ValueError('no shard of the recorded batch fits the static shapes of the original')
        worst, name, errors, wanted, applied = best
        self.figures.update(
            {
                'reference': name,
                'kind': kind,
                'gradients': {key[1]: value for key, value in errors.items()},
                'finite': all(np.all(np.isfinite(value)) for value in recorded.values() if value is not None),
                'sparse': self._sparse(applied),
                'loss': self._loss(found[name], found),
                'matches': [],
                'noise': [],
            }
        )
        scale = max([compare.largest(value) for value in wanted.values() if value is not None] or [0.0])
        self.figures['noise'] = sorted(
            key[1]
            for key, value in wanted.items()
            if value is not None and compare.largest(value) <= NOISE * scale
        )
        if not worst < CLOSE:
            self.figures['matches'] = self._explain(recorded, wanted, found, parts, name)
        self.wanted, self.scale = wanted, scale
        return found, name

    def _errors(self, recorded, wanted):
        errors = {}
        for index in {key[0] for key in wanted}:
            ours = {key: value for key, value in wanted.items() if key[0] == index}
            errors.update(compare.gradient_errors(recorded, ours))
        return errors

    def _sparse(self, applied):
        """{variable: [sparse in the conversion, sparse in the original]} where these differ."""
        result = {}
        for index, gradients in applied.items():
            for name, gradient in gradients.items():
                theirs = self.kept['applied'].get(index, {}).get(name)
                if theirs is not None and gradient is not None:
                    pair = [isinstance(theirs, tuple), isinstance(gradient, tuple)]
                    if pair[0] != pair[1]:
                        result[name] = pair
        return result

    def _loss(self, reference, found):
        """[the conversion's, the original's, how it was read]; None where nothing can be compared."""
        wanted = reference[1]
        places = {element.name: place for place, element in enumerate(self.step.elements)}
        for index, loss in enumerate(self.losses):
            if loss.name in places and places[loss.name] in self.kept['scalars']:
                return [self.kept['scalars'][places[loss.name]], float(wanted[index]), 'fetched']
        if any(np.size(value) != 1 for value in list(self.kept['losses']) + list(wanted)):
            return None  # a loss for each example is no one number
        theirs, count = [float(value) for value in self.kept['losses']], len(self.losses)
        if not count or not theirs or len(theirs) % count:
            return None
        if len(theirs) == count:
            return [theirs[0], float(wanted[0]), 'differentiated']
        summed = sum(theirs[::count])
        mean = summed / (len(theirs) // count)
        target = float(wanted[0])
        return [min((summed, mean), key=lambda value: abs(value - target)), target, 'towers']

    def _explain(self, recorded, wanted, found, parts, used):
        """Which known faults have the recorded gradients as their consequence: [[name, error], ...]."""
        weights, feed = self.kept['before'], found[used][2]
        candidates = []
        raw = found[used][0]
        count = float(self.gpus)
        if self.gpus > 1:
            candidates.append(('summed', self._average([(raw, [0.0] * len(self.losses))], [count])[0]))
            candidates.append(
                ('divided twice', self._average([(raw, [0.0] * len(self.losses))], [1 / count])[0])
            )
        for shards in parts.values():
            computed, many = [part for part, _, _ in shards], len(shards)
            if many < 2:
                continue
            candidates.append(('plain sum', self._average(computed, [1.0] * many)[0]))
            candidates.append(('unweighted', self._average(computed, [1.0 / many] * many)[0]))
            candidates.append(('divided by all towers', self._average(computed, [1.0 / count] * many)[0]))
            for index, part in enumerate(computed):
                name = 'first shard' if index == 0 else 'shard %d' % index
                candidates.append((name, part[0]))
                candidates.append((name + ' times its share', self._average([part], [shards[index][1]])[0]))
        if 'whole' in found and used != 'whole':
            candidates.append(('whole batch', found['whole'][0]))
        matches, apart = [], max(list(self._errors(recorded, wanted).values()) or [0.0])
        for name, alternative in candidates:
            errors = self._errors(recorded, self._dense(self._applied(weights, alternative, feed)))
            worst = max(list(errors.values()) or [0.0])
            if worst < 10 * CLOSE and worst < 0.1 * apart:
                matches.append([name, worst])
        for shards in parts.values():
            each = [self._dense(self._applied(weights, part[0], shard)) for part, _, shard in shards]
            shares = [share for _, share, _ in shards]
            joined = {key: compare.mean([one[key] for one in each], shares) for key in wanted}
            worst = max(list(self._errors(recorded, joined).values()) or [0.0])
            if worst < 10 * CLOSE and worst < 0.1 * apart:
                matches.append(['changed before averaging', worst])
        factors = []
        errors = self._errors(recorded, wanted)
        for key, error in errors.items():
            if error < CLOSE or recorded.get(key) is None or wanted[key] is None or key[1] not in weights:
                continue
            if np.shape(recorded[key]) == np.shape(wanted[key]) and wanted[key].size > 1:
                factor = compare.proportional(recorded[key] - wanted[key], weights[key[1]])
                factors.append(factor)
        if factors and all(factor is not None for factor in factors) and not matches:
            matches.append(['weight decay', factors[0]])
        return matches

    def compare(self, own):
        """All of one step; `own` are the weights that the original's own way has reached, if others."""
        weights = self.kept['before']
        self._load(weights)
        found, used = self.gradients()
        raw, _, feed = found[used]
        self._update(weights, raw, found, used)
        if own is None:
            own = weights
        else:
            again, _ = self.references(own)
            raw, feed = again[used][0], again[used][2]
        self._load(own)
        self.result = self._train(raw, feed, {})
        self.weights = self.store.read(list(self.kept['after']))
        moved = self.kept['after']
        slack = {}
        for (_, name), gradient in self.wanted.items():
            if gradient is None or name not in moved or moved[name].shape != gradient.shape:
                continue
            way = np.abs(np.asarray(moved[name], np.float64) - weights[name])
            doubt = 1e-5 * max(compare.largest(gradient), 1e-2 * self.scale)
            with np.errstate(divide='ignore', invalid='ignore'):
                slack[name] = np.where(
                    gradient != 0, way * np.minimum(2.0, 2 * doubt / np.abs(gradient)), 2 * way
                )
        self.figures['slack'] = slack

    def walk(self, own, used):
        """One step of the original's own way from these weights: the weights after it."""
        found, _ = self.references(own)
        raw, _, feed = found[used]
        self._load(own)
        self._train(raw, feed, {})
        return self.store.read(list(self.kept['after']))

    def _train(self, raw, feed, applied):
        """The script's own run, with these raw gradients and (where given) these applied ones."""
        values = dict(dict(self.extra, **feed), **self._gates(raw))
        values.update(applied)
        return self.call.run(self.call.fetches, values)

    def _update(self, weights, raw, found, used):
        """One update from the conversion's own applied gradients: {variable: error} and who was late."""
        applied = {}
        for apply in self.applies:
            for name, gate in zip(apply.variables, apply.gates):
                value = self.kept['applied'][apply.index].get(name)
                own = steps.tensors(gate)
                theirs = value if isinstance(value, tuple) else (value,)
                if value is None or len(own) != len(theirs):
                    continue
                applied.update((tensor.name, part) for tensor, part in zip(own, theirs))
        errors, counted = {}, {}
        feeds = [found[used][2]] + ([found['whole'][2]] if 'whole' in found and used != 'whole' else [])
        for feed in feeds:
            self._load(weights)
            try:
                self._train(raw, feed, applied)
            except self.refused:
                if errors:
                    continue
                raise
            after = self.store.read(list(self.kept['after']))
            for name, value in after.items():
                error = compare.movement_error(self.kept['after'][name], value, weights.get(name, value))
                errors[name] = min(error, errors.get(name, error))
                if np.ndim(value) == 0 and np.asarray(value).dtype.kind in 'iu':
                    counted[name] = [
                        int(self.kept['after'][name] - weights[name]),
                        int(value - weights[name]),
                    ]
        self.figures['update'], self.figures['counted'] = errors, counted
