"""Larger batches take fewer rows of the data where a loop leaves some of them out: that is told (TMG345)."""

from __future__ import annotations

import pytest

from tests.scripts import codes

HEAD = """\
import numpy as np
import tensorflow as tf

batch_size = 16
data = np.arange(160.0).reshape(160, 1)
x = tf.placeholder(tf.float32, [None, 1])
loss = tf.reduce_mean(tf.square(tf.layers.dense(x, 1)))
train_op = tf.train.AdamOptimizer(0.01).minimize(loss)
sess = tf.Session()
"""
STEP = "sess.run(train_op, {x: data[i:i + batch_size]})"
EPOCH = "for i in range(0, 160, batch_size):\n    "
TRIED = EPOCH + f"try:\n        {STEP}\n    except ERROR:\n        BODY\n"
LOADED = EPOCH + (
    "try:\n        rows = data[i:i + batch_size]\n    except ERROR:\n        BODY\n    sess.run(train_op, {x: rows})\n"
)
ROW = EPOCH + (
    "rows = []\n    for k in range(batch_size):\n        try:\n            rows.append(data[i + k])\n"
    "        except ERROR:\n            BODY\n    sess.run(train_op, {x: rows})\n"
)
AGAIN = EPOCH + (
    "rows = data[i:i + batch_size]\n    while True:\n        try:\n            sess.run(train_op, {x: rows})\n"
    "            break\n        except ERROR:\n            BODY\n"
)
AROUND = f"try:\n    {EPOCH}    {STEP}\nexcept ERROR:\n    BODY\n"
TOLD = ["TMG345"]


@pytest.mark.parametrize("loop", [TRIED, LOADED])
@pytest.mark.parametrize(
    "error", ["ValueError", "Exception as e", "(IOError, IndexError)", "tf.errors.InvalidArgumentError"]
)
def test_an_error_behind_which_the_loop_goes_on_leaves_out_a_larger_batch(loop: str, error: str) -> None:
    assert codes(HEAD + loop.replace("ERROR", error).replace("BODY", "continue")) == TOLD


@pytest.mark.parametrize(
    ("loop", "error", "body"),
    [
        *((TRIED, "ValueError", body) for body in ("raise", "break", "print('bad')\n        raise", "exit()")),
        *((TRIED, error, "pass") for error in ("StopIteration", "tf.errors.OutOfRangeError", "KeyboardInterrupt")),
        (LOADED, "ValueError", "rows = data[:batch_size]"),
        *((ROW, "ValueError", body) for body in ("rows.append(data[0])", "raise")),
        *((AGAIN, "ValueError", body) for body in ("continue", "pass")),
        *((AROUND, "ValueError", body) for body in ("pass", "print('stopped')")),
    ],
)
def test_errors_that_leave_out_no_batch(loop: str, error: str, body: str) -> None:
    assert "TMG345" not in codes(HEAD + loop.replace("ERROR", error).replace("BODY", body))
