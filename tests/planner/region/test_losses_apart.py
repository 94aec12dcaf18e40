"""A function that builds the loss of a model and takes the step: the loss can be computed once, of merged results."""

from __future__ import annotations

import pytest

from tests.scripts import INPUTS, codes, parts, run

SCRIPT = """\
{inputs}

def model(x):
    out = tf.layers.dense(x, 1)
    return out, tf.nn.l2_loss(out)


def optimize(out, size, y):
{more}    cost = {loss} + 0.05 * size
    return cost, tf.train.AdamOptimizer(0.1).minimize(cost)


out, size = model(X)
cost, train_op = optimize(out, size, Y)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        xs, ys = next_batch(batch_size)
        sess.run([train_op, cost], {{X: xs, Y: ys}})
"""
SUM = "tf.nn.l2_loss(out - y)"
PAIRS = "tf.reduce_mean(tf.square(tf.matmul(out, out, transpose_b=True) - tf.matmul(y, y, transpose_b=True)))"
ADVICE = "--loss global computes this loss once"


def script(loss: str = SUM, more: str = "") -> str:
    return SCRIPT.format(inputs=INPUTS, loss=loss, more=more)


@pytest.mark.parametrize("options", [{"loss": "global"}, {"batch": "total"}])
def test_of_pairs_the_towers_compute_what_is_apart_for_each_example(options: dict[str, str]) -> None:
    _, inside, after = parts(script(PAIRS), **options)
    assert "out = tf.layers.dense(x, 1)" in inside and "out = tf.concat(tower_out, 0)" in after


@pytest.mark.parametrize("options", [{"loss": "global"}, {"batch": "total"}])
def test_the_towers_end_before_it(options: dict[str, str]) -> None:
    _, inside, after = parts(script(), **options)
    assert "out, size = model(X)" in inside
    assert {"out = tf.concat(tower_out, 0)", "size = tf.add_n(tower_size)"} <= set(after)
    assert after.index("size = tf.add_n(tower_size)") < after.index("cost, train_op = optimize(out, size, Y)")


@pytest.mark.parametrize("loss", [SUM, PAIRS])
def test_a_loss_in_each_tower_is_refused_with_the_option_that_helps(loss: str) -> None:
    """The mean of the towers' losses is another number than the loss of merged results, and tuples have no parts."""
    text = script(loss.replace("out", "made[0]")).replace("optimize(out, size, y)", "optimize(made, size, y)")
    (found,) = run(text.replace("optimize(out, size, Y)", "optimize((out, Y), size, Y)")).diagnostics
    assert found.code == "TMG219"
    assert found.hint.startswith(ADVICE) and "let that statement end with the loss" in found.hint


@pytest.mark.parametrize("options", [{"loss": "global"}, {"batch": "total"}])
def test_computed_once_a_function_that_goes_on_with_the_model_is_refused(options: dict[str, str]) -> None:
    """Layers of the loss's own function would stay on one GPU."""
    text = script(more="    out = tf.layers.dense(out, 1)\n")
    found = run(text, **options).diagnostics
    assert [one.code for one in found] == ["TMG219"] and not found[0].hint.startswith(ADVICE)


def test_a_mean_is_the_same_of_merged_results() -> None:
    assert codes(script("tf.reduce_mean(tf.square(out - y))").replace(" + 0.05 * size", "")) == []


LISTED = """\
import sys
import tensorflow as tf

batch_size = 8


def dense(x, units, plain):
    if plain:
        return tf.layers.dense(x, units)
    return tf.layers.dense(x, units, tf.nn.relu)


class Net(object):
    def __init__(self, plain):
        self.layers = []
        self.plain = plain

    def build(self):
        self.x = tf.placeholder(tf.float32, [None, 4])
        self.y = tf.placeholder(tf.float32, [None, 1])
        self.layers.append(dense(self.x, 3, self.plain))
        self.layers.append(dense(self.layers[-1], 3, self.plain))
        self.out = dense(tf.concat(self.layers, 1), 1, True)

    def optimize(self):
        self.loss = tf.reduce_mean(tf.square(self.out - self.y)){more}
        self.train_op = tf.train.AdamOptimizer(0.1).minimize(self.loss)


net = Net(len(sys.argv) > 1)
net.build()
net.optimize()
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(10):
        xs, ys = next_batch(batch_size)
        sess.run([net.train_op, net.loss], {{net.x: xs, net.y: ys}})
"""


def test_a_list_that_only_the_towers_read_is_not_taken_by_the_loss() -> None:
    """Its layers are those of branches: the loss is computed from what the model makes of them."""
    _, inside, after = parts(LISTED.format(more=""))
    assert "self.layers.append(dense(self.x, 3, self.plain))" in inside
    assert "self.out = tf.concat(tower_out, 0)" in after


def test_what_the_loss_reads_of_a_list_is_merged_or_refused() -> None:
    _, _, after = parts(LISTED.format(more=" + tf.reduce_mean(self.layers[0])"))
    assert any("self.layers" in line and "concat" in line or "tower_inputs.whole(" in line for line in after)
