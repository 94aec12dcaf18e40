"""The batch size as a number of steps keeps its number; as a number of examples it grows with the towers."""

from __future__ import annotations

import pytest

from tests.scripts import body, run

HEAD = """\
import numpy as np
import tensorflow as tf
{size}
data = np.random.rand(64, 4).astype('float32')
X = tf.placeholder(tf.float32, [None, 4])
loss = tf.reduce_mean(tf.square(tf.layers.dense(X, 2)))
gs = tf.train.get_or_create_global_step()
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=gs)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
"""
LITERAL = "batch_size = 8"
FLAG = "flags = tf.app.flags\nflags.DEFINE_integer('batch_size', 8, '')\nFLAGS = flags.FLAGS"
EACH = """\
    for step in range(40):
        xs = data[np.random.randint(0, 64, batch_size)]
        sess.run(train_op, {X: xs})
"""
COUNTED = """\
    n = 0
    while n < 40:
        xs = data[np.random.randint(0, 64, batch_size)]
        _, at, cost = sess.run([train_op, gs, loss], {X: xs})
        n += 1
"""


EPOCH = """\
    for step in range(64 // batch_size):
        xs = data[step * batch_size:(step + 1) * batch_size]
        sess.run(train_op, {X: xs})
"""


def told(script: str) -> list[str]:
    """The lines behind the making of the session that mention the number of GPUs."""
    lines = body(script)
    behind = lines[next(i for i, line in enumerate(lines) if "global_variables_initializer" in line) :]
    return [line.strip() for line in behind if "num_gpus" in line]


def literal(loop: str) -> str:
    return HEAD.format(size=LITERAL) + loop


def flag(loop: str) -> str:
    return HEAD.format(size=FLAG) + loop.replace("batch_size", "FLAGS.batch_size")


@pytest.mark.parametrize(
    ("loop", "line", "changed"),
    [
        (EACH, "if step % batch_size == 0: print(step)", "if step % (batch_size // num_gpus) == 0: print(step)"),
        (EACH, "if (step + 1) % batch_size == 0: print(1)", "if (step + 1) % (batch_size // num_gpus) == 0: print(1)"),
        (EACH, "if not step % batch_size: print(step)", "if not step % (batch_size // num_gpus): print(step)"),
        (EACH, "if step and step % batch_size: print(1)", "if step and step % (batch_size // num_gpus): print(1)"),
        (EACH, "if step > batch_size: print(step)", "if step > (batch_size // num_gpus): print(step)"),
        (EACH, "if batch_size <= step: print(step)", "if (batch_size // num_gpus) <= step: print(step)"),
        (EACH, "if step == batch_size: break", "if step == (batch_size // num_gpus): break"),
        (EACH, "if step % (2 * batch_size) == 0: print(1)", "if step % (2 * (batch_size // num_gpus)) == 0: print(1)"),
        (EACH, "if step % int(batch_size) == 0: print(1)", "if step % int(batch_size // num_gpus) == 0: print(1)"),
        (EACH, "done = step > batch_size; print(done)", "done = step > (batch_size // num_gpus); print(done)"),
        (EACH, "print(step % batch_size)", "print(step % (batch_size // num_gpus))"),
        (EACH, "print('%d' % (step % batch_size))", "print('%d' % (step % (batch_size // num_gpus)))"),
        (EPOCH, "if step % batch_size == 0: print(step)", "if step % (batch_size // num_gpus) == 0: print(step)"),
        (EPOCH, "if step > batch_size: print(step)", "if step > (batch_size // num_gpus): print(step)"),
        (COUNTED, "if np.mod(n, batch_size) == 1: print(n)", "if np.mod(n, batch_size // num_gpus) == 1: print(n)"),
        (COUNTED, "if n % batch_size == 0: print(n)", "if n % (batch_size // num_gpus) == 0: print(n)"),
        (COUNTED, "if at % batch_size == 0: print(at)", "if at % (batch_size // num_gpus) == 0: print(at)"),
        (
            EACH,
            "if step % batch_size == batch_size - 1: print(step)",
            "if step % (batch_size // num_gpus) == (batch_size // num_gpus) - 1: print(step)",
        ),
    ],
)
def test_an_interval_keeps_its_number_of_steps(loop: str, line: str, changed: str) -> None:
    assert told(literal(f"{loop}        {line}\n")) == [changed]
    lines = [line.strip() for line in body(flag(f"{loop}        {line}\n"))]
    assert line.replace("batch_size", "FLAGS.batch_size") in lines


@pytest.mark.parametrize(
    "line",
    [
        "if cost > batch_size: print(cost)",  # a sum over the examples may be compared with their number
        "if len(xs) < batch_size: print(xs)",
        "if n * batch_size > 640: break",
        "if n % (640 // batch_size) == 0: print(n)",  # an epoch has fewer steps
        "if n > 640 / batch_size: break",
        "xs[n % batch_size] = 0",
        "xs[np.mod(n, batch_size)] = 0",
        "if np.mod(len(xs), batch_size): print(xs)",
        "seen = n * batch_size; print(seen % batch_size)",
    ],
)
def test_other_numbers_follow_the_batch(line: str) -> None:
    assert told(literal(f"{COUNTED}        {line}\n")) == []


ROWS = """\
    for i in range(0, 64, batch_size):
        sess.run(train_op, {X: data[i:i + batch_size]})
        if i % batch_size == 0:
            print(i)
"""
POINTER = """\
    i = 0
    while i < 64:
        sess.run(train_op, {X: data[i:i + batch_size]})
        i += batch_size
        if i > batch_size:
            print(i)
"""
BUFFER = """\
    rows = []
    for step in range(400):
        rows.append(np.random.rand(4))
        if step > batch_size:
            xs = np.array([rows[i] for i in np.random.randint(0, len(rows), batch_size)])
            sess.run(train_op, {X: xs})
"""
WAITS = BUFFER.replace("if step > batch_size:", "if step < batch_size:\n            continue\n        if True:")
ASKED = BUFFER.replace("        if step > batch_size:", "        ready = step > batch_size\n        if ready:")
CALLED = """\
    def fit(step):
        if step < batch_size:
            return
        sess.run(train_op, {X: data[np.random.randint(0, 64, batch_size)]})
    for step in range(40):
        fit(step)
"""
BY_ROW = """\
    for step in range(8):
        xs = data[np.random.randint(0, 64, batch_size)]
        sess.run(train_op, {X: xs})
        for i in range(batch_size):
            sess.run(train_op, {X: xs[i:i + 1]})
"""


WINDOW = """\
    for i in range(batch_size, 64):
        sess.run(train_op, {X: data[i - batch_size:i]})
        if i % batch_size == 0:
            print(i)
"""
LAST = EPOCH + "        if step == 64 // batch_size - 1 or step * batch_size >= 48:\n            print(step)\n"


@pytest.mark.parametrize("loop", [ROWS, POINTER, BUFFER, WAITS, ASKED, BY_ROW, WINDOW, LAST])
def test_what_counts_examples_or_decides_whether_a_step_trains_follows_the_batch(loop: str) -> None:
    assert told(literal(loop)) == []


def test_turns_without_a_step_are_as_many_as_before_where_the_data_stays_the_same() -> None:
    assert told(literal(CALLED)) == ["if step < (batch_size // num_gpus):"]


UNTIL = EACH.replace("for step in range(40)", "for step in range(10 * batch_size)")
WHILE = COUNTED.replace("n < 40", "n < batch_size")
FUNCTION = """\
    def report(count):
        if count % batch_size == 0:
            print(count)
    for step, xs in enumerate(batches(data, batch_size)):
        sess.run(train_op, {X: xs})
        report(step)
"""
ENDS = """\
    def fit():
        for step in range(40):
            sess.run(train_op, {X: data[np.random.randint(0, 64, batch_size)]})
            if step == batch_size:
                return
    fit()
"""


@pytest.mark.parametrize(
    ("loop", "changed"),
    [
        (UNTIL, "for step in range(10 * (batch_size // num_gpus)):"),
        (WHILE, "while n < (batch_size // num_gpus):"),
        (FUNCTION, "if count % (batch_size // num_gpus) == 0:"),
        (ENDS, "if step == (batch_size // num_gpus):"),
    ],
)
def test_the_number_of_steps_stays(loop: str, changed: str) -> None:
    assert told(literal(loop)) == [changed]


def test_a_copy_of_a_flag_is_divided_where_it_counts_steps() -> None:
    loop = EACH.replace("batch_size", "size") + "        if step % size == 0: print(step)\n"
    script = HEAD.format(size=f"{FLAG}\nsize = FLAGS.batch_size") + loop
    assert told(script) == ["if step % (size // FLAGS.num_gpus) == 0: print(step)"]


def test_a_hook_counts_steps() -> None:
    hook = """\
class Logger(tf.train.SessionRunHook):
    def begin(self):
        self.step = 0
    def after_run(self, context, values):
        self.step += 1
        if self.step % batch_size == 0:
            print(self.step, 'examples/s', batch_size / 2.0)
with tf.train.MonitoredTrainingSession(hooks=[Logger()]) as sess:
    while not sess.should_stop():
        sess.run(train_op, {X: data[np.random.randint(0, 64, batch_size)]})
"""
    head = HEAD.partition("with tf.Session")[0]
    lines = [line.strip() for line in body(head.format(size=LITERAL) + hook)]
    assert "if self.step % (batch_size // num_gpus) == 0:" in lines
    assert "print(self.step, 'examples/s', batch_size / 2.0)" in lines
    text = hook.replace("batch_size", "FLAGS.batch_size")
    lines = [line.strip() for line in body(head.format(size=FLAG) + text)]
    assert "if self.step % FLAGS.batch_size == 0:" in lines
    assert "print(self.step, 'examples/s', (FLAGS.batch_size * FLAGS.num_gpus) / 2.0)" in lines


def test_total_changes_nothing() -> None:
    script = literal(f"{EACH}        if step % batch_size == 0: print(step)\n")
    assert "if step % batch_size == 0: print(step)" in [line.strip() for line in body(script, batch="total")]


def test_the_report_names_no_line_whose_number_stays() -> None:
    conversion = run(literal(f"{EACH}        if step % batch_size == 0: print(step)\n"))
    said = [decision.text for decision in conversion.decisions if decision.topic == "batch size"]
    assert said == ["8 -> 8 * num_gpus for one step (train.py:3)"]


THROUGH_EPOCHS = """\
    n = len(data) // batch_size
    for epoch in range(10):
        for i in range(n):
            sess.run(train_op, {X: data[i * batch_size:(i + 1) * batch_size]})
            if %s: print(i)
"""


@pytest.mark.parametrize(
    ("test", "is_interval"),
    [
        ("(epoch * n + i) % batch_size == 0", True),
        ("(i + n * (epoch + 1)) % batch_size == 0", True),
        ("(epoch * (len(data) // batch_size) + i) % batch_size == 0", True),
        ("(epoch * len(data) + i) % batch_size == 0", False),  # examples and steps
        ("(n * n + i) % batch_size == 0", False),
        ("(epoch * n * batch_size + i) % batch_size == 0", False),
    ],
)
def test_steps_that_are_counted_through_all_epochs(test: str, is_interval: bool) -> None:
    assert bool(told(literal(THROUGH_EPOCHS % test))) == is_interval
