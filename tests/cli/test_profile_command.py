"""Options and exit statuses of `profile`; figures are tested in tests/verify/profile."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from converter.report.profile import render_text
from converter.verify import VerifyError
from converter.verify.processes.answer import Stopped
from converter.verify.profile import FABRICS, Fabric, Machine, Profile, ProfileSettings
from converter.verify.profile.data import MeasuredStep
from converter.verify.profile.predict import predict
from tests.cli.standins import Run

STEP = MeasuredStep(1, 1, (), (("host", 5),), (("host", 5),), 8, 0, 1)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[ProfileSettings]:
    """The settings that the command comes to; nothing is run."""
    found: list[ProfileSettings] = []

    def stand_in(single: Path, multi: Path, settings: ProfileSettings) -> Profile:
        if single.name == "missing.py":
            raise VerifyError("missing.py: no such file")
        if single.name == "broken.py":
            raise Stopped("the original script failed", "Traceback\nValueError")
        found.append(settings)
        return Profile("per-gpu", 4, STEP, (STEP,), settings.machine, ())

    monkeypatch.setattr("converter.verify.profile.profile", stand_in)
    return found


@pytest.mark.parametrize(
    ("options", "settings"),
    [
        ((), ProfileSettings()),
        (("--gpus", "2, 3"), ProfileSettings((2, 3))),
        (("--tflops", "10", "--latency", "1", "--launch", "2"), ProfileSettings(machine=Machine(FABRICS, 10, 1, 2))),
        (("--bandwidth", "7"), ProfileSettings(machine=Machine((Fabric("as given", 7, 7, 14),)))),
        (
            ("--bandwidth", "7", "--host-bandwidth", "9"),
            ProfileSettings(machine=Machine((Fabric("as given", 7, 7, 9),))),
        ),
        (
            ("--timeout", "9", "--python", "p", "--", "--d", "x"),
            ProfileSettings(python="p", args=("--d", "x"), timeout=9),
        ),
    ],
)
def test_options(run: Run, asked: list[ProfileSettings], options: tuple[str, ...], settings: ProfileSettings) -> None:
    assert run("profile", "single.py", "multi.py", *options).code == 0
    assert asked == [replace(settings, placements=True)]


def test_host_bandwidth_alone_keeps_the_fabrics(run: Run, asked: list[ProfileSettings]) -> None:
    run("profile", "single.py", "multi.py", "--host-bandwidth", "9")
    assert [(fabric.name, fabric.host) for fabric in asked[0].machine.fabrics] == [
        (fabric.name, 9) for fabric in FABRICS
    ]


def test_json_is_json(run: Run, asked: list[ProfileSettings]) -> None:
    assert json.loads(run("profile", "single.py", "multi.py", "--json").out)["parameters"] == 4


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("missing.py", "multi.py"), 2, "profile: missing.py: no such file"),
        (("single.py", "multi.py", "--gpus", "2,x"), 2, "--gpus: '2,x' is not a list of numbers"),
        (("single.py", "multi.py", "--gpus", "0"), 2, "is not a list of numbers"),
        (("broken.py", "multi.py"), 3, "profile: the original script failed\n  | Traceback\n  | ValueError"),
        (("single.py",), 2, "MULTI"),
    ],
)
def test_failures(run: Run, asked: list[ProfileSettings], arguments: tuple[str, ...], code: int, words: str) -> None:
    done = run("profile", *arguments)
    assert (done.code, asked) == (code, [])
    assert words in done.err


def test_examples_a_second_stand_beside_the_steps() -> None:
    work = (("gpu:0", 5 * 10**9),)
    measured = [replace(STEP, towers=gpus, rows=64 * gpus, fed=0, flops=work, operations=work) for gpus in (1, 2)]
    machine = Machine(FABRICS[:1], tflops=1, latency=0, launch=0)
    profile = Profile(
        "per-gpu", 4, measured[0], tuple(measured), machine, predict(measured[0], measured, "per-gpu", machine)
    )
    text = render_text(profile)
    rows = [line.split() for line in text.splitlines() if line.endswith("%")]
    assert [row[-4:-2] for row in rows[1:]] == [["12.8", "k"], ["25.6", "k"]]
    assert "--scale-steps divide" in text


def test_steps_of_total_batches_do_no_more_work() -> None:
    profile = Profile("total", 4, STEP, (STEP,), Machine(), ())
    assert "--scale-steps" not in render_text(profile)
