"""A number that is computed of means and sums over the batch, where the original takes no batch as large as this.

Its means and sums are put together from the shards': sums are added, means weigh as many elements as each has. The
rest of the graph computes the number from them, as it does on one device: of a masked mean the quotient of two sums.
"""

from __future__ import absolute_import, division, print_function

import numpy as np
from tmgprobe.graph import graphs

REDUCTIONS = {'Sum': sum, 'Size': sum, 'Mean': None, 'Max': max, 'Min': min}


def nearest(reference, tensor):
    """The numbers into which the batch goes before it goes into a value; None where its rows get there otherwise."""
    found, seen, ahead = [], set(), [tensor]
    while ahead:
        one = ahead.pop()
        if one.name in seen or (one.op not in reference.dependent and one.name not in reference.batch):
            continue
        seen.add(one.name)
        if _is_number(reference, one):
            found.append(one)
        elif one.name in reference.batch or not one.op.inputs:
            return None
        else:
            ahead += list(one.op.inputs)
    return found


def of_all_shards(reference, tensor, shards):
    """The value of a tensor that `nearest` finds numbers for.

    Numbers behind which others are computed come first, as the mean does from which a deviation is taken; one that the
    loss is made of, and which is in the towers, stays each shard's.
    """
    below, feed = graphs.ancestors([tensor.op]), {}
    inner = below & (reference.dependent - reference.trunk) | {number.op for number in nearest(reference, tensor)}
    for operation in (one for one in reference.graph.get_operations() if one in inner):
        number = operation.outputs[0] if operation.outputs else None
        if number is None or not _is_number(reference, number):
            continue
        taken = [number, number.op.inputs[0]]
        pieces = [reference.run(taken, dict(part, **feed)) for part, _ in shards]
        feed[number.name] = _joined(number.op, pieces)
    return feed[tensor.name] if tensor.name in feed else reference.run(tensor, dict(shards[0][0], **feed))


def _is_number(reference, tensor):
    """Whether a tensor is one number, reduced from others, that can be fed."""
    if tensor.op.type not in REDUCTIONS or tensor.get_shape().ndims != 0:
        return False
    return reference.graph.is_feedable(tensor) and reference.graph.is_fetchable(tensor)


def _joined(operation, pieces):
    """What a reduction gives for all shards. pieces: [(its number, what it reduces)] of each."""
    values = [value for value, _ in pieces]
    if operation.type != 'Mean':
        return np.asarray(REDUCTIONS[operation.type](values), values[0].dtype)
    counts = [np.size(reduced) for _, reduced in pieces]
    summed = sum(np.asarray(value, np.float64) * count for value, count in zip(values, counts) if count)
    return np.asarray(summed / sum(counts) if sum(counts) else np.nan, values[0].dtype)
