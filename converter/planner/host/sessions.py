"""Sessions and their config."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from converter.analysis.facts import Facts, SessionSite
from converter.analysis.values import Typed
from converter.options import Options
from converter.plan import Insert, Replace
from converter.planner.writing.free_names import Names
from converter.planner.writing.pen import Pen
from converter.planner.writing.source_text import Text


@dataclass
class Sessions:
    """What gives each session the configuration that towers need.

    names: those that are taken then. hidden: builtins that are reached by their module for it.
    """

    names: Names
    replaces: list[Replace] = field(default_factory=list)
    inserts: list[Insert] = field(default_factory=list)
    hidden: tuple[str, ...] = ()

    def new_config(self) -> str:
        """The name of a config, which several sessions may have one after the other unless the script has it too."""
        if self.names.is_free("config"):
            return "config"
        name, self.names = self.names.fresh("session_config")
        return name


def session_edits(pen: Pen) -> Sessions:
    """The edits at all sessions."""
    facts, options, text = pen.facts, pen.options, pen.text
    sessions = Sessions(pen.names)
    replaces, inserts = sessions.replaces, sessions.inserts
    done: set[ast.AST] = set()
    completed: set[tuple[str, ast.AST]] = set()
    for session in facts.sessions:
        if session.call in done or (facts.path_of(session.call) and not pen.anywhere):
            continue
        done.add(session.call)
        stmt = session.site.stmt
        config = session.config
        given = next((k.value for k in session.call.keywords if k.arg is None), None)
        if given is not None and session.config_node is None:
            replace, lines = _in_arguments(pen, sessions, session, given)
            replaces.append(replace)
            inserts.append(Insert(text.anchor(stmt), tuple(lines), "before", "TMG111"))
        elif session.config_node is None or (
            isinstance(session.config_node, ast.Constant) and session.config_node.value is None
        ):
            taken = not sessions.names.is_free("config")
            name = sessions.names.unused("session_config") if taken else "config"  # for other sessions, too
            tf = pen.tensorflow(session.call)
            memory = "".join(f", gpu_options={tf}.GPUOptions({setting})" for setting in _memory(options))
            made = f"{name} = {tf}.ConfigProto(allow_soft_placement=True{memory})"
            inserts.append(Insert(text.anchor(stmt), (made,), "before", "TMG111"))
            replaces.append(_with_config(session, text, name))
        elif isinstance(session.config_node, (ast.Name, ast.Attribute)):
            name = text.of(session.config_node)
            if (name, stmt) not in completed:
                completed.add((name, stmt))
                lines = _completed(facts, name, config, options)
                if lines:
                    inserts.append(Insert(text.anchor(stmt), tuple(lines), "before", "TMG111"))
        else:
            name = sessions.new_config()
            lines = [f"{name} = {text.of(session.config_node)}", *_completed(facts, name, config, options)]
            inserts.append(Insert(text.anchor(stmt), tuple(lines), "before", "TMG111"))
            replaces.append(Replace(text.start(session.config_node), text.end(session.config_node), name, "TMG111"))
    return sessions


def _in_arguments(pen: Pen, sessions: Sessions, session: SessionSite, given: ast.expr) -> tuple[Replace, list[str]]:
    """A session whose arguments are given as a dict (**kwargs), which may hold a config."""
    sessions.hidden += pen.builtins.hidden(session.site.frame, ["dict"])
    dict_of = pen.builtins.text(session.site.frame, "dict")
    tensorflow = pen.tensorflow(session.call)
    name = sessions.new_config()
    arguments = pen.text.of(given)
    lines = [f"{name} = {arguments}.get({session.keyword!r}) or {tensorflow}.ConfigProto()"]
    lines += _completed(pen.facts, name, session.config, pen.options)
    made = f"{dict_of}({arguments}, {session.keyword}={name})"
    return Replace(pen.text.start(given), pen.text.end(given), made, "TMG111"), lines


def _chosen_by_script(facts: Facts) -> bool:
    """Whether the script sets a config's GPU memory itself."""
    own = ("allow_growth", "per_process_gpu_memory_fraction")
    return any(a.write and a.place.key in own for a in facts.accesses)


def _memory(options: Options) -> list[str]:
    """How much of each GPU's memory to take, as `name=value` of a config's gpu_options."""
    if options.gpu_memory == "growth":
        return ["allow_growth=True"]
    if isinstance(options.gpu_memory, float):
        return [f"per_process_gpu_memory_fraction={options.gpu_memory}"]
    return []


def _completed(facts: Facts, name: str, config: object, options: Options) -> list[str]:
    """What an existing config lacks."""
    lines = []
    given = config.kwargs if isinstance(config, Typed) else {}
    later = config.state if isinstance(config, Typed) else {}
    soft = later.get("allow_soft_placement") or given.get("allow_soft_placement")
    if getattr(soft, "value", False) is not True:
        lines.append(f"{name}.allow_soft_placement = True")
    if "gpu_options" not in given and not _chosen_by_script(facts):
        lines += [f"{name}.gpu_options.{setting.replace('=', ' = ')}" for setting in _memory(options)]
    return lines


def _with_config(session: SessionSite, text: Text, name: str) -> Replace:
    call = session.call
    for keyword in call.keywords:
        if keyword.arg == session.keyword:
            return Replace(text.start(keyword.value), text.end(keyword.value), name, "TMG111")
    return Replace(text.start(call), text.end(call), text.with_argument(call, f"{session.keyword}={name}"), "TMG111")
