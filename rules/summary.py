"""Summaries, savers and other host side objects: they stay after the loop."""

from __future__ import annotations

from converter.analysis.signature import Call, Handler
from converter.analysis.values import Constant, Host, Tensor, Value
from converter.rule import Rule


def _summary(call: Call) -> Value:
    call.walk.effect("collection", "summaries", None, call.node)
    return Tensor(inputs=call.values(), op="summary")


def _merge(call: Call) -> Value:
    call.walk.effect("graph state", call.name, None, call.node)
    return Tensor(inputs=call.values(), op="merged summary")


def _object(call: Call) -> Value:
    call.walk.effect("graph state", call.name, None, call.node)
    return call.typed(call.name.rpartition(".")[2])


def _host(call: Call) -> Value:
    return Host(call.values(), call.name, call.node)


def _nothing(call: Call) -> Value:
    return Constant(None)


SUMMARIES = "scalar histogram image audio text".split()
OLD = "scalar_summary histogram_summary image_summary audio_summary".split()
HOST = (
    "Saver.save Saver.restore FileWriter.add_summary FileWriter.add_graph FileWriter.flush FileWriter.close "
    "SummaryWriter.add_summary Session.close Coordinator.join Coordinator.should_stop Coordinator.request_stop "
    "train.start_queue_runners train.get_checkpoint_state train.latest_checkpoint train.checkpoint_exists "
    "gfile.Exists gfile.MakeDirs gfile.DeleteRecursively gfile.GFile gfile.Open gfile.IsDirectory gfile.ListDirectory "
    "train.write_graph train.global_step train.import_meta_graph logging.info logging.warn logging.set_verbosity "
    "Graph.finalize Graph.get_operations train.NewCheckpointReader"
).split()

CALLS: dict[str, Handler] = {
    **dict.fromkeys([f"summary.{name}" for name in SUMMARIES] + OLD, _summary),
    **dict.fromkeys(("summary.merge", "summary.merge_all", "merge_summary", "merge_all_summaries"), _merge),
    **dict.fromkeys(("train.Saver", "summary.FileWriter", "train.SummaryWriter", "train.Coordinator",
                     "train.Supervisor", "train.SessionManager"), _object),
    **dict.fromkeys(HOST, _host),
    **dict.fromkeys(("set_random_seed", "random_set_random_seed", "random_set_seed", "reset_default_graph",
                     "disable_v2_behavior", "disable_eager_execution", "logging.set_verbosity",
                     "Graph.seed", "add_check_numerics_ops", "Saver.__call__"), _nothing),
}  # fmt: skip

RULES = (
    Rule(
        code="TMG315",
        title="a summary of the model shows one tower's share of each batch",
        why="Where a function of the model makes summaries, each tower makes them of its own shard, and tf.summary "
        "takes the tower's name scope into the tag; those of the first tower are kept in the collection. A "
        "histogram or an image of a share is what one GPU shows, in batches of one tower; a mean is that of this "
        "share, not of the whole batch. Summaries that are made after the loss show the whole batch, under the tags "
        "that they have on one GPU.",
        before="""\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.float32, [None, 1])


def mean_error(prediction):
    loss = tf.reduce_mean(tf.square(prediction - Y))
    tf.summary.scalar('loss', loss)
    return loss


loss = mean_error(tf.layers.dense(X, 1))
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)
merged = tf.summary.merge_all()

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, targets = next_batch(batch_size)
        sess.run([train_op, merged], {X: images, Y: targets})
""",
        after="""\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.float32, [None, 1])


def mean_error(prediction):
    return tf.reduce_mean(tf.square(prediction - Y))


loss = mean_error(tf.layers.dense(X, 1))
tf.summary.scalar('loss', loss)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)
merged = tf.summary.merge_all()

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, targets = next_batch(batch_size)
        sess.run([train_op, merged], {X: images, Y: targets})
""",
        references=(
            "docs: TMG107, the collections of the towers",
            "the tag is the name scope of the summary (tensorflow/python/ops/summary_op_util.py, summary_scope, 1.15)",
        ),
    ),
)
