"""The original's text with its batch size multiplied, where the conversion multiplies it."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from converter.source.project.above import start_of
from converter.verify.origin import convert_anew
from converter.verify.processes.layout import copied
from converter.verify.runs.resized import resize

MODEL = """\
x = tf.placeholder(tf.float32, [None, 3])
y = tf.placeholder(tf.float32, [None, 1])
loss = tf.reduce_mean(tf.square(tf.layers.dense(x, 1) - y))
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(len(data) // SIZE):
        rows = slice(step * SIZE, (step + 1) * SIZE)
        sess.run(train, {x: data[rows], y: data[rows, :1]})
"""
HEAD = "import numpy as np\nimport tensorflow as tf\n{}\ndata = np.random.rand(12, 3)\n"
FLAG = "tf.app.flags.DEFINE_integer('size', 4, '')\nFLAGS = tf.app.flags.FLAGS"
PARSED = "import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('--size', default=4, type=int)\n"
PARSED += "args = parser.parse_args()"


@pytest.mark.parametrize(
    ("head", "size", "given", "share", "line", "args"),
    [
        ("size = 4", "size", (), Fraction(3), "size = (4 * 3 // 1)", ()),
        ("size = 4", "size", (), Fraction(1, 2), "size = (4 * 1 // 2)", ()),
        (FLAG, "FLAGS.size", (), Fraction(2), "", ("--size=8",)),
        (FLAG, "FLAGS.size", ("--size=6", "--rate=1"), Fraction(2, 3), "", ("--size=6", "--rate=1", "--size=4")),
        (PARSED, "args.size", ("--size", "2"), Fraction(2), "", ("--size", "2", "--size=4")),
        (PARSED, "args.size", (), Fraction(1, 3), None, None),  # no whole number
        ("size = 4", "12", (), Fraction(2), None, None),  # the whole data in each step: nothing is a batch size
    ],
)
def test_where_the_size_is_defined(
    tmp_path: Path, head: str, size: str, given: tuple[str, ...], share: Fraction, line: str, args: tuple[str, ...]
) -> None:
    single = tmp_path / "script" / "single.py"
    single.parent.mkdir()
    text = HEAD.format(head) + MODEL.replace("SIZE", size)
    single.write_text(text)
    copy = copied(single, tmp_path / "copy", start_of(str(single)), ())
    assert resize(copy, convert_anew(single), given, share) == args
    assert copy.script.read_text() == (text.replace("size = 4", line) if line else text)
