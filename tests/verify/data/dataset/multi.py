"""Batches come from tf.data; a MonitoredTrainingSession, a summary, weight decay and an average of the weights."""
import numpy as np
import tensorflow as tf

# tf-multigpu: helpers for training on several GPUs
num_gpus = 2
# tf-multigpu: end of helpers

batch_size = 6
random = np.random.RandomState(4)
features = random.normal(size=(500, 4)).astype(np.float32)
labels = (features.sum(1) > 0).astype(np.float32)

dataset = tf.data.Dataset.from_tensor_slices((features, labels)).repeat().shuffle(50, seed=3).batch(batch_size * num_gpus)
x, y = tf.data.make_one_shot_iterator(dataset).get_next() if hasattr(tf.data, 'make_one_shot_iterator') \
    else dataset.make_one_shot_iterator().get_next()

regularizer = tf.nn.l2_loss
optimizer = tf.train.RMSPropOptimizer(0.01)
tower_grads, tower_loss = [], []
for gpu in range(num_gpus):
    with tf.device('/gpu:%d' % gpu), tf.name_scope('tower_%d' % gpu), \
            tf.variable_scope(tf.get_variable_scope(), reuse=gpu > 0):
        total = tf.shape(x)[0]
        begin, end = total * gpu // num_gpus, total * (gpu + 1) // num_gpus
        weight = tf.cast(end - begin, tf.float32) / tf.cast(total, tf.float32)
        first = tf.minimum(begin, total - 1)
        rows = tf.maximum(end - begin, 1)
        hidden = tf.layers.dense(x[first:first + rows], 8, tf.nn.tanh, kernel_regularizer=regularizer)
        logits = tf.layers.dense(hidden, 1, kernel_regularizer=regularizer)[:, 0]
        cross_entropy = tf.reduce_mean(
            tf.nn.sigmoid_cross_entropy_with_logits(logits=logits, labels=y[first:first + rows]))
        loss = cross_entropy + 0.01 * tf.losses.get_regularization_loss()
        tower_grads.append(optimizer.compute_gradients(loss * weight))
        tower_loss.append(loss * weight)
loss = tf.add_n(tower_loss)
averaged = [(tf.add_n([g for g, _ in pairs]), pairs[0][1]) for pairs in zip(*tower_grads)]

global_step = tf.train.get_or_create_global_step()
minimize = optimizer.apply_gradients(averaged, global_step=global_step)
average = tf.train.ExponentialMovingAverage(0.9, global_step)
with tf.control_dependencies([minimize]):
    train_op = average.apply(tf.trainable_variables())

with tf.train.MonitoredTrainingSession(
    hooks=[tf.train.StopAtStepHook(30)], config=tf.ConfigProto(allow_soft_placement=True)
) as sess:
    while not sess.should_stop():
        _, value = sess.run([train_op, loss])
