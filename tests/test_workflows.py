"""The workflow runs what the Makefile has, on the versions of Python that the package names."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent
WORKFLOW: dict[Any, Any] = yaml.safe_load((ROOT / ".github/workflows/tests.yml").read_text())
COMMANDS = [(job, step["run"]) for job, about in WORKFLOW["jobs"].items() for step in about["steps"] if "run" in step]


def test_quick_tests_run_on_each_python_of_the_package() -> None:
    named = re.findall(r"Python :: (3\.\d+)\"", (ROOT / "pyproject.toml").read_text())
    assert WORKFLOW["jobs"]["quick"]["strategy"]["matrix"]["python"] == named


def test_each_job_runs_its_tests() -> None:
    assert {("quick", "make quick"), ("whole", ".ci/run"), ("matrix", "make matrix")} <= set(COMMANDS)


@pytest.mark.parametrize(("job", "command"), COMMANDS)
def test_commands_exist(job: str, command: str) -> None:
    first, *rest = command.split()
    if first == "make":
        assert re.search(rf"^{rest[0]}:", (ROOT / "Makefile").read_text(), re.MULTILINE)
    elif "/" in first:
        assert (ROOT / first).exists()
    else:
        assert command.endswith("-m venv .venv")


def test_only_the_matrix_waits_for_the_night() -> None:
    nightly = [job for job, about in WORKFLOW["jobs"].items() if "== 'schedule'" in about["if"]]
    assert nightly == ["matrix"] and "schedule" in WORKFLOW[True]  # YAML reads the key `on` as true
