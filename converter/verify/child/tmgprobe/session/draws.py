"""A script's random numbers: the seeds that it sets, and whether it draws between two steps.

Generators of NumPy and of `random` that the script makes are remembered; whether one was drawn from shows in its
state. Errors that arise here are the script's own, such as a seed that NumPy does not take.
"""

from __future__ import absolute_import, division, print_function

import functools
import hashlib
import numbers
import os
import random

import numpy as np
from tmgprobe.values import own_random

OWN = 'tf_multigpu_probe'  # begins the names of the comparison's own operations
MOST = 64  # generators whose states are looked at
DATA_SET = 'the order of a data set'
MODULES = 'numpy.random.seed', 'random.seed'  # of the generators that come first
TIMES = 10**8  # a larger seed is taken for a time or another number that differs between runs


class Draws(object):
    """What is known of the random numbers of one script.

    seeds: (what was seeded, with what) in order, but for those that the system chooses.
    """

    def __init__(self):
        self.seeds, self._states, self._closed, self._timed = [], [], False, 0
        self._forks = self._looked = 0  # processes that the script has forked, and how often somebody asked since
        self._fresh = []  # the state of each generator when it was seeded; None where that is left to the system

    def install(self, tf):
        """Puts itself between the script and the makers of random numbers."""
        self._states = [lambda: _legacy(np.random.get_state()), random.getstate]
        self._fresh = [_brief(state()) for state in self._states]
        np.random.RandomState = self._kind(own_random.Generator, 'numpy.random.RandomState')
        self._watch_generators()
        if hasattr(os, 'fork'):
            os.fork = self._counting(os.fork)
        np.random.seed = self._seeding(np.random.seed, MODULES[0], self._timeless)
        random.seed = self._seeding(random.seed, MODULES[1], self._timeless)
        if hasattr(np.random, 'default_rng'):
            np.random.default_rng = self._maker(np.random.default_rng)

    def install_for_data_sets(self):
        """Sees the seeds of shuffled data sets, also of those that functions make (TensorFlow 1.5 and later)."""
        try:
            from tensorflow.python.data.util import random_seed
        except ImportError:
            return
        random_seed.get_seed = self._seeding(random_seed.get_seed, DATA_SET)

    def state(self):
        """A value that changes whenever the script draws a random number, or a process that it has forked may have.

        Python gives each forked process another seed for `random`, so that no two runs draw alike there.
        """
        self._looked += bool(self._forks)
        return _brief([self._looked] + [state() for state in self._states])

    def _counting(self, fork):
        @functools.wraps(fork)
        def counted():
            pid = fork()
            self._forks += bool(pid)
            return pid

        return counted

    def forget(self):
        """Forget the seeds so far: the script has not set them."""
        self.seeds = []
        self._fresh = [_brief(state()) for state in self._states]

    def used(self):
        """For each generator that has drawn since it was seeded, a value that says how far it has come; else None."""
        now = [_brief(state()) for state in self._states]
        return [state if fresh not in (None, state) else None for state, fresh in zip(now, self._fresh)]

    def close(self):
        """Training begins: what is seeded from here on, as for each epoch, is not compared."""
        self._closed = True

    def _seeded(self, what, args, kwargs):
        values = list(args) + sorted(kwargs.values(), key=repr)
        if not self._closed and len(values) == 1 and isinstance(values[0], int) and values[0] < TIMES:
            self.seeds.append([what, int(values[0])])

    def _timeless(self, args, kwargs):
        """The arguments of a seed; a seed by the clock or the system is another one in each script, and is counted."""
        values = list(args) + list(kwargs.values())
        seed = values[0] if values else None
        timed = isinstance(seed, numbers.Real) and seed >= TIMES
        if len(values) > 1 or not (seed is None or timed):
            return args, kwargs
        self._timed += 1
        return (self._timed,), {}

    def _remember(self, state, args, kwargs):
        if len(self._states) < MOST:
            self._states.append(state)
            seeds = list(args) + list(kwargs.values())
            self._fresh.append(None if not seeds or seeds[0] is None else _brief(state()))

    def _kind(self, base, what):
        """A class like `base` whose objects are remembered; objects of `base` are its objects, too."""
        draws = self

        def initialise(one, *args, **kwargs):
            base.__init__(one, *args, **kwargs)
            draws._seeded(what, args, kwargs)
            draws._remember(lambda: _legacy(one.get_state()), args, kwargs)

        class Kind(type):
            def __instancecheck__(cls, one):
                return isinstance(one, base)

        told = {'__init__': initialise, '__doc__': base.__doc__, '__module__': base.__module__}
        return Kind(base.__name__, (base,), told)

    def _watch_generators(self):
        """Those of `random`. The class stays: in Python 2 its methods find themselves by its name in the module."""
        start, draws = random.Random.__init__, self

        def initialise(one, *args, **kwargs):
            start(one, *args, **kwargs)
            if not isinstance(one, random.SystemRandom):  # which has no state
                draws._seeded('random.Random', args, kwargs)
                draws._remember(one.getstate, args, kwargs)

        random.Random.__init__ = initialise

    def _seeding(self, original, what, replaced=None):
        def seed(*args, **kwargs):
            self._seeded(what, args, kwargs)
            if replaced:
                args, kwargs = replaced(args, kwargs)
            result = original(*args, **kwargs)
            if what in MODULES:
                place = MODULES.index(what)
                self._fresh[place] = _brief(self._states[place]())
            return result

        seed.__doc__ = original.__doc__
        return seed

    def _maker(self, original):
        def default_rng(*args, **kwargs):
            made = original(*args, **kwargs)
            self._seeded('numpy.random.default_rng', args, kwargs)
            self._remember(lambda: repr(made.bit_generator.state), args, kwargs)
            return made

        default_rng.__doc__ = original.__doc__
        return default_rng


def _brief(state):
    return hashlib.md5(repr(state).encode('utf-8')).hexdigest()


def _legacy(state):
    return state[1].tobytes(), state[2:]


def shuffling(graph):
    """The operations of a graph and its functions that draw the order of data: [type, seeds that the script gave].

    Seeds that TensorFlow counts up itself, because the graph has a seed, say nothing and are left out.
    """
    found = []
    for node, constants in _shuffling_nodes(graph):
        seeds = [number for number in constants[2:4] if number is not None]
        if 'seed2' in node.attr:  # of queues
            seeds = [int(node.attr['seed'].i), int(node.attr['seed2'].i)]
        found.append([node.op, seeds if graph.seed is None else []])
    return sorted(found)


def buffers(graph):
    """How many elements each shuffling of data sets holds, in a graph and its functions; 0 where it is computed."""
    found = [(node.op, constants) for node, constants in _shuffling_nodes(graph)]
    return sorted(constants[1] or 0 for op, constants in found if op.startswith('Shuffle') and len(constants) > 1)


def _shuffling_nodes(graph):
    """[(NodeDef, the constants among its inputs, None for others)] of what shuffles in a graph and its functions."""
    for op in graph.get_operations():
        if 'Shuffle' in op.type and not op.name.startswith(OWN):
            given = [tensor.op for tensor in op.inputs][1:]  # the first is what is shuffled, however large
            yield op.node_def, [None] + [_number(one.node_def) if one.type == 'Const' else None for one in given]
    for definition in _functions(graph):
        nodes = {one.name: one for one in definition.node_def}
        for node in nodes.values():
            if 'Shuffle' in node.op:
                yield node, [_number(nodes.get(name.split(':')[0])) for name in node.input]


def _functions(graph):
    """The definitions of a graph's functions."""
    for function in list(getattr(graph, '_functions', {}).values()):
        definition = getattr(function, 'definition', None) or getattr(function, 'function_def', None)
        if definition is not None:
            yield definition


def disorder(graph, sources, operations, total):
    """Why the order of the examples says nothing: 'drawn' at random, or 'grouped'; '' where it must be the original's.

    Data sets that put examples of like length together give batches of another size in another order.
    sources, operations: what a step reads its examples from, and runs. total: whether batches keep their size.
    """
    if not sources:
        return ''
    if shuffling(graph) or any('Queue' in op.type for op in operations):
        return 'drawn'
    types = {op.type for op in graph.get_operations()}
    types.update(node.op for definition in _functions(graph) for node in definition.node_def)
    return 'grouped' if not total and any('GroupByWindow' in name for name in types) else ''


def _number(node):
    """The number that a constant is, None for any other operation."""
    if node is None or node.op != 'Const':
        return None
    values = node.attr['value'].tensor.int64_val
    return int(values[0]) if len(values) else 0
