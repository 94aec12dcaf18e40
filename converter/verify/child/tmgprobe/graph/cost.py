"""The cost of an executed step: bytes that crossed devices, and floating point operations by device.

Read from the RunMetadata of a step that was traced in full, with its partitioned graphs.
"""

from __future__ import absolute_import, division, print_function

import re

from tmgprobe.graph import graphs

DEVICE = re.compile(r'(?i)device:(cpu:\d+)$')
ARGUMENT = re.compile(r'^_arg_(.+)_\d+_\d+$')
HOST = 'cpu:0'
PASSES = ('Identity', 'ReadVariableOp', 'Enter', 'RefEnter', 'Switch', 'RefSwitch')
LOOKUPS = ('Gather', 'GatherV2', 'ResourceGather')


class Trace(object):
    """The nodes that ran.

    runs: {device: {node name: executions}}; shapes: {(node name, slot): shape of the last execution};
    sent: {(node name, slot): bytes of all executions}.
    """

    def __init__(self, tf, metadata):
        self.runs, self.shapes, self.sent = {}, {}, {}
        for device in metadata.step_stats.dev_stats:
            place = DEVICE.search(device.device)
            for node in device.node_stats if place else ():
                name = node.node_name.split(':')[0]
                runs = self.runs.setdefault(place.group(1).lower(), {})
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
    return DEVICE.search(device.decode() if isinstance(device, bytes) else device).group(1).lower()


class Kinds(object):
    """Tells what a tensor that crosses devices is to the training step."""

    def __init__(self, step, arrays):
        inside = step.operations
        fed = [step.graph.as_graph_element(name) for name in arrays] + step.sources
        raw = [tensor for group in step.groups for given in group.raw for tensor in graphs.tensors(given)]
        self._spans = [(group.first, group.last) for group in step.groups]
        self._named = {op.name: (order, op) for order, op in enumerate(step.graph.get_operations())}
        self._fed = graphs.descendants(fed, inside) | {tensor.op for tensor in fed}
        self._gradients = graphs.descendants(raw, inside)

    def of(self, name, source):
        """The kind of a node's output that leaves the device `source`."""
        if ARGUMENT.match(name):
            return 'inputs'
        order, op = self._named.get(name, (None, None))
        if op is None:
            return 'other'
        if op in self._gradients or any(first <= order < last for first, last in self._spans):
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


def flops(tf, graph, arrays, trace):
    """{device: operations} by tf.profiler's statistics at the shapes that ran, and {type: nodes} without one."""
    copy = tf.Graph()
    with copy.as_default():
        tf.import_graph_def(graph.as_graph_def(), name='')
    shapes = dict(trace.shapes)
    shapes.update({tuple_of(name): list(value.shape) for name, value in arrays.items()})
    for op in copy.get_operations():
        for slot, tensor in enumerate(op.outputs):
            if (op.name, slot) in shapes:
                settle(tensor, shapes[op.name, slot])
    each = statistics(tf, copy)
    each.update(own_count(copy, trace, each))
    found, without = {}, {}
    types = {op.name: op.type for op in copy.get_operations()}
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


def settle(tensor, shape):
    """Completes a static shape; in a loop the last round's may contradict what is known."""
    try:
        tensor.set_shape(shape)
    except ValueError:
        pass


def statistics(tf, graph):
    """{operation: floating point operations of one execution} as tf.profiler counts them."""
    options = tf.profiler.ProfileOptionBuilder(tf.profiler.ProfileOptionBuilder.float_operation())
    tree = tf.profiler.profile(graph, cmd='graph', options=options.with_empty_output().build())
    found, todo = {}, [tree]
    while todo:
        node = todo.pop()
        if node.float_ops:
            found[node.name] = node.float_ops
        todo.extend(node.children)
    return found


def own_count(graph, trace, counted):
    """The same for convolutions' gradients that tf.profiler has no statistic for.

    A gradient of a convolution multiplies and adds as often as the convolution: for every element of
    its output once with each weight that reaches it.
    """
    found, ran = {}, set().union(*trace.runs.values()) if trace.runs else set()
    for op in graph.get_operations():
        weights = WEIGHTS.get(op.type)
        if op.name not in ran or op.name in counted or weights is None:
            continue
        output = op.inputs[2].get_shape()
        filters = op.outputs[0].get_shape() if weights == 'output' else op.inputs[1].get_shape()
        if output.is_fully_defined() and filters.is_fully_defined():
            filters, dims = filters.as_list(), output.as_list()
            per_element = count(filters[:2]) if op.type.startswith('Depthwise') else count(filters[:-1])
            found[op.name] = 2 * count(dims) * per_element
    return found


# where the filters of each operation are found
WEIGHTS = {
    'DepthwiseConv2dNativeBackpropInput': 'input',
    'DepthwiseConv2dNativeBackpropFilter': 'output',
    'Conv3DBackpropInputV2': 'input',
    'Conv3DBackpropFilterV2': 'output',
}
