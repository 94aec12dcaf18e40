"""Every fixture's conversion is proven, and its golden runs by itself, on each TensorFlow that can express it."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from itertools import product
from pathlib import Path

import pytest

from converter.conversion import convert
from converter.options import BatchMode, Options
from converter.source import read
from converter.verify import VerifySettings, verify
from tests.bare import BareRuns
from tests.goldens import FIXTURES, expected
from tests.proofs import skipped

NAMES = sorted(path.parent.name for path in FIXTURES.glob("*/single.py"))
VERSIONS = {"2": pytest.mark.tf2, "1.15": pytest.mark.tf1}
TOWERS = (1, 2, 3, 4, 8, 12)
MANY = (8, 12)  # past ten, tower_1 is a prefix of tower_10
MODES = ("per-gpu", "total")
# What `make test` proves of a fixture that it chooses: one of these. What is proven on TensorFlow 2 is also trained
# to its end on 1.15, for other fixtures. `make matrix` does what `in_matrix` says, `make product` all of it.
IN_MAKE_TEST = (("1.15", 3, "per-gpu"), ("2", 2, "total"))
RUN_ALONE = {"1.15": pytest.mark.tf1, "1.12": pytest.mark.tf1(version="1.12"), "1.4": pytest.mark.tf1(version="1.4")}


def required(name: str) -> list[str]:
    """Modules that a fixture needs and only TensorFlow 1 has: the lines of its file `requires`, if it has one."""
    file = FIXTURES / name / "requires"
    return file.read_text(encoding="utf-8").split() if file.exists() else []


def in_make_test(name: str) -> tuple[str, int, str]:
    """The proof of a fixture that `make test` makes."""
    return IN_MAKE_TEST[0 if required(name) else NAMES.index(name) % 2]


def in_matrix(name: str, version: str, gpus: int, batch: str) -> bool:
    """Whether `make matrix` proves a fixture on this TensorFlow with these towers and this mode.

    Each fixture meets each number of towers, of the many one, and each mode on each TensorFlow; over the fixtures, each
    number of towers meets both modes on both.
    """
    index = NAMES.index(name)
    if gpus in MANY and gpus != MANY[index % 2]:
        return False
    turn = index // 2 + min(TOWERS.index(gpus), TOWERS.index(MANY[0]))
    chosen = "1.15" if required(name) or turn // 2 % 2 else "2"
    return (version, batch) == (chosen, MODES[turn % 2])


def verifications() -> list[object]:
    """Fixture, towers and batch mode on each TensorFlow; what is left to `make matrix` and `make product` is marked."""
    cases = []
    for version, mark in VERSIONS.items():
        names = [name for name in NAMES if version != "2" or not required(name)]
        for name, gpus, batch in product(names, TOWERS, MODES):
            marks = [mark]
            if (version, gpus, batch) != in_make_test(name):
                marks.append(pytest.mark.matrix)
                if not in_matrix(name, version, gpus, batch):
                    marks.append(pytest.mark.product)
            cases.append(pytest.param(name, gpus, batch, marks=marks, id=f"{name}-{gpus}-{batch}-{version}"))
    return cases


def test_the_matrix_has_all_towers_modes_and_versions() -> None:
    combinations = set(product(VERSIONS, TOWERS, MODES))
    assert {one for one in combinations if any(in_matrix(name, *one) for name in NAMES)} == combinations
    for name in NAMES:
        proven = [one for one in combinations if in_matrix(name, *one)]
        assert {1, 2, 3, 4} < {gpus for _, gpus, _ in proven} and {batch for *_, batch in proven} == set(MODES), name


@pytest.mark.one_in(24)
@pytest.mark.parametrize(("name", "gpus", "batch"), verifications())
def test_proof(name: str, gpus: int, batch: BatchMode, tensorflow_python: str, tmp_path: Path) -> None:
    prove(name, gpus, batch, tensorflow_python, tmp_path)


@pytest.mark.tf1
def test_past_ten_towers(tensorflow_python: str, tmp_path: Path) -> None:
    """Where towers written by hand fail: moving averages, whose scope tower_1 begins as tower_10's does."""
    prove("moving_averages", 12, "per-gpu", tensorflow_python, tmp_path)


def prove(name: str, gpus: int, batch: BatchMode, python: str, folder: Path) -> None:
    """Converts a fixture for so many towers, and proves the conversion."""
    single = FIXTURES / name / "single.py"
    conversion = convert(read(str(single)), Options(num_gpus=gpus, batch=batch))
    assert conversion.status == "converted" and conversion.text is not None
    multi = folder / "multi.py"
    multi.write_text(conversion.text, encoding="utf-8")
    report = verify(single, multi, VerifySettings(gpus=gpus, python=python))
    assert report.verdict == "passed", report
    # On one tower nothing can be uneven. The way of the weights over several steps is left out where the original
    # itself ends elsewhere after a change in the last place.
    alone = {"uneven batch", "fewer examples than towers"} if gpus == 1 else set[str]()
    assert skipped(report) <= {"weights", *alone, *expected(FIXTURES / name, "unproven")}


@pytest.mark.tf2
@pytest.mark.parametrize("name", [name for name in NAMES if required(name)])
def test_what_a_fixture_requires_is_not_in_tensorflow_2(name: str, tensorflow_python: str) -> None:
    """So that no fixture is left out of the proofs on TensorFlow 2 for longer than it must."""
    folder = FIXTURES / name
    report = verify(folder / "single.py", folder / "multi.py", VerifySettings(gpus=2, python=tensorflow_python))
    assert report.verdict == "not comparable"
    (module,) = required(name)
    assert module.replace("tf.", "tensorflow.") in report.reason


def solo_runs() -> list[object]:
    cases = []
    for (version, mark), name in product(RUN_ALONE.items(), NAMES):
        chosen = version == "1.15" and in_make_test(name)[0] == "2"
        marks = [mark] if chosen else [mark, pytest.mark.matrix]
        cases.append(pytest.param(name, version, marks=marks, id=f"{name}-{version}"))
    return cases


def runs(bare_runs: BareRuns, python: str, script: Path, environment: dict[str, str]) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        return bare_runs.run(python, [str(script)], Path(folder), environment).returncode == 0


@pytest.mark.one_in(18)
@pytest.mark.parametrize(("name", "version"), solo_runs())
def test_golden_runs_by_itself(
    name: str, version: str, tensorflow_python: str, tmp_path: Path, bare_runs: BareRuns
) -> None:
    golden = (FIXTURES / name / "multi.py").read_text(encoding="utf-8")
    if version == "1.4" and "variable_creator_scope" in golden:
        # Raw variables made inside the towers can be shared from TensorFlow 1.12 on.
        pytest.skip(f"{name} shares raw variables by tf.variable_creator_scope, which TensorFlow {version} lacks")
    shutil.copy(FIXTURES / name / "multi.py", tmp_path)
    environment = {**os.environ, "TMPDIR": str(tmp_path), "CUDA_VISIBLE_DEVICES": ""}
    done = bare_runs.run(tensorflow_python, ["multi.py"], tmp_path, environment)
    single = FIXTURES / name / "single.py"
    if done.returncode and version == "1.4" and not runs(bare_runs, tensorflow_python, single, environment):
        pytest.skip(f"{name} itself does not run on TensorFlow {version}")
    assert done.returncode == 0, done.stderr[-2000:]
    result = done.stdout.strip().splitlines()[-1]  # each ends with its result on a test set
    numbers = [float(number) for number in re.findall(r"\d+\.\d+", result)]
    learned = numbers[0] < numbers[1] / 2 if name == "autoencoder" else max(numbers) > 0.8
    assert learned, result
