"""Attributes that the towers set: those that nothing reads get no concat, and are deleted."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from converter.conversion import convert
from converter.options import Options
from converter.source import read
from tests.scripts import INPUTS, TRAINING, converted, loops

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
    text = converted(script())
    assert DELETED in text and "tower_hidden" not in text and "tower_output" not in text


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
    assert "self.hidden = tf.concat(tower_hidden, 0" in text
    assert {place for loop in loops(script(change, more)) for place in loop.dropped} <= {"self.output"}


@pytest.mark.parametrize("around", ["if sized():", "for size in sizes():", "try:"])
def test_what_may_not_be_set_is_not_deleted(around: str) -> None:
    also = "        except ValueError:\n            pass\n" if around == "try:" else ""
    line = "        self.hidden = tf.layers.dense(x, 3)\n"
    nested = f"        {around}\n            self.hidden = x = tf.layers.dense(x, 3)\n{also}"
    found = loops(script((line, "        self.hidden = x\n" + nested)))
    assert [loop.dropped for loop in found] == [("self.output",)]


def test_flags_that_are_printed_by_vars_read_no_attribute_of_the_model() -> None:
    flags = "import argparse\nparser = argparse.ArgumentParser()\nargs = parser.parse_args()\nprint(vars(args))\n"
    assert DELETED in converted(flags + script())


def test_many_attributes_fit_into_the_width() -> None:
    layers = "".join(f"        self.conv{i} = x = tf.layers.dense(x, 3)\n" for i in range(14))
    text = converted(script(("        self.hidden", layers + "        self.hidden")), line_length=80)
    _, _, below = text.partition("# tf-multigpu: end of helpers\n")
    assert "tower_conv" not in text and below.count("self.conv13") == 2
    assert max(len(line) for line in below.splitlines() if "self.conv" in line) <= 80
    ast.parse(text)


def test_attributes_are_kept_for_other_scripts_that_import_the_model(tmp_path: Path) -> None:
    train = tmp_path / "train.py"
    *model, training = script().partition("net = Net")[0], "net = Net" + script().partition("net = Net")[2]
    main = "".join(f"    {line}\n" for line in training.splitlines())
    train.write_text("".join(model) + "if __name__ == '__main__':\n" + main)
    (tmp_path / "show.py").write_text("import train\nprint(train.Net(1, 2).hidden)\n")
    conversion = convert(read(str(train)), Options(num_gpus=2), several=True)
    assert conversion.status == "converted", conversion.diagnostics
    assert conversion.text is not None and "del self" not in conversion.text and MERGED in conversion.text
