"""Compares two streams of examples: what the original feeds, and what its conversion feeds.

A stream is a list of batches; a batch is a list of marks (values/rows.py). The conversion's batches are the
original's put together: its stream is the same one, cut at other places.
"""

from __future__ import absolute_import, division, print_function

import collections
import itertools

from tmgprobe.values import rows

SAME, DRAWN, VALUES, DIFFERS, SHARED, IN_TURN = 'same', 'drawn', 'values', 'differs', 'shared', 'in turn'


def compare(own, theirs, towers, begins=(), drawn_at=None, whole=None):
    """How a stream relates to the original's: {'status', 'rows', 'kinds', 'left_out', 'fault', 'moved', 'step'}.

    towers: how many of the original's batches make one of the conversion's. begins: see `starts`. drawn_at: the
    number of the first batch before which the original drew random numbers, None where it never did; from there
    on another order is no fault. whole: the conversion's batches of all inputs joined, where there are several.
    rows: how many examples were compared; kinds: how many different ones the conversion takes; left_out: those that
    it skips where an epoch ends; fault: what the difference looks like; step: of the conversion, where it begins;
    moved: whether that step takes the same examples in another order.
    """
    found = _aligned(own, theirs, towers, begins)
    status = SAME if found['at'] is None else DIFFERS
    fault = ''
    if status == SAME and _is_of_another_size(own, theirs, towers, begins):
        status, fault, found['at'] = DIFFERS, 'size', 0
    elif status == DIFFERS:
        fault = _fault(own, theirs, towers, whole or theirs)
        if drawn_at is not None and _batch_of(own, found['own_at']) >= drawn_at and fault != 'twice':
            status = DRAWN
    return {
        'status': status,
        'rows': found['rows'],
        'kinds': len({mark for batch in theirs for mark in batch}),
        'left_out': found['left_out'],
        'fault': fault,
        'moved': found['moved'],
        'step': None if found['at'] is None else found['at'] + 1,
    }


def _aligned(own, theirs, towers, begins):
    """Where the streams begin to differ: the number of the conversion's batch, the place in the original's stream."""
    flat = [mark for batch in own for mark in batch]
    place, left_out = 0, 0
    for number, batch in enumerate(theirs):
        end = min(len(flat), place + len(batch))
        if flat[place:end] != batch[: end - place]:
            whole = len({len(one) for one in own}) == 1  # a last batch that is smaller is left out by neither
            skipped = _skip(flat, begins, place, batch, towers * len(own[0])) if whole else None
            if skipped is None:
                differing = next(i for i, mark in enumerate(batch) if place + i >= len(flat) or flat[place + i] != mark)
                differs = {'at': number, 'own_at': place + differing, 'rows': place + differing, 'left_out': left_out}
                return dict(differs, moved=collections.Counter(flat[place:end]) == collections.Counter(batch))
            left_out, place = left_out + skipped, place + skipped
            end = min(len(flat), place + len(batch))
        place = end
        if place == len(flat):
            break
    return {'at': None, 'own_at': place, 'rows': place - left_out, 'left_out': left_out, 'moved': False}


def _is_of_another_size(own, theirs, towers, begins):
    """Whether the same examples come, but not as many in a batch as so many of the original's batches hold.

    Told only where all batches of a script have one size, and the data did not end: a last batch may be shorter.
    """
    sizes = [{len(batch) for batch in batches} for batches in (own, theirs)]
    steady = len(sizes[0]) == 1 == len(sizes[1]) and len(own) >= towers and not any(begins)
    return steady and sizes[1] != {towers * size for size in sizes[0]}


def as_many(own, theirs):
    """Whether each batch holds the original's next examples, in whatever order."""
    flat, place = [mark for batch in own for mark in batch], 0
    for batch in theirs:
        rest = flat[place : place + len(batch)]
        if collections.Counter(rest) - collections.Counter(batch):
            return False
        place += len(batch)
    return bool(place)


def taken_once(own, theirs, towers):
    """The numbers of the batches in each stream that are not the one before them again: (own, theirs).

    All batches, unless the original takes each several times in a row, and the conversion each as many times.
    """
    firsts = [[n for n, one in enumerate(all_) if not n or one != all_[n - 1]] for all_ in (own, theirs)]
    ends = firsts[0][1:] + [len(own)], firsts[1][1:] + [len(theirs)]
    times = [[end - begin for begin, end in zip(*pair)] for pair in zip(firsts, ends)]
    if len(firsts[0]) < len(own):
        for number, count in enumerate(times[1]):
            wanted = times[0][number * towers : (number + 1) * towers]
            if (number + 1) * towers >= len(times[0]):
                wanted = wanted[:-1]  # the original's steps end in this one
            last = number == len(times[1]) - 1  # the conversion's steps end in this one
            if any(one < count if last else one != count for one in wanted):
                break
        else:
            return firsts[0], firsts[1]
    return list(range(len(own))), list(range(len(theirs)))


def starts(own):
    """The places in a stream at which an epoch may begin: a batch holds what came before, or the last one was short.

    own: batches of all inputs joined, as two examples may well have the same label.
    """
    places, seen, place, longest, short = set(), set(), 0, max([len(batch) for batch in own] or [0]), False
    for batch in own:
        if 2 * sum(mark in seen for mark in batch) >= len(batch) > 0 or (seen and short):
            places.add(place)
        seen.update(batch)
        short = len(batch) < longest
        place += len(batch)
    return places


def epochs_begin(own):
    """As `starts`; none where examples are drawn anew for each batch, so that one after the other comes again.

    Of those some come again before half of a batch does, and others come for the first time after that. A data set
    may hold some examples twice; where it is shuffled, an epoch may end within a batch, and leave some out.
    """
    begins, flat = starts(own), [mark for batch in own for mark in batch]
    first = min(begins or [0])
    before = set(flat[:first])
    behind = list(itertools.dropwhile(lambda mark: mark not in before, flat[first : 2 * first]))
    again = sum(mark in before for mark in behind)
    return set() if 8 * len(before) < 7 * first or 4 * again < 3 * len(behind) else begins


def recurs(flat):
    """Whether all examples come at least twice, each time in the same order."""
    periods = (place for place in range(1, len(flat) // 2 + 1) if flat[place] == flat[0])
    return any(all(flat[at] == flat[at - period] for at in range(period, len(flat))) for period in periods)


def _skip(flat, begins, place, batch, longest):
    """How many of the original's examples a batch leaves out because an epoch ends; None where it does not."""
    for start in sorted(begins):
        rest = flat[start : start + len(batch)]
        if place < start < place + longest and rest and rest == batch[: len(rest)]:
            return start - place
    return None


def _batch_of(own, place):
    """The number of the batch that holds a place of the stream."""
    for number, batch in enumerate(own):
        if place < len(batch):
            return number
        place -= len(batch)
    return len(own)


def _fault(own, theirs, towers, whole):
    """The kind of fault in a stream that differs; '' for none that is known.

    Labels of few kinds may well be alike in two shards of a batch: these count where all inputs are, or in each batch.
    A single example may be drawn for two towers by chance: it counts where that is so in all steps.
    """
    each = [_repeats(batch, towers) for batch in theirs]
    alike = any(_repeats(batch, towers) for batch in whole) or (any(each) and all(each))
    alike = alike or (len(whole) > 1 and all(len(batch) == towers and len(set(batch)) == 1 for batch in whole))
    if towers > 1 and alike and not _repeating(own, towers):
        return 'twice'
    mine = [mark for batch in own for mark in batch]
    others = [mark for batch in theirs for mark in batch][: len(mine)]
    mine = mine[: len(others)]
    if others == mine[::-1]:
        return 'reversed'
    if collections.Counter(mine) == collections.Counter(others):
        return 'order'
    return '' if set(mine) & set(others) else 'others'


def _repeats(batch, towers):
    """Whether each tower gets the same examples, of which there are several."""
    size = len(batch) // towers
    parts = [batch[place * size : (place + 1) * size] for place in range(towers)]
    return size * towers == len(batch) and len(set(parts[0])) > 1 and all(part == parts[0] for part in parts)


def _repeating(own, towers):
    """Whether the original itself takes the same batch several times in a row."""
    return any(one == other for one, other in zip(own, own[1:])) if len(own) > 1 else True


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
    longer one of the conversion's for each of them: all together they are. Each batch goes to the same train ops, from
    the first one on, or from the first one of each epoch on.
    mine, others: see `batches`, of each epoch of the original and of the conversion.
    """
    flat, found = [sum(epochs, []) for epochs in (mine, others)], {}
    if not _same_turns(flat[:1], flat[1:]) and not _same_turns(mine, others):
        return {}
    begins = starts([marks for _, marks, _ in flat[0]])
    for name in names:
        fed = [[inputs.get(name) for _, _, inputs in each] for each in flat]
        if None not in fed[0] and None not in fed[1]:
            row = compare(fed[0], fed[1], towers, begins)
            if row['status'] == SAME:
                found[name] = dict(row, status=IN_TURN)
    return found


def _same_turns(mine, others):
    """Whether the batches of each epoch go to the same train ops as those of this epoch of the original."""
    for epochs in zip(mine, others):
        for one, other in zip(*epochs):
            # a script may have been stopped within its last batch
            cut = one is mine[-1][-1], other is others[-1][-1]
            count = min([len(each[0]) for each, is_cut in zip((one, other), cut) if is_cut] or [None])
            if one[0][:count] != other[0][:count]:
                return False
    return True
