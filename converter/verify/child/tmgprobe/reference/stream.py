"""Compares what the conversion is fed with what the original feeds itself.

In each of its steps the original's own batch is put aside, and the recorded one goes in. Here the two meet
again: N consecutive batches of the original are one of the conversion's. Each train op has a stream of its own.
"""

from __future__ import absolute_import, division, print_function

import bisect
import collections
import copy
import itertools

import numpy as np
from tmgprobe.graph import graphs
from tmgprobe.session import draws
from tmgprobe.values import rows, streams

KEPT = 2**26  # bytes of the original's batches that are kept
MOST = 300000  # examples of evaluations that are remembered
SETTING = '='  # begins the mark of an input without rows
_SAME_SETTING = {'status': 'setting', 'step': None, 'fault': ''}
SMALL = 16  # numbers of an input without a batch axis that are kept as they are


class Streams(object):
    """What goes into the steps of one script, as marks: {train op: [{input: (marks, rest)}]}."""

    def __init__(self):
        self.axes, self.kinds, self.drawn, self.first = {}, {}, {}, None
        self._arrays, self._left = {}, KEPT  # as `kinds`, while they fit
        self.carried = set()  # inputs that hold what earlier runs gave
        self.states = set()  # those that hold nothing else in the original's second step, or in a recorded one
        self.used = []  # what generators had drawn before the first step, see session/draws.py
        self.shared = {}  # inputs that are read from one iterator by several operations, see graph/graphs.py
        self.turns = []  # the train op of each step
        self.unordered = ''  # why the graph gives the data in another order, see session/draws.py

    def learn(self, axes):
        """Takes the batch axes that a comparison found."""
        self.axes.update((name, axis) for name, axis in axes.items() if axis is not None)

    def add(self, kind, arrays, diary):
        """Takes what one step is fed; diary: of the script, see session/diary.py."""
        self.take(kind, {name: self._read(name, array) for name, array in arrays.items()}, diary)
        self._left -= sum(array.nbytes for array in arrays.values())
        self._arrays.setdefault(kind, []).append(arrays)
        if self._left < 0:
            self._arrays.clear()

    def take(self, kind, step, diary):
        """As `add`, of a step that is marks already."""
        state = diary.draws.state()
        steps = self.kinds.setdefault(kind, [])
        if self.first is None:
            self.first, self.used = state, diary.draws.used()
        if state != self.first:  # what draws for its second batch has drawn for the first one, too
            self.drawn.setdefault(kind, len(steps) if len(steps) > 1 else 0)
        steps.append(step)
        self.turns.append(kind)
        read = {name: marked[0] or () for name, marked in step.items() if marked is not None}
        self.carried.update(name for name, marks in read.items() if diary.results.intersection(marks))
        if len(steps) == 2:
            self.states.update(name for name, marks in read.items() if marks and diary.results.issuperset(marks))

    def note_sources(self, call, total):
        """Notes where the examples of a step come from; total: whether the conversion's batch is the original's."""
        graph = call.session.graph
        self.shared.update(graphs.shared(graph.as_graph_element(one) for one in call.sources))
        self.unordered = self.unordered or draws.disorder(graph, call.sources, call.step.operations, total)

    def so_far(self):
        """What went into the steps until now, of which later steps change nothing."""
        found = copy.copy(self)
        found.kinds = {kind: list(steps) for kind, steps in self.kinds.items()}
        found.turns, found.drawn, found.shared = list(self.turns), dict(self.drawn), dict(self.shared)
        found.carried, found.states = set(self.carried), set(self.states)
        return found

    def drawn_apart(self, used):
        """Whether a generator had drawn another number of times in the conversion, from the same seed.

        used: how far the conversion's had come at the first step. What was shuffled before comes in another order.
        """
        return any(mine and other and mine != other for mine, other in zip(self.used, used))

    def paddings(self, theirs):
        """{input: [padding]} of inputs that may be padded with something else than zeros, see values/rows.py.

        theirs: {input: [(array, batch axis)]} of the conversion.
        """
        mine = {}
        for steps in self._arrays.values():
            for name, array in (item for arrays in steps for item in arrays.items()):
                if self.axes.get(name) != rows.EACH:
                    mine.setdefault(name, []).append((array, self.axes.get(name, 0)))
        return {name: rows.paddings(mine[name] + batches) for name, batches in theirs.items() if name in mine}

    def read_again(self, padding):
        """Marks the examples by what they are without this padding, {input: padding}."""
        for kind, steps in self._arrays.items():
            self.kinds[kind] = [
                {name: self._read(name, array, padding.get(name, rows.ZEROS)) for name, array in arrays.items()}
                for arrays in steps
            ]

    def begins(self, kind):
        """The places in the stream of a train op at which an epoch may begin."""
        return streams.starts([streams.together(step) for step in self.kinds[kind]]) if kind in self.kinds else set()

    def ended(self):
        """Whether an epoch has ended, as far as the examples tell."""
        return any(self.begins(kind) for kind in self.kinds)

    def by_epoch(self, batches):
        """What streams.batches gives, as a list for each epoch; batches: see `Epochs`."""
        epochs, found = Epochs(batches), []
        for one in streams.batches(self.turns, self.kinds):
            if epochs.ends_within({'': (one[1], None)}) or not found:
                found.append([])
            found[-1].append(one)
        return found

    def turns_begin_anew(self, batches):
        """Whether there are later epochs than the first, and in each the train ops take turns as in that one."""
        first, *others = [sum((kinds for kinds, _, _ in each), []) for each in self.by_epoch(batches)] or [[]]
        return bool(others) and all(each == first[: len(each)] for each in others)

    def _read(self, name, array, padding=rows.ZEROS):
        axis = self.axes.get(name)
        if rows.lacks(array, axis):
            return None, _rest(array)
        return rows.marks(array, axis, padding), None


def of_record(recording, pairs_of, padding=None):
    """The streams of the recorded steps, under the original's names of inputs.

    pairs_of: {train op: pairs of values/inputs.py}, of one step of each. padding: {input: padding}, see `Streams`.
    """
    found = Streams()
    found.used = recording['first'].get('used', ())
    for kept in recording['steps']:
        kind = tuple(kept['triggered'])
        pairs = pairs_of.get(kind)
        if pairs is None:
            continue
        step = step_of(described(pairs, padding or {}), kept['arrays'])
        step.update((pair['own'], None) for pair in pairs if pair['sparse'])
        found.kinds.setdefault(kind, []).append(step)
        found.turns.append(kind)
        carried = set(kept.get('carried', ()))
        found.states.update(pair['own'] for pair in pairs if carried.intersection(pair['parts']))
    return found


def described(pairs, padding):
    """Dense pairs of values/inputs.py as lists, with what each input is padded with."""
    return [
        [
            pair['own'],
            pair['parts'],
            rows.EACH if pair.get('each') else pair['axis'],  # each tower may be fed an example of its own
            padding.get(pair['own'], rows.ZEROS),
        ]
        for pair in pairs
        if not pair['sparse']
    ]


def arrays_of_record(recording, pairs_of):
    """{name in the original: [(array, batch axis)]} of the inputs of the recorded steps; see `of_record`."""
    found = {}
    for kept in recording['steps']:
        for own, parts, axis, _ in described(pairs_of.get(tuple(kept['triggered']), ()), {}):
            there = [kept['arrays'][part] for part in parts if part in kept['arrays']]
            if axis != rows.EACH and not any(rows.lacks(array, axis) for array in there):
                found.setdefault(own, []).extend((array, axis) for array in there)
    return found


def step_of(pairs, arrays):
    """{name in the original: (marks, rest)} of one step; pairs: see `described`, with the names here."""
    step = {}
    for own, parts, axis, padding in pairs:
        there = [arrays[part] for part in parts if part in arrays]
        if len(there) != len(parts):
            step[own] = None
        elif any(rows.lacks(array, axis) for array in there):
            step[own] = None, _rest(there[0])
        else:
            step[own] = [mark for array in there for mark in rows.marks(array, axis, padding)], None
    return step


def epoch(own, theirs):
    """[steps of the conversion, steps of the original] in one epoch; None where none has ended, or several ops train.

    own, theirs: {train op: steps}.
    """
    counts = []
    for kinds in (theirs, own):
        batches = [streams.together(step) for steps in kinds.values() for step in steps]
        ends = streams.epochs_begin(batches) if len(kinds) == 1 else ()
        places = np.cumsum([0] + [len(batch) for batch in batches]).tolist()
        counts.append(places.index(min(ends)) if ends else None)
    return None if None in counts else counts


def text_of(kind):
    """A train op as the key of a JSON object."""
    return ' '.join('%d' % index for index in kind)


class Epochs(object):
    """Counts the epochs of a stream: one begins once most examples of a batch were seen before.

    batches: how many of the original's batches one step takes. Each is looked at alone: where a batch lies across the
        end of an epoch, both scripts find that end, or neither does.
    """

    def __init__(self, batches):
        self.count, self._batches = 0, batches
        self._seen, self._mixed = set(), False
        self._last, self._takers = None, set()  # the last batch, and the train ops that have taken it

    def ends_within(self, step, kind=()):
        """Whether an epoch has ended before this step, or ends in it; takes the step of a train op."""
        before, examples = self.count, streams.together(step)
        if step == self._last and kind not in self._takers:  # several train ops take each batch
            self._takers.add(kind)
            return False
        self._last, self._takers = step, {kind}
        size = max(1, -(-len(examples) // self._batches))
        for begin in range(0, len(examples), size):
            self._take(examples[begin : begin + size])
        return self.count > before

    def _take(self, batch):
        known = [mark for mark in batch if mark in self._seen]
        if not self._mixed and 2 * len(known) >= len(batch):
            self.count, self._seen = self.count + 1, set(known)  # the others are what was left of the last epoch
            return
        self._mixed = self._mixed or bool(known)  # examples are drawn anew for each batch: there are no epochs
        self._seen.update(batch)


def sets(own, theirs):
    """Which examples went in, of each train op: numbers of steps and examples of both scripts.

    new, lost: how many different examples only one of both was fed; different: of the original's; once: of these the
    ones that it takes once, about as many as another run of such draws has that this one has not; short: whether
    the original's batches are of different sizes; batch: the largest of them; sizes: of the conversion's batches;
    unshuffled: whether only the conversion takes them in the same order again and again; alone: the same of single
    inputs, see `_sets_alone`.
    """
    result = []
    for kind, steps in sorted(own.items()):
        other = theirs.get(kind, [])
        mine, others = examples({kind: steps}), examples({kind: other})
        result.append(
            dict(
                _set(mine, others),
                steps=len(other),
                own_steps=len(steps),
                short=len({len(streams.together(step)) for step in steps}) > 1,
                batch=max(len(streams.together(step)) for step in steps),
                sizes=sorted({len(streams.together(step)) for step in other}),
                alone=_sets_alone(steps, other) if len(set(mine)) == len(mine) else [],
            )
        )
    return result


def _set(mine, others):
    return {
        'rows': len(others),
        'own_rows': len(mine),
        'new': len(set(others) - set(mine)),
        'lost': len(set(mine) - set(others)),
        'different': len(set(mine)),
        'unshuffled': len(mine) >= 2 * len(set(mine)) and streams.recurs(others) and not streams.recurs(mine),
        'once': sum(count == 1 for count in collections.Counter(mine).values()),
    }


def _sets_alone(own, theirs):
    """The sets of inputs whose examples come again where those of all together do not, as noise is drawn anew."""
    found = []
    for name in sorted(own[0]):
        mine, others = ([mark for (marks,) in _columns({0: each}, [name]) for mark in marks] for each in (own, theirs))
        if mine and others and len(mine) >= 2 * len(set(mine)):
            found.append(dict(_set(mine, others), input=name))
    return found


def examples(kinds):
    """One mark for each example that {train op: steps} take."""
    return [mark for kind in sorted(kinds) for step in kinds[kind] for mark in streams.together(step)]


def lists(kinds):
    """{train op as text: [marks of one step]} of {train op: steps}."""
    return {text_of(kind): [streams.together(step) for step in steps] for kind, steps in kinds.items()}


def _rest(array):
    """An input without a batch axis: its numbers, or a mark."""
    array = np.asarray(array)
    if array.size <= SMALL and array.dtype.kind in 'fiub':
        return np.asarray(array, np.float64).ravel().tolist()
    return rows.marks(array[np.newaxis], 0)[0]


def figures(own, theirs, towers, unordered, floats):
    """[{'input', 'status', 'rows', 'left_out', 'fault', 'step', ...}] for each train op and input.

    own, theirs: Streams of the original and of the conversion. unordered: why the order may be another, see
    session/draws.py. floats: names of inputs that a script may compute of a whole batch, as when it subtracts the mean.
    """
    found = _taken_together(own, theirs, towers, _each(own, theirs.kinds, towers, unordered))
    alike = [row for row in found if row['status'] in (streams.SAME, streams.IN_TURN)]
    same = {row['input'] for row in alike}
    lost = _lost_states(own, theirs)
    apart = own.drawn_apart(theirs.used) and not any(row['kinds'] > 1 for row in alike)
    for row in found:
        computed = row['input'] in floats and same - {row['input']} and row['fault'] in ('', 'others')
        # a state that goes from step to step belongs to the rows of a batch: its size shapes the data
        if row['status'] == streams.DIFFERS and row['fault'] != 'twice' and (computed or own.carried):
            row['status'] = streams.VALUES
        # a step of the same examples in another order tells of no draw, unless these are all that there are
        if row['status'] == streams.DIFFERS and apart and row['fault'] in ('', 'order', 'others'):
            row['status'] = row['status'] if row['moved'] and not own.ended() else streams.DRAWN
        if row['status'] == streams.DRAWN and unordered:
            row['status'] = unordered
        if row['input'] in lost:
            row.update(status=streams.DIFFERS, fault='state', step=2)
    return found


def _lost_states(own, theirs):
    """The inputs that hold what the step before gave in the original's second step, and in none of the conversion's.

    Not where each step of the conversion may begin an epoch, with a new state.
    """
    goes_on = all(len(steps) > 1 for steps in theirs.kinds.values()) and not theirs.ended()
    return own.states - theirs.states if goes_on else set()


def _taken_together(own, theirs, towers, found):
    """The figures, with those of inputs that are the original's where all that take them are looked at together."""
    unlike = [row for row in found if row['status'] == streams.DIFFERS and row['fault'] in ('', 'order', 'others')]
    alike = {}
    if unlike and len(set(theirs.turns)) > 1:
        mine, others = own.by_epoch(1), theirs.by_epoch(towers)
        alike = streams.alike(mine, others, towers, {row['input'] for row in unlike})
    for row in unlike:
        row.update(alike.get(row['input'], {}))
        shared = row['status'] == streams.DIFFERS and row['input'] in own.shared
        row['status'] = streams.SHARED if shared and _shared_alike(own, theirs.kinds, row['input']) else row['status']
    return found


def _shared_alike(own, theirs, name):
    """Whether the steps take the original's examples where several operations read one iterator.

    Which operation gets which batch nothing orders, and N batches of one are not N batches of each.
    """
    read, reader, output = own.shared[name]
    readers = {other for place, other, _ in own.shared.values() if place == read}
    alike = [key for key, (place, _, number) in own.shared.items() if (place, number) == (read, output)]
    batches = [_columns(kinds, alike) for kinds in (own.kinds, theirs)]
    if len(alike) == len(readers) and not streams.as_many(*[[sum(each, []) for each in steps] for steps in batches]):
        return False
    beside = [key for key, (_, other, _) in own.shared.items() if other == reader]
    paired = [[row for each in _columns(kinds, beside) for row in zip(*each)] for kinds in (own.kinds, theirs)]
    places = range(len(beside))
    most = max(places, key=lambda place: len({row[place] for row in paired[0]})) if paired[0] else 0
    partners = {}
    for row in paired[0]:
        partners.setdefault(row[most], set()).add(row)
    return all(row in partners.get(row[most], [row]) for row in paired[1])


def _columns(kinds, names):
    """The marks of these inputs in each step that has all of them."""
    steps = [[step.get(name) for name in names] for kind in sorted(kinds) for step in kinds[kind]]
    return [[one[0] for one in step] for step in steps if all(one and one[0] is not None for one in step)]


def _each(own, theirs, towers, unordered):
    result = []
    for kind, steps in sorted(theirs.items()):
        mine = own.kinds.get(kind, [])
        drawn = 0 if unordered else own.drawn.get(kind)
        joined = [[streams.together(step) for step in each] for each in (mine, steps)]
        once = streams.taken_once(joined[0], joined[1], towers)
        begins = streams.starts([joined[0][number] for number in once[0]])
        for name in sorted(steps[0]):
            batches = [step.get(name) for step in steps], [step.get(name) for step in mine]
            if not mine or None in batches[0] or None in batches[1]:
                result.append({'input': name, 'status': 'absent', 'fault': ''})
            elif batches[0][0][0] is None or batches[1][0][0] is None:
                as_rows = all(_are_rows(name, each) for each in (mine, steps))
                one = _SAME_SETTING if as_rows else _settings(batches[1], batches[0], towers, drawn)
                result.append(dict(one, input=name))
            else:
                theirs_marks, own_marks = (
                    [each[number][0] or [] for number in numbers] for each, numbers in zip(batches, once[::-1])
                )
                drawn_at = None if drawn is None else bisect.bisect_left(once[0], drawn)
                whole = [joined[1][number] for number in once[1]]
                one = streams.compare(own_marks, theirs_marks, towers, begins, drawn_at, whole)
                if one['step'] is not None:
                    one['step'] = once[1][one['step'] - 1] + 1
                result.append(dict(one, input=name))
    return result


def _settings(own, theirs, towers, drawn):
    """An input without a batch axis: the same where each step gets what the original's do, or N times that.

    What is the same in all steps is not drawn.
    """
    for number, (_, value) in enumerate(theirs):
        mine = [rest for _, rest in own[number * towers : (number + 1) * towers] + own[number : number + 1]]
        lists = [one for one in mine if isinstance(one, list) and isinstance(value, list) and len(one) == len(value)]
        follows = [one for one in lists if [number * towers for number in one] == value and one == list(map(int, one))]
        if mine and repr(value) not in map(repr, mine) and not follows:  # NaN is NaN here
            always = len(own) > 2 and all(len({repr(rest) for _, rest in each}) == 1 for each in (own, theirs))
            status = streams.DRAWN if drawn is not None and number >= drawn and not always else streams.DIFFERS
            return {'status': status, 'fault': 'setting', 'value': value, 'own': mine[-1], 'step': number + 1}
    return _SAME_SETTING


def _are_rows(name, steps):
    """Whether an input is the number of examples in each step, also in the last one of an epoch."""
    for step in steps:
        value = step[name][1]
        counts = {len(marks) for marks, _ in (one for one in step.values() if one is not None) if marks is not None}
        if not isinstance(value, list) or len(value) != 1 or value[0] not in counts:
            return False
    return True


class EvaluationFeeds(object):
    """What the runs without a train op are fed: [(steps before it, {input: (marks, rest)})].

    later: those behind the compared steps. unordered: the inputs with examples that were read in an order which nothing
    sets, by this run or by earlier ones.
    taken: the inputs that come from a data set or queue.
    """

    def __init__(self):
        self.runs, self.later, self.unordered, self.taken, self._left = [], [], set(), set(), MOST

    def add(self, steps, call, diary):
        """Takes one run; batch axes are not known yet, so the first one is taken for it. diary: see `Streams.add`.

        steps: before it; None behind the compared ones.
        """
        arrays, unordered = call.arrays, call.step.unordered_sources
        count = sum(len(array) for array in arrays.values() if np.ndim(array))
        if not count or count > self._left:
            return
        self._left -= count
        read = {name: rows.marks(array, 0) for name, array in arrays.items() if np.ndim(array)}
        for name, array in arrays.items():
            if not np.ndim(array) and np.asarray(array).dtype.kind in 'fiub':
                read[name] = [SETTING + repr(float(array))]
        (self.later if steps is None else self.runs).append((steps, read))
        self.taken.update(name for name in call.sources if name in read)
        self.unordered.update(
            name for name, marks in read.items() if name in unordered or diary.unordered.intersection(marks)
        )


# The inputs of the original's runs without a train op that are read in an order which nothing sets, see
# `EvaluationFeeds`, those that come from the data set or queue which its training steps read, too, and its later runs.
Sources = collections.namedtuple('Sources', 'unordered shared later')
ORDERED = Sources(frozenset(), frozenset(), ())


def compared_runs(own, theirs, mine, others, towers):
    """As `evaluations`, of all runs of two scripts.

    own, theirs: their Streams; mine: the EvaluationFeeds of the original; others: the runs of the conversion.
    """
    training = marks_of(own.kinds), marks_of(theirs.kinds)
    drawn = own.unordered or bool(own.drawn) or own.drawn_apart(theirs.used)
    read = {name for steps in own.kinds.values() for step in steps for name in step}
    sources = Sources(mine.unordered, mine.taken & read, mine.later)
    return evaluations(mine.runs, others, training, towers, drawn, sources)


def evaluations(own, theirs, training, towers, drawn, sources=ORDERED):
    """[{'inputs', 'status', 'rows', 'own_rows', 'fault'}] for each set of inputs that runs without a train op have.

    own, theirs: the runs of Evaluations. training: (the original's, the conversion's) marks of training examples.
    drawn: whether the original draws random numbers between its steps. sources: of the original's runs.
    """
    result = []
    for kind, other in _kinds(own, theirs):
        mine, others = [one for one in own if _kind(one) == kind], [one for one in theirs if _kind(one) == other]
        result.append(dict(_evaluated(mine, others, training, towers, drawn, sources), inputs=list(kind)))
    return result


def _evaluated(mine, others, training, towers, drawn, sources):
    """What `evaluations` tells of one kind of runs, those of the original and those of the conversion."""
    with_rows, kind = _with_rows(mine[0]), _kind(mine[0])
    reads_on = bool(with_rows) and sources.shared.issuperset(with_rows)
    # of a stream of random numbers the conversion's runs may get those that the original's steps get
    telling = training[1] if drawn else training[0] | training[1]
    found = _evaluations_by_input(with_rows, mine, others, (training[0], training[1], telling), towers, reads_on)
    found = found if found['status'] != streams.SAME else _parted(with_rows, mine, others) or found
    every = mine + [one for one in sources.later if _kind(one) == kind]
    settings = sorted(set(kind + _kind(others[0])) - set(with_rows))
    changed = _changed_settings(settings, every, others, towers) or _changed_settings(
        settings, *_beside_training(with_rows, every, others, training), towers=towers, all_=True
    )
    if changed or found['status'] != streams.DIFFERS or not _as_many(with_rows[0], mine, others, towers):
        return dict(found, **changed)
    again = all(streams.recurs([mark for _, run in mine for mark in run[one]]) for one in with_rows)
    by_chance = drawn or not sources.unordered.isdisjoint(with_rows)
    if by_chance and found['fault'] not in ('training', 'smaller') + (('part',) if again else ()):
        return dict(found, status=streams.DRAWN)
    return dict(found, status=streams.SHARED if found['fault'] == 'others' and reads_on else found['status'])


def _as_many(name, own, theirs, towers):
    """Whether runs may be fed other examples by chance alone: not where as many runs get other numbers of them."""
    mine, others = ({len(run[name]) for _, run in runs} for runs in (own, theirs))
    if len(mine) > 1 or len(own) != len(theirs):
        return True
    return others <= mine | {towers * count for count in mine}


def _kind(run):
    """The names of the tensors that a run is fed."""
    return tuple(sorted(run[1]))


def _with_rows(run):
    """The inputs of a run that hold examples."""
    return tuple(name for name in _kind(run) if any(mark[:1] != SETTING for mark in run[1][name]))


def _kinds(own, theirs):
    """Kinds of runs of both: fed the same inputs, or, where only one has them, inputs with rows of the same names."""
    kinds, others = ({_kind(run): _with_rows(run) for run in runs} for runs in (own, theirs))
    found = [(kind, kind) for kind in sorted(set(kinds) & set(others))]
    for kind in sorted(set(kinds) - set(others)):
        alike = [other for other in sorted(set(others) - set(kinds)) if others[other] == kinds[kind]]
        found += [(kind, alike[0])] if len(alike) == 1 else []
    return found


def _beside_training(names, own, theirs, training):
    """The runs of both that take other examples than those of the training, if both have some; else none."""
    found = [
        [one for one in runs if not all(set(one[1][name]) <= of for name in names)]
        for runs, of in zip((own, theirs), training)
    ]
    return found if all(found) else ([], [])


def _changed_settings(names, own, theirs, towers, all_=False):
    """What is wrong with the inputs without rows, as a switch for training is one; {} for nothing.

    all_: whether all of the conversion's have to be others than the original's.
    """
    for name in names:
        mine, others = ({mark for _, run in runs for mark in run.get(name, ())} for runs in (own, theirs))
        changed = mine and others and mine.isdisjoint(others) if all_ else not others <= mine or mine and not others
        if changed and all(mark[:1] == SETTING for mark in mine | others):
            numbers = [sorted(float(mark[1:]) for mark in each) for each in (mine, others)]
            if not any(other == number * towers for other in numbers[1] for number in numbers[0]):
                own_words, words = (' or '.join('%g' % number for number in each) for each in numbers)
                fault = {'status': streams.DIFFERS, 'fault': 'setting'}
                return dict(fault, input=name, value=words, own=own_words)
    return {}


def _evaluations_by_input(kind, own, theirs, training, towers, reads_on):
    """What `_evaluation` finds of one of the inputs that tell the most examples apart, else that they are the same."""
    apart = {name: len({mark for _, run in own for mark in run[name] if mark[:1] != SETTING}) for name in kind}
    names = [name for name in kind if apart[name] == max(apart.values())]
    found = [_evaluation(name, own, theirs, training, towers, reads_on) for name in names]
    return next((one for one in found if one['status'] != streams.SAME), found[0])


def _evaluation(name, own, theirs, training, towers, reads_on):
    """One kind of runs: the same examples, the training batches of each, or so many times as many in the same order.

    name: of the input that is looked at. training: the examples that each trains with, and those that tell, where the
    conversion is fed them, that it takes the training's. reads_on: whether the original's runs take what comes next of
    the training's examples.
    """
    found = {'status': streams.SAME, 'rows': 0, 'own_rows': 0, 'fault': ''}
    own, theirs = _taken_once(*_unlike(own, theirs, name, training, towers), name=name, towers=towers)
    if (not own and not theirs) or _same_each_time(own, theirs, name, towers):
        return found
    mine, others = ([mark for _, run in runs for mark in run[name]] for runs in (own, theirs))
    found.update(rows=len(others), own_rows=len(mine))
    smaller = all(gap == 0 for gap, _ in own + theirs) and _smaller(own, theirs, name)
    short = min(len(mine), len(others))
    if not smaller and short and mine[:short] == others[:short] and _as_many_by_gap(own, theirs, name, towers):
        return found
    fault = 'smaller' if smaller else _evaluation_fault(set(mine), set(others), training, reads_on)
    return dict(found, status=streams.DIFFERS, fault=fault)


def _as_many_by_gap(own, theirs, name, towers):
    """Whether behind each step as many examples come, or so many times as many; of several runs the rest is left."""
    longest = towers * max([len(run[name]) for _, run in own] or [0])
    counts, other = (_by_gap(runs, name) for runs in (own, theirs))
    several = {gap for gap in counts if sum(steps == gap for steps, _ in own) > 1}
    return all(
        other.get(gap) in (count, count * towers) or (gap in several and 0 <= count - other.get(gap, 0) < longest)
        for gap, count in counts.items()
    )


def _evaluation_fault(mine, others, training, reads_on):
    """What the examples of the conversion's runs are instead of the original's, both as sets; training: as above."""
    known = len(mine & training[0])  # its last steps may not have been seen
    again = len(others & training[2])
    if len(others) > 1:  # one row, as the number of a first word, may be like one of the batch by chance
        if others <= training[1] and 2 * known < len(mine):
            return 'training'
        if not known and not reads_on and 2 * again >= len(others):  # read on from the training's queue
            return 'training'
    return 'part' if others < mine else 'order' if mine == others else 'others'


def _parted(kind, own, theirs):
    """What is wrong where some examples of the conversion's runs get what belongs to others of them; {} for nothing."""
    for one, other in itertools.permutations(kind, 2):
        if any(len(run[one]) != len(run[other]) for _, run in own + theirs):
            continue
        mine, others = ([pair for _, run in runs for pair in zip(run[one], run[other])] for runs in (own, theirs))
        firsts, seconds = ({pair[place] for pair in mine} for place in (0, 1))
        unlike = set(others) - set(mine)
        if unlike and all(first in firsts and second in seconds for first, second in others):
            return {'status': streams.DIFFERS, 'rows': len(unlike), 'own_rows': 0, 'fault': 'parted'}
    return {}


def _same_each_time(own, theirs, name, towers):
    """Whether all that goes between two steps of the conversion also goes between some two of the original's.

    An epoch of the conversion has fewer steps, and not always so many times fewer: 24 for 47. So what comes once in an
    epoch comes after other numbers of steps, and as often or up to so many times as often.
    """
    groups = [{}, {}]
    for each, runs in zip(groups, (own, theirs)):
        for steps, run in runs:
            each[steps] = each.get(steps, ()) + tuple(run[name])
    counts = [len(each) for each in groups]
    often = counts[1] > 1 and counts[0] <= counts[1] <= towers * (counts[0] + 1)
    if counts[0] == 1:  # the steps that the original takes may end in its second epoch
        first, other = (min(each) for each in groups)
        often = often and other <= first <= towers * other
    return often and set(groups[1].values()) <= set(groups[0].values())


def _unlike(own, theirs, name, training, towers):
    """The runs of both but for those that agree one by one: fed the same, or each the examples it is trained with.

    Of these the conversion may take as many as the original, and as many times more as there are towers.
    """
    scripts = [[(run, tuple(run[1][name])) for run in runs] for runs in (own, theirs)]
    gaps = [[gap for gap, _ in runs] for runs in (own, theirs)]
    # {which script: those of its runs that are fed other examples than it is trained with}
    others = [[run for run, fed in runs if not set(fed) <= known] for runs, known in zip(scripts, training)]
    if len(own) != len(theirs) and set(gaps[0] + gaps[1]) <= {0}:
        return _unlike_in_number(scripts, others, name, training)
    if not own or gaps[0] != gaps[1]:
        # a summary's run may be fed the step's batch, and after each tenth step what was evaluated
        return (others[0], others[1] or theirs) if others[0] else (own, theirs)
    left = []
    for (one, mine), (other, fed) in zip(*scripts):
        trained = set(mine) <= training[0] and set(fed) <= training[1] and len(mine) <= len(fed) <= towers * len(mine)
        left += [] if mine == fed or trained else [(one, other)]
    return tuple(zip(*left)) if left else ((), ())


def _unlike_in_number(scripts, others, name, training):
    """As `_unlike`, of whole runs, which evaluate more or less often."""
    contents = [{fed for _, fed in runs} for runs in scripts]
    apart = set().union(*(run[1][name] for run in others[0]))
    if others[0] and not others[1] and set().union(*contents[1]).isdisjoint(apart):
        # the original evaluates what it is not trained with, the conversion never
        return others[0], [run for run, _ in scripts[1]]
    again = [[run for run, fed in runs if set(fed) <= known] for runs, known in zip(scripts, training)]
    if all(again) and _smaller(again[0], again[1], name):
        return again
    left = [
        [run for run, fed in runs if fed not in found and not set(fed) <= known]
        for runs, found, known in zip(scripts, contents[::-1], training)
    ]
    return left if left[1] else ((), ())


def _taken_once(own, theirs, name, towers):
    """The runs of both without those that take the examples of the run before them again, between the same steps."""
    numbers = streams.taken_once(*([(gap, run[name]) for gap, run in runs] for runs in (own, theirs)), towers=towers)
    return [[runs[number] for number in each] for each, runs in zip(numbers, (own, theirs))]


def _smaller(own, theirs, name):
    """Whether each run of the conversion is fed less than those of the original, where these are all fed as much."""
    sizes = [{len(run[name]) for _, run in runs} for runs in (own, theirs)]
    return len(own) > 1 and len(sizes[0]) == 1 and max(sizes[1]) < min(sizes[0])


def _by_gap(runs, name):
    """{steps before: number of examples} of some runs."""
    counts = {}
    for steps, run in runs:
        counts[steps] = counts.get(steps, 0) + len(run[name])
    return counts


def marks_of(kinds):
    """The marks of all examples in {train op: steps}."""
    found = [one for steps in kinds.values() for step in steps for one in step.values() if one is not None]
    return {mark for marks, _ in found for mark in marks or ()}
