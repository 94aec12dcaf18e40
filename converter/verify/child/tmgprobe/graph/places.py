"""The folders of a job: where its script is started, where it looks for modules, and how its files are named."""

from __future__ import absolute_import, division, print_function

import os
import sys


def begin(job, without=None):
    """The path, the arguments and the current folder that the script of a job begins with.

    without: a folder that is taken from the path.
    """
    folder = os.path.dirname(job['script'])
    own = [str(found) for found in job.get('path') or [folder]]
    sys.path[:] = own + [found for found in sys.path if os.path.abspath(found or os.curdir) != without]
    sys.argv[:] = [job['script']] + [str(argument) for argument in job['args']]
    os.chdir(job.get('at') or folder)


def is_imported(package):
    """Imports a package; False for a folder without __init__.py under Python 2, for which that is no package."""
    try:
        __import__(str(package))
    except ImportError:
        if sys.version_info[0] > 2:
            raise
        return False
    return True


def root(job):
    """The copied folder that holds the script and all that it imports of its project."""
    return str(job.get('root') or os.path.dirname(job['script']))


def seen_from_script(job, path):
    """A file of the project as its path from the script's folder, None for any other file."""
    if not path.startswith(root(job) + os.sep):
        return None
    folder = os.path.dirname(job['script']) + os.sep
    return path[len(folder):] if path.startswith(folder) else os.path.relpath(path, folder)
