"""What a conversion for a distribution strategy says of batch size, epochs and steps."""

from __future__ import annotations

import pytest

from tests.targets.mirrored import test_keras
from tests.targets.mirrored.test_estimator import INPUT, MODEL, conversion

KERAS = test_keras.HEAD + test_keras.MODEL
MADE = MODEL + INPUT + "e = tf.estimator.Estimator(model_fn)\n"


def said(script: str, *flags: str) -> dict[str, str]:
    return {one.topic: one.text for one in conversion(script, *flags).decisions}


@pytest.mark.parametrize(
    ("script", "flags", "batch", "epochs"),
    [
        (f"{KERAS}model.fit(x, y)\n", (), "2 batches", "1/2 of the steps"),
        (f"{KERAS}model.fit(x, y)\n", ("--num-gpus", "auto"), "N batches", "1/N of the steps"),
        (f"{KERAS}model.fit(x, y)\n", ("--batch", "total"), "the GPUs share it", "as many steps as before"),
        (f"{KERAS}model.fit(x, y, steps_per_epoch=5)\n", (), "2 batches", "as many steps take 2 times"),
        (f"{KERAS}model.fit(x, y, steps_per_epoch=None)\n", (), "2 batches", "1/2 of the steps"),
        (f"{MADE}e.train(input_fn)\n", (), "2 batches", "1/2 of the steps"),
        (f"{MADE}e.train(input_fn, steps=100)\n", (), "2 batches", "as many steps take 2 times"),
        (f"{MADE}e.train(input_fn, None, None, 100)\n", (), "2 batches", "as many steps take 2 times"),
        (f"{MADE}e.train(input_fn, steps=len(x) // batch_size)\n", (), "2 batches", "1/2 of the steps"),
    ],
)
def test_batch_size_and_epochs(script: str, flags: tuple[str, ...], batch: str, epochs: str) -> None:
    told = said(script, *flags)
    assert batch in told["batch size"] and epochs in told["epochs"]
    assert told["learning rate"] == "unchanged" and told["variables"] == "a copy on each GPU"


def test_what_trains_and_where() -> None:
    line = len(KERAS.splitlines()) + 1
    assert said(f"{KERAS}model.fit(x, y)\n")["target"] == f"mirrored: Keras trains here (line {line})"
    assert "an Estimator trains" in said(f"{MADE}e.train(input_fn)\n")["target"]


def test_the_header_holds_them() -> None:
    text = conversion(f"{KERAS}model.fit(x, y)\n").text or ""
    assert "decided: MirroredStrategy, as Keras trains; batch size for each GPU as it was; " in text.splitlines()[1]


def test_a_refused_script_has_none() -> None:
    assert said(f"{KERAS}model.train_on_batch(x, y)\n") == {}
