"""What the towers share: raw variables, collections, updates of variables."""
import contextlib
import re

import tensorflow as tf

NUM_GPUS = 2


class SharedVariables(object):
    """Hands the variables that tower 0 makes by tf.Variable to the other towers, in order of creation.

    They get the names that they have on one GPU. Variables made by tf.get_variable are shared by
    their variable scope and pass through.
    """

    def __init__(self):
        self.graph = tf.get_default_graph()
        self.outer = self.entered = self.graph.get_name_scope()
        self.variables = []
        self.getting = 0

    def scope(self, inner):
        """A scope of the tower as it is named on one GPU."""
        return '/'.join(part for part in (self.outer, inner) if part)

    def getter(self, getter, *args, **kwargs):
        self.getting += 1
        try:
            return getter(*args, **kwargs)
        finally:
            self.getting -= 1

    @contextlib.contextmanager
    def tower(self, gpu):
        variables = iter(list(self.variables))

        def create(next_creator, **kwargs):
            if self.getting:
                return next_creator(**kwargs)
            if gpu:
                return next(variables)
            scope = self.scope(self.graph.get_name_scope()[len(self.entered):].strip('/'))
            with tf.name_scope(scope + '/' if scope else None):
                self.variables.append(next_creator(**kwargs))
            return self.variables[-1]

        with tf.variable_scope(tf.get_variable_scope(), custom_getter=self.getter), \
                tf.variable_creator_scope(create):
            self.entered = self.graph.get_name_scope()  # the variable scopes above opened name scopes, too
            yield


class SharedVariablesOfModels(SharedVariables):
    """Those of a model that is built beside others in one graph: the second `net` of the graph is net_1."""
    before = None  # those of the model that was built before

    def __init__(self):
        super(SharedVariablesOfModels, self).__init__()
        self.scopes = {}  # of this model, by their names in the tower
        before, SharedVariablesOfModels.before = self.before, self
        self.taken = before.taken if before and before.graph is self.graph else set()

    def scope(self, inner):
        first, slash, rest = inner.partition('/')
        if first and first not in self.scopes:
            before = re.sub('_[0-9]+$', '', first)  # the second `net` in a tower is net_1
            outer = self.outer + '/' if self.outer else ''
            free = outer + (before if outer + first in self.taken and before in self.scopes else first)
            names = [free] + [free + '_%d' % number for number in range(1, len(self.taken) + 1)]
            self.scopes[first] = [name for name in names if name not in self.taken][0]
            self.taken.add(self.scopes[first])
        return self.scopes[first] + slash + rest if first else self.outer


class ScopeReuse(object):
    """Lets each tower's variable scope say about reuse what it says on one GPU, as the model asks for it.

    The towers behind the first find its variables all the same.
    """

    def __init__(self):
        self.reuse = tf.get_variable_scope().reuse

    @contextlib.contextmanager
    def tower(self, gpu):
        def find(getter, *args, **kwargs):
            return getter(*args, **dict(kwargs, reuse=True))

        with tf.variable_scope(tf.get_variable_scope(), custom_getter=find if gpu else None):
            tf.get_variable_scope()._reuse = self.reuse
            yield


class LayerNames(object):
    """Goes on counting the default names of layers (dense, dense_1, ...) and of slots where the first tower left off.

    TensorFlow keeps the counters in a collection of the graph, and sets them back at the end of each tower.
    """

    def __init__(self):
        self.counts = {}

    def store(self):
        graph = tf.get_default_graph()
        stores = graph.get_collection(('__varscope',)) + graph.get_collection(('__variable_store',))
        return [store for store in stores if hasattr(store, 'variable_scopes_count')][0]

    @contextlib.contextmanager
    def tower(self, gpu):
        yield
        if gpu == 0:
            self.counts = dict(self.store().variable_scopes_count)

    def resume(self):
        self.store().variable_scopes_count = self.counts


def keep_names():
    """Takes the names that the model's scopes have at the top on one GPU, so that a later `loss` is loss_1 as there."""
    graph = tf.get_default_graph()
    outer = graph.unique_name('tower', mark_as_used=False).rpartition('/')[0]
    prefix = (outer + '/' if outer else '') + 'tower_0/'
    operations = graph.get_operations()
    for name in sorted(set(op.name[len(prefix):].split('/')[0] for op in operations if op.name.startswith(prefix))):
        if graph.unique_name(name, mark_as_used=False).rpartition('/')[2] == name:
            graph.unique_name(name)


def plain_name(tensor):
    """The name that a tensor of a tower has without towers."""
    return re.split('tower_[0-9_]+/', tensor.op.name)[-1]


def name_without_tower(tensor):
    """The name that the operation of a tensor has in the graph on one GPU, with all scopes but the tower's."""
    return re.sub('tower_[0-9_]+/', '', tensor.op.name)


def without_tower(name):
    """A name of the graph as it is on one GPU."""
    return re.sub('tower_[0-9_]+/', '', name)


class TowerCollections(object):
    """Lets each tower see only what it adds to the graph's collections itself; keeps tower 0's.

    Collections that grow only when a variable is made are the same for all towers.
    """

    def __init__(self):
        self.graph = tf.get_default_graph()
        self.before = self.contents()
        self.first = None

    def contents(self):
        keys = self.graph.get_all_collection_keys()
        return dict((key, list(self.graph.get_collection_ref(key))) for key in keys)

    def restore(self, contents):
        shared = [tf.GraphKeys.GLOBAL_VARIABLES, tf.GraphKeys.TRAINABLE_VARIABLES, tf.GraphKeys.LOCAL_VARIABLES,
                  tf.GraphKeys.MODEL_VARIABLES, tf.GraphKeys.REGULARIZATION_LOSSES, tf.GraphKeys.GLOBAL_STEP,
                  tf.GraphKeys.COND_CONTEXT, tf.GraphKeys.WHILE_CONTEXT]
        for key in self.graph.get_all_collection_keys():
            if key not in shared and not isinstance(key, tuple):
                self.graph.get_collection_ref(key)[:] = contents.get(key, [])

    @contextlib.contextmanager
    def tower(self, gpu):
        if gpu:
            self.restore(self.before)
        yield
        if gpu == 0:
            self.first = self.contents()
        else:
            self.restore(self.first)


class MergedCollections(TowerCollections):
    """Lets each tower see only what it adds itself; merges what the script reads after the towers."""

    def __init__(self):
        TowerCollections.__init__(self)
        self.towers = []

    @contextlib.contextmanager
    def tower(self, gpu):
        with TowerCollections.tower(self, gpu):
            yield
            self.towers.append(self.contents())

    def merge(self, key, weights):
        begin = len(self.before.get(key, []))
        added = [contents.get(key, [])[begin:] for contents in self.towers]
        if len(set(len(values) for values in added)) == 1:
            with tf.name_scope('towers'):
                parts = [[v * tf.cast(w, v.dtype) for v, w in zip(values, weights)] for values in zip(*added)]
            self.graph.get_collection_ref(key)[begin:] = [
                tf.add_n(part, name=plain_name(values[0])) for part, values in zip(parts, zip(*added))]


@contextlib.contextmanager
def scopes_without_towers(gpu):
    """From here on get_collection(key, scope) compares names as they are on one GPU: tower_0/model is model."""
    graph = tf.get_default_graph()
    get_collection = graph.get_collection

    def find(name, scope=None):
        found = get_collection(name)
        if scope is None:
            return found
        begin = re.compile(without_tower(scope))
        return [v for v in found if hasattr(v, 'name') and begin.match(without_tower(v.name))]

    if gpu == 0:
        graph.get_collection = find
    yield


@contextlib.contextmanager
def first_tower_updates(gpu):
    """Leaves updates that layers force by control dependencies (moving averages) to the first tower."""
    graph = tf.get_default_graph()
    control_dependencies = graph.control_dependencies

    def without_updates(control_inputs):
        if control_inputs is not None:
            control_inputs = [op for op in control_inputs if not updates_variable(op)]
        return control_dependencies(control_inputs)

    if gpu:
        graph.control_dependencies = without_updates
    try:
        yield
    finally:
        if gpu:
            del graph.control_dependencies


def updates_variable(op):
    """Whether an operation, or the ones that it only passes on or groups, changes a variable."""
    op = getattr(op, 'op', op)
    if op.type in ('Identity', 'Merge', 'NoOp'):
        return any(updates_variable(i) for i in list(op.inputs) + list(op.control_inputs))
    return op.type.startswith(('Assign', 'Scatter', 'ResourceScatter'))
