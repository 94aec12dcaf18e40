"""The connection between the probe and the program that started it: one JSON object a line, both ways.

The script under test keeps its standard input, output and error, but as an empty file and a log;
what stood there when the process began is the line.
"""

from __future__ import absolute_import, division, print_function

import io
import json
import numbers
import os
import sys

EXIT = os._exit  # a script's own calls of it are watched


def own_streams():
    """Lets Python 3 print to descriptor 1, later the log, whatever the script prints, under any locale.

    Before TensorFlow is imported: its loggers keep the stream that they find.
    """
    if sys.version_info[0] > 2:
        sys.stdout = _writer()
        sys.stderr = _writer()


def _writer():
    return io.TextIOWrapper(
        os.fdopen(1, 'wb', closefd=False), encoding='utf-8', errors='replace', line_buffering=True
    )


class Channel(object):
    """Sends events, receives commands; only the process that was started does, not one that the script forks.

    told: a function whose result is sent with the last event.
    """

    def __init__(self, log_path):
        self._process, self.told = os.getpid(), dict
        self._commands = os.fdopen(os.dup(0), 'rb')
        self._events = os.fdopen(os.dup(1), 'wb')
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        log = os.open(log_path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        sys.stdout.flush()
        os.dup2(log, 1)
        os.dup2(log, 2)

    def send(self, event, **content):
        """Sends one event; figures that JSON cannot hold become strings."""
        if self.is_forked():
            return
        content['event'] = event
        text = json.dumps(_plain(content), sort_keys=True)
        self._events.write((text + '\n').encode('utf-8'))
        self._events.flush()

    def is_forked(self):
        """Whether this is a process that the script has forked."""
        return os.getpid() != self._process

    def receive(self):
        """Waits for the next command; the process ends with its starter."""
        line = self._commands.readline()
        if not line:
            EXIT(0)
        return json.loads(line.decode('utf-8'))

    def leave(self, event, **content):
        """Sends the last event and ends the process at once, even if threads of the script still run."""
        self.send(event, outside=self.told(), **content)
        quit_now(0)

    def end(self, message, trace):
        """Ends the process of a script that is over; message: of its failure, None without one."""
        self.leave('ended', message=message, trace=trace)


def quit_now(status):
    """Ends the process with what it has printed."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            pass
    EXIT(status)


def _plain(value):
    if isinstance(value, dict):
        return {_text(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(item) for item in value]
    if hasattr(value, 'item') and not hasattr(value, '__len__'):
        return _plain(value.item())
    if value is None or isinstance(value, numbers.Integral):  # Python 2 has longs beside its ints
        return value
    if isinstance(value, float):
        return value if value - value == 0 else repr(value)
    return _text(value)


def _text(value):
    return value.decode('utf-8', 'replace') if isinstance(value, bytes) else u'%s' % (value,)
