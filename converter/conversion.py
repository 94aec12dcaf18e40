"""The engine's one public function: a source and options in, a conversion out."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal

from converter import __version__
from converter.diagnostics import Diagnostic, Refusal
from converter.header import Header, format_header, is_converted
from converter.options import Options
from converter.source import mentions_tensorflow, parse

if TYPE_CHECKING:
    from converter.plan import Plan
    from converter.source import Source

Status = Literal["converted", "unchanged", "refused", "failed"]

LINE_LENGTH = 100  # where neither the options nor the project say one


@dataclass(frozen=True)
class Conversion:
    """What became of one file.

    status: "converted" (`text` differs from the source), "unchanged" (nothing to do: no
        TensorFlow in it, or converted before), "refused" (an error diagnostic says why),
        "failed" (the tool itself went wrong; the diagnostic says how to report it).
    text: the converted script, None unless converted.
    plan: the decision behind it, None unless one was reached.
    """

    source: Source
    status: Status
    text: str | None
    diagnostics: tuple[Diagnostic, ...]
    plan: Plan | None = None


def convert(source: Source, options: Options) -> Conversion:
    """Converts one script; never raises for what a script contains."""
    if not mentions_tensorflow(source.data):
        return Conversion(source, "unchanged", None, ())
    if is_converted(source.text):
        done = Diagnostic("TMG009", source.path, 1, 1, "converted before", "convert its source again", "info")
        return Conversion(source, "unchanged", None, (done,))
    try:
        plan, findings = make_plan(source, options)
    except Refusal as refusal:
        return Conversion(source, "refused", None, (refusal.diagnostic,))
    from converter.rewrite import apply

    header = format_header(Header(__version__, os.path.basename(source.path), source.sha256, plan.options))
    text = apply(source.text, plan, header, options.line_length or project_line_length(source.path))
    return Conversion(source, "converted", text, findings, plan)


def make_plan(source: Source, options: Options) -> tuple[Plan, tuple[Diagnostic, ...]]:
    """Source to facts to plan; raises Refusal."""
    from converter.analysis import read_facts
    from converter.planner import decide

    facts = read_facts(source.path, parse(source), options)
    return decide(facts, options, source.text)


def project_line_length(path: str) -> int:
    """The line length that the script's project sets for black or ruff, else 100."""
    return _line_length(os.path.dirname(os.path.abspath(path)))


@cache
def _line_length(folder: str) -> int:
    file = os.path.join(folder, "pyproject.toml")
    if os.path.isfile(file):
        tools = _tool_settings(file)
        for tool in ("black", "ruff"):
            length = tools.get(tool, {}).get("line-length")
            if isinstance(length, int) and length > 0:
                return length
    parent = os.path.dirname(folder)
    if parent == folder or os.path.isdir(os.path.join(folder, ".git")):
        return LINE_LENGTH
    return _line_length(parent)


def _tool_settings(file: str) -> dict[str, dict[str, object]]:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib  # type: ignore[import-not-found,unused-ignore]
    try:
        with open(file, "rb") as stream:
            settings = tomllib.load(stream).get("tool", {})
    except (OSError, tomllib.TOMLDecodeError):
        return {}
    return settings if isinstance(settings, dict) else {}
