"""Optimizers: one instance outside the loop; each tower computes gradients, their average is applied once."""

from __future__ import annotations

import ast

from converter.analysis.call import Call, Handler
from converter.analysis.facts import RateSite, StepKind, TrainStep
from converter.analysis.library import naming
from converter.analysis.python.following import follow_method
from converter.analysis.rows import below, makes, table, unbatched
from converter.analysis.traits import Argument, Trait
from converter.analysis.values import Batch, Constant, Instance, Sequence, Symbol, Tensor, Value, is_none

OPTIMIZERS = (
    "GradientDescentOptimizer MomentumOptimizer AdamOptimizer AdagradOptimizer AdadeltaOptimizer RMSPropOptimizer "
    "FtrlOptimizer ProximalAdagradOptimizer ProximalGradientDescentOptimizer AdagradDAOptimizer"
).split()
CONTRIB = (
    "LazyAdamOptimizer NadamOptimizer AdamWOptimizer MomentumWOptimizer AdaMaxOptimizer PowerSignOptimizer "
    "AddSignOptimizer LARSOptimizer"
).split()

WRAPPERS = (
    "train.experimental.enable_mixed_precision_graph_rewrite mixed_precision.enable_mixed_precision_graph_rewrite "
    "train.experimental.MixedPrecisionLossScaleOptimizer mixed_precision.MixedPrecisionLossScaleOptimizer "
    "contrib.mixed_precision.LossScaleOptimizer contrib.opt.MovingAverageOptimizer "
    "contrib.estimator.clip_gradients_by_norm"
).split()


# tensorflow/contrib/opt/python/training/weight_decay_optimizers.py (1.15): the weight decay comes first
EXTENDED = "contrib.opt.OptimizerWithDecoupledWeightDecay"  # what the function gives that extends a class
SECOND_IS_RATE = ("contrib.opt.AdamWOptimizer", "contrib.opt.MomentumWOptimizer", EXTENDED)


# Where a call has the gradient with respect to the loss (training/optimizer.py, ops/gradients_impl.py, 1.15).
WEIGHTS = {
    StepKind.MINIMIZE: (7, "grad_loss"),
    StepKind.COMPUTE: (5, "grad_loss"),
    StepKind.GRADIENTS: (2, "grad_ys"),
}


def _optimizer(call: Call) -> Value:
    _note_rate(call, 1 if call.name in SECOND_IS_RATE else 0)
    return call.typed("Optimizer")


def _note_rate(call: Call, position: int) -> None:
    """Notes where a call has its learning rate, the argument at a position or by name."""
    node = call.node
    spread = any(isinstance(a, ast.Starred) for a in node.args) or any(k.arg is None for k in node.keywords)
    passed = spread or len(call.args) != len(node.args) or len(call.kwargs) != len(node.keywords)
    rate = None if passed else call.node_of(position, "learning_rate")
    call.walk.facts.rates.append(RateSite(node, call.name, rate, call.get(position, "learning_rate"), passed))


def _extended(call: Call) -> Value:
    """A class of optimizers that decay weights and then do as the one that is given."""
    return Symbol(naming().library, EXTENDED)


def _minimize(call: Call) -> Value:
    """The step; of a class of the script by its own methods, as the inherited one calls them (optimizer.py, 1.15)."""
    own, loss = call.receiver, call.tensor(0, "loss")
    variables = call.get(2, "var_list")
    given = {"global_step": call.get(1, "global_step") or Constant(None)}
    result = Tensor(inputs=call.values(), op="train op")
    if not isinstance(own, Instance):
        _record(call, StepKind.MINIMIZE, loss, own, variables, result)
        return result
    to = {"var_list": variables or Constant(None)}
    pairs = follow_method(call, own, "compute_gradients", [loss], to)
    if pairs is None:
        _record(call, StepKind.MINIMIZE, loss, own, variables, result)
        pairs = _pairs(Tensor(inputs=(result,), op="gradient"))
        follow_method(call, own, "apply_gradients", [pairs], given)
        return result
    applied = follow_method(call, own, "apply_gradients", [pairs], given)
    made = (pairs, *given.values()) if applied is None else (applied, pairs)
    return Tensor(inputs=made, op="train op")


def _compute_gradients(call: Call) -> Value:
    loss = call.tensor(0, "loss")
    if call.node in call.walk.facts.within:
        return _pairs(_of_batch(call, loss))
    result = Tensor(inputs=(*call.values(), loss), op="gradients")
    _record(call, StepKind.COMPUTE, loss, call.receiver, call.get(1, "var_list"), result)
    return _pairs(Tensor(inputs=(result,), op="gradient"))


def _pairs(gradient: Tensor) -> Value:
    pair = Sequence([gradient, Tensor(op="variable")])
    return Sequence([pair], mutable=True, many=True)


def _gradients(call: Call) -> Value:
    """tf.gradients: of a loss with respect to variables it is a training step, else part of a model."""
    ys, xs = call.get(0, "ys"), call.get(1, "xs")
    loss = call.tensor(0, "ys")
    inputs = xs.elements if isinstance(xs, Sequence) else [xs] if xs is not None else []
    batched = [x for x in inputs if isinstance(x, Tensor) and x.batch.kind != "free"]
    if batched:
        made = [Tensor(x.batch, call.values(), x.lengths, "gradients") for x in batched]
        return Sequence(made, mutable=True)
    if call.node in call.walk.facts.within:
        made = [_of_batch(call, loss) for _ in inputs or [loss]]
        return Sequence(made, mutable=True, many=isinstance(xs, Sequence) and xs.many)
    result = Tensor(inputs=call.values(), op="gradients")
    if loss.batch.kind != "free" or ys is not None:
        _record(call, StepKind.GRADIENTS, loss, None, xs, result)
    many = isinstance(xs, Sequence) and xs.many
    return Sequence([Tensor(inputs=(result,), op="gradient") for _ in inputs] or [result], mutable=True, many=many)


def _of_batch(call: Call, loss: Tensor) -> Tensor:
    """A gradient with respect to variables that is a part of the model: of a mean it is the mean of the gradients."""
    batch = Batch("reduced", how="sum") if loss.batch.kind == "example" else loss.batch
    return Tensor(batch, (*call.values(), loss), op="gradients")


def _clip_all(call: Call) -> Value:
    values = call.get(0, "t_list")
    if isinstance(values, Sequence):
        tensors = [Tensor(inputs=call.values(), op="clip") for _ in values.elements]
        clipped = Sequence(tensors, mutable=True, many=values.many)
        return Sequence([clipped, Tensor(inputs=call.values(), op="global_norm")])
    return Sequence([Tensor(inputs=call.values(), op="clip") for _ in range(2)])


def _train_op_function(call: Call) -> Value:
    """optimize_loss, create_train_op: functions that build the whole step."""
    loss = call.tensor(0, "loss", "total_loss")
    result = Tensor(inputs=call.values(), op="train op")
    optimizer = call.get(3, "optimizer") if "optimize_loss" in call.name else call.get(1, "optimizer")
    if "optimize_loss" in call.name and not is_none(call.get(2, "learning_rate")):
        _note_rate(call, 2)
    _record(call, StepKind.FUNCTION, loss, optimizer, call.kwargs.get("variables_to_train"), result)
    return result


def _record(
    call: Call, kind: StepKind, loss: Tensor, optimizer: Value | None, variables: Value | None, result: Tensor
) -> None:
    walk = call.walk
    assert walk.site is not None
    node = call.node_of(0, "loss", "ys", "total_loss")
    step = TrainStep(
        kind=kind,
        function=call.name if kind is StepKind.FUNCTION else kind.value,
        loss=loss,
        optimizer=optimizer,
        call=call.node,
        site=walk.site,
        time=walk.clock,
        loss_node=node,
        variables=variables,
        result=result,
        weights=call.get(*WEIGHTS[kind]) if kind in WEIGHTS else None,
    )
    walk.facts.train_steps.append(step)


DECAYS = (
    "exponential_decay piecewise_constant polynomial_decay natural_exp_decay inverse_time_decay cosine_decay "
    "linear_cosine_decay noisy_linear_cosine_decay cosine_decay_restarts"
).split()

# Arguments that count training steps, and those that schedules take for the number of the step
# (tensorflow/python/training/learning_rate_decay.py and keras/optimizer_v2/learning_rate_schedule.py, 1.15).
STEP_NUMBERS = {
    **{f"train.{name}": ((2, "decay_steps"),) for name in DECAYS},
    "train.cosine_decay_restarts": ((2, "first_decay_steps"),),
    "train.piecewise_constant": ((1, "boundaries"),),
    **{
        f"keras.optimizers.schedules.{name}": ((1, "decay_steps"),)
        for name in ("ExponentialDecay", "PolynomialDecay", "InverseTimeDecay")
    },
    "keras.optimizers.schedules.PiecewiseConstantDecay": ((0, "boundaries"),),
}
STEP_COUNTERS = {
    **{f"train.{name}": (1, "global_step") for name in DECAYS},
    "train.piecewise_constant": (0, "x"),
}

# tensorflow/python/training/adam.py, adadelta.py; contrib/opt/python/training/*.py (1.15)
DEFAULT_RATES = {
    "train.AdamOptimizer": "0.001",
    "train.AdadeltaOptimizer": "0.001",
    "contrib.opt.NadamOptimizer": "0.001",
    "contrib.opt.LazyAdamOptimizer": "0.001",
    "contrib.opt.AdamWOptimizer": "0.001",
    "contrib.opt.AdaMaxOptimizer": "0.001",
    "contrib.opt.PowerSignOptimizer": "0.1",
    "contrib.opt.AddSignOptimizer": "0.1",
}

# What optimize_loss takes for a name (OPTIMIZER_CLS_NAMES, tensorflow/contrib/layers/python/layers/optimizers.py, 1.15)
BY_NAME = {
    "Adagrad": "AdagradOptimizer(rate)",
    "Adam": "AdamOptimizer(rate)",
    "Ftrl": "FtrlOptimizer(rate)",
    "Momentum": "MomentumOptimizer(rate, 0.9)",
    "RMSProp": "RMSPropOptimizer(rate)",
    "SGD": "GradientDescentOptimizer(rate)",
}

POSITIONS: dict[Argument, dict[str, int]] = {Argument.OPTIMIZER: {"optimize_loss": 3, "create_train_op": 1}}

# Arguments by which a call clips gradients.
CLIP_ARGUMENTS = {"optimize_loss": "clip_gradients", "create_train_op": "clip_gradient_norm"}

TRAITS: dict[Trait, str] = {
    Trait.CLIPS: "clip_by_global_norm clip_by_norm clip_by_average_norm clip_gradients_by_norm",
    Trait.TRAINS: "minimize apply_gradients",
    Trait.TRAINS_IN_ANY_CALL: "minimize apply_gradients optimize_loss",
    Trait.TAKES_VARIABLES: "minimize compute_gradients gradients optimize_loss create_train_op",
    Trait.TAKES_PAIRS: "apply_gradients",
    Trait.GIVES_PAIRS: "compute_gradients",
    Trait.GIVES_GRADIENTS: "gradients",
    Trait.CLIPS_TOGETHER: "clip_by_global_norm",
    Trait.AVERAGES_BEHIND_STEP: "MovingAverageOptimizer",
    Trait.BY_NAME: "optimize_loss",
    Trait.SLOTS_IN_SCOPE: "optimize_loss",
    Trait.TAKES_VARIABLE: "minimize compute_gradients gradients",
    Trait.BY_VARIABLE: (
        "LARSOptimizer LAMBOptimizer ShampooOptimizer GGTOptimizer MovingAverageOptimizer swapping_saver "
        "variables_to_restore set_custom_getter get_variables_by_name get_variables_by_suffix get_unique_variable "
        "create_partitioned_variables"
    ),
    Trait.OPTIMIZER: "train.*Optimizer contrib.opt.*Optimizer",
    Trait.ALWAYS_TRUE: "Optimizer Cell",
    Trait.SCHEDULES: "keras.optimizers.schedules.* " + " ".join(f"train.{name}" for name in DECAYS),
}

CALLS: dict[str, Handler] = table(
    (below("train.", OPTIMIZERS), _optimizer),
    (below("contrib.opt.", CONTRIB), _optimizer),
    (WRAPPERS, makes("Optimizer")),
    ("contrib.opt.extend_with_decoupled_weight_decay", _extended),
    (EXTENDED, _optimizer),
    ("Optimizer.minimize", _minimize),
    ("Optimizer.compute_gradients", _compute_gradients),
    ("Optimizer.apply_gradients", unbatched(op="train op")),
    ("gradients", _gradients),
    ("clip_by_global_norm", _clip_all),
    (
        "contrib.layers.optimize_loss contrib.slim.learning.create_train_op contrib.training.create_train_op",
        _train_op_function,
    ),
    (below("train.", DECAYS), unbatched(())),
)
