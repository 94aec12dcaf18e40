"""Scripts with towers, beside which an Estimator or Keras trains."""

from __future__ import annotations

import pytest

from tests.scripts import INPUTS, MODEL, STEP, TRAINING, codes, run

TOWERS = INPUTS + MODEL + STEP + TRAINING
OWN_BY_HAND = "\n\ndef by_hand():\n" + "".join(f"    {line}\n" for line in (MODEL + STEP + TRAINING).splitlines())
ESTIMATOR = "estimator = tf.estimator.DNNRegressor([4], columns)\n"
TRAINED = ESTIMATOR + "estimator.train(input_fn, steps=9)\n"


def found(script: str, **options: object) -> list[tuple[str, int]]:
    return [(one.code, one.line) for one in run(script, **options).diagnostics]


@pytest.mark.parametrize(
    ("trains", "name"),
    [
        (TRAINED, "tf.estimator.DNNRegressor"),
        ("tf.estimator.Estimator(model_fn).train(input_fn)\n", "tf.estimator.Estimator"),
        ("tf.contrib.learn.LinearRegressor(columns).fit(xs, ys)\n", "tf.contrib.learn.LinearRegressor"),
        ("tf.contrib.learn.SVM('id').partial_fit(input_fn=f)\n", "tf.contrib.learn.SVM"),
        ("tf.contrib.learn.SKCompat(made()).fit(xs, ys)\n", "tf.contrib.learn.SKCompat"),
        (ESTIMATOR + "tf.estimator.train_and_evaluate(estimator, a, b)\n", "tf.estimator.DNNRegressor"),
        ("model = tf.keras.Sequential()\nmodel.compile('sgd', 'mse')\nmodel.fit(xs, ys)\n", "tf.keras.Sequential"),
        ("model = tf.keras.models.Model(a, b)\nmodel.train_on_batch(xs, ys)\n", "tf.keras.models.Model"),
        ("tf.keras.estimator.model_to_estimator(m).train(f)\n", "tf.keras.estimator.model_to_estimator"),
    ],
)
def test_what_trains_on_one_gpu_is_named_with_its_line(trains: str, name: str) -> None:
    script = TOWERS + trains
    assert found(script) == [("TMG398", script.count("\n"))]
    assert f"this trains {name}, which gets no towers" in run(script).diagnostics[0].message


def test_a_training_in_a_function_is_named_once() -> None:
    script = TOWERS + ESTIMATOR + "\n\ndef train():\n    estimator.train(input_fn)\n\n\ntrain()\ntrain()\n"
    assert found(script) == [("TMG398", script.count("\n", 0, script.index("    estimator.train")) + 1)]


def test_a_batch_that_grows_is_said() -> None:
    grows = "with N times the batch where it takes the script's batch size"
    assert grows in run(TOWERS + TRAINED).diagnostics[0].message
    assert grows not in run(TOWERS + TRAINED, batch="total").diagnostics[0].message


@pytest.mark.parametrize(
    "beside",
    [
        ESTIMATOR,
        ESTIMATOR + "print(list(estimator.predict(input_fn)), estimator.evaluate(input_fn))\n",
        "tf.keras.Sequential().predict(xs)\n",
        "words = tf.contrib.learn.preprocessing.VocabularyProcessor(9)\nwords.fit(texts)\n",
        "images = tf.keras.preprocessing.image.ImageDataGenerator()\nimages.fit(xs)\n",
        "from sklearn.linear_model import LinearRegression\nLinearRegression().fit(xs, ys)\n",
        "class Estimator(object):\n    def train(self, step):\n        return step\n\n\nEstimator().train(9)\n",
        "import other\nother.Estimator().train(9)\n",
    ],
)
def test_what_trains_nothing_or_is_another_library(beside: str) -> None:
    assert codes(TOWERS + beside) == []


def test_steps_that_nothing_calls_beside_an_estimator_that_trains() -> None:
    script = INPUTS + OWN_BY_HAND + "\n\n" + TRAINED
    assert found(script) == [("TMG220", script.count("\n"))]
    (error,) = run(script).diagnostics
    assert "nothing here calls by_hand" in error.message
    assert error.hint.startswith("leave by_hand out, and use several GPUs by its own means: an Estimator takes")


def test_steps_that_something_calls() -> None:
    script = INPUTS + OWN_BY_HAND + "\n\nby_hand()\n" + TRAINED
    assert found(script) == [("TMG398", script.count("\n"))]


def test_neither_is_called() -> None:
    script = INPUTS + OWN_BY_HAND + "\n\ndef other():\n" + "".join(f"    {line}\n" for line in TRAINED.splitlines())
    assert found(script) == [("TMG398", script.count("\n"))]


def test_steps_that_nothing_calls_beside_an_estimator_that_predicts() -> None:
    assert codes(INPUTS + OWN_BY_HAND + "\n\n" + ESTIMATOR + "estimator.predict(input_fn)\n") == []


TAPE = """

@tf.function
def step(rows):
    with tf.GradientTape() as tape:
        cost = tf.reduce_sum(tf.matmul(rows, w))
    optimizer.apply_gradients(zip(tape.gradient(cost, [w]), [w]))


w = tf.Variable(tf.zeros([784, 1]))
optimizer = tf.keras.optimizers.Adam(0.1)
step(images)
step(images)
"""


def test_what_a_tape_trains_is_named_once() -> None:
    script = TOWERS + TAPE
    assert found(script) == [("TMG398", script.count("\n", 0, script.index("    with tf.GradientTape")) + 1)]
    assert "this trains by tf.GradientTape, which gets no towers" in run(script).diagnostics[0].message


def test_a_tape_without_a_step_trains_nothing() -> None:
    shown = TAPE.replace(
        "optimizer.apply_gradients(zip(tape.gradient(cost, [w]), [w]))", "return tape.gradient(cost, [w])"
    )
    assert found(TOWERS + shown) == []
