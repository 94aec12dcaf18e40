"""--html: what it needs is known before anything runs, and the page is of the scripts that were named."""

from __future__ import annotations

from pathlib import Path

import pytest

from converter.cli import page
from converter.verify import Report, VerifySettings
from tests.cli.standins import Run, files, put
from tests.report.standins import report

pytest.importorskip("jinja2", reason="the extra `report` is not installed")
pytest.importorskip("matplotlib", reason="the extra `report` is not installed")

REPORT = report()


@pytest.fixture
def proves(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Path, Path]]:
    """Lets every verification pass, and says which were asked for."""
    asked: list[tuple[Path, Path]] = []

    def stand_in(single: Path, multi: Path, settings: VerifySettings, *more: object) -> Report:
        asked.append((single, multi))
        command = f"tf-multigpu verify {single} {multi} --gpus 2"
        return Report(**{**vars(REPORT), "command": command})

    monkeypatch.setattr("converter.verify.verify", stand_in)
    return asked


def test_verify_writes_a_page(run: Run, project: Path, proves: object) -> None:
    put("train.py")
    put("multi.py", b"import tensorflow as tf\n# <towers>\n")
    done = run("verify", "train.py", "multi.py", "--html", "report.html")
    assert done.code == 0
    text = Path("report.html").read_text()
    assert text.startswith("<!DOCTYPE html>")
    assert "minimize()" in text and "# &lt;towers&gt;" in text
    assert done.out.decode().startswith("PASSED")


def test_a_failed_proof_has_a_page_too(run: Run, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = Report("failed", "summed", 2, "per-gpu", 1)
    monkeypatch.setattr("converter.verify.verify", lambda *asked: wrong)
    put("train.py", b"\xff not UTF-8")
    put("multi.py")
    assert run("verify", "train.py", "multi.py", "--html", "report.html").code == 3
    assert "Failed: summed" in Path("report.html").read_text()


@pytest.mark.parametrize("missing", [("jinja2",), ("matplotlib",), ("jinja2", "matplotlib")])
def test_without_the_extra_one_line_says_what_to_install(
    run: Run, project: Path, proves: list[object], monkeypatch: pytest.MonkeyPatch, missing: tuple[str, ...]
) -> None:
    found = page.find_spec
    monkeypatch.setattr(page, "find_spec", lambda name: None if name in missing else found(name))
    put("train.py")
    put("multi.py")
    done = run("verify", "train.py", "multi.py", "--html", "report.html")
    needed = " and ".join(missing)
    assert (done.code, done.out) == (2, b"")
    assert done.err == f"verify: --html needs {needed}: pip install {' '.join(missing)}\n"
    assert run("verify", "train.py", "multi.py").code == 0, "the extra is asked for by --html only"
    assert len(proves) == 1


@pytest.mark.parametrize(("name", "words"), [("gone/report.html", "does not exist"), ("folder", "is a folder")])
def test_where_a_page_cannot_go_is_known_beforehand(
    run: Run, project: Path, proves: list[object], name: str, words: str
) -> None:
    put("train.py")
    put("folder/multi.py")
    done = run("verify", "train.py", "folder/multi.py", "--html", name)
    assert done.code == 2
    assert words in done.err
    assert proves == []


def test_a_page_that_cannot_be_written(run: Run, project: Path, proves: object) -> None:
    put("train.py")
    put("multi.py")
    put("report.html").chmod(0o444)
    done = run("verify", "train.py", "multi.py", "--html", "report.html")
    if Path("report.html").read_bytes().startswith(b"<!DOCTYPE"):
        pytest.skip("this user may write everything")
    assert done.code == 2
    assert "report.html: cannot be written" in done.err


def test_convert_writes_the_page_of_its_proof(run: Run, project: Path, proves: list[tuple[Path, Path]]) -> None:
    put("train.py")
    done = run("convert", "train.py", "-o", "multi.py", "--verify", "--html", "report.html")
    assert done.code == 0, done.err
    assert files(project) == ["multi.py", "report.html", "train.py"]
    text = Path("report.html").read_text()
    assert "towers()" in text
    assert "tf-multigpu verify train.py multi.py --gpus 2" in text
    assert proves[0][1].name not in text, "the temporary name is nobody's business"


@pytest.mark.parametrize(
    "arguments",
    [("train.py", "-o", "multi.py"), ("train.py", "other.py", "-o", "out/", "--verify"), (".", "-o", "out/")],
)
def test_a_page_is_of_one_proof(run: Run, project: Path, proves: list[object], arguments: tuple[str, ...]) -> None:
    put("train.py")
    put("other.py")
    done = run("convert", *arguments, "--html", "report.html")
    assert done.code == 2
    assert "--html" in done.err
    assert (proves, files(project)) == ([], ["other.py", "train.py"])
