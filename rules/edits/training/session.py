"""Sessions: they get a ConfigProto for several GPUs, and what is fed to them tells inputs from settings."""

from __future__ import annotations

from converter.rule import Rule

RULES = (
    Rule(
        code="TMG111",
        title="sessions use soft placement, and take GPU memory as they need it",
        why="Some operations have no GPU kernel (string and queue operations, some integer ones); inside a "
        "tower they are asked for a GPU, and without allow_soft_placement the session fails on the "
        "first of them. With it the script also still runs on a machine with fewer GPUs, so that a config that sets it "
        "to False gets it all the same, whether as an argument or by its attribute. By default "
        "TensorFlow takes all memory of all visible GPUs when the first session opens: allow_growth "
        "takes what is needed (--gpu-memory growth), a fraction can be set instead (--gpu-memory 0.4), "
        "and --gpu-memory all leaves it as it is. A config that the script has is completed, never "
        "replaced.",
        before="""\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
logits = tf.layers.dense(X, 10)
loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(logits=logits, labels=Y))
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session(config=tf.ConfigProto(log_device_placement=True)) as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels})
""",
        after="""\
config = tf.ConfigProto(log_device_placement=True)
config.allow_soft_placement = True
config.gpu_options.allow_growth = True
with tf.Session(config=config) as sess:
""",
        references=("tf.ConfigProto, tf.GPUOptions (tensorflow/core/protobuf/config.proto)",),
    ),
)
