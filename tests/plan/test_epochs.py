"""The line that is said to count steps by the batch size."""

from __future__ import annotations

from pathlib import Path

import pytest

from converter.conversion import convert
from converter.options import Options
from converter.source import read
from tests.plan.test_decisions import decided

MODEL = """\
import numpy as np
import tensorflow as tf
n = 8
x = tf.placeholder(tf.float32, [None, 4])
errors = tf.square(tf.layers.dense(x, 1))
loss = tf.reduce_sum(errors) / n
step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
data = np.random.rand(64, 4)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in {}:
        sess.run(step, {{x: data[np.random.randint(64, size=n)]}})
"""


@pytest.mark.parametrize(("turns", "line"), [("range(9)", 0), ("range(64 // n)", 11), ("range(0, 64, n)", 11)])
def test_a_loss_divided_by_the_batch_size_counts_none(turns: str, line: int) -> None:
    said = decided(script=MODEL.format(turns))["epochs"]
    assert said.startswith(f"train.py:{line} counts" if line else "no line was seen"), said


CUTS = """\
def batches(data, size):
    count = int((len(data) - 1) / size) + 1
    for number in range(count):
        yield data[number * size:(number + 1) * size]


def thirds(number):
    return number / 3
"""
FED = """\
import tensorflow as tf
import helpers
{size}
x = tf.placeholder(tf.float32, [None, 4])
loss = tf.reduce_mean(tf.square(tf.layers.dense(x, 1)))
train_op = tf.train.AdamOptimizer().minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for rows in {batches}:
        sess.run(train_op, {{x: rows}})
    helpers.thirds(9)
"""
FLAG = "tf.app.flags.DEFINE_integer('rows', 16, '')\nn = tf.app.flags.FLAGS.rows"


@pytest.mark.parametrize(
    ("size", "batches", "counts"),
    [
        ("n = 16", "helpers.batches(data, n)", True),
        (FLAG, "helpers.batches(data, n)", True),
        (FLAG, "helpers.batches(data, tf.app.flags.FLAGS.rows)", True),
        ("n = 16", "[np.random.rand(n, 4) for i in range(9)]", False),
    ],
)
def test_a_line_of_a_file_that_stays_may_count_steps(tmp_path: Path, size: str, batches: str, counts: bool) -> None:
    (tmp_path / "helpers.py").write_text(CUTS)
    (tmp_path / "train.py").write_text("import numpy as np\n" + FED.format(size=size, batches=batches))
    done = convert(read(str(tmp_path / "train.py")), Options())
    said = {decision.topic: decision.text for decision in done.decisions}["epochs"]
    assert said.startswith("helpers.py:2 counts" if counts else "no line was seen"), said


@pytest.mark.parametrize("data", ["data", "data[:-1 * int(0.1 * len(data))]"])
def test_batches_may_be_taken_apart_before_they_are_fed(tmp_path: Path, data: str) -> None:
    (tmp_path / "helpers.py").write_text(CUTS)
    size = FLAG.replace("rows", "batch_size") + "\ndata = d.x"
    script = FED.format(size=size, batches=f"helpers.batches({data}, n)").replace("import helpers", "import helpers, d")
    script = script.replace("        sess.run", "        rows, _ = zip(*rows)\n        sess.run")
    (tmp_path / "train.py").write_text(script)
    done = convert(read(str(tmp_path / "train.py")), Options())
    said = {decision.topic: decision.text for decision in done.decisions}["epochs"]
    assert said.startswith("helpers.py:2 counts"), said


EVALUATED = """\
import numpy as np
import tensorflow as tf
n, eval_batch_size = 8, 16
x = tf.placeholder(tf.float32, [None, 4])
loss = tf.reduce_mean(tf.square(tf.layers.dense(x, 1)))
step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
data = np.random.rand(64, 4)


def rows(count):
    for i in range(64 // count):
        yield data[i * count:(i + 1) * count]


with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(64 // eval_batch_size):
        sess.run(loss, {{x: data[i * eval_batch_size:(i + 1) * eval_batch_size]}})
    for batch in {batches}:
        sess.run(step, {{x: batch}})
"""


@pytest.mark.parametrize(("batches", "line"), [("[np.random.rand(n, 4) for i in range(9)]", 0), ("rows(n)", 11)])
def test_batches_of_an_evaluation_count_no_steps(batches: str, line: int) -> None:
    """The batch size is told by where it comes from: not by a name that speaks of batches."""
    said = decided(script=EVALUATED.format(batches=batches))["epochs"]
    assert said.startswith(f"train.py:{line} counts" if line else "no line was seen"), said


TESTED = """\
import numpy as np
import tensorflow as tf
n = 8
x = tf.placeholder(tf.float32, [None, 4])
loss = tf.reduce_mean(tf.square(tf.layers.dense(x, 1)))
step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
data = np.random.rand(64, 4)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range({turns}):
        sess.run(step, {{x: data[np.random.randint(0, 64, n)]}})
        for j in range(0, 64, n):
            print(sess.run(loss, {{x: data[j:j + n]}}))
    total = np.floor(64 / n).astype(np.int16)
    for j in range(total):
        print(sess.run(loss, {{x: data[j * n:(j + 1) * n]}}))
"""


@pytest.mark.parametrize(("turns", "line"), [("100", 0), ("64 // n", 10), ("3 * int(np.ceil(64.0 / n))", 10)])
def test_only_what_trains_is_asked(turns: str, line: int) -> None:
    """A test between the steps, or behind them, goes over its rows in batches, and tells nothing of training."""
    said = decided(script=TESTED.format(turns=turns))["epochs"]
    assert said.startswith(f"train.py:{line} counts" if line else "no line was seen"), said


def test_the_line_is_told_where_the_number_is_made() -> None:
    """Also where other lines read it, too."""
    script = TESTED.format(turns="turns").replace("with tf", "turns = 64 // n\nprint(turns)\nwith tf", 1)
    assert decided(script=script)["epochs"].startswith("train.py:8 counts")


def test_a_loop_that_collects_the_rows_of_a_batch_counts_no_steps() -> None:
    rows = """\
def rows():
    found = np.zeros((n, 4))
    count = 0
    while count < n:
        found[count] = data[np.random.randint(64)]
        count += 1
    return found


with tf"""
    script = TESTED.format(turns="100").replace("with tf", rows, 1)
    script = script.replace("data[np.random.randint(0, 64, n)]", "rows()")
    assert decided(script=script)["epochs"].startswith("no line was seen")


TAKEN = """\
import numpy as np
import tensorflow as tf
import loaded
n = 8
x = tf.placeholder(tf.float32, [None, 4])
loss = tf.reduce_mean(tf.square(tf.layers.dense(x, 1)))
step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
data = loaded.rows()
total = data.shape[0]


def batches():
    rows = []
    {turn}
        if len(rows) == {full}:
            yield rows
            rows = []
        rows.append(one)
    yield rows


with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    pairs = [(a, b) for a, b in zip({starts}, {ends})]
    for i, rows in {over}:
        sess.run(step, {{x: rows}})
"""
GOES = "for one in data:"
DRAWN = "{x: data[np.random.randint(0, 64, n)]}"


@pytest.mark.parametrize(
    ("turn", "full", "line"),
    [
        (GOES, "n", 15),
        ("while True:\n        one = data[np.random.randint(9)]", "n", 0),  # the loop around the steps ends it
        (GOES, "5", 0),
    ],
)
def test_a_generator_of_full_batches_counts_by_what_fills_them(turn: str, full: str, line: int) -> None:
    over = "enumerate(batches())" if line else "zip(range(9), batches())"
    script = TAKEN.format(turn=turn, full=full, over=over, starts="[0]", ends="[1]")
    script = script if full == "n" else script.replace("{x: rows}", DRAWN)  # these rows are not the ones that are fed
    said = decided(script=script)["epochs"]
    assert said.startswith(f"train.py:{line} counts" if line else "no line was seen"), said


@pytest.mark.parametrize(
    ("starts", "ends", "counts"),
    [
        ("range(0, total - n, n)", "range(n, total, n)", True),
        ("range(total)", "range(1, total)", False),
        ("range(0, total, 5)", "range(5, total, 5)", False),
    ],
)
def test_pairs_of_ranges_count_as_the_ranges_do(starts: str, ends: str, counts: bool) -> None:
    script = TAKEN.format(turn=GOES, full="5", over="pairs", starts=starts, ends=ends)
    script = script.replace("{x: rows}", DRAWN)
    said = decided(script=script)["epochs"]
    assert said.startswith("train.py:24 counts" if counts else "no line was seen"), said


READ = """\
import numpy as np
import tensorflow as tf
data = tf.data.Dataset.from_tensor_slices(np.random.rand(640, 4)).repeat(3).batch(8)
x = data.make_one_shot_iterator().get_next()
loss = tf.reduce_mean(tf.square(tf.layers.dense(x, 1)))
count = tf.train.get_or_create_global_step()
step = tf.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=count)
"""
SESSION = "with tf.Session() as sess:\n    sess.run(tf.global_variables_initializer())\n"
CAUGHT = "    except tf.errors.OutOfRangeError:\n        print('end')\n"
MONITORED = "with tf.train.MonitoredTrainingSession({}) as sess:\n    while not sess.should_stop():\n"
AT_STEP = "hooks=[tf.train.StopAtStepHook(last_step=99)]"
UNTIL_THE_END = {
    "around": (SESSION + f"    try:\n        while True:\n            sess.run(step)\n{CAUGHT}", True),
    "within": (SESSION + "    while True:\n        try:\n            sess.run(step)\n"
               "        except tf.errors.OutOfRangeError:\n            break\n", True),
    "monitored": (MONITORED.format("") + "        sess.run(step)\n", True),
    "a step to stop at": (MONITORED.format(AT_STEP) + "        sess.run(step)\n", False),
    "asked to stop": (MONITORED.format("") + "        if sess.run([step, count])[1] > 50:\n"
                      "            sess.request_stop()\n", False),
    "some steps": (SESSION + "    for i in range(9):\n        sess.run(step)\n", False),
    "stopped after some": (SESSION + "    try:\n        while True:\n            if sess.run([step, count])[1] > 50:\n"
                           f"                break\n{CAUGHT}", False),
    "another error": (SESSION + "    try:\n        while True:\n            sess.run(step)\n"
                      "    except KeyboardInterrupt:\n        print('end')\n", False),
}  # fmt: skip


@pytest.mark.parametrize(("loop", "is_said"), UNTIL_THE_END.values(), ids=UNTIL_THE_END)
def test_a_loop_over_all_data_ends_after_fewer_steps(loop: str, is_said: bool) -> None:
    said = decided(script=READ + loop)["epochs"]
    line = next(n for n, text in enumerate((READ + loop).splitlines(), 1) if "while" in text or "for i" in text)
    there = f"train.py:{line} trains until the data ends, which takes 1/2 of the steps"
    assert (said == there) if is_said else said.startswith("no line was seen"), said
