"""--scale-steps: numbers of training steps follow the number of GPUs."""

from __future__ import annotations

from converter.rule import Rule

RULES = (
    Rule(
        code="TMG119",
        title="numbers of training steps are divided by the number of GPUs",
        why="A step on N GPUs trains on N times as many examples. A script that trains for a fixed number of steps "
        "therefore does N times the work, and takes about as long as on one GPU. With `--scale-steps divide` the "
        "numbers that count training steps are divided by the number of GPUs, so that the script trains on as many "
        "examples as before: the end of the training loop, `decay_steps` and boundaries of schedules, and the "
        "intervals at which the script logs, saves or evaluates. Numbers that follow the batch size (`len(data) // "
        "batch_size`) need no division. The learning rate stays; `--scale-lr` changes it.",
        options=("--scale-steps", "divide"),
        before="""\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
logits = tf.layers.dense(X, 10)
loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(logits=logits, labels=Y))
global_step = tf.train.get_or_create_global_step()
rate = tf.train.exponential_decay(0.1, global_step, 1000, 0.5)
train_op = tf.train.GradientDescentOptimizer(rate).minimize(loss, global_step=global_step)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(10000):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels})
        if step % 100 == 0:
            print(step)
""",
        after="""\
rate = tf.train.exponential_decay(0.1, global_step, fewer_steps(1000), 0.5)
    for step in range(fewer_steps(10000)):
        if step % fewer_steps(100) == 0:
""",
        references=(
            "tf.train.exponential_decay: the rate is divided at each multiple of decay_steps of the global step",
            "docs: TMG110, numbers that follow the batch size; TMG113, --scale-lr",
        ),
    ),
)
