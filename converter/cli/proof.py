"""Proves a conversion before it is written."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from converter.diagnostics import Diagnostic, Refusal
from converter.options import Options
from converter.source import Source


def prove(source: Source, data: bytes, options: Options) -> tuple[bool, str]:
    """Runs a script and its conversion on virtual devices: whether they train the same, and the report.

    The conversion lies beside the script meanwhile, so that it finds the modules that the script finds.

    Raises:
        Refusal: TMG012, the verification cannot begin; TMG007, there is no room for it beside the script.
    """
    from converter.report.verification import render_text
    from converter.verify import Settings, VerifyError, verify

    candidate = _beside(source.path, data)
    settings = Settings(gpus=options.num_gpus, batch=options.batch)
    try:
        report = verify(Path(source.path), candidate, settings)
    except VerifyError as error:
        hint = "install the extra `verify`: pip install 'tf-multigpu[verify]'"
        message = f"verification cannot begin, nothing is written: {error}"
        raise Refusal(Diagnostic("TMG012", source.path, 0, 0, message, hint)) from None
    finally:
        candidate.unlink(missing_ok=True)
    return report.verdict == "passed", render_text(report)


def _beside(path: str, data: bytes) -> Path:
    folder = os.path.dirname(os.path.abspath(path))
    try:
        handle, candidate = tempfile.mkstemp(prefix="tf_multigpu_", suffix=".py", dir=folder)
    except OSError as error:
        message = f"--verify runs the conversion beside the script, and cannot write there: {error.strerror}"
        raise Refusal(Diagnostic("TMG007", path, 0, 0, message, "copy the script elsewhere")) from None
    with os.fdopen(handle, "wb") as file:
        file.write(data)
    return Path(candidate)
