"""Values that one run computes of the whole batch, and that the training run is fed: they are inputs of the towers."""

from __future__ import annotations

from tests.scripts import body, codes

SCRIPT = """\
import tensorflow as tf

batch_size = 32
ops = {{}}
X = tf.placeholder(tf.float32, [None, 4])
Y = tf.placeholder(tf.float32, [None, 1])
A = tf.placeholder(tf.float32, [None, 3])
made = tf.layers.dense(X, 1)
w = tf.to_float(A)
ratio = tf.reduce_mean({of}, axis=0)
w = tf.reduce_sum(w * ratio, axis=1)
ops['w'] = w
loss = tf.reduce_mean(tf.reduce_sum(tf.square(made - Y), axis=1) * w)
train_op = tf.train.AdamOptimizer(0.01).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(9):
        xs, ys, marks = next_batch(batch_size)
        weights = sess.run(ops['w'], {{X: xs, A: marks}})
        sess.run(train_op, {{X: xs, Y: ys, A: marks{fed}}})
"""
FED = ", ops['w']: weights"


def test_what_leads_to_them_stays_in_front() -> None:
    text = SCRIPT.format(of="w", fed=FED)
    lines = body(text)
    assert codes(text) == []
    loop = lines.index("for gpu in range(num_gpus):")
    for line in ("w = tf.to_float(A)", "ratio = tf.reduce_mean(w, axis=0)", "w = tf.reduce_sum(w * ratio, axis=1)"):
        assert lines.index(line) < loop
    assert "(X, Y, w), rows, weight = shard([X_batch, Y_batch, w_batch], gpu)" in "\n".join(lines)


def test_of_the_model_they_cannot_stand_in_front() -> None:
    assert codes(SCRIPT.format(of="made", fed=FED))


def test_what_no_run_is_fed_is_computed_in_the_towers() -> None:
    lines = body(SCRIPT.format(of="w", fed=""))
    loop = lines.index("for gpu in range(num_gpus):")
    assert [line.strip() for line in lines].index("ratio = tf.reduce_mean(w, axis=0)") > loop
