"""The first fit() of a Keras model: its batches, its weights before and after each step."""

from __future__ import absolute_import, division, print_function

import contextlib

from tmgprobe.strategy import batches, classes
from tmgprobe.strategy.keras_walk import KerasWalk

USUAL = 32  # rows of a batch that fit() takes where it is told no number


def install(tf, trial):
    """Watches fit() of every Keras that this interpreter may use."""
    for base in classes.defining(classes.of_keras(tf, 'Model'), 'fit'):
        base.fit = _fitted(tf, trial, base.fit)


def _fitted(tf, trial, real):
    def fit(self, x=None, y=None, batch_size=None, *rest, **more):
        if getattr(self, '_tmg_fits', False):
            return real(self, x, y, batch_size, *rest, **more)
        self._tmg_fits = True
        drawn = False
        if batches.is_dataset(x):
            steps = _of_dataset(tf, trial, x)
            again = steps if trial.converted else _of_dataset(tf, trial, x)
            drawn = not all(batches.same(a, b) for a, b in zip(steps, again))
        else:
            steps = _of_arrays(trial, x, y, batch_size or USUAL, more.get('sample_weight'))
        if trial.converted:
            _conversion(trial, self, steps, real)
        _original(tf, trial, self, steps, drawn, real)

    return fit


def _of_arrays(trial, x, y, size, weight):
    """The first batches of arrays that fit() would take without shuffling."""
    whole = (x, y) if weight is None else (x, y, weight)
    if y is None or any(not hasattr(array, 'shape') for array in batches.flat(whole)):
        trial.stop('fit() takes what is no array')
    rows = len(batches.flat(whole)[0])
    if not trial.converted:  # fewer rows than a batch of all GPUs: as many of them as these can share
        size = min(size if trial.total else size * trial.gpus, rows // trial.gpus * trial.gpus)
    ends = [size * i for i in range(1, trial.steps + 1) if 0 < size * i <= rows]
    return [batches.rows_of(whole, end - size, end) for end in ends]


def _of_dataset(tf, trial, dataset):
    """The first batches of a dataset, as many together as the conversion takes in one."""
    together = 1 if trial.converted or trial.total else trial.gpus
    number = trial.steps * together
    if tf.executing_eagerly():
        taken = [batches.mapped(lambda tensor: tensor.numpy(), element) for element in dataset.take(number)]
    else:
        element = tf.compat.v1.data.make_one_shot_iterator(dataset).get_next()
        session = tf.compat.v1.keras.backend.get_session()
        taken = batches.take(tf, number, lambda: session.run(element))
    steps = batches.together(taken, together)
    return [batches.joined(step) for step in steps if len({len(batches.flat(b)[0]) for b in step}) == 1]


def _original(tf, trial, model, steps, drawn, fit):
    if not steps:
        trial.stop('its data have fewer rows than one step of all GPUs takes')
    _build(model, steps[0])
    if not model.weights:
        trial.stop('its model has no weights before it trains')
    parts = [batches.ReplicaBatches(step, 1 if trial.total else trial.gpus) for step in steps]
    walk = KerasWalk(tf, trial, model, parts, fit=_once(fit), quick=_on_batch)
    states = walk.states()
    weights = [_named(model, state) for state in states]
    trial.trained('Keras', steps, weights, weights, walk.again, drawn=drawn)


def _conversion(trial, model, steps, fit):
    given = trial.given
    if not trial.strategies:
        trial.stop('it makes no distribution strategy')
    _build(model, given['batches'][0])
    first = given['weights'][0]
    own = _named(model)
    if [array.shape for array in own.values()] != [array.shape for array in first.values()]:
        trial.stop('its model has other variables')
    model.set_weights(list(first.values()))
    trial.trains = True
    weights = [_named(model)]
    for step in given['batches']:
        _once(fit)(model, step)
        weights.append(_named(model))
    replicas = getattr(_strategy_of(model), 'num_replicas_in_sync', 1)
    trial.leave('Keras', weights, replicas=replicas, **batches.compared(steps, given['batches']))


def _build(model, batch):
    """Makes the variables of a model that waits for its first batch, where its strategy wants them."""
    strategy = _strategy_of(model)
    with strategy.scope() if hasattr(strategy, 'scope') else _nothing():
        if not model.built or not model.weights:
            model.build((None,) + batches.flat(batch)[0].shape[1:])
        if not model.weights:  # layers that only calling the model makes
            model(batches.rows_of(batch[0], 0, 1))


def _strategy_of(model):
    strategy = getattr(model, 'distribute_strategy', None) or getattr(model, '_distribution_strategy', None)
    return strategy or getattr(model, '_distribute_strategy', None)


@contextlib.contextmanager
def _nothing():
    yield


def _named(model, values=None):
    """The weights by name, or other values in their place; numbered, as names may repeat."""
    names = [getattr(weight, 'path', None) or weight.name for weight in model.weights]
    values = model.get_weights() if values is None else values
    return {'%03d %s' % (i, name): array for i, (name, array) in enumerate(zip(names, values))}


def _once(fit):
    """fit() for one batch."""

    def taken(model, step):
        weight = {'sample_weight': step[2]} if len(step) > 2 else {}
        fit(model, step[0], step[1], len(batches.flat(step)[0]), epochs=1, shuffle=False, verbose=0, **weight)

    return taken


def _on_batch(model, step):
    """What `_once` does, without the iterator that fit() makes for each call: a large part of a second."""
    weight = {'sample_weight': step[2]} if len(step) > 2 else {}
    model.train_on_batch(step[0], step[1], **weight)
