"""Findings, results and rules as text and as JSON."""

from __future__ import annotations

import json

import pytest

from converter import __version__
from converter.diagnostics import Diagnostic
from converter.report import data, explain, text
from converter.report.results import EXIT_CODES, FileResult, exit_code
from converter.rule import Rule, all_rules


@pytest.mark.parametrize(
    ("finding", "expected"),
    [
        (Diagnostic("TMG004", "a.py", 3, 7, "old"), "a.py:3:7: TMG004 old"),
        (Diagnostic("TMG003", "a.py", 0, 0, "empty"), "a.py: TMG003 empty"),
        (Diagnostic("TMG004", "a.py", 3, 7, "old", "mend it"), "a.py:3:7: TMG004 old\n    mend it"),
        (Diagnostic("TMG004", "a.py", 1, 1, "old", "one\ntwo"), "a.py:1:1: TMG004 old\n    one\n    two"),
        (Diagnostic("TMG301", "dir/b c.py", 10, 1, "x", severity="warning"), "dir/b c.py:10:1: TMG301 x"),
    ],
)
def test_a_finding(finding: Diagnostic, expected: str) -> None:
    assert text.diagnostic(finding) == expected


def test_findings_stand_in_the_order_of_their_places() -> None:
    places = [("a.py", 10, 1), ("a.py", 2, 5), ("a.py", 2, 1), ("A.py", 99, 1), ("a.py", 0, 0)]
    shown = text.diagnostics([Diagnostic("TMG301", *place, "x") for place in places])
    assert [line.split(": ")[0] for line in shown.splitlines()] == [
        "A.py:99:1",
        "a.py",
        "a.py:2:1",
        "a.py:2:5",
        "a.py:10:1",
    ]


def test_the_summary_counts_from_good_to_bad() -> None:
    outcomes = ["refused", "converted", "unchanged", "converted", "failed", "would change"]
    assert text.summary([FileResult("a.py", outcome) for outcome in outcomes]) == (
        "2 converted, 1 unchanged, 1 would change, 1 refused, 1 failed"
    )
    assert text.summary([]) == ""


@pytest.mark.parametrize(
    ("outcomes", "expected"),
    [
        ((), 0),
        (("converted", "unchanged", "up to date"), 0),
        (("converted", "would change"), 1),
        (("stale", "converted"), 1),
        (("refused", "would change"), 2),
        (("unverified", "refused"), 3),
        (("failed", "unverified", "converted"), 4),
    ],
)
def test_the_exit_status_is_that_of_the_worst_file(outcomes: tuple[str, ...], expected: int) -> None:
    assert exit_code([FileResult("a.py", outcome) for outcome in outcomes]) == expected


def test_every_outcome_has_an_exit_status() -> None:
    assert set(EXIT_CODES.values()) == {0, 1, 2, 3, 4}


def test_results_as_data() -> None:
    finding = Diagnostic("TMG004", "ä.py", 3, 7, "old", "mend it")
    report = json.loads(data.results([FileResult("ä.py", "refused", (finding,)), FileResult("b.py", "converted")]))
    assert (report["version"], report["exit_code"]) == (__version__, 2)
    assert [file["path"] for file in report["files"]] == ["ä.py", "b.py"]
    assert report["files"][0]["diagnostics"] == [
        {
            "code": "TMG004",
            "path": "ä.py",
            "line": 3,
            "column": 7,
            "message": "old",
            "hint": "mend it",
            "severity": "error",
            "text": "",
            "cell": 0,
            "file_line": 0,
        }
    ]


RULE = Rule("TMG301", "a warning", "Because. " * 20, "a = 1\nif a:\n    b = 2\n", "", ("https://example.org/x",))


def test_a_rule_is_explained_under_headings() -> None:
    shown = explain.explain(RULE)
    assert shown.startswith("TMG301: a warning\n\nWhat it does\n    A warning. ")
    headings = [line for line in shown.splitlines() if line and not line.startswith(" ")]
    assert headings == ["TMG301: a warning", "What it does", "Why", "Before", "References"]
    assert "\n    if a:\n        b = 2\n" in shown
    assert max(map(len, shown.splitlines())) <= 92


def test_rules_as_a_table_and_as_data() -> None:
    assert explain.table([RULE]) == "TMG301  warning     a warning"
    (rule,) = json.loads(data.rules([RULE]))
    assert (rule["code"], rule["kind"], rule["references"]) == (
        "TMG301",
        "warning",
        ["https://example.org/x"],
    )


@pytest.mark.parametrize("rule", [rule for rule in all_rules() if rule.kind == "input"], ids=lambda rule: rule.code)
def test_every_input_rule_has_its_say(rule: Rule) -> None:
    assert rule.title and rule.why.endswith(".")
    assert explain.explain(rule)


@pytest.mark.parametrize(
    ("result", "said"),
    [
        (FileResult("a.py", "converted", output="out/a.py", written=True), "a.py: converted, written to out/a.py"),
        (FileResult("a.py", "refused", output="out/a.py", written=True), "a.py: refused, copied as it is to out/a.py"),
        (FileResult("a.py", "refused", output="out/a.py"), "a.py: refused, for out/a.py"),
        (FileResult("a.py", "refused", output="a.py"), "a.py: refused"),
    ],
)
def test_where_a_file_went(result: FileResult, said: str) -> None:
    assert text.outcome(result) == said
