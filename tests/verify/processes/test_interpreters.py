"""One import of TensorFlow serves many scripts; each starts as if it were alone."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from converter.report import data
from converter.report.page.html import Scripts, render_html
from converter.report.verification import render_text
from converter.verify import Interpreters, Report, VerifyError, VerifySettings, verify
from converter.verify.processes import child_process as children
from converter.verify.processes.child_process import Child, Limits, environment
from converter.verify.processes.family import family, resident, unshared
from converter.verify.processes.interpreters import Server
from tests.verify.processes.test_family import runs
from tests.verify.test_failures import TRAINS
from tests.verify.test_limits import noted, still_running

pytestmark = pytest.mark.one_test_in(2)

ROOT = Path(__file__).resolve().parents[3]
OLD = [
    pytest.param(version, marks=[pytest.mark.tf1(version=version), pytest.mark.matrix]) for version in ("1.4", "1.12")
]
VERSIONS = [pytest.param("2", marks=pytest.mark.tf2), pytest.param("1.15", marks=pytest.mark.tf1), *OLD]
ONCE = "TensorFlow imported once for all scripts"


def shared(report: Report) -> str:
    """How the scripts were started, of what the report says of their processes; it goes on with their memory."""
    how, _, memory = report.processes.partition(", at most ")
    assert "GiB of memory in all processes" in memory, report.processes
    return how


@pytest.fixture
def pool() -> Iterator[Interpreters]:
    with Interpreters() as pool:
        yield pool


def put(folder: Path, name: str, text: str) -> Path:
    (folder / name).mkdir(exist_ok=True)
    path = folder / name / "train.py"
    path.write_text(text)
    return path


def trains(before: str = "", steps: int = 3) -> str:
    """A script that trains after it has done something."""
    return before + TRAINS.format(steps=steps)


def verified(folder: Path, text: str, pool: Interpreters | None, python: str | None = None, **more: float) -> Report:
    script = put(folder, "script", text)
    return verify(script, script, VerifySettings(gpus=1, steps=2, python=python, **more), pool=pool)


def servers(pool: Interpreters) -> list[int]:
    return [server._process.pid for server in pool._servers.values()]


# -- what a script finds ---------------------------------------------------------------------------

LEAVES = """
import os, random, sys, threading, time, types, warnings, signal, atexit
import numpy as np
import tensorflow as tf
assert 'left' not in sys.modules and 'left' not in os.environ and not hasattr(os, 'left')
assert not os.path.exists('left') and '/left' not in sys.path and len(sys.argv) == 1
assert threading.active_count() == 1, threading.enumerate()
assert len(tf.get_default_graph().get_operations()) == 0
assert tf.get_default_graph().seed is None and len(tf.get_collection('left')) == 0
assert signal.getsignal(signal.SIGUSR1) == signal.SIG_DFL
assert (random.random(), np.random.rand()) == (0.9056396761745207, 0.5881308010772742)
assert os.getpid() == os.getpgrp() == os.getsid(0)
sys.modules['left'], os.environ['left'], os.left = types.ModuleType('left'), '1', True
sys.path.append('/left'); sys.argv.append('left'); open('left', 'w').close(); os.chdir('/')
thread = threading.Thread(target=time.sleep, args=(60,)); thread.daemon = True; thread.start()
signal.signal(signal.SIGUSR1, signal.SIG_IGN)
random.seed(1); np.random.seed(1); np.random.rand = None
tf.add_to_collection('left', 1); tf.set_random_seed(3)
atexit.register(open, '/nowhere/left')
"""


@pytest.mark.one_in(3)
@pytest.mark.parametrize("version", VERSIONS)
def test_nothing_is_left_to_the_next_script(
    tmp_path: Path, tensorflow_python: str, pool: Interpreters, version: str
) -> None:
    found = set()
    for _ in range(2):
        report = verified(tmp_path, trains(LEAVES), pool, tensorflow_python)
        assert (report.verdict, shared(report)) == ("passed", ONCE), report
        found.update(servers(pool))
    assert len(found) == 1


# what the script's process is made of, but for what the two ways may differ in
TELLS = """
import json, os, sys, signal, threading
import tensorflow as tf
with open({note!r}, 'w') as note:
    json.dump({{
        'environment': {{k: v for k, v in os.environ.items() if k not in ('TF_MULTIGPU_VERIFY', 'TMPDIR')}},
        'arguments': sys.argv[1:], 'path': sys.path[1:], 'script': os.path.basename(sys.path[0]), 'name': __name__,
        'folder': os.path.basename(os.getcwd()), 'input': sys.stdin.read(), 'threads': threading.active_count(),
        'encodings': [sys.stdout.encoding, sys.stderr.encoding, sys.getfilesystemencoding()],
        'handlers': [str(signal.getsignal(number)) for number in range(1, 30)],
        'files': sorted(os.path.realpath('/proc/self/fd/%d' % number) for number in (0, 1, 2))[:1],
        'open': len(os.listdir('/proc/self/fd')), 'tensorflow': sorted(vars(tf)), 'main': sorted(vars(sys.modules['__main__'])),
    }}, note)
    note.write('\\n' + json.dumps(sorted(name for name in sys.modules if 'tmgprobe' not in name)))
"""  # noqa: E501


def told(tmp_path: Path, pool: Interpreters, python: str, alone: bool) -> tuple[dict[str, object], set[str]]:
    note = tmp_path / "note"
    script = put(tmp_path, "script", trains(TELLS.format(note=str(note))))
    work = tmp_path / f"work {alone}"
    work.mkdir()
    job = {
        "role": "trace",
        "title": "the script",
        "script": str(script),
        "args": ["a", "b c"],
        "gpus": 1,
        "work": str(work),
        "log": str(work / "log"),
    }
    settled = {**environment(1), "LATER": "value with ünicode"}
    with Child(pool, python, job, settled, Limits(time.monotonic() + 100)) as child:
        assert child.event()["event"] == "started"
        assert child.event()["event"] == "traced"
        assert bool(child.alone) == alone
    first, second = note.read_text().splitlines()
    return json.loads(first), set(json.loads(second))


@pytest.mark.one_in(3)
@pytest.mark.parametrize("version", VERSIONS)
def test_a_forked_script_starts_as_one_that_is_alone(
    tmp_path: Path, tensorflow_python: str, pool: Interpreters, version: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    forked, modules = told(tmp_path, pool, tensorflow_python, alone=False)
    monkeypatch.setattr("converter.verify.processes.interpreters._why_alone", lambda _: "for comparison")
    alone, modules_alone = told(tmp_path, pool, tensorflow_python, alone=True)
    assert forked == alone
    # the server's own needs, of the standard library
    own = {"fcntl", "ctypes", "_ctypes", "ctypes._endian", "encodings.latin_1", "encodings.ascii"}
    assert modules - modules_alone <= own
    assert modules_alone <= modules


@pytest.mark.tf1
def test_variables_that_are_read_later_may_differ(pool: Interpreters, tensorflow_python: str) -> None:
    first, second = environment(1), {**environment(8), "OLDPWD": "/", "TF_ENABLE_ONEDNN_OPTS": "1"}
    one = pool.server(tensorflow_python, first)
    assert pool.server(tensorflow_python, environment(8)) is one
    assert pool.server(tensorflow_python, second) is not one
    assert isinstance(one, Server)


def test_few_servers_are_kept(pool: Interpreters) -> None:
    for number in range(6):
        found = pool.server("true", {**environment(1), "A": str(number)})
        assert isinstance(found, Server)
        pool.release(found)
    assert len(servers(pool)) == 4


# -- scripts that end, crash, and start others ----------------------------------------------------


@pytest.mark.one_in(6)
@pytest.mark.tf1
@pytest.mark.parametrize(
    ("line", "status"),
    [("os.abort()", -6), ("os.kill(os.getpid(), 9)", -9), ("os._exit(3)", 3), ("ctypes.string_at(0)", -11)],
)
def test_a_crash_ends_no_other_script(
    tmp_path: Path, tensorflow_python: str, pool: Interpreters, line: str, status: int
) -> None:
    report = verified(tmp_path, f"import ctypes, os\n{line}\n", pool, tensorflow_python)
    assert (report.verdict, report.reason) == (
        "not comparable",
        f"the original script ended its process (status {status}) before its first training step",
    )
    (server,) = servers(pool)
    report = verified(tmp_path, trains(), pool, tensorflow_python)
    assert (report.verdict, servers(pool)) == ("passed", [server])


@pytest.mark.matrix
@pytest.mark.tf1
def test_another_server_replaces_one_that_was_ended(tmp_path: Path, tensorflow_python: str, pool: Interpreters) -> None:
    assert verified(tmp_path, trains(), pool, tensorflow_python).verdict == "passed"
    for _ in range(2):
        (server,) = servers(pool)
        os.kill(server, signal.SIGKILL)
        report = verified(tmp_path, trains(), pool, tensorflow_python)
        assert (report.verdict, shared(report)) == ("passed", ONCE), report
        assert servers(pool) not in ([], [server])


# a daemon that is only forked, one that is started, a child of another group
DAEMONS = """
import os, subprocess, sys, time
def note():
    with open({note!r}, 'a') as file:
        file.write('%d\\n' % os.getpid())
for start in (False, True):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            if start:
                note()
                os.execv('/bin/sleep', ['sleep', '60'])
            note()
            time.sleep(60)
        os._exit(0)
    os.wait()
if os.fork() == 0:
    os.setpgid(0, 0)
    note()
    time.sleep(60)
"""


@pytest.mark.one_in(3)
@pytest.mark.parametrize("version", VERSIONS)
def test_daemons_end_with_their_script_and_not_with_another(
    tmp_path: Path, tensorflow_python: str, pool: Interpreters, version: str
) -> None:
    (tmp_path / "other").mkdir()
    script = put(tmp_path, "stays", DAEMONS.format(note=str(tmp_path / "other/pids")) + "time.sleep(60)\n")
    job = {
        "role": "trace",
        "title": "it",
        "script": str(script),
        "args": [],
        "gpus": 1,
        "work": str(tmp_path),
        "log": str(tmp_path / "log"),
    }
    with Child(pool, tensorflow_python, job, environment(1), Limits(time.monotonic() + 100)) as child:
        assert child.event()["event"] == "started"
        others = noted(tmp_path / "other", 3)
        text = trains(DAEMONS.format(note=str(tmp_path / "pids")))
        assert shared(verified(tmp_path, text, pool, tensorflow_python)) == ONCE
        assert still_running(noted(tmp_path, 6)) == []
        assert all(map(runs, others))
    assert still_running(others) == []
    assert all(map(runs, servers(pool)))


@pytest.mark.tf1
def test_a_script_that_forks_goes_on(tmp_path: Path, tensorflow_python: str, pool: Interpreters) -> None:
    text = trains(
        "import os, multiprocessing\nif os.fork() == 0:\n    os._exit(0)\nassert os.wait()[1] == 0\n"
        "assert multiprocessing.Pool(2).map(abs, [-1, 2]) == [1, 2]\n"
    )
    report = verified(tmp_path, text, pool, tensorflow_python)
    assert (report.verdict, shared(report)) == ("passed", ONCE), report


HOLDS = "block = bytearray(b'x') * (300 << 20)\n"


@pytest.mark.tf1
def test_memory_that_a_forked_script_takes(tmp_path: Path, tensorflow_python: str, pool: Interpreters) -> None:
    assert verified(tmp_path, trains(HOLDS), pool, tensorflow_python, memory=3).verdict == "passed"
    report = verified(tmp_path, HOLDS + "import time\ntime.sleep(60)\n", pool, tensorflow_python, memory=0.7)
    assert report.reason.endswith("GiB, more than the 0.7 GiB allowed (--memory)")
    (server,) = servers(pool)
    assert 50 << 20 < unshared(server) <= resident(server)
    assert verified(tmp_path, trains(), pool, tensorflow_python).verdict == "passed"


@pytest.mark.tf1
def test_the_clock_ends_a_script_and_not_the_server(tmp_path: Path, tensorflow_python: str, pool: Interpreters) -> None:
    assert verified(tmp_path, trains(), pool, tensorflow_python).verdict == "passed"
    before = servers(pool)
    text = DAEMONS.format(note=str(tmp_path / "pids")) + "time.sleep(60)\n"
    report = verified(tmp_path, text, pool, tensorflow_python, timeout=10)
    assert report.reason.startswith("no result after 10 seconds (--timeout)")
    assert still_running(noted(tmp_path, 6)) == []
    assert verified(tmp_path, trains(), pool, tensorflow_python).verdict == "passed"
    assert servers(pool) == before


@pytest.mark.tf1
def test_what_the_servers_hold_alone_is_counted(tmp_path: Path, tensorflow_python: str, pool: Interpreters) -> None:
    server = pool.server(tensorflow_python, environment(1))
    assert isinstance(server, Server)
    limits = Limits(time.monotonic() + 100)
    assert server.why_not(limits) == ""
    child = type("Child", (), {"memory": lambda self, running: 100 << 20, "server": server})()
    limits.children += [child, child]
    limits.memory = 1 << 40
    assert limits._used() == 200 << 20
    limits.memory = 220 << 20
    assert limits._used() == (200 << 20) + server.unshared() > 260 << 20


# -- the end ---------------------------------------------------------------------------------------


def test_an_ended_pool_leaves_no_process(tmp_path: Path) -> None:
    with Interpreters() as pool:
        assert isinstance(pool.server(sys.executable, environment(1)), Server)  # still importing
        (server,) = servers(pool)
        assert runs(server)
    assert not runs(server)


LASTS = DAEMONS + "note()\ntime.sleep(60)\n"


@pytest.mark.one_in(3)
@pytest.mark.tf1
@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGHUP])
def test_all_ends_with_the_tool(tmp_path: Path, tensorflow_python: str, sent: signal.Signals) -> None:
    (tmp_path / "temporary").mkdir()
    environment = {**os.environ, "TMPDIR": str(tmp_path / "temporary")}
    script = put(tmp_path, "script", LASTS.format(note=str(tmp_path / "pids")))
    words = [sys.executable, "-m", "tf_multigpu", "verify", str(script), str(script), "--python", tensorflow_python]
    tool = subprocess.Popen(words, cwd=ROOT, env=environment, stderr=subprocess.DEVNULL)
    pids = noted(tmp_path, 8)
    beside = [process.pid for process in family(tool.pid) if process.pid not in [tool.pid, *pids]]
    assert len(beside) == 2 and all(map(runs, [*beside, *pids]))  # the server, the guard
    assert len(list((tmp_path / "temporary").iterdir())) == 1
    tool.send_signal(sent)
    tool.wait()
    assert still_running([*beside, *pids]) == []
    assert list((tmp_path / "temporary").iterdir()) == []


# -- where nothing can be forked ---------------------------------------------------------------

ENDS = "import os\nif b'--serve' in open('/proc/self/cmdline', 'rb').read(): os._exit(1)\n"
WITHOUT = "import os\ndel os.fork\n"
CRASHES = "import os\nfork = os.fork\nos.fork = lambda: fork() or os.abort()\n"
FAILS = "import os\nfork = os.fork\nos.fork = lambda: fork() or os._exit(1)\n"
LATER = """
import os
fork, count = os.fork, []
def again():
    count.append(1)
    pid = fork()
    if pid == 0 and len(count) == 2:
        {line}
    return pid
os.fork = again
"""


@pytest.mark.one_in(9)
@pytest.mark.tf1
@pytest.mark.parametrize(
    ("customized", "why"),
    [
        (WITHOUT, "this interpreter cannot fork"),
        (CRASHES, "TensorFlow does not survive a fork (signal 6)"),
        (FAILS, "TensorFlow does not survive a fork"),
        (LATER.format(line="os.abort()"), "a forked process ended before it started"),
        (LATER.format(line="import time; time.sleep(50)"), "a forked process does not start"),
        (ENDS, "the process that imports TensorFlow ended"),
    ],
    ids=["no fork", "crash", "failure", "later crash", "no answer", "no server"],
)
def test_where_forks_do_not_run_each_script_imports_tensorflow(
    tmp_path: Path,
    tensorflow_python: str,
    pool: Interpreters,
    monkeypatch: pytest.MonkeyPatch,
    customized: str,
    why: str,
) -> None:
    (tmp_path / "sitecustomize.py").write_text(customized)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(children, "START", 2.0)
    report = verified(tmp_path, trains(), pool, tensorflow_python)
    said = f"TensorFlow imported by each script ({why})"
    assert (report.verdict, shared(report)) == ("passed", said), report
    assert f", {said}, " in render_text(report)
    assert json.loads(data.verification(report))["processes"].startswith(f"{said}, at most ")
    assert said in render_html(report, Scripts("train.py", "train_mg.py", "", ""))
    assert pool.server(tensorflow_python, environment(1)) == why  # and so do the next scripts
    if customized == CRASHES:
        assert shared(verified(tmp_path, trains(), pool, tensorflow_python)) == said


@pytest.mark.tf1
def test_a_relative_python_path_is_each_scripts_own(
    tmp_path: Path, tensorflow_python: str, pool: Interpreters, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", f"{ROOT}{os.pathsep}beside")
    (put(tmp_path, "script", "").parent / "beside").mkdir()
    (tmp_path / "script/beside/found_there.py").write_text("")
    report = verified(tmp_path, trains("import found_there\n"), pool, tensorflow_python)
    assert shared(report) == "TensorFlow imported by each script (PYTHONPATH is relative to each script's folder)"
    assert report.verdict == "passed"


@pytest.mark.tf1
def test_an_interpreter_without_tensorflow_is_named_as_ever(
    tmp_path: Path, tensorflow_python: str, pool: Interpreters, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tensorflow.py").write_text("raise ImportError('it is gone')\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    for _ in range(2):
        with pytest.raises(VerifyError, match=r"cannot be imported by this interpreter \(it is gone\)"):
            verified(tmp_path, trains(), pool, tensorflow_python)
