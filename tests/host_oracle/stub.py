"""A TensorFlow without a graph: the host part of a script runs on it, and what each run is fed is recorded."""

from __future__ import annotations

import ast
import contextlib
import io
import random
import signal
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import FrameType, ModuleType
from typing import Any
from unittest import mock

import numpy as np

from converter.runtime.catalog import REASONS as HELPERS_BY_RULE
from tests.host_oracle.libraries import modules

LIMIT = 600  # events; a script that goes on behind them is taken for endless
SECONDS = 2.0
TRAINS = ("minimize", "apply_gradients")
HELPERS = frozenset(name for names in HELPERS_BY_RULE.values() for name in names)


class EndlessError(Exception):
    """A script records more events than any of these scripts should, or runs for too long."""


@dataclass(frozen=True)
class Event:
    """One thing that a script does. kind: "train", "run" or "print"; rows: of each input that is fed, the ids."""

    kind: str
    rows: tuple[tuple[str, tuple[float, ...]], ...] = ()


@dataclass
class Trace:
    """All that a script did, in order, and the exception that ended it."""

    events: list[Event] = field(default_factory=list)
    error: str = ""

    def add(self, event: Event) -> None:
        """Records an event.

        Raises:
            EndlessError: behind the last event that is recorded.
        """
        if len(self.events) >= LIMIT:
            raise EndlessError
        self.events.append(event)

    @property
    def steps(self) -> list[dict[str, tuple[float, ...]]]:
        """What each training step is fed."""
        return [dict(event.rows) for event in self.events if event.kind == "train"]

    @property
    def shown(self) -> list[int]:
        """For each print, the number of training steps in front of it."""
        steps, found = 0, []
        for event in self.events:
            steps += event.kind == "train"
            if event.kind == "print":
                found.append(steps)
        return found

    @property
    def evaluated(self) -> list[float]:
        """The ids of all rows that are fed where nothing trains, one after the other."""
        runs = (event for event in self.events if event.kind == "run")
        return [row for event in runs for _, rows in event.rows[:1] for row in rows]


class Thing:
    """Anything of TensorFlow: whatever is asked of it gives another one."""

    def __init__(self, trace: Trace, name: str = "") -> None:
        self._trace, self._name = trace, name

    def __getattr__(self, name: str) -> Thing:
        if name.startswith("__"):
            raise AttributeError(name)
        if name in _flags:
            return _flags[name]
        return Thing(self._trace, name)

    def __call__(self, *args: object, **kwargs: object) -> Any:
        if self._name == "placeholder":
            return Placeholder(self._trace, f"x{next(_numbers)}")
        if self._name.startswith("DEFINE_"):
            _flags[str(args[0])] = args[1]
        if self._name in ("Session", "InteractiveSession"):
            return Session(self._trace)
        if self._name == "shard":
            tensors = args[0]
            assert isinstance(tensors, list)
            return tensors, Thing(self._trace), Thing(self._trace)
        return Thing(self._trace, self._name)

    def __getitem__(self, key: object) -> Thing:
        return Thing(self._trace)

    def _other(self, *_: object) -> Thing:
        return Thing(self._trace)

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _other
    __pow__ = __neg__ = __lt__ = __gt__ = __floordiv__ = _other

    def __enter__(self) -> Thing:
        return self

    def __exit__(self, *_: object) -> None:
        return None


class Placeholder(Thing):
    """An input."""


_numbers = iter(range(0))
_flags: dict[str, object] = {}  # those that a script defines, with their defaults


class Session(Thing):
    """Records what it is asked to run."""

    def run(self, fetches: object, feed_dict: dict[Placeholder, object] | None = None) -> Any:
        """One run; gives numbers in the form of the fetches."""
        flat = list(fetches) if isinstance(fetches, (list, tuple)) else [fetches]
        trains = any(isinstance(fetch, Thing) and fetch._name in TRAINS for fetch in flat)
        if feed_dict or trains:
            rows = tuple(sorted((key._name, _ids(value)) for key, value in (feed_dict or {}).items()))
            self._trace.add(Event("train" if trains else "run", rows))
        return [0.5] * len(flat) if isinstance(fetches, (list, tuple)) else 0.5


def _ids(value: object) -> tuple[float, ...]:
    """The first number of each row that is fed."""
    rows = np.asarray(value, dtype=float)
    if rows.ndim == 0:
        return ()
    return tuple(float(row.flat[0]) if row.size else -1.0 for row in rows)


class _Helpers(ast.NodeTransformer):
    """The helpers that a conversion writes are things, too: they build the graph."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return ast.parse(f"{node.name} = tf.{node.name}").body[0] if node.name in HELPERS else node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        return ast.parse(f"{node.name} = tf.{node.name}").body[0] if node.name in HELPERS else node


def run(text: str, seed: int = 0) -> Trace:
    """Runs a script on things, and records what it does."""
    global _numbers
    trace, _numbers = Trace(), iter(range(1000))
    _flags.clear()
    tensorflow = ModuleType("tensorflow")
    tensorflow.__getattr__ = lambda name: Thing(trace, name)  # type: ignore[method-assign]
    tree = ast.fix_missing_locations(_Helpers().visit(ast.parse(text)))
    random.seed(seed)
    np.random.seed(seed)
    names: dict[str, object] = {"__name__": "__main__", "print": lambda *_: trace.add(Event("print"))}
    no_arguments = mock.patch.object(sys, "argv", ["script.py"])
    with mock.patch.dict(sys.modules, {"tensorflow": tensorflow, **modules()}), no_arguments, _alarm():
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                exec(compile(tree, "script.py", "exec"), names)
        except EndlessError:
            trace.error = "endless"
        except Exception as error:  # of the script
            trace.error = f"{type(error).__name__}: {error}"
    return trace


@contextlib.contextmanager
def _alarm() -> Iterator[None]:
    """Ends a script that records nothing and goes on."""

    def ring(*_: int | FrameType | None) -> None:
        raise EndlessError

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
