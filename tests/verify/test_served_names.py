"""docs/verify.md says what scripts find of TensorFlow 1.x on TensorFlow 2: it must be so."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from converter.verify import VerifySettings, verify

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.matrix
@pytest.mark.tf1
@pytest.mark.tf2
def test_the_lines_are_up_to_date() -> None:
    command = [sys.executable, "tools/served_names.py", "docs/verify.md", "--check"]
    done = subprocess.run(command, cwd=ROOT, env=dict(os.environ), capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


IMPORTS = """
import keras
from keras import backend as K
from keras.layers import Dense
import tensorflow as tf
import tensorflow.contrib.slim as slim
from tensorflow.contrib.slim.nets import vgg
from tensorflow.contrib.layers.python.layers import batch_norm, utils
from tensorflow.contrib.framework.python.ops import add_arg_scope
from tensorflow.contrib.rnn.python.ops import core_rnn_cell
assert tf.keras.layers.Dense is Dense and callable(vgg.vgg_16) and callable(core_rnn_cell.LSTMCell)
assert tf.contrib.training.create_train_op and tf.contrib.metrics.set_union is tf.sets.union
x = tf.placeholder(tf.float32, [None, 2])
train = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_mean(slim.fully_connected(Dense(3)(x), 1)))
sess = tf.Session()
K.set_session(sess)
sess.run(tf.global_variables_initializer())
for _ in range(3):
    sess.run(train, {x: [[1, 2], [3, 4]]})
"""


@pytest.mark.tf2
def test_names_by_their_old_paths(tmp_path: Path) -> None:
    script = tmp_path / "single.py"
    script.write_text(IMPORTS)
    report = verify(script, script, VerifySettings(gpus=1))
    assert report.verdict == "passed", report
