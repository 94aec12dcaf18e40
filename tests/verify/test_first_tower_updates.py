"""An update that a model returns, and that the script runs beside its training step, is the first tower's."""

from __future__ import annotations

from pathlib import Path

import pytest

from converter.conversion import convert
from converter.options import Options
from converter.source import read
from converter.verify import VerifySettings, verify

SCRIPT = """\
import numpy as np
import tensorflow as tf


def model(x, y):
    h = tf.layers.dense(x, 3)
    seen = tf.get_variable('seen', [3], trainable=False, initializer=tf.zeros_initializer())
    update = tf.group(tf.assign(seen, 0.9 * seen + 0.1 * tf.reduce_mean(h, 0)))
    return tf.reduce_mean(tf.square(tf.layers.dense(h, 1) - y)), update


batch_size = 8
X = tf.placeholder(tf.float32, [None, 4])
Y = tf.placeholder(tf.float32, [None, 1])
loss, update = model(X, Y)
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(6):
        rng = np.random.RandomState(step)
        sess.run([train_op, update], {X: rng.rand(batch_size, 4), Y: rng.rand(batch_size, 1)})
"""


GROUPED = "tf.group(tf.assign(seen, 0.9 * seen + 0.1 * tf.reduce_mean(h, 0)))"
FETCHED = GROUPED.removeprefix("tf.group(").removesuffix(")")


@pytest.mark.one_in(5)
@pytest.mark.tf1
@pytest.mark.parametrize("made", [GROUPED, FETCHED], ids=["grouped", "a value"])
@pytest.mark.parametrize("resource", ["", "tf.enable_resource_variables()\n"], ids=["reference", "resource"])
@pytest.mark.parametrize(("tower", "verdict"), [("tower_update[0]", "passed"), ("tower_update[-1]", "failed")])
def test_the_last_towers_update_is_noticed(
    made: str, resource: str, tower: str, verdict: str, tensorflow_python: str, tmp_path: Path
) -> None:
    single, multi = tmp_path / "single.py", tmp_path / "multi.py"
    single.write_text(SCRIPT.replace("\n\n\ndef", f"\n{resource}\n\ndef", 1).replace(GROUPED, made))
    text = convert(read(str(single)), Options(line_length=100)).text or ""
    assert "\nupdate = tower_update[0]\n" in text
    multi.write_text(text.replace("update = tower_update[0]", f"update = {tower}"))
    report = verify(single, multi, VerifySettings(gpus=2, python=tensorflow_python))
    assert report.verdict == verdict, report
