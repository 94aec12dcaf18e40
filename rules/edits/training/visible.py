"""Scripts that make only one GPU visible: each tower needs one."""

from __future__ import annotations

from converter.rule import Rule
from rules.checks.script.visible_gpus import script

RULES = (
    Rule(
        code="TMG128",
        title="a script that makes fewer GPUs visible than there are towers makes one visible for each",
        why="With CUDA_VISIBLE_DEVICES, visible_device_list or device_count a script makes only some of the GPUs "
        "visible to TensorFlow. All towers would then compute on these, and soft placement would hide it. Where fewer "
        "are named than there are towers, the first ones are named instead, one for each tower. A number "
        "that the script computes goes on choosing between GPUs and the CPU: where it is 0 there, it is 0.",
        before=script(config="with tf.Session(config=tf.ConfigProto(device_count={'GPU': 1})) as sess:"),
        after="config = tf.ConfigProto(device_count={'GPU': num_gpus})\n",
        references=("gpu_options.visible_device_list, device_count (tensorflow/core/protobuf/config.proto, 1.15)",),
    ),
    Rule(
        code="TMG129",
        title="the script stops if it finds fewer GPUs than towers",
        why="Towers that share a GPU compute the right numbers, at the speed of one. Before the towers are built the "
        "script counts the GPUs that it may see, by the driver's list (/proc/driver/nvidia/gpus) and "
        "CUDA_VISIBLE_DEVICES, without initialising CUDA or taking memory. Where there are fewer than towers, it "
        "ends with a message. Where there is none, or no such list, it goes on: the CPU computes the towers. The "
        "environment variable FEWER_GPUS=allow lets it pass for one run, `--fewer-gpus allow` leaves the check out.",
        before=script(),
        after="check_gpus()\n",
        references=("docs: TMG112, the number of GPUs",),
    ),
)
