"""Where variables and towers are placed."""

import contextlib

import tensorflow as tf

NUM_GPUS = 2


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
    if NUM_GPUS == 1:
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
    return '/cpu:0' if NUM_GPUS > 1 and is_variable(op) and not op.device else op.device


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
    return '/gpu:0' if NUM_GPUS > 1 and is_variable(op) and not op.device else op.device


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
    if NUM_GPUS == 1 or op.device or not is_variable(op):
        return op.device
    least = min(range(NUM_GPUS), key=lambda i: VARIABLE_BYTES.get(i, 0))
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
    if NUM_GPUS == 1 or op.device or not is_variable(op):
        return op.device
    name, _, number = op.name.rpartition('/part_')
    home = min(range(NUM_GPUS), key=lambda i: VARIABLE_BYTES.get(i, 0))
    if number.isdigit():
        home = (FIRST_SLICES.setdefault(name, home) + int(number)) % NUM_GPUS
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
    if shape.num_elements() * tf.as_dtype(dtype or tf.float32).size < SLICE_BYTES * NUM_GPUS or NUM_GPUS == 1:
        return None
    even = [axis for axis, size in enumerate(sizes) if -(-size // NUM_GPUS) * NUM_GPUS <= 1.05 * size]
    cut = 0 if by_rows else even[-1] if even else sizes.index(max(sizes))
    return [NUM_GPUS if axis == cut else 1 for axis in range(len(sizes))] if sizes[cut] >= NUM_GPUS else None


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
