"""`--eval-batch script`: evaluations of a conversion print what those of the original print."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from converter.conversion import convert
from converter.options import Options
from converter.source import from_bytes
from converter.verify import VerifySettings, verify
from tests.bare import BareRuns

# Weights that do not move: what is printed depends on the batches of the evaluations alone. 56 rows are three batches
# of 16 and eight rows, or one of 32 and 24.
SCRIPT = """\
import numpy as np
import tensorflow as tf

batch_size = 16
rng = np.random.RandomState(0)
data, tests = rng.rand(96, 4).astype('float32'), rng.rand(56, 4).astype('float32')
X = tf.placeholder(tf.float32, [None, 4])
output = tf.layers.dense(X, 4, kernel_initializer=tf.ones_initializer())
loss = tf.reduce_mean(tf.square(output - X))
train_op = tf.train.GradientDescentOptimizer(RATE).minimize(loss)

held = tf.data.Dataset.from_tensor_slices(tests).repeat(3).batch(batch_size, drop_remainder=True)
rows = held.make_one_shot_iterator().get_next()


def mean_loss(examples, size):
    count = len(examples) // size
    return sum(sess.run(loss, {X: examples[i * size:(i + 1) * size]}) for i in range(count)) / count


with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for epoch in range(2):
        for i in range(0, len(data), batch_size):
            sess.run(train_op, {X: data[i:i + batch_size]})
        losses = []
        for i in range(len(tests) // batch_size):
            losses.append(sess.run(loss, {X: tests[i * batch_size:(i + 1) * batch_size]}))
        print('loop %.5f of %d' % (np.mean(losses), len(losses)))
        print('function %.5f' % mean_loss(tests, batch_size))
        total, begin = 0., 0
        while begin < len(tests):
            total += sess.run(loss, {X: tests[begin:begin + batch_size]}) * batch_size
            begin += batch_size
        print('sum %.4f' % (total / len(tests)))
    while True:
        try:
            print('queue %.5f' % sess.run(loss, {X: sess.run(rows)}))
        except tf.errors.OutOfRangeError:
            break
"""


def conversion(text: str, eval_batch: str) -> str:
    done = convert(from_bytes("single.py", text.encode()), Options(eval_batch=eval_batch))  # type: ignore[arg-type]
    assert done.text is not None and "TMG363" not in {finding.code for finding in done.diagnostics}, done.diagnostics
    return done.text


@pytest.mark.tf1
def test_what_evaluations_print(tensorflow_python: str, tmp_path: Path, bare_runs: BareRuns) -> None:
    text = SCRIPT.replace("RATE", "0.")
    texts = {"single.py": text, "kept.py": conversion(text, "script"), "grown.py": conversion(text, "grow")}
    printed = {}
    for name, one in texts.items():
        (tmp_path / name).write_text(one)
        done = bare_runs.run(tensorflow_python, [name], tmp_path, {**os.environ, "CUDA_VISIBLE_DEVICES": ""})
        assert done.returncode == 0, done.stderr[-2000:]
        printed[name] = re.findall(r"^(?:loop|function|sum|queue) .*$", done.stdout, re.MULTILINE)
    assert len(printed["single.py"]) == 2 * 3 + 3 * 56 // 16
    assert printed["kept.py"] == printed["single.py"]
    assert not set(printed["grown.py"]) & set(printed["single.py"])


@pytest.mark.tf1
def test_it_is_proven(tensorflow_python: str, tmp_path: Path) -> None:
    text = SCRIPT.replace("RATE", "0.1")
    (tmp_path / "single.py").write_text(text)
    (tmp_path / "multi.py").write_text(conversion(text, "script"))
    settings = VerifySettings(python=tensorflow_python, steps="all")
    report = verify(tmp_path / "single.py", tmp_path / "multi.py", settings)
    assert report.verdict == "passed", report
    assert "between the steps" in {check.name for check in report.checks if check.status == "passed"}
