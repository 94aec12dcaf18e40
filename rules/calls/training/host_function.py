"""tf.py_func and its like: Python code in the graph, whose effect on the batch is not seen."""

from __future__ import annotations

from converter.analysis.call import Call, Handler
from converter.analysis.reasons import Why
from converter.analysis.rows import table
from converter.analysis.traits import Trait
from converter.analysis.values import FREE, Sequence, Tensor, Value, opaque, tensors_in


def _host_function(call: Call) -> Value:
    """One result per output type; only a later `set_shape` can tell whether it has a batch axis."""
    inputs = call.values()
    batched = any(t.batch.kind != "free" for v in inputs for t in tensors_in(v))
    kept = opaque(Why.HOST_FUNCTION, call.name) if batched else FREE
    types = call.get(2, "Tout")
    if isinstance(types, Sequence):
        return Sequence([Tensor(kept, inputs, None, call.name) for _ in types.elements], mutable=True)
    return Tensor(kept, inputs, None, call.name)


PYTHON = "py_func py_function numpy_function"

TRAITS: dict[Trait, str] = {
    Trait.CALLS_PYTHON: PYTHON,
    Trait.OWN_DTYPE: "py_func",
    Trait.LOADS_OPERATIONS: "load_op_library load_library",
}

CALLS: dict[str, Handler] = table((PYTHON, _host_function))
