"""A new user's first hour: an environment of one's own, a real project, its output run, changed, broken and reviewed.

Each step says something, none ends in a traceback, and nothing of the user's is lost.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from tests.test_installed import Installed, build, environment_with

ROOT = Path(__file__).resolve().parent.parent
HOOKS = {hook["id"]: hook for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())}

MODEL = """\
import tensorflow as tf


def loss_of(x, y):
    return tf.reduce_mean(tf.square(tf.layers.dense(x, 1) - y))
"""
TRAIN = """\
import numpy as np
import tensorflow as tf

from nets.model import loss_of

batch_size = 8
rows = np.loadtxt('data/rows.csv', delimiter=',', dtype=np.float32)
x = tf.placeholder(tf.float32, [None, 2])
y = tf.placeholder(tf.float32, [None, 1])
loss = loss_of(x, y)
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for epoch in range(5):
        for start in range(0, len(rows), batch_size):
            part = rows[start:start + batch_size]
            sess.run(train_op, {x: part[:, :2], y: part[:, 2:]})
    print('loss', sess.run(loss, {x: rows[:, :2], y: rows[:, 2:]}))
"""
KERAS = """\
import numpy as np
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,))])
model.compile(optimizer='sgd', loss='mse')
rows = np.loadtxt('data/rows.csv', delimiter=',', dtype=np.float32)
inputs, wanted = rows[:, :2], rows[:, 2:]
model.fit(inputs, wanted, batch_size=8, epochs=1, verbose=0)
print('done')
"""
BOTH_PYTHONS = "import tensorflow as tf\n\nprint 'an old script'\nprint(f'for both')\n"


@dataclass(frozen=True)
class Said:
    """What a command came to; both streams as one text."""

    code: int
    text: str
    out: str


@dataclass(frozen=True)
class User:
    """A user in a folder of their own, with the tool in an environment of its own."""

    installed: Installed
    folder: Path

    def tool(self, *arguments: str) -> Said:
        """Runs the tool; it never ends in a traceback."""
        command = [str(Path(self.installed.python).with_name("tf-multigpu")), *arguments]
        variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        done = subprocess.run(command, cwd=self.folder, env=variables, capture_output=True, text=True)
        said = Said(done.returncode, done.stdout + done.stderr, done.stdout)
        assert "Traceback" not in said.text and "TMG090" not in said.text and said.code in (0, 1, 2, 3), said.text
        return said

    def hook(self, name: str, *files: str) -> Said:
        """Runs what pre-commit runs for a hook."""
        _, *words = shlex.split(HOOKS[name]["entry"])
        return self.tool(*words, *(files if HOOKS[name].get("pass_filenames", True) else ()))

    def read(self, name: str) -> str:
        return (self.folder / name).read_text()

    def write(self, name: str, text: str) -> None:
        (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / name).write_text(text)


@pytest.fixture(scope="module")
def converted(tmp_path_factory: pytest.TempPathFactory) -> User:
    """After the first conversion, of a folder, and what was said of it."""
    wheel = build("wheel", ROOT, tmp_path_factory.mktemp("wheel"))
    user = User(environment_with(wheel, tmp_path_factory.mktemp("environment")), tmp_path_factory.mktemp("home"))
    for name, text in {
        "train.py": TRAIN,
        "nets/__init__.py": "",
        "nets/model.py": MODEL,
        "keras_fit.py": KERAS,
        "old.py": BOTH_PYTHONS,
        "data/rows.csv": "".join(f"{i % 7},{i % 5},{i % 3}\n" for i in range(40)),
        "README": "a project\n",
    }.items():
        user.write(f"project/{name}", text)
    user.write("said.txt", user.tool("convert", "project", "-o", "out", "--refused", "pass", "-v").text)
    return user


@pytest.fixture
def user(converted: User, tmp_path: Path) -> User:
    """The same state for each step."""
    shutil.copytree(converted.folder, tmp_path / "home")
    return User(converted.installed, tmp_path / "home")


def files(folder: Path) -> set[str]:
    found = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return {str(path) for path in found if not path.name.startswith(".") and "__pycache__" not in path.parts}


pytestmark = [pytest.mark.slow, pytest.mark.one_test_in(2)]


def test_every_file_has_come_and_every_script_was_spoken_of(user: User) -> None:
    said = user.read("said.txt")
    assert files(user.folder / "out") >= files(user.folder / "project")
    for name in ("train.py", "keras_fit.py"):
        assert f"project/{name}: converted" in said, said
        assert user.read(f"out/{name}") != user.read(f"project/{name}")
    assert "project/old.py:3:1: TMG004" in said and "no Python runs both" in said
    assert user.read("out/old.py") == BOTH_PYTHONS
    for decision in ("inputs:", "batch size:", "learning rate:", "next:"):
        assert decision in said


@pytest.mark.tf1
def test_the_output_runs_without_the_project(user: User, tensorflow_python: str) -> None:
    shutil.rmtree(user.folder / "project")
    assert bare_run(user, tensorflow_python, "train.py").stdout.split()[0] == "loss"


@pytest.mark.tf1
def test_the_keras_script_is_proven_and_says_what_it_needs(user: User, tensorflow_python: str) -> None:
    """Its strategy takes no CPU in place of a GPU: the script says so, and verify has devices for it."""
    done = bare_run(user, tensorflow_python, "keras_fit.py")
    assert done.returncode == 1 and done.stderr.endswith("RuntimeError: this script trains on 2 GPUs\n")
    said = user.tool("verify", "project/keras_fit.py", "out/keras_fit.py", "--python", tensorflow_python)
    assert said.code == 0 and "passed" in said.text.lower(), said.text


def bare_run(user: User, python: str, script: str) -> subprocess.CompletedProcess[str]:
    """Runs a script of the output as its user would, on a machine without a GPU."""
    variables = os.environ | {"CUDA_VISIBLE_DEVICES": ""}
    command = [python, script]
    return subprocess.run(command, cwd=user.folder / "out", env=variables, capture_output=True, text=True)


def test_another_option_changes_the_output(user: User) -> None:
    done = user.tool("convert", "project", "-o", "out", "--num-gpus", "4", "--refused", "pass")
    assert done.code == 0 and "project/train.py: converted" in done.text
    assert "--num-gpus 4" in user.read("out/train.py").splitlines()[0]
    user.write("project/pyproject.toml", "[tool.tf-multigpu]\nnum-gpus = 8\n")
    assert "TMG011" in user.tool("convert", "--check", "out", "--config", "project/pyproject.toml").text
    again = user.tool("convert", "project", "-o", "out", "--refused", "pass")
    assert again.code == 0 and "--num-gpus 8" in user.read("out/train.py").splitlines()[0]


def test_an_output_that_was_edited_is_not_lost(user: User) -> None:
    broken = user.read("out/train.py").replace("batch_size = 8", "batch_size = 9  # mine")
    user.write("out/train.py", broken)
    checked = user.tool("convert", "--check", "out")
    assert checked.code == 1 and "TMG011" in checked.text and "edited by hand" in checked.text
    done = user.tool("convert", "project", "-v", "-o", "out", "--refused", "pass")
    assert done.code == 2 and "TMG020" in done.text and "--force" in done.text
    assert user.read("out/train.py") == broken
    assert user.tool("convert", "project", "-o", "out", "--force", "--refused", "pass").code == 0
    assert "# mine" not in user.read("out/train.py")


def test_the_hooks(user: User) -> None:
    assert user.hook("tf-multigpu-check").code == 0
    names = [f"project/{name}" for name in ("train.py", "keras_fit.py", "old.py", "nets/model.py", "nets/__init__.py")]
    done = user.hook("tf-multigpu-convert", *names)
    assert done.code == 0 and "TMG004" in done.text and "project/train.py: converted" in done.text
    assert user.hook("tf-multigpu-convert", *names).code == 0
    user.write("pyproject.toml", '[tool.tf-multigpu]\nrefused = "fail"\n')
    assert user.hook("tf-multigpu-convert", *names).code == 2
    user.write("pyproject.toml", "[tool.tf-multigpu]\nnum-gpus = 4\n")
    assert "TMG021" in user.hook("tf-multigpu-convert", *names).text
    done = user.hook("tf-multigpu-pairs")
    assert done.code == 2 and "no pairs" in done.text.replace("\n", " ")


@pytest.mark.matrix
def test_black_and_the_hooks_live_in_one_repository(user: User) -> None:
    """What is converted in a project with black is as black wants it, and stays a conversion after black."""
    user.write("project/pyproject.toml", "[tool.black]\nline-length = 79\n")
    user.write("project/train.py", TRAIN.replace("'", '"').replace("start:start", "start : start"))
    user.write("project/keras_fit.py", KERAS.replace("'", '"'))
    black = [user.installed.python, "-m", "black", "--config", "project/pyproject.toml", "--exclude", "old.py"]

    def formatted(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*black, *words], cwd=user.folder, capture_output=True, text=True)

    assert formatted("--check", "project").returncode == 0
    assert user.tool("convert", "project", "-o", "styled", "--refused", "pass").code == 0
    done = formatted("--check", "styled")
    assert done.returncode == 0, done.stderr
    assert user.tool("convert", "--check", "styled").code == 0
    assert formatted("--line-length", "60", "styled").returncode == 0  # another width: other bytes, the same meaning
    assert user.tool("convert", "--check", "styled").code == 0
    shown = user.tool("convert", "project/train.py", "--diff").out
    lines = shown.splitlines()
    assert {"-batch_size = 8", "+batch_size = 8 * num_gpus", "+for gpu in range(num_gpus):"} <= {*lines}, shown


def test_the_comment_on_a_pull_request(user: User) -> None:
    page = user.tool("convert", "project", "--diff", "--output-format", "markdown").out
    assert page.startswith("#") and len(page) < 60_000
    for said in ("old.py", "TMG004", "```diff", "train.py"):
        assert said in page


@pytest.mark.tf1
@pytest.mark.browser
def test_the_report_on_a_phone(user: User, tensorflow_python: str) -> None:
    from tests.report.page.test_browser import measured

    command = ["verify", "project/train.py", "out/train.py", "--python", tensorflow_python, "--html", "page.html"]
    done = user.tool(*command)
    assert done.code == 0 and "passed" in done.text.lower(), done.text
    assert measured(user.read("page.html"), user.folder, 390) == (390, 390, [])
