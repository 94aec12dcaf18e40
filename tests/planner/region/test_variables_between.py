"""Statements between those of the model that make variables: who makes them first, and under which names."""

from __future__ import annotations

import pytest

from tests.scripts import codes, parts

HEAD = """\
import tensorflow as tf
batch_size = 16
x = tf.placeholder(tf.float32, [None, 12])
z_in = tf.placeholder(tf.float32, [None, 3])
"""
STEP = """\
train_op = tf.train.AdamOptimizer(0.01).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(len(data) // batch_size):
        sess.run(train_op, {x: data[i * batch_size:(i + 1) * batch_size]})
    print(sess.run(side, {z_in: codes}))
"""
NUMBERED = "h = tf.layers.dense(x, 3)\n{side}\nloss = tf.reduce_mean(tf.square(tf.layers.dense(h, 12) - x))\n"


@pytest.mark.parametrize(
    ("side", "place"),
    [
        ("side = tf.layers.dense(tf.ones([2, 5]), 4)", "inside"),  # dense_1, between dense and dense_2
        ("side = tf.layers.dense(z_in, 4)", "inside"),
        ("side = tf.layers.dense(tf.ones([2, 5]), 4, name='side')", "before"),
        ("side = tf.layers.dense(z_in, 4, name='side')", "after"),
    ],
)
def test_layers_keep_the_numbers_in_their_names(side: str, place: str) -> None:
    found = dict(zip(("before", "inside", "after"), parts(HEAD + NUMBERED.format(side=side) + STEP), strict=True))
    assert [name for name, lines in found.items() if side in lines] == [place]


DECODER = """\
def decoder(z, reuse=None):
    with tf.variable_scope('decoder', reuse=reuse):
        return tf.layers.dense(z, 12, name='out')


"""
GENERATED = "mean = tf.layers.dense(x, 3, name='mean')\n{side}\n{out}\nloss = tf.reduce_mean(tf.square(out - x))\n"


def test_what_the_towers_reuse_is_made_in_front_of_them() -> None:
    side = "with tf.variable_scope('decoder'):\n    side = tf.layers.dense(z_in, 12, name='out')"
    out = "with tf.variable_scope('decoder', reuse=True):\n    out = tf.layers.dense(mean, 12, name='out')"
    before, inside, after = parts(HEAD + GENERATED.format(side=side, out=out) + STEP)
    assert before.index("side = tf.layers.dense(z_in, 12, name='out')") > before.index("batch_size = 16 * num_gpus")
    assert "out = tf.layers.dense(mean, 12, name='out')" in inside
    assert not any("side" in line for line in [*inside, *after] if "sess.run" not in line)


def test_what_each_tower_computes_of_another_input_is_not_merged() -> None:
    calls = GENERATED.format(side="side = decoder(z_in)", out="out = decoder(mean, reuse=True)")
    before, inside, after = parts(HEAD + DECODER + calls + STEP)
    assert inside.index("side = decoder(z_in)") < inside.index("out = decoder(mean, reuse=True)")
    assert not any("side" in line for line in [*before, *after] if "sess.run" not in line)
    assert "(x,), rows, weight = shard([x_batch], gpu)" in inside


def test_what_a_tower_computes_of_its_shard_and_of_another_input_is_refused() -> None:
    calls = GENERATED.format(side="side = decoder(mean + z_in)", out="out = decoder(mean, reuse=True)")
    assert codes(HEAD + DECODER + calls + STEP.replace("{z_in: codes}", "{x: data[:9], z_in: codes}")) == ["TMG210"]


def test_what_can_be_computed_after_the_loop_of_both_is_converted() -> None:
    calls = GENERATED.format(side="", out="out = tf.layers.dense(mean, 12, name='out')") + "side = mean + z_in\n"
    _, inside, after = parts(HEAD + calls + STEP.replace("{z_in: codes}", "{x: data[:9], z_in: codes}"))
    assert "side = mean + z_in" in after and "mean = tf.concat(tower_mean, 0)" in after
    assert not any("side" in line for line in inside)


REUSING = """\
def decoder(z, reuse=False):
    if reuse:
        tf.get_variable_scope().reuse_variables()
    return tf.matmul(z, tf.get_variable('w', [3, 12]))


with tf.variable_scope(tf.get_variable_scope()):
    mean = tf.matmul(x, tf.get_variable('v', [12, 3]))
    out = decoder(mean)
with tf.variable_scope(tf.get_variable_scope()):
    {side}
loss = tf.reduce_mean(tf.square(out - x))
"""


@pytest.mark.parametrize(
    ("side", "place"),
    [
        ("side = decoder(codes, reuse=True)", "after"),
        ("side = tf.matmul(codes, tf.get_variable('u', [3, 12]))", "before"),  # a variable of its own
    ],
)
def test_what_a_scope_set_to_be_reused_finds_is_there_before(side: str, place: str) -> None:
    given = "codes = tf.constant([[0.1, 0.2, 0.3]])\n"
    split = parts(HEAD + given + REUSING.format(side=side) + STEP)
    found = dict(zip(("before", "inside", "after"), split, strict=True))
    assert [name for name, lines in found.items() if side in lines] == [place]
