"""The original's steps in an Estimator's session: each takes the mean of the gradients of the replicas' batches."""

from __future__ import absolute_import, division, print_function

import numpy
from tmgprobe.graph import graphs
from tmgprobe.strategy import gradients
from tmgprobe.strategy.batches import merged


class SessionWalk(object):
    """The steps of one training.

    Each computes the gradients of every replica's batch at the same weights, and takes the first batch once more with
    their mean. met: gradients.Gradients; steps: Parts of each. At the end it calls leave(states, again): the variables
    before the first step and after each, and what computes them anew from changed first values.
    order: the batches as they are taken, over and over; hook, listener: for the training.
    """

    def __init__(self, tf, met, steps, leave):
        self._tf, self._met, self._steps, self._leave = tf, met, steps, leave
        self.order = []
        for step in steps:
            self.order += step.batches + (step.batches[:1] if step.weights[1:] else [])
        self.hook, self.listener = _hook(tf, self)(), _listener(tf, self)()
        self._states, self._fetches, self._own = [], None, {}

    def prepared(self, session, fetches):
        """The feed of the next step: the mean of the gradients of its batches."""
        tf, step, before = self._tf, self._steps[len(self._states)], _values(self._tf, session)
        self._states.append(before)
        self._fetches = fetches
        if not step.weights[1:]:
            return {}
        found = [gradient for one in self._met.sets for gradient in one if gradient is not None]
        flat = gradients.parts(found)
        taken, after = [], []
        for _ in step.batches:
            taken.append(session.run([fetches, flat])[1])
            after.append(_values(tf, session))
            _load(tf, session, before, after[-1])
        self._own = {
            name: merged(before[name], [one[name] for one in after], step.weights) for name in _by_replica(tf)
        }
        for tensor in flat:  # the rows of sparse gradients are as many as all replicas have
            tensor.get_shape = lambda: tf.TensorShape(None)
        sparse = [hasattr(gradient, 'indices') for gradient in found]
        return dict(zip(flat, gradients.mean(taken, sparse, step.weights)))

    def settle(self, session):
        """Gives variables that each replica updates by itself the mean of theirs."""
        _load(self._tf, session, self._own)
        self._own = {}

    def end(self, session):
        """After the last step."""
        self._leave(self._states + [_values(self._tf, session)], lambda first: self._again(session, first))

    def _again(self, session, first):
        self._states = []
        _load(self._tf, session, first)
        for _ in self._steps:
            session.run(self._fetches, self.prepared(session, self._fetches))
            self.settle(session)
        return self._states + [_values(self._tf, session)]


def _hook(tf, walk):
    class Hook(tf.compat.v1.train.SessionRunHook):
        def before_run(self, context):
            fed = walk.prepared(context.session, context.original_args.fetches)
            return tf.compat.v1.train.SessionRunArgs(None, fed)

        def end(self, session):
            walk.end(session)

    return Hook


def _listener(tf, walk):
    class Listener(tf.compat.v1.train.CheckpointSaverListener):
        def before_save(self, session, global_step_value):
            walk.settle(session)

    return Listener


def _variables(tf):
    return {variable.op.name: variable for variable in
            tf.compat.v1.global_variables() + tf.compat.v1.local_variables()}


def _by_replica(tf):
    """The variables that TensorFlow averages over the replicas."""
    mean = tf.VariableAggregation.MEAN
    return [name for name, one in _variables(tf).items() if getattr(one, 'aggregation', None) == mean]


def _values(tf, session):
    return session.run(_variables(tf))


def _load(tf, session, wanted, held=None):
    """Gives variables these values; held: the values that they have, where they are known.

    All of them are set where one differs: a run that sets others than the last one makes TensorFlow plan anew.
    """
    if held is not None and all(numpy.array_equal(held[name], value) for name, value in wanted.items()):
        return
    variables = _variables(tf)
    graphs.assign([(variables[name], value) for name, value in wanted.items()], session.run)
