"""What a step of a cluster moves and takes: processes of this machine, on its loopback and its CPU.

    cluster.py [--workers 2,4,8] [--python INTERPRETER] [--steps N]

A net of dense layers is converted for a cluster. Each worker adds up what the kernel says of its own TCP connections
(TCP_INFO), before and after N steps: bytes that a step sends and receives, in units of the parameters' bytes. The
budget is 1.05 times what any all-reduce must move, 2(N-1)/N. Step times stand beside those of the same script with as
many towers in one process on the same cores, and of the script itself; then what it takes until the first step is done.
Exit status 1 where a budget is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import time

from timing import ROOT, TOOL

from converter.choices import Target
from converter.conversion import convert
from converter.options import Options
from converter.source import from_bytes

BUDGET = 1.05
UNITS = 1024  # of a layer: four matrices of 4 MB
SCRIPT = f"""\
import sys
import numpy as np
import tensorflow.compat.v1 as tf
import meter

tf.disable_v2_behavior()
batch_size = 16
steps = int(sys.argv[1])
x = tf.placeholder(tf.float32, [None, {UNITS}])
net = x
for layer in range(4):
    weights = tf.get_variable('w%d' % layer, [{UNITS}, {UNITS}])
    net = tf.nn.relu(tf.matmul(net, weights) + tf.get_variable('b%d' % layer, [{UNITS}]))
loss = tf.reduce_mean(tf.square(net))
train_op = tf.train.GradientDescentOptimizer(1e-3).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(2 * steps):
        sess.run(train_op, {{x: np.ones([batch_size, {UNITS}], np.float32)}})
        meter.note(step, sum(int(np.prod(v.shape.as_list())) for v in tf.trainable_variables()) * 4)
"""
METER = '''\
"""Notes the time and the bytes of this process's TCP connections in each step."""
import json
import os
import socket
import struct
import time

NUMBER = json.loads(os.environ.get('TF_CONFIG') or '{}').get('task', {}).get('index', 0)


def moved():
    """Bytes sent and received; struct tcp_info (linux/tcp.h) has bytes_acked at 120, bytes_received at 128."""
    sent = received = 0
    for name in os.listdir('/proc/self/fd'):
        try:
            if os.readlink('/proc/self/fd/' + name).startswith('socket:'):
                one = socket.socket(fileno=os.dup(int(name)))
                info = one.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 232)
                one.close()
                acked, got = struct.unpack_from('QQ', info, 120)
                sent, received = sent + acked, received + got
        except (OSError, struct.error):
            pass
    return sent, received


def note(step, size):
    """One line for each step."""
    line = json.dumps({'step': step, 'at': time.time(), 'size': size, 'moved': moved()}) + '\\n'
    file = os.open('meter-%d' % NUMBER, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(file, line.encode())
    os.close(file)
'''


@dataclass(frozen=True)
class Run:
    """factor: bytes that the busiest worker sends or receives in a step, over the parameters'. step, start: seconds."""

    factor: float
    step: float
    start: float


def measured(target: Target | None, number: int, steps: int, python: str) -> Run:
    """A script's conversion for this target with so many workers or towers; None: the script itself."""
    text = SCRIPT
    if target is not None:
        options = Options(target=target) if target == "cluster" else Options(target=target, num_gpus=number)
        made = convert(from_bytes("train.py", SCRIPT.encode()), options)
        assert made.text is not None, made.diagnostics
        text = made.text
    with TemporaryDirectory() as folder:
        Path(folder, "train.py").write_text(text, encoding="utf-8")
        Path(folder, "meter.py").write_text(METER, encoding="utf-8")
        words = [python, "train.py", str(steps)]
        if target == "cluster":
            words = [TOOL, "launch", "--local", str(number), "--python", python, "--", "train.py", str(steps)]
        quiet = {**os.environ, "CUDA_VISIBLE_DEVICES": "", "TF_CPP_MIN_LOG_LEVEL": "3", "FEWER_GPUS": "allow"}
        begun = time()
        done = subprocess.run(words, cwd=folder, env=quiet, capture_output=True, text=True, timeout=1200)
        if done.returncode:
            raise SystemExit(f"{' '.join(words)} ended with status {done.returncode}:\n{done.stdout}{done.stderr}")
        return _read(sorted(Path(folder).glob("meter-*")), steps, begun)


def _read(files: Sequence[Path], steps: int, begun: float) -> Run:
    """The figures of the second half of the steps, of the worker with the most bytes."""
    workers = [[json.loads(line) for line in file.read_text().splitlines()] for file in files]
    factors = []
    for rows in workers:
        first, last = rows[steps - 1], rows[-1]
        way = max(now - then for now, then in zip(last["moved"], first["moved"], strict=True))
        factors.append(way / (steps * last["size"]))
    times = [row["at"] for row in workers[0]]
    between = [later - earlier for earlier, later in zip(times[steps - 1 :], times[steps:], strict=False)]
    return Run(max(factors), median(between), times[0] - begun)


def report(workers: Sequence[int], steps: int, python: str) -> bool:
    """Prints the table; whether every figure keeps its budget."""
    alone = measured(None, 1, steps, python)
    print("| workers | moved, of the parameters | bound | budget | | step, ms | towers, ms | first step, s |")
    print("|" + " --- |" * 8)
    print(f"| the script itself | | | | | {alone.step * 1e3:.0f} | | {alone.start:.1f} |", flush=True)
    kept = True
    for number in workers:
        now, towers = (measured(target, number, steps, python) for target in ("cluster", "towers"))
        bound = 2 * (number - 1) / number
        within = now.factor <= BUDGET * bound
        kept &= within
        times = f"{now.step * 1e3:.0f} | {towers.step * 1e3:.0f} | {now.start:.1f}"
        verdict = "pass" if within else "FAIL"
        print(f"| {number} | {now.factor:.3f} | {bound:.2f} | {BUDGET * bound:.3f} | {verdict} | {times} |", flush=True)
    return kept


def main() -> int:
    """Measures what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", default="2,4,8", help="numbers of processes")
    parser.add_argument("--python", default=str(ROOT / ".venv-tf1.15/bin/python"), help="one with TensorFlow")
    parser.add_argument("--steps", type=int, default=10, help="steps that are measured, after as many others")
    options = parser.parse_args()
    python = str(Path(options.python).absolute())
    return 0 if report([int(one) for one in options.workers.split(",")], options.steps, python) else 1


if __name__ == "__main__":
    sys.exit(main())
