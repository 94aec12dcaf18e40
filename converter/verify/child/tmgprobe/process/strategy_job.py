"""One script that trains by an Estimator or by Keras, up to the end of the compared steps.

The original goes first: it notes the batches that its first training takes, and trains on as many of them together as
there are GPUs. The conversion begins with the original's weights and trains on the same batches under its strategy.
"""

from __future__ import absolute_import, division, print_function

import random
import sys
import traceback

from tmgprobe.process import job as jobs
from tmgprobe.process import network as networks


def load():
    """Imports TensorFlow as it is, its Keras, and all that watches a script; returns TensorFlow."""
    import tensorflow as tf
    from tmgprobe.strategy import devices, estimators, gradients, keras, trial  # noqa: F401

    getattr(tf, 'keras', None)  # some versions import it when it is asked for
    return tf


def run(job, tf=None):
    """Runs a job of one of the two roles; `tf`: what `load` gave this process before it was forked."""
    channel = jobs.opened(job, tf)
    job['network'] = 'on' if job.get('network', True) else networks.off()
    try:
        import numpy

        tf = tf or load()
    except ImportError as error:
        channel.leave('no tensorflow', message='%s' % (error,), python=sys.version.split()[0])
    from tmgprobe.strategy import devices, estimators, keras
    from tmgprobe.strategy import trial as trials

    trial = trials.Trial(tf, channel, job)
    try:
        devices.install(tf, job['gpus'], trial)
        if not trial.converted:
            trial.gradients.install(tf)
        estimators.install(tf, trial)
        keras.install(tf, trial)
    except Exception:
        channel.leave('broken', trace=traceback.format_exc())
    channel.send('started', tensorflow=tf.__version__, python=sys.version.split()[0])
    if trial.converted:
        trial.given = trial.load(channel.receive()['record'])
    jobs.begin(job, (random.seed, numpy.random.seed))
    jobs.execute_guarded(job, channel, channel.end)
    channel.end(None, '')
