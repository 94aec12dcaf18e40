"""Where variables and towers are placed."""
import tensorflow as tf

NUM_GPUS = 2


def tower_device(gpu):
    """Places variables on the CPU and everything else on one GPU; a device chosen by the model stays."""
    def place(op):
        if op.device:
            return op.device
        return '/cpu:0' if op.type in ('Variable', 'VariableV2', 'VarHandleOp') else '/gpu:%d' % gpu
    return place


def variable_device(op):
    """Places variables on the CPU."""
    return '/cpu:0' if op.type in ('Variable', 'VariableV2', 'VarHandleOp') and not op.device else op.device


def tower_device_gpu_0(gpu):
    """Places variables on the first GPU and everything else on the tower's."""
    def place(op):
        if op.device:
            return op.device
        return '/gpu:%d' % (0 if op.type in ('Variable', 'VariableV2', 'VarHandleOp') else gpu)
    return place


def variable_device_gpu_0(op):
    """Places variables on the first GPU."""
    return '/gpu:0' if op.type in ('Variable', 'VariableV2', 'VarHandleOp') and not op.device else op.device


VARIABLE_BYTES = {}  # number of a GPU -> bytes of the variables that it holds


def tower_device_balanced(gpu):
    """Spreads variables over the GPUs and places everything else on the tower's."""
    def place(op):
        return variable_device_balanced(op) or '/gpu:%d' % gpu
    return place


def variable_device_balanced(op):
    """Places a variable on the GPU that holds the fewest bytes of them so far."""
    if op.device or op.type not in ('Variable', 'VariableV2', 'VarHandleOp'):
        return op.device
    least = min(range(NUM_GPUS), key=lambda i: VARIABLE_BYTES.get(i, 0))
    size = 1
    for dim in op.get_attr('shape').dim:
        size *= max(dim.size, 1)
    VARIABLE_BYTES[least] = VARIABLE_BYTES.get(least, 0) + size * tf.as_dtype(op.get_attr('dtype')).size
    return '/gpu:%d' % least
