"""Results and rules as JSON, for programs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict

from converter import __version__
from converter.report.results import FileResult, exit_code
from converter.rule import Rule


def results(done: Sequence[FileResult]) -> str:
    """A run as one JSON object: `version`, `exit_code`, and `files`, each as its FileResult says.

    A file's diagnostics keep their order; columns and lines count from one, line 0 is the whole file.
    """
    files = [asdict(result) for result in done]
    return _dump({"version": __version__, "exit_code": exit_code(done), "files": files})


def rules(known: Sequence[Rule]) -> str:
    """All rules as one JSON list of objects: code, kind, title, why, before, after, references."""
    return _dump([{"code": rule.code, "kind": rule.kind, **asdict(rule)} for rule in known])


def _dump(value: object) -> str:
    return json.dumps(value, indent=2)
