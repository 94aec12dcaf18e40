"""Right conversions of scripts of several kinds pass, on 1, 2 and 3 towers, on TensorFlow 1.15 and 2."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from converter.verify import Report, Settings, verify

DATA = Path(__file__).parent / "data"
VERSIONS = [pytest.param("2", marks=pytest.mark.tf2), pytest.param("1.15", marks=pytest.mark.tf1)]


def statuses(report: Report) -> dict[str, str]:
    return {check.name: check.status for check in report.checks}


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("gpus", [2, *(pytest.param(gpus, marks=pytest.mark.matrix) for gpus in (1, 3))])
@pytest.mark.parametrize("subject", ["towers", "plain", "dataset", "gan", "time_major"])
def test_passes(tensorflow_python: str, version: str, subject: str, gpus: int) -> None:
    settings = Settings(gpus=gpus, python=tensorflow_python)
    report = verify(DATA / subject / "single.py", DATA / subject / "multi.py", settings)
    assert report.verdict == "passed", report
    assert report.steps == 3
    assert {row.device for row in report.devices} == {f"cpu:{gpu + 1}" for gpu in range(gpus)}
    skipped = {name for name, status in statuses(report).items() if status == "skipped"}
    fixed = {"uneven batch", "fewer examples than towers"} if subject == "time_major" and gpus > 1 else set()
    assert skipped == fixed


def with_multi(tmp_path: Path, subject: str, *changes: tuple[str, str]) -> tuple[Path, Path]:
    shutil.copytree(DATA / subject, tmp_path / subject)
    multi = tmp_path / subject / "multi.py"
    for old, new in changes:
        assert old in multi.read_text()
        multi.write_text(multi.read_text().replace(old, new))
    return tmp_path / subject / "single.py", multi


SAME_BATCH = ("batch_size = 8 * num_gpus", "batch_size = 8")


@pytest.mark.tf2
@pytest.mark.parametrize(
    ("changes", "args", "verdict", "words"),
    [
        ([SAME_BATCH], (), "passed", "original's on the whole batch"),
        ([], (), "failed", "16 examples instead of 8"),
        # a sum over examples: the towers add up
        (
            [SAME_BATCH, ("loss * weight", "loss * tf.cast(end > begin, tf.float32)")],
            ("sum",),
            "passed",
            "original's on the whole batch",
        ),
        ([SAME_BATCH], ("sum",), "failed", "towers are to be added, not averaged"),
    ],
)
def test_batch_total(
    tmp_path: Path,
    tensorflow_python: str,
    changes: list[tuple[str, str]],
    args: tuple[str, ...],
    verdict: str,
    words: str,
) -> None:
    single, multi = with_multi(tmp_path, "plain", ("--batch per-gpu", "--batch total"), *changes)
    report = verify(single, multi, Settings(python=tensorflow_python, args=args))
    assert (report.verdict, report.batch) == (verdict, "total"), report
    assert any(words in check.detail for check in report.checks), report.checks


@pytest.mark.tf2
def test_a_sum_per_gpu_is_averaged(tensorflow_python: str) -> None:
    settings = Settings(python=tensorflow_python, args=("sum",))
    report = verify(DATA / "plain" / "single.py", DATA / "plain" / "multi.py", settings)
    assert statuses(report)["gradients"] == "passed"
    assert "the loss is a sum over examples: the towers' sums are averaged" in report.notes
