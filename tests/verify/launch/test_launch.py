"""`launch`: tasks are started, shown and ended together. The scripts here use no TensorFlow."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from converter.cli.app import main
from converter.verify.launch.run import ProcessGroup, _watched
from converter.verify.launch.tasks import Task, count, named_hosts, visible
from converter.verify.processes.family import all_running

pytestmark = pytest.mark.programs
ROOT = Path(__file__).resolve().parent.parent.parent.parent
HEADER = "# tf-multigpu 0.2.0: converted from train.py sha256:{} with --num-gpus 2 --batch per-gpu --target {}\n"
TASK = """\
import json, os, subprocess, sys, time
config = json.loads(os.environ['TF_CONFIG'])
index = config['task']['index']
print('runs', index, sys.argv[1:], flush=True)
"""


def put(folder: Path, rest: str, target: str = "cluster") -> Path:
    path = folder / "train_mg.py"
    path.write_text(HEADER.format("0" * 64, target) + TASK + rest)
    return path


def command(path: Path, *options: str, local: str = "3") -> list[str]:
    return [sys.executable, "-m", "tf_multigpu", "launch", "--local", local, *options, "--", str(path), "--lr=0.1"]


def launched(path: Path, *options: str, local: str = "3") -> subprocess.CompletedProcess[str]:
    words = command(path, *options, local=local)
    return subprocess.run(words, capture_output=True, text=True, check=False, cwd=ROOT, timeout=120)


def running(text: str, named: str = r"is process (\d+)") -> list[int]:
    """Which of the processes that are named still run; one that nobody has waited for has ended, too."""
    alive = {process.pid for process in all_running()}
    return [pid for pid in map(int, re.findall(named, text)) if pid in alive]


def test_all_is_done_when_the_workers_have_ended(tmp_path: Path) -> None:
    done = launched(put(tmp_path, ""))
    assert done.returncode == 0, done.stderr
    assert sorted(line.partition(" ['--lr")[0] for line in done.stdout.splitlines()) == [
        "worker 0 | runs 0",
        "worker 1 | runs 1",
        "worker 2 | runs 2",
    ]
    assert len(re.findall(r"is process", done.stderr)) == 3 and running(done.stderr) == []


def test_lines_of_tasks_stay_whole(tmp_path: Path) -> None:
    done = launched(put(tmp_path, "for line in range(2000):\n    print('x' * 50, flush=True)\n"), local="4")
    lines = [line for line in done.stdout.splitlines() if "xxx" in line]
    assert len(lines) >= 6000 and {line.partition(" | ")[2] for line in lines} == {"x" * 50}


def test_one_that_fails_ends_all_and_is_not_started_again(tmp_path: Path) -> None:
    done = launched(put(tmp_path, "if index == 1:\n    sys.exit(3)\ntime.sleep(600)\n"))
    assert done.returncode == 1
    assert "worker 1 ended with status 3: the others are ended, too" in done.stderr
    assert "starting again" not in done.stderr and running(done.stderr) == []


def test_one_that_was_killed_is_told_and_all_start_again(tmp_path: Path) -> None:
    rest = "if index == 1:\n    os.kill(os.getpid(), 9)\ntime.sleep(600)\n"
    done = launched(put(tmp_path, rest), "--restarts", "1")
    assert done.returncode == 1 and running(done.stderr) == []
    assert done.stderr.count("worker 1 was killed by SIGKILL") == 2
    assert "all workers start again; 0 more times" in done.stderr and "not started again" in done.stderr


def test_one_that_was_killed_is_told_before_those_that_failed_because_of_it() -> None:
    statuses = {Task(0): 1, Task(1): -9, Task(2): None}
    processes = {task: SimpleNamespace(poll=lambda status=status: status) for task, status in statuses.items()}
    ending = _watched(cast(ProcessGroup, SimpleNamespace(running=processes)), None, print)
    assert ending.killed and ending.why.startswith("worker 1 was killed by SIGKILL")


def test_the_time_is_limited(tmp_path: Path) -> None:
    done = launched(put(tmp_path, "time.sleep(600)\n"), "--timeout", "1")
    assert done.returncode == 1
    assert "the time is up (--timeout) before worker 0, worker 1, worker 2 ended" in done.stderr
    assert len(re.findall(r"is process", done.stderr)) == 3 and running(done.stderr) == []


def test_children_of_tasks_end_too(tmp_path: Path) -> None:
    rest = f"""\
child = subprocess.Popen(['sleep', '600'], start_new_session=True)
print('child', child.pid, flush=True)
folder = {str(tmp_path)!r}
open(os.path.join(folder, 'worker' + str(index)), 'w').close()
while len([name for name in os.listdir(folder) if name in ('worker0', 'worker1', 'worker2')]) < 3 or index != 1:
    time.sleep(0.05)
sys.exit(3)
"""
    done = launched(put(tmp_path, rest))
    assert done.returncode == 1 and "worker 1 ended with status 3" in done.stderr
    assert len(re.findall(r"child (\d+)", done.stdout)) == 3 and running(done.stdout, r"child (\d+)") == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_nothing_is_left_when_launch_is_told_to_end(tmp_path: Path, number: signal.Signals) -> None:
    words = command(put(tmp_path, "time.sleep(600)\n"))
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it, and so would a child
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # as a job under nohup does this one
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None and process.stderr is not None
        for _ in range(3):
            process.stdout.readline()
        said = "".join(process.stderr.readline() for _ in range(3))
        assert len(running(said)) == 3
        os.kill(process.pid, number)
        status = process.wait(60)
    assert status == (-9 if number is signal.SIGKILL else 130)
    until = time.monotonic() + 30
    while running(said) and time.monotonic() < until:
        time.sleep(0.1)
    assert running(said) == []


def test_commands_for_hosts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = put(tmp_path, "")
    words = ["launch", "--hosts", "a:1,b,b", "--", str(path), "--x", "1"]
    assert main(words) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[::2] == ["# on a", "# on b", "# on b"]
    assert '"task": {"type": "worker", "index": 2}' in lines[5] and lines[5].endswith("--x 1")
    assert '["a:1", "b:2222", "b:2223"]' in lines[5] and lines[5].startswith("CLUSTER_GPU=1 TF_CONFIG=")


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--local", "2", "--hosts", "a,b"],
        ["--local", "1ps,2w"],
        ["--local", "0"],
        ["--hosts", "a:b"],
        ["--hosts", "a,,b"],
        ["--hosts", "a:1,a:1"],
        ["--hosts", "a,b", "--timeout", "5"],
        ["--hosts", "a,b", "--restarts", "3"],
        ["--local", "1", "--python", "/no/such/python"],
    ],
)
def test_what_makes_no_cluster_is_a_wrong_command_line(tmp_path: Path, words: list[str]) -> None:
    assert main(["launch", *words, str(put(tmp_path, ""))]) == 2


def test_only_scripts_for_a_cluster_are_launched(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["launch", "--local", "1", str(put(tmp_path, "", "auto"))]) == 2
    assert "was not converted with --target cluster" in re.sub(r"[\s│]+", " ", capsys.readouterr().err)
    assert main(["launch", "--local", "1", str(tmp_path / "none.py")]) == 2


def test_numbers_hosts_and_gpus() -> None:
    assert count("13") == 13
    assert named_hosts("[::1]:2,c.d,c.d") == ["[::1]:2", "c.d:2222", "c.d:2223"]
    assert [visible(Task(i), ["3", "5"])["CUDA_VISIBLE_DEVICES"] for i in range(3)] == ["3", "5", "3"]
    assert visible(Task(0), []) == {}
