"""Recurrent nets: cells, and the functions that unroll them over time."""

from __future__ import annotations

from converter.rule import Rule

RULES = (
    Rule(
        code="TMG108",
        title="batch sizes that the model reads mean one shard inside the towers",
        why="Models read the batch size: zero_state(batch_size, …), reshape to [batch_size, -1], a sum "
        "divided by it. On the host that number becomes the size of the global batch, inside the towers "
        "the model has only its shard; with the global number the state of a recurrent net would not "
        "fit its inputs, and a sum divided by it would be too small. So the name is re-bound to the "
        "shard's size inside the loop and restored after it. Where the number is fed to a placeholder, each tower "
        "counts its rows instead: tf.shape(X)[0]. Where placeholders have a fixed batch size "
        "the shards have fixed sizes too, for code that reads x.get_shape()[0].",
        before="""\
import tensorflow as tf

batch_size = 16
X = tf.placeholder(tf.float32, [batch_size, 20, 8])
Y = tf.placeholder(tf.float32, [batch_size, 1])
cell = tf.nn.rnn_cell.GRUCell(32)
outputs, state = tf.nn.dynamic_rnn(cell, X, initial_state=cell.zero_state(batch_size, tf.float32))
loss = tf.reduce_mean(tf.square(tf.layers.dense(state, 1) - Y))
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        series, targets = next_batch(batch_size)
        sess.run(train_op, {X: series, Y: targets})
""",
        after="""\
batch_size = 16 * num_gpus
X = tf.placeholder(tf.float32, [batch_size, 20, 8])
X_batch, Y_batch, global_batch_size = X, Y, batch_size
for gpu in range(num_gpus):
        (X, Y), rows, weight = shard_static([X_batch, Y_batch], gpu)
        batch_size = shard_size(global_batch_size, gpu)
        outputs, state = tf.nn.dynamic_rnn(cell, X, initial_state=cell.zero_state(batch_size, tf.float32))
X, Y, batch_size = X_batch, Y_batch, global_batch_size
""",
        references=(
            "tf.nn.rnn_cell.RNNCell.zero_state(batch_size, dtype)",
            "docs: TMG110, the number on the host",
        ),
    ),
)
