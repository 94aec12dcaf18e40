"""The fine-tuning script for clips, beside the checkpoint that it starts from: the towers restore it, too."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from converter.verify import VerifySettings, verify
from tests import goldens
from tests.bare import BareRuns

FIXTURE = goldens.FIXTURES / "video_clips"
PRETRAIN = """\
import os
import numpy as np
import tensorflow as tf
tf = tf.compat.v1 if tf.__version__ >= '2' else tf

random = np.random.RandomState(3)
shapes = {'Conv3d_1': ([3, 3, 3, 1, 8], 8), 'Conv3d_2': ([3, 3, 3, 8, 16], 16)}
with tf.Graph().as_default(), tf.Session() as sess:
    for layer, (kernel, channels) in shapes.items():
        tf.Variable(random.normal(0, 0.1, kernel).astype(np.float32), name=layer + '/w')
        for name, low in (('gamma', 0.5), ('beta', -0.5), ('moving_mean', -0.2), ('moving_variance', 0.7)):
            values = random.uniform(low, low + 0.4, channels).astype(np.float32)
            tf.Variable(values, name=layer + '/batch_norm/' + name)
    sess.run(tf.global_variables_initializer())
    os.mkdir('pretrained')
    tf.train.Saver().save(sess, os.path.join('pretrained', 'stem.ckpt'))
"""
COMPARE = """\
import glob, json, os, sys
import numpy as np
import tensorflow as tf

early = tf.train.load_checkpoint(os.path.join('pretrained', 'stem.ckpt'))
(index,) = glob.glob(os.path.join(os.environ['TMPDIR'], 'clips_*', 'model.ckpt-5.index'))
late = tf.train.load_checkpoint(index[:-len('.index')])
trained = [name for name in early.get_variable_to_shape_map() if 'moving' not in name]
print(json.dumps({name: float(np.abs(early.get_tensor(name) - late.get_tensor('clip_net/' + name)).max())
                  for name in trained}))
"""
# Training that leaves the weights as they were read.
STILL = {
    "TRAIN_STEPS = 160": "TRAIN_STEPS = 5",
    "TEST_EVERY = 40": "TEST_EVERY = 5",
    "[0.1, 0.02, 0.004]": "[0.0] * 3",
}
VERSIONS = [
    pytest.param(marks=pytest.mark.tf1, id="1.15"),
    pytest.param(marks=[pytest.mark.tf2, pytest.mark.matrix], id="2"),
]


def run(bare_runs: BareRuns, python: str, text: str, folder: Path) -> str:
    scratch = folder / "scratch"
    scratch.mkdir(exist_ok=True)
    (folder / "script.py").write_text(text)
    environment = {**os.environ, "TMPDIR": str(scratch), "CUDA_VISIBLE_DEVICES": ""}
    done = bare_runs.run(python, ["script.py"], folder, environment)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@pytest.mark.one_in(2)
@pytest.mark.tf1
@pytest.mark.parametrize("script", [pytest.param("single.py", marks=pytest.mark.matrix), "multi.py"])
def test_the_earlier_training_is_restored(
    script: str, tensorflow_python: str, tmp_path: Path, bare_runs: BareRuns
) -> None:
    run(bare_runs, tensorflow_python, PRETRAIN, tmp_path)
    text = (FIXTURE / script).read_text()
    for before, after in STILL.items():
        assert text.count(before) == 1
        text = text.replace(before, after)
    said = run(bare_runs, tensorflow_python, text, tmp_path)
    assert said.startswith("step 5: loss ")
    moved = json.loads(run(bare_runs, tensorflow_python, COMPARE, tmp_path))
    assert len(moved) == 6 and set(moved.values()) == {0.0}
    # The check would see it: without the restoring the layers have other weights.
    for file in (tmp_path / "scratch").glob("clips_*/*"):
        file.unlink()
    for folder in (tmp_path / "scratch").glob("clips_*"):
        folder.rmdir()
    assert text.count("restorer.restore(sess, PRETRAINED)") == 1
    run(bare_runs, tensorflow_python, text.replace("restorer.restore(sess, PRETRAINED)", "pass"), tmp_path)
    moved = json.loads(run(bare_runs, tensorflow_python, COMPARE, tmp_path))
    assert all(distance > 0.01 for distance in moved.values())


@pytest.mark.parametrize((), VERSIONS)
def test_the_proof_starts_from_the_earlier_training(
    tensorflow_python: str, tmp_path: Path, bare_runs: BareRuns
) -> None:
    run(bare_runs, tensorflow_python, PRETRAIN, tmp_path)
    for name in ("single.py", "multi.py"):
        (tmp_path / name).write_text((FIXTURE / name).read_text())
    settings = VerifySettings(python=tensorflow_python)
    report = verify(tmp_path / "single.py", tmp_path / "multi.py", settings)
    assert report.verdict == "passed", report
    forgets = (FIXTURE / "multi.py").read_text().replace("restorer.restore(sess, PRETRAINED)", "pass")
    (tmp_path / "wrong.py").write_text(forgets)
    report = verify(tmp_path / "single.py", tmp_path / "wrong.py", settings)
    assert report.verdict == "failed", report
