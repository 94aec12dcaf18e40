"""Lists and arrays that Python makes with the batch size."""

from __future__ import annotations

import pytest

from tests.scripts import INPUTS, STEP, TRAINING, codes, converted

USED = "out = tf.layers.dense(X, 1)\nloss = tf.reduce_mean(tf.square(out - Y) * tf.reshape({rows}, [-1, 1]))\n"


def script(made: str, rows: str = "weights", behind: str = "") -> str:
    return "import numpy as np\n" + INPUTS + made + USED.format(rows=rows) + STEP + behind + TRAINING


@pytest.mark.parametrize(
    "made",
    [
        "weights = [1.0] * batch_size\n",
        "weights = np.array([1.0] * batch_size, dtype='f')\n",
        "weights = np.ones([batch_size])\n",
        "weights = np.full(batch_size, 2.0)\n",
        "weights = np.tile(np.array([0.5, 1.5]), (batch_size, 3, 1))\n",
        "weights = np.tile(np.array([[0.5, 1.5]]), (batch_size, 1))\n",
    ],
)
def test_each_tower_makes_its_own(made: str) -> None:
    text = converted(script(made))
    assert f"        {made}" in text and "        batch_size = shard_size(global_batch_size, gpu)\n" in text


@pytest.mark.parametrize(
    ("made", "behind"),
    [
        ("weights = np.arange(batch_size, dtype='f')\n", ""),
        ("weights = np.random.rand(batch_size)\n", ""),
        ("weights = np.tile(np.array([0.5, 1.5]), (batch_size,))\n", ""),
        ("weights = np.tile(np.array([0.5, 1.5]), batch_size)\n", ""),
        ("weights = np.tile(np.array([[0.5], [1.5]]), (batch_size, 3))\n", ""),
        ("weights = np.tile(load(), (batch_size, 1))\n", ""),
        ("weights = np.ones([batch_size], 'f')\n", "print(weights.sum())\n"),
    ],
    ids=["numbers of rows", "drawn", "repeated", "repeated once", "of two rows", "of a file", "read later, too"],
)
def test_rows_that_differ_or_are_read_elsewhere_are_refused(made: str, behind: str) -> None:
    assert codes(script(made, behind=behind)) == ["TMG207"]


def test_rows_that_another_function_makes_are_refused() -> None:
    text = """
import tensorflow as tf


class Net(object):
    def __init__(self, batch_size):
        self.batch_size = batch_size
        self.weights = [1.0] * batch_size

    def build(self):
        self.X = tf.placeholder(tf.float32, [None, 4])
        self.Y = tf.placeholder(tf.float32, [None, 1])
        error = tf.square(tf.layers.dense(self.X, 1) - self.Y)
        self.loss = tf.reduce_mean(error * tf.reshape(self.weights, [-1, 1]))
        self.step = tf.train.GradientDescentOptimizer(0.1).minimize(self.loss)


net = Net(32)
net.build()
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        xs, ys = next_batch(net.batch_size)
        sess.run(net.step, {net.X: xs, net.Y: ys})
"""
    assert codes(text) == ["TMG207"]


@pytest.mark.parametrize("made", ["[5] * batch_size", "np.array([5] * batch_size)"])
def test_lengths_are_made_by_each_tower_unless_something_else_reads_them(made: str) -> None:
    text = f"""
import numpy as np
import tensorflow as tf

batch_size = 32
lengths = {made}
X = tf.placeholder(tf.float32, [None, 6, 4])


def build():
    _, state = tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(3), X, lengths, dtype=tf.float32)
    return tf.reduce_mean(tf.square(state))


loss = build()
step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    for i in range(100):
        sess.run(step, {{X: next_batch(batch_size)}})
"""
    assert f"        lengths = {made}\n" in converted(text)
    assert f"X, {made}, dtype" in converted(text.replace(" lengths,", f" {made},"))
    assert codes(text + "print(len(lengths))\n") == ["TMG207"]


MASKED = "out = tf.layers.dense(X, 6)\n{made}loss = tf.reduce_mean(tf.square(out) * mask) + tf.reduce_mean(out - Y)\n"


@pytest.mark.parametrize(
    ("lengths", "inside"),
    [
        ("[4] * batch_size", True),
        ("tf.constant([4] * batch_size)", True),
        ("np.array(batch_size * [4])", True),
        ("[4]", False),
    ],
)
def test_a_mask_with_a_row_for_each_example_is_made_by_each_tower(lengths: str, inside: bool) -> None:
    made = f"mask = tf.sequence_mask({lengths}, 6, tf.float32)\n"
    text = converted("import numpy as np\n" + INPUTS + MASKED.format(made=made) + STEP + TRAINING)
    assert (f"        {made}" in text) == inside
    assert ("batch_size = shard_size(global_batch_size, gpu)" in text) == inside


IN_CONSTRUCTOR = """
import tensorflow as tf


class Net(object):
    def __init__(self, batch_size, start=0):
        self.batch_size = batch_size
        self.start = tf.constant({rows} * self.batch_size)
        self.table = tf.get_variable('table', [10, 4])
        self.x = tf.placeholder(tf.float32, [None, 4])
{build}

net = Net(32)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        sess.run(net.step, {{net.x: next_batch(net.batch_size)}})
"""
BUILD = """\
        first = tf.nn.embedding_lookup(self.table, self.start)
        self.loss = tf.reduce_mean(tf.square(first + self.x))
        self.step = tf.train.GradientDescentOptimizer(0.1).minimize(self.loss)
"""


def test_a_constant_of_one_row_for_each_example_is_made_by_each_tower() -> None:
    text = converted(IN_CONSTRUCTOR.format(rows="[start]", build=BUILD))
    assert text.index("for gpu in range(") < text.index("self.start = tf.constant([start] * self.batch_size)")


IN_METHOD = "        self.build()\n\n    def build(self):\n" + BUILD


def test_a_constant_that_another_function_makes_is_cut() -> None:
    text = converted(IN_CONSTRUCTOR.format(rows="[start]", build=IN_METHOD))
    assert "(self.start, self.x), rows, weight = shard([start_batch, x_batch], gpu)" in text


def test_a_constant_of_two_rows_for_each_example_is_refused() -> None:
    assert codes(IN_CONSTRUCTOR.format(rows="[start, 1]", build=IN_METHOD)) == ["TMG207"]


NUMBERED = """\
labels = tf.cast(tf.reshape(Y, [-1]), tf.int32)
out = tf.layers.dense(X, 3)
{made}places = tf.stack([{numbers}, labels], axis=1)
picked = tf.gather_nd(out, places)
loss = tf.reduce_mean(tf.square(picked))
"""


@pytest.mark.parametrize(
    "numbers",
    [
        "tf.constant(list(range(0, batch_size)), tf.int32)",
        "tf.constant(np.arange(batch_size), tf.int32)",
        "tf.convert_to_tensor(list(range(batch_size)))",
    ],
)
def test_rows_that_python_numbers_in_the_model_are_those_of_a_tower(numbers: str) -> None:
    text = "import numpy as np\n" + INPUTS + NUMBERED.format(made="", numbers=numbers) + STEP
    text += TRAINING.replace("sess.run(train_op,", "sess.run([train_op, picked],")
    assert codes(text) == [] and "picked = tf.concat(tower_picked, 0)" in converted(text)


@pytest.mark.parametrize(
    ("made", "numbers"),
    [
        ("", "tf.constant(list(range(1, batch_size + 1)), tf.int32)"),
        ("", "tf.constant(list(range(0, 2 * batch_size, 2)), tf.int32)"),
        ("", "tf.constant(list(range(rows)), tf.int32)"),
    ],
)
def test_other_numbers_are_not_those_of_the_rows(made: str, numbers: str) -> None:
    text = "import numpy as np\n" + INPUTS + "rows = load()\n" + NUMBERED.format(made=made, numbers=numbers) + STEP
    text += TRAINING.replace("sess.run(train_op,", "sess.run([train_op, picked],")
    assert "tower_picked" not in converted(text) and "TMG302" in codes(text)


@pytest.mark.parametrize("made", ["numbers = list(range(batch_size))\n", "numbers = np.arange(batch_size)\n"])
def test_numbers_of_all_rows_under_a_name_are_refused(made: str) -> None:
    text = "import numpy as np\n" + INPUTS + made + NUMBERED.format(made="", numbers="tf.constant(numbers)") + STEP
    assert "TMG207" in codes(text + TRAINING)


def test_a_loop_over_the_rows_of_a_tower() -> None:
    looped = (
        "rows = range(batch_size)\nparts = [tf.layers.dense(X, 1, name='out', reuse=tf.AUTO_REUSE) for _ in rows]\n"
    )
    text = INPUTS + looped + "loss = tf.reduce_mean(tf.square(tf.add_n(parts) - Y))\n" + STEP + TRAINING
    assert "TMG207" not in codes(text)


BESIDE = """\
state = tf.layers.dense(X, 3)
out = tf.layers.dense({used}, 1)
loss = tf.reduce_mean(tf.square(out - Y))
"""
CONSTANT = "end = tf.constant({}, dtype=tf.float32)\n"
ENDS = "end = np.zeros([batch_size, 3])\n{}end = tf.constant(end, dtype=tf.float32)\n"


@pytest.mark.parametrize("used", ["tf.concat([state, end], 1)", "tf.stack([state, end], 1)[:, 0]", "state + end"])
@pytest.mark.parametrize(
    "made",
    [
        CONSTANT.format("np.zeros([batch_size, 3])"),
        CONSTANT.format("np.ones((batch_size, 3), dtype='f')"),
        CONSTANT.format("np.full([batch_size, 3], 0.5)"),
        ENDS.format("end[:, 2] = 1.0\n"),
        ENDS.format("end[:, 2] = np.ones([batch_size])\n"),
        ENDS.format("end[:] = 0.5\n"),
    ],
)
def test_a_constant_of_rows_that_are_alike_is_made_by_each_tower(made: str, used: str) -> None:
    """The towers read the whole batch's rows beside their own, which ended the script."""
    text = converted("import numpy as np\n" + INPUTS + made + BESIDE.format(used=used) + STEP + TRAINING)
    assert "".join(f"        {line}\n" for line in made.splitlines()) in text
    assert "        batch_size = shard_size(global_batch_size, gpu)\n" in text


def test_a_constant_of_rows_that_are_alike_is_merged_by_rows() -> None:
    made = CONSTANT.format("np.zeros([batch_size, 3])") + "ends = tf.layers.dense(end, 3)\n"
    text = (
        "import numpy as np\n" + INPUTS + made + BESIDE.format(used="state + ends") + STEP + "print(ends)\n" + TRAINING
    )
    assert "ends = tf.concat(tower_ends, 0)" in converted(text)


@pytest.mark.parametrize(
    ("made", "total", "per_gpu"),
    [
        (CONSTANT.format("np.random.rand(batch_size, 3)"), ["TMG207"] * 2, ["TMG207"]),
        (ENDS.format("end[0, 2] = 1.0\n"), ["TMG207"], []),  # a batch's first row, in each of the towers' batches
        (ENDS.format("end[:4] = 1.0\n"), ["TMG207"], []),
        (ENDS.format("end[:, 2] = load()\n"), ["TMG207"], []),
        (CONSTANT.format("np.zeros([1, 3])") + "end = tf.tile(end, [batch_size, 1])\n", [], []),
    ],
)
def test_a_constant_of_rows_that_differ(made: str, total: list[str], per_gpu: list[str]) -> None:
    text = "import numpy as np\n" + INPUTS + made + BESIDE.format(used="tf.concat([state, end], 1)") + STEP + TRAINING
    assert codes(text, batch="total") == total
    assert codes(text) == per_gpu
