"""Optimizers: one instance outside the loop; each tower computes gradients, their average is applied once."""

from __future__ import annotations

from converter.rule import Rule

RULES = (
    Rule(
        code="TMG101",
        title="gradients are computed in every tower and applied once",
        why="minimize() computes the gradients and applies them. Called in every tower it would take N "
        "steps where the script takes one, each on a part of the batch, and count the global step up N "
        "times. So the two halves are parted: each tower computes the gradients of its share of the "
        "loss, on its own GPU, and one apply_gradients() after the loop takes their average. The "
        "optimizer is made once, before the loop, so that its slot variables (momentum, Adam's m and v) "
        "exist once and keep their names: old checkpoints go on loading. Sparse gradients of embeddings "
        "stay sparse.",
        before="""\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
logits = tf.layers.dense(X, 10)
loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(logits=logits, labels=Y))
step = tf.train.get_or_create_global_step()
train_op = tf.train.AdamOptimizer(0.001).minimize(loss, global_step=step)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels})
""",
        after="""\
optimizer = tf.train.AdamOptimizer(0.001)
tower_loss, tower_grads = [], []
for gpu in range(num_gpus):
        logits = tf.layers.dense(X, 10)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(logits=logits, labels=Y))
        tower_grads.append(optimizer.compute_gradients(loss * weight))
        tower_loss.append(loss * weight)
loss = tf.add_n(tower_loss)
train_op = optimizer.apply_gradients(sum_gradients(tower_grads), global_step=step)
""",
        references=(
            "tf.train.Optimizer.minimize: compute_gradients and apply_gradients in one "
            "(tensorflow/python/training/optimizer.py, 1.15)",
            "docs: TMG102, where the gradients are taken elsewhere",
        ),
    ),
    Rule(
        code="TMG102",
        title="gradients are taken where the script takes them, over the losses of all towers",
        why="A script that works on its gradients (clips them, adds noise, looks at their norm), or that "
        "minimises a loss in another function or scope than the one that builds it, keeps that order. "
        "Where it calls compute_gradients(), tf.gradients() or such a minimize(), it gets the average "
        "over the towers, each tower's part computed on its own GPU. What it does to the gradients then "
        "happens once, to the average: clipping per tower instead would take other steps than the "
        "original.",
        before="""\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
logits = tf.layers.dense(X, 10)
loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(logits=logits, labels=Y))
optimizer = tf.train.AdamOptimizer(0.001)
grads, variables = zip(*optimizer.compute_gradients(loss))
grads, norm = tf.clip_by_global_norm(grads, 5.0)
train_op = optimizer.apply_gradients(zip(grads, variables))

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels})
""",
        after="""\
tower_loss = []
for gpu in range(num_gpus):
        logits = tf.layers.dense(X, 10)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(logits=logits, labels=Y))
        tower_loss.append(loss * weight)
loss = tf.add_n(tower_loss)
optimizer = tf.train.AdamOptimizer(0.001)
grads, variables = zip(*tower_gradients(optimizer, tower_loss))
grads, norm = tf.clip_by_global_norm(grads, 5.0)
train_op = optimizer.apply_gradients(zip(grads, variables))
""",
        references=(
            "tf.gradients(ys, xs): TensorFlow places a gradient beside the operation that it belongs to "
            "(colocate_gradients_with_ops) only on request; the helper opens the tower's device again",
            "docs: TMG101, where minimize() stands beside the model",
        ),
    ),
    Rule(
        code="TMG118",
        title="functions that build a whole training step get the towers' gradients",
        why="slim.learning.create_train_op, tf.contrib.training.create_train_op and "
        "tf.contrib.layers.optimize_loss compute gradients, clip or scale them, write summaries, apply "
        "them and run update ops in one call. They stay as they are; the optimizer that they are given "
        "is put into one that computes the average of the towers' gradients and leaves the rest to it. "
        "So everything that the function does to the gradients happens once, and the optimizer's "
        "variables keep their names.",
        before="""\
import tensorflow as tf

slim = tf.contrib.slim
batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
logits = slim.fully_connected(X, 10, activation_fn=None)
loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
optimizer = tf.train.AdamOptimizer(0.001)
train_op = slim.learning.create_train_op(loss, optimizer, clip_gradient_norm=5.0)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels})
""",
        after="""\
class TowerOptimizer(tf.train.Optimizer):
        tower_loss.append(loss * weight)
loss = tf.add_n(tower_loss)
optimizer = tf.train.AdamOptimizer(0.001)
train_op = slim.learning.create_train_op(loss, TowerOptimizer(optimizer, tower_loss), clip_gradient_norm=5.0)
""",
        references=(
            "tf.contrib.training.create_train_op (tensorflow/contrib/training/python/training/training.py, 1.15)",
            "tf.contrib.layers.optimize_loss (tensorflow/contrib/layers/python/layers/optimizers.py, 1.15)",
        ),
    ),
    Rule(
        code="TMG113",
        title="the learning rate is scaled, on request",
        why="A step of N towers averages the gradients of N batches; the learning rate stays what the "
        "script says unless --scale-lr asks for more: `linear` multiplies it by the number of GPUs, "
        "`sqrt` by its square root. Large batches often need one of them to learn as much in an epoch, "
        "and a warm-up with it; neither is the same training as on one GPU, so neither is the default. "
        "Where the optimizer is made without a rate, its default is written out.",
        options=("--scale-lr", "linear"),
        before="""\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
logits = tf.layers.dense(X, 10)
loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(logits=logits, labels=Y))
train_op = tf.train.MomentumOptimizer(0.01, 0.9).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels})
""",
        after="""\
optimizer = tf.train.MomentumOptimizer(0.01 * num_gpus, 0.9)
""",
        references=(
            "Goyal et al., Accurate, Large Minibatch SGD: Training ImageNet in 1 Hour, 2017 (linear, warm-up)",
            "Krizhevsky, One weird trick for parallelizing convolutional neural networks, 2014 (square root)",
        ),
    ),
)
