"""What a run reads and writes in no order: its result then depends on which operation comes first.

Variables that are read for what is compared while they are written, as a spectral norm's vectors, can be held as they
are before the run: they are the same for both scripts then, and all writes still happen. Updates of trained variables
that other updates of the run read cannot.
"""

from __future__ import absolute_import, division, print_function

from tmgprobe.graph import graphs
from tmgprobe.values.lazy import reached


def unordered_reads(graph, operations, values, trained):
    """The tensors that hold such variables, to be fed with what they are before the run.

    operations: all that run. values: the losses, and what else is compared. trained: operation names of the variables
    that the train ops move.
    """
    writers = {name: found for name, found in graphs.writers(operations).items() if name not in trained}
    behind = graphs.computed_from(value.op for value in values) if writers else ()
    found = []
    for read in sorted(behind, key=lambda operation: operation.name):
        if read.type not in ('Identity', 'ReadVariableOp') or read.inputs[0].op.type not in graphs.HANDLES:
            continue
        writes, tensor = writers.get(read.inputs[0].op.name, ()), read.outputs[0]
        first = graphs.ancestors([read]) if writes else ()
        if not writes or any(write in first for write in writes) or not _is_held(graph, read):
            continue
        # an Identity holds no copy: whoever computes from it reads the variable
        users = [user for user in tensor.consumers() if user in behind] if read.type == 'Identity' else [read]
        if any(_in_no_order(user, write) for user in users for write in writes):
            found.append(tensor)
    return found


def updates_in_no_order(operations, trained):
    """Whether the updates of trained variables depend on the order in which some of these operations happen to run.

    So it is where two optimizers each take a step in one run, and the second's gradients are computed from weights
    that the first changes. Where one waits for the other (tf.control_dependencies), there is an order.
    """
    writers = {name: found for name, found in graphs.writers(operations).items() if name in trained}
    order = _Order(operations, [write for found in writers.values() for write in found])
    leading = reached(order.writes, order.before.get)  # and all that must run before them
    for operation in operations:
        if operation.type in graphs.HANDLES and operation.name in writers:
            users = [user for user in _readers(operation) if user in leading]
            for write in writers[operation.name]:
                if not all(order.knows(user, write) for user in users + writers[operation.name]):
                    return True
    return False


class _Order(object):
    """Which of some writes come before and behind each operation, as sets of bits."""

    def __init__(self, operations, writes):
        self.writes = writes
        self._bits = {write: 1 << place for place, write in enumerate(writes)}
        self.before = {op: [one for one in graphs.needed(op) if one in operations] for op in operations}
        self._sorted = self._in_order()
        self._behind, self._ahead = {}, {}
        for operation in self._sorted:
            self._behind[operation] = 0
            for one in self.before[operation]:
                self._behind[operation] |= self._behind.get(one, 0) | self._bits.get(one, 0)
        for operation in reversed(self._sorted):
            mine = self._ahead.get(operation, 0) | self._bits.get(operation, 0)
            for one in self.before[operation]:
                self._ahead[one] = self._ahead.get(one, 0) | mine

    def knows(self, operation, write):
        """Whether one of the two always comes first, or they are the same."""
        either = self._behind[operation] | self._ahead.get(operation, 0)
        return operation is write or bool(either & self._bits[write])

    def _in_order(self):
        """All operations, each behind those that it needs; of a loop in the graph one edge is left out."""
        found, seen = [], set()
        for start in self.before:
            todo = [(start, False)]
            while todo:
                operation, done = todo.pop()
                if done:
                    found.append(operation)
                elif operation not in seen:
                    seen.add(operation)
                    todo.append((operation, True))
                    todo.extend((one, False) for one in self.before[operation] if one not in seen)
        return found


def _readers(variable):
    """The operations that compute from what a variable holds when they run."""
    found, ahead = [], list(variable.outputs)
    while ahead:
        for user in ahead.pop().consumers():
            if user.type in graphs.PASSING:
                ahead.extend(user.outputs)
            elif not graphs.writes(user):
                found.append(user)
    return found


def _is_held(graph, read):
    """Whether a value can be taken and fed: not where a branch or a loop of the graph makes it."""
    return graph.is_feedable(read.outputs[0]) and read._get_control_flow_context() is None


def _in_no_order(one, two):
    return one not in graphs.ancestors([two]) and two not in graphs.ancestors([one])
