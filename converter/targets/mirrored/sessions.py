"""Sessions that a script makes: to train in, or for Keras alone."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from converter.analysis.traits import Trait, has
from converter.syntax.known import is_known
from converter.syntax.script import Script, method_name, plain_name


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
    holder, function = script.parent(session), script.function(session)
    uses: list[ast.expr] = [session]
    if isinstance(holder, ast.Return) and function is not None:
        uses = [call for call in script.calls if plain_name(call) == function.name]
    elif isinstance(holder, ast.Assign):
        uses = [*_reads(script, holder)]
    return bool(uses) and all(_hands_over(script, use) for use in uses)


def _reads(script: Script, holder: ast.Assign) -> list[ast.Name]:
    """Where the script reads the one name that an assignment binds; nowhere if it binds anything else."""
    names = [target.id for target in holder.targets if isinstance(target, ast.Name)]
    return script.reads(names[0]) if len(names) == len(holder.targets) == 1 else []


def _only_holds_variables(script: Script, session: ast.Call) -> bool:
    """Whether a function's session only takes variables from a checkpoint and writes them to one: nothing is run."""
    holder, function = script.parent(session), script.function(session)
    if not isinstance(holder, ast.Assign) or function is None:
        return False
    reads = [read for read in _reads(script, holder) if script.is_inside(read, function)]
    return bool(reads) and all(_keeps(script, read) for read in reads)


def _keeps(script: Script, read: ast.Name) -> bool:
    """Whether a session is the argument of `saver.restore` or `saver.save`, or is closed."""
    holder = script.parent(read)
    return getattr(holder, "attr", "") == "close" or has(method_name(holder), Trait.CHECKPOINTS)


def _hands_over(script: Script, given: ast.expr) -> bool:
    """Whether an expression is an argument of the call that gives Keras a session."""
    holder = script.parent(given)
    holder = script.parent(holder) if isinstance(holder, ast.keyword) else holder
    if not isinstance(holder, ast.Call):
        return False
    return is_known(script, holder.func, Trait.SETS_SESSION) or has(script.name(holder.func), Trait.SETS_SESSION)
