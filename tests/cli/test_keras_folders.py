"""Folders with a script that the package `keras` trains: it is refused there as by its name."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.standins import Run

KERAS = """\
import numpy as np
from keras.layers import Dense
from keras.models import Sequential

model = Sequential([Dense(3, input_shape=(4,))])
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
