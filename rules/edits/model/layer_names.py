"""Default names of layers that are made after the towers."""

from __future__ import annotations

from converter.rule import Rule

RULES = (
    Rule(
        code="TMG122",
        title="layers that are made after the loop get the names that they have on one GPU",
        why="A layer without a name is called after its kind and counted: dense, dense_1. Each tower starts "
        "counting anew, which is how it finds the first one's variables; after the loop the count stands "
        "where it stood before. A layer made there would take a name that the model has already, and "
        "fail or share its variables. LayerNames counts on from where the first tower left off, so that its "
        "variables have the names that old checkpoints know. The slots of an optimizer are counted in the same "
        "way, under the names of their variables: where a model is built again with the same variables, and a "
        "training step with it, its optimizer finds the slots of the first.",
        before="""\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.float32, [None, 1])
prediction = tf.layers.dense(X, 1)
loss = tf.reduce_mean(tf.square(prediction - Y))
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)
baseline = tf.layers.dense(X, 1)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, targets = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: targets})
""",
        after="""\
layer_names = LayerNames()
for gpu in range(num_gpus):
        prediction = tf.layers.dense(X, 1)
layer_names.resume()
baseline = tf.layers.dense(X, 1)
""",
        references=(
            "tf.variable_scope with default_name: unique names are counted by scope "
            "(tensorflow/python/ops/variable_scope.py, _get_unique_variable_scope, 1.15)",
        ),
    ),
)
