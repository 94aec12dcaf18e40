"""`self.__x` is an attribute of the class in whose text it stands: another class has another name for it."""

from __future__ import annotations

import pytest

from tests.scripts import codes, converted

SCRIPT = """\
import tensorflow as tf


class Base(object):
    def __init__(self, x, y):
        self.x, self.y = x, y
        self.make()
        self.train_op = tf.train.AdamOptimizer(0.1).minimize(self.loss)

    def make(self):
        self.prepare()
        self.loss = tf.reduce_mean(tf.square(self.output() - self.y))
{between}
    def prepare(self):
        self.{name} = tf.layers.dense(self.x, 3)

    def output(self):
        return tf.layers.dense(self.{name}, 1)

{shown}

x = tf.placeholder(tf.float32, [None, 4])
y = tf.placeholder(tf.float32, [None, 1])
net = {made}(x, y)
{read}with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(100):
        xs, ys = next_batch(32)
        sess.run(net.train_op, {{x: xs, y: ys}})
"""
SHOWN = """\
    def shown(self):
        return tf.reduce_max(self.{name}, 1)
"""
SCRIPT = SCRIPT.replace("{shown}", SHOWN)
OTHER = {"between": "\n\nclass Net(Base):", "made": "Net"}
SAME = {"between": "", "made": "Base"}
READ = "highest = net.shown()\nprint(highest)\n"


@pytest.mark.parametrize(
    ("name", "classes", "written"),
    [
        ("__hidden", OTHER, False),  # it ended the script with an AttributeError
        ("__hidden", SAME, True),
        ("_hidden", OTHER, True),
        ("__hidden__", OTHER, True),
    ],
)
@pytest.mark.parametrize("unread", [True, False])
def test_a_private_attribute_of_another_class_is_left_alone(
    name: str, classes: dict[str, str], written: bool, unread: bool
) -> None:
    script = SCRIPT.format(name=name, read="", **classes)
    text = converted(script.replace(SHOWN.format(name=name), "") if unread else script)
    line = f"del self.{name}" if unread else f"self.{name} = tf.concat(tower_hidden, 0)"
    assert (line in text) == written


def test_a_private_attribute_of_another_class_that_is_read_later_is_refused() -> None:
    assert codes(SCRIPT.format(name="__hidden", read=READ, **OTHER)) == ["TMG290"]
