"""Blocks that wait for a training step and read the variables that it has changed."""

from __future__ import annotations

from converter.rule import Rule

RULES = (
    Rule(
        code="TMG148",
        title="what waits for a training step reads the variables behind it on every GPU",
        why="Under tf.control_dependencies([train_op]) operations run after the update. On one GPU they also read the "
        "updated variables, as a variable without use_resource hands out its memory: weights are clipped after each "
        "step so, and a generator's gradients are taken through the discriminator that has just been trained. A GPU "
        "that does not hold the variable reads a copy of it, which TensorFlow makes when the step begins, and "
        "so before the update: weights would be reset to the clipped old ones, and gradients taken through old "
        "weights. Inside this helper's block operations read a copy that is made behind the update. Nothing changes "
        "for resource variables: a gradient there uses the values that the model has read, on one GPU too.",
        before="""\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
logits = tf.layers.dense(X, 10)
loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(logits=logits, labels=Y))
step = tf.train.AdamOptimizer(0.001).minimize(loss)
with tf.control_dependencies([step]):
    train_op = tf.group(*[v.assign(tf.clip_by_value(v, -0.1, 0.1)) for v in tf.trainable_variables()])

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels})
""",
        after="""\
with after_updates([step]):
    train_op = tf.group(*[v.assign(tf.clip_by_value(v, -0.1, 0.1)) for v in tf.trainable_variables()])
""",
        references=(
            "Identity of a reference: its output is the variable's buffer (core/common_runtime/executor.cc, 1.15)",
            "SameWorkerRecvDone: between devices it is copied as soon as it is there "
            "(core/common_runtime/rendezvous_mgr.cc, 1.15)",
            "PrepareToUpdateVariable: an update of a resource variable leaves alone what was read "
            "(core/kernels/training_op_helpers.h, 1.15)",
        ),
    ),
)
