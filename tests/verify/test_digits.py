"""The stand-in for MNIST is found under every name that scripts import it by, without TensorFlow."""

from __future__ import annotations

import importlib
import sys
import types
from pathlib import Path

import pytest

pytest.importorskip("numpy")

CHILD = Path(__file__).resolve().parents[2] / "converter" / "verify" / "child"


@pytest.mark.parametrize(
    "name",
    [
        "tensorflow.examples.tutorials.mnist.input_data",
        "tensorflow.contrib.learn.python.learn.datasets.mnist",
    ],
)
def test_names_of_the_stand_in(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(CHILD))
    monkeypatch.setattr(sys, "modules", dict(sys.modules))
    importlib.import_module("tmgprobe.process.digits").install(types.ModuleType("tensorflow"))
    sets = sys.modules[name].read_data_sets("anywhere", one_hot=True)
    images, labels = sets.train.next_batch(7)
    assert (images.shape, labels.shape) == ((7, 784), (7, 10))
