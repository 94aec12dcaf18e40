"""Trains an original script with several of its batches for each step, and compares its checkpoints with others.

Run as a program: SCRIPT WORKERS OTHERS CHECKPOINT... -- ARGUMENTS. Prints the largest difference of each checkpoint.
Nothing of the tool is used: each batch has a run for its gradients, all at the same weights, and their mean, weighted
by the numbers of examples, is applied in a run of its own.
"""

import json
import os
import runpy
import sys

import numpy as np
import tensorflow.compat.v1 as tf

SEVERAL = int(sys.argv[2])
MINIMIZE, RUN = tf.train.Optimizer.minimize, tf.Session.run
steps = {}


def minimize(self, loss, global_step=None, **options):
    """A step that takes gradients as they are fed, and an operation that stands for the training step."""
    pairs = self.compute_gradients(loss, **options)
    fed = [tf.placeholder(grad.dtype.base_dtype, grad.shape) for grad, _ in pairs]
    apply = self.apply_gradients([(one, pair[1]) for one, pair in zip(fed, pairs)], global_step)
    stands = tf.no_op()
    steps[stands] = [grad for grad, _ in pairs], fed, apply
    return stands


def run(self, fetches, feed_dict=None, options=None, run_metadata=None):
    """Takes a training step on each of the batches that a larger one holds."""
    step = next((one for one in fetches if one in steps), None) if isinstance(fetches, list) else None
    if step is None:
        return RUN(self, fetches, feed_dict, options, run_metadata)
    gradients, fed, apply = steps[step]
    total = len(next(iter(feed_dict.values())))
    limits = [(total * part + SEVERAL - 1) // SEVERAL for part in range(SEVERAL + 1)]
    means = [0.0] * len(gradients)
    for begin, end in zip(limits, limits[1:]):
        part = {key: value[begin:end] for key, value in feed_dict.items()}
        if end > begin:
            found = RUN(self, gradients, part)
            means = [mean + one * float(end - begin) / total for mean, one in zip(means, found)]
    results = RUN(self, [one for one in fetches if one is not step], feed_dict)
    RUN(self, apply, dict(zip(fed, means)))
    return [None] + results


def main():
    """Runs the original with batches as large as those of all workers."""
    script, others = sys.argv[1], sys.argv[3]
    place = sys.argv.index("--")
    checkpoints, sys.argv = sys.argv[4:place], [script] + sys.argv[place + 1 :]
    tf.train.Optimizer.minimize, tf.Session.run = minimize, run
    runpy.run_path(script, run_name="__main__")
    worst = {}
    for name in checkpoints:
        mine, theirs = tf.train.load_checkpoint(name), tf.train.load_checkpoint(os.path.join(others, name))
        shapes = mine.get_variable_to_shape_map()
        assert set(shapes) == set(theirs.get_variable_to_shape_map()), name
        values = ((mine.get_tensor(key).astype(float), theirs.get_tensor(key).astype(float)) for key in shapes)
        worst[name] = max(float(np.max(np.abs(one - other))) for one, other in values)
    print(json.dumps(worst))


main()
