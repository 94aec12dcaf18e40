"""Imports TensorFlow once and forks a process for each script: `python probe.py --serve [MODULE ...]`.

The modules are imported, too, where they are found. With --serve-plain TensorFlow stays as it is, for scripts that
train under a distribution strategy (strategy_job.py); else it answers as 1.x.

It opens no session and runs no operation, so that TensorFlow has no threads at work when it forks. Requests and
answers are lines of JSON on standard input and output; paths and environments are bytes, written as Latin-1.

First {"event": "ready"}, or why it cannot serve ("no tensorflow", "unfit"); then
    {"number": 1, "fork": {"job", "environment", "given", "token", "commands", "events", "imports"}}
        -> {"number": 1, "pid": 123}
        (given: the environment in which this program was started; imports: modules that the process finds imported)
    {"number": 2, "status": 123} -> {"number": 2, "status": null, or as subprocess.Popen has it}
At the end of its input it ends what it has forked, and itself.
"""

from __future__ import absolute_import, division, print_function

import gc
import importlib
import json
import os
import signal
import sys
import tempfile
import time
import warnings

from tmgprobe.process import channel as channels
from tmgprobe.process import system

TOKEN = 'TF_MULTIGPU_VERIFY'  # as in converter/verify/processes/family.py
TRIAL = 60  # seconds for a session in a forked process
PROC = '/proc/self/environ'


def serve():
    """Says whether forks of this process can run TensorFlow, and then does as it is asked."""
    # Looking for garbage would take a fifth of the imports; what is forked has its collector on, as if started alone.
    gc.disable()
    line = _Line()
    channels.own_streams()
    if not hasattr(os, 'fork'):
        line.leave(event='unfit', why='this interpreter cannot fork')
    mark = _Mark()
    try:
        tf = _load(sys.argv[1] == '--serve-plain')
    except ImportError as error:
        line.leave(event='no tensorflow', message='%s' % (error,), python=sys.version.split()[0])
    _import(sys.argv[2:])
    system.adopt_orphans()
    why = _trial(tf, mark)
    if why:
        line.leave(event='unfit', why=why)
    line.send(event='ready')
    _Server(line, tf, mark).answer()


def _load(plain):
    """Imports all that a script's process needs before that is forked; returns TensorFlow."""
    import numpy  # noqa: F401

    if plain:
        from tmgprobe.process import strategy_job

        return strategy_job.load()
    from tmgprobe.process import api, job

    tf = api.load()
    job.import_roles()
    return tf


class _Line(object):
    """Requests and answers on descriptors of their own; standard input, output and error are empty."""

    def __init__(self):
        self.requests, self.answers, self._rest = os.dup(0), os.dup(1), b''
        nothing = os.open(os.devnull, os.O_RDWR)
        for standard in (0, 1, 2):
            os.dup2(nothing, standard)
        os.close(nothing)

    def receive(self):
        """The next request, None at the end."""
        while b'\n' not in self._rest:
            data = os.read(self.requests, 65536)
            if not data:
                return None
            self._rest += data
        line, _, self._rest = self._rest.partition(b'\n')
        return json.loads(line.decode('utf-8'))

    def send(self, **answer):
        """Sends an answer."""
        data = (json.dumps(answer) + '\n').encode('utf-8')
        while data:
            data = data[os.write(self.answers, data) :]

    def leave(self, **answer):
        """Sends the last answer and ends the process."""
        self.send(**answer)
        os._exit(0)

    def close(self):
        """In a forked process: these are not its own."""
        os.close(self.requests)
        os.close(self.answers)


class _Mark(object):
    """The value of TOKEN where the system shows a process's environment: in the block that it was started with.

    A forked process keeps its parent's block, whatever it does to its environment. Written over in the block, the
    token marks all that the script forks, as the variable marks all that it starts.
    """

    def __init__(self):
        self._place, self._length = None, len(os.environ.get(TOKEN, ''))
        if os.path.exists(PROC):
            try:
                import ctypes

                library = ctypes.CDLL(None)
                library.getenv.restype = ctypes.c_void_p
                self._place = library.getenv(TOKEN.encode('ascii'))
            except (ImportError, OSError, AttributeError):
                pass

    def set(self, token):
        """Marks this process; says whether that can be seen. Where there is no /proc nobody looks."""
        if not os.path.exists(PROC):
            return True
        if not self._place or len(token) != self._length:
            return False
        import ctypes

        ctypes.memmove(self._place, token, len(token))
        with open(PROC, 'rb') as stream:
            return (TOKEN + '=').encode('ascii') + token in stream.read().split(b'\0')


class _Server(object):
    """Forks processes, and keeps each until its status was asked for: no other process gets its number before."""

    def __init__(self, line, tf, mark):
        self._line, self._tf, self._mark = line, tf, mark
        self._running, self._ended = {}, {}  # {number of a process: its token}, {number: its status}
        self._imported = set()  # names that were tried

    def answer(self):
        """Answers requests until there are no more."""
        while True:
            request = self._line.receive()
            if request is None:
                self._end()
            elif 'fork' in request:
                self._line.send(number=request['number'], pid=self._fork(request['fork']))
            else:
                self._line.send(number=request['number'], status=self._status(request['status']))

    def _fork(self, request):
        """The number of a new process that runs a job, None if its line cannot be opened."""
        ends, new = [], [name for name in request['imports'] if name not in self._imported]
        if new:
            self._imported.update(new)
            _import(new)
        try:
            ends.append(os.open(_bytes(request['commands']), os.O_RDONLY | os.O_NONBLOCK))
            ends.append(os.open(_bytes(request['events']), os.O_WRONLY | os.O_NONBLOCK))
            pid = _forked()
        except OSError:
            pid = None
        if pid == 0:
            try:
                self._become(request, *ends)
            finally:
                os._exit(1)
        for end in ends:
            os.close(end)
        if pid is not None:
            self._ended.pop(pid, None)  # the system gives numbers again
            self._running[pid] = _bytes(request['token'])
        return pid

    def _become(self, request, commands, events):
        """In the forked process: sets up everything as a process that was started for the job would find it."""
        import fcntl

        from tmgprobe.process import job as jobs

        os.setsid()
        self._line.close()
        for end, standard in ((commands, 0), (events, 1)):
            fcntl.fcntl(end, fcntl.F_SETFL, fcntl.fcntl(end, fcntl.F_GETFL) & ~os.O_NONBLOCK)
            os.dup2(end, standard)
            os.close(end)
        job = _bytes(request['job'])
        with open(job, 'rb') as stream:
            folder = os.path.dirname(json.loads(stream.read().decode('utf-8'))['script'])
        os.chdir(folder)
        self._mark.set(_bytes(request['token']))
        _replace_environment(_names(request['environment']), _names(request['given']), folder)
        gc.enable()
        tempfile.tempdir = None  # looked up once in a process, maybe when TensorFlow was imported
        sys.argv[:] = [sys.argv[0], job if str is bytes else os.fsdecode(job)]
        jobs.run(job, self._tf)

    def _status(self, pid):
        """How a process ended, as subprocess.Popen has it; None while it runs, or if it is not one of these."""
        if pid in self._running:
            found, status = os.waitpid(pid, os.WNOHANG)
            if found:
                del self._running[pid]
                self._ended[pid] = -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
                if not self._running:
                    system.end_children()  # daemons of scripts that have ended
        return self._ended.get(pid)

    def _end(self):
        """Ends what was forked, as the program that asked for it is gone, and this process."""
        for pid, token in self._running.items():
            mark = (TOKEN + '=').encode('ascii') + token
            marked = [one for one, environment in system.told('environ') if mark in environment.split(b'\0')]
            for victim in [pid] + marked:
                for kill in (os.killpg, os.kill) if victim == pid else (os.kill,):
                    try:
                        kill(victim, signal.SIGKILL)
                    except OSError:
                        pass
        system.end_children()
        os._exit(0)


def _bytes(text):
    return text.encode('latin-1')


def _names(environment):
    """An environment as this Python has it."""
    plain = {_bytes(name): _bytes(value) for name, value in environment.items()}
    if str is bytes:
        return plain
    return {os.fsdecode(name): os.fsdecode(value) for name, value in plain.items()}


def _replace_environment(wanted, given, folder):
    """Sets the job's variables, and what a start with them would change: the interpreter's script, TensorFlow."""
    found = dict(os.environ)
    changed = [name for name in set(found) | set(given) if found.get(name) != given.get(name)]
    os.environ.clear()
    os.environ.update(wanted)
    for name in changed:
        os.environ.pop(name, None)
        if name in found:
            os.environ[name] = folder if name == 'PWD' else found[name]  # where it is a script, its shell sets PWD


def _import(names):
    """Imports modules where they are found, for all that is forked from here on.

    What stays for good is not looked through by each process's collector (Python 3.7 and later).
    """
    for name in names:
        try:
            importlib.import_module(name)
        except Exception:  # the script is to find out by itself
            pass
    if hasattr(gc, 'freeze'):
        gc.freeze()


def _forked():
    """As os.fork, which from Python 3.12 on warns of threads; the trial shows whether those of TensorFlow matter."""
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        return os.fork()


def _trial(tf, mark):
    """Why a forked process cannot run TensorFlow, '' if it can: seen in one that opens a session on two devices."""
    pid = _forked()
    if pid == 0:
        status = 1
        try:
            status = 0 if _computes(tf) else 1
            if not mark.set(b'0' * len(os.environ.get(TOKEN, ''))):
                status = 2
        finally:
            os._exit(status)
    until = time.time() + TRIAL
    while time.time() < until:
        found, status = os.waitpid(pid, os.WNOHANG)
        if found:
            if os.WIFSIGNALED(status):
                return 'TensorFlow does not survive a fork (signal %d)' % os.WTERMSIG(status)
            return ('', 'TensorFlow does not survive a fork', 'a forked process cannot be marked')[
                min(os.WEXITSTATUS(status), 2)
            ]
        time.sleep(0.01)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return 'TensorFlow does not answer after a fork'


def _computes(tf):
    tf = tf if tf.__version__.startswith('1.') else tf.compat.v1
    with tf.Graph().as_default():
        with tf.device('/cpu:1'):
            product = tf.matmul(tf.ones([2, 3]), tf.ones([3, 2]))
        with tf.Session(config=tf.ConfigProto(device_count={'CPU': 2})) as session:
            return bool((session.run(product) == 3).all())
