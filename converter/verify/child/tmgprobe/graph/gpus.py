"""GPUs for scripts that count them: a script sees as many as there are virtual devices, under the names of GPUs."""

from __future__ import absolute_import, division, print_function

import sys

MEMORY = 16 * 2**30  # bytes that each GPU claims to have
SETTINGS = (  # functions of tf.config.experimental that are told about a GPU, and would not know one that is shown only
    'set_memory_growth',
    'set_visible_devices',
    'set_virtual_device_configuration',
    'set_logical_device_configuration',
)


def show(tf, gpus):
    """Lets device_lib.list_local_devices() and tf.config's lists of devices name `gpus` GPUs.

    TensorFlow's own calls still see the machine: tf.test.is_gpu_available() decides about kernels for GPUs alone.
    """
    from tensorflow.python.client import device_lib

    device_lib.list_local_devices = _with_local(tf, device_lib.list_local_devices, gpus)
    config = getattr(tf, 'config', None)
    for module in filter(None, (config, getattr(config, 'experimental', None))):
        for name, title in (('physical', '/physical_device:GPU:%d'), ('logical', '/device:GPU:%d')):
            real = getattr(module, 'list_%s_devices' % name, None)
            if real is not None:
                setattr(module, 'list_%s_devices' % name, _with_gpus(real, title, gpus))
        for name in SETTINGS:
            if hasattr(module, name):
                setattr(module, name, _unless_shown(getattr(module, name)))


def _with_local(tf, real, gpus):
    def list_local_devices(session_config=None):
        asked_by = sys._getframe(1).f_globals.get('__name__', '')
        hidden = tf.ConfigProto(device_count={'GPU': 0})
        found = list(real(session_config or hidden))
        if asked_by.startswith('tensorflow'):
            return found
        kind = type(found[0])
        found = [device for device in found if device.device_type != 'GPU']
        return found + [
            kind(name='/device:GPU:%d' % number, device_type='GPU', memory_limit=MEMORY, incarnation=number + 1)
            for number in range(gpus)
        ]

    return list_local_devices


def _with_gpus(real, title, gpus):
    def listed(device_type=None):
        found = list(real(device_type))
        if device_type in ('GPU', None) and not any(device.device_type == 'GPU' for device in found):
            kind = type(real('CPU')[0])
            found += [kind(title % number, 'GPU') for number in range(gpus)]
        return found

    return listed


def _unless_shown(real):
    """A setting that leaves GPUs alone: those that are only shown have no memory to set."""

    def setting(devices, *args, **kwargs):
        several = devices if isinstance(devices, (list, tuple)) and not hasattr(devices, 'device_type') else [devices]
        if any(getattr(device, 'device_type', None) == 'GPU' for device in several):
            return None
        return real(devices, *args, **kwargs)

    return setting
