"""Sonnet 1: modules that a session's model calls on its tensors, and classes that are derived from its own.

Source: sonnet/python/modules of Sonnet 1.36. A module makes its variables by `tf.get_variable`, in a scope of its own
that goes by the reuse of the scope around it (`tf.make_template` in base.py): towers share them by their scopes.
"""

from __future__ import annotations

from converter.analysis.call import Call, Handler
from converter.analysis.effects import EffectKind
from converter.analysis.python.following import follow_method, not_followed
from converter.analysis.rows import below, makes, table
from converter.analysis.tensors import algebra, shaping
from converter.analysis.traits import Trait, has
from converter.analysis.values import Constant, Host, Instance, Lengths, Symbol, Tensor, Typed, Value, is_none
from rules.calls.training.loss import collection_key

MODULE = "SonnetModule"  # the kind of the objects
MODULES = "sonnet"  # the collection of all modules
PER_ROW = (
    "Linear Conv1D Conv2D Conv3D Conv1DTranspose Conv2DTranspose Conv3DTranspose DepthwiseConv2D SeparableConv1D "
    "SeparableConv2D InPlaneConv2D CausalConv1D AddBias BatchFlatten LayerNorm"
).split()
OF_WIDTH = ("Linear", "nets.MLP")  # what they make has two axes


def _called(call: Call) -> Value:
    """A module called on its input: each example by itself. `Embed` has one more axis than its input."""
    receiver, tensor = call.receiver, call.tensor(0, "inputs", "input_", "ids")
    made_by = receiver.name if isinstance(receiver, Typed) else ""
    call.walk.effect(EffectKind.VARIABLE, made_by, None, call.node)
    call.walk.effect(EffectKind.COLLECTION, MODULES, None, call.node)
    name = made_by.removeprefix("sonnet.")
    if name == "BatchNorm":
        return _normalised(call, receiver, tensor)
    return Tensor(algebra.by_rows(tensor.batch, made_by), call.values(), _dims(tensor, name), made_by)


def _normalised(call: Call, receiver: Value | None, tensor: Tensor) -> Value:
    """`BatchNorm`, whose updates stand in the collection of all updates, or run where it is called (`None`).

    Not followed if it is told the axes of its statistics, or another collection. Unless it is told otherwise, it uses
    the statistics of the batch in evaluations, too (sonnet/python/modules/batch_norm.py).
    """
    given = receiver.kwargs if isinstance(receiver, Typed) else {}
    kept_in = given.get("update_ops_collection")
    known = is_none(kept_in) or has(str(collection_key(kept_in)), Trait.UPDATES_COLLECTION)
    if not isinstance(receiver, Typed) or receiver.args or "axis" in given or not known:
        return not_followed(call, Symbol("sonnet", "BatchNorm"), call.name)
    local = call.get(2, "test_local_stats")
    averaged = isinstance(local, Constant) and local.value is False
    training = call.get(1, "is_training") if averaged else Constant(True)
    call.walk.effect(EffectKind.BATCH_NORM, receiver.name, training, call.node)
    return Tensor(algebra.not_linear(tensor.batch), call.values(), tensor.lengths, receiver.name)


def _dims(tensor: Tensor, name: str) -> Lengths:
    if name == "BatchFlatten":
        return (None, shaping.element_count(tensor))
    if name in OF_WIDTH:
        return (None, None)
    return None if tensor.dims is None else (None,) * (len(tensor.dims) + (name == "Embed"))


def _own_module(call: Call) -> Value:
    """An object of a class of the script that is derived from `sonnet.AbstractModule`: what its `_build` gives."""
    own, made = call.receiver, None
    call.walk.effect(EffectKind.COLLECTION, MODULES, None, call.node)
    if isinstance(own, Instance):
        made = follow_method(call, own, "_build", call.args, call.kwargs)
    return made or not_followed(call, own or Host(), call.name)


TRAITS: dict[Trait, str] = {Trait.LAYER: "sonnet.*"}

CALLS: dict[str, Handler] = table(
    (below("sonnet.", (*PER_ROW, "BatchNorm", "Embed", "nets.MLP", "nets.ConvNet2D")), makes(MODULE)),
    (f"{MODULE}.__call__", _called),
    ("sonnet.AbstractModule.__call__", _own_module),
)
