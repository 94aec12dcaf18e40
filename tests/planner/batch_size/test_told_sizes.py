"""Numbers that the user tells by one line, and numbers that are the batch size or a number of steps."""

from __future__ import annotations

import pytest

from tests.scripts import codes, converted

SCRIPT = """\
import os
import sys
import numpy as np
import tensorflow as tf

{setup}
data = np.random.rand(640, 4)
x = tf.placeholder(tf.float32, [None, 4])
loss = tf.reduce_mean(tf.square(tf.layers.dense(x, {width})))
train_op = tf.train.AdamOptimizer(0.01).minimize(loss)
sess = tf.Session()
sess.run(tf.global_variables_initializer())
for step in range({steps}):
    sess.run(train_op, {{x: data[np.random.randint(0, 640, batch_size)]}})
"""
ARGUMENTS = "def told(i):\n    return int(sys.argv[i])\nbatch_size = told(1)\n"
EITHER = "batch_size = 50\nsteps = 20\nif sys.argv[1] == 'size':\n    batch_size = value\nelse:\n    steps = value"


def script(setup: str, steps: str = "5", width: str = "2") -> str:
    return SCRIPT.format(setup=setup, steps=steps, width=width)


def test_a_function_that_reads_several_of_them_scales_all_and_the_others_are_divided_again() -> None:
    text = converted(script(f"{ARGUMENTS}steps = told(2)\nwidth = told(3)", "steps", "width"))
    assert "return int(sys.argv[i]) * num_gpus" in text
    assert "range(steps // num_gpus)" in text
    assert "width = shard_size(global_width, gpu)" in text


def test_what_is_asked_for_by_what_is_written_out_is_scaled_alone() -> None:
    text = converted(script("batch_size = int(sys.argv[1])\nsteps = int(sys.argv[2])", "steps"))
    assert "int(sys.argv[1]) * num_gpus" in text
    assert "int(sys.argv[2]) * num_gpus" not in text
    assert "range(steps)" in text


@pytest.mark.parametrize("value", ["30", "int(sys.argv[2])"])
@pytest.mark.parametrize("steps", ["steps", "2 * steps", "0, steps"])
def test_a_number_of_steps_that_may_be_the_batch_size_is_told(value: str, steps: str) -> None:
    assert codes(script(f"value = {value}\n{EITHER}", steps)) == ["TMG303"]


@pytest.mark.parametrize("steps", ["20", "other", "len(sys.argv)", "640 // batch_size"])
def test_another_number_of_steps_is_not(steps: str) -> None:
    assert codes(script(f"value = other = int(sys.argv[2])\nother = 7\n{EITHER}", steps)) == []


LOOP = (
    "size = 50\nfor text in {texts}:\n    if text.startswith('size'):\n        size = int({value})\nbatch_size = size\n"
)


@pytest.mark.parametrize("value", ["text.split('=')[1]", "text[5:]", "text.partition('=')[2].strip()"])
@pytest.mark.parametrize("texts", ["sys.argv", "sys.argv[1:]"])
def test_a_part_of_an_argument_is_told_too(texts: str, value: str) -> None:
    text = converted(script(LOOP.format(texts=texts, value=value)))
    assert "size = 50 * num_gpus" in text
    assert f"size = int({value}) * num_gpus" in text


def test_so_is_what_getopt_gives() -> None:
    setup = "import getopt\nsize = 50\nfor key, value in getopt.getopt(sys.argv[1:], 'b:')[0]:\n    size = int(value)\n"
    assert "size = int(value) * num_gpus" in converted(script(f"{setup}batch_size = size"))


@pytest.mark.parametrize("texts", ["open('settings.txt')", "read()"])
def test_a_number_of_a_text_that_is_not_seen_is_not(texts: str) -> None:
    lines = LOOP.replace("size", "batch_size").format(texts=texts, value="text.split('=')[1]")
    assert codes(script(lines.removesuffix("batch_batch_size = batch_size\n"))) == ["TMG303"]
