"""The modes of building a model: names for strings, with which scripts choose between training and evaluation."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from converter.analysis.values import Constant, Value

if TYPE_CHECKING:
    from converter.analysis.walk import Walk

# tensorflow_estimator/python/estimator/mode_keys.py and tensorflow/contrib/learn/python/learn/estimators/model_fn.py
MODES = {
    "estimator.ModeKeys.TRAIN": "train",
    "estimator.ModeKeys.EVAL": "eval",
    "estimator.ModeKeys.PREDICT": "infer",
    "contrib.learn.ModeKeys.TRAIN": "train",
    "contrib.learn.ModeKeys.EVAL": "eval",
    "contrib.learn.ModeKeys.INFER": "infer",
}


def _mode(text: str) -> Callable[[Walk], Value]:
    return lambda walk: Constant(text)


OBJECTS: dict[str, Callable[[Walk], Value]] = {name: _mode(text) for name, text in MODES.items()}
