"""Models of Keras's own classes that a session's model calls: their variables belong to all towers."""

from __future__ import annotations

from pathlib import Path

import pytest

from converter.verify import VerifySettings, verify
from tests.scripts import codes, converted, run

FRONT = """\
import numpy as np
import tensorflow as tf

drawn = np.random.RandomState(1)


def next_batch(n):
    return drawn.rand(n, 6), drawn.rand(n, 4)


"""
REST = """

batch_size = 16
X = tf.placeholder(tf.float32, [None, 6])
Y = tf.placeholder(tf.float32, [None, 4])
out = {out}
loss = tf.reduce_mean(tf.square(out - Y))
train_op = tf.train.AdamOptimizer(0.01).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(6):
        xs, ys = next_batch(batch_size)
        sess.run([train_op, loss], {{X: xs, Y: ys}})
"""
DENSE = "tf.keras.layers.Dense"
IN_A_LIST = f"net = tf.keras.Sequential([{DENSE}(5, activation='relu'), {DENSE}(4)])"
ADDED = f"net = tf.keras.models.Sequential()\nnet.add({DENSE}(5, input_shape=(6,)))\nnet.add({DENSE}(4))"
IN_ANOTHER = f"inner = tf.keras.Sequential([{DENSE}(5)])\nnet = tf.keras.Sequential([inner, {DENSE}(4)])"
SEQUENTIALS = {"layers in a list": IN_A_LIST, "layers added": ADDED, "one in another": IN_ANOTHER}
FUNCTIONAL = f"read = tf.keras.layers.Input([6])\nnet = tf.keras.Model(read, {DENSE}(4)({DENSE}(5)(read)))"


def script(made: str, out: str = "net(X)") -> str:
    return FRONT + made + REST.format(out=out)


def in_function(made: str, given: str = "net(x)") -> str:
    """The script whose towers each make the model."""
    body = "".join(f"    {line}\n" for line in made.splitlines())
    return script(f"def build(x):\n{body}    return {given}", "build(X)")


@pytest.mark.parametrize("made", SEQUENTIALS.values(), ids=SEQUENTIALS)
def test_the_layers_of_a_sequential_are_followed_and_their_variables_shared(made: str) -> None:
    for text in (script(made), in_function(made)):
        assert not run(text).diagnostics
        assert "shared_variables" in converted(text)


@pytest.mark.parametrize(
    "text",
    [
        script(FUNCTIONAL),
        in_function(FUNCTIONAL),
        in_function("net = tf.keras.applications.MobileNet(weights=None, classes=4)"),
        in_function("net = tf.keras.applications.MobileNet(input_tensor=x, weights=None, classes=4)", "net.output"),
        script("net = tf.keras.layers.SimpleConvolution(4)"),
    ],
    ids=["functional", "made by each tower", "an application", "on a tensor", "a layer that is not known"],
)
def test_variables_of_other_models_are_shared_and_what_they_give_is_warned_of(text: str) -> None:
    assert [found.code for found in run(text).diagnostics] == ["TMG302"]
    assert "shared_variables" in converted(text)


def test_a_layer_that_mixes_the_batch_is_seen_in_a_sequential() -> None:
    mixed = IN_A_LIST.replace("Dense(4)]", "Dense(4), tf.keras.layers.Lambda(lambda v: v / tf.reduce_max(v))]")
    assert mixed != IN_A_LIST
    assert [found.code for found in run(script(mixed)).diagnostics] == ["TMG302"]


@pytest.mark.parametrize(
    "made",
    [
        "net = tf.contrib.unseen.Net(5)",
        "net = tf.contrib.unseen.Net([5, 4])",
        "net = tf.contrib.unseen.Net()",
        IN_A_LIST + "\nnet = unseen(net)",
    ],
    ids=["a number", "a list", "nothing", "changed by code that is not seen"],
)
def test_refused_where_an_object_of_the_library_is_not_known(made: str) -> None:
    """Whatever it is made of: it may make variables in each tower."""
    assert codes(script(made)) == ["TMG241"]


@pytest.mark.tf1
@pytest.mark.parametrize(
    "text",
    [in_function(IN_A_LIST), script(ADDED), in_function(FUNCTIONAL), script(IN_ANOTHER)],
    ids=["layers in a list", "layers added", "functional", "one in another"],
)
def test_it_is_proven(text: str, tmp_path: Path, tensorflow_python: str) -> None:
    (tmp_path / "single.py").write_text(text)
    (tmp_path / "multi.py").write_text(converted(text))
    settings = VerifySettings(python=tensorflow_python)
    assert verify(tmp_path / "single.py", tmp_path / "multi.py", settings).verdict == "passed"
