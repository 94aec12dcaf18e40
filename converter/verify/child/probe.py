"""Runs one script under watch, `python probe.py JOB`, or forks a process for each: `python probe.py --serve`."""

from __future__ import absolute_import, division, print_function

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def main():
    """Does what the command line asks for."""
    if HERE not in sys.path:
        sys.path.insert(0, HERE)
    if sys.argv[1].startswith('--serve'):
        from tmgprobe.process import server

        server.serve()
    else:
        from tmgprobe.process import job

        job.run(sys.argv[1])


if __name__ == '__main__':
    main()
