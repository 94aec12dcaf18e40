"""Questions about a TensorFlow 1.x graph: which operations depend on others, what is fed, which variables it has."""

from __future__ import absolute_import, division, print_function

import contextlib
import re
import threading

import numpy as np
from tmgprobe.values import slices
from tmgprobe.values.lazy import reached

PACKED = 'DeserializeSparse'  # takes apart the one tensor in which a dataset hands on a sparse one
SOURCES = (
    'IteratorGetNext', 'IteratorGetNextSync', 'IteratorGetNextAsOptional', 'ReaderReadUpToV2', 'ReaderReadUpTo',
    'QueueDequeueV2', 'QueueDequeueManyV2', 'QueueDequeueUpToV2',
    'QueueDequeue', 'QueueDequeueMany', 'QueueDequeueUpTo',
)
WAITING = ('QueueSize', 'QueueSizeV2')  # what a queue holds depends on how fast its threads are
HANDLES = ('VariableV2', 'Variable', 'VarHandleOp', 'TemporaryVariable')
HANDED_ON = ('Identity', 'Enter', 'RefEnter', 'RefIdentity', 'Switch', 'RefSwitch')
SLICES = ('StridedSlice', 'Slice', 'SparseSlice', 'Split', 'SplitV', 'Gather', 'GatherV2', 'DynamicPartition')
PASSING = ('Identity', 'Reshape', 'Squeeze', 'ExpandDims')  # they pass on their input's buffer
HEAVY = re.compile(r'MatMul|Conv[123]D|DepthwiseConv|FusedBatchNorm|Einsum|LSTMBlock|Lookup|Cudnn')
TOWER = re.compile(r'(?:^|/)tower_\d+/')


def ancestors(operations, fed=()):
    """Every operation that must run for these to run, themselves included; a fed operation needs none."""
    return reached(operations, lambda operation: () if operation in fed else needed(operation))


def needed(operation):
    """The operations that must run right before this one."""
    return [tensor.op for tensor in operation.inputs] + list(operation.control_inputs)


def is_taken_again(operation):
    """Whether an operation gives a batch of which a tower takes another one, by an operation of its own."""
    if operation.type not in SOURCES or TOWER.search(operation.name):
        return False
    names = [tensor.name for tensor in operation.inputs]
    alike = (one for one in operation.graph.get_operations() if one.type == operation.type and one is not operation)
    return any(TOWER.search(one.name) and [tensor.name for tensor in one.inputs] == names for one in alike)


def computed_from(operations):
    """Every operation from whose results these compute, themselves included: not those that they only wait for."""
    return reached(operations, lambda operation: [tensor.op for tensor in operation.inputs])


def counts_waiting(operation):
    """Whether a value is computed from how many elements wait in a queue."""
    return any(one.type in WAITING for one in computed_from([operation]))


def descendants(tensors, within):
    """The operations of `within` that compute with these tensors, directly or not."""
    consumers = {}
    for operation in within:
        for tensor in operation.inputs:
            consumers.setdefault(tensor.name, []).append(operation)

    def using(tensors):
        return [operation for tensor in tensors for operation in consumers.get(tensor.name, ())]

    return reached(using(tensors), lambda operation: using(operation.outputs))


def seeds(graph, group):
    """The names of the constants 1 with which the gradients of a group's losses begin."""
    made = graph.get_operations()[group.first : group.last]
    filled = [operation.inputs[1] for operation in made if operation.type == 'Fill'][: len(group.losses)]
    return [value.name for value in filled if value.op.type == 'Const' and graph.is_feedable(value)]


def parts(gradient):
    """A gradient as None, a tensor, or a pair (values, indices)."""
    if gradient is not None and hasattr(gradient, 'indices') and hasattr(gradient, 'values'):
        return gradient.values, gradient.indices
    return gradient


def tensors(*gradients):
    """The tensors of gradients in any form: none, one, or values and indices of each."""
    found = []
    for one in map(parts, gradients):
        found += [] if one is None else list(one) if isinstance(one, tuple) else [one]
    return found


def elements(graph, fetches, values=None):
    """The graph elements of a fetch structure in order, each with its value (None without values)."""
    if fetches is None:
        return []
    if isinstance(fetches, dict) or hasattr(fetches, 'keys'):
        # the same order in both processes: hooks of a session, which are keys too, by their kind
        keys = sorted(fetches.keys(), key=lambda key: key if hasattr(key, 'upper') else type(key).__name__)
        fetches, values = [fetches[key] for key in keys], values and [values[key] for key in keys]
    if isinstance(fetches, (list, tuple)):
        each = [None] * len(fetches) if values is None else values
        return [pair for fetch, value in zip(fetches, each) for pair in elements(graph, fetch, value)]
    if hasattr(fetches, 'dense_shape') and hasattr(fetches, 'indices') and hasattr(fetches, 'values'):
        return [(fetches.values, None), (fetches.indices, None)]
    return [(graph.as_graph_element(fetches, allow_tensor=True, allow_operation=True), values)]


def scalars(pairs):
    """{place: number} of the elements, each with its value, that are single numbers."""
    return {
        place: float(value)
        for place, (_, value) in enumerate(pairs)
        if hasattr(value, 'dtype') and np.ndim(value) == 0 and value.dtype.kind in 'fiu'
    }


def towers(graph):
    """How many towers the scopes of a graph's operations name."""
    found = (TOWER.search(operation.name) for operation in graph.get_operations())
    return len({scope.group().strip('/') for scope in found if scope is not None})


DEVICE = re.compile(r'(?i)device:([cg]pu:\d+)$')


def ran(metadata):
    """[(device, name of the operation, node)] of a traced run: what each device ran."""
    for stats in metadata.step_stats.dev_stats:
        place = DEVICE.search(stats.device)
        for node in stats.node_stats if place else ():
            yield place.group(1).lower(), node.node_name.split(':')[0], node


def operation_of(element):
    """The operation behind a fetched element."""
    return element.op if hasattr(element, 'op') else element


def feeds(graph, feed_dict):
    """A feed as {tensor name: array}; sparse ones as their components."""
    result = {}
    for key, value in (feed_dict or {}).items():
        for part, item in _fed_parts(key, value):
            tensor = graph.as_graph_element(part, allow_tensor=True, allow_operation=False)
            # a copy: a script may fill the same array with its next batch
            result[tensor.name] = np.array(item, dtype=tensor.dtype.as_numpy_dtype)
    return result


def sparse_feeds(graph, feed_dict):
    """The sparse tensors among what is fed: the names of each one's indices, values and shape."""
    result, todo = [], list(feed_dict or ())
    while todo:
        key = todo.pop()
        if hasattr(key, 'dense_shape') and hasattr(key, 'indices'):
            parts = (key.indices, key.values, key.dense_shape)
            result.append([graph.as_graph_element(part).name for part in parts])
        elif isinstance(key, (list, tuple)):
            todo.extend(key)
    return result


def _fed_parts(key, value):
    """What is fed under one key, tensor by tensor: keys may be sparse, or tuples such as the state of a cell."""
    if hasattr(key, 'dense_shape') and hasattr(key, 'indices'):
        return list(zip([key.indices, key.values, key.dense_shape], value))
    if isinstance(key, (list, tuple)):
        return [pair for part, item in zip(key, value) for pair in _fed_parts(part, item)]
    return [(key, value)]


DIVISIONS = ('RealDiv', 'Div', 'DivNoNan')
# What a loss goes through from its mean over what a mask leaves to where it is differentiated.
THROUGH = ('Add', 'AddV2', 'AddN', 'Mul', 'Sub', 'Identity', 'Cast', 'Select', 'SelectV2', 'Reshape', 'Squeeze')


def divisors(loss, batched):
    """The numbers of unmasked examples by which losses are divided: [(tensor, whether its numbers are counted)].

    Either a number made of the batch by which the loss is divided, or what tf.boolean_mask leaves, of which the loss
    is the mean. batched: the operations that depend on the batch.
    """
    found, seen, ahead, within = [], set(), [loss.op], set(batched)
    while ahead:
        operation = ahead.pop()
        if operation in seen or operation not in within:
            continue
        seen.add(operation)
        if operation.type in DIVISIONS and operation.inputs[1].op in batched:
            if operation.inputs[1].get_shape().num_elements() == 1:
                found.append((operation.inputs[1], False))
        elif operation.type == 'Mean' and 'Where' in {one.type for one in ancestors([operation.inputs[0].op]) & within}:
            found.append((operation.inputs[0], True))  # of the rows that a mask of the batch selects
        elif operation.type in THROUGH:
            ahead.extend(tensor.op for tensor in operation.inputs)
    return found


def summed(divisor, batched):
    """The sums over the batch of which a divisor is made, as of `tf.maximum(tf.reduce_sum(mask), 1)`; None if of more.

    batched: the operations that depend on the batch.
    """
    found, ahead = [], [divisor]
    while ahead:
        tensor = ahead.pop()
        if tensor.op not in batched:
            continue
        if tensor.op.type == 'Sum':
            found.append(tensor)
        elif tensor.op.type in THROUGH + ('Maximum', 'Minimum'):
            ahead.extend(tensor.op.inputs)
        else:
            return None
    return found


def is_quotient(loss, divisor):
    """Whether a loss is something divided by this divisor, and no more."""
    operation = loss.op
    while operation.type in ('Identity', 'Reshape', 'Squeeze'):
        operation = operation.inputs[0].op
    return operation.type in DIVISIONS and operation.inputs[1] is divisor


def mask_widths(batched):
    """The largest lengths by which masks are as wide as the longest example of their batch.

    That is `tf.sequence_mask(lengths)` without `maxlen` (array_ops.py, 1.15): a range up to the maximum of 0 and the
    largest length. batched: the operations that depend on the batch.
    """
    found = []
    for operation in batched:
        end = operation.inputs[1].op if operation.type == 'Range' else None
        if end is not None and end.type == 'Maximum' and end.inputs[1].op.type == 'Max':
            found.append(end.inputs[1])
    return sorted(found, key=lambda tensor: tensor.name)


def masked_entries(operations):
    """For each `tf.boolean_mask` among these operations its flat mask, and the entries that it picks from."""
    found = []
    for operation in operations:
        if operation.type in ('Gather', 'GatherV2'):
            index = operation.inputs[1].op
            index = index.inputs[0].op if index.type == 'Squeeze' else index
            if index.type == 'Where':
                found.append((index.inputs[0], operation.inputs[0]))
    return found


def static_shape(tensor):
    """The static shape of a tensor or variable as a list with None for what is open; None where the rank is."""
    shape = tensor.get_shape()
    return None if shape.ndims is None else shape.as_list()


def sources(operations):
    """The tensors through which datasets and queues give data to these operations, in order of creation.

    Where a queue gives the number of a step and the batch is a slice of the data at that place, it is the slice.
    """
    operations = set(operations)
    graphs = [op.graph for op in operations if op.type in SOURCES][:1]
    found = [
        tensor
        for graph in graphs
        for op in graph.get_operations()
        if op.type in SOURCES and op in operations
        for tensor in op.outputs
    ]
    parts = [_windows(tensor, operations) or _sparse_parts(tensor, operations) or [tensor] for tensor in found]
    return [tensor for group in parts for tensor in group]


def _sparse_parts(tensor, within):
    """Indices, values and shape of the sparse tensor that a dataset gives in one piece; nothing for any other."""
    if tensor.dtype.base_dtype.name != 'variant':
        return []
    return [part for op in tensor.consumers() if op.type == PACKED and op in within for part in op.outputs]


def sparse_sources(tensors):
    """The sparse tensors among what datasets give: the names of each one's indices, values and shape."""
    found = []
    for tensor in tensors:
        names = [part.name for part in tensor.op.outputs]
        if tensor.op.type == PACKED and names not in found:
            found.append(names)
    return found


def _windows(tensor, within):
    """The slices of data at a place that this number gives, in order of creation."""
    if tensor.get_shape().ndims != 0 or not tensor.dtype.base_dtype.is_integer:
        return []
    below = descendants([tensor], within)
    return [
        op.outputs[0]
        for op in tensor.graph.get_operations()
        if op in below
        and op.type == 'StridedSlice'
        and op.inputs[0].op not in below
        and op.outputs[0].get_shape().ndims
    ]


def shared(tensors):
    """{name: (what is read, by which operation, its output)} where a run reads one iterator or queue several times."""
    readers = {}
    for tensor in tensors:
        if len(tensor.op.inputs):
            readers.setdefault(tensor.op.inputs[0].op.name, {}).setdefault(tensor.op.name, []).append(tensor)
    return {
        tensor.name: (read, tensor.op.name, tensor.value_index)
        for read, operations in readers.items()
        for listed in (operations.values() if len(operations) > 1 else ())
        for tensor in listed
    }


def sliced_axis(tensor, within):
    """The batch axis along which the towers cut this tensor; None if no tower cuts it."""
    for operation in within:
        if operation.type not in SLICES or not TOWER.search(operation.name):
            continue
        if not any(value.name == tensor.name for value in operation.inputs):
            continue
        if operation.type != 'StridedSlice':
            return 0
        whole = operation.get_attr('begin_mask') & operation.get_attr('end_mask')
        axis = 0
        while whole >> axis & 1:
            axis += 1
        if not operation.get_attr('shrink_axis_mask') >> axis & 1:  # that takes one entry, as of a list of settings
            return axis
    return None


def variables(tf, graph):
    """Every variable of the graph by name: {name: variable}."""
    found = {}
    with graph.as_default():
        for listed in (tf.global_variables(), tf.trainable_variables(), tf.local_variables()):
            for variable in listed:
                found[variable.name] = variable
    return found


def collections(graph):
    """{key: entries} of the collections of a graph that have a name."""
    return {key: graph.get_collection_ref(key) for key in graph.get_all_collection_keys() if hasattr(key, 'upper')}


def names_iterator(graph, name):
    """Whether a tensor says which iterator is read: its text is another one in each process."""
    users = graph.as_graph_element(name).consumers()
    return bool(users) and all(user.type.startswith('IteratorFromStringHandle') for user in users)


def assigned(operation):
    """The variable that an operation assigns its second input to, or adds it to; None for other operations."""
    assigns = operation.type.startswith('Assign') and len(operation.inputs) > 1
    return variable_of(operation.inputs[0]) if assigns else None


def order_before_counting(tensor, counter):
    """Has a value read before the operations that count this variable up, but for those in conditions and loops."""
    for operation in tensor.graph.get_operations():
        counts = operation.type.startswith('AssignAdd') and assigned(operation) == counter.op.name
        if counts and operation._get_control_flow_context() is None and tensor.op not in operation.control_inputs:
            operation._add_control_input(tensor.op)


def writes(operation):
    """Whether an operation changes the variable that is its first input."""
    return operation.type.startswith(('Assign', 'Scatter', 'ResourceScatter')) or 'Apply' in operation.type


def writers(operations):
    """The operations that write each variable: {operation name of the variable: [operation]}."""
    found = {}
    for operation in operations:
        if not writes(operation):
            continue
        handle = variable_of(operation.inputs[0]) if len(operation.inputs) else None
        if handle:
            found.setdefault(handle, []).append(operation)
    return found


def written(operations):
    """How many operations write each variable: {operation name of the variable: count}."""
    return {name: len(found) for name, found in writers(operations).items()}


def reads_variable(element):
    """Whether a graph element is what a variable holds, and nothing is computed of it."""
    if getattr(element, 'op', element).type == 'ReadVariableOp':
        element = element.op.inputs[0]
    return hasattr(element, 'op') and variable_of(element) is not None


def variable_of(tensor):
    """The operation name of the variable that a tensor refers to or holds the value of; None for other tensors."""
    for _ in range(20):
        operation = tensor.op
        if operation.type in HANDLES:
            return operation.name
        if operation.type not in HANDED_ON or not len(operation.inputs):
            return None
        tensor = operation.inputs[0]
    return None


@contextlib.contextmanager
def opened(graph):
    """Lets operations be added to a graph, be it finalized, while no other thread writes it out.

    A supervisor's thread does so with each checkpoint, and fails at an operation that TensorFlow has made and not
    yet entered among the graph's names. On TensorFlow 1.4 this lock cannot be taken twice, as it is while an
    operation is made; there a graph is written from its list of names, so nothing can be missing.
    """
    alone = isinstance(graph._lock, type(threading.RLock()))
    if alone:
        graph._lock.acquire()
    finalized, graph._finalized = graph.finalized, False
    try:
        yield
    finally:
        graph._finalized = finalized
        if alone:
            graph._lock.release()


class Store(object):
    """Reads and sets the variables of a session without adding operations to its graph.

    wholes: names of variables whose slices are taken for them.
    """

    def __init__(self, tf, session, run, wholes=()):
        self.session, self.run = session, run
        self.variables = slices.put_together(variables(tf, session.graph), wholes)
        self._failed = tf.errors.FailedPreconditionError

    def _fetch(self, name):
        """What to run for a variable's value."""
        variable = self.variables[name]
        return variable.variables if isinstance(variable, slices.SlicedVariable) else variable

    def _value(self, name, fetched):
        variable = self.variables[name]
        # what was fetched may share its memory with the variable, which goes on changing
        return variable.value(fetched) if isinstance(variable, slices.SlicedVariable) else np.array(fetched)

    def read(self, names=None):
        """{name: value} of those of these variables that are there and have one."""
        names = [name for name in (self.variables if names is None else names) if name in self.variables]
        try:
            values = self.run(self.session, [self._fetch(name) for name in names])
            return {name: self._value(name, value) for name, value in zip(names, values)}
        except self._failed:
            values = {}
            for name in names:
                try:
                    values[name] = self._value(name, self.run(self.session, self._fetch(name)))
                except self._failed:
                    pass
            return values

    def write(self, values):
        """Sets variables; those whose initial values are one tensor in turn."""
        pairs = []
        for name in (name for name in values if name in self.variables):
            variable, value = self.variables[name], values[name]
            pairs += variable.cut(value) if isinstance(variable, slices.SlicedVariable) else [(variable, value)]
        assign(pairs, lambda now, feed: self.run(self.session, now, feed))


def assign(pairs, run):
    """Gives variables their values, [(variable, value)]; those whose initial values are one tensor in turn.

    run: session.run, of operations and what is fed.
    """
    while pairs:
        feed, now, later = {}, [], []
        for variable, value in pairs:
            initial = variable.initializer.inputs[1]
            if initial.name in feed:
                later.append((variable, value))
            else:
                feed[initial.name] = value
                now.append(variable.initializer)
        run(now, feed)
        pairs = later
