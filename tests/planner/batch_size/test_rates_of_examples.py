"""Examples per second count the examples of all towers, wherever a script computes them."""

from __future__ import annotations

import pytest

from tests.scripts import body

FLAG = "flags = tf.app.flags\nflags.DEFINE_integer('batch_size', 8, '')\nFLAGS = flags.FLAGS\n"
HEAD = f"import time\nimport numpy as np\nimport tensorflow as tf\n\n{FLAG}data = np.zeros((64, 4), 'float32')\n"
MODEL = """\
ds = tf.data.Dataset.from_tensor_slices(data).batch(FLAGS.batch_size).repeat(3)
X = ds.make_one_shot_iterator().get_next()
loss = tf.reduce_mean(tf.square(tf.layers.dense(X, 2)))
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=tf.train.get_or_create_global_step())
"""
HOOK = """\
class Logger(tf.train.SessionRunHook):
    def begin(self):
        self.start = time.time()
    def after_run(self, context, values):
        duration = time.time() - self.start
        print({rate})
"""
HOOKED = """\
with tf.train.MonitoredTrainingSession(hooks=[Logger()]) as sess:
    while not sess.should_stop():
        sess.run(train_op)
"""
LOOP = """\
{before}
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(20):
        start = time.time()
        sess.run(train_op)
        duration = time.time() - start
        {line}
"""
RATE = "10 * FLAGS.batch_size / duration"


@pytest.mark.parametrize("first", [True, False], ids=["hook-first", "model-first"])
def test_in_a_hook(first: bool) -> None:
    hook = HOOK.format(rate=RATE)
    lines = body(HEAD + (hook + MODEL if first else MODEL + hook) + HOOKED)
    assert "        print(10 * (FLAGS.batch_size * FLAGS.num_gpus) / duration)" in lines


def test_in_a_hook_that_is_given_the_size() -> None:
    given = HOOK.format(rate="self.size / duration").replace(
        "    def begin", "    def __init__(self, size):\n        self.size = size\n    def begin"
    )
    text = "\n".join(body(HEAD + given + MODEL + HOOKED.replace("Logger()", "Logger(FLAGS.batch_size)")))
    assert "Logger(FLAGS.batch_size * FLAGS.num_gpus)" in text
    assert "print(self.size / duration)" in text


@pytest.mark.parametrize(
    ("line", "changed"),
    [
        ("print(FLAGS.batch_size / duration)", "print((FLAGS.batch_size * FLAGS.num_gpus) / duration)"),
        (
            "print('%.1f examples/s' % (FLAGS.batch_size / duration))",
            "print('%.1f examples/s' % ((FLAGS.batch_size * FLAGS.num_gpus) / duration))",
        ),
        (
            "tf.logging.info('%f s', duration / FLAGS.batch_size)",
            "tf.logging.info('%f s', duration / (FLAGS.batch_size * FLAGS.num_gpus))",
        ),
        ("print('a batch has', FLAGS.batch_size)", "print('a batch has', FLAGS.batch_size)"),  # what the user gave
    ],
)
def test_in_the_loop(line: str, changed: str) -> None:
    assert changed in [each.strip() for each in body(HEAD + MODEL + LOOP.format(before="", line=line))]


def test_in_a_function_that_is_given_the_size() -> None:
    before = "def report(duration, size):\n    print(size / duration)"
    lines = body(HEAD + MODEL + LOOP.format(before=before, line="report(duration, FLAGS.batch_size)"))
    assert "        report(duration, FLAGS.batch_size * FLAGS.num_gpus)" in lines
    assert "    print(size / duration)" in lines


def test_total_counts_the_same_examples() -> None:
    script = HEAD + MODEL + LOOP.format(before="", line="print(FLAGS.batch_size / duration)")
    assert "        print(FLAGS.batch_size / duration)" in body(script, batch="total")
