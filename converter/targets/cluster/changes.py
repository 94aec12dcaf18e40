"""The text of a worker."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace

from converter.analysis.traits import Trait, has
from converter.plan.decisions import Decision
from converter.syntax.changes import Change, indented, lines_before, without_statement
from converter.syntax.known import is_known
from converter.syntax.script import Script, argument
from converter.targets.cluster.gradients import optimizer_of
from converter.targets.cluster.reading import BATCH_SIZE, OUTSIDE, sizes
from converter.targets.cluster.template import Template
from converter.targets.cluster.worker import CLASSES, MODULES
from converter.targets.passes import Case, adding

WORKER, SHARES, CHIEF = "TMG168", "TMG169", "TMG170"


def changes(case: Template) -> Case:
    """All changes to the text of a script that fits the template."""
    script = case.script
    names = {name: script.new(name) for name in ("cluster", "Cluster", "ChiefSaver", "Absent")}
    place = _below_imports(script)
    if place is None:
        hint = "import it at the top of the script"
        script.say(script.tree.body[0], OUTSIDE, "TensorFlow is not imported before the first statement", hint)
        return case
    made = [lines_before(script, place, _class_lines(script, names), WORKER)]
    made += _parts(case, names["cluster"])
    return replace(adding(case, made), decisions=tuple(_decisions(case)))


def _decisions(case: Template) -> Iterator[Decision]:
    fed = ", ".join(case.batched)
    yield Decision("each worker", f"prepares the whole batch, and is fed its own part of {fed}")
    yield Decision("a step", "the mean of all workers' gradients, weighted by their rows, is applied once")
    yield Decision("generators", "Python's and NumPy's begin with seed 0 in each worker, unless the script seeds them")
    yield Decision("checkpoints", "written by the chief alone, which also does what follows the loop")


def _below_imports(script: Script) -> ast.stmt | None:
    """The first statement below the imports at the top of the script."""
    imported = False
    for number, stmt in enumerate(script.tree.body):
        call = stmt.value if isinstance(stmt, ast.Expr) else None
        docstring = number == 0 and isinstance(call, ast.Constant)
        early = isinstance(call, ast.Call) and has(getattr(call.func, "attr", ""), Trait.ENDS_EAGERNESS)
        if not isinstance(stmt, ast.Import | ast.ImportFrom | ast.Try) and not docstring and not early:
            return stmt if imported else None
        imports = [node for node in ast.walk(stmt) if isinstance(node, ast.Import | ast.ImportFrom)]
        bound = {alias.asname or alias.name for node in imports for alias in node.names}
        imported = imported or script.names.tensorflow() in bound
    return None


def _class_lines(script: Script, names: dict[str, str]) -> list[str]:
    """The classes with what they import, and the statement that makes this process a task of the cluster."""
    text = re.sub(r"\btf\.", script.names.tensorflow() + ".", CLASSES)
    for name in ("Cluster", "ChiefSaver", "Absent"):
        text = re.sub(rf"\b{name}\b(?=\(|, self|\()", names[name], text)
    bound = {module: script.new(f"_{module}") for module in MODULES}
    text = re.sub(rf"(?<![\w.'])({'|'.join(MODULES)})\.(?=\w)", lambda found: bound[found[1]] + ".", text)
    text = text.replace("    ", script.unit)
    imports = [f"import {module} as {name}" for module, name in bound.items()]
    made = f"{names['cluster']} = {names['Cluster']}()  # a parameter server stays in this line until it is killed"
    return [*imports, "", "", *text.splitlines(), "", "", made, ""]


def _parts(case: Template, cluster: str) -> Iterator[Change]:
    script, (_, plan) = case.script, case.known
    assert case.opened is not None and case.first is not None and case.step is not None and case.run is not None
    block = script.block(case.opened)
    yield lines_before(script, case.first, [f"with {cluster}.device():"], WORKER)
    yield from indented(script, case.first, block[block.index(case.opened) - 1], WORKER)
    made = optimizer_of(case)
    assert made is not None
    yield from _wrapped(script, made, f"{cluster}.synchronous(", WORKER)
    session = case.opened.items[0].context_expr
    assert isinstance(session, ast.Call)
    yield _instead(script, session.func, f"{cluster}.session", WORKER)
    for size in sizes(plan):
        begin = script.line(size.at.line) + size.at.column
        end = script.line(size.end.line) + size.end.column
        workers = re.sub(rf"(?<![\w.]){re.escape(plan.num_gpus)}(?!\w)", f"{cluster}.num_workers", size.text)
        yield Change(begin, end, workers, BATCH_SIZE)
    fed = argument(case.run, 1, "feed_dict")
    assert fed is not None
    begin, end = script.span(fed)
    yield Change(begin, begin, f"{cluster}.share(", SHARES)
    yield Change(end, end, f", [{', '.join(case.batched)}])", SHARES)
    lines = [f"if {cluster}.taken():", f"{script.unit}continue  # the checkpoint holds this step"]
    yield lines_before(script, case.step, lines, WORKER)
    yield from (without_statement(script, stmt, WORKER) for stmt in case.begun)
    yield from _of_chief(case, cluster)
    for call in script.calls:
        if is_known(script, call.func, Trait.SEEDS) and call.args:
            yield from _wrapped(script, call.args[0], f"{cluster}.index + (", WORKER)


def _of_chief(case: Template, cluster: str) -> Iterator[Change]:
    """Savers, event files, and what follows the loop."""
    script = case.script
    assert case.opened is not None and case.outer is not None
    for call in script.calls:
        if is_known(script, call.func, Trait.SAVES):
            yield from _wrapped(script, call, f"{cluster}.saver(", CHIEF)
        elif is_known(script, call.func, Trait.WRITES_EVENTS):
            begin, end = script.span(call.func)
            comma = ", " if call.args or call.keywords else ""
            rest = script.text.index("(", end) + 1
            yield Change(begin, rest, f"{cluster}.on_chief({script.text[begin:end]}{comma}", CHIEF)
    for last, block in ((case.outer, case.opened.body), (case.opened, script.block(case.opened))):
        rest_of = block[block.index(last) + 1 :]
        if rest_of:
            yield lines_before(script, rest_of[0], [f"if {cluster}.is_chief:"], CHIEF)
            yield from indented(script, rest_of[0], rest_of[-1], CHIEF)


def _wrapped(script: Script, node: ast.expr, head: str, code: str) -> Iterator[Change]:
    begin, end = script.span(node)
    yield Change(begin, begin, head, code)
    yield Change(end, end, ")", code)


def _instead(script: Script, node: ast.expr, text: str, code: str) -> Change:
    begin, end = script.span(node)
    return Change(begin, end, text, code)
