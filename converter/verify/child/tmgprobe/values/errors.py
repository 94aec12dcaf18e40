"""Errors of a script as one line."""

from __future__ import absolute_import, division, print_function

import re

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
