"""Of many wrong conversions none passes the run that should catch it; of many unusual right ones none fails."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from pathlib import Path

import pytest

from converter.conversion import convert
from converter.source import read
from converter.verify import VerifySettings, verify, verify_more
from tests.goldens import FIXTURES
from tests.verify.wrong import Right, Wrong, right_conversions, spoiled, wrong_conversions

WRONG, RIGHT = list(wrong_conversions()), list(right_conversions())


def settings(how: str, python: str) -> VerifySettings:
    """How a kind of fault is looked for."""
    if how == "6 steps":
        return VerifySettings(python=python, steps=6)
    if how == "an epoch":
        return VerifySettings(python=python, epochs=1)
    if how == "one tower":
        return VerifySettings(python=python, epochs=1, gpus=1)
    if how == "the end":
        return VerifySettings(python=python, steps="all", timeout=400)
    if how == "whole":
        return VerifySettings(python=python, whole=True, timeout=400)
    return VerifySettings(python=python)


def test_there_are_enough_of_them() -> None:
    assert len(WRONG) >= 185 and len(RIGHT) >= 60
    assert min(Counter(wrong.kind for wrong in WRONG).values()) >= 3


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: f"{wrong.kind}, {wrong.fixture}")
def test_the_fault_is_in_the_text(wrong: Wrong) -> None:
    text = (FIXTURES / wrong.fixture / "multi.py").read_text()
    assert spoiled(text, wrong) != text
    compile(spoiled(text, wrong), wrong.fixture, "exec")


@pytest.mark.tf1
@pytest.mark.matrix
@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: f"{wrong.kind}, {wrong.fixture}")
def test_a_wrong_conversion_fails(tmp_path: Path, tensorflow_python: str, wrong: Wrong) -> None:
    folder = tmp_path / wrong.fixture
    shutil.copytree(FIXTURES / wrong.fixture, folder)
    multi = folder / "multi.py"
    multi.write_text(spoiled(multi.read_text(), wrong))
    report = verify_more(folder / "single.py", multi, settings(wrong.how, tensorflow_python))
    failed = {check.name: check.detail for check in report.checks if check.status == "failed"}
    assert report.verdict == "failed", (report.verdict, report.reason)
    assert set(failed) & set(wrong.checks), failed or report.reason


@pytest.mark.tf1
@pytest.mark.matrix
@pytest.mark.parametrize("wrong", [w for w in WRONG if w.left[0]], ids=lambda wrong: f"{wrong.kind}, {wrong.fixture}")
def test_what_the_default_does_not_look_at_is_named(tmp_path: Path, tensorflow_python: str, wrong: Wrong) -> None:
    folder = tmp_path / wrong.fixture
    shutil.copytree(FIXTURES / wrong.fixture, folder)
    multi = folder / "multi.py"
    multi.write_text(spoiled(multi.read_text(), wrong))
    report = verify_more(folder / "single.py", multi, settings("", tensorflow_python))
    what, option = wrong.left
    assert [e.detail for e in report.ledger if (e.fate, e.what) == ("unchecked", what) and option in e.detail], report


@pytest.mark.parametrize("right", [r for r in RIGHT if r.old], ids=lambda right: f"{right.kind}, {right.fixture}")
def test_what_is_unusual_is_in_the_text(right: Right) -> None:
    text = (FIXTURES / right.fixture / "multi.py").read_text()
    assert re.sub(right.old, right.new, text, flags=re.M) != text


def made(folder: Path, right: Right) -> tuple[Path, Path]:
    """A fixture and an unusual right conversion of it."""
    shutil.copytree(FIXTURES / right.fixture, folder / right.fixture)
    single, multi = (folder / right.fixture / name for name in ("single.py", "multi.py"))
    conversion = convert(read(str(single)), right.options)
    assert conversion.text is not None, conversion.diagnostics
    text = re.sub(right.old, right.new, conversion.text, flags=re.M) if right.old else conversion.text
    assert not right.old or text != conversion.text, "the text is the usual one"
    multi.write_text(text)
    return single, multi


@pytest.mark.tf1
@pytest.mark.matrix
@pytest.mark.parametrize("right", RIGHT, ids=lambda right: f"{right.kind}, {right.fixture}")
def test_an_unusual_right_conversion_passes(tmp_path: Path, tensorflow_python: str, right: Right) -> None:
    report = verify(*made(tmp_path, right), VerifySettings(python=tensorflow_python))
    assert report.verdict == "passed", (report.verdict, report.reason)
