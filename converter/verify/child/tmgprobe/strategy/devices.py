"""Virtual devices in place of GPUs, and randomness inside the model held still."""

from __future__ import absolute_import, division, print_function

import re
import sys

from tmgprobe.graph import gpus as shown
from tmgprobe.strategy import classes

# Operations that do most of a model's work; sums, copies and constants may stand anywhere.
WORK = re.compile('(Batch)?MatMul|Einsum|(Depthwise)?Conv[23]d|(Resource)?Gather|EmbeddingLookup|Cudnn|LSTM|GRU', re.I)


def install(tf, gpus, trial):
    """Gives the script `gpus` virtual devices, which its strategy finds under the names of GPUs."""
    _split_cpu(tf, gpus)
    shown.show(tf, gpus)
    _map_strategy(tf, gpus, trial)
    _hold_dropout(tf, trial)
    _count_work(tf, trial)


def _count_work(tf, trial):
    """Counts, by device, the operations that do the model's work, of graphs that are built while it trains."""
    kind = tf.Graph
    name = '_create_op_internal' if hasattr(kind, '_create_op_internal') else 'create_op'
    real = getattr(kind, name)

    def made(self, op_type, *rest, **more):
        operation = real(self, op_type, *rest, **more)
        if trial.trains and WORK.match(op_type):
            place = re.search(r'(?i)[cg]pu:\d+', operation.device or '')
            device = place.group(0).lower() if place else ''
            trial.work[device] = trial.work.get(device, 0) + 1
        return operation

    setattr(kind, name, made)


def _split_cpu(tf, gpus):
    old, new = tf.config.experimental, tf.config
    part = getattr(new, 'LogicalDeviceConfiguration', None) or old.VirtualDeviceConfiguration
    split = getattr(new, 'set_logical_device_configuration', None) or old.set_virtual_device_configuration
    split(old.list_physical_devices('CPU')[0], [part() for _ in range(gpus)])


def _map_strategy(tf, gpus, trial):
    """/gpu:0 is /cpu:0 here; a strategy without devices takes all."""
    kinds = [tf.distribute.MirroredStrategy]
    compat = getattr(tf, 'compat', None)
    for version in ('v1', 'v2'):
        module = getattr(compat, version, None)
        if module is not None:
            kinds.append(module.distribute.MirroredStrategy)
    for kind in dict.fromkeys(kinds) if sys.version_info >= (3, 7) else set(kinds):
        kind.__init__ = _mapped(kind.__init__, gpus, trial)


def _mapped(real, gpus, trial):
    def init(self, devices=None, cross_device_ops=None):
        trial.strategies += 1
        if devices is None:
            devices = ['/cpu:%d' % number for number in range(gpus)]
        devices = [str(device).lower().replace('gpu', 'cpu') for device in devices]
        if len(devices) != gpus:
            trial.stop('the strategy has %d devices, and %d are asked for' % (len(devices), gpus))
        real(self, devices, cross_device_ops)

    return init


def _hold_dropout(tf, trial):
    """Dropout draws for each replica: here it lets everything pass."""
    modules = [tf.nn, getattr(tf.compat.v1, 'nn', None)]
    for path in ('tensorflow.python.ops.nn', 'tensorflow.python.ops.nn_ops'):
        modules.append(sys.modules.get(path))
    for module in modules:
        for name in ('dropout', 'dropout_v2'):
            if module is not None and hasattr(module, name):
                setattr(module, name, _passing(tf, trial))

    for module in classes.of_keras(tf, 'layers'):
        for name in ('Dropout', 'SpatialDropout1D', 'SpatialDropout2D', 'SpatialDropout3D', 'AlphaDropout',
                     'GaussianDropout', 'GaussianNoise'):
            if hasattr(module, name):
                getattr(module, name).call = _layer(trial)


def _layer(trial):
    def call(self, inputs, *_, **__):
        trial.held += 1
        return inputs

    return call


def _passing(tf, trial):
    def dropout(x, *_, **__):
        trial.held += 1
        return tf.identity(x)

    return dropout
