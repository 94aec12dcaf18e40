"""Scripts that Keras trains: what of them changes, and what is refused."""

from __future__ import annotations

import pytest

from tests.targets.mirrored.test_estimator import CHECK, MADE, changed, conversion, findings

HEAD = """\
import tensorflow as tf
from tensorflow import keras

x, y = load()
"""
MODEL = """\
model = keras.Sequential([
    keras.layers.Dense(8, input_shape=(4,)),
])
model.compile('sgd', 'mse')
"""
SCOPED = MADE + """\
with strategy.scope():
    model = keras.Sequential([
        keras.layers.Dense(8, input_shape=(4,)),
    ])
    model.compile('sgd', 'mse')
"""
ROWS = """\
global_batch = {0}
rows = len(x) // global_batch * global_batch  # whole batches, the same for each GPU
"""


@pytest.mark.parametrize(
    ("before", "size", "after"),
    [
        ("model.fit(x, y)", "32 * {0}", "model.fit(x[:rows], y[:rows], batch_size=global_batch)"),
        ("model.fit(x, y, 10)", "10 * {0}", "model.fit(x[:rows], y[:rows], global_batch)"),
        (
            "h = model.fit(x, y, batch_size=n)",
            "n * {0}",
            "h = model.fit(x[:rows], y[:rows], batch_size=global_batch)",
        ),
        (
            "model.fit(x, y, batch_size=2 + n)",
            "(2 + n) * {0}",
            "model.fit(x[:rows], y[:rows], batch_size=global_batch)",
        ),
    ],
)
def test_arrays(before: str, size: str, after: str) -> None:
    rows = ROWS.format(size.format("strategy.num_replicas_in_sync"))
    assert changed(f"{HEAD}{MODEL}{before}\n") == f"{HEAD}{SCOPED}{rows}{after}\n"


def test_the_total_batch() -> None:
    fit = "model.fit(x, y, batch_size={0})\n"
    made = changed(HEAD + MODEL + fit.format(64), "--batch", "total")
    assert (
        made == HEAD + SCOPED + ROWS.format(64) + "model.fit(x[:rows], y[:rows], batch_size=global_batch)\n"
    )
    assert [code for code, _ in findings(HEAD + MODEL + fit.format(63), "--batch", "total")] == ["TMG288"]


def test_a_dataset() -> None:
    data = "data = tf.data.Dataset.from_tensor_slices((x, y))\ndata = data.shuffle(99).batch({0})\nmodel.fit(data)\n"
    after = data.format("16 * strategy.num_replicas_in_sync, drop_remainder=True")
    assert changed(HEAD + MODEL + data.format("16")) == HEAD + SCOPED + after
    assert changed(HEAD + MODEL + data.format("16"), "--batch", "total") == (
        HEAD + SCOPED + data.format("16, drop_remainder=True")
    )
    # in front of the strategy its number is not known
    assert [
        code
        for code, _ in findings(
            HEAD + data.format("16").replace("model.fit(data)\n", "") + MODEL + "model.fit(data)\n"
        )
    ] == ["TMG289"]


def test_names_of_the_script_stay_free() -> None:
    script = HEAD + "strategy, rows = 1, 2\n" + MODEL + "model.fit(x, y)\n"
    text = changed(script)
    assert "\nstrategy_2 = tf.distribute" in text and "\nrows_2 = len(x) // " in text and "[:rows_2]" in text


def test_only_what_builds_and_compiles_moves() -> None:
    script = (
        HEAD
        + "seed = 3\n# the layers\nmodel = build()\n\n\nopt = keras.optimizers.SGD(0.1)\nmodel.compile(opt, 'mse')\n"
        "model.fit(x, y)\n\n\ndef build():\n    return keras.Sequential([keras.layers.Dense(1)])\n"
    )
    text = changed(script)
    assert (
        HEAD + "seed = 3\n" + MADE + "with strategy.scope():\n    # the layers\n    model = build()\n\n\n"
        "    opt = keras.optimizers.SGD(0.1)\n    model.compile(opt, 'mse')\nglobal_batch"
    ) in text


def test_strings_keep_their_lines() -> None:
    script = (
        HEAD
        + 'model = keras.Sequential([keras.layers.Dense(1)], name="""a\nb""")\n'
        'model.compile("sgd", "mse")\nmodel.fit(x, y)\n'
    )
    assert (
        '\n    model = keras.Sequential([keras.layers.Dense(1)], name="""a\nb""")\n    model.compile('
        in changed(script)
    )


def test_an_attribute_of_the_module() -> None:
    script = HEAD + MODEL.replace("model", "tf.model") + "tf.model.fit(x, y)\n"
    assert changed(script).endswith("tf.model.fit(x[:rows], y[:rows], batch_size=global_batch)\n")


@pytest.mark.parametrize(
    ("fit", "codes"),
    [
        ("model.fit(x, y, validation_split=0.1)", ["TMG289"]),
        ("model.fit(x, y, validation_split=0)", []),
        ("model.fit(x, y, class_weight={0: 1})", ["TMG289"]),
        ("model.fit(x, y, validation_data=(x, y))", ["TMG382"]),
        ("model.fit_generator(g)", ["TMG289"]),
        ("model.train_on_batch(x, y)", ["TMG289"]),
        ("model.fit(x[:9], y[:9])", ["TMG289"]),
        ("model.fit([x, x], y)", ["TMG289"]),
        ("model.fit(generator())", ["TMG289"]),
        ("model.fit(**arguments)", ["TMG289"]),
        ("model.fit(x, y)\nmodel.evaluate(x, y)", ["TMG382"]),
        ("model.fit(x, y)\nmodel.evaluate(data)", []),
        ("model.fit(x, y)\nmodel.predict(x)", ["TMG382"]),
    ],
)
def test_findings(fit: str, codes: list[str]) -> None:
    assert [code for code, _ in findings(HEAD + MODEL + fit + "\n")] == codes


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("model.compile(keras.optimizers.SGD(clipnorm=1.0), 'mse')", "TMG284"),
        ("model.compile(keras.optimizers.SGD(clipvalue=1.0), 'mse')", "TMG284"),
        ("model.add(keras.layers.BatchNormalization()); model.compile('sgd', 'mse')", "TMG381"),
        ("model.add(keras.layers.BatchNormalization())\nmodel.compile('sgd', 'mse')", "TMG381"),
        ("model = keras.utils.multi_gpu_model(model, 2)\nmodel.compile('sgd', 'mse')", "TMG216"),
        ("with tf.GradientTape() as tape: pass\nmodel.compile('sgd', 'mse')", "TMG289"),
    ],
)
def test_models(line: str, code: str) -> None:
    script = HEAD + MODEL.replace("model.compile('sgd', 'mse')", line) + "model.fit(x, y)\n"
    assert [found for found, _ in findings(script)] == [code]


def test_a_model_that_is_built_elsewhere() -> None:
    script = (
        HEAD
        + "keras.backend.clear_session()\n\n\ndef ready(model):\n    model.compile('sgd', 'mse')\n"
        "    model.fit(x, y)\n\n\nready(other.model)\n"
    )
    assert [code for code, _ in findings(script)] == ["TMG289"]


def test_keras_of_its_own_is_for_nobody() -> None:
    script = (HEAD + MODEL + "model.fit(x, y)\n").replace("from tensorflow import keras", "import keras")
    assert [finding.code for finding in conversion(script).diagnostics] == ["TMG220"]


def test_the_import_is_completed() -> None:
    script = (HEAD + MODEL + "model.fit(x, y)\n").replace("import tensorflow as tf\n", "")
    made = changed(script)
    assert made.startswith("from tensorflow import keras\nimport tensorflow as tf\n") and CHECK in made
