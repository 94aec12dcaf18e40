"""tflearn's layers in a session's model: functions that make variables by the variable scope.

Source: tflearn/layers of tflearn 0.5. Batch normalisation and dropout are not here: they ask a variable whether the
model trains, and the first updates its averages where it is called, which each tower would do again.
"""

from __future__ import annotations

from converter.analysis.call import Call, Handler
from converter.analysis.effects import EffectKind
from converter.analysis.python.following import not_followed
from converter.analysis.rows import below, table
from converter.analysis.tensors import algebra, shaping
from converter.analysis.traits import Trait
from converter.analysis.values import Lengths, Symbol, Value

CONVOLUTIONS = "conv_1d conv_2d conv_3d conv_2d_transpose conv_3d_transpose atrous_conv_2d grouped_conv_2d".split()
POOLS = [f"{kind}_pool_{rank}d" for kind in ("max", "avg") for rank in (1, 2, 3)]
PLAIN = (*POOLS, "upsample_2d", "local_response_normalization", "activation")  # the axes of the input, no variables
FLAT = ("fully_connected", "flatten", "global_max_pool", "global_avg_pool")  # two axes, whatever the input has
WITH_VARIABLES = (*CONVOLUTIONS, "fully_connected")
MOST_POSITIONS = 6  # before that of the regularizer
MODULES = "tflearn. tflearn.layers. tflearn.layers.core. tflearn.layers.conv. tflearn.layers.normalization."


def _layer(call: Call) -> Value:
    """A layer, each example by itself; not followed if it adds a cost of its weights, which each tower would add."""
    if call.given("regularizer") or len(call.args) > MOST_POSITIONS:
        function = Symbol(*call.name.split(".", 1))
        return not_followed(call, function, call.name)
    name, tensor = call.name.rpartition(".")[2], call.tensor(0, "incoming")
    call.walk.effect(EffectKind.COLLECTION, "layer_tensor", None, call.node)
    if name in WITH_VARIABLES:
        call.walk.effect(EffectKind.VARIABLE, call.name, None, call.node)
    known = tensor.dims is not None
    dims: Lengths = (None,) * len(tensor.dims or ()) if known else None
    if name in FLAT:
        dims = (None, shaping.element_count(tensor) if name == "flatten" else None)
    return call.gives(algebra.by_rows(tensor.batch, call.name), dims)


TRAITS: dict[Trait, str] = {Trait.LAYER: "tflearn.*"}

CALLS: dict[str, Handler] = table((below(MODULES, (*CONVOLUTIONS, *PLAIN, *FLAT)), _layer))
