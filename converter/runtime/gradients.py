"""Averaging the towers' gradients."""
import tensorflow as tf

NUM_GPUS = 2


def average_gradients(tower_grads):
    """Adds the towers' gradients, which carry their weights already; sparse ones stay sparse."""
    average = []
    for grads_and_vars in zip(*tower_grads):
        grads, var = [g for g, _ in grads_and_vars if g is not None], grads_and_vars[0][1]
        average.append((add_gradients(grads, var), var))
    return average


def add_gradients(grads, var):
    """Adds the gradients of one variable, on the device that holds it."""
    with tf.device(var.device or None):
        if not grads:
            return None
        if all(isinstance(g, tf.IndexedSlices) for g in grads):
            return tf.IndexedSlices(tf.concat([g.values for g in grads], 0),
                                    tf.concat([g.indices for g in grads], 0), grads[0].dense_shape)
        return tf.add_n([tf.convert_to_tensor(g) for g in grads])


def tower_gradients(optimizer, tower_losses, **kwargs):
    """Like optimizer.compute_gradients(loss), with each tower's gradient taken on its own GPU."""
    tower_grads = []
    for gpu, loss in enumerate(tower_losses):
        with tf.device('/gpu:%d' % gpu), tf.name_scope('tower_%d/' % gpu):
            tower_grads.append(optimizer.compute_gradients(loss, **kwargs))
    return average_gradients(tower_grads)


def gradients_of_towers(tower_losses, variables, *args, **kwargs):
    """Like tf.gradients(loss, variables), with each tower's gradient taken on its own GPU."""
    tower_grads = []
    for gpu, loss in enumerate(tower_losses):
        with tf.device('/gpu:%d' % gpu), tf.name_scope('tower_%d/' % gpu):
            tower_grads.append(zip(tf.gradients(loss, variables, *args, **kwargs), variables))
    return [grad for grad, _ in average_gradients(tower_grads)]


TOWER_LOSSES = {}  # name of a merged loss -> the towers' weighted losses


def merge_loss(tower_losses, name=None):
    """Adds the towers' weighted losses, and remembers them for tower_gradients."""
    loss = tf.add_n(tower_losses, name=name)
    TOWER_LOSSES[loss.name] = tower_losses
    return loss
