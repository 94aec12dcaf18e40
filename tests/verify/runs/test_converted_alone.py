"""The converted script runs once by itself: with its own config, on a machine without GPUs."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from converter.verify import CheckResult, Report, VerifySettings, verify
from converter.verify.runs.converted_alone import check_bare, with_check
from tests.goldens import FIXTURES

CONFIG = "config = tf.ConfigProto(allow_soft_placement=True, gpu_options=tf.GPUOptions(allow_growth=True))\n"


def ran(**more: Any) -> dict[str, Any]:
    usual = {"gpus": 2, "soft": True, "environment": "0,1", "listed": "", "counted": None}
    return {"event": "ran", **usual, **more}


UNPLACED = "InvalidArgumentError: Cannot assign a device for operation tower_1/dense/MatMul: node was"


@pytest.mark.parametrize(
    ("event", "status", "words"),
    [
        (ran(), "passed", "hides none of 2 GPUs"),
        (ran(listed="0,1"), "passed", "hides none"),
        (ran(listed="3,1,2"), "passed", "hides none"),
        (ran(listed="0"), "failed", "2 towers see 1 GPU (visible_device_list='0')"),
        (ran(listed="0,1", gpus=4), "failed", "an operation asks for GPU 3, and the script sees 2 GPUs ("),
        (ran(listed="0,1", gpus=4, towers=4), "failed", "4 towers see 2 GPUs ("),
        (ran(environment="0"), "failed", "2 towers see 1 GPU (CUDA_VISIBLE_DEVICES=0)"),
        (ran(environment="0,1,2"), "passed", "hides none"),
        (ran(environment="GPU-1f, GPU-2e"), "passed", "hides none"),
        (ran(environment="0,-1,1"), "failed", "see 1 GPU (CUDA_VISIBLE_DEVICES=0,-1,1)"),
        (ran(environment="1,0,-1"), "passed", "hides none"),
        (ran(environment=None), "passed", "hides none"),
        (ran(environment=""), "passed", "hides all GPUs from itself (CUDA_VISIBLE_DEVICES=)"),
        (ran(environment="-1"), "passed", "hides all GPUs"),
        (ran(counted=0), "passed", "hides all GPUs from itself (device_count={'GPU': 0})"),
        (ran(counted=1), "failed", "2 towers see 1 GPU (device_count={'GPU': 1})"),
        (ran(counted=2), "passed", "hides none"),
        (ran(counted=1, listed="0,1"), "failed", "device_count"),
        (ran(counted=1, gpus=1), "passed", "hides none of 1 GPUs"),
        (ran(gpus=0, listed="0"), "passed", "its own config places every operation where there is no GPU"),
        ({"event": "ended", "message": UNPLACED, "trace": ""}, "failed", "cannot place tower_1/dense/MatMul"),
        ({"event": "ended", "message": "Error: Node", "trace": UNPLACED}, "failed", "needs allow_soft_placement=True"),
        ({"event": "ended", "message": "KeyError: 'a'", "trace": ""}, "failed", "by itself the converted script fails"),
        ({"event": "ended", "message": None, "trace": ""}, "skipped", "without a step that could be seen"),
        ({"event": "died", "status": -11}, "failed", "ended its process (status -11)"),
        ({"event": "late", "seconds": 30.2}, "skipped", "took no step in 30 s"),
    ],
)
def test_what_a_run_says(event: dict[str, Any], status: str, words: str) -> None:
    check = check_bare(event, event.pop("towers", 2))
    assert (check.status, words in check.detail) == (status, True), check


def test_a_failure_is_the_reports() -> None:
    passed = Report("passed", "2 towers take the steps", 2, "per-gpu", 3)
    failed = Report("failed", "they differ", 2, "per-gpu", 3, (CheckResult("loss", "failed", "they differ"),))
    assert with_check(passed, check_bare(ran(), passed.gpus)).verdict == "passed"
    assert with_check(passed, check_bare(ran(listed="0"), passed.gpus)).verdict == "failed"
    assert (
        with_check(passed, check_bare(ran(listed="0"), passed.gpus)).reason
        == "2 towers see 1 GPU (visible_device_list='0')"
    )
    assert with_check(failed, check_bare(ran(), failed.gpus)).reason == "they differ"
    assert with_check(failed, check_bare(ran(listed="0"), failed.gpus)).reason.startswith("they differ; 2 towers")


# what stands in place of the config -> what is said of it; None passes
CONFIGS: list[tuple[str, str | None]] = [
    (CONFIG.replace("placement=True", "placement=False"), "needs allow_soft_placement=True"),
    ("config = tf.ConfigProto()\n", "needs allow_soft_placement=True"),
    (CONFIG + "config.gpu_options.visible_device_list = '0'\n", "2 towers see 1 GPU (visible_device_list='0')"),
    ("import os; os.environ['CUDA_VISIBLE_DEVICES'] = '0'\n" + CONFIG, "2 towers see 1 GPU (CUDA_VISIBLE_DEVICES=0)"),
    (CONFIG + "config.device_count['GPU'] = 1\n", "2 towers see 1 GPU"),
    (CONFIG + "config.gpu_options.visible_device_list = '0,1'\n", None),
    (CONFIG + "config.device_count['CPU'] = 1\n", None),
]


# One whose steps take little, and in the matrix one with layers of each kind.
OTHERS = [pytest.param(name, marks=pytest.mark.matrix) for name in ("layers_cnn", "recurrent", "embedding_text")]


@pytest.mark.one_in(5)
@pytest.mark.tf1
@pytest.mark.parametrize("name", ["logistic_regression", *OTHERS])
@pytest.mark.parametrize(("config", "said"), CONFIGS)
def test_configs_of_a_right_conversion(
    tmp_path: Path, tensorflow_python: str, name: str, config: str, said: str | None
) -> None:
    shutil.copytree(FIXTURES / name, tmp_path / name)
    multi = tmp_path / name / "multi.py"
    text = multi.read_text()
    begin = text[: text.index(CONFIG)].rpartition("\n")[2]
    assert text.count(CONFIG) == 1
    multi.write_text(text.replace(CONFIG, config.replace("\nconfig", f"\n{begin}config")))
    report = verify(tmp_path / name / "single.py", multi, VerifySettings(steps=1, python=tensorflow_python))
    (check,) = (check for check in report.checks if check.name == "session config")
    failed = [one.name for one in report.checks if one.status == "failed"]
    assert (failed, check.status) == (["session config"] if said else [], "failed" if said else "passed"), report
    assert report.verdict == check.status and (said or "places every operation") in check.detail


@pytest.mark.tf2
@pytest.mark.parametrize("name", ["logistic_regression", pytest.param("layers_cnn", marks=pytest.mark.matrix)])
def test_on_a_new_version(tmp_path: Path, tensorflow_python: str, name: str) -> None:
    shutil.copytree(FIXTURES / name, tmp_path / "a")
    multi = tmp_path / "a/multi.py"
    settings = VerifySettings(steps=1, python=tensorflow_python)
    assert verify(tmp_path / "a/single.py", multi, settings).verdict == "passed"
    multi.write_text(multi.read_text().replace("allow_soft_placement=True", "allow_soft_placement=False"))
    report = verify(tmp_path / "a/single.py", multi, settings)
    assert report.verdict == "failed" and "cannot place tower_" in report.reason, report


ONLY_ALONE = """
import os, sys
import tensorflow as tf
w = tf.get_variable('w', [2])
train = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(w * w))
sess = tf.Session({config})
sess.run(tf.global_variables_initializer())
for _ in range(5):
    sess.run(train)
"""


@pytest.mark.tf2
def test_what_verify_would_help_with_fails(tmp_path: Path) -> None:
    """A session on another machine is one here where verify stands between; by itself the script finds nobody."""
    (tmp_path / "single.py").write_text(ONLY_ALONE.format(config=""))
    (tmp_path / "multi.py").write_text(ONLY_ALONE.format(config="'nowhere://here'"))
    report = verify(tmp_path / "single.py", tmp_path / "multi.py", VerifySettings(gpus=1, steps=2))
    assert report.verdict == "failed" and "by itself the converted script fails: NotFoundError" in report.reason, report


@pytest.mark.tf2
def test_files_of_the_run_by_itself_do_not_meet_those_of_the_other(tmp_path: Path) -> None:
    once = ONLY_ALONE.format(config="").replace("import os, sys", "import os, sys\nos.mkdir('checkpoints')")
    (tmp_path / "single.py").write_text(once)
    report = verify(tmp_path / "single.py", tmp_path / "single.py", VerifySettings(gpus=1, steps=2))
    assert report.verdict == "passed", report
