"""Runs of scripts for `convert`: proofs before a conversion is written (--verify), and traces (--trace)."""

from __future__ import annotations

import os
import shlex
import tempfile
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

from converter import conversion
from converter.cli.endings import ended_in_order
from converter.cli.files.request import Request
from converter.conversion import Conversion
from converter.diagnostics import refusal_of
from converter.source import Source


def prove(
    source: Source,
    data: bytes,
    request: Request,
    parts: Mapping[str, bytes] | None = None,
    target: str = "",
) -> tuple[bool, str]:
    """Runs a script and its conversion on virtual devices: whether they train the same, and the report.

    The conversion lies beside the script meanwhile, so that it finds the modules that the script finds.

    parts: other files that change with it, by their paths from the script's folder.
    target: what the conversion is to be called in a page.

    Raises:
        Refusal: TMG012, the verification cannot begin; TMG007, there is no room for it beside the script.
    """
    from converter.cli.page import write_page
    from converter.cli.verify import run_verification
    from converter.report.verification import render_summary, render_text
    from converter.verify import VerifyError, VerifySettings

    candidate = _temporary_path(source.path, data, ".py" if source.notebook is None else ".ipynb")
    watched = request.pool.guard.removes(candidate) if request.pool else nullcontext()
    asked = request.options
    settings = VerifySettings(gpus=asked.num_gpus, batch=asked.batch, python=request.python, network=request.network)
    try:
        single, name = Path(source.path), target or source.path
        with watched:
            report = run_verification(single, candidate, settings, parts, pool=request.pool)
        report = replace(report, command=report.command.replace(str(candidate), shlex.quote(name)))
        if request.html:
            write_page(report, single, candidate, request.html, name)
    except VerifyError as error:
        hint = (
            "name an interpreter that has TensorFlow by --python, or in tf-multigpu's checkout: pip install '.[verify]'"
        )
        message = f"verification cannot begin, nothing is written: {error}"
        raise refusal_of("TMG012", source.path, message, hint) from None
    finally:
        candidate.unlink(missing_ok=True)
    passed = report.verdict == "passed"
    return passed, render_summary(report) if passed else render_text(report)


def _temporary_path(path: str, data: bytes, ending: str) -> Path:
    folder = os.path.dirname(os.path.abspath(path))
    from converter.source.writing import clear_left_over, prefix

    try:
        clear_left_over(folder)
        handle, candidate = tempfile.mkstemp(prefix=prefix(run=True), suffix=ending, dir=folder)
    except OSError as error:
        message = f"--verify runs the conversion beside the script, and cannot write there: {error.strerror}"
        raise refusal_of("TMG007", path, message, "copy the script elsewhere") from None
    with os.fdopen(handle, "wb") as file:
        file.write(data)
    return Path(candidate)


def traced(refused: Conversion, request: Request, several: bool, originals: Mapping[str, bytes]) -> Conversion:
    """Converts a refused script with what a run of it showed; if it stays refused, the hint says what the run showed.

    Raises:
        Refusal: TMG012, the script cannot be run.
    """
    from converter.verify import VerifyError
    from converter.verify.processes.answer import Stopped
    from converter.verify.runs.trace import trace_calls

    source = refused.source
    sites = conversion.unfollowed_calls(source, request.options)
    if not sites:
        return _hinted(refused, "the script was not run: it has no call whose result could be observed")
    try:
        with ended_in_order():
            facts, why = trace_calls(source, sites, request.python, pool=request.pool)
    except VerifyError as error:
        message = f"the script cannot be run for --trace: {error}"
        raise refusal_of("TMG012", source.path, message, "name an interpreter by --python") from None
    except Stopped as problem:
        return _hinted(refused, f"a run gave no facts: {problem.reason}")
    if not facts:
        return _hinted(refused, f"a run gave no facts: {why or 'no call gave tensors that follow the batch'}")
    options = replace(request.options, traced=facts)
    again = conversion.convert(source, options, several=several, originals=originals, output=request.output)
    return again if again.status == "converted" else _hinted(again, f"with facts from a run about {len(facts)} calls")


def _hinted(refused: Conversion, told: str) -> Conversion:
    errors = tuple(replace(finding, hint=f"{finding.hint} ({told})") for finding in refused.diagnostics)
    return replace(refused, diagnostics=errors)
