"""One call of Session.run that trains: the operations that it triggers, its inputs, and how to run parts of it."""

from __future__ import absolute_import, division, print_function

import collections
import contextlib
import os
import re
import sys
import threading
import traceback

import numpy as np
from tmgprobe.graph import graphs, places, races, rates
from tmgprobe.session import draws
from tmgprobe.session import fetches as fetched
from tmgprobe.values import slices
from tmgprobe.values.errors import describe, place_in_probe
from tmgprobe.values.lazy import lazy

# How many updates of the same run a set of gradients waits for, and each loss: [number for each].
Stages = collections.namedtuple('Stages', 'groups losses')
RANDOM = re.compile(r'(?!.*Queue)(Stateless)?(Random|TruncatedNormal|ParameterizedTruncated|Multinomial|Categorical)')


# random operations whose first input is the shape of what they draw
SHAPED = ('RandomUniform', 'RandomUniformInt', 'RandomStandardNormal', 'TruncatedNormal')


def place_of(graph, models):
    """The place of a graph among those that were trained so far, to which it is added if it is another one."""
    if not any(graph is one for one in models):
        models.append(graph)
    return [one is graph for one in models].index(True)


class Step(object):
    """The parts of a training run call that depend on its graph and fetches only.

    operations: everything that runs; applies: the triggered calls of apply_gradients; groups: the
    sets of gradients that lead to them; sources: tensors that datasets and queues fill.
    """

    def __init__(self, tf, watched, fetches):
        self.tf, self.watched, self.graph = tf, watched, watched.graph
        self.elements = [element for element, _ in graphs.elements(self.graph, fetches)]
        self.operations = graphs.ancestors(graphs.operation_of(element) for element in self.elements)
        self.applies = [apply for apply in watched.applies if apply.operation in self.operations]
        self.own_sizes = set()  # how many examples, more than one, the original feeds it
        self.tried_rates = set()  # keys of schedules that were tried at other counts, see graph/rates.py
        self.ways = {}  # {(fetch, part): ways in which it has been put together, see reference/merge.py}

    @lazy
    def reads(self):
        """The names of the variables from which something is computed."""
        return tuple(sorted(one.name for one in self.operations if one.type in graphs.HANDLES))

    @lazy
    def numbers_read(self):
        """The names of the variables of one number from which something is computed, and that stay as they are."""
        written = graphs.written(self.operations)
        return [
            name
            for name, variable in sorted(graphs.variables(self.tf, self.graph).items())
            if variable.get_shape().ndims == 0
            and variable.dtype.base_dtype.is_floating
            and variable.op.name in self.reads
            and variable.op.name not in written
        ]

    @lazy
    def resets(self):
        """{kind of note: variables} that are not trained and that a run sets anew, but for those that it restores.

        'reset': local ones, by operations alone, as counts of tf.metrics where an epoch ends; 'set': others.
        """
        local, trained = (
            {variable.op.name for variable in self.graph.get_collection(key)}
            for key in ('local_variables', 'trainable_variables')
        )
        set_ = {graphs.assigned(one) for one in self.operations if one.type in ('Assign', 'AssignVariableOp')}
        gives = any(hasattr(element, 'dtype') for element in self.elements)
        restores = any(one.type.startswith('Restore') for one in self.operations)
        found = {'reset': [] if gives else sorted(local & set_), 'set': sorted(set_ - local - trained)}
        return {} if restores else {kind: names for kind, names in found.items() if names}

    @lazy
    def unordered(self):
        """The variables that are read while they are written, see graph/races.py.

        What a summary shows of an average may be read before or after this run has moved it.
        """
        shown = [fetch.tensor for fetch in self.fetches if fetch.order == fetched.WRITES]
        return races.unordered_reads(self.graph, self.operations, self.losses + shown, self.trained)

    @property
    def trained(self):
        """The operation names of the variables that its train ops move."""
        return {name.split(':')[0] for apply in self.applies for name in apply.variables}

    def races(self):
        """Whether its updates depend on the order in which operations happen to run, see graph/races.py."""
        counts = graphs.written(self.operations)
        several = len(self.applies) > 1 or any(counts.get(name, 0) > 1 for name in self.trained)
        return several and races.updates_in_no_order(self.operations, self.trained)

    @lazy
    def fetches(self):
        """The values that are fetched and can be compared, see fetches.py."""
        found = fetched.read(self.elements, self.watched.applies)
        return found + fetched.kept(found, self.operations) if self.gathers else found

    @lazy
    def rates(self):
        """The learning rates that depend on a count of steps, see graph/rates.py."""
        return rates.of(self.watched, self.operations, graphs.variables(self.tf, self.graph))

    @lazy
    def rates_write(self):
        """Whether to compute these rates writes variables."""
        return rates.writes(self.rates)

    @property
    def gathered(self):
        """The gradients that a run without a train op stores in variables to apply later (gradient accumulation)."""
        if self.applies or not graphs.written(self.operations):
            return []
        raw = [tensor for group in self.watched.groups for tensor in graphs.tensors(*group.raw)]
        return [tensor for tensor in raw if tensor.op in self.operations]

    @lazy
    def gathers(self):
        """Whether this run accumulates gradients over several batches, or stores them otherwise."""
        return bool(self.gathered)

    @lazy
    def backward(self):
        """The operations that must run for the gradients that are applied now, or stored to be applied later."""
        given = [tensor for apply in self.applies for tensor in graphs.tensors(*apply.given)]
        return graphs.ancestors(tensor.op for tensor in given + self._gates_of_gathered())

    def _gates_of_gathered(self):
        raw = {tensor.name for tensor in self.gathered}
        return [
            gate
            for group in self.watched.groups
            for one, given in zip(group.gates, group.raw)
            if any(tensor.name in raw for tensor in graphs.tensors(given))
            for gate in graphs.tensors(one)
        ]

    @property
    def groups(self):
        """The sets of gradients that a run applies or gathers; of others those that it shows, as a summary does."""
        found, within = [], self.backward or self.operations
        for group in self.watched.groups:
            gates = graphs.tensors(*group.gates)
            if any(tensor.op in within for tensor in gates) and all(map(self.graph.is_fetchable, gates)):
                found.append(group)
        return found

    @property
    def differentiating(self):
        """The operations that the calls have added which computed these gradients."""
        return self._added(self.groups)

    @property
    def applying(self):
        """The operations that the triggered calls of apply_gradients have added."""
        return self._added(self.applies)

    def _added(self, calls):
        listed = self.graph.get_operations()
        return {operation for call in calls for operation in listed[call.first : call.last]}

    @property
    def losses(self):
        """The scalar losses that were differentiated, in order."""
        return [loss for group in self.groups for loss in self._losses(group)]

    @lazy
    def computed_losses(self):
        """The losses that were differentiated anywhere in the graph, as far as this run computes them."""
        losses = [loss for group in self.watched.groups for loss in group.losses]
        return [loss for loss in losses if hasattr(loss, 'op') and loss.op in self.operations]

    def _losses(self, group):
        return [
            loss
            for loss in group.losses
            if hasattr(loss, 'op') and loss.dtype.is_floating and self.graph.is_fetchable(loss)
        ]

    @lazy
    def stages(self):
        """Which gradients, and which losses, wait for updates of the same run."""
        groups = self.groups
        behind = [0] * len(groups)
        if len(self.applies) > 1:
            needed = [graphs.ancestors(one.op for one in graphs.tensors(*group.raw)) for group in groups]
            behind = [sum(apply.operation in below for apply in self.applies) for below in needed]
        losses = [stage for group, stage in zip(groups, behind) for _ in self._losses(group)]
        return Stages(behind, losses)

    @property
    def sources(self):
        """The tensors that datasets and queues fill; an optimizer's own queues hold no data."""
        own = self.applying
        return [
            tensor
            for tensor in graphs.sources(self.operations)
            if tensor.dtype.base_dtype.name not in ('variant', 'resource') and tensor.op not in own
        ]

    @lazy
    def unordered_sources(self):
        """The names of `sources` whose examples come in an order that nothing sets, as from a queue."""
        sources = self.sources
        drawn = draws.disorder(self.graph, sources, self.operations, total=True)
        return frozenset(tensor.name for tensor in sources if drawn)

    @lazy
    def drawing(self):
        """The operations of a step that draw random numbers."""
        return [operation for operation in self.operations if RANDOM.match(operation.type)]

    def drawn(self):
        """The random operations that run in a step, with samplers of classes, {type: number}."""
        samplers = [operation for operation in self.operations if operation.type.endswith('CandidateSampler')]
        return collections.Counter(operation.type for operation in self.drawing + samplers)

    def seeded(self):
        """The seeds of the random operations that run in a step, [[type, graph's seed, own seed, number], ...]."""
        seeded = [operation for operation in self.drawing if 'seed' in operation.node_def.attr]
        counts = collections.Counter((op.type, op.get_attr('seed'), op.get_attr('seed2')) for op in seeded)
        return [list(key) + [count] for key, count in sorted(counts.items()) if key[1] or key[2]]

    def numbers_drawn(self):
        """The random numbers that are drawn in a step; None where there are none or the shapes leave it open."""
        shapes = [op.outputs[0].get_shape() for op in self.drawing]
        if not all(shape.is_fully_defined() for shape in shapes):
            return None
        return sum(shape.num_elements() for shape in shapes) or None

    def shapes_drawn(self):
        """The shapes of what its random operations draw, as tensors; empty where not all of them can be fetched."""
        drawing = [op for op in self.operations if op.type in SHAPED]
        shapes = [op.inputs[0] for op in drawing]
        return shapes if all(self.graph.is_fetchable(shape) for shape in shapes) else []

    def schedules(self, variables):
        """The counters of steps that an optimizer's update depends on, as a decaying learning rate does."""
        found = []
        for name, variable in sorted(variables.items()):
            if variable.dtype.base_dtype.is_integer and variable.get_shape().ndims == 0:
                reads = [tensor for op in self.operations if op.name == variable.op.name for tensor in op.outputs]
                if any('Apply' in op.type for op in graphs.descendants(reads, self.operations)):
                    found.append(name)
        return found

    def describe(self, arrays, sources, sparse=()):
        """The inputs as plain data, see values/inputs.py; sparse: the names of sparse ones' parts."""
        parts = {name: names for names in sparse for name in names}
        found = [self._described(name, arrays, sources, parts.get(name)) for name in sorted(arrays)]
        firsts = {item['of'] for item in found if 'of' in item}
        for item in found:
            item.update({'of': item['name'], 'each': True} if item['name'] in firsts else {})
        order = {name: index for index, name in enumerate(sources)}
        made = {op.name: place for place, op in enumerate(self.graph.get_operations())} if firsts else {}

        def place(item):
            of_copies = made[item['name'].split(':')[0]] if 'of' in item else 0
            return item['source'], order.get(item['name'], 0), of_copies

        return sorted(found, key=place)

    def _described(self, name, arrays, sources, sparse):
        """One input; sparse: the names of the parts of the sparse tensor that it belongs to, or None."""
        tensor = self.graph.as_graph_element(name)
        # the sparse tensor has as many rows as its dense form
        shape = arrays[name].shape if sparse is None else arrays[sparse[2]][:1]
        item = {
            'name': name,
            'shape': [int(size) for size in shape],
            'sparse': sparse,
            'source': name in sources,
            'static': graphs.static_shape(tensor),
            'sliced': graphs.sliced_axis(tensor, self.operations),
        }
        copied = tensor.op.inputs[0].name if tensor.op.type == 'Identity' else name
        return dict(item, of=copied, each=True) if copied != name and copied in arrays else item


def gradients_fetch(gradients):
    """A fetch for a list of gradients, some of which are None."""
    return {str(index): gradient for index, gradient in enumerate(gradients) if gradient is not None}


def gradients_values(fetched, count):
    """What `gradients_fetch` gave, as a list of the original length."""
    values = [fetched.get(str(index)) for index in range(count)]
    return [tuple(value) if isinstance(value, (list, tuple)) else value for value in values]


class Calls(object):
    """Tells training run calls from others and hands them to a role (record or replay)."""

    def __init__(self, tf, watch, role):
        self.tf, self.watch, self.role = tf, watch, role
        self._steps, self.threads = {}, Threads(role)

    def on_run(self, run, session, fetches, feed_dict, options, metadata):
        """Stands for Session.run."""
        diary, trains = self.watch.diary, False
        step = self._step(session, fetches)
        if step is None:
            result = run(session, fetches, feed_dict, options, metadata)
        else:
            if diary is not None and step.applies:
                diary.draws.close()
            call = StepCall(
                step=step, run=run, session=session, fetches=fetches, feed_dict=feed_dict, how=(options, metadata)
            )
            result, trains = self._taken(call), bool(step.applies)
        if diary is not None:
            diary.fetched(session, fetches, result, trains, step is not None and bool(step.unordered_sources))
            for kind, names in step.resets.items() if step is not None and not trains else ():
                diary.note(kind, variables=names)
            diary.steps += trains
        return result

    def _step(self, session, fetches):
        """What a run triggers; None in graphs that do not train."""
        watched = self.watch.of(session.graph)
        if not watched.applies or self.role.channel.is_forked():
            return None
        key = (
            id(session.graph),
            len(watched.applies),
            tuple(element.name for element, _ in graphs.elements(session.graph, fetches)),
        )
        if key not in self._steps:
            self._steps[key] = Step(self.tf, watched, fetches)
        return self._steps[key]

    def _taken(self, call):
        """What the role makes of a run."""
        if call.step.applies:
            with self.threads.one_at_a_time():
                return self._guarded(self.role.step, call)
        main = threading.current_thread().name == 'MainThread'
        if (call.step.fetches or call.step.gathers) and main and hasattr(self.role, 'aside'):
            return self._guarded(self.role.aside, call)
        return call.as_given()

    def _guarded(self, take, call):
        """What a role makes of a run; where it fails in the probe, what the script asks for tells whose fault it is.

        Of what the original is fed of the conversion's it may refuse something by itself, as a class that it lacks.
        """
        try:
            return take(call)
        except Exception as error:
            place, trace = place_in_probe(sys.exc_info()[2]), traceback.format_exc()
            if not place or self.role.job['role'].startswith('cluster'):  # one worker cannot take a step again alone
                raise
            call.as_asked()  # fails where the script does
            refused = isinstance(error, (self.tf.errors.OpError, ValueError)) and self.watch.gated
            told = {'message': describe(error), 'place': place, 'trace': trace}
            self.role.channel.leave('refused' if refused else 'broken', **told)

    def on_part(self, run, session, parts, fetches, feed_dict):
        """Stands for Session.partial_run: a run of its own, which is fed what the parts before it were, too.

        That gives what the part would give, unless a part before it has changed variables.
        """
        if parts.changed:
            self.role.channel.leave('in parts')
        parts.feed.update(feed_dict or {})
        parts.changed = bool(graphs.written(Step(self.tf, self.watch.of(session.graph), fetches).operations))
        return self.on_run(run, session, fetches, dict(parts.feed), None, None)


class Threads(object):
    """The threads of a script that are in a training step.

    Steps that overlap have no order, which another run would have, too: a role that compares steps in their order
    (`in_order`) ends the process there, with the lines that run them. Threads that take turns are as good as one.
    """

    def __init__(self, role):
        self.role, self.inside, self._lock = role, {}, threading.Lock()
        self.trained = set()  # those that have taken a step

    @contextlib.contextmanager
    def one_at_a_time(self):
        """While the current thread takes a step."""
        me = threading.current_thread()
        with self._lock:
            self.trained.add(me)
            others = [line for thread, line in self.inside.items() if thread is not me]
            line = self._line()
            if others and getattr(self.role, 'in_order', False):
                self.role.channel.leave('threads', lines=sorted({line for line in others + [line] if line}))
            self.inside[me] = line
        try:
            yield
        finally:
            with self._lock:
                self.inside.pop(me, None)

    def wait(self):
        """Waits at the script's end, as Python does, for the threads that train, or may come to it."""
        built = any(watched.applies for watched in self.role.watch.graphs.values())  # a training step is there to run
        for thread in threading.enumerate():
            may_train = thread in self.trained or (built and not self.trained)
            if may_train and not thread.daemon and thread is not threading.current_thread():
                thread.join()

    def _line(self):
        """Which line of the script runs the current step: `file:line`, '' where none is seen."""
        for frame in reversed(traceback.extract_stack()):
            name = places.seen_from_script(self.role.job, os.path.abspath(frame[0]))
            if name is not None:
                return '%s:%d' % (name, frame[1])
        return ''


class StepCall(object):
    """One training run call: a step with a session and a feed.

    how: the options of the run and its metadata, as the script gives them.
    """

    def __init__(self, step, run, session, fetches, feed_dict, how):
        self.tf, self.step, self._run, self.session = step.tf, step, run, session
        self.fetches, self.feed_dict = fetches, feed_dict
        self.options, self.metadata = how
        self.sources = [tensor.name for tensor in step.sources]
        self.fed = graphs.feeds(session.graph, feed_dict)
        self.sources = [name for name in self.sources if name not in self.fed]
        self.sparse = graphs.sparse_feeds(session.graph, feed_dict) + graphs.sparse_sources(step.sources)

    @lazy
    def arrays(self):
        """Everything that goes in, {tensor name: array}: the feed, and the next element of each source."""
        taken = self._run(self.session, self.sources, self.feed_dict) if self.sources else ()
        return dict(self.fed, **dict(zip(self.sources, taken)))

    def run(self, fetches, feed, options=None, metadata=None, session=None):
        """Runs with all randomness held still, and what nothing orders.

        session: one whose graph has the same operations by name; the script's own where there is none.
        """
        session, feed = session or self.session, dict(feed)
        unordered = [tensor.name for tensor in self.step.unordered]
        if unordered:
            feed.update(zip(unordered, self._run(session, unordered, feed)))
        if self.step.watched.flag is not None:
            feed[self.step.watched.flag.name] = False
        return self._run(session, fetches, feed, options, metadata)

    def as_given(self, options=None, metadata=None):
        """Runs what the script asked for, with its own feed."""
        return self._as(self.feed_dict, options, metadata)

    def as_asked(self, options=None, metadata=None):
        """What the script asked for; what was taken from a dataset or queue for it already is fed."""
        return self._as(self.__dict__.get('arrays', self.feed_dict), options, metadata)

    def _as(self, feed, options, metadata):
        options = self.options if options is None else options
        metadata = self.metadata if metadata is None else metadata
        return self._run(self.session, self.fetches, feed, options, metadata)

    def traced(self):
        """As `as_asked`, plus the random operations that really ran: tf.cond may skip some."""
        random = {operation.name for operation in self.step.drawing}
        if not random:
            return self.as_asked(), []
        options, metadata = self.full_trace()
        result = self.as_asked(options, metadata)
        ran = {node.node_name.split(':')[0] for device in metadata.step_stats.dev_stats for node in device.node_stats}
        return result, sorted(random & ran)

    def full_trace(self):
        """(options, metadata) with which a run notes what ran where."""
        full = self.tf.RunOptions()
        if self.options is not None:
            full.CopyFrom(self.options)
        full.trace_level = self.tf.RunOptions.FULL_TRACE
        return full, self.tf.RunMetadata() if self.metadata is None else self.metadata

    def store(self):
        """Reads and sets the variables of this session."""
        return graphs.Store(self.tf, self.session, self._run, self.step.watched.wholes)

    def counters(self):
        """{name: collections that hold it} of the variables that count training steps."""
        graph = self.session.graph
        names = {apply.counter for apply in self.step.applies if apply.counter}
        names |= {variable.name for variable in graph.get_collection('global_step')}
        found = {name: [] for name in names}
        for key, items in graphs.collections(graph).items():
            for held in items:
                if getattr(held, 'name', None) in found:
                    found[held.name].append(key)
        return found

    def facts(self):
        """What the comparison must know before it begins, as plain data."""
        graph, store = self.session.graph, self.store()
        trainable = {variable.name for variable in graph.get_collection('trainable_variables')}
        listed = {variable.name for variable in graph.get_collection('variables')}
        cut, held = slices.described(store.variables), graphs.collections(graph)
        return {
            'slices': cut,
            'counted': {key: slices.counted(items, cut) for key, items in held.items()} if cut else {},
            'variables': [
                {
                    'name': name,
                    'shape': graphs.static_shape(variable),
                    'dtype': variable.dtype.base_dtype.name,
                    'trainable': name in trainable,
                }
                for name, variable in sorted(store.variables.items())
                if name in listed
            ],
            'inputs': self.step.describe(self.arrays, self.sources, self.sparse),
            'counters': self.counters(),
            'applies': len(self.step.applies),
            'triggered': [apply.index for apply in self.step.applies],
            'races': self.step.races(),
            'writes': graphs.written(self.step.operations),
            'collections': {key: len(items) for key, items in held.items()},
            'asked': sorted(self.step.watched.asked),
            'held': self.step.watched.held,
            'drawn': self.step.drawn(),
            'seeded': self.step.seeded(),
            'schedules': self.step.schedules(store.variables),
        }


def save(call, names, path):
    """Saves these variables; returns where."""
    return saver(call.tf, call.session.graph, names).save(call.session, path, write_meta_graph=False)


def restore(call, names, path, wanted):
    """Restores a checkpoint: which variables have got another value than is wanted, {name: value}, or an error."""
    try:
        saver(call.tf, call.session.graph, names).restore(call.session, path)
    except Exception as error:
        return {'error': describe(error)}
    found = call.store().read(sorted(wanted))
    wrong = [name for name in sorted(wanted) if not np.array_equal(wanted[name], found.get(name))]
    return {'variables': len(wanted), 'wrong': wrong}


def listed(call):
    """The names of the variables that a checkpoint holds."""
    return sorted({variable.name for variable in call.session.graph.get_collection('variables')})


def saver(tf, graph, names):
    """A saver for these variables, made without a trace in the script's names."""
    scope = graph.name_scope('tf_multigpu_probe_save/')
    with graphs.opened(graph), graph.as_default(), graph.device(None), graph.control_dependencies(None), scope:
        found = graphs.variables(tf, graph)
        return tf.train.Saver([found[name] for name in names])
