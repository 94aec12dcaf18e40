"""Batches of a size that is fixed in the graph, where the towers take another one: the model is made for that size."""

from __future__ import annotations

from pathlib import Path

import pytest

from converter.conversion import convert
from converter.options import Options
from converter.source import read
from converter.verify import VerifySettings, verify

VERSIONS = [pytest.param("2", marks=pytest.mark.tf2), pytest.param("1.15", marks=pytest.mark.tf1)]
TRAINED = """\
with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
    train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for begin in range(0, 64, batch_size):
        rows = slice(begin, begin + batch_size)
        print(sess.run([train_op, loss], {x: data[rows], k: kinds[rows]})[1:])
"""
HEAD = """\
import numpy as np
import tensorflow as tf

batch_size = 8
rng = np.random.RandomState(1)
data, kinds = rng.rand(64, 4).astype('float32'), rng.randint(0, 3, 64)
x = tf.placeholder(tf.float32, [batch_size, 4])
k = tf.placeholder(tf.int32, [batch_size])
tf.set_random_seed(1)
"""
NORM = f"""{HEAD}
net = tf.layers.dense(x, 5, name='a')
net = tf.nn.relu(tf.layers.batch_normalization(net, training=True, name='n'))
scores = tf.layers.dense(net, 3, name='b')
loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=k, logits=scores))
{TRAINED}"""
# a batch norm that one branch of the graph trains, on images
IMAGES = f"""{HEAD}
training = tf.placeholder_with_default(True, [])
net = tf.layers.conv2d(tf.reshape(x, [-1, 2, 2, 1]), 3, 2, padding='same', name='a')
net = tf.nn.relu(tf.layers.batch_normalization(net, training=training, name='n'))
scores = tf.layers.dense(tf.layers.flatten(net), 3, name='b')
loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=k, logits=scores))
{TRAINED}"""
PAIRS = f"""{HEAD}
e = tf.layers.dense(tf.layers.dense(x, 6, tf.nn.tanh, name='a'), 2, name='b')
far = tf.reduce_sum(tf.square(e[:, None] - e[None]), 2)
same = tf.cast(tf.equal(k[:, None], k[None]), tf.float32)
loss = tf.reduce_mean(same * far + (1 - same) * tf.nn.relu(1. - far))
{TRAINED}"""
TOTAL, GLOBAL = Options(num_gpus=2, batch="total"), Options(num_gpus=2, loss="global")
WEIGHTED = "tower_loss.append(loss * weight)"
LAST_TOWER = """        if gpu == 0:
            self.first = self.contents()
        else:
            self.restore(self.first)"""
ONLY_LAST = """        if gpu == 1:
            self.first = self.contents()"""
HALVES = """e = tf.concat(tower_e, 0)
k = tf.concat([tf.split(k, 2)[0]] * 2, 0)"""


@pytest.mark.one_in(9)
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("script", "options", "old", "new", "check"),
    [
        pytest.param(NORM, TOTAL, "", "", "", id="statistics of shares"),
        pytest.param(NORM, TOTAL, WEIGHTED, "tower_loss.append(loss * (1.5 if gpu else 0.5) * weight)", "gradients",
                     id="statistics of shares, other weights"),
        pytest.param(NORM, TOTAL, LAST_TOWER, ONLY_LAST, "update", id="statistics of the last share"),
        pytest.param(PAIRS, GLOBAL, "", "", "", id="pairs of all"),
        pytest.param(PAIRS, GLOBAL, "e = tf.concat(tower_e, 0)", HALVES, "gradients", id="pairs with others"),
        pytest.param(PAIRS, TOTAL, "", "", "", id="pairs of a total"),
        pytest.param(IMAGES, TOTAL, "", "", "", id="statistics in a branch"),
        pytest.param(IMAGES, TOTAL, WEIGHTED, "tower_loss.append(loss * weight / 2)", "gradients",
                     id="statistics in a branch, half of the loss"),
    ],
)  # fmt: skip
def test_losses_of_another_size(
    tmp_path: Path, tensorflow_python: str, version: str, script: str, options: Options, old: str, new: str, check: str
) -> None:
    single, multi = tmp_path / "single.py", tmp_path / "multi.py"
    single.write_text(script)
    text = convert(read(str(single)), options).text or ""
    assert old in text
    multi.write_text(text.replace(old, new) if old else text)
    report = verify(single, multi, VerifySettings(gpus=2, python=tensorflow_python))
    failed = [found.name for found in report.checks if found.status == "failed"]
    assert failed[:1] == ([check] if check else []), report.reason
