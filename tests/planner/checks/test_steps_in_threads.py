"""Training steps in threads: several at once are warned of; one thread, or threads that take turns, are not."""

from __future__ import annotations

import pytest

from tests.scripts import INPUTS, MODEL, STEP, body, codes, run

WORK = """\
import random, threading
sess = tf.Session()
xs, ys = load()
def work(number=0):
    for step in range(9):
        sess.run(train_op, {X: random.sample(xs, batch_size), Y: random.sample(ys, batch_size)})
class Worker:
    def __init__(self, session):
        self.session = session
    def work(self):
        self.session.run(train_op, {X: random.sample(xs, batch_size), Y: random.sample(ys, batch_size)})
class Runner(threading.Thread):
    def __init__(self, number):
        super().__init__()
        self.number = number
    def run(self):
        sess.run(train_op, {X: random.sample(xs, batch_size), Y: random.sample(ys, batch_size)})
"""
SCRIPT = INPUTS + MODEL + STEP + WORK


@pytest.mark.parametrize(
    "threads",
    [
        "threads = [threading.Thread(target=work) for _ in range(4)]\n",
        "threads = [threading.Thread(target=lambda: work(n)) for n in range(4)]\n",
        "threads = [threading.Thread(target=Worker(sess).work) for n in range(4)]\n",
        "for n in range(4):\n    threading.Thread(target=work, args=(n,)).start()\n",
        "a = threading.Thread(None, work)\nb = threading.Thread(None, work)\n",
        "runners = [Runner(n) for n in range(4)]\nfor runner in runners:\n    runner.start()\n",
        "import _thread\nfor n in range(4):\n    _thread.start_new_thread(work, (n,))\n",
        "from functools import partial\nfor n in range(4):\n    threading.Thread(target=partial(work, n)).start()\n",
    ],
)
def test_several_at_once(threads: str) -> None:
    assert codes(SCRIPT + threads) == ["TMG346"]
    assert "batch_size = 32 * num_gpus" in body(SCRIPT + threads)


@pytest.mark.parametrize(
    "threads",
    [
        "thread = threading.Thread(target=work)\nthread.start()\nthread.join()\n",
        "for n in range(4):\n    thread = threading.Thread(target=work)\n    thread.start()\n    thread.join()\n",
        "runner = Runner(0)\nrunner.start()\nrunner.join()\n",
        "work()\nload_balancer().start()\n",
        "work()\n[threading.Thread(target=print) for _ in range(4)]\n",
        "work()\nloaders = [threading.Thread(target=lambda: load()) for _ in range(4)]\n",
        "work()\n",
    ],
)
def test_one_at_a_time(threads: str) -> None:
    assert codes(SCRIPT + threads) == []


def test_a_size_that_is_given_to_a_thread_is_followed() -> None:
    given = """\
import random, threading
sess = tf.Session()
def work(xs, ys, rows):
    for step in range(9):
        sess.run(train_op, {X: random.sample(xs, rows), Y: random.sample(ys, rows)})
thread = threading.Thread(target=work, args=(*load(), batch_size))
other = threading.Thread(target=work, kwargs={'rows': batch_size, 'xs': load(), 'ys': load()})
"""
    lines = body(INPUTS + MODEL + STEP + given.replace("*load(), ", "load(), load(), "))
    assert "batch_size = 32 * num_gpus" in lines


CHOSEN = """\
if {test}:
    train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
{other}
    train_op = tf.train.AdamOptimizer(0.1).minimize(loss)
"""


@pytest.mark.parametrize(
    ("train", "found"),
    [
        (CHOSEN.format(test="plain()", other="else:"), "TMG346"),  # one of them is the step of all threads
        (CHOSEN.format(test="plain()", other="if other():"), "TMG248"),
        (STEP + "train_op = [train_op, tf.train.AdamOptimizer(0.1).minimize(loss)]\n", "TMG248"),
    ],
)
def test_steps_of_which_a_script_takes_one(train: str, found: str) -> None:
    begun = "threads = [threading.Thread(target=work) for _ in range(4)]\n"
    assert found in codes(INPUTS + MODEL + train + WORK + begun)


WORKERS = """\
import threading
import tensorflow as tf
batch_size = 32
optimizer = tf.train.RMSPropOptimizer(0.01)
sess = tf.Session()
class Worker:
    def __init__(self, name):
        with tf.variable_scope(name):
            self.x = tf.placeholder(tf.float32, [None, 4])
            self.loss = tf.reduce_mean(tf.layers.dense(self.x, 1))
        self.train = optimizer.minimize(self.loss)
    def work(self):
        for step in range(9):
            sess.run(self.train, {self.x: load(batch_size)})
"""


def test_workers_with_a_model_each_are_refused() -> None:
    made = "workers = [Worker('w%d' % n) for n in range(3)]\n"
    begun = "for worker in workers:\n    threading.Thread(target=lambda: worker.work()).start()\n"
    (found,) = run(WORKERS + made + begun).diagnostics
    assert (found.code, found.severity) == ("TMG248", "error")
    assert "tf.device('/gpu:%d' % (i % number))" in found.hint
    assert codes(WORKERS + "worker = Worker('w')\nthreading.Thread(target=worker.work).start()\n") == []
