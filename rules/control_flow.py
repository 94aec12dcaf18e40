"""tf.cond, tf.while_loop and their like: the functions handed over build a part of the graph."""

from __future__ import annotations

from converter.analysis.signature import Call, Handler
from converter.analysis.values import Function, Sequence, Tensor, Value, opaque, tensors_in


def _cond(call: Call) -> Value:
    """One of two functions: what both give."""
    from converter.analysis.calling import call_value
    from converter.analysis.statements import join

    branches = [v for v in (call.get(1, "true_fn", "fn1"), call.get(2, "false_fn", "fn2")) if v is not None]
    made = [call_value(call.walk, branch, [], {}, call.node) for branch in branches]
    if len(made) == 2 and isinstance(made[0], Sequence) and isinstance(made[1], Sequence):
        pairs = zip(made[0].elements, made[1].elements, strict=False)
        return Sequence([join(one, two) for one, two in pairs])
    result = join(made[0], made[1]) if len(made) == 2 else Tensor(inputs=call.values(), op=call.name)
    if isinstance(result, Tensor):
        return Tensor(result.batch, (*call.values(), *made), result.dims, call.name)
    return result


def _loop(call: Call) -> Value:
    """while_loop, scan, fold: each state is like the one it began with, as far as that can be seen."""
    from converter.analysis.calling import call_with_unknowns

    body = [call_with_unknowns(call.walk, f) for f in call.values() if isinstance(f, Function)]
    inputs = [*call.values(), *body]
    batched = any(t.batch.kind != "free" for v in inputs for t in tensors_in(v))
    kept = opaque(f"tf.{call.name} goes over the batch in a way that is not followed") if batched else None
    start = call.get(2, "loop_vars")
    if isinstance(start, Sequence):
        return Sequence(
            [Tensor(kept, inputs, None, call.name) if kept else Tensor(inputs=inputs) for _ in start.elements]
        )
    return Tensor(kept, inputs, None, call.name) if kept else Tensor(inputs=inputs, op=call.name)


CALLS: dict[str, Handler] = {
    **dict.fromkeys(("cond", "contrib.layers.utils.smart_cond", "python.layers.utils.smart_cond", "smart_cond"), _cond),
    **dict.fromkeys(("while_loop", "scan", "map_fn", "foldl", "foldr", "py_func"), _loop),
}
