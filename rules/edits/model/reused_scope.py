"""Scopes that a statement of the model sets to be reused."""

from __future__ import annotations

from converter.rule import Rule

RULES = (
    Rule(
        code="TMG123",
        title="a scope that the model sets to be reused is reused in each tower from there on, and after the loop",
        why="From reuse_variables() on a scope hands out the variables that it has; before, it makes them. So the "
        "call stays where it is among the statements of the model: in front of them the first tower would find no "
        "variables. Each tower stands in a scope of its own, which begins anew, so a script that sets the scope "
        "around the loop (`with tf.variable_scope('net') as scope:`) says tf.get_variable_scope() in the towers "
        "instead. After the loop the script's own scope is set as it was on one GPU, for what is built there. A model "
        "that asks a scope whether it is reused (`if not scope.reuse:`, `assert scope.reuse is False`) gets in each "
        "tower the answer that it gets on one GPU, by ScopeReuse: else no tower but the first would add its weight "
        "decay, or the assertion would fail.",
        before="""\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Z = tf.placeholder(tf.float32, [None, 784])
with tf.variable_scope('critic') as scope:
    real = tf.layers.dense(X, 1, name='score')
    scope.reuse_variables()
    fake = tf.layers.dense(Z, 1, name='score')
    loss = tf.reduce_mean(fake) - tf.reduce_mean(real)
    train_op = tf.train.GradientDescentOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, noise = next_batch(batch_size)
        sess.run(train_op, {X: images, Z: noise})
""",
        after="""\
with tf.variable_scope('critic') as scope:
    for gpu in range(num_gpus):
            real = tf.layers.dense(X, 1, name='score')
            tf.get_variable_scope().reuse_variables()
            fake = tf.layers.dense(Z, 1, name='score')
    scope.reuse_variables()
""",
        references=(
            "tf.VariableScope.reuse_variables; a scope that is opened by another one is a copy of it "
            "(tensorflow/python/ops/variable_scope.py, _pure_variable_scope, 1.15)",
        ),
    ),
)
