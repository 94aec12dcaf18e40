"""Adding the towers' gradients."""

import tensorflow as tf

NUM_GPUS = 2


def sum_gradients(tower_grads):
    """Add each variable's gradients over the towers: return one list of (gradient, variable) pairs.

    `tower_grads` has what compute_gradients() returned in each tower. Each tower's loss was multiplied with the tower's
    share of the batch, so the sum is the mean gradient over the whole batch. Sparse gradients (tf.IndexedSlices, from
    embedding lookups) are concatenated and stay sparse.
    """
    summed = []
    for pairs in zip(*tower_grads):
        grads, var = [grad for grad, _ in pairs if grad is not None], pairs[0][1]
        with tf.device(var.device or None):  # add where the variable is stored
            if grads and all(isinstance(grad, tf.IndexedSlices) for grad in grads):
                values = tf.concat([grad.values for grad in grads], 0)
                indices = tf.concat([grad.indices for grad in grads], 0)
                total = tf.IndexedSlices(values, indices, grads[0].dense_shape)
            else:
                total = tf.add_n([tf.convert_to_tensor(grad) for grad in grads]) if grads else None
        summed.append((total, var))
    return summed


def sum_gradients_dense(tower_grads):
    """Add each variable's gradients over the towers: return one list of (gradient, variable) pairs.

    `tower_grads` has what compute_gradients() returned in each tower. Each tower's loss was multiplied with the tower's
    share of the batch, so the sum is the mean gradient over the whole batch.
    """
    summed = []
    for pairs in zip(*tower_grads):
        grads, var = [grad for grad, _ in pairs if grad is not None], pairs[0][1]
        with tf.device(var.device or None):  # add where the variable is stored
            summed.append((tf.add_n(grads) if grads else None, var))
    return summed


average_gradients = sum_gradients  # its name in the scripts that version 0.2.0 converted


def tower_gradients(optimizer, tower_losses, **kwargs):
    """Like optimizer.compute_gradients(loss), but each GPU computes the gradients of its own tower's loss.

    Returns one list of (gradient, variable) pairs: the sums over the towers.
    """
    tower_grads = []
    for gpu, loss in enumerate(tower_losses):
        with tf.device('/gpu:%d' % gpu), tf.name_scope('tower_%d/' % gpu):
            tower_grads.append(optimizer.compute_gradients(loss, **kwargs))
    return sum_gradients(tower_grads)


def tower_gradients_or_one_gpu(optimizer, tower_losses, **kwargs):
    """Like optimizer.compute_gradients(loss), but each GPU computes the gradients of its own tower's loss.

    Returns one list of (gradient, variable) pairs: the sums over the towers. With one GPU there are no towers.
    """
    if NUM_GPUS == 1:
        return optimizer.compute_gradients(tower_losses[0], **kwargs)
    tower_grads = []
    for gpu, loss in enumerate(tower_losses):
        with tf.device('/gpu:%d' % gpu), tf.name_scope('tower_%d/' % gpu):
            tower_grads.append(optimizer.compute_gradients(loss, **kwargs))
    return sum_gradients(tower_grads)


class TowerOptimizer(tf.train.Optimizer):
    """Hands the towers' gradients to a library function that calls optimizer.compute_gradients(loss) itself.

    `optimizer` is the script's own, which applies them; `tower_losses` has each tower's loss.
    """

    def __init__(self, optimizer, tower_losses):
        tf.train.Optimizer.__init__(self, False, type(optimizer).__name__)
        self.optimizer = optimizer
        self.tower_losses = tower_losses

    def compute_gradients(self, loss, var_list=None, **kwargs):
        return tower_gradients(self.optimizer, self.tower_losses, var_list=var_list, **kwargs)

    def apply_gradients(self, *args, **kwargs):
        return self.optimizer.apply_gradients(*args, **kwargs)


def gradients_of_towers(tower_losses, variables, *args, **kwargs):
    """Like tf.gradients(loss, variables), but each GPU computes the gradients of its own tower's loss.

    Returns one gradient for each variable: the sum over the towers.
    """
    variables = list(variables) if isinstance(variables, (list, tuple)) else [variables]
    tower_grads = []
    for gpu, loss in enumerate(tower_losses):
        with tf.device('/gpu:%d' % gpu), tf.name_scope('tower_%d/' % gpu):
            tower_grads.append(zip(tf.gradients(loss, variables, *args, **kwargs), variables))
    return [grad for grad, _ in sum_gradients(tower_grads)]


def gradients_of_towers_or_one_gpu(tower_losses, variables, *args, **kwargs):
    """Like tf.gradients(loss, variables), but each GPU computes the gradients of its own tower's loss.

    Returns one gradient for each variable: the sum over the towers. With one GPU there are no towers.
    """
    if NUM_GPUS == 1:
        return tf.gradients(tower_losses[0], variables, *args, **kwargs)
    variables = list(variables) if isinstance(variables, (list, tuple)) else [variables]
    tower_grads = []
    for gpu, loss in enumerate(tower_losses):
        with tf.device('/gpu:%d' % gpu), tf.name_scope('tower_%d/' % gpu):
            tower_grads.append(zip(tf.gradients(loss, variables, *args, **kwargs), variables))
    return [grad for grad, _ in sum_gradients(tower_grads)]


def weigh_losses(tower_losses, tower_counts):
    """Weight the towers' losses, each a mean over unmasked entries, by the towers' numbers of unmasked entries.

    The sum of the weighted losses is then the mean over the unmasked entries of the whole batch.
    """
    total = tf.maximum(tf.add_n(tower_counts), 1e-30)
    return [loss * tf.cast(count / total, loss.dtype) for loss, count in zip(tower_losses, tower_counts)]


def merge_loss(tower_losses, name=None):
    """Add the towers' weighted losses: the loss of the whole batch.

    The sum keeps them as its attribute `tower_losses`, for tower_gradients() where the script minimises the sum.
    """
    loss = tf.add_n(tower_losses, name=name)
    loss.tower_losses = tower_losses
    return loss


def keep_losses(loss, tower_losses):
    """Return `loss`, which has the values of all towers side by side and is minimised in another function.

    It keeps the towers' weighted losses as its attribute `tower_losses`, for tower_gradients() there.
    """
    loss.tower_losses = tower_losses
    return loss


def keep_parts(merged, parts):
    """Return `merged`, a tensor of the whole batch, which keeps what each tower made: see part_of_tower()."""
    merged.tower_parts = parts
    return merged


class HandedOn(object):
    """Stands for the lists, or dicts, that the towers made at one place and that only a later loop of towers reads."""

    def __init__(self, tower_parts):
        self.tower_parts = tower_parts


def hand_on(tower_parts):
    """Return an object that keeps what each tower made for part_of_tower(); of a single tower that itself."""
    return HandedOn(tower_parts) if len(tower_parts) > 1 else tower_parts[0]


def part_of_tower(merged, gpu):
    """Return what tower `gpu` made of a tensor of the whole batch, for a function that goes on with the towers."""
    return getattr(merged, 'tower_parts', [merged])[gpu]
