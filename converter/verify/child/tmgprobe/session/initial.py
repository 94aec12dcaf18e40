"""The start of the variables: their initialisers, and their values at the first training step.

Initialisers that draw numbers are told apart by what they give while the probe holds every draw to a constant
that follows from the parameters of the draw (session/watch.py): a normal distribution with another deviation
gives another constant.
"""

from __future__ import absolute_import, division, print_function

import re

import numpy as np
from tmgprobe.graph import graphs
from tmgprobe.session import fetches as fetched
from tmgprobe.values import slices

RANDOM = re.compile(r'(Stateless)?(Random|TruncatedNormal|ParameterizedTruncated|Multinomial|Categorical)')
# operations whose value may differ when computed again, or is that of a variable
OUTSIDE = re.compile(r'(PyFunc|EagerPyFunc|Queue|Reader|Iterator|Placeholder|Variable|VarHandle|ReadVariable)')
LARGEST = 2**28  # bytes of initial values that are recomputed at most
SAMPLE = 2**18  # elements of a variable from which its statistics are computed
DEFAULT_SEED = 87654321  # the graph's seed if only an operation has one (python/framework/random_seed.py, 1.4 to 2.21)


def read(call, store, start):
    """{name of a global variable: what it starts from}.

    start: values that the first training step finds. Each entry has `random`, the types of the operations that
    draw, sorted; `seeds`, those that the script gave them; `reads`, the variables that it is computed from, as
    averages that start from what they follow; `held`, figures of the initial value with the draws
    held still, None where that cannot be computed; `start`, figures of the value, None where there is none.
    """
    graph = call.session.graph
    listed = {variable.name for variable in graph.get_collection('variables')}
    # of a variable in slices the slices are listed, and the store has the whole
    sliced = slices.SlicedVariable
    names = [name for name, one in sorted(store.variables.items()) if name in listed or isinstance(one, sliced)]
    above = {name: _above(store.variables[name]) for name in names}
    held = _held(call, {name: store.variables[name] for name in names if _computable(above[name], store, name, start)})
    return {
        name: {
            'random': sorted(op.type for op in above[name] if RANDOM.match(op.type)),
            'seeds': _seeds(graph, above[name]),
            'reads': sorted({op.name for op in above[name] if op.type in graphs.HANDLES}),
            'held': held.get(name),
            'start': figures(start[name]) if name in start else None,
        }
        for name in names
    }


def _parts(variable):
    return list(variable.variables) if isinstance(variable, slices.SlicedVariable) else [variable]


def _initial(variable):
    """The tensor that a variable is set to; None where an operation without one sets it."""
    operation = getattr(variable, 'initializer', None)
    return operation.inputs[1] if operation is not None and len(operation.inputs) > 1 else None


def _above(variable):
    tensors = [_initial(part) for part in _parts(variable)]
    return graphs.ancestors(tensor.op for tensor in tensors if tensor is not None)


def _computable(above, store, name, start):
    """Whether the initial value can be recomputed with its random operations held still."""
    drawn = [op for op in above if RANDOM.match(op.type)]
    gates = [op for op in above if op.type in ('Select', 'SelectV2') and 'tf_multigpu_probe' in op.name]
    small = getattr(start.get(name), 'nbytes', 0) <= LARGEST
    outside = [op for op in above if OUTSIDE.match(op.type) and 'tf_multigpu_probe' not in op.name]
    return small and len(drawn) <= len(gates) and not outside


def _seeds(graph, above):
    """The seeds that the script gave to operations; those that TensorFlow counts up itself say nothing."""
    found = []
    for op in above:
        if RANDOM.match(op.type) and 'seed2' in op.node_def.attr:
            seeds = [int(op.get_attr('seed')), int(op.get_attr('seed2'))]
            if graph.seed is None and seeds[0] == DEFAULT_SEED:
                found.append(seeds[1])
    return sorted(found)


def _held(call, variables):
    """{name: figures of the initial value}, of those that can be computed."""
    tensors = {name: [_initial(part) for part in _parts(variable)] for name, variable in variables.items()}
    fetchable = call.session.graph.is_fetchable
    tensors = {name: all_ for name, all_ in tensors.items() if all(t is not None and fetchable(t) for t in all_)}
    refused = (call.tf.errors.OpError, ValueError)
    found = fetched.computable(lambda wanted: call.run(wanted, {}), tensors, refused)
    return {
        name: figures(one.value(values) if isinstance(one, slices.SlicedVariable) else values[0])
        for name, values, one in ((name, values, variables[name]) for name, values in found.items())
    }


def figures(value):
    """[numbers, different ones among the first, mean, deviation, least, largest]; None for what is no number."""
    value = np.asarray(value)
    if value.dtype.kind not in 'fiub':
        return None
    flat = value.ravel()
    flat = np.asarray(flat[:: max(1, flat.size // SAMPLE)], np.float64)
    if not flat.size:
        return [0, 0, 0.0, 0.0, 0.0, 0.0]
    return [
        int(value.size),
        int(np.unique(flat[:4096]).size),
        float(np.mean(flat)),
        float(np.std(flat)),
        float(np.min(flat)),
        float(np.max(flat)),
    ]
