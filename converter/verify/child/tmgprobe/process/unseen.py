"""Whether a script may have trained in a way that is not seen: Keras applies its own optimizers."""

from __future__ import absolute_import, division, print_function

import gc

NAMES = ('Optimizer', 'OptimizerV2', 'BaseOptimizer')  # of the classes that all of them are derived from


def may_have_trained():
    """Whether an optimizer of Keras is alive: its updates are no train ops of `Session.run`."""
    kinds = {type(one) for one in gc.get_objects()}
    return any(_is_of_keras(base) for kind in kinds for base in getattr(kind, '__mro__', ()))


def _is_of_keras(kind):
    module, name = getattr(kind, '__module__', None), getattr(kind, '__name__', None)
    return isinstance(module, str) and isinstance(name, str) and 'keras' in module and name in NAMES
