"""What users say of inputs, by options and by comments: it has its effect, or it is an error or reported."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.standins import Run, files, put
from tests.scripts import INPUTS, MODEL, STEP, TRAINING, codes, converted
from tests.scripts import run as convert

WEIGHTED = (
    INPUTS
    + "w = tf.placeholder(tf.float32, [4, 1])\n"
    + MODEL.replace("tf.layers.dense(X, 1)", "tf.matmul(X, w)").replace("- Y", "- Y + tf.get_variable('b', [1])")
    + STEP
    + TRAINING
)


@pytest.mark.parametrize("option", [("--shared", "z"), ("--batch-axis", "z=1")])
def test_a_name_that_no_input_has(tmp_path: Path, run: Run, option: tuple[str, str]) -> None:
    put(f"{tmp_path}/train.py", WEIGHTED.encode())
    done = run("convert", tmp_path / "train.py", "-o", tmp_path / "multi.py", *option)
    assert (done.code, files(tmp_path)) == (2, ["train.py"])
    assert f"TMG022 {option[0]}: no input is called z" in done.err and "the inputs are X, Y, w" in done.err


def test_the_nearest_name_is_named(tmp_path: Path, run: Run) -> None:
    put(f"{tmp_path}/train.py", WEIGHTED.replace("X", "images").encode())
    assert "images is meant?" in run("convert", tmp_path / "train.py", "--shared", "image").err


def test_one_of_several_scripts_has_to_have_the_name(tmp_path: Path, run: Run) -> None:
    put(f"{tmp_path}/src/a.py", WEIGHTED.encode())
    put(f"{tmp_path}/src/b.py", WEIGHTED.replace("w = ", "v = ").replace(", w)", ", v)").encode())
    done = run("convert", tmp_path / "src", "-o", tmp_path / "out", "--shared", "w", "-v")
    assert done.code == 0 and "b.py: TMG022" in done.err
    done = run("convert", tmp_path / "src", "-o", tmp_path / "new", "--shared", "z")
    assert done.code == 2 and "no input is called z, in no script" in done.err


def test_a_comment_says_what_the_option_says() -> None:
    marked = WEIGHTED.replace("[4, 1])\n", "[4, 1])  # tf-multigpu: shared\n")
    assert codes(marked) == []
    plain, said = converted(WEIGHTED, shared=("w",)), converted(marked)
    assert said.replace("  # tf-multigpu: shared", "").splitlines()[4:] == plain.splitlines()[4:]
    assert "--shared" not in said


@pytest.mark.parametrize(
    ("comment", "message"),
    [
        ("# tf-multigpu: shared", "stands beside no input"),
        ("# tf-multigpu: batch-axis=1", "stands beside no input"),
        ("# tf-multigpu: sharde", "has no meaning for tf-multigpu; shared is meant?"),
        ("# tf-multigpu: batch-axis", "has no meaning for tf-multigpu; batch-axis is meant?"),
        ("# tf-multigpu: ignore[]", "has no meaning for tf-multigpu"),
    ],
)
def test_a_comment_that_tells_nothing_is_reported(comment: str, message: str) -> None:
    done = convert(WEIGHTED.replace("batch_size = 32", f"batch_size = 32  {comment}"))
    (finding,) = done.diagnostics
    assert (finding.code, finding.severity, finding.line) == ("TMG027", "warning", 3)
    assert message in finding.message


@pytest.mark.parametrize("text", ["# see tf-multigpu: shared", "x = '# tf-multigpu: shared'", "# tf-multigpu shared"])
def test_what_is_no_comment_for_the_tool(text: str) -> None:
    assert codes(WEIGHTED.replace("batch_size = 32", f"batch_size = 32\n{text}")) == []


def test_comments_that_contradict_an_option_are_refused() -> None:
    marked = WEIGHTED.replace("[None, 4])\n", "[None, 4])  # tf-multigpu: batch-axis=1\n")
    assert codes(marked, shared=("X",)) == ["TMG027"]


SHAPED = """\
import tensorflow as tf

batch_size = 32
X = tf.placeholder(tf.float32, [4, None])
w = tf.placeholder(tf.float32, [])
loss = tf.reduce_mean(tf.square(tf.layers.dense(tf.transpose(X), 1))) * w
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    for step in range(100):
        sess.run(train_op, {X: next_batch(batch_size), w: 0.1})
"""


@pytest.mark.parametrize(
    ("options", "comment", "message"),
    [
        ({"batch_axes": (("X", 2),)}, "", "X has no axis 2, which batch-axis names: its shape is of rank 2"),
        ({"batch_axes": (("X", 5),), "of_project": ("X",)}, "", "X has no axis 5"),
        ({}, "  # tf-multigpu: batch-axis=2", "X has no axis 2"),
        ({"batch_axes": (("w", 0),)}, "", "w has no axis 0, which batch-axis names: its shape is of rank 0"),
    ],
)
def test_an_axis_that_an_input_does_not_have(options: dict[str, object], comment: str, message: str) -> None:
    script = SHAPED.replace("None])\n", f"None]){comment}\n")
    (found,) = convert(script, **options).diagnostics
    line = {"X": 4, "w": 5}[message[0]]
    assert (found.code, found.severity, found.line, found.column) == ("TMG037", "error", line, 5)
    assert found.message.startswith(message)
    assert ("overrides" in found.hint) == ("of_project" in options)


@pytest.mark.parametrize("shape", ["[4, None]", "None", "shape"])
def test_an_axis_that_an_input_has_or_may_have(shape: str) -> None:
    script = SHAPED.replace("[4, None]", shape)
    assert "--batch-axis X=1" in converted(script, batch_axes=(("X", 1),))


@pytest.mark.parametrize("words", [("--shared", "X", "--batch-axis", "X=1"), ("--batch-axis", "X=1", "--shared", "X")])
def test_one_command_line_that_says_both_of_an_input(tmp_path: Path, run: Run, words: tuple[str, ...]) -> None:
    put(f"{tmp_path}/train.py", WEIGHTED.encode())
    done = run("convert", tmp_path / "train.py", "-o", tmp_path / "multi.py", *words)
    assert (done.code, files(tmp_path)) == (2, ["train.py"])
    assert "--shared and --batch-axis contradict each other about X" in done.err


def test_one_command_line_that_says_different_things_of_two_inputs(tmp_path: Path, run: Run) -> None:
    put(f"{tmp_path}/train.py", WEIGHTED.encode())
    words = ("--shared", "w", "--batch-axis", "X=0")
    assert run("convert", tmp_path / "train.py", "-o", tmp_path / "multi.py", *words).code == 0


def test_a_script_that_is_not_to_be_converted(tmp_path: Path, run: Run) -> None:
    put(f"{tmp_path}/src/train.py", b"# tf-multigpu: skip-file\n" + WEIGHTED.encode())
    done = run("convert", tmp_path / "src/train.py", "-o", tmp_path / "multi.py")
    assert done.code == 2 and "TMG032 the script is not to be converted" in done.err
    assert run("convert", tmp_path / "src", "-o", tmp_path / "out").code == 0
    assert (tmp_path / "out/train.py").read_bytes() == (tmp_path / "src/train.py").read_bytes()


def test_a_warning_is_ignored_where_its_line_says_so(tmp_path: Path, run: Run) -> None:
    script = Path("fixtures/crf/single.py").resolve().read_text().splitlines(keepends=True)
    put(f"{tmp_path}/train.py", "".join(script).encode())
    warned = run("convert", tmp_path / "train.py", "-o", tmp_path / "multi.py")
    assert "train.py:59:9: TMG315" in warned.err
    script[58] = script[58].rstrip("\n") + "  # tf-multigpu: ignore[TMG315, TMG301]\n"
    put(f"{tmp_path}/train.py", "".join(script).encode())
    done = run("convert", tmp_path / "train.py", "-o", tmp_path / "multi.py")
    assert done.code == 0 and "TMG315" not in done.err
    assert "TMG027 ignore[TMG301] suppresses no warning of this line" in done.err
