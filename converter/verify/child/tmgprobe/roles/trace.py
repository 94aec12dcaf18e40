"""Observes the results of a script's calls in a run: whether their tensors have a row for each example.

The starter has put `__tmg_end__(__tmg_begin__(PLACE), CALL)` where CALL stood. A tensor's fact is found with
numbers: it is computed for a batch, for both parts of it, and for the batch in another order.
"""

from __future__ import absolute_import, division, print_function

import numpy as np
from tmgprobe.graph import graphs
from tmgprobe.roles.role import Role
from tmgprobe.session.watch import SCOPE

CLOSE = 1e-4  # of the largest magnitude
FEWEST = 4  # examples that a batch must have to tell rows of examples from others
MAKES_INPUTS = ('Placeholder', 'PlaceholderWithDefault') + graphs.SOURCES

try:
    import builtins
except ImportError:
    import __builtin__ as builtins


class CallTracer(Role):
    """Keeps the results of the marked calls until the first training step, and reports facts about them."""

    def __init__(self, tf, watch, channel, job):
        Role.__init__(self, tf, watch, channel, job)
        self.seen = {}
        builtins.__tmg_begin__, builtins.__tmg_end__ = self.begin, self.end

    def begin(self, place):
        """Notes the graph's contents before the call's arguments are evaluated."""
        graph = self.tf.get_default_graph()
        return place, graph, collections(graph), len(graph.get_operations())

    def end(self, before, value):
        """Notes the value of a call and the call's additions to the graph; returns the value."""
        place, graph, held, first = before
        parts = list(value) if isinstance(value, (list, tuple)) else [value]
        parts = [part if isinstance(part, self.tf.Tensor) else None for part in parts]
        made = set()
        if self.tf.get_default_graph() is graph:
            grown = {key for key, count in collections(graph).items() if count != held.get(key, 0)}
            made |= {'variables'} if grown & VARIABLES else set()
            made |= {'updates'} if 'update_ops' in grown else set()
            made |= {'collections'} if grown - VARIABLES - IGNORED else set()
            own = [op for op in graph.get_operations()[first:] if SCOPE not in op.name]
            if any(op.type in MAKES_INPUTS for op in own):
                parts = [None]  # a batch of its own
        self.seen.setdefault(place, []).append((isinstance(value, (list, tuple)), parts, made))
        return value

    def step(self, call):
        """At the first training step: tells what was seen, and ends the process."""
        facts, why = {}, None
        try:
            samples = Samples(call)
            facts = {place: fact for place, fact in self._facts(samples) if fact is not None}
        except Undecided as reason:
            why = '%s' % (reason,)
        self.channel.leave('traced', facts=facts, why=why)

    def _facts(self, samples):
        wanted = [part for found in self.seen.values() for _, parts, _ in found for part in parts if part is not None]
        samples.compute(wanted)
        for place, found in sorted(self.seen.items()):
            texts = {self._text(samples, several, parts) for several, parts, _ in found}
            made = sorted(set().union(*[made for _, _, made in found]))
            text = texts.pop() if len(texts) == 1 else None
            yield place, text and '+'.join([text] + made)

    def _text(self, samples, several, parts):
        """The fact of one execution; None where there is none."""
        if all(part is None for part in parts):
            return None
        texts = ['host' if part is None else samples.fact(part) for part in parts]
        if any(text is None for text in texts):
            return None
        return '(%s)' % ','.join(texts) if several else texts[0]


VARIABLES = {'variables', 'trainable_variables', 'model_variables', 'local_variables'}
# a variable's regularisation is added when it is made, by the first tower only; scopes are no collections
IGNORED = {'regularization_losses', 'cond_context', 'while_context', 'update_ops'}


def collections(graph):
    """{key: number of entries} of the collections of a graph."""
    return {key: len(items) for key, items in graphs.collections(graph).items() if not key.startswith('__')}


class Undecided(Exception):
    """Why this run cannot tell anything."""


class Samples(object):
    """Values of tensors for a batch, for its two parts, and for the batch in another order."""

    def __init__(self, call):
        self.call = call
        arrays = call.arrays
        leading = [value.shape[0] for value in arrays.values() if value.ndim]
        self.rows = max(leading, key=leading.count) if leading else 0
        if self.rows < FEWEST:
            raise Undecided('the first batch has fewer than %d examples' % FEWEST)
        cut = [name for name, value in sorted(arrays.items()) if value.ndim and value.shape[0] == self.rows]
        inputs = [call.session.graph.as_graph_element(name) for name in cut]
        if any(shape and shape[0] is not None for shape in map(graphs.static_shape, inputs)):
            raise Undecided('the batch size is fixed when the graph is built')
        self.first = self.rows // 2 + 1  # parts of different sizes
        self.order = np.arange(self.rows)[::-1]
        self.feeds = [
            {name: value[order] if name in cut else value for name, value in arrays.items()}
            for order in (self.order[::-1], self.order, np.arange(self.first), np.arange(self.first, self.rows))
        ]
        every = call.session.graph.get_operations()
        self.dependent = graphs.descendants(inputs, every) | {tensor.op for tensor in inputs}
        self.values = {}

    def compute(self, tensors):
        """Computes these tensors for every feed."""
        graph = self.call.session.graph
        able = {
            tensor.name: tensor
            for tensor in tensors
            if tensor.graph is graph and tensor.op in self.dependent and tensor.dtype.base_dtype.is_floating
            and graph.is_fetchable(tensor)
        }
        try:
            found = [self.call.run(able, feed) for feed in self.feeds]
        except (self.call.tf.errors.OpError, ValueError) as error:
            raise Undecided('a part of the batch cannot be computed: %s' % ('%s' % (error,)).splitlines()[0])
        self.values = {name: [np.asarray(run[name], np.float64) for run in found] for name in able}

    def fact(self, tensor):
        """How a tensor depends on the batch; None if the numbers do not tell."""
        if tensor.graph is not self.call.session.graph:
            return None
        static = graphs.static_shape(tensor)
        if tensor.op not in self.dependent:
            return None if static is None else 'free/' + sizes(static)
        if tensor.name not in self.values:
            return None
        whole, turned, one, two = self.values[tensor.name]
        static = static if static is not None else [None] * whole.ndim
        if not np.all(np.isfinite(whole)):
            return None
        if one.shape == whole.shape:
            return self._reduced(whole, one, two, sizes(static))
        axes = [axis for axis in range(whole.ndim) if whole.shape[axis] == self.rows and one.shape[axis] == self.first]
        if len(axes) != 1 or np.delete(one.shape, axes[0]).tolist() != np.delete(whole.shape, axes[0]).tolist():
            return None
        axis = axes[0]
        told = np.ptp(whole, axis).max() > 10 * CLOSE * np.abs(whole).max()  # rows that are alike tell nothing
        same = close(np.concatenate([one, two], axis), whole) and close(np.take(whole, self.order, axis), turned)
        static = [None if place == axis else size for place, size in enumerate(static)]
        return 'example:%d/%s' % (axis, sizes(static)) if told and same else None

    def _reduced(self, whole, one, two, shape):
        if two.shape != whole.shape or close(one, two):
            return None
        share = self.first / float(self.rows)
        is_mean, is_sum = close(share * one + (1 - share) * two, whole), close(one + two, whole)
        if is_mean == is_sum:
            return None
        return ('mean/' if is_mean else 'sum/') + shape


def close(found, wanted):
    """Whether two arrays are the same but for rounding."""
    return bool(np.abs(found - wanted).max() <= CLOSE * np.abs(wanted).max()) if wanted.size else False


def sizes(static):
    """Static dimensions as `-x16`."""
    return 'x'.join('-' if size is None else '%d' % size for size in static)
