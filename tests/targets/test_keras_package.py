"""The package `keras` under every target: `multi_gpu_model`, or one refusal, whose edit makes one that converts."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from converter.cli.app import main
from converter.conversion import Conversion, convert
from converter.source import from_bytes
from converter.source.header import from_flags

TARGETS = ("auto", "towers", "mirrored", "ddp")
DATA = "import numpy as np\nx, y = np.zeros([64, 4]), np.zeros([64])\n"
FIT = """\
model.compile('sgd', 'sparse_categorical_crossentropy')
model.fit(x, y, batch_size=32)
"""
# Imports, and what is built with their names.
FORMS = [
    (
        "from {keras}.models import Sequential\nfrom {keras}.layers import Dense, Activation as Act",
        "Sequential([Dense(3, input_shape=(4,)), Act('softmax')])",
    ),
    ("from {keras} import layers, models", "models.Sequential([layers.Dense(3, input_shape=(4,))])"),
    (
        "from {keras}.models import Sequential\nimport {keras}.backend as K\nfrom {keras}.layers import Dense",
        "Sequential([Dense(3, input_shape=(4,))])",
    ),
    ("from {keras}.models import Sequential\nimport {keras}.layers as L", "Sequential([L.Dense(3, input_shape=(4,))])"),
]
OF_PACKAGE = [
    ("import keras", "keras.Sequential([keras.layers.Dense(3, input_shape=(4,))])"),
    ("import keras as k", "k.Sequential([k.layers.Dense(3, input_shape=(4,))])"),
    ("import keras.models", "keras.models.Sequential([keras.layers.Dense(3, input_shape=(4,))])"),
    (
        "from keras.engine.training import Model\nfrom keras.layers.core import Dense, Input\nI = Input((4,))",
        "Model(I, Dense(3)(I))",
    ),
]


def conversion(script: str, target: str = "auto") -> Conversion:
    """The conversion of a script that names TensorFlow; others are passed over."""
    return convert(from_bytes("train.py", script.encode()), from_flags(["--target", target]))


def script_of(imports: str, built: str) -> str:
    return f"import tensorflow as tf\n{imports}\n{DATA}model = {built}\n{FIT}"


def by_hand(script: str) -> str:
    """The script in a shape that `multi_gpu_model` is not written for: it makes something for one size of batch."""
    return script.replace(FIT, f"shape = dict(batch_shape=(32, 4))\n{FIT}")


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("imports", "built"), [(i.format(keras="keras"), b) for i, b in FORMS] + OF_PACKAGE)
def test_the_edit_that_is_told(imports: str, built: str, target: str) -> None:
    (found,) = conversion(by_hand(script_of(imports, built)), target).diagnostics
    assert (found.code, found.line) == ("TMG220", 2)
    assert "the package keras" in found.message
    edit = re.match(r"import the same from tf.keras, in lines? [\d, ]+: (.*); --target mirrored conv", found.hint)
    assert edit is not None, found.hint
    edited = edit[1].replace("; ", "\n")
    assert edited.count("\n") + 1 == sum("import" in line for line in imports.splitlines())
    rest = [line for line in imports.splitlines() if "import" not in line]
    made = conversion(by_hand(script_of("\n".join([edited, *rest]), built)), "mirrored")
    assert made.status == "converted", made.diagnostics


@pytest.mark.parametrize(
    "keras",
    ["tensorflow.keras", "tensorflow.python.keras", "tensorflow.compat.v1.keras", "tensorflow.contrib.keras.api.keras"],
)
@pytest.mark.parametrize(("imports", "built"), FORMS)
def test_the_keras_of_tensorflow(imports: str, built: str, keras: str) -> None:
    """TensorFlow 1.15.5: the classes of all these modules are the same objects."""
    script = script_of(imports.format(keras=keras), built)
    assert conversion(script, "mirrored").status == conversion(script).status == "converted"
    (found,) = conversion(script, "towers").diagnostics
    assert found.code == "TMG220" and "this script trains by tf.keras." in found.message


def test_names_by_star() -> None:
    imports = "from tensorflow.keras.models import *\nfrom tensorflow.keras.layers import *"
    (found,) = conversion(script_of(imports, "Sequential([Dense(3, input_shape=(4,))])"), "mirrored").diagnostics
    assert (found.code, found.line) == ("TMG289", 2)
    assert "from tensorflow.keras.models import …" in found.hint


@pytest.mark.parametrize(
    ("layers", "why"),
    [
        ("Dense(3, input_shape=(4,))", ""),
        ("Lambda(lambda v: v - sum(v), input_shape=(4,))", "all examples of a batch at once"),
        ("LSTM(3, stateful=True)", "a stateful layer"),
    ],
)
def test_names_of_the_package_by_star(layers: str, why: str) -> None:
    """What is copied is the model that the script makes: it matters only which layers keep it from that."""
    imports = "from keras.models import *\nfrom keras.layers import *"
    done = conversion(script_of(imports, f"Sequential([{layers}])"), "mirrored")
    assert [found.code for found in done.diagnostics] == ["TMG220"] * bool(why)
    assert all(why in found.message for found in done.diagnostics)


def test_several_gpus_already() -> None:
    imports = "from keras.models import Sequential\nfrom keras.utils import multi_gpu_model"
    (found,) = conversion(script_of(imports, "multi_gpu_model(Sequential(), gpus=2)")).diagnostics
    assert (found.code, found.line) == ("TMG216", 6)


def test_an_import_that_is_not_called_spreads_nothing() -> None:
    imports = "from keras.models import Sequential\nfrom keras.utils import multi_gpu_model"
    done = conversion(script_of(imports, "Sequential()"))
    assert done.text is not None and "\ntrain_on_copies(model, gpus=2)\nmodel.fit(" in done.text


def test_layers_of_the_package_in_a_session() -> None:
    """A script that minimises in a session of its own is converted, whatever library its layers come from."""
    script = """\
import tensorflow as tf
from keras.layers import Dense

batch_size = 32
x = tf.placeholder(tf.float32, [None, 4])
loss = tf.reduce_mean(Dense(3)(x))
train_op = tf.train.AdamOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for batch in batches(batch_size):
        sess.run(train_op, {x: batch})
"""
    assert conversion(script).status == "converted"


@pytest.mark.parametrize("target", TARGETS)
def test_a_named_file_without_tensorflow(target: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    imports = "from keras.models import Sequential\nfrom keras.layers import Dense\n"
    script = imports + DATA + f"model = Sequential([Dense(3, input_shape=(4,))])\n{FIT}"
    (tmp_path / "train.py").write_text(by_hand(script))
    assert main(["convert", str(tmp_path / "train.py"), "--target", target]) == 2
    shown = capsys.readouterr().err
    assert "train.py:1:1: TMG220 this script trains by the package keras" in shown
    assert "in lines 1, 2: from tensorflow.keras.models import Sequential;" in shown


OF_KERAS_1 = [
    ("Sequential([Dense(output_dim=3, input_dim=4)])", "", "line 6: output_dim is units"),
    ("Sequential([Dense(3, init='uniform', input_dim=4)])", "", "line 6: init is kernel_initializer"),
    ("Sequential([Convolution2D(8, 3, 5)])", "", "line 6: rows and columns are one argument, (3, 5); the third is"),
    ("Sequential([Dense(3, input_dim=4)])", ", nb_epoch=2", "line 8: nb_epoch is epochs"),
    ("Model(input=I, output=Dense(3)(I))", "", "line 6: input and output are inputs and outputs"),
    ("Model(I, merge([I, I], mode='sum'))", "", "line 6: merge is add, multiply, concatenate or dot"),
]
IMPORTS_1 = "from keras.models import Sequential, Model\nfrom keras.layers import Dense, Convolution2D, Input, merge"


@pytest.mark.parametrize(("built", "fit", "told"), OF_KERAS_1)
def test_what_is_written_for_keras_1_is_named(built: str, fit: str, told: str) -> None:
    gone = "merge([I, I], mode='sum')\n"  # which keras 2 has no more
    (found,) = conversion(script_of(IMPORTS_1, built).replace("=32)", f"=32{fit})") + gone).diagnostics
    assert found.code == "TMG220" and "written for Keras 1" in found.message
    assert told in found.hint
    assert "Input;" in found.hint and "multi_gpu_model" not in found.hint


@pytest.mark.parametrize(("built", "fit", "told"), OF_KERAS_1)
def test_what_keras_2_takes_of_keras_1_is_copied(built: str, fit: str, told: str) -> None:
    """keras/legacy/interfaces.py of 2.2.4 and 2.3.1: other names of arguments are taken, merge() is not there."""
    done = conversion(script_of(IMPORTS_1, built).replace("=32)", f"=32{fit})"))
    assert (done.text is None) == ("merge" in told)


@pytest.mark.parametrize(("old", "taken"), [("samples_per_epoch", False), ("steps_per_epoch", True)])
def test_numbers_of_examples_that_keras_2_takes_for_batches(old: str, taken: bool) -> None:
    """keras/legacy/interfaces.py: samples_per_epoch becomes steps_per_epoch, as it is for most generators."""
    script = script_of(IMPORTS_1, "Sequential([Dense(3, input_dim=4)])")
    flow = f"model.fit_generator(ImageDataGenerator().flow(x, y, batch_size=32), {old}=9)"
    assert (conversion(script.replace("model.fit(x, y, batch_size=32)", flow)).text is not None) == taken


@pytest.mark.parametrize(("imports", "built"), [(i.format(keras="keras"), b) for i, b in FORMS] + OF_PACKAGE)
def test_workers_train_by_the_package(imports: str, built: str) -> None:
    done = conversion(script_of(imports, built), "cluster")
    assert done.text is not None, done.diagnostics
    assert "batch_size=32 * cluster.size" in done.text and "eager=False)" in done.text


@pytest.mark.parametrize(("built", "fit", "told"), OF_KERAS_1)
def test_workers_do_not_train_by_keras_1(built: str, fit: str, told: str) -> None:
    (found,) = conversion(script_of(IMPORTS_1, built).replace("=32)", f"=32{fit})"), "cluster").diagnostics
    assert found.code == "TMG220" and told in found.hint


@pytest.mark.parametrize(
    "built",
    [
        "Sequential([Embedding(5, output_dim=3), Dense(3)])",
        "Sequential([Embedding(input_dim=5, output_dim=3)])",
        "Sequential([Conv2D(8, 3, strides=2)])",
        "Sequential([Conv2D(8, (3, 3), (2, 2))])",
        "Model(inputs=I, outputs=Dense(3)(I))",
    ],
)
def test_keras_2_is_not_taken_for_keras_1(built: str) -> None:
    imports = "from keras.models import Sequential, Model\nfrom keras.layers import Dense, Embedding, Conv2D, Input"
    assert conversion(script_of(imports, built)).status == "converted"
    (found,) = conversion(script_of(imports, built), "towers").diagnostics
    assert found.code == "TMG220" and "Keras 1" not in found.message
    assert found.hint.endswith("leave --target towers out: with keras up to 2.3 its multi_gpu_model takes the script")
