# tf-multigpu 0.1.0: single.py sha256:0 --num-gpus 2 --batch per-gpu
"""A bag of words and some numbers to one of three classes: embedding, batch norm, dropout, clipping."""
from __future__ import print_function

import numpy as np
import tensorflow as tf

batch_size = 12
num_steps = 20

# tf-multigpu: helpers for training on several GPUs
num_gpus = 2


def tower_device(gpu):
    """Places variables on the CPU and everything else on one GPU."""
    def place(op):
        return '/cpu:0' if op.type in ('Variable', 'VariableV2', 'VarHandleOp') else '/gpu:%d' % gpu
    return place


def shard(tensors, gpu):
    """Cuts tower `gpu`'s rows out of batch tensors; returns them and their weight in the batch mean."""
    total = tf.shape(tensors[0])[0]
    begin = (total * gpu + num_gpus - 1) // num_gpus
    end = (total * (gpu + 1) + num_gpus - 1) // num_gpus
    rows = end - begin
    first = tf.minimum(begin, total - 1)
    return [t[first:first + tf.maximum(rows, 1)] for t in tensors], tf.cast(rows, tf.float32) / tf.cast(total, tf.float32)


def average_gradients(tower_grads):
    """Adds the towers' gradients, which carry their weights already; sparse ones stay sparse."""
    average = []
    for pairs in zip(*tower_grads):
        grads = [g for g, _ in pairs if g is not None]
        if isinstance(grads[0], tf.IndexedSlices):
            grad = tf.IndexedSlices(tf.concat([g.values for g in grads], 0),
                                    tf.concat([g.indices for g in grads], 0), grads[0].dense_shape)
        else:
            grad = tf.add_n(grads)
        average.append((grad, pairs[0][1]))
    return average
# tf-multigpu: end of helpers

random = np.random.RandomState(0)
words = random.randint(40, size=(600, 5)).astype(np.int32)
numbers = random.normal(size=(600, 4)).astype(np.float32)
classes = ((words.sum(1) + (numbers.sum(1) > 0)) % 3).astype(np.int64)


def next_batch(step, size):
    rows = np.arange(step * size, (step + 1) * size) % len(words)
    return words[rows], numbers[rows], classes[rows]


W = tf.placeholder(tf.int32, [None, 5], name='words')
X = tf.placeholder(tf.float32, [None, 4], name='numbers')
Y = tf.placeholder(tf.int64, [None], name='classes')
keep_prob = tf.placeholder(tf.float32, name='keep_prob')


def network(words, numbers):
    table = tf.get_variable('table', [40, 6], initializer=tf.random_normal_initializer(stddev=0.5))
    bag = tf.reduce_mean(tf.nn.embedding_lookup(table, words), 1)
    x = tf.concat([bag, numbers], 1)
    x = tf.layers.dense(x, 16, name='hidden')
    x = tf.layers.batch_normalization(x, training=True, momentum=0.9, name='norm')
    x = tf.nn.dropout(tf.nn.relu(x), keep_prob)
    return tf.layers.dense(x, 3, name='out')


global_step = tf.train.get_or_create_global_step()
optimizer = tf.train.AdamOptimizer(0.01)
tower_grads, tower_loss, update_ops = [], [], []
for gpu in range(num_gpus):
    with tf.device(tower_device(gpu)), tf.name_scope('tower_%d' % gpu), \
            tf.variable_scope(tf.get_variable_scope(), reuse=gpu > 0):
        (w, x, y), weight = shard([W, X, Y], gpu)
        logits = network(w, x)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
        if gpu == 0:
            update_ops = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
        tower_grads.append(optimizer.compute_gradients(loss * weight))
        tower_loss.append(loss * weight)
tf.get_collection_ref(tf.GraphKeys.UPDATE_OPS)[:] = update_ops
loss = tf.add_n(tower_loss)
grads_and_vars = average_gradients(tower_grads)
clipped, _ = tf.clip_by_global_norm([g for g, _ in grads_and_vars], 0.2)
with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
    train_op = optimizer.apply_gradients(zip(clipped, [v for _, v in grads_and_vars]), global_step=global_step)

with tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(num_steps):
        w, x, y = next_batch(step, batch_size * num_gpus)
        _, value = sess.run([train_op, loss], feed_dict={W: w, X: x, Y: y, keep_prob: 0.8})
        print(step, value)
