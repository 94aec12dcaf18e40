"""A model of one of two classes, which an expression chooses: `Small(x) if flag else Large(x)`."""

from __future__ import annotations

import pytest

from tests.scripts import converted

SCRIPT = """\
import argparse
import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument('--small', action='store_true')
args = parser.parse_args()
batch_size = 32


class Small(object):
    def __init__(self, x, y):
        self.out = tf.layers.dense(x, 1)
        self.loss = tf.reduce_mean(tf.square(self.out - y))


class Large(object):
    def __init__(self, x, y):
        self.out = tf.layers.dense(tf.layers.dense(x, 64), 1)
        self.loss = tf.reduce_mean(tf.square(self.out - y))


X = tf.placeholder(tf.float32, [None, 4])
Y = tf.placeholder(tf.float32, [None, 1])
{model}
train_op = tf.train.AdamOptimizer(0.01).minimize(model.loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        xs, ys = next_batch(batch_size)
        sess.run(train_op, {{X: xs, Y: ys}})
"""


@pytest.mark.parametrize(
    "model",
    [
        "model = Small(X, Y) if args.small else Large(X, Y)",
        "model = (Small if args.small else Large)(X, Y)",
        "make = Small if args.small else Large\nmodel = make(X, Y)",
        "if args.small:\n    model = Small(X, Y)\nelse:\n    model = Large(X, Y)",
    ],
)
def test_the_loss_is_that_of_the_model_that_was_chosen(model: str) -> None:
    assert "model.loss = tf.add_n(tower_loss)" in converted(SCRIPT.format(model=model))


CHOSEN = """\
import argparse
import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument('--model', default='small')
args = parser.parse_args()
batch_size = 32


class Base(object):
    def __init__(self, size):
        self.x = tf.placeholder(tf.float32, [None, 4])
        self.y = tf.placeholder(tf.float32, [None, 1])
        self.held = {{}}
        {out} = self.net(size)
        self.loss = tf.reduce_mean(tf.square({out} - self.y))
        self.step = tf.train.AdamOptimizer(0.01).minimize(self.loss)


class Small(Base):
    def net(self, size):
        return tf.layers.dense(self.x, 1)


class Large(Base):
    def net(self, size):
        {hidden} = tf.layers.dense(self.x, size)
        return tf.layers.dense({hidden}, 1)


MODELS = {{'small': Small, 'large': Large}}
model = MODELS[args.model]
model = model(8)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        xs, ys = next_batch(batch_size)
        sess.run([model.step, {read}], {{model.x: xs, model.y: ys}})
"""


@pytest.mark.parametrize("out", ["self.out", "out"])
@pytest.mark.parametrize("hidden", ["hidden", "self.hidden", "self.held['hidden']"])
def test_one_of_two_classes_that_build_with_the_constructor_of_their_base(out: str, hidden: str) -> None:
    text = converted(CHOSEN.format(out=out, hidden=hidden, read="model.loss"))
    assert "self.loss = tf.add_n(tower_loss)" in text
    assert ("        del self.out\n" in text) == (out == "self.out")
    assert text.count("del self.") == (out == "self.out")  # an attribute that one class makes is not there in the other


@pytest.mark.parametrize("one", ["Small", "Large"])
def test_an_attribute_that_one_class_makes_is_not_deleted_in_another(one: str) -> None:
    other = "Large" if one == "Small" else "Small"
    branches = f"if args.model:\n    model = {one}(8)\nelse:\n    model = {other}(8)\n"
    script = CHOSEN.format(out="self.out", hidden="self.hidden", read="model.loss")
    text = converted(script.replace("model = MODELS[args.model]\nmodel = model(8)\n", branches))
    assert "        del self.out\n" in text and text.count("del self.") == 1


def test_what_is_read_of_one_of_two_classes_is_merged() -> None:
    text = converted(CHOSEN.format(out="self.out", hidden="hidden", read="model.out"))
    assert "self.out = tf.concat(tower_out, 0)" in text and "del self.out" not in text
