"""What a script does outside of its copied folder: files that it writes there, processes that it forks.

What compiled code opens by itself, and what programs do that the script starts, is not seen; what TensorFlow's savers
and summary writers are asked to write is.
"""

from __future__ import absolute_import, division, print_function

import functools
import io
import os
import re
import shutil

MOST = 20  # paths that are named
SYSTEM = ('/dev/', '/proc/', '/sys/')
# functions of `os` that change what lies at a path -> the places of such paths in their arguments
CHANGES = {
    "link": (1,),
    "mkdir": (0,),
    "mkfifo": (0,),
    "remove": (0,),
    "rename": (0, 1),
    "replace": (0, 1),
    "rmdir": (0,),
    "symlink": (1,),
    "truncate": (0,),
    "unlink": (0,),
}
# functions of TensorFlow's file_io that do the same, and their names in tf.gfile and tf.io.gfile
REMOTE = {
    "create_dir": ("MkDir",),
    "create_dir_v2": ("mkdir",),
    "delete_file": ("Remove",),
    "delete_file_v2": ("remove",),
    "delete_recursively": ("DeleteRecursively",),
    "delete_recursively_v2": ("rmtree",),
    "recursive_create_dir": ("MakeDirs",),
    "recursive_create_dir_v2": ("makedirs",),
}
NAMED = ('path', 'src', 'dst', 'dirname', 'filename')  # parameters that are paths
FAILED = object()  # in place of a result
PASSING = re.compile(r'\.tmp[0-9a-f]{32}$')  # what TensorFlow renames when it is whole
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND

try:
    import builtins
except ImportError:
    import __builtin__ as builtins


class WatchedFunction(object):
    """A function of the system: called as ever, and its result told, or FAILED. Like a builtin it is never a method."""

    def __init__(self, original, told):
        self._original, self._told = original, told
        functools.update_wrapper(self, original)

    def __call__(self, *args, **kwargs):
        """Calls it."""
        try:
            result = self._original(*args, **kwargs)
        except Exception:
            self._told(FAILED, args, kwargs)
            raise
        self._told(result, args, kwargs)
        return result


class Outside(object):
    """Watches this process; `own`: the folder below which everything is a copy, and goes.

    forks: how many processes the script has forked. paths: what it changed elsewhere; tried: what it could not change.
    """

    def __init__(self, own):
        self.own = os.path.join(os.path.realpath(own), '')
        self.paths, self.tried, self.more, self.forks = [], [], 0, 0

    def install(self):
        """Puts the watch in place."""
        same = io.open is builtins.open  # from Python 3 on
        builtins.open = WatchedFunction(builtins.open, self._opened)
        io.open = builtins.open if same else WatchedFunction(io.open, self._opened)
        os.open = WatchedFunction(os.open, self._opened_by_flags)
        for name, places in CHANGES.items():
            if hasattr(os, name):
                setattr(os, name, WatchedFunction(getattr(os, name), self._changed(places)))
        shutil.rmtree = WatchedFunction(shutil.rmtree, self._changed((0,)))  # which names what is within by descriptors
        if hasattr(os, 'fork'):
            os.fork = WatchedFunction(os.fork, self._forked)

    def watch_tensorflow(self):
        """The same for what TensorFlow writes by itself."""
        from tensorflow.python.lib.io import file_io
        from tensorflow.python.summary.writer import writer
        from tensorflow.python.training import saver
        from tmgprobe.session import watch

        changes = {}
        for name, aliases in REMOTE.items():
            original = getattr(file_io, name, None)  # TensorFlow 1.4 lacks some
            if original is not None:
                pair = (original, WatchedFunction(original, self._changed((0,))))
                changes.update((alias, pair) for alias in (name,) + aliases)
        watch.replace(changes)
        saver.Saver.save = self._naming(saver.Saver.save, 2, 'save_path')
        writer.FileWriter.__init__ = self._naming(writer.FileWriter.__init__, 1, 'logdir')
        start = file_io.FileIO.__init__

        def initialise(this, name, mode='r', *args, **kwargs):
            if set('%s' % (mode,)) & set('wa+') and not PASSING.search('%s' % (name,)):
                self.note(name)
            return start(this, name, mode, *args, **kwargs)

        file_io.FileIO.__init__ = initialise

    def note(self, path, failed=False):
        """Keeps a path that is changed, if it lies elsewhere; failed: whether it only should have been."""
        try:
            found = os.path.realpath(os.fsdecode(path) if hasattr(os, 'fsdecode') else path)
        except Exception:
            return  # a descriptor, or something of the script's own that stands for a path
        if (found + os.sep).startswith(self.own) or found.startswith(SYSTEM):
            return
        kept = self.tried if failed else self.paths
        if found in kept:
            return
        if len(kept) < MOST:
            kept.append(found)
        elif not failed:
            self.more += 1

    def told(self):
        """What was seen, for the last event."""
        return {'paths': sorted(self.paths), 'tried': sorted(self.tried), 'more': self.more, 'forks': self.forks}

    def _opened(self, result, args, kwargs):
        mode = args[1] if len(args) > 1 else kwargs.get('mode', 'r')
        if set('%s' % (mode,)) & set('wax+'):
            self.note(args[0] if args else kwargs.get('file'), result is FAILED)

    def _opened_by_flags(self, result, args, kwargs):
        flags = args[1] if len(args) > 1 else kwargs.get('flags', 0)
        if isinstance(flags, int) and flags & WRITES and kwargs.get('dir_fd') is None:
            self.note(args[0] if args else kwargs.get('path'), result is FAILED)

    def _changed(self, places):
        def changed(result, args, kwargs):
            if all(value is None for name, value in kwargs.items() if name.endswith('dir_fd')):
                given = list(args) + [kwargs[name] for name in NAMED if name in kwargs]
                for place in places:
                    if place < len(given):  # else the call has failed for it
                        self.note(given[place], result is FAILED)

        return changed

    def _forked(self, pid, _, __):
        if pid and pid is not FAILED:
            self.forks += 1

    def _naming(self, original, place, name):
        @functools.wraps(original)
        def called(*args, **kwargs):
            path = args[place] if len(args) > place else kwargs.get(name)
            if path is not None:
                self.note(path)
            return original(*args, **kwargs)

        return called
