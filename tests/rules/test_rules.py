"""Every rule is what the tool does: its example is converted, its code is used, its page is current."""

from __future__ import annotations

import ast
import json
import os
import re
from contextlib import nullcontext
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import pytest

from converter.cli.explain import explain_command
from converter.conversion import Conversion, convert
from converter.diagnostics import Diagnostic
from converter.planner.checking import Check
from converter.report import data, explain, sarif
from converter.report.results import FileResult
from converter.rule import KINDS, Rule, all_rules, find_rule, rule_in, rule_modules, rule_on
from converter.source import from_bytes, read
from converter.source.header import from_flags
from converter.source.pragmas import pragmas_in, without_ignored
from converter.syntax.lint import lint
from tests.trees import nodes_of, tree_of
from tools.site_hooks import index, page

ROOT = Path(__file__).resolve().parent.parent.parent
RULES = {rule.code: rule for rule in all_rules()}
CODE = re.compile(r"TMG\d{3}")
FILE = re.compile(r"^# --- ([\w/]+\.py) ---\n", re.MULTILINE)
IMPLICIT = {"TMG114", "TMG136"}  # the reason of no edit
NOTES = {"TMG146"}  # the reason of no edit, but of a note
# Refusals of the tool's own faults: what is put back for the example to be refused.
FAULTS = {"TMG290": ("converter.planner.region.splitting._Opened.last_that_stays", lambda opened, inner, last: last)}
LEAVE_OUT = {"TMG271", "TMG280", "TMG287"}  # the advice is to leave the example's option out


def of_kind(*kinds: str) -> list[object]:
    return [pytest.param(rule, id=rule.code) for rule in all_rules() if rule.kind in kinds]


def converted(rule: Rule, script: str) -> Conversion:
    """The conversion of an example: of its last file, where it has several under `# --- NAME ---`."""
    names = FILE.findall(script) or [rule.file]
    texts = FILE.split(script)[2::2] or [script]
    with TemporaryDirectory() as folder:
        for name, text in zip(names, texts, strict=True):
            (Path(folder) / name).parent.mkdir(exist_ok=True)
            (Path(folder) / name).write_text(text)
        options = replace(from_flags(rule.options), line_length=100, configured=("line_length",))
        several = rule.kind == "conversion" or rule.code in ("TMG263", "TMG265", "TMG266", "TMG307", "TMG331")
        return convert(read(os.path.join(folder, names[-1])), options, several=several)


def codes(conversion: Conversion) -> list[str]:
    return [finding.code for finding in conversion.diagnostics if finding.severity != "info"]


@cache
def emitted() -> dict[str, str]:
    """Every code that the program names outside of CODES and docstrings, or that has messages, with one place of it."""
    found = {rule.code: "messages" for rule in all_rules() if rule.messages}
    for path in [*(ROOT / "converter").rglob("*.py"), *(ROOT / "rules").rglob("*.py")]:
        tree = tree_of(path)
        skipped = {id(node) for codes in codes_in(tree) for node in ast.walk(codes)} | docstrings(tree)
        for node in nodes_of(path):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in skipped:
                place = f"{path.relative_to(ROOT)}:{node.lineno}"
                found.update(dict.fromkeys(CODE.findall(node.value), place))
    return found


def codes_in(tree: ast.Module) -> list[ast.stmt]:
    return [s for s in tree.body if isinstance(s, ast.Assign) and getattr(s.targets[0], "id", "") == "CODES"]


def docstrings(tree: ast.Module) -> set[int]:
    return {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}


def missing_line(script: str, text: str) -> str:
    """The first line of an excerpt that does not follow the ones before it in a text."""
    lines = iter(text.splitlines())
    wanted = [line for line in script.splitlines() if line]
    return next((line for line in wanted if line not in lines), "")


# -- codes -------------------------------------------------------------------------------------------


def test_every_code_is_documented() -> None:
    assert {code: place for code, place in emitted().items() if code not in RULES} == {}


def test_every_documented_code_is_used() -> None:
    assert RULES.keys() - emitted().keys() == IMPLICIT


def test_codes_are_unique() -> None:
    listed = [rule.code for rule in all_rules()]
    assert sorted(set(listed)) == listed


def test_references_name_rules_that_exist() -> None:
    texts = [text for rule in all_rules() for text in (rule.why, *rule.references)]
    assert {code for text in texts for code in CODE.findall(text)} <= RULES.keys()


@pytest.mark.parametrize("rule", of_kind(*KINDS.values()))
def test_rules_read_alike(rule: Rule) -> None:
    assert rule.title[0].islower() and not rule.title.endswith(".")
    assert rule.why.endswith(".")
    assert not any(word in rule.why.lower() for word in ("todo", "not implemented"))


# -- examples ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", of_kind("conversion"))
def test_conversions_make_what_they_say(rule: Rule) -> None:
    conversion = converted(rule, rule.before)
    assert (conversion.status, codes(conversion)) == ("converted", [])
    assert missing_line(rule.after, conversion.text or "") == ""
    notes = [finding.code for finding in conversion.diagnostics if finding.severity == "info"]
    assert notes == ([rule.code] if rule.code in NOTES else [])


@pytest.mark.parametrize("rule", of_kind("conversion"))
def test_conversions_change_something(rule: Rule) -> None:
    assert missing_line(rule.after, rule.before) != ""


@pytest.mark.parametrize("rule", of_kind("refusal"))
def test_refusals_refuse(rule: Rule) -> None:
    with patch(*FAULTS[rule.code]) if rule.code in FAULTS else nullcontext():
        conversion = converted(rule, rule.before)
    assert (conversion.status, set(codes(conversion))) == ("refused", {rule.code})


@pytest.mark.parametrize("rule", of_kind("warning"))
def test_warnings_warn(rule: Rule) -> None:
    conversion = converted(rule, rule.before)
    assert (conversion.status, codes(conversion)) == ("converted", [rule.code])
    assert [f.code for f in conversion.diagnostics if f.severity == "warning"] == [rule.code]


@pytest.mark.parametrize("rule", of_kind("refusal", "warning"))
def test_findings_say_where_and_what_to_do(rule: Rule) -> None:
    for finding in converted(rule, rule.before).diagnostics:
        assert finding.message and finding.hint
        assert finding.line > 0 and finding.column > 0


@pytest.mark.parametrize("rule", of_kind("refusal", "warning"))
def test_the_advice_helps(rule: Rule) -> None:
    conversion = converted(replace(rule, options=()) if rule.code in LEAVE_OUT else rule, rule.after)
    assert (conversion.status, codes(conversion)) == ("converted", [])


def linted(text: str) -> tuple[Diagnostic, ...]:
    return without_ignored("train.py", pragmas_in(text), lint(from_bytes("train.py", text.encode())))


@pytest.mark.parametrize("rule", of_kind("lint"))
def test_lint_finds_what_it_says_and_nothing_in_the_mended_script(rule: Rule) -> None:
    found = linted(rule.before)
    assert {finding.code for finding in found} == {rule.code}
    assert all(finding.line and finding.message and finding.hint and finding.severity == "warning" for finding in found)
    assert linted(rule.after) == ()


@pytest.mark.parametrize("rule", of_kind("conversion", "refusal", "warning", "lint"))
def test_examples_are_whole_scripts(rule: Rule) -> None:
    scripts = [rule.before] if rule.kind == "conversion" else [rule.before, rule.after]
    for script in scripts if rule.file.endswith(".py") else ():
        ast.parse(script)
        assert script.startswith(("import ", "# --- ")) and ("import tensorflow" in script or "import torch" in script)


# -- where they are shown ----------------------------------------------------------------------------


@pytest.mark.parametrize("rule", of_kind(*KINDS.values()))
def test_every_rule_is_shown_everywhere(rule: Rule, capsys: pytest.CaptureFixture[str]) -> None:
    assert explain_command(code=rule.code) == 0
    explained = capsys.readouterr().out
    assert explained.startswith(f"{rule.code}: {rule.title}\n\nWhat it does\n")
    assert one_line(rule.does) in one_line(explained) and one_line(rule.reason) in one_line(explained)

    assert explain.table([rule]).split() == [rule.code, rule.kind, *rule.title.split()]
    (known,) = json.loads(data.rules([rule]))
    assert (known["code"], known["kind"]) == (rule.code, rule.kind)

    assert f"| [{rule.code}]({rule.code}.md) | {rule.title} |" in index(all_rules()).splitlines()
    assert f"## What it does\n\n{rule.does}\n" in page(rule)

    run = json.loads(sarif.results([FileResult("a.py", "refused", (Diagnostic(rule.code, "a.py", 1, 1, "said"),))]))
    (described,) = run["runs"][0]["tool"]["driver"]["rules"]
    assert described["id"] == rule.code and described["fullDescription"] == {"text": rule.reason}


def one_line(text: str) -> str:
    return " ".join(text.split())


# -- pages -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", of_kind(*KINDS.values()))
def test_a_rule_is_found_by_its_code(rule: Rule) -> None:
    assert find_rule(rule.code) == rule


@pytest.mark.parametrize("code", ["TMG999", "TMG", "*", "TMG2??", "../TMG254"])
def test_other_codes_have_no_page(code: str) -> None:
    assert find_rule(code) is None


PAGE = "---\ncode: TMG301\ntitle: x: y\noptions: --batch total\n---\n\nWhy\nso.\n\n## {}\n\n```python\nx = 1\n```\n"


def test_pages_are_read() -> None:
    wanted = Rule("TMG301", "x: y", "Why so.", before="x = 1\n", options=("--batch", "total"))
    assert rule_in(PAGE.format("Before")) == wanted


def test_pages_with_other_sections_are_refused() -> None:
    with pytest.raises(ValueError, match="TMG301 has sections of other names: Befor"):
        rule_in(PAGE.format("Befor"))


def test_pages_are_named_by_their_code(tmp_path: Path) -> None:
    (tmp_path / "TMG302.md").write_text(PAGE.format("Before"))
    with pytest.raises(ValueError, match="TMG302.md describes TMG301"):
        rule_on(tmp_path / "TMG302.md")


def test_checks_say_their_codes_and_have_their_pages_beside_them() -> None:
    for module in rule_modules("checks"):
        folder = Path(str(module.__file__)).parent
        assert hasattr(module, "CODES") == any(isinstance(value, Check) for value in vars(module).values())
        for code in getattr(module, "CODES", ()):
            assert (folder / f"{code}.md").exists(), code


@pytest.mark.parametrize("rule", of_kind(*KINDS.values()))
def test_every_page_has_the_same_headings(rule: Rule) -> None:
    order = ["What it does", "Why", "Before", "After", "Messages", "References"]
    found = [line[3:] for line in page(rule).splitlines() if line.startswith("## ")]
    assert found == [heading for heading in order if heading in found]
    assert found[:2] == order[:2]
    if rule.kind != "input":
        assert found[:4] == order[:4]


def test_the_pages_say_what_an_example_is_converted_with() -> None:
    assert "with --batch total." in page(RULES["TMG211"])


@pytest.mark.parametrize(
    ("reference", "wanted"),
    [
        ("https://example.org/a (b)", "<https://example.org/a> (b)"),
        ("docs: TMG110, the batch size", "docs: [TMG110](TMG110.md), the batch size"),
        (
            "f (tensorflow/python/framework/ops.py, 1.15)",
            "f ([tensorflow/python/framework/ops.py]"
            "(https://github.com/tensorflow/tensorflow/blob/v1.15.5/tensorflow/python/framework/ops.py), 1.15)",
        ),
        ("tf.device with a function (all versions)", "tf.device with a function (all versions)"),
    ],
)
def test_references_are_links(reference: str, wanted: str) -> None:
    assert page(Rule("TMG301", "x", "Why.", references=(reference,))).endswith(f"## References\n\n- {wanted}\n")
