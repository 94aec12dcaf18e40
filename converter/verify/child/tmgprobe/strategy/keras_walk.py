"""The original's steps by Keras: each takes the mean of the gradients of the replicas' batches."""

from __future__ import absolute_import, division, print_function

import numpy
from tmgprobe.strategy.batches import merged
from tmgprobe.values import compare

ALIKE = 1e-5  # how far weights that two ways of training come to may be apart, as a part of the largest


class KerasWalk(object):
    """The steps of one model.

    steps: Parts of each; fit: a function of the model and a batch that trains on it once. Each step computes the
    gradients of every replica's batch at the same weights, and takes the first batch once more with their mean.
    quick: as fit, in less time; it takes its place in the steps from other first values, where both come to the same.
    """

    def __init__(self, tf, trial, model, steps, fit, quick):
        self._tf, self._gradients, self._model, self._steps, self._fit = tf, trial.gradients, model, steps, fit
        self._quick, self._found = quick, []
        self._gradients.gated = any(step.weights[1:] for step in steps)
        if self._gradients.gated and hasattr(model, 'jit_compile'):
            model.jit_compile = False  # XLA calls no Python
        self._prepare()
        self._first = self._values()

    def states(self):
        """The model's weights, lists of arrays, before the first step and after each."""
        number = len(self._model.weights)
        found = [self._values()[:number]]
        for step in self._steps:
            self._take(step)
            found.append(self._values()[:number])
        self._found = self._found or found
        return found

    def again(self, first):
        """The weights as {name: array} from other first ones, in the model's order."""
        if self._quick is not None:
            self._hurry()
        names = sorted(first)
        self._set([first[name] for name in names] + self._first[len(names):])
        return [dict(zip(names, state)) for state in self.states()]

    def _hurry(self):
        """Trains the quick way from now on, unless it fails or comes to other weights than the first walk."""
        usual, self._fit, self._quick = self._fit, self._quick, None
        try:
            self._set(self._first)
            found = self.states()
        except Exception:  # whatever a model's own methods raise
            found = []
        pairs = [pair for states in zip(found, self._found) for pair in zip(*states)]
        if not found or not all(compare.value_error(one, other) <= ALIKE for one, other in pairs):
            self._fit = usual

    def _take(self, step):
        met = self._gradients
        met.begin()
        if not step.weights[1:]:
            self._fit(self._model, step.batches[0])
            return
        before, several, after = self._values(), [], []
        for batch in step.batches:
            met.begin()
            self._fit(self._model, batch)
            several.append(met.taken)
            after.append(self._values())
            self._set(before)
        met.begin(several, step.weights)
        self._fit(self._model, step.batches[0])
        own = self._values()
        for index, weight in enumerate(self._model.weights):  # moving averages; in Keras 3 those of the first replica
            if getattr(weight, 'aggregation', '') in ('mean', self._tf.VariableAggregation.MEAN):
                own[index] = merged(before[index], [values[index] for values in after], step.weights)
        self._set(own)

    def _prepare(self):
        """Makes the variables of the optimizer, so that they can be set back."""
        model, optimizer = self._model, self._model.optimizer
        if not self._tf.executing_eagerly():
            self._make_graph()
        elif hasattr(optimizer, 'build'):
            if not getattr(optimizer, 'built', False):
                optimizer.build(model.trainable_variables)
        elif hasattr(optimizer, '_create_slots'):
            getattr(optimizer, 'iterations', None)
            optimizer._create_hypers()
            optimizer._create_slots(model.trainable_variables)

    def _make_graph(self):
        """Makes the graph that trains; a model without inputs makes it for its first batch."""
        model, keras = self._model, self._tf.compat.v1.keras
        if hasattr(model, '_feed_inputs'):
            model._make_train_function()
            return
        weights = model.get_weights()
        self._fit(model, self._steps[0].batches[0])
        keras.backend.get_session().run([one.initializer for one in self._variables() if hasattr(one, 'initializer')])
        model.set_weights(weights)

    def _variables(self):
        """The weights of the model, and what its optimizer remembers."""
        optimizer, found = self._model.optimizer, list(self._model.weights)
        for owner in (optimizer, getattr(optimizer, 'optimizer', None)):  # Keras wraps the optimizers of tf.train
            if owner is None:
                continue
            held = getattr(owner, 'variables', ())
            found += [getattr(owner, 'iterations', None)] + list(held() if callable(held) else held)
        kept = []
        for variable in found:
            if variable is not None and not any(variable is one for one in kept):
                kept.append(variable)
        return kept

    def _values(self):
        if self._tf.executing_eagerly():
            return [numpy.array(variable.numpy()) for variable in self._variables()]
        return list(self._tf.compat.v1.keras.backend.batch_get_value(self._variables()))

    def _set(self, values):
        pairs = list(zip(self._variables(), values))
        if not self._tf.executing_eagerly():
            self._tf.compat.v1.keras.backend.batch_set_value(pairs)
            return
        for variable, value in pairs:
            variable.assign(value)
