"""The script is distributed already."""

from __future__ import annotations

from collections.abc import Iterator

from converter.analysis.effects import EffectKind
from converter.diagnostics import Diagnostic
from converter.planner.cases import Script
from converter.planner.checking import check
from converter.planner.writing.findings import error
from converter.rule import Rule

RULES = (
    Rule(
        code="TMG217",
        title="the script is distributed already",
        why="It belongs to a cluster (tf.train.Server, ClusterSpec, replica_device_setter with tasks), synchronises "
        "replicas (SyncReplicasOptimizer) or runs under a distribution strategy. What those do with "
        "gradients and variables contradicts what towers do. Convert the script as it was for one GPU "
        "on one machine.",
        before="""\
import tensorflow as tf

batch_size = 64
cluster = tf.train.ClusterSpec({'ps': ['localhost:2222'], 'worker': ['localhost:2223']})
server = tf.train.Server(cluster, 'worker', 0)
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
logits = tf.layers.dense(X, 10)
loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session(server.target) as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels})
""",
        after="""\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
logits = tf.layers.dense(X, 10)
loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels})
""",
    ),
)


@check(Script)
def distributed(case: Script) -> Iterator[Diagnostic]:
    """Scripts that train on several machines, or by a distribution strategy."""
    for effect in list(case.facts.effects_of(EffectKind.DISTRIBUTED))[:1]:
        yield error(
            case.facts,
            effect.node,
            "TMG217",
            f"this script is distributed already ({effect.name})",
            "convert the script as it was for one GPU",
        )
