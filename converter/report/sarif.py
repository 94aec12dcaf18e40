"""Results as SARIF 2.1.0, for code scanning and editors (OASIS, Static Analysis Results Interchange Format)."""

from __future__ import annotations

import difflib
import json
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from converter import __version__
from converter.diagnostics import Diagnostic, Severity
from converter.report.diff import lines_of
from converter.report.excerpt import character
from converter.report.results import FileResult, Fix
from converter.rule import all_rules
from converter.verify.data import CheckResult, LedgerLine, Report

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
OUTDATED = "not-converted"  # the rule of a file that --diff or --check would have otherwise
_LEVELS: dict[Severity, str] = {"error": "error", "warning": "warning", "info": "note"}
_KINDS = {"passed": "pass", "failed": "fail", "skipped": "open"}

Json = dict[str, Any]


def results(done: Sequence[FileResult]) -> str:
    """Every finding as a result, and each file that would change with its fix."""
    found = [_finding(finding) for result in done for finding in result.diagnostics]
    found += [_outdated(result) for result in done if result.outcome == "would change"]
    used = {result["ruleId"] for result in found}
    rules = [_rule(rule.code, rule.title, rule.reason) for rule in all_rules() if rule.code in used]
    if OUTDATED in used:
        reason = "The file is not what the conversion gives: convert again, or apply the fix."
        rules.append(_rule(OUTDATED, "would change when converted", reason))
    return _log(rules, found)


def verification(report: Report, multi: str) -> str:
    """Every check as a result of its own rule, and what differs by design as information."""
    checks = [_check(check, multi) for check in report.checks]
    entries = [_entry(entry, multi) for entry in report.ledger if entry.fate in ("differs", "unchecked")]
    if report.verdict != "passed" and not any(result["kind"] == "fail" for result in checks):
        checks.append(_result("verify/verdict", "fail", "error", f"{report.verdict}: {report.reason}", multi))
    found = [*checks, *entries]
    titles = dict.fromkeys(result["ruleId"] for result in found)
    return _log([_rule(name, name.partition("/")[2].replace("-", " ")) for name in titles], found)


def _log(rules: Sequence[Json], found: Sequence[Json]) -> str:
    places = {rule["id"]: number for number, rule in enumerate(rules)}
    driver = {"name": "tf-multigpu", "version": __version__, "rules": list(rules)}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [
            {**result, "ruleIndex": places[result["ruleId"]]} if result["ruleId"] in places else result
            for result in found
        ],
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2)


def _rule(name: str, title: str, reason: str = "") -> Json:
    rule: Json = {"id": name, "shortDescription": {"text": title or name}}
    return {**rule, "fullDescription": {"text": reason}} if reason else rule


def _finding(finding: Diagnostic) -> Json:
    told = f"{finding.where}, column {finding.column}: {finding.message}" if finding.cell else finding.message
    message = "\n".join(filter(None, [told, finding.hint]))
    result = _result(finding.code, "fail", _LEVELS[finding.severity], message, finding.path)
    if finding.cell:
        # The place in the file is that of the JSON text: its columns are not those of the cell.
        result["locations"][0]["physicalLocation"]["region"] = {"startLine": finding.file_line}
        result["locations"][0]["logicalLocations"] = [{"name": f"cell {finding.cell}", "kind": "element"}]
    elif finding.line:
        region: Json = {"startLine": finding.line, "startColumn": character(finding)}
        if finding.text:
            region["snippet"] = {"text": finding.text}
        result["locations"][0]["physicalLocation"]["region"] = region
    return result


def _outdated(result: FileResult) -> Json:
    found = _result(OUTDATED, "fail", "warning", "the file would change when converted", result.path)
    if result.fix:
        found["fixes"] = [_fix(result.fix)]
    return found


def _check(check: CheckResult, multi: str) -> Json:
    measured = "" if check.figure is None else f" ({check.figure:.1e}, at most {check.tolerance or 0:.0e})"
    level = "error" if check.status == "failed" else "none"
    text = f"{check.detail or check.status}{measured}"
    return _result(_slug("verify", check.name), _KINDS[check.status], level, text, multi)


def _entry(entry: LedgerLine, multi: str) -> Json:
    kind = "informational" if entry.fate == "differs" else "open"
    return _result(_slug(entry.fate, entry.what), kind, "none", f"{entry.what}: {entry.detail}", multi)


def _slug(kind: str, name: str) -> str:
    return f"{kind}/{re.sub(r'[^a-z0-9]+', '-', name.lower()).strip('-')}"


def _result(rule: str, kind: str, level: str, message: str, path: str) -> Json:
    location = {"physicalLocation": {"artifactLocation": {"uri": _uri(path)}}}
    return {"ruleId": rule, "kind": kind, "level": level, "message": {"text": message}, "locations": [location]}


def _uri(path: str) -> str:
    if os.path.isabs(path):
        return Path(path).as_uri()
    return quote(os.path.normpath(path).replace(os.sep, "/"))


def _fix(fix: Fix) -> Json:
    change = {"artifactLocation": {"uri": _uri(fix.path)}, "replacements": list(replacements(fix.before, fix.after))}
    return {"description": {"text": "Convert the file"}, "artifactChanges": [change]}


def replacements(before: str, after: str) -> Iterator[Json]:
    """The regions of one text that give way to those of another; they start and end between lines."""
    old, new = lines_of(before), lines_of(after)
    for tag, first, last, start, end in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            begin, stop = _place(old, first), _place(old, last)
            region = {
                "startLine": begin[0],
                "startColumn": begin[1],
                "endLine": stop[0],
                "endColumn": stop[1],
            }
            yield {"deletedRegion": region, "insertedContent": {"text": "".join(new[start:end])}}


def _place(lines: Sequence[str], index: int) -> tuple[int, int]:
    """Line and column in front of a line, or behind the last one."""
    if index == len(lines) and lines and not lines[-1].endswith("\n"):
        return index, len(lines[-1]) + 1
    return index + 1, 1
