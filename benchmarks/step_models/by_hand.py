"""The same four models with towers written by hand, in the manner of tutorials: slices, a mean of stacked gradients.

With --mirrored a tf.distribute.MirroredStrategy trains them in place of the towers; each replica takes its slice.
"""
import argparse

import numpy as np
import tensorflow
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()

parser = argparse.ArgumentParser()
parser.add_argument('--model', default='conv')
parser.add_argument('--batch_size', type=int, default=16)
parser.add_argument('--num_gpus', type=int, default=2)
parser.add_argument('--steps', type=int, default=30)
parser.add_argument('--mirrored', action='store_true')
args = parser.parse_args()
whole = args.batch_size * args.num_gpus


def place_on(gpu):
    """Variables lie on the CPU, all else on one GPU."""
    def place(op):
        return '/cpu:0' if op.type in ('Variable', 'VariableV2', 'VarHandleOp') else '/gpu:%d' % gpu
    return place


def average_gradients(tower_grads):
    average = []
    for grads_and_vars in zip(*tower_grads):
        grads = [tf.expand_dims(g, 0) for g, _ in grads_and_vars]
        average.append((tf.reduce_mean(tf.concat(grads, 0), 0), grads_and_vars[0][1]))
    return average


def layer(name, x, shape):
    weights = tf.get_variable(name + '_w', shape, initializer=tf.random_normal_initializer(stddev=0.05))
    biases = tf.get_variable(name + '_b', shape[-1:], initializer=tf.zeros_initializer())
    if len(shape) == 4:
        x = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, weights, strides=[1, 1, 1, 1], padding='SAME'), biases))
        return tf.nn.max_pool(x, [1, 2, 2, 1], [1, 2, 2, 1], 'SAME')
    return tf.matmul(x, weights) + biases


def class_loss(logits, labels):
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(logits=logits, labels=labels))


def conv(images, labels):
    hidden = layer('conv1', images, [5, 5, 1, 16])
    hidden = layer('conv2', hidden, [5, 5, 16, 32])
    hidden = layer('conv3', hidden, [3, 3, 32, 32])
    hidden = tf.nn.relu(layer('dense1', tf.reshape(hidden, [-1, 4 * 4 * 32]), [4 * 4 * 32, 128]))
    return [class_loss(layer('dense2', hidden, [128, 10]), labels)]


def lstm(inputs, labels):
    cell = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.BasicLSTMCell(96) for _ in range(2)])
    outputs, _ = tf.nn.dynamic_rnn(cell, inputs, dtype=tf.float32)
    return [class_loss(tf.matmul(outputs[:, -1], tf.get_variable('out_w', [96, 10])), labels)]


def embedding(words, labels):
    mean = tf.reduce_mean(tf.nn.embedding_lookup(tf.get_variable('table', [20000, 64]), words), 1)
    hidden = tf.nn.relu(tf.matmul(mean, tf.get_variable('hidden_w', [64, 256])))
    return [class_loss(tf.matmul(hidden, tf.get_variable('out_w', [256, 20])), labels)]


def dense(name, x, n):
    weights = tf.get_variable(name + '_w', [int(x.shape[-1]), n])
    return tf.matmul(x, weights) + tf.get_variable(name + '_b', [n], initializer=tf.zeros_initializer())


def discriminator(x):
    with tf.variable_scope('discriminator', reuse=tf.AUTO_REUSE):
        return dense('out', tf.nn.relu(dense('hidden', x, 256)), 1)


def cross_entropy(logits, real):
    labels = tf.ones_like(logits) if real else tf.zeros_like(logits)
    return tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(logits=logits, labels=labels))


def gan(images, noise):
    with tf.variable_scope('generator', reuse=tf.AUTO_REUSE):
        fake = tf.nn.sigmoid(dense('out', tf.nn.relu(dense('hidden', noise, 256)), 784))
    real_scores, fake_scores = discriminator(images), discriminator(fake)
    return [cross_entropy(real_scores, True) + cross_entropy(fake_scores, False), cross_entropy(fake_scores, True)]


rng = np.random.RandomState(1)
MODELS = {  # model, shapes of the inputs, a batch, names of the variables of each loss
    'conv': (conv, [(tf.float32, [None, 28, 28, 1]), (tf.int64, [None])],
             lambda: [rng.rand(whole, 28, 28, 1).astype('float32'), rng.randint(0, 10, whole)], ['']),
    'lstm': (lstm, [(tf.float32, [None, 12, 32]), (tf.int64, [None])],
             lambda: [rng.rand(whole, 12, 32).astype('float32'), rng.randint(0, 10, whole)], ['']),
    'embedding': (embedding, [(tf.int32, [None, 40]), (tf.int64, [None])],
                  lambda: [rng.randint(0, 20000, (whole, 40)), rng.randint(0, 20, whole)], ['']),
    'gan': (gan, [(tf.float32, [None, 784]), (tf.float32, [None, 64])],
            lambda: [rng.rand(whole, 784).astype('float32'), rng.randn(whole, 64).astype('float32')],
            ['discriminator', 'generator']),
}
model, shapes, batch, owners = MODELS[args.model]
inputs = [tf.placeholder(dtype, shape) for dtype, shape in shapes]
kinds = {'conv': 0.001, 'lstm': 0.001, 'gan': 0.0002}


def make_optimizers():
    if args.model == 'embedding':
        return [tf.train.GradientDescentOptimizer(0.1)]
    return [tf.train.AdamOptimizer(kinds[args.model], beta1=0.5 if args.model == 'gan' else 0.9) for _ in owners]


def gradients(optimizers, losses):
    for optimizer, loss, owner in zip(optimizers, losses, owners):
        variables = [v for v in tf.trainable_variables() if v.name.startswith(owner)]
        yield optimizer.compute_gradients(loss, variables)


def clipped(grads_and_vars):
    if args.model != 'lstm':
        return grads_and_vars
    grads, _ = tf.clip_by_global_norm([g for g, _ in grads_and_vars], 5.0)
    return list(zip(grads, [v for _, v in grads_and_vars]))


def of_towers():
    optimizers, tower_grads = make_optimizers(), [[] for _ in owners]
    for gpu in range(args.num_gpus):
        with tf.device(place_on(gpu)), tf.name_scope('tower_%d' % gpu), \
                tf.variable_scope(tf.get_variable_scope(), reuse=gpu > 0):
            losses = model(*[x[gpu * args.batch_size:(gpu + 1) * args.batch_size] for x in inputs])
            for grads, pairs in zip(tower_grads, gradients(optimizers, losses)):
                grads.append(pairs)
    pairs = [clipped(average_gradients(grads)) for grads in tower_grads]
    return [optimizer.apply_gradients(one) for optimizer, one in zip(optimizers, pairs)], losses


def of_replicas():
    strategy = tensorflow.distribute.MirroredStrategy(['/cpu:%d' % (gpu + 1) for gpu in range(args.num_gpus)])
    with strategy.scope():
        optimizers = make_optimizers()

        def step():
            first = tf.distribute.get_replica_context().replica_id_in_sync_group * args.batch_size
            losses = model(*[x[first:first + args.batch_size] for x in inputs])
            pairs = gradients(optimizers, [loss / args.num_gpus for loss in losses])
            return [o.apply_gradients(clipped(one)) for o, one in zip(optimizers, pairs)], losses

        run = getattr(strategy, 'experimental_run_v2', None) or strategy.run
        updates, losses = run(step)
        return [tf.group(*strategy.experimental_local_results(one)) for one in updates], \
            [strategy.experimental_local_results(loss)[-1] for loss in losses]


train_ops, losses = (of_replicas if args.mirrored else of_towers)()

config = tf.ConfigProto(allow_soft_placement=True)
with tf.Session(config=config) as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(args.steps):
        feed = dict(zip(inputs, batch()))
        sess.run([train_ops[0], losses[0]], feed_dict=feed)
        if args.model == 'gan':
            sess.run([train_ops[1], losses[1]], feed_dict={inputs[1]: feed[inputs[1]], inputs[0]: feed[inputs[0]]})
