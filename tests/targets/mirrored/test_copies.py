"""Scripts that the package `keras` trains: what `multi_gpu_model` is written for, and what stays refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from converter.conversion import Conversion, convert
from converter.source import from_bytes
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
         "made = Rows(x, batch_size * 2)\n" + GENERATED.format(made="made", steps="len(x) // made.batch_size")),
        ([("model.summary()", "class Own(Callback):\n    def on_epoch_end(self, epoch, logs):\n"
           "        self.model.save('own.h5')")], "", FIT.replace("=batch_size", "=batch_size * 2")),
        ([(FIT, f"def train():\n    {FIT}\n\n\ntrain()")], "", FIT.replace("=batch_size", "=batch_size * 2")),
    ],
)  # fmt: skip
def test_batches_grow_where_their_size_is_seen(edits: list[tuple[str, str]], flags: str, expected: str) -> None:
    done = changed(*edits, flags=flags)
    assert not done.diagnostics and "train_on_copies(model, gpus=2)" in lines(done)
    text = "".join("".join(lines(done)).split())
    assert "".join((expected or FIT).split()) in text


@pytest.mark.parametrize("trained", ["model.fit_generator(batches(), 10)", "model.train_on_batch(x[:32], y[:32])"])
def test_batches_whose_size_is_not_seen_are_shared(trained: str) -> None:
    done = changed((FIT, trained))
    assert [found.code for found in done.diagnostics] == ["TMG303"] and trained in lines(done)
    assert changed((FIT, trained), flags="--batch total").diagnostics == ()


def test_each_compile_makes_copies_of_what_is_trained_then() -> None:
    again = "for layer in model.layers:\n    layer.trainable = True\nmodel.compile('adam', 'mse')\n"
    done = changed((FIT, f"{FIT}\n{again}{FIT}"))
    text = "\n".join(lines(done))
    assert text.count("train_on_copies(model, gpus=2)\nmodel.compile(") == 2


def test_a_model_that_a_function_compiles_and_returns() -> None:
    made = "def made():\n    net = Sequential([Dense(1)])\n    net.compile('sgd', 'mse')\n    return net\n\n\n"
    made += "model = made()"
    script = SCRIPT.replace("model = Sequential([Dense(8, input_shape=(4,)), Dense(1)])", made)
    done = convert(from_bytes("train.py", script.replace("model.compile('sgd', 'mse')\n", "").encode()), from_flags([]))
    assert "    train_on_copies(net, gpus=2)" in lines(done)


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
