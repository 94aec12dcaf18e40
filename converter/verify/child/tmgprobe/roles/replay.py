"""The original script's side: repeats the recorded steps, one shard after the other, and compares.

A step of the reference: the original's gradients are computed at the recorded weights for each
tower's shard (reference/reference.py), averaged with the shards' sizes as weights, and put in where the
original's own gradients were; whatever the script does to its gradients (gradients.py), and
its update (update.py), then happens once. Where they differ, faults.py looks for the
fault. course.py follows the original's own way through all the steps.
"""

from __future__ import absolute_import, division, print_function

import json
import os
import pickle
import threading
import time

import numpy as np
from tmgprobe.graph import graphs, lines
from tmgprobe.reference import course, gradients, kinds, merge, stream, update
from tmgprobe.reference.grown import SizedStatements
from tmgprobe.reference.reference import StepComparison
from tmgprobe.reference.region import PlannedOperations
from tmgprobe.reference.resized import ResizedGraphs, shares
from tmgprobe.roles.record import LOUDER, heavy_operations, numbers
from tmgprobe.roles.role import Role
from tmgprobe.session import fetches as fetched
from tmgprobe.session import initial, timeline
from tmgprobe.session import step as steps
from tmgprobe.values import inputs, own_random, streams, summary
from tmgprobe.values.errors import describe

LEAST = 3  # steps that are compared, however long they take
LONGER = 4  # so many times as long as steps are recorded they are compared, if all steps are asked for
SHORT = 1.0  # seconds for the original's further steps, at least


class Replayer(Role):
    """Follows the recording; its figures go to the starter as one event."""

    in_order = True  # steps are compared one after the other

    def __init__(self, tf, watch, channel, job):
        Role.__init__(self, tf, watch, channel, job)
        self.recording, self.figures, self.first = None, [], {}
        self.weights, self.calls = None, []
        self.kinds, self.walked = kinds.Kinds(), None  # walked: what course.walked gives of the original's own way
        self.louder = []  # train ops that have been compared with larger losses
        self.asides, self.apart = fetched.Asides(), []
        self.gathering = None  # the first run whose gradients a later step applies, and its comparison
        self.streams, self.pairs, self.floats = stream.Streams(), {}, set()
        self.evaluations, self.left = stream.EvaluationFeeds(), None
        self.padding = {}  # {input: what its examples are padded with}, where that is not zeros behind them
        self.graph, self.begun, self._leaving = None, time.time(), threading.Lock()
        self.answer = None  # what is sent in the end, once all recorded steps were taken
        self.further = 0  # steps behind the recorded ones
        # whether nothing is compared any more; whether the script has ended; whether recorded steps were left out
        self.over, self.ended, self.late = False, False, False
        self.models, self.other = [], ''  # the graphs trained so far; see _other_next
        self.compared = 0  # how many runs without a train op were compared until the recorded steps were
        # variables that the original changes between its steps, with how many steps came before: {name: [steps]}
        self.changed = {}

    def step(self, call):
        """Takes one recorded step again; after the last one the original goes on for a while."""
        self.graph = call.session.graph
        if self.answer is not None:
            return self._further(call)
        if self.recording is None:
            self._begin(call)
        self.other = self._other_next(call)
        if self.other:
            self.late = True
            self._follow()
            return self._further(call)
        try:
            return self._compared(call)
        except gradients.NoShard:
            self.channel.leave('no shard')

    def _other_next(self, call):
        """What the conversion comes to N times as early as the original, so that another step is recorded; '' for none.

        It is a 'model' that is trained behind another one, or a 'turn': that of a train op in a new epoch.
        """
        done = self.recording['steps'][: len(self.figures) + 1]
        if steps.place_of(self.graph, self.models) != done[-1]['model']:
            return 'model'
        if [apply.index for apply in call.step.applies] == done[-1]['triggered']:
            return ''
        recorded = stream.of_record(dict(self.recording, steps=done), self.pairs)
        return 'turn' if recorded.turns_begin_anew(1 if self.job['total'] else self.job['gpus']) else ''

    def _compared(self, call):
        """Takes the next recorded step."""
        kept = self.recording['steps'][len(self.figures)]
        held = call.store().read()  # before a comparison loads anything
        between = self._changed(kept, held)
        one = StepComparison(call, kept, self.job)
        one.figures['between'] = between
        self._compare_asides(one.figures)
        self._fed(call, one)
        if one.figures['rows'] == 0:  # no gradient of no examples: nothing from here on can be compared
            self.figures.append(dict(one.figures, diverged=True, empty=True, slack={}))
            self._stop()
        result = self._trained(call, kept, one, held) if one.figures['order'] else None
        self.figures.append(one.figures)
        self.channel.send('step', number=len(self.figures))
        if not one.figures['order']:
            self._stop()
        seconds = self.job.get('seconds')
        used_up = bool(seconds) and len(self.figures) >= LEAST and time.time() - self.begun > LONGER * seconds
        self.late = len(self.figures) < len(self.recording['steps']) and used_up
        if len(self.figures) == len(self.recording['steps']) or self.late:
            self._follow()
        return result

    def _trained(self, call, kept, one, held):
        """Compares a step of a train op that both run, and takes it; held: the original's variables before it."""
        number, own = len(self.figures), None
        if number == 0:
            computing = (call, one) if one.groups or self.gathering is None else self.gathering
            batches = [pair['own'] for pair in computing[1].pairs if pair['axis'] is not None]
            self.first['lines'] = lines.stacks(computing[0].step, batches, self.job) if batches else []
            wanted = {name: kept['after'].get(name) for name in steps.listed(call)}
            self.first['restored'] = steps.restore(call, sorted(wanted), self.recording['first']['saved'], wanted)
            self.first.update(drawn=self._drawn(call, one), **self._others(call, kept, one))
            heavy = heavy_operations(one.step, call.arrays)
            self.first['on_host'] = any('cpu' in op.device.lower() for op in heavy)
        elif self.walked is None:
            own = course.with_changes(self.weights, self.recording['steps'][number - 1], kept)
        taken = self._taken_again(one)
        if taken is None:
            # the second step's timeline replaces the first's, which warms up
            metadata = self.tf.RunMetadata() if number < 2 else None
            taken = update.take(one, own, metadata)
            self.kinds.learn(one, taken.plain)
            if metadata is not None:
                self.first['timeline'] = timeline.read(one.step, taken.fed, metadata)
        if self.walked is None:
            self.calls.append(call)
        self.weights, self.left = taken.weights, self._leave_own(call, kept, held)
        if one.figures['idle'] and kept['triggered'] not in self.louder:
            self.louder.append(kept['triggered'])
            one.figures['louder'] = self._louder(call, kept)
            call.store().write(self.left)
        return taken.result

    def _taken_again(self, one):
        """Takes a step as those of its kind were; None where it has to be compared in full.

        The original's own way ends in front of the first such step: each begins at the conversion's weights.
        """
        result = self.kinds.result(one)
        if result is None:
            return None
        if self.walked is None:
            self.walked = course.walked(self)
        taken = update.take_again(one, result)
        if taken is None:
            self.kinds.forget(one)
        return taken

    def aside(self, call):
        """Takes a run without a train op.

        It is compared when the next step begins and the recording is there; one behind the original's last step at
        once, with the conversion's of its kind behind its last one.
        """
        self.evaluations.add(None if self.answer else len(self.figures), call, self.watch.diary)
        place = self.asides.place(len(self.recording['steps'] if self.answer else self.figures), call)
        if place is None or call.arrays is None:
            return call.as_asked()
        result, drew = call.traced()
        self.asides.taken.append((place, call, drew))
        if self.answer:  # of the last step that has a batch: that of a generator may be fed none
            self._compare_asides(dict(next((one for one in self.figures[::-1] if one['rows']), self.figures[-1])))
        return result

    def _compare_asides(self, figures):
        """Compares the runs since the last step with those at the same places of the recording.

        figures: of a training step, for its batch and batch axes; a run that needs no tower tells less.
        A step that applies what such runs gathered has no batch of its own: it gets theirs.
        """
        recorded = {kept['place']: kept for kept in self.recording['asides']}
        for place, call, drew in self.asides.taken:
            kept = fetched.counterpart(place, recorded)
            if kept is None:
                continue
            last = self.recording['steps'][place[0] - 1]['after'] if place[0] else {}
            try:
                rows = self._rows_of(call, dict(kept, before=dict(last, **kept['changed']), triggered=[]), figures)
            except RuntimeError:
                continue  # the script has closed that session
            if kept['drew'] and not drew:
                rows = [{'name': kept['drew'][0], 'status': 'draws'}] + rows
            apart = [row for row in rows if row['status'] == 'differs']
            if apart and self.further and self._fetches_another(place[4], kept['place'][4]):
                rows = [dict(row, status='another') if row in apart else row for row in rows]
            at_end = self.answer is not None and self.recording.get('skipped')
            self.apart.append({'steps': None if at_end else place[0], 'rows': rows})
        self.asides.taken = []

    def _fetches_another(self, names, others):
        """Whether a recorded run fetches what the original has by these names, too, and not what this run fetches.

        Behind the last step of a script that takes fewer steps there may be fewer runs.
        """
        there = {tensor.name for one in self.graph.get_operations() for tensor in one.outputs}
        return names != others and there.issuperset(others)

    def _rows_of(self, call, kept, figures):
        """What is found of each value of a run without a train op; the variables stay as they are."""
        store = call.store()
        now = store.read()
        one = StepComparison(call, dict(kept, before=_under_names_of(store.variables, kept['before'])), self.job)
        batch = figures['own_rows'], figures['rows']
        one.pairs = inputs.with_axes(one.pairs, figures['axes'], kept['arrays'])
        if one.groups and figures['rows'] is None:
            figures.update({key: one.figures[key] for key in ('rows', 'own_rows')})
            self.gathering = self.gathering or (call, one)
        try:
            rows = gradients.gathered(one, batch) if one.groups else merge.figures(one, {}, batch)
        except one.refused:
            rows = [{'name': fetch.name, 'status': 'not taken'} for fetch in one.step.fetches]
        finally:
            store.write(now)
        # What is read from a queue has as many rows as the script reads at a time.
        return [dict(row, status='own batch') if row['name'] in call.sources else row for row in rows]

    def finish(self):
        """The script has ended."""
        self.ended = True
        self._stop()

    def _stop(self):
        """Sends the figures and ends the process."""
        self.over = True
        if self.figures:
            self.answer = self.answer or self._figures()
            self._leave()

    def _figures(self):
        """All figures of the recorded steps."""
        walked = self.walked or course.walked(self)
        for figures in self.figures:
            figures.pop('slack', None)
        return {
            'steps': self.figures,
            'first': self.first,
            'not_held': self.watch.not_held,
            'asides': self.apart,
            'trajectory': walked.errors,
            'spread': walked.spread,
            'walked': walked.steps,
            'late': self.late,
            'other': self.other,
        }

    def _leave(self):
        """Sends the figures, with what was seen of the data; once, whichever thread comes first."""
        self._leaving.acquire()
        if not self.over and (self.recording.get('skipped') or self.late):
            self._forget_runs()
        self.channel.leave(
            'replayed',
            data=self._data(),
            inputs={
                stream.text_of(kind): stream.described(pairs, self.padding) for kind, pairs in self.pairs.items()
            },
            diary=self.watch.diary.facts(self.graph),
            error=self.message,
            further=self.further,
            changed=self.changed,
            as_far=self.ended or self._as_far(),
            **self.answer
        )

    def _changed(self, kept, now):
        """Variables that change between two steps: [trained, by the conversion only; by the original only; others].

        now: the original's before the step.
        """
        if self.left is None:
            return [], [], []
        trained = self._trained_names()
        last = self.recording['steps'][len(self.figures) - 1]['after']
        theirs = {name for name, value in kept['before'].items() if not np.array_equal(value, last.get(name))}
        # the values that the conversion's step has left may have been loaded to compare what is read beside the steps
        own = _changed_since(now, (self.left, last))
        self._note_changes(own | _changed_since(now, (self.left,)), len(self.figures))
        others = self._listed() & theirs - trained
        return sorted(trained & (theirs - own)), sorted(trained & (own - theirs)), sorted(others)

    def _leave_own(self, call, kept, held):
        """The variables after a step, with the original's own values where its step only reads what was loaded.

        What the script sets where an epoch begins is the conversion's during a comparison, which may be in its next
        epoch: the original would set it to what it is already. held: what the original had before the step.
        """
        left = call.store().read()
        trained = {variable.name for variable in self.graph.get_collection('trainable_variables')}
        still = {name for name, value in left.items() if np.array_equal(value, kept['before'].get(name))} - trained
        own = {name: held[name] for name in still & set(held) if not np.array_equal(held[name], left[name])}
        if own:
            call.store().write(own)
        return dict(left, **own)

    def _trained_names(self):
        return {variable.name for variable in self.graph.get_collection('trainable_variables')}

    def _listed(self):
        return {variable.name for variable in self.graph.get_collection('variables')}

    def _note_changes(self, names, count):
        """Notes what changes behind so many steps, but for what is trained: that is compared between any two steps.

        Local variables are no part of the model: how often they are set anew whole runs tell.
        """
        for name in (names & self._listed()) - self._trained_names():
            self.changed.setdefault(name, []).append(count)

    def _fed(self, call, one):
        """Keeps what the original feeds one of its steps."""
        kind = tuple(apply.index for apply in call.step.applies)
        arrays = {name: call.arrays[name] for name in call.arrays if not graphs.names_iterator(self.graph, name)}
        if one is not None:
            self.streams.learn(one.figures['axes'])
            fed = [pair for pair in one.pairs if not graphs.names_iterator(self.graph, pair['own'])]
            self.pairs.setdefault(tuple(one.kept['triggered']), fed)
        self.floats.update(name for name, array in arrays.items() if array.dtype.kind == 'f')
        self.streams.add(kind, arrays, self.watch.diary)
        self.streams.note_sources(call, self.job['total'])

    def _data(self):
        """Compares the batches of both scripts; keeps those of the original, which a whole run of it may take again."""
        towers = 1 if self.job['total'] else self.job['gpus']
        recorded = stream.of_record(self.recording, self.pairs)
        seen = len(self.figures if self.late else self.recording['steps'])
        theirs = [run for run in self.recording['evaluations'] if run[0] < seen]
        evaluated = stream.compared_runs(self.streams, recorded, self.evaluations, theirs, towers)
        fed = stream.figures(self.streams, recorded, towers, self.streams.unordered, self.floats)
        arrays = stream.arrays_of_record(self.recording, self.pairs) if _unlike(fed) else {}
        tried = self.streams.paddings({name: arrays[name] for name in _unlike(fed) if name in arrays})
        while any(tried.values()):  # other than zeros
            self.padding.update((name, left.pop(0)) for name, left in tried.items() if left)
            self.streams.read_again(self.padding)
            recorded = stream.of_record(self.recording, self.pairs, self.padding)
            fed = stream.figures(self.streams, recorded, towers, self.streams.unordered, self.floats)
            tried = {name: tried.get(name) for name in _unlike(fed)}
        with open(os.path.join(self.job['work'], 'own.json'), 'w') as file:
            json.dump(stream.lists(self.streams.kinds), file)
        return {
            'fed': fed,
            'evaluated': evaluated,
            'ended': self.streams.ended(),
            'epoch': stream.epoch(self.streams.kinds, recorded.kinds),
        }

    def _follow(self):
        """Lets the original go on until it has fed as many batches as the recorded steps hold, for a short time."""
        self.answer, self.compared = self._figures(), len(self.apart)
        seconds = self.job.get('seconds') or max(SHORT, 0.2 * (time.time() - self.begun))
        waiting = threading.Timer(seconds, self._leave)
        waiting.daemon = True
        waiting.start()

    def _further(self, call):
        """One of the original's own steps behind the recorded ones."""
        if self.job.get('seconds'):
            self._forget_runs()
        self._fed(call, None)
        self._note_changes(_changed_since(call.store().read(), (self.left,)), len(self.figures) + self.further)
        result = call.as_asked()
        self.left = call.store().read()
        self.further += 1
        open_ended = self.job.get('seconds') or self.recording['error']  # it may fail as the conversion did
        if not open_ended and self._as_far():
            self._leave()
        return result

    def _forget_runs(self):
        """What was compared behind the recorded steps is not what the script runs after its last one."""
        self.asides.forget(len(self.recording['steps']))
        del self.apart[self.compared :]

    def _as_far(self):
        """Whether the original has fed as many batches as the recorded steps hold."""
        towers = 1 if self.job['total'] else self.job['gpus']
        return sum(len(steps) for steps in self.streams.kinds.values()) >= towers * len(self.recording['steps'])

    def _begin(self, call):
        built = ResizedGraphs(self.tf, call.session.graph)
        checkpoint = self._save(call)
        facts = call.facts()
        facts.update(checkpoint, shares=shares(facts['inputs'], self.job['gpus'], self.job['total']))
        store = call.store()
        self.begun = time.time()
        facts['initial'] = initial.read(call, store, store.read())
        self.channel.send('ready', **facts)
        command = self.channel.receive()
        if command.get('towers'):
            self.job['region'] = PlannedOperations(job=self.job, **command['towers'])
        if command.get('sizes') is not None:
            self.job['sizes'] = SizedStatements(command['sizes'], self.job)
        built.paths = command.get('resized', ())
        self.job['resized'] = built
        self.recording = self.read(command)

    def read(self, command):
        """The recording that the starter names."""
        with open(command['record'], 'rb') as stream:
            return pickle.load(stream)

    def _save(self, call):
        """Writes a checkpoint in which every number of every variable is another one, then puts all back."""
        store = call.store()
        kept = store.read()
        randomly = own_random.Generator(5)
        values = {name: np.asarray(kept[name]) for name in steps.listed(call) if name in kept}
        for name in sorted(values):
            value = values[name]
            if value.dtype.kind == 'f':
                values[name] = np.asarray(randomly.uniform(0.1, 1, value.shape), value.dtype)
            elif value.dtype.kind in 'iu':
                values[name] = np.asarray(randomly.randint(1, 50, value.shape), value.dtype)
        path = os.path.join(self.job['work'], 'original.ckpt')
        try:
            store.write(values)
            saved = steps.save(call, sorted(values), path)
        finally:
            store.write(kept)
        with open(path + '.values', 'wb') as stream:
            pickle.dump(values, stream, pickle.HIGHEST_PROTOCOL)
        return {'checkpoint': saved, 'checkpoint_values': path + '.values'}

    def _drawn(self, call, one):
        """How many random numbers a step of the conversion draws, and the original at least on the same examples.

        Its batch is taken whole, and in shards: what is drawn once for each run is drawn by each tower.
        """
        theirs, arrays = self.recording['first'].get('drawn'), one.kept['arrays']
        parts = [[inputs.whole(one.pairs, arrays)], [feed for feed, _ in one.shards(arrays, one.gpus)]]
        parts = [part for part in parts if all(inputs.fits(feed, one.statics) for feed in part)]
        if theirs is None or not parts:
            return None
        one.load(one.kept['before'])
        counts = [[numbers(call, dict(one.extra, **feed)) for feed in part] for part in parts]
        return None if any(None in part for part in counts) else [theirs, min(sum(part) for part in counts)]

    def _part(self, call, kept, **changed):
        """The comparison of a recorded step with something else fed or applied."""
        return StepComparison(call, dict(kept, scalars={}, **changed), self.job)

    def _louder(self, call, kept):
        """The figures for gradients of losses that are so much larger that clipping acts; None where it does not."""
        applied = self.recording.get('louder', {}).get(tuple(kept['triggered']))
        part = self._part(call, kept, applied=applied, losses=[])
        if applied is None or any(part.stages.groups):
            return None
        part.louder = LOUDER
        try:
            gradients.check(part)
        except part.refused:
            return None
        figures = part.figures
        if figures['idle'] or figures['diverged']:
            return None
        return {key: figures[key] for key in ('gradients', 'kind', 'matches')}

    def _others(self, call, kept, one):
        """What is found of the first step with fewer examples, and with its examples in another order.

        uneven: {rows: see `_with`}, or {rows: {'skipped': why}}; turned: see `_with`, empty where it cannot be had.
        """
        found, turned = {}, self.recording['first'].get('turned')
        for size, few in self.recording['first']['uneven'].items():
            part = self._part(call, kept, **few)
            refused = one.refuses(size) if self.job['total'] else None  # there is no step to be the same as
            if refused:
                found[size] = {'skipped': refused}
                continue
            try:
                found[size] = self._with(part, kept)
            except part.refused as error:
                found[size] = {'skipped': describe(error)}
        for size, error in self.recording['first']['uneven_errors'].items():
            why = error if error == inputs.APART else one.refuses(size)
            if not why and error == inputs.FIXED:  # may be the one size that the original takes
                why = one.refuses(size + 1)
            found[size] = {'skipped': why} if why else {'failed': error}
        try:
            figures = self._with(self._part(call, kept, **turned), kept) if turned else {}
        except one.refused:
            figures = {}
        return {'uneven': found, 'turned': figures if self.job['gpus'] > 1 else None}

    @staticmethod
    def _with(part, kept):
        """The figures of a step with other examples: of its gradients, its loss, and what is fetched of the batch.

        kept: the step as the script takes it. What the step leaves is compared where its variables were kept.
        """
        checked = gradients.check(part)
        rows = merge.figures(part, part.gates(checked.found[checked.used][0]), usual=kept['fetches']['values'])
        told = ('gradients', 'loss', 'reference', 'kind', 'finite', 'diverged', 'matches', 'unsteady')
        if part.kept['after'] is not kept['after']:
            update.hold(part, checked)
            told += 'update', 'counted'
        return dict({key: part.figures[key] for key in told}, fetches=rows)


def _unlike(fed):
    """The inputs that are fed other examples than in the original."""
    apart = streams.DIFFERS, streams.VALUES
    return sorted({row['input'] for row in fed if row['status'] in apart and row['fault'] in ('', 'others')})


def _under_names_of(variables, values):
    """{name: value} under the names of these variables, where only the numbers in them differ.

    What tf.metrics makes is numbered by the names that are taken: a scope of the towers leaves `mean` free.
    """
    groups = {}
    for side, names in enumerate((variables, values)):
        for name in sorted(names, key=lambda name: (len(name), name)):
            groups.setdefault(summary.plain(name), ([], []))[side].append(name)
    alike = dict(pair for mine, theirs in groups.values() if len(mine) == len(theirs) for pair in zip(theirs, mine))
    return {alike.get(name, name): value for name, value in values.items()}


def _changed_since(now, states):
    """The variables that have another value now than in any of these states."""
    return {
        name
        for name, value in now.items()
        if not any(np.array_equal(value, held.get(name)) for held in states)
    }
