"""The original's graph for batches of another size, as its own text makes it with another number in it.

A graph that is made for batches of one size takes no tower's share of its batch, and no batch of several towers. So the
original's text is run once more, with its batch size multiplied (converter/verify/runs/resized.py), up to its first
training step. What that has built is the same graph by name: it takes the other batches, and all that the script
computes with the size as a number is computed with the other one.
"""

from __future__ import absolute_import, division, print_function

import collections

from tmgprobe.graph import graphs
from tmgprobe.values import compare, inputs

# Stands for a variable of the own graph: the operation that sets it.
Settable = collections.namedtuple('Settable', 'initializer')


def shares(described, gpus, total):
    """By what to multiply the batch size so that batches are taken which the graph does not take: [[times, over], ...].

    described: the inputs, see values/inputs.py. Empty where none of them has a fixed size.
    """
    known = [item['static'] for item in described if item['shape']]
    leading = [sizes[0] for sizes in known if sizes and None not in sizes]
    if gpus == 1 or not leading:
        return []
    if not total:
        return [[gpus, 1]]
    own = max(leading, key=leading.count)
    sizes = {end - begin for begin, end in compare.bounds(own, gpus)} - {0, own}
    return [[size, own] for size in sorted(sizes)] + [[2, 1]]  # twice: whether the loss is a sum, see StepComparison


class ResizedGraphs(object):
    """What such runs have built, as models of one graph.

    graph: the own one, with the operations that it has now. paths: of what the runs wrote.
    """

    def __init__(self, tf, graph):
        self.tf, self.graph, self.paths, self._models = tf, graph, (), None
        self._types = {op.name: op.type for op in graph.get_operations()}

    def of(self, graph):
        """The models for a graph."""
        if graph is not self.graph:
            return []
        if self._models is None:
            self._models = [model for model in map(self._made, self.paths) if model is not None]
        return self._models

    def _made(self, path):
        """The model; None where the graph has other operations, so that names say nothing, or holds other numbers."""
        nodes = self.tf.GraphDef()
        with open(path, 'rb') as stream:
            nodes.ParseFromString(stream.read())
        if {node.name: node.op for node in nodes.node} != self._types or any(map(self._is_drawn, nodes.node)):
            return None
        graph = self.tf.Graph()
        try:
            with graph.as_default():
                self.tf.import_graph_def(nodes, name='')
        except Exception:  # whatever TensorFlow says of operations that it does not make from their definitions
            return None
        return ResizedModel(graph, self.tf.Session(graph=graph), frozenset(self._types))

    def _is_drawn(self, node):
        """Whether an array in the graph has as many numbers for another size, and others: drawn in another order."""
        if node.op != 'Const' or not self.tf.as_dtype(node.attr['dtype'].type).is_floating:
            return False
        own, other = self.graph.get_operation_by_name(node.name).get_attr('value'), node.attr['value'].tensor
        return own.tensor_shape == other.tensor_shape and own.tensor_content != other.tensor_content


class ResizedModel(object):
    """One such graph, with a session of its own. names: of its operations."""

    def __init__(self, graph, session, names):
        self.graph, self.session, self._names, self._has_tables = graph, session, names, False

    def fits(self, feed):
        """Whether its inputs take these arrays, {name: array}."""
        return inputs.fits(feed, {name: graphs.static_shape(self.of_name(name)) for name in feed})

    def of_name(self, name):
        """The tensor of this name; raises ValueError where it was made later than the graph."""
        try:
            return self.graph.as_graph_element(name)
        except KeyError:
            raise ValueError('%s is not there for another size' % name)

    def of(self, tensors):
        """Tensors of the own graph, in any structure, as they are in this one."""
        if isinstance(tensors, dict):
            return {key: self.of(one) for key, one in tensors.items()}
        if isinstance(tensors, (list, tuple)):
            return [self.of(one) for one in tensors]
        return tensors if getattr(tensors, 'graph', None) is self.graph else self.of_name(tensors.name)

    def run(self, one, tensors, values):
        """Runs tensors of a comparison's graph, in any structure, with the variables that its session holds."""
        if not self._has_tables:
            tables, self._has_tables = one.step.graph.get_collection('table_initializer'), True
            one.store.run(self.session, self._here(tables))
        held = one.store.read()
        setting = [(name, self._here([one.store.variables[name].initializer])) for name in held]
        pairs = [(Settable(found[0]), held[name]) for name, found in setting if found]
        graphs.assign(pairs, lambda now, feed: one.store.run(self.session, now, feed))
        return one.call.run(self.of(tensors), values, session=self.session)

    def _here(self, operations):
        """These operations in this graph, without those that were made later."""
        return [self.graph.get_operation_by_name(op.name) for op in operations if op.name in self._names]
