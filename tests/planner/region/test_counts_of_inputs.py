"""The length of a list of inputs is the same in all towers; that of a batch taken apart is not."""

from __future__ import annotations

import pytest

from tests.scripts import codes

SCRIPT = """\
import tensorflow as tf

batch_size = 32
steps = load_steps()


class Model(object):
    def __init__(self, inputs, labels):
        self.inputs, self.labels = inputs, labels
        self.count = {count}
        self.build()

    def build(self):
        self.hidden = tf.layers.dense(tf.add_n(self.inputs) / self.count, 3)
        self.add_loss()
        self.add_step()

    def add_loss(self):
        logits = tf.nn.relu(self.hidden)
        self.loss = tf.losses.sparse_softmax_cross_entropy(self.labels, logits)

    def add_step(self):
        variables = tf.trainable_variables()
        grads, _ = tf.clip_by_global_norm(tf.gradients(self.loss, variables), 5.0)
        self.step = tf.train.AdamOptimizer(0.01).apply_gradients(zip(grads, variables))


x = [tf.placeholder(tf.float32, [None, 4]) for _ in range(0, steps)]
y = tf.placeholder(tf.int64, [None])
model = Model(x, y)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(9):
        xs, ys = next_batch(batch_size)
        feed = {{x[t]: xs[t] for t in range(0, steps)}}
        feed[y] = ys
        print(sess.run([model.step, model.loss], feed))
"""


@pytest.mark.parametrize(
    ("count", "found"),
    [
        ("len(inputs)", []),
        ("len({'x': inputs}['x']) + 1", []),
        ("len(tf.unstack(inputs[0]))", []),  # as many as a tower has examples: it is handed on
        ("len([2.0 * row for row in tf.unstack(inputs[0])])", []),
    ],
)
def test_a_length_that_the_model_is_built_by(count: str, found: list[str]) -> None:
    """It was taken for a number of the batch, made in front of the statement that builds the model and trains."""
    assert codes(SCRIPT.format(count=count)) == found
