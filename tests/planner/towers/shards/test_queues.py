"""Queues that a script makes itself: what comes out of them is the global batch."""

from __future__ import annotations

import pytest

from tests.scripts import MODEL, STEP, codes, parts

HEAD = """\
import tensorflow as tf

batch_size = 32
"""
TRAINING = """\
tf.train.add_queue_runner(tf.train.QueueRunner(q, [put]))
with tf.Session() as sess:
    for step in range(100):
        sess.run(train_op)
"""
MANY = "put = q.enqueue_many([xs, ys])\nX, Y = q.dequeue_many(batch_size)\n"
SHAPES = "[tf.float32, tf.float32], shapes=[[4], [1]])\n"


def script(queue: str, *lines: str) -> str:
    return HEAD + queue + "".join(line + "\n" for line in lines) + MODEL + STEP + TRAINING


@pytest.mark.parametrize(
    "queue",
    [
        "tf.FIFOQueue(100, " + SHAPES,
        "tf.FIFOQueue(capacity=100, dtypes=" + SHAPES,
        "tf.queue.FIFOQueue(100, " + SHAPES,
        "tf.PaddingFIFOQueue(100, " + SHAPES,
        "tf.RandomShuffleQueue(100, 50, " + SHAPES,
        "tf.RandomShuffleQueue(capacity=100, min_after_dequeue=50, dtypes=" + SHAPES,
    ],
)
def test_examples_put_together(queue: str) -> None:
    before, inside, _ = parts(script(f"q = {queue}", MANY))
    assert {"batch_size = 32 * num_gpus", "X, Y = q.dequeue_many(batch_size)"} <= set(before)
    assert "(X, Y), rows, weight = shard_static([X_batch, Y_batch], gpu)" in inside


def test_a_rest_may_be_smaller() -> None:
    _, inside, _ = parts(script(f"q = tf.FIFOQueue(100, {SHAPES}", MANY.replace("dequeue_many", "dequeue_up_to")))
    assert "(X, Y), rows, weight = shard([X_batch, Y_batch], gpu)" in inside


def test_one_component() -> None:
    lines = ("put = q.enqueue_many([xs])", "X = q.dequeue_many(batch_size)", "Y = tf.reduce_sum(X, 1)")
    _, inside, _ = parts(script("q = tf.FIFOQueue(100, tf.float32, [[4]])\n", *lines))
    assert "(X,), rows, weight = shard_static([X_batch], gpu)" in inside


def test_whole_batches_that_were_put_in() -> None:
    lines = ("xs, ys = tf.train.batch([x, y], batch_size)", "put = q.enqueue([xs, ys])", "X, Y = q.dequeue()")
    before, inside, _ = parts(script("q = tf.FIFOQueue(10, [tf.float32, tf.float32])\n", *lines))
    assert "batch_size = 32 * num_gpus" in before
    assert "(X, Y), rows, weight = shard([X_batch, Y_batch], gpu)" in inside


def test_the_shapes_of_the_queue_tell() -> None:
    lines = ("put = q.enqueue([xs, ys])", "X, Y = q.dequeue()")
    queue = "q = tf.FIFOQueue(10, [tf.float32, tf.float32], shapes=[[batch_size, 4], [batch_size, 1]])\n"
    before, inside, _ = parts(script(queue, *lines))
    assert "batch_size = 32 * num_gpus" in before
    assert "(X, Y), rows, weight = shard_static([X_batch, Y_batch], gpu)" in inside


def test_names_of_components() -> None:
    lines = (
        "put = q.enqueue_many({'x': xs, 'y': ys})",
        "both = q.dequeue_many(batch_size)",
        "X, Y = both['x'], both['y']",
    )
    queue = "q = tf.FIFOQueue(10, [tf.float32, tf.float32], [[4], [1]], names=['x', 'y'])\n"
    _, inside, _ = parts(script(queue, *lines))
    assert "(X, Y), rows, weight = shard_static([X_batch, Y_batch], gpu)" in inside


def test_a_queue_that_the_script_fills_in_runs_of_its_own() -> None:
    own = script(f"q = tf.FIFOQueue(100, {SHAPES}", MANY).replace("sess.run(train_op)", "sess.run([put, train_op])")
    assert codes(own) == ["TMG303"]
    before, _, _ = parts(own)
    assert "batch_size = 32" in before  # a larger batch could wait for ever


def test_an_element_of_which_nothing_tells_that_it_is_a_batch() -> None:
    lines = ("put = q.enqueue([image, image])", "X, Y = q.dequeue()")
    unknown = script("q = tf.FIFOQueue(10, [tf.float32, tf.float32])\n", *lines)
    assert codes(unknown) == ["TMG202"]
    assert codes(unknown, batch_axes=(("X", 0), ("Y", 0))) == ["TMG303"]


WINDOWS = """\
import tensorflow as tf

batch_size = 32
data = tf.reshape(raw[:batch_size * length], [{rows}, length])
i = {counter}
X = {x}
{shape}
Y = data[:, i + 1:i + 5]
"""
COUNTER = "tf.train.range_input_producer(steps, shuffle=False).dequeue()"
SLICED = "tf.strided_slice(data, [0, i], [batch_size, i + 4])"
FIXED = "X.set_shape([batch_size, 4])"


def windows(x: str = SLICED, rows: str = "batch_size", counter: str = COUNTER, shape: str = "") -> str:
    head = WINDOWS.format(x=x, rows=rows, counter=counter, shape=shape)
    return head + MODEL + STEP + TRAINING.replace("tf.train.add_queue_runner(tf.train.QueueRunner(q, [put]))\n", "")


@pytest.mark.parametrize("x", [SLICED, "data[:, i:i + 4]"])
def test_windows_of_a_matrix(x: str) -> None:
    before, inside, _ = parts(windows(x))
    assert "batch_size = 32 * num_gpus" in before and f"X = {x}" in before
    assert "(X, Y), rows, weight = shard([X_batch, Y_batch], gpu)" in inside


def test_windows_of_a_fixed_size() -> None:
    _, inside, _ = parts(windows(shape=FIXED + "\n").replace("i + 5]\n", "i + 5]\nY.set_shape([batch_size, 4])\n"))
    assert "(X, Y), rows, weight = shard_static([X_batch, Y_batch], gpu)" in inside


@pytest.mark.parametrize(
    "changed",
    [
        {"rows": "32"},  # of anything
        {"counter": "tf.constant(3)"},
        {"x": "tf.strided_slice(data, [1, i], [batch_size, i + 4])", "counter": "tf.constant(3)"},
    ],
)
def test_no_windows(changed: dict[str, str]) -> None:
    assert codes(windows(**changed)) == ["TMG202"]


FED = """\
xs = tf.placeholder(tf.float32, [None, 4])
ys = tf.placeholder(tf.float32, [None, 1])
q = tf.FIFOQueue(8, [tf.float32, tf.float32])
put = q.enqueue([xs, ys])
X, Y = q.dequeue()
X.set_shape([None, 4])
"""
THREAD = """\
def fill(sess):
    while True:
        taken = [next_example() for i in range(size)]
        sess.run(put, {xs: [row[0] for row in taken], ys: [row[1] for row in taken]})
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    threading.Thread(target=fill, args=(sess,)).start()
    for step in range(100):
        sess.run(train_op)
"""
COUNTED = THREAD.replace("while True", "for epoch in range(9)")


def filled(head: str, queue: str = FED, thread: str = THREAD) -> str:
    return "import threading\nimport tensorflow as tf\n" + head + queue + MODEL + STEP + thread


@pytest.mark.parametrize(
    ("head", "line"),
    [
        ("size = 32\n", "size = 32 * num_gpus"),
        ("batch_size = 32\nsize = batch_size\n", "batch_size = 32 * num_gpus"),
    ],
)
def test_whole_batches_that_a_thread_puts_in(head: str, line: str) -> None:
    before, inside, _ = parts(filled(head))
    assert line in before
    assert "(X, Y), rows, weight = shard([X_batch, Y_batch], gpu)" in inside
    assert codes(filled(head)) == []


@pytest.mark.parametrize(
    ("queue", "thread"),
    [
        (FED.replace("dequeue()", "dequeue_many(size)").replace("tf.float32])", "tf.float32], [[4], [1]])"), COUNTED),
        (FED, THREAD.replace("range(size)", "range(rest())")),
        (FED, THREAD.replace("range(size)", "range(size + 3)")),
        (FED, THREAD.replace("sess.run(put, {xs", "other.run(put, {xs")),  # what fills it is not seen
    ],
)
def test_batches_that_a_thread_puts_in_otherwise(queue: str, thread: str) -> None:
    assert "TMG303" in codes(filled("size = 32\n", queue, thread))


FLAT = """\
import tensorflow as tf

batch_size = 32
sizes = [3, 4, 5]


def flat(parts):
    found = []
    for part in parts:
        if {test}:
            found = found + list(part)
        else:
            found.append(part)
    return found


def regrouped(parts, numbers):
    found, at = [], 0
    for number in numbers:
        found.append(parts[at] if number == 1 else parts[at:at + number])
        at += number
    return found


scores = [tf.random_uniform([size]) for size in sizes]
batch = tf.train.batch(flat([tf.random_uniform([4]), scores]), batch_size)
X, scores = regrouped(batch, [1, len(scores)])
loss = 0.
for score in range(len(sizes)):
    loss += tf.reduce_mean(tf.square(tf.layers.dense(X, sizes[score]) - scores[score]))
"""


def test_a_list_of_components_that_the_script_flattens_and_groups_again() -> None:
    """`isinstance` of a tensor is known where its shape is."""
    script = FLAT.format(test="isinstance(part, (list, tuple))") + STEP + TRAINING.partition("\n")[2]
    _, inside, _ = parts(script)
    assert "(X,), rows, weight = shard_static([X_batch], gpu)" in inside
    assert "scores = map_structure(lambda t: shard_static([t], gpu)[0][0], scores_batch)" in inside


def test_components_of_which_only_a_run_knows_how_many_there_are() -> None:
    """None of them is taken for one that is not there: all are cut together."""
    _, inside, _ = parts(FLAT.format(test="is_list(part)") + STEP + TRAINING.partition("\n")[2])
    assert "batch = map_structure(lambda t: shard_static([t], gpu)[0][0], full_batch)" in inside


LATER = """\
import tensorflow as tf

batch_size = 32
rest = [tf.random_uniform([4])]
for part in parts_of(tf.random_uniform([4])):
    rest = rest + make(part)
batch = tf.train.batch([tf.random_uniform([4]), *rest], batch_size)
X, scores = batch[0], batch[5:9]
loss = 0.
for number in range(4):
    loss += tf.reduce_mean(tf.layers.dense(X, 1)) * tf.reduce_mean(scores[number])
"""


def test_components_behind_those_that_are_seen() -> None:
    _, inside, _ = parts(LATER + STEP + TRAINING.partition("\n")[2])
    assert "scores = map_structure(lambda t: shard_static([t], gpu)[0][0], scores_batch)" in inside
