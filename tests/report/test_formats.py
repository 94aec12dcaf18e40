"""--output-format: JSON by its schema, SARIF by its standard, GitHub's annotations, Markdown for a comment."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from converter.diagnostics import Diagnostic
from converter.report import data, github, markdown, sarif
from converter.report.excerpt import WIDEST, excerpt
from converter.report.results import FileResult, Fix
from converter.verify.data import CheckResult, DeviceRow, LedgerLine, LossRow, Report, VariableRow
from tests.report.schema import problems
from tools import schemas

ROOT = Path(__file__).resolve().parent.parent.parent

REFUSED = Diagnostic("TMG201", "a b/train.py", 3, 7, "no step: 100%, none", "name\nit", text="x = f(y)")
WARNED = Diagnostic("TMG301", "net.py", 2, 1, "a sum | of `x`", severity="warning", text="loss = <b>")
INFORMED = Diagnostic("TMG010", "multi.py", 0, 0, "nothing to compare with", severity="info")
RUN = (
    FileResult("a b/train.py", "refused", (REFUSED,)),
    FileResult("net.py", "converted", (WARNED,), "out/net.py", True),
    FileResult("multi.py", "up to date", (INFORMED,)),
    FileResult(
        "late.py",
        "would change",
        diff="--- a/late.py\n+++ b/late.py\n@@ -1 +1 @@\n-`a\n+```b\n",
        fix=Fix("late.py", "a\n", "b\n"),
    ),
    FileResult("other.py", "unchanged"),
)
REPORT = Report(
    "failed",
    "gradients differ",
    2,
    "per-gpu",
    3,
    checks=(
        CheckResult("gradients", "failed", "w:0 differs | much", 0.5, 1e-5),
        CheckResult("loss", "passed", "3 steps", 0.0, 1e-5),
        CheckResult("uneven batch", "skipped", "no batch to cut"),
    ),
    variables=(VariableRow("w:0", "(2,)", "float32", True, float("nan"), None, 1e-7),),
    devices=(DeviceRow("cpu:1", 1, 2, 0.5),),
    versions=(("TensorFlow", "1.15.5"),),
    neutralised=(("dropout", 2),),
    ledger=(
        LedgerLine("wrong", "gradients", "w:0", 0.5, 1e-5),
        LedgerLine("differs", "one step", "takes 8 <examples>", 2.0),
        LedgerLine("unchecked", "GPUs", "the towers ran on cpu:1"),
        LedgerLine("same", "loss", "3 steps", 0.0),
    ),
    losses=(LossRow(1.0, float("inf")),),
    log="Traceback",
)


def test_schemas_are_those_of_the_program() -> None:
    for name, schema in schemas.schemas().items():
        assert json.loads((ROOT / "docs/schema" / name).read_text()) == schema


def schema(name: str) -> dict[str, Any]:
    return json.loads((ROOT / "docs/schema" / name).read_text())


@pytest.mark.parametrize("done", [RUN, RUN[:1], ()])
def test_json_of_a_run_is_valid(done: tuple[FileResult, ...]) -> None:
    content = json.loads(data.results(done))
    assert problems(content, schema("convert.json")) == []
    assert content["schema"] == "tf-multigpu/convert/1"


def test_json_of_a_proof_is_valid() -> None:
    content = json.loads(data.verification(REPORT))
    assert problems(content, schema("verify.json")) == []
    assert problems({**content, "verdict": "well"}, schema("verify.json"))
    assert problems({name: content[name] for name in content if name != "checks"}, schema("verify.json"))


def test_a_change_to_the_schema_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["schemas.py", str(tmp_path)])
    assert schemas.main() == 0
    monkeypatch.setattr(sys, "argv", ["schemas.py", str(tmp_path), "--check"])
    assert schemas.main() == 0
    (tmp_path / "verify.json").write_text("{}")
    assert schemas.main() == 1


# --- SARIF: the objects and properties of the standard that are used, all others are errors ---

TEXT = {
    "type": "object",
    "required": ["text"],
    "properties": {"text": {"type": "string"}},
    "additionalProperties": False,
}
NUMBER = {"type": "integer"}


def closed(required: str = "", **properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "required": required.split(),
        "properties": properties,
        "additionalProperties": False,
    }


def array(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


PLACE = closed("uri", uri={"type": "string"})
REGION = closed(
    "startLine startColumn", startLine=NUMBER, startColumn=NUMBER, endLine=NUMBER, endColumn=NUMBER, snippet=TEXT
)
CHANGE = closed(
    "artifactLocation replacements",
    artifactLocation=PLACE,
    replacements=array(closed("deletedRegion", deletedRegion=REGION, insertedContent=TEXT)),
)
RESULT = closed(
    "message ruleId",
    ruleId={"type": "string"},
    ruleIndex=NUMBER,
    message=TEXT,
    kind={"enum": ["notApplicable", "pass", "fail", "review", "open", "informational"]},
    level={"enum": ["none", "note", "warning", "error"]},
    locations=array(closed(physicalLocation=closed(artifactLocation=PLACE, region=REGION))),
    fixes=array(closed("artifactChanges", description=TEXT, artifactChanges=array(CHANGE))),
)
RULE = closed("id", id={"type": "string"}, shortDescription=TEXT, fullDescription=TEXT)
DRIVER = closed("name", name={"type": "string"}, version={"type": "string"}, rules=array(RULE))
LOG = closed(
    "version runs",
    **{"$schema": {"type": "string"}},
    version={"const": "2.1.0"},
    runs=array(
        closed(
            "tool",
            tool=closed("driver", driver=DRIVER),
            results=array(RESULT),
            columnKind={"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
        )
    ),
)


def sarif_results(text: str) -> list[dict[str, Any]]:
    """The results of a log, after holding it against the standard."""
    log = json.loads(text)
    assert problems(log, LOG) == []
    (run,) = log["runs"]
    names = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert len(names) == len(set(names))
    for result in run["results"]:
        assert names[result["ruleIndex"]] == result["ruleId"]
        # Only a failure has a level (3.27.10).
        assert result["kind"] == "fail" or result["level"] == "none"
    return run["results"]


def test_sarif_of_a_run() -> None:
    found = sarif_results(sarif.results(RUN))
    assert [(one["ruleId"], one["level"]) for one in found] == [
        ("TMG201", "error"),
        ("TMG301", "warning"),
        ("TMG010", "note"),
        (sarif.OUTDATED, "warning"),
    ]
    place = found[0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "a%20b/train.py"
    assert place["region"] == {"startLine": 3, "startColumn": 7, "snippet": {"text": "x = f(y)"}}
    assert "region" not in found[2]["locations"][0]["physicalLocation"]
    (change,) = found[3]["fixes"][0]["artifactChanges"]
    assert change["replacements"] == [
        {
            "deletedRegion": {"startLine": 1, "startColumn": 1, "endLine": 2, "endColumn": 1},
            "insertedContent": {"text": "b\n"},
        }
    ]


def test_sarif_of_a_proof() -> None:
    found = sarif_results(sarif.verification(REPORT, "out/multi.py"))
    assert [(one["ruleId"], one["kind"]) for one in found] == [
        ("verify/gradients", "fail"),
        ("verify/loss", "pass"),
        ("verify/uneven-batch", "open"),
        ("differs/one-step", "informational"),
        ("unchecked/gpus", "open"),
    ]
    early = sarif_results(sarif.verification(Report("not comparable", "it fails", 2, "total", 0), "/x/multi.py"))
    assert [(one["ruleId"], one["level"]) for one in early] == [("verify/verdict", "error")]
    assert early[0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "file:///x/multi.py"


def test_sarif_without_findings_is_a_log() -> None:
    assert sarif_results(sarif.results(())) == []


LINES = st.lists(st.sampled_from(["a\n", "b\n", "\n", "é\x0cc\n", "d\r\n"]), max_size=8).map("".join)


@given(LINES, LINES, st.sampled_from(["", "x"]), st.sampled_from(["", "y"]))
def test_replacements_make_the_other_text(before: str, after: str, last: str, end: str) -> None:
    before, after = before + last, after + end
    lines = before.split("\n")
    starts = [sum(len(line) + 1 for line in lines[:number]) for number in range(len(lines) + 1)]
    text = before
    for change in reversed(list(sarif.replacements(before, after))):
        region = change["deletedRegion"]
        first = starts[region["startLine"] - 1] + region["startColumn"] - 1
        stop = starts[region["endLine"] - 1] + region["endColumn"] - 1
        assert stop <= len(text)
        text = text[:first] + change["insertedContent"]["text"] + text[stop:]
    assert text == after


# --- GitHub ---


def test_annotations() -> None:
    assert github.results(RUN).splitlines() == [
        "::error file=a b/train.py,line=3,col=7,title=tf-multigpu TMG201::no step: 100%25, none%0Aname%0Ait",
        "::warning file=net.py,line=2,col=1,title=tf-multigpu TMG301::a sum | of `x`",
        "::notice file=multi.py,title=tf-multigpu TMG010::nothing to compare with",
        "::error file=late.py,title=tf-multigpu%3A would change::would change",
    ]


def test_annotations_of_a_proof() -> None:
    assert github.verification(REPORT, "a,b.py").splitlines() == [
        "::error file=a%2Cb.py,title=verify%3A failed::gradients differ",
        "::error file=a%2Cb.py,title=verify%3A gradients::w:0 differs | much",
        "::notice file=a%2Cb.py,title=differs by design%3A one step::takes 8 <examples>",
    ]
    passed = github.verification(replace(REPORT, verdict="passed", checks=(), ledger=()), "m.py")
    assert passed == "::notice file=m.py,title=verify%3A passed::gradients differ\n"


# --- Markdown ---


def test_a_comment_on_a_run() -> None:
    said = markdown.results(RUN)
    assert said.startswith("### tf-multigpu: 1 converted, 1 unchanged, 1 up to date, 1 would change, 1 refused\n")
    refused = "- `a b/train.py:3:7` **TMG201** no step: 100%, none\n  <br>`x = f(y)`\n  <br>→ name it"
    assert f"#### Refused\n\n{refused}" in said
    assert "#### To decide\n\n- `net.py:2:1` **TMG301** a sum \\| of \\`x\\`" in said
    assert "| `net.py` | converted | `out/net.py` |" in said and "other.py" not in said
    # The fence is longer than any in the diff.
    assert "````diff\n--- a/late.py" in said


def test_a_comment_on_a_proof() -> None:
    said = markdown.verification(REPORT)
    assert said.startswith("### tf-multigpu verify: failed\n\n2 towers, batch per-gpu, 3 steps: gradients differ\n")
    assert "- **one step**: takes 8 &lt;examples&gt;" in said
    assert "| gradients | **failed** | 5.0e-01 | 1.0e-05 | w:0 differs \\| much |" in said
    assert said.index("Differs by design") < said.index("#### Proof") < said.index("Not checked (1)")


def test_a_comment_is_no_longer_than_github_takes() -> None:
    results = [FileResult(f"{n}.py", "would change", diff="+x\n" * 9000) for n in range(3)]
    said = markdown.results(results)
    assert 27_000 < len(said) <= markdown.LONGEST + 100
    assert said.endswith("_1 part left out: too long for a comment._\n")


# --- Lines with a caret ---


@pytest.mark.parametrize(
    ("text", "column", "expected"),
    [
        ("x = f(y)", 5, ["    7 | x = f(y)", "      |     ^"]),
        ("\tx = 1", 2, ["    7 | \tx = 1", "      | \t^"]),
        ("é = f(y)", 6, ["    7 | é = f(y)", "      |     ^"]),
        ("日 = f", 7, ["    7 | 日 = f", "      |      ^"]),
        ("x\x0c= 1", 1, ["    7 | x = 1", "      | ^"]),
        ("", 1, []),
        ("   ", 1, []),
    ],
)
def test_the_line_is_shown(text: str, column: int, expected: list[str]) -> None:
    assert excerpt(Diagnostic("TMG201", "a.py", 7, column, "x", text=text)) == expected


@pytest.mark.parametrize("column", [1, 50, 150, 300])
def test_a_long_line_is_cut_around_its_column(column: int) -> None:
    text = "".join(chr(ord("a") + number % 26) for number in range(300))
    line, caret = excerpt(Diagnostic("TMG201", "a.py", 7, column, "x", text=text))
    assert len(line) <= WIDEST + 12
    assert caret.endswith("^") and (column == 300 or line[len(caret) - 1] == text[column - 1])
