"""One process of a PyTorch conversion, or its original, from its start to the end of a shortened run.

The processes of the conversion go first, all at once, as torchrun starts them; each leaves a file with what it did. The
original is told where these are; where the conversion left none, it runs by itself.
"""

from __future__ import absolute_import, division, print_function

import os
import random
import sys
import traceback

from tmgprobe.process import job as jobs
from tmgprobe.process import network as networks

ORIGINAL = 'ddp original'


def run(job):
    """Runs a job of one of the roles: the original, or one of the processes."""
    channel = jobs.opened(job)
    off = job['role'] == ORIGINAL and not job.get('network', True)
    job['network'] = networks.off() if off else 'on'
    try:
        import numpy
        import torch
        import torch.utils.data
    except ImportError as error:
        channel.leave('no torch', message='%s' % (error,), python=sys.version.split()[0])
    torch.set_num_threads(1)
    channel.send('started', torch=torch.__version__, python=sys.version.split()[0])
    watch = prepare(torch, channel, job)
    jobs.begin(job, (random.seed, numpy.random.seed, torch.manual_seed))
    jobs.execute_guarded(job, channel, channel.end, watch.names_in_script)
    try:
        finish(torch, channel, job, watch)
    except Exception:
        channel.leave('broken', trace=traceback.format_exc())


def prepare(torch, channel, job):
    """Installs the watch."""
    from tmgprobe.ddp import replay, watch

    def stop(reason):
        channel.end('the script %s' % reason, '')

    try:
        paths = channel.receive()['records'] if job['role'] == ORIGINAL else ()
        if paths:
            given = [torch.load(path, weights_only=False) for path in paths]
            made = replay.ProcessReplay(torch, job['steps'], given, job['total'], stop)
        else:
            made = watch.ProcessWatch(torch, job['steps'], int(os.environ.get('RANK', 0)))
        made.install()
    except Exception:
        channel.leave('broken', trace=traceback.format_exc())
    return made


def finish(torch, channel, job, watch):
    """Sends the record of the run to verify."""
    from tmgprobe.ddp import compare, replay

    if not watch.weights:
        channel.end(None, '')
    record = watch.record()
    if isinstance(watch, replay.ProcessReplay):
        channel.leave('trained', held=watch.held[0], facts=compare.facts(record, watch.given, watch))
    if job['role'] != ORIGINAL:
        watch.save(record, job['record'])
    channel.leave('trained', held=watch.held[0])
