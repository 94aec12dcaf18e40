"""The cost of an executed step: bytes that crossed devices, and floating point operations by device.

Read from the RunMetadata of a step that was traced in full, with its partitioned graphs.
"""

from __future__ import absolute_import, division, print_function

import collections
import re

from tmgprobe.graph import graphs

ARGUMENT = re.compile(r'^_arg_(.+)_\d+_\d+$')
HOST = 'cpu:0'
PASSES = ('Identity', 'ReadVariableOp', 'Enter', 'RefEnter', 'Switch', 'RefSwitch')
LOOKUPS = ('Gather', 'GatherV2', 'ResourceGather')


class NodeTrace(object):
    """The nodes that ran.

    runs: {device: {node name: executions}}; shapes: {(node name, slot): shape of the last execution};
    sent: {(node name, slot): bytes of all executions}.
    """

    def __init__(self, tf, metadata):
        self.runs, self.shapes, self.sent = {}, {}, {}
        for device, name, node in graphs.ran(metadata):
            runs = self.runs.setdefault(device, {})
            runs[name] = runs.get(name, 0) + 1
            for output in node.output:
                described = output.tensor_description
                key = name, output.slot
                self.shapes[key] = [dim.size for dim in described.shape.dim]
                self.sent[key] = self.sent.get(key, 0) + size(tf, described)


def size(tf, described):
    """The bytes of a tensor in a trace."""
    kind = tf.as_dtype(described.dtype).base_dtype
    if kind.name in ('string', 'variant', 'resource'):
        return described.allocation_description.requested_bytes
    return count(dim.size for dim in described.shape.dim) * kind.size


def count(dims):
    """The number of elements."""
    result = 1
    for dim in dims:
        result *= dim
    return result


# bytes


def edges(step, arrays, trace, metadata):
    """The tensors that crossed devices, [{'source', 'target', 'tensor', 'kind', 'bytes'}], and what could not be sized.

    A tensor that several operations of a device read crosses once, one in a loop once in each round.
    kind: 'parameters', 'gradients', 'inputs' (a batch on its way to a tower) or 'other'.
    """
    kinds, found, unsized = Kinds(step, arrays), [], set()
    for part in metadata.partition_graphs:
        for node in part.node:
            if node.op not in ('_Send', '_HostSend') or node.attr['client_terminated'].b:
                continue
            name, _, slot = node.input[0].partition(':')
            source, target = (place(node.attr[end].s) for end in ('send_device', 'recv_device'))
            if name.startswith('^') or source == target:
                continue
            sent = trace.sent.get((name, int(slot or 0)))
            if sent is None and name in trace.runs.get(source, {}):
                unsized.add(name)
            found.append(
                {
                    'source': source,
                    'target': target,
                    'tensor': name,
                    'kind': kinds.of(name, source),
                    'bytes': sent or 0,
                }
            )
    return found, sorted(unsized)


def place(device):
    """The short name of a device: `cpu:1`."""
    return graphs.DEVICE.search(device.decode() if isinstance(device, bytes) else device).group(1).lower()


class Kinds(object):
    """Tells what a tensor that crosses devices is to the training step."""

    def __init__(self, step, arrays):
        inside = step.operations
        fed = [step.graph.as_graph_element(name) for name in arrays] + step.sources
        raw = [tensor for group in step.groups for tensor in graphs.tensors(*group.raw)]
        self._named = {op.name: op for op in step.graph.get_operations()}
        self._fed = graphs.descendants(fed, inside) | {tensor.op for tensor in fed}
        self._gradients = graphs.descendants(raw, inside) | step.differentiating

    def of(self, name, source):
        """The kind of a node's output that leaves the device `source`."""
        if ARGUMENT.match(name):
            return 'inputs'
        op = self._named.get(name)
        if op is None:
            return 'other'
        if op in self._gradients:
            return 'gradients'
        if is_parameter(op):
            return 'parameters'
        return 'inputs' if op in self._fed and source == HOST else 'other'


def is_parameter(op):
    """Whether an operation does nothing but hand on a variable's value, or rows of it."""
    while op.type in PASSES + LOOKUPS and len(op.inputs):
        op = op.inputs[0].op
    return op.type in graphs.HANDLES


# floating point operations


def flops(graph, arrays, trace):
    """{device: operations} by the statistics of tf.profiler at the shapes that ran, and {type: nodes} without one."""
    shapes = dict(trace.shapes)
    shapes.update({tuple_of(name): list(value.shape) for name, value in arrays.items()})
    known, ran = KnownShapes(graph, shapes), set().union(*trace.runs.values()) if trace.runs else set()
    each, types = {}, {}
    for op in graph.get_operations():
        if op.name in ran:
            types[op.name] = op.type
            each[op.name] = counted(known, op) or own_count(known, op)
    found, without = {}, {}
    for device, runs in trace.runs.items():
        found[device] = sum(each.get(name, 0) * times for name, times in runs.items())
        for name in runs:
            if graphs.HEAVY.search(types.get(name, '')) and not each.get(name):
                without[types[name]] = without.get(types[name], 0) + 1
    return found, without


def tuple_of(name):
    """A tensor's name as (operation, slot)."""
    operation, _, slot = name.partition(':')
    return operation, int(slot or 0)


# A tensor, as far as the statistics of TensorFlow ask for it.
Shaped = collections.namedtuple('Shaped', 'get_shape')


class KnownShapes(object):
    """Stands for a graph to the statistics of TensorFlow, with the shapes that ran; the graph itself is not copied.

    shapes: {(operation, slot): its dimensions}. In a loop the last round's may contradict what is known: that stays.
    """

    def __init__(self, graph, shapes):
        self._graph, self._shapes = graph, shapes

    def get_tensor_by_name(self, name):
        """What has the completed shape of a tensor."""
        shape = self.of(self._graph.get_tensor_by_name(name))
        return Shaped(lambda: shape)

    def of(self, tensor):
        """The completed shape of a tensor."""
        static, ran = tensor.get_shape(), self._shapes.get((tensor.op.name, tensor.value_index))
        if ran is None:
            return static
        try:
            return static.merge_with(ran)
        except ValueError:
            return static


def counted(known, op):
    """The floating point operations of one execution as tf.profiler counts them; 0 where it has no statistic."""
    from tensorflow.python.framework import ops
    from tensorflow.python.profiler.internal import flops_registry  # noqa: F401  makes the statistics known

    try:
        ops._stats_registry.lookup(op.type + ',flops')  # to make an operation's definition takes longer
    except LookupError:
        return 0
    try:
        return int(ops.get_stats_for_node_def(known, op.node_def, 'flops').value or 0)
    except ValueError:  # a shape that is not known even now
        return 0


def own_count(known, op):
    """The same for convolutions' gradients that tf.profiler has no statistic for.

    A gradient of a convolution multiplies and adds as often as the convolution: for every element of
    its output once with each weight that reaches it.
    """
    weights = WEIGHTS.get(op.type)
    if weights is None:
        return 0
    output = known.of(op.inputs[2])
    filters = known.of(op.outputs[0] if weights == 'output' else op.inputs[1])
    if not output.is_fully_defined() or not filters.is_fully_defined():
        return 0
    filters, dims = filters.as_list(), output.as_list()
    per_element = count(filters[:2]) if op.type.startswith('Depthwise') else count(filters[:-1])
    return 2 * count(dims) * per_element


# where the filters of each operation are found
WEIGHTS = {
    'DepthwiseConv2dNativeBackpropInput': 'input',
    'DepthwiseConv2dNativeBackpropFilter': 'output',
    'Conv3DBackpropInputV2': 'input',
    'Conv3DBackpropFilterV2': 'output',
}
