"""Variables that a run reads for its losses while it writes them, in no order: a spectral norm's vectors, for one.

What a loss is computed from then depends on which operation comes first, in the original too. Held as they are before
the run, they are the same for both scripts; all writes still happen.
"""

from __future__ import absolute_import, division, print_function

from tmgprobe.graph import graphs


def unordered_reads(graph, operations, losses, trained):
    """The tensors that hold such variables, to be fed with what they are before the run.

    operations: all that run. trained: operation names of the variables that the train ops move.
    """
    writers = {name: found for name, found in graphs.writers(operations).items() if name not in trained}
    behind = graphs.computed_from(loss.op for loss in losses) if writers else ()
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


def _is_held(graph, read):
    """Whether a value can be taken and fed: not where a branch or a loop of the graph makes it."""
    return graph.is_feedable(read.outputs[0]) and read._get_control_flow_context() is None


def _in_no_order(one, two):
    return one not in graphs.ancestors([two]) and two not in graphs.ancestors([one])
