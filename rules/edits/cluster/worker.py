"""What changes in a script that becomes a worker of a cluster."""

from __future__ import annotations

from converter.rule import Rule
from rules.checks.cluster import SCRIPT

RULES = (
    Rule(
        code="TMG168",
        title="the script becomes a worker of a cluster",
        why="The script carries a class that starts this process's tf.train.Server. A parameter server stays there; a "
        "worker builds the graph under replica_device_setter, so that variables live on the parameter servers, and "
        "trains in a MonitoredTrainingSession: the chief, worker 0, initialises variables or restores its last "
        "checkpoint, the others wait for it. SyncReplicasOptimizer applies the mean of the gradients of all "
        "workers, once. Statements that initialise variables go, as the session does that. Steps that the "
        "checkpoint holds are passed over, so that a worker that starts again goes on with the batches that come "
        "next.",
        before=SCRIPT,
        after="""\
with cluster.device():
    x = tf.placeholder(tf.float32, [None, 784])
    train_op = cluster.synchronous(tf.train.AdamOptimizer(0.001)).minimize(loss)
with cluster.session() as sess:
        if cluster.taken():
            continue  # the checkpoint holds this step
""",
        options=("--target", "cluster"),
        references=("tf.train.SyncReplicasOptimizer (tensorflow/python/training/sync_replicas_optimizer.py, 1.15)",),
    ),
    Rule(
        code="TMG169",
        title="a worker takes its own rows of each batch",
        why="Each worker runs the script's loop and prepares the batch of all workers, which is as many times larger "
        "as there are workers. It feeds its own rows of that: worker i of N the i-th of N consecutive parts, whose "
        "sizes differ by at most one. The loss is weighted by the part's size, so that the mean of the gradients "
        "is that of the whole batch. Python's and NumPy's generators begin with the same seed in each worker, as "
        "all must prepare the same batches.",
        before=SCRIPT,
        after="""\
batch_size = 64 * cluster.num_workers
        sess.run(train_op, feed_dict=cluster.share(batch, [x, y]))
""",
        options=("--target", "cluster"),
    ),
    Rule(
        code="TMG170",
        title="the chief alone saves and evaluates",
        why="Savers and writers of event files do nothing in workers that are not the chief, and what follows the "
        "training loop runs in the chief alone. A saver needs the session below the monitored one, which the class "
        "knows.",
        before=SCRIPT,
        after="""\
    saver = cluster.saver(tf.train.Saver())
    if cluster.is_chief:
        saver.save(sess, 'model')
""",
        options=("--target", "cluster"),
    ),
)
