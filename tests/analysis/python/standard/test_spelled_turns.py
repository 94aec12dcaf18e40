"""Texts that loops make of their turns: `'conv{}'.format(i)` is the key of a layer, in each turn another one."""

from __future__ import annotations

import pytest

from tests.analysis.readings import shown, value_of
from tests.scripts import codes, converted

TURNS = "size = 7\nresult = []\nfor i in range(1, 3):\n    result.append({})\n"


@pytest.mark.parametrize(
    ("made", "texts"),
    [
        ("'c{}'.format(i)", ["c1", "c2"]),
        ("'{1}_{0}'.format(i, 'z')", ["z_1", "z_2"]),
        ("'c{}'.format(i) + '_w'", ["c1_w", "c2_w"]),
        ("'c' + str(i)", ["c1", "c2"]),
        ("f'c{i}_w'", ["c1_w", "c2_w"]),
        ("'c{:02d}'.format(i)", ["host format", "host format"]),
        ("'c{!r}'.format(i)", ["host format", "host format"]),
        ("'c{a}'.format(a=i)", ["host format", "host format"]),
        ("'c{}{}'.format(i)", ["host format", "host format"]),
        ("'c{0.real}'.format(i)", ["host format", "host format"]),
        ("'c{}'.format(*[i])", ["host format", "host format"]),
        ("f'{i:03d}'", ["host str", "host str"]),
        ("f'{i!r}'", ["host str", "host str"]),
        ("'c{}'.format(size)", ["host format", "host format"]),  # it may be a batch size, which grows
        ("'c' + str(size)", ["host str", "host str"]),
        ("f'{i}_{size}'", ["host str", "host str"]),
    ],
)
def test_texts_of_turns(made: str, texts: list[str]) -> None:
    assert shown(value_of(TURNS.format(made))) == texts


LAYERS = """\
import numpy as np
import tensorflow as tf

batch_size = 8


class Net(object):
    def __init__(self):
        self.weights = {{}}
        self.x = tf.placeholder(tf.float32, [None, 8])
        self.y = tf.placeholder(tf.float32, [None, 8])

    def layer(self, h, name):
        name = name + '_w'
        self.weights[name] = tf.Variable(tf.random_normal([8, 8]), name=name)
        return tf.matmul(h, self.weights[name])

    def build(self):
        h = self.layer(self.x, 'conv_0')
        for i in range(1, 4):
            h = self.layer(h, {key})
        self.out = self.layer(h, 'conv_4')

    def optimize(self):
        self.cost = tf.reduce_mean(tf.square(self.y - self.out))
        for name in list(self.weights.keys()):
            self.cost += tf.nn.l2_loss(self.weights[name])
        self.train_op = tf.train.AdamOptimizer().minimize(self.cost)


net = Net()
net.build()
net.optimize()
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(10):
        rows = next_batch(batch_size)
        sess.run(net.train_op, {{net.x: rows, net.y: rows}})
"""


@pytest.mark.parametrize("key", ["'conv_{}'.format(i)", "'conv_' + str(i)", "f'conv_{i}'", "'conv_%d' % i"])
def test_layers_kept_in_a_dict_by_their_turns(key: str) -> None:
    script = LAYERS.format(key=key)
    assert codes(script) == [] and " = shard([" in converted(script)
