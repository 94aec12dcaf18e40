"""An internal error gives a report that can be sent: with --debug, and without a line of the script."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from converter import conversion
from converter.cli.app import main
from converter.cli.crash import crash_report

SECRET = "import tensorflow as tf\nsecret_password = 'swordfish'\ntf.train.AdamOptimizer().minimize(0)\n"


def broken(*_: object, **__: object) -> None:
    try:
        raise ValueError(f"cannot read {SECRET!r}")
    except ValueError as error:
        raise KeyError("secret_password") from error


def deep(levels: int) -> None:
    if levels:
        deep(levels - 1)
    raise RuntimeError("swordfish")


@pytest.fixture
def script(tmp_path: Path) -> Path:
    (tmp_path / "secret_folder").mkdir()
    path = tmp_path / "secret_folder" / "train.py"
    path.write_text(SECRET)
    return path


def test_convert(script: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(conversion, "convert", broken)
    assert main(["convert", str(script), "--debug"]) == 4
    said = capsys.readouterr().err
    report = said[said.index("crash report of") :]
    assert f"sha256 {hashlib.sha256(SECRET.encode()).hexdigest()}, {len(SECRET)} bytes, 3 lines" in report
    assert "\nKeyError\n" in report and "\nValueError\n" in report and "converter/cli/files/convert_files.py:" in report
    assert "Python 3." in report and "libcst " in report
    assert "secret" not in report and "swordfish" not in report


def test_without_the_option_nothing_changes(
    script: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(conversion, "convert", broken)
    assert main(["convert", str(script)]) == 4
    assert "crash report" not in capsys.readouterr().err


def test_verify(script: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("converter.verify.verify", broken)
    assert main(["verify", str(script), str(script), "--debug"]) == 4
    report = capsys.readouterr().err
    assert report.count("script: sha256 ") == 2 and "secret" not in report and "Traceback" not in report


def test_a_long_trace_is_shortened() -> None:
    with pytest.raises(RuntimeError) as caught:
        deep(500)
    lines = crash_report(caught.value, ["/nowhere/secret.py"]).splitlines()
    assert "script: cannot be read" in lines
    assert len(lines) < 60 and any("more" in line for line in lines)
    assert "  tests/cli/test_crash.py:" in lines[-1][:30] and "swordfish" not in "\n".join(lines)


def test_what_a_probe_says_is_told_by_its_places() -> None:
    told = 'the probe failed:\n  File "/x/child/tmgprobe/roles/record.py", line 7, in step\n    secret = 1\n'
    lines = crash_report(RuntimeError(told), []).splitlines()
    assert lines[-1] == "  child tmgprobe/roles/record.py:7 in step"
