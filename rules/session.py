"""Sessions: they get a ConfigProto for several GPUs, and what is fed to them tells inputs from settings."""

from __future__ import annotations

from converter.analysis.facts import RunCall, SessionSite
from converter.analysis.signature import Call, Handler
from converter.analysis.values import Host, Mapping, Tensor, Typed, Value


def _session(call: Call) -> Value:
    position = 2 if call.name in ("Session", "InteractiveSession") else -1
    assert call.walk.site is not None
    site = SessionSite(
        call.node, call.walk.site, call.name, call.get(position, "config"), call.node_of(position, "config")
    )
    call.walk.facts.sessions.append(site)
    return call.typed("Session")


def _config(call: Call) -> Value:
    return call.typed("ConfigProto")


def _gpu_options(call: Call) -> Value:
    return call.typed("GPUOptions")


def _run(call: Call) -> Value:
    fetches, feed = call.get(0, "fetches"), call.get(1, "feed_dict")
    _record(call, [fetches] if fetches is not None else [], feed)
    return Host(call.values(), "run", call.node)


def _eval(call: Call) -> Value:
    receiver = call.receiver
    _record(call, [receiver] if receiver is not None else [], call.get(0, "feed_dict"))
    return Host(call.values(), "run", call.node)


def _record(call: Call, fetches: list[Value], feed: Value | None) -> None:
    feeds = tuple(feed.pairs) if isinstance(feed, Mapping) else ()
    assert call.walk.site is not None
    call.walk.facts.runs.append(RunCall(call.node, call.walk.site, tuple(fetches), feeds, call.walk.clock))
    for key, value in feeds:
        call.walk.effect("feed", "", key, call.node)
        if isinstance(key, Tensor) and value is not None:
            continue


def _as_default(call: Call) -> Value:
    return call.receiver if call.receiver is not None else Host()


def _graph(call: Call) -> Value:
    return call.typed("Graph")


def _control_dependencies(call: Call) -> Value:
    return call.typed("ControlDependencies")


def _device(call: Call) -> Value:
    call.walk.effect("device", str(call.constant(0, "device_name_or_function")), None, call.node)
    return call.typed("Device")


def _partial_run(call: Call) -> Value:
    call.walk.effect("partial run", call.name, None, call.node)
    return Host(call.values(), "run", call.node)


SESSIONS = (
    "Session InteractiveSession train.MonitoredTrainingSession train.SingularMonitoredSession "
    "Supervisor.managed_session Supervisor.prepare_or_wait_for_session SessionManager.prepare_session"
).split()
EVALUATED = [f"{kind}.{method}" for kind in ("Tensor", "Variable", "Input") for method in ("eval", "run")]

CALLS: dict[str, Handler] = {
    **dict.fromkeys(SESSIONS, _session),
    "ConfigProto": _config,
    "GPUOptions": _gpu_options,
    "Session.run": _run,
    "Session.partial_run": _partial_run,
    **dict.fromkeys(EVALUATED, _eval),
    **dict.fromkeys(("Session.as_default", "Graph.as_default", "Session.__enter__"), _as_default),
    **dict.fromkeys(("Graph", "get_default_graph"), _graph),
    "get_default_session": lambda call: Typed("Session", call.name, call.args, call.kwargs, call.node),
    **dict.fromkeys(("control_dependencies", "Graph.control_dependencies"), _control_dependencies),
    **dict.fromkeys(("device", "Graph.device"), _device),
}
