"""The nets of slim: functions that make a whole net out of slim's layers, by the variable scope.

Source: tensorflow/contrib/slim/python/slim/nets of 1.15. A net gives a pair: its output, and a dict of what its layers
made, each of which has one row for each example.
"""

from __future__ import annotations

from converter.analysis.call import Call, Handler
from converter.analysis.effects import EffectKind
from converter.analysis.rows import below, table, unbatched
from converter.analysis.tensors import algebra
from converter.analysis.tensors.lengths import of_number
from converter.analysis.traits import Trait
from converter.analysis.values import Constant, Host, Lengths, Mapping, Number, Sequence, Tensor, Value, is_none

MODULE = "contrib.slim.nets."
DEPTHS = ("50", "101", "152", "200")
RESNETS = [f"resnet_{v}.resnet_{v}{depth}" for v in ("v1", "v2") for depth in ("", *(f"_{d}" for d in DEPTHS))]
INCEPTIONS = [f"{module}.inception_{v}" for v in ("v1", "v2", "v3") for module in ("inception", f"inception_{v}")]
WITH_POOLS = ["vgg.vgg_a", "vgg.vgg_16", "vgg.vgg_19", "alexnet.alexnet_v2", "overfeat.overfeat"]
POOLS = [f"pool{number}" for number in range(1, 6)]  # collected under their name scopes: `tower_0/vgg_16/pool5`
SQUEEZED = [*WITH_POOLS, *INCEPTIONS]
BASES = [f"{name}_base" for name in INCEPTIONS]
PARTS = [
    "resnet_utils.conv2d_same",
    "resnet_utils.subsample",
    "resnet_utils.stack_blocks_dense",
    "resnet_v1.bottleneck",
    "resnet_v2.bottleneck",
]
BLOCKS = "resnet_v1.resnet_v1_block resnet_v2.resnet_v2_block resnet_utils.Block"
NORMALIZING_SCOPES = [
    "resnet_utils.resnet_arg_scope",
    "resnet_v1.resnet_arg_scope",
    "resnet_v2.resnet_arg_scope",
    "inception.inception_v3_arg_scope",
    "inception_v3.inception_v3_arg_scope",
    *(f"{module}.inception_{v}_arg_scope" for v in ("v1", "v2") for module in ("inception", f"inception_{v}")),
]
PLAIN_SCOPES = ["vgg.vgg_arg_scope", "alexnet.alexnet_v2_arg_scope", "overfeat.overfeat_arg_scope"]


def _net(call: Call) -> Value:
    """A whole net: its output, which is squeezed to a row for each example where the net gives logits, and its layers.

    The output of a net of convolutions alone is an image of features.
    """
    classes = call.get(1 if call.name.endswith(tuple(SQUEEZED)) else 2, "num_classes")
    image: Lengths = (None,) * 4
    lengths: Lengths = image if call.name.endswith(tuple(BASES)) or _is_without_classes(call) else None
    if call.name.endswith(tuple(SQUEEZED)) and not call.given("spatial_squeeze"):
        lengths = (None, of_number(classes) if isinstance(classes, Number) else None)
    made = _part(call)
    made.lengths = lengths
    for pool in POOLS if call.name.endswith(tuple(WITH_POOLS)) else ():
        call.walk.stamp(Tensor(made.batch, (made, Constant(pool)), image, "contrib.slim.max_pool2d"), call.node)
    key = Host((), call.name, call.node)  # names of layers, of which each holds a row for each example
    return Sequence([made, Mapping([(key, Tensor(made.batch, (made,), None, call.name))])], mutable=False)


def _is_without_classes(call: Call) -> bool:
    """Whether a ResNet ends before the logits: it is given no number of classes."""
    resnet = call.name.endswith(tuple(RESNETS))
    if not resnet:
        return False
    position = 2 if call.name.endswith((".resnet_v1", ".resnet_v2")) else 1  # behind the blocks
    return is_none(call.get(position, "num_classes"))


def _part(call: Call) -> Tensor:
    """Layers with variables, each example by itself."""
    tensor = call.tensor(0, "inputs", "net")
    call.walk.effect(EffectKind.VARIABLE, call.name, None, call.node)
    if "resnet_v2" in call.name:  # these normalise before each unit, whatever the arg_scope says
        told = None if call.name.endswith("bottleneck") else call.get(3, "is_training")
        call.walk.effect(EffectKind.BATCH_NORM, call.name, told, call.node)
    made = call.gives(algebra.by_rows(tensor.batch, call.name), None if tensor.lengths is None else (None,) * 4)
    assert isinstance(made, Tensor)
    return made


def _normalizing_scope(call: Call) -> Value:
    """The layers inside of this arg_scope are followed by a batch norm."""
    call.walk.effect(EffectKind.BATCH_NORM_SCOPE, call.name, None, call.node)
    return call.typed("ArgScope")


TRAITS: dict[Trait, str] = {Trait.NAMES_LAYERS: f"{MODULE}*"}

CALLS: dict[str, Handler] = table(
    (below(MODULE, [*RESNETS, *SQUEEZED, *BASES]), _net),
    (below(MODULE, PARTS), _part),
    (below(MODULE, BLOCKS), unbatched()),
    (below(MODULE, NORMALIZING_SCOPES), _normalizing_scope),
    (below(MODULE, PLAIN_SCOPES), lambda call: call.typed("ArgScope")),
)
