"""The fetches of a run call: which values can be compared, and what they are without the run's updates.

A script that fetches a loss together with the train op gets its value from before or after the update,
depending on thread timing. To be comparable, each value is computed with the variables as the run found them: without
the train op, and without other writes than its own.
"""

from __future__ import absolute_import, division, print_function

from tmgprobe.graph import graphs

NEAR = 3  # runs of one kind without a train op, between two steps, that are compared
LARGEST = 2**26  # bytes that such a run may be fed

STILL, WRITES, AFTER = 'still', 'writes', 'after'


class Fetch(object):
    """One value in a fetch structure.

    place: its number among the graph elements of the structure, or what says in both scripts which
    assigned value it is; name: of the tensor that the script
    fetches; tensor: what is computed for it; order: STILL (writes no variable on its way), WRITES, or
    AFTER (computed from what a train op leaves, so that it cannot be had apart).
    """

    def __init__(self, place, name, tensor, order):
        self.place, self.name, self.tensor, self.order = place, name, tensor, order


def read(elements, applies):
    """The fetches among graph elements whose values can be compared."""
    train = {apply.operation for apply in applies}
    found = []
    for place, element in enumerate(elements):
        if not comparable(element):
            continue
        tensor, below = element, graphs.ancestors([element.op])
        # train ops such as slim's return the loss after the update: it is the same loss
        while tensor.op.type == 'Identity' and below & train:
            tensor = tensor.op.inputs[0]
            below = graphs.ancestors([tensor.op])
        order = AFTER if below & train else WRITES if graphs.written(below) else STILL
        found.append(Fetch(place, element.name, tensor, order))
    return found


def of(tensor, place=None, name=None):
    """The fetch of a tensor behind no train op."""
    order = WRITES if graphs.written(graphs.ancestors([tensor.op])) else STILL
    return Fetch(tensor.name if place is None else place, name or tensor.name, tensor, order)


def kept(fetches, operations):
    """The values that a run assigns to variables beside those that it fetches, as further fetches."""
    seen = graphs.ancestors(fetch.tensor.op for fetch in fetches)
    found = []
    for operation in sorted(set(operations) - seen, key=lambda operation: operation.name):
        handle = graphs.assigned(operation)
        if handle and comparable(operation.inputs[1]):
            place = 'into %s by %s' % (handle, operation.type)
            found.append(of(operation.inputs[1], place, 'what is kept in %s' % handle))
    return found


def comparable(element):
    """Whether a graph element is a tensor of numbers or texts; the handle of an iterator is another in each process."""
    if not hasattr(element, 'dtype') or element.op.type == 'IteratorToStringHandle':
        return False
    dtype = element.dtype.base_dtype
    return dtype.is_floating or dtype.is_integer or dtype.is_bool or dtype.name == 'string'


def values(run, fetches, restore, refused):
    """{place: value} of these fetches.

    run: takes {key: tensor} and gives {key: value}; restore: sets all variables back, called after each
    write; refused: errors of a value that cannot be computed apart, and is left out.
    """
    found = computable(run, {str(fetch.place): fetch.tensor for fetch in fetches if fetch.order == STILL}, refused)
    for fetch in fetches:
        if fetch.order == WRITES:
            found.update(computable(run, {str(fetch.place): fetch.tensor}, refused))
            restore()
    return {fetch.place: found[str(fetch.place)] for fetch in fetches if str(fetch.place) in found}


def computable(run, wanted, refused):
    """{key: value} of what `run` gives for {key: wanted}: for all at once, else one by one without those it refuses."""
    try:
        return dict(run(wanted)) if wanted else {}
    except refused:
        alone = [{key: wanted[key]} for key in wanted] if len(wanted) > 1 else []
    return {key: value for one in alone for key, value in computable(run, one, refused).items()}


def shown(elements):
    """{place: tags} of what a conversion merges by its form, as it is only shown; '' stands for a tensor itself.

    So is what an operation gives that hands out batches, where each tower takes one of its own: the first tower's.
    """
    found = {}
    for place, element in enumerate(elements):
        if not hasattr(element, 'dtype'):
            continue
        if is_shown(element) or graphs.is_taken_again(element.op):
            found[place] = ['']
            continue
        tags = [_tag(op) for op in graphs.ancestors([element.op]) if op.type.endswith('Summary')]
        if any(tags):
            found[place] = sorted(tag for tag in tags if tag)
    return found


def is_shown(tensor):
    """Whether a tensor is what merge_shown of a conversion made."""
    return getattr(tensor, 'only_shown', False)


def _tag(operation):
    """The tag of a summary that is computed from a value that is only shown; '' for others."""
    behind = graphs.ancestors([operation])
    tags = operation.inputs[0].op if len(operation.inputs) else None
    known = tags is not None and tags.type == 'Const' and any(is_shown(t) for op in behind for t in op.outputs)
    values = tags.get_attr('value').string_val if known else []
    return values[0].decode('utf-8') if len(values) else ''


def recorded(call, store, before, arrays=None):
    """What the comparison needs of one run call's fetches; the variables are `before`, and are so afterwards.

    count: graph elements in the structure; tensors: the places of those with a value; shown: see there; values: of
    those that can be compared. arrays: what is fed in place of the script's own.
    """
    arrays = call.arrays if arrays is None else arrays
    return {
        'count': len(call.step.elements),
        'tensors': [place for place, element in enumerate(call.step.elements) if hasattr(element, 'dtype')]
        + [fetch.place for fetch in call.step.fetches if fetch.place not in range(len(call.step.elements))],
        'shown': shown(call.step.elements),
        'values': values(
            lambda tensors: call.run(tensors, arrays),
            call.step.fetches,
            lambda: store.write(before),
            call.tf.errors.OpError,
        ),
    }


class Asides(object):
    """Runs without a train op before and between the steps: the first ones of each kind."""

    def __init__(self):
        self.seen, self.taken = {}, []

    def place(self, gap, call):
        """(steps before it, kind, variables, numbers, names) of a run; None where it is not to be compared.

        variables: those that it reads; numbers: its number among the runs of its kind that read these, and of its kind;
        names: of what it fetches.
        """
        if not call.step.fetches or sum(array.nbytes for array in call.fed.values()) > LARGEST:
            return None
        elements = call.step.elements
        # what is kept in variables is shown at a script's end, as many values as a run between steps may reset
        texts = tuple(getattr(element, 'dtype', None) == 'string' for element in elements)  # as summaries are
        kind = (tuple(sorted(call.fed)), texts, all(graphs.reads_variable(element) for element in elements))
        # a copy of the model that has its own variables is fed alike, and may be run more or less often
        keys = (gap, kind, call.step.reads), (gap, kind)
        numbers = tuple(self.seen.get(key, 0) for key in keys)
        self.seen.update((key, number + 1) for key, number in zip(keys, numbers))
        names = tuple(element.name for element in elements)
        return (gap, kind, call.step.reads, numbers, names) if numbers[0] < NEAR else None

    def forget(self, gap):
        """Begins anew behind so many steps, as another one has been taken that does not count."""
        self.seen = {key: number for key, number in self.seen.items() if key[0] != gap}


def counterpart(place, recorded):
    """The run in a recording, {place: run}, that is the one with this place; None if there is none.

    A run that reads other variables is it where none reads these: another value may be fetched. Where there are not as
    many, it is the one that fetches the same by name.
    """
    gap, kind, reads, (number, of_kind), names = place
    alike = {key: run for key, run in recorded.items() if key[:2] == (gap, kind)}
    same = [(key, run) for key, run in alike.items() if key[2] == reads]
    wanted = [run for key, run in same or alike.items() if key[3][0 if same else 1] == (number if same else of_kind)]
    wanted = wanted or [run for key, run in same if key[4] == names]
    return wanted[0] if wanted else None
