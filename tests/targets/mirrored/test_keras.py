"""Scripts that Keras trains: what of them changes, and what is refused."""

from __future__ import annotations

from time import process_time

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
SCOPED = (
    MADE
    + """\
with strategy.scope():
    model = keras.Sequential([
        keras.layers.Dense(8, input_shape=(4,)),
    ])
    model.compile('sgd', 'mse')
"""
)
ROWS = """\
replicas = strategy.num_replicas_in_sync
global_batch = {0}
rows = len(x) // global_batch * global_batch  # whole batches, the same for each GPU
"""


@pytest.mark.parametrize(
    ("before", "size", "after"),
    [
        ("model.fit(x, y)", "32", "model.fit(x[:rows], y[:rows], batch_size=global_batch)"),
        (
            "model.fit((x, x[:, 1:]), {'a': y, 'b': y.astype('int32')})",
            "32",
            "model.fit((x[:rows], x[:, 1:][:rows]), {'a': y[:rows], 'b': y.astype('int32')[:rows]}, "
            "batch_size=global_batch)",
        ),
        (
            "model.fit([x, x.values[1]], y)",
            "32",
            "model.fit([x[:rows], x.values[1][:rows]], y[:rows], batch_size=global_batch)",
        ),
        ("model.fit(x, y, 10)", "10", "model.fit(x[:rows], y[:rows], global_batch)"),
        (
            "h = model.fit(x, y, batch_size=n)",
            "n",
            "h = model.fit(x[:rows], y[:rows], batch_size=global_batch)",
        ),
        (
            "model.fit(x, y, batch_size=2 + n)",
            "2 + n",
            "model.fit(x[:rows], y[:rows], batch_size=global_batch)",
        ),
    ],
)
def test_arrays(before: str, size: str, after: str) -> None:
    rows = ROWS.format(f"min({size}, len(x) // replicas) * replicas")
    assert changed(f"{HEAD}{MODEL}{before}\n") == f"{HEAD}{SCOPED}{rows}{after}\n"


def test_the_total_batch() -> None:
    fit = "model.fit(x, y, batch_size={0})\n"
    made = changed(HEAD + MODEL + fit.format(64), "--batch", "total")
    rows = ROWS.format("min(64, len(x) // replicas * replicas)")
    assert made == HEAD + SCOPED + rows + "model.fit(x[:rows], y[:rows], batch_size=global_batch)\n"
    assert [code for code, _ in findings(HEAD + MODEL + fit.format(63), "--batch", "total")] == ["TMG288"]


def test_a_dataset() -> None:
    data = "data = tf.data.Dataset.from_tensor_slices((x, y))\ndata = data.shuffle(99).batch({0})\nmodel.fit(data)\n"
    after = data.format("16 * strategy.num_replicas_in_sync, drop_remainder=True")
    assert changed(HEAD + MODEL + data.format("16")) == HEAD + SCOPED + after
    assert changed(HEAD + MODEL + data.format("16"), "--batch", "total") == (
        HEAD + SCOPED + data.format("16, drop_remainder=True")
    )
    # a dataset in front of the model: the strategy is made in front of both
    early, fit = data.replace("model.fit(data)\n", "")[:-1].split("\n"), "model.fit(data)\n"
    first, second = (line + "\n" for line in early)
    made = changed(HEAD + "n = 3\n" + first + second.format("16") + MODEL + fit)
    scoped = SCOPED.replace(MADE, "")
    cut = second.format("16 * strategy.num_replicas_in_sync, drop_remainder=True")
    assert made == HEAD + "n = 3\n" + first + MADE + cut + scoped + fit
    # in a function the strategy is not known
    inner = "def load_it():\n    return tf.data.Dataset.from_tensor_slices((x, y)).batch(16)\n\n\ndata = load_it()\n"
    assert [code for code, _ in findings(HEAD + inner + MODEL + fit)] == ["TMG289"]


@pytest.mark.parametrize(
    ("session", "codes"),
    [
        ("K.set_session(tf.Session(config=config))\n", ["TMG289"]),
        ("K.set_session(session=tf.Session())\n", ["TMG289"]),
        ("sess = tf.Session(config=config)\nK.set_session(sess)\n", ["TMG289"]),
        ("sess = tf.Session(config=config)\nK.set_session(sess)\nsess.run(y)\n", ["TMG220"]),  # a session of its own
        ("K.clear_session()\n", []),
    ],
)
def test_a_session_for_keras(session: str, codes: list[str]) -> None:
    start = HEAD + "from tensorflow.keras import backend as K\nconfig = tf.ConfigProto()\n" + session
    script = start + MODEL + "model.fit(x, y, batch_size=16)\n"
    assert [code for code, _ in findings(script)] == codes


def test_batches_that_are_counted_behind_batch() -> None:
    data = "data = tf.data.Dataset.from_tensor_slices((x, y)){0}.batch(16){1}\nmodel.fit(data)\n"
    for method in ("take", "skip"):
        after = HEAD + MODEL + data.format("", f".{method}(9)")
        assert findings(after) == [("TMG289", 9)]
        assert findings(after, "--batch", "total") == []
        assert findings(HEAD + MODEL + data.format(f".{method}(9)", ".prefetch(1)")) == []


def test_numbers_of_steps() -> None:
    data = "data = tf.data.Dataset.from_tensor_slices((x, y)).repeat().batch(batch_size)\n"
    fit = "model.fit(data, steps_per_epoch={0}, validation_data=other, validation_steps=80 // batch_size)\n"
    script = HEAD + "batch_size = 16\n" + MODEL + data + fit
    made = changed(script.format("80 // batch_size"))
    assert made.endswith(fit.format("80 // (batch_size * 2)"))
    assert "TMG384" in [code for code, _ in findings(script.format("80 // 16"))]
    assert findings(script.format("5")) == [("TMG382", 11)]


def test_a_model_that_branches_compile() -> None:
    script = HEAD + (
        "if fast:\n    model = keras.Sequential([keras.layers.Dense(8)])\n    model.compile('sgd', 'mse')\n"
        "else:\n    model = keras.Sequential([keras.layers.Dense(9)])\n    model.compile('adam', 'mse')\n"
    )
    assert findings(script + "model.fit(x, y)\n") == [("TMG289", 10)]


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
        "    opt = keras.optimizers.SGD(0.1)\n    model.compile(opt, 'mse')\nreplicas = "
    ) in text


def test_strings_keep_their_lines() -> None:
    script = (
        HEAD + 'model = keras.Sequential([keras.layers.Dense(1)], name="""a\nb""")\n'
        'model.compile("sgd", "mse")\nmodel.fit(x, y)\n'
    )
    assert '\n    model = keras.Sequential([keras.layers.Dense(1)], name="""a\nb""")\n    model.compile(' in changed(
        script
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
        ("model.fit(x, y, validation_data=tf.data.Dataset.from_tensor_slices((x, y)).batch(8))", []),
        ("model.fit(x, y)\nmodel.predict(tf.data.Dataset.from_tensor_slices(x).batch(8))", []),
        ("model.fit_generator(g)", ["TMG289"]),
        ("model.train_on_batch(x, y)", ["TMG289"]),
        ("model.fit(x[:9], y[:9])", []),
        ("model.fit([x, x], y)", []),
        ("model.fit([read(), x], y)", ["TMG289"]),
        ("model.fit([x, [1, 2]], y)", ["TMG289"]),
        ("model.fit({'a': x, **others}, y)", ["TMG289"]),
        ("both = [x, x]\nmodel.fit(both, y)", ["TMG289"]),
        ("both = {'a': x}\nmodel.fit(both, y)", ["TMG289"]),
        ("both = x[1:]\nmodel.fit(both, y)", []),
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
        ("model.add(keras.layers.LSTM(8, stateful=True)); model.compile('sgd', 'mse')", "TMG289"),
        ("model.compile(keras.optimizers.SGD(global_clipnorm=1.0), 'mse')", "TMG284"),
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
        HEAD + "keras.backend.clear_session()\n\n\ndef ready(model):\n    model.compile('sgd', 'mse')\n"
        "    model.fit(x, y)\n\n\nready(other.model)\n"
    )
    assert [code for code, _ in findings(script)] == ["TMG289"]


def test_keras_of_its_own_has_no_strategy() -> None:
    script = (HEAD + MODEL + "model.fit(x, y)\n").replace("from tensorflow import keras", "import keras")
    made = conversion(script)
    assert made.text is not None and "multi_gpu_model(" in made.text and "strategy" not in made.text


def test_the_import_is_completed() -> None:
    script = (HEAD + MODEL + "model.fit(x, y)\n").replace("import tensorflow as tf\n", "")
    made = changed(script)
    assert made.startswith("from tensorflow import keras\nimport tensorflow as tf\n") and CHECK in made


def test_many_models_in_one_script_are_read_in_time() -> None:
    """Notebooks turned into scripts train dozens of models: the script is read once, not once for each of its nodes."""
    helper = "def helper_{0}(rows):\n" + "    rows = rows + [1, 2, 3]\n" * 20 + "    return rows\n"
    helpers = "".join(helper.format(i) for i in range(15))
    started = process_time()
    found = conversion(HEAD + helpers + (MODEL + "model.fit(x, y)\n") * 15).diagnostics
    assert process_time() - started < 4  # 0.4 s; a walk of all functions for each node takes 40 s
    assert "several models are compiled and trained" in [finding.message for finding in found]


@pytest.mark.parametrize(
    ("loss", "always", "total"),
    [
        ("'mse'", [], []),
        ("keras.losses.MeanSquaredError()", [], []),
        ("keras.losses.MeanSquaredError(reduction='sum')", ["TMG288"], []),  # the sum over the whole batch
        ("{'out': 'mse', 'more': own}", [], []),
        ("own", [], []),
        ("made(0.5)", [], []),
        ("lambda a, b: tf.reduce_sum(tf.square(a - b), axis=-1)", [], []),
        ("lambda a, b: tf.reduce_sum(tf.square(a - b))", ["TMG288"], ["TMG288"]),
        ("lambda a, b: keras.backend.sum(tf.square(a - b)) / 8", ["TMG288"], ["TMG288"]),
        ("lambda a, b: tf.sqrt(tf.reduce_mean(tf.square(a - b)))", [], ["TMG288"]),
        ("lambda a, b: tf.sqrt(tf.reduce_mean(tf.square(a - b), axis=-1))", [], []),
        ("lambda a, b: 1 - keras.backend.sum(a * b) / keras.backend.sum(a + b)", [], ["TMG288"]),
    ],
)
def test_losses(loss: str, always: list[str], total: list[str]) -> None:
    own = "def own(a, b):\n    return keras.backend.mean(tf.square(a - b), axis=-1)\n\n\n"
    maker = "def made(rate):\n    def inner(a, b):\n        return 0.5 * tf.reduce_mean(a - b)\n    return inner\n\n\n"
    script = HEAD + own + maker + MODEL.replace("'mse'", loss) + "model.fit(x, y)\n"
    assert [code for code, _ in findings(script)] == always
    assert [code for code, _ in findings(script, "--batch", "total")] == total


def test_numbers_of_batches_inside_losses() -> None:
    own = "def own(a, b):\n    rate = steps * 0.1\n    return tf.reduce_mean(a - b) * rate / batch_size\n\n\n"
    sizes = "batch_size = 8\nsteps = 99 // batch_size\n"
    script = HEAD + sizes + own + MODEL.replace("'mse'", "own") + "model.fit(x, y)\n"
    made = changed(script)
    assert own in made and "steps = 99 // batch_size\n" in made  # replicas alone compute with both
    assert [code for code, _ in findings(script + "print(steps)\n")] == ["TMG384"]  # for both


TFDS = "import tensorflow_datasets as tfds\n"
LOADED = "tfds.load('mnist', split='train', as_supervised=True)"


@pytest.mark.parametrize(
    ("data", "fed", "codes"),
    [
        (f"data = {LOADED}.shuffle(9).batch(16)", "data", []),
        (f"data = {LOADED}\ndata = data.map(scale).cache().shuffle(9)\ndata = data.batch(16).prefetch(1)", "data", []),
        ("data, info = tfds.load('mnist', split='train', with_info=True)\ndata = data.batch(16)", "data", []),
        ("(data, test), info = tfds.load('mnist', split=['train', 'test'], with_info=True)\ndata = data.batch(16)",
         "data", []),
        ("data, test = tfds.load('mnist', split=['train', 'test'])\ndata = data.batch(16)", "data", []),
        ("sets, info = tfds.load('mnist', with_info=True)\ndata = sets['train'].batch(16)", "data", []),
        ("sets, info = tfds.load('mnist', with_info=True)\ndata = info['train'].batch(16)", "data", ["TMG289"]),
        ("sets, info = tfds.load('mnist', with_info=True)\ndata = sets.batch(16)", "data", ["TMG289"]),
        ("sets = tfds.load('mnist')\ndata = sets['train'].batch(16)", "data", []),
        ("sets = tfds.load('mnist')\ndata, test = sets['train'], sets['test']\ndata = data.batch(16)", "data", []),
        ("sets = tfds.load('mnist')\ndata, test = sets\ndata = data.batch(16)", "data", ["TMG289"]),
        ("data = tfds.load('mnist')", "data", ["TMG289"]),  # a dict
        ("data, info = tfds.load('mnist', split='train', with_info=True)", "info", ["TMG289"]),
        (f"data = {LOADED}", "data", ["TMG289"]),  # no batch()
        (f"data = tfds.as_numpy({LOADED}.batch(16))", "data", ["TMG289"]),
        ("data = rows()", "data", ["TMG289"]),
    ],
)  # fmt: skip
def test_datasets_of_tfds(data: str, fed: str, codes: list[str]) -> None:
    assert [code for code, _ in findings(HEAD + TFDS + MODEL + data + f"\nmodel.fit({fed}, epochs=2)\n")] == codes
