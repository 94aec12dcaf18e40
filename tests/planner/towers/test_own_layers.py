"""Layers whose class the script derives from those of TensorFlow: `build` runs once, and `call` in each tower."""

from __future__ import annotations

from pathlib import Path

import pytest

from converter.verify import VerifySettings, verify
from tests.scripts import codes, converted, run

HEAD = """\
import numpy as np
import tensorflow as tf

drawn = np.random.RandomState(1)


def next_batch(n):
    return drawn.rand(n, 8), drawn.rand(n, 4)


"""
SCOPED = """\
class Own(tf.layers.Layer):
    def __init__(self, dim):
        super(Own, self).__init__()
        self.dim = dim

    def build(self, shape):
        self.w = self.add_weight('w', [int(shape[-1]), self.dim])
        super(Own, self).build(shape)

    def call(self, x):
        b = tf.get_variable('b', [self.dim], initializer=tf.zeros_initializer())
        return tf.layers.dense(tf.matmul(x, self.w) + b, self.dim)
"""
KERAS = """\
class Own(tf.keras.layers.Layer):
    def __init__(self, dim):
        super(Own, self).__init__()
        self.dim = dim

    def build(self, input_shape):
        self.w = self.add_weight(name='w', shape=(input_shape[-1], self.dim), trainable=True)
        super(Own, self).build(input_shape)

    def call(self, x):
        return tf.nn.tanh(tf.matmul(x, self.w))
"""
PARTS = """\
class Own(tf.keras.{base}):
    def __init__(self, dim):
        super(Own, self).__init__()
        self.one = tf.keras.layers.Dense(dim)
        self.two = [tf.keras.layers.Dense(dim) for _ in range(2)]

    def call(self, x):
        x = tf.nn.relu(self.one(x))
        for layer in self.two:
            x = layer(x)
        return x
"""
CLASSES = {
    "scoped": SCOPED,
    "keras": KERAS,
    "parts": PARTS.format(base="layers.Layer"),
    "model": PARTS.format(base="Model"),
}
REST = """

def net(x):
    return tf.layers.dense(Own(5)(x), 4)


batch_size = 16
X = tf.placeholder(tf.float32, [None, 8])
Y = tf.placeholder(tf.float32, [None, 4])
{model}
loss = tf.reduce_mean(tf.square(out - Y))
train_op = tf.train.AdamOptimizer(0.01).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(6):
        xs, ys = next_batch(batch_size)
        sess.run([train_op, loss], {{X: xs, Y: ys}})
"""
IN_FRONT = "own = Own(5)\nout = tf.layers.dense(own(X), 4)"
MODELS = {
    "made in front of the towers": IN_FRONT,
    "made by each tower": "out = net(X)",
    "called twice": "own = Own(8)\nout = tf.layers.dense(own(own(X)), 4)",
    "two of one class": "out = tf.layers.dense(Own(6)(Own(5)(X)), 4)",
}


def script(own: str, model: str = IN_FRONT) -> str:
    return HEAD + own + REST.format(model=model)


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
@pytest.mark.parametrize("own", CLASSES.values(), ids=CLASSES)
def test_its_call_is_followed(own: str, model: str) -> None:
    assert "reuse=gpu > 0" in converted(script(own, model))


def test_a_mask_that_the_script_gives_is_an_argument_like_others() -> None:
    own = KERAS.replace("def call(self, x):", "def call(self, x, mask):")
    assert "reuse=gpu > 0" in converted(script(own, IN_FRONT.replace("own(X)", "own(X, Y)")))


@pytest.mark.parametrize("own", [KERAS, PARTS.format(base="layers.Layer")], ids=["its own weight", "layers of its own"])
def test_weights_that_each_tower_would_make_are_shared(own: str) -> None:
    assert "shared_variables" in converted(script(own, "out = net(X)"))
    assert "shared_variables" not in converted(script(SCOPED, "out = net(X)"))


BODY = "        return tf.nn.tanh("


@pytest.mark.parametrize(
    "own",
    [
        KERAS.replace(BODY, "        self.add_loss(tf.reduce_mean(x))\n" + BODY),
        KERAS.replace(BODY, "        self.add_update(tf.assign(self.w, 0.0 * self.w))\n" + BODY),
        KERAS.replace("def call(self, x):", "def call(self, x, mask=None):"),
        KERAS.replace("def call(", "def called("),
        KERAS + "\n    def __call__(self, x):\n        return 2.0 * super(Own, self).__call__(x)\n",
        KERAS.replace("tf.matmul(x, self.w)", "unseen(x, self.w)"),
    ],
    ids=["adds a loss", "adds an update", "is given a mask", "no call", "the library's call", "unseen code"],
)
def test_refused_where_the_library_does_more_or_code_is_not_seen(own: str) -> None:
    assert codes(script(own)) == ["TMG241"]


def test_examples_that_it_mixes_are_seen() -> None:
    """It is no mean over the examples any more."""
    mixed = KERAS.replace("tf.matmul(x, self.w)", "tf.matmul(x, self.w) * tf.reduce_max(x)")
    assert [found.code for found in run(script(mixed)).diagnostics] == ["TMG302"]
    assert run(script(KERAS)).diagnostics == ()


@pytest.mark.tf1
@pytest.mark.one_in(20)
@pytest.mark.parametrize("gpus", [2, 3])
@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
@pytest.mark.parametrize("own", CLASSES.values(), ids=CLASSES)
def test_it_is_proven(own: str, model: str, gpus: int, tmp_path: Path, tensorflow_python: str) -> None:
    (tmp_path / "single.py").write_text(script(own, model))
    (tmp_path / "multi.py").write_text(converted(script(own, model)))
    settings = VerifySettings(gpus=gpus, python=tensorflow_python)
    assert verify(tmp_path / "single.py", tmp_path / "multi.py", settings).verdict == "passed"
