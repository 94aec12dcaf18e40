"""Learning rates that a schedule computes from counted steps, and whether they differ from the original's on purpose.

A schedule that counts batches (`decay_steps=len(data) // batch_size`) follows the global batch: a step of N
towers stands for N of the original's, so at the same count its rate is that of a later step. That is no
fault where it is built as the original's, but for constants that N went into, and gives what the original's
gives after as many examples.

The model may take such numbers, too: the decay of its moving averages, the weight of a part of its loss.
"""

from __future__ import absolute_import, division, print_function

import collections

import numpy as np
from tmgprobe.graph import graphs

CLOSE = 1e-5  # relative difference of two rates that are the same

MODEL = -1  # stands for the number of the apply call in the key of a rate that the model takes

# key: the number of the apply call and the place among its rates; tensors: the rate, and others that are computed in
# the same way from the same numbers; form: what it is computed by, constants left out; constants: these, in order;
# counters: of steps, as {name of the operation: name of the variable}
Rate = collections.namedtuple('Rate', 'key tensors form constants counters')


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
    found = []
    for apply in watched.applies:
        own = [op for op in counted if apply.first <= order[op] < apply.last]
        given = {tensor.name for one in list(apply.given) + list(apply.gates) for tensor in graphs.tensors(one)}
        tensors = {tensor.name: tensor for op in own for tensor in op.inputs}
        rates = [
            tensor
            for name, tensor in tensors.items()
            if name not in given
            and tensor.op in counted
            and tensor.op in operations
            and (name in watched.rates or not apply.first <= order[tensor.op] < apply.last)
            and tensor.dtype.base_dtype.is_floating
            and tensor.get_shape().ndims == 0
            and watched.graph.is_feedable(tensor)
        ]
        for place, tensor in enumerate(sorted(rates, key=lambda tensor: order[tensor.op])):
            form, constants, above = described(tensor)
            mine = {name: counters[name] for name in above if name in counters}
            found.append(Rate((apply.index, place), [tensor], form, constants, mine))
    known = {rate.tensors[0].name for rate in found}
    return found + _of_model(_taken_by_model(watched.graph, order, operations, counters, known), counters)


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
            and _is_number(tensor.dtype.base_dtype)
            and tensor.get_shape().ndims == 0
            and graph.is_feedable(tensor)
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


def _is_number(dtype):
    return dtype.is_floating or dtype.is_integer or dtype.is_bool


def _of_model(tensors, counters):
    """Rates of tensors in the order of their making; those that are computed alike of the same constants are one.

    Each tower may make its own.
    """
    found = {}
    for tensor in tensors:
        form, constants, above = described(tensor)
        alike = found.setdefault(form, [])
        same = [rate for rate in alike if _are_equal(rate.constants, constants)]
        if same:
            same[0].tensors.append(tensor)
        elif constants:
            mine = {name: counters[name] for name in above if name in counters}
            alike.append(Rate((MODEL, form, len(alike)), [tensor], form, constants, mine))
    return [rate for alike in found.values() for rate in alike]


def _are_equal(constants, others):
    return all(_scaled(one, other, 1) == 'same' for one, other in zip(constants, others))


def _counters(operations, variables):
    """The scalar variables that something is added to: {name of the operation: name of the variable}."""
    added = {graphs.assigned(op) for op in operations if op.type.startswith('AssignAdd')}
    return {
        variable.op.name: name
        for name, variable in variables.items()
        if variable.op.name in added and variable.get_shape().ndims == 0
    }


def described(tensor):
    """(what a tensor is computed by, as a text; its constants in order; the names of the variables it reads)."""
    seen, words, constants, variables = {}, [], [], []
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
            words.append('Const')
        elif operation.type in graphs.HANDLES or operation.type.startswith('Placeholder'):
            variables.append(operation.name)
            words.append('%s=%s' % (operation.type, operation.name))
        else:
            words.append('%s(%d)' % (operation.type, len(operation.inputs)))
            todo.extend(reversed(list(operation.inputs)))
    return ' '.join(words), constants, variables


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
    """

    def __init__(self, rates, kept, ratio, store, run):
        self.fed, self.figures = {}, {'rates': None, 'model_rates': None}
        there = [rate for rate in rates if rate.key in kept['rates']]
        if not there:
            return
        self._store, self._run = store, run
        self._before = kept['before']
        own = self._at(there, 1)
        for rate, value in zip(there, own):
            theirs = kept['rates'][rate.key]
            if _near(theirs['value'], value):
                continue
            later = self._at([rate], ratio)[0]
            meant = ratio > 1 and self._meant(rate, theirs, ratio, later)
            if meant:
                self.fed.update((tensor.name, theirs['value']) for tensor in rate.tensors)
            of = 'model_rates' if rate.key[0] == MODEL else 'rates'
            if self.figures[of] is None or self.figures[of]['meant']:
                self.figures[of] = {'theirs': theirs['value'], 'own': value, 'later': later, 'meant': meant}

    def _at(self, rates, times):
        """Their values where the counters stand at so many times their count."""
        changed = {}
        for rate in rates:
            for name in rate.counters.values():
                if name in self._before:
                    count = np.asarray(self._before[name])
                    changed[name] = np.asarray(np.round(count * times), count.dtype)
        self._store.write(dict(self._before, **changed))
        try:
            return [float(value) for value in self._run([rate.tensors[0] for rate in rates])]
        finally:
            self._store.write(self._before)

    def _meant(self, rate, theirs, ratio, later):
        """Whether the schedule is the original's with counts of batches divided by the ratio.

        Where whole batches are counted, which rounds, the rate lies between those of counts around the exact one.
        """
        if theirs['form'] != rate.form or len(theirs['constants']) != len(rate.constants):
            return False
        kinds = {_scaled(one, own, ratio) for one, own in zip(theirs['constants'], rate.constants)}
        if None in kinds:
            return False
        if _near(theirs['value'], later):
            return True
        ends = [self._at([rate], times)[0] for times in (ratio / 2.0, ratio * 2.0)]
        margin = CLOSE * max(abs(end) for end in ends)
        return 'rounded' in kinds and min(ends) - margin <= theirs['value'] <= max(ends) + margin


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
    return 'rounded' if whole and np.all(np.abs(theirs * ratio - own) <= ratio) else None
