"""tf.losses and the collections that losses are kept in."""

from __future__ import annotations

from converter.analysis.call import Call, Handler
from converter.analysis.effects import EffectKind
from converter.analysis.reasons import Why
from converter.analysis.rows import below, makes, table, unbatched
from converter.analysis.tensors import algebra
from converter.analysis.traits import Trait, has
from converter.analysis.values import (
    COLLECTION,
    LISTED,
    Batch,
    Constant,
    Counted,
    Host,
    Input,
    Mapping,
    Sequence,
    Symbol,
    Tensor,
    Value,
    is_none,
    opaque,
)
from rules.calls.operations.static_shape import take_rows

LOSSES = (
    "softmax_cross_entropy sparse_softmax_cross_entropy sigmoid_cross_entropy mean_squared_error absolute_difference "
    "hinge_loss huber_loss log_loss cosine_distance compute_weighted_loss mean_pairwise_squared_error"
).split()

WEIGHTS = {"compute_weighted_loss": 1, "cosine_distance": 3}  # where the weights stand, if not third


def _loss(call: Call) -> Value:
    """A mean over the examples (over those with a weight, where weights are given), kept in a collection."""
    operands = [algebra.as_tensor(v) for v in (*call.args[:2], *call.kwargs.values()) if isinstance(v, Tensor)]
    if "softmax" in call.name and any(isinstance(t, Input) and t.batch == Batch("example", 0) for t in operands):
        for operand in operands:
            take_rows(call, operand)
    batched = [t for t in operands if t.batch.kind != "free"]
    kept = Batch()
    if batched:
        kept = _reduction(call, batched)
    dims = () if kept.kind != "example" else None
    result = call.gives(kept, dims)
    collection = call.kwargs.get("loss_collection")
    if not (isinstance(collection, Constant) and collection.value is None):
        _collect(call, "losses", result)
    return result


def _collect(call: Call, key: object, value: Value) -> None:
    """Adds a value to a collection."""
    call.walk.collections.setdefault(key, []).append(value)
    call.walk.effect(EffectKind.COLLECTION, str(key), value, call.node)


def told_reduction(value: Value | None) -> str:
    """The last part of how a loss is told to reduce its rows, in lower case: `tf.losses.Reduction.SUM`, `'sum'`."""
    told = value.name if isinstance(value, Symbol) else getattr(value, "value", "")
    return str(told).rpartition(".")[2].lower()


def _reduction(call: Call, batched: list[Tensor]) -> Batch:
    if any(t.batch.kind == "opaque" for t in batched):
        return next(t.batch for t in batched if t.batch.kind == "opaque")
    combined = algebra.combine([t for t in batched if t.batch.kind == "example"])
    if combined.kind == "opaque":
        return combined
    if all(t.batch.kind == "reduced" for t in batched):
        linear = call.name.endswith("compute_weighted_loss")
        return batched[0].batch if linear else algebra.not_linear(batched[0].batch)
    if call.name.endswith("mean_pairwise_squared_error"):  # a sum over the examples (losses_impl.py, 1.15)
        return Batch("reduced", how="sum")
    how = told_reduction(call.kwargs.get("reduction"))
    if how == "none":
        return Batch("example", 0)
    if how == "sum":
        return Batch("reduced", how="sum")
    weights = call.get(WEIGHTS.get(call.name.rpartition(".")[2], 2), "weights")
    if isinstance(weights, Tensor) and weights.batch.kind == "example" and how != "sum_over_batch_size":
        if weights.maybe_other:
            return opaque(Why.MASK_IN_BRANCH)
        return Batch("reduced", how="mean", over=Counted(weights, "sum" if how == "mean" else "nonzero"))
    return Batch("reduced", how="mean")


def _add_to_collection(call: Call) -> Value:
    key, value = collection_key(call.get(0, "name", "names")), call.get(1, "value")
    if value is not None:
        _collect(call, key, value)
    return Constant(None)


def _add_loss(call: Call) -> Value:
    value = call.get(0, "loss")
    if value is not None:
        _collect(call, "losses", value)
    return Constant(None)


def _get_collection(call: Call) -> Value:
    key = collection_key(call.get(0, "key"))
    found = list(call.walk.collections.get(key, ()))
    rest = COLLECTION + str(key)
    if key in ("trainable_variables", "variables"):
        found, rest = list[Value](call.walk.variables()), LISTED
    call.walk.effect(EffectKind.GET_COLLECTION, str(key), None, call.node)
    note_scope(call, 1, of_variables=has(str(key), Trait.VARIABLE_COLLECTION))
    # A collection may hold more than the walk saw: layers add to it by themselves.
    made = Sequence([*found, Tensor(op=rest)], mutable=True)
    if found and has(str(key), Trait.PENALTIES):
        made.ends = (0, 0)  # those of the variables stand between them, anywhere
    return made


def note_scope(call: Call, position: int, of_variables: bool = False) -> None:
    """Notes that a collection is filtered by a scope; names of variables have no tower in front, those of scopes do."""
    scope = call.get(position, "scope")
    if not is_none(scope) and (not of_variables or getattr(scope, "kind", "") == "NameScope"):
        call.walk.effect(EffectKind.COLLECTION_SCOPE, call.name, scope, call.node)


def _collected_layers(call: Call) -> Value:
    """A dict of the tensors that the model's layers added to a collection by themselves.

    It may hold any tensor that the function has made by then. Which one lies under a name is not followed, but if all
    of them have a row for each example, in their order, the one under any name has, too.
    """
    walk = call.walk
    made = [t for t in walk.facts.tensors if t.time >= walk.frame.began and t.batch.kind != "free"]
    key = Host((), call.name, call.node)
    if not made:
        return Mapping([(key, Tensor(op=call.name))])
    rows = all(t.batch == Batch("example", 0) for t in made)
    kept = Batch("example", 0) if rows else opaque(Why.COLLECTED)
    layer = walk.stamp(Tensor(kept, made if rows else made[-1:], None, call.name), call.node)
    walk.effect(EffectKind.COLLECTION, str(collection_key(call.get(0, "collection"))), layer, call.node)
    return Mapping([(key, layer)])


def _collect_named(call: Call) -> Value:
    """Puts a tensor into a collection under a name, and gives it back (contrib/layers/python/layers/utils.py, 1.15)."""
    value = call.get(2, "outputs")
    key = collection_key(call.get(0, "collections"))
    if value is None or key is None:
        return value or Constant(None)
    _collect(call, key, value)
    return value


def collection_key(value: Value | None) -> object:
    """The name of a collection, however it is spelled; None where it is not known."""
    if isinstance(value, Symbol):
        return value.name.rpartition(".")[2].lower().replace("global_variables", "variables")
    return getattr(value, "value", None)


def _get_losses(call: Call) -> Value:
    key = "regularization_losses" if "regularization" in call.name else "losses"
    note_scope(call, 0)
    call.walk.effect(EffectKind.GET_COLLECTION, key, None, call.node)
    return Sequence([*call.walk.collections.get(key, ()), Tensor(op=COLLECTION + str(key))], mutable=True)


def _total_loss(call: Call) -> Value:
    call.walk.effect(EffectKind.TOTAL_LOSS, "losses", None, call.node)
    call.walk.effect(EffectKind.GET_COLLECTION, "regularization_losses", None, call.node)
    added = [value for key in ("losses", "regularization_losses") for value in call.walk.collections.get(key, ())]
    losses = [*added, Tensor(op=COLLECTION + "regularization_losses")]
    result = algebra.elementwise(call.walk.facts, "add_n", losses)
    result.lengths = ()
    return result


def _apply_regularization(call: Call) -> Value:
    """The sum of the weights' terms, which the call also adds to the collection (contrib/layers/regularizers.py)."""
    made = call.walk.stamp(REGULARIZED(call), call.node)
    _collect(call, "regularization_losses", made)
    return made


def _regularization_loss(call: Call) -> Value:
    """The sum of the collection: of what variables add, and of what the script has added itself."""
    own = call.walk.collections.get("regularization_losses", ())
    call.walk.effect(EffectKind.GET_COLLECTION, "regularization_losses", None, call.node)
    call.walk.effect(EffectKind.GRAPH_STATE, call.name, None, call.node)
    return Tensor(inputs=(*call.values(), *own), lengths=(), op=call.name)


REGULARIZED = unbatched((), effect=EffectKind.GRAPH_STATE)  # the loss of a weight
MODULES = ("losses.", "contrib.losses.", "contrib.slim.losses.")
REGULARIZERS = "l1_regularizer l2_regularizer l1_l2_regularizer l1 l2"
UTILITIES = ("contrib.slim.utils.", "contrib.layers.utils.")
TRAITS: dict[Trait, str] = {
    Trait.OF_PAIRS: "contrib.losses.metric_learning.*",
    Trait.ADDS_COLLECTED: "apply_regularization get_regularization_loss get_total_loss sum",
    Trait.GIVES_COLLECTED_LOSSES: "get_regularization_loss get_regularization_losses get_total_loss get_losses",
    Trait.DATA_PAIR: (
        "losses.mean_squared_error losses.absolute_difference losses.huber_loss losses.log_loss "
        "losses.sigmoid_cross_entropy losses.softmax_cross_entropy losses.sparse_softmax_cross_entropy"
    ),
    Trait.FLOAT32: (
        "losses.mean_squared_error losses.absolute_difference losses.log_loss losses.huber_loss losses.hinge_loss "
        "losses.cosine_distance"
    ),
    Trait.CASTS_LABELS: (
        "*softmax_cross_entropy* *.sigmoid_cross_entropy nn.weighted_cross_entropy_with_logits "
        "Distribution.cross_entropy"
    ),
    Trait.LOSS: "*losses.*",
    Trait.ROW_BY_ROW: "*losses.*",
    Trait.BESIDE_ROWS: "*losses.sparse_softmax_cross_entropy",
    Trait.GETS_LOSSES: "get_losses",
    Trait.NAMES_LAYERS: "*convert_collection_to_dict",
    Trait.TAKES_VARIABLE: "add_to_collection",
    Trait.GETS_COLLECTION: "get_collection get_collection_ref",
}

CALLS: dict[str, Handler] = table(
    (below(MODULES, LOSSES), _loss),
    (below(MODULES, "add_loss"), _add_loss),
    ("add_to_collection add_to_collections Graph.add_to_collection", _add_to_collection),
    ("get_collection get_collection_ref Graph.get_collection", _get_collection),
    (below(UTILITIES, "convert_collection_to_dict"), _collected_layers),
    (below(UTILITIES, "collect_named_outputs"), _collect_named),
    (below(MODULES, "get_losses get_regularization_losses"), _get_losses),
    (below(MODULES, "get_total_loss"), _total_loss),
    (below("contrib.layers. contrib.slim. keras.regularizers.", REGULARIZERS), makes("Regularizer")),
    ("Regularizer.__call__", REGULARIZED),
    ("contrib.layers.apply_regularization", _apply_regularization),
    ("losses.get_regularization_loss", _regularization_loss),
)
