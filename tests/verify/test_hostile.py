"""Scripts that do what scripts should not: each gets its verdict, and leaves no process, file or folder behind."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from converter.verify import Interpreters, Report, VerifySettings, run, verify
from converter.verify.processes.child_process import Limits, TimeIsUp
from tests.verify.processes.test_family import runs
from tests.verify.test_failures import TRAINS
from tests.verify.test_limits import still_running

pytestmark = pytest.mark.one_test_in(2)

# What every script can call: note() keeps the number of its process where the test finds it. child() and daemon() go on
# when what they have forked has done so: else a script might be over, and its processes ended, before that.
HEAD = """
import atexit, ctypes, os, shutil, signal, socket, subprocess, sys, tempfile, threading, time
def note(pid=None):
    os.write(_notes, b'%d\\n' % (pid or os.getpid()))
_notes = os.open({note!r}, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
def child(work, before=lambda: None):
    told, tell = os.pipe()
    if os.fork() == 0:
        os.close(told)
        begin(tell, work, before)
    os.close(tell)
    os.read(told, 1)
    os.close(told)
def daemon(work, before=lambda: None):
    told, tell = os.pipe()
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            begin(tell, work, before)
        os._exit(0)
    os.close(tell)
    os.wait()
    os.read(told, 1)
    os.close(told)
def begin(tell, work, before):
    before()
    note()
    os.write(tell, b'.')
    os.close(tell)
    work()
    os._exit(0)
def flees():
    if os.fork() == 0:
        note()
        text = 'import os, time\\nend = time.time() + 60\\nwhile time.time() < end:\\n time.sleep(0.005)\\n '
        text += 'if os.fork(): os._exit(0)\\n os.setsid()'
        os.setsid()
        os.execve(sys.executable, ['python', '-S', '-c', text], {{}})
    time.sleep(0.5)
def one_after_the_other(left):
    if left:
        child(lambda: (time.sleep(0.05), one_after_the_other(left - 1)))
    os._exit(0)
"""
SLEEPS = "lambda: time.sleep(60)"
FORGETS = "lambda: os.execve('/bin/sleep', ['sleep', '60'], {})"  # its environment, too
TRAIN = TRAINS.format(steps=4)


class Hostile(NamedTuple):
    """What a script does, and what the report says (a part of its verdict and reason).

    notes: processes that it notes, at least. A script that would go on for ever has had its time when it has.
    """

    name: str
    text: str
    said: str
    notes: int = 0


NO_STEP = "not comparable: the original script ended without a training step"
DIED = "not comparable: the original script ended its process"
TIME = "not comparable: no result after"
SCRIPTS = [
    # processes that stay
    Hostile("daemon", f"daemon({SLEEPS})", NO_STEP, notes=1),
    Hostile("daemon without environment", f"daemon({FORGETS})", NO_STEP, notes=1),
    Hostile("daemon of a script that dies", f"daemon({FORGETS})\nos._exit(3)", f"{DIED} (status 3)", notes=1),
    Hostile("daemon of a script that trains", f"daemon({FORGETS})\n{TRAIN}", "passed", notes=3),
    Hostile("daemons of daemons", f"daemon({SLEEPS}, before=lambda: daemon({FORGETS}))", NO_STEP, notes=2),
    Hostile("many children", f"for _ in range(30): child({SLEEPS})", NO_STEP, notes=30),
    Hostile("a child that holds the line", f"child({SLEEPS})\nos._exit(2)", DIED, notes=1),
    Hostile("groups of their own", f"child({SLEEPS}, before=lambda: os.setpgid(0, 0))", NO_STEP, notes=1),
    Hostile("a new session", "note(subprocess.Popen(['sleep', '60'], start_new_session=True).pid)", NO_STEP, notes=1),
    Hostile("without environment", "note(subprocess.Popen(['sleep', '60'], env={}).pid)", NO_STEP, notes=1),
    Hostile("a shell's job", "os.system('sleep 60 & echo $! >> ../../../pids')", NO_STEP, notes=1),
    Hostile("children that are waited for", f"child({SLEEPS})\nos.wait()", TIME, notes=1),
    Hostile("one process after the other", "one_after_the_other(200)", NO_STEP, notes=1),
    Hostile("on the run", "flees()", NO_STEP, notes=1),
    Hostile("takes over orphans", f"ctypes.CDLL(None).prctl(36, 1)\ndaemon({FORGETS})\nos._exit(5)", DIED, notes=1),
    Hostile("a name like a zombie's", "daemon(lambda: (ctypes.CDLL(None).prctl(15, b') Z 1 1 1'), time.sleep(60)))",
            NO_STEP, notes=1),
    Hostile("a namespace of its own", "note(subprocess.Popen(['unshare', '-pf', 'sleep', '60'], env={}).pid)",
            NO_STEP, notes=1),
    # signals
    Hostile("blocks all signals", "signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65)); note(); time.sleep(60)",
            TIME, notes=1),
    Hostile("stops what started it", "note(); os.kill(os.getppid(), signal.SIGSTOP); time.sleep(60)", TIME, notes=1),
    Hostile("deaf", "for n in (1, 2, 15): signal.signal(n, signal.SIG_IGN)\nnote(); time.sleep(60)", TIME, notes=1),
    Hostile("stops itself", "note(); os.kill(os.getpid(), signal.SIGSTOP)", TIME, notes=1),
    Hostile("kills itself", "os.kill(os.getpid(), signal.SIGKILL)", f"{DIED} (status -9)"),
    Hostile("kills its group", "os.killpg(0, signal.SIGKILL)", f"{DIED} (status -9)"),
    Hostile("an alarm", "signal.alarm(1); time.sleep(60)", f"{DIED} (status -14)"),
    Hostile("aborts", "os.abort()", f"{DIED} (status -6)"),
    Hostile("a null pointer", "ctypes.string_at(0)", f"{DIED} (status -11)"),
    Hostile("interrupts", "raise KeyboardInterrupt", "not comparable: the original script failed"),
    # ends
    Hostile("leaves at once", "os._exit(0)", NO_STEP),
    Hostile("leaves from a thread", "threading.Thread(target=lambda: os._exit(4)).start(); time.sleep(60)",
            f"{DIED} (status 4)"),
    Hostile("exits with a text", "sys.exit('no more')", "exit status no more"),
    Hostile("a thread that lasts", f"threading.Thread(target={SLEEPS}).start()", NO_STEP),
    Hostile("a last handler that lasts", "atexit.register(time.sleep, 60)", NO_STEP),
    Hostile("recursion", "def f(): f()\nf()", "not comparable: the original script failed"),
    Hostile("waits for input", "input()", "EOFError"),
    # output
    Hostile("prints without end", "note()\nwhile True: os.write(1, b'y' * 65536)", TIME, notes=1),
    Hostile("prints no text", "os.write(1, os.urandom(100000)); sys.stdout.write(u'\\udcff' * 10)", NO_STEP),
    Hostile("one long line", "os.write(2, b'z' * (64 << 20))", NO_STEP),
    Hostile("no output", "sys.stdout = sys.stderr = None\nprint(1)", NO_STEP),
    Hostile("closes all files", "os.closerange(0, 1000)", "not comparable: the original script"),
    # files
    Hostile("temporary files", "for _ in range(200): tempfile.mkstemp(); tempfile.mkdtemp()", NO_STEP),
    Hostile("removes itself", "shutil.rmtree(os.getcwd())", NO_STEP),
    Hostile("no rights", "os.makedirs('a/b'); open('a/b/c', 'w').close(); os.chmod('a', 0)", NO_STEP),
    Hostile("strange names", "open('a\\nb', 'w').close(); os.symlink('.', 'loop'); os.mkfifo('pipe')", NO_STEP),
    Hostile("opens a pipe", "note(); os.mkfifo('pipe'); open('pipe')", TIME, notes=1),
    Hostile("folders without end", "for _ in range(2200): os.mkdir('d'); os.chdir('d')", NO_STEP),
    Hostile("no large files", "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))\n" + TRAIN,
            "not comparable"),
    Hostile("another root", "os.chroot(tempfile.mkdtemp()); os.chdir('/')", NO_STEP),
    Hostile("another user", "os.setgid(65534); os.setuid(65534)", NO_STEP),
    Hostile("no rights for anybody", "os.umask(0o777); os.mkdir('a'); open('b', 'w').close()", NO_STEP),
    Hostile("writes into all that is open", "for n in set(range(3, 100)) - {_notes}:\n    try:\n"
            "        os.write(n, b'{\"event\": 1}\\n')\n    except OSError: pass",
            "not comparable: the original script"),
    Hostile("goes elsewhere", "os.chdir('/')", NO_STEP),
    # the interpreter
    Hostile("no environment", "os.environ.clear()\n" + TRAIN, "passed"),
    Hostile("no modules", "sys.modules.clear(); sys.path[:] = []", "not comparable: the original script"),
    Hostile("nothing can be printed", "import builtins; builtins.print = sys.stdout.write = None\n" + TRAIN, "passed"),
    Hostile("few files", "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (8, 8))", "not comparable"),
    Hostile("ends what started it", "os.kill(os.getppid(), signal.SIGKILL)", NO_STEP),
]  # fmt: skip

LONG = {"stops what started it", "folders without end"}  # a minute or two: the time limit, and thousands of folders


@pytest.fixture(scope="module")
def pool() -> Iterator[Interpreters]:
    """Interpreters of this file's own: a script may end them."""
    with Interpreters() as pool:
        yield pool


@pytest.fixture
def bystander() -> Iterator[int]:
    """An interpreter that somebody else has started, in the same terminal."""
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    yield process.pid
    process.kill()
    process.wait()


def ran(folder: Path, text: str, pool: Interpreters, python: str, seconds: float = 60) -> Report:
    script = folder / "script" / "train.py"
    script.parent.mkdir()
    script.write_text(HEAD.format(note=str(folder / "pids")) + text + "\n")
    return verify(script, script, VerifySettings(gpus=1, steps=2, python=python, timeout=seconds), pool=pool)


class Noted(Limits):
    """The time is up when the script has noted its processes, however long it took to come to that."""

    wanted: int
    notes: Path

    def wait(self) -> float:
        left = super().wait()
        if self.notes.exists() and len(self.notes.read_text().split()) >= self.wanted:
            raise TimeIsUp
        return left


def test_there_are_enough_of_them() -> None:
    assert len({script.name for script in SCRIPTS}) == len(SCRIPTS) >= 40


@pytest.mark.one_in(30)
@pytest.mark.tf1
@pytest.mark.parametrize(
    "script",
    [
        pytest.param(script, id=script.name, marks=[pytest.mark.matrix] if script.name in LONG else [])
        for script in SCRIPTS
    ],
)
def test_nothing_is_left_behind(
    tmp_path: Path, tensorflow_python: str, pool: Interpreters, bystander: int, script: Hostile,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    if script.said == TIME:
        monkeypatch.setattr(run, "Limits", type("Ours", (Noted,), {"wanted": script.notes, "notes": tmp_path / "pids"}))
    report = ran(tmp_path, script.text, pool, tensorflow_python)
    assert script.said in f"{report.verdict}: {report.reason}", report
    pids = [int(pid) for pid in (tmp_path / "pids").read_text().split()]
    assert len(pids) >= script.notes
    assert still_running(pids) == []
    assert list(temporary.iterdir()) == []
    assert [path.name for path in (tmp_path / "script").iterdir()] == ["train.py"]
    assert runs(bystander)


@pytest.mark.tf1
def test_a_flood_of_output_takes_no_memory(tmp_path: Path, tensorflow_python: str, pool: Interpreters) -> None:
    import resource

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    report = ran(tmp_path, "for _ in range(1024): os.write(1, b'y' * (1 << 20))\nraise ValueError('end')", pool,
                 tensorflow_python, 120)  # fmt: skip
    assert "ValueError: end" in report.reason
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 64 << 10, f"{grown} kB"


@pytest.mark.tf1
def test_the_words_of_a_cut_log(tmp_path: Path, tensorflow_python: str, pool: Interpreters) -> None:
    said = "print('first')\nfor n in range(10000): print('line %d' % n, 'x' * 100)\nsys.stdout.flush()\nos._exit(5)"
    report = ran(tmp_path, said, pool, tensorflow_python)
    assert report.log.splitlines()[-1] == "line 9999 " + "x" * 100
    short = ran_again(tmp_path, "os.write(1, b'y' * (1 << 20) + b'\\n'); os._exit(5)", pool, tensorflow_python)
    assert "bytes of output not kept]" in short.log


def ran_again(folder: Path, text: str, pool: Interpreters, python: str) -> Report:
    (folder / "again").mkdir()
    return ran(folder / "again", text, pool, python)


# -- what is reported ------------------------------------------------------------------------------


def of(report: Report, what: str) -> list[str]:
    return [entry.detail for entry in report.ledger if entry.what == what]


FILES, FORKS = "files outside of the scripts' folders", "processes"


# each way to write the file {0}
ELSEWHERE = [
    "open({0!r}, 'w').close()",
    "open({0!r}, mode='ab').close()",
    "os.close(os.open({0!r}, os.O_CREAT | os.O_WRONLY))",
    "os.mkdir({0!r})",
    "open('own', 'w').close(); os.rename('own', {0!r})",
    "from pathlib import Path; Path({0!r}).write_text('a')",
    "import tensorflow as tf; tf.gfile.GFile({0!r}, 'w').write('a')",
    "import tensorflow as tf; tf.summary.FileWriter({0!r}).close()",
    "import tensorflow as tf; w0 = tf.Variable(1., name='w0'); s = tf.Session(); s.run(w0.initializer)\n"
    "tf.train.Saver([w0]).save(s, {0!r})",
]
# ways to write none
WITHIN = [
    "open('own', 'w').close(); os.mkdir('folder'); os.remove('own')",
    "open(os.path.join(os.path.dirname(os.path.abspath(__file__)), 'own'), 'w').close()",
    "open(os.devnull, 'w').close(); open(os.path.join(tempfile.mkdtemp(), 'a'), 'w').close()",
    "open(sys.executable, 'rb').close(); os.listdir('/')",
    "subprocess.call(['true'])",
]


@pytest.mark.one_in(3)
@pytest.mark.tf1
@pytest.mark.parametrize("several", [ELSEWHERE[:4], ELSEWHERE[4:]], ids=["first", "last"])  # a few are named
def test_files_that_are_written_elsewhere_are_named(
    tmp_path: Path, tensorflow_python: str, pool: Interpreters, several: list[str]
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    files = [str(elsewhere / f"file{number}") for number in range(len(several))]
    # folders of the first script's run are in the second one's way
    ways = [f"try:\n    os.rmdir({file!r})\nexcept OSError: pass\n" + way.format(file)
            for file, way in zip(files, several, strict=True)]  # fmt: skip
    report = ran(tmp_path, "\n".join([*ways, TRAIN]), pool, tensorflow_python)
    assert report.verdict == "passed", report
    own = " ".join(of(report, FILES)).partition("the conversion writes")[0]
    assert [file for file in files if file not in own] == [], own


@pytest.mark.tf1
def test_files_of_the_folder_and_temporary_ones_are_not_named(
    tmp_path: Path, tensorflow_python: str, pool: Interpreters
) -> None:
    report = ran(tmp_path, "\n".join([*WITHIN, TRAIN]), pool, tensorflow_python)
    assert report.verdict == "passed", report
    notes = str(tmp_path / "pids")  # which lie outside
    assert of(report, FILES) == [
        f"the original writes {notes}; the conversion writes {notes}: not copies, and not compared"
    ]


@pytest.mark.one_in(6)
@pytest.mark.tf1
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("for _ in range(2):\n    if os.fork() == 0: os._exit(0)", "forked by the original 2, the conversion 2"),
        ("import multiprocessing\nmultiprocessing.Pool(3)", "forked by the original 3, the conversion 3"),
        ("subprocess.call(['true']); os.system('true')", None),
        ("threading.Thread(target=int).start()", None),
    ],
)
def test_forks_are_reported(
    tmp_path: Path, tensorflow_python: str, pool: Interpreters, text: str, said: str | None
) -> None:
    report = ran(tmp_path, text + TRAIN, pool, tensorflow_python)
    assert report.verdict == "passed", report
    assert [detail.split(":")[0] for detail in of(report, FORKS)] == ([said] if said else [])


@pytest.mark.tf1
def test_training_in_a_forked_process_is_not_that_of_the_script(
    tmp_path: Path, tensorflow_python: str, pool: Interpreters
) -> None:
    report = ran(
        tmp_path, f"if os.fork() == 0:\n    exec({TRAIN!r})\n    os._exit(0)\nos.wait()", pool, tensorflow_python
    )
    assert report.verdict == "not comparable"
    assert "without a training step" in report.reason and "it has forked 1 process, in which none" in report.reason


# -- the network -----------------------------------------------------------------------------------

ASKS = "from urllib.request import urlopen\nurlopen('http://203.0.113.1/data', timeout=3)\n"
TALKS = """
server = socket.socket()
server.bind(('127.0.0.1', 0)); server.listen(1)
client = socket.create_connection(server.getsockname())
assert socket.getaddrinfo('localhost', 80)
"""


@pytest.mark.tf1
@pytest.mark.parametrize("text", [ASKS, "socket.create_connection(('example.invalid', 80), 3)\n"])
def test_the_network_is_off(tmp_path: Path, tensorflow_python: str, pool: Interpreters, text: str) -> None:
    report = ran(tmp_path, text, pool, tensorflow_python)
    assert report.verdict == "not comparable"
    assert report.reason.endswith("(the network is off, --network lets the scripts use it)"), report


@pytest.mark.tf1
def test_a_script_talks_to_itself(tmp_path: Path, tensorflow_python: str, pool: Interpreters) -> None:
    assert ran(tmp_path, TALKS + TRAIN, pool, tensorflow_python).verdict == "passed"


@pytest.mark.tf1
def test_with_the_network_nothing_is_said_of_it(tmp_path: Path, tensorflow_python: str, pool: Interpreters) -> None:
    (tmp_path / "train.py").write_text("import socket\nraise socket.gaierror('no such host')\n")
    settings = VerifySettings(gpus=1, steps=1, python=tensorflow_python, network=True)
    report = verify(tmp_path / "train.py", tmp_path / "train.py", settings, pool=pool)
    assert "no such host" in report.reason and "network is off" not in report.reason


BLOCKED = f"""
import errno, os, socket, sys, time
sys.path.insert(0, {str(Path(__file__).resolve().parents[2] / "converter/verify/child")!r})
from tmgprobe.process import network, system
system.called = lambda name, *arguments: False
assert network.off() == 'blocked'
begin = time.time()
for call, wanted in [
    (lambda: socket.create_connection(('example.com', 80)), socket.gaierror),
    (lambda: socket.getaddrinfo('example.com', 80), socket.gaierror),
    (lambda: socket.gethostbyname('example.com'), socket.gaierror),
    (lambda: socket.socket().connect(('203.0.113.1', 80)), OSError),
    (lambda: socket.socket(type=socket.SOCK_DGRAM).sendto(b'', ('203.0.113.1', 80)), OSError),
]:
    try:
        call()
    except wanted as error:
        assert network.missed(error), error
    else:
        raise AssertionError(call)
assert socket.socket().connect_ex(('203.0.113.1', 80)) == errno.ENETUNREACH
assert time.time() - begin < 5
assert not network.missed(ValueError('no')) and not network.missed(OSError(errno.ENOENT, 'no'))
{TALKS}
ours, theirs = socket.socketpair()
print('ok')
"""


def test_where_there_are_no_namespaces_the_socket_module_is_blocked() -> None:
    done = subprocess.run([sys.executable, "-c", BLOCKED], capture_output=True, text=True, timeout=60)
    assert done.stdout == "ok\n", done.stderr


NAMESPACE = (
    BLOCKED.split("system.called")[0]
    + """
if network.off() == 'namespace':
    try:
        socket.socket().connect(('203.0.113.1', 80))
    except OSError as error:
        assert network.missed(error), error
    assert socket.socket().connect_ex(('127.0.0.1', 1)) == errno.ECONNREFUSED  # there, and nobody listens
print('ok', os.getuid())
"""
)


@pytest.mark.parametrize("user", [os.getuid(), 65534])
def test_a_namespace_has_only_this_machine(user: int) -> None:
    if user != os.getuid() and os.getuid() != 0:
        pytest.skip("only root can become somebody else")
    become = {"user": user} if user != os.getuid() else {}
    done = subprocess.run(
        ["python3", "-c", NAMESPACE],
        capture_output=True,
        text=True,
        timeout=60,
        cwd="/",
        **become,
    )
    assert done.stdout == f"ok {user}\n", done.stderr
