"""Runs and watches one training script, from the job that describes it to the end of the process.

A job is a JSON file: role (see `import_roles`, or one of
strategy_job.py and ddp_job.py), script, args, gpus, work, log, network
(whether it may use the network); for a comparison also steps, total, record.
Talks to the program that started it in lines of JSON on its standard input and output.
"""

from __future__ import absolute_import, division, print_function

import gc
import json
import os
import random
import sys
import traceback
import types

from tmgprobe.graph import places
from tmgprobe.process import api, standing
from tmgprobe.process import channel as channels
from tmgprobe.process import network as networks
from tmgprobe.process import outside as outsides
from tmgprobe.values.errors import HERE, describe, own, place_in_probe

ORIGINALS = ('replay', 'resized', 'cluster original')  # whose gradients are exchanged
KERAS = ('Optimizer', 'OptimizerV2', 'BaseOptimizer')  # classes that all of its optimizers are derived from
QUIET = 'Agg'  # the backend of matplotlib that draws into memory
WINDOWS = ('gtk', 'macosx', 'nbagg', 'notebook', 'qt', 'tk', 'web', 'widget', 'wx', 'ipympl')
ALONE = ('bare', 'cluster worker')  # whose devices and sessions stay as they are


def run(path, tf=None):
    """Runs the job that a file describes; `tf`: what `api.load` gave this process before it was forked."""
    with open(path, 'rb') as stream:
        job = json.loads(stream.read().decode('utf-8'))
    if job['role'].startswith('ddp'):
        from tmgprobe.process import ddp_job

        ddp_job.run(job)
    if job['role'].startswith('strategy'):
        from tmgprobe.process import strategy_job

        strategy_job.run(job, tf)
    channel = opened(job, tf)
    job['network'] = 'on' if job.get('network', True) else networks.off()
    outside = outsides.Outside(job['work'])
    channel.told = outside.told
    try:
        import numpy

        tf = tf or api.load()
    except ImportError as error:
        channel.leave('no tensorflow', message='%s' % (error,), python=sys.version.split()[0])
    try:
        outside.watch_tensorflow()
        role = prepare(tf, channel, job)
    except Exception:
        channel.leave('broken', trace=traceback.format_exc())
    outside.install()
    without_display()
    watch_exit(role, channel)
    begin(job, (random.seed, numpy.random.seed), HERE)
    if role.watch.diary is not None:
        role.watch.diary.begin()

    def end(message, trace):
        finish(role, channel, message, trace)

    execute_guarded(job, channel, end, wait=role.threads.wait)
    end(None, '')


def opened(job, tf=None):
    """The channel of a process; `tf`: what it was given before it was forked, None where it was not."""
    if tf is None:
        channels.own_streams()
    channel = channels.Channel(job['log'])
    standing.watch(job, channel)
    return channel


def begin(job, seeds, without=None):
    """Sets what the script of a job begins with; seeds: the functions that set seeds; without: as of places.begin."""
    places.begin(job, without)
    for seed in seeds:
        seed(job.get('seed', 20))


def prepare(tf, channel, job):
    """Installs the watch; returns the role that handles the training run calls."""
    from tmgprobe.graph import gpus, machine
    from tmgprobe.process import digits
    from tmgprobe.session import diary
    from tmgprobe.session import step as steps
    from tmgprobe.session import watch as watching

    name = job['role'].rstrip('0123456789 ')  # tasks of a cluster have numbers
    kind = import_roles()[name]
    kinds = {'gated': name in ORIGINALS, 'untouched': name in ('profile', 'bare', 'train')}
    devices = machine.of_job(tf, job)
    if not name.startswith('cluster'):
        gpus.show(tf, job['gpus'])
    watch = watching.SessionWatch(tf, devices, alone=name in ALONE, **kinds)
    if name in ('record', 'whole', 'evaluation') + ORIGINALS:
        watch.diary = diary.Diary()
        watch.diary.install(tf)
    role = kind(tf, watch, channel, job)
    calls = steps.Calls(tf, watch, role)
    role.threads = calls.threads
    watch.install(calls.on_run, calls.on_part)
    digits.install(tf)
    versions = {'tensorflow': tf.__version__, 'python': sys.version.split()[0]}
    channel.send('started', devices=watch.devices.title, **versions)
    return role


def import_roles():
    """Imports all that watches a script; {role: the class that handles the training run calls}."""
    from tmgprobe.cluster import original, worker
    from tmgprobe.process import digits  # noqa: F401
    from tmgprobe.roles import profile, record, replay, to_end, trace, whole
    from tmgprobe.session import (
        diary,  # noqa: F401
        step,  # noqa: F401
        watch,  # noqa: F401
    )

    return {
        'bare': whole.Bare,
        'print': whole.Print,
        'evaluation': whole.Evaluation,
        'train': whole.Train,
        'record': record.Recorder,
        'replay': replay.Replayer,
        'profile': profile.Profiler,
        'resized': whole.GraphWriter,
        'trace': trace.CallTracer,
        'whole': to_end.WholeRun,
        'cluster worker': worker.Worker,
        'cluster original': original.Original,
    }


def watch_exit(role, channel):
    """Handles os._exit(0) of a script: what was seen until then is sent as at any other end."""
    leave = os._exit

    def exit_now(status):
        if status == 0 and not channel.is_forked():
            finish(role, channel, None, '')
        leave(status)

    os._exit = exit_now


def execute(path, names=(), package=None):
    """Runs a file as the main module.

    names: what stands in it for Python's own functions, as pairs. package: that it is a part of, as with `python -m`.
    """
    with open(path, 'rb') as stream:
        code = compile(stream.read(), path, 'exec', 0, True)
    module = types.ModuleType('__main__')
    module.__file__ = path
    if package and places.is_imported(package):
        module.__package__ = str(package)
    module.__dict__.update(names)
    sys.modules['__main__'] = module
    exec(code, module.__dict__)


def execute_guarded(job, channel, end, names=(), wait=None):
    """Runs the script of a job as the main module; back at its normal end.

    end: called with message and traceback of a script that fails. names: as of `execute`. wait: waits for its threads.
    """
    try:
        execute(job['script'], names, job.get('package'))
        if wait is not None:
            wait()
    except SystemExit as ending:
        if ending.code not in (None, 0):
            end('the script ended with exit status %s' % (ending.code,), '')
    except BaseException as error:
        alone = job['role'].startswith(('strategy', 'ddp', 'cluster'))  # it runs nothing but the script's own steps
        if place_in_probe(sys.exc_info()[2], not alone) and not isinstance(error, SyntaxError):
            channel.leave('broken', trace=traceback.format_exc())
        message = api.missing_line(error) or describe(error)
        if job['network'] != 'on' and networks.missed(error):
            message += ' (%s)' % networks.HINT
        end(message, script_trace(job))


def finish(role, channel, message, trace):
    """The script is over before all steps were seen: sends what was seen, or why there is nothing."""
    if channel.is_forked():
        channels.quit_now(1 if message else 0)
    role.message = message
    try:
        role.finish()
    except Exception:
        channel.leave('broken', trace=traceback.format_exc())
    diary = role.watch.diary
    evaluated = diary is not None and diary.has_values() and not may_have_trained()
    channel.leave('ended', message=message, trace=trace, evaluated=evaluated)


def may_have_trained():
    """Whether an optimizer of Keras is alive: its updates are no train ops of `Session.run`."""
    kinds = {type(one) for one in gc.get_objects()}
    named = [base for kind in kinds for base in getattr(kind, '__mro__', ()) if getattr(base, '__name__', '') in KERAS]
    return any('keras' in '%s' % (getattr(base, '__module__', ''),) for base in named)


def script_trace(job):
    """The traceback of the script, without the frames of the probe that lie around and between."""
    folder = places.root(job) + os.sep
    lines = []
    kind, error, trace = sys.exc_info()
    for frame in traceback.extract_tb(trace):
        if not own(frame[0]):
            lines.append('  File "%s", line %s, in %s' % (frame[0].replace(folder, ''), frame[1], frame[2]))
            if frame[3]:
                lines.append('    ' + frame[3].strip())
    text = traceback.format_exception_only(kind, error)
    return '\n'.join(lines + [''.join(text).strip()])


def without_display():
    """Lets `matplotlib.use` take the backend that draws into memory in place of any that opens windows."""
    if 'matplotlib' in sys.modules:
        _change(sys.modules['matplotlib'])
    elif sys.version_info[0] > 2:
        sys.meta_path.insert(0, _Finder())


class _Finder(object):
    """Changes matplotlib as soon as it has been imported; finds nothing itself."""

    def find_spec(self, name, path=None, target=None):
        """The module as any other finder has it, with the change behind its own code."""
        if name != 'matplotlib':
            return None
        from importlib import util

        sys.meta_path.remove(self)
        spec = util.find_spec(name)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def exec_module(module):
                execute(module)
                _change(module)

            spec.loader.exec_module = exec_module
        return spec


def _change(matplotlib):
    use = matplotlib.use

    def headless(backend, *args, **kwargs):
        windows = str(backend).lower().startswith(WINDOWS)
        return use(QUIET if windows else backend, *args, **kwargs)

    matplotlib.use = headless
