"""Scripts converted for a cluster train as their originals do with several batches for each step."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from converter.conversion import convert
from converter.options import Options
from converter.source import from_bytes
from converter.verify import Report, Settings, VerifyError, verify

ROOT = Path(__file__).resolve().parent.parent
FIXTURE = ROOT / "fixtures" / "cluster" / "fed_arrays"
WORKERS = 3
SAME = 1e-6  # of weights; sums in another order came to 6e-8 after 12 steps
QUIET = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "2", "CUDA_VISIBLE_DEVICES": "", "PYTHONDONTWRITEBYTECODE": "1"}
SLOW = "                print('step', step, 'loss', value)\n"


def launch(folder: Path, python: str, *words: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tf_multigpu", "launch", "--local", str(WORKERS), "--timeout", "300"]
    return subprocess.Popen(
        [*command, "--python", python, *words],
        cwd=folder,
        env={**QUIET, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def differences(folder: Path, python: str, theirs: Path) -> dict[str, float]:
    """How far checkpoints are from those of the original with three of its batches for each step."""
    text = (FIXTURE / "single.py").read_text()
    assert "batch_size = 32\n" in text
    folder.mkdir()
    (folder / "single.py").write_text(text.replace("batch_size = 32\n", f"batch_size = 32 * {WORKERS}\n"))
    words = [python, str(ROOT / "tests/cluster_reference.py"), "single.py", str(WORKERS), str(theirs)]
    done = subprocess.run(
        [*words, "model-0", "model-1", "--"], cwd=folder, env=QUIET, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def trains_as_the_original(folder: Path, python: str) -> None:
    theirs = folder / "cluster"
    theirs.mkdir()
    shutil.copy(FIXTURE / "multi.py", theirs)
    with launch(theirs, python, "multi.py") as process:
        said, _ = process.communicate()
    assert process.returncode == 0, said
    assert "Traceback" not in said, said
    assert re.findall(r"^(.*)step \d+ loss", said, re.MULTILINE) == ["worker 0 | "] * 12
    assert re.findall(r"^(.*)accuracy", said, re.MULTILINE) == ["worker 0 | "]
    assert sorted(path.name for path in theirs.glob("model*.index")) == ["model-0.index", "model-1.index"]
    worst = differences(folder / "original", python, theirs)
    assert set(worst) == {"model-0", "model-1"} and max(worst.values()) <= SAME, worst


@pytest.mark.tf1
def test_trajectory_on_tensorflow_1(tmp_path: Path, tensorflow_python: str) -> None:
    trains_as_the_original(tmp_path, tensorflow_python)


@pytest.mark.tf2
def test_trajectory_on_tensorflow_2(tmp_path: Path, tensorflow_python: str) -> None:
    trains_as_the_original(tmp_path, tensorflow_python)


@pytest.mark.tf1
def test_all_start_again_after_a_worker_was_killed(tmp_path: Path, tensorflow_python: str) -> None:
    theirs = tmp_path / "cluster"
    theirs.mkdir()
    text = (FIXTURE / "single.py").read_text()
    assert SLOW in text
    text = text.replace(SLOW, SLOW + "                __import__('time').sleep(0.4)\n")
    conversion = convert(from_bytes("single.py", text.encode()), Options(target="cluster"))
    assert conversion.text is not None
    (theirs / "multi.py").write_text(conversion.text)
    lines, pids, killed = [], {}, False
    with launch(theirs, tensorflow_python, "multi.py") as process:
        alarm = threading.Timer(400, process.kill)
        alarm.start()
        assert process.stdout is not None
        for line in process.stdout:
            lines.append(line)
            if found := re.search(r"(worker \d) is process (\d+)", line):
                pids[found[1]] = int(found[2])
            if not killed and re.match(r"worker 0 +\| step [789] ", line):
                os.kill(pids["worker 1"], signal.SIGKILL)
                killed = True
        alarm.cancel()
    said = "".join(lines)
    assert killed and process.returncode == 0, said
    assert "worker 1 was killed by SIGKILL: the others are ended, too" in said
    assert "all workers start again; 2 more times" in said
    worst = differences(tmp_path / "original", tensorflow_python, theirs)
    assert max(worst.values()) <= SAME, worst


def proof(
    python: str, folder: Path, change: tuple[str, str] = ("", ""), steps: int = 3, gpus: int = 2, batch: str = "per-gpu"
) -> Report:
    """The verification of the fixture's conversion, in which a text may be changed."""
    options = Options(target="cluster", batch=batch)  # type: ignore[arg-type]
    conversion = convert(from_bytes("single.py", (FIXTURE / "single.py").read_bytes()), options)
    assert conversion.text is not None and change[0] in conversion.text
    (folder / "multi.py").write_text(conversion.text.replace(*change) if change[0] else conversion.text)
    settings = Settings(python=python, steps=steps, gpus=gpus, timeout=300)
    return verify(FIXTURE / "single.py", folder / "multi.py", settings)


def is_proven(report: Report) -> None:
    assert report.verdict == "passed", report
    assert {check.name for check in report.checks if check.status == "skipped"} <= {"files"}, report.checks


@pytest.mark.tf1
def test_verify_proves_three_workers_up_to_an_uneven_batch(tmp_path: Path, tensorflow_python: str) -> None:
    report = proof(tensorflow_python, tmp_path, steps=6, gpus=3)
    is_proven(report)
    details = {check.name: check.detail for check in report.checks}
    assert details["workers"] == "3 take 6 steps together, each on 32 rows"
    assert details["files"] == "the chief alone writes event files, checkpoints"
    assert {"hosts", "restarts", "results"} <= {entry.what for entry in report.ledger if entry.fate == "unchecked"}


@pytest.mark.tf2
def test_verify_proves_two_workers_on_tensorflow_2(tmp_path: Path, tensorflow_python: str) -> None:
    is_proven(proof(tensorflow_python, tmp_path))


@pytest.mark.tf1
def test_verify_proves_the_total_batch(tmp_path: Path, tensorflow_python: str) -> None:
    report = proof(tensorflow_python, tmp_path, gpus=3, batch="total")
    is_proven(report)
    details = {check.name: check.detail for check in report.checks}
    assert details["workers"] == "3 take 3 steps together, each on 10 or 11 rows"


# A text of the conversion, a wrong one in its place, the check that tells, and the steps that this takes.
WRONG = [
    ("begin = min(bounds[cluster.index], total - 1)", "begin = 0", "data", 1),
    ("(rows[cluster.index] * cluster.size / float(total), rows", "(1.0, rows", "gradients", 6),
    ("batch_size = 32 * cluster.size", "batch_size = 32", "batch", 1),
    ("writer.EventFileWriter = NoEvents", "pass", "files", 1),
    ("self.reduced(number * _tf.cast(weight, number.dtype), 'Div')", "number", "gradients", 1),
    ("tf.train.AdamOptimizer(rate)", "tf.train.AdamOptimizer(rate, beta1=0.5)", "update", 1),
]  # fmt: skip


@pytest.mark.one_in(2)
@pytest.mark.tf1
@pytest.mark.parametrize(("right", "wrong", "check", "steps"), WRONG, ids=[f"{row[2]} {row[3]}" for row in WRONG])
def test_verify_fails_a_wrong_worker(
    right: str, wrong: str, check: str, steps: int, tmp_path: Path, tensorflow_python: str
) -> None:
    report = proof(tensorflow_python, tmp_path, (right, wrong), steps, 3)
    assert report.verdict == "failed", report
    assert check in [one.name for one in report.checks if one.status == "failed"], report.checks


@pytest.mark.tf1
def test_verify_says_which_task_has_failed(tmp_path: Path, tensorflow_python: str) -> None:
    report = proof(tensorflow_python, tmp_path, ("total = len(feed[cut[0]])", "total = len(feeds[cut[0]])"))
    assert report.verdict == "failed"
    assert re.search(r"worker [01] of the converted script failed .*NameError", report.reason), report.reason


@pytest.mark.parametrize("settings", [Settings(epochs=1), Settings(steps="all"), Settings(also=("other.py",))])
def test_what_verify_cannot_do_for_a_cluster_is_refused(settings: Settings) -> None:
    with pytest.raises(VerifyError, match="not for the workers of a cluster"):
        verify(FIXTURE / "single.py", FIXTURE / "multi.py", settings)
