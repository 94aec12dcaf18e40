"""A record is read only where everything that a run depends on is the same."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from converter.verify import VerifySettings, run
from tests.records import Records

Verify = Callable[..., Any]


@pytest.fixture
def pair(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Verify:
    """Runs a pair of scripts, and says which run the answers come from."""
    made: list[int] = []
    pool = object()

    def make(*_: object) -> dict[str, list[int]]:
        made.append(len(made))
        return {"run": [made[-1]]}

    records = Records(pool, make)

    def verify(single: str = "1", multi: str = "2", beside: str = "", name: str = "data.txt", **more: Any) -> int:
        jobs = {}
        for role, text in (("replay", single), ("record", multi)):
            folder = tmp_path / role
            folder.mkdir(exist_ok=True)
            for old in folder.iterdir():
                old.unlink()
            (folder / "train.py").write_text(text)
            (folder / name).write_text(beside)
            job = {"script": str(folder / "train.py"), "args": more.get("args", []), "gpus": 2, "steps": 3}
            jobs[role] = {**job, "total": False}
        runner = SimpleNamespace(pool=more.get("pool", pool), python=more.get("python", "python"))
        settings, tell = more.get("settings", VerifySettings()), more.get("tell", run._nobody)
        answers = records(SimpleNamespace(asked=2, settings=settings, runner=runner, tell=tell), jobs, dict)
        found = answers["run"].pop()  # whatever a test does to the answers, the record stays
        assert isinstance(found, int)
        return found

    return verify


def test_the_same_pair_runs_once(pair: Verify) -> None:
    assert [pair(), pair(), pair()] == [0, 0, 0]


@pytest.mark.parametrize(
    "other",
    [
        {"single": "3"},
        {"multi": "3"},
        {"beside": "3"},
        {"name": "other.txt"},
        {"args": ["--more"]},
        {"python": "other"},
        {"settings": VerifySettings(timeout=5)},
        {"pool": object()},
        {"tell": lambda progress: None},
    ],
    ids=lambda other: next(iter(other)),
)
def test_another_pair_runs(pair: Verify, other: dict[str, Any]) -> None:
    assert [pair(), pair(**other), pair()] == [0, 1, 0]


def test_another_environment_is_another_run(pair: Verify, monkeypatch: pytest.MonkeyPatch) -> None:
    assert pair() == 0
    monkeypatch.setenv("MORE", "1")
    assert pair() == 1
