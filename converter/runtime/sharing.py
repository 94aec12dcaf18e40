"""What the towers share: raw variables, collections, updates of variables."""

import contextlib
import re

import tensorflow as tf

NUM_GPUS = 2


class SharedVariables(object):
    """Gives the variables that tower 0 makes by tf.Variable() to the other towers, in the order of creation.

    They keep the names that they have on one GPU. tf.get_variable() needs no such help: its variables are shared by
    their variable scope.
    """

    def __init__(self):
        self.graph = tf.get_default_graph()
        self.outer = self.entered = self.graph.get_name_scope()
        self.variables = []
        self.getting = 0

    def scope(self, inner):
        """Return the name that a name scope of the tower has on one GPU."""
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
            scope = self.scope(self.graph.get_name_scope()[len(self.entered) :].strip('/'))
            with tf.name_scope(scope + '/' if scope else None):
                self.variables.append(next_creator(**kwargs))
            return self.variables[-1]

        with tf.variable_scope(tf.get_variable_scope(), custom_getter=self.getter), tf.variable_creator_scope(create):
            self.entered = self.graph.get_name_scope()  # the variable scopes above opened name scopes, too
            yield


class SharedVariablesOfModels(SharedVariables):
    """SharedVariables for one of several models in a graph: the scope `net` of the second one is named net_1."""

    before = None  # the SharedVariablesOfModels of the model that was built before

    def __init__(self):
        super(SharedVariablesOfModels, self).__init__()
        self.scopes = {}  # for each scope of the tower: its name on one GPU
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
    """Gives each tower's variable scope the `reuse` that it has on one GPU, because the model asks for it.

    All towers but the first still reuse the first tower's variables.
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
    """Continues the numbering of default names (dense, dense_1, ...) after the towers where tower 0 ended.

    TensorFlow resets these counters at the end of each tower's variable scope.
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
    """Reserve the top-level names that the graph for one GPU would have used for the model.

    Names created later are then numbered as on one GPU: a second `loss` becomes loss_1.
    """
    graph = tf.get_default_graph()
    outer = graph.unique_name('tower', mark_as_used=False).rpartition('/')[0]
    prefix = (outer + '/' if outer else '') + 'tower_0/'
    operations = graph.get_operations()
    for name in sorted(set(op.name[len(prefix) :].split('/')[0] for op in operations if op.name.startswith(prefix))):
        if graph.unique_name(name, mark_as_used=False).rpartition('/')[2] == name:
            graph.unique_name(name)


def plain_name(tensor):
    """Return the name that a tower's tensor has on one GPU, without scopes around the towers."""
    return re.split('tower_[0-9_]+/', tensor.op.name)[-1]


def name_without_tower(tensor):
    """Return the name that a tower's tensor has on one GPU: without the tower's scope."""
    return re.sub('tower_[0-9_]+/', '', tensor.op.name)


def without_tower(name):
    """Return a name without the scope of a tower: as it is on one GPU."""
    return re.sub('tower_[0-9_]+/', '', name)


class TowerCollections(object):
    """Shows each tower only its own additions to the graph's collections; afterwards they hold those of tower 0.

    Collections of variables are the same for all towers.
    """

    def __init__(self):
        self.graph = tf.get_default_graph()
        self.before = self.contents()
        self.first = None

    def contents(self):
        keys = self.graph.get_all_collection_keys()
        return dict((key, list(self.graph.get_collection_ref(key))) for key in keys)

    def restore(self, contents):
        shared = [
            tf.GraphKeys.GLOBAL_VARIABLES,
            tf.GraphKeys.TRAINABLE_VARIABLES,
            tf.GraphKeys.LOCAL_VARIABLES,
            tf.GraphKeys.MODEL_VARIABLES,
            tf.GraphKeys.REGULARIZATION_LOSSES,
            tf.GraphKeys.GLOBAL_STEP,
            tf.GraphKeys.COND_CONTEXT,
            tf.GraphKeys.WHILE_CONTEXT,
        ]
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


class TowerPenalties(TowerCollections):
    """TowerCollections for models that add regularization losses themselves, or read them before they are complete.

    Variables add the losses of their regularizers in tower 0, where they are made, and all towers see these. A later
    tower reads as many as tower 0 has read there, and what it adds itself takes the place of what tower 0 added.
    """

    def __init__(self):
        TowerCollections.__init__(self)
        self.gpu = None
        self.counts = []  # of regularization losses, at each time that tower 0 read them
        self.add_to_collection, self.get_collection = self.graph.add_to_collection, self.graph.get_collection
        self.graph.add_to_collection, self.graph.get_collection = self.add, self.get

    def restore(self, contents):
        TowerCollections.restore(self, contents)
        held = self.first.get(tf.GraphKeys.REGULARIZATION_LOSSES, [])
        own = len(self.before.get(tf.GraphKeys.REGULARIZATION_LOSSES, []))
        names = set(v.op.name.split('/')[-1] for v in tf.global_variables())
        self.places = [i for i, loss in enumerate(held) if i >= own and not self.is_of_variable(loss, names)]
        if contents is self.before:
            held = [loss for i, loss in enumerate(held) if i not in self.places]
        self.graph.get_collection_ref(tf.GraphKeys.REGULARIZATION_LOSSES)[:] = held

    def is_of_variable(self, loss, names):
        begin, found, _ = loss.name.partition('/Regularizer')  # how TensorFlow names the loss of a regularizer
        return bool(found) and begin.split('/')[-1] in names

    @contextlib.contextmanager
    def tower(self, gpu):
        with TowerCollections.tower(self, gpu):
            self.gpu, self.left = gpu, list(self.counts)
            try:
                yield
            finally:
                self.gpu = None

    def add(self, name, value):
        if name == tf.GraphKeys.REGULARIZATION_LOSSES and self.gpu and self.places:
            self.graph.get_collection_ref(name).insert(self.places.pop(0), value)
        else:
            self.add_to_collection(name, value)

    def get(self, name, scope=None):
        found = self.get_collection(name, scope)
        if name != tf.GraphKeys.REGULARIZATION_LOSSES or self.gpu is None:
            return found
        held = self.graph.get_collection_ref(name)
        if self.gpu == 0:
            self.counts.append(len(held))
        elif self.left:
            held = held[: self.left.pop(0)]
        return [value for value in found if any(value is one for one in held)]


class FirstTowerLists(object):
    """Keeps what the first tower got where the model lists the variables made so far, for all towers."""

    around = []  # those of the towers that are being built

    def __init__(self):
        self.kept = []

    @contextlib.contextmanager
    def tower(self, gpu):
        self.left = list(self.kept) if gpu else None
        FirstTowerLists.around.append(self)
        try:
            yield
        finally:
            FirstTowerLists.around.pop()


def of_first_tower(listed):
    """Return what the first tower got here, as later towers find all variables made; elsewhere what is given."""
    lists = FirstTowerLists.around[-1] if FirstTowerLists.around else None
    if lists is None:
        return listed
    if lists.left is None:
        lists.kept.append(listed)
        return listed
    return lists.left.pop(0)


class MergedCollections(TowerCollections):
    """TowerCollections that can also merge the towers' additions to a collection, for scripts that read it later."""

    def __init__(self):
        TowerCollections.__init__(self)
        self.towers = []

    @contextlib.contextmanager
    def tower(self, gpu):
        with TowerCollections.tower(self, gpu):
            yield
            self.towers.append(self.contents())

    def merge(self, key, weights):
        """Replace tower 0's additions to a collection by the sums of all towers', each times its tower's weight."""
        begin = len(self.before.get(key, []))
        added = [contents.get(key, [])[begin:] for contents in self.towers]
        if len(set(len(values) for values in added)) == 1:
            with tf.name_scope('towers'):
                parts = [[v * tf.cast(w, v.dtype) for v, w in zip(values, weights)] for values in zip(*added)]
            self.graph.get_collection_ref(key)[begin:] = [
                tf.add_n(part, name=plain_name(values[0])) for part, values in zip(parts, zip(*added))
            ]


@contextlib.contextmanager
def scopes_without_towers(gpu):
    """Make get_collection(key, scope) ignore the towers' scopes in names, from here on: tower_0/model is model."""
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
    """Let only tower 0 run the updates that layers force by control dependencies, such as moving averages."""
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
    """Return whether an operation, or one that it groups or passes on, changes a variable."""
    op = getattr(op, 'op', op)
    if op.type in ('Identity', 'Merge', 'NoOp'):
        return any(updates_variable(i) for i in list(op.inputs) + list(op.control_inputs))
    return op.type.startswith(('Assign', 'Scatter', 'ResourceScatter'))


@contextlib.contextmanager
def after_updates(control_inputs):
    """Like tf.control_dependencies(), but what is built inside reads variables after these operations, on each GPU.

    On one GPU that is so by itself: there `v` is the memory that the update changes. Another GPU gets a copy of `v`,
    which is made when a step begins; here it gets one that is made after the update.
    """
    graph = tf.get_default_graph()
    before = set(graph.get_operations())
    with graph.control_dependencies(control_inputs):
        yield
        again = {}
        for op in [op for op in graph.get_operations() if op not in before]:
            for index, read in enumerate(op.inputs):
                if read.op not in before or read.op.type != 'Identity' or not read.op.inputs[0].dtype._is_ref_dtype:
                    continue
                if read.name not in again:
                    with graph.colocate_with(read.op.inputs[0].op), graph.name_scope(None):
                        again[read.name] = tf.identity(read.op.inputs[0], name=read.op.name)
                op._update_input(index, again[read.name])
