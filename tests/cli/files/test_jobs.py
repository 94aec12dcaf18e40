"""Several processes: the same results as one, in the same order, whatever becomes of a process."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from converter.cli.app import main
from converter.cli.files import worker_pool
from converter.cli.files.worker_pool import in_turn
from tests.scripts import SCRIPT

pytestmark = [pytest.mark.programs, pytest.mark.one_test_in(2)]
ROOT = Path(__file__).resolve().parents[3]


def doubled(folder: Path, item: str) -> str:
    """Work that goes wrong as the item says; (folder) holds the numbers of the processes that have begun."""
    (folder / f"{item}.{os.getpid()}").touch()
    if item.startswith("kill"):
        os.kill(os.getpid(), signal.SIGKILL)
    if item.startswith("exit"):
        os._exit(3)
    time.sleep(0.2 if item.startswith("slow") else 0)
    return item * 2


def lost(item: str, why: str) -> str:
    return f"{item} {why}"


@pytest.fixture(params=[True, False], ids=["fork", "spawn"])
def start(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Forks where that is safe, as for the command; beside the threads of pytest's own it is not."""
    may = request.param and worker_pool.may_fork()
    monkeypatch.setattr(worker_pool, "may_fork", lambda: may)


@pytest.mark.usefixtures("start")
@pytest.mark.parametrize("workers", [1, 2, 5])
def test_results_come_in_the_order_of_the_items(tmp_path: Path, workers: int) -> None:
    items = ["slow 1", "a", "b", "slow 2", "c"]
    assert list(in_turn(partial(doubled, tmp_path), items, workers, lost)) == [item * 2 for item in items]
    assert len({path.suffix for path in tmp_path.iterdir()}) <= workers


@pytest.mark.usefixtures("start")
@pytest.mark.parametrize("workers", [1, 3])
def test_a_process_that_dies_takes_one_item_with_it(tmp_path: Path, workers: int) -> None:
    items = ["kill 1", "a", "exit", "kill 2", "b", "c", "kill 3"]
    expected = [
        "kill 1 was ended by SIGKILL",
        "aa",
        "exit ended with status 3",
        "kill 2 was ended by SIGKILL",
        "bb",
        "cc",
        "kill 3 was ended by SIGKILL",
    ]
    assert list(in_turn(partial(doubled, tmp_path), items, workers, lost)) == expected
    begun = [path.stem for path in tmp_path.iterdir()]
    assert sorted(begun) == sorted(items)  # none of them twice


@pytest.mark.usefixtures("start")
def test_closing_ends_the_processes(tmp_path: Path) -> None:
    results = in_turn(partial(doubled, tmp_path), ["a", "slow 1", "slow 2", "slow 3", "slow 4", "slow 5"], 2, lost)
    assert next(results) == "aa"
    results.close()
    numbers = {int(path.suffix[1:]) for path in tmp_path.iterdir()}
    assert numbers and not any(Path(f"/proc/{number}").exists() for number in numbers)
    begun = len(list(tmp_path.iterdir()))
    time.sleep(0.5)
    assert len(list(tmp_path.iterdir())) == begun < 6


def test_nothing_to_do_starts_nothing() -> None:
    assert list(in_turn(str.upper, [], 4, lost)) == []


# -- the command ---------------------------------------------------------------------------------------------------

PROGRAM = "import sys; from converter.cli.app import main; sys.exit(main())"


def command(*arguments: object, program: str = PROGRAM) -> list[str]:
    return [sys.executable, "-c", program, *map(str, arguments)]


def run(folder: Path, *arguments: object, program: str = PROGRAM) -> subprocess.CompletedProcess[bytes]:
    surroundings = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.run(
        command(*arguments, program=program), cwd=folder, env=surroundings, capture_output=True, timeout=300
    )


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


PROJECTS = sorted(path.parent for path in ROOT.glob("fixtures/projects/*/single"))


@pytest.fixture(scope="module")
def scripts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Single scripts and projects side by side, with what is refused, not Python, or nothing to convert."""
    folder = tmp_path_factory.mktemp("scripts")
    for name in ("first", "second"):
        (folder / f"{name}.py").write_text(SCRIPT)
    for project in (PROJECTS[0], PROJECTS[2]):
        shutil.copytree(project / "single", folder / project.name, ignore=shutil.ignore_patterns("__pycache__"))
    # Two scripts that share a model and change it in the same way, and one that imports both.
    shared = folder / PROJECTS[0].name
    shutil.copy(shared / "train.py", shared / "again.py")
    (shared / "both.py").write_text("import train\nimport again\n")
    # A project in the folder of the single scripts: its helpers come to lie beside these.
    for path in (PROJECTS[1] / "single").glob("*.py"):
        shutil.copy(path, folder / path.name)
    (folder / "refused.py").write_text("import tensorflow as tf\nx = tf.placeholder(tf.float32, [None])\n")
    (folder / "broken.py").write_text("import tensorflow as tf\nprint(\n")
    (folder / "plain.py").write_text("import os\n")
    return folder


@pytest.mark.one_in(6)
@pytest.mark.parametrize(
    "arguments",
    [
        (".", "-o", "../out/"),
        (".", "-o", "out/"),
        (".", "--output-dir", "out/"),
        (".", "--in-place"),
        (".", "--diff"),
        (".", "--check", "-v"),
        (".", "--json", "--diff"),
        (".", "--in-place", "--json"),
        (".", "-o", "out/", "--check"),
    ],
    ids=" ".join,
)
def test_any_number_of_processes_gives_the_same(
    scripts: Path,
    tmp_path: Path,
    arguments: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
    capfdbinary: pytest.CaptureFixture[bytes],
) -> None:
    one, four = tmp_path / "1/scripts", tmp_path / "4/scripts"
    for there in (one, four):
        shutil.copytree(scripts, there)
    monkeypatch.chdir(one)
    code = main(["convert", *arguments, "--jobs", "1"])
    out, error = capfdbinary.readouterr()
    assert code in (0, 1, 2) and tree(one.parent)
    done = run(four, "convert", *arguments, "--jobs", 4)
    assert (done.returncode, done.stdout, done.stderr, tree(four.parent)) == (code, out, error, tree(one.parent))


SPAWNED = """
import sys
from converter.cli.files import worker_pool
worker_pool.may_fork = lambda: False
from converter.cli.app import main
if __name__ == "__main__":
    sys.exit(main())
"""


def test_processes_that_begin_anew_give_the_same(tmp_path: Path) -> None:
    """As on macOS and Windows: nothing of the first process is theirs but what they are sent."""
    (tmp_path / "program.py").write_text(SPAWNED)
    (tmp_path / "in").mkdir()
    for name in ("a", "b", "c"):
        shutil.copy(ROOT / "fixtures/logistic_regression/single.py", tmp_path / f"in/{name}.py")
    (tmp_path / "in/refused.py").write_text("import tensorflow as tf\nx = tf.placeholder(tf.float32, [None])\n")
    surroundings = os.environ | {"PYTHONPATH": str(ROOT)}
    found = []
    for number in ("1", "2"):
        words = ["convert", "in", "--diff", "--jobs", number]
        done = subprocess.run(
            [sys.executable, "program.py", *words], cwd=tmp_path, env=surroundings, capture_output=True, timeout=300
        )
        found.append((done.returncode, done.stdout, done.stderr))
    assert found[0][0] in (1, 2) and b"tower_grads" in found[0][1]
    assert found[1] == found[0]


def test_scripts_that_are_run_take_the_machine_for_themselves(tmp_path: Path) -> None:
    for option in ("--verify", "--trace"):
        done = run(tmp_path, "convert", ".", "-o", "out/", option, "--jobs", 2)
        assert done.returncode == 2 and b"--jobs 1" in done.stderr


DYING = """
import os, signal, sys
from converter import conversion
convert = conversion.convert
def dying(source, *given, **more):
    if "dies" in source.path:
        os.kill(os.getpid(), signal.SIGSEGV)
    return convert(source, *given, **more)
conversion.convert = dying
from converter.cli.app import main
sys.exit(main())
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="what dies is put there by a fork")
def test_a_process_that_dies_is_its_files_internal_error(tmp_path: Path) -> None:
    for name in ("a", "b_dies", "c", "d", "e"):
        shutil.copy(ROOT / "fixtures/logistic_regression/single.py", tmp_path / f"{name}.py")
    done = run(tmp_path, "convert", ".", "-o", "out/", "--jobs", 2, program=DYING)
    error = done.stderr.decode()
    assert done.returncode == 4
    assert "b_dies.py: TMG090 internal error: the process at work on it was ended by SIGSEGV" in error
    assert "4 converted, 1 failed" in error
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        ".tf-multigpu.sha256",
        "a.py",
        "b_dies.py",
        "c.py",
        "d.py",
        "e.py",
    ]


SLOW = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # tests that run in the background may have it ignored
from converter import conversion
def slow(source, *given, **more):
    open(source.path + ".began", "w").close()
    time.sleep(5)
conversion.convert = slow
from converter.cli.app import main
sys.exit(main())
"""


@pytest.mark.one_in(3)
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks for processes in /proc")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_whatever_ends_the_command_ends_its_processes(tmp_path: Path, number: signal.Signals) -> None:
    for name in "abcdef":
        shutil.copy(ROOT / "fixtures/logistic_regression/single.py", tmp_path / f"{name}.py")
    words = command("convert", ".", "-o", "out/", "--jobs", 2, program=SLOW)
    with subprocess.Popen(
        words, cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(ROOT)}, start_new_session=True, stderr=subprocess.PIPE
    ) as process:
        while len(list(tmp_path.glob("*.began"))) < 2:
            time.sleep(0.05)
            assert process.poll() is None
        if number == signal.SIGINT:
            os.killpg(process.pid, number)  # as a terminal does
        else:
            process.send_signal(number)
        _, error = process.communicate(timeout=30)
    assert process.returncode == (130 if number == signal.SIGINT else -number), error.decode()
    assert b"Traceback" not in error
    deadline = time.monotonic() + 20
    while _of_session(process.pid) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert _of_session(process.pid) == []
    assert len(list(tmp_path.glob("*.began"))) <= 4
    assert not (tmp_path / "out").exists()


def _of_session(number: int) -> list[str]:
    """The processes of a session that have not ended."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, _, session = path.read_text().rpartition(")")[2].split()[:4]
        except OSError:
            continue
        if int(session) == number and state != "Z":
            found.append(path.parent.name)
    return found
