"""Changes TensorFlow before the script sees it.

Towers run on the devices of graph/machine.py, random operations can be replaced by constants ("held still"), and
gradients pass a node ("gate") between loss and optimizer, where another value can be fed in their place. The names of
the script's own operations stay as they are.
"""

from __future__ import absolute_import, division, print_function

import sys

from tmgprobe.graph import copies, graphs, machine

SCOPE = 'tf_multigpu_probe/'


class GradientGroup(object):
    """The gradients of one call of compute_gradients or tf.gradients.

    losses: what was differentiated; variables: names; raw: gradients as computed (None, a tensor,
    or a pair of values and indices); gates: the tensors to feed in order to replace them; first, last:
    the number of operations in the graph before and after the call, which added those between.
    """

    def __init__(self, losses, variables, raw, gates, first, last):
        self.losses, self.variables, self.raw, self.gates = losses, variables, raw, gates
        self.first, self.last = first, last


class Apply(object):
    """One call of apply_gradients: the train operation it returned and what it was given.

    counter: the name of the variable that counts its steps, None if there is none.
    """

    def __init__(self, index, operation, variables, given, gates, between):
        self.index, self.operation, self.counter = index, operation, None
        self.variables, self.given, self.gates = variables, given, gates
        self.first, self.last = between


class PartialRun(object):
    """State of a `partial_run`: what was fed so far, and whether a part changed variables."""

    def __init__(self):
        self.feed, self.changed = {}, False


class WatchedGraph(object):
    """What was seen of one graph."""

    def __init__(self, graph):
        self.graph = graph
        self.applies, self.groups = [], []
        self.flag = None
        self.held = {}
        self.once, self.differentiate = {}, None  # see reference/once.py; TensorFlow's own tf.gradients
        self.copies, self.parted_at = None, None  # see graph/copies.py; the graph's version when they were made
        self.asked = set()  # collections that the script has asked for and that hold nothing
        self.rates = set()  # names of tensors that optimizers of Keras compute their rate by, inside of their update
        self.wholes = ()  # names of partitioned variables, each of which stands for its slices


class SessionWatch(object):
    """Installs the changes and keeps what they see.

    devices: what towers run on, of graph/machine.py.
    gated: put gates on the gradients (the original script, whose gradients are exchanged).
    untouched: add no operation of its own to the graph (a step whose cost is measured).
    alone: leave devices and sessions as they are, too; see roles/whole.py.
    """

    def __init__(self, tf, devices, gated, untouched=False, alone=False):
        self.tf, self.devices, self.gated, self.untouched = tf, devices, gated, untouched
        self.alone, self.configs = alone, {}  # {id of a session: its configuration}
        self.graphs = {}
        self.diary = None  # records what the script does beside its steps; None if not needed
        self.not_held = {}
        self._depth, self._differentiate = {'apply': 0, 'gradients': 0, 'made': 0}, None
        self._wrapped = set()

    def of(self, graph):
        """What was seen of this graph."""
        if id(graph) not in self.graphs:
            self.graphs[id(graph)] = WatchedGraph(graph)
            self.graphs[id(graph)].differentiate = self._differentiate
        return self.graphs[id(graph)]

    def install(self, on_run, on_part):
        """Puts the changes in place.

        on_run(run, session, fetches, feed_dict, options, run_metadata) replaces Session.run;
        on_part(run, session, parts, fetches, feed_dict) replaces Session.partial_run.
        """
        self._sessions(on_run, on_part)
        if not self.alone:
            self._devices()
            self._services()
        self._optimizers()
        self._gradients()
        self._collections()
        if not self.untouched:
            self._counters()
            self._random()

    def _services(self):
        """Keeps a Supervisor's thread for summaries from running the model beside the script's own steps.

        Its runs are at no fixed time, and move the averages of a batch norm that updates them in each run of the model
        (SVSummaryThread, tensorflow/python/training/supervisor.py, 1.15).
        """
        from tensorflow.python.training import supervisor

        supervisor.SVSummaryThread.run_loop = lambda thread: None

    def _collections(self):
        from tensorflow.python.framework import ops

        original, watch = ops.Graph.get_collection, self

        def get_collection(graph, name, scope=None):
            found = original(graph, name, scope)
            if not found and hasattr(name, 'upper'):
                watch.of(graph).asked.add(name)
            return found

        ops.Graph.get_collection = get_collection

    def _counters(self):
        """Lets hooks read the global step before a training step counts it, as in an Estimator.

        Nothing else orders the two, and a hook for each so many steps acts one step later where it reads the new count
        (training_util.py and basic_session_run_hooks.py of tensorflow/python/training, 1.15).
        """
        from tensorflow.python.training import training_util

        read = getattr(training_util, '_get_or_create_global_step_read', None)
        if read is None:
            return

        def ordered(graph=None):
            known = training_util._get_global_step_read(graph)
            tensor = read(graph)
            if known is None and tensor is not None:
                graphs.order_before_counting(tensor, training_util.get_global_step(tensor.graph))
            return tensor

        training_util._get_or_create_global_step_read = ordered

    def part(self, graph):
        """Lets devices read copies of variables that others hold, as between GPUs; see graph/copies.py."""
        watched = self.of(graph)
        if self.untouched or self.alone or self.devices.on_gpus or watched.parted_at == graph.version:
            return
        with graphs.opened(graph):
            if watched.copies is None:
                watched.copies = copies.Copies(self.tf, graph)
            watched.copies.renew()
            watched.parted_at = graph.version

    # devices and sessions

    def _devices(self):
        from tensorflow.python.framework import ops

        original, place = ops.Graph.device, self.devices.place

        def device(graph, where):
            return original(graph, place(where))

        ops.Graph.device = device

    def _sessions(self, on_run, on_part):
        from tensorflow.python.client import session

        base, watch = session.BaseSession, self
        start, run = base.__init__, base.run

        def initialise(self, target='', graph=None, config=None):
            start(self, target if watch.alone else '', graph, watch._config(self, config))

        def watched_run(self, fetches, feed_dict=None, options=None, run_metadata=None):
            watch.part(self.graph)
            return on_run(run, self, fetches, feed_dict, options, run_metadata)

        def make_callable(self, fetches, feed_list=None, accept_options=False):
            def call(*args, **options):
                return self.run(fetches, dict(zip(feed_list or [], args)), **options)

            return call

        def partial_run_setup(self, fetches, feeds=None):
            return PartialRun()

        def partial_run(self, parts, fetches, feed_dict=None):
            watch.part(self.graph)
            return on_part(run, self, parts, fetches, feed_dict)

        base.__init__, base.run = initialise, watched_run
        if not self.alone:
            base.make_callable, base._make_callable_from_options = make_callable, callable_of_options
            base.partial_run_setup, base.partial_run = partial_run_setup, partial_run

    def _config(self, session, config):
        """The configuration of a session; alone it is what the script asks for, on a machine without GPUs."""
        if not self.alone:
            return self.devices.config(config)
        self.configs[id(session)] = machine.copied(self.tf, config)
        used = machine.copied(self.tf, config)
        used.device_count['GPU'] = 0
        machine.unrewritten(used)
        return used

    # optimizers

    def _optimizers(self):
        from tensorflow.python.training import optimizer

        start, watch = optimizer.Optimizer.__init__, self

        def initialise(self, *args, **kwargs):
            start(self, *args, **kwargs)
            for kind in type(self).__mro__:
                watch._optimizer(kind)

        optimizer.Optimizer.__init__ = initialise
        self._optimizer(optimizer.Optimizer)
        for place in ('tensorflow.python.keras.optimizer_v2', 'tf_keras.src.optimizers.legacy'):
            kind = getattr(sys.modules.get(place + '.optimizer_v2'), 'OptimizerV2', None)  # of the Keras in use
            if kind is not None:
                self._optimizer(kind)
                self._keras_rate(kind)

    def _keras_rate(self, kind):
        rate_of, watch = kind._decayed_lr, self

        def _decayed_lr(self, dtype):
            rate = rate_of(self, dtype)
            watch.of(rate.graph).rates.add(rate.name)
            return rate

        kind._decayed_lr = _decayed_lr

    def _optimizer(self, kind):
        """Watches the methods that this class defines itself; subclasses often bring their own."""
        if kind in self._wrapped or kind is object:
            return
        self._wrapped.add(kind)
        for name, watched in (('compute_gradients', self._computing), ('apply_gradients', self._applying)):
            if name in kind.__dict__:
                setattr(kind, name, watched(kind.__dict__[name]))

    def _computing(self, compute):
        """A method that computes gradients and notes them."""
        watch = self

        def compute_gradients(self, loss, *args, **kwargs):
            made, first = watch._depth['made'], size(watch._graph())
            watch._depth['gradients'] += 1
            try:
                pairs = compute(self, loss, *args, **kwargs)
            finally:
                watch._depth['gradients'] -= 1
            if watch._depth['made'] != made:
                return pairs  # it called another watched method, which noted the gradients
            pairs = list(pairs)
            variables = [variable for _, variable in pairs]
            return list(zip(watch._group([loss], variables, [gradient for gradient, _ in pairs], first), variables))

        return compute_gradients

    def _applying(self, apply):
        """A method that applies gradients behind their gates and notes them."""
        watch = self

        def apply_gradients(self, grads_and_vars, *args, **kwargs):
            if watch._depth['apply']:
                return apply(self, grads_and_vars, *args, **kwargs)
            watched, pairs = watch.of(watch._graph()), list(grads_and_vars)
            first = size(watched.graph)
            given, variables = [gradient for gradient, _ in pairs], [variable for _, variable in pairs]
            after = given + watch._losses(watched, given)
            gates = [watch._gate(gradient, after) for gradient in given]
            watch._depth['apply'] += 1
            try:
                result = apply(self, list(zip([gradient for gradient, _ in gates], variables)), *args, **kwargs)
            finally:
                watch._depth['apply'] -= 1
            watched.applies.append(
                Apply(
                    index=len(watched.applies),
                    operation=result.op if hasattr(result, 'op') else result,
                    variables=[variable.name for variable in variables],
                    given=[graphs.parts(gradient) for gradient in given],
                    gates=[fed for _, fed in gates],
                    between=(first, size(watched.graph)),
                )
            )
            counter = _argument(args, kwargs, 0, 'global_step', None)
            watched.applies[-1].counter = getattr(counter, 'name', None)
            return result

        return apply_gradients

    def _losses(self, watched, given):
        """The losses of these gradients: updates wait for them, as weight decay in them reads variables."""
        below = graphs.ancestors(tensor.op for tensor in graphs.tensors(*given) if hasattr(tensor, 'op'))
        return [
            loss
            for group in watched.groups
            for loss in group.losses
            if any(tensor.op in below for tensor in graphs.tensors(*group.raw) if hasattr(tensor, 'op'))
            and hasattr(loss, 'op')
            and watched.graph.is_fetchable(loss)
        ]

    def _graph(self):
        return self.tf.get_default_graph()

    def _group(self, losses, variables, raw, first):
        """Notes a set of gradients; returns them behind their gates."""
        self._depth['made'] += 1
        watched = self.of(self._graph())
        gates = [self._gate(gradient) for gradient in raw]
        watched.groups.append(
            GradientGroup(
                losses=losses,
                variables=[v.name for v in variables],
                raw=[graphs.parts(g) for g in raw],
                gates=[fed for _, fed in gates],
                first=first,
                last=size(watched.graph),
            )
        )
        return [gradient for gradient, _ in gates]

    def _gate(self, gradient, after=None):
        """Puts a gradient behind a node that can be fed another value: (gradient to use, tensors to feed).

        Even if fed, the node waits for the gradient itself and for those in `after`. Without that order
        an update could change a variable while the backward pass still reads it, as in scripts that
        apply the result of tf.gradients.
        """
        if gradient is None or self.untouched or not (self.gated or after):
            return gradient, graphs.parts(gradient)
        after = [tensor.op for tensor in graphs.tensors(*(after or [gradient])) if hasattr(tensor, 'op')]
        with self._graph().name_scope(SCOPE):
            if not isinstance(gradient, self.tf.IndexedSlices):
                gradient = self.tf.convert_to_tensor(gradient)
                return self._pass(gradient, gradient.get_shape(), after)
            shape = gradient.values.get_shape()
            rows = None if shape.ndims is None else [None] + shape.as_list()[1:]
            values, fed_values = self._pass(gradient.values, rows, after)
            indices, fed_indices = self._pass(gradient.indices, [None], after)
            return self.tf.IndexedSlices(values, indices, gradient.dense_shape), (fed_values, fed_indices)

    def _pass(self, tensor, shape, after):
        entrance = self.tf.placeholder_with_default(tensor, shape) if self.gated else tensor
        with self._graph().control_dependencies(after):
            return self.tf.identity(entrance), entrance

    def _gradients(self):
        from tensorflow.python.ops import gradients_impl

        original, watch = gradients_impl.gradients, self
        self._differentiate = original

        def gradients(ys, xs, *args, **kwargs):
            graph = watch._graph()
            first = size(graph)
            found = original(ys, xs, *args, **kwargs)
            targets = xs if isinstance(xs, (list, tuple)) else [xs]
            if watch._depth['gradients'] or not targets or not all(is_variable(x) for x in targets):
                return found
            losses = list(ys) if isinstance(ys, (list, tuple)) else [ys]
            return watch._group(losses, targets, found, first)

        replace({'gradients': (original, gradients)})

    # randomness

    def _random(self):
        from tensorflow.python.ops import candidate_sampling_ops, random_ops

        made = {}
        for names, still in STILL.items():
            original = getattr(random_ops, names[0], None)
            if original is not None:
                held = self._holding(names[0], original, still)
                made.update((alias, (original, held)) for alias in names)
        for name in dir(candidate_sampling_ops):  # of nce_loss and sampled_softmax_loss
            if name.endswith('candidate_sampler'):
                original = getattr(candidate_sampling_ops, name)
                made[name] = (original, self._holding(name, original, _still_classes, _still_ones, _still_ones))
        replace(made)

    def _holding(self, name, original, *still):
        """A function that draws, with its results held still; of several each by one of these functions."""

        def held(*args, **kwargs):
            drawn = original(*args, **kwargs)
            if len(still) == 1:
                return self._hold(name, drawn, still[0], args, kwargs)
            kept = [self._hold(name, part, calm, args, kwargs) for part, calm in zip(drawn, still)]
            return type(drawn)(*kept) if hasattr(drawn, '_fields') else tuple(kept)

        held.__name__, held.__doc__ = name, original.__doc__
        return held

    def _hold(self, name, drawn, still, args, kwargs):
        from tensorflow.python.framework import ops
        from tensorflow.python.ops import array_ops

        graph = self._graph()
        if type(graph).__name__ in ('FuncGraph', '_FuncGraph'):
            self.not_held[name] = self.not_held.get(name, 0) + 1
            return drawn
        watched = self.of(graph)
        if watched.flag is None:
            with graph.as_default(), ops.control_dependencies(None), graph.device('/cpu:0'), graph.name_scope(
                SCOPE
            ):
                watched.flag = array_ops.placeholder_with_default(True, [], name='random')
        with graph.name_scope(SCOPE):
            calm = still(self.tf, drawn, args, kwargs)
            result = self.tf.where(watched.flag, drawn, calm)
            result.set_shape(drawn.get_shape())
        watched.held[name] = watched.held.get(name, 0) + 1
        return result


def callable_of_options(session, told):
    """What Keras runs, as a run of the session: tensors that it feeds, as those of a dataset, are computed before."""
    fetches, links = list(told.fetch), list(told.tensor_connection)

    def call(*arrays, **others):
        feed = dict(zip(told.feed, arrays))
        if links:
            values = session.run([link.from_tensor for link in links], feed)
            feed.update(zip([link.to_tensor for link in links], values))
        return session.run(fetches + list(told.target), feed, **others)[: len(fetches)]

    return call


def size(graph):
    """The number of operations in a graph; those made later come after."""
    return len(graph.get_operations())


def is_variable(target):
    """Whether this target of tf.gradients is a variable."""
    if hasattr(target, 'initializer') and hasattr(target, 'name'):
        return True
    operation = getattr(target, 'op', None)
    return operation is not None and operation.type in ('VariableV2', 'Variable', 'VarHandleOp')


def _argument(args, kwargs, index, name, default):
    value = args[index] if len(args) > index else kwargs.get(name, default)
    return default if value is None else value


def _still_uniform(tf, drawn, args, kwargs):
    """The constant low + 0.9 * (high - low), with which dropout keeps every unit if keep_prob > 0.1."""
    low = _argument(args, kwargs, 1, 'minval', 0)
    high = _argument(args, kwargs, 2, 'maxval', 1)
    if drawn.dtype.is_integer:
        low, high = tf.cast(low, drawn.dtype), tf.cast(high, drawn.dtype)
        return tf.zeros_like(drawn) + low + (high - low) // 2
    low, high = tf.cast(low, drawn.dtype), tf.cast(high, drawn.dtype)
    return tf.zeros_like(drawn) + low + (high - low) * tf.cast(0.9, drawn.dtype)


def _still_normal(tf, drawn, args, kwargs):
    mean = tf.cast(_argument(args, kwargs, 1, 'mean', 0.0), drawn.dtype)
    deviation = tf.cast(_argument(args, kwargs, 2, 'stddev', 1.0), drawn.dtype)
    return tf.zeros_like(drawn) + mean + deviation * tf.cast(0.3, drawn.dtype)


def _still_shuffle(tf, drawn, args, kwargs):
    return tf.identity(_argument(args, kwargs, 0, 'value', None))


def _still_choice(tf, drawn, args, kwargs):
    best = tf.cast(tf.argmax(_argument(args, kwargs, 0, 'logits', None), 1), drawn.dtype)
    return tf.zeros_like(drawn) + tf.expand_dims(best, 1)


def _still_ones(tf, drawn, args, kwargs):
    return tf.ones_like(drawn)


def _still_classes(tf, drawn, args, kwargs):
    """The classes 0 to n - 1 in place of n drawn ones."""
    return tf.cast(tf.range(tf.size(drawn)), drawn.dtype)


# {function of random_ops, with its other names: what stands for what it draws}
STILL = {
    ('random_uniform', 'uniform'): _still_uniform,
    ('random_normal', 'normal'): _still_normal,
    ('truncated_normal', 'random_truncated_normal'): _still_normal,
    ('random_shuffle', 'shuffle'): _still_shuffle,
    ('multinomial',): _still_choice,
    ('categorical',): _still_choice,
    ('random_gamma', 'gamma'): _still_ones,
    ('random_poisson', 'poisson'): _still_ones,
}


def replace(names):
    """Puts {name: (old, new)} wherever a loaded module of TensorFlow or Keras holds the old one."""
    for title, module in list(sys.modules.items()):
        if module is None or not title.startswith(('tensorflow', 'keras', 'tf_keras', 'tf_slim')):
            continue
        held = getattr(module, '__dict__', {})
        wrapped = held.get('_tfmw_wrapped_module') or held.get('tfmw_wrapped_module')
        for owner in (module, wrapped):
            inner = getattr(owner, '__dict__', {}) if owner is not None else {}
            for name, (old, new) in names.items():
                if inner.get(name) is old:
                    try:
                        setattr(owner, name, new)
                    except Exception:  # whatever a module's own class raises
                        pass
