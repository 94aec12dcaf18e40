"""Scripts converted for a cluster train as their originals do with several batches for each step."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from converter.conversion import convert
from converter.options import Options
from converter.source import from_bytes
from converter.verify import Report, VerifyError, VerifySettings, verify
from converter.verify.launch.tasks import free_ports
from tests import goldens

pytestmark = pytest.mark.one_test_in(2)

ROOT = Path(__file__).resolve().parent.parent
FIXTURE = goldens.FIXTURES / "cluster" / "fed_arrays"
WORKERS = 3
SAME = 1e-6  # of weights; sums in another order came to 6e-8 after 12 steps
QUIET = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "2", "CUDA_VISIBLE_DEVICES": "", "PYTHONDONTWRITEBYTECODE": "1"}
QUIET["TF_USE_LEGACY_KERAS"] = "1"  # the Keras that has sessions, on TensorFlow 2.16 and up
SLOW = "                print('step', step, 'loss', value)\n"


HELPERS = ROOT / "runtime" / "tf_multigpu_cluster.py"


def launch(folder: Path, python: str, *words: str, workers: int = WORKERS) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tf_multigpu", "launch", "--local", str(workers), "--timeout", "300"]
    return subprocess.Popen(
        [*command, "--python", python, *words],
        cwd=folder,
        env={**QUIET, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def differences(folder: Path, python: str, theirs: Path) -> dict[str, float]:
    """How far checkpoints are from those of the original with three of its batches for each step."""
    text = (FIXTURE / "single.py").read_text()
    assert "batch_size = 32\n" in text
    folder.mkdir()
    (folder / "single.py").write_text(text.replace("batch_size = 32\n", f"batch_size = 32 * {WORKERS}\n"))
    words = [python, str(ROOT / "tests/cluster_reference.py"), "single.py", str(WORKERS), str(theirs)]
    done = subprocess.run(
        [*words, "model-0", "model-1", "--"], cwd=folder, env=QUIET, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def trains_as_the_original(folder: Path, python: str) -> None:
    theirs = folder / "cluster"
    theirs.mkdir()
    shutil.copy(FIXTURE / "multi.py", theirs)
    shutil.copy(HELPERS, theirs)
    with launch(theirs, python, "multi.py") as process:
        said, _ = process.communicate()
    assert process.returncode == 0, said
    assert "Traceback" not in said, said
    assert re.findall(r"^(.*)step \d+ loss", said, re.MULTILINE) == ["worker 0 | "] * 12
    assert re.findall(r"^(.*)accuracy", said, re.MULTILINE) == ["worker 0 | "]
    assert sorted(path.name for path in theirs.glob("model*.index")) == ["model-0.index", "model-1.index"]
    worst = differences(folder / "original", python, theirs)
    assert set(worst) == {"model-0", "model-1"} and max(worst.values()) <= SAME, worst


@pytest.mark.tf1
def test_trajectory_on_tensorflow_1(tmp_path: Path, tensorflow_python: str) -> None:
    trains_as_the_original(tmp_path, tensorflow_python)


@pytest.mark.matrix
@pytest.mark.tf2
def test_trajectory_on_tensorflow_2(tmp_path: Path, tensorflow_python: str) -> None:
    trains_as_the_original(tmp_path, tensorflow_python)


@pytest.mark.tf1
def test_all_start_again_after_a_worker_was_killed(tmp_path: Path, tensorflow_python: str) -> None:
    theirs = tmp_path / "cluster"
    theirs.mkdir()
    text = (FIXTURE / "single.py").read_text()
    assert SLOW in text
    text = text.replace(SLOW, SLOW + "                __import__('time').sleep(0.4)\n")
    conversion = convert(from_bytes("single.py", text.encode()), Options(target="cluster"))
    assert conversion.text is not None
    (theirs / "multi.py").write_text(conversion.text)
    lines, pids, killed = [], {}, False
    with launch(theirs, tensorflow_python, "multi.py") as process:
        alarm = threading.Timer(400, process.kill)
        alarm.start()
        assert process.stdout is not None
        for line in process.stdout:
            lines.append(line)
            if found := re.search(r"(worker \d) is process (\d+)", line):
                pids[found[1]] = int(found[2])
            if not killed and re.match(r"worker 0 +\| step [789] ", line):
                os.kill(pids["worker 1"], signal.SIGKILL)
                killed = True
        alarm.cancel()
    said = "".join(lines)
    assert killed and process.returncode == 0, said
    assert "worker 1 was killed by SIGKILL: the others are ended, too" in said
    assert "all workers start again; 2 more times" in said
    worst = differences(tmp_path / "original", tensorflow_python, theirs)
    assert max(worst.values()) <= SAME, worst


NET = """\
import numpy as np
import tensorflow as tf
x = tf.placeholder(tf.float32, [None, 4])
w = tf.get_variable('w', [4, 3])
features = tf.matmul(x, w)
centers = tf.get_variable('centers', [3], trainable=False)
loss = tf.reduce_mean(tf.square(features - centers))
optimizer = tf.train.MomentumOptimizer(0.1, 0.9)
"""
LOOP = """\
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(4):
        values = np.random.rand(8, 4)
        shown = sess.run([train_op, loss], {x: values})[1]
    print('ended', shown, sess.run(w).sum())
"""
STEP = "train_op = optimizer.minimize(loss)\n"
MOVES = "train_op = tf.group(train_op, tf.assign_sub(centers, tf.reduce_mean(features, 0)))\n"
AVERAGES = "train_op = tf.group(train_op, tf.train.ExponentialMovingAverage(0.9).apply([loss]))\n"
PENALTY = "loss += tf.reduce_sum(tf.square(tf.gradients(loss, [w])[0]))\n"
OF_INPUT = "loss += tf.reduce_sum(tf.square(tf.gradients(loss, x)[0]))\n"
TIMED = "import time\ntaken = tf.placeholder(tf.float32, [])\nloss += 0.1 * tf.sin(taken)\n"
MINE = "import mine\n"  # as long as TF_CONFIG is there
OWN_SEED = "import mine\nnp.random.mtrand._rand.seed(mine.INDEX)\n"
LARGER = "import mine\ntf.get_variable('larger', [2 + mine.INDEX])\n"
MORE = "import mine\nif mine.INDEX:\n    tf.get_variable('more', [2])\n"
OF_KERAS = """\
import numpy as np
import tensorflow as tf
K = tf.keras.backend
model = tf.keras.models.Sequential([tf.keras.layers.Dense(1, input_shape=(4,))])
wanted = K.placeholder([None, 1])
loss = K.mean(K.square(model.output - wanted))
updates = tf.keras.optimizers.Adam(0.01).get_updates(loss, model.trainable_weights)
train = K.function([model.input, wanted], [loss], updates=updates)
for step in range(4):
    rows = np.random.rand(8 - step, 4)
    value = train([rows, rows[:, :1]])
"""
KEPT = """\
checkpoint = tf.train.Checkpoint(kernel=model.layers[0].kernel)
print('ended', value, checkpoint.save('./kept/one', session=K.get_session()))
model.save('model.h5')
print(len(tf.keras.models.load_model('model.h5').layers))
"""
# A loss whose run counts: between the steps of batches that are dealt whole it may not be computed.
BETWEEN = (
    NET.replace("[None, 4]", "[8, 4]")
    + """\
counted = tf.get_variable('counted', [], initializer=tf.zeros_initializer(), trainable=False)
with tf.control_dependencies([tf.assign_add(counted, 1.0)]):
    loss = tf.identity(loss)
"""
    + STEP
)
# The state that a run returns is fed to the next one; the last is printed.
HANDED_ON = (
    NET.replace("[None, 4]", "[8, 4]")
    .replace("features = ", "state = tf.placeholder(tf.float32, [8, 4])\nfeatures = state[:, :3] + ")
    .replace("optimizer = ", "after = tf.tanh(x - state)\noptimizer = ")
    + STEP
    + """\
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    values, wanted = np.zeros([8, 4]), np.zeros([8, 4])
    for step in range(7):
        rows = np.random.rand(8, 4)
        wanted = np.tanh(rows - wanted)
        values = sess.run([train_op, after], {x: rows, state: values})[1]
        assert np.allclose(values, wanted, atol=1e-6), step
    print('ended')
"""
)
# What a step returns of its update is fed to the next one.
MORE_INPUT = "more = tf.placeholder(tf.float32, [4, 3])\nw = "
OF_UPDATE = (
    NET.replace("[None, 4]", "[4, 4]").replace("w = ", MORE_INPUT).replace("(x, w)", "(x, w) + more")
    + """\
pairs = optimizer.compute_gradients(loss)
train_op = optimizer.apply_gradients(pairs)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    found = np.zeros([4, 3])
    for step in range(4):
        found = sess.run([train_op, pairs[0][0]], {x: np.random.rand(4, 4), more: found})[1]
"""
)
# The generator's step takes no batch: it makes as many as there are batches, as the other one does.
PACE = (
    NET.replace("[None, 4]", "[8, 4]")
    + STEP
    + """\
made = tf.get_variable('made', [3])
taken = tf.get_variable('taken', [], initializer=tf.zeros_initializer(), trainable=False)
other = tf.reduce_mean(tf.square(made * tf.random_uniform([8, 3]) - 1.0))
generate = tf.train.GradientDescentOptimizer(0.1).minimize(other, taken)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(8):
        sess.run(train_op, {x: np.random.rand(8, 4)})
        sess.run(generate)
    print('ended', sess.run(taken))
"""
)
# Summaries of gradients are there in runs that make no step, too.
SUMMARIES = (
    BETWEEN
    + """\
pairs = optimizer.compute_gradients(loss)
tf.summary.histogram('gradient', pairs[0][0])
train_op = tf.group(optimizer.apply_gradients(pairs))
merged = tf.summary.merge_all()
"""
    + LOOP.replace("train_op, loss]", "train_op, merged]")
    .replace("[1]", "[1]; tf.Summary.FromString(shown)")
    .replace("shown, sess.run(w).sum()", "")
)
# Each worker writes the records that it trains on, the second one later than the first.
RECORDS = (
    MINE
    + """\
import time
import tensorflow as tf
time.sleep(2 * mine.INDEX)
with tf.python_io.TFRecordWriter('rows') as writer:
    for row in range(64):
        value = tf.train.Feature(float_list=tf.train.FloatList(value=[row % 7, row % 5, row % 3, 1]))
        writer.write(tf.train.Example(features=tf.train.Features(feature={'x': value})).SerializeToString())
        time.sleep(0.02)
parsed = tf.data.TFRecordDataset(['rows']).map(
    lambda one: tf.parse_single_example(one, {'x': tf.FixedLenFeature([4], tf.float32)})['x'])
rows = tf.data.make_one_shot_iterator(parsed.repeat().batch(8)).get_next()
"""
    + NET.replace("tf.placeholder(tf.float32, [None, 4])", "rows")
    + STEP
    + """\
import os
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(6):
        sess.run(train_op)
    print('ended', [name for name in os.listdir('.') if 'rows' in name])
"""
)
# What a worker changes of the package `keras` 2.3, which the environments here do not have.
PACKAGE = """\
import sys
import types

import tensorflow as tf


class Optimizer(object):
    def __init__(self):
        pass


class Decayed(Optimizer):
    def __init__(self):
        super(Decayed, self).__init__()
        self.iterations = tf.Variable(0, dtype=tf.int64, trainable=False, use_resource=True)

    def get_updates(self, loss, params):
        updates = [tf.assign_add(self.iterations, 1)]
        rate = 0.1 / (tf.cast(self.iterations, tf.float32) + 1.0)
        return updates + [tf.assign(p, p - rate * g) for p, g in zip(params, tf.gradients(loss, params))]


class Metric(object):
    def add_weight(self):
        return tf.get_variable('total', [], initializer=tf.zeros_initializer(), trainable=False, use_resource=True)


class Model(object):
    def _make_train_function(self):
        pass


for name, kind in (('optimizers', Optimizer), ('metrics', Metric), ('engine.training', Model)):
    sys.modules['keras.' + name] = types.ModuleType('keras.' + name)
    setattr(sys.modules['keras.' + name], kind.__name__, kind)
"""
OF_PACKAGE = (
    "import package\n"
    + NET
    + """\
updates = package.Decayed().get_updates(loss, [w])
total = package.Metric().add_weight()
train_op = tf.group(updates, total.assign_add(tf.cast(tf.shape(x)[0], tf.float32)))
waits = [op.type for op in tf.get_default_graph().get_operations() if op.type.startswith('AssignAdd')
         and any(one.type == 'Cast' for one in op.control_inputs)]
"""
    + LOOP.replace("shown, sess.run(w).sum()", "sess.run(total), waits")
)
# Scripts, and what two workers say: that training has ended, or why it cannot be done.
SAID = {
    "plain": (NET + STEP + LOOP, "ended"),
    "no training": (NET + STEP + LOOP.replace("[train_op, loss]", "[loss, loss]"), "no training step was taken"),
    "an average of what is shown": (NET + STEP + AVERAGES + LOOP, "ended"),
    "a penalty on gradients by the input": (NET + OF_INPUT + STEP + LOOP, "ended"),
    "a variable of the loss that rows change": (NET + STEP + MOVES + LOOP, "centers is changed by AssignSub"),
    "a trained variable that rows change": (
        NET + STEP + MOVES.replace("centers", "w[0]").replace("assign_sub(w[0]", "scatter_sub(w, [0]").replace(
            "tf.reduce_mean(features, 0)", "features[:1, :1] + tf.zeros([1, 3])") + LOOP,
        "w is changed by ScatterSub"),
    "what is shown between two steps": (
        BETWEEN + LOOP.replace("shown, sess.run(w).sum()", "sess.run(counted)"), "ended 2.0"
    ),
    "a loss of averaged gradients": (NET + PENALTY + STEP + LOOP, "is computed from gradients by variables"),
    "a step of a function of Keras": (OF_KERAS + KEPT, "ended"),
    "the package keras": (OF_PACKAGE, "ended 32.0 ['AssignAddVariableOp']"),
    "lines that are logged": (
        MINE + "import logging\nlogging.basicConfig(level=logging.INFO)\n" + NET + STEP + LOOP
        + "logging.info('told by %d', mine.INDEX)\n",
        "told by 0"),
    "a number that is a time": (
        NET + TIMED + STEP + LOOP.replace("{x: values}", "{x: values, taken: time.time()}"), "ended"),
    "other batches": (MINE + NET + OWN_SEED + STEP + LOOP, "worker 1 has another batch for Placeholder:0"),
    "other variables": (
        MINE + NET + MORE + STEP + LOOP, "variable more:0 is float32 of shape (2,) in worker 1, missing in worker 0"),
    "other shapes": (
        MINE + NET + LARGER + STEP + LOOP,
        "variable larger:0 is float32 of shape (3,) in worker 1, float32 of shape (2,) in worker 0"),
    "a state that is handed on": (HANDED_ON, "ended"),
    "what an update returns is handed on": (OF_UPDATE, "what one step returns of its update is fed to the next"),
    "a step that takes no batch": (PACE, "ended 4.0"),
    "summaries of gradients": (SUMMARIES, "ended"),
    "records that each writes": (RECORDS, "ended ['rows']"),
    "other batches later": (
        MINE + NET + STEP + LOOP.replace("range(4)", "range(9)").replace(
            "rand(8, 4)", "rand(8, 4) + (step > 6) * mine.INDEX"),
        "worker 1 has another batch for Placeholder:0"),
}  # fmt: skip


@pytest.mark.one_in(48)
@pytest.mark.tf1
@pytest.mark.parametrize("name", SAID)
def test_two_workers_train_or_say_why_not(name: str, tmp_path: Path, tensorflow_python: str) -> None:
    text, said = SAID[name]
    conversion = convert(from_bytes("single.py", text.encode()), Options(target="cluster"))
    assert conversion.text is not None, conversion.diagnostics
    (tmp_path / "multi.py").write_text(conversion.text)
    (tmp_path / "mine.py").write_text("import json, os\nINDEX = json.loads(os.environ['TF_CONFIG'])['task']['index']\n")
    (tmp_path / "package.py").write_text(PACKAGE)
    with launch(tmp_path, tensorflow_python, "multi.py", workers=2) as process:
        found, _ = process.communicate()
    assert said in found and (process.returncode == 0) is said.startswith(("ended", "no training", "told")), found
    assert "told by 1" not in found


NOT_READ = {
    "{": "TF_CONFIG, or --task_index, cannot be read",
    "{}": "",
    '{"cluster": {"worker": []}}': "TF_CONFIG names no worker",
    '{"cluster": {"worker": ["a:1", "b:1"]}, "task": {"type": "worker", "index": 2}}':
        "there is no worker 2 among worker 0, worker 1",
    "[]": "TF_CONFIG, or --task_index, cannot be read: it is no object",
    '{"cluster": {"chief": "a:1"}}': "a is no address of a worker: a list of HOST:PORT is wanted",
    '{"cluster": {"worker": ["a:1", "b:x"]}}': "b:x is no address of a worker",
    '{"cluster": {"worker": ["a:1"], "ps": ["b:1"]}, "task": {"type": "ps"}}': "nothing to do for a task of type ps",
    '{"cluster": {"worker": ["127.0.0.1:TAKEN", "127.0.0.1:2"]}, "task": {"type": "worker", "index": 0}}':
        "cannot be used",
    '{"cluster": {"worker": ["127.0.0.1:PORT", "127.0.0.1:2"]}, "task": {"index": 0}}':
        "worker 1 does not answer at 127.0.0.1:2",
}  # fmt: skip


@pytest.mark.one_in(5)
@pytest.mark.tf1
@pytest.mark.parametrize("given", NOT_READ)
def test_a_worker_without_a_cluster_ends_with_one_line(given: str, tmp_path: Path, tensorflow_python: str) -> None:
    conversion = convert(from_bytes("single.py", (NET + STEP + LOOP).encode()), Options(target="cluster"))
    assert conversion.text is not None
    (tmp_path / "multi.py").write_text(conversion.text)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        free, used = next(iter(free_ports(1))), taken.getsockname()[1]
        config = given.replace("PORT", str(free)).replace("TAKEN", str(used))
        done = subprocess.run(
            [tensorflow_python, "multi.py"],
            cwd=tmp_path,
            env={**QUIET, "TF_CONFIG": config, "CLUSTER_WAIT": "1"},
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
    said = [line for line in done.stderr.splitlines() if line.startswith("cluster: ")]
    assert done.returncode == (2 if NOT_READ[given] else 0), done.stderr
    assert len(said) == bool(NOT_READ[given]) and NOT_READ[given] in "".join(said), done.stderr


WRITES = "open('log', 'w').write('begun')\nwriter = tf.summary.FileWriter('events')\n"
SAVES = "    tf.train.Saver().save(sess, './model')\n"


def apart(folders: Sequence[Path], python: str, words: Sequence[str], jobs: dict[str, list[str]]) -> list[str]:
    """What workers say that are started by themselves, each in its own folder; told where others are by TF_CONFIG."""
    tasks = [(job, index) for job, hosts in jobs.items() for index in range(len(hosts))]
    started = []
    for folder, (job, index) in zip(folders, tasks, strict=True):
        config = json.dumps({"cluster": jobs, "task": {"type": job, "index": index}, "environment": "cloud"})
        started.append(
            subprocess.Popen(
                [python, *words],
                cwd=folder,
                env={**QUIET, "TF_CONFIG": config},
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
        )
    return [f"{process.communicate(timeout=120)[0]}\nstatus {process.returncode}" for process in started]


@pytest.mark.tf1
def test_workers_with_other_scripts_end_before_anything_is_written(tmp_path: Path, tensorflow_python: str) -> None:
    text = NET + WRITES + STEP + LOOP + SAVES
    conversion = convert(from_bytes("single.py", text.encode()), Options(target="cluster"))
    assert conversion.text is not None
    folders = [tmp_path / name for name in ("chief", "other")]
    for number, folder in enumerate(folders):
        folder.mkdir()
        (folder / "multi.py").write_text(conversion.text + "# another version\n" * number)
    hosts = [f"127.0.0.1:{port}" for port in free_ports(2)]
    for said in apart(folders, tensorflow_python, ["multi.py"], {"worker": hosts}):
        assert said.endswith("status 2") and said.count("cluster: ") == 1, said
        assert re.search(r"cluster: the text of the script of worker 1 is not that of worker 0: \d+, \d+\n", said), said
    assert [path.name for folder in folders for path in folder.iterdir()] == ["multi.py", "multi.py"]


PAGE = (ROOT / "docs/cluster.md").read_text()


@pytest.mark.matrix
@pytest.mark.tf1
def test_the_command_of_the_page_for_kubernetes(tmp_path: Path, tensorflow_python: str) -> None:
    """The command of the container, with what the operator tells a chief and a worker."""
    conversion = convert(from_bytes("single.py", (NET + STEP + LOOP).encode()), Options(target="cluster"))
    assert conversion.text is not None
    (tmp_path / "train_mg.py").write_text(conversion.text)
    found = re.search(r'command: \["python", (.*)\]', PAGE)
    assert found is not None and "kind: TFJob" in PAGE
    chief, worker = (f"127.0.0.1:{port}" for port in free_ports(2))
    jobs = {"chief": [chief], "worker": [worker]}
    first, second = apart([tmp_path] * 2, tensorflow_python, json.loads(f"[{found[1]}]"), jobs)
    assert first.endswith("status 0") and "ended" in first, first
    assert second.endswith("status 0") and "ended" not in second, second


@pytest.mark.tf1
def test_the_batch_script_of_the_page_for_slurm(tmp_path: Path, tensorflow_python: str) -> None:
    """Run by stand-ins for `scontrol` and `srun`: two tasks on this machine."""
    conversion = convert(from_bytes("single.py", (NET + STEP + LOOP).encode()), Options(target="cluster"))
    assert conversion.text is not None
    (tmp_path / "train_mg.py").write_text(conversion.text)
    found = re.search(r"#SBATCH.*\n(HOSTS=.*\nsrun .*\n)", PAGE)
    assert found is not None
    first = next(port for port in range(23000, 60000, 2) if all(map(is_free, (port, port + 1))))
    text = found[1].replace("0 1 2 3", "0 1").replace("2222", str(first)).replace("python ", f"{tensorflow_python} ")
    stands = {
        "scontrol": "echo 127.0.0.1\n",
        "srun": 'for task in 0 1; do SLURM_PROCID=$task "$@" & done\nwait\n',
    }
    for name, body in stands.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{body}")
        (tmp_path / name).chmod(0o755)
    done = subprocess.run(
        ["bash", "-c", text],
        cwd=tmp_path,
        env={**QUIET, "PATH": f"{tmp_path}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.stdout.count("ended") == 1 and "cluster: " not in done.stderr, done


def is_free(port: int) -> bool:
    try:
        socket.create_server(("127.0.0.1", port)).close()
    except OSError:
        return False
    return True


def proof(
    python: str, folder: Path, change: tuple[str, str] = ("", ""), steps: int = 3, gpus: int = 2, batch: str = "per-gpu"
) -> Report:
    """The verification of the fixture's conversion, in which a text may be changed."""
    options = Options(target="cluster", batch=batch)  # type: ignore[arg-type]
    conversion = convert(from_bytes("single.py", (FIXTURE / "single.py").read_bytes()), options)
    assert conversion.text is not None and change[0] in conversion.text
    (folder / "multi.py").write_text(conversion.text.replace(*change) if change[0] else conversion.text)
    settings = VerifySettings(python=python, steps=steps, gpus=gpus, timeout=300)
    return verify(FIXTURE / "single.py", folder / "multi.py", settings)


def is_proven(report: Report) -> None:
    assert report.verdict == "passed", report
    assert {check.name for check in report.checks if check.status == "skipped"} <= {"files"}, report.checks


@pytest.mark.matrix
@pytest.mark.tf1
def test_verify_proves_three_workers_up_to_an_uneven_batch(tmp_path: Path, tensorflow_python: str) -> None:
    report = proof(tensorflow_python, tmp_path, steps=6, gpus=3)
    is_proven(report)
    details = {check.name: check.detail for check in report.checks}
    assert details["workers"] == "3 take 6 steps together, each on 32 rows"
    assert details["files"] == "the chief alone writes event files, checkpoints"
    assert {"hosts", "restarts", "results"} <= {entry.what for entry in report.ledger if entry.fate == "unchecked"}


# Fixtures, the versions of TensorFlow that they run on, what the chief says at the end, and the checks left out.
PROVEN = {
    "carried_state": ((1, 2), r"after \d+ steps: \d\.\d+$", {"data", "files"}),
    "video_pipeline": ((1, 2), r"step 24, loss .*\n.*test accuracy 0\.\d+$", {"data", "files"}),
    "slim_batch_norm": ((1,), r"step 20 loss .* accuracy 0\.\d+$", {"files"}),
    "text_lstm": ((1, 2), r"epoch 2, loss 0\.\d+, right \d+ of 200$", {"files"}),
    "penalized_gan": ((1, 2), r"step 19: critic .*$", {"data", "files"}),
    "one_image_a_step": ((1, 2), r"best 0\.\d+$", {"files"}),
    "early_stopping": ((1, 2), r"after 9\d steps: .*\n.*best 0\.\d+$", {"files"}),
    "queue_reader": ((1, 2), r"step 47 loss .*$", {"files"}),
    "estimator_optimizer": ((1,), r"accuracy 1\.0$", {"files"}),
    "keras_fit": ((1, 2), r"best loss 0\.\d+, accuracy \d\.\d+$", {"files"}),
    "keras_generator": ((1, 2), r"after 8 steps by hand: loss 0\.\d+\n(?:.*\n)*.*right: 0\.\d+$", {"files"}),
    "canned_estimator": ((1,), r"accuracy 0\.9\d+$", {"files"}),
}
# by the TensorFlow on which `make test` proves them; the others are the matrix's
ORDINARY = {1: ("slim_batch_norm", "one_image_a_step"), 2: ("keras_fit",)}


def fixtures(version: int) -> list[object]:
    names = [name for name, (versions, *_) in PROVEN.items() if version in versions]
    return [pytest.param(name, marks=() if name in ORDINARY[version] else pytest.mark.matrix) for name in names]


def is_proven_and_runs(name: str, folder: Path, python: str) -> None:
    fixture = FIXTURE.parent / name
    _, end, left = PROVEN[name]
    settings = VerifySettings(python=python, steps=2, gpus=2, timeout=300)
    report = verify(fixture / "single.py", fixture / "multi.py", settings)
    assert report.verdict == "passed", report
    assert {check.name for check in report.checks if check.status == "skipped"} <= left, report.checks
    shutil.copy(fixture / "multi.py", folder)
    shutil.copy(HELPERS, folder)
    with launch(folder, python, "multi.py", workers=2) as process:
        said, _ = process.communicate()
    told = "\n".join(line for line in said.splitlines() if line.startswith("worker 0 | ") and not line.endswith("| "))
    assert process.returncode == 0 and re.search(end, told), said


@pytest.mark.tf1
@pytest.mark.parametrize("name", fixtures(1))
def test_a_fixture_is_proven_and_runs_on_tensorflow_1(name: str, tmp_path: Path, tensorflow_python: str) -> None:
    is_proven_and_runs(name, tmp_path, tensorflow_python)


@pytest.mark.tf2
@pytest.mark.parametrize("name", fixtures(2))
def test_a_fixture_is_proven_and_runs_on_tensorflow_2(name: str, tmp_path: Path, tensorflow_python: str) -> None:
    is_proven_and_runs(name, tmp_path, tensorflow_python)


KERAS = """\
import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
rng = np.random.RandomState(1)
x = rng.rand(75, 6).astype('float32')
y = (x[:, :1] > x[:, 1:2]).astype('float32')
np.random.seed(2)  # of the order of fit()
first, second = (tf.keras.initializers.glorot_uniform(seed=seed) for seed in (1, 2))
model = tf.keras.models.Sequential([
    tf.keras.layers.Dense(8, activation='relu', input_shape=(6,), kernel_initializer=first),
    tf.keras.layers.Dense(1, activation='sigmoid', kernel_initializer=second)])
optimizer = tf.keras.optimizers.Adam(0.01, clipvalue=0.01)
model.compile(optimizer, 'binary_crossentropy', metrics=['accuracy', tf.keras.metrics.AUC(name='auc')])
past = model.fit(x, y, batch_size=12, epochs=4, validation_split=0.1, verbose=0)
figures = [past.history[name] for name in sorted(past.history)]
np.savez('end.npz', *[np.array(figures)] + model.get_weights())
"""


@pytest.mark.matrix
@pytest.mark.tf1
def test_keras_ends_as_one_process_with_the_batch_of_all_workers(tmp_path: Path, tensorflow_python: str) -> None:
    """Weights, the loss, metrics and those of the validation; the last batch of each epoch is uneven."""
    single, several = tmp_path / "single", tmp_path / "several"
    for folder in (single, several):
        folder.mkdir()
    (single / "train.py").write_text(KERAS.replace("batch_size=12", "batch_size=36"))
    subprocess.run([tensorflow_python, "train.py"], cwd=single, env=QUIET, check=True, capture_output=True, timeout=120)
    conversion = convert(from_bytes("train.py", KERAS.encode()), Options(target="cluster"))
    assert conversion.text is not None
    (several / "train.py").write_text(conversion.text)
    with launch(several, tensorflow_python, "train.py") as process:
        said, _ = process.communicate()
    assert process.returncode == 0, said
    with np.load(single / "end.npz") as one, np.load(several / "end.npz") as other:
        assert one.files == other.files and len(one.files) == 5
        for name in one.files:
            np.testing.assert_allclose(other[name], one[name], rtol=0, atol=2e-6, err_msg=name)


@pytest.mark.tf1
def test_verify_fails_a_wrong_mean_of_batches_of_other_shapes(tmp_path: Path, tensorflow_python: str) -> None:
    fixture = FIXTURE.parent / "one_image_a_step"
    conversion = convert(from_bytes("single.py", (fixture / "single.py").read_bytes()), Options(target="cluster"))
    right, wrong = "rows = [1] * cluster.size", "rows = [1 + index for index in range(cluster.size)]"
    assert conversion.text is not None and right in conversion.text
    (tmp_path / "multi.py").write_text(conversion.text.replace(right, wrong))
    settings = VerifySettings(python=tensorflow_python, steps=1, gpus=2, timeout=300)
    report = verify(fixture / "single.py", tmp_path / "multi.py", settings)
    assert {"gradients", "loss"} <= {check.name for check in report.checks if check.status == "failed"}, report


@pytest.mark.tf2
def test_verify_proves_two_workers_on_tensorflow_2(tmp_path: Path, tensorflow_python: str) -> None:
    is_proven(proof(tensorflow_python, tmp_path))


@pytest.mark.tf1
def test_verify_proves_the_total_batch(tmp_path: Path, tensorflow_python: str) -> None:
    report = proof(tensorflow_python, tmp_path, gpus=3, batch="total")
    is_proven(report)
    details = {check.name: check.detail for check in report.checks}
    assert details["workers"] == "3 take 3 steps together, each on 10 or 11 rows"


OWN_FILES = """\
import os
import tempfile

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
BATCH_SIZE = 8
folder = tempfile.mkdtemp()
names = [os.path.join(folder, 'part-%d' % number) for number in range(6)]
for number, name in enumerate(names):
    with tf.io.TFRecordWriter(name) as writer:
        for row in np.random.RandomState(number).rand(20 + number, 4).astype('float32'):
            writer.write(row.tobytes())
dataset = tf.data.TFRecordDataset(names)
dataset = dataset.map(lambda row: tf.reshape(tf.decode_raw(row, tf.float32), [4])).batch(BATCH_SIZE)
iterator = tf.data.make_initializable_iterator(dataset)
rows = iterator.get_next()
weights = tf.get_variable('weights', [4, 1], initializer=tf.ones_initializer())
loss = tf.reduce_mean(tf.square(tf.matmul(rows, weights) - tf.reduce_sum(rows * rows, 1, keepdims=True)))
step = tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for epoch in range(3):
        sess.run(iterator.initializer)
        taken = 0
        while True:
            try:
                value, _ = sess.run([loss, step])
                taken += 1
            except tf.errors.OutOfRangeError:
                break
        print('epoch', epoch, 'steps', taken, 'loss', value)
"""


@pytest.mark.matrix
@pytest.mark.tf1
def test_workers_read_their_own_files_to_the_end_of_one(tmp_path: Path, tensorflow_python: str) -> None:
    (tmp_path / "single.py").write_text(OWN_FILES)
    options = Options(target="cluster", shard="files")
    conversion = convert(from_bytes("single.py", OWN_FILES.encode()), options)
    assert conversion.text is not None
    (tmp_path / "multi.py").write_text(conversion.text)
    settings = VerifySettings(python=tensorflow_python, steps=3, gpus=2, timeout=300)
    report = verify(tmp_path / "single.py", tmp_path / "multi.py", settings)
    assert report.verdict == "passed", report
    left = {check.name: check.detail for check in report.checks if check.status == "skipped"}
    assert set(left) <= {"data", "files"} and "its own part of the files" in left["data"]
    with launch(tmp_path, tensorflow_python, "multi.py", workers=2) as process:
        said, _ = process.communicate()
    assert process.returncode == 0 and re.findall(r"epoch (\d) steps (\d+)", said) == [(f"{n}", "9") for n in range(3)]
    right, wrong = "names[self.index::self.size]", "names[0::self.size]"
    assert right in conversion.text
    (tmp_path / "multi.py").write_text(conversion.text.replace(right, wrong))
    report = verify(tmp_path / "single.py", tmp_path / "multi.py", settings)
    assert "data" in {check.name for check in report.checks if check.status == "failed"}, report


# A text of the conversion, a wrong one in its place, the check that tells, and the steps that this takes.
WRONG = [
    ("begin = min(bounds[cluster.index], total - 1)", "begin = 0", "data", 1),
    ("(rows[cluster.index] * cluster.size / float(total), rows", "(1.0, rows", "gradients", 6),
    ("batch_size = 32 * cluster.size", "batch_size = 32", "batch", 1),
    ("writer.EventFileWriter = NoEvents", "pass", "files", 1),
    # nothing is averaged: no run is a training step, and each worker goes on with the whole batch
    ("self.reduced(number * _tf.cast(weight, number.dtype), 'Div')", "number", "workers", 1),
    ("self.reduced(number * _tf.cast(weight, number.dtype), 'Div')",
     "self.reduced(number * _tf.cast(weight, number.dtype), 'Id')", "gradients", 1),
    ("tf.train.AdamOptimizer(rate)", "tf.train.AdamOptimizer(rate, beta1=0.5)", "update", 1),
]  # fmt: skip


@pytest.mark.one_in(18)
@pytest.mark.tf1
@pytest.mark.parametrize(("right", "wrong", "check", "steps"), WRONG, ids=[f"{row[2]} {row[3]}" for row in WRONG])
def test_verify_fails_a_wrong_worker(
    right: str, wrong: str, check: str, steps: int, tmp_path: Path, tensorflow_python: str
) -> None:
    report = proof(tensorflow_python, tmp_path, (right, wrong), steps, 3)
    assert report.verdict == "failed", report
    assert check in [one.name for one in report.checks if one.status == "failed"], report.checks


@pytest.mark.tf1
def test_verify_fails_gradients_of_keras_that_are_not_averaged(tmp_path: Path, tensorflow_python: str) -> None:
    fixture = FIXTURE.parent / "keras_fit"
    conversion = convert(from_bytes("single.py", (fixture / "single.py").read_bytes()), Options(target="cluster"))
    right = "self.reduced(number * _tf.cast(weight, number.dtype), 'Div')"
    assert conversion.text is not None and right in conversion.text
    (tmp_path / "multi.py").write_text(conversion.text.replace(right, right.replace("Div", "Id")))
    settings = VerifySettings(python=tensorflow_python, steps=1, gpus=2, timeout=300)
    report = verify(fixture / "single.py", tmp_path / "multi.py", settings)
    assert "gradients" in [check.name for check in report.checks if check.status == "failed"], report


@pytest.mark.tf1
def test_verify_says_which_task_has_failed(tmp_path: Path, tensorflow_python: str) -> None:
    report = proof(tensorflow_python, tmp_path, ("total = len(feed[cut[0]])", "total = len(feeds[cut[0]])"))
    assert report.verdict == "failed"
    assert re.search(r"worker [01] of the converted script failed .*NameError", report.reason), report.reason


@pytest.mark.parametrize(
    "settings", [VerifySettings(epochs=1), VerifySettings(steps="all"), VerifySettings(also=("other.py",))]
)
def test_what_verify_cannot_do_for_a_cluster_is_refused(settings: VerifySettings) -> None:
    with pytest.raises(VerifyError, match="not for the workers of a cluster"):
        verify(FIXTURE / "single.py", FIXTURE / "multi.py", settings)
