"""Notebooks as whole programs: their goldens, their proofs, and that a wrong one is not proven."""

from __future__ import annotations

import ast
import json
import random
import re
from itertools import pairwise
from pathlib import Path

import pytest

from converter.conversion import convert
from converter.options import Options
from converter.source import encode, from_bytes, read
from converter.source.header import is_as_written, relabel
from converter.source.notebook.json_text import scan
from converter.verify import Report, VerifyError, VerifySettings, verify
from tests import goldens
from tests.source.notebook.books import TRAINING, book

pytestmark = pytest.mark.one_test_in(2)

FIXTURES = goldens.FIXTURES / "notebooks"
NAMES = sorted(path.parent.name for path in FIXTURES.glob("*/single.ipynb"))
VERSIONS = [pytest.param("1.15", marks=pytest.mark.tf1), pytest.param("2", marks=pytest.mark.tf2)]
JOINED = {"digits_cells": [(9, 11)], "iris_function": [], "keras_cells": [(3, 4)]}


def prove(single: Path, python: str) -> Report:
    return verify(single, single.with_name("multi.ipynb"), VerifySettings(python=python))


@pytest.mark.parametrize("name", NAMES)
def test_the_golden_is_the_conversion(name: str) -> None:
    source = read(str(FIXTURES / name / "single.ipynb"))
    golden = read(str(FIXTURES / name / "multi.ipynb"))
    done = convert(source, Options())
    assert done.text is not None
    written = relabel(done.text, "single.ipynb", command="") == relabel(golden.text, "single.ipynb", command="")
    assert written, "run `make goldens`"
    assert encode(source, golden.text) == golden.data


@pytest.mark.parametrize("name", NAMES)
def test_cells_that_do_not_change_are_the_same_bytes(name: str) -> None:
    single, multi = (read(str(FIXTURES / name / file)).notebook for file in ("single.ipynb", "multi.ipynb"))
    assert single is not None and multi is not None
    before, after = scan(single.json).cells, scan(multi.json).cells
    parts = [[0, *(cell.end for cell in cells)] for cells in (before, after)]
    same = 0
    for number, (one, other) in enumerate(zip(before, after, strict=True)):
        assert single.json[parts[0][number] : one.begin] == multi.json[parts[1][number] : other.begin]
        if one.source == other.source:
            same += 1
            assert single.json[one.begin : one.end] == multi.json[other.begin : other.end]
    assert single.json[parts[0][-1] :] == multi.json[parts[1][-1] :]
    assert same == {"digits_cells": 11, "iris_function": 1, "keras_cells": 1}[name]
    assert list(multi.settled(single.script.text).joined) == []


@pytest.mark.parametrize("name", NAMES)
def test_cells_that_become_one_are_said(name: str) -> None:
    done = convert(read(str(FIXTURES / name / "single.ipynb")), Options())
    told = [decision.text for decision in done.decisions if decision.topic == "cells"]
    assert told == [f"what stood in cell {b} is in cell {a} now: a loop cannot span cells" for a, b in JOINED[name]]


def cells_of(text: str, chance: random.Random, often: float) -> list[str]:
    """A script's text, cut at random between statements of its top."""
    lines, cuts = text.split("\n"), [0]
    for one, other in pairwise(ast.parse(text).body):
        first = min([other.lineno, *(decorator.lineno for decorator in getattr(other, "decorator_list", []))])
        if first > (one.end_lineno or 0) and chance.random() < often:
            cuts.append(one.end_lineno or 0)
    return ["\n".join(lines[begin:end]) for begin, end in pairwise([*cuts, len(lines)])]


@pytest.mark.parametrize("often", [0.3, 1.0])
@pytest.mark.parametrize(
    "name", ["clipped_gradients", "ctc", "graph_dict", "sessions", "weights_dict", "mirrored/keras_dataset"]
)
def test_a_script_in_cells_is_converted_as_the_script_is(name: str, often: float) -> None:
    source = read(str(FIXTURES.parent / name / "single.py"))
    alone = convert(source, Options())
    cells = cells_of(source.text, random.Random(name), often)
    given = from_bytes(str(FIXTURES.parent / name / "single.ipynb"), book(cells).encode())
    assert given.notebook is not None and len(cells) > 1
    done = convert(given, Options())
    assert alone.text is not None and done.text is not None
    assert ast.dump(ast.parse(done.text)) == ast.dump(ast.parse(alone.text))
    assert from_bytes("again.ipynb", encode(given, done.text)).text == done.text
    assert is_as_written(done.text)
    told = " ".join([one.text for one in done.decisions] + [one.message + one.hint for one in done.diagnostics])
    assert not re.search(r"(?<!cell \d, )(?<!cell \d\d, )\blines? \d", told)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("version", VERSIONS)
def test_proof(name: str, version: str, tensorflow_python: str) -> None:
    report = prove(FIXTURES / name / "single.ipynb", tensorflow_python)
    assert (report.verdict, report.gpus, report.steps) == ("passed", 2, 3), report
    assert [entry.fate for entry in report.ledger if entry.what == "notebook"] == ["unchecked"]
    lines = next((check for check in report.checks if check.name == "traced lines"), None)
    assert name == "keras_cells" or (lines is not None and lines.status == "passed")


@pytest.mark.tf1
def test_a_wrong_notebook_is_not_proven(tensorflow_python: str, tmp_path: Path) -> None:
    single = tmp_path / "single.ipynb"
    single.write_bytes((FIXTURES / "digits_cells/single.ipynb").read_bytes())
    text = (FIXTURES / "digits_cells/multi.ipynb").read_text()
    wrong = text.replace("tower_grads.append(optimizer.compute_gradients(loss * weight))",
                         "tower_grads.append(optimizer.compute_gradients(loss * weight * 2))")  # fmt: skip
    assert wrong != text
    (tmp_path / "multi.ipynb").write_text(wrong)
    assert prove(single, tensorflow_python).verdict == "failed"


def test_a_value_of_a_magic_is_not_proven(tmp_path: Path) -> None:
    for name in ("single.ipynb", "multi.ipynb"):
        (tmp_path / name).write_text(book([*TRAINING, "files = !ls"]))
    with pytest.raises(VerifyError, match="cell 7, line 1 uses what a magic or a shell command returns"):
        prove(tmp_path / "single.ipynb", "python")


def test_the_fixtures_are_notebooks() -> None:
    for path in FIXTURES.glob("*/*.ipynb"):
        assert json.loads(path.read_text())["nbformat"] == 4
