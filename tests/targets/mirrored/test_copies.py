"""Scripts that the package `keras` trains: what `multi_gpu_model` is written for, and what stays refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from converter.conversion import Conversion, convert
from converter.source import from_bytes, read
from converter.source.header import from_flags

SCRIPT = """\
import numpy as np
from keras import backend as K
from keras.callbacks import Callback, ModelCheckpoint
from keras.layers import BatchNormalization, Dense, Lambda
from keras.models import Sequential

batch_size = 32
x, y = np.load('x.npy'), np.load('y.npy')
model = Sequential([Dense(8, input_shape=(4,)), Dense(1)])
model.summary()
model.compile('sgd', 'mse')
best = ModelCheckpoint('best.h5', save_best_only=True)
model.fit(x, y, batch_size=batch_size, epochs=3, callbacks=[best])
model.save('model.h5')
print(model.evaluate(x, y), model.predict(x[:1]), model.optimizer)
"""
FIT = "model.fit(x, y, batch_size=batch_size, epochs=3, callbacks=[best])"


def changed(*edits: tuple[str, str], flags: str = "") -> Conversion:
    text = SCRIPT
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    return convert(from_bytes("train.py", text.encode()), from_flags(flags.split()))


def lines(done: Conversion) -> list[str]:
    assert done.text is not None, done.diagnostics
    return done.text.splitlines()


def added(done: Conversion) -> list[str]:
    """The lines that are new, but for the helper."""
    helper = set(Path("converter/runtime/copies.py").read_text().splitlines())
    before = SCRIPT.splitlines()
    return [line for line in lines(done) if line not in before and line not in helper and not line.startswith("#")]


def test_the_copies_are_trained_and_the_model_is_saved() -> None:
    done = changed(flags="--num-gpus 3")
    assert done.diagnostics == () and added(done) == [
        "train_on_copies(model, gpus=3)",
        "model.fit(x, y, batch_size=batch_size * 3, epochs=3, callbacks=[best])",
    ]
    assert convert(from_bytes("train.py", (done.text or "").encode()), from_flags([])).status == "unchanged"


GENERATED = FIT.replace("fit(x, y, batch_size=batch_size, epochs=3", "fit_generator({made}, {steps}")
FLOW = "ImageDataGenerator().flow(x, y, batch_size={size})"


@pytest.mark.parametrize(
    ("edits", "flags", "expected"),
    [
        ([(", batch_size=batch_size", "")], "", "model.fit(x, y, epochs=3, callbacks=[best], batch_size=32 * 2)"),
        ([], "--batch total", ""),
        ([(FIT, GENERATED.format(made=FLOW.format(size="batch_size"), steps="len(x) // batch_size"))], "",
         GENERATED.format(made=FLOW.format(size="batch_size * 2"), steps="len(x) // (batch_size * 2)")),
        ([(FIT, GENERATED.format(made=FLOW.format(size=8), steps="len(x) // 8"))], "",
         GENERATED.format(made=FLOW.format(size="8 * 2"), steps="len(x) // (8 * 2)")),
        ([(FIT, GENERATED.format(made="ImageDataGenerator().flow(x, y)", steps="len(x) // 32"))], "",
         GENERATED.format(made="ImageDataGenerator().flow(x, y, batch_size=32 * 2)", steps="len(x) // (32 * 2)")),
        ([("model.summary()", "def rows(data, batch_size):\n    yield data\n"),
          (FIT, GENERATED.format(made="rows(x, 16)", steps="300"))], "",
         GENERATED.format(made="rows(x, 16 * 2)", steps="300")),
        ([("model.summary()", "class Rows(Sequence):\n    def __init__(self, data, batch_size):\n        pass\n"),
          (FIT, "made = Rows(x, batch_size)\n" + GENERATED.format(made="made", steps="len(x) // made.batch_size"))], "",
         "made = Rows(x, batch_size * 2)\ntrain_on_copies(model, gpus=2)\n"
         + GENERATED.format(made="made", steps="len(x) // made.batch_size")),
        ([("model.summary()", "class Own(Callback):\n    def on_epoch_end(self, epoch, logs):\n"
           "        self.model.save('own.h5')")], "", FIT.replace("=batch_size", "=batch_size * 2")),
        ([(FIT, f"def train():\n    {FIT}\n\n\ntrain()")], "", FIT.replace("=batch_size", "=batch_size * 2")),
    ],
)  # fmt: skip
def test_batches_grow_where_their_size_is_seen(edits: list[tuple[str, str]], flags: str, expected: str) -> None:
    done = changed(*edits, flags=flags)
    assert not done.diagnostics and "train_on_copies(model, gpus=2)" in (done.text or "")
    text = "".join("".join(lines(done)).split())
    assert "".join((expected or FIT).split()) in text


@pytest.mark.parametrize("trained", ["model.fit_generator(batches(), 10)", "model.train_on_batch(x[:32], y[:32])"])
def test_batches_whose_size_is_not_seen_are_shared(trained: str) -> None:
    done = changed((FIT, trained))
    assert [found.code for found in done.diagnostics] == ["TMG303"] and trained in lines(done)
    assert changed((FIT, trained), flags="--batch total").diagnostics == ()


def test_one_line_serves_trainings_of_a_model_that_is_compiled_again() -> None:
    again = "for layer in model.layers:\n    layer.trainable = True\nmodel.compile('adam', 'mse')\n"
    text = "\n".join(lines(changed((FIT, f"{FIT}\n{again}{FIT}"))))
    assert text.count("\ntrain_on_copies(model, gpus=2)") == 1


@pytest.mark.parametrize(
    ("training", "expected"),
    [
        (f"if len(x) > 9:\n    {FIT}\nelse:\n    {FIT}", ["    train_on_copies(model, gpus=2)"] * 2),
        (f"if len(x) > 9:\n    {FIT}\n{FIT}", ["    train_on_copies(model, gpus=2)", "train_on_copies(model, gpus=2)"]),
        (f"for epoch in range(3):\n    {FIT}\n{FIT}", ["train_on_copies(model, gpus=2)"]),
        (f"for fold in range(3):\n    model = Sequential([Dense(1)])\n    model.compile('sgd', 'mse')\n    {FIT}",
         ["    train_on_copies(model, gpus=2)"]),
        (f"{FIT}\nmodel = Sequential([Dense(1)])\nmodel.compile('sgd', 'mse')\n{FIT}",
         ["train_on_copies(model, gpus=2)"] * 2),
    ],
)  # fmt: skip
def test_the_line_stands_where_each_run_of_the_training_comes_from(training: str, expected: list[str]) -> None:
    done = changed((FIT, training))
    assert [line for line in lines(done) if line.strip().startswith("train_on_copies(")] == expected


def test_a_model_that_a_function_compiles_and_returns() -> None:
    made = "def made():\n    net = Sequential([Dense(1)])\n    net.compile('sgd', 'mse')\n    return net\n\n\n"
    made += "model = made()"
    script = SCRIPT.replace("model = Sequential([Dense(8, input_shape=(4,)), Dense(1)])", made)
    done = convert(from_bytes("train.py", script.replace("model.compile('sgd', 'mse')\n", "").encode()), from_flags([]))
    assert "train_on_copies(model, gpus=2)" in lines(done)


NET = """\
from keras.layers import *
from keras.models import *


def net(width):
    model = Sequential([Dense(width, input_shape=(4,)), Dense(1)])
    model.compile('sgd', 'mse')
    return model


def unused():
    return Sequential([LSTM(8, stateful=True)])
"""
ROWS = """\
import numpy as np


def batches(batch_size, steps):
    x = np.load('x.npy')
    while True:
        for step in range(len(x) // batch_size):
            yield x[:batch_size], x[:batch_size, 0]
"""
MAIN = """\
from rows import *
from net import *

model = net(8)
given = batches(16, 3)
model.fit_generator(given, steps_per_epoch=300, epochs=2)
"""
TRAINER = """\
class Trainer:
    def __init__(self, model, rows):
        self.model = model
        self.rows = rows

    def run(self, size):
        self.model.fit_generator(self.rows(size, 3), 10)
"""


def project(folder: Path, several: bool = True, **files: str) -> Conversion:
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    return convert(read(str(folder / "main.py")), from_flags([]), several)


def test_a_model_that_another_file_compiles(tmp_path: Path) -> None:
    done = project(tmp_path, False, net=NET, rows=ROWS, main=MAIN)
    assert done.diagnostics == () and done.parts == ()
    wanted = ["given = batches(16 * 2, 3)", "train_on_copies(model, gpus=2)", MAIN.splitlines()[-1]]
    assert lines(done)[-3:] == wanted


@pytest.mark.parametrize(
    ("more", "converted"),
    [
        ("import tensorflow as tf\ntf.set_random_seed(1)\n", True),
        ("import tensorflow as tf\nloss = tf.reduce_mean(tf.placeholder(tf.float32, [None]))\n"
         "tf.train.AdamOptimizer().minimize(loss)\n", False),
        ("import tensorflow as tf\nwith tf.Session() as sess:\n    sess.run(tf.constant(1))\n", False),
    ],
)  # fmt: skip
def test_a_script_that_only_its_imports_train_by_the_package(more: str, converted: bool, tmp_path: Path) -> None:
    done = project(tmp_path, net=NET, rows=ROWS, main=MAIN.replace("\nmodel", f"{more}\nmodel", 1))
    assert ("train_on_copies(" in (done.text or "")) == converted


def test_a_training_in_another_file(tmp_path: Path) -> None:
    main = "from net import net\nimport rows\nfrom trainer import Trainer\n\nTrainer(net(8), rows.batches).run(16)\n"
    trainer = TRAINER.replace("self.rows(size, 3)", "batches(batch_size=size, steps=3)")
    trainer = "from rows import batches\n\n\n" + trainer.replace("self.model = model", "self.model = model\n")
    net = NET.replace("    return model\n", "    return model\n\n\n", 1)
    done = project(tmp_path, net=net, rows=ROWS, main=main, trainer=trainer)
    assert done.text is not None, done.diagnostics
    (part,) = done.parts
    assert part.path.endswith("trainer.py") and "        train_on_copies(self.model, gpus=2)\n" in part.text
    assert "batches(batch_size=size * 2, steps=3)" in part.text
    (found,) = project(tmp_path, False).diagnostics
    assert found.code == "TMG221" and "trainer.py must change with the script" in found.message


BASE = """\
class Base:
    def __init__(self, model, size):
        self.model = model
        self.size = size
"""
DERIVED = """\
from base import Base


class Trainer(Base):
    def __init__(self, model, size):
        super(Trainer, self).__init__(model, size)

    def run(self, x):
        self.model.fit(x, x, batch_size=self.size)
"""
BUILDER = """\
from keras.layers import Dense
from keras.models import Sequential


class Builder:
    def __init__(self):
        self.model = self.built()

    def built(self):
        made = Sequential([Dense(4, input_shape=(4,))])
        made.compile('sgd', 'mse')
        return made
"""


def test_a_model_that_objects_of_the_program_hand_on(tmp_path: Path) -> None:
    main = "import numpy as np\nfrom builder import Builder\nfrom derived import Trainer\n\nnet = Builder()\n"
    main += "Trainer(net.model, 8).run(np.load('x.npy'))\n"
    done = project(tmp_path, base=BASE, derived=DERIVED, builder=BUILDER, main=main)
    assert done.text is not None, done.diagnostics
    (part,) = done.parts
    assert "        train_on_copies(self.model, gpus=2)\n" in part.text
    assert "self.model.fit(x, x, batch_size=self.size * 2)\n" in part.text
    other = main.replace("Trainer(net.model", "Trainer(np.linalg")
    assert project(tmp_path, base=BASE, derived=DERIVED, builder=BUILDER, main=other).text is None


def test_a_layer_that_running_code_makes_in_another_file_is_seen(tmp_path: Path) -> None:
    done = project(tmp_path, net=NET, rows=ROWS, main=MAIN.replace("net(8)", "net(8)\nunused()"))
    assert [found.code for found in done.diagnostics] == ["TMG220"]
    assert "a stateful layer" in done.diagnostics[0].message


def test_a_fit_of_another_object_is_no_training(tmp_path: Path) -> None:
    main = "import numpy as np\nfrom scale import Scaler\n\nmodel = Scaler()\nmodel.fit(np.load('x.npy'))\n"
    scale = NET + "\n\nclass Scaler:\n    def fit(self, x):\n        return net(1)\n"
    assert project(tmp_path, scale=scale, main=main).text is None


GAN = """\
import numpy as np
from keras.layers import BatchNormalization, Dense, Input, Lambda
from keras.models import Model, Sequential


def made():
    return Sequential([Dense(4, input_shape=(3,)), BatchNormalization()])


def judge():
    return Sequential([Dense(1, input_shape=(4,))])


def train(data, batch_size=32):
    made_by, judged_by = made(), judge()
    judged_by.compile('sgd', 'mse')
    judged_by.trainable = False
    noise = Input((3,))
    both = Model(noise, judged_by(made_by(noise)))
    both.compile('sgd', 'mse')
    ones = np.ones((batch_size, 1))
    for step in range(len(data) // batch_size):
        real = data[step * batch_size:(step + 1) * batch_size]
        z = np.random.normal(0, 1, (batch_size, 3))
        judged_by.train_on_batch(real, ones)
        judged_by.train_on_batch(made_by.predict(z), 0 * ones)
        both.train_on_batch(z, ones)


train(np.random.rand(64, 4))
"""
JOINED = (
    "judged_by.train_on_batch(real, ones)",
    "judged_by.train_on_batch(np.concatenate((real, made_by.predict(z))), np.concatenate((ones, -ones)))",
)


def gan(*edits: tuple[str, str], flags: str = "") -> Conversion:
    text = GAN
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    return convert(from_bytes("gan.py", text.encode()), from_flags(flags.split()))


@pytest.mark.parametrize(
    "edits",
    [
        [],
        [("data[step * batch_size:(step + 1) * batch_size]", "data[np.random.randint(0, len(data), batch_size)]")],
        [("data[step * batch_size:(step + 1) * batch_size]", "data[step:step + batch_size]")],
        [("np.ones((batch_size, 1))", "np.ones(batch_size) - 0.2 * np.random.rand(batch_size)")],
        [("    ones = np", "    half = batch_size // 2\n    ones = np"), ("(batch_size, 3)", "(half, 3)")],
        [JOINED],
    ],
)
def test_batches_that_a_loop_makes_grow_with_their_number(edits: list[tuple[str, str]]) -> None:
    done = gan(*edits)
    assert [found.code for found in done.diagnostics] == ["TMG381"]
    text = "\n".join(lines(done))
    assert "def train(data, batch_size=32):\n    batch_size = batch_size * 2\n" in text
    first = "    train_on_copies(judged_by, gpus=2)\n    train_on_copies(both, gpus=2)\n    for step in "
    assert first in text and "range(len(data) // batch_size)" in text


@pytest.mark.parametrize(
    "edits",
    [
        [("data[step * batch_size:(step + 1) * batch_size]", "data[step * batch_size:][:16]")],
        [("(batch_size, 3)", "(32, 3)")],
        [("made_by.predict(z)", "made_by.predict(data)")],
        [("both.train_on_batch(z", "both.train_on_batch(next(drawn)")],
        [("    ones = np", "    batch_size += 1\n    ones = np")],
        [JOINED, ("    return Sequential([Dense(1, input_shape=(4,))", "    return Sequential([BatchNormalization()")],
        [("made(), judge()", "made(), judge(batch_size)"), ("def judge():", "def judge(rows):")],
    ],
)
def test_batches_of_which_the_number_is_not_sure_stay_as_they_are(edits: list[tuple[str, str]]) -> None:
    (found,) = gan(*edits).diagnostics
    assert found.code == "TMG220" and "would have the statistics of a part of them" in found.message
    shared = gan(*edits, flags="--batch total")
    assert shared.text is not None and "batch_size * 2" not in shared.text


@pytest.mark.parametrize(
    ("edits", "why"),
    [
        ([("both.compile('sgd', 'mse')", "code = Dense(3)(noise)\n    both.compile('sgd', lambda y, p: p - code)")],
         "a loss reads code, a tensor of the model"),
        ([("both.compile('sgd', 'mse')", "both.compile('sgd', lambda y, p: K.gradients(p, y)[0])"),
          ("import numpy", "from keras import backend as K\nimport numpy")], "a loss takes gradients"),
        ([("both.compile('sgd', 'mse')", "both.compile('sgd', lambda y, p: (y - p) / batch_size)")],
         "a loss computes with batch_size"),
        ([("import numpy", "from keras import backend as K\nimport numpy"),
          ("    ones = np", "    K.set_learning_phase(0)\n    K.set_learning_phase(1)\n    ones = np")],
         "the learning phase is set at several places"),
    ],
)  # fmt: skip
def test_losses_and_phases_that_copies_would_take_otherwise(edits: list[tuple[str, str]], why: str) -> None:
    (found,) = gan(*edits).diagnostics
    assert found.code == "TMG220" and why in found.message


LOSSES = """\
from keras import backend as K


def added(y, p):
    return 0.5 * K.sum(K.square(y - p)) / 8


def ratio(y, p):
    return 1 - K.sum(y * p) / K.sum(y + p)


def made():
    def inner(y, p):
        total = K.sum(y - p)
        return total / 2
    return inner
"""


@pytest.mark.parametrize(("loss", "adds"), [("added", True), ("made()", True), ("ratio", False)])
def test_a_loss_of_another_file_that_adds_up_is_refused(loss: str, adds: bool, tmp_path: Path) -> None:
    """A ratio of sums is computed of all rows once, as on one GPU with as many."""
    net = "from losses import added, made, ratio\n" + NET.replace("'mse'", loss)
    done = project(tmp_path, losses=LOSSES, net=net, rows=ROWS, main=MAIN)
    assert [found.code for found in done.diagnostics] == ["TMG288"] * adds


def test_what_counts_in_a_generator_has_its_size() -> None:
    made = "def rows(data, batch_size):\n    for at in range(len(data) // batch_size):\n        yield data\n"
    done = changed(("model.summary()", made), (FIT, GENERATED.format(made="rows(x, 16)", steps="300")))
    assert "    for at in range(len(data) // batch_size):" in lines(done)


def test_a_model_that_is_read_again_where_another_is_made() -> None:
    resumed = "if x.any():\n    model = load_model('model.h5')\nelse:\n    model = Sequential("
    load = ("from keras.models", "from keras.models import load_model\nfrom keras.models")
    assert "train_on_copies(model, gpus=2)" in lines(changed(load, ("model = Sequential(", resumed)))


@pytest.mark.parametrize(
    ("made", "codes"),
    [("resnet50.ResNet50()", ["TMG381"]), ("vgg16.VGG16()", []), ("resnet50.preprocess_input(x)", [])],
)
def test_ready_made_models_with_batch_normalisation(made: str, codes: list[str]) -> None:
    done = changed(("model.summary()", f"from keras.applications import resnet50, vgg16\n{made}"))
    assert [found.code for found in done.diagnostics] == codes


def test_batch_normalisation_follows_the_last_copy_and_is_told() -> None:
    norm = ("Dense(1)]", "BatchNormalization(), Dense(1)]")
    assert [found.code for found in changed(norm).diagnostics] == ["TMG381"]
    shared = changed(norm, (FIT, "model.train_on_batch(x, y)"))
    assert shared.text is None and "a part of them" in shared.diagnostics[0].message
    assert changed(norm, (FIT, "model.train_on_batch(x, y)"), flags="--batch total").text is not None


@pytest.mark.parametrize(
    ("edits", "why"),
    [
        ([("Dense(8, ", "Dense(8, activity_regularizer='l2', ")], "its loss of what a layer gives"),
        ([("model.summary()", "model.add_loss(K.mean(x))")], "its loss of what a layer gives"),
        ([("Dense(8, input_shape=(4,))", "Dense(8, batch_input_shape=(32, 4))")], "for one size of batch"),
        ([("Dense(8, ", "LSTM(8, stateful=True, ")], "a stateful layer"),
        ([("Sequential([Dense(8, input_shape=(4,)), Dense(1)])", "made()")], "not seen how made makes the model"),
        ([("from keras.models", "from nets import made\nfrom keras.models"),
          ("Sequential([Dense(8, input_shape=(4,)), Dense(1)])", "made()")], "not seen how made makes the model"),
        ([("from keras.models", "from keras.models import load_model\nfrom keras.models"),
          ("Sequential([Dense(8, input_shape=(4,)), Dense(1)])", "load_model()")], "not seen how load_model makes"),
        ([("'mse')", "'mse', target_tensors=[y])")], "the tensors of its targets"),
        ([("Dense(1)]", "Lambda(lambda v: v - K.mean(v)), Dense(1)]")], "with all examples of a batch at once"),
        ([("Dense(1)]", "Lambda(lambda v: K.max(v, axis=0)), Dense(1)]")], "with all examples of a batch at once"),
    ],
)  # fmt: skip
def test_what_is_not_copied_is_refused_with_the_reason(edits: list[tuple[str, str]], why: str) -> None:
    done = changed(*edits)
    (found,) = done.diagnostics
    assert done.text is None and found.code == "TMG220" and why in found.message


@pytest.mark.parametrize(
    ("edits", "flags", "code"),
    [
        ([("'mse'", "lambda y, p: K.sum(y - p)")], "", "TMG288"),
        ([], "--num-gpus auto", "TMG287"),
        ([], "--fewer-gpus allow", "TMG287"),
    ],
)
def test_what_copies_would_change_is_refused(edits: list[tuple[str, str]], flags: str, code: str) -> None:
    done = changed(*edits, flags=flags)
    assert done.text is None and [found.code for found in done.diagnostics] == [code]


@pytest.mark.parametrize(
    "edits",
    [
        [("Dense(8, ", "LSTM(8, stateful=False, ")],
        [("Dense(1)]", "Lambda(lambda v: v - K.mean(v, axis=1, keepdims=True)), Dense(1)]")],
        [("Sequential([Dense(8, input_shape=(4,)), Dense(1)])", "made()"),
         ("batch_size = 32", "batch_size = 32\n\n\ndef made():\n    return Sequential([Dense(1, input_shape=(4,))])")],
        [("model.summary()", "from tensorflow import Session\nK.set_session(Session())")],
    ],
)  # fmt: skip
def test_near_misses_are_converted(edits: list[tuple[str, str]]) -> None:
    assert "train_on_copies(model, gpus=2)" in lines(changed(*edits))
