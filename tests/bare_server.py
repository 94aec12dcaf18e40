"""Runs scripts as they are, each in a fork of a process that has imported TensorFlow: started by tests/bare.py.

Keeps to what Python 2.7 and 3 share. A request is a line of JSON: the words of a command line, its folder, environment,
and the files for standard output and error. Answers: the process's number, and when it has ended its exit status.
"""

import atexit
import gc
import json
import os
import sys
import tempfile
import threading
import traceback
import types


def main():
    gc.disable()  # it would take a fifth of the imports; in the processes that are forked it is on
    import tensorflow  # noqa: F401

    try:
        import tensorflow.contrib.slim  # noqa: F401 - half of the scripts use it, and it takes as long again
    except ImportError:  # TensorFlow 2 has none
        pass
    try:
        import sklearn.datasets  # noqa: F401 - most fixtures import it
    except ImportError:
        pass
    requests, answers = os.fdopen(os.dup(0), 'rb', 0), os.fdopen(os.dup(1), 'wb', 0)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    if hasattr(gc, 'freeze'):
        gc.freeze()
    while True:
        line = requests.readline()
        if not line:
            return
        request = json.loads(line.decode('utf-8'))
        pid = os.fork()
        if pid == 0:
            requests.close()
            answers.close()
            run(request)
        answers.write(b'%d\n' % pid)
        status = os.waitpid(pid, 0)[1]
        answers.write(b'%d\n' % (-os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)))


def run(request):
    """Ends as `python SCRIPT` does, with what the script registered for the end and its threads."""
    os.setsid()
    gc.enable()
    for number in (1, 2):
        name = request['files'][number - 1]
        os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), number)
    os.chdir(request['folder'])
    os.environ.clear()
    os.environ.update({str(name): str(value) for name, value in request['environment'].items()})
    tempfile.tempdir = None
    script = request['words'][0]
    sys.argv[:] = [str(word) for word in request['words']]
    sys.path[0] = os.path.dirname(os.path.abspath(script))
    module = sys.modules['__main__'] = types.ModuleType('__main__')
    module.__file__ = script
    try:
        with open(script, 'rb') as stream:
            code = compile(stream.read(), script, 'exec', 0, True)
        exec(code, module.__dict__)
    except SystemExit:
        raise
    except BaseException:
        traceback.print_exc()
        end(1)
    end(0)


def end(status):
    """The end of the process, without taking apart what was imported: that would take as long as a small script."""
    if not hasattr(threading, '_shutdown'):  # Python 2
        sys.exit(status)
    threading._shutdown()
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(status)


if __name__ == '__main__':
    main()
