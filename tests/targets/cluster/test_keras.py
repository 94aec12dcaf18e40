"""Scripts that Keras trains as workers of a cluster: how their batches are dealt, and what is refused."""

from __future__ import annotations

import pytest

from converter.conversion import Conversion, convert
from converter.options import Options
from converter.source import from_bytes

SCRIPT = """\
import numpy as np
import tensorflow as tf

batch_size = 32
x, y = np.load('x.npy'), np.load('y.npy')
model = tf.keras.models.Sequential([tf.keras.layers.Dense(8, input_shape=(4,)), tf.keras.layers.Dense(1)])
model.compile(tf.keras.optimizers.SGD(0.1), 'mse')
model.fit(x, y, batch_size=batch_size, epochs=3)
model.save_weights('weights.h5')
"""
FIT = "model.fit(x, y, batch_size=batch_size, epochs=3)"
ROWS = "cluster = Cluster(__name__ == '__main__', eager=False)"
WHOLE = "cluster = Cluster(__name__ == '__main__', deal='batches', by_rows=True, eager=False)"


def converted(text: str, **options: object) -> Conversion:
    given = Options(target="cluster", **options)  # type: ignore[arg-type]
    return convert(from_bytes("train.py", text.encode()), given)


def changed(*edits: tuple[str, str], **options: object) -> Conversion:
    text = SCRIPT
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    return converted(text, **options)


def said(done: Conversion) -> list[tuple[str, int, str]]:
    return [(one.code, one.line, one.message) for one in done.diagnostics]


@pytest.mark.parametrize(
    ("edits", "line"),
    [
        ([], "model.fit(x, y, batch_size=batch_size * cluster.size, epochs=3)"),
        ([("=batch_size, e", "=batch_size + 8, e")],
         "model.fit(x, y, batch_size=(batch_size + 8) * cluster.size, epochs=3)"),
        ([(", batch_size=batch_size", "")], "model.fit(x, y, epochs=3, batch_size=32 * cluster.size)"),
        ([("y, batch_size=batch_size", "y, 16")], "model.fit(x, y, 16 * cluster.size, epochs=3)"),
        ([("SGD(0.1)", "SGD(Decay(0.1, len(x) // batch_size))")],
         "model.compile(tf.keras.optimizers.SGD(Decay(0.1, len(x) // (batch_size * cluster.size))), 'mse')"),
    ],
)  # fmt: skip
def test_each_worker_takes_its_rows_of_what_fit_takes(edits: list[tuple[str, str]], line: str) -> None:
    done = changed(*edits)
    assert done.text is not None and said(done) == []
    lines = done.text.splitlines()
    assert ROWS in lines and line in lines
    assert converted(done.text).status == "unchanged"


def test_a_total_batch_stays_what_it_is() -> None:
    done = changed(batch="total")
    assert done.text is not None and {ROWS, FIT} <= set(done.text.splitlines())


@pytest.mark.parametrize(
    ("edits", "why"),
    [
        ([(FIT, "model.fit_generator(batches(), steps_per_epoch=9)")], "fit_generator() takes batches that the script"),
        ([(FIT, "for _ in range(9):\n    model.train_on_batch(x[:32], y[:32])")], "train_on_batch() takes batches"),
        ([(FIT, "train = K.function([model.input], [loss], updates=optimizer.get_updates(loss, weights))")],
         "a function of the script trains on batches that it prepares"),
        ([("x, y, batch_size=batch_size", "data")], "fit() takes batches of a dataset or a generator"),
        ([("x, y, batch_size=batch_size", "data, None")], "fit() takes batches of a dataset or a generator"),
        ([("epochs=3", "steps_per_epoch=9")], "fit() is told a number of steps"),
        ([("batch_size=batch_size, epochs=3", "**settings")], "it is not seen how many examples"),
        ([("input_shape=(4,)", "batch_input_shape=(32, 4)")], "its model is built for one size of batch"),
        ([("tf.keras.layers.Dense(8, input_shape=(4,))", "tf.keras.layers.InputLayer((4,), batch_size=32)")],
         "its model is built for one size of batch"),
    ],
)  # fmt: skip
def test_other_batches_are_dealt_whole(edits: list[tuple[str, str]], why: str) -> None:
    done = changed(*edits)
    assert done.text is not None and WHOLE in done.text.splitlines()
    assert "cluster.size" not in done.text.partition(WHOLE)[2]
    assert [code for code, *_ in said(done)] == ["TMG376"] and why in done.diagnostics[0].message


def test_a_script_that_ends_eagerness_in_a_function_is_not_asked_before() -> None:
    done = changed((FIT, f"def main():\n    tf.disable_v2_behavior()\n    {FIT}\n\n\nmain()"))
    assert done.text is not None and ROWS.replace(", eager=False", "") in done.text.splitlines()


def test_keras_beside_a_session_deals_whole_batches_in_both() -> None:
    session = (
        "a = tf.placeholder(tf.float32, [None, 4])\n"
        "b = tf.placeholder(tf.int64, [None])\n"
        "loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=b, logits=tf.layers.dense(a, 3))\n"
        "step = tf.train.AdamOptimizer().minimize(tf.reduce_mean(loss))\n"
        "with tf.Session() as sess:\n"
        "    sess.run(tf.global_variables_initializer())\n"
        "    for begin in range(0, len(x), batch_size):\n"
        "        sess.run(step, {a: x[begin:begin + batch_size], b: y[begin:begin + batch_size]})\n"
    )
    done, alone = converted(SCRIPT + session), converted(SCRIPT.partition("model = ")[0] + session)
    assert done.text is not None and alone.text is not None
    assert WHOLE.replace(", eager=False", "") in done.text.splitlines() and "batch_size = 32\n" in done.text
    assert ROWS.replace(", eager=False", "") in alone.text.splitlines()
    assert "batch_size = 32 * cluster.size\n" in alone.text


@pytest.mark.parametrize(
    ("edits", "options", "found"),
    [
        ([("Dense(8, ", "LSTM(8, stateful=True, ")], {}, ("TMG259", 6, "a stateful layer hands its state on")),
        ([("'mse')", "'mse', run_eagerly=True)")], {}, ("TMG259", 7, "Keras would train eagerly")),
        ([("batch_size = 32", "tf.enable_eager_execution()")], {}, ("TMG259", 4, "Keras would train eagerly")),
        ([("model.compile", "model = tf.keras.utils.multi_gpu_model(model, gpus=2)\nmodel.compile")], {},
         ("TMG216", 7, "the script uses several devices already")),
        ([("batch_size = 32", "rng = np.random.RandomState()")], {}, ("TMG260", 4, "each worker would draw")),
        ([("'mse'", "lambda y, p: tf.reduce_sum(y - p)")], {"batch": "total"},
         ("TMG259", 7, "this loss is not a mean")),
        ([("'mse'", "tf.keras.losses.MeanSquaredError(reduction='sum')")], {"batch": "total"},
         ("TMG259", 7, "this loss is not a mean")),
        ([("input_shape=(4,)", "batch_input_shape=(32, 4)")], {"batch": "total"},
         ("TMG259", 1, "cannot share a batch")),
        ([], {"shard": "files"}, ("TMG259", 8, "arrays are trained on")),
    ],
)  # fmt: skip
def test_what_workers_cannot_do_is_refused(
    edits: list[tuple[str, str]], options: dict[str, str], found: tuple[str, int, str]
) -> None:
    done = changed(*edits, **options)
    assert done.text is None
    assert any((code, line) == found[:2] and found[2] in message for code, line, message in said(done)), said(done)


@pytest.mark.parametrize(
    "edits",
    [
        [("Dense(8, ", "LSTM(8, stateful=False, ")],
        [("'mse')", "'mse', run_eagerly=False)")],
        [("'mse'", "lambda y, p: tf.reduce_sum(y - p)")],  # the mean of the workers' sums, as of their batches
        [("SGD(0.1)", "SGD(0.1, clipnorm=1.0)")],  # the mean is clipped
        [("batch_size = 32", "rng = np.random.RandomState(1)\nbatch_size = 32")],
    ],
)
def test_near_misses_are_converted(edits: list[tuple[str, str]]) -> None:
    done = changed(*edits)
    assert done.text is not None and said(done) == []


def test_what_compiles_nothing_is_not_for_workers() -> None:
    done = changed(("model.compile(tf.keras.optimizers.SGD(0.1), 'mse')\n", ""))
    assert done.text is None and [code for code, *_ in said(done)] == ["TMG280"]
