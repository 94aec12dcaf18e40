"""A batch size that is another number in each branch: whatever holds it, no branch is left out of sight."""

from __future__ import annotations

import pytest

from tests.scripts import codes, converted

SCRIPT = """\
import sys
import numpy as np
import tensorflow as tf

big = len(sys.argv) > 1
{setup}
data = np.random.rand(640, 4)
x = tf.placeholder(tf.float32, [None, 4])
loss = tf.reduce_mean(tf.square(tf.layers.dense({model}, 2)))
train_op = tf.train.AdamOptimizer(0.01).minimize(loss)
sess = tf.Session()
sess.run(tf.global_variables_initializer())
for step in range(5):
    sess.run(train_op, {{x: data[np.random.randint(0, 640, {size})]}})
"""


def script(setup: str, size: str, model: str = "x") -> str:
    return SCRIPT.format(setup=setup, size=size, model=model)


def branches(one: str, two: str) -> list[str]:
    made = f"def get():\n    if big:\n        return {one}\n    return {two}\nc = get()"
    tried = f"try:\n    c = {one}\n    open('settings')\nexcept IOError:\n    c = {two}"
    return [f"if big:\n    c = {one}\nelse:\n    c = {two}", f"c = {one} if big else {two}", made, tried]


@pytest.mark.parametrize(
    ("one", "two", "size"),
    [
        ("16", "8", "c"),
        ("[16, 2]", "[8, 3]", "c[0]"),
        ("[16, 2, 1]", "[8, 3]", "c[0]"),
        ("(16, 2, 4)", "(8, 3)", "c[0]"),
        ("[16, 2]", "(8, 3)", "c[0]"),
        ("{'b': [16, 1]}", "{'b': [8, 2]}", "c['b'][0]"),
        ("[{'b': 16}]", "[{'b': 8}]", "c[0]['b']"),
        ("[[16, 2], 3]", "[[8, 3], 3]", "c[0][0]"),
        ("[int(sys.argv[1])]", "[8, 2]", "c[0]"),
    ],
)
def test_a_size_in_two_branches_is_kept_and_said(one: str, two: str, size: str) -> None:
    for setup in branches(one, two):
        assert codes(script(setup, size)) == ["TMG303"]


@pytest.mark.parametrize(
    ("one", "two", "size"),
    [("{0: 16}", "[8, 3]", "c[0]"), ("16", "'8'", "int(c)"), ("Settings([16])", "Settings([8])", "c.b[0]")],
)
def test_values_of_two_kinds_are_neither(one: str, two: str, size: str) -> None:
    cls = "class Settings(object):\n    def __init__(self, b):\n        self.b = b\n"
    assert codes(script(cls + branches(one, two)[0], size)) == ["TMG303"]


@pytest.mark.parametrize(
    ("one", "two", "model"),
    [
        ("[64, 32]", "[32, 16]", "tf.layers.dense(x, c[0])"),
        ("{'width': 64}", "{'width': 32}", "tf.layers.dense(x, c['width'])"),
        ("'relu'", "'tanh'", "x"),
        ("0", "1", "x * c"),
    ],
)
def test_other_settings_of_two_branches_refuse_nothing(one: str, two: str, model: str) -> None:
    for setup in branches(one, two):
        assert codes(script(f"n = 16\n{setup}", "n", model)) == []


@pytest.mark.parametrize("two", [8, 16])
def test_a_named_size_grows_in_each_branch_whether_the_numbers_differ_or_not(two: int) -> None:
    windows = "data[step * batch_size:(step + 1) * batch_size]"
    for setup in branches("{'batch_size': 16}", f"{{'batch_size': {two}}}")[:3]:
        named = script(f"{setup}\nbatch_size = c['batch_size']", "batch_size")
        named = named.replace("range(5)", "range(640 // batch_size)")
        text = converted(named.replace("data[np.random.randint(0, 640, batch_size)]", windows))
        assert "'batch_size': 16 * num_gpus" in text and f"'batch_size': {two} * num_gpus" in text


DRAWN = """\
import sys
import numpy as np
import tensorflow as tf
{imported}
batch_size = 32
wide_batch_size = 48
data = np.random.rand(480, 3)
x = tf.placeholder(tf.float32, [None, 3])
loss = tf.reduce_mean(tf.square(tf.layers.dense(x, 1)))
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(20):
        if len(sys.argv) > 1:
            at = np.random.choice(480, size=wide_batch_size)
            {wide}
        else:
            at = np.random.choice(480, size=batch_size)
            {plain}
        sess.run(train_op, {{x: {fed}}})
"""


@pytest.mark.parametrize(
    ("wide", "plain", "fed"),
    [
        ("rows = data[at]", "rows = data[at]", "rows"),
        ("pass", "pass", "data[at]"),
        ("rows = data[np.random.permutation(480)[:wide_batch_size]]", "rows = data[at]", "rows"),
        ("rows = data[at] + np.random.randn(wide_batch_size, 3)", "rows = data[at]", "rows"),
        ("drawn = data[at], at", "drawn = data[at], at", "drawn[0]"),
        ("drawn = data[at], at, at", "drawn = data[at], at", "drawn[0]"),
        ("drawn = data[at],", "drawn = data[at], at", "drawn[0]"),
        ("drawn = {'rows': data[at]}", "drawn = {'rows': data[at]}", "drawn['rows']"),
        ("rows = [data[k] for k in np.random.choice(480, wide_batch_size)]", "rows = data[at]", "rows"),
        ("at = list(range(wide_batch_size))", "at = list(range(batch_size))", "data[at]"),
    ],
)
def test_rows_that_each_branch_draws_are_of_both_sizes(wide: str, plain: str, fed: str) -> None:
    text = converted(DRAWN.format(wide=wide, plain=plain, fed=fed, imported=""))
    assert "\nbatch_size = 32 * num_gpus\n" in text and "\nwide_batch_size = 48 * num_gpus\n" in text


@pytest.mark.parametrize(
    ("wide", "code"),
    [
        ("rows = data", "TMG304"),
        ("rows = data[:100]", "TMG303"),
        ("rows = list(data)[:100]", "TMG303"),
        ("rows = list(data[:wide_batch_size])", "TMG344"),
        ("rows = reader.read()", "TMG303"),
        ("rows = [data[k] for k in np.random.choice(480, 16)]", "TMG303"),
        ("rows = tuple(data[np.random.choice(480, 16)])", "TMG303"),
        ("rows = [[np.random.rand()] * 3] * 16", "TMG303"),
    ],
)
def test_rows_of_one_branch_that_no_batch_size_counts_are_told(wide: str, code: str) -> None:
    script = DRAWN.format(wide=wide, plain="rows = data[at]", fed="rows", imported="from reader import reader\n")
    assert codes(script) == [code]


def test_rows_of_one_branch_that_stay_as_many_are_refused_where_the_input_grows() -> None:
    script = DRAWN.format(wide="rows = reader.read()", plain="rows = data[at]", fed="rows", imported="import reader")
    assert codes(script.replace("[None, 3]", "[batch_size, 3]")) == ["TMG252"]


def test_rows_of_a_handler_are_of_both_sizes() -> None:
    text = converted(
        DRAWN.format(wide="pass", plain="pass", fed="data[at]", imported="")
        .replace("if len(sys.argv) > 1:", "try:")
        .replace("else:", "except ValueError:")
    )
    assert "\nbatch_size = 32 * num_gpus\n" in text and "\nwide_batch_size = 48 * num_gpus\n" in text


LISTED = """\
import sys
import numpy as np
import tensorflow as tf

batch_size = 16
data = np.random.rand(160, 3)
x = tf.placeholder(tf.float32, [None, 3])
loss = tf.reduce_mean(tf.square(tf.layers.dense(x, 1)))
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
batches = []
for _ in range(5):
    if len(sys.argv) > 1:
        batches.append({rows})
    else:
        batches.append(data[np.random.randint(0, 160, batch_size)])
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for rows in batches:
        sess.run(train_op, {{x: rows}})
"""


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ("list(data[:batch_size])", ["TMG344"]),
        ("np.array([data[k] for k in range(batch_size)])", ["TMG344"]),
        ("[data[k] for k in np.random.randint(0, 160, batch_size)]", []),
    ],
)
def test_rows_that_one_branch_puts_into_a_list_again_are_told(rows: str, told: list[str]) -> None:
    assert codes(LISTED.format(rows=rows)) == told
