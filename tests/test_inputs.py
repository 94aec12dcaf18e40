"""How examples come in: each kind of docs/inputs.md is converted, and proven by running both scripts."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from converter.conversion import convert
from converter.options import Options
from converter.source import encode, read
from converter.verify import VerifySettings, verify
from tests import goldens
from tests.proofs import skipped
from tests.scripts import as_written_by

ROOT = Path(__file__).resolve().parent.parent
FIXTURES = goldens.FIXTURES / "inputs"
NAMES = sorted(path.parent.name for path in FIXTURES.glob("*/single.py"))
QUEUES = {"prefetch_queue", "record_files"}  # their batches cannot be replaced by smaller ones
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in (ROOT / "docs/inputs.md").read_text().splitlines()
    if line.startswith("| ")
][2:]


def test_each_row_of_the_page_is_held_by_a_script() -> None:
    held = [row[-1].strip(" `") for row in ROWS]
    assert {name.partition("/")[2] for name in held if name.startswith("inputs/")} == set(NAMES)
    for row, name in zip(ROWS, held, strict=True):
        text = (goldens.FIXTURES / name / "single.py").read_text()
        assert all(word.split(":")[0] in text for word in re.findall(r"`(?:tf\.)?(?:train\.)?(\w+)`", row[0])), row


@pytest.mark.parametrize("name", NAMES)
def test_the_golden_is_the_conversion(name: str) -> None:
    source = read(str(FIXTURES / name / "single.py"))
    conversion = convert(source, Options())
    assert conversion.text is not None and conversion.diagnostics == ()
    assert encode(source, conversion.text) == as_written_by("single.py", FIXTURES / name / "multi.py")


def proofs() -> list[object]:
    """TensorFlow 1.15 in each run of the tests, 2 in the whole matrix, where it has the functions."""
    first = [pytest.param(name, marks=pytest.mark.tf1, id=f"{name}-1.15") for name in NAMES]
    marks = [pytest.mark.tf2, pytest.mark.matrix]
    return first + [pytest.param(name, marks=marks, id=f"{name}-2") for name in NAMES if name != "prefetch_queue"]


@pytest.mark.one_in(18)
@pytest.mark.parametrize("name", proofs())
def test_proof(name: str, tensorflow_python: str) -> None:
    folder = FIXTURES / name
    report = verify(folder / "single.py", folder / "multi.py", VerifySettings(python=tensorflow_python))
    assert report.verdict == "passed", report
    assert skipped(report) == ({"uneven batch", "fewer examples than towers"} if name in QUEUES else set())


@pytest.mark.one_in(3)
@pytest.mark.tf1
@pytest.mark.parametrize(
    ("name", "before", "after", "detail"),
    [
        ("example_batches", "records.repeat()", "records.skip(1).repeat()", "other examples"),
        ("nested_elements", "(views).repeat()", "(views).skip(1).repeat()", "other examples"),
        ("nested_elements", "element = map_structure(lambda t: shard([t], gpu)[0][0], element_batch)",
         "element = map_structure(lambda t: shard([t], 0)[0][0], element_batch)", "the same shard"),
    ],
)  # fmt: skip
def test_other_examples_are_seen(
    name: str, before: str, after: str, detail: str, tensorflow_python: str, tmp_path: Path
) -> None:
    folder = FIXTURES / name
    text = (folder / "multi.py").read_text()
    assert text.count(before) == 1
    wrong = tmp_path / "multi.py"
    wrong.write_text(text.replace(before, after))
    report = verify(folder / "single.py", wrong, VerifySettings(python=tensorflow_python))
    assert report.verdict == "failed", report
    assert any(check.status == "failed" and detail in check.detail for check in report.checks), report
