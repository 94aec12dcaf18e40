"""Layers whose class the script derives from `tf.layers.Layer`, `tf.keras.layers.Layer` or `tf.keras.Model`.

Calling the object executes `build` with the shapes of its first argument, the first time only, and `call` each time.
`tf.layers.Layer` opens a variable scope around both, named after the class, and reuses it from the second call on
(tensorflow/python/layers/base.py of TensorFlow 1.15). A Keras layer keeps the variables of `add_weight` in the object
(tensorflow/python/keras/engine/base_layer.py).
"""

from __future__ import annotations

import ast
from functools import partial

from converter.analysis.call import Call, Handler
from converter.analysis.effects import EffectKind
from converter.analysis.facts import Effect
from converter.analysis.flow.undo import StateChange
from converter.analysis.python.following import follow_method, not_followed
from converter.analysis.rows import makes, table
from converter.analysis.tensors import shaping
from converter.analysis.values import (
    Bound,
    Constant,
    Function,
    Host,
    Instance,
    Sequence,
    ShapeOf,
    Tensor,
    Value,
    Variable,
)
from rules.calls.layers.variable import get_variable

BUILT = "built"
FILLED_IN = {"mask"}  # arguments that Keras gives to `call` where the script does not


def _called(call: Call, scoped: bool) -> Value:
    """What `call` gives, within the scope that the library opens."""
    own = call.receiver
    if not isinstance(own, Instance) or not _is_followed(call, own):
        return not_followed(call, own or Host(), call.name)
    if scoped:
        call.walk.effect(EffectKind.VARIABLE, "layers.Layer", None, call.node)
        call.walk.scopes.append("?")
    seen = len(call.walk.facts.effects)
    try:
        if BUILT not in own.attributes:
            call.walk.undo_log.append(StateChange(own, BUILT, None))
            own.attributes[BUILT] = Constant(True)
            follow_method(call, own, "build", [_shapes(value) for value in call.args[:1]])
        made = follow_method(call, own, "call", call.args, call.kwargs)
    finally:
        if scoped:
            call.walk.scopes.pop()
    known = made is not None and not any(_is_unknown(effect, own) for effect in call.walk.facts.effects[seen:])
    return made if made is not None and known else not_followed(call, own, call.name)


def _is_unknown(effect: Effect, own: Instance) -> bool:
    """Whether a method of the library's class is called that is not known: `self.add_loss(x)`."""
    method = effect.value.inputs[0] if effect.kind is EffectKind.UNFOLLOWED and effect.value else None
    return isinstance(method, Bound) and method.receiver is own


def _is_followed(call: Call, own: Instance) -> bool:
    """True if the class says what a call does, and Keras fills in nothing that is not seen."""
    method = own.cls.find("call") if own.cls is not None else None
    if not isinstance(method, Function) or isinstance(method.node, ast.Lambda):
        return False
    names = [arg.arg for arg in method.node.args.args[1:]]
    left = {*names[len(call.args) :], *(arg.arg for arg in method.node.args.kwonlyargs)}
    return not (left & FILLED_IN) - call.kwargs.keys()


def _shapes(value: Value) -> Value:
    """The shape of a tensor, or a list with the shapes of several."""
    if isinstance(value, Sequence) and not value.many:
        return Sequence([_shapes(part) for part in value.elements], mutable=True)
    return ShapeOf(value) if isinstance(value, Tensor) else Host()


def _weight(call: Call) -> Value:
    """`self.add_weight(name, shape)` of a Keras layer."""
    dims = shaping.lengths_of(shaping.shape_entries(call.get(1, "shape")))
    trainable = call.get(5, "trainable")
    trained = not (isinstance(trainable, Constant) and trainable.value is False)
    variable = Variable(False, call.values(), dims, call.name, trained)
    call.walk.effect(EffectKind.OBJECT_VARIABLE, "keras.layers.Layer", variable, call.node)
    return variable


def _nothing(call: Call) -> Value:
    """`super().build(input_shape)`, which only notes that the layer is built."""
    return Constant(None)


def _methods(kind: str, base: str, weight: Handler, scoped: bool) -> tuple[tuple[str, Handler], ...]:
    return (
        (base, makes(kind)),
        (f"{kind}.__call__ {base}.__call__", partial(_called, scoped=scoped)),
        (f"{kind}.add_weight {kind}.add_variable", weight),
        (f"{kind}.build", _nothing),
    )


CALLS: dict[str, Handler] = table(
    *_methods("OwnLayer", "keras.layers.Layer", _weight, scoped=False),
    *_methods("OwnScopedLayer", "layers.Layer", get_variable, scoped=True),
    ("keras.Model.__call__ keras.models.Model.__call__", partial(_called, scoped=False)),
)
