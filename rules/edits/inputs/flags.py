"""Command line flags: the number of GPUs becomes one beside them."""

from __future__ import annotations

from converter.rule import Rule

RULES = (
    Rule(
        code="TMG112",
        title="the number of GPUs is a flag where the script has flags, else a constant",
        why="A script with a command line (argparse, tf.app.flags, absl) gets --num_gpus beside its own "
        "flags, so that the number is chosen as everything else is; any other script gets a constant "
        "among the helpers, in capitals where its own constants are. So does one whose batch size is computed before "
        "the command line can be parsed: at the top of a file, above the flags. --num-gpus of the conversion is "
        "its default. With --num-gpus auto the default is counted when the script starts, from "
        "CUDA_VISIBLE_DEVICES and nvidia-smi: device_lib.list_local_devices() would take the memory of "
        "all GPUs for the answer.",
        before="""\
import argparse

import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument('--batch_size', type=int, default=64)
args = parser.parse_args()

X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
logits = tf.layers.dense(X, 10)
loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(logits=logits, labels=Y))
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(args.batch_size)
        sess.run(train_op, {X: images, Y: labels})
""",
        after="""\
num_gpus = 2
parser.add_argument('--batch_size', type=int, default=64)
parser.add_argument('--num_gpus', type=int, default=num_gpus, help='number of GPUs to train on')
args = parser.parse_args()
num_gpus = args.num_gpus
for gpu in range(num_gpus):
        images, labels = next_batch(args.batch_size * num_gpus)
""",
        references=(
            "tensorflow.python.client.device_lib.list_local_devices: initialises every GPU (all versions)",
        ),
    ),
)
