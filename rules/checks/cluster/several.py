"""Scripts that cannot be one of several processes."""

from __future__ import annotations

from converter.rule import Rule
from rules.checks.cluster import SCRIPT, changed

RULES = (
    Rule(
        code="TMG259",
        title="the script cannot be one of several processes",
        why="A script that starts servers of its own, names the hosts of a cluster or averages by Horovod is made for "
        "several processes already; a second cluster inside of the first would train something else. The worker takes "
        "--worker_hosts and --task_index from the command line before the script reads it, so a script with flags of "
        "these names would never see them. And --batch total asks that the workers share a batch of the script, which "
        "is only possible where it can be cut by rows: where the graph is built for one size of batch it cannot.",
        before=changed(
            "with tf.Session() as sess:",
            "server = tf.train.Server.create_local_server()\nwith tf.Session(server.target) as sess:",
        ),
        after=SCRIPT,
        options=("--target", "cluster"),
    ),
)
