"""Other scripts of a project run after training in both trees, and print the same."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from converter.cli.app import main
from converter.verify import Report, VerifyError, VerifySettings, verify, verify_folders
from converter.verify.runs import folders
from converter.verify.runs.folders import affected_in, converted_in

pytestmark = pytest.mark.one_test_in(2)

MODEL = """
import tensorflow as tf


class Model(object):
    def __init__(self, training=True):
        self.x = tf.placeholder(tf.float32, [None, 4], name='x')
        self.y = tf.placeholder(tf.float32, [None, 1])
        self.guess = tf.layers.dense(self.x, 1, name='out')
        self.loss = tf.reduce_mean((self.guess - self.y) ** 2)
        if training:
            self.train_op = tf.train.AdamOptimizer(0.1).minimize(self.loss)
"""
TRAIN = """
import time
import numpy as np
import tensorflow as tf
from model import Model

if __name__ == '__main__':
    model = Model()
    saver = tf.train.Saver()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for step in range(6):
            sess.run(model.train_op, {model.x: np.random.rand(8, 4), model.y: np.random.rand(8, 1)})
        saver.save(sess, './saved/model')
        while True:
            time.sleep(0.05)
"""
PREDICT = """
import time
import numpy as np
import tensorflow as tf
from model import Model

if __name__ == '__main__':
    model = Model(training=False)
    with tf.Session() as sess:
        tf.train.Saver().restore(sess, tf.train.latest_checkpoint('saved'))
        print('took', time.time())
        print('guess', sess.run(model.guess, {model.x: np.ones([3, 4])}).ravel())
"""
UNRELATED = "import tensorflow as tf\nif __name__ == '__main__':\n    print(tf.__version__)\n"


@pytest.fixture
def project(tmp_path: Path) -> tuple[Path, Path]:
    one = tmp_path / "one"
    one.mkdir()
    for name, text in (("model", MODEL), ("train", TRAIN), ("predict", PREDICT), ("unrelated", UNRELATED)):
        (one / f"{name}.py").write_text(text)
    assert main(["convert", str(one), "-o", str(tmp_path / "several/"), "-q"]) == 0
    return one, tmp_path / "several"


def also(project: tuple[Path, Path], *names: str) -> Report:
    one, several = project
    return verify(one / "train.py", several / "train.py", VerifySettings(steps=1, timeout=200, also=names))


def of(report: Report, name: str) -> list[tuple[str, str]]:
    return [(check.status, check.detail) for check in report.checks if check.name.startswith(name)]


@pytest.mark.tf2
def test_a_script_that_reads_the_checkpoints(project: tuple[Path, Path]) -> None:
    report = also(project, "predict.py")
    assert report.verdict == "passed", report
    ((first, detail), (second, _)) = of(report, "predict.py after the ")
    assert (first, second) == ("passed", "passed")
    assert detail.startswith("prints the same 2 lines from the same ")
    assert "--also predict.py" in report.command
    assert {entry.fate for entry in report.ledger if entry.what.startswith("predict.py")} == {"same"}


@pytest.mark.one_in(5)
@pytest.mark.tf2
@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("tf.layers.dense(self.x", "2 * tf.layers.dense(self.x", "line 2 is 'guess ["),
        ("class Model", "class Models", "in the converted tree it fails: ImportError"),
        ("name='out'", "name='other'", "in the converted tree it fails: NotFoundError"),
    ],
)
def test_a_tree_in_which_it_does_something_else(
    project: tuple[Path, Path], old: str, new: str, said: str, tmp_path: Path
) -> None:
    """The training script has its own copy of the model here: only the other script meets the fault."""
    for folder in project:
        shutil.copy(folder / "model.py", folder / "trained_model.py")
        train = folder / "train.py"
        train.write_text(train.read_text().replace("from model ", "from trained_model "))
    broken = project[1] / "model.py"
    assert broken.read_text().count(old) == 1
    broken.write_text(broken.read_text().replace(old, new))
    report = also(project, "predict.py")
    assert report.verdict == "failed", report
    assert {status for status, _ in of(report, "predict.py")} == {"failed"}
    assert said in of(report, "predict.py")[0][1]


@pytest.mark.tf2
def test_a_script_that_fails_in_the_original_tree_tells_nothing(project: tuple[Path, Path]) -> None:
    (project[0] / "predict.py").write_text("raise ValueError('no data')\n")
    report = also(project, "predict.py")
    assert report.verdict == "passed"
    assert of(report, "predict.py")[0] == ("skipped", "in the original tree it fails: ValueError: no data")


@pytest.mark.matrix
@pytest.mark.tf2
def test_two_folders(project: tuple[Path, Path]) -> None:
    assert converted_in(*project) == ["train.py"]
    assert affected_in(*project, ["train.py"]) == ["predict.py"]
    report = verify_folders(*project, VerifySettings(steps=1, timeout=200))
    assert report.verdict == "passed", report
    assert [status for status, _ in of(report, "predict.py")] == ["passed", "passed"]
    assert of(report, "unrelated.py") == []


@pytest.mark.parametrize("wrong", ["first.py", "second.py"])
def test_a_script_of_a_folder_that_fails_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wrong: str) -> None:
    def proof(single: Path, *_: object) -> Report:
        verdict = "failed" if single.name == wrong else "passed"
        return Report(verdict, f"it {verdict}", 2, "total", 3)

    monkeypatch.setattr(folders, "verify", proof)
    monkeypatch.setattr(folders, "converted_in", lambda *_: ["first.py", "second.py"])
    report = folders.verify_folders(tmp_path, tmp_path, VerifySettings())
    assert (report.verdict, report.reason, report.origin.script) == ("failed", f"{wrong}: it failed", "first.py")


def test_what_cannot_begin(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    for folder in ("one", "two"):
        (tmp_path / folder / "train.py").write_text("import tensorflow as tf\n")
    with pytest.raises(VerifyError, match="holds no script that was converted"):
        verify_folders(tmp_path / "one", tmp_path / "two", VerifySettings())
    assert main(["verify", str(tmp_path / "one"), str(tmp_path / "two"), "--each-choice"]) == 2
    assert main(["verify", str(tmp_path / "one"), str(tmp_path / "two" / "train.py")]) == 2


@pytest.mark.tf2
def test_a_script_that_is_not_there(project: tuple[Path, Path]) -> None:
    with pytest.raises(VerifyError, match=r"absent\.py: no such file beside train\.py"):
        also(project, "absent.py")
