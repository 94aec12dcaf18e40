"""Calls functions with a large stack: expressions are followed level by level, and scripts may nest thousands.

The main thread's stack has 8 MB on most systems, and Python stops at 1,000 calls inside each other. A thread may have
a stack of any size; what it does not touch takes no memory. On Python 3.10 a call of a Python function takes about
0.5 kB of it, on later versions none; LibCST's parser is written in Rust, and takes more.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")

STACK = 512 << 20  # bytes of address space
CALLS = 100_000  # inside each other


def with_large_stack(function: Callable[[], Result]) -> Result:
    """Call a function in a thread with a 512 MB stack, or with the caller's stack if the system gives none.

    Raises:
        RecursionError: even that is not enough.
    """
    done: list[Result] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            done.append(function())
        except BaseException as error:
            failed.append(error)

    calls, size = sys.getrecursionlimit(), threading.stack_size()
    try:
        threading.stack_size(STACK)
        thread = threading.Thread(target=run, daemon=True)
        sys.setrecursionlimit(max(CALLS, calls))
        try:
            thread.start()
        finally:
            threading.stack_size(size)
        thread.join()
    except (RuntimeError, ValueError):  # no thread, or none with such a stack
        sys.setrecursionlimit(calls)
        return function()
    finally:
        sys.setrecursionlimit(calls)
    if failed:
        raise failed[0]
    return done[0]
