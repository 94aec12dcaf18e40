"""What a file calls TensorFlow in the lines that the tool writes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from converter.conversion import convert
from converter.options import Options
from converter.source import read
from tests.scripts import converted

UPGRADED = """\
import numpy as np
import tensorflow as tf

{first}
batch_size = 16
x = tf.compat.v1.placeholder(tf.float32, shape=(None, 8))
y = tf.compat.v1.placeholder(tf.float32, shape=(None, 1))
loss = tf.reduce_mean(input_tensor=tf.square(tf.matmul(x, tf.Variable(np.zeros((8, 1), 'f'))) - y))
train_op = tf.compat.v1.train.AdamOptimizer(0.01).minimize(loss)
with tf.compat.v1.Session() as sess:
    sess.run(tf.compat.v1.global_variables_initializer())
    for i in range(3):
        sess.run(train_op, {{x: np.ones((batch_size, 8)), y: np.ones((batch_size, 1))}})
"""
OLD = UPGRADED.replace("tf.compat.v1.", "tf.")
MODEL = """\
import tensorflow as tf


def loss_of(x, y):
    with tf.compat.v1.variable_scope('net'):
        w = tf.compat.v1.get_variable('w', [8, 1])
    loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - y))
    return tf.compat.v1.train.AdamOptimizer(0.01).minimize(loss)
"""


def names(text: str) -> set[str]:
    """How the written lines reach what TensorFlow 2 has in compat.v1 only."""
    return set(
        re.findall(r"(\w+(?:\.compat\.v1)?)\.(?:ConfigProto|GPUOptions|variable_scope|get_variable_scope)\b", text)
    )


@pytest.mark.parametrize("first", ["", "tf.compat.v1.disable_eager_execution()", "print(tf.__version__, tf.keras)"])
def test_a_file_that_tensorflow_2_runs(first: str) -> None:
    assert names(converted(UPGRADED.format(first=first))) == {"tf.compat.v1"}
    assert names(converted(UPGRADED.format(first=first).replace("tf.", "K.").replace("as tf", "as K"))) == {
        "K.compat.v1"
    }


@pytest.mark.parametrize(
    ("script", "first"),
    [
        (OLD, ""),
        (OLD, "tf.compat.v1.logging.set_verbosity(tf.compat.v1.logging.ERROR)"),
        (UPGRADED, "training = tf.placeholder(tf.bool)"),
        (UPGRADED, "flags = tf.app.flags"),
        (OLD.replace("import tensorflow as", "import tensorflow.compat.v1 as"), "tf.disable_v2_behavior()"),
    ],
)
def test_other_files_keep_the_short_name(script: str, first: str) -> None:
    assert names(converted(script.format(first=first))) == {"tf"}


def test_the_module_of_the_helpers(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(MODEL)
    train = UPGRADED.format(first="from model import loss_of")
    begin, end = train.index("loss ="), train.index("with tf.compat")
    (tmp_path / "train.py").write_text(train[:begin] + "train_op = loss_of(x, y)\n" + train[end:])
    done = convert(read(str(tmp_path / "train.py")), Options(line_length=100), several=True)
    helpers = done.parts[-1].text or ""
    assert done.status == "converted", done.diagnostics
    assert "import tensorflow.compat.v1 as tf\n" in helpers and "tf.compat" not in helpers.partition("as tf\n")[2]
    assert names(done.parts[0].text or "") <= {"tf.compat.v1"}


@pytest.mark.parametrize(
    "module",
    ["from tensorflow.python.framework import ops", "from tensorflow import math", "import tensorflow.math as maths"],
)
def test_a_module_that_has_a_part_of_the_functions_is_no_name_of_all(module: str) -> None:
    assert names(converted(module + "\n" + OLD.format(first=""))) == {"tf"}
