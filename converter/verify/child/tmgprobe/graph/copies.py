"""Copies of variables that are read on another device than the one that holds them.

A plain (ref) variable hands out its buffer: who computes from `w/read` on the same device, behind an update, reads the
new value. Between GPUs, or from the CPU's memory to a GPU's, the value is copied as soon as it is there: at the start
of a run. Virtual devices are all in one memory, and TensorFlow passes tensors between them without a copy
(SameWorkerRecvDone of common_runtime/rendezvous_mgr.cc, 1.15), so that an order which GPUs lose would seem kept. Here
each device other than the variable's reads a copy, which is made before the variable is updated. A resource variable
needs none: an update leaves alone what was read before (PrepareToUpdateVariable, training_op_helpers.h).
"""

from __future__ import absolute_import, division, print_function

import re

from tmgprobe.graph import graphs

SCOPE = 'tf_multigpu_probe_copies/'
CPU = re.compile(r'(?i)cpu:(\d+|\*)')
REFS = ('VariableV2', 'Variable')
DEFAULT = '1'  # what names no device runs on the first GPU, the first device behind the CPU


class Copies(object):
    """Puts the copies into a graph, each time that it has grown."""

    def __init__(self, tf, graph):
        self.tf, self.graph = tf, graph
        self._version, self._seen, self._variables, self._made = None, 0, [], {}

    def renew(self):
        """Copies for the operations that are new since the last call, none of which has run yet."""
        if self._version == self.graph.version:
            return
        listed = self.graph.get_operations()
        new = set(listed[self._seen :])
        made = [op for op in listed[self._seen :] if op.type in REFS]
        # what has whole numbers often has no kernel for GPUs
        self._variables += [op for op in made if op.outputs[0].dtype.base_dtype.is_floating]
        for variable in self._variables:
            for tensor, user in _read_elsewhere(variable):
                if user in new:
                    self._pass(variable, tensor, user)
        self._seen, self._version = len(self.graph.get_operations()), self.graph.version

    def _pass(self, variable, tensor, user):
        """Gives `user` the copy for its device in place of this tensor."""
        key = tensor.name, place(user)
        if key not in self._made:
            self._made[key] = self._copy(variable, tensor)
        copy, updates = self._made[key]
        for update in updates:
            update._add_control_input(copy.op)
        self._made[key] = copy, []
        for index, given in enumerate(user.inputs):
            if given is tensor or given.name == tensor.name:
                user._update_input(index, copy)

    def _copy(self, variable, tensor):
        """A copy, and the updates that are to wait for it: none where it waits for another update itself."""
        graph = self.graph
        with graph.as_default(), graph.control_dependencies(None), graph.device(None), graph.name_scope(SCOPE):
            copy = copied(self.tf, tensor)
        copy.op._set_device(variable.device)
        if graphs.written(graphs.ancestors([tensor.op])):
            return copy, []
        optimizing = [op for op in graph.get_operations()[self._seen :] if 'Apply' in op.type and len(op.inputs)]
        return copy, [op for op in optimizing if op.inputs[0].op is variable]


def copied(tf, tensor):
    """A tensor of the same values in memory of its own, through which gradients pass."""
    from tensorflow.python.framework import ops
    from tensorflow.python.ops import gen_array_ops

    if not hasattr(gen_array_ops, 'deep_copy'):  # before 1.9
        return tf.multiply(tensor, tf.ones([], tensor.dtype.base_dtype))
    try:
        ops.RegisterGradient('DeepCopy')(lambda _, gradient: gradient)
    except KeyError:
        pass  # registered before
    return gen_array_ops.deep_copy(tensor)


def place(operation):
    """On which device an operation runs: the number of a virtual one."""
    found = CPU.search(operation.device)
    return found.group(1).replace('*', '0') if found else DEFAULT


def _read_elsewhere(variable):
    """[(tensor that is the variable's buffer, operation on another device that reads it)]."""
    found, ahead, home = [], list(variable.outputs), place(variable)
    beside = b'loc:@' + variable.name.encode()  # of what runs where the variable is: its reads, or as it was asked to
    while ahead:
        tensor = ahead.pop()
        for user in tensor.consumers():
            if tensor.dtype._is_ref_dtype and user.type != 'Identity':
                continue  # it takes the variable itself, and runs where that is
            if place(user) != home and beside not in user.colocation_groups():
                found.append((tensor, user))
            elif user.type in graphs.PASSING and user.inputs[0] is tensor:
                ahead.extend(user.outputs)
    return found
