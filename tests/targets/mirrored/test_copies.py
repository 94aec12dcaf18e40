"""Scripts that the package `keras` trains: what `multi_gpu_model` is written for, and what stays refused."""

from __future__ import annotations

import pytest

from converter.conversion import Conversion, convert
from converter.source import from_bytes
from converter.source.header import from_flags

SCRIPT = """\
import numpy as np
from keras import backend as K
from keras.callbacks import Callback, ModelCheckpoint
from keras.layers import BatchNormalization, Dense
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


def test_the_copies_are_trained_and_the_template_is_saved() -> None:
    done = changed(flags="--num-gpus 3")
    new = [line for line in lines(done) if line not in SCRIPT.splitlines() and not line.startswith("#")]
    assert done.diagnostics == () and new == [
        "from keras.utils import multi_gpu_model",
        "def of_template(callback, template):",
        '    """Lets a callback save the model for one GPU: its weights are those of the copies."""',
        "    callback.set_model = lambda copies: setattr(callback, 'model', template)",
        "    return callback",
        "parallel_model = multi_gpu_model(model, gpus=3)  # model: to save, with the same weights",
        "parallel_model.compile('sgd', 'mse')",
        "best = of_template(ModelCheckpoint('best.h5', save_best_only=True), model)",
        "parallel_model.fit(x, y, batch_size=batch_size * 3, epochs=3, callbacks=[best])",
        "print(parallel_model.evaluate(x, y), model.predict(x[:1]), parallel_model.optimizer)",
    ]
    assert convert(from_bytes("train.py", (done.text or "").encode()), from_flags([])).status == "unchanged"


@pytest.mark.parametrize(
    ("edits", "flags", "line"),
    [
        ([(", batch_size=batch_size", "")], "", "    x, y, epochs=3, callbacks=[best], batch_size=32 * 2"),
        ([], "--batch total", f"parallel_{FIT}"),
        ([(FIT, "model.fit_generator(batches(), 10, callbacks=[best])")], "--batch total",
         "parallel_model.fit_generator(batches(), 10, callbacks=[best])"),
        ([(FIT, "model.train_on_batch(x[:32], y[:32])")], "--batch total",
         "parallel_model.train_on_batch(x[:32], y[:32])"),
        ([("'mse'", "lambda y, p: K.sum(y - p)")], "--batch total",
         "parallel_model.compile('sgd', lambda y, p: K.sum(y - p))"),
    ],
)  # fmt: skip
def test_other_batches(edits: list[tuple[str, str]], flags: str, line: str) -> None:
    text = "\n".join(lines(changed(*edits, flags=flags)))
    assert line.replace(" ", "") in text.replace(" ", "").replace("\n", "")


@pytest.mark.parametrize(
    ("edits", "flags", "why"),
    [
        ([("Dense(1)]", "BatchNormalization(), Dense(1)]")], "", "the averages of batch normalisation"),
        ([("Dense(8, ", "Dense(8, activity_regularizer='l2', ")], "", "its loss of what a layer gives"),
        ([("Dense(8, input_shape=(4,))", "Dense(8, batch_input_shape=(32, 4))")], "", "for one size of batch"),
        ([("Dense(8, ", "LSTM(8, stateful=True, ")], "", "a stateful layer"),
        ([("Sequential([Dense(8, input_shape=(4,)), Dense(1)])", "made()")], "", "not seen in this script how the"),
        ([("model.summary()", "model = Sequential()")], "", "not seen in this script how the model is made"),
        ([("model.summary()", "other = Sequential()\nother.compile('sgd', 'mse')")], "", "not one model"),
        ([(FIT, "def train():\n    model.fit(x, y)\n\n\ntrain()")], "", "in different functions"),
        ([(FIT, "model.fit_generator(batches(), 10)")], "", "the size of its batches is not seen"),
        ([(FIT, "model.train_on_batch(x[:32], y[:32])")], "", "the size of its batches is not seen"),
        ([("model.summary()", "def shown(net):\n    net.summary()\n\n\nshown(model)")], "", "takes the model"),
        ([("model.summary()", "K.function(model.inputs, model.outputs)")], "", "functions of its own"),
        ([("model.summary()", "class Own(Callback):\n    def on_epoch_end(self, epoch, logs):\n"
           "        self.model.save('own.h5')")], "", "a callback of the script uses the model"),
    ],
)  # fmt: skip
def test_what_is_not_copied_is_refused_with_the_reason(edits: list[tuple[str, str]], flags: str, why: str) -> None:
    done = changed(*edits, flags=flags)
    (found,) = done.diagnostics
    assert done.text is None and found.code == "TMG220" and why in found.message


@pytest.mark.parametrize(
    ("edits", "flags", "code"),
    [
        ([("'mse'", "lambda y, p: K.sum(y - p)")], "", "TMG288"),
        ([], "--num-gpus auto", "TMG287"),
        ([], "--fewer-gpus allow", "TMG287"),
        ([("model = S", "best = ModelCheckpoint('best.h5')\nmodel = S"),
          ("best = ModelCheckpoint('best.h5', save_best_only=True)\n", "")], "", "TMG289"),
    ],
)  # fmt: skip
def test_what_copies_would_change_is_refused(edits: list[tuple[str, str]], flags: str, code: str) -> None:
    done = changed(*edits, flags=flags)
    assert done.text is None and [found.code for found in done.diagnostics] == [code]


@pytest.mark.parametrize(
    "edits",
    [
        [("Dense(8, ", "LSTM(8, stateful=False, ")],
        [("model.summary()", "def shown(net):\n    net.summary()\n\n\nshown(best)")],
        [("model.summary()", "class Own(Callback):\n    def on_epoch_end(self, epoch, logs):\n        print(epoch)")],
        [("Sequential([Dense(8, input_shape=(4,)), Dense(1)])", "made()"),
         ("batch_size = 32", "batch_size = 32\n\n\ndef made():\n    return Sequential([Dense(1, input_shape=(4,))])")],
    ],
)  # fmt: skip
def test_near_misses_are_converted(edits: list[tuple[str, str]]) -> None:
    done = changed(*edits)
    assert "parallel_model = multi_gpu_model(model, gpus=2)" in "\n".join(lines(done))
