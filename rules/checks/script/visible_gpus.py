"""Scripts that select one visible GPU: towers need one each."""

from __future__ import annotations

from converter.planner.found import Found
from converter.planner.wording import Words
from converter.rule import Rule

SCRIPT = """\
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


def script(environment: str = "", config: str = "with tf.Session() as sess:") -> str:
    """The example with other settings of the environment and of the session."""
    return SCRIPT.replace("{environment}", environment).replace("{config}", config)


_LIST = (
    "config = tf.ConfigProto()\n"
    "config.gpu_options.visible_device_list = {}\n"
    "with tf.Session(config=config) as sess:"
)

RULES = (
    Rule(
        code="TMG264",
        title="the script computes which GPUs are visible",
        why="The script fills visible_device_list with what it computes when it runs. Each tower needs a GPU, and "
        "only the script's user knows which others are free. List as many as the towers need, or leave the choice to "
        "the environment variable CUDA_VISIBLE_DEVICES of the shell.",
        before=script(config=_LIST.format("choose_gpu()")),
        after=script(config=_LIST.format("'3,4'")),
        references=("docs: TMG128, scripts that name GPUs",),
    ),
    Rule(
        code="TMG330",
        title="which GPUs are visible shows when the script runs",
        why="The script sets CUDA_VISIBLE_DEVICES to a value that it computes, from a flag as a rule; or the towers "
        "are counted when it runs, by the GPUs that it makes visible. Give as many GPUs there as there are towers: "
        "with fewer the script ends (TMG129), and counted towers are as few as they.",
        before=script("os.environ['CUDA_VISIBLE_DEVICES'] = choose_gpu()\n"),
        after=script(),
        references=("docs: TMG129, fewer GPUs than towers",),
    ),
    Rule(
        code="TMG332",
        title="the script named fewer GPUs than there are towers, and names the first ones now",
        why="The script makes one GPU visible, or a few, by CUDA_VISIBLE_DEVICES or visible_device_list: the first, "
        "or one that was free on its author's machine. Now it makes the first ones visible, one for each tower "
        "(TMG128). Where other programs use these, name others in their place.",
        before=script("os.environ['CUDA_VISIBLE_DEVICES'] = '3'\n"),
        after=script("os.environ['CUDA_VISIBLE_DEVICES'] = '0,1'\n"),
        references=("docs: TMG128, scripts that name GPUs",),
    ),
)

WORDS = {
    Found.GPUS_TOLD_WHEN_RUN: Words(
        "TMG330",
        "{what} is set here, and decides how many GPUs are visible",
        "list as many GPUs there as there are towers; fewer end the script",
    ),
    Found.FEWER_GPUS_NAMED: Words(
        "TMG332",
        "{what} named fewer GPUs ({named}) than there are towers: it names the first ones now",
        "if these are not free, name others here",
    ),
    Found.UNKNOWN_GPUS: Words(
        "TMG264",
        "{what} names GPUs that are not known, and {towers} towers need {towers} of them",
        "list {towers} GPUs here, or leave it to the environment",
    ),
}
