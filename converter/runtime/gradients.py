"""Averaging the towers' gradients."""
import tensorflow as tf

NUM_GPUS = 2


def average_gradients(tower_grads):
    """Adds the towers' gradients, which carry their weights already; sparse ones stay sparse."""
    average = []
    for pairs in zip(*tower_grads):
        grads, var = [grad for grad, _ in pairs if grad is not None], pairs[0][1]
        with tf.device(var.device or None):  # the one that holds the variable
            if grads and all(isinstance(grad, tf.IndexedSlices) for grad in grads):
                parts = [tf.concat(column, 0) for column in zip(*[(grad.values, grad.indices) for grad in grads])]
                average.append((tf.IndexedSlices(*parts, dense_shape=grads[0].dense_shape), var))
            else:
                average.append((tf.add_n([tf.convert_to_tensor(grad) for grad in grads]) if grads else None, var))
    return average


def average_gradients_dense(tower_grads):
    """Adds the towers' gradients, which carry their weights already."""
    average = []
    for pairs in zip(*tower_grads):
        grads, var = [grad for grad, _ in pairs if grad is not None], pairs[0][1]
        with tf.device(var.device or None):  # the one that holds the variable
            average.append((tf.add_n(grads) if grads else None, var))
    return average


def tower_gradients(optimizer, tower_losses, **kwargs):
    """Like optimizer.compute_gradients(loss), with each tower's gradient taken on its own GPU."""
    tower_grads = []
    for gpu, loss in enumerate(tower_losses):
        with tf.device('/gpu:%d' % gpu), tf.name_scope('tower_%d/' % gpu):
            tower_grads.append(optimizer.compute_gradients(loss, **kwargs))
    return average_gradients(tower_grads)


def tower_gradients_or_one_gpu(optimizer, tower_losses, **kwargs):
    """Like optimizer.compute_gradients(loss), with each tower's gradient taken on its own GPU, if there are any."""
    if NUM_GPUS == 1:
        return optimizer.compute_gradients(tower_losses[0], **kwargs)
    tower_grads = []
    for gpu, loss in enumerate(tower_losses):
        with tf.device('/gpu:%d' % gpu), tf.name_scope('tower_%d/' % gpu):
            tower_grads.append(optimizer.compute_gradients(loss, **kwargs))
    return average_gradients(tower_grads)


class TowerOptimizer(tf.train.Optimizer):
    """An optimizer for functions that build a whole training step: its gradients are those of the towers' losses."""

    def __init__(self, optimizer, tower_losses):
        tf.train.Optimizer.__init__(self, False, type(optimizer).__name__)
        self.optimizer = optimizer
        self.tower_losses = tower_losses

    def compute_gradients(self, loss, var_list=None, **kwargs):
        return tower_gradients(self.optimizer, self.tower_losses, var_list=var_list, **kwargs)

    def apply_gradients(self, *args, **kwargs):
        return self.optimizer.apply_gradients(*args, **kwargs)


def gradients_of_towers(tower_losses, variables, *args, **kwargs):
    """Like tf.gradients(loss, variables), with each tower's gradient taken on its own GPU."""
    variables = list(variables) if isinstance(variables, (list, tuple)) else [variables]
    tower_grads = []
    for gpu, loss in enumerate(tower_losses):
        with tf.device('/gpu:%d' % gpu), tf.name_scope('tower_%d/' % gpu):
            tower_grads.append(zip(tf.gradients(loss, variables, *args, **kwargs), variables))
    return [grad for grad, _ in average_gradients(tower_grads)]


def gradients_of_towers_or_one_gpu(tower_losses, variables, *args, **kwargs):
    """Like tf.gradients(loss, variables), with each tower's gradient taken on its own GPU, if there are any."""
    if NUM_GPUS == 1:
        return tf.gradients(tower_losses[0], variables, *args, **kwargs)
    variables = list(variables) if isinstance(variables, (list, tuple)) else [variables]
    tower_grads = []
    for gpu, loss in enumerate(tower_losses):
        with tf.device('/gpu:%d' % gpu), tf.name_scope('tower_%d/' % gpu):
            tower_grads.append(zip(tf.gradients(loss, variables, *args, **kwargs), variables))
    return [grad for grad, _ in average_gradients(tower_grads)]


def weigh_losses(tower_losses, tower_counts):
    """Weights the towers' losses, which are means over what a mask leaves, by how much each of them counts."""
    total = tf.maximum(tf.add_n(tower_counts), 1e-30)
    return [loss * tf.cast(count / total, loss.dtype) for loss, count in zip(tower_losses, tower_counts)]


def merge_loss(tower_losses, name=None):
    """Adds the towers' weighted losses; the sum carries them along, for where its gradient is taken."""
    loss = tf.add_n(tower_losses, name=name)
    loss.tower_losses = tower_losses
    return loss
