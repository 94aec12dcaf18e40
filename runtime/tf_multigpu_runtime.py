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
    """Return how many GPUs this process may use, at least 1; do not initialise CUDA or take GPU memory."""
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
    """Raise RuntimeError if the script sees fewer GPUs than it builds towers, because towers would share a GPU.

    FEWER_GPUS=allow in the environment permits that. On a machine without GPUs the towers run on the CPU.
    """
    folder = '/proc/driver/nvidia/gpus'
    present = len(os.listdir(folder)) if os.path.isdir(folder) else 0
    visible = os.environ.get('CUDA_VISIBLE_DEVICES')
    if visible is not None:
        present = min(present, len([entry for entry in visible.split(',') if entry.strip() not in ('', '-1')]))
    if 0 < present < towers() and os.environ.get('FEWER_GPUS', fewer_gpus) != 'allow':
        message = '%d towers need %d GPUs, but this script sees %d; set FEWER_GPUS=allow to let towers share'
        raise RuntimeError(message % (towers(), towers(), present))


def fewer_steps(steps):
    """Return how many steps on all GPUs train on as many examples as `steps` steps on one; of a list, each.

    At least 1; None and 0 stay what they are.
    """
    if isinstance(steps, (list, tuple)):
        return [fewer_steps(number) for number in steps]
    return max(1, int(round(float(steps) / towers()))) if steps else steps


def is_variable(op):
    """Return whether an operation holds a variable."""
    return op.type in ('Variable', 'VariableV2', 'VarHandleOp')


def tower_device(gpu):
    """Return a function for tf.device() that puts variables on the CPU and all other operations on GPU `gpu`.

    An operation that the model itself puts on a CPU stays there.
    """

    def place(op):
        if 'cpu' in op.device.lower():
            return op.device
        return '/cpu:0' if op.type in ('Variable', 'VariableV2', 'VarHandleOp') else '/gpu:%d' % gpu

    return place


@contextlib.contextmanager
def enter_tower(gpu, place, *contexts):
    """Enter the device, the name scope and the variable scope of tower `gpu`; with one GPU, enter nothing.

    `place` is tower_device; each of `contexts` is called with `gpu` and gives one more context to enter.
    """
    if towers() == 1:
        yield
    elif contexts:
        with enter_tower(gpu, place, *contexts[:-1]), contexts[-1](gpu):
            yield
    else:
        with tf.device(place(gpu)), tf.name_scope('tower_%d' % gpu), tf.variable_scope(
            tf.get_variable_scope(), reuse=gpu > 0
        ):
            yield


def variable_device(op):
    """For tf.device(): put variables on the CPU; all other operations stay where they are."""
    return '/cpu:0' if towers() > 1 and is_variable(op) and not op.device else op.device


def tower_device_gpu_0(gpu):
    """Return a function for tf.device() that puts variables on the first GPU and all other operations on GPU `gpu`.

    An operation that the model itself puts on a CPU stays there.
    """

    def place(op):
        if 'cpu' in op.device.lower():
            return op.device
        return '/gpu:%d' % (0 if is_variable(op) else gpu)

    return place


def variable_device_gpu_0(op):
    """For tf.device(): put variables on the first GPU; all other operations stay where they are."""
    return '/gpu:0' if towers() > 1 and is_variable(op) and not op.device else op.device


VARIABLE_BYTES = {}  # for each GPU: the bytes of the variables on it so far


def tower_device_balanced(gpu):
    """Return a function for tf.device() that spreads variables over all GPUs and puts the rest on GPU `gpu`.

    An operation that the model itself puts on a CPU stays there.
    """

    def place(op):
        device = variable_device_balanced(op).lower()
        return device if 'cpu' in device or is_variable(op) else '/gpu:%d' % gpu

    return place


def variable_device_balanced(op):
    """For tf.device(): put each new variable on the GPU whose variables take the fewest bytes so far."""
    if towers() == 1 or op.device or not is_variable(op):
        return op.device
    least = min(range(towers()), key=lambda i: VARIABLE_BYTES.get(i, 0))
    size = 1
    for dim in op.get_attr('shape').dim:
        size *= max(dim.size, 1)
    VARIABLE_BYTES[least] = VARIABLE_BYTES.get(least, 0) + size * tf.as_dtype(op.get_attr('dtype')).size
    return '/gpu:%d' % least


def tower_device_partitioned(gpu):
    """Return a function for tf.device() that spreads variables and their slices over all GPUs.

    All other operations go to GPU `gpu`, but for those that the model itself puts on a CPU.
    """

    def place(op):
        device = variable_device_partitioned(op).lower()
        return device if 'cpu' in device or is_variable(op) else '/gpu:%d' % gpu

    return place


FIRST_SLICES = {}  # for each variable that is cut, by name: the GPU that holds its first slice


def variable_device_partitioned(op):
    """For tf.device(): put the slices of a variable on one GPU after the other.

    The first slice, or a whole variable, goes to the GPU whose variables take the fewest bytes so far.
    """
    if towers() == 1 or op.device or not is_variable(op):
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


SLICE_BYTES = 1024  # a variable whose slices would be smaller than this is not cut


def cut_variables(*kept, **names):
    """Return a custom getter (see tf.variable_scope) that cuts large variables into one slice for each GPU.

    Checkpoints hold whole variables as before. Small variables are not cut, nor those whose last part of the name is in
    `kept`. Variables named in `rows` (embedding tables) are cut along their first axis.
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
    """Return the number of slices along each axis of a variable, or None if it is not to be cut.

    One axis is cut: the first if `by_rows`, else the last that gives slices of nearly equal size, else the largest.
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
    """Return an initializer for slices, which cuts them from one initial value made for the whole variable."""
    made = []

    def initial(slice_shape, dtype=None, partition_info=None):
        if not made:
            whole = initializer() if isinstance(initializer, type) else initializer
            code = getattr(whole, '__code__', None)  # of a function, which may take anything
            names = code.co_varnames[: code.co_argcount] if code else ()
            given = {'partition_info': None} if 'partition_info' in names else {}
            alone = code is not None and not names and not code.co_flags & 12  # 12: neither *args nor **kwargs
            with tf.device('/cpu:0'):
                made.append(whole() if alone else whole(shape, dtype=dtype, **given))
        return tf.slice(made[0], partition_info.var_offset, slice_shape)

    return initial


def read_as_one(variable):
    """Make a variable that is cut usable like a whole one: each tower concatenates its slices once."""
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
    members.update(
        as_tensor=as_tensor,
        value=as_tensor,
        _as_graph_element=as_tensor,
        op=property(lambda self: self.as_tensor().op),
        graph=property(lambda self: self.as_tensor().graph),
    )
    variable.__class__ = type('CutVariable', (kind,), members)
    return variable


def shard_bounds(total, gpu):
    """Return where tower `gpu`'s rows begin and end in a batch of `total` rows, a number or a scalar tensor.

    The towers' rows are consecutive, and their numbers differ by at most one.
    """
    return (total * gpu + towers() - 1) // towers(), (total * (gpu + 1) + towers() - 1) // towers()


def shard(tensors, gpu):
    """Return tower `gpu`'s part of each batch tensor, the number of its rows, and its weight (rows / all rows).

    A tower without rows gets one row with weight 0, so that no mean is taken over nothing.
    """
    with tf.device('/cpu:0'), tf.name_scope('shard'):
        total = tf.shape(tensors[0])[0]
        begin, end = shard_bounds(total, gpu)
        rows = end - begin
        first = tf.minimum(begin, total - 1)
        last = first + tf.maximum(rows, 1)
        weight = tf.cast(rows, tf.float32) / tf.cast(total, tf.float32)
        return [t[first:last] for t in tensors], rows, weight


def shard_along(tensors, axes, gpu):
    """Return tower `gpu`'s part of each batch tensor, the number of its examples, and its weight (examples / all).

    `axes` has the batch axis of each tensor. A tower without examples gets one with weight 0, so that no mean is taken
    over nothing.
    """
    with tf.device('/cpu:0'), tf.name_scope('shard'):
        total = tf.shape(tensors[0])[axes[0]]
        begin, end = shard_bounds(total, gpu)
        rows = end - begin
        first = tf.minimum(begin, total - 1)
        part = slice(first, first + tf.maximum(rows, 1))
        weight = tf.cast(rows, tf.float32) / tf.cast(total, tf.float32)
        return [t[(slice(None),) * axis + (part,)] for t, axis in zip(tensors, axes)], rows, weight


def shard_sparse(tensors, gpu):
    """Return tower `gpu`'s part of each batch tensor, the number of its rows, and its weight (rows / all rows).

    Some of the tensors are sparse. A tower without rows gets one row with weight 0, so that no mean is taken over
    nothing.
    """
    with tf.device('/cpu:0'), tf.name_scope('shard'):
        lead = tensors[0]
        total = tf.cast(lead.dense_shape[0], tf.int32) if isinstance(lead, tf.SparseTensor) else tf.shape(lead)[0]
        begin, end = shard_bounds(total, gpu)
        rows = end - begin
        first, count = tf.minimum(begin, total - 1), tf.maximum(rows, 1)
        shards = [
            sparse_rows(t, first, count) if isinstance(t, tf.SparseTensor) else t[first : first + count]
            for t in tensors
        ]
        return shards, rows, tf.cast(rows, tf.float32) / tf.cast(total, tf.float32)


def sparse_rows(tensor, first, count):
    """Return `count` rows of a sparse tensor from row `first` on; its static shape stays known but for the rows."""
    shape, known = tensor.dense_shape, tensor.get_shape()
    rest = tf.zeros_like(shape[1:])
    start = tf.concat([[tf.cast(first, tf.int64)], rest], 0)
    part = tf.sparse_slice(tensor, start, tf.concat([[tf.cast(count, tf.int64)], shape[1:]], 0))
    if known.ndims is None:
        return part
    sizes = [tf.constant(size, tf.int64) if size else shape[axis] for axis, size in enumerate(known.as_list())]
    return tf.SparseTensor(part.indices, part.values, tf.stack([tf.cast(count, tf.int64)] + sizes[1:]))


def whole_batch(tensor):
    """Return the whole batch of a tower's shard, or of a shard and a constant (`n + 1`); else the tensor itself."""
    op, scopes = tensor.op, tensor.op.name.split('/')[-3:-1]
    if len(scopes) == 2 and scopes[0][:6] == 'tower_' and scopes[1][:5] == 'shard':
        return op.inputs[0]
    moved = op.type in ('Add', 'AddV2', 'Sub') and op.inputs[1].op.type == 'Const'
    if not moved and op.type not in ('Cast', 'Identity'):
        return tensor
    whole = whole_batch(op.inputs[0])
    if whole is op.inputs[0]:
        return tensor
    constant = tf.cast(op.inputs[1], whole.dtype) if moved else 0
    return whole - constant if op.type == 'Sub' else whole + constant if moved else whole


def rows_of_one_gpu(rows):
    """Return as many of a result's rows as one GPU's batch has, for a grid that has no place for more."""
    return rows[: len(rows) // towers()]


def pad_steps(decode):
    """Return a `dynamic_decode` that pads its outputs to the longest sequence of the whole batch, as on one GPU.

    A tower's shard alone may have shorter sequences.
    """

    def decode_padded(decoder, output_time_major=False, *args, **kwargs):
        outputs, state, lengths = decode(decoder, output_time_major, *args, **kwargs)
        helper = getattr(decoder, '_helper', None)  # a beam search has none
        given = getattr(helper, '_sequence_length', None)  # none where it ends by itself
        if given is None:
            return outputs, state, lengths
        axis = 0 if output_time_major else 1
        steps = tf.cast(tf.reduce_max(whole_batch(given)), tf.int32)
        wide = []
        for tensor in outputs:
            rest = steps - tf.shape(tensor)[axis]
            wide.append(tf.pad(tensor, [[0, rest if i == axis else 0] for i in range(tensor.get_shape().ndims)]))
            wide[-1].set_shape(tensor.get_shape())
        return type(outputs)(*wide), state, lengths

    return decode_padded


def concat_steps(parts, axis):
    """Concatenate the towers' parts along their batch axis; those with fewer time steps are padded with zeros."""
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
    """Return the number of rows that tower `gpu` computes on in a batch of `total` rows, at least 1."""
    begin, end = shard_bounds(total, gpu)
    return max(end - begin, 1)


def shard_drawn(total, gpu):
    """Return how many rows of a batch of `total` rows tower `gpu` draws itself, and its weight (rows / all rows)."""
    begin, end = shard_bounds(total, gpu)
    return end - begin, (end - begin) / float(total)


def shard_static(tensors, gpu):
    """Return tower `gpu`'s part of each batch tensor, the number of its rows, and its weight (rows / all rows).

    The batch has a static size, and so has each part.
    """
    with tf.device('/cpu:0'), tf.name_scope('shard'):
        total = int(tensors[0].get_shape()[0])
        begin, end = shard_bounds(total, gpu)
        if begin == end:
            raise ValueError('a batch of %d cannot be shared by %d GPUs' % (total, towers()))
        return [t[begin:end] for t in tensors], end - begin, (end - begin) / float(total)


def shard_static_along(tensors, axes, gpu):
    """Return tower `gpu`'s part of each batch tensor, the number of its examples, and its weight (examples / all).

    `axes` has the batch axis of each tensor. The batch has a static size, and so has each part.
    """
    with tf.device('/cpu:0'), tf.name_scope('shard'):
        total = int(tensors[0].get_shape()[axes[0]])
        begin, end = shard_bounds(total, gpu)
        if begin == end:
            raise ValueError('a batch of %d cannot be shared by %d GPUs' % (total, towers()))
        part = slice(begin, end)
        shards = [t[(slice(None),) * axis + (part,)] for t, axis in zip(tensors, axes)]
        return shards, end - begin, (end - begin) / float(total)


def shard_data(data, gpu):
    """Return tower `gpu`'s part of a data set, the number of its rows, and its weight (rows / all rows).

    `data` has arrays, lists and constant tensors. A tower without rows gets one row with weight 0, so that no mean is
    taken over nothing.
    """
    with tf.device('/cpu:0'), tf.name_scope('shard'):
        sizes = [int(d.get_shape()[0]) if hasattr(d, 'get_shape') else len(d) for d in data]
        if len(set(sizes)) > 1:
            raise ValueError('data of %s rows cannot be cut together' % sizes)
        begin, end = shard_bounds(sizes[0], gpu)
        first = min(begin, sizes[0] - 1)
        return [d[first : max(end, first + 1)] for d in data], end - begin, (end - begin) / float(sizes[0])


def shard_data_along(data, axes, gpu):
    """Return tower `gpu`'s part of a data set, the number of its examples, and its weight (examples / all).

    `data` has arrays, lists and constant tensors, `axes` the batch axis of each. A tower without examples gets one with
    weight 0, so that no mean is taken over nothing.
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
        begin, end = shard_bounds(sizes[0], gpu)
        first = min(begin, sizes[0] - 1)
        part = slice(first, max(end, first + 1))
        return [cut(d, axis, part) for d, axis in zip(data, axes)], end - begin, (end - begin) / float(sizes[0])


class TowerInputs(object):
    """Gives each tower its rows of the placeholders that the model makes.

    Tower 0 makes each placeholder outside of its scopes, for the whole batch and with its name on one GPU; each tower
    gets its rows of it. Every tower gets the whole of a placeholder without dimensions. `axes` has the exceptions, by
    the placeholder's name: the batch axis, or None if it is not cut. `size` is the number of examples in a whole batch,
    for a model whose shapes contain the number of a tower's examples.
    """

    def __init__(self, axes=None, size=None):
        self.axes, self.size = axes or {}, size
        self.graph = tf.get_default_graph()
        self.outer = self.entered = self.graph.get_name_scope()
        self.made = []
        self.parts = []  # of the current tower: its part, the placeholder, the part's rows and weight

    def make(self, function, axis, first, shape, name):
        """Make a placeholder for the whole batch, outside of the tower's scopes and device."""
        if axis is not None and self.size and tf.TensorShape(shape).as_list()[axis] is not None:
            shape = [self.size if i == axis else size for i, size in enumerate(tf.TensorShape(shape).as_list())]
        inner = self.graph.get_name_scope()[len(self.entered):].strip('/')
        scope = '/'.join(part for part in (self.outer, inner) if part)
        with tf.control_dependencies(None), tf.device(None), tf.name_scope(scope + '/' if scope else None):
            return function(first, shape, name)

    def part(self, whole, axis, gpu):
        """Cut tower `gpu`'s rows out of a placeholder."""
        cut = shard_along if whole.get_shape().as_list()[axis] is None else shard_static_along
        (part,), rows, weight = cut([whole], [axis], gpu)
        self.parts.append((part, whole, rows, weight))
        return part

    @contextlib.contextmanager
    def tower(self, gpu):
        """Replace tf.placeholder and tf.placeholder_with_default while tower `gpu` is built."""
        made, self.parts, self.entered = iter(list(self.made)), [], self.graph.get_name_scope()

        def replaced(function):
            def placeholder(dtype=None, shape=None, name=None, input=None):
                axis = self.axes.get(name, 0 if tf.TensorShape(shape).ndims else None)
                first = dtype if input is None else input
                whole = next(made) if gpu else self.make(function, axis, first, shape, name)
                self.made += [] if gpu else [whole]
                return whole if axis is None else self.part(whole, axis, gpu)
            return placeholder

        own = tf.placeholder, tf.placeholder_with_default
        tf.placeholder, tf.placeholder_with_default = [replaced(function) for function in own]
        try:
            yield
        finally:
            tf.placeholder, tf.placeholder_with_default = own

    def whole(self, tensor):
        """Return the placeholder that the last tower's part was cut from; any other value unchanged."""
        return ([whole for part, whole, _, _ in self.parts if part is tensor] or [tensor])[0]

    def share(self, part):
        """Return the number of rows in the current tower's part, and its weight (rows / all rows)."""
        return [(rows, weight) for known, _, rows, weight in self.parts if known is part][0]


class OwnInputs(TowerInputs):
    """As TowerInputs, for a model that is given one example: each tower gets a placeholder of its own for it.

    The first tower gets the placeholder itself. `axes` has the exceptions, by the placeholder's name: None for what all
    towers are fed alike, 0 for an example without dimensions.
    """

    def part(self, whole, axis, gpu):
        """Return tower `gpu`'s own placeholder."""
        (own,), rows, weight = own_inputs([whole], gpu)
        self.parts.append((own, whole, rows, weight))
        return own


class OfTowers(object):
    """What a reader of examples gave for each tower. An item of it, or a part, holds that item or part of each."""

    def __init__(self, values):
        self.values = list(values)

    def __getitem__(self, key):
        return OfTowers(value[key] for value in self.values)

    def __iter__(self):
        return iter([OfTowers(parts) for parts in zip(*self.values)])


def read_for_towers(reader, *args, **kwargs):
    """Call a reader of examples once for each tower, one call after the other."""
    return OfTowers(reader(*args, **kwargs) for _ in range(towers()))


def feed_for_towers(feed_dict):
    """Return a feed_dict in which each tower's placeholder is fed what the reader gave for that tower."""
    fed = {}
    for key, value in feed_dict.items():
        fed.update(zip(key.of_towers, value.values) if isinstance(value, OfTowers) else [(key, value)])
    return fed


def own_inputs(placeholders, gpu):
    """Return tower `gpu`'s own placeholders, None in place of a number of rows, and the tower's weight.

    The first tower has the script's placeholders. Later towers have copies, which feed_for_towers() feeds. A run that
    feeds the script's placeholders alone gives all towers the same example: their mean is what one tower computes.
    """
    with tf.device('/cpu:0'), tf.name_scope('own_inputs'):
        for first in placeholders:
            first.of_towers = getattr(first, 'of_towers', None) or [first]
            first.of_towers += [tf.identity(first) for _ in range(gpu + 1 - len(first.of_towers))]
        return [first.of_towers[gpu] for first in placeholders], None, 1.0 / towers()


def own_batches(tensors, gpu):
    """Return tower `gpu`'s own batches from the script's queue or iterator, None, and the tower's weight.

    The first tower has the script's tensors. For each later tower, the operation that takes a batch is made once more;
    it takes the next batch, after the tower before it took its own.
    """
    with tf.device('/cpu:0'), tf.name_scope('own_batches'):
        for op in [tensor.op for tensor in tensors]:
            if op.type not in TAKES:
                raise ValueError('%r is not what a queue, an iterator or a reader gave' % op.name)
            op.of_towers = getattr(op, 'of_towers', None) or [op]
            while len(op.of_towers) <= gpu:
                op.of_towers.append(take_again(op, op.of_towers[-1]))
    own = [tensor.op.of_towers[gpu].outputs[tensor.value_index] for tensor in tensors]
    for tensor, first in zip(own, tensors):
        tensor.set_shape(first.get_shape())
    return own, None, 1.0 / towers()


TAKES = ('IteratorGetNext', 'QueueDequeueV2', 'QueueDequeueManyV2', 'QueueDequeueUpToV2', 'ReaderReadV2')


def take_again(op, before):
    """Make an operation that takes a batch once more, to be run after `before`."""
    kinds = [output.dtype for output in op.outputs]
    settings = dict((key, op.node_def.attr[key]) for key in op.node_def.attr if not key.startswith('_'))
    with tf.control_dependencies([before]):
        return op.graph.create_op(op.type, list(op.inputs), kinds, name=op.name.split('/')[-1], attrs=settings)


def map_structure(function, *structures):
    """Call a function with the corresponding tensors of lists, tuples or dicts; return its results in the same nest."""
    first = structures[0]
    if isinstance(first, dict):
        return type(first)((key, map_structure(function, *[s[key] for s in structures])) for key in first)
    if isinstance(first, (list, tuple)):
        parts = [map_structure(function, *column) for column in zip(*structures)]
        return type(first)(*parts) if hasattr(first, '_fields') else type(first)(parts)
    return function(*structures)


def merge_fed(parts, name=None):
    """Concatenate the towers' parts of a tensor that the script feeds later; feed_towers() then feeds each part.

    `parts` has, for each tower, its tensor, the number of its rows, and its weight.
    """
    merged = tf.identity(tf.concat([part[:rows] for part, rows, _ in parts], 0), name=name)
    merged.tower_parts = parts
    return merged


def merge_shown(parts, name=None):
    """Merge a value that is only printed or logged, by its form.

    `parts` has, for each tower, its tensor, the number of its rows, and its weight. A tensor whose static shape has one
    entry for each row is concatenated, a number is averaged by rows; of anything else the first tower's is taken.
    Each tensor of a list, tuple or dict is merged by itself; `name` is then a function that gives its name.
    """
    values = [value for value, _, _ in parts]
    if isinstance(values[0], (list, tuple, dict)):
        return map_structure(lambda *of: merge_shown([(t,) + part[1:] for t, part in zip(of, parts)], name), *values)
    if not isinstance(values[0], tf.Tensor):
        return values[0]
    name = name(values[-1]) if callable(name) else name
    shapes = [value.get_shape() for value in values]
    alike = all(shape.ndims and shape[1:].is_fully_defined() and shape[1:] == shapes[0][1:] for shape in shapes)
    if alike and all(isinstance(rows, int) and value.get_shape().as_list()[0] == rows for value, rows, _ in parts):
        merged = tf.concat(values, 0)
    elif values[0].dtype.is_floating and all(shape.ndims == 0 for shape in shapes):
        merged = tf.add_n([value * tf.cast(weight, value.dtype) for value, _, weight in parts])
    else:
        merged = values[0]
    merged = tf.identity(merged, name=name)
    merged.only_shown = True
    return merged


def feed_towers(feed_dict):
    """Return a feed_dict in which a value for a tensor of merge_fed() is split into one feed for each tower."""
    fed = dict(feed_dict)
    for key, value in feed_dict.items():
        total = len(value) if hasattr(key, 'tower_parts') else 0
        for gpu, (part, rows, weight) in enumerate(getattr(key, 'tower_parts', [])):
            begin, end = shard_bounds(total, gpu)
            first = min(begin, total - 1)
            fed[part] = value[first : max(end, first + 1)]
            if not isinstance(rows, int):  # tensors: computed from other inputs, which may not be fed
                fed[rows], fed[weight] = end - begin, (end - begin) / float(total)
    return fed


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


class TowerAverages(object):
    """Lets only tower 0 make and update moving averages (tf.train.ExponentialMovingAverage); the others read them.

    An average is named after its tensor, so tower 0's tensors get the names that they have on one GPU.
    """

    def __init__(self):
        self.graph = tf.get_default_graph()
        self.prefix = self.scope()
        self.inner = ''  # the name scope in which tower 0 is built
        self.named = []  # tower 0's tensors, each with the same one under its plain name
        self.applied = []  # in order: values, their averages, the operation that updates these

    def scope(self):
        name = self.graph.get_name_scope()
        return name + '/' if name else ''

    def plain(self, value):
        for tensor, named in self.named:
            if tensor is value:
                return named
        if not isinstance(value, tf.Tensor) or not value.op.name.startswith(self.inner):
            return value
        with tf.name_scope(None):
            plain = self.prefix + value.op.name[len(self.inner) :]
            self.named.append((value, tf.identity(value, name=plain)))
        return self.named[-1][1]

    @contextlib.contextmanager
    def tower(self, gpu):
        kind = tf.train.ExponentialMovingAverage
        apply, average = kind.apply, kind.average
        applied, known = list(self.applied), []
        self.inner = self.inner or self.scope()

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


def sum_gradients(tower_grads):
    """Add each variable's gradients over the towers: return one list of (gradient, variable) pairs.

    `tower_grads` has what compute_gradients() returned in each tower. Each tower's loss was multiplied with the tower's
    share of the batch, so the sum is the mean gradient over the whole batch. Sparse gradients (tf.IndexedSlices, from
    embedding lookups) are concatenated and stay sparse.
    """
    summed = []
    for pairs in zip(*tower_grads):
        grads, var = [grad for grad, _ in pairs if grad is not None], pairs[0][1]
        with tf.device(var.device or None):  # add where the variable is stored
            if grads and all(isinstance(grad, tf.IndexedSlices) for grad in grads):
                values = tf.concat([grad.values for grad in grads], 0)
                indices = tf.concat([grad.indices for grad in grads], 0)
                total = tf.IndexedSlices(values, indices, grads[0].dense_shape)
            else:
                total = tf.add_n([tf.convert_to_tensor(grad) for grad in grads]) if grads else None
        summed.append((total, var))
    return summed


average_gradients = sum_gradients  # its name in the scripts that version 0.2.0 converted


def tower_gradients(optimizer, tower_losses, **kwargs):
    """Like optimizer.compute_gradients(loss), but each GPU computes the gradients of its own tower's loss.

    Returns one list of (gradient, variable) pairs: the sums over the towers.
    """
    tower_grads = []
    for gpu, loss in enumerate(tower_losses):
        with tf.device('/gpu:%d' % gpu), tf.name_scope('tower_%d/' % gpu):
            tower_grads.append(optimizer.compute_gradients(loss, **kwargs))
    return sum_gradients(tower_grads)


def tower_gradients_or_one_gpu(optimizer, tower_losses, **kwargs):
    """Like optimizer.compute_gradients(loss), but each GPU computes the gradients of its own tower's loss.

    Returns one list of (gradient, variable) pairs: the sums over the towers. With one GPU there are no towers.
    """
    if towers() == 1:
        return optimizer.compute_gradients(tower_losses[0], **kwargs)
    tower_grads = []
    for gpu, loss in enumerate(tower_losses):
        with tf.device('/gpu:%d' % gpu), tf.name_scope('tower_%d/' % gpu):
            tower_grads.append(optimizer.compute_gradients(loss, **kwargs))
    return sum_gradients(tower_grads)


class TowerOptimizer(tf.train.Optimizer):
    """Hands the towers' gradients to a library function that calls optimizer.compute_gradients(loss) itself.

    `optimizer` is the script's own, which applies them; `tower_losses` has each tower's loss.
    """

    def __init__(self, optimizer, tower_losses):
        tf.train.Optimizer.__init__(self, False, type(optimizer).__name__)
        self.optimizer = optimizer
        self.tower_losses = tower_losses

    def compute_gradients(self, loss, var_list=None, **kwargs):
        return tower_gradients_or_one_gpu(self.optimizer, self.tower_losses, var_list=var_list, **kwargs)

    def apply_gradients(self, *args, **kwargs):
        return self.optimizer.apply_gradients(*args, **kwargs)


def gradients_of_towers(tower_losses, variables, *args, **kwargs):
    """Like tf.gradients(loss, variables), but each GPU computes the gradients of its own tower's loss.

    Returns one gradient for each variable: the sum over the towers.
    """
    variables = list(variables) if isinstance(variables, (list, tuple)) else [variables]
    tower_grads = []
    for gpu, loss in enumerate(tower_losses):
        with tf.device('/gpu:%d' % gpu), tf.name_scope('tower_%d/' % gpu):
            tower_grads.append(zip(tf.gradients(loss, variables, *args, **kwargs), variables))
    return [grad for grad, _ in sum_gradients(tower_grads)]


def gradients_of_towers_or_one_gpu(tower_losses, variables, *args, **kwargs):
    """Like tf.gradients(loss, variables), but each GPU computes the gradients of its own tower's loss.

    Returns one gradient for each variable: the sum over the towers. With one GPU there are no towers.
    """
    if towers() == 1:
        return tf.gradients(tower_losses[0], variables, *args, **kwargs)
    variables = list(variables) if isinstance(variables, (list, tuple)) else [variables]
    tower_grads = []
    for gpu, loss in enumerate(tower_losses):
        with tf.device('/gpu:%d' % gpu), tf.name_scope('tower_%d/' % gpu):
            tower_grads.append(zip(tf.gradients(loss, variables, *args, **kwargs), variables))
    return [grad for grad, _ in sum_gradients(tower_grads)]


def weigh_losses(tower_losses, tower_counts):
    """Weight the towers' losses, each a mean over unmasked entries, by the towers' numbers of unmasked entries.

    The sum of the weighted losses is then the mean over the unmasked entries of the whole batch.
    """
    total = tf.maximum(tf.add_n(tower_counts), 1e-30)
    return [loss * tf.cast(count / total, loss.dtype) for loss, count in zip(tower_losses, tower_counts)]


def merge_loss(tower_losses, name=None):
    """Add the towers' weighted losses: the loss of the whole batch.

    The sum keeps them as its attribute `tower_losses`, for tower_gradients() where the script minimises the sum.
    """
    loss = tf.add_n(tower_losses, name=name)
    loss.tower_losses = tower_losses
    return loss


def keep_losses(loss, tower_losses):
    """Return `loss`, which has the values of all towers side by side and is minimised in another function.

    It keeps the towers' weighted losses as its attribute `tower_losses`, for tower_gradients() there.
    """
    loss.tower_losses = tower_losses
    return loss


def keep_parts(merged, parts):
    """Return `merged`, a tensor of the whole batch, which keeps what each tower made: see part_of_tower()."""
    merged.tower_parts = parts
    return merged


class HandedOn(object):
    """Stands for the lists, or dicts, that the towers made at one place and that only a later loop of towers reads."""

    def __init__(self, tower_parts):
        self.tower_parts = tower_parts


def hand_on(tower_parts):
    """Return an object that keeps what each tower made for part_of_tower(); of a single tower that itself."""
    return HandedOn(tower_parts) if len(tower_parts) > 1 else tower_parts[0]


def part_of_tower(merged, gpu):
    """Return what tower `gpu` made of a tensor of the whole batch, for a function that goes on with the towers."""
    return getattr(merged, 'tower_parts', [merged])[gpu]
