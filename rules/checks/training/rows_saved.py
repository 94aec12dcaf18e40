"""Another script loads what a step computes, and takes one GPU's number of rows for it."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator

from converter.analysis.facts import Facts, RunCall
from converter.analysis.values import Constant, Host, needed, tensors_in
from converter.diagnostics import Diagnostic
from converter.planner.cases import Shared
from converter.planner.checking import check
from converter.planner.writing.findings import shown_path

CODES = ("TMG390",)

SAVES = (
    *(f"numpy.{name}" for name in ("save", "savez", "savez_compressed", "savetxt")),
    *("pickle.dump", "cPickle.dump", "joblib.dump", "scipy.io.savemat"),
)


@check(Shared)
def taken_elsewhere(case: Shared) -> Iterator[Diagnostic]:
    """Numbers in other scripts of the folder that are the batch size, where these load what a run computed."""
    grown = _sizes_that_grow(case)
    for path in sorted(_files_of_rows(case.facts)) if grown else ():
        for taken in case.sources.rows():
            if taken.number in grown and path in taken.files:
                yield Diagnostic(
                    code="TMG390",
                    path=shown_path(case.facts, taken.path),
                    line=taken.line,
                    column=taken.column,
                    message=f"{path} is reshaped by {taken.number}, the batch size of one GPU: the converted script "
                    "saves a row for each of N times as many examples there",
                    hint="write -1 for the number of rows",
                    severity="warning",
                )


def _sizes_that_grow(case: Shared) -> set[int]:
    """The batch sizes that are written out in the script, or are the defaults of its flags."""
    nodes = {o.node for o in case.size.scaled} if case.options.batch == "per-gpu" and not case.size.fixed else set()
    names = {o.name or str(o.key[-1]) for o in case.size.scaled if o.key[0] == "flag"} if nodes else set()
    for flag in (flag for flag in case.facts.flags if flag.name in names):
        nodes |= {*flag.call.args, *(keyword.value for keyword in flag.call.keywords)}
    return {n.value for n in nodes if isinstance(n, ast.Constant) and type(n.value) is int and n.value > 1}


def _files_of_rows(facts: Facts) -> Iterator[str]:
    """The names of files that what a run computed for each example of a batch is written into."""
    fetched = {run.call for run in facts.runs if _has_rows(run)}
    for value in facts.results.values():
        if isinstance(value, Host) and value.call in SAVES:
            behind = needed([*value.inputs, *value.parts()])
            if any(isinstance(v, Host) and v.node in fetched for v in behind.values()):
                texts = (v.value for v in behind.values() if isinstance(v, Constant) and isinstance(v.value, str))
                yield from (os.path.basename(text) for text in texts if "." in text)


def _has_rows(run: RunCall) -> bool:
    """Whether a run fetches a value with a row for each example."""
    return any(tensor.batch.kind == "example" for fetch in run.fetches for tensor in tensors_in(fetch))
