"""Other programs read the graph of the towers: from a checkpoint's .meta file, a frozen graph or a SavedModel."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from converter.analysis.facts import Facts
from converter.analysis.traits import Trait, has
from converter.analysis.values import Typed
from converter.diagnostics import Diagnostic
from converter.planner.cases import Shared
from converter.planner.checking import check
from converter.planner.writing.findings import shown_path, warn

_CLEARED = "for node in graph_def.node: node.device = ''"
EXPORTS = {  # how a call that writes a graph is told to leave the devices out
    "convert_variables_to_constants": f"drop the devices of the graph that is given to it: {_CLEARED}",
    "extract_sub_graph": f"drop the devices of the graph that is given to it: {_CLEARED}",
    "add_meta_graph_and_variables": "write clear_devices=True as an argument of the call",
}

CODES = ("TMG350",)


@check(Shared)
def reads_the_towers(case: Shared) -> Iterator[Diagnostic]:
    """Calls in other scripts of the folder that read a graph that this script may have saved."""
    if not _saves_its_graph(case.facts):
        return
    texts = [node.value for node in case.facts.nodes(ast.Constant) if isinstance(node.value, str)]
    for reader in case.sources.readers():
        if reader.stem and not any(reader.stem in text for text in texts):
            continue  # another graph
        yield Diagnostic(
            code="TMG350",
            path=shown_path(case.facts, reader.path),
            line=reader.line,
            column=reader.column,
            message="a graph is read here, and that of the converted script names the GPUs of its towers",
            hint="write clear_devices=True as an argument of the call, so that fewer GPUs, or none, will do",
            severity="warning",
        )


@check(Shared)
def writes_the_towers(case: Shared) -> Iterator[Diagnostic]:
    """Calls that write the graph of the towers for other programs, with its devices."""
    for call in case.facts.nodes(ast.Call):
        name = getattr(call.func, "attr", getattr(call.func, "id", ""))
        if name not in EXPORTS or any(keyword.arg in (None, "clear_devices") for keyword in call.keywords):
            continue
        yield warn(
            case.facts,
            call,
            "TMG350",
            "the graph that is written here names the GPUs of its towers, for programs that may have fewer",
            EXPORTS[name],
        )


def _saves_its_graph(facts: Facts) -> bool:
    """Whether a script leaves its graph in a .meta file, as savers and managed sessions do."""
    made = {value.name for value in facts.results.values() if isinstance(value, Typed)}
    if any(has(name, Trait.MANAGED_SESSION) for name in made):
        return True
    if not any(has(name, Trait.SAVES) for name in made):
        return False
    calls = (c for c in facts.nodes(ast.Call) if isinstance(c.func, ast.Attribute) and c.func.attr == "save")
    return any(_with_graph(call) for call in calls)


def _with_graph(call: ast.Call) -> bool:
    told = (k.value for k in call.keywords if k.arg == "write_meta_graph")
    return not any(isinstance(value, ast.Constant) and value.value is False for value in told)
