"""Scripts whose model, gradients, batch size or session stand in other files."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from converter.cli.app import main
from converter.conversion import Conversion, convert
from converter.options import Options
from converter.source import read
from converter.source.header import bare, find_header
from converter.verify import VerifySettings, verify
from tests import goldens
from tests.bare import BareRuns
from tests.proofs import skipped

pytestmark = pytest.mark.one_test_in(2)

PROJECTS = goldens.FIXTURES / "projects"
NAMES = sorted(path.name for path in PROJECTS.iterdir())
VERSIONS = {"2": pytest.mark.tf2, "1.15": pytest.mark.tf1}
LINE_LENGTH = PROJECTS.parent / "pyproject.toml"

MODEL = """\
import tensorflow as tf


class Net(object):
    def __init__(self):
        self.x = tf.placeholder(tf.float32, [None, 8])
        self.y = tf.placeholder(tf.int64, [None])
        self.logits = tf.layers.dense(self.x, 3)
        self.loss = tf.losses.sparse_softmax_cross_entropy(self.y, self.logits)
"""
TRAIN = """\
import tensorflow as tf
from model import Net

batch_size = 16
net = Net()
train_op = tf.train.AdamOptimizer().minimize(net.loss)
with tf.Session() as sess:
    for step in range(10):
        x, y = next_batch(batch_size)
        sess.run(train_op, {net.x: x, net.y: y})
"""


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*.py"))}


def put(folder: Path, **files: str) -> Path:
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    return folder


def converted(folder: Path, script: str = "train.py") -> Conversion:
    return convert(read(str(folder / script)), Options(line_length=100), several=True)


# --- The fixtures -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_the_golden_is_what_the_command_writes(name: str, tmp_path: Path) -> None:
    shutil.copytree(PROJECTS / name / "single", tmp_path / "single")
    shutil.copy(LINE_LENGTH, tmp_path)
    assert main(["convert", str(tmp_path / "single/train.py"), "--output-dir", str(tmp_path / "multi")]) == 0
    assert tree(tmp_path / "multi") == tree(PROJECTS / name / "multi"), "run `make goldens`"
    assert tree(tmp_path / "single") == tree(PROJECTS / name / "single")


@pytest.mark.parametrize("name", NAMES)
def test_the_golden_is_up_to_date(name: str) -> None:
    assert main(["convert", "--check", str(PROJECTS / name / "multi")]) == 0


def verifications() -> list[object]:
    cases = []
    for version, mark in VERSIONS.items():
        for gpus in (2, 3, 12):
            marks = [mark] if (version, gpus) in (("2", 2), ("1.15", 3)) else [mark, pytest.mark.matrix]
            cases += [pytest.param(name, gpus, marks=marks, id=f"{name}-{gpus}-{version}") for name in NAMES]
    return cases


@pytest.mark.one_in(10)
@pytest.mark.parametrize(("name", "gpus"), verifications())
def test_proof(name: str, gpus: int, tensorflow_python: str) -> None:
    project = PROJECTS / name
    settings = VerifySettings(gpus=gpus, python=tensorflow_python)
    # a queue that delivers batches of a fixed size has no uneven rest
    open_ = {"uneven batch", "fewer examples than towers"} if name in ("pipeline", "predicted") else set()
    report = verify(project / "single/train.py", project / "multi/train.py", settings)
    assert (report.verdict, report.gpus) == ("passed", gpus), report
    assert skipped(report) <= open_


@pytest.mark.tf2
def test_convert_proves_all_files_together(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copytree(PROJECTS / "modules/single", tmp_path, dirs_exist_ok=True)
    shutil.copy(LINE_LENGTH, tmp_path)
    assert main(["convert", str(tmp_path / "train.py"), "--in-place", "--verify"]) == 0
    assert "PASSED" in capsys.readouterr().err
    names = {name for name in tree(tmp_path) if b"# tf-multigpu" in tree(tmp_path)[name]}
    assert names == {"train.py", "model.py", "tower_helpers.py"}


@pytest.mark.one_in(28)
@pytest.mark.tf1
@pytest.mark.parametrize(
    ("name", "way"), [*((name, "folder") for name in NAMES), *((name, "in place") for name in ("modules", "package"))]
)
def test_what_is_written_runs_by_itself(
    name: str, way: str, tensorflow_python: str, tmp_path: Path, bare_runs: BareRuns
) -> None:
    """In place, and as the output folder of a folder that is not there any more."""
    folder = tmp_path / "project"
    shutil.copytree(PROJECTS / name / "single", folder)
    if way == "folder":
        assert main(["convert", str(folder), "-o", str(tmp_path / "out")]) == 0
        shutil.rmtree(folder)
        folder = tmp_path / "out"
    else:
        assert main(["convert", str(folder / "train.py"), "--in-place"]) == 0
    environment = {**os.environ, "CUDA_VISIBLE_DEVICES": ""}
    done = bare_runs.run(tensorflow_python, ["train.py", "--num_gpus", "3"], folder, environment)
    assert done.returncode == 0, done.stderr[-2000:]
    assert float(done.stdout.split()[-1]) > 0.8


@pytest.mark.tf1
def test_other_scripts_of_a_project_go_on_as_before(
    tensorflow_python: str, tmp_path: Path, bare_runs: BareRuns
) -> None:
    """In place and beside the converted files of another folder, with the checkpoint of either training."""
    for folder in ("before", "after"):
        shutil.copytree(PROJECTS / "predicted/single", tmp_path / folder)
    assert main(["convert", str(tmp_path / "after/train.py"), "--in-place"]) == 0
    assert main(["convert", str(tmp_path / "before/train.py"), "--output-dir", str(tmp_path / "out")]) == 0

    def said(folder: str, script: str) -> str:
        done = bare_runs.run(tensorflow_python, [script], tmp_path / folder, os.environ)
        assert done.returncode == 0, done.stderr[-2000:]
        return done.stdout

    assert float(said("after", "train.py").split()[-1]) > 0.8
    for folder in ("before", "out"):
        for file in (tmp_path / "after").glob("*ckpt*"):
            shutil.copy(file, tmp_path / folder)
    for script in ("evaluate.py", "predict.py"):
        assert said("before", script) == said("after", script) == said("out", script)


SCOPED = """\
import tensorflow as tf


class Net(object):
    def __init__(self):
        self.x = tf.placeholder(tf.float32, [None, 8], name='x')
        self.y = tf.placeholder(tf.int64, [None], name='y')
        with tf.name_scope('score'):
            self.logits = tf.layers.dense(self.x, 3, name='out')
            self.classes = tf.argmax(self.logits, 1)
        with OPENED:
            self.loss = tf.losses.sparse_softmax_cross_entropy(self.y, self.logits)
            self.train_op = tf.train.AdamOptimizer().minimize(self.loss)
"""
BY_HAND = """\
opt = tf.train.AdamOptimizer()
train_op = opt.apply_gradients(zip(tf.gradients(net.loss, tf.trainable_variables()), tf.trainable_variables()))
"""


@pytest.mark.one_in(6)
@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.parametrize("in_place", [False, True])
@pytest.mark.parametrize("first", ["other", "net"])
def test_scripts_of_a_folder_share_the_module_of_helpers(tmp_path: Path, first: str, in_place: bool, jobs: str) -> None:
    """Each script imports a helper from it that the other does not."""
    by_hand = TRAIN.replace("train_op = tf.train.AdamOptimizer().minimize(net.loss)\n", BY_HAND)
    scripts = {"other": by_hand.replace("from model", "from other"), "net": TRAIN.replace("from model", "from net")}
    second = "net" if first == "other" else "other"
    src = put(tmp_path / "src", net=MODEL, other=MODEL, train_a=scripts[first], train_b=scripts[second])
    out = src if in_place else tmp_path / "out"
    where = ["--in-place"] if in_place else ["-o", str(out)]
    assert main(["convert", str(src), *where, "--jobs", jobs]) == 0
    module, found = (out / "tower_helpers.py").read_text(), set()
    for name in ("net", "other", "train_a", "train_b"):
        text = (out / f"{name}.py").read_text()
        found |= set(text.partition("from tower_helpers import ")[2].partition("\n")[0].split(", "))
    assert {"tower_gradients", "gradients_of_towers", "shard", "merge_loss"} <= found
    assert [name for name in found if not re.search(rf"^(def|class) {name}\(", module, re.MULTILINE)] == []
    assert main(["convert", "--check", str(out)]) == 0


@pytest.mark.parametrize("in_place", [False, True])
def test_each_script_of_a_folder_takes_the_number_of_gpus(tmp_path: Path, in_place: bool) -> None:
    """The module of helpers that the first one brings is no other script with such a flag."""
    src = tmp_path / "src"
    shutil.copytree(PROJECTS / "attributes/single", src)
    shutil.copy(src / "train.py", src / "again.py")
    out = src if in_place else tmp_path / "out"
    assert main(["convert", str(src), *(["--in-place"] if in_place else ["-o", str(out)]), "--jobs", "1"]) == 0
    texts = [(out / name).read_text() for name in ("train.py", "again.py")]
    assert [text.count("'--num_gpus', type=int") for text in texts] == [1, 1]


TRAIN_SCOPED = """\
import numpy as np
import tensorflow as tf
from model import Net

batch_size = 16
net = Net()
saver = tf.train.Saver()
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(3):
        x, y = np.random.rand(batch_size, 8), np.random.randint(0, 3, batch_size)
        sess.run(net.train_op, {net.x: x, net.y: y})
    saver.save(sess, './model.ckpt')
"""
NAMES_OF_SCOPED = """\
import tensorflow as tf
from model import Net

net = Net()
with tf.Session() as sess:
    tf.train.Saver().restore(sess, './model.ckpt')
    print(net.classes.name, net.train_op.name, sorted(v.name for v in tf.global_variables()))
"""


@pytest.mark.tf1
@pytest.mark.parametrize(
    "opened",
    [
        "tf.name_scope('optimize')",
        "tf.variable_scope('optimize')",
        "tf.name_scope('heads'), tf.name_scope('optimize')",
        "tf.name_scope('heads'):\n          with tf.name_scope('optimize')",
    ],
)
def test_scopes_that_the_loop_leaves_keep_their_variables(
    opened: str, tensorflow_python: str, tmp_path: Path, bare_runs: BareRuns
) -> None:
    """Adam's own variables are named by the scope in which it stands, and it stands behind the loop."""
    for folder in ("before", "after"):
        (tmp_path / folder).mkdir()
        for name, text in (("model", SCOPED), ("train", TRAIN_SCOPED), ("predict", NAMES_OF_SCOPED)):
            (tmp_path / folder / f"{name}.py").write_text(text.replace("OPENED", opened), encoding="utf-8")
    assert main(["convert", str(tmp_path / "after/train.py"), "--in-place"]) == 0

    def said(folder: str, script: str) -> str:
        done = bare_runs.run(tensorflow_python, [script], tmp_path / folder, {**os.environ, "FEWER_GPUS": "allow"})
        assert done.returncode == 0, done.stderr[-2000:]
        return done.stdout

    said("after", "train.py")
    for file in (tmp_path / "after").glob("*ckpt*"):
        shutil.copy(file, tmp_path / "before")
    assert said("before", "predict.py") == said("after", "predict.py")


# --- Other scripts of the project -------------------------------------------------------------------


def test_a_model_that_others_import_is_built_for_one_gpu_by_default(tmp_path: Path) -> None:
    done = converted(put(tmp_path, train=TRAIN, model=MODEL, evaluate="import model\n"))
    model, helpers = (part.text for part in done.parts)
    assert "num_gpus = 1  # the script that trains on several GPUs sets it\n" in helpers
    behind = "            # From here on: the whole batch.\n            self.x, self.y = x_batch, y_batch\n"
    assert f"        if tower_helpers.num_gpus > 1:\n{behind}" in model
    switch = "if __name__ == '__main__':\n    tower_helpers.num_gpus = 2\nfrom model import Net\n"
    assert switch in (done.text or "") and not done.diagnostics


def test_arguments_that_are_parsed_before_the_project_is_imported(tmp_path: Path) -> None:
    early = "import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('--rate', type=float)\n"
    early += "args = parser.parse_args()\n"
    done = converted(put(tmp_path, train=early + TRAIN, model=MODEL, evaluate="import model\n"))
    text = done.text or ""
    switch = text.index("if __name__ == '__main__':\n    tower_helpers.num_gpus = 2\n")
    assert text.index("import tower_helpers") < switch < text.index("default=tower_helpers.num_gpus")
    assert text.index("tower_helpers.num_gpus = args.num_gpus") > switch and text.count("num_gpus = 2") == 1


def test_nobody_else_imports_it(tmp_path: Path) -> None:
    done = converted(put(tmp_path, train=TRAIN, model=MODEL, evaluate="import numpy\n"))
    assert done.text is not None and "__main__" not in done.text
    assert "self.x, self.y = x_batch, y_batch\n" in done.parts[0].text and "num_gpus > 1" not in done.parts[0].text


def test_a_script_that_others_import(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    flat = MODEL + TRAIN.replace("from model import Net\n", "").replace("import tensorflow as tf\n", "")
    put(tmp_path, train=flat, predict="from train import Net\n")
    assert "num_gpus = 2 if __name__ == '__main__' else 1\n" in (converted(tmp_path).text or "")
    assert main(["convert", str(tmp_path / "train.py"), "-o", str(tmp_path / "out.py")]) == 0
    assert "__main__" not in (tmp_path / "out.py").read_text()


def test_flags_of_scripts_that_others_share(tmp_path: Path) -> None:
    flag = "tf.app.flags.DEFINE_integer('batch_size', 16, 'Batch size.')\nbatch_size = tf.app.flags.FLAGS.batch_size\n"
    train = TRAIN.replace("batch_size = 16\n", flag)
    done = converted(put(tmp_path, train=train, model=MODEL, evaluate="import model\n"))
    helpers = done.parts[-1].text
    assert "training = False" in helpers and "    return FLAGS.num_gpus if training else 1\n" in helpers
    assert "if __name__ == '__main__':\n    tower_helpers.training = True\n" in (done.text or "")


SHARED_PARSER = """\
import argparse
import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument('--batch_size', type=int, default=16)


def step_of(x, y):
    loss = tf.losses.sparse_softmax_cross_entropy(y, tf.layers.dense(x, 3))
    return tf.train.AdamOptimizer().minimize(loss)
"""
PARSING = """\
import tensorflow as tf
import model

args = model.parser.parse_args()
x = tf.placeholder(tf.float32, [None, 8])
y = tf.placeholder(tf.int64, [None])
train_op = model.step_of(x, y)
with tf.Session() as sess:
    for step in range(10):
        xs, ys = next_batch(args.batch_size)
        sess.run(train_op, {x: xs, y: ys})
"""
SHARED_FLAGS = """\
import tensorflow as tf

tf.app.flags.DEFINE_integer('batch_size', 16, 'Size of a batch.')
FLAGS = tf.app.flags.FLAGS


def step_of(x, y):
    loss = tf.losses.sparse_softmax_cross_entropy(y, tf.layers.dense(x, 3))
    return tf.train.AdamOptimizer().minimize(loss)
"""
MORE_GPUS = """\
import model

model.parser.add_argument('--{}', type=int)
if __name__ == '__main__':
    print(model)
"""


@pytest.mark.parametrize(
    ("model", "train"),
    [
        (SHARED_PARSER, PARSING),
        (SHARED_FLAGS, PARSING.replace("args = model.parser.parse_args()\n", "").replace("args.", "model.FLAGS.")),
    ],
    ids=["argparse", "flags"],
)
def test_a_script_that_counts_its_gpus_by_an_option_of_the_same_name(model: str, train: str, tmp_path: Path) -> None:
    def options(other: str) -> list[str]:
        done = converted(put(tmp_path, model=model, train=train, many=other))
        texts = [done.text or "", *(file.text or "" for file in done.parts)]
        assert done.status == "converted", done.diagnostics
        header = find_header(done.text or "")
        assert header is not None
        again = convert(read(str(tmp_path / "train.py")), header.options, several=True, again=True)
        assert [again.text, *(file.text for file in again.parts)] == [done.text, *(file.text for file in done.parts)]
        return re.findall(r"'--num_gpus'|DEFINE_integer\('num_gpus'", "".join(texts))

    assert options(MORE_GPUS.format("num_gpus")) == []
    assert len(options(MORE_GPUS.format("num_steps"))) == 1
    assert len(options("num_gpus = 2\n")) == 1


TWO_PARSERS = """\
import argparse
import tensorflow as tf

options = argparse.ArgumentParser()
options.add_argument('--batch_norm', type=int, default=3)
{}


def step_of(x, y):
    loss = tf.losses.sparse_softmax_cross_entropy(y, tf.layers.dense(x, CLASSES))
    return tf.train.AdamOptimizer().minimize(loss)
"""
UNNAMED = TWO_PARSERS.format("CLASSES = options.parse_known_args()[0].batch_norm")
NAMED = TWO_PARSERS.format("given, rest = options.parse_known_args()\nCLASSES = given.batch_norm")
OWN = "import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('--batch_size', type=int)\n"
TAKEN = "parser = model.parser\nparser.add_argument('--steps', type=int)\n"
GROUP = "parser = model.parser\nparser.add_argument_group('x').add_argument('--steps')\n"


@pytest.mark.parametrize(
    ("model", "lines", "added"),
    [
        (UNNAMED, OWN, {"train.py": "parser.add_argument", "told": "args"}),
        (NAMED, OWN, {"model.py": "options.add_argument", "told": "given"}),
        (SHARED_FLAGS, "import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('--x')\n", {}),
        (SHARED_PARSER, TAKEN, {"model.py": "parser.add_argument", "told": "args"}),
        (SHARED_PARSER, GROUP, {"model.py": "parser.add_argument", "told": "args"}),
    ],
    ids=["unnamed", "named", "flags", "one", "group"],
)
def test_the_flag_is_added_to_the_parser_whose_arguments_are_kept(
    model: str, lines: str, added: dict[str, str], tmp_path: Path
) -> None:
    train = PARSING.replace("args = model.parser.parse_args()", f"{lines}args = parser.parse_args()")
    train = train.replace("args.batch", "model.FLAGS.batch") if model is SHARED_FLAGS else train
    done = converted(put(tmp_path, model=model, train=train))
    assert ("FLAGS.num_gpus" in (done.text or "")) == (model is SHARED_FLAGS)
    found = {}
    for name, text in {"train.py": done.text or "", **{Path(part.path).name: part.text for part in done.parts}}.items():
        found.update((name, parser) for parser in re.findall(r"(\S+)\(\s*'--num_gpus'", text))
        found.update(("told", kept) for kept in re.findall(r"tower_helpers\.num_gpus = (\w+)\.num_gpus\n", text))
    assert found == added


def test_a_check_needs_no_look_at_other_scripts(tmp_path: Path) -> None:
    put(tmp_path, train=TRAIN, model=MODEL, evaluate="import model\n")
    assert main(["convert", str(tmp_path / "train.py"), "--output-dir", str(tmp_path / "out")]) == 0
    (tmp_path / "evaluate.py").unlink()
    assert main(["convert", "--check", str(tmp_path / "out")]) == 0


OTHER = """\
import os

import tensorflow as tf


class Wide(object):
    def __init__(self):
        self.x = tf.placeholder(tf.float32, [1, 8])
        self.train_op = tf.train.AdamOptimizer().minimize(tf.reduce_mean(tf.layers.dense(self.x, 3)))


if __name__ == '__main__':
    os.environ['CUDA_VISIBLE_DEVICES'] = '1'
"""
IMPORTS = TRAIN.replace("from model import Net", "from model import Net\nfrom wide import Wide")


@pytest.mark.parametrize("line", ["from wide import Wide", "from wide import *", "from wide import Wide as Other"])
def test_a_class_that_is_imported_and_read_nowhere_is_no_model(tmp_path: Path, line: str) -> None:
    train = IMPORTS.replace("from wide import Wide", line)
    done = converted(put(tmp_path, model=MODEL, wide=OTHER, train=train))
    assert done.text is not None and not any("wide" in found.path for found in done.diagnostics)
    assert [os.path.basename(part.path) for part in done.parts] == ["model.py", "tower_helpers.py"]


@pytest.mark.parametrize("used", ["net = globals()[name]()", "net = run(Wide, Net)", "net = run('Wide')"])
def test_a_class_that_code_may_look_up_is_a_model(tmp_path: Path, used: str) -> None:
    done = converted(put(tmp_path, model=MODEL, wide=OTHER, train=IMPORTS.replace("net = Net()", used)))
    assert any("wide" in found.path for found in done.diagnostics)


# --- What is written --------------------------------------------------------------------------------


def test_only_files_that_change_are_parts(tmp_path: Path) -> None:
    done = converted(put(tmp_path, train=TRAIN, model=MODEL, other="import model\n"))
    assert [os.path.basename(part.path) for part in done.parts] == ["model.py", "tower_helpers.py"]


def test_one_file_carries_its_helpers_itself(tmp_path: Path) -> None:
    flat = MODEL + TRAIN.replace("from model import Net\n", "").replace("import tensorflow as tf\n", "")
    done = converted(put(tmp_path, train=flat))
    assert done.parts == () and "def shard(" in (done.text or "")


def test_one_file_of_output_is_not_enough(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(tmp_path, train=TRAIN, model=MODEL)
    assert main(["convert", str(tmp_path / "train.py"), "-o", str(tmp_path / "out.py")]) == 2
    said = capsys.readouterr().err
    assert "TMG221 model.py must change with the script" in said and "--output-dir" in said
    assert sorted(tree(tmp_path)) == ["model.py", "train.py"]


CLASSES = """\
import tensorflow as tf


class Base(object):
    def __init__(self):
        self.ids = tf.placeholder(tf.int32, [None])
        self.y = tf.placeholder(tf.float32, [None, 1])
        self.emb = tf.nn.embedding_lookup(tf.get_variable('table', [50, 4]), self.ids)

    def finish(self, hidden):
        self.loss = tf.reduce_mean(tf.square(tf.layers.dense(hidden, 1) - self.y))
        self.train_op = tf.train.AdamOptimizer(0.1).minimize(self.loss)


class Plain(Base):
    def __init__(self):
        super(Plain, self).__init__()
        hidden = tf.layers.dense(self.emb, 3)
        self.finish(hidden)


class Deep(Base):
    def __init__(self):
        super(Deep, self).__init__()
        hidden = tf.layers.dense(tf.nn.relu(self.emb), 5)
        self.finish(hidden)
"""
CHOICE = """\
import sys
import tensorflow as tf
from model import Deep, Plain

batch_size = 8
net = Plain() if len(sys.argv) > 1 else Deep()
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(10):
        xs, ys = next_batch(batch_size)
        sess.run([net.train_op, net.loss], {net.ids: xs, net.y: ys})
"""


def test_the_other_file_is_the_reason_where_that_is_found_in_the_first_reading(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    done = converted(put(tmp_path, train=CHOICE, model=CLASSES))
    assert [os.path.basename(part.path) for part in done.parts] == ["model.py", "tower_helpers.py"]
    assert main(["convert", str(tmp_path / "train.py"), "-o", str(tmp_path / "out.py")]) == 2
    said = capsys.readouterr().err
    assert "TMG221 model.py must change with the script" in said and "TMG219" not in said


def test_the_diff_shows_every_file(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    put(tmp_path, train=TRAIN, model=MODEL)
    assert main(["convert", str(tmp_path / "train.py"), "--diff"]) == 1
    shown = [os.path.basename(line) for line in capfd.readouterr().out.splitlines() if line.startswith("+++ ")]
    assert shown == ["train.py", "model.py", "tower_helpers.py"]
    assert sorted(tree(tmp_path)) == ["model.py", "train.py"]


@pytest.mark.parametrize("has_helpers", [False, True])
def test_the_diff_applied_is_the_conversion(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes], has_helpers: bool
) -> None:
    put(tmp_path, train=TRAIN, model=MODEL)
    monkeypatch.chdir(tmp_path)
    if has_helpers:  # with others in it than this conversion needs
        assert main(["convert", "train.py", "--output-dir", "other", "--variables", "balanced"]) == 0
        os.replace("other/tower_helpers.py", "tower_helpers.py")
    assert main(["convert", "train.py", "--output-dir", "out", "--quiet"]) == 0
    capfdbinary.readouterr()
    assert main(["convert", "train.py", "--diff"]) == 1
    subprocess.run(["git", "apply"], input=capfdbinary.readouterr().out, check=True)
    for name in ("train.py", "model.py"):
        assert bare(Path(name).read_text()) == bare(Path("out", name).read_text())
    definitions = Path("out/tower_helpers.py").read_text().split("\n\n\n")[1:]
    assert all(definition in Path("tower_helpers.py").read_text() for definition in definitions)


def test_files_that_cannot_be_written_leave_all_as_it_was(tmp_path: Path) -> None:
    put(tmp_path, train=TRAIN, model=MODEL)
    (tmp_path / "out/train.py").mkdir(parents=True)  # in the way of the file that is written last
    assert main(["convert", str(tmp_path / "train.py"), "--output-dir", str(tmp_path / "out")]) == 2
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["train.py"]


def test_a_second_conversion_changes_nothing(tmp_path: Path) -> None:
    put(tmp_path, train=TRAIN, model=MODEL)
    assert main(["convert", str(tmp_path / "train.py"), "--in-place"]) == 0
    once = tree(tmp_path)
    assert main(["convert", str(tmp_path / "train.py"), "--in-place"]) == 0
    assert tree(tmp_path) == once


# --- Several scripts over one module ----------------------------------------------------------------


@pytest.mark.parametrize("in_place", [True, False])
def test_scripts_that_change_a_module_alike(tmp_path: Path, in_place: bool, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    put(folder, train=TRAIN, tune=TRAIN.replace("range(10)", "range(20)"), model=MODEL)
    target = folder if in_place else tmp_path / "out"
    assert main(["convert", str(folder), *(["--in-place"] if in_place else ["-o", str(target)])]) == 0
    texts = tree(target)
    assert sorted(texts) == ["model.py", "tower_helpers.py", "train.py", "tune.py"]
    assert all(b"# tf-multigpu" in text for text in texts.values())
    assert texts["model.py"].count(b"for gpu in range") == 1
    assert "TMG307" not in capsys.readouterr().err


WHOLE = MODEL + "        self.train_op = tf.train.AdamOptimizer().minimize(self.loss)\n"
PREDICT = """\
import tensorflow as tf
from model import Net

net = Net()
with tf.Session() as sess:
    tf.train.Saver().restore(sess, 'model.ckpt')
    print(sess.run(net.logits, {net.x: load_rows()}))
"""


@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.parametrize("in_place", [True, False])
def test_a_script_that_builds_the_training_step_and_does_not_take_it(tmp_path: Path, in_place: bool, jobs: str) -> None:
    folder = tmp_path / "project"
    train = TRAIN.replace("train_op = tf.train.AdamOptimizer().minimize(net.loss)\n", "")
    train = train.replace("train_op", "net.train_op")
    put(folder, apply=PREDICT, model=WHOLE, predict=PREDICT, train=train)
    target = folder if in_place else tmp_path / "out"
    options = ["--in-place"] if in_place else ["-o", str(target)]
    assert main(["convert", str(folder), "--jobs", jobs, *options]) == 0
    texts = tree(target)
    assert texts["apply.py"] == texts["predict.py"] == PREDICT.encode()
    assert b"batch_size = 16 * tower_helpers.num_gpus" in texts["train.py"] and b"for gpu in range" in texts["model.py"]


FED_STATE = """\
import tensorflow as tf
from model import Net

net = Net()
with tf.Session() as sess:
    tf.train.Saver().restore(sess, 'model.ckpt')
    state = sess.run(net.logits, {net.x: [[0.0] * 4]})
    print(sess.run(net.loss, {net.logits: state, net.y: [[0.0]]}))
"""


@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.parametrize("in_place", [True, False])
def test_a_script_that_does_not_train_is_not_refused_for_what_towers_could_not_do(
    tmp_path: Path, in_place: bool, jobs: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "project"
    train = TRAIN.replace("train_op = tf.train.AdamOptimizer().minimize(net.loss)\n", "")
    put(folder, apply=FED_STATE, model=WHOLE, sample=FED_STATE, train=train.replace("train_op", "net.train_op"))
    target = folder if in_place else tmp_path / "out"
    options = ["--in-place"] if in_place else ["-o", str(target)]
    assert main(["convert", str(folder), "--jobs", jobs, *options]) == 0
    assert "TMG2" not in capsys.readouterr().err
    texts = tree(target)
    assert texts["apply.py"] == texts["sample.py"] == FED_STATE.encode()
    assert b"for gpu in range" in texts["model.py"]


def test_a_refused_script_that_does_not_train_is_named_where_nothing_else_changes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put(tmp_path, model=WHOLE, sample=FED_STATE)
    assert main(["convert", str(tmp_path), "--in-place"]) == 2
    assert "TMG223" in capsys.readouterr().err


def test_a_refused_script_that_does_not_train_is_named_where_it_is_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    train = TRAIN.replace("train_op = tf.train.AdamOptimizer().minimize(net.loss)\n", "")
    paths = put(tmp_path, model=WHOLE, sample=FED_STATE, train=train.replace("train_op", "net.train_op"))
    assert paths is not None
    assert main(["convert", str(tmp_path / "sample.py"), "--in-place"]) == 2
    assert "TMG223" in capsys.readouterr().err


OWN_LOOP = (
    MODEL
    + """\
    def train(self, sess):
        train_op = tf.train.AdamOptimizer().minimize(self.loss)
        for step in range(10):
            x, y = next_batch(16)
            sess.run(train_op, {self.x: x, self.y: y})
"""
)


@pytest.mark.parametrize("names", [("One", "Two"), ("One", "Two", "Three"), ("One", "Two", "Three", "Four")])
def test_each_of_several_models_with_a_loop_of_its_own(tmp_path: Path, names: tuple[str, ...]) -> None:
    files = {name.lower(): "\n" * number + OWN_LOOP.replace("Net", name) for number, name in enumerate(names)}
    lines = ["import sys", "import tensorflow as tf", *(f"from {name.lower()} import {name}" for name in names)]
    for number, name in enumerate(names):
        lines += [f"{'elif' if number else 'if'} sys.argv[1] == '{name}':", f"    model = {name}()"]
    lines += ["else:", "    raise ValueError", "with tf.Session() as sess:", "    model.train(sess)", ""]
    done = converted(put(tmp_path, train="\n".join(lines), **files))
    texts = [part.text for part in done.parts if part.source is not None]
    assert len(texts) == len(names)
    assert all("tower_gradients(" in text and ".minimize(" not in text for text in texts)


def test_a_training_step_that_nothing_in_the_folder_takes(tmp_path: Path) -> None:
    put(tmp_path, model=WHOLE, predict=PREDICT)
    assert main(["convert", str(tmp_path), "--in-place"]) == 0
    assert b"for gpu in range" in tree(tmp_path)["model.py"]


def test_scripts_that_change_a_module_differently(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = MODEL.replace("def __init__(self):", "def __init__(self, batch_size=16):")
    tune = TRAIN.replace("Net()", "Net()\nfrom model import size").replace("batch_size = 16\n", "")
    put(tmp_path, train=TRAIN, tune=tune.replace("next_batch(batch_size)", "next_batch(size)"))
    put(tmp_path, model=model + "\n\nsize = 32\n")
    assert main(["convert", str(tmp_path), "--in-place"]) == 2
    assert "TMG008" in capsys.readouterr().err
    changed = [name for name, text in tree(tmp_path).items() if b"# tf-multigpu" in text]
    assert changed == ["model.py", "tower_helpers.py", "train.py"]


def test_a_script_that_is_left_behind(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(tmp_path, train=TRAIN, model=MODEL, evaluate="import model\n", tune="import numpy, model\nrun(train_op)\n")
    assert main(["convert", str(tmp_path / "train.py"), "--in-place"]) == 0
    said = capsys.readouterr().err
    assert f"{tmp_path / 'tune.py'}:1:1: TMG307" in said and "evaluate.py" not in said


def test_a_module_that_was_converted_with_another_script(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(tmp_path, train=TRAIN, model=MODEL)
    assert main(["convert", str(tmp_path / "train.py"), "--in-place"]) == 0
    put(tmp_path, tune=TRAIN)
    assert main(["convert", str(tmp_path / "tune.py"), "--in-place"]) == 2
    assert "TMG216 model.py was converted before" in capsys.readouterr().err


REEXPORTED = "from .model import Net\n"
PREDICTS = """\
import tensorflow as tf
from nets import Net

net = Net()
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print(sess.run(net.x, {net.x: [[0.0] * 8]}))
"""


def test_a_project_that_is_converted_in_place_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Scripts without a training step may import what was converted, also through another module."""
    for name, text in {"nets/__init__.py": REEXPORTED, "nets/model.py": MODEL, "predict.py": PREDICTS}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "train.py").write_text(TRAIN.replace("from model", "from nets"))
    assert main(["convert", str(tmp_path), "--in-place"]) == 0
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    capsys.readouterr()
    assert main(["convert", str(tmp_path), "--in-place"]) == 0
    assert (capsys.readouterr().err, {path: path.read_bytes() for path in before}) == ("", before)
    # A script that trains by what was converted with another one is no such script.
    (tmp_path / "tune.py").write_text(TRAIN.replace("from model", "from nets"))
    assert main(["convert", str(tmp_path), "--in-place"]) == 2
    said = capsys.readouterr().err
    assert said.count("TMG216") == 1 and "tune.py: refused" in said
    assert main(["convert", str(tmp_path / "predict.py"), "--in-place"]) == 2
    assert "predict.py: TMG201 no training step was found, and model.py was converted" in capsys.readouterr().err


def test_earlier_helpers_stay(tmp_path: Path) -> None:
    put(tmp_path, train=TRAIN, model=MODEL)
    put(tmp_path, other=TRAIN.replace("model", "wide"), wide=MODEL.replace("tf.layers.dense(self.x, 3)", "net(self.x)"))
    raw = "\n\ndef net(x):\n    return tf.matmul(x, tf.Variable(tf.zeros([8, 3])))\n"
    (tmp_path / "wide.py").write_text((tmp_path / "wide.py").read_text() + raw)
    for script in ("other.py", "train.py"):
        assert main(["convert", str(tmp_path / script), "--in-place"]) == 0
    helpers = (tmp_path / "tower_helpers.py").read_text()
    assert helpers.count("class SharedVariables(") == helpers.count("def shard(") == 1


@pytest.mark.parametrize("text", ["'''Somebody's own module.'''\n", "# tf-multigpu: helpers\nnum_gpus = 4\n"])
def test_a_name_that_is_taken(tmp_path: Path, text: str) -> None:
    done = converted(put(tmp_path, train=TRAIN, model=MODEL, tower_helpers=text))
    assert os.path.basename(done.parts[-1].path) == "tower_helpers_2.py"
    assert "import tower_helpers_2\n" in (done.text or "")


# --- Imports ----------------------------------------------------------------------------------------


def test_a_module_that_cannot_be_parsed_is_named(tmp_path: Path) -> None:
    train = TRAIN.replace("from model", "import plots\nfrom model")
    done = converted(put(tmp_path, train=train, model=MODEL, plots="print 'Python 2' 3\n"))
    assert [(d.code, d.line, d.severity) for d in done.diagnostics] == [("TMG013", 2, "warning")]
    assert "plots.py" in done.diagnostics[0].message


def test_modules_that_import_each_other(tmp_path: Path) -> None:
    done = converted(put(tmp_path, train=TRAIN, model="import loss\n" + MODEL, loss="import model\n"))
    assert done.status == "converted" and len(done.parts) == 2


@pytest.mark.parametrize(
    ("asked", "line"),
    [
        ("from model import Net\n", 1),
        ("import model\n", 0),
        ("from model import tf\n", 0),  # which is there already
        ("def late():\n    from model import Net\n", 0),
        ("from other import Net\n", 0),
    ],
)
def test_modules_that_cannot_import_each_other_are_named(tmp_path: Path, asked: str, line: int) -> None:
    model = MODEL.replace("\n\n\n", "\nimport loss\n\n\n", 1)
    done = converted(put(tmp_path, train=TRAIN, model=model, loss=asked))
    found = [(os.path.basename(d.path), d.line) for d in done.diagnostics if d.code == "TMG014"]
    assert found == ([("loss.py", line)] if line else [])


@pytest.mark.parametrize(
    ("init", "asked", "line"),
    [
        ("from lib.base import size\nfrom lib.net import logits\n", "from lib.net import logits", 0),
        ("from lib.base import size\nfrom .net import logits\n", "from lib import logits", 0),
        ("from lib.base import size\n", "import lib.net as net\nlogits = net.logits", 0),
        ("from lib.net import logits\nfrom lib.base import size\n", "from lib.net import logits", 1),
    ],
)
def test_a_package_is_imported_before_its_modules(tmp_path: Path, init: str, asked: str, line: int) -> None:
    """As Python does: a module finds what the package has imported before it."""
    (tmp_path / "lib").mkdir()
    net = "from lib import size\nimport tensorflow as tf\n\n\ndef logits(x):\n    return tf.layers.dense(x, size())\n"
    put(tmp_path / "lib", __init__=init, base="def size():\n    return 3\n", net=net)
    script = MODEL.replace("tf.layers.dense(self.x, 3)", "logits(self.x)") + TRAIN.partition("Net\n")[2]
    put(tmp_path, train=script.replace("import tensorflow as tf", f"import tensorflow as tf\n{asked}"))
    found = [(os.path.basename(d.path), d.line) for d in converted(tmp_path).diagnostics if d.code == "TMG014"]
    assert found == ([("net.py", line)] if line else [])


def test_a_module_of_the_script_is_no_script_that_is_left_behind(tmp_path: Path) -> None:
    loss = "import tensorflow\nimport model\n"
    assert converted(put(tmp_path, train=TRAIN, model="import loss\n" + MODEL, loss=loss)).diagnostics == ()


@pytest.mark.parametrize(
    ("lines", "called"),
    [
        ("import lib as L\nimport lib.ops.linear", "L.ops.linear"),
        ("import lib\nimport lib.ops.linear", "lib.ops.linear"),
        ("import lib.ops.linear\nfrom lib import ops as L", "L.linear"),
        ("import lib.ops.linear as linear", "linear"),
    ],
    ids=["another name", "its own name", "a part", "the module"],
)
def test_modules_are_attributes_of_their_package(tmp_path: Path, lines: str, called: str) -> None:
    (tmp_path / "lib/ops").mkdir(parents=True)
    put(tmp_path / "lib", __init__="def size():\n    return 3\n")
    put(
        tmp_path / "lib/ops",
        __init__="",
        linear="import lib\nimport tensorflow as tf\n\n\ndef linear(x):\n    return tf.layers.dense(x, lib.size())\n",
    )
    script = MODEL.replace("tf.layers.dense(self.x, 3)", f"{called}.linear(self.x)") + TRAIN.partition("Net\n")[2]
    put(tmp_path, train=script.replace("import tensorflow as tf", f"import tensorflow as tf\n{lines}"))
    done = converted(tmp_path)
    assert done.status == "converted", done.diagnostics


@pytest.mark.parametrize(
    "line", ["from nets import model", "from nets import loss, model", "import nets.model as model"]
)
def test_modules_of_a_folder_that_is_no_package_by_itself(tmp_path: Path, line: str) -> None:
    """Python 3 takes any folder for a package."""
    (tmp_path / "nets").mkdir()
    put(tmp_path / "nets", model=MODEL, loss="")
    put(tmp_path, train=TRAIN.replace("from model import Net", line).replace("Net()", "model.Net()"))
    done = converted(tmp_path)
    assert done.status == "converted", done.diagnostics
    assert [os.path.basename(part.path) for part in done.parts if part.source] == ["model.py"]


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("sys.path.append('nets')", True),
        ("sys.path.insert(0, './nets')", True),
        ("sys.path.append('..')", False),
        ("sys.path.append(folder())", False),
        ("sys.path.append(os.path.join(os.path.dirname(__file__), 'nets'))", True),
        ("here = os.path.dirname(os.path.abspath(__file__))\nsys.path.insert(0, os.path.join(here, 'nets'))", True),
        ("sys.path.append(os.path.join(os.getcwd(), 'nets'))", True),
        ("sys.path.append(os.path.join(os.environ['HOME'], 'nets'))", False),
        ("sys.path.extend([os.path.join(os.path.curdir, 'nets')])", True),
        ("root = os.path.dirname(os.path.abspath(__file__))\nsys.path.append(root + '/nets')", True),
        ("sys.path.append('%s/%s' % (os.path.dirname(__file__) or '.', 'nets'))", True),
        ("sys.path.append('%s/nets' % os.path.dirname(os.path.realpath(__file__)))", True),
        ("sys.path.append('{}/nets'.format(os.path.dirname(os.path.abspath(__file__))))", True),
        ("sys.path.append(f'{os.getcwd()}/nets')", True),
        ("sys.path.append(os.getcwd() + os.sep + 'nets/')", True),
        ("sys.path.insert(1, os.path.join(sys.path[0], 'nets'))", True),
        ("sys.path.append(os.environ['HOME'] + '/nets')", False),
        ("sys.path.append('%s/{}'.format('nets'))", False),
        ("sys.path.append('{}/%s' % 'nets')", False),
        ("sys.path += ['nets']", True),
        ("sys.path += [os.path.join(os.path.dirname(__file__), 'nets')]", True),
        ("sys.path += folders()", False),
        ("here = os.path.split(os.path.realpath(__file__))[0]\nsys.path.append(os.path.join(here, 'nets'))", True),
        ("sys.path.append(os.path.join(os.path.split(os.path.realpath(__file__))[1], 'nets'))", False),
        ("from pathlib import Path\nsys.path.append(str(Path(__file__).parent / 'nets'))", True),
        ("import pathlib\nsys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.joinpath('nets')))", True),
        ("from pathlib import Path\nsys.path.append((Path(__file__).absolute().parents[0] / 'nets').as_posix())", True),
        ("from pathlib import Path\nsys.path.append(os.fspath(Path.cwd() / 'nets'))", True),
        ("from pathlib import Path\nsys.path.append(str(Path('nets')))", True),
        ("from pathlib import Path\nsys.path.append(str(Path(__file__).resolve().parents[1] / 'nets'))", False),
        ("from pathlib import Path\nsys.path.append(str(Path(__file__).parent.with_name('nets')))", False),
        ("from pathlib import Path\nsys.path.append(str(Path.home() / 'nets'))", False),
        ("from pathlib import Path\nsys.path.append(str(Path(os.environ['HOME']) / 'nets'))", False),
        ("from pathlib import Path\nsys.path.append(str(Path(folder()) / 'nets'))", False),
        ("sys.path.append(os.path.join('nets', 'deeper', os.pardir))", True),
        ("sys.path.append(os.path.join('nets', os.pardir))", False),
        ("sys.path.append(os.path.join(os.path.dirname(os.path.abspath('nets/deeper')), os.curdir))", True),
        ("sys.path.append(os.path.dirname(os.path.abspath(os.path.join('nets', 'deeper', '..'))))", False),
    ],
)
def test_folders_that_the_script_adds_to_its_path(tmp_path: Path, line: str, found: bool) -> None:
    (tmp_path / "nets").mkdir()
    put(tmp_path / "nets", model=MODEL)
    put(tmp_path, train=TRAIN.replace("from model", f"import os, sys\n{line}\nfrom model"))
    assert (converted(tmp_path).status == "converted") == found


def test_the_folder_above_the_script(tmp_path: Path) -> None:
    (tmp_path / "scripts").mkdir()
    put(tmp_path, model=MODEL)
    put(tmp_path / "scripts", train=TRAIN.replace("from model", "import sys\nsys.path.append('..')\nfrom model"))
    done = converted(tmp_path, "scripts/train.py")
    assert done.status == "converted", done.diagnostics
    assert [os.path.basename(part.path) for part in done.parts if part.source] == ["model.py"]


@pytest.mark.parametrize(
    "line",
    [
        "os.path.join(os.path.dirname(__file__), '..', '..', '..')",
        "os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../..'))",
        "os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__)))))",
        "os.path.dirname(os.path.abspath(os.path.join(os.path.dirname(__file__), os.pardir, os.pardir)))",
        "os.path.join(os.path.dirname(os.path.dirname(os.getcwd())), '..')",
    ],
)
def test_folders_far_above_the_script(tmp_path: Path, line: str) -> None:
    for folder, known in (("a/b/c", True), ("a/b/c/d", False)):  # no further: what lies there is another project's
        where = tmp_path / folder
        where.mkdir(parents=True)
        here = line if known else f"os.path.join({line}, '..')"
        put(where, train=TRAIN.replace("from model", f"import os, sys\nsys.path.append({here})\nfrom model"))
        put(tmp_path, model=MODEL)
        assert (converted(tmp_path, f"{folder}/train.py").status == "converted") == known


@pytest.mark.parametrize(
    "style", ["parser.add_argument('--net', default='model')", "flags.DEFINE_string('net', 'model', '')"]
)
def test_a_module_that_a_flag_chooses(tmp_path: Path, style: str) -> None:
    how = "parser = argparse.ArgumentParser()\n" if "parser" in style else "flags = tf.app.flags\n"
    args = "args = parser.parse_args()\n" if "parser" in style else "args = flags.FLAGS\n"
    head = f"import argparse, importlib\n{how}{style}\n{args}net_module = importlib.import_module(args.net)\n"
    network = "import tensorflow as tf\n\n\ndef logits(x):\n    return tf.layers.dense(x, 3)\n"
    train = MODEL.replace("tf.layers.dense(self.x, 3)", "net_module.logits(self.x)") + TRAIN.partition("Net\n")[2]
    train = train.replace("import tensorflow as tf\n", "import tensorflow as tf\n" + head, 1)
    done = converted(put(tmp_path, train=train, model=network))
    assert (done.status, [d.code for d in done.diagnostics]) == ("converted", ["TMG331"])


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("'nets.' + args.net", "TMG331"),
        ("'nets.%s' % args.net", "TMG331"),
        ("'nets.{}'.format(args.net)", "TMG331"),
        ("f'nets.{args.net}'", "TMG331"),
        ("'.' + args.net, 'nets'", "TMG331"),
        ("'.%s' % args.net, package='nets'", "TMG331"),
        ("'..' + args.net, 'nets.deep'", "TMG331"),
        ("'.' + args.net, 'elsewhere'", "TMG241"),
        ("'.' + args.net, package()", "TMG241"),
        ("'nets.' + name()", "TMG241"),
        ("'nets.{0}'.format(args.net)", "TMG241"),
        ("args.net.lower()", "TMG241"),
    ],
)
def test_the_name_of_a_module_that_a_flag_is_a_part_of(tmp_path: Path, name: str, found: str) -> None:
    head = "import argparse, importlib\nparser = argparse.ArgumentParser()\n"
    head += "parser.add_argument('--net', default='model')\nargs = parser.parse_args()\n"
    head += f"net_module = importlib.import_module({name})\n"
    network = "import tensorflow as tf\n\n\ndef logits(x):\n    return tf.layers.dense(x, 3)\n"
    train = MODEL.replace("tf.layers.dense(self.x, 3)", "net_module.logits(self.x)") + TRAIN.partition("Net\n")[2]
    train = train.replace("import tensorflow as tf\n", "import tensorflow as tf\n" + head, 1)
    put(tmp_path / "nets", __init__="", model=network)
    done = converted(put(tmp_path, train=train))
    assert [d.code for d in done.diagnostics] == [found]


def test_a_script_that_belongs_to_a_package(tmp_path: Path) -> None:
    package = put(tmp_path / "package", __init__="", train=TRAIN.replace("from model", "from .model"), model=MODEL)
    done = converted(package)
    assert "from . import tower_helpers\n" in (done.text or "")
    assert "from .tower_helpers import " in done.parts[0].text


def test_a_module_with_its_own_name_for_tensorflow(tmp_path: Path) -> None:
    model = MODEL.replace("import tensorflow as tf", "import tensorflow").replace("tf.", "tensorflow.")
    part = converted(put(tmp_path, train=TRAIN, model=model)).parts[0]
    assert "with tensorflow.device(tower_device(gpu))" in part.text


def test_helpers_import_tensorflow_as_the_script_does(tmp_path: Path) -> None:
    train = TRAIN.replace("import tensorflow as tf", "import tensorflow.compat.v1 as tf")
    assert "\nimport tensorflow.compat.v1 as tf\n" in converted(put(tmp_path, train=train, model=MODEL)).parts[-1].text


def test_a_file_outside_of_the_output(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    package, scripts = tmp_path / "package", tmp_path / "package/scripts"
    put(package, model=MODEL, __init__="")
    put(scripts, train=TRAIN.replace("from model", "from ..model"), __init__="")
    assert main(["convert", str(scripts / "train.py"), "-o", str(package / "out") + "/"]) == 2
    assert "the output has no folder for what is found in" in capsys.readouterr().err
    assert not (package / "out").exists()
    assert main(["convert", str(scripts), "-v", "-o", str(package / "out") + "/"]) == 2
    assert "convert the folder that holds both" in capsys.readouterr().err
    assert main(["convert", str(scripts / "train.py"), "--output-dir", str(tmp_path / "out")]) == 0
    assert "from tower_helpers import" in (tmp_path / "out/package/model.py").read_text()


def test_a_script_that_does_not_name_tensorflow(tmp_path: Path) -> None:
    trainer = MODEL + "\n\ndef train():\n" + "".join(f"    {line}\n" for line in TRAIN.splitlines()[3:])
    put(tmp_path, train="import trainer\n\ntrainer.train()\n", trainer=trainer)
    assert main(["convert", str(tmp_path / "train.py"), "--in-place"]) == 0
    assert bare((tmp_path / "train.py").read_text()) == "\nimport trainer\n\ntrainer.train()\n"
    assert "for gpu in range(tower_helpers.num_gpus)" in (tmp_path / "trainer.py").read_text()


def test_a_step_in_the_way_names_the_statement_that_takes_it(tmp_path: Path) -> None:
    """The function that trains is called in another file, where the size of the images is taken before."""
    model = (
        "import tensorflow as tf\n\n\ndef model(images, size):\n"
        "    labels = tf.placeholder(tf.int64, [None])\n"
        "    logits = tf.reshape(tf.layers.dense(images, 3), tf.stack([size, 3]))\n"
        "    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)\n"
        "    return labels, tf.train.AdamOptimizer().minimize(loss)\n"
    )
    train = (
        "import tensorflow as tf\nfrom model import model\n\n"
        "images = tf.placeholder(tf.float32, [None, 8])\n"
        "size = tf.shape(images)[0]\n"
        "labels, train_op = model(images, size)\n"
        "with tf.Session() as sess:\n"
        "    for step in range(10):\n"
        "        x, y = next_batch(16)\n"
        "        sess.run(train_op, {images: x, labels: y})\n"
    )
    (finding,) = converted(put(tmp_path, train=train, model=model)).diagnostics
    assert (finding.code, finding.line) == ("TMG219", 6) and finding.path.endswith("train.py")
    size = "size = tf.shape(images)[0]\n"
    inside = model.replace("images, size", "images").replace("    labels =", f"    {size}    labels =")
    train = train.replace(size, "").replace("images, size", "images")
    assert converted(put(tmp_path, train=train, model=inside)).status == "converted"
