"""Sessions and their config."""

from __future__ import annotations

import ast
from dataclasses import replace

from converter.analysis.facts import Facts, SessionSite
from converter.analysis.values import Typed
from converter.dataclass import dataclass
from converter.options import Options
from converter.plan import Insert, Replace
from converter.planner.writing.context import WritingContext
from converter.planner.writing.free_names import TakenNames
from converter.planner.writing.source_text import SourceText


@dataclass(frozen=True)
class Sessions:
    """Edits that give each session the configuration that towers need.

    names: those that are taken then. hidden: builtins that are reached by their module for it.
    """

    names: TakenNames
    replaces: tuple[Replace, ...] = ()
    inserts: tuple[Insert, ...] = ()
    hidden: tuple[str, ...] = ()


def session_edits(context: WritingContext) -> Sessions:
    """The edits at all sessions."""
    sessions = Sessions(context.names)
    done: set[ast.AST] = set()
    completed: set[tuple[str, ast.stmt]] = set()
    for session in context.facts.sessions:
        if session.call in done or (context.facts.path_of(session.call) and not context.anywhere):
            continue
        done.add(session.call)
        config = (context.text.of(session.config_node) if session.config_node else "", session.site.stmt)
        if isinstance(session.config_node, (ast.Name, ast.Attribute)):
            sessions = sessions if config in completed else _completing(context, sessions, session, config[0])
            completed.add(config)
        else:
            sessions = _with_own_config(context, sessions, session)
    return sessions


def _with_own_config(context: WritingContext, sessions: Sessions, session: SessionSite) -> Sessions:
    """The edits at one session whose config has no name in the script yet."""
    text, stmt, node = context.text, session.site.stmt, session.config_node
    given = next((k.value for k in session.call.keywords if k.arg is None), None)
    if given is not None and node is None:
        return _in_arguments(context, sessions, session, given)
    if node is None or (isinstance(node, ast.Constant) and node.value is None):
        taken = not sessions.names.is_free("config")
        name = sessions.names.unused("session_config") if taken else "config"  # for other sessions, too
        tf = context.tensorflow(session.call)
        memory = "".join(f", gpu_options={tf}.GPUOptions({setting})" for setting in _memory(context.options))
        made = f"{name} = {tf}.ConfigProto(allow_soft_placement=True{memory})"
        edit = _with_config(session, text, _given(session, tf, name))
        return _with_edits(sessions, edit, Insert(text.anchor(stmt), (made,), "before", "TMG111"))
    name, names = _new_config(sessions.names)
    lines = (f"{name} = {text.of(node)}", *_completed(context.facts, name, session.config, context.options))
    swap = Replace(text.start(node), text.end(node), name, "TMG111")
    return _with_edits(replace(sessions, names=names), swap, Insert(text.anchor(stmt), lines, "before", "TMG111"))


def _completing(context: WritingContext, sessions: Sessions, session: SessionSite, name: str) -> Sessions:
    """The edits in front of a session whose config the script has made before: it is completed."""
    lines = tuple(_completed(context.facts, name, session.config, context.options))
    added = (Insert(context.text.anchor(session.site.stmt), lines, "before", "TMG111"),) if lines else ()
    return replace(sessions, inserts=(*sessions.inserts, *added))


def _new_config(names: TakenNames) -> tuple[str, TakenNames]:
    """The name of a config, which several sessions may have one after the other unless the script has it too."""
    return ("config", names) if names.is_free("config") else names.fresh("session_config")


def _with_edits(sessions: Sessions, edit: Replace, insert: Insert) -> Sessions:
    return replace(sessions, replaces=(*sessions.replaces, edit), inserts=(*sessions.inserts, insert))


def _in_arguments(context: WritingContext, sessions: Sessions, session: SessionSite, given: ast.expr) -> Sessions:
    """The edits at a session whose arguments are given as a dict (**kwargs), which may hold a config."""
    hidden = context.builtins.hidden(session.site.frame, ["dict"])
    dict_of = context.builtins.text(session.site.frame, "dict")
    tensorflow = context.tensorflow(session.call)
    name, names = _new_config(sessions.names)
    arguments = context.text.of(given)
    lines = [f"{name} = {arguments}.get({session.keyword!r}) or {tensorflow}.ConfigProto()"]
    lines += _completed(context.facts, name, session.config, context.options)
    made = f"{dict_of}({arguments}, {session.keyword}={name})"
    edit = Replace(context.text.start(given), context.text.end(given), made, "TMG111")
    insert = Insert(context.text.anchor(session.site.stmt), tuple(lines), "before", "TMG111")
    return _with_edits(replace(sessions, names=names, hidden=(*sessions.hidden, *hidden)), edit, insert)


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
    """The lines that add missing settings to a session's existing config."""
    lines = []
    given = config.kwargs if isinstance(config, Typed) else {}
    later = config.state if isinstance(config, Typed) else {}
    soft = later.get("allow_soft_placement") or given.get("allow_soft_placement")
    if getattr(soft, "value", False) is not True:
        lines.append(f"{name}.allow_soft_placement = True")
    if "gpu_options" not in given and not _chosen_by_script(facts):
        lines += [f"{name}.gpu_options.{setting.replace('=', ' = ')}" for setting in _memory(options)]
    return lines


def _given(session: SessionSite, tensorflow: str, config: str) -> str:
    """The expression for the session's argument that holds the config."""
    return f"{tensorflow}.{session.creator}(config={config})" if session.creator else config


def _with_config(session: SessionSite, text: SourceText, name: str) -> Replace:
    call, given = session.call, session.config_node
    if given is not None:  # None, by its place or its name
        return Replace(text.start(given), text.end(given), name, "TMG111")
    return Replace(text.start(call), text.end(call), text.with_argument(call, f"{session.keyword}={name}"), "TMG111")
