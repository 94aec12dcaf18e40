"""Conversions in which each tower has an example of its own: what proves them, and the faults that it finds."""

from __future__ import annotations

from pathlib import Path

import pytest

from converter.options import Options
from tests.own_examples import DICTS, READER
from tests.proofs import verdict_of

TRAINED = """\
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(4):
        blobs = reader.forward()
        feed = {image: blobs['image'], boxes: blobs['boxes']}
        print(sess.run([train_op, loss, box_loss], feed_dict=feed)[1:])
        held = Reader(5).forward()
        print(sess.run([loss, box_loss], {image: held['image'], boxes: held['boxes']}))
"""
PLACEHOLDERS = (
    READER
    + """\
image = tf.placeholder(tf.float32, [1, None, None, 3])
boxes = tf.placeholder(tf.float32, [None, 4])
hidden = tf.layers.conv2d(image, 8, 3)
guess = tf.layers.dense(tf.reduce_mean(hidden, [1, 2]), 4)
box_loss = tf.reduce_mean(tf.square(boxes - guess))
loss = box_loss + 0.1 * tf.reduce_mean(tf.square(hidden))
train_op = tf.train.MomentumOptimizer(0.01, 0.9).minimize(loss)
reader = Reader(20)
"""
    + TRAINED
)
MODEL = (
    READER
    + """\
class Net(object):
    def __init__(self):
        self.image = tf.placeholder(tf.float32, [None, None, None, 3], name='image')
        self.boxes = tf.placeholder(tf.float32, [None, 4])
        self.hidden = tf.layers.conv2d(self.image, 8, 3)
        self.guess = tf.layers.dense(tf.reduce_mean(self.hidden, [1, 2]), 4)


net = Net()
image, boxes = net.image, net.boxes
box_loss = tf.reduce_mean(tf.square(boxes - net.guess))
loss = box_loss + 0.1 * tf.reduce_mean(tf.square(net.hidden))
train_op = tf.train.MomentumOptimizer(0.01, 0.9).minimize(loss)
reader = Reader(20)
"""
    + TRAINED
)

QUEUED = """\
import numpy as np
import tensorflow as tf


def made(number):
    return np.full([8 + int(number) % 2, 8, 3], number / 20.0, np.float32)


numbers = np.arange(20).astype(np.float32)
number, name = tf.train.slice_input_producer([numbers, np.array(['image %d' % i for i in range(20)])], shuffle=False)
image = tf.py_func(made, [number], tf.float32)
image.set_shape([None, None, 3])
names, images = tf.train.batch([name, image], batch_size=1, dynamic_pad=True)
loss = tf.reduce_mean(tf.square(tf.layers.conv2d(images, 8, 3) - 1.0))
train_op = tf.train.MomentumOptimizer(0.01, 0.9).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    coord = tf.train.Coordinator()
    threads = tf.train.start_queue_runners(sess, coord)
    for step in range(4):
        print(sess.run([train_op, loss, names])[1:])
    coord.request_stop()
    coord.join(threads)
"""


def proven(text: str, python: str, folder: Path, gpus: int, change: tuple[str, str] = ("", "")) -> str:
    return verdict_of(text, python, folder, Options(num_gpus=gpus, line_length=100), change)


@pytest.mark.one_in(6)
@pytest.mark.tf1
@pytest.mark.parametrize(("text", "gpus"), [(PLACEHOLDERS, 3), (MODEL, 2), (DICTS, 2)])
def test_an_example_for_each_tower(text: str, gpus: int, tensorflow_python: str, tmp_path: Path) -> None:
    assert proven(text, tensorflow_python, tmp_path, gpus) == "passed"


@pytest.mark.tf2
def test_an_example_for_each_tower_on_tensorflow_2(tensorflow_python: str, tmp_path: Path) -> None:
    assert proven(PLACEHOLDERS, tensorflow_python, tmp_path, 2) == "passed"


@pytest.mark.one_in(6)
@pytest.mark.tf1
@pytest.mark.parametrize(
    ("change", "verdict"),
    [
        (("feed_dict=feed_for_towers(feed)", "feed_dict={k: v.values[0] for k, v in feed.items()}"), "failed batch"),
        (("OfTowers(reader(", "OfTowers([reader("), "failed data"),
        (("loss * weight", "loss"), "failed gradients"),
        (("tower_loss.append(loss * weight)", "tower_loss.append(loss * weight * 1.5)"), "failed loss"),
        (("tower_box_loss.append(box_loss * weight)", "tower_box_loss.append(box_loss)"), "failed fetches"),
    ],
    ids=["one example", "the same for all", "summed", "another loss", "a sum of what is shown"],
)
def test_faults(change: tuple[str, str], verdict: str, tensorflow_python: str, tmp_path: Path) -> None:
    if "[reader(" in change[1]:
        change = "OfTowers(reader(*args, **kwargs) for _ in range(num_gpus))", "OfTowers([reader()] * num_gpus)"
    assert proven(PLACEHOLDERS, tensorflow_python, tmp_path, 2, change) == verdict


@pytest.mark.tf1
@pytest.mark.parametrize(
    ("change", "verdict"),
    [
        (("", ""), "passed"),
        (("loss, names])[1:]", "loss, images[0, 0, 0]])[1:]"), "failed fetches"),
        (("loss, names])[1:]", "loss, names + ''])[1:]"), "failed fetches"),
    ],
    ids=["shown", "another value", "computed of it"],
)
def test_what_is_read_beside_an_example_is_the_first_tower_s(
    change: tuple[str, str], verdict: str, tensorflow_python: str, tmp_path: Path
) -> None:
    assert proven(QUEUED, tensorflow_python, tmp_path, 2, change) == verdict
