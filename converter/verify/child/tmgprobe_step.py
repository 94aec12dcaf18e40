"""One call of Session.run that trains: what it triggers, what goes in, how to run parts of it."""

from __future__ import absolute_import, division, print_function

import tmgprobe_graph as graphs


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
        self._backward = None

    @property
    def backward(self):
        """What must run for the gradients that are applied."""
        if self._backward is None:
            self._backward = graphs.ancestors(
                tensor.op for apply in self.applies for given in apply.given for tensor in tensors(given)
            )
        return self._backward

    @property
    def groups(self):
        """The sets of gradients that lead to what is applied."""
        found = []
        for group in self.watched.groups:
            gates = [tensor for gate in group.gates for tensor in tensors(gate)]
            if any(tensor.op in self.backward for tensor in gates) and all(
                map(self.graph.is_fetchable, gates)
            ):
                found.append(group)
        return found

    @property
    def losses(self):
        """The scalar losses that were differentiated, in order."""
        return [
            loss
            for group in self.groups
            for loss in group.losses
            if hasattr(loss, 'op') and loss.dtype.is_floating and self.graph.is_fetchable(loss)
        ]

    @property
    def sources(self):
        """The tensors that datasets and queues fill."""
        return [
            tensor
            for tensor in graphs.sources(self.operations)
            if tensor.dtype.base_dtype.name not in ('variant', 'resource')
        ]

    def describe(self, arrays, sources):
        """The inputs as plain data, see tmgprobe_inputs."""
        result = []
        for name in sorted(arrays):
            tensor = self.graph.as_graph_element(name)
            result.append(
                {
                    'name': name,
                    'shape': list(arrays[name].shape),
                    'source': name in sources,
                    'static': graphs.static_shape(tensor),
                    'sliced': graphs.sliced_axis(tensor, self.operations),
                }
            )
        order = {name: index for index, name in enumerate(sources)}
        return sorted(result, key=lambda item: (item['source'], order.get(item['name'], 0)))


def tensors(gradient):
    """The tensors of a gradient: none, one, or values and indices."""
    if gradient is None:
        return []
    return list(gradient) if isinstance(gradient, tuple) else [gradient]


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
        self._steps = {}

    def on_run(self, run, session, fetches, feed_dict, options, metadata):
        """Stands for Session.run."""
        watched = self.watch.of(session.graph)
        if not watched.applies:
            return run(session, fetches, feed_dict, options, metadata)
        key = (
            id(session.graph),
            len(watched.applies),
            tuple(element.name for element, _ in graphs.elements(session.graph, fetches)),
        )
        if key not in self._steps:
            self._steps[key] = Step(self.tf, watched, fetches)
        step = self._steps[key]
        if not step.applies:
            return run(session, fetches, feed_dict, options, metadata)
        return self.role.step(Call(self.tf, step, run, session, fetches, feed_dict, options, metadata))


class Call(object):
    """One training run call: a step with a session and a feed."""

    def __init__(self, tf, step, run, session, fetches, feed_dict, options, metadata):
        self.tf, self.step, self._run, self.session = tf, step, run, session
        self.fetches, self.feed_dict = fetches, feed_dict
        self.options, self.metadata = options, metadata
        self.sources = [tensor.name for tensor in step.sources]
        self.fed = graphs.feeds(session.graph, feed_dict)
        self.sources = [name for name in self.sources if name not in self.fed]
        self._arrays = None

    @property
    def arrays(self):
        """Everything that goes in, {tensor name: array}: the feed, and the next element of each source."""
        if self._arrays is None:
            self._arrays = dict(self.fed)
            if self.sources:
                self._arrays.update(zip(self.sources, self._run(self.session, self.sources)))
        return self._arrays

    def run(self, fetches, feed, options=None, metadata=None):
        """Runs with all randomness held still."""
        feed = dict(feed)
        if self.step.watched.flag is not None:
            feed[self.step.watched.flag] = False
        return self._run(self.session, fetches, feed, options, metadata)

    def store(self):
        """Reads and sets the variables of this session."""
        return graphs.Store(self.tf, self.session, self._run)

    def facts(self):
        """What the comparison must know before it begins, as plain data."""
        graph, store = self.session.graph, self.store()
        trainable = {variable.name for variable in graph.get_collection('trainable_variables')}
        listed = {variable.name for variable in graph.get_collection('variables')}
        return {
            'variables': [
                {
                    'name': name,
                    'shape': (
                        variable.get_shape().as_list() if variable.get_shape().ndims is not None else None
                    ),
                    'dtype': variable.dtype.base_dtype.name,
                    'trainable': name in trainable,
                }
                for name, variable in sorted(store.variables.items())
                if name in listed
            ],
            'inputs': self.step.describe(self.arrays, self.sources),
            'applies': len(self.step.applies),
            'triggered': [apply.index for apply in self.step.applies],
            'writes': graphs.written(self.step.operations),
            'collections': {
                key: len(graph.get_collection_ref(key))
                for key in graph.get_all_collection_keys()
                if hasattr(key, 'upper')
            },
            'held': self.step.watched.held,
        }


def saver(tf, graph, names):
    """A saver for these variables, made without a trace in the script's names."""
    finalized = graph.finalized
    if finalized:
        graph._finalized = False
    try:
        with graph.as_default(), graph.device(None), graph.control_dependencies(None), graph.name_scope(
            'tf_multigpu_probe_save/'
        ):
            found = graphs.variables(tf, graph)
            return tf.train.Saver([found[name] for name in names])
    finally:
        if finalized:
            graph.finalize()
