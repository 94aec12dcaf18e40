"""Reports about notebooks: places are those in cells, and what a notebook does beside its Python is not checked."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from converter.source import read
from converter.verify.data import LedgerLine, Report


def in_cells(report: Report, single: Path) -> Report:
    """A report whose lines are the original notebook's, and that says what of it did not run; others as they are."""
    notebook = read(str(single)).notebook if single.suffix == ".ipynb" else None
    if notebook is None:
        return report
    told = notebook.told
    entry = LedgerLine(
        "unchecked",
        "notebook",
        "the cells ran once, in their order, as a script; magics, shell lines and cells in other languages did not run",
    )
    return replace(
        report,
        reason=told(report.reason),
        checks=tuple(replace(check, detail=told(check.detail)) for check in report.checks),
        ledger=(*(replace(one, detail=told(one.detail)) for one in report.ledger), entry),
        notes=tuple(map(told, report.notes)),
    )
