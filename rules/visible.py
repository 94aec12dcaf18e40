"""Scripts that show themselves one GPU: towers need as many as there are of them."""

from __future__ import annotations

from converter.rule import Rule

_SCRIPT = """\
import os

import tensorflow as tf

{environment}batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
loss = tf.losses.sparse_softmax_cross_entropy(Y, tf.layers.dense(X, 10))
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

{config}
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels})
"""


def _script(environment: str = "", config: str = "with tf.Session() as sess:") -> str:
    return _SCRIPT.replace("{environment}", environment).replace("{config}", config)


_LIST = (
    "config = tf.ConfigProto()\n"
    "config.gpu_options.visible_device_list = {}\n"
    "with tf.Session(config=config) as sess:"
)

RULES = (
    Rule(
        code="TMG128",
        title="a script that shows itself the first GPU sees one for each tower",
        why="With CUDA_VISIBLE_DEVICES, visible_device_list or device_count a script shows TensorFlow fewer GPUs than "
        "there are. All towers would then compute on these, and soft placement would hide it. Where the first GPU "
        "is named, or a number of them, the first ones are named instead, one for each tower.",
        before=_script(config="with tf.Session(config=tf.ConfigProto(device_count={'GPU': 1})) as sess:"),
        after="config = tf.ConfigProto(device_count={'GPU': num_gpus})\n",
        references=("gpu_options.visible_device_list, device_count (tensorflow/core/protobuf/config.proto, 1.15)",),
    ),
    Rule(
        code="TMG129",
        title="fewer GPUs than towers end the script",
        why="Towers that share a GPU compute the right numbers, at the speed of one. When the last tower is placed the "
        "script counts the GPUs that it may see, by the driver's list (/proc/driver/nvidia/gpus) and "
        "CUDA_VISIBLE_DEVICES, without initialising CUDA or taking memory. Where there are fewer than towers, it "
        "ends with a message. Where there is none, or no such list, it goes on: the CPU computes the towers. The "
        "environment variable FEWER_GPUS=allow lets it pass for one run, `--fewer-gpus allow` leaves the check out.",
        before=_script(),
        after="    if gpu + 1 == num_gpus:\n        check_gpus()\n",
        references=("docs: TMG112, the number of GPUs",),
    ),
    Rule(
        code="TMG264",
        title="the script names a GPU of its own",
        why="The script shows itself one GPU, and not the first one, or one that is only known when it runs. Towers "
        "need as many as there are of them; which other ones are free only its user knows. List as many as the "
        "towers need, or leave the choice to the environment variable CUDA_VISIBLE_DEVICES of the shell.",
        before=_script(config=_LIST.format("'3'")),
        after=_script(config=_LIST.format("'3,4'")),
        references=("docs: TMG128, scripts that name the first GPU",),
    ),
    Rule(
        code="TMG330",
        title="which GPUs are visible shows when the script runs",
        why="The script sets CUDA_VISIBLE_DEVICES to a value that it computes, from a flag as a rule; or the towers "
        "are counted when it runs, by the GPUs that it shows itself. Give as many GPUs there as there are towers: with "
        "fewer the script ends (TMG129), and counted towers are as few as they.",
        before=_script("os.environ['CUDA_VISIBLE_DEVICES'] = choose_gpu()\n"),
        after=_script(),
        references=("docs: TMG129, fewer GPUs than towers",),
    ),
    Rule(
        code="TMG332",
        title="the script named the first GPU alone, and names one for each tower now",
        why="The script shows itself the first GPU, by CUDA_VISIBLE_DEVICES or visible_device_list. It shows itself "
        "the first ones now, one for each tower (TMG128). Where other programs use these, name others in their place.",
        before=_script("os.environ['CUDA_VISIBLE_DEVICES'] = '0'\n"),
        after=_script("os.environ['CUDA_VISIBLE_DEVICES'] = '0,1'\n"),
        references=("docs: TMG128, scripts that name the first GPU",),
    ),
)
