"""Files that do not name TensorFlow: a script that the package `keras` trains is refused, also in a folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.standins import Run

KERAS = """\
import numpy as np
from keras.layers import Dense
from keras.models import Sequential

model = Sequential([Dense(3, batch_input_shape=(32, 4))])
model.compile('sgd', 'mse')
model.fit(np.zeros((64, 4)), np.zeros((64, 3)), batch_size=32)
"""
MODULE = "from keras import backend\n\n\ndef size(x):\n    return backend.int_shape(x)[0]\n"


MODES = [["-o", "out"], ["--in-place"], ["--in-place", "--check"], ["--diff"]]


@pytest.mark.parametrize("options", MODES, ids=" ".join)
@pytest.mark.parametrize("source", ["project", "project/train.py"])
def test_a_script_that_keras_trains_is_refused(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str, options: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("project").mkdir()
    Path("project/train.py").write_text(KERAS)
    Path("project/sizes.py").write_text(MODULE)
    done = run("convert", source, *(["-o", "out.py"] if source.endswith(".py") and "-o" in options else options))
    assert done.code == 2 and "project/train.py:2:1: TMG220 this script trains by the package keras" in done.err, done
    assert "sizes.py:" not in done.err


@pytest.mark.parametrize("options", [["-o", "out"], ["--in-place"]], ids=" ".join)
def test_a_folder_that_only_computes_by_keras_passes(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("project").mkdir()
    Path("project/sizes.py").write_text(MODULE)
    done = run("convert", "project", *options)
    assert done.code == 0 and "TMG" not in done.err, done


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("x = tf.placeholder(tf.float32, [None, 4])\n", "this file reads names of tf, and imports TensorFlow neither"),
        ("# tf.Session() is not used\nx = self.tf.train\n", "this file does not use TensorFlow"),
        ("from lib.data import *\nwith tf.Session():\n    pass\n", "this file reads names of tf"),
    ],
)
def test_a_part_of_a_script_is_told_what_it_lacks(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, told: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("part.py").write_text(text)
    done = run("convert", "part.py", "-o", "out.py")
    assert done.code == 2 and told in done.err, done
