"""The converted script's side: runs it, and keeps the inputs and the results of its first steps."""

from __future__ import absolute_import, division, print_function

import os
import pickle
import re
import time

import numpy as np
from tmgprobe.graph import cost, graphs, rates
from tmgprobe.reference import stream
from tmgprobe.roles.role import Role
from tmgprobe.session import fetches as fetched
from tmgprobe.session import initial, timeline
from tmgprobe.session import step as steps
from tmgprobe.values import inputs, slices
from tmgprobe.values.errors import describe

LOUDER = 2.0**20  # a power of two, so that nothing is rounded
LEAST = 3  # steps that are kept and compared, however long they take
FURTHER = 9  # steps that are kept beyond those asked for while a train op of the script has not run
SIZES = ('Shape', 'ShapeN', 'Size', 'Rank')
LIGHT = ('Identity', 'Reshape', 'Cast', 'ConcatV2', 'AddN', 'Pack')  # operations on numbers that compute none
KEEPS = re.compile('Enqueue|Stage')  # what a run may keep outside of the variables
SPARE = 20.0  # seconds that these may take
LARGEST = 2**29  # bytes of steps that are kept where all of them are asked for


class Recorder(Role):
    """Keeps `job['steps']` steps and writes them to `job['record']`."""

    in_order = True  # steps are compared one after the other

    def __init__(self, tf, watch, channel, job):
        Role.__init__(self, tf, watch, channel, job)
        self.kept, self.plan, self.first, self.graph = [], None, {}, None
        self.models = []  # the graphs that were trained so far, in this order
        self.begun = time.time()
        self.asides, self.evaluations = fetched.Asides(), stream.EvaluationFeeds()
        self.louder = {}  # {train op: see `_louder`}, of its first step
        self.gathering = None  # placement and work of the run whose gradients a later step applies
        self.cut = ''  # why no further steps were kept, though the script may take some
        self.until, self.skipped = None, 0  # when a script is ended that goes on behind the kept steps; its steps there
        self.enough = None  # when as many steps were kept as are asked for

    def step(self, call):
        """Takes one training step and keeps it.

        The last one ends the process; if all steps are asked for, the script goes on for a while, for its runs after
        its own last step.
        """
        if self.until is not None:
            return self._skip(call)
        if self.plan is None:
            self.first['used'] = self.watch.diary.draws.used()
            self._begin(call)
        self.graph = call.session.graph
        kept, result = self._keep(call)
        self.kept.append(kept)
        self.channel.send('step', number=len(self.kept))
        if len(self.kept) == 1:
            self._save_first(call)
        self.cut = 'asked' if len(self.kept) >= self.job['steps'] and not self._waits() else self._used_up()
        if self.cut and not self.job.get('seconds'):
            self.finish()
        if self.cut:
            self.until = time.time() + self.job['seconds']
        return result

    def _unrun(self):
        """The train ops of the graph that no kept step has run, as that of a generator which is trained less often."""
        ran = {index for kept in self.kept for index in kept['triggered']}
        return [apply for apply in self.watch.of(self.graph).applies if apply.index not in ran]

    def _waits(self):
        """Whether to go on beyond the steps asked for, for a train op that has not run: a few, and not for long."""
        self.enough = self.enough or time.time()
        in_time = time.time() - self.enough < SPARE
        return in_time and len(self.kept) - self.job['steps'] < FURTHER and bool(self._unrun())

    def _save_first(self, call):
        """Saves the checkpoint that the original is to read."""
        path = os.path.join(self.job['work'], 'converted.ckpt')
        self.first['saved'] = steps.save(call, steps.listed(call), path)

    def _step(self, call, before, after, found, **more):
        """What is kept of each step; found: (applied gradients as fetched, losses); more: what only some roles keep."""
        applied, losses = found
        return dict(
            more,
            triggered=[apply.index for apply in call.step.applies],
            model=steps.place_of(call.session.graph, self.models),
            drawn=call.step.numbers_drawn(),
            arrays=call.arrays,
            inputs=call.step.describe(call.arrays, call.sources, call.sparse),
            before=before,
            after=after,
            applied=self._values(call, applied),
            losses=losses,
        )

    def _skip(self, call):
        """Takes a step as it is, which is not kept; what was kept of the runs before it is not of the script's end."""
        self.skipped += 1
        self.asides.forget(len(self.kept))
        self.asides.taken = [one for one in self.asides.taken if one['place'][0] < len(self.kept)]
        if time.time() > self.until:
            self.finish()
        return call.as_asked()

    def _used_up(self):
        """Which of 'time' and 'memory' for as many steps as there are is used up; '' for neither."""
        if not self.job.get('seconds') or len(self.kept) < LEAST:
            return ''
        parts = [self.kept[-1][part] for part in ('arrays', 'before', 'after')]
        kept = sum(getattr(value, 'nbytes', 0) for part in parts for value in part.values())
        if time.time() - self.begun > self.job['seconds']:
            return 'time'
        return 'memory' if kept * len(self.kept) > LARGEST else ''

    def aside(self, call):
        """Takes a run without a train op, and keeps it where it is to be compared."""
        place = self.asides.place(len(self.kept), call)
        self.evaluations.add(len(self.kept), call, self.watch.diary)
        if place is None:
            return self._asked(call)
        store = call.store()
        before = store.read()
        last = self.kept[-1]['after'] if self.kept else {}
        self.asides.taken.append(
            {
                'place': place,
                'arrays': call.arrays,
                'inputs': call.step.describe(call.arrays, call.sources, call.sparse),
                'changed': {
                    name: value
                    for name, value in before.items()
                    if name not in last or not np.array_equal(value, last[name])
                },
                'fetches': fetched.recorded(call, store, before),
                'rates': self._rates(call, store, before),
                'drew': [],
            }
        )
        if call.step.gathers:
            return self._asked(call)
        result, self.asides.taken[-1]['drew'] = call.traced()
        return result

    def _asked(self, call):
        """Runs what the script asked for; the first run that gathers gradients says where they are computed."""
        if self.gathering is not None or not call.step.gathers:
            return call.as_asked()
        options, metadata = call.full_trace()
        result = call.as_asked(options, metadata)
        self.gathering = (placement(call.step, call.arrays, metadata), self._work(call, metadata))
        return result

    def finish(self):
        """Writes what was kept and ends the process."""
        if not self.kept:
            return
        kept = {
            'steps': self.kept,
            'first': self.first,
            'asides': self.asides.taken,
            'skipped': self.skipped,
            'louder': self.louder,
            'evaluations': self.evaluations.runs,
            'error': self.message,
        }
        with open(self.job['record'], 'wb') as file:
            pickle.dump(kept, file, pickle.HIGHEST_PROTOCOL)
        told = ('restored', 'initial', 'devices', 'on_gpus', 'towers', 'work', 'uneven_errors', 'timeline')
        self.channel.leave(
            'recorded',
            steps=len(self.kept),
            skipped=self.skipped,
            error=self.message,
            cut=self.cut,
            unrun=[apply.operation.name for apply in self._unrun()],
            diary=self.watch.diary.facts(self.graph),
            first={key: self.first[key] for key in told if key in self.first},
        )

    def _begin(self, call):
        self.begun = time.time()
        self.channel.send('ready', **call.facts())
        self.plan = self.channel.receive()
        call.step.watched.wholes = frozenset(self.plan['wholes'])
        store = call.store()
        self.start = store.read()
        self.first['initial'] = initial.read(call, store, self.start)
        with open(self.plan['checkpoint_values'], 'rb') as values:
            wanted = pickle.load(values)
        names = [name for name in steps.listed(call) if name in wanted or name not in call.counters()]
        self.first['restored'] = steps.restore(call, names, self.plan['checkpoint'], wanted)
        self._uneven(call, store)
        store.write(self.start)

    def _uneven(self, call, store):
        """Notes what the step is for fewer examples, {rows: see `_with`} or {rows: error}, and in another order."""
        arrays, found, errors = call.arrays, {}, {}
        self.first.update(uneven=found, uneven_errors=errors, turned=None)
        pairs, _ = inputs.match(
            self.plan['inputs'],
            call.step.describe(arrays, call.sources, call.sparse),
            self.job['gpus'],
            self.job['total'],
        )
        count = inputs.rows(pairs, arrays)
        if count is None:
            return
        statics = {name: graphs.static_shape(call.session.graph.as_graph_element(name)) for name in arrays}
        for size in uneven_sizes(count, self.job['gpus']):
            if inputs.are_apart(pairs, arrays):
                errors[size] = inputs.APART
                continue
            few = inputs.cut_rows(pairs, arrays, size)
            if few is None:
                continue
            if not inputs.fits(few, statics):
                errors[size] = inputs.FIXED
                continue
            try:
                found[size] = self._with(call, store, few)
            except Exception as error:
                errors[size] = describe(error)
        turned = inputs.turned(pairs, arrays, self.job['gpus']) if self.job['gpus'] > 1 and count else None
        if turned is not None:
            try:
                self.first['turned'] = self._with(call, store, turned)
                if not racing(call.step) and not any(KEEPS.search(op.type) for op in call.step.operations):
                    call.run(call.fetches, turned)
                    self.first['turned']['after'] = store.read()
            except (call.tf.errors.OpError, ValueError):  # towers that read examples of different shapes
                pass

    def _with(self, call, store, arrays):
        """What is kept of the first step with other examples."""
        store.write(self.start)
        applied, losses = call.run([self._applied(call), call.step.losses], arrays)
        store.write(self.start)
        return {
            'applied': self._values(call, applied),
            'losses': losses,
            'arrays': arrays,
            'fetches': fetched.recorded(call, store, self.start, arrays),
        }

    def _rates(self, call, store, before):
        """The rates of a step, before which the store held `before`; what to compute them writes is set back.

        store: None where another process keeps the variables and sets nothing back.
        """
        found = rates.recorded(call.step.rates, lambda tensors: call.run(tensors, call.arrays))
        if found and store is not None and call.step.rates_write:
            store.write(before)
        return found

    def _applied(self, call):
        return [steps.gradients_fetch(apply.given) for apply in call.step.applies]

    def _values(self, call, fetched):
        """The applied gradients as {index of the apply call: {variable: gradient}}."""
        wholes = call.step.watched.wholes
        cut = slices.described(graphs.variables(self.tf, call.session.graph)) if wholes else {}
        return {
            apply.index: slices.joined(
                dict(zip(apply.variables, steps.gradients_values(values, len(apply.variables)))), cut, wholes
            )
            for apply, values in zip(call.step.applies, fetched)
        }

    def _louder(self, call, store, before):
        """The gradients that are applied if all losses are LOUDER times as large; None where that cannot be asked for.

        Clipping by a norm that the gradients do not reach acts then.
        """
        found = [graphs.seeds(call.session.graph, group) for group in call.step.groups]
        if not found or not all(found) or len(call.step.applies) != 1:
            return None
        seeds = {name: LOUDER for names in found for name in names}
        try:
            applied = call.run([self._applied(call)], dict(call.arrays, **seeds))[0]
            return self._values(call, applied)
        except call.tf.errors.OpError:
            return None
        finally:
            store.write(before)

    def _after_updates(self, call, store, before, applied):
        """Variables after several updates of one run with fed gradients, where none reads what another one wrote."""
        feed = dict(call.arrays)
        for apply, values in zip(call.step.applies, applied):
            for given, value in zip(apply.given, steps.gradients_values(values, len(apply.given))):
                parts = value if isinstance(value, tuple) else (value,)
                feed.update((tensor.name, part) for tensor, part in zip(graphs.tensors(given), parts))
        if all(call.step.graph.is_feedable(call.step.graph.as_graph_element(name)) for name in feed):
            store.write(before)
            call.run(call.fetches, feed)
        return store.read()

    def _work(self, call, metadata):
        """{device: floating point operations}; None for graphs that tf.profiler does not take."""
        try:
            trace = cost.NodeTrace(self.tf, metadata)
            return cost.flops(call.session.graph, call.arrays, trace)[0]
        except (self.tf.errors.OpError, ValueError, TypeError):
            return None

    def _keep(self, call):
        store = call.store()
        last = self.kept[-1]['after'] if self.kept else {}
        before = {  # with the arrays of the last step where it has left them so: they are kept once
            name: last[name] if np.array_equal(value, last.get(name)) else value
            for name, value in store.read().items()
        }
        options, metadata = call.options, call.metadata
        traced = not self.kept
        if len(self.kept) < 2:
            options, metadata = call.full_trace()
        calm = None
        if racing(call.step):  # updates could overtake gradients and losses: these are computed on their own first
            calm = call.run([self._applied(call), call.step.losses], call.arrays)
            store.write(before)
        if traced:
            self.first['drawn'] = numbers(call, call.arrays)
        kind = tuple(apply.index for apply in call.step.applies)
        if kind not in self.louder:
            self.louder[kind] = self._louder(call, store, before)
        carried = self.watch.diary.given_before(call.arrays)
        apart = fetched.recorded(call, store, before)
        paces = self._rates(call, store, before)
        result, applied, losses = call.run(
            [call.fetches, self._applied(call), call.step.losses], call.arrays, options, metadata
        )
        if traced:
            self.first['devices'] = placement(call.step, call.arrays, metadata)
            self.first['on_gpus'] = self.watch.devices.on_gpus
            self.first['towers'] = graphs.towers(call.session.graph)
            self.first['work'] = self._work(call, metadata)
            if self.gathering is not None and not call.step.groups:
                self.first['devices'], self.first['work'] = self.gathering
        if metadata is not None:
            # the second step's replaces the first's, which warms up
            self.first['timeline'] = timeline.read(call.step, call.arrays, metadata)
        scalars = graphs.scalars(graphs.elements(call.session.graph, call.fetches, result))
        if calm is None:
            after = store.read()
        else:
            (applied, losses), scalars = calm, {}
            after = self._after_updates(call, store, before, applied)
        more = {'scalars': scalars, 'fetches': apart, 'rates': paces, 'carried': carried}
        return self._step(call, before, after, (applied, losses), **more), result


def numbers(call, feed):
    """How many random numbers a step draws on this feed; None where that cannot be told."""
    shapes = call.step.shapes_drawn()
    try:
        return int(sum(np.prod(shape) for shape in call.run(shapes, feed))) if shapes else None
    except call.tf.errors.OpError:
        return None


def racing(step):
    """Whether one run makes several updates, which may be in no order."""
    counts = graphs.written(step.operations)
    return len(step.applies) > 1 or any(counts.get(name, 0) > 1 for name in step.trained)


def uneven_sizes(count, gpus):
    """Batch sizes that the towers cannot share evenly: one just below the full one, one too small for all."""
    if gpus < 2:
        return []
    sizes = [size for size in (count - 1, count - 2) if size > gpus and size % gpus][:1]
    return sizes + [size for size in (max(1, gpus - 1),) if size < count]


def placement(step, arrays, metadata):
    """{device: [forward operations, gradient operations]} of the computations on the inputs of one run."""
    heavy, backward, found = {op.name: op for op in heavy_operations(step, arrays)}, step.differentiating, {}
    for device, name, _ in graphs.ran(metadata):
        if name in heavy:
            found.setdefault(device, [0, 0])[heavy[name] in backward] += 1
    return found


def heavy_operations(step, arrays):
    """The operations that compute losses and gradients of the inputs of one run: large ones, else all on numbers.

    What is computed of sizes of the inputs alone, as a tower's weight, is no part of them.
    """
    graph = step.graph
    tensors = [graph.as_graph_element(name) for name in arrays]
    ran = step.backward | graphs.ancestors(loss.op for loss in step.losses)
    computing = graphs.descendants(tensors, [op for op in ran if op.type not in SIZES]) if tensors else ran
    return {op for op in computing if graphs.HEAVY.search(op.type)} or {
        op
        for op in computing
        if op.outputs and op.outputs[0].dtype.base_dtype.is_floating and op.type not in graphs.SLICES + LIGHT
    }
