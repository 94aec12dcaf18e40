"""Where variables and towers are placed."""
import contextlib

import tensorflow as tf

NUM_GPUS = 2


def is_variable(op):
    return op.type in ('Variable', 'VariableV2', 'VarHandleOp')


def tower_device(gpu):
    """Places variables on the CPU and everything else on one GPU; what the model puts on a CPU stays there."""
    def place(op):
        if 'cpu' in op.device.lower():
            return op.device
        return '/cpu:0' if is_variable(op) else '/gpu:%d' % gpu
    return place


@contextlib.contextmanager
def enter_tower(gpu, place, *contexts):
    """Enters the device, the scopes and the contexts of a tower; nothing where the model is built for one GPU."""
    if NUM_GPUS == 1:
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
    def place(op):
        if 'cpu' in op.device.lower():
            return op.device
        return '/gpu:%d' % (0 if is_variable(op) else gpu)
    return place


def variable_device_gpu_0(op):
    """Places variables on the first GPU."""
    return '/gpu:0' if is_variable(op) and not op.device else op.device


VARIABLE_BYTES = {}  # number of a GPU -> bytes of the variables that it holds


def tower_device_balanced(gpu):
    """Spreads variables over the GPUs and places everything else on the tower's."""
    def place(op):
        device = variable_device_balanced(op).lower()
        return device if 'cpu' in device or is_variable(op) else '/gpu:%d' % gpu
    return place


def variable_device_balanced(op):
    """Places a variable on the GPU that holds the fewest bytes of them so far."""
    if op.device or not is_variable(op):
        return op.device
    least = min(range(NUM_GPUS), key=lambda i: VARIABLE_BYTES.get(i, 0))
    size = 1
    for dim in op.get_attr('shape').dim:
        size *= max(dim.size, 1)
    VARIABLE_BYTES[least] = VARIABLE_BYTES.get(least, 0) + size * tf.as_dtype(op.get_attr('dtype')).size
    return '/gpu:%d' % least
