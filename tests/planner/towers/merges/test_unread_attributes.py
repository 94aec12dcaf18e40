"""Attributes that the towers set: those that nothing reads get no concat, and are deleted."""

from __future__ import annotations

from pathlib import Path

import pytest

from converter.conversion import convert
from converter.options import Options
from converter.source import read
from tests.scripts import INPUTS, TRAINING, body, codes, converted, loops, parts

NET = """\
class Net(object):
    def __init__(self, x, y):
        self.hidden = tf.layers.dense(x, 3)
        self.output = tf.layers.dense(self.hidden, 1)
        self.loss = tf.reduce_mean(tf.square(self.output - y))


net = Net(X, Y)
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(net.loss)
"""
DELETED = "        # each tower has its own, and nothing reads them\n        del self.hidden, self.output\n"
SPARED = "        # each tower has its own, and nothing reads it\n        del self.output\n"
MERGED = "self.hidden = tf.concat(tower_hidden, 0)"


def script(change: tuple[str, str] = ("", ""), more: str = "") -> str:
    assert change[0] in NET
    return INPUTS + NET.replace(*change, 1) + more + TRAINING


def test_what_nothing_reads_is_deleted() -> None:
    _, inside, after = parts(script())
    assert inside[-3:] == [
        "self.output = tf.layers.dense(self.hidden, 1)",
        "self.loss = tf.reduce_mean(tf.square(self.output - y))",
        "tower_loss.append(self.loss * weight)",
    ]
    assert after[1:4] == ["self.loss = merge_loss(tower_loss)", *(line.strip() for line in DELETED.splitlines())]


METHOD = "        self.loss ="
UNSEEN = """\


def show(model):
    return model.hidden
"""
CONDITION = (
    "        self.hidden =",
    "        if len(str(x)) > 40:\n            self.hidden = tf.layers.dense(x, 3)\n        self.hidden =",
)


@pytest.mark.parametrize(
    ("change", "more"),
    [
        (("", ""), "print(net.hidden)\n"),
        (("", ""), UNSEEN),
        (("", ""), "def show(model, name='hidden'):\n    return read(model, name)\n"),
        (("        self.loss", "        self.loss = 0.\n        self.hidden_too = 'hidden'\n        self.loss"), ""),
    ],
    ids=["read after the loop", "in a function that is not called", "by a string", "a string in the class"],
)
def test_what_the_project_reads_by_its_name_is_merged(change: tuple[str, str], more: str) -> None:
    text = converted(script(change, more))
    assert MERGED in text and SPARED in text


@pytest.mark.parametrize(
    ("change", "more"),
    [
        (("", ""), "def show(model, name):\n    return getattr(model, name)\n"),
        (("", ""), "def show(model):\n    return vars(model)\n"),
        (("", ""), "def show(model):\n    return model.__dict__\n"),
        (("", ""), "import board\nboard.watch(net)\n"),
        (("", ""), "import board\nboard.watch(models=[net])\n"),
        (("class Net(object)", "import board\n\n\nclass Net(board.Model)"), ""),
        (("class Net(object):", "class Net(object):\n    def __getattr__(self, name):\n        return None\n"), ""),
        (("tf.layers.dense(x, 3)", "tf.tanh(x, name='hidden_rows')"), ""),
    ],
    ids=["getattr", "vars", "__dict__", "handed on", "in a list", "class of a library", "__getattr__", "named"],
)
def test_what_code_that_is_not_seen_may_read_is_merged(change: tuple[str, str], more: str) -> None:
    text = converted(script(change, more))
    merged = "tf.concat(tower_hidden, 0)"
    named = f"tf.identity({merged}, name='hidden_rows')"
    assert f"self.hidden = {named if 'hidden_rows' in change[1] else merged}\n" in text
    assert {place for loop in loops(script(change, more)) for place in loop.dropped} <= {"self.output"}


AROUND_HIDDEN = "        self.hidden = tf.layers.dense(x, 3)\n"


def test_what_keeps_the_whole_batch_where_a_branch_is_not_taken_is_refused() -> None:
    """Without the branch, `self.hidden` is `x` as it was before the towers: 1.15 runs it into incompatible shapes."""
    nested = "        if sized():\n            self.hidden = x = tf.layers.dense(x, 3)\n"
    assert codes(script((AROUND_HIDDEN, "        self.hidden = x\n" + nested))) == ["TMG290"]


@pytest.mark.parametrize("around", ["for size in sizes():", "try:"])
def test_what_may_not_be_set_is_not_deleted(around: str) -> None:
    also = "        except ValueError:\n            pass\n" if around == "try:" else ""
    nested = f"        {around}\n            self.hidden = x = tf.layers.dense(x, 3)\n{also}"
    found = loops(script((AROUND_HIDDEN, "        self.hidden = x\n" + nested)))
    assert [loop.dropped for loop in found] == [("self.output",)]


def test_flags_that_are_printed_by_vars_read_no_attribute_of_the_model() -> None:
    flags = "import argparse\nparser = argparse.ArgumentParser()\nargs = parser.parse_args()\nprint(vars(args))\n"
    assert DELETED in converted(flags + script())


def test_many_attributes_fit_into_the_width() -> None:
    layers = "".join(f"        self.conv{i} = x = tf.layers.dense(x, 3)\n" for i in range(14))
    text = script(("        self.hidden", layers + "        self.hidden"))
    assert [loop.dropped[:14] for loop in loops(text)] == [tuple(f"self.conv{i}" for i in range(14))]
    after = parts(text, line_length=80)[2]
    begin = after.index("# each tower has its own, and nothing reads them")
    assert after[begin + 1 : after.index("net = Net(X, Y)")] == [
        "del self.conv0, self.conv1, self.conv2, self.conv3, self.conv4",
        "del self.conv5, self.conv6, self.conv7, self.conv8, self.conv9",
        "del self.conv10, self.conv11, self.conv12, self.conv13, self.hidden",
        "del self.output",
    ]
    assert max(len(line) for line in body(text, line_length=80) if "self.conv" in line) <= 80


def test_a_builtin_that_looks_at_an_object_reads_no_attribute_of_it() -> None:
    asked = "        if not hasattr(self, 'count'):\n            self.count = 0\n        self.loss ="
    assert DELETED in converted(script(("        self.loss =", asked)))


CLASS = """\
import tensorflow as tf


class Net(object):
    def __init__(self, batch_size=8):
        self.batch_size = batch_size
        self.x = tf.placeholder(tf.float32, [None, 4])
        self.y = tf.placeholder(tf.float32, [None, 1])
        self.hidden = tf.layers.dense(self.x, 3)
        self.output = tf.layers.dense(self.hidden, 1)
        self.loss = tf.reduce_mean(tf.square(self.output - self.y))
        self.train_op = tf.train.GradientDescentOptimizer(0.1).minimize(self.loss)
        self.session = tf.Session()

    def learn(self, data, labels):
        for i in range(0, len(data), self.batch_size):
            rows = slice(i, i + self.batch_size)
            self.session.run(self.train_op, {self.x: data[rows], self.y: labels[rows]})
"""


@pytest.mark.parametrize(
    ("caller", "written"),
    [
        ("import net\nprint(net.Net().hidden)\n", f"        {MERGED}\n"),
        ("import shown\nprint(getattr(shown.model, 'hidden'))\n", f"        {MERGED}\n"),
        ("import net\nnet.Net().learn([], [])\n", DELETED),
    ],
    ids=["read", "read by a string", "not read"],
)
def test_a_class_that_other_files_use_keeps_what_they_read(tmp_path: Path, caller: str, written: str) -> None:
    (tmp_path / "net.py").write_text(CLASS)
    (tmp_path / "main.py").write_text(caller)
    conversion = convert(read(str(tmp_path / "net.py")), Options(num_gpus=2), several=True)
    assert conversion.status == "converted", conversion.diagnostics
    assert conversion.text is not None and written in conversion.text


@pytest.mark.parametrize("several", [False, True])
def test_a_class_alone_is_converted_again_to_the_same_text(tmp_path: Path, several: bool) -> None:
    script = tmp_path / "net.py"
    script.write_text(CLASS)
    (tmp_path / "main.py").write_text("import net\nprint(net.Net().hidden)\n")
    first = convert(read(str(script)), Options(num_gpus=2), several=several)
    assert first.text is not None and first.plan is not None and MERGED in first.text
    (tmp_path / "main.py").unlink()
    assert convert(read(str(script)), first.plan.options, several=several, again=True).text == first.text


def test_attributes_are_deleted_where_other_scripts_only_build_the_model_for_one_gpu(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text("import tensorflow as tf\n\n\n" + NET.partition("\n\nnet = ")[0])
    training = INPUTS + "import net as model\n" + NET.partition("\n\n\n")[2].replace("Net(", "model.Net(") + TRAINING
    (tmp_path / "train.py").write_text(training)
    (tmp_path / "show.py").write_text("import net\nprint(net.Net(1, 2).hidden)\n")
    conversion = convert(read(str(tmp_path / "train.py")), Options(num_gpus=2), several=True)
    assert conversion.status == "converted", conversion.diagnostics
    assert [part.text for part in conversion.parts if "            del self.hidden, self.output\n" in part.text]


def test_attributes_are_kept_for_other_scripts_that_import_the_model(tmp_path: Path) -> None:
    train = tmp_path / "train.py"
    *model, training = script().partition("net = Net")[0], "net = Net" + script().partition("net = Net")[2]
    main = "".join(f"    {line}\n" for line in training.splitlines())
    train.write_text("".join(model) + "if __name__ == '__main__':\n" + main)
    (tmp_path / "show.py").write_text("import train\nprint(train.Net(1, 2).hidden)\n")
    conversion = convert(read(str(train)), Options(num_gpus=2), several=True)
    assert conversion.status == "converted", conversion.diagnostics
    assert conversion.text is not None
    kept = ["self.loss = merge_loss(tower_loss)", MERGED, "self.output = tf.concat(tower_output, 0)"]
    assert "".join(f"            {line}\n" for line in kept) + "\n" in conversion.text


CODER = """\
import tensorflow as tf


def reset():
    tf.reset_default_graph()


class Coder(object):
    def __init__(self, size):
        self.x = tf.placeholder(tf.float32, [None, size])
        self.loss = tf.reduce_mean(tf.square(tf.layers.dense(self.x, size) - self.x))
        self.step = tf.train.AdamOptimizer(0.01).minimize(self.loss)
"""


def test_other_scripts_go_on_with_one_gpu_where_an_imported_class_is_not_made(tmp_path: Path) -> None:
    """A training step in a class that nothing makes does not turn the script into a library of others."""
    (tmp_path / "net.py").write_text("import tensorflow as tf\n\n\n" + NET.partition("\n\nnet = ")[0])
    (tmp_path / "coder.py").write_text(CODER)
    training = "import net as model\nfrom coder import Coder, reset\nreset()\n"
    training += INPUTS + NET.partition("\n\n\n")[2].replace("Net(", "model.Net(") + TRAINING
    (tmp_path / "train.py").write_text(training)
    (tmp_path / "show.py").write_text("import net\nprint(net.Net(1, 2).hidden)\n")
    conversion = convert(read(str(tmp_path / "train.py")), Options(num_gpus=2), several=True)
    assert conversion.status == "converted", conversion.diagnostics
    assert any("with enter_tower(gpu" in part.text for part in conversion.parts)
