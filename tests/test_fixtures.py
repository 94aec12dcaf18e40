"""Every fixture's conversion is proven, and its golden runs by itself, on each TensorFlow that can express it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from converter.conversion import convert
from converter.options import BatchMode, Options
from converter.source import read
from converter.verify import Settings, verify

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"
NAMES = sorted(path.parent.name for path in FIXTURES.glob("*/single.py"))
VERSIONS = {"2": pytest.mark.tf2, "1.15": pytest.mark.tf1}
REPRESENTATIVE = {("1.15", 3, "per-gpu"), ("2", 2, "total")}
RUN_ALONE = {"1.15": pytest.mark.tf1, "1.12": pytest.mark.tf1(version="1.12"), "1.4": pytest.mark.tf1(version="1.4")}


def verifications() -> list[object]:
    """Fixture, towers and batch mode on each TensorFlow; what `make test` leaves to `make matrix` is marked."""
    cases = []
    for version, mark in VERSIONS.items():
        for gpus in (1, 2, 3, 4, 8):
            for batch in ("per-gpu", "total"):
                marks = [mark] if (version, gpus, batch) in REPRESENTATIVE else [mark, pytest.mark.matrix]
                cases += [
                    pytest.param(name, gpus, batch, marks=marks, id=f"{name}-{gpus}-{batch}-{version}")
                    for name in NAMES
                ]
    return cases


@pytest.mark.parametrize(("name", "gpus", "batch"), verifications())
def test_proof(name: str, gpus: int, batch: BatchMode, tensorflow_python: str, tmp_path: Path) -> None:
    single = FIXTURES / name / "single.py"
    conversion = convert(read(str(single)), Options(num_gpus=gpus, batch=batch))
    assert conversion.status == "converted" and conversion.text is not None
    multi = tmp_path / "multi.py"
    multi.write_text(conversion.text, encoding="utf-8")
    report = verify(single, multi, Settings(gpus=gpus, python=tensorflow_python))
    assert report.verdict == "passed", report
    skipped = {check.name for check in report.checks if check.status == "skipped"}
    # A batch of a fixed size has no uneven rest; on one tower nothing can be uneven. The way of the weights
    # over several steps is left out where the original itself ends elsewhere after a change in the last place.
    uneven = {"uneven batch", "fewer examples than towers"} if name == "recurrent" or gpus == 1 else set()
    assert skipped <= {"weights", *uneven}


def solo_runs() -> list[object]:
    cases = []
    for version, mark in RUN_ALONE.items():
        marks = [mark] if version == "1.15" else [mark, pytest.mark.matrix]
        cases += [pytest.param(name, version, marks=marks, id=f"{name}-{version}") for name in NAMES]
    return cases


@pytest.mark.parametrize(("name", "version"), solo_runs())
def test_golden_runs_by_itself(name: str, version: str, tensorflow_python: str, tmp_path: Path) -> None:
    golden = (FIXTURES / name / "multi.py").read_text(encoding="utf-8")
    if version == "1.4" and "variable_creator_scope" in golden:
        # Raw variables made inside the towers can be shared from TensorFlow 1.12 on.
        pytest.skip(f"{name} shares raw variables by tf.variable_creator_scope, which TensorFlow {version} lacks")
    shutil.copy(FIXTURES / name / "multi.py", tmp_path)
    environment = {**os.environ, "TMPDIR": str(tmp_path), "CUDA_VISIBLE_DEVICES": ""}
    done = subprocess.run(
        [tensorflow_python, "multi.py"], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, done.stderr[-2000:]
    result = done.stdout.strip().splitlines()[-1]  # each ends with its result on a test set
    numbers = [float(number) for number in re.findall(r"\d+\.\d+", result)]
    learned = numbers[0] < numbers[1] / 2 if name == "autoencoder" else max(numbers) > 0.8
    assert learned, result
