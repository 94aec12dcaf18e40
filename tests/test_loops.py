"""Loops of TensorFlow's own that make the session: the config reaches them, and conversions run by themselves."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest

from converter.conversion import convert
from converter.options import Options
from converter.source import encode, read
from converter.verify import VerifySettings, verify
from tests import goldens
from tests.bare import BareRuns
from tests.proofs import skipped
from tests.scripts import as_written_by

pytestmark = pytest.mark.one_test_in(2)

FIXTURES = goldens.FIXTURES / "loops"
NAMES = sorted(path.parent.name for path in FIXTURES.glob("*/single.py"))
GIVEN = {
    "slim_learning": "slim.learning.train(",
    "contrib_training": "tf.contrib.training.train(",
    "supervisor": "supervisor.managed_session(",
    "monitored_session": "tf.train.MonitoredTrainingSession(",
    "session_creator": "tf.train.ChiefSessionCreator(",
    "logger_hook": "tf.train.MonitoredTrainingSession(",
    "feed_hook": "tf.train.MonitoredTrainingSession(",
}
# Scripts for both versions: their layers are not TensorFlow 1's own.
ON_BOTH = ("session_creator", "logger_hook", "feed_hook")


def test_each_fixture_is_here() -> None:
    assert sorted(GIVEN) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_the_golden_is_the_conversion(name: str) -> None:
    source = read(str(FIXTURES / name / "single.py"))
    conversion = convert(source, Options())
    assert conversion.text is not None and conversion.diagnostics == ()
    assert encode(source, conversion.text) == as_written_by("single.py", FIXTURES / name / "multi.py")


@pytest.mark.parametrize("name", NAMES)
def test_the_config_reaches_the_session(name: str) -> None:
    text = (FIXTURES / name / "multi.py").read_text()
    call = text[text.rindex(GIVEN[name]) :].split("\n\n")[0]
    assert re.search(r"\b(session_)?config=config\b", call)
    soft = ("config = tf.ConfigProto(allow_soft_placement=True, ", "config.allow_soft_placement = True\n")
    assert any(line in text for line in soft)


@pytest.mark.one_in(20)
@pytest.mark.parametrize(
    "name",
    [*(pytest.param(name, marks=pytest.mark.tf1) for name in NAMES),
     *(pytest.param(name, marks=[pytest.mark.tf2, pytest.mark.matrix], id=f"{name}-2")
       for name in ("monitored_session", "supervisor", *ON_BOTH))],
)  # fmt: skip
def test_proof(name: str, tensorflow_python: str) -> None:
    folder = FIXTURES / name
    report = verify(folder / "single.py", folder / "multi.py", VerifySettings(python=tensorflow_python))
    assert report.verdict == "passed", report
    assert skipped(report) == UNCHECKED[name]


UNEVEN = {"uneven batch", "fewer examples than towers"}
UNCHECKED = {
    "slim_learning": UNEVEN,
    "contrib_training": UNEVEN,
    "supervisor": UNEVEN,
    "monitored_session": set(),
    "session_creator": set(),
    "logger_hook": UNEVEN,
    "feed_hook": set(),
}


@pytest.mark.tf1
def test_batches_of_hooks_to_the_end(tensorflow_python: str) -> None:
    """All epochs, with a smaller batch at the end of each, and evaluations that the hook runs by itself."""
    folder = FIXTURES / "feed_hook"
    report = verify(folder / "single.py", folder / "multi.py", VerifySettings(python=tensorflow_python, steps="all"))
    assert report.verdict == "passed", report
    passed = {check.name for check in report.checks if check.status == "passed"}
    assert {"data", "data of evaluations"} <= passed


@pytest.mark.tf1
def test_how_full_a_queue_is_is_not_compared(tensorflow_python: str) -> None:
    """With room for 200 examples its threads have not filled it by the first steps, in either script."""
    folder = FIXTURES / "logger_hook"
    report = verify(folder / "single.py", folder / "multi.py", VerifySettings(python=tensorflow_python))
    (fetches,) = [check for check in report.checks if check.name == "fetches"]
    assert fetches.status == "passed"
    assert "threads fill queues at their own pace: batch/fraction_of_200_full" in fetches.detail


@pytest.mark.one_in(10)
@pytest.mark.parametrize(
    "name",
    [*(pytest.param(name, marks=pytest.mark.tf1) for name in NAMES),
     *(pytest.param(name, marks=pytest.mark.tf2, id=f"{name}-2") for name in ON_BOTH)],
)  # fmt: skip
def test_it_runs_by_itself(name: str, tensorflow_python: str, tmp_path: Path, bare_runs: BareRuns) -> None:
    """Without GPUs: a session without the config could not place the towers at all."""
    shutil.copy(FIXTURES / name / "multi.py", tmp_path)
    environment = {**os.environ, "TMPDIR": str(tmp_path), "CUDA_VISIBLE_DEVICES": ""}
    done = bare_runs.run(tensorflow_python, ["multi.py"], tmp_path, environment)
    assert done.returncode == 0, done.stderr[-2000:]
    assert 0 < float(done.stdout.split()[-1]) < 1  # it was 2.3
