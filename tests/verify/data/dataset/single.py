"""Batches come from tf.data; a MonitoredTrainingSession, a summary, weight decay and an average of the weights."""
import numpy as np
import tensorflow as tf

batch_size = 6
random = np.random.RandomState(4)
features = random.normal(size=(500, 4)).astype(np.float32)
labels = (features.sum(1) > 0).astype(np.float32)

dataset = tf.data.Dataset.from_tensor_slices((features, labels)).repeat().shuffle(50, seed=3).batch(batch_size)
x, y = tf.data.make_one_shot_iterator(dataset).get_next() if hasattr(tf.data, 'make_one_shot_iterator') \
    else dataset.make_one_shot_iterator().get_next()

regularizer = tf.nn.l2_loss
hidden = tf.layers.dense(x, 8, tf.nn.tanh, kernel_regularizer=regularizer)
logits = tf.layers.dense(hidden, 1, kernel_regularizer=regularizer)[:, 0]
cross_entropy = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(logits=logits, labels=y))
loss = cross_entropy + 0.01 * tf.losses.get_regularization_loss()

global_step = tf.train.get_or_create_global_step()
minimize = tf.train.RMSPropOptimizer(0.01).minimize(loss, global_step=global_step)
average = tf.train.ExponentialMovingAverage(0.9, global_step)
with tf.control_dependencies([minimize]):
    train_op = average.apply(tf.trainable_variables())

with tf.train.MonitoredTrainingSession(hooks=[tf.train.StopAtStepHook(30)]) as sess:
    while not sess.should_stop():
        _, value = sess.run([train_op, loss])
