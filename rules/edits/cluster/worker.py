"""What changes in a script that becomes one of N processes."""

from __future__ import annotations

from converter.rule import Rule
from rules.checks.cluster import SCRIPT

RULES = (
    Rule(
        code="TMG158",
        title="the script becomes one of N processes",
        why="The script carries classes that start this process's tf.train.Server and let TensorFlow's collectives "
        "average its gradients: `compute_gradients`, and `tf.gradients` by variables, give the mean over all workers. "
        "The graph is the script's own, so that it may have any structure. The statement stands below the imports; "
        "it changes TensorFlow's sessions, optimizers, savers and event files in this process, also those that "
        "libraries make. All workers begin with the chief's variables, `session.run` returns the same in all of them, "
        "and the chief alone prints, saves and writes files. Without TF_CONFIG the script trains alone, as before.",
        before=SCRIPT,
        after="""\
# One process for each GPU: TensorFlow's collectives average the gradients.
cluster = Cluster(__name__ == '__main__')
batch_size = 64 * cluster.size
""",
        options=("--target", "cluster"),
        references=(
            "tensorflow/python/ops/collective_ops.py, 1.15",
            "tf.distribute.experimental.MultiWorkerMirroredStrategy, which stands on the same collectives",
        ),
    ),
)
