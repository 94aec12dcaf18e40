"""The first training of an Estimator: its batches, its checkpoints before and after each step."""

from __future__ import absolute_import, division, print_function

import glob
import itertools
import os
import shutil

from tmgprobe.strategy import batches, classes
from tmgprobe.strategy.session_walk import SessionWalk


def install(tf, trial):
    """Watches the making and the training of Estimators, where this TensorFlow has them."""
    try:
        kind = tf.estimator.Estimator
    except (AttributeError, ImportError):
        return
    modules = [getattr(module, 'estimator', None) for module in (tf.compat.v1, getattr(tf.compat, 'v2', None))]
    kinds = [kind] + [module.Estimator for module in modules if hasattr(module, 'Estimator')]
    for base in classes.defining(kinds, '__init__', 'train'):  # canned estimators inherit from there
        base.__init__ = _made(tf, trial, base.__init__)
        base.train = _trained(tf, trial, base.train)


def _made(tf, trial, real):
    """Every Estimator saves each step in a folder of its own, and sees the virtual devices."""

    def init(self, model_fn, model_dir=None, config=None, params=None, **more):
        if getattr(self, '_tmg_made', False):
            return real(self, model_fn, model_dir, config, params, **more)
        self._tmg_made = True
        config = config or tf.estimator.RunConfig()
        session = tf.compat.v1.ConfigProto()
        if config.session_config is not None:
            session.CopyFrom(config.session_config)
        else:
            session.allow_soft_placement = True
        session.device_count['CPU'] = trial.gpus
        folder = os.path.join(trial.job['work'], trial.job['role'].replace(' ', '-'))
        config = config.replace(model_dir=folder, session_config=session, tf_random_seed=20, keep_checkpoint_max=None,
                                save_checkpoints_steps=1, save_summary_steps=None)
        return real(self, model_fn, None, config, params, **more)

    return init


def _trained(tf, trial, real):
    def train(self, input_fn, hooks=None, steps=None, max_steps=None, saving_listeners=None):
        if trial.converted:
            _conversion(tf, trial, self, input_fn, real)
        _original(tf, trial, self, input_fn, real)

    return train


def _original(tf, trial, estimator, input_fn, train):
    together = 1 if trial.total else trial.gpus
    taken, shapes, _ = batches.note(tf, _called(estimator, input_fn), trial.steps * together)
    again, _, _ = batches.note(tf, _called(estimator, input_fn), trial.steps * together)
    drawn = not batches.all_same(taken, again)
    steps = list(map(batches.joined, batches.together(taken, together)))
    if not steps:
        trial.stop('its input has fewer than %d batches' % together)

    def leave(states, again):
        weights = _weights(tf, estimator, len(steps))
        trial.trained('Estimator', steps, weights, states, again, drawn=drawn, folder=estimator.model_dir)

    trial.gradients.noting = True
    walk = SessionWalk(tf, trial.gradients, [batches.ReplicaBatches(step, together) for step in steps], leave)
    train(estimator, lambda: _dataset(tf, walk.order, shapes, endless=True), hooks=[walk.hook], steps=len(steps),
          saving_listeners=[walk.listener])


def _conversion(tf, trial, estimator, input_fn, train):
    strategy = estimator.config.train_distribute
    if strategy is None:
        trial.stop('its Estimator has no distribution strategy')
    given = trial.given
    number = len(given['batches'])
    taken, shapes, dataset = batches.note(tf, _called(estimator, input_fn), number * trial.gpus)
    if not dataset:
        trial.stop('the input function of its training does not return a dataset')
    if not os.path.isdir(estimator.model_dir):
        os.makedirs(estimator.model_dir)
    for file in glob.glob(os.path.join(given['folder'], 'model.ckpt-0.*')):
        shutil.copy(file, estimator.model_dir)
    with open(os.path.join(estimator.model_dir, 'checkpoint'), 'w') as stream:
        stream.write('model_checkpoint_path: "model.ckpt-0"\n')
    parts = [part for batch in given['batches'] for part in batches.cut(batch, trial.gpus)]
    trial.trains = True
    train(estimator, lambda: _dataset(tf, parts, shapes), steps=number)
    own = list(map(batches.joined, batches.together(taken, trial.gpus)))
    trial.leave('Estimator', _weights(tf, estimator, number), replicas=strategy.num_replicas_in_sync,
                **batches.compared(own, given['batches']))


def _called(estimator, input_fn):
    """An input function with the arguments that an Estimator gives it."""
    return lambda: estimator._call_input_fn(input_fn, 'train')


def _dataset(tf, held, shapes, endless=False):
    """A dataset of noted batches; a number of rows that was known stays known where all batches have it."""
    types = batches.mapped(lambda array: tf.as_dtype(array.dtype), held[0])
    known = [bool(shape.ndims) and shape.as_list()[0] is not None for shape in shapes]
    rows = {len(batches.flat(batch)[0]) for batch in held}
    sized = dict(zip(map(id, batches.flat(held[0])), known))

    def outline(array):
        first = len(array) if sized[id(array)] and len(rows) == 1 else None
        return tf.TensorShape([first] + list(array.shape[1:]))

    outlines = batches.mapped(outline, held[0])
    return tf.data.Dataset.from_generator(lambda: itertools.cycle(held) if endless else iter(held), types, outlines)


def _weights(tf, estimator, steps):
    """{name: array} of the checkpoints before the first step and after each."""
    found = []
    for step in range(steps + 1):
        reader = tf.train.load_checkpoint(os.path.join(estimator.model_dir, 'model.ckpt-%d' % step))
        found.append({name: reader.get_tensor(name) for name in reader.get_variable_to_shape_map()})
    return found
