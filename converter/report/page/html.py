"""A verification as one page that needs nothing else: no network, no script."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from converter import __version__
from converter.dataclass import dataclass
from converter.report import page
from converter.report.page import plots
from converter.report.page.device_graph import device_graph, towers_of
from converter.report.review import Spot, failed_first, lines_to_look_at, ranges, to_judge
from converter.report.sides import Stretch, side_by_side
from converter.report.verification import FATES
from converter.rule import all_rules
from converter.verify.data import CheckResult, Fate, LedgerLine, Report, StepTrace

HEADER = "TMG009"  # in the trace of a converted script: the comment that names its source
OF_HEADER = "says which script this was made from, with which options"

VERDICTS = {
    "passed": ("✓", "Passed", "In the steps that were compared, both scripts trained alike."),
    "failed": ("✗", "Failed", "In the steps that were compared, the scripts did not train alike."),
    "not comparable": ("?", "Not comparable", "Nothing was shown, neither that it is right nor that it is wrong."),
}


@dataclass(frozen=True)
class Scripts:
    """Names and texts of the two scripts that were compared."""

    single: str
    multi: str
    before: str
    after: str


@dataclass(frozen=True)
class Compared:
    """A file before and after: its name on either side, and its lines side by side."""

    single: str
    multi: str
    stretches: tuple[Stretch, ...]


@dataclass(frozen=True)
class Picture:
    """A drawing, and what it shows."""

    title: str
    svg: Markup
    caption: str


def render_html(report: Report, scripts: Scripts) -> str:
    """The whole page."""
    environment = Environment(
        loader=PackageLoader(page.__name__, "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(figure=_figure, share=_share)
    files = _compared(report, scripts)
    rows = [row for file in files for stretch in file.stretches for row in stretch.rows]
    lines = Counter(code for row in rows for code in row.codes if "".join(text for text, _ in row.after).strip())
    known = {rule.code: rule for rule in all_rules()}
    suspects = {check.name: _suspects(report, check) for check in report.checks if check.status == "failed"}
    return environment.get_template("page.html.j2").render(
        report=report,
        scripts=scripts,
        sign=VERDICTS[report.verdict],
        files=files,
        counts=Counter(row.kind for row in rows),
        lines=lines,
        rules=[known[code] for code in sorted(lines) if code != HEADER],
        titles={code: known[code].title for code in lines} | {HEADER: OF_HEADER},
        header=HEADER,
        pictures=_pictures(report),
        fates=FATES,
        ledger=_not_told(report),
        worst=_worst(report),
        points=to_judge(report),
        suspects=suspects,
        checks=failed_first(report.checks),
        failed=[check for check in report.checks if check.status == "failed"],
        targets={(link.file, link.line) for _, links in suspects.values() for link in links},
        version=__version__,
    )


def _not_told(report: Report) -> dict[Fate, list[LedgerLine]]:
    """The entries of the ledger that neither the checks nor the points to judge say, by their fate."""
    told = {(check.name, check.detail) for check in report.checks}
    judged = {point.text for point in to_judge(report)}
    left = [e for e in report.ledger if (e.what, e.detail) not in told and e.detail not in judged]
    fates: tuple[Fate, ...] = ("differs", "unchecked") if report.checks else ("wrong", "same", "differs", "unchecked")
    return {fate: [entry for entry in left if entry.fate == fate] for fate in fates}


@dataclass(frozen=True)
class Link:
    """A range of lines of a converted file to look at, with a link to its place on the page.

    file: its number among those on the page, -1 where it is not there.
    """

    file: int
    line: int
    shown: str


def _suspects(report: Report, check: CheckResult) -> tuple[str, list[Link]]:
    """Why lines are named for a failed check, and their ranges."""
    why, spots = lines_to_look_at(report, check)
    names = ["", *(file.name for file in report.origin.files[1:])]
    return why, [link for spot in spots for link in _links(spot, names.index(spot.file) if spot.file in names else -1)]


def _links(spot: Spot, file: int) -> Iterator[Link]:
    rows = dict(zip(spot.lines, spot.rows, strict=True))
    for shown in ranges(spot.lines).split(", "):
        line = f"line{'s' if '-' in shown else ''} {shown}"
        place = f"cell {spot.cell}, {line}" if spot.cell else f"{spot.file}, {line}" if spot.file else line
        yield Link(file, rows[int(shown.partition("-")[0])], place)


def _compared(report: Report, scripts: Scripts) -> tuple[Compared, ...]:
    """The script, and the other files of its project that change with it, where these are known."""
    known = report.origin.files
    trace = known[0].trace if known else ()
    script = Compared(scripts.single, scripts.multi, side_by_side(scripts.before, scripts.after, trace))
    others = (Compared(f.name, f.name, side_by_side(f.before, f.after, f.trace)) for f in known[1:])
    return (script, *others)


def _figure(value: float | None) -> str:
    """An error in a form in which readers can compare it with others."""
    return "–" if value is None else "0" if value == 0 else f"{value:.1e}"


def _share(part: float, whole: float) -> str:
    return f"{part / whole:.0%}" if whole else "–"


def _worst(report: Report) -> float | None:
    """The largest gradient error of all variables."""
    return max((row.gradient for row in report.variables if row.gradient is not None), default=None)


def _pictures(report: Report) -> Mapping[str, Picture]:
    """The pictures that can be drawn of this run."""
    found = {}
    if report.converted is not None:
        found["devices"] = _devices(report.converted)
    if report.losses:
        first, last = report.losses[0], report.losses[-1]
        words = (
            f"The original goes from {first.original:.6g} to {last.original:.6g}, the converted script from "
            f"{first.converted:.6g} to {last.converted:.6g}."
        )
        svg = plots.loss_curves(report.losses, f"Losses of {len(report.losses)} steps. {words}")
        each = (
            "The original uses the mean of its own gradients. In the steps that are compared in every way (of each "
            "kind the first six) it trains on its own from the same first weights; in later ones it begins at the "
            "conversion's."
        )
        found["losses"] = Picture("Loss", Markup(svg), f"{words} {each}")
    if any(row.gradient is not None for row in report.variables):
        found["gradients"] = _gradients(report)
    if report.converted is not None:
        found["timeline"] = _timeline(report.original, report.converted)
    return found


def _devices(trace: StepTrace) -> Picture:
    towers = towers_of(trace)
    label = f"One step by device: inputs, {len(towers)} towers ({', '.join(towers)}), averaging, update."
    caption = (
        "Drawn from the operations of an executed step: where each ran, how many there were, and how many tensors "
        f"went on (beside the arrows). Forward and backward ran on {', '.join(towers) or 'no device'}."
    )
    return Picture("The step by device", Markup(device_graph(trace, label)), caption)


def _gradients(report: Report) -> Picture:
    tolerance = next((c.tolerance for c in report.checks if c.name == "gradients" and c.tolerance), 1e-4)
    trained = [row for row in report.variables if row.gradient is not None]
    above = [row.name for row in trained if not (row.gradient or 0.0) <= tolerance]
    where = f"{len(above)} of them above" if above else "all below"
    count = "1 trained variable" if len(trained) == 1 else f"{len(trained)} trained variables"
    words = f"{count}, {where} what is allowed."
    svg = plots.gradient_errors(trained, tolerance, f"Gradient errors on a log scale: {words}")
    hollow = "Hollow marks are exact." if any(row.gradient == 0 for row in trained) else ""
    few = f"The {plots.MOST_VARIABLES} largest are shown." if len(trained) > plots.MOST_VARIABLES else ""
    return Picture("Gradient errors", Markup(svg), " ".join(part for part in (words, hollow, few) if part))


def _timeline(original: StepTrace | None, converted: StepTrace) -> Picture:
    traces = [("converted, the global batch", converted)]
    if original is not None:
        traces.insert(0, ("original, one batch", original))
    titles = "; ".join(title for title, _ in traces)
    svg = plots.timeline(traces, f"What waits for what in one step, by device: {titles}.")
    caption = (
        "What waits for what in a step of each script, not how long a step takes: virtual devices share a processor. "
        "tf-multigpu profile predicts the times of GPUs."
    )
    return Picture("The order of one step", Markup(svg), caption)
