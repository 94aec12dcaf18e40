"""Learning rates that a schedule computes from counted steps, and whether they differ from the original's on purpose.

A schedule that counts batches (`decay_steps=len(data) // batch_size`) follows the global batch: a step of N
towers stands for N of the original's, so at the same count its rate is that of a later step. That is no
fault where it is built as the original's, but for constants that N went into, and gives what the original's
gives after as many examples.

The model may take such numbers, too: the decay of its moving averages, the weight of a part of its loss.
"""

from __future__ import absolute_import, division, print_function

import collections
import fractions

import numpy as np
from tmgprobe.graph import graphs

CLOSE = 1e-5  # relative difference of two rates that are the same
POWERS = 18  # rates are tried after 1, 2, 4 ... steps
MARGIN = 0.05  # of the largest rate: a schedule of which only some constants follow the batch lies close by

MODEL = -1  # stands for the number of the apply call in the key of a rate that the model takes

# key: the number of the apply call and the place among its rates; tensors: the rate, and others that are computed in
# the same way from the same numbers; form: what it is computed by, constants left out; constants: these, in order;
# given: the tensors that hold them for the first of `tensors`; counters: of steps, as {name of the operation: name of
# the variable}
Rate = collections.namedtuple('Rate', 'key tensors form constants given counters')


def of(watched, operations, variables):
    """The rates among some operations that updates of the graph take, and that depend on a count of steps.

    variables: {name: variable}. A rate is a scalar that an update is made with and that was there before it, or that
    an optimizer of Keras computes as its rate.
    """
    order = {operation: place for place, operation in enumerate(watched.graph.get_operations())}
    counters = _counters(order, variables)
    if not counters:
        return []
    reads = [tensor for op in order if op.name in counters for tensor in op.outputs]
    counted = graphs.descendants(reads, order)
    found = [
        _rate((apply.index, place), tensor, counters)
        for apply in watched.applies
        for place, tensor in enumerate(_taken_by_update(watched, apply, order, counted & set(operations)))
    ]
    known = {rate.tensors[0].name for rate in found}
    return found + _of_model(_taken_by_model(watched.graph, order, operations, counters, known), counters)


def _taken_by_update(watched, apply, order, counted):
    """The scalars made of counts that an update is made with, but for its gradients, in the order of their making."""
    own = [op for op in order if apply.first <= order[op] < apply.last]
    given = {tensor.name for tensor in graphs.tensors(*(list(apply.given) + list(apply.gates)))}
    tensors = {tensor.name: tensor for op in own for tensor in op.inputs if tensor.op in counted}
    found = [
        tensor
        for name, tensor in tensors.items()
        if name not in given
        and (name in watched.rates or not apply.first <= order[tensor.op] < apply.last)
        and tensor.dtype.base_dtype.is_floating
        and _is_fed_number(watched.graph, tensor)
    ]
    return sorted(found, key=lambda tensor: order[tensor.op])


def _is_fed_number(graph, tensor):
    """Whether a tensor is a single number in whose place another one can be fed."""
    return tensor.get_shape().ndims == 0 and graph.is_feedable(tensor)


def _taken_by_model(graph, order, operations, counters, known):
    """The scalars among `operations` that are computed of counts and constants alone, and are met by something else.

    They come in the order of their making. known: the names of tensors that updates take.
    """
    counted = _computed_of(order, counters)
    met = {tensor.name: tensor for op in order if op not in counted for tensor in op.inputs}
    return sorted(
        (
            tensor
            for name, tensor in met.items()
            if tensor.op in operations
            and counted.get(tensor.op)
            and name not in known
            and (tensor.dtype.is_floating or tensor.dtype.is_integer or tensor.dtype.is_bool)
            and _is_fed_number(graph, tensor)
            and graph.is_fetchable(tensor)
        ),
        key=lambda tensor: order[tensor.op],
    )


def _computed_of(order, counters):
    """{operation: whether a count goes into it} for those of a graph that need counts and constants alone."""
    found = {}
    for op in sorted(order, key=lambda op: order[op]):
        if op.type == 'Const' or op.name in counters:
            found[op] = op.name in counters
            continue
        behind = [tensor.op for tensor in op.inputs]
        stateful = op.op_def.is_stateful and op.type != 'ReadVariableOp'
        if not behind or stateful or graphs.writes(op):
            continue
        if all(one in found for one in behind + list(op.control_inputs)):
            found[op] = any(found[one] for one in behind)
    return found


def _of_model(tensors, counters):
    """Rates of tensors in the order of their making; those that are computed alike of the same constants are one.

    Each tower may make its own.
    """
    found = {}
    for tensor in tensors:
        rate = _rate(None, tensor, counters)
        alike = found.setdefault(rate.form, [])
        same = [one for one in alike if set(_kinds(one, rate._asdict(), 1)) <= {'same'}]
        if same:
            same[0].tensors.append(tensor)
        elif rate.constants:
            alike.append(rate._replace(key=(MODEL, rate.form, len(alike))))
    return [rate for alike in found.values() for rate in alike]


def _rate(key, tensor, counters):
    form, constants, given, above = described(tensor)
    mine = {name: counters[name] for name in above if name in counters}
    return Rate(key=key, tensors=[tensor], form=form, constants=constants, given=given, counters=mine)


def _counters(operations, variables):
    """The scalar variables that something is added to: {name of the operation: name of the variable}."""
    added = {graphs.assigned(op) for op in operations if op.type.startswith('AssignAdd')}
    return {
        variable.op.name: name
        for name, variable in variables.items()
        if variable.op.name in added and variable.get_shape().ndims == 0
    }


def described(tensor):
    """(what a tensor is computed by, as a text; its constants in order, and their tensors; the variables it reads)."""
    seen, words, constants, given, variables = {}, [], [], [], []
    todo = [tensor]
    while todo:
        one = todo.pop()
        operation = one.op
        if operation in seen:
            words.append('@%d' % seen[operation])
            continue
        seen[operation] = len(seen)
        if operation.type == 'Const':
            constants.append(_constant(operation))
            given.append(one)
            words.append('Const')
        elif operation.type in graphs.HANDLES or operation.type.startswith('Placeholder'):
            variables.append(operation.name)
            words.append('%s=%s' % (operation.type, operation.name))
        else:
            words.append('%s(%d)' % (operation.type, len(operation.inputs)))
            todo.extend(reversed(list(operation.inputs)))
    return ' '.join(words), constants, given, variables


def _constant(operation):
    """The value of a constant: numbers as an array, anything else as a text."""
    tensor = operation.get_attr('value')
    dtype = operation.outputs[0].dtype.base_dtype
    if not (dtype.is_floating or dtype.is_integer):
        return '%s' % (tensor,)
    return np.array(_numbers(tensor, dtype), np.float64)


def _numbers(tensor, dtype):
    """The numbers of a TensorProto, which lists a repeated one once."""
    count = 1
    for size in tensor.tensor_shape.dim:
        count *= size.size
    if tensor.tensor_content:
        return np.frombuffer(tensor.tensor_content, dtype.as_numpy_dtype)
    fields = (tensor.float_val, tensor.double_val, tensor.int_val, tensor.int64_val, tensor.half_val)
    listed = [list(field) for field in fields if len(field)] or [[0]]
    return listed[0] + listed[0][-1:] * (count - len(listed[0]))


def recorded(rates, run):
    """The conversion's rates as plain data; run: takes tensors and gives their values."""
    if not rates:
        return {}
    values = run([rate.tensors[0] for rate in rates])
    return {
        rate.key: {'value': float(value), 'form': rate.form, 'constants': rate.constants}
        for rate, value in zip(rates, values)
    }


def writes(rates):
    """Whether to compute the rates writes variables: they may be made under control dependencies on updates."""
    return bool(graphs.written(graphs.ancestors(rate.tensors[0].op for rate in rates)))


class Schedules(object):
    """The original's rates in one recorded step.

    fed: {name of the tensor: rate} for those that are other ones on purpose. figures: 'rates' for those that updates
    take, 'model_rates' for those that the model takes: None where all are the same; else 'theirs' and 'own', a pair
    that differs, 'later', the original's after as many examples, and 'meant', whether all that differ are meant.
    'constants': for each rate that is the original's by now, but computed from other constants, see `_at_other_counts`.

    run: takes tensors, and what is fed for others. tried: keys of rates that were tried at other counts before.
    """

    def __init__(self, rates, kept, ratio, store, run, tried):
        self.fed, self.figures = {}, {'rates': None, 'model_rates': None, 'constants': []}
        there = [rate for rate in rates if rate.key in kept['rates']]
        if not there:
            return
        self._store, self._run = store, run
        self._before = kept['before']
        own = self._at(there, 1)
        for rate, value in zip(there, own):
            theirs = kept['rates'][rate.key]
            if _near(theirs['value'], value):
                if rate.key not in tried:
                    self.figures['constants'] += self._tried(rate, theirs, ratio)
                tried.add(rate.key)
                continue
            later = self._at([rate], ratio)[0]
            meant = ratio > 1 and self._meant(rate, theirs, ratio, later)
            if meant:
                self.fed.update((tensor.name, theirs['value']) for tensor in rate.tensors)
            of = 'model_rates' if rate.key[0] == MODEL else 'rates'
            if self.figures[of] is None or self.figures[of]['meant']:
                self.figures[of] = {'theirs': theirs['value'], 'own': value, 'later': later, 'meant': meant}

    def _at(self, rates, times, more=0):
        """Their values where the counters stand at so many times their count, and so many more."""
        changed = {}
        for rate in rates:
            for name in rate.counters.values():
                if name in self._before:
                    count = np.asarray(self._before[name])
                    changed[name] = np.asarray(np.round(count * times) + more, count.dtype)
        self._store.write(dict(self._before, **changed))
        try:
            return [float(value) for value in self._run([rate.tensors[0] for rate in rates])]
        finally:
            self._store.write(self._before)

    def _tried(self, rate, theirs, ratio):
        """What `_at_other_counts` gives; a rate that is computed otherwise than the original's cannot be tried here."""
        if theirs['form'] == rate.form:
            return [self._at_other_counts(rate, theirs, ratio)] if _is_of_other_constants(rate, theirs) else []
        alike = {'theirs': theirs['value'], 'own': theirs['value'], 'others': []}
        return [dict(alike, model=rate.key[0] == MODEL, count=0, otherwise=True)]

    def _at_other_counts(self, rate, theirs, ratio):
        """Whether a rate of other constants ever leaves what the original has from as many steps to as many batches on.

        {'model', 'count', 'theirs', 'own', 'others', 'otherwise'}: count: after how many steps it does, 0 where it
        never does, and the rate then; own: the nearest of the original's; others: pairs of constants that do not follow
        the batch; otherwise: whether it is not computed as the original's. The conversion's constants are put into the
        original's graph.
        """
        fed = {
            tensor.name: np.asarray(value, tensor.dtype.base_dtype.as_numpy_dtype).reshape(tensor.get_shape().as_list())
            for tensor, value in zip(rate.given, theirs['constants'])
            if not hasattr(value, 'upper')
        }
        halves = [2.0 ** (power / 2.0) for power in range(2 * POWERS)]  # of powers: the same counts for most rates
        spread = [times for times in halves if times <= 3.0 * ratio] + [float(ratio)] + _quotients(rate, theirs)
        counts = [2**power for power in range(POWERS)]
        try:
            rates = [self._after(rate, count, fed) for count in counts]
            ends = {round(count * times) for count in counts for times in spread}
            ours = {end: self._after(rate, end) for end in sorted(ends)}
        finally:
            self._store.write(self._before)
        pairs = zip(theirs['constants'], rate.constants)
        others = [(_listed(one), _listed(own)) for one, own in pairs if _scaled(one, own, ratio) is None]
        found = {'model': rate.key[0] == MODEL, 'count': 0, 'theirs': theirs['value'], 'own': theirs['value']}
        found.update(others=others, otherwise=False)
        margin = MARGIN * np.nanmax(np.abs(list(ours.values())))
        for count, other in zip(counts, rates):
            values = [ours[round(count * times)] for times in spread]
            if not min(values) - margin <= other <= max(values) + margin and np.all(np.isfinite(values + [other])):
                return dict(found, count=count, theirs=other, own=min(values, key=lambda value: abs(value - other)))
        return found

    def _after(self, rate, count, fed=None):
        """A rate of the original's after so many steps."""
        wanted = {name: self._before[name] for name in rate.counters.values() if name in self._before}
        self._store.write({name: np.asarray(count, np.asarray(v).dtype) for name, v in wanted.items()})
        return float(self._run([rate.tensors[0]], fed or {})[0])

    def _meant(self, rate, theirs, ratio, later):
        """Whether the schedule is the original's with counts of batches divided by the ratio.

        A step stands for several of the original's: one that counts from 1 on has the rate of the last of these.
        Where whole batches are counted, which rounds, the rate lies between those of counts around the exact one, up
        to the last of as many.
        """
        kinds = _kinds(rate, theirs, ratio)
        if kinds is None or None in kinds or not _are_of_one_epoch(rate, theirs['constants'], ratio):
            return False
        if any(_near(theirs['value'], one) for one in (later, self._at([rate], ratio, ratio - 1)[0])):
            return True
        ends = [self._at([rate], *to)[0] for to in ((ratio / 2.0,), (ratio * 2.0,), (ratio * 2.0, 2.0 * ratio - 1))]
        margin = CLOSE * max(abs(end) for end in ends)
        return 'rounded' in kinds and min(ends) - margin <= theirs['value'] <= max(ends) + margin


def _kinds(rate, theirs, ratio):
    """How each constant came from the original's, see `_scaled`; None for a rate that is computed otherwise."""
    if theirs['form'] != rate.form or len(theirs['constants']) != len(rate.constants):
        return None
    return [_scaled(one, own, ratio) for one, own in zip(theirs['constants'], rate.constants)]


def _is_of_other_constants(rate, theirs):
    """Whether a rate is computed as the original's, but from other numbers."""
    kinds = _kinds(rate, theirs, 1)
    if kinds is None:
        return False
    texts = any(hasattr(one, 'upper') for one, kind in zip(theirs['constants'], kinds) if kind != 'same')
    shapes = all(np.shape(one) == np.shape(own) for one, own in zip(theirs['constants'], rate.constants))
    of_counts = 'Placeholder' not in rate.form  # and of nothing that a step is fed
    of_counts = of_counts and rate.tensors[0].dtype.base_dtype.is_floating  # a remainder leaps
    return of_counts and not texts and shapes and any(kind != 'same' for kind in kinds)


def _listed(constant):
    return [float(number) for number in np.ravel(constant)]


def _quotients(rate, theirs):
    """How many times a whole constant of the original's is that of the conversion, where a count of steps was cut."""
    pairs = [(own, other) for own, other in zip(rate.constants, theirs['constants']) if not hasattr(own, 'upper')]
    found = [float(mine) / other for own, others in pairs for mine, other in zip(own.ravel(), others.ravel()) if other]
    return sorted({times for times in found if times > 1})


def _near(one, other):
    return abs(one - other) <= CLOSE * max(abs(one), abs(other))


def _scaled(theirs, own, ratio):
    """How a constant came from the original's: 'same', 'scaled', 'rounded', or None for another one."""
    if hasattr(theirs, 'upper') or hasattr(own, 'upper') or theirs.shape != own.shape:
        return 'same' if np.array_equal(theirs, own) else None
    if np.array_equal(theirs, own):
        return 'same'
    for wanted in (own * ratio, own / ratio):
        if np.allclose(theirs, wanted, rtol=CLOSE, atol=0):
            return 'scaled'
    whole = np.array_equal(np.round(own), own) and np.array_equal(np.round(theirs), theirs)
    if not whole:
        return None
    rest = [(abs(mine * ratio - other), _divisor(mine, other)) for mine, other in zip(theirs.ravel(), own.ravel())]
    return 'rounded' if all(left <= max(1, common) * ratio for left, common in rest) else None


def _are_of_one_epoch(rate, theirs, ratio):
    """Whether counts that rounding each by itself does not explain may be numbers of epochs of one length.

    theirs: the conversion's constants. An epoch has one count of batches in each script: of the counts that go into the
    same operations, as the boundaries of tf.train.piecewise_constant do, all are cut alike, and none stays as it is.
    """
    quotients = collections.defaultdict(set)
    for tensor, ours, own in zip(rate.given, theirs, rate.constants):
        if not hasattr(ours, 'upper') and not hasattr(own, 'upper'):
            found = quotients[_taken_by(tensor)]
            for mine, other in zip(np.abs(np.ravel(ours)), np.abs(np.ravel(own))):
                whole = mine == np.round(mine) and other == np.round(other)
                if whole and other and abs(mine * ratio - other) > ratio:
                    found.add(fractions.Fraction(int(mine), int(other)))
    return all(len(found) <= 1 for found in quotients.values())


def _taken_by(tensor):
    """The types of the operations that take a constant, whatever its own type is converted to before."""
    found = set()
    for operation in tensor.consumers():
        found |= _taken_by(operation.outputs[0]) if operation.type in ('Cast', 'Identity') else {operation.type}
    return frozenset(found)


def _divisor(one, other):
    """The largest divisor of two whole numbers: so many epochs have that many whole batches each."""
    one, other = abs(int(one)), abs(int(other))
    while other:
        one, other = other, one % other
    return one
