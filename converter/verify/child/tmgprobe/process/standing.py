"""Tells shortly before the time is up at which line of its own files a script stands."""

from __future__ import absolute_import, division, print_function

import os
import sys
from time import sleep, time  # a script may replace those of the module

from tmgprobe.graph import places

try:
    from _thread import get_ident, start_new_thread
except ImportError:
    from thread import get_ident, start_new_thread

EARLY = 1.0  # seconds before the end


def watch(job, channel):
    """Sends the event `stood` with the script's place then; called by the process's main thread.

    The thread that waits for it is not known to `threading`: scripts that count or join threads do not meet it.

    job: `until` is the end, on the clock `time.time`; without it nothing is sent.
    """
    if 'until' in job:
        start_new_thread(_tell, (job, channel, get_ident()))


def _tell(job, channel, main):
    sleep(max(0.0, job['until'] - time() - EARLY))
    try:
        channel.send('stood', place=place(job, sys._current_frames(), main))
    except Exception:  # whoever asked is gone, or the script ends at this moment
        pass


def place(job, frames, main):
    """`file:line` of the innermost frame in the script's own files: of its main thread, else of another; '' for none.

    frames: {thread: its innermost frame}. main: the main thread.
    """
    for thread in sorted(frames, key=lambda one: one != main):
        frame = frames[thread]
        while frame is not None:
            name = places.seen_from_script(job, os.path.abspath(frame.f_code.co_filename))
            if name is not None:
                return '%s:%d' % (name, frame.f_lineno)
            frame = frame.f_back
    return ''
