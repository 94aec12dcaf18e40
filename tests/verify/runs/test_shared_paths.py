"""Scripts that change the same absolute path: a race between the runs of a verification is never a wrong conversion."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from converter.verify import Report, VerifySettings, verify
from converter.verify.data import CheckResult
from converter.verify.runs.shared_paths import FILES, shared, with_paths

pytestmark = pytest.mark.one_test_in(2)

TRAIN = """
import tensorflow as tf
w = tf.get_variable('w', [2])
train = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(w * w))
sess = tf.Session()
sess.run(tf.global_variables_initializer())
for _ in range(3):
    sess.run(train)
"""
EMPTIES = """
import os, shutil, time
if os.path.exists({0!r}):
    shutil.rmtree({0!r})
os.makedirs({0!r})
open({0!r} + '/%d' % os.getpid(), 'w').close()
time.sleep(2)
assert os.listdir({0!r}) == [str(os.getpid())], 'somebody else was here'
"""
GFILE = """
import os, time
import tensorflow as tf
if tf.gfile.Exists({0!r}):
    tf.gfile.DeleteRecursively({0!r})
tf.gfile.MakeDirs({0!r} + '/%d' % os.getpid())
time.sleep(2)
assert os.listdir({0!r}) == [str(os.getpid())], 'somebody else was here'
"""


def ran(tmp_path: Path, single: str, multi: str, python: str | None = None, **more: Any) -> Report:
    for name, text in (("single", single), ("multi", multi)):
        folder = tmp_path / name
        folder.mkdir()
        (folder / f"{name}.py").write_text(text.format(str(tmp_path / "shared")) + TRAIN)
    settings = VerifySettings(gpus=1, steps=2, python=python, **more)
    return verify(tmp_path / "single" / "single.py", tmp_path / "multi" / "multi.py", settings)


def said(report: Report) -> list[str]:
    return [entry.detail for entry in report.ledger if entry.what == FILES]


@pytest.mark.one_in(3)
@pytest.mark.tf1
@pytest.mark.parametrize("script", [EMPTIES, GFILE], ids=["empties", "gfile"])
def test_scripts_that_disturb_each_other_run_one_after_the_other(
    tmp_path: Path, tensorflow_python: str, script: str
) -> None:
    report = ran(tmp_path, script, script, tensorflow_python)
    assert report.verdict == "passed", report
    (detail,) = said(report)
    assert str(tmp_path / "shared") in detail and "ran again, one after the other" in detail
    config = [check.status for check in report.checks if check.name == "session config"]
    assert config == ["passed"]


@pytest.mark.tf2
def test_a_fault_of_the_conversion_fails_all_the_same(tmp_path: Path) -> None:
    report = ran(tmp_path, EMPTIES, EMPTIES + "import tensorflow as tf\ntf.get_variable('more', [1])\n")
    assert report.verdict == "failed" and "more" in report.reason, report
    assert said(report)


@pytest.mark.tf2
def test_what_the_run_before_left_is_no_fault(tmp_path: Path) -> None:
    report = ran(tmp_path, "import os\nos.mkdir({0!r})\n", "import os\nos.mkdir({0!r})\n")
    assert report.verdict == "not comparable", report
    assert "is changed by both" in report.reason


@pytest.mark.tf2
def test_paths_that_one_script_alone_changes_make_no_second_run(tmp_path: Path) -> None:
    report = ran(tmp_path, "", "open({0!r}, 'w').close()\nimport tensorflow as tf\ntf.get_variable('more', [1])\n")
    assert report.verdict == "failed" and "more" in report.reason, report


def told(*paths: str, tried: tuple[str, ...] = ()) -> dict[str, Any]:
    return {"paths": list(paths), "tried": list(tried), "forks": 0, "more": 0}


@pytest.mark.parametrize(
    ("runs", "paths"),
    [
        ([told("/x/a"), told("/x/a")], ("/x/a",)),
        ([told("/x"), told(tried=("/x/a/b",))], ("/x", "/x/a/b")),
        ([told("/x/a"), None], ("/x/a",)),
        ([told("/x/a"), told("/x/b"), told("/x/ab")], ()),
        ([told("/x/1"), told()], ()),
        ([told(), None], ()),
        ([], ()),
    ],
)
def test_paths_that_runs_share(runs: list[Any], paths: tuple[str, ...]) -> None:
    assert shared(runs) == paths


def test_what_is_left_open() -> None:
    error = "by itself the converted script fails: FileExistsError: [Errno 17] File exists: '/x/a'"
    config, gradients = (
        CheckResult("session config", "failed", error),
        CheckResult("gradients", "failed", "they are summed"),
    )
    alone = with_paths(Report("failed", error, 2, "per-gpu", 3, (config,)), ["/x/a"])
    assert (alone.verdict, alone.checks[0].status) == ("not comparable", "skipped")
    both = with_paths(Report("failed", f"they are summed; {error}", 2, "per-gpu", 3, (gradients, config)), ["/x/a"])
    assert (both.verdict, both.reason) == ("failed", "they are summed")
    other = with_paths(Report("failed", "NameError: a", 2, "per-gpu", 0), ["/x/a"])
    assert (other.verdict, other.reason) == ("failed", "NameError: a")
