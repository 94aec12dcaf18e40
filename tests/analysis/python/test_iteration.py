"""Loops over objects of the script: what their methods give tells batches from settings, and the size of a batch."""

from __future__ import annotations

import pytest

from tests.scripts import codes, converted

SCRIPT = """\
import numpy as np
import tensorflow as tf
{imports}
images, labels = np.load('images.npy'), np.load('labels.npy')


class Loader(object):
    def __init__(self, batch_size):
        self.batch_size = batch_size
        self.count = 0

    def __len__(self):
        return len(images) // self.batch_size

{methods}

X = tf.placeholder(tf.float32)
Y = tf.placeholder(tf.float32)
w = tf.get_variable('w', [4, 1])
loss = tf.reduce_mean(tf.square(tf.matmul(X, w) - Y))
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
loader = Loader(32)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for {target} in {over}:
        sess.run(train_op, {{X: data[0], Y: data[1]}})
"""
BY_NEXT = """\
    def __iter__(self):
        return self

    def __next__(self):
        if self.count == len(self):
            raise StopIteration
        xs, ys = np.zeros((self.batch_size, 4)), np.zeros((self.batch_size, 1))
        for i in range(self.batch_size):
            xs[i], ys[i] = images[self.count * self.batch_size + i], labels[self.count * self.batch_size + i]
        self.count += 1
        return xs, ys
"""
BY_PYTHON_2 = BY_NEXT.replace("__next__", "next")
BY_GENERATOR = """\
    def __iter__(self):
        for begin in range(0, len(images), self.batch_size):
            yield images[begin:begin + self.batch_size], labels[begin:begin + self.batch_size]
"""
BY_INDEX = """\
    def __getitem__(self, index):
        begin = index * self.batch_size
        return images[begin:begin + self.batch_size], labels[begin:begin + self.batch_size]
"""


def script(methods: str, over: str = "loader", target: str = "data", imports: str = "") -> str:
    return SCRIPT.format(methods=methods, over=over, target=target, imports=imports)


@pytest.mark.parametrize("methods", [BY_NEXT, BY_PYTHON_2, BY_GENERATOR, BY_INDEX])
def test_what_an_object_gives_tells_that_a_batch_is_fed(methods: str) -> None:
    text = converted(script(methods))
    assert "loader = Loader(32 * num_gpus)\n" in text
    assert "(X, Y), rows, weight = shard([X_batch, Y_batch], gpu)" in text


@pytest.mark.parametrize(
    ("over", "target", "imports"),
    [
        ("enumerate(loader)", "_, data", ""),
        ("list(loader)", "data", ""),
        ("tqdm(loader)", "data", "from tqdm import tqdm"),
        ("tqdm.tqdm(loader, total=len(loader))", "data", "import tqdm"),
        ("tqdm(enumerate(loader))", "_, data", "from tqdm.auto import tqdm"),
        ("zip(range(10), loader)", "_, data", ""),
        ("[next(loader) for _ in range(3)]", "data", ""),
    ],
)
def test_what_python_and_progress_bars_go_over_goes_through_them(over: str, target: str, imports: str) -> None:
    assert "loader = Loader(32 * num_gpus)\n" in converted(script(BY_NEXT, over, target, imports))


@pytest.mark.parametrize(
    "methods",
    [
        "    def __iter__(self):\n        return iter(read())\n",
        "    def __next__(self):\n        return read()\n",
        "    def __iter__(self):\n        return self\n\n    def __next__(self):\n        return 1., 2.\n",
        "    def __iter__(self):\n        return self\n\n    def __next__(self):\n        pass\n",
        "    pass\n",
    ],
)
def test_an_object_that_does_not_tell_what_it_gives(methods: str) -> None:
    assert codes(script(methods)) == ["TMG202"]


def test_an_iterator_that_gives_itself_without_an_end_is_left() -> None:
    methods = "    def __iter__(self):\n        for one in self:\n            yield one\n"
    assert codes(script(methods)) == ["TMG202"]


LISTED = """\
import numpy as np
import tensorflow as tf

images, labels = np.load('images.npy'), np.load('labels.npy')
batch_size = 32


def batches():
    for begin in range(0, len(images), batch_size):
        yield images[begin:begin + batch_size], labels[begin:begin + batch_size]


X = tf.placeholder(tf.float32, [None, 4])
Y = tf.placeholder(tf.float32, [None, 1])
loss = tf.reduce_mean(tf.square(tf.layers.dense(X, 1) - Y))
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
left = list(batches())
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    while left:
        xs, ys = {taken}
        sess.run(train_op, {{X: xs, Y: ys}})
"""


def test_batches_that_are_taken_off_a_list_are_others_in_each_turn() -> None:
    assert "batch_size = 32 * num_gpus\n" in converted(LISTED.format(taken="left.pop(0)"))


@pytest.mark.parametrize("taken", ["left.pop()", "left[0]"])
def test_batches_in_another_order_or_always_the_same_are_shared(taken: str) -> None:
    """Of larger batches the last two are not the last one, in front of the one before it."""
    assert "batch_size = 32\n" in converted(LISTED.format(taken=taken))
