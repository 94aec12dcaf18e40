"""Cutting a batch into one shard for each tower."""
import tensorflow as tf

NUM_GPUS = 2


def shard(tensors, gpu):
    """Cuts tower `gpu`'s rows out of batch tensors.

    Returns the shards, their number of rows, and their weight in the mean over the whole batch.
    Sizes differ by at most one row; a tower without a row computes on one, with weight 0.
    """
    with tf.device('/cpu:0'), tf.name_scope('shard'):
        total = tf.shape(tensors[0])[0]
        begin, end = [(total * i + NUM_GPUS - 1) // NUM_GPUS for i in (gpu, gpu + 1)]
        rows = end - begin
        first = tf.minimum(begin, total - 1)
        shards = [t[first:first + tf.maximum(rows, 1)] for t in tensors]
        return shards, rows, tf.cast(rows, tf.float32) / tf.cast(total, tf.float32)


def shard_along(tensors, axes, gpu):
    """Cuts tower `gpu`'s examples out of batch tensors, each along its batch axis.

    Returns the shards, their number of examples, and their weight in the mean over the whole batch.
    Sizes differ by at most one; a tower without an example computes on one, with weight 0.
    """
    with tf.device('/cpu:0'), tf.name_scope('shard'):
        total = tf.shape(tensors[0])[axes[0]]
        begin, end = [(total * i + NUM_GPUS - 1) // NUM_GPUS for i in (gpu, gpu + 1)]
        rows = end - begin
        first = tf.minimum(begin, total - 1)
        part = slice(first, first + tf.maximum(rows, 1))
        shards = [t[(slice(None),) * axis + (part,)] for t, axis in zip(tensors, axes)]
        return shards, rows, tf.cast(rows, tf.float32) / tf.cast(total, tf.float32)


def shard_size(total, gpu):
    """The number of examples of tower `gpu` in a batch of `total`."""
    begin, end = [(total * i + NUM_GPUS - 1) // NUM_GPUS for i in (gpu, gpu + 1)]
    return end - begin


def shard_static(tensors, gpu):
    """Cuts tower `gpu`'s rows out of batch tensors of a fixed size.

    Returns the shards, their number of rows, and their weight in the mean over the whole batch.
    """
    with tf.device('/cpu:0'), tf.name_scope('shard'):
        total = int(tensors[0].get_shape()[0])
        begin, end = [(total * i + NUM_GPUS - 1) // NUM_GPUS for i in (gpu, gpu + 1)]
        if begin == end:
            raise ValueError('a batch of %d cannot be shared by %d GPUs' % (total, NUM_GPUS))
        return [t[begin:end] for t in tensors], end - begin, (end - begin) / float(total)


def shard_static_along(tensors, axes, gpu):
    """Cuts tower `gpu`'s examples out of batch tensors of a fixed size, each along its batch axis.

    Returns the shards, their number of examples, and their weight in the mean over the whole batch.
    """
    with tf.device('/cpu:0'), tf.name_scope('shard'):
        total = int(tensors[0].get_shape()[axes[0]])
        begin, end = [(total * i + NUM_GPUS - 1) // NUM_GPUS for i in (gpu, gpu + 1)]
        if begin == end:
            raise ValueError('a batch of %d cannot be shared by %d GPUs' % (total, NUM_GPUS))
        part = slice(begin, end)
        shards = [t[(slice(None),) * axis + (part,)] for t, axis in zip(tensors, axes)]
        return shards, end - begin, (end - begin) / float(total)
