"""Where scripts find Keras, and in which classes its methods are defined."""

from __future__ import absolute_import, division, print_function

import sys


def of_keras(tf, name):
    """What has this name in each Keras that this interpreter has imported."""
    homes = [tf.keras] + [sys.modules[home] for home in ('keras', 'tf_keras') if home in sys.modules]
    return [getattr(home, name) for home in homes if hasattr(home, name)]


def defining(kinds, *names):
    """The classes, each once, that define methods of all these names for some of these kinds."""
    found = []
    for kind in kinds:
        for base in getattr(kind, '__mro__', ()):
            if base not in found and all(name in base.__dict__ for name in names):
                found.append(base)
    return found
