"""Queues that a script makes itself: what comes out of them is cut into shards."""

from __future__ import annotations

from converter.rule import Rule

RULES = (
    Rule(
        code="TMG136",
        title="what comes out of the script's own queues is cut into shards",
        why="A queue that the script makes and fills itself gives one global batch for each step: "
        "dequeue_many takes N times the examples, and the towers share them in order. One dequeue in each "
        "tower would hand out the same examples in any order. Whole batches that were put in by enqueue "
        "are shared among the towers as they come out. Where the script fills the queue in runs of its "
        "own and not by a QueueRunner, a larger step could wait for examples for ever, so the batch "
        "stays as large as it was (--batch total). A queue may also count the steps of an epoch only "
        "(tf.train.range_input_producer): the batch is then the window of a matrix with the batch size for "
        "its rows, at that number.",
        before="""\
import tensorflow as tf

batch_size = 64
queue = tf.RandomShuffleQueue(1000, 500, [tf.float32, tf.int64], shapes=[[784], []])
enqueue = queue.enqueue_many(load())
tf.train.add_queue_runner(tf.train.QueueRunner(queue, [enqueue] * 2))
X, Y = queue.dequeue_many(batch_size)
logits = tf.layers.dense(X, 10)
loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(logits=logits, labels=Y))
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    tf.train.start_queue_runners(sess)
    for step in range(100):
        sess.run(train_op)
""",
        after="""\
batch_size = 64 * num_gpus
X, Y = queue.dequeue_many(batch_size)
X_batch, Y_batch = X, Y
for gpu in range(num_gpus):
        (X, Y), rows, weight = shard_static([X_batch, Y_batch], gpu)
        logits = tf.layers.dense(X, 10)
""",
        references=("tf.FIFOQueue, tf.RandomShuffleQueue, tf.PaddingFIFOQueue (tf.queue from 1.13)",),
    ),
)
