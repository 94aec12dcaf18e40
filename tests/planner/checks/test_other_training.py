"""Scripts that an Estimator or Keras trains, asked for with towers: each is told what to do with its own means."""

from __future__ import annotations

import pytest

from converter.options import Options
from converter.source import from_bytes
from tests.conversions import conversion_of

ESTIMATOR = "an Estimator takes RunConfig"
LEARN = "tf.estimator in its place takes RunConfig"
TF_KERAS = "build and compile the model in the scope()"
KERAS = "tf.keras in its place can be built and compiled"


@pytest.mark.parametrize(
    ("made", "name", "means"),
    [
        ("tf.estimator.Estimator(model_fn)", "tf.estimator.Estimator", ESTIMATOR),
        ("tf.estimator.DNNClassifier([8], columns)", "tf.estimator.DNNClassifier", ESTIMATOR),
        ("tf.estimator.LinearRegressor(columns)", "tf.estimator.LinearRegressor", ESTIMATOR),
        ("tf.estimator.BoostedTreesClassifier(columns, 9)", "tf.estimator.BoostedTreesClassifier", ESTIMATOR),
        ("tf.contrib.learn.DNNClassifier([8], columns)", "tf.contrib.learn.DNNClassifier", LEARN),
        ("tf.contrib.learn.Estimator(model_fn)", "tf.contrib.learn.Estimator", LEARN),
        ("tf.keras.Sequential([])", "tf.keras.Sequential", TF_KERAS),
        ("keras.models.Sequential([])", "keras.models.Sequential", KERAS),
        ("Model([], [])", "keras.models.Model", KERAS),
    ],
)
def test_what_trains_is_named(made: str, name: str, means: str) -> None:
    imports = "import tensorflow as tf\n" + ("import keras\n" if made.startswith("keras.") else "")
    imports += "from keras.models import Model\n" if made.startswith("Model") else ""
    script = f"{imports}\nmodel = {made}\nmodel.train(input_fn, steps=9)\n"
    done = conversion_of(from_bytes("train.py", script.encode()), Options(target="towers"))
    (found,) = [one for one in done.diagnostics if one.severity == "error"]
    assert (found.code, found.line) == ("TMG220", script.count("\n", 0, script.index("model =")) + 1)
    assert f"trains by {name}, not by" in found.message and means in found.hint
