"""Batches that the train ops of a script share, or take in turn."""

from __future__ import absolute_import, division, print_function

from tmgprobe.values import rows, streams


def together(step):
    """One mark for each example of a step; those of the input with the most examples where these are not as many."""
    columns = [found[0] for _, found in sorted(step.items()) if found is not None and found[0]]
    return rows.joined(columns) or max(columns or [[]], key=lambda column: len(set(column)))


def batches(taken, kinds):
    """[(train ops, marks, {input: marks})] of the batches, each with the steps in a row that take it or a part of it.

    taken: the train op of each step. kinds: {train op: steps}.
    """
    left, found = {kind: list(steps) for kind, steps in kinds.items()}, []
    for kind in taken:
        if not left.get(kind):
            continue
        step = left[kind].pop(0)
        fed = {name: one[0] for name, one in step.items() if one is not None and one[0] is not None}
        both = set(fed) & set(found[-1][2]) if found else ()
        if not both or any(found[-1][2][name] != fed[name] for name in both):
            found.append(([], together(step), {}))
        found[-1][0].append(kind)
        found[-1][2].update(fed)
    return found


def alike(mine, others, towers, names):
    """{input: figures} of those of these inputs that are the original's where train ops take turns at the batches.

    Where every second batch goes to another train op, or every fifth to one more, N batches of the original are no
    longer one of the conversion's for each of them: all together they are. Each batch goes to the same train ops.
    mine, others: see `batches`, of the original and of the conversion.
    """
    for place, (one, other) in enumerate(zip(mine, others)):
        cut = place == len(mine) - 1, place == len(others) - 1  # a script may have been stopped within its last batch
        count = min([len(each[0]) for each, is_cut in zip((one, other), cut) if is_cut] or [None])
        if one[0][:count] != other[0][:count]:
            return {}
    begins, found = streams.starts([marks for _, marks, _ in mine]), {}
    for name in names:
        fed = [[inputs.get(name) for _, _, inputs in each] for each in (mine, others)]
        if None not in fed[0] and None not in fed[1]:
            row = streams.compare(fed[0], fed[1], towers, begins)
            if row['status'] == streams.SAME:
                found[name] = dict(row, status=streams.IN_TURN)
    return found
