"""Calls of the operating system for a watched process; each function says whether it succeeded."""

from __future__ import absolute_import, division, print_function

import os
import signal
import time

SET_CHILD_SUBREAPER = 36  # of prctl(2), since Linux 3.4
ROUNDS = 100  # looks for children that start others while they are ended


def adopt_orphans():
    """Makes this process the parent of descendants whose own parent ends, as init is else: so they stay known."""
    return called('prctl', SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def end_children():
    """Kills all children of this process, and what they leave behind, which it adopts."""
    for _ in range(ROUNDS):
        found = children()
        for pid in found:
            try:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
            except OSError:
                pass
        if not found:
            return
        time.sleep(0.01)


def children():
    """The processes that have this one as their parent, those that have ended too; none where there is no /proc."""
    own = str(os.getpid()).encode('ascii')
    return [pid for pid, stat in told('stat') if stat.rpartition(b')')[2].split()[1] == own]


def told(what):
    """(process, what the system tells of it) for all processes, such as `environ`; none where there is no /proc."""
    for entry in os.listdir('/proc') if os.path.exists('/proc/self/stat') else ():
        if entry.isdigit():
            try:
                with open('/proc/%s/%s' % (entry, what), 'rb') as stream:
                    text = stream.read()
            except (IOError, OSError):
                continue
            yield int(entry), text


def called(name, *arguments):
    """Whether a function of the C library is there and succeeds."""
    try:
        import ctypes

        return getattr(ctypes.CDLL(None, use_errno=True), name)(*arguments) == 0
    except (ImportError, OSError, AttributeError, TypeError):
        return False
