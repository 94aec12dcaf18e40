"""Placeholders of two classes, one of which a branch builds: other scripts may ask for them by their names."""

from __future__ import annotations

from pathlib import Path

import pytest

from converter.cli.app import main
from converter.verify import VerifySettings, verify

NETS = """\
class {name}(object):
    def __init__(self, batch_size):
        self.x = tf.placeholder(tf.float32, [None, 5], name='x')
        self.y = tf.placeholder(tf.float32, [None], name='y')
        with tf.name_scope('net'):
            self.w = tf.Variable(tf.ones([5, 1]), name='w')
        with tf.name_scope('output'):
            self.d = tf.reshape(tf.matmul({given}, self.w), [-1], name='d')
        with tf.name_scope('loss'):
            self.loss = tf.reduce_sum(tf.square(self.d - self.y)) / batch_size / 2
"""
TRAIN = """\
import sys
import numpy as np
import tensorflow as tf
from nets import Plain, Curved

batch_size = 8
if '--plain' in sys.argv:
    net = Plain(batch_size)
else:
    net = Curved(batch_size)
step = tf.train.AdamOptimizer(0.01).minimize(net.loss)
rng = np.random.RandomState(0)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(6):
        print(sess.run([step, net.loss], {net.x: rng.rand(batch_size, 5), net.y: rng.rand(batch_size)})[1])
"""
EVAL = """\
import numpy as np
import tensorflow as tf

graph = tf.Graph()
with graph.as_default(), tf.Session() as sess:
    tf.train.import_meta_graph('model.meta').restore(sess, 'model')
    x = graph.get_operation_by_name('x').outputs[0]
    d = graph.get_operation_by_name('output/d').outputs[0]
    print(sess.run(d, {x: np.ones([4, 5])}))
"""


def put(folder: Path) -> Path:
    """The project: a class for each way to prepare the examples, a script that trains, one that asks by names."""
    plain, curved = NETS.format(name="Plain", given="self.x"), NETS.format(name="Curved", given="tf.tanh(self.x)")
    nets = f"import tensorflow as tf\n\n\n{plain}\n\n{curved}"
    for name, text in (("nets", nets), ("train", TRAIN), ("eval", EVAL)):
        (folder / f"{name}.py").write_text(text)
    return folder / "train.py"


@pytest.mark.tf1
def test_they_stay_what_is_fed(tmp_path: Path, tensorflow_python: str) -> None:
    single, multi = tmp_path / "single", tmp_path / "multi"
    single.mkdir()
    assert main(["convert", str(put(single)), "--output-dir", str(multi)]) == 0
    text = (multi / "train.py").read_text()
    assert "tower_inputs.whole(net.x)" in text
    assert "name='output/d'" in text
    assert "name='x'" not in text
    assert verify(single / "train.py", multi / "train.py", VerifySettings(python=tensorflow_python)).verdict == "passed"
