"""The original's model for batches of another size than the one that its graph is made for.

A placeholder of a fixed size takes no tower's share of its batch, and no batch of several towers. So the operations
that compute with the batch are copied behind placeholders of any size, and the losses are differentiated anew: what
TensorFlow knew of the size when it made the first graph is in none of the gradients. Numbers that hold the size, as
shapes do, are fed as they are for another one (grown.py).
"""

from __future__ import absolute_import, division, print_function

from tmgprobe.graph import graphs
from tmgprobe.reference import grown
from tmgprobe.session import step as steps
from tmgprobe.values import compare

SCOPE = 'tf_multigpu_probe_remade/'
SAME = 1e-3  # relative error up to which the copy gives the script's own gradients
LOOPS = ('Enter', 'RefEnter')  # a copy of a loop cannot be differentiated


class RemadeModel(object):
    """The copy. tensors: {name of a tensor of the original: what stands for it}; copied: the original's operations.

    Raises ValueError where it cannot be made.
    """

    def __init__(self, one):
        self.graph, self.tensors, self.copied = one.step.graph, {}, set()
        if any(one.stages.groups):
            raise ValueError('gradients wait for an update')
        graph, scope = self.graph, self.graph.name_scope(SCOPE)
        with graphs.opened(graph), graph.as_default(), graph.device(None), graph.control_dependencies(None), scope:
            self._copy(one)
            for group in one.groups:
                self._differentiate(one, group)

    def _copy(self, one):
        """Copies what computes with the batch, and with no gradient."""
        tf, dependent = one.call.tf, graphs.descendants(one.batch, one.step.operations)
        made = one.step.differentiating
        behind = made | graphs.descendants([tensor for op in made for tensor in op.outputs], one.step.operations)
        copied = self.copied = {op for op in dependent - behind if not graphs.writes(op)}
        if any(op.type in LOOPS for op in copied):
            raise ValueError('a loop computes with the batch')
        nodes, whole, given = tf.GraphDef(), self.graph.as_graph_def(), {}
        nodes.versions.CopyFrom(whole.versions)
        nodes.library.CopyFrom(whole.library)
        for tensor in one.batch:
            self.tensors[tensor.name] = given[tensor.name] = tf.placeholder(tensor.dtype.base_dtype, _open(tensor))
        shaped, long = grown.sized(one, given, copied)
        for name, tensor in dict(shaped, **long).items():
            shape = _open(tensor) if name in long else graphs.static_shape(tensor)
            self.tensors[name] = given[name] = tf.placeholder_with_default(tensor, shape)
        for op in copied:
            node = nodes.node.add()
            node.CopyFrom(op.node_def)
            node.ClearField('device')
            node.attr.pop('_class', None)  # where it is placed
            given.update((each.name, each) for each in op.inputs if each.op not in copied and each.name not in given)
            del node.input[:]
            node.input.extend(each.name for each in op.inputs)
            node.input.extend('^' + each.name for each in op.control_inputs if each in copied)
        wanted = [each.name for op in copied for each in op.outputs]
        found = tf.import_graph_def(nodes, given, wanted, name='copy')
        self.tensors.update(zip(wanted, found))

    def _differentiate(self, one, group):
        losses = [self.tensors[loss.name] for loss in group.losses]
        targets = [one.store.variables[name] for name in group.variables]
        for raw, found in zip(group.raw, one.step.watched.differentiate(losses, targets)):
            pair = graphs.tensors(raw), graphs.tensors(found)
            if len(pair[0]) != len(pair[1]):
                raise ValueError('other gradients')
            self.tensors.update((own.name, new) for own, new in zip(*pair))

    def run(self, one, tensors, values):
        """Tensors of the original, in any structure, on a batch with any number of rows; values: what it is fed."""
        rows = len(values[one.batch[0].name])
        fed = dict(grown.shapes(one, one.fitting(values), self.copied, rows), **values)
        return one.call.run(self.of(tensors), {self.of_name(name): value for name, value in fed.items()})

    def settled(self, one, weights, values):
        """A feed for the original with which its run writes and loses what a batch of any size leads to."""
        wanted = {loss.name: loss for loss in one.losses if loss.get_shape().ndims == 0}
        trained = {name.split(':')[0] for name in one.step.trained}
        for operation in one.step.operations:
            written = graphs.assigned(operation)
            if written and written not in trained and operation.inputs[1].name in self.tensors:
                wanted[operation.inputs[1].name] = operation.inputs[1]
        one.load(weights)
        return dict(one.fitting(values), **self.run(one, wanted, values))

    def is_plain(self, one, weights):
        """Whether the copy gives the script's own gradients of a batch that the original takes."""
        groups, found = [steps.gradients_fetch(group.raw) for group in one.groups], []
        values = dict(one.extra, **one.fitting({}))
        for run in (lambda: self.run(one, groups, values), lambda: one.call.run(groups, values)):
            one.load(weights)
            named = [(place, key, each) for place, group in enumerate(run()) for key, each in group.items()]
            found.append({name[:2] + (part,): value for name in named for part, value in enumerate(_parts(name[2]))})
        return max(compare.gradient_errors(*found).values() or [0.0]) <= SAME

    def of_name(self, name):
        """The name of what stands for a tensor; its own where it is the same here."""
        return self.tensors[name].name if name in self.tensors else name

    def of(self, tensors):
        """Tensors in any structure, each as it is in the copy."""
        if isinstance(tensors, dict):
            return {key: self.of(one) for key, one in tensors.items()}
        if isinstance(tensors, (list, tuple)):
            return [self.of(one) for one in tensors]
        return self.tensors.get(getattr(tensors, 'name', None), tensors)


def _open(tensor):
    """The shape of a tensor with any number of rows."""
    shape = graphs.static_shape(tensor)
    return shape and [None] + shape[1:]


def _parts(gradient):
    """A gradient's arrays: one, or the values and indices of a sparse one."""
    return list(gradient) if isinstance(gradient, (list, tuple)) else [gradient]


def made(one):
    """The copy of the model of a comparison; False where there is none that gives the script's own gradients."""
    fed = all(tensor.name in one.call.arrays for tensor in one.batch)
    if not one.batch or not fed or any(pair['axis'] or pair['sparse'] for pair in one.pairs):
        return False
    try:
        model = RemadeModel(one)
        return model if model.is_plain(one, one.kept['before']) else False
    except Exception:  # whatever TensorFlow says of a part of a graph, or of gradients that it cannot have
        return False
