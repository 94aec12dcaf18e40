"""Gradients of the original as TensorFlow computes them: noted for the batch of each replica, their mean handed on.

They are met before the script or its optimizer clips them: that happens once, to the mean.
"""

from __future__ import absolute_import, division, print_function

import sys

import numpy
from tmgprobe.strategy import classes
from tmgprobe.values import compare

VARIABLES = ('Variable', 'VariableV2', 'VarHandleOp')


class GradientCalls(object):
    """Of one script. Nothing is met where neither `noting` nor `gated` is set.

    noting: whether sets of gradients that a graph computes are kept in `sets`, for a session to fetch and to feed.
    gated: whether gradients pass through Python on their way to the optimizer, as Keras runs its own session.
    taken: the gradients that passed since `begin`, a list for each time; given: what is handed on in their place, or
        None.
    """

    def __init__(self):
        self.noting, self.gated = False, False
        self.sets = []
        self.taken, self.given, self._sparse = [], None, []
        self._graphs, self._inside = [], False

    def install(self, tf):
        """Meets gradients where graphs compute them, and where optimizers of Keras take them."""
        module = sys.modules.get('tensorflow.python.ops.gradients_util')
        if module is not None:
            module._GradientsHelper = self._computed(tf, module._GradientsHelper)
        homes = classes.of_keras(tf, 'optimizers')
        kinds = [getattr(home, 'Optimizer', None) for home in homes + [getattr(home, 'legacy', None) for home in homes]]
        for base in classes.defining(kinds, 'apply'):  # Keras 3
            base.apply = self._applied(tf, base.apply, False)
        for base in classes.defining([kind for kind in kinds if not hasattr(kind, 'apply')], 'apply_gradients'):
            base.apply_gradients = self._applied(tf, base.apply_gradients, True)

    def begin(self, several=(), weights=()):
        """Before a step; several: what passed in others, the mean of which is handed on in this one."""
        sets = zip(zip(*several), self._sparse)
        self.given = [mean(passed, sparse, weights) for passed, sparse in sets] if several else None
        self.taken = []

    def _computed(self, tf, real):
        def helper(ys, xs, *rest, **more):
            found = real(ys, xs, *rest, **more)
            given = xs if isinstance(xs, (list, tuple)) else [xs]
            if not given or not all(map(_is_variable, given)):
                return found
            if self.noting:
                self.sets.append(list(found))
            if self.gated:
                self._graphs.append(tf.compat.v1.get_default_graph())
                return self._gate(tf, found)
            return found

        return helper

    def _applied(self, tf, real, pairs):
        """An optimizer's method; pairs: whether it takes (gradient, variable), not gradients alone."""

        def apply(optimizer, given, *rest, **more):
            known = not tf.executing_eagerly() and tf.compat.v1.get_default_graph() in self._graphs
            if self._inside or known or not self.gated:
                return real(optimizer, given, *rest, **more)
            given = list(given)
            gradients = self._gate(tf, [one[0] for one in given] if pairs else given)
            self._inside = True
            try:
                given = [(gradient, one[1]) for gradient, one in zip(gradients, given)] if pairs else gradients
                return real(optimizer, given, *rest, **more)
            finally:
                self._inside = False

        return apply

    def _gate(self, tf, gradients):
        """Gradients that pass through Python, where they are noted or others take their place."""
        flat = parts(gradients)
        sparse = [hasattr(gradient, 'indices') for gradient in gradients if gradient is not None]

        def through(*arrays):
            held = arrays if self.given is None else self.given[len(self.taken)]
            self._sparse[len(self.taken) :] = [sparse]  # the sets pass in the same order in each step
            self.taken.append(arrays)
            return [numpy.asarray(array, like.dtype) for array, like in zip(held, arrays)]

        passed = tf.compat.v1.py_func(through, flat, [part.dtype for part in flat])
        passed = iter(passed if isinstance(passed, (list, tuple)) else [passed])
        result = []
        for gradient in gradients:
            if gradient is None:
                result.append(None)
            elif hasattr(gradient, 'indices'):
                values, indices = next(passed), next(passed)
                values.set_shape([None] + list(gradient.values.shape[1:]))
                indices.set_shape([None])
                result.append(tf.IndexedSlices(values, indices, gradient.dense_shape))
            else:
                one = next(passed)
                one.set_shape(gradient.shape)
                result.append(one)
        return result


def parts(gradients):
    """The tensors of gradients: one of each, values and indices of a sparse one."""
    found = []
    for gradient in gradients:
        if gradient is not None:
            found += [gradient.values, gradient.indices] if hasattr(gradient, 'indices') else [gradient]
    return found


def mean(several, sparse, weights):
    """The mean of several sets of arrays with these weights; sparse: whether a gradient has values and indices."""
    places, result = 0, []
    for is_sparse in sparse:
        wide = 2 if is_sparse else 1
        found = [one[places:places + wide] for one in several]
        merged = compare.mean([tuple(one) if is_sparse else one[0] for one in found], weights)
        result += list(merged) if is_sparse else [merged]
        places += wide
    return result


def _is_variable(given):
    handle = getattr(given, 'handle', given)
    try:
        return handle.op.type in VARIABLES
    except (AttributeError, ValueError):  # an eager tensor has no operation
        return False
