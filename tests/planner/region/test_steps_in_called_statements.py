"""A training step in a branch of a function that builds the loss, too: the statement that calls both is named.

The function reads a tuple, of which no tower can be given its own part, as the script reads it behind the model, too.
"""

from __future__ import annotations

import pytest

from tests.scripts import codes, run

SCRIPT = """\
import sys
import tensorflow as tf

batch_size = 32
norm = 1.0 if 'clip' in sys.argv else None


class Net(object):
    def __init__(self, test=False):
        self.x = tf.placeholder(tf.float32, [None, 4])
        self.mask = tf.placeholder(tf.float32, [None])
        self.made = (tf.layers.dense(self.x, 1)[:, 0], self.x)
{called}

    def measure(self):
        self.loss = tf.sqrt(tf.reduce_mean(tf.square(self.made[0]) * self.mask))

    def optimize(self):
{loss}
        optimizer = tf.train.AdamOptimizer(0.1)
        if norm is not None:
            pairs = optimizer.compute_gradients(self.loss)
            self.op = optimizer.apply_gradients([(tf.clip_by_norm(g, norm), v) for g, v in pairs])
        else:
            self.op = optimizer.minimize(self.loss)


net = Net()
print(net.made)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(100):
        xs, ones = next_batch(batch_size)
        sess.run(net.op, {{net.x: xs, net.mask: ones}})
"""
BOTH = "        self.measure()"
HEAD = SCRIPT[: SCRIPT.index("{called}")].count("\n")


@pytest.mark.parametrize(
    ("called", "line"), [("        self.optimize()", 1), ("        if not test:\n            self.optimize()", 2)]
)
def test_the_statement_that_calls_it_is_named(called: str, line: int) -> None:
    found = run(SCRIPT.format(called=called, loss=BOTH)).diagnostics[0]
    assert found.code == "TMG219"
    named = f"the training step stands in the same statement as the model, in line {HEAD + line}"
    assert found.message == named


@pytest.mark.parametrize("test", ["", "if not test:\n            "])
def test_the_named_edit_helps(test: str) -> None:
    apart = f"        self.measure()\n        {test}self.optimize()"
    assert "TMG219" not in codes(SCRIPT.format(called=apart, loss="        pass"))
