"""Pictures of a verification as SVG, for a page that is light or dark: text takes the page's colour."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from html import escape
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from converter.verify.data import DeviceSpan, LossRow, Part, StepTrace, VariableRow

PAGE = "#010203"  # stands for the page's own colour of text
COLOURS: dict[Part, str] = {
    "input": "#8b93a1",
    "forward": "#3d86e8",
    "gradient": "#e08a16",
    "average": "#1aa179",
    "update": "#b05fd6",
}
PART_NAMES: dict[Part, str] = {
    "input": "input, cut into shards",
    "forward": "forward",
    "gradient": "gradients",
    "average": "averaging",
    "update": "update",
}
WIDTH = 11.5  # inches
MOST_VARIABLES = 40
FLOOR = 1e-9  # where a gradient without any error is drawn

_STYLE = {
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.size": 10,
    "text.color": PAGE,
    "axes.labelcolor": PAGE,
    "axes.edgecolor": PAGE,
    "xtick.color": PAGE,
    "ytick.color": PAGE,
    "legend.frameon": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
}


def style(name: str) -> Any:
    """Matplotlib settings for one picture; `name` seeds the identifiers in its SVG, so that builds are alike."""
    return {**_STYLE, "svg.hashsalt": name}


def svg(figure: Figure, label: str) -> str:
    """A figure as an <svg> element that says in words what it shows."""
    stream = io.StringIO()
    nothing = {"Date": None, "Creator": None, "Format": None, "Type": None}
    figure.savefig(stream, format="svg", transparent=True, metadata=nothing)
    text = stream.getvalue()
    text = text[text.index("<svg") :].strip().replace(PAGE, "currentColor")
    used = set(re.findall(r'(?:url\(#|href="#)([^")]+)', text))
    text = re.sub(r' id="([^"]+)"', lambda found: found[0] if found[1] in used else "", text)
    text = re.sub(r"<defs>\s*<style.*?</style>\s*</defs>", "", text, flags=re.DOTALL)
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    return text.replace("<svg", f'<svg role="img" aria-label="{escape(label, quote=True)}"', 1)


def loss_curves(rows: Sequence[LossRow], label: str) -> str:
    """Both losses over the steps."""
    with mpl.rc_context(style("losses")):
        figure = Figure(figsize=(WIDTH, 3.0), layout="constrained")
        axes = figure.add_subplot()
        numbers = range(1, len(rows) + 1)
        axes.plot(numbers, [row.original for row in rows], color=COLOURS["forward"], lw=5, alpha=0.45, label="original")
        converted = [row.converted for row in rows]
        axes.plot(numbers, converted, color=COLOURS["gradient"], lw=1.5, marker="o", ms=5, label="converted")
        axes.set_xticks(list(numbers) if len(rows) <= 20 else list(numbers)[:: len(rows) // 10])
        axes.set_xlabel("step")
        axes.set_ylabel("loss")
        axes.grid(axis="y", alpha=0.2)
        axes.legend(loc="best")
        return svg(figure, label)


def gradient_errors(rows: Sequence[VariableRow], tolerance: float, label: str) -> str:
    """The worst gradient errors on a log scale beside what is allowed; no error at all is a hollow mark."""
    known = [(row.name.split(":")[0], row.gradient) for row in rows if row.gradient is not None]
    shown = sorted(known, key=lambda pair: _drawn(pair[1]))[-MOST_VARIABLES:]
    with mpl.rc_context(style("gradients")):
        figure = Figure(figsize=(WIDTH, 1.0 + 0.25 * len(shown)), layout="constrained")
        axes = figure.add_subplot()
        for height, (_, error) in enumerate(shown):
            right = error <= tolerance
            colour = COLOURS["average"] if right else "#d64545"
            axes.hlines(height, FLOOR, _drawn(error), color=colour, lw=2, alpha=0.5)
            face = colour if error else "none"
            axes.plot(_drawn(error), height, marker="o" if right else "X", ms=7, mec=colour, mfc=face, ls="none")
        axes.axvline(tolerance, color="#d64545", ls="--", lw=1.2)
        axes.annotate(
            f"allowed {tolerance:.0e}",
            (tolerance, 1),
            xycoords=("data", "axes fraction"),
            xytext=(4, 2),
            textcoords="offset points",
            color="#d64545",
            fontsize=9,
        )
        axes.set_xscale("log")
        axes.set_xlim(FLOOR / 2, max([tolerance * 30, *(2 * _drawn(error) for _, error in shown)]))
        axes.set_ylim(-0.7, len(shown) - 0.3)
        axes.set_yticks(range(len(shown)), [name for name, _ in shown], fontsize=9)
        axes.set_xlabel("largest error of a gradient, relative to it")
        axes.grid(axis="x", alpha=0.2)
        return svg(figure, label)


def _drawn(error: float) -> float:
    """Where an error is drawn: none at the left edge, what is not finite far to the right."""
    return min(max(error, FLOOR), 1e6) if error == error else 1e6


def timeline(traces: Sequence[tuple[str, StepTrace]], label: str) -> str:
    """A timeline of one step of each script, by device, in percent of the step."""
    lanes = [_lanes(trace) for _, trace in traces]
    with mpl.rc_context(style("timeline")):
        height = 1.0 + sum(0.6 + 0.34 * len(devices) for devices in lanes)
        figure = Figure(figsize=(WIDTH, height), layout="constrained")
        heights = [max(len(devices), 1) + 0.6 for devices in lanes]
        several = figure.subplots(len(traces), 1, sharex=True, squeeze=False, height_ratios=heights)[:, 0]
        for axes, (title, trace), devices in zip(several, traces, lanes, strict=True):
            end = max((span.end for span in trace.spans), default=0) or 1
            for part in COLOURS:
                for height, device in enumerate(devices):
                    _bars(axes, trace.spans, device, part, height, end)
            axes.set_yticks(range(len(devices)), devices)
            axes.set_ylim(len(devices) - 0.4, -0.6)
            axes.set_xlim(0, 102)
            axes.set_title(title)
            axes.grid(axis="x", alpha=0.2)
        several[-1].set_xlabel("percent of the step")
        _legend(figure)
        return svg(figure, label)


def _lanes(trace: StepTrace) -> list[str]:
    return sorted({span.device for span in trace.spans if span.part in COLOURS}, key=device_key)


def device_key(device: str) -> tuple[str, int]:
    """Devices in the order of their numbers."""
    kind, _, number = device.partition(":")
    return kind, int(number or 0)


def _bars(axes: Axes, spans: Sequence[DeviceSpan], device: str, part: Part, height: int, end: float) -> None:
    mine = [s for s in spans if s.device == device and s.part == part]
    # a bar of no width is still there: an operation ran
    bars = [(100 * s.begin / end, max(100 * (s.end - s.begin) / end, 0.1)) for s in mine]
    axes.broken_barh(bars, (height - 0.36, 0.72), facecolor=COLOURS[part], edgecolor=COLOURS[part], lw=0.4, alpha=0.9)


def _legend(figure: Figure) -> None:
    marks = [Patch(color=colour, label=PART_NAMES[part]) for part, colour in COLOURS.items()]
    figure.legend(handles=marks, loc="outside upper left", ncols=len(marks))
