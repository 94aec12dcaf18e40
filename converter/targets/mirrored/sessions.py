"""Sessions that a script makes: to train in, or for Keras alone."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from converter.analysis.traits import Trait, has
from converter.syntax.known import is_known
from converter.syntax.script import Script


def sessions_of_the_script(script: Script) -> Iterator[ast.Call]:
    """The sessions that a script makes and runs something in itself."""
    for call in script.calls:
        made = is_known(script, call.func, Trait.SESSION, Trait.MANAGED_SESSION)
        if made and not _is_for_keras(script, call) and not _only_holds_variables(script, call):
            yield call


def check_session(script: Script) -> None:
    """Refuse a session that the script gives to Keras: it is configured for a single GPU (TMG289)."""
    for call in script.calls:
        if is_known(script, call.func, Trait.SETS_SESSION):
            script.finding(call, "TMG289 session")


def _is_for_keras(script: Script, session: ast.Call) -> bool:
    """Whether a session is handed to Keras, and to nothing else."""
    holder = next(script.above(session), None)
    if isinstance(holder, ast.Return) and (function := script.function(session)) is not None:
        calls = [call for call in script.calls if isinstance(call.func, ast.Name) and call.func.id == function.name]
        return bool(calls) and all(_hands_over(script, call) for call in calls)
    if not isinstance(holder, ast.Assign):
        return _hands_over(script, session)
    reads = _reads(holder, script.tree)
    return bool(reads) and all(_hands_over(script, read) for read in reads)


def _reads(holder: ast.Assign, inside: ast.AST) -> list[ast.Name]:
    """Where a part of the script reads the one name that an assignment binds; nowhere if it binds anything else."""
    if len(holder.targets) != 1 or not isinstance(holder.targets[0], ast.Name):
        return []
    name = holder.targets[0].id
    loaded = (node for node in ast.walk(inside) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load))
    return [node for node in loaded if node.id == name]


def _only_holds_variables(script: Script, session: ast.Call) -> bool:
    """Whether a function's session only takes variables from a checkpoint and writes them to one: nothing is run."""
    holder, function = next(script.above(session), None), script.function(session)
    if not isinstance(holder, ast.Assign) or function is None:
        return False
    reads = _reads(holder, function)
    return bool(reads) and all(_keeps(script, read) for read in reads)


def _keeps(script: Script, read: ast.Name) -> bool:
    """Whether a session is the argument of `saver.restore` or `saver.save`, or is closed."""
    holder = next(script.above(read), None)
    if isinstance(holder, ast.Attribute):
        return holder.attr == "close"
    method = holder.func if isinstance(holder, ast.Call) else None
    return isinstance(method, ast.Attribute) and has(method.attr, Trait.CHECKPOINTS)


def _hands_over(script: Script, given: ast.expr) -> bool:
    """Whether an expression is an argument of the call that gives Keras a session."""
    holder = next(script.above(given), None)
    if isinstance(holder, ast.keyword):
        holder = next(script.above(holder), None)
    if not isinstance(holder, ast.Call):
        return False
    return is_known(script, holder.func, Trait.SETS_SESSION) or has(script.name(holder.func), Trait.SETS_SESSION)
