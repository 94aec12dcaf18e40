"""One training script under watch, from the job that describes it to the end of the process.

A job is a JSON file: role ('record', 'replay', 'profile' or 'trace'), script, args, gpus, work, log; for a
comparison also steps, total, record.
Talks to the program that started it in lines of JSON on its standard input and output.
"""

from __future__ import absolute_import, division, print_function

import json
import os
import random
import sys
import traceback
import types

import tmgprobe_channel

HERE = os.path.dirname(os.path.abspath(__file__))


def run(path, tf=None):
    """Runs the job that a file describes; `tf`: what `tmgprobe_api.load` gave this process before it was forked."""
    with open(path, 'rb') as stream:
        job = json.loads(stream.read().decode('utf-8'))
    if tf is None:
        tmgprobe_channel.own_streams()
    channel = tmgprobe_channel.Channel(job['log'])
    try:
        import numpy
        import tmgprobe_api

        tf = tf or tmgprobe_api.load()
    except ImportError as error:
        channel.leave('no tensorflow', message='%s' % (error,), python=sys.version.split()[0])
    try:
        role = prepare(tf, channel, job)
    except Exception:
        channel.leave('broken', trace=traceback.format_exc())
    sys.path[:] = [os.path.dirname(job['script'])] + [
        folder for folder in sys.path if os.path.abspath(folder or os.curdir) != HERE
    ]
    sys.argv[:] = [job['script']] + [str(argument) for argument in job['args']]
    os.chdir(os.path.dirname(job['script']))
    random.seed(20)
    numpy.random.seed(20)
    try:
        execute(job['script'])
    except SystemExit as ending:
        if ending.code not in (None, 0):
            finish(role, channel, 'the script ended with exit status %s' % (ending.code,), '')
    except BaseException as error:
        if internal(sys.exc_info()[2]) and not isinstance(error, SyntaxError):
            channel.leave('broken', trace=traceback.format_exc())
        finish(
            role, channel, tmgprobe_api.missing_line(error) or describe(error), script_trace(job['script'])
        )
    finish(role, channel, None, '')


def prepare(tf, channel, job):
    """Installs the watch; returns the role that handles the training run calls."""
    import tmgprobe_digits
    import tmgprobe_step
    import tmgprobe_watch

    kind = import_roles()[job['role']]
    watch = tmgprobe_watch.Watch(tf, job['gpus'], job['role'] == 'replay', job['role'] == 'profile')
    role = kind(tf, watch, channel, job)
    calls = tmgprobe_step.Calls(tf, watch, role)
    watch.install(calls.on_run, calls.on_part)
    tmgprobe_digits.install(tf)
    channel.send('started', tensorflow=tf.__version__, python=sys.version.split()[0])
    return role


def import_roles():
    """Imports all that watches a script; {role: the class that handles the training run calls}."""
    import tmgprobe_digits  # noqa: F401
    import tmgprobe_profile
    import tmgprobe_record
    import tmgprobe_replay
    import tmgprobe_step  # noqa: F401
    import tmgprobe_trace
    import tmgprobe_watch  # noqa: F401

    return {
        'record': tmgprobe_record.Record,
        'replay': tmgprobe_replay.Replay,
        'profile': tmgprobe_profile.Profile,
        'trace': tmgprobe_trace.Trace,
    }


def execute(path):
    """Runs a file as the main module."""
    with open(path, 'rb') as stream:
        code = compile(stream.read(), path, 'exec', 0, True)
    module = types.ModuleType('__main__')
    module.__file__ = path
    sys.modules['__main__'] = module
    exec(code, module.__dict__)


def finish(role, channel, message, trace):
    """The script is over before its steps were all seen: what was seen counts, else why there is nothing."""
    try:
        role.finish()
    except Exception:
        channel.leave('broken', trace=traceback.format_exc())
    channel.leave('ended', message=message, trace=trace)


def describe(error):
    """An error's kind and its first line."""
    lines = ('%s' % (error,)).strip().splitlines()
    return '%s: %s' % (type(error).__name__, lines[0] if lines else '')


def internal(trace):
    """Whether an error arose in the probe itself, not below it nor in what it serves to the script."""
    last = None
    while trace is not None:
        last, trace = trace, trace.tb_next
    if last is None:
        return False
    folder, name = os.path.split(os.path.abspath(last.tb_frame.f_code.co_filename))
    return folder == HERE and name not in ('tmgprobe_api.py', 'tmgprobe_digits.py')


def script_trace(path):
    """The traceback of the script, without the frames of the probe that lie around and between."""
    folder = os.path.dirname(path) + os.sep
    lines = []
    kind, error, trace = sys.exc_info()
    for frame in traceback.extract_tb(trace):
        if os.path.dirname(os.path.abspath(frame[0])) != HERE:
            lines.append('  File "%s", line %s, in %s' % (frame[0].replace(folder, ''), frame[1], frame[2]))
            if frame[3]:
                lines.append('    ' + frame[3].strip())
    text = traceback.format_exception_only(kind, error)
    return '\n'.join(lines + [''.join(text).strip()])
