"""Works on many items in several processes; if a process dies, only the item that it was working on is lost."""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import sys
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import field
from multiprocessing.connection import Connection, wait
from typing import Any, Generic, TypeVar

from converter.dataclass import dataclass

Item = TypeVar("Item")
Result = TypeVar("Result")

AHEAD = 2  # items that a worker is given in advance, so that it never waits


def in_turn(
    work: Callable[[Item], Result], items: Sequence[Item], workers: int, lost: Callable[[Item, str], Result]
) -> Generator[Result, None, None]:
    """Runs `work` on the items in several processes; the results come in the order of the items.

    Closing the iterator ends the processes, and so does whatever ends this one.

    lost: the result for an item at which a process died, from the item and how it died.
    """
    pool = _WorkerPool(work, items, lost)
    try:
        yield from pool.results(workers)
    finally:
        pool.end()


@dataclass
class _Worker:
    """A process and the indices of the items that it has been given, oldest first."""

    process: multiprocessing.process.BaseProcess
    given: deque[int] = field(default_factory=deque)


class _WorkerPool(Generic[Item, Result]):
    def __init__(
        self, work: Callable[[Item], Result], items: Sequence[Item], lost: Callable[[Item, str], Result]
    ) -> None:
        self.work, self.items, self.lost = work, items, lost
        self.context: Any = multiprocessing.get_context("fork" if may_fork() else "spawn")
        self.todo = deque(range(len(items)))
        self.done: dict[int, Result] = {}
        self.workers: dict[Connection, _Worker] = {}

    def results(self, workers: int) -> Iterator[Result]:
        for _ in range(min(workers, len(self.items))):
            self._start()
        for number in range(len(self.items)):
            while number not in self.done:
                for connection in wait(list(self.workers)):
                    assert isinstance(connection, Connection)
                    self._take(connection)
            yield self.done.pop(number)

    def end(self) -> None:
        for worker in self.workers.values():
            worker.process.terminate()
        for connection, worker in self.workers.items():
            worker.process.join()
            connection.close()

    def _start(self) -> None:
        here, there = self.context.Pipe()
        forks = self.context.get_start_method() == "fork"
        others = [*self.workers, here] if forks else []
        gc.freeze()  # a fork's garbage collector need not visit, and so copy, objects that exist already
        process = self.context.Process(target=_serve, args=(self.work, there, others), daemon=True)
        process.start()
        gc.unfreeze()
        there.close()
        self.workers[here] = _Worker(process)
        self._feed(here)

    def _feed(self, connection: Connection) -> None:
        given = self.workers[connection].given
        while self.todo and len(given) < AHEAD:
            try:
                connection.send((self.todo[0], self.items[self.todo[0]]))
            except OSError:  # it is dead, which shows when its results are waited for
                return
            given.append(self.todo.popleft())

    def _take(self, connection: Connection) -> None:
        """Receives a result; if the process has died, starts another one in its place."""
        worker = self.workers[connection]
        try:
            number, result = connection.recv()
        except (EOFError, OSError):
            self._bury(connection, worker)
            return
        worker.given.remove(number)
        self.done[number] = result
        self._feed(connection)

    def _bury(self, connection: Connection, worker: _Worker) -> None:
        del self.workers[connection]
        connection.close()
        worker.process.join()
        if worker.given:
            number = worker.given.popleft()
            self.done[number] = self.lost(self.items[number], _how_it_died(worker.process.exitcode or 0))
        self.todo.extendleft(reversed(worker.given))
        if self.todo:
            self._start()


def _serve(work: Callable[[Item], object], connection: Connection, others: Sequence[Connection]) -> None:
    """A worker's loop; it ends with the process that started it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the first process too, and that ends its workers
    gc.disable()
    for other in others:  # a fork has them; while they are open, nobody sees that this pool's first process is gone
        other.close()
    try:
        while True:
            number, item = connection.recv()
            connection.send((number, work(item)))
    except (EOFError, OSError):
        return


def may_fork() -> bool:
    """Whether a fork is safe: on Linux, and in a process without further threads, which a fork would not have."""
    return sys.platform == "linux" and len(os.listdir("/proc/self/task")) == 1


def _how_it_died(status: int) -> str:
    if status >= 0:
        return f"ended with status {status}"
    names = {number.value: number.name for number in signal.Signals}
    return f"was ended by {names.get(-status, f'signal {-status}')}"
