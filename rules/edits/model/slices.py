"""Variables that are cut into slices (`--variables partitioned`)."""

from __future__ import annotations

from converter.rule import Rule
from rules.checks.partitioned.scripts import PARTITIONED, script

RULES = (
    Rule(
        code="TMG139",
        title="large variables are cut into a slice for each GPU",
        why="In every step all towers read all variables and send gradients of them. A variable that lives on one "
        "GPU leaves it N-1 times in a step and comes back as often, however well the others are spread. With "
        "--variables partitioned a custom getter cuts every variable of tf.get_variable, tf.layers, slim and "
        "recurrent cells whose slices have 1 KiB or more; each GPU holds one slice, and updates it. The busiest "
        "device then moves 2(N-1)/N times the bytes of the parameters, which is the least that any all-reduce can "
        "do. A slice is a variable of its own for TensorFlow (kernel/part_0), but the saver writes all slices of a "
        "variable, and their slots, under its name: checkpoints go both ways, as before. All slices begin with parts "
        "of one initial value. Towers read the whole variable: each puts it together once. Small variables stay "
        "whole and are spread by size. Tables of which tf.nn.embedding_lookup takes rows are cut along their rows, "
        "and the look-up is told so by partition_strategy='div': only rows travel, from all GPUs alike. `verify` "
        "puts the slices together before it compares. It needs TensorFlow 1.12 or newer. --variables balanced leaves "
        "every variable whole, also large ones, as nothing in a script has to know of it; `profile` says what each "
        "placement costs.",
        before=script(),
        after="""\
def cut_variables(*kept, **names):
tf.get_variable_scope().set_custom_getter(cut_variables())
for gpu in range(num_gpus):
    with tf.device(tower_device(gpu)), tf.name_scope('tower_%d' % gpu), \\
""",
        references=(
            "tf.fixed_size_partitioner, PartitionedVariable (tensorflow/python/ops/variables.py, 1.15)",
            "SaveSliceInfo: slices under the name of the whole (saveable_object_util.py, slot_creator.py, 1.15)",
        ),
        options=PARTITIONED,
    ),
)
