"""The changes that make a script one of N processes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace

from converter.analysis.traits import Trait, has
from converter.plan.decisions import Decision
from converter.planner.questions.statements import is_text
from converter.runtime.worker import PACKAGE
from converter.syntax.changes import Change, lines_before
from converter.syntax.script import Script
from converter.targets.cluster.files import own_files
from converter.targets.cluster.keras import batches
from converter.targets.cluster.reading import BATCH_SIZE, ReadFacts
from converter.targets.cluster.worker import helper_module, importing_lines, worker_lines
from converter.targets.passes import Case, adding

WORKER = "TMG158"
# Calls that prepare what follows and build no graph.
_SETS = re.compile(r"sys\.|os\.|warnings\.|matplotlib|plt\.|.*([Ff]lags|FLAGS|logging)\.|(reload|print|int|str|len)$")


def changes(case: ReadFacts) -> Case:
    """The classes with the statement that starts this worker, and the size of the batch of all workers."""
    script, cluster = case.script, case.script.new("cluster")
    place = below_imports(script)
    lines, modules = _worker(case, cluster)
    made = [lines_before(script, place, lines, WORKER)]
    for size in case.sizes:
        begin = script.line(size.at.line) + size.at.column
        end = script.line(size.end.line) + size.end.column
        workers = re.sub(rf"(?<![\w.]){re.escape(case.num_gpus)}(?!\w)", f"{cluster}.size", size.text)
        made.append(Change(begin, end, workers, BATCH_SIZE))
    made += batches(case, cluster)
    if case.options.shard == "files":
        made += own_files(script, cluster)
    elif case.by_runs:
        script.finding(place, "TMG376", why=case.why)
    return replace(adding(case, made), decisions=tuple(_decisions(case)), modules=modules)


def _worker(case: ReadFacts, cluster: str) -> tuple[list[str], tuple[tuple[str, str], ...]]:
    """The lines that start this worker, and the module beside the script that they need."""
    script, arguments = case.script, _arguments(case)
    if case.options.helpers == "inline":
        return worker_lines(script, cluster, arguments), ()
    if case.options.helpers == "package":
        return importing_lines(script, PACKAGE, cluster, arguments), ()
    module = helper_module(script)
    return importing_lines(script, module[0], cluster, arguments), (module,)


def _arguments(case: ReadFacts) -> str:
    return _dealt(case) + (", eager=False" if case.graph and not _ends_later(case.script) else "")


def _ends_later(script: Script) -> bool:
    """True if a function of the script ends eager execution: it still holds where the worker starts."""
    calls = [call for call in script.calls if has(getattr(call.func, "attr", ""), Trait.ENDS_EAGERNESS)]
    return any(script.function(call) is not None for call in calls)


def _dealt(case: ReadFacts) -> str:
    main = "__name__ == '__main__'"
    if case.options.shard == "files":
        return f"{main}, deal='files'"
    if not case.by_runs:
        shared = ", ".join(repr(name) for name in case.options.shared)
        return f"{main}, whole=[{shared}]" if shared else main
    return f"{main}, deal='batches', by_rows={case.by_rows}"


def _decisions(case: ReadFacts) -> Iterator[Decision]:
    if case.options.shard == "files":
        yield Decision("each worker", "reads every N-th of the files; the data ends in all as soon as it ends in one")
        yield Decision(
            "a step",
            "takes other examples than the original's, a batch of each worker; a loop over a number of steps "
            "takes N times as many",
        )
    elif case.by_runs:
        yield Decision("each worker", "takes each N-th batch of the script; N runs of the training step make one step")
    else:
        yield Decision(
            "each worker", "takes its rows of each batch, which is as large as those of all workers together"
        )
    yield Decision("a step", "the mean of all workers' gradients is applied in each, once")
    yield Decision("generators", "Python's, NumPy's and those of shuffled datasets are alike in all workers")
    yield Decision("chief", "worker 0 alone prints, saves checkpoints, and writes files")


def below_imports(script: Script) -> ast.stmt:
    """The statement before which the worker is started: the first below the imports."""
    after: ast.stmt | None = None
    body = script.tree.body
    for number, stmt in enumerate(body):
        if _imports(stmt) or _ends_eagerness(stmt) or (number == 0 and is_text(stmt)):
            after = stmt
        elif not _prepares(stmt):
            break
    rest = body[body.index(after) + 1 :] if after is not None else body
    return rest[0] if rest else body[-1]


def _imports(stmt: ast.stmt) -> bool:
    """True for an import, also one that is tried, or made under a condition."""
    if isinstance(stmt, ast.Try | ast.If | ast.With):
        return any(isinstance(node, ast.Import | ast.ImportFrom) for node in ast.walk(stmt)) and not any(
            isinstance(node, ast.FunctionDef | ast.ClassDef) for node in ast.walk(stmt)
        )
    return isinstance(stmt, ast.Import | ast.ImportFrom)


def _ends_eagerness(stmt: ast.stmt) -> bool:
    call = stmt.value if isinstance(stmt, ast.Expr) else None
    return isinstance(call, ast.Call) and has(getattr(call.func, "attr", ""), Trait.ENDS_EAGERNESS)


def _prepares(stmt: ast.stmt) -> bool:
    """True for a statement between imports that builds no graph: definitions, settings, assigned constants."""
    if isinstance(stmt, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
        return True
    calls = [ast.unparse(node.func) for node in ast.walk(stmt) if isinstance(node, ast.Call)]
    return isinstance(stmt, ast.Expr | ast.Assign | ast.AugAssign | ast.Delete) and all(map(_SETS.match, calls))
