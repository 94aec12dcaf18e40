"""Where the tests find each TensorFlow and a browser, and what they say when one is missing."""

from __future__ import annotations

import gc
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from converter.conversion import engine
from converter.conversion.project_style import Style, style_of
from converter.verify import run
from converter.verify.processes import interpreters
from tests.bare import BareRuns
from tests.conversions import conversion_of
from tests.records import Records
from tests.selection import leave_out

# How long an example takes is for the benchmarks to say: on a busy machine a test would fail for it now and then.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")

# Modules and tests stay until the end: while they are loaded there is no garbage to look for among them.
gc.disable()

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(autouse=True, scope="session")
def _scripts_without_a_folder() -> Iterator[None]:
    """Scripts of tests that have a name and no folder would be formatted as files of this repository are."""

    def style(path: str) -> Style:
        found = style_of(path)
        return found if Path(path).resolve().parent != ROOT else Style(width=found.width)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "style_of", style)
        yield


@dataclass(frozen=True)
class Environment:
    """A TensorFlow, or PyTorch, to run scripts on.

    version: as the tests ask for it, "2" or "1.15"; "torch" for PyTorch.
    python: its interpreter.
    made_by: the command that makes it.
    """

    version: str
    python: str
    made_by: str

    @property
    def missing(self) -> bool:
        return not _has(self.python, self.library.lower())

    @property
    def library(self) -> str:
        return "Torch" if self.version == "torch" else "TensorFlow"


@cache
def _has(python: str, library: str) -> bool:
    """Whether the interpreter runs and would find a library, without the seconds that importing it takes."""
    look = f"import pkgutil, sys; sys.exit({library!r} not in [found[1] for found in pkgutil.iter_modules()])"
    try:
        return subprocess.run([python, "-c", look], capture_output=True, timeout=60).returncode == 0
    except OSError:
        return False


ENVIRONMENTS = {
    environment.version: environment
    for environment in (
        Environment("2", sys.executable, "make test"),
        Environment("1.15", str(ROOT / ".venv-tf1.15/bin/python"), "make tf1.15, with Python 3.7"),
        Environment("1.12", str(ROOT / ".venv-tf1.12/bin/python"), "make tf1.12, with Python 2.7"),
        Environment("torch", str(ROOT / ".venv-torch/bin/python"), "make torch, with Python 3.11"),
        Environment("1.4", str(ROOT / ".venv-tf1.4/bin/python"), "make tf1.4, with Python 3.6"),
    )
}


# Debian's package `chromium`; other systems call it otherwise
CHROMIUM = next((p for p in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if p), "")


def _wanted(item: pytest.Item) -> Iterator[Environment]:
    """The environments that a test's markers name."""
    if item.get_closest_marker("tf2"):
        yield ENVIRONMENTS["2"]
    for marker in item.iter_markers("tf1"):
        yield ENVIRONMENTS[marker.kwargs.get("version", item.config.getoption("tensorflow", "1.15"))]
    if item.get_closest_marker("torch"):
        yield ENVIRONMENTS["torch"]


def _changes_the_program(item: pytest.Item) -> bool:
    """Whether a test may put something else in place of a function: by `monkeypatch`, or by `unittest.mock`."""
    module = vars(getattr(item, "module", None) or object)
    return "monkeypatch" in getattr(item, "fixturenames", ()) or not {"mock", "patch"}.isdisjoint(module)


def pytest_addoption(parser: pytest.Parser) -> None:
    what = "the TensorFlow of tests that are marked tf1 without a version"
    parser.addoption("--tensorflow", default="1.15", choices=sorted({*ENVIRONMENTS} - {"torch"}), help=what)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    leave_out(items)


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)  # a conversion makes many objects, and few of them lie in circles
    gc.enable()


def pytest_runtest_setup(item: pytest.Item) -> None:
    for environment in _wanted(item):
        if environment.missing:
            pytest.skip(f"no {environment.library} {environment.version} ({environment.made_by})")
    conversion_of.fresh = _changes_the_program(item)
    if item.get_closest_marker("browser") and not CHROMIUM:
        pytest.skip("no chromium on PATH")


@pytest.fixture
def tensorflow_python(request: pytest.FixtureRequest) -> str:
    """The interpreter that goes with the test's one marker, tf2 or tf1(version=...)."""
    (environment,) = _wanted(request.node)
    return environment.python


@pytest.fixture
def torch_python() -> str:
    """The interpreter of the tests that are marked `torch`."""
    return ENVIRONMENTS["torch"].python


@pytest.fixture(scope="session", autouse=True)
def shared_interpreters() -> Iterator[interpreters.Interpreters]:
    """One import of each TensorFlow for all verifications of this worker that bring no interpreters of their own.

    Where several verify the same pair of scripts in the same way, it runs once and each judges its record.
    """
    shared = interpreters.Interpreters(late=["PYTEST_CURRENT_TEST"], imports=["sklearn.datasets"])
    with shared as pool, pytest.MonkeyPatch.context() as patch:
        patch.setattr(interpreters, "Interpreters", lambda: nullcontext(pool))
        patch.setattr(run, "_run", Records(pool, run._run))
        yield pool


@pytest.fixture(scope="session")
def bare_runs() -> Iterator[BareRuns]:
    """Runs scripts by themselves; one import of each TensorFlow for all of this worker's."""
    runs = BareRuns()
    yield runs
    runs.close()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    missing = [environment for environment in ENVIRONMENTS.values() if environment.missing]
    if missing or not CHROMIUM:
        terminalreporter.section("NOT TESTED: environments that are missing", sep="!", red=True, bold=True)
    for environment in missing:
        terminalreporter.line(f"{environment.library} {environment.version}: {environment.made_by}", red=True)
    if not CHROMIUM:
        terminalreporter.line("The report in a browser: tools/chromium", red=True)
