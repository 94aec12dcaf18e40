"""Shows the report of a verification: as text for a terminal."""

from __future__ import annotations

import os

from converter.report.review import failed_first, lines_to_look_at, to_judge, where_to_look
from converter.verify.data import CheckResult, Fate, LedgerLine, Report, VariableRow

FATES = {"wrong": "WRONG", "same": "the same", "differs": "differs by design", "unchecked": "not checked"}
SUMMARY_LINES = 6
MOST_FAILED = 3  # checks that the summary names
WIDEST = 240  # characters of a line of the summary
_MARKS = {"passed": "ok", "failed": "FAILED", "skipped": "skipped"}


def render_summary(report: Report, name: str = "") -> str:
    """The report in six lines, followed by the last output of a script that failed by itself.

    name: what the converted script is called where its lines are named.
    """
    rows = [_verdict_row(report), *_failed_rows(report, name)]
    points = [f"{point.topic.lower()}: {point.text}" for point in to_judge(report) if not point.code]
    warned = [f"{point.code} {point.where}" for point in to_judge(report) if point.code]
    rows += [("same", _same_row(report)), ("to judge", "; ".join(points)), ("warnings", ", ".join(warned))]
    left = list(dict.fromkeys(entry.what for entry in report.ledger if entry.fate == "unchecked"))
    rows.append(("unchecked", ", ".join(left)))
    rows = [row for row in rows if row[1]][: SUMMARY_LINES - 1]
    more = "-v shows every check and variable" if report.checks else ""
    rows.append(("", "; ".join(filter(None, [_ran(report), more]))))
    whole = (rows[0], *_failed_rows(report, name))  # what somebody acts on is never cut
    texts = ((mark, text if (mark, text) in whole else _cut(text)) for mark, text in rows if text)
    lines = [f"{mark:<9}  {' '.join(text.split())}".rstrip() for mark, text in texts]
    log = ["", *(f"  | {line}" for line in report.log.splitlines())] if report.log else []
    return "\n".join([*lines, *log]) + "\n"


def replicas(report: Report) -> str:
    """How many replicas of the model train, by what they are: towers, or processes."""
    header = report.origin.header
    one, more = ("process", "processes") if header and header.options.target == "ddp" else ("tower", "towers")
    return f"1 {one}" if report.gpus == 1 else f"{report.gpus} {more}"


def _verdict_row(report: Report) -> tuple[str, str]:
    towers = replicas(report)
    return report.verdict.upper(), f"{towers}, batch {report.batch}, {report.steps} steps: {report.reason}"


def _failed_rows(report: Report, name: str) -> list[tuple[str, str]]:
    """The first failed checks, each with the lines to look at; how many more there are stands in the last."""
    failed = [check for check in report.checks if check.status == "failed"]
    script = os.path.join(name, report.origin.script) if name and report.origin.script else name
    rows = []
    for check in failed[:MOST_FAILED]:
        why, spots = lines_to_look_at(report, check)
        where = f" (see {where_to_look(spots, script)}, {why})" if spots else ""
        rows.append(("FAILED", f"{check.name}: {check.detail}{where}"))
    if len(failed) > MOST_FAILED:
        mark, text = rows[-1]
        rows[-1] = (mark, f"{text}; and {len(failed) - MOST_FAILED} more")
    return rows


def _same_row(report: Report) -> str:
    same = [entry for entry in report.ledger if entry.fate == "same"]
    shown = [entry.what if entry.figure is None else f"{entry.what} {_figure(entry.figure)}" for entry in same]
    return ", ".join(shown)


def _ran(report: Report) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in report.versions)
    return f"{versions}, {report.where}, {report.seconds:g} s" if versions else ""


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= WIDEST else f"{line[: WIDEST - 1]}…"


def render_text(report: Report, variables: int = 12) -> str:
    """The report as a plain table; of the variables only the worst, `variables` of them."""
    lines = [_title(report), ""]
    width = max((len(check.name) for check in report.checks), default=0)
    lines += [line for check in failed_first(report.checks) for line in _check(report, check, width)]
    if report.variables and report.checks:
        lines += ["", *_variables(report.variables, variables)]
    if report.devices:
        lines += ["", "device   forward  backward  share of the work   operations in one step"]
        lines += [f"{row.device:<8}{row.forward:>8}{row.gradient:>10}{_share(row.share):>19}" for row in report.devices]
    lines += _footer(report)
    if report.log:
        lines += ["", *(f"  | {line}" for line in report.log.splitlines())]
    lines += _ledger(report.ledger)
    return "\n".join(lines).rstrip() + "\n"


def _title(report: Report) -> str:
    towers = replicas(report)
    return f"{report.verdict.upper()}  {towers}, batch {report.batch}, {report.steps} steps: {report.reason}"


def _check(report: Report, check: CheckResult, width: int) -> list[str]:
    figure = ""
    if check.figure is not None and check.tolerance is not None:
        sign = "<=" if check.figure <= check.tolerance else ">"
        figure = f"  [{check.figure:.1e} {sign} {check.tolerance:.0e}]"
    lines = [f"{_MARKS[check.status]:<8}{check.name:<{width}}  {check.detail}{figure}"]
    why, spots = lines_to_look_at(report, check) if check.status == "failed" else ("", ())
    if spots:
        lines.append(f"{'':<{width + 10}}see {where_to_look(spots, report.origin.script)}, {why}")
    return lines


def _variables(rows: tuple[VariableRow, ...], limit: int) -> list[str]:
    def worst(row: VariableRow) -> float:
        figures = (row.gradient, row.update, row.weight)
        return max((value if value == value else float("inf") for value in figures if value is not None), default=0.0)

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


def _ledger(entries: tuple[LedgerLine, ...]) -> list[str]:
    """What is wrong first; what is the same on two lines, as the checks say it at length."""
    same = [entry for entry in entries if entry.fate == "same"]
    measured = ", ".join(f"{entry.what} {_figure(entry.figure)}" for entry in same if entry.figure is not None)
    exact = ", ".join(entry.what for entry in same if entry.figure is None)
    rows = _each(entries, "wrong")
    rows += [("same", f"{measured} (largest errors)")] if measured else []
    rows += [("same", exact)] if exact else []
    rows += [*_each(entries, "differs"), *_each(entries, "unchecked")]
    lines = []
    for number, (fate, text) in enumerate(rows):
        repeated = number and rows[number - 1][0] == fate
        lines.append(f"{'' if repeated else FATES[fate]:<{max(map(len, FATES.values()))}}  {text}")
    return ["", "ledger", *lines] if lines else []


def _each(entries: tuple[LedgerLine, ...], fate: Fate) -> list[tuple[str, str]]:
    return [(fate, f"{entry.what}: {entry.detail}") for entry in entries if entry.fate == fate]


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.1%}"


def _footer(report: Report) -> list[str]:
    lines = [f"note: {note}" for note in report.notes]
    if report.neutralised:
        held = ", ".join(f"{count} {kind}" for kind, count in report.neutralised)
        lines.append(f"randomness held still in the compared steps: {held} operations; NumPy and random seeded alike")
    if report.versions:
        versions = ", ".join(f"{name} {version}" for name, version in report.versions)
        parts = [versions, report.where, report.processes, f"{report.seconds:g} s"]
        lines.append(", ".join(filter(None, parts)))
    return ["", *lines] if lines else []
