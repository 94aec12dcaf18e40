"""Results and rules as JSON, for programs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, replace

from converter import __version__
from converter.report.results import FileResult, exit_code
from converter.rule import Rule
from converter.verify.data import Report, to_json

# docs/schema describes the objects. The number grows when a field is removed or changes its meaning.
CONVERT = "tf-multigpu/convert/1"
VERIFY = "tf-multigpu/verify/1"


def results(done: Sequence[FileResult]) -> str:
    """A run as one JSON object: `schema`, `version`, `exit_code`, and `files`, each as its FileResult says.

    A file's diagnostics keep their order; columns and lines count from one, line 0 is the whole file.
    """
    files = [asdict(replace(result, fix=None)) for result in done]
    for file in files:
        del file["fix"]
    return _dump({"schema": CONVERT, "version": __version__, "exit_code": exit_code(done), "files": files})


def verification(report: Report) -> str:
    """A verification report as one JSON object, without scripts' texts and traces."""
    return json.dumps({"schema": VERIFY, "version": __version__, **to_json(report)}, indent=2, ensure_ascii=False)


def rules(known: Sequence[Rule]) -> str:
    """All rules as one JSON list of objects: code, kind, title, why, before, after, references."""
    shown = [{name: value for name, value in asdict(rule).items() if name != "messages"} for rule in known]
    return _dump([{"code": rule.code, "kind": rule.kind, **one} for rule, one in zip(known, shown, strict=True)])


def _dump(value: object) -> str:
    return json.dumps(value, indent=2)
