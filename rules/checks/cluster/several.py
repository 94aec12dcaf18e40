"""Scripts that cannot be one of several processes."""

from __future__ import annotations

from converter.rule import Rule
from rules.checks.cluster import SCRIPT, changed

RULES = (
    Rule(
        code="TMG259",
        title="the script cannot be one of several processes",
        why="The worker takes --worker_hosts and --task_index from the command line before the script reads it, so a "
        "script with flags of these names would never see them. And --batch total asks that the workers share a batch "
        "of the script, which is only possible where it can be cut by rows: where the graph is built for one size of "
        "batch it cannot. --shard files asks that each worker reads a part of the files: the script has to name them "
        "in one call that serves the training alone (tf.data.TFRecordDataset(names), tf.data.Dataset.list_files, "
        "tf.train.string_input_producer), as an evaluation needs them all.",
        before=changed("batch_size = 64\n", "tf.app.flags.DEFINE_integer('task_index', 0, '')\nbatch_size = 64\n"),
        after=SCRIPT,
        options=("--target", "cluster"),
    ),
)
