"""`--scale-steps divide`: which numbers are divided by the number of GPUs, and which stay."""

from __future__ import annotations

import re

import pytest

from tests.scripts import run

MODEL = """\
import tensorflow as tf
batch_size = 16
x = tf.placeholder(tf.float32, [None, 4])
loss = tf.reduce_mean(tf.square(tf.layers.dense(x, 1)))
step_variable = tf.train.get_or_create_global_step()
RATE
train = tf.train.GradientDescentOptimizer(rate).minimize(loss, global_step=step_variable)
"""
FEED = "sess.run(train, {x: load(batch_size)})"
SESSION = """\
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
"""
FIXED = "rate = 0.1"

# Loops around the training step, and the expressions in them that are divided.
LOOPS = [
    (f"for i in range(1000):\n    {FEED}", ["1000"]),
    (f"steps = 1000\nfor i in range(steps):\n    {FEED}", ["steps"]),
    (f"steps = 1000\nfor i in range(1, steps + 1):\n    {FEED}", ["steps"]),
    (f"i = 0\nwhile i < 1000:\n    {FEED}\n    i += 1", ["1000"]),
    (f"for epoch in range(5):\n    for i in range(1000):\n        {FEED}", ["1000"]),
    (f"for i in range(1000):\n    for _ in range(5):\n        {FEED}", ["1000"]),
    (f"for i in range(1000):\n    {FEED}\n    if i % 100 == 0:\n        print(i)", ["1000", "100"]),
    (f"for i in range(1000):\n    {FEED}\n    if (i + 1) % 100 == 0:\n        print(i)", ["1000", "100"]),
    (f"for i in range(1000):\n    {FEED}\n    if i == 500:\n        print(i)", ["1000", "500"]),
    # Near misses: what follows the batch size or the data, epochs, 0 and 1, and numbers that count no steps.
    (f"for i in range(640 // batch_size):\n    {FEED}", []),
    (f"for epoch in range(5):\n    for i in range(640 // batch_size):\n        {FEED}", []),
    (f"for epoch in range(50):\n    for i in range(640 // batch_size):\n        {FEED}\n"
     "    if epoch % 10 == 0:\n        print(epoch)", []),
    (f"for rows in batches:\n    {FEED}", []),
    (f"for i in range(1000):\n    {FEED}\n    if i == 0:\n        print(i)", ["1000"]),
    (f"for i in range(1000):\n    {FEED}\n    if len(rows) % 100 == 0:\n        print(i)", ["1000"]),
    (f"for i in range(1000):\n    {FEED}\nfor j in range(300):\n    print(j)", ["1000"]),
    (f"for k in range(20):\n    print(k % 10 == 0)\nfor i in range(1000):\n    {FEED}", ["1000"]),
]  # fmt: skip

# Rates, and the expressions in them that are divided; the loop goes over data.
RATES = [
    ("rate = tf.train.exponential_decay(0.1, step_variable, 1000, 0.5)", ["1000"]),
    ("rate = tf.train.exponential_decay(0.1, step_variable, decay_rate=0.5, decay_steps=1000)", ["1000"]),
    ("rate = tf.train.polynomial_decay(0.1, tf.cast(step_variable, tf.int32), 1000)", ["1000"]),
    ("rate = tf.train.cosine_decay_restarts(0.1, step_variable, 1000)", ["1000"]),
    ("rate = tf.train.piecewise_constant(step_variable, [100, 200], [0.1, 0.01, 0.001])", ["[100, 200]"]),
    ("rate = tf.train.exponential_decay(0.1, step_variable * 2, 1000, 0.5)", ["1000"]),
    ("width = 250 * tf.shape(x)[1]\nrate = tf.train.exponential_decay(0.1, step_variable, width, 0.5)", ["width"]),
    # Near misses: it follows the batch size, or counts something else than training steps.
    ("rate = tf.train.exponential_decay(0.1, step_variable, 640 // batch_size, 0.5)", []),
    ("rate = tf.train.exponential_decay(0.1, step_variable * batch_size, 6400, 0.5)", []),
    ("rate = tf.train.exponential_decay(0.1, step_variable, tf.cast(640 / tf.shape(x)[0], tf.int32), 0.5)", []),
    ("rate = tf.train.exponential_decay(0.1, step_variable, 640 // tf.size(x[:, 0]), 0.5)", []),
    ("rate = tf.train.exponential_decay(0.1, step_variable * tf.shape(x)[0], 6400, 0.5)", []),
    ("epoch = tf.placeholder(tf.int32, [])\nrate = tf.train.exponential_decay(0.1, epoch, 10, 0.5)", []),
    ("epoch = tf.Variable(0, trainable=False)\nrate = tf.train.exponential_decay(0.1, epoch, 10, 0.5)", []),
]


def divided(text: str, **options: str) -> tuple[list[str], set[str]]:
    """The expressions that are divided in the order of the text, and the codes of all warnings."""
    done = run(text, scale_steps="divide", **options)
    assert done.text is not None, done.diagnostics
    _, _, body = done.text.partition("end of helpers")
    return re.findall(r"fewer_steps\(([^()]+)\)", body), {d.code for d in done.diagnostics}


def script(rate: str, loop: str) -> str:
    return MODEL.replace("RATE", rate) + SESSION + "".join(f"    {line}\n" for line in loop.splitlines())


@pytest.mark.parametrize(("loop", "expected"), LOOPS)
def test_loops(loop: str, expected: list[str]) -> None:
    assert divided(script(FIXED, loop))[0] == expected


@pytest.mark.parametrize(("rate", "expected"), RATES)
def test_schedules(rate: str, expected: list[str]) -> None:
    assert divided(script(rate, f"for rows in batches:\n    {FEED}"))[0] == expected


HOOKED = """\
hooks = [tf.train.StopAtStepHook(last_step=1000), tf.train.LoggingTensorHook([loss], every_n_iter=100)]
with tf.train.MonitoredTrainingSession(hooks=hooks, save_checkpoint_steps=200, save_summaries_steps=None) as sess:
    while not sess.should_stop():
        sess.run(train, {x: load(batch_size)})
"""


def test_hooks() -> None:
    assert divided(MODEL.replace("RATE", FIXED) + HOOKED)[0] == ["1000", "100", "200"]


# What cannot be told, and scripts without any number of steps, are warned of.
@pytest.mark.parametrize(
    ("rate", "loop", "warned"),
    [
        (FIXED, f"for i in range(1000):\n    {FEED}", False),
        (FIXED, f"for epoch in range(100):\n    for i in range(100):\n        {FEED}", True),
        (FIXED, f"for rows in batches:\n    {FEED}", True),
        (RATES[-1][0], f"for i in range(1000):\n    {FEED}", True),
    ],
)
def test_doubt_is_said(rate: str, loop: str, warned: bool) -> None:
    assert ("TMG362" in divided(script(rate, loop))[1]) is warned


def test_total_batches_need_no_division() -> None:
    assert divided(script(FIXED, LOOPS[0][0]), batch="total") == ([], {"TMG362"})


def test_nothing_is_divided_unasked() -> None:
    done = run(script(RATES[0][0], LOOPS[0][0]))
    assert done.text is not None and "fewer_steps" not in done.text


@pytest.mark.parametrize(("rate", "numbers"), RATES, ids=range(len(RATES)))
def test_schedules_that_stay_are_named(rate: str, numbers: list[str]) -> None:
    text = script(rate, f"for rows in batches:\n    {FEED}")
    (line,) = (n for n, code in enumerate(text.splitlines(), 1) if "rate = tf.train." in code)
    said = [decision.text for decision in run(text).decisions if decision.topic == "schedule"]
    assert len(said) == len(numbers)
    assert all(one.startswith(f"train.py:{line} counts as many steps as before") for one in said)
    assert not [d for d in run(text, batch="total").decisions if d.topic == "schedule"]
    assert not [d for d in run(text, scale_steps="divide").decisions if d.topic == "schedule"]
