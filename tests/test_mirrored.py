"""Conversions for a distribution strategy: their goldens, their proofs, and that a wrong one is not proven."""

from __future__ import annotations

import ast
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from converter.conversion import convert
from converter.options import Options
from converter.source import encode, from_bytes, read
from converter.verify import Report, VerifySettings, verify
from tests import goldens
from tests.bare import BareRuns
from tests.proofs import proof_of
from tests.scripts import as_written_by

pytestmark = pytest.mark.one_test_in(3)

FIXTURES = goldens.FIXTURES / "mirrored"
NAMES = sorted(path.parent.name for path in FIXTURES.glob("*/single.py"))
WARNED = {"keras_arrays": ["TMG382"]}
# Estimators went with TensorFlow 2.16.
PROVEN = [
    pytest.param(name, gpus, id=f"{name}-{gpus}-{version}", marks=mark if gpus == 2 else [mark, pytest.mark.matrix])
    for name in NAMES
    for version, mark in {"1.15": pytest.mark.tf1, "2": pytest.mark.tf2}.items()
    for gpus in (2, 3)
    if version == "1.15" or name.startswith("keras")
]


def proof(
    name: str,
    python: str,
    folder: Path,
    gpus: int = 2,
    change: tuple[str, str] = ("", ""),
    batch: str = "per-gpu",
) -> Report:
    """The verification of a fixture's conversion, in which a text may be changed."""
    options = Options(num_gpus=gpus, batch=batch)
    return proof_of(FIXTURES / name / "single.py", python, folder, options, change)


@pytest.mark.parametrize("name", NAMES)
def test_the_golden_is_the_conversion(name: str) -> None:
    source = read(str(FIXTURES / name / "single.py"))
    conversion = convert(source, Options())
    assert conversion.text is not None
    assert [finding.code for finding in conversion.diagnostics] == WARNED.get(name, [])
    golden = as_written_by("single.py", FIXTURES / name / "multi.py")
    assert encode(source, conversion.text) == golden, "run `make goldens`"


def test_a_golden_is_converted_no_more() -> None:
    again = convert(read(str(FIXTURES / NAMES[0] / "multi.py")), Options())
    assert (again.status, [finding.code for finding in again.diagnostics]) == ("unchanged", ["TMG009"])


@pytest.mark.one_in(20)
@pytest.mark.parametrize(("name", "gpus"), PROVEN)
def test_proof(name: str, gpus: int, tensorflow_python: str, tmp_path: Path) -> None:
    report = proof(name, tensorflow_python, tmp_path, gpus)
    assert (report.verdict, report.gpus, report.steps) == ("passed", gpus, 3), report
    skipped = ["data"] if name == "estimator_arrays" else []  # it shuffles
    assert [check.name for check in report.checks if check.status == "skipped"] == skipped


@pytest.mark.one_in(5)
@pytest.mark.tf1
@pytest.mark.parametrize("name", ["estimator_dataset", "keras_dataset"])
def test_proof_of_the_total_batch(name: str, tensorflow_python: str, tmp_path: Path) -> None:
    report = proof(name, tensorflow_python, tmp_path, batch="total")
    assert (report.verdict, report.batch) == ("passed", "total"), report


@pytest.mark.one_in(5)
@pytest.mark.parametrize(
    "version", [pytest.param("1.15", marks=pytest.mark.tf1), pytest.param("2", marks=pytest.mark.tf2)]
)
def test_fewer_rows_than_a_batch_of_all_gpus(version: str, tensorflow_python: str, tmp_path: Path) -> None:
    script = (
        "import numpy as np\nimport tensorflow as tf\n\n"
        "x = np.arange(10, dtype='float32').reshape(5, 2)\ny = x[:, :1]\n"
        "model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,))])\n"
        "model.compile('sgd', 'mse')\nmodel.fit(x, y, epochs=2)\n"
    )
    (tmp_path / "single.py").write_text(script)
    report = proof_of(tmp_path / "single.py", tensorflow_python, tmp_path, Options(num_gpus=2))
    assert (report.verdict, report.steps) == ("passed", 1), report


WRONG = [
    ("estimator_dataset", ".repeat(epochs).batch", ".repeat(epochs).skip(1).batch", "data"),
    ("estimator_dataset", "dataset.map(lambda", "dataset.unbatch().batch(16).map(lambda", "batch"),
    ("estimator_dataset", "0.001 *", "0.01 *", "weights"),
    ("estimator_dataset", "['/gpu:0', '/gpu:1']", "['/gpu:0']", ""),
    ("estimator_dataset", ",\n    train_distribute=strategy", "", ""),
    ("estimator_dataset", "    logits =", "    with tf.device('/cpu:0'):\n        logits =", "placement"),
    ("estimator_arrays", "return input_fn\n", "return lambda: (tf.zeros([50, 64]), tf.zeros([50], tf.int32))\n", ""),
    ("keras_arrays", "batch_size=global_batch", "batch_size=batch_size", "batch"),
    ("keras_arrays", "y_train[:rows]", "y_train[::-1][:rows]", "data"),
    ("keras_arrays", "x_train[:rows], y_train", "x_train[1:rows + 1], y_train", "data"),
    ("estimator_dataset", "minimize(loss,", "minimize(2 * loss,", "weights"),
    ("keras_dataset", "SGD(0.1)", "SGD(0.2)", "weights"),
    ("keras_dataset", "SGD(0.1)", "SGD(0.1, clipnorm=0.1)", "weights"),
    ("keras_dataset", "with strategy.scope():", "if strategy:", "replicas"),
]


@pytest.mark.one_in(15)
@pytest.mark.tf1
@pytest.mark.parametrize(("name", "right", "wrong", "check"), WRONG)
def test_a_wrong_conversion_fails(
    name: str, right: str, wrong: str, check: str, tensorflow_python: str, tmp_path: Path
) -> None:
    report = proof(name, tensorflow_python, tmp_path, change=(right, wrong))
    assert report.verdict == "failed", report
    assert not check or check in [one.name for one in report.checks if one.status == "failed"]


LOSS = "tf.losses.sparse_softmax_cross_entropy(labels, logits)"
EACH = "tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)"
ESTIMATOR = f"""
import numpy as np
import tensorflow as tf

draws = np.random.RandomState(3)
data = draws.rand(300, 6).astype(np.float32)
want = draws.randint(0, 4, 300).astype(np.int32)


def model_fn(features, labels, mode):
    net = tf.layers.dense(features, 8, tf.nn.tanh)
    logits = tf.layers.dense(net, 4, use_bias=False)
    loss = {LOSS}
    optimizer = tf.train.AdamOptimizer(0.01)
    train_op = optimizer.minimize(loss, global_step=tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn():
    return tf.data.Dataset.from_tensor_slices((data, want)).repeat().batch(12)


tf.estimator.Estimator(model_fn=model_fn).train(input_fn=input_fn, steps=40)
"""
# a layer that adds the same number to all logits: its gradient is zero but for rounding
SHIFT = ("use_bias=False)", "use_bias=False) + tf.layers.dense(net, 1)")
KERAS = """
import numpy as np
import tensorflow as tf

draws = np.random.RandomState(3)
data = draws.rand(300, 6).astype(np.float32)
want = draws.randint(0, 4, 300).astype(np.int32)
inputs = tf.keras.layers.Input((6,))
net = tf.keras.layers.Dense(8, 'tanh')(inputs)
outputs = tf.keras.layers.Add()([tf.keras.layers.Dense(4, use_bias=False)(net), tf.keras.layers.Dense(1)(net)])
model = tf.keras.Model(inputs, tf.keras.layers.Softmax()(outputs))
model.compile(tf.keras.optimizers.Adam(0.01), 'sparse_categorical_crossentropy')
model.fit(data, want, batch_size=12, epochs=2, shuffle=False)
"""


def proof_of_text(
    text: str, python: str, folder: Path, batch: str = "per-gpu", change: tuple[str, str] = ("", "")
) -> Report:
    (folder / "single.py").write_text(text)
    return proof_of(folder / "single.py", python, folder, Options(num_gpus=2, batch=batch), change)


WORDS = """
    table = tf.get_variable('table', [50, 6], partitioner=tf.fixed_size_partitioner(2))
    words = tf.cast(features * 50, tf.int32)
    read = tf.reduce_mean(tf.nn.embedding_lookup(table, words, partition_strategy='div'), 1)
    net = tf.layers.dense(read, 8, tf.nn.tanh)
"""


@pytest.mark.one_in(6)
@pytest.mark.tf1
@pytest.mark.parametrize(
    ("right", "wrong", "verdict"),
    [
        ("", "", "passed"),
        ("Optimizer(0.01)", "Optimizer(0.02)", "failed"),
        ("minimize(loss,", "minimize(2 * loss,", "failed"),
        ("minimize(loss,", "minimize(loss, var_list=tf.trainable_variables()[1:],", "failed"),
    ],
    ids=["as it is", "twice the rate", "twice the loss", "one gradient less"],
)
def test_rows_of_a_table_in_slices(
    right: str, wrong: str, verdict: str, tensorflow_python: str, tmp_path: Path
) -> None:
    model = "\n    net = tf.layers.dense(features, 8, tf.nn.tanh)\n"
    assert ESTIMATOR.count(model) == 1
    script = ESTIMATOR.replace(model, WORDS)
    report = proof_of_text(script, tensorflow_python, tmp_path, change=(right, wrong))
    assert report.verdict == verdict, report


@pytest.mark.one_in(5)
@pytest.mark.tf1
@pytest.mark.parametrize(
    ("old", "new"),
    [
        (LOSS, f"tf.reduce_sum({EACH}) / 12"),
        (LOSS, f"tf.reduce_sum({EACH})"),
        (LOSS, f"tf.sqrt({LOSS})"),
        (LOSS, LOSS.replace("logits)", "logits, weights=tf.cast(features[:, 0] > 0.5, tf.float32))")),
        ("tf.layers.dense(features,", "tf.layers.dense(tf.layers.batch_normalization(features, training=True),"),
    ],
    ids=["a sum divided by the batch size", "a sum", "a root", "weighted examples", "batch norm"],
)
def test_the_reference_is_the_mean_of_the_gradients_of_the_batches(
    old: str, new: str, tensorflow_python: str, tmp_path: Path
) -> None:
    text = ESTIMATOR.replace(old, new)
    report = proof_of_text(text, tensorflow_python, tmp_path)
    assert report.verdict == "passed", report
    report = proof_of_text(text, tensorflow_python, tmp_path, change=("Optimizer(0.01)", "Optimizer(0.02)"))
    assert [check.name for check in report.checks if check.status == "failed"] == ["weights"], report


# an embedding, a batch norm, and a model that is made by its first call
LAYERS = {
    "embedding": ("inputs)", "tf.keras.layers.Flatten()(tf.keras.layers.Embedding(4, 2)(inputs)))"),
    "batch norm": ("net = tf.keras.layers.Dense(8, 'tanh')", "net = tf.keras.layers.BatchNormalization()"),
}
CALLED = """
import numpy as np
import tensorflow as tf


class Net(tf.keras.Model):
    def __init__(self):
        super(Net, self).__init__()
        self.one = tf.keras.layers.Dense(8, 'tanh')
        self.two = tf.keras.layers.Dense(4, 'softmax')

    def call(self, inputs):
        return self.two(self.one(inputs))


draws = np.random.RandomState(3)
data, want = draws.rand(300, 6).astype(np.float32), draws.randint(0, 4, 300)
model = Net()
model.compile(tf.keras.optimizers.SGD(0.01), 'sparse_categorical_crossentropy')
model.fit(data, want, batch_size=12, shuffle=False)
"""


@pytest.mark.one_in(7)
@pytest.mark.parametrize(
    "version", [pytest.param("1.15", marks=pytest.mark.tf1), pytest.param("2", marks=pytest.mark.tf2)]
)
@pytest.mark.parametrize("layer", list(LAYERS))
def test_layers_of_keras(layer: str, version: str, tensorflow_python: str, tmp_path: Path) -> None:
    text = KERAS.replace("Adam(0.01)", "SGD(0.01, momentum=0.9)").replace(*LAYERS[layer], 1)
    if layer == "embedding":
        text = text.replace("draws.rand(300, 6).astype(np.float32)", "draws.randint(0, 4, (300, 6))")
    report = proof_of_text(text, tensorflow_python, tmp_path)
    assert report.verdict == "passed", report
    report = proof_of_text(text, tensorflow_python, tmp_path, change=("SGD(0.01", "SGD(0.02"))
    assert "weights" in [check.name for check in report.checks if check.status == "failed"], report


@pytest.mark.matrix
@pytest.mark.tf2
def test_a_model_that_its_first_call_makes(tensorflow_python: str, tmp_path: Path) -> None:
    report = proof_of_text(CALLED, tensorflow_python, tmp_path)
    assert (report.verdict, len(report.variables)) == ("passed", 4), report
    report = proof_of_text(CALLED, tensorflow_python, tmp_path, change=("SGD(0.01)", "SGD(0.02)"))
    assert [check.name for check in report.checks if check.status == "failed"] == ["weights"], report


# its own way to train on one batch, which fit() does not go
ELSEWHERE = """
class Elsewhere(tf.keras.Model):
    def train_on_batch(self, x, y, **rest):
        self.set_weights([weight + 1 for weight in self.get_weights()])


model = Elsewhere("""


@pytest.mark.one_in(4)
@pytest.mark.tf1
@pytest.mark.parametrize("change", [("SGD(0.01)", "SGD(0.02)"), ("", "")], ids=["twice the rate", "as it is"])
def test_a_model_that_trains_otherwise_on_one_batch(
    change: tuple[str, str], tensorflow_python: str, tmp_path: Path
) -> None:
    """Runs of the original from other first weights take train_on_batch, where that does what fit() does."""
    text = KERAS.replace("Adam(0.01)", "SGD(0.01)").replace("model = tf.keras.Model(", ELSEWHERE.lstrip("\n"))
    report = proof_of_text(text, tensorflow_python, tmp_path, change=change)
    wanted = ["weights"] if any(change) else []
    assert [check.name for check in report.checks if check.status == "failed"] == wanted, report


ONCE = "minimize(loss,"
CLIPPED = "apply_gradients([(tf.clip_by_norm(g, 0.1), v) for g, v in optimizer.compute_gradients(loss)],"
SUMMED = LOSS.replace("logits)", "logits, reduction=tf.losses.Reduction.SUM)")
NOT_THE_MEAN = [("clipped", ONCE, CLIPPED), ("a sum", LOSS, SUMMED), ("a sum divided", LOSS, f"{SUMMED} / 12")]


@pytest.mark.one_in(5)
@pytest.mark.tf1
@pytest.mark.parametrize(("old", "new"), [case[1:] for case in NOT_THE_MEAN], ids=[case[0] for case in NOT_THE_MEAN])
def test_what_each_gpu_does_before_the_mean_fails(old: str, new: str, tensorflow_python: str, tmp_path: Path) -> None:
    text = ESTIMATOR.replace("AdamOptimizer", "GradientDescentOptimizer")
    (tmp_path / "single.py").write_text(text)
    made = convert(read(str(tmp_path / "single.py")), Options(num_gpus=2)).text
    assert made is not None and old in made
    (tmp_path / "single.py").write_text(text.replace(old, new))
    (tmp_path / "multi.py").write_text(made.replace(old, new))
    report = verify(tmp_path / "single.py", tmp_path / "multi.py", VerifySettings(python=tensorflow_python))
    assert [check.name for check in report.checks if check.status == "failed"] == ["weights"], report


@pytest.mark.tf1
def test_sums_of_tensorflow_are_the_script_s_with_the_total_batch(tensorflow_python: str, tmp_path: Path) -> None:
    report = proof_of_text(ESTIMATOR.replace(LOSS, SUMMED), tensorflow_python, tmp_path, "total")
    assert report.verdict == "passed", report


@pytest.mark.matrix
@pytest.mark.tf1
@pytest.mark.parametrize("text", [ESTIMATOR.replace(*SHIFT), KERAS], ids=["Estimator", "Keras"])
def test_a_gradient_of_rounding_alone_is_left_out(text: str, tensorflow_python: str, tmp_path: Path) -> None:
    for attempt in range(3):  # now and then all runs of the original round alike; another text is run anew
        report = proof_of_text(f"{text}# {attempt}\n", tensorflow_python, tmp_path, "total")
        assert report.verdict == "passed", report
        found = [entry for entry in report.ledger if (entry.fate, entry.what) == ("unchecked", "weights")]
        if found:
            break
    (left,) = found
    assert left.detail.startswith("left out where the original itself ends ")
    assert left.detail.count("dense_1" if "layers.dense" in text else "dense_2") == left.figure or left.figure > 3
    report = proof_of_text(text, tensorflow_python, tmp_path, "total", ("0.01", "0.012"))
    assert [check.name for check in report.checks if check.status == "failed"] == ["weights"], report


@pytest.mark.tf1
def test_an_estimator_runs_by_itself(tensorflow_python: str, tmp_path: Path, bare_runs: BareRuns) -> None:
    """To its end on a machine without GPUs, where both replicas are on the processor."""
    done = convert(read(str(FIXTURES / "estimator_dataset/single.py")), Options(num_gpus=2, fewer_gpus="allow"))
    assert done.text is not None
    (tmp_path / "multi.py").write_text(done.text)
    environment = {**os.environ, "TMPDIR": str(tmp_path), "CUDA_VISIBLE_DEVICES": ""}
    ran = bare_runs.run(tensorflow_python, ["multi.py"], tmp_path, environment)
    assert ran.returncode == 0, ran.stderr[-2000:]
    figures = ast.literal_eval(ran.stdout.strip().splitlines()[-1])
    assert figures["global_step"] == 69 and figures["accuracy"] > 0.7


COPIED = """\
import numpy as np
import tensorflow as tf
from keras.layers import Dense
from keras.models import Sequential

tf.set_random_seed(1)
model = Sequential([Dense(1, input_shape=(4,))])
model.compile('sgd', 'mse')
model.fit(np.ones((64, 4)), np.ones(64), batch_size=16)
"""


# Stands in front of a script: keras takes the CPU for GPUs, on which TensorFlow places what it does not find there.
ON_CPU = "import keras.utils.multi_gpu_utils as seen\nseen._get_available_devices = lambda: {devices}\n"
TRAINED = """\
import json
import numpy as np
import tensorflow as tf
from keras import backend as K
from keras.callbacks import LearningRateScheduler, ModelCheckpoint
from keras.layers import {layers}
from keras.models import Sequential, load_model

tf.set_random_seed(1)
x = np.random.RandomState(0).rand(49, 4)
y = x.sum(1)
model = Sequential([{built}])
model.compile('sgd', 'mse', metrics=['mae'])
batch_size = 8
calls = [ModelCheckpoint('{file}'), LearningRateScheduler(lambda epoch: 0.1 / (epoch + 1))]
model.fit(x, y, batch_size=batch_size, epochs={epochs}, shuffle=False, verbose=0, callbacks=calls)
saved = load_model('{file}')
print(json.dumps([[w.tolist() for w in model.get_weights()], [w.tolist() for w in saved.get_weights()],
                  len(saved.optimizer.weights), model.history.history['loss'], float(K.get_value(saved.optimizer.lr))]))
"""


def _trained(script: str, folder: Path, bare_runs: BareRuns, python: str, gpus: int) -> list[Any]:
    folder.mkdir()
    devices = [*(f"/gpu:{gpu}" for gpu in range(gpus)), "/cpu:0"]
    (folder / "train.py").write_text(ON_CPU.format(devices=devices) + script)
    ran = bare_runs.run(python, ["train.py"], folder, {**os.environ, "CUDA_VISIBLE_DEVICES": ""})
    assert ran.returncode == 0, ran.stderr[-2000:]
    found: list[Any] = json.loads(ran.stdout.strip().splitlines()[-1])
    return found


@pytest.mark.tf1
def test_copies_train_as_one_gpu_does_on_the_batch_of_all(
    tensorflow_python: str, tmp_path: Path, bare_runs: BareRuns
) -> None:
    built = "Dense(8, activation='tanh', input_shape=(4,), kernel_regularizer='l2'), Dense(1)"
    script = TRAINED.format(layers="Dense", built=built, file="model.h5", epochs=3)
    done = convert(from_bytes("train.py", script.encode()), Options(num_gpus=3))
    assert done.text is not None and "batch_size=batch_size * 3" in done.text
    whole = script.replace("batch_size = 8", "batch_size = 24")
    one = _trained(whole, tmp_path / "one", bare_runs, tensorflow_python, 1)
    copies = _trained(done.text, tmp_path / "copies", bare_runs, tensorflow_python, 3)
    for mine, other in zip(one[0] + one[1], copies[0] + copies[1], strict=True):
        np.testing.assert_allclose(other, mine, atol=1e-6)
    np.testing.assert_allclose(copies[3], one[3], rtol=1e-5)
    assert copies[2] == one[2] and copies[4] == one[4]


@pytest.mark.tf1
def test_averages_of_copies_move_once_by_the_last_of_them(
    tensorflow_python: str, tmp_path: Path, bare_runs: BareRuns
) -> None:
    built = "BatchNormalization(momentum=0.5, input_shape=(4,)), Dense(1)"
    script = TRAINED.format(layers="BatchNormalization, Dense", built=built, file="model.h5", epochs=1)
    done = convert(from_bytes("train.py", script.encode()), Options(num_gpus=3))
    assert done.text is not None
    weights = _trained(done.text, tmp_path / "copies", bare_runs, tensorflow_python, 3)[0]
    x = np.random.RandomState(0).rand(49, 4)
    mean = np.zeros(4)
    for rows in (x[16:24], x[40:48], x[48:]):  # the last copy's of each step; in the last one the others have none
        mean = 0.5 * mean + 0.5 * rows.mean(0)
    np.testing.assert_allclose(weights[2], mean, atol=1e-6)
    assert all(np.isfinite(one).all() for one in weights)


GAN = """\
import json
import numpy as np
import tensorflow as tf
from keras.layers import Dense, Input
from keras.models import Model, Sequential, load_model
from keras.optimizers import SGD

np.random.seed(3)


def train(data, noise, batch_size):
    net = Sequential([Dense(4, activation='tanh', input_shape=(3,))])
    judge = Sequential([Dense(5, activation='tanh', kernel_regularizer='l2', input_shape=(4,)), Dense(1)])
    judge.compile(SGD(0.1, momentum=0.9), 'mse', metrics=['mae'])
    judge.trainable = False
    given = Input((3,))
    both = Model(given, judge(net(given)))
    both.compile(SGD(0.1, momentum=0.9), 'mse')
    said = []
    for epoch in range(3):
        for at in range(0, len(data), batch_size):
            real, z = data[at:at + batch_size], noise[at:at + batch_size]
            judge.trainable = True
            said.append(judge.train_on_batch(real, 0 * real[:, :1] + 1))
            said.append(judge.train_on_batch(net.predict(z), 0 * z[:, :1]))
            judge.trainable = False
            said.append([both.train_on_batch(z, 0 * z[:, :1] + 1)] * 2)
    judge.save('judge.h5')
    return net, judge, said


rows = np.random.RandomState(0).rand(70, 7)
net, judge, said = train(rows[:, :4], rows[:, 4:], 8)
print(json.dumps([[w.tolist() for w in net.get_weights() + judge.get_weights()], np.array(said).tolist()]))
"""
RESUMED = """\
import json
import numpy as np
from keras.layers import Dense
from keras.models import Sequential, load_model
from keras.optimizers import SGD

np.random.seed(3)
x = np.random.rand(48, 4)
first = Sequential([Dense(5, activation='tanh', input_shape=(4,)), Dense(1)])
first.compile(SGD(0.1, momentum=0.9), 'mse')
first.fit(x, x[:, 0], batch_size=8, epochs=2, shuffle=False, verbose=0)
first.save('first.h5')


def resumed(again):
    if again:
        model = load_model('first.h5')
    else:
        model = Sequential([Dense(1)])
        model.compile(SGD(0.1, momentum=0.9), 'mse')
    model.fit(x, x[:, 0], batch_size=8, epochs=2, shuffle=False, verbose=0)
    return model


model = resumed(True)
print(json.dumps([w.tolist() for w in model.get_weights() + model.optimizer.get_weights()[1:]]))
"""


@pytest.mark.tf1
def test_two_models_with_common_layers_train_as_on_one_gpu(
    tensorflow_python: str, tmp_path: Path, bare_runs: BareRuns
) -> None:
    done = convert(from_bytes("train.py", GAN.encode()), Options(num_gpus=3))
    assert done.text is not None and "    batch_size = batch_size * 3\n" in done.text
    one = _trained(GAN.replace(", 8)", ", 24)"), tmp_path / "one", bare_runs, tensorflow_python, 1)
    copies = _trained(done.text, tmp_path / "copies", bare_runs, tensorflow_python, 3)
    for mine, other in zip(one[0], copies[0], strict=True):
        np.testing.assert_allclose(other, mine, atol=2e-6)
    np.testing.assert_allclose(copies[1], one[1], atol=2e-6)


@pytest.mark.tf1
def test_copies_go_on_with_the_optimizer_that_was_read(
    tensorflow_python: str, tmp_path: Path, bare_runs: BareRuns
) -> None:
    done = convert(from_bytes("train.py", RESUMED.encode()), Options(num_gpus=2))
    assert done.text is not None, done.diagnostics
    whole = RESUMED.replace("batch_size=8", "batch_size=16")
    one = _trained(whole, tmp_path / "one", bare_runs, tensorflow_python, 1)
    copies = _trained(done.text, tmp_path / "copies", bare_runs, tensorflow_python, 2)
    for mine, other in zip(one, copies, strict=True):
        np.testing.assert_allclose(other, mine, atol=2e-6)


@pytest.mark.tf1
def test_copies_of_the_package_keras_are_not_comparable(tensorflow_python: str, tmp_path: Path) -> None:
    single, multi = tmp_path / "single.py", tmp_path / "multi.py"
    single.write_text(COPIED)
    conversion = convert(read(str(single)), Options())
    assert conversion.text is not None and "train_on_copies(model, gpus=2)" in conversion.text
    multi.write_text(conversion.text)
    report = verify(single, multi, VerifySettings(python=tensorflow_python, timeout=120))
    assert report.verdict == "not comparable" and "no proof of multi_gpu_model" in report.reason
