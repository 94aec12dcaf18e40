"""The command line in this process, with a stand-in for the engine where a test is not about conversion."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from converter.cli.app import main
from tests.cli.standins import Done, Engine, Run


@pytest.fixture
def run(capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setattr("converter.cli.convert.cores", lambda: 1)  # stand-ins are in this process alone

    def run(*arguments: object, stdin: bytes | None = None) -> Done:
        if stdin is not None:
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        capfdbinary.readouterr()
        code = main([str(argument) for argument in arguments])
        out, err = capfdbinary.readouterr()
        return Done(code, out, err.decode())

    return run


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Engine:
    stand_in = Engine()
    monkeypatch.setattr("converter.conversion.convert", stand_in.convert)
    return stand_in


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: Engine) -> Path:
    """An empty folder to work in, with the stand-in for an engine."""
    monkeypatch.chdir(tmp_path)
    return tmp_path
