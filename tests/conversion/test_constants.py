"""Conditions on constants that whoever runs a script may edit."""

from __future__ import annotations

import pytest

from tests.scripts import TRAINING, converted, run

SCRIPT = """\
import tensorflow as tf

{constant}
batch_size = 32
X = tf.placeholder(tf.float32, [None, 4])
Y = tf.placeholder(tf.float32, [None, 1])
hidden = tf.layers.dense(X, 4)
if {condition}:
    scores = hidden * tf.get_variable('scale', [4])
    {body}
else:
    best = tf.argmax(hidden, 1)
    {orelse}
loss = tf.reduce_mean(tf.square(tf.layers.dense(hidden, 1) - Y))
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
"""
READ = """\
        print(sess.run(scores if {condition} else best, {{X: xs, Y: ys}}))
"""


def script(constant: str, condition: str, body: str = "hidden = scores", orelse: str = "pass") -> str:
    text = SCRIPT.format(constant=constant, condition=condition, body=body, orelse=orelse)
    return text + TRAINING + READ.format(condition=condition)


@pytest.mark.parametrize(
    ("constant", "condition"),
    [
        ("scaled = True", "scaled"),
        ("scaled = False", "scaled"),
        ("scaled = False", "not scaled"),
        ("kind = 'scaled'", "kind == 'scaled'"),
        ("layers = 2", "layers > 1"),
        ("class Config(object):\n    scaled = True", "Config.scaled"),
        ("class Config(object):\n    def __init__(self):\n        self.scaled = True\n", "Config().scaled"),
    ],
)
def test_both_branches_are_followed(constant: str, condition: str) -> None:
    text = converted(script(constant, condition))
    assert "scores = tf.concat(tower_scores, 0)" in text
    assert "best = tf.concat(tower_best, 0)" in text


@pytest.mark.parametrize(
    ("constant", "condition"),
    [
        ("scaled = True\nscaled = True", "scaled"),  # set again, as states of the script are
        ("scaled = True\nfor scaled in [True]:\n    pass", "scaled"),
        ("", "True"),
    ],
)
def test_no_constant(constant: str, condition: str) -> None:
    text = converted(script(constant, condition))
    assert "scores = tf.concat(tower_scores, 0)" in text
    assert "tower_best" not in text


def with_noise(text: str) -> str:
    """The script with its model in a function, which may read a number of the batch size that no tower knows."""
    head, _, rest = text.partition("X = tf")
    model, _, training = rest.partition("with tf.Session")
    inside = "".join(f"    {line}\n" for line in f"X = tf{model}".splitlines())
    calls = "def build():\n" + inside + "    return X, Y, train_op\n\n\nX, Y, train_op = build()\n"
    model = f"noise = 0.1 / batch_size\n\n\n{calls}"
    return f"{head}{model}with tf.Session{training}".replace(READ.format(condition="scaled"), "")


def test_the_other_branch_would_be_refused() -> None:
    text = with_noise(script("scaled = True", "scaled", orelse="hidden += tf.random_normal([4], stddev=noise)"))
    done = run(text)
    assert done.status == "converted"
    assert [finding.code for finding in done.diagnostics] == ["TMG343"]
    assert "`scaled = True` alone" in done.diagnostics[0].message
    assert "TMG207" in done.diagnostics[0].message


def test_one_of_two_constants_is_left() -> None:
    text = with_noise(script("scaled = True\nsmall = True", "scaled", "if not small:\n        hidden *= noise"))
    done = run(text)
    assert [finding.code for finding in done.diagnostics] == ["TMG343"]
    assert "`small = True` alone" in done.diagnostics[0].message


@pytest.mark.parametrize("condition", ["verbose", "verbose and step % 10 == 0"])
def test_a_result_that_only_another_value_reads(condition: str) -> None:
    read = f"        if {condition}:\n            print(sess.run(hidden, {{X: xs}}))\n"
    text = converted("verbose = False\n" + script("scaled = True", "True").replace(READ.format(condition="True"), read))
    assert "hidden = tf.concat(tower_hidden, 0)" in text


def test_every_size_is_scaled() -> None:
    sizes = "batch_size = 32\nif large:\n    batch_size = 64\n"
    text = converted(script("large = True", "True").replace("batch_size = 32\n", sizes))
    assert sizes.replace("32", "32 * num_gpus").replace("64", "64 * num_gpus") in text
