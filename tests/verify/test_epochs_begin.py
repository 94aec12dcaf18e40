"""Variables that a script sets where its epochs begin, which are of other numbers of steps in a conversion."""

from __future__ import annotations

from pathlib import Path

import pytest

from converter.conversion import convert
from converter.options import Options
from converter.source import read
from converter.verify import VerifySettings, verify
from converter.verify.data import ALL_STEPS

RESET = "        sess.run(tf.local_variables_initializer())\n"
SET = "        sess.run(tf.assign(rate, 0.1 * 0.9 ** number))\n"
LOOP = "        for step in range(batches):\n"
SINGLE = f"""\
import numpy as np
import tensorflow as tf

batch_size, epochs = 4, EPOCHS
rng = np.random.RandomState(1)
data, target = rng.rand(ROWS, 3), rng.rand(ROWS, 1)

x = tf.placeholder(tf.float32, [None, 3])
y = tf.placeholder(tf.float32, [None, 1])
rate = tf.Variable(0.0, trainable=False, name='rate')
epoch = tf.Variable(0, trainable=False, name='epoch')
seen = tf.get_local_variable('seen', [], initializer=tf.zeros_initializer())
loss = tf.reduce_mean(tf.square(tf.layers.dense(x, 1) - y))
train_op = tf.train.GradientDescentOptimizer(rate).minimize(loss)
batches = (len(data) + batch_size - 1) // batch_size

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for number in range(epochs):
{RESET}{SET}        sess.run(epoch.assign(number))
{LOOP}            rows = slice(step * batch_size, (step + 1) * batch_size)
            print(sess.run([loss, train_op, tf.assign_add(seen, 1)], {{x: data[rows], y: target[rows]}})[0])
"""
NEVER = [(SET, "        if number == 0: sess.run(tf.assign(rate, 0.1))\n")]
LATER = [(SET, ""), (LOOP, f"{LOOP}            if step == (number > 0):\n        {SET}")]
ONCE = [(RESET, RESET.replace("run(", "run([] if number else "))]
EACH = [(SET, ""), (LOOP, LOOP + SET.replace("        ", " " * 12).replace("number", "(number * batches + step)"))]


@pytest.mark.one_in(3)
@pytest.mark.tf1
@pytest.mark.parametrize(
    ("rows", "epochs", "changes", "said"),
    [
        (24, 2, [], ""),  # the original's second epoch begins behind the compared steps, with the conversion's values
        (24, 3, [], ""),
        (24, 2, NEVER, "rate:0 is not changed between the steps 3 and 4, where an epoch begins"),
        (24, 2, LATER, "rate:0 is not changed between the steps 3 and 4, where an epoch begins"),
        (24, 2, ONCE, ""),  # of local variables whole runs tell
        (24, 2, EACH, "rate:0 is changed between the steps 1 and 2, in the original only where an epoch begins"),
        (18, 3, [], ""),  # the original takes fewer batches than N for each step of the conversion
        (18, 3, NEVER, "rate:0 is not changed between the steps 3 and 4, where an epoch begins"),
        (18, 3, EACH, "rate:0 is changed between the steps 1 and 2, in the original only where an epoch begins"),
    ],
)
def test_what_is_set_at_an_epochs_beginning(
    tmp_path: Path, tensorflow_python: str, rows: int, epochs: int, changes: list[tuple[str, str]], said: str
) -> None:
    single, multi = tmp_path / "single.py", tmp_path / "multi.py"
    single.write_text(SINGLE.replace("EPOCHS", str(epochs)).replace("ROWS", str(rows)))
    text = convert(read(str(single)), Options(num_gpus=2)).text or ""
    for old, new in changes:
        assert old in text, "the fault would change nothing"
        text = text.replace(old, new)
    multi.write_text(text)
    report = verify(single, multi, VerifySettings(gpus=2, steps=ALL_STEPS, python=tensorflow_python))
    (found,) = (check for check in report.checks if check.name == "between the steps")
    assert found.status == ("failed" if said else "passed") and said in found.detail
    if not said:
        assert report.verdict == "passed", report.reason
