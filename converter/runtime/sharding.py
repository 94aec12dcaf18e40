"""Cutting a batch into one shard for each tower."""
import tensorflow as tf

NUM_GPUS = 2


def shard_bounds(total):
    """For each tower: where its rows begin and end, and a list of their numbers and one of their weights."""
    limits = (total * list(range(NUM_GPUS + 1)) + (NUM_GPUS - 1)) // NUM_GPUS
    rows = limits[1:] - limits[:-1]
    begin = tf.minimum(limits[:-1], total - 1)
    weights = tf.cast(rows, tf.float32) / tf.cast(total, tf.float32)
    return begin, begin + tf.maximum(rows, 1), tf.unstack(rows), tf.unstack(weights)


def shard(tensors, gpu):
    """Returns tower `gpu`'s rows of batch tensors, their number and weight: one row of weight 0 if it has none."""
    with tf.device('/cpu:0'), tf.name_scope('shard'):
        if gpu == 0:  # the bounds of all towers
            total = tf.shape(tensors[0])[0]
            limits = (total * list(range(NUM_GPUS + 1)) + (NUM_GPUS - 1)) // NUM_GPUS
            begin, rows = tf.minimum(limits[:-1], total - 1), limits[1:] - limits[:-1]
            bounds = [tf.split(bound, NUM_GPUS) for bound in (begin, begin + tf.maximum(rows, 1))]
            weights = tf.cast(rows, tf.float32) / tf.cast(total, tf.float32)
            tensors[0].tower_rows = bounds + [[tf.constant([1])] * NUM_GPUS, tf.unstack(rows), tf.unstack(weights)]
        begin, end, step, rows, weight = [column[gpu] for column in tensors[0].tower_rows]
        return [tf.strided_slice(t, begin, end, step) for t in tensors], rows, weight


def shard_along(tensors, axes, gpu):
    """Cuts tower `gpu`'s examples out of batch tensors, each along its batch axis.

    Returns the shards, their number of examples, and their weight in the mean over the whole batch.
    Sizes differ by at most one; a tower without an example computes on one, with weight 0.
    """
    with tf.device('/cpu:0'), tf.name_scope('shard'):
        if gpu == 0:
            begin, end, rows, weights = shard_bounds(tf.shape(tensors[0])[axes[0]])
            tensors[0].tower_examples = tf.unstack(begin), tf.unstack(end), rows, weights
        begin, end, rows, weight = [column[gpu] for column in tensors[0].tower_examples]
        shards = [t[(slice(None),) * axis + (slice(begin, end),)] for t, axis in zip(tensors, axes)]
        return shards, rows, weight


def shard_sparse(tensors, gpu):
    """Cuts tower `gpu`'s rows out of batch tensors of which some are sparse.

    Returns the shards, their number of rows, and their weight in the mean over the whole batch.
    Sizes differ by at most one row; a tower without a row computes on one, with weight 0.
    """
    with tf.device('/cpu:0'), tf.name_scope('shard'):
        lead = tensors[0]
        total = tf.cast(lead.dense_shape[0], tf.int32) if isinstance(lead, tf.SparseTensor) else tf.shape(lead)[0]
        begin, end = [(total * i + NUM_GPUS - 1) // NUM_GPUS for i in (gpu, gpu + 1)]
        rows = end - begin
        first, count = tf.minimum(begin, total - 1), tf.maximum(rows, 1)
        shards = [sparse_rows(t, first, count) if isinstance(t, tf.SparseTensor) else t[first:first + count]
                  for t in tensors]
        return shards, rows, tf.cast(rows, tf.float32) / tf.cast(total, tf.float32)


def sparse_rows(tensor, first, count):
    """The rows of a sparse tensor from `first` on; what is known of its other dimensions stays known."""
    shape, known = tensor.dense_shape, tensor.get_shape()
    rest = tf.zeros_like(shape[1:])
    start = tf.concat([[tf.cast(first, tf.int64)], rest], 0)
    part = tf.sparse_slice(tensor, start, tf.concat([[tf.cast(count, tf.int64)], shape[1:]], 0))
    if known.ndims is None:
        return part
    sizes = [tf.constant(size, tf.int64) if size else shape[axis] for axis, size in enumerate(known.as_list())]
    return tf.SparseTensor(part.indices, part.values, tf.stack([tf.cast(count, tf.int64)] + sizes[1:]))


def whole_batch(tensor):
    """The batch that a tower's shard was cut from; for any other tensor, the tensor itself."""
    cut = tensor.op
    while cut.type in ('Cast', 'Identity'):
        cut = cut.inputs[0].op
    scopes = cut.name.split('/')[-3:-1]
    return cut.inputs[0] if len(scopes) == 2 and scopes[0][:6] == 'tower_' and scopes[1][:5] == 'shard' else tensor


def pad_steps(decode):
    """Lets `dynamic_decode` pad what it gives of a tower's shard to the steps that the whole batch has on one GPU."""
    def decode_padded(decoder, output_time_major=False, *args, **kwargs):
        outputs, state, lengths = decode(decoder, output_time_major, *args, **kwargs)
        helper = getattr(decoder, '_helper', None)  # a beam search has none
        given = getattr(helper, '_sequence_length', None)  # none where it ends by itself
        if given is None:
            return outputs, state, lengths
        axis, steps = 0 if output_time_major else 1, tf.cast(tf.reduce_max(whole_batch(given)), tf.int32)
        wide = []
        for tensor in outputs:
            rest = steps - tf.shape(tensor)[axis]
            wide.append(tf.pad(tensor, [[0, rest if i == axis else 0] for i in range(tensor.get_shape().ndims)]))
            wide[-1].set_shape(tensor.get_shape())
        return type(outputs)(*wide), state, lengths
    return decode_padded


def concat_steps(parts, axis):
    """Puts the towers' parts together along their batch axis; those with fewer steps are padded."""
    shapes = [tf.shape(part) for part in parts]
    largest = tf.reduce_max(tf.stack(shapes), 0)
    known = [set(sizes) for sizes in zip(*[part.get_shape().as_list() for part in parts])]
    wide = []
    for part, shape in zip(parts, shapes):
        rest = tf.unstack(largest - shape, num=len(known))
        wide.append(tf.pad(part, [[0, 0 if i == axis else size] for i, size in enumerate(rest)]))
        wide[-1].set_shape([None if i == axis or len(sizes) > 1 else min(sizes) for i, sizes in enumerate(known)])
    return tf.concat(wide, axis)


def shard_size(total, gpu):
    """The number of examples that tower `gpu` computes on in a batch of `total`."""
    begin, end = [(total * i + NUM_GPUS - 1) // NUM_GPUS for i in (gpu, gpu + 1)]
    return max(end - begin, 1)


def shard_drawn(total, gpu):
    """The rows of a batch of `total` that tower `gpu` draws itself, and their weight in the mean over all of it.

    A tower without a row draws one, with weight 0.
    """
    begin, end = [(total * i + NUM_GPUS - 1) // NUM_GPUS for i in (gpu, gpu + 1)]
    return end - begin, (end - begin) / float(total)


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


def shard_data(data, gpu):
    """Cuts tower `gpu`'s rows out of the arrays, lists and constants of a whole data set.

    Returns the shards, their number of rows, and their weight in the mean over the whole data set.
    Sizes differ by at most one row; a tower without a row computes on one, with weight 0.
    """
    with tf.device('/cpu:0'), tf.name_scope('shard'):
        sizes = [int(d.get_shape()[0]) if hasattr(d, 'get_shape') else len(d) for d in data]
        if len(set(sizes)) > 1:
            raise ValueError('data of %s rows cannot be cut together' % sizes)
        begin, end = [(sizes[0] * i + NUM_GPUS - 1) // NUM_GPUS for i in (gpu, gpu + 1)]
        first = min(begin, sizes[0] - 1)
        return [d[first:max(end, first + 1)] for d in data], end - begin, (end - begin) / float(sizes[0])


def shard_data_along(data, axes, gpu):
    """Cuts tower `gpu`'s examples out of the data of a whole data set, each along its batch axis.

    Returns the shards, their number of examples, and their weight in the mean over the whole data set.
    Sizes differ by at most one; a tower without an example computes on one, with weight 0.
    """
    def size(d, axis):
        return size(d[0], axis - 1) if axis else int(d.get_shape()[0]) if hasattr(d, 'get_shape') else len(d)

    def cut(d, axis, part):
        if isinstance(d, (list, tuple)) and axis:
            return [cut(row, axis - 1, part) for row in d]
        return d[(slice(None),) * axis + (part,)] if axis else d[part]

    with tf.device('/cpu:0'), tf.name_scope('shard'):
        sizes = [size(d, axis) for d, axis in zip(data, axes)]
        if len(set(sizes)) > 1:
            raise ValueError('data of %s examples cannot be cut together' % sizes)
        begin, end = [(sizes[0] * i + NUM_GPUS - 1) // NUM_GPUS for i in (gpu, gpu + 1)]
        first = min(begin, sizes[0] - 1)
        part = slice(first, max(end, first + 1))
        return [cut(d, axis, part) for d, axis in zip(data, axes)], end - begin, (end - begin) / float(sizes[0])


def map_structure(function, *structures):
    """Applies a function to the tensors of lists, tuples and dicts that are built alike."""
    first = structures[0]
    if isinstance(first, dict):
        return type(first)((key, map_structure(function, *[s[key] for s in structures])) for key in first)
    if isinstance(first, (list, tuple)):
        parts = [map_structure(function, *column) for column in zip(*structures)]
        return type(first)(*parts) if hasattr(first, '_fields') else type(first)(parts)
    return function(*structures)


def merge_fed(parts, name=None):
    """Joins the towers' parts of a value that a run feeds; `parts` has each tower's tensor, its rows and its weight."""
    merged = tf.identity(tf.concat([part[:rows] for part, rows, _ in parts], 0), name=name)
    merged.tower_parts = parts
    return merged


def feed_towers(feed_dict):
    """A run's feeds, in which each tower gets its rows of a value that the towers compute."""
    fed = dict(feed_dict)
    for key, value in feed_dict.items():
        total = len(value) if hasattr(key, 'tower_parts') else 0
        for gpu, (part, rows, weight) in enumerate(getattr(key, 'tower_parts', [])):
            begin, end = [(total * i + NUM_GPUS - 1) // NUM_GPUS for i in (gpu, gpu + 1)]
            first = min(begin, total - 1)
            fed[part] = value[first:max(end, first + 1)]
            if not isinstance(rows, int):  # counted by the inputs, which need not be fed
                fed[rows], fed[weight] = end - begin, (end - begin) / float(total)
    return fed
