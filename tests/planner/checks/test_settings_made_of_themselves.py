"""Settings of an object that are made of what they were: `config["rate"] = max(config["rate"] / 2, 0.1)`."""

from __future__ import annotations

import pytest

from tests.scripts import codes

SCRIPT = """\
import numpy as np
import tensorflow as tf


class Tagger(object):
    def __init__(self, config):
        self.config = config
        self.x = tf.placeholder(tf.float32, [None, 4])
        self.y = tf.placeholder(tf.float32, [None, 1])
        self.rate = tf.placeholder(tf.float32)
        w = tf.get_variable('w', [4, self.config['units']])
        v = tf.get_variable('v', [self.config['units'], 1])
        self.loss = tf.reduce_mean(tf.square(tf.matmul(tf.matmul(self.x, w), v) - self.y))
        self.step = tf.train.GradientDescentOptimizer(self.rate).minimize(self.loss)

    def train(self, xs, ys):
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            for epoch in range(3):
                CHANGE
                for i in range(0, len(xs), 16):
                    feed = {self.x: xs[i:i + 16], self.y: ys[i:i + 16], self.rate: self.config['rate']}
                    sess.run(self.step, feed)
"""


@pytest.mark.parametrize(
    "change",
    [
        "self.config['rate'] = max(self.config['rate'] / (1 + epoch), self.config['least'])",
        "self.config['rate'] = self.config['rate'] * 0.5",
        "self.config['rate'] = self.config.get('rate') * 0.5",
        "self.config['rate'] = 0.1",
    ],
)
def test_they_are_followed_to_an_end(change: str) -> None:
    assert codes(SCRIPT.replace("CHANGE", change)) == []


def test_a_size_among_them_is_still_found() -> None:
    head = "import layers\n" + SCRIPT.replace("CHANGE", "self.config['rate'] = self.config['rate'] * 0.5")
    assert codes(
        head.replace("[4, self.config['units']]", "[4, layers.units(16)]")
        .replace("16", "SIZE")
        .replace("import numpy as np", "import numpy as np\nSIZE = 16")
    ) == ["TMG224"]
