"""The lines that compute the loss in the original's graph are those that the plan puts into the towers."""

from __future__ import annotations

import textwrap
from dataclasses import replace
from pathlib import Path

import pytest

from converter.conversion import convert
from converter.options import Options
from converter.source import from_bytes, read
from converter.verify import CheckResult, Report, VerifySettings, verify
from converter.verify import run as verify_run
from converter.verify.checks.lines import (
    AFTER,
    BEFORE,
    GRADIENT,
    TOWER,
    LineSpan,
    PlannedLines,
    Role,
    check_lines,
    planned_lines,
    spans_of,
)
from converter.verify.origin import Repeated, repeat
from tests.goldens import FIXTURES

VERSIONS = [pytest.param("2", marks=pytest.mark.tf2), pytest.param("1.15", marks=pytest.mark.tf1)]

TRAIN = """
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(4):
        sess.run(train_op, {x: np.random.rand(batch_size, 3), y: np.random.rand(batch_size, 1)})
"""
HEAD = """\
import numpy as np
import tensorflow as tf

batch_size = 6
"""
INPUTS = """\
x = tf.placeholder(tf.float32, [None, 3])
y = tf.placeholder(tf.float32, [None, 1])
"""
STEP = """\
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
"""
PLAIN = (
    HEAD
    + INPUTS
    + """\
w = tf.get_variable('w', [3, 1])
hidden = tf.matmul(
    x,
    w)
b = tf.get_variable('b', [1])
error = (hidden + b
         - y)
loss = tf.reduce_mean(tf.square(error))
"""
    + STEP
    + TRAIN
)

FORMS = {
    "statements of several lines": PLAIN,
    "a loss inside the call of minimize": HEAD
    + INPUTS
    + """\
w = tf.get_variable('w', [3, 1])
hidden = tf.matmul(x, w)
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(
    tf.reduce_mean(tf.square(hidden - y)))
"""
    + TRAIN,
    "functions, one of them inside of another": HEAD
    + """\
def layer(x, name):
    return tf.layers.dense(x, 4, tf.nn.relu, name=name)

def main():
    x = tf.placeholder(tf.float32, [None, 3])
    y = tf.placeholder(tf.float32, [None, 1])

    def model(x):
        hidden = layer(x, 'one')
        return tf.layers.dense(hidden, 1, name='two')

    out = model(x)
    loss = tf.reduce_mean(tf.square(out - y)) + 0.1 * tf.add_n([tf.nn.l2_loss(v) for v in tf.trainable_variables()])
    train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
"""
    + textwrap.indent(TRAIN, "    ")
    + "\nmain()\n",
    "methods": HEAD
    + """\
class Model(object):
    def __init__(self):
        self.x = tf.placeholder(tf.float32, [None, 3])
        self.y = tf.placeholder(tf.float32, [None, 1])
        self.build()
        self.train_op = tf.train.GradientDescentOptimizer(0.1).minimize(self.loss)

    def build(self):
        hidden = tf.layers.dense(self.x, 4)
        self.out = tf.layers.dense(hidden, 1)
        self.loss = tf.reduce_mean(tf.square(self.out - self.y))

model = Model()
x, y, train_op = model.x, model.y, model.train_op
"""
    + TRAIN,
    "placeholders in the with block of the model": HEAD
    + """\
with tf.name_scope('all'):
    x = tf.placeholder(tf.float32, [None, 3])
    y = tf.placeholder(tf.float32, [None, 1])
    hidden = tf.layers.dense(x, 4)
    loss = tf.reduce_mean(tf.square(tf.reduce_sum(hidden, 1, keepdims=True) - y))
    train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
"""
    + TRAIN,
    "metrics between model and loss": HEAD
    + INPUTS
    + """\
out = tf.layers.dense(x, 1)
worst = tf.reduce_max(tf.abs(out - y))
drop = tf.nn.dropout(out, 0.9)
loss = tf.reduce_mean(tf.square(drop - y))
"""
    + STEP
    + TRAIN,
    "characters of several bytes": PLAIN.replace("w = tf", "'\N{GREEK SMALL LETTER OMEGA}'; w = tf", 1),
}


def verified(folder: Path, script: str, python: str) -> tuple[Report, CheckResult]:
    single, multi = folder / "single.py", folder / "multi.py"
    single.write_text(script, encoding="utf-8")
    conversion = convert(from_bytes(str(single), script.encode()), Options())
    assert conversion.text is not None, conversion.diagnostics
    multi.write_text(conversion.text, encoding="utf-8")
    report = verify(single, multi, VerifySettings(python=python, steps=1))
    (check,) = [check for check in report.checks if check.name == "traced lines"]
    return report, check


@pytest.mark.one_in(10)
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("script", FORMS.values(), ids=FORMS)
def test_no_false_alarm(tensorflow_python: str, version: str, tmp_path: Path, script: str) -> None:
    report, check = verified(tmp_path, script, tensorflow_python)
    assert (report.verdict, check.status) == ("passed", "passed"), report
    assert not [note for note in report.notes if "traced lines" in note]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("line", "role", "words"),
    [
        (8, BEFORE, "line 8, before the towers, makes MatMul"),
        (12, AFTER, "after the towers, makes sub"),
        (14, AFTER, "line 14, after the towers, makes "),
        (14, None, "line 14, outside of the towers, makes "),
    ],
)
def test_a_broken_plan_fails(
    tensorflow_python: str,
    version: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    line: int,
    role: str | None,
    words: str,
) -> None:
    def broken(repeated: Repeated | None) -> PlannedLines:
        right = planned_lines(repeated)
        (span,) = [span for span in right.spans if span.first == line and span.role == TOWER]
        others = [other for other in right.spans if other != span]
        moved = [] if role is None else [replace(span, role=role)]
        return replace(right, spans=(*others, *moved))

    monkeypatch.setattr(verify_run, "planned_lines", broken)
    report, check = verified(tmp_path, PLAIN, tensorflow_python)
    assert (report.verdict, check.status) == ("failed", "failed")
    assert words in check.detail
    assert [one.name for one in report.checks if one.status == "failed"] == ["traced lines"]


def test_what_is_not_the_conversion_is_not_compared(tmp_path: Path) -> None:
    single, multi = tmp_path / "single.py", tmp_path / "multi.py"
    single.write_text(PLAIN)
    text = convert(from_bytes("single.py", PLAIN.encode()), Options()).text
    assert text is not None
    for content, words in (
        (text.replace("0.1", "0.2"), "not what its header's conversion gives"),
        (text.replace("sha256", "sha1"), "no header that can be read"),
        (PLAIN, "no header that can be read"),
    ):
        multi.write_text(content)
        assert words in planned_lines(repeat(single, multi, {})).missing
    multi.write_text(text)
    assert planned_lines(repeat(single, multi, {})).missing == ""


def at(first: int, last: int, role: Role) -> LineSpan:
    return LineSpan("s.py", first, last, role)


def test_spans_cover_whole_statements() -> None:
    plan = convert(from_bytes("single.py", PLAIN.encode()), Options()).plan
    assert plan is not None
    assert set(spans_of("s.py", PLAIN, plan)) == {
        at(8, 10, TOWER),
        at(11, 11, BEFORE),
        at(12, 13, TOWER),
        at(14, 14, TOWER),
        at(15, 15, GRADIENT),
    }


def test_a_step_over_several_lines_is_one_statement() -> None:
    """A frame names the line on which a call begins, whichever argument of it is edited."""
    step = "train_op = tf.contrib.training.create_train_op(\n    loss,\n    tf.train.AdamOptimizer(0.1))\n"
    text = PLAIN.replace(STEP, step)
    plan = convert(from_bytes("s.py", text.encode()), Options()).plan
    assert plan is not None
    assert at(15, 17, GRADIENT) in spans_of("s.py", text, plan)


DEFAULT = PLAIN.replace(
    "y = tf.placeholder(tf.float32, [None, 1])",
    "y = tf.placeholder_with_default(tf.ones([tf.shape(x)[0], 1]), [None, 1])",
)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("version", VERSIONS)
def test_a_default_that_is_made_of_another_input_is_no_line_of_the_model(
    tmp_path: Path, tensorflow_python: str, version: str
) -> None:
    conversion = convert(from_bytes("s.py", DEFAULT.encode()), Options())
    assert conversion.text is not None
    single, multi = tmp_path / "s.py", tmp_path / "multi.py"
    single.write_text(DEFAULT)
    multi.write_text(conversion.text)
    report = verify(single, multi, VerifySettings(gpus=2, python=tensorflow_python))
    (found,) = [check for check in report.checks if check.name == "traced lines"]
    assert (found.status, found.detail[:12]) == ("passed", "3 statements")


SIZED = """\
import numpy as np
import tensorflow as tf
size = 8
x = tf.placeholder(tf.float32, [None, 4])
loss = tf.reduce_mean(tf.square(tf.layers.dense(x, 1)))
step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
half = tf.reduce_sum(x) / 8
mean = tf.reduce_sum(
    0.5 * x) / size
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(9):
        print(sess.run([step, half, mean], {x: np.random.rand(size, 4)}))
"""


def test_statements_that_read_a_size_of_batches(tmp_path: Path) -> None:
    """With the numbers that are written in them: these are no sizes."""
    (tmp_path / "single.py").write_text(SIZED)
    converted = convert(read(str(tmp_path / "single.py")), Options()).text
    assert converted is not None
    (tmp_path / "multi.py").write_text(converted)
    sizes = planned_lines(repeat(tmp_path / "single.py", tmp_path / "multi.py", {})).sizes
    assert {size for size in sizes if size[1] in range(6, 10)} == {("single.py", 8, 9, (0.5,))}


PLANNED = PlannedLines("s.py", (at(5, 9, TOWER), at(7, 7, AFTER), at(10, 10, BEFORE), at(12, 12, GRADIENT)))


@pytest.mark.parametrize(
    ("stacks", "status", "words"),
    [
        ([("traced", 5)], "passed", "1 statements"),
        ([("traced", 12)], "passed", ""),  # a loss inside minimize
        ([("traced", 30, 6, 40)], "passed", ""),  # main(), the model, a function that it calls
        ([("traced", 6, 10)], "passed", ""),  # what a tower statement calls is in the tower, wherever it is written
        ([("traced", 7)], "failed", "line 7, after the towers"),  # a statement that the with block leaves out
        ([("traced", 10)], "failed", "line 10, before the towers"),
        ([("traced", 30, 20)], "failed", "line 20, outside of the towers"),
        ([("needed", 10), ("other", 20)], "passed", ""),
        ([], "skipped", "no input with a batch axis"),
    ],
)
def test_where_a_stack_belongs(stacks: list[tuple[object, ...]], status: str, words: str) -> None:
    found = [{"rank": rank, "lines": [["s.py", line] for line in lines], "operation": "op"} for rank, *lines in stacks]
    check, _ = check_lines(PLANNED, found)
    assert check.status == status
    assert words in check.detail


def test_lines_of_other_files_are_named_with_their_file() -> None:
    planned = PlannedLines("s.py", (at(5, 9, TOWER), LineSpan("net/model.py", 3, 4, BEFORE)))
    stacks = [
        {"rank": "traced", "lines": [["s.py", 20], ["net/model.py", 4]], "operation": "net/op"},
        {"rank": "traced", "lines": [["s.py", 20], ["other.py", 7]], "operation": "other/op"},
        {"rank": "traced", "lines": [["s.py", 6], ["net/model.py", 4]], "operation": "op"},
    ]
    check, _ = check_lines(planned, stacks)
    assert check.status == "failed"
    assert check.detail == (
        "the loss needs what these lines compute from a batch, but no tower does: "
        "net/model.py line 3, before the towers, makes net/op; other.py line 7, outside of the towers, makes other/op"
    )


def test_statements_of_the_towers_that_need_not_be_there_are_noted() -> None:
    planned = PlannedLines("s.py", tuple(at(line, line, TOWER) for line in (1, 2, 3, 4)))
    stacks = [
        {"rank": rank, "lines": [["s.py", line]], "operation": "op"}
        for line, rank in ((1, "needed"), (1, "traced"), (1, "other"), (2, "other"), (2, "needed"), (3, "other"))
    ]
    check, notes = check_lines(planned, stacks)
    assert check.status == "passed"
    assert notes == (
        "traced lines: statements of the towers that make no operation: line 4",
        "traced lines: statements of the towers that do not depend on a batch: line 2",
        "traced lines: statements of the towers that make only operations that the loss does not need: line 3",
    )


def test_an_edited_conversion_keeps_what_it_was_warned_of(tmp_path: Path) -> None:
    """A changed line takes the check of lines away, but neither the differences by design nor what the towers give."""
    (tmp_path / "single.py").write_bytes((FIXTURES / "recurrent" / "single.py").read_bytes())
    text = (FIXTURES / "recurrent" / "multi.py").read_text()
    assert "range(num_gpus)" in text
    (tmp_path / "multi.py").write_text(text.replace("range(num_gpus)", "range(int(num_gpus))"))
    found = planned_lines(repeat(tmp_path / "single.py", tmp_path / "multi.py", {}))
    assert found.missing and found.towers and "TMG345" in found.said
    assert check_lines(found, [])[0].status == "skipped"
    (tmp_path / "single.py").write_bytes((tmp_path / "single.py").read_bytes() + b"\n")
    found = planned_lines(repeat(tmp_path / "single.py", tmp_path / "multi.py", {}))
    assert not found.said and not found.towers
