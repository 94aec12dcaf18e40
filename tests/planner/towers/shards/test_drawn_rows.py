"""Losses that depend on noise drawn in the graph and on no input: each tower draws its own rows."""

from __future__ import annotations

import pytest

from tests.scripts import codes, parts

GAN = """\
import tensorflow as tf

batch_size = 32
X = tf.placeholder(tf.float32, [None, 4])
{}
fake = tf.layers.dense(z, 4, name='generator')
real_score = tf.layers.dense(X, 1, name='critic')
fake_score = tf.layers.dense(fake, 1, name='critic', reuse=True)
critic_loss = tf.reduce_mean(fake_score) - tf.reduce_mean(real_score)
loss = -tf.reduce_mean(fake_score)
train_critic = tf.train.AdamOptimizer().minimize(critic_loss, var_list=some)
train_op = tf.train.AdamOptimizer().minimize(loss, var_list=others)
with tf.Session() as sess:
    for step in range(100):
        sess.run(train_critic, {{X: next_batch(batch_size)}})
        sess.run(train_op)
"""
ALONE = """\
import tensorflow as tf

batch_size = 32
z = {}
loss = tf.reduce_mean(tf.square(tf.layers.dense(z, 1)))
train_op = tf.train.AdamOptimizer().minimize(loss)
with tf.Session() as sess:
    for step in range(100):
        sess.run(train_op)
"""


@pytest.mark.parametrize(
    "draw",
    [
        "tf.random_normal([batch_size, 8])",
        "tf.random_normal(shape=(batch_size, 8), stddev=0.5)",
        "tf.random.normal([batch_size, 8])",
        "tf.random_uniform([batch_size, 8], -1.0, 1.0)",
        "tf.truncated_normal([batch_size, 8])",
        "tf.random.truncated_normal([batch_size, 8])",
        "tf.random_uniform([batch_size * 2, 8])",
    ],
)
def test_its_weight_follows_the_batch_size(draw: str) -> None:
    before, inside, _ = parts(GAN.format(f"z = {draw}"))
    assert "batch_size = 32 * num_gpus" in before
    assert "(X,), rows, weight = shard([X_batch], gpu)" in inside
    assert "rows_drawn, weight_drawn = shard_drawn(global_batch_size, gpu)" in inside
    assert f"z = {draw}" in inside
    assert "tower_critic_loss.append(critic_loss * weight)" in inside
    assert "tower_loss.append(loss * weight_drawn)" in inside


def test_what_is_read_of_it_needs_no_feed() -> None:
    script = GAN.format("z = tf.random_normal([batch_size, 8])") + "        print(sess.run([fake, real_score]))\n"
    _, inside, _ = parts(script)
    assert "tower_fake.append(fake[:rows_drawn])" in inside
    assert "tower_real_score.append(real_score[:rows])" in inside


@pytest.mark.parametrize("draw", ["tf.random_normal([batch_size, 8])", "tf.random_uniform([batch_size, 8])"])
def test_a_script_without_any_input(draw: str) -> None:
    before, inside, _ = parts(ALONE.format(draw))
    assert "batch_size = 32 * num_gpus" in before
    assert "rows, weight = shard_drawn(global_batch_size, gpu)" in inside


@pytest.mark.parametrize(
    ("draw", "code"),
    [
        ("tf.random_normal([32, 8])", "TMG202"),  # nothing says that 32 counts examples
        ("tf.zeros([batch_size, 8])", "TMG202"),
        ("tf.get_variable('z', [4, 8])", "TMG202"),
        ("other.layer(tf.random_normal([batch_size, 8]))", "TMG241"),
        ("noise()\n", "TMG205"),  # its own default cannot be re-bound
    ],
)
def test_near_misses(draw: str, code: str) -> None:
    own = "import other\n\n\ndef noise(batch_size=32):\n    return tf.random_normal([batch_size, 8])\n\n\n"
    assert codes(own + ALONE.format(draw)) == [code]


SAMPLED = """\
import tensorflow as tf

batch_size = 32
x = tf.placeholder(tf.float32, [None, 4])
with tf.variable_scope('decoder'):
    recons = tf.layers.dense(tf.layers.dense(x, 8, name='encoder'), 4, name='out')
with tf.variable_scope('decoder', reuse=True):
    sampled = tf.layers.dense({}, 4, name='out')
critic = tf.layers.dense(sampled, 1, name='critic') - tf.layers.dense(recons, 1, name='critic', reuse=True)
loss = tf.reduce_mean(tf.square(recons - x)) + tf.reduce_mean(critic)
train_op = tf.train.AdamOptimizer().minimize(loss)
with tf.Session() as sess:
    for step in range(100):
        sess.run(train_op, {{x: next_batch(batch_size)}})
    print(sess.run(sampled))
"""


def test_noise_beside_an_input_is_merged_by_its_own_rows() -> None:
    _, inside, _ = parts(SAMPLED.format("tf.random_normal([batch_size, 8])"))
    assert "rows_drawn, weight_drawn = shard_drawn(global_batch_size, gpu)" in inside
    assert "tower_sampled.append(sampled[:rows_drawn])" in inside
    assert "tower_loss.append(loss * weight)" in inside


def test_what_an_input_reaches_is_merged_by_its_rows() -> None:
    _, inside, _ = parts(SAMPLED.format("tf.layers.dense(x, 8, name='mean') + tf.random_normal([batch_size, 8])"))
    assert "tower_sampled.append(sampled[:rows])" in inside and "drawn" not in "".join(inside)


@pytest.mark.parametrize(
    "made", ["tf.zeros([batch_size, 8])", "tf.ones((batch_size, 8))", "tf.fill([batch_size, 8], 0.5)"]
)
def test_batches_that_only_the_batch_size_makes_are_merged_by_its_rows(made: str) -> None:
    _, inside, _ = parts(SAMPLED.format(made))
    assert "rows_drawn, weight_drawn = shard_drawn(global_batch_size, gpu)" in inside
    assert "tower_sampled.append(sampled[:rows_drawn])" in inside
    assert "tower_loss.append(loss * weight)" in inside


@pytest.mark.parametrize("draw", ["tf.zeros", "tf.random_normal"])
def test_of_several_rows_for_each_example_all_are_merged(draw: str) -> None:
    _, inside, _ = parts(SAMPLED.format(f"{draw}([batch_size * 2, 8])"))
    assert "tower_sampled.append(sampled[:tf.shape(sampled)[0] * tf.minimum(rows_drawn, 1)])" in inside


def test_beside_an_input_of_a_fixed_size_nothing_is_trimmed() -> None:
    script = SAMPLED.replace("[None, 4]", "[batch_size, 4]").format("tf.zeros([batch_size, 8])")
    _, inside, _ = parts(script)
    assert "tower_sampled.append(sampled)" in inside and "drawn" not in "".join(inside)


STATE = """\
import tensorflow as tf

batch_size = 8
x = tf.placeholder(tf.float32, [None, 5, 3])
cell = tf.nn.rnn_cell.{cell}(4)
start = cell.zero_state(batch_size, tf.float32)
outputs, state = tf.nn.dynamic_rnn(cell, x, initial_state=start)
loss = tf.reduce_mean(tf.square(outputs))
train_op = tf.train.AdamOptimizer().minimize(loss)
with tf.Session() as sess:
    for step in range(100):
        sess.run(train_op, {{x: next_batch(batch_size)}})
    print(sess.run(start))
"""


@pytest.mark.parametrize(
    ("cell", "part"),
    [("GRUCell", "start[:rows_drawn]"), ("LSTMCell", "map_structure(lambda t: t[:rows_drawn], start)")],
)
def test_a_starting_state_can_be_run_without_feeds(cell: str, part: str) -> None:
    _, inside, _ = parts(STATE.format(cell=cell))
    assert f"tower_start.append({part})" in inside


def test_a_batch_size_of_flags_is_no_multiple() -> None:
    flag = "tf.app.flags.DEFINE_integer('batch_size', 8, '')\nbatch_size = tf.app.flags.FLAGS.batch_size\n"
    _, inside, _ = parts(STATE.format(cell="GRUCell").replace("batch_size = 8\n", flag))
    assert "tower_start.append(start[:rows_drawn])" in inside
