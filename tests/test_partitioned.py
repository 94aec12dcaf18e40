"""Conversions with `--variables partitioned`: their goldens, and that they are proven and learn."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest

from converter.conversion import convert
from converter.options import Options
from converter.source import encode, read
from converter.verify import Report, VerifySettings, verify
from tests.bare import BareRuns
from tests.goldens import FIXTURES
from tests.proofs import skipped
from tests.scripts import as_written_by

pytestmark = pytest.mark.one_test_in(2)

NAMES = sorted(path.parent.name for path in (FIXTURES / "partitioned").glob("*/single.py"))
VERSIONS = {"2": pytest.mark.tf2, "1.15": pytest.mark.tf1}
PROVEN = [
    pytest.param(name, gpus, id=f"{name}-{gpus}-{version}", marks=marks)
    for name in NAMES
    for version, mark in VERSIONS.items()
    for gpus in (1, 2, 3, 4)
    for marks in [[mark] if (version, gpus) in (("1.15", 3), ("2", 2)) else [mark, pytest.mark.matrix]]
]
LEARNS = [
    pytest.param(name, marks=mark, id=f"{name}-{version}")
    for name in NAMES
    for version, mark in (("1.15", [pytest.mark.tf1]), ("1.12", [pytest.mark.tf1(version="1.12"), pytest.mark.matrix]))
]


def proof(single: Path, gpus: int, folder: Path, python: str, change: tuple[str, str] = ("", "")) -> Report:
    """The verification of a partitioned conversion, in which a line may be changed."""
    conversion = convert(read(str(single)), Options(num_gpus=gpus, variables="partitioned"))
    assert conversion.text is not None, conversion.diagnostics
    assert change[0] in conversion.text
    (folder / "multi.py").write_text(conversion.text.replace(*change) if change[0] else conversion.text)
    return verify(single, folder / "multi.py", VerifySettings(gpus=gpus, python=python))


@pytest.mark.parametrize("name", NAMES)
def test_the_golden_is_the_conversion(name: str) -> None:
    folder = FIXTURES / "partitioned" / name
    source = read(str(folder / "single.py"))
    conversion = convert(source, Options(num_gpus=4, variables="partitioned"))
    assert conversion.text is not None and conversion.diagnostics == ()
    golden = as_written_by("single.py", folder / "multi.py")
    assert encode(source, conversion.text) == golden, "run `make goldens`"


@pytest.mark.one_in(6)
@pytest.mark.parametrize(("name", "gpus"), PROVEN)
def test_proof(name: str, gpus: int, tensorflow_python: str, tmp_path: Path) -> None:
    report = proof(FIXTURES / "partitioned" / name / "single.py", gpus, tmp_path, tensorflow_python)
    assert report.verdict == "passed", report
    uneven = {"uneven batch", "fewer examples than towers"} if gpus == 1 else set()
    assert skipped(report) <= uneven | {"traced lines"}
    cut = [check.detail for check in report.checks if check.name == "slices"]
    assert [f"into {gpus} on {gpus} devices" in detail for detail in cut] == ([True] if gpus > 1 else [])


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", LEARNS)
def test_golden_runs_by_itself(name: str, tensorflow_python: str, tmp_path: Path, bare_runs: BareRuns) -> None:
    shutil.copy(FIXTURES / "partitioned" / name / "multi.py", tmp_path)
    environment = {**os.environ, "CUDA_VISIBLE_DEVICES": ""}
    done = bare_runs.run(tensorflow_python, ["multi.py"], tmp_path, environment)
    assert done.returncode == 0, done.stderr[-2000:]
    assert max(map(float, re.findall(r"\d+\.\d+", done.stdout.strip().splitlines()[-1]))) > 0.8


CLIPPED = """\
gradients = optimizer.compute_gradients(loss)
train_op = optimizer.apply_gradients([(tf.clip_by_value(g, -1e-3, 1e-3), v) for g, v in gradients])
"""


@pytest.mark.tf1
def test_what_treats_every_number_alike_is_proven(tensorflow_python: str, tmp_path: Path) -> None:
    script = (FIXTURES / "partitioned" / "dense_net" / "single.py").read_text(encoding="utf-8")
    plain = "train_op = optimizer.minimize(loss)\n"
    assert plain in script
    (tmp_path / "single.py").write_text(script.replace(plain, CLIPPED))
    report = proof(tmp_path / "single.py", 2, tmp_path, tensorflow_python)
    assert report.verdict == "passed", report


# what is done to a conversion, and the check that finds it
MUTATIONS = {
    # the value of the whole: its slices in another order
    "order": (
        "dense_net",
        "            towers[tower] = kind.as_tensor(self)",
        "            towers[tower] = tf.concat(list(reversed(list(self))), -1)",
        "gradients",
        "they differ (step 1, ",
    ),
    # the last slice begins where the first does: what it covers is in no checkpoint
    "lost": (
        "dense_net",
        "        return read_as_one(getter(name, *args, **kwargs))",
        "        cut = getter(name, *args, **kwargs)\n"
        "        list(cut)[-1]._get_save_slice_info().var_offset[:] = [0] * len(parts)\n"
        "        return read_as_one(cut)",
        "variables",
        "part_",
    ),
    "one device": (
        "dense_net",
        "        home = (FIRST_SLICES.setdefault(name, home) + int(number)) % num_gpus",
        "        home = 0",
        "slices",
        "share devices: 2 of net/wide/kernel:0 on ",
    ),
    # the rows of slices as TensorFlow numbers them by default
    "look-up": (
        "text_lstm",
        "partition_strategy='div'",
        "partition_strategy='mod'",
        "gradients",
        "they differ (step 1, ",
    ),
}


@pytest.mark.one_in(5)
@pytest.mark.tf1
@pytest.mark.parametrize("fault", MUTATIONS)
def test_faults_are_found(fault: str, tensorflow_python: str, tmp_path: Path) -> None:
    script, old, new, name, words = MUTATIONS[fault]
    single = FIXTURES / "partitioned" / script / "single.py"
    report = proof(single, 2, tmp_path, tensorflow_python, (old, new))
    found = {check.name: check.detail for check in report.checks if check.status == "failed"}
    assert report.verdict == "failed" and words in found.get(name, "nothing found"), report
