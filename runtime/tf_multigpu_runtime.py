"""Helpers of scripts that tf-multigpu converted for several GPUs: all that there are, each says what it does.

The same for every script. A script says how many towers it builds: `tf_multigpu_runtime.num_gpus = 2`.
"""
import contextlib
import os
import re
import subprocess

try:
    import tensorflow.compat.v1 as tf
except ImportError:  # before 1.13
    import tensorflow as tf

__version__ = '0.2.0'
num_gpus = None  # a number, or a function that gives it; the script that is run sets it
fewer_gpus = 'refuse'  # 'allow' lets towers share a GPU


def towers():
    """The number of towers; 1 for a script that was not converted and imports what was."""
    return (num_gpus() if callable(num_gpus) else num_gpus) or 1


def count_gpus():
    """The number of visible GPUs, at least 1; neither initialises CUDA nor takes GPU memory."""
    visible = os.environ.get('CUDA_VISIBLE_DEVICES')
    try:
        lines = subprocess.check_output(['nvidia-smi', '-L']).decode('utf-8', 'replace').splitlines()
        present = sum(line.startswith('GPU ') for line in lines)
    except (OSError, subprocess.CalledProcessError):
        driver = '/proc/driver/nvidia/gpus'
        present = len(os.listdir(driver)) if os.path.isdir(driver) else None
    if visible is None:
        return max(present or 1, 1)
    count = 0
    for entry in visible.replace(' ', '').split(','):
        known = not entry.isdigit() or present is None or int(entry) < present
        if not entry or entry.startswith('-') or not known:
            break
        count += 1
    return max(count, 1)


def check_gpus():
    """Ends a script that sees fewer GPUs than it has towers, which would share them; FEWER_GPUS=allow lets them."""
    present = len(os.listdir('/proc/driver/nvidia/gpus')) if os.path.isdir('/proc/driver/nvidia/gpus') else 0
    visible = os.environ.get('CUDA_VISIBLE_DEVICES', 'all,' * present).split(',')
    count = min(present, len([entry for entry in visible if entry.strip() not in ('', '-1')]))
    if 0 < count < towers() and os.environ.get('FEWER_GPUS', fewer_gpus) != 'allow':
        raise RuntimeError('%d towers need as many GPUs, not %d; FEWER_GPUS=allow lets them share' % (towers(), count))


def is_variable(op):
    return op.type in ('Variable', 'VariableV2', 'VarHandleOp')


def tower_device(gpu):
    """Places variables on the CPU and everything else on one GPU; what the model puts on a CPU stays there."""
    check_gpus()
    return lambda op: op.device if 'cpu' in op.device.lower() else \
        '/cpu:0' if op.type in ('Variable', 'VariableV2', 'VarHandleOp') else '/gpu:%d' % gpu


@contextlib.contextmanager
def enter_tower(gpu, place, *contexts):
    """Enters the device, the scopes and the contexts of a tower; nothing where the model is built for one GPU."""
    if towers() == 1:
        yield
    elif contexts:
        with enter_tower(gpu, place, *contexts[:-1]), contexts[-1](gpu):
            yield
    else:
        with tf.device(place(gpu)), tf.name_scope('tower_%d' % gpu), \
                tf.variable_scope(tf.get_variable_scope(), reuse=gpu > 0):
            yield


def variable_device(op):
    """Places variables on the CPU."""
    return '/cpu:0' if is_variable(op) and not op.device else op.device


def tower_device_gpu_0(gpu):
    """Places variables on the first GPU and everything else on the tower's; what is on a CPU stays there."""
    check_gpus()
    return lambda op: op.device if 'cpu' in op.device.lower() else '/gpu:%d' % (0 if is_variable(op) else gpu)


def variable_device_gpu_0(op):
    """Places variables on the first GPU."""
    return '/gpu:0' if is_variable(op) and not op.device else op.device


VARIABLE_BYTES = {}  # number of a GPU -> bytes of the variables that it holds


def tower_device_balanced(gpu):
    """Spreads variables over the GPUs and places everything else on the tower's."""
    check_gpus()
    def place(op):
        device = variable_device_balanced(op).lower()
        return device if 'cpu' in device or is_variable(op) else '/gpu:%d' % gpu
    return place


def variable_device_balanced(op):
    """Places a variable on the GPU that holds the fewest bytes of them so far."""
    if op.device or not is_variable(op):
        return op.device
    least = min(range(towers()), key=lambda i: VARIABLE_BYTES.get(i, 0))
    size = 1
    for dim in op.get_attr('shape').dim:
        size *= max(dim.size, 1)
    VARIABLE_BYTES[least] = VARIABLE_BYTES.get(least, 0) + size * tf.as_dtype(op.get_attr('dtype')).size
    return '/gpu:%d' % least


def tower_device_partitioned(gpu):
    """Places variables and their slices on the GPUs in turn, and everything else on the tower's."""
    check_gpus()
    def place(op):
        device = variable_device_partitioned(op).lower()
        return device if 'cpu' in device or is_variable(op) else '/gpu:%d' % gpu
    return place


FIRST_SLICES = {}  # name of a variable that is cut -> number of the GPU that holds its first slice


def variable_device_partitioned(op):
    """Places the slices of a variable one after the other, anything else on the GPU that holds the fewest bytes."""
    if op.device or not is_variable(op):
        return op.device
    name, _, number = op.name.rpartition('/part_')
    home = min(range(towers()), key=lambda i: VARIABLE_BYTES.get(i, 0))
    if number.isdigit():
        home = (FIRST_SLICES.setdefault(name, home) + int(number)) % towers()
    size = 1
    for dim in op.get_attr('shape').dim:
        size *= max(dim.size, 1)
    VARIABLE_BYTES[home] = VARIABLE_BYTES.get(home, 0) + size * tf.as_dtype(op.get_attr('dtype')).size
    return '/gpu:%d' % home


SLICE_BYTES = 1024  # of the smallest slice: a variable that gives no such slices stays whole


def cut_variables(*kept, **names):
    """A custom getter under which large variables are cut into one slice for each GPU.

    Checkpoints hold the whole variables as before. Small ones stay whole, and those of the names in `kept`; tables of
    the names in `rows` are cut along their rows, of which the script looks some up.
    """
    if not hasattr(tf, 'variable_creator_scope'):
        raise NotImplementedError('cutting variables needs TensorFlow 1.12 or newer')

    def get(getter, name, *args, **kwargs):
        kwargs['caching_device'] = None  # dynamic_rnn would have all towers read from a copy that the first one keeps
        shape, initializer = kwargs.get('shape'), kwargs.get('initializer')
        if shape is None and hasattr(initializer, '__len__'):  # an array or a list
            initializer = tf.convert_to_tensor(initializer, kwargs.get('dtype'))
        if shape is None and hasattr(initializer, 'get_shape'):
            shape = initializer.get_shape()
        shape = tf.TensorShape(shape)
        last = name.split('/')[-1]
        parts = slice_counts(shape, kwargs.get('dtype'), last in names.get('rows', ()))
        if kwargs.get('trainable') is False or kwargs.get('partitioner') or last in kept or not parts:
            return getter(name, *args, **kwargs)
        if initializer is None:
            initializer = tf.glorot_uniform_initializer()
        if callable(initializer):
            initializer = slices_of_initial_value(initializer, shape.as_list())
        kwargs.update(initializer=initializer, partitioner=lambda *_, **__: parts)
        return read_as_one(getter(name, *args, **kwargs))
    return get


def slice_counts(shape, dtype, by_rows=False):
    """The number of slices along each axis of a variable; None for one that stays whole.

    The last axis is cut that gives slices of about the same size, else the largest; the first for slices of rows.
    """
    if not shape.is_fully_defined() or not tf.as_dtype(dtype or tf.float32).is_floating:
        return None
    sizes = shape.as_list()
    if shape.num_elements() * tf.as_dtype(dtype or tf.float32).size < SLICE_BYTES * towers() or towers() == 1:
        return None
    even = [axis for axis, size in enumerate(sizes) if -(-size // towers()) * towers() <= 1.05 * size]
    cut = 0 if by_rows else even[-1] if even else sizes.index(max(sizes))
    return [towers() if axis == cut else 1 for axis in range(len(sizes))] if sizes[cut] >= towers() else None


def slices_of_initial_value(initializer, shape):
    """An initializer of slices: all are parts of one initial value, as the whole variable would get."""
    made = []

    def initial(slice_shape, dtype=None, partition_info=None):
        if not made:
            whole = initializer() if isinstance(initializer, type) else initializer
            code = getattr(whole, '__code__', None)  # of a function, which may take anything
            names = code.co_varnames[:code.co_argcount] if code else ()
            given = {'partition_info': None} if 'partition_info' in names else {}
            alone = code is not None and not names and not code.co_flags & 12  # 12: neither *args nor **kwargs
            with tf.device('/cpu:0'):
                made.append(whole() if alone else whole(shape, dtype=dtype, **given))
        return tf.slice(made[0], partition_info.var_offset, slice_shape)
    return initial


def read_as_one(variable):
    """Lets a variable that is cut pass for one tensor, which each tower puts together once."""
    kind, towers, first = type(variable), {}, {}
    if kind.__name__ == 'CutVariable':
        return variable

    def as_tensor(self):
        graph = tf.get_default_graph()
        scopes = [scope for scope in graph.get_name_scope().split('/') if scope.startswith('tower_')]
        tower = (graph, scopes[-1]) if scopes else first.get(graph, (graph, ''))  # after the towers, the first one's
        if tower not in towers:
            towers[tower] = kind.as_tensor(self)
            first.setdefault(graph, tower)
        return towers[tower]

    def like_a_tensor(name):
        return lambda self, *args, **kwargs: getattr(self.as_tensor(), name)(*args, **kwargs)

    names = set(tf.Tensor.OVERLOADABLE_OPERATORS) - {'__eq__', '__ne__'}
    members = dict((name, like_a_tensor(name)) for name in names | {'eval'})
    members.update(as_tensor=as_tensor, value=as_tensor, _as_graph_element=as_tensor,
                   op=property(lambda self: self.as_tensor().op), graph=property(lambda self: self.as_tensor().graph))
    variable.__class__ = type('CutVariable', (kind,), members)
    return variable


def shard_bounds(total):
    """For each tower: where its rows begin and end, and a list of their numbers and one of their weights."""
    limits = (total * list(range(towers() + 1)) + (towers() - 1)) // towers()
    rows = limits[1:] - limits[:-1]
    begin = tf.minimum(limits[:-1], total - 1)
    weights = tf.cast(rows, tf.float32) / tf.cast(total, tf.float32)
    return begin, begin + tf.maximum(rows, 1), tf.unstack(rows), tf.unstack(weights)


def shard(tensors, gpu):
    """Returns tower `gpu`'s rows of batch tensors, their number and weight: one row of weight 0 if it has none."""
    with tf.device('/cpu:0'), tf.name_scope('shard'):
        if gpu == 0:  # the bounds of all towers
            total = tf.shape(tensors[0])[0]
            limits = (total * list(range(towers() + 1)) + (towers() - 1)) // towers()
            begin, rows = tf.minimum(limits[:-1], total - 1), limits[1:] - limits[:-1]
            bounds = [tf.split(bound, towers()) for bound in (begin, begin + tf.maximum(rows, 1))]
            weights = tf.cast(rows, tf.float32) / tf.cast(total, tf.float32)
            tensors[0].tower_rows = bounds + [[tf.constant([1])] * towers(), tf.unstack(rows), tf.unstack(weights)]
        begin, end, step, rows, weight = [column[gpu] for column in tensors[0].tower_rows]
        return [tf.strided_slice(t, begin, end, step) for t in tensors], rows, weight


def shard_along(tensors, axes, gpu):
    """Cuts tower `gpu`'s examples out of batch tensors, each along its batch axis.

    Returns the shards, their number of examples, and their weight in the mean over the whole batch.
    Sizes differ by at most one; a tower without an example computes on one, with weight 0.
    """
    with tf.device('/cpu:0'), tf.name_scope('shard'):
        if gpu == 0:
            begin, end, rows, weights = shard_bounds(tf.shape(tensors[0])[axes[0]])
            tensors[0].tower_examples = tf.unstack(begin), tf.unstack(end), rows, weights
        begin, end, rows, weight = [column[gpu] for column in tensors[0].tower_examples]
        shards = [t[(slice(None),) * axis + (slice(begin, end),)] for t, axis in zip(tensors, axes)]
        return shards, rows, weight


def shard_sparse(tensors, gpu):
    """Cuts tower `gpu`'s rows out of batch tensors of which some are sparse.

    Returns the shards, their number of rows, and their weight in the mean over the whole batch.
    Sizes differ by at most one row; a tower without a row computes on one, with weight 0.
    """
    with tf.device('/cpu:0'), tf.name_scope('shard'):
        lead = tensors[0]
        total = tf.cast(lead.dense_shape[0], tf.int32) if isinstance(lead, tf.SparseTensor) else tf.shape(lead)[0]
        begin, end = [(total * i + towers() - 1) // towers() for i in (gpu, gpu + 1)]
        rows = end - begin
        first, count = tf.minimum(begin, total - 1), tf.maximum(rows, 1)
        shards = [sparse_rows(t, first, count) if isinstance(t, tf.SparseTensor) else t[first:first + count]
                  for t in tensors]
        return shards, rows, tf.cast(rows, tf.float32) / tf.cast(total, tf.float32)


def sparse_rows(tensor, first, count):
    """The rows of a sparse tensor from `first` on; what is known of its other dimensions stays known."""
    shape, known = tensor.dense_shape, tensor.get_shape()
    rest = tf.zeros_like(shape[1:])
    start = tf.concat([[tf.cast(first, tf.int64)], rest], 0)
    part = tf.sparse_slice(tensor, start, tf.concat([[tf.cast(count, tf.int64)], shape[1:]], 0))
    if known.ndims is None:
        return part
    sizes = [tf.constant(size, tf.int64) if size else shape[axis] for axis, size in enumerate(known.as_list())]
    return tf.SparseTensor(part.indices, part.values, tf.stack([tf.cast(count, tf.int64)] + sizes[1:]))


def whole_batch(tensor):
    """The batch that a tower's shard was cut from; for any other tensor, the tensor itself."""
    cut = tensor.op
    while cut.type in ('Cast', 'Identity'):
        cut = cut.inputs[0].op
    scopes = cut.name.split('/')[-3:-1]
    return cut.inputs[0] if len(scopes) == 2 and scopes[0][:6] == 'tower_' and scopes[1][:5] == 'shard' else tensor


def pad_steps(decode):
    """Lets `dynamic_decode` pad what it gives of a tower's shard to the steps that the whole batch has on one GPU."""
    def decode_padded(decoder, output_time_major=False, *args, **kwargs):
        outputs, state, lengths = decode(decoder, output_time_major, *args, **kwargs)
        helper = getattr(decoder, '_helper', None)  # a beam search has none
        given = getattr(helper, '_sequence_length', None)  # none where it ends by itself
        if given is None:
            return outputs, state, lengths
        axis, steps = 0 if output_time_major else 1, tf.cast(tf.reduce_max(whole_batch(given)), tf.int32)
        wide = []
        for tensor in outputs:
            rest = steps - tf.shape(tensor)[axis]
            wide.append(tf.pad(tensor, [[0, rest if i == axis else 0] for i in range(tensor.get_shape().ndims)]))
            wide[-1].set_shape(tensor.get_shape())
        return type(outputs)(*wide), state, lengths
    return decode_padded


def concat_steps(parts, axis):
    """Puts the towers' parts together along their batch axis; those with fewer steps are padded."""
    shapes = [tf.shape(part) for part in parts]
    largest = tf.reduce_max(tf.stack(shapes), 0)
    known = [set(sizes) for sizes in zip(*[part.get_shape().as_list() for part in parts])]
    wide = []
    for part, shape in zip(parts, shapes):
        rest = tf.unstack(largest - shape, num=len(known))
        wide.append(tf.pad(part, [[0, 0 if i == axis else size] for i, size in enumerate(rest)]))
        wide[-1].set_shape([None if i == axis or len(sizes) > 1 else min(sizes) for i, sizes in enumerate(known)])
    return tf.concat(wide, axis)


def shard_size(total, gpu):
    """The number of examples that tower `gpu` computes on in a batch of `total`."""
    begin, end = [(total * i + towers() - 1) // towers() for i in (gpu, gpu + 1)]
    return max(end - begin, 1)


def shard_drawn(total, gpu):
    """The rows of a batch of `total` that tower `gpu` draws itself, and their weight in the mean over all of it.

    A tower without a row draws one, with weight 0.
    """
    begin, end = [(total * i + towers() - 1) // towers() for i in (gpu, gpu + 1)]
    return end - begin, (end - begin) / float(total)


def shard_static(tensors, gpu):
    """Cuts tower `gpu`'s rows out of batch tensors of a fixed size.

    Returns the shards, their number of rows, and their weight in the mean over the whole batch.
    """
    with tf.device('/cpu:0'), tf.name_scope('shard'):
        total = int(tensors[0].get_shape()[0])
        begin, end = [(total * i + towers() - 1) // towers() for i in (gpu, gpu + 1)]
        if begin == end:
            raise ValueError('a batch of %d cannot be shared by %d GPUs' % (total, towers()))
        return [t[begin:end] for t in tensors], end - begin, (end - begin) / float(total)


def shard_static_along(tensors, axes, gpu):
    """Cuts tower `gpu`'s examples out of batch tensors of a fixed size, each along its batch axis.

    Returns the shards, their number of examples, and their weight in the mean over the whole batch.
    """
    with tf.device('/cpu:0'), tf.name_scope('shard'):
        total = int(tensors[0].get_shape()[axes[0]])
        begin, end = [(total * i + towers() - 1) // towers() for i in (gpu, gpu + 1)]
        if begin == end:
            raise ValueError('a batch of %d cannot be shared by %d GPUs' % (total, towers()))
        part = slice(begin, end)
        shards = [t[(slice(None),) * axis + (part,)] for t, axis in zip(tensors, axes)]
        return shards, end - begin, (end - begin) / float(total)


def shard_data(data, gpu):
    """Cuts tower `gpu`'s rows out of the arrays, lists and constants of a whole data set.

    Returns the shards, their number of rows, and their weight in the mean over the whole data set.
    Sizes differ by at most one row; a tower without a row computes on one, with weight 0.
    """
    with tf.device('/cpu:0'), tf.name_scope('shard'):
        sizes = [int(d.get_shape()[0]) if hasattr(d, 'get_shape') else len(d) for d in data]
        if len(set(sizes)) > 1:
            raise ValueError('data of %s rows cannot be cut together' % sizes)
        begin, end = [(sizes[0] * i + towers() - 1) // towers() for i in (gpu, gpu + 1)]
        first = min(begin, sizes[0] - 1)
        return [d[first:max(end, first + 1)] for d in data], end - begin, (end - begin) / float(sizes[0])


def shard_data_along(data, axes, gpu):
    """Cuts tower `gpu`'s examples out of the data of a whole data set, each along its batch axis.

    Returns the shards, their number of examples, and their weight in the mean over the whole data set.
    Sizes differ by at most one; a tower without an example computes on one, with weight 0.
    """
    def size(d, axis):
        return size(d[0], axis - 1) if axis else int(d.get_shape()[0]) if hasattr(d, 'get_shape') else len(d)

    def cut(d, axis, part):
        if isinstance(d, (list, tuple)) and axis:
            return [cut(row, axis - 1, part) for row in d]
        return d[(slice(None),) * axis + (part,)] if axis else d[part]

    with tf.device('/cpu:0'), tf.name_scope('shard'):
        sizes = [size(d, axis) for d, axis in zip(data, axes)]
        if len(set(sizes)) > 1:
            raise ValueError('data of %s examples cannot be cut together' % sizes)
        begin, end = [(sizes[0] * i + towers() - 1) // towers() for i in (gpu, gpu + 1)]
        first = min(begin, sizes[0] - 1)
        part = slice(first, max(end, first + 1))
        return [cut(d, axis, part) for d, axis in zip(data, axes)], end - begin, (end - begin) / float(sizes[0])


def map_structure(function, *structures):
    """Applies a function to the tensors of lists, tuples and dicts that are built alike."""
    first = structures[0]
    if isinstance(first, dict):
        return type(first)((key, map_structure(function, *[s[key] for s in structures])) for key in first)
    if isinstance(first, (list, tuple)):
        parts = [map_structure(function, *column) for column in zip(*structures)]
        return type(first)(*parts) if hasattr(first, '_fields') else type(first)(parts)
    return function(*structures)


def merge_fed(parts, name=None):
    """Joins the towers' parts of a value that a run feeds; `parts` has each tower's tensor, its rows and its weight."""
    merged = tf.identity(tf.concat([part[:rows] for part, rows, _ in parts], 0), name=name)
    merged.tower_parts = parts
    return merged


def feed_towers(feed_dict):
    """A run's feeds, in which each tower gets its rows of a value that the towers compute."""
    fed = dict(feed_dict)
    for key, value in feed_dict.items():
        total = len(value) if hasattr(key, 'tower_parts') else 0
        for gpu, (part, rows, weight) in enumerate(getattr(key, 'tower_parts', [])):
            begin, end = [(total * i + towers() - 1) // towers() for i in (gpu, gpu + 1)]
            first = min(begin, total - 1)
            fed[part] = value[first:max(end, first + 1)]
            if not isinstance(rows, int):  # counted by the inputs, which need not be fed
                fed[rows], fed[weight] = end - begin, (end - begin) / float(total)
    return fed


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


class TowerAverages(object):
    """Leaves tf.train.ExponentialMovingAverage to tower 0; the other towers read its averages.

    Averages are named after what they are of: in tower 0 that gets the name that it has on one GPU.
    """

    def __init__(self):
        self.graph = tf.get_default_graph()
        self.prefix = self.graph.get_name_scope() + '/' if self.graph.get_name_scope() else ''
        self.named = []  # tower 0's tensors, each with the same one under its plain name
        self.applied = []  # in order: values, their averages, the operation that updates these

    def plain(self, value):
        for tensor, named in self.named:
            if tensor is value:
                return named
        tower, _, name = value.op.name[len(self.prefix):].partition('/') if isinstance(value, tf.Tensor) else [''] * 3
        if not tower.startswith('tower_0'):
            return value
        with tf.name_scope(None):
            self.named.append((value, tf.identity(value, name=self.prefix + name)))
        return self.named[-1][1]

    @contextlib.contextmanager
    def tower(self, gpu):
        kind = tf.train.ExponentialMovingAverage
        apply, average = kind.apply, kind.average
        applied, known = list(self.applied), []

        def first_apply(averages, var_list=None):
            values = [self.plain(value) for value in (tf.trainable_variables() if var_list is None else var_list)]
            update = apply(averages, values)
            self.applied.append((values, [average(averages, value) for value in values], update))
            return update

        def first_average(averages, var):
            return average(averages, next((named for tensor, named in self.named if tensor is var), var))

        def later_apply(averages, var_list=None):
            values, found, update = applied.pop(0)
            known.extend((averages, value, made) for value, made in zip(var_list or values, found))
            return update if update.graph is tf.get_default_graph() else tf.no_op()

        def later_average(averages, var):
            return next((made for owner, value, made in known if owner is averages and value is var), None)

        kind.apply, kind.average = (later_apply, later_average) if gpu else (first_apply, first_average)
        try:
            yield
        finally:
            kind.apply, kind.average = apply, average


def average_gradients(tower_grads):
    """Adds the towers' gradients, which carry their weights already; sparse ones stay sparse."""
    average = []
    for pairs in zip(*tower_grads):
        grads, var = [grad for grad, _ in pairs if grad is not None], pairs[0][1]
        with tf.device(var.device or None):  # the one that holds the variable
            if grads and all(isinstance(grad, tf.IndexedSlices) for grad in grads):
                parts = [tf.concat(column, 0) for column in zip(*[(grad.values, grad.indices) for grad in grads])]
                average.append((tf.IndexedSlices(*parts, dense_shape=grads[0].dense_shape), var))
            else:
                average.append((tf.add_n([tf.convert_to_tensor(grad) for grad in grads]) if grads else None, var))
    return average


def tower_gradients(optimizer, tower_losses, **kwargs):
    """Like optimizer.compute_gradients(loss), with each tower's gradient taken on its own GPU."""
    tower_grads = []
    for gpu, loss in enumerate(tower_losses):
        with tf.device('/gpu:%d' % gpu), tf.name_scope('tower_%d/' % gpu):
            tower_grads.append(optimizer.compute_gradients(loss, **kwargs))
    return average_gradients(tower_grads)


def tower_gradients_or_one_gpu(optimizer, tower_losses, **kwargs):
    """Like optimizer.compute_gradients(loss), with each tower's gradient taken on its own GPU, if there are any."""
    if towers() == 1:
        return optimizer.compute_gradients(tower_losses[0], **kwargs)
    tower_grads = []
    for gpu, loss in enumerate(tower_losses):
        with tf.device('/gpu:%d' % gpu), tf.name_scope('tower_%d/' % gpu):
            tower_grads.append(optimizer.compute_gradients(loss, **kwargs))
    return average_gradients(tower_grads)


class TowerOptimizer(tf.train.Optimizer):
    """An optimizer for functions that build a whole training step: its gradients are those of the towers' losses."""

    def __init__(self, optimizer, tower_losses):
        tf.train.Optimizer.__init__(self, False, type(optimizer).__name__)
        self.optimizer = optimizer
        self.tower_losses = tower_losses

    def compute_gradients(self, loss, var_list=None, **kwargs):
        return tower_gradients_or_one_gpu(self.optimizer, self.tower_losses, var_list=var_list, **kwargs)

    def apply_gradients(self, *args, **kwargs):
        return self.optimizer.apply_gradients(*args, **kwargs)


def gradients_of_towers(tower_losses, variables, *args, **kwargs):
    """Like tf.gradients(loss, variables), with each tower's gradient taken on its own GPU."""
    variables = list(variables) if isinstance(variables, (list, tuple)) else [variables]
    tower_grads = []
    for gpu, loss in enumerate(tower_losses):
        with tf.device('/gpu:%d' % gpu), tf.name_scope('tower_%d/' % gpu):
            tower_grads.append(zip(tf.gradients(loss, variables, *args, **kwargs), variables))
    return [grad for grad, _ in average_gradients(tower_grads)]


def gradients_of_towers_or_one_gpu(tower_losses, variables, *args, **kwargs):
    """Like tf.gradients(loss, variables), with each tower's gradient taken on its own GPU, if there are any."""
    if towers() == 1:
        return tf.gradients(tower_losses[0], variables, *args, **kwargs)
    variables = list(variables) if isinstance(variables, (list, tuple)) else [variables]
    tower_grads = []
    for gpu, loss in enumerate(tower_losses):
        with tf.device('/gpu:%d' % gpu), tf.name_scope('tower_%d/' % gpu):
            tower_grads.append(zip(tf.gradients(loss, variables, *args, **kwargs), variables))
    return [grad for grad, _ in average_gradients(tower_grads)]


def weigh_losses(tower_losses, tower_counts):
    """Weights the towers' losses, which are means over what a mask leaves, by how much each of them counts."""
    total = tf.maximum(tf.add_n(tower_counts), 1e-30)
    return [loss * tf.cast(count / total, loss.dtype) for loss, count in zip(tower_losses, tower_counts)]


def merge_loss(tower_losses, name=None):
    """Adds the towers' weighted losses; the sum carries them along, for where its gradient is taken."""
    loss = tf.add_n(tower_losses, name=name)
    loss.tower_losses = tower_losses
    return loss
