"""Python 2 is converted to Python 2: what does not change stays byte for byte, and Python 2.7 proves the result."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from converter.cli.app import main
from converter.conversion import Conversion, convert
from converter.options import Options
from converter.source import encode, from_bytes, read
from converter.verify import VerifySettings, verify
from tests import goldens
from tests.scripts import as_written_by

FIXTURES = goldens.FIXTURES / "python2"
SCRIPT = FIXTURES / "script"
PACKAGE = FIXTURES / "package"
PAIRS = {
    "script": (SCRIPT / "single.py", SCRIPT / "multi.py"),
    "package": (PACKAGE / "single/train.py", PACKAGE / "multi/train.py"),
}
PYTHON_2 = [pytest.mark.tf1(version="1.12")]


def test_the_golden_is_the_conversion() -> None:
    source = read(str(SCRIPT / "single.py"))
    done = convert(source, Options())
    assert done.text is not None and done.diagnostics == ()
    assert encode(source, done.text) == as_written_by("single.py", SCRIPT / "multi.py"), "run `make goldens`"


def test_the_golden_of_the_package(tmp_path: Path) -> None:
    shutil.copy(FIXTURES.parent / "pyproject.toml", tmp_path)
    shutil.copytree(PACKAGE / "single", tmp_path / "single")
    assert main(["convert", str(tmp_path / "single/train.py"), "--output-dir", str(tmp_path / "multi")]) == 0
    made, golden = (
        {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*.py")}
        for folder in (tmp_path / "multi", PACKAGE / "multi")
    )
    assert made == golden, "run `make goldens`"


@pytest.mark.parametrize("name", PAIRS)
def test_a_converted_script_is_not_converted_again(name: str) -> None:
    source = read(str(PAIRS[name][1]))
    done = convert(source, Options())
    assert (done.status, [found.code for found in done.diagnostics]) == ("unchanged", ["TMG009"])


@pytest.mark.parametrize("pair", PAIRS.values(), ids=list(PAIRS))
def test_lines_that_only_move_are_those_of_the_original(pair: tuple[Path, Path]) -> None:
    before, after = (path.read_bytes().split(b"\n") for path in pair)
    kept = [line.strip() for line in before if b"Momentum" not in line and b"Session" not in line]
    kept = [line for line in kept if b"BATCH_SIZE = " not in line and b"batch_size = " not in line]
    assert not set(kept) - {line.strip() for line in after}


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize(
    "marks", [pytest.param(2, marks=PYTHON_2), pytest.param(3, marks=[*PYTHON_2, pytest.mark.matrix])]
)
def test_proof(name: str, marks: int, tensorflow_python: str) -> None:
    report = verify(*PAIRS[name], VerifySettings(python=tensorflow_python, gpus=marks))
    assert report.verdict == "passed", report


TRAIN = """\
import tensorflow as tf
batch_size = 32
x = tf.placeholder(tf.float32, [None, 4])
y = tf.placeholder(tf.float32, [None, 1])
{model}
loss = tf.reduce_mean(tf.square(out - y))
train_op = tf.train.AdamOptimizer().minimize(loss)
sess = tf.Session()
for step in range(100):
    {run}
"""
MODEL = "out = tf.layers.dense(x, 1)"
RUN = "a, b = data.next_batch(batch_size); sess.run(train_op, {x: a, y: b})"
# the model, the run, and what must stand in the converted text
CASES = {
    "print of a changed value": (
        MODEL,
        "a, b = data.next_batch(32)\n    print sess.run(train_op, {x: a, y: b}),",
        None,
    ),
    "a changed call in a print": (
        MODEL,
        "for i in range(len(u) // 9):\n"
        "        print >>log, 2L, sess.run(train_op, {x: u[i * 9:i * 9 + 9], y: v[i * 9:i * 9 + 9]}), `step`",
        "print >>log, 2L, sess.run(train_op, {x: u[i * global_batch_size:i * global_batch_size + ",
    ),
    "a long batch size": (MODEL, RUN.replace("batch_size", "32L"), "data.next_batch(32 * num_gpus)"),
    "an octal batch size": (MODEL, RUN.replace("batch_size", "040"), None),
    "a print among the towers": (
        "h = tf.layers.dense(x, 8)\nprint 'h', h,\nout = tf.layers.dense(h, 1)",
        RUN,
        "print 'h', h,",
    ),
    "a print on lines": (
        "h = tf.layers.dense(x, 8)\nprint 'h', \\\n    (h,\n  1), # why\nout = tf.layers.dense(h, 1)",
        RUN,
        "print 'h', \\\n    (h,\n  1), # why",
    ),
    "an error": (
        "try:\n    n = 1 / 2\nexcept (A, B), e:\n    raise C, e\n" + MODEL,
        RUN,
        "except (A, B), e:\n    raise C, e",
    ),
    "a tuple": (
        "def net(inputs, (width, rate)):\n    return tf.layers.dense(inputs, width)\nout = net(x, (1, 2))",
        RUN,
        "def net(inputs, (width, rate)):\n    return tf.layers.dense(inputs, width)\n",
    ),
    "a lambda": (
        "f = lambda (v, w): tf.layers.dense(v, w)\nout = f((x, 1))",
        RUN,
        "f = lambda (v, w): tf.layers.dense(v, w)",
    ),
    "exec": (MODEL, "exec 'a = 1' in {}, {}; " + RUN, "exec 'a = 1' in {}, {}; "),
    "tabs and blanks": (
        "def net(v):\n\th = tf.layers.dense(v, 8)\n        return tf.layers.dense(h, 1)\nout = net(x)",
        RUN,
        "def net(v):\n\th = tf.layers.dense(v, 8)\n        return tf.layers.dense(h, 1)\n",
    ),
    "line ends": (MODEL, "print step\r\n    " + RUN, "print step\r\n"),
}


def _converted(model: str, run: str, folder: Path) -> Conversion:
    text = TRAIN.replace("{model}", model).replace("{run}", run)
    text = text.replace("\r\n", "\n").replace("\n", "\r\n") if "\r\n" in text else text
    return convert(from_bytes(str(folder / "train.py"), text.encode()), Options())


@pytest.mark.parametrize("name", CASES)
def test_constructs_in_lines_that_change(name: str, tmp_path: Path) -> None:
    model, run, wanted = CASES[name]
    done = _converted(model, run, tmp_path)
    assert done.text is not None, done.diagnostics
    assert "\f" not in done.text + repr(done.diagnostics) + repr(done.decisions)
    if wanted is not None:
        assert wanted in done.text


@pytest.mark.tf1(version="1.12")
def test_python_2_compiles_what_is_written(tensorflow_python: str, tmp_path: Path) -> None:
    texts = [_converted(model, run, tmp_path).text for model, run, _ in CASES.values()]
    program = "import sys\nfor text in eval(sys.stdin.read()): compile(text.replace('\\r', ''), text, 'exec')\n"
    command = [tensorflow_python, "-c", program]
    done = subprocess.run(command, input=repr(texts), capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr


def test_places_and_quotes_are_those_of_the_file(tmp_path: Path) -> None:
    """A finding behind print and long numbers on its line."""
    done = _converted("print 10L, 0777; out = tf.py_func(f, [x, 10L], tf.float32)", RUN, tmp_path)
    (found,) = (found for found in done.diagnostics if found.line == 5)
    assert found.text[found.column - 1 :].startswith(("tf.py_func", "out"))
    assert "\f" not in found.message + found.hint + found.text


@pytest.mark.parametrize(
    ("script", "module", "codes"),
    [
        ("print 'a'\n", "x = 1\n", []),
        ("print('a')\n", "print 'x'\n", []),
        ("print 'a'\n", "print 'x'\n", []),
        ("print 'a'\n", "print 'x'\nf''\n", ["TMG013"]),  # neither Python reads the module
    ],
)
def test_projects_of_both_kinds(tmp_path: Path, script: str, module: str, codes: list[str]) -> None:
    (tmp_path / "data.py").write_text("class Data(object):\n    pass\n" + module)
    text = script + "import data\n" + TRAIN.replace("{model}", MODEL).replace("{run}", RUN)
    (tmp_path / "train.py").write_text(text)
    done = convert(read(str(tmp_path / "train.py")), Options(), several=True)
    assert [found.code for found in done.diagnostics] == codes
    assert done.status == "converted"


def test_the_command_keeps_bytes_that_are_not_utf_8(tmp_path: Path) -> None:
    text = "# -*- coding: latin-1 -*-\nprint 'Gr\xf6\xdfe'\n" + TRAIN.replace("{model}", MODEL).replace("{run}", RUN)
    script = tmp_path / "train.py"
    script.write_bytes(text.encode("latin-1"))
    assert main(["convert", str(script), "--in-place"]) == 0
    assert b"print 'Gr\xf6\xdfe'\n" in script.read_bytes()
    assert main(["convert", "--check", str(script)]) == 0


def test_what_proves_it_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pair = [str(path) for path in PAIRS["script"]]
    assert main(["verify", *pair]) != 0
    assert "single.py is Python 2: name an interpreter for it" in capsys.readouterr().err
    assert main(["convert", pair[0], "-o", str(tmp_path / "multi.py")]) == 0
    assert "language:      Python 2; `verify` needs an interpreter" in capsys.readouterr().err
