"""Sessions: they get a ConfigProto for several GPUs; what is fed shows which placeholders are batches."""

from __future__ import annotations

import ast
from collections.abc import Callable
from itertools import combinations
from typing import TYPE_CHECKING

from converter.analysis.call import Call, Context, Handler
from converter.analysis.effects import EffectKind
from converter.analysis.facts import RunCall, SessionSite
from converter.analysis.flow.joined import leaves
from converter.analysis.inputs.graph_names import given_name, pattern_of
from converter.analysis.python.following import follow, follow_method, not_followed
from converter.analysis.python.joins import join
from converter.analysis.rows import below, itself, makes, on_host, table, together
from converter.analysis.traits import Trait, has
from converter.analysis.values import (
    Bound,
    Constant,
    Function,
    Host,
    Instance,
    Mapping,
    Number,
    Sequence,
    Tensor,
    Typed,
    Value,
    is_none,
    tensors_in,
)
from rules.calls.layers.keras import SEQUENTIAL
from rules.calls.training.hooks import asked_by_hooks, end_hooks, hooked, tell_hooks, unhooked

if TYPE_CHECKING:
    from converter.analysis.walk import Walk


def by_name(walk: Walk, text: str, node: ast.AST) -> Tensor | None:
    """The tensor or operation of a name, None where it is not known which."""
    wanted = text.partition(":")[0]
    found = [t for t in walk.facts.tensors if (name := given_name(t)) and wanted == "/".join([*t.scopes, name])]
    made = found[-1] if len({t.node for t in found}) == 1 else _made_in_one_branch(found)
    if made is None:
        walk.effect(EffectKind.LOOKUP, text, None, node)
        return None
    walk.facts.named.append((made, text, node))
    return made


def _made_in_one_branch(found: list[Tensor]) -> Tensor | None:
    """The tensor that whichever branch is taken gives a name; None where one graph may hold several of this name."""
    sites = [t.site for t in found if t.site is not None]
    apart = len(found) == len(sites) > 1 and all(one.excludes(two) for one, two in combinations(sites, 2))
    if not apart or len({(t.batch, t.rank) for t in found}) > 1:
        return None
    made: Value = found[0]
    for other in found[1:]:
        made = join(made, other)
    made.site, made.time = found[-1].site, found[-1].time  # it is no operation of its own where it is looked up
    return made if isinstance(made, Tensor) else None


def resolved(walk: Walk, value: Value, node: ast.AST) -> Value:
    """Fetches with tensors in place of their names, through lists and dicts; a name may be read: `x.name`."""
    if isinstance(value, Bound) and value.name == "name" and isinstance(value.receiver, Tensor):
        return value.receiver
    if isinstance(value, Constant) and isinstance(value.value, str):
        return by_name(walk, value.value, node) or value
    if isinstance(value, Sequence) and any(isinstance(v, (Bound, Constant, Sequence, Mapping)) for v in value.elements):
        return Sequence([resolved(walk, v, node) for v in value.elements], value.mutable, value.many)
    if isinstance(value, Mapping):
        return Mapping([(key, resolved(walk, inner, node)) for key, inner in value.pairs])
    return value


def _session(position: int) -> Handler:
    """The call makes a session; position: where its config stands."""

    def made(call: Call) -> Value:
        _note_session(call, position)
        return hooked(call, call.typed("Session"))

    return made


def _note_session(call: Call, position: int, keyword: str = "config", creator: str = "") -> None:
    """Notes a call that makes a session, and where its config stands, or the creator that has the config."""
    assert call.walk.site is not None
    site = SessionSite(
        call=call.node,
        site=call.walk.site,
        name=call.name,
        config=None if creator else call.get(position, keyword),
        config_node=call.node_of(position, keyword),
        keyword=keyword,
        creator=creator,
    )
    call.walk.facts.sessions.append(site)


def _watched(call: Call) -> Value:
    """TensorFlow's debugger around a session: it runs what the session runs, with the same feeds."""
    return call.get(0, "sess") or call.typed("Session")


def _creator(call: Call) -> Value:
    """An object that makes a session when a MonitoredSession asks it to; it has the session's config."""
    _note_session(call, 2)
    return call.typed("SessionCreator")


def _monitored_session(call: Call) -> Value:
    """A session that a creator makes: the script's, or one of TensorFlow's without a config."""
    creator = call.get(0, "session_creator")
    spread = any(keyword.arg is None for keyword in call.node.keywords)
    if isinstance(creator, Instance):
        follow_method(call, creator, "create_session", [])
    elif not spread and is_none(creator):
        _note_session(call, 0, "session_creator", creator="train.ChiefSessionCreator")
    return hooked(call, call.typed("Session"))


def _run_step(call: Call) -> Value:
    """A function of the script that is given the session, and runs it itself."""
    function = call.get(0, "step_fn")
    context = call.typed("StepContext")
    assert call.receiver is not None
    context.state["session"], context.state[HOOKED] = unhooked(call.receiver), call.receiver
    return follow(call, function, [context]) if function is not None else Host(call.values())


def _train_loop(position: int, keyword: str) -> Handler:
    """The call makes a session with this config, and runs the train op in it again and again."""

    def run(call: Call) -> Value:
        _note_session(call, position, keyword)
        train_op = call.get(0, "train_op")
        session = hooked(call, call.typed("Session"))
        _record_hooked(call, session, [train_op] if train_op is not None else [], None)
        end_hooks(call.walk, session, call.node)
        return Host(call.values(), "run", call.node)

    return run


def _run(call: Call) -> Value:
    fetches, feed = call.get(0, "fetches"), call.get(1, "feed_dict")
    _record_hooked(call, call.receiver, [fetches] if fetches is not None else [], feed, call.node_of(1, "feed_dict"))
    return Host(call.values(), "run", call.node)


def _run_with_hooks(call: Call) -> Value:
    """A run in a step function that passes through the session's hooks; `context.session.run` does not."""
    fetches, feed = call.get(0, "fetches"), call.get(1, "feed_dict")
    context = call.receiver
    session = context.state.get(HOOKED) if isinstance(context, Typed) else None
    _record_hooked(call, session, [fetches] if fetches is not None else [], feed, call.node_of(1, "feed_dict"))
    return Host(call.values(), "run", call.node)


def _record_hooked(
    call: Call, session: Value | None, fetches: list[Value], feed: Value | None, node: ast.expr | None = None
) -> None:
    """Notes a run with what the session's hooks feed and fetch in it; node: the argument that gives its own feeds."""
    fed, asked = asked_by_hooks(call.walk, session, fetches, call.node)
    own = feed.pairs if isinstance(feed, Mapping) else []
    both = Mapping([*own, *fed]) if fed else feed
    # Feeds are changed where they are written, if they are all written there.
    _record(call, [*fetches, *(value for _, value in asked)], both, node=None if fed else node)
    tell_hooks(call.walk, session, asked, call.node)


def _leave_session(walk: Walk, session: Typed, node: ast.expr) -> Callable[[], object]:
    return lambda: end_hooks(walk, session, node)


def _close(call: Call) -> Value:
    assert call.receiver is not None
    end_hooks(call.walk, call.receiver, call.node)
    return Constant(None)


def _final_ops(call: Call) -> Value:
    """A hook that runs operations once, when the session is left."""
    ops = call.get(0, "final_ops")
    _record(call, [ops] if ops is not None else [], call.get(1, "final_ops_feed_dict"))
    return call.typed("Object")


def _run_of_unknown(call: Call) -> Value:
    """`sess.run(…)` where it is not seen what `sess` is, such as an argument of a class that another file uses.

    What is fed tensors is a session; any other object keeps its own `run`.
    """
    feed = call.get(1, "feed_dict")
    if isinstance(feed, Mapping) and any(isinstance(key, Tensor) for key, _ in feed.pairs):
        return _run(call)
    assert call.receiver is not None
    return not_followed(call, call.receiver)


def _eval(call: Call) -> Value:
    receiver = call.receiver
    fetches, node = [receiver] if receiver is not None else [], call.node_of(0, "feed_dict")
    _record(call, fetches, call.get(0, "feed_dict"), node=node)
    return Host(call.values(), "run", call.node)


def _record(
    call: Call,
    fetches: list[Value],
    feed: Value | None,
    handle: Value | None = None,
    node: ast.expr | None = None,
) -> None:
    walk, runs = call.walk, call.walk.facts.runs
    pairs = [(resolved(walk, k, call.node), v) for k, v in feed.pairs] if isinstance(feed, Mapping) else []
    unseen = [key for key, v in pairs if key in v.inputs]
    feeds = [(one, v) for key, v in pairs if key not in unseen for one in leaves(key)]
    if isinstance(feed, Host):
        unseen.append(feed)
    fetches = [resolved(walk, fetch, call.node) for fetch in fetches]
    earlier = next((run.feeds for run in reversed(runs) if handle is not None and run.handle is handle), ())
    assert walk.site is not None
    runs.append(
        RunCall(
            call=call.node,
            site=walk.site,
            fetches=tuple(fetches),
            feeds=(*earlier, *feeds),
            time=walk.clock,
            handle=handle,
            feed_node=node,
            unseen=tuple(unseen),
        )
    )


def _control_dependencies(call: Call) -> Value:
    call.walk.effect(EffectKind.WAIT, call.name, Sequence(call.values()), call.node)
    return call.typed("ControlDependencies")


def _wait_for(walk: Walk, context: Typed, node: ast.expr) -> Callable[[], object]:
    before = list(walk.control)
    walk.control += [t for arg in context.args for t in tensors_in(arg)]

    def leave() -> None:
        walk.control = before

    return leave


def _device(call: Call) -> Value:
    device = call.get(0, "device_name_or_function")
    call.walk.effect(EffectKind.DEVICE, str(call.constant(0, "device_name_or_function")), device, call.node)
    return call.typed("Device")


def _replica_device_setter(call: Call) -> Value:
    """A device function; None without tasks for the parameters (python/training/device_setter.py, 1.15)."""
    tasks, cluster = call.get(0, "ps_tasks"), call.get(4, "cluster")
    none = tasks is None or (isinstance(tasks, Number) and tasks.value == 0)
    return Constant(None) if none and (cluster is None or is_none(cluster)) else DISTRIBUTED(call)


def _trained_by_library(call: Call) -> Value:
    """`estimator.train(…)`, `model.fit(…)`; other objects of the library, such as a VocabularyProcessor, fit, too."""
    trained = call.receiver if call.receiver is not None else call.get(0, "estimator")
    if isinstance(trained, Typed) and (trained.name in OTHER_TRAINING or has(trained.name, Trait.TRAINS_ITSELF)):
        call.walk.effect(EffectKind.TRAINED_BY_LIBRARY, f"tf.{trained.name}", None, call.node)
    return not_followed(call, call.receiver or Host())


def _by_name(call: Call) -> Value:
    """A tensor or an operation that is looked up in the graph."""
    name = call.constant(0, "name")
    if not isinstance(name, str):
        given = call.node.args[:1]
        call.walk.effect(EffectKind.LOOKUP, pattern_of(given[0] if given else None), None, call.node)
        return Host(call.values(), call.name, call.node)
    found = by_name(call.walk, name, call.node)
    return found or Host(call.values(), call.name, call.node)


def _partial_run(call: Call) -> Value:
    handle, fetches = call.get(0, "handle"), call.get(1, "fetches")
    _record(call, [fetches] if fetches is not None else [], call.get(2, "feed_dict"), handle)
    return Host(call.values(), "run", call.node)


DISTRIBUTED = makes("Distributed", EffectKind.DISTRIBUTED, about="tf.{}")
HOOKED = "hooked session"  # of a step context's state: no attribute of it has that name
_CANNED = [
    f"{kind}{what}"
    for kind in ("DNN", "Linear", "DNNLinearCombined", "BoostedTrees", "Baseline")
    for what in ("Classifier", "Regressor", "Estimator")
]
OTHER_TRAINING = (
    *"estimator.Estimator estimator.EstimatorSpec contrib.learn.Estimator contrib.learn.SVM".split(),
    *"contrib.tpu.TPUEstimator contrib.tpu.TPUEstimatorSpec estimator.tpu.TPUEstimator".split(),
    *"keras.Model keras.models.Model keras.Sequential keras.models.Sequential".split(),
    *(f"{module}.{name}" for module in ("estimator", "contrib.learn") for name in _CANNED),
)
# Their methods that train (estimator/estimator.py of tensorflow_estimator 1.15; contrib/learn/python/learn/trainable.py
# and experiment.py, python/keras/engine/training.py of TensorFlow 1.15).
TRAINS = ("train", "fit", "partial_fit", "fit_generator", "train_on_batch", "train_and_evaluate")
EAGER = (
    "enable_eager_execution compat.v1.enable_eager_execution contrib.eager.enable_eager_execution GradientTape "
    "contrib.eager.GradientTape contrib.eager.implicit_gradients"
).split()

# Wrappers of sessions in tensorflow/python/debug/__init__.py of 1.15; each takes the session first.
DEBUGGERS = "LocalCLI TensorBoard Dumping Grpc".split()

# Arguments that count training steps (tensorflow/python/training/monitored_session.py, contrib/slim learning.py, 1.15).
STEP_NUMBERS = {
    "train.MonitoredTrainingSession": (
        (7, "save_summaries_steps"),
        (11, "log_step_count_steps"),
        (13, "save_checkpoint_steps"),
    ),
    "contrib.slim.learning.train": ((4, "log_every_n_steps"), (9, "number_of_steps")),
}

TRAITS: dict[Trait, str] = {
    Trait.SESSION: "Session InteractiveSession",
    Trait.EXPORTS_BY_NAME: "convert_variables_to_constants extract_sub_graph freeze_graph",
    Trait.MANAGED_SESSION: "train.MonitoredTrainingSession train.MonitoredSession train.Supervisor",
    Trait.DEVICE: "device",
    Trait.OPENS_SCOPE: "device",
    Trait.RUNS: "Session ConfigProto GPUOptions",
    Trait.ASKS_BY_NAME: "get_tensor_by_name get_operation_by_name as_graph_element",
}


def _traced(call: Call) -> Value:
    """The function that is given, as a decorator too: what it computes is the same."""
    made = makes("Object", EffectKind.EAGER, about="tf.{}")(call)
    return call.args[0] if call.args and isinstance(call.args[0], Function) else made


CALLS: dict[str, Handler] = table(
    # Where the config stands (tensorflow/python/client/session.py, training/monitored_session.py and
    # tensorflow/contrib/…/learning.py and training.py, 1.15; older names of methods: training/supervisor.py, 1.4).
    ("Session InteractiveSession", _session(2)),
    ("train.MonitoredTrainingSession", _session(9)),
    ("train.SingularMonitoredSession", _session(3)),
    (below("Supervisor.", "managed_session prepare_or_wait_for_session PrepareSession"), _session(1)),
    ("SessionManager.prepare_session", _session(7)),
    ("SessionManager.wait_for_session", _session(1)),
    ("SessionManager.recover_session", together(_session(6), on_host)),  # and whether a checkpoint was found
    ("contrib.slim.learning.train", _train_loop(22, "session_config")),
    ("contrib.training.train", _train_loop(9, "config")),
    ("train.ChiefSessionCreator train.WorkerSessionCreator", _creator),
    ("train.MonitoredSession", _monitored_session),
    ("Session.run_step_fn", _run_step),
    ("StepContext.run_with_hooks", _run_with_hooks),
    ("Session.raw_session", lambda call: unhooked(call.receiver) if call.receiver is not None else Host()),
    ("Session.close", _close),
    ("train.FinalOpsHook", _final_ops),
    ("ConfigProto", makes("ConfigProto")),
    ("GPUOptions", makes("GPUOptions")),
    ("Session.run", _run),
    ("Host.run", _run_of_unknown),
    ("Session.partial_run", _partial_run),
    ("Graph.get_tensor_by_name Graph.get_operation_by_name", _by_name),
    (
        (*(name for name in OTHER_TRAINING if name not in SEQUENTIAL), "keras.estimator.model_to_estimator"),
        makes("Object", EffectKind.OTHER_TRAINING, about="tf.{}"),
    ),
    ((*below("Object.", TRAINS), "estimator.train_and_evaluate"), _trained_by_library),
    (EAGER, makes("Object", EffectKind.EAGER, about="tf.{}")),
    ("function contrib.eager.defun", _traced),
    (
        "train.Server train.Server.create_local_server train.ClusterSpec train.SyncReplicasOptimizer "
        "distribute.MirroredStrategy contrib.distribute.MirroredStrategy contrib.distribute.OneDeviceStrategy "
        "distribute.Strategy",
        DISTRIBUTED,
    ),
    ("train.replica_device_setter", _replica_device_setter),
    (below("Tensor. Variable. Input.", "eval run"), _eval),
    ("Session.as_default Graph.as_default Session.__enter__", itself),
    ("Graph get_default_graph", makes("Graph")),
    ("get_default_session", makes("Session")),
    ([f"python.debug.{name}DebugWrapperSession" for name in DEBUGGERS], _watched),
    ("control_dependencies Graph.control_dependencies", _control_dependencies),
    ("device Graph.device", _device),
)

CONTEXTS: dict[str, Context] = {"ControlDependencies": _wait_for, "Session": _leave_session}
