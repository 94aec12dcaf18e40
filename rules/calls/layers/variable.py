"""Variables: names of get_variable follow the variable scope, names of tf.Variable the name scope."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from converter.analysis.arrays.shapes import filled_shape
from converter.analysis.call import Attribute, Call, Context, Handler
from converter.analysis.effects import EffectKind
from converter.analysis.python.following import follow
from converter.analysis.rows import makes, on_host, table, unbatched
from converter.analysis.tensors import shaping
from converter.analysis.traits import Argument, Trait
from converter.analysis.values import (
    LISTED,
    Bound,
    Class,
    Constant,
    Function,
    Host,
    Instance,
    Lengths,
    Number,
    Partial,
    Sequence,
    Tensor,
    Typed,
    Value,
    Variable,
    tensors_in,
)
from rules.calls.training.loss import note_scope

if TYPE_CHECKING:
    from converter.analysis.walk import Walk


def _raw(call: Call) -> Value:
    initial = call.get(0, "initial_value")
    dims = initial.lengths if isinstance(initial, Tensor) else _value_dims(initial)
    variable = Variable(True, call.values(), dims, call.name, _may_be_trained(call.get(1, "trainable")))
    call.walk.effect(EffectKind.RAW_VARIABLE, call.name, variable, call.node)
    return variable


def _may_be_trained(trainable: Value | None) -> bool:
    return not (isinstance(trainable, Constant) and trainable.value is False)


def _value_dims(value: Value | None) -> Lengths:
    if isinstance(value, (Number, Constant)):
        return ()
    if isinstance(value, Sequence) and value.elements and isinstance(value.elements[0], Number):
        return (len(value.elements),)
    return shaping.lengths_of(filled_shape(value))


def get_variable(call: Call) -> Value:
    """`tf.get_variable`, and what a layer of `tf.layers` calls in its scope."""
    dims = shaping.lengths_of(shaping.shape_entries(call.get(1, "shape")))
    initializer = call.get(3, "initializer")
    if dims is None and not isinstance(initializer, Constant):
        dims = initializer.lengths if isinstance(initializer, Tensor) else _value_dims(initializer)
    variable = Variable(False, call.values(), dims, call.name, _may_be_trained(call.get(5, "trainable")))
    call.walk.effect(EffectKind.VARIABLE, call.name, variable, call.node)
    if call.given("regularizer") and isinstance(call.kwargs["regularizer"], Function):
        loss = follow(call, call.kwargs["regularizer"], [variable])
        call.walk.collections.setdefault("regularization_losses", []).append(loss)
    return variable


def _global_step(call: Call) -> Value:
    variable = Variable(False, call.values(), (), call.name, trainable=False)
    call.walk.effect(EffectKind.VARIABLE, call.name, variable, call.node)
    return variable


def _collection(call: Call) -> Value:
    """tf.trainable_variables() and its like: the variables made so far."""
    call.walk.effect(EffectKind.GRAPH_STATE, call.name, None, call.node)
    note_scope(call, 0, of_variables=True)
    made = call.walk.variables()
    if call.name.endswith("trainable_variables"):
        made = [variable for variable in made if variable.trainable]
    return Sequence([*made, Tensor(op=LISTED)], mutable=True)


def _enter_scope(walk: Walk, scope: Typed, node: ast.expr) -> Callable[[], object]:
    name = scope.args[0] if scope.args else None
    walk.effect(EffectKind.SCOPE, scope.kind, scope, node)
    walk.scopes.append(str(getattr(name, "value", "")) if isinstance(name, Constant) else "?")
    return walk.scopes.pop


def _reuse_variables(call: Call) -> Value:
    receiver = call.receiver
    current = isinstance(receiver, Typed) and receiver.name == "get_variable_scope"
    call.walk.effect(EffectKind.REUSE, "current scope" if current and not call.walk.scopes else "", receiver, call.node)
    return Constant(None)


def _reuse(walk: Walk, scope: Value, node: ast.AST) -> None:
    walk.effect(EffectKind.REUSE_READ, "reuse", scope, node)


def _assign(call: Call) -> Value:
    """A change to a variable: by tf.assign or by its method."""
    values = call.values()
    call.walk.effect(EffectKind.ASSIGN, call.name, values[0] if values else None, call.node)
    result = Tensor(inputs=values, op="assign")
    call.walk.effect(EffectKind.ASSIGNED, call.name, result, call.node)
    return result


def _read(call: Call) -> Value:
    receiver = call.receiver
    return Tensor(
        inputs=call.values(), lengths=receiver.lengths if isinstance(receiver, Tensor) else None, op=call.name
    )


def _ema_apply(call: Call) -> Value:
    call.walk.effect(EffectKind.AVERAGE, call.name, call.receiver, call.node)
    call.walk.effect(EffectKind.MUTATION, call.name, call.receiver, call.node)  # .average() returns None before apply()
    for tensor in tensors_in(call.get(0, "var_list") or Host()):
        call.walk.effect(EffectKind.GRAPH_NAME, call.name, tensor, call.node)  # its average takes its name from it
    return Tensor(inputs=call.values(), op="ema")


def _ema_average(call: Call) -> Value:
    call.walk.effect(EffectKind.AVERAGE_READ, call.name, call.receiver, call.node)
    return Tensor(inputs=call.values(), op="average", lengths=call.tensor(0, "var").lengths)


ATTRIBUTES: dict[str, Attribute] = {"VariableScope.reuse": _reuse}

POSITIONS: dict[Argument, dict[str, int]] = {Argument.NAME: {"get_variable": 0}}

_GLOBAL_STEP = (
    "train.get_or_create_global_step train.create_global_step train.get_global_step "
    "contrib.framework.get_or_create_global_step contrib.slim.get_or_create_global_step "
    "contrib.framework.create_global_step contrib.framework.get_global_step"
)

TRAITS: dict[Trait, str] = {
    Trait.GIVES_STEP: _GLOBAL_STEP,
    Trait.NAMES_OPERATIONS: "name_scope variable_scope",
    Trait.INITIALIZES: (
        "global_variables_initializer initialize_all_variables local_variables_initializer tables_initializer"
    ),
    Trait.GROUPS: "group",
    Trait.ASSIGNS: "assign assign_add assign_sub scatter_update scatter_add scatter_sub scatter_nd_update",
    Trait.ALIKE_OF_SLICES: "get_shape shape dtype",
    Trait.OPENS_SCOPE: "name_scope variable_scope op_scope",
    Trait.OPENS_VARIABLE_SCOPE: "variable_scope variable_op_scope",
    Trait.CURRENT_SCOPE: "get_variable_scope",
    Trait.HOLDS_VARIABLES: "trainable_weights trainable_variables",
    Trait.PASSES_UPDATES: "group tuple",
    Trait.LISTS_VARIABLES: (
        "trainable_variables global_variables all_variables local_variables model_variables get_variables "
        "get_trainable_variables get_model_variables"
    ),
    Trait.PENALTIES: "regularization_losses",
    Trait.GROWS_WITH_VARIABLES: "trainable_variables variables regularization_losses",
    Trait.SETS_REUSE: "reuse_variables",
    Trait.VARIABLE_COLLECTION: "trainable_variables variables model_variables local_variables",
    Trait.GIVES_VARIABLES: (
        "trainable_variables global_variables all_variables model_variables moving_average_variables "
        "get_variables get_trainable_variables get_model_variables get_variables_to_restore"
    ),
    Trait.VARIABLES_KEY: (
        "TRAINABLE_VARIABLES GLOBAL_VARIABLES VARIABLES MODEL_VARIABLES trainable_variables variables"
    ),
    Trait.TAKES_VARIABLES: (
        "variables_initializer initialize_variables assign_from_checkpoint_fn assign_from_checkpoint "
        "init_from_checkpoint report_uninitialized_variables"
    ),
    Trait.TAKES_GRADIENTS: "group",
    Trait.TAKES_NUMBERS: "group",
    Trait.OF_ONE_VARIABLE: "assign",
    Trait.TAKES_VARIABLE: (
        "variables_initializer initialize_variables is_variable_initialized assign assign_add assign_sub "
        "scatter_update scatter_add scatter_sub average"
    ),
    Trait.BY_VARIABLE: "average_name",
    Trait.ADDITIVE: "get_variable_scope",
}


def _make_template(call: Call) -> Value:
    """A function whose calls share their variables: the first tower's calls make them, as those of one GPU do."""
    function = call.get(1, "func_")
    own = ("name_", "func_", "create_scope_now_", "unique_name_", "custom_getter_")
    given = {name: value for name, value in call.kwargs.items() if name not in own}
    if isinstance(function, (Function, Bound, Partial, Class, Instance)):
        return Partial(function, [], given)
    return Host(call.values(), call.name, call.node)


CALLS: dict[str, Handler] = table(
    ("Variable", _raw),
    (
        "examples.tutorials.mnist.input_data.read_data_sets contrib.learn.datasets.load_dataset "
        "contrib.learn.datasets.mnist.read_data_sets keras.datasets.mnist.load_data "
        "keras.datasets.cifar10.load_data keras.utils.get_file",
        on_host,
    ),
    (
        "get_variable contrib.framework.model_variable contrib.framework.variable contrib.slim.model_variable "
        "contrib.slim.variable contrib.framework.local_variable",
        get_variable,
    ),
    (_GLOBAL_STEP, _global_step),
    (
        "trainable_variables global_variables all_variables local_variables model_variables "
        "moving_average_variables contrib.slim.get_variables contrib.slim.get_trainable_variables "
        "contrib.slim.get_model_variables contrib.slim.get_variables_to_restore "
        "contrib.framework.get_variables contrib.framework.get_trainable_variables",
        _collection,
    ),
    (
        "global_variables_initializer initialize_all_variables local_variables_initializer variables_initializer "
        "tables_initializer initialize_local_variables",
        unbatched(effect=EffectKind.GRAPH_STATE),
    ),
    ("initialize_variables group no_op tuple", unbatched()),
    ("variable_scope variable_op_scope get_variable_scope", makes("VariableScope")),
    ("make_template", _make_template),
    ("name_scope op_scope", makes("NameScope")),
    ("VariableScope.reuse_variables", _reuse_variables),
    (
        "assign assign_add assign_sub scatter_update scatter_add scatter_sub Variable.assign "
        "Variable.assign_add Variable.assign_sub Variable.scatter_sub Variable.scatter_update "
        "train.assign_moving_average",
        _assign,
    ),
    ("Variable.read_value Variable.initialized_value Variable.value", _read),
    ("train.ExponentialMovingAverage", makes("ExponentialMovingAverage")),
    ("ExponentialMovingAverage.apply", _ema_apply),
    ("ExponentialMovingAverage.average ExponentialMovingAverage.average_name", _ema_average),
)

CONTEXTS: dict[str, Context] = {"NameScope": _enter_scope, "VariableScope": _enter_scope}
