"""Random draws that a larger batch makes otherwise: of batches in a random order, and from replay buffers."""

from __future__ import annotations

import textwrap

import pytest

from tests.scripts import INPUTS, MODEL, STEP, body, codes

HEAD = (
    INPUTS
    + MODEL
    + STEP
    + """\
import random
import collections
import numpy as np
from collections import deque
images, targets = np.random.rand(640, 4), np.random.rand(640, 1)
sess = tf.Session()
"""
)
FED = "{X: images[k * batch_size:(k + 1) * batch_size], Y: targets[k * batch_size:(k + 1) * batch_size]}"
PAIR = "(images[i:i + batch_size], targets[i:i + batch_size])"
LISTED = f"batches = [{PAIR} for i in range(0, 640, batch_size)]\n"
FILLED = f"batches = []\nfor i in range(0, 640, batch_size):\n    batches.append({PAIR})\n"
TAKEN = "for a, b in batches:\n    sess.run(train_op, {X: a, Y: b})\n"
NUMBERED = f"for k in order:\n    sess.run(train_op, {FED})\n"


@pytest.mark.parametrize(
    "lines",
    [
        LISTED + "random.shuffle(batches)\n" + TAKEN,
        FILLED + "random.shuffle(batches)\n" + TAKEN,
        LISTED + "np.random.shuffle(batches)\n" + TAKEN,
        LISTED + "random.Random(3).shuffle(batches)\n" + TAKEN,
        "order = np.random.RandomState(3).permutation(640 // batch_size)\n" + NUMBERED,
        "rng = np.random.default_rng(3)\norder = rng.permutation(640 // batch_size)\n" + NUMBERED,
        "order = np.random.permutation(640 // batch_size)\n" + NUMBERED,
        "order = np.random.permutation(range(640 // batch_size))\n" + NUMBERED,
        "order = list(range(640 // batch_size))\nrandom.shuffle(order)\n" + NUMBERED,
        "order = np.arange(640 // batch_size)\nnp.random.shuffle(order)\n" + NUMBERED,
        "count = len(images) // batch_size\norder = random.sample(range(count), count)\n" + NUMBERED,
    ],
)
def test_batches_in_a_random_order(lines: str) -> None:
    assert codes(HEAD + lines) == ["TMG347"]
    assert codes(HEAD + lines, batch="total") == []
    assert "batch_size = 32 * num_gpus" in body(HEAD + lines)


BEGINS = "for begin in range(0, 640, batch_size):\n    rows = order[begin:begin + batch_size]\n"
ROWS = BEGINS + "    sess.run(train_op, {X: images[rows], Y: targets[rows]})\n"
BATCH = "    sess.run(train_op, {X: np.array([r[0] for r in batch]), Y: np.array([r[1] for r in batch])})\n"
ADDED = "    memory.append((observe(), 1.0))\n"


@pytest.mark.parametrize(
    "lines",
    [
        "order = np.random.permutation(640)\n" + ROWS,
        "order = np.random.permutation(len(images))\n" + ROWS,
        "order = list(range(640))\nrandom.shuffle(order)\n" + ROWS,
        "order = np.arange(len(images))\nnp.random.shuffle(order)\n" + ROWS,
        LISTED + TAKEN,
        "for step in range(9):\n    rows = np.random.choice(640, batch_size, replace=False)\n"
        "    sess.run(train_op, {X: images[rows], Y: targets[rows]})\n",
        "for step in range(9):\n    rows = np.random.randint(0, 640, batch_size)\n"
        "    sess.run(train_op, {X: images[rows], Y: targets[rows]})\n",
        "memory = []\nfor n in range(99):\n" + ADDED + "for step in range(9):\n"
        "    batch = random.sample(memory, batch_size)\n" + BATCH,
    ],
)
def test_draws_that_do_not_depend_on_the_batch(lines: str) -> None:
    assert codes(HEAD + lines) == []


@pytest.mark.parametrize(
    "lines",
    [
        "memory = []\nfor n in range(999):\n" + ADDED + "    batch = random.sample(memory, batch_size)\n" + BATCH,
        "for episode in range(9):\n    memory = []\n    for n in range(999):\n"
        + textwrap.indent(ADDED + "    batch = random.sample(memory, batch_size)\n" + BATCH, "    "),
        "memory, rng = [], random.Random(3)\nfor n in range(999):\n"
        + ADDED
        + "    batch = rng.sample(memory, batch_size)\n"
        + BATCH,
        "memory = deque(maxlen=99)\nfor n in range(999):\n"
        + ADDED
        + "    batch = random.sample(memory, batch_size)\n"
        + BATCH,
        "memory = collections.deque()\nfor n in range(999):\n"
        + ADDED
        + "    rows = np.random.choice(len(memory), batch_size, replace=False)\n    batch = [memory[r] for r in rows]\n"
        + BATCH,
        "class Memory:\n    def __init__(self):\n        self.rows = []\n"
        "    def add(self, row):\n        self.rows.append(row)\n"
        "    def sample(self, count):\n        return random.sample(self.rows, count)\n"
        "memory = Memory()\nfor n in range(999):\n    memory.add((observe(), 1.0))\n"
        "    batch = memory.sample(batch_size)\n" + BATCH,
    ],
)
def test_rows_of_a_replay_buffer(lines: str) -> None:
    assert codes(HEAD + lines) == ["TMG348"]
    assert codes(HEAD + lines, batch="total") == []
