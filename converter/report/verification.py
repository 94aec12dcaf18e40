"""Shows the report of a verification: as text for a terminal."""

from __future__ import annotations

from converter.verify.data import Check, Entry, Report, VariableRow

FATES = {"same": "the same", "differs": "differs by design", "wrong": "WRONG", "unchecked": "not checked"}
_MARKS = {"passed": "ok", "failed": "FAILED", "skipped": "skipped"}


def render_text(report: Report, variables: int = 12) -> str:
    """The report as a plain table; of the variables only the worst, `variables` of them."""
    lines = [_title(report), ""]
    width = max((len(check.name) for check in report.checks), default=0)
    lines += [_check(check, width) for check in report.checks]
    if report.variables and report.checks:
        lines += ["", *_variables(report.variables, variables)]
    if report.devices:
        lines += ["", "device   forward  backward  share of the work   operations in one step"]
        lines += [
            f"{row.device:<8}{row.forward:>8}{row.gradient:>10}{_share(row.share):>19}" for row in report.devices
        ]
    lines += _footer(report)
    if report.log:
        lines += ["", *(f"  | {line}" for line in report.log.splitlines())]
    lines += _ledger(report.ledger)
    return "\n".join(lines).rstrip() + "\n"


def _title(report: Report) -> str:
    towers = "1 tower" if report.gpus == 1 else f"{report.gpus} towers"
    return f"{report.verdict.upper()}  {towers}, batch {report.batch}, {report.steps} steps: {report.reason}"


def _check(check: Check, width: int) -> str:
    figure = ""
    if check.figure is not None and check.tolerance is not None:
        sign = "<=" if check.figure <= check.tolerance else ">"
        figure = f"  [{check.figure:.1e} {sign} {check.tolerance:.0e}]"
    return f"{_MARKS[check.status]:<8}{check.name:<{width}}  {check.detail}{figure}"


def _variables(rows: tuple[VariableRow, ...], limit: int) -> list[str]:
    def worst(row: VariableRow) -> float:
        figures = (row.gradient, row.update, row.weight)
        return max(
            (value if value == value else float("inf") for value in figures if value is not None), default=0.0
        )

    shown = sorted(rows, key=worst, reverse=True)[:limit]
    width = max(len(row.name) for row in shown)
    lines = [f"{'variable':<{width}}  gradient    update   weights   relative errors, worst of all steps"]
    for row in shown:
        cells = "".join(f"{_figure(value):>10}" for value in (row.gradient, row.update, row.weight))
        lines.append(f"{row.name:<{width}}{cells}")
    if len(rows) > limit:
        lines.append(f"... and {len(rows) - limit} more, none worse")
    return lines


def _figure(value: float | None) -> str:
    return "-" if value is None else "0" if value == 0 else f"{value:.1e}"


def _ledger(entries: tuple[Entry, ...]) -> list[str]:
    """What is the same on two lines, as the checks say it at length; everything else on a line of its own."""
    same = [entry for entry in entries if entry.fate == "same"]
    measured = ", ".join(f"{entry.what} {_figure(entry.figure)}" for entry in same if entry.figure is not None)
    exact = ", ".join(entry.what for entry in same if entry.figure is None)
    rows = [("same", f"{measured} (largest errors)")] if measured else []
    rows += [("same", exact)] if exact else []
    for fate in ("differs", "wrong", "unchecked"):
        rows += [(fate, f"{entry.what}: {entry.detail}") for entry in entries if entry.fate == fate]
    lines = []
    for number, (fate, text) in enumerate(rows):
        repeated = number and rows[number - 1][0] == fate
        lines.append(f"{'' if repeated else FATES[fate]:<{max(map(len, FATES.values()))}}  {text}")
    return ["", "ledger", *lines] if lines else []


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.1%}"


def _footer(report: Report) -> list[str]:
    lines = [f"note: {note}" for note in report.notes]
    if report.neutralised:
        held = ", ".join(f"{count} {kind}" for kind, count in report.neutralised)
        lines.append(
            f"randomness held still in the compared steps: {held} operations; NumPy and random seeded alike"
        )
    if report.versions:
        versions = ", ".join(f"{name} {version}" for name, version in report.versions)
        parts = [versions, "virtual CPU devices", report.processes, f"{report.seconds:g} s"]
        lines.append(", ".join(filter(None, parts)))
    return ["", *lines] if lines else []
