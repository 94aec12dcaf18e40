"""Errors of a script as one line, and where in the probe they arose."""

from __future__ import absolute_import, division, print_function

import os
import re
import sys

HERE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))  # the folder of probe.py
LIBRARIES = ('tensorflow', 'tensorflow_core', 'numpy')  # which are called, and fail for what they are given
# what is called by the script, as file:function, and may fail because of it
SERVED = re.compile('(api|diary|digits|draws|network|outside)[.]py:|graphs[.]py:feeds$')
# what passes on to TensorFlow what the script asks for
PASSING = re.compile('watch[.]py:|step[.]py:(arrays|_as|on_run|__init__)$')
ROOT = re.compile(r'\(0\) (?:[A-Z][A-Za-z_ ]+: )?(.+)')  # the first cause, behind the kind of error


def describe(error):
    """An error's kind and its first line; of TensorFlow's long forms the line that says what went wrong."""
    lines = [line.strip() for line in ('%s' % (error,)).splitlines() if line.strip()]
    if lines and lines[0] == 'Graph execution error:':
        nodes = [place for place, line in enumerate(lines[:-1]) if line.startswith('Node: ')]
        lines = lines[nodes[-1] + 1:] if nodes else lines
    if lines and lines[0].endswith('root error(s) found.'):
        roots = [ROOT.match(line).group(1) for line in lines if ROOT.match(line)]
        lines = roots or lines
    return '%s: %s' % (type(error).__name__, lines[0] if lines else '')


def own(path):
    """Whether a file is one of the probe's."""
    return os.path.abspath(path).startswith(HERE + os.sep)


def place_in_probe(trace, calls=True):
    """Where in the probe an error arose that is not the script's, `file:line`; '' where it may be the script's.

    trace: of the error. The innermost frame outside of LIBRARIES counts, as these fail for what their caller gives
    them; calls: whether the probe gives them anything but what the script asks for.
    """
    modules = [getattr(sys.modules.get(name), '__file__', None) for name in LIBRARIES]
    folders = tuple(os.path.dirname(os.path.abspath(path)) + os.sep for path in modules if path)
    frames = []
    while trace is not None:
        code = trace.tb_frame.f_code
        frames.insert(0, (os.path.abspath(code.co_filename), code.co_name, trace.tb_lineno))
        trace = trace.tb_next
    path, function, line = next((one for one in frames if not one[0].startswith(folders)), ('', '', 0))
    called, name = bool(frames) and frames[0][0] != path, '%s:%s' % (os.path.basename(path), function)  # a library
    if not own(path) or SERVED.match(name) or (called and (PASSING.match(name) or not calls)):
        return ''
    asks = next((one for one in frames if own(one[0]) and one[1] != 'run'), (path, '', line))  # for that run
    return '%s:%d' % (os.path.relpath(asks[0], HERE), asks[2])
