"""Where towers run: each on a virtual CPU device, or on GPUs of this machine (verify --devices gpu)."""

from __future__ import absolute_import, division, print_function

import re

GPU = re.compile(r'(?i)(?:^|(?<=/))(?:device:)?gpu:(\d+|\*)')


def of_job(tf, job):
    """The machine that a job asks for; one without GPUs where this TensorFlow cannot use any.

    To be called before GPUs are shown that are none; see gpus.py.
    """
    if job.get('on_gpus') and is_usable(tf):
        return Gpus(tf, job['gpus'], job['gpu_memory'])
    return Processor(tf, job['gpus'])


def is_usable(tf):
    """Whether this TensorFlow finds a GPU; packages that know CUDA run without one, too."""
    if not tf.test.is_built_with_cuda():
        return False
    experimental = getattr(getattr(tf, 'config', None), 'experimental', None)
    listed = getattr(experimental, 'list_physical_devices', None)
    if listed is not None:
        return bool(listed('GPU'))
    return bool(tf.test.is_gpu_available())  # before 1.14


class Processor(object):
    """A virtual CPU device for each tower, behind the machine's own (`cpu:0`)."""

    on_gpus = False
    title = 'virtual CPU devices'

    def __init__(self, tf, towers):
        self.tf, self.towers = tf, towers

    def place(self, where):
        """A device with every GPU i replaced by CPU i + 1, in any form that tf.device takes."""
        if where is None:
            return None
        if callable(where) and not hasattr(where, 'to_string'):

            def place(operation):
                return self.place(where(operation))

            return place
        text = where.to_string() if hasattr(where, 'to_string') else where
        if not isinstance(text, str):
            return where
        return GPU.sub(lambda match: 'device:CPU:%d' % (int(match.group(1).replace('*', '0')) + 1), text)

    def config(self, config):
        """A session's configuration with a virtual CPU device for each tower and plain execution."""
        result = plain(self.tf, config)
        result.device_count['CPU'] = self.towers + 1
        result.device_count['GPU'] = 0
        return result


class Gpus(object):
    """A GPU for each tower, or logical devices of one GPU with so many MiB each."""

    on_gpus = True

    def __init__(self, tf, towers, memory):
        self.tf, self.towers, self.memory = tf, towers, memory
        self.title = '%d logical devices of one GPU' % towers if memory else '%d GPU%s' % (towers, 's' * (towers > 1))

    def place(self, where):
        """Devices stay as the script names them."""
        return where

    def config(self, config):
        """A session's configuration that takes memory as it needs it, as other processes use these GPUs, too."""
        result = plain(self.tf, config)
        result.device_count.pop('GPU', None)
        result.gpu_options.Clear()
        result.gpu_options.allow_growth = True
        if self.memory:
            parts = result.gpu_options.experimental.virtual_devices.add()
            parts.memory_limit_mb.extend([self.memory] * self.towers)
        return result


def copied(tf, config):
    """A copy of a session's configuration; None is the usual one."""
    result = tf.ConfigProto()
    if config is not None:
        result.CopyFrom(config)
    return result


def plain(tf, config):
    """As `copied`, with soft placement and plain execution."""
    result = copied(tf, config)
    result.allow_soft_placement = True
    result.log_device_placement = False
    unrewritten(result)  # operations run under the names they were given
    return result


def unrewritten(config):
    """Leaves out TensorFlow's rewriting of the graph, most of the first run's time, which no run needs to be right."""
    rewrite = config.graph_options.rewrite_options
    if hasattr(rewrite, 'disable_meta_optimizer'):
        rewrite.disable_meta_optimizer = True
