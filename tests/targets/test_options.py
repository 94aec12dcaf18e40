"""Each option of `convert` that says what is written, for each target: the text changes, or a reason is told."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from converter.cli.command_line.table import CONVERT, WHAT, Option
from converter.conversion import Conversion, convert
from converter.source import from_bytes
from converter.source.header import field_of, from_flags

# Each script gives its target's options something to change, as far as they mean anything there.
TOWERS = """\
import tensorflow as tf

batch_size = 32
learning_rate = 0.1
x = tf.placeholder(tf.float32, [None, None])
y = tf.placeholder(tf.float32, [None, None])
with tf.device('/cpu:0'):
    hidden = tf.reduce_sum(tf.layers.dense(tf.expand_dims(x, 2), 4), 2)
loss = tf.reduce_mean(tf.square(hidden - y))
train_op = tf.train.GradientDescentOptimizer(learning_rate).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        xs, ys = next_batch(batch_size)
        sess.run(train_op, {x: xs, y: ys})
    xs, ys = test_batch(batch_size)
    print(sess.run(loss, {x: xs, y: ys}))
"""
MIRRORED = """\
import tensorflow as tf
x, y, more, labels = data()
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(optimizer='sgd', loss='mse', metrics=['mae', 'mse', 'cosine'])
model.fit(x, y, epochs=20, verbose=2, shuffle=True)
model.evaluate(more, labels, batch_size=64)
"""
DDP = """\
import torch
from torch.utils.data import DataLoader, TensorDataset

data = TensorDataset(torch.rand(640, 4), torch.rand(640, 1))
loader = DataLoader(data, batch_size=32)
model = torch.nn.Sequential(torch.nn.Linear(4, 1), torch.nn.BatchNorm1d(1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(2):
    for x, y in loader:
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
"""
CLUSTER = """\
import numpy as np
import tensorflow as tf

batch_size = 32
data = np.random.RandomState(1).rand(6400, 4)
x = tf.placeholder(tf.float32, [None, None])
y = tf.placeholder(tf.float32, [None, None])
w = tf.placeholder(tf.float32, [None, 1])
loss = tf.reduce_mean(tf.square(x * tf.get_variable('w', []) - y)) + 0.1 * tf.reduce_mean(w)
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        xs, ys = data[step * batch_size:][:batch_size], data[step * batch_size:][:batch_size]
        print(sess.run([train_op, loss], {x: xs, y: ys, w: xs[:, :1]}))
"""
DETECTION = """\
train_config {
  batch_size: 24
  optimizer { momentum_optimizer { learning_rate { constant_learning_rate { learning_rate: 0.1 } } } }
}
"""
SCRIPTS = {
    "towers": ("train.py", TOWERS, ()),
    "mirrored": ("train.py", MIRRORED, ()),
    "ddp": ("train.py", DDP, ()),
    "cluster": ("train.py", CLUSTER, ("--target", "cluster")),
    "detection": ("pipeline.config", DETECTION, ()),
}
# A value of each option that is not its default.
GIVEN = {
    "num_gpus": "4",
    "fewer_gpus": "allow",
    "batch": "total",
    "loss": "global",
    "variables": "balanced",
    "target": "cluster",
    "helpers": "package",
    "shard": "files",
    "warnings": "comment",
    "scale_lr": "linear",
    "scale_steps": "divide",
    "eval_batch": "script",
    "gpu_memory": "all",
    "shared": "y",
    "batch_axis": "x=1",
    "line_length": "20",
}
REASONS = {"TMG220", "TMG259", "TMG271", "TMG280", "TMG287"}  # the option, or the target, is not for this script
OPTIONS = [option for option in CONVERT.options if option.panel == WHAT]


def test_each_option_has_a_value_here() -> None:
    assert GIVEN.keys() == {option.name for option in OPTIONS}


@pytest.mark.parametrize("target", SCRIPTS)
@pytest.mark.parametrize("option", OPTIONS, ids=[option.name for option in OPTIONS])
def test_an_option_changes_the_text_or_a_reason_is_told(target: str, option: Option) -> None:
    value = "mirrored" if (target, option.name) == ("cluster", "target") else GIVEN[option.name]
    plain, asked = made(target), made(target, option.flags[0], value)
    assert plain.status == "converted", plain.diagnostics
    refused = {finding.code for finding in asked.diagnostics if finding.severity == "error"}
    told = any(option.flags[0] in decision.text for decision in asked.decisions)
    assert refused or told or written(asked) != written(plain)
    assert not refused or refused & REASONS or target == "cluster" and option.name == "batch_axis"


UNUSED = {"TMG271", "TMG287"}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("target", SCRIPTS)
@pytest.mark.parametrize("option", OPTIONS, ids=[option.name for option in OPTIONS])
def test_an_option_of_a_configuration_does_not_make_a_file_fail_on_which_it_has_no_effect(
    target: str, option: Option
) -> None:
    """It is for other files of the project. What is written is the same as without it, and the decisions name it."""
    plain, flags = made(target), (option.flags[0], GIVEN[option.name])
    given, configured = made(target, *flags), made(target, *flags, configured=(field_of(option.name),))
    told = [one.text for one in configured.decisions if one.topic == "configuration"]
    if not UNUSED & {finding.code for finding in given.diagnostics}:
        assert (configured.status, configured.text, told) == (given.status, given.text, [])
        return
    assert given.status == "refused" and configured.text == plain.text
    assert len(told) == 1 and told[0].startswith(f"{option.flags[0]} has no effect for ")


def test_lines_of_comments_have_a_length_where_no_other_lines_do() -> None:
    wrapped = made("cluster", "--warnings", "comment", "--line-length", "60")
    assert wrapped.status == "converted" and "--line-length 60" in (wrapped.text or "")


@cache
def made(target: str, *flags: str, configured: tuple[str, ...] = ()) -> Conversion:
    """A script's conversion, as if it lay in a folder by itself: no other scripts are looked through."""
    name, text, usual = SCRIPTS[target]
    options = replace(from_flags([*usual, *flags]), configured=configured)
    return convert(from_bytes(f"alone/{name}", text.encode()), options, several=True)


def written(done: Conversion) -> list[str]:
    """The lines without the header's, which say how the tool was called."""
    lines = (done.text or "").splitlines()
    return [line for line in lines if not line.startswith("# tf-multigpu") or "TMG" in line]
