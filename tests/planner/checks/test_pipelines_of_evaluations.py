"""Evaluations that read a pipeline of their own, whose batches grow with those of training."""

from __future__ import annotations

import pytest

from tests.scripts import codes, run

HEAD = """\
import numpy as np
import tensorflow as tf

batch_size = 16
train, valid = load()


def net(rows):
    with tf.variable_scope('net', reuse=tf.AUTO_REUSE):
        return tf.layers.dense(rows, 4, name='d')


def queue(rows, epochs=None):
    row, = tf.train.slice_input_producer([rows], num_epochs=epochs)
    return tf.train.batch([row], batch_size)


def records(files, epochs=None):
    _, text = tf.TFRecordReader().read(tf.train.string_input_producer(files, num_epochs=epochs))
    row = tf.parse_single_example(text, {'x': tf.FixedLenFeature([4], tf.float32)})['x']
    return tf.train.shuffle_batch([row], batch_size, 200, 50)


def data(rows, size=batch_size, **more):
    return tf.data.Dataset.from_tensor_slices(rows).batch(size, **more).make_one_shot_iterator().get_next()


def whole(rows, repeated=False):
    made = tf.data.Dataset.from_tensor_slices(rows)
    if repeated:
        made = made.repeat()
    return made.apply(tf.contrib.data.batch_and_drop_remainder(batch_size)).make_one_shot_iterator().get_next()


"""
MODEL = """\
loss = tf.reduce_mean(tf.square(net(x) - x))
error = tf.reduce_mean(tf.square(net(v) - v))
train_op = tf.train.AdamOptimizer(0.01).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(len(train) // batch_size):
        sess.run(train_op)
"""
COUNTED = "    for step in range(len(valid) // batch_size):\n        print(sess.run(error))\n"
ENDLESS = "    while True:\n        print(sess.run(error))\n"


def script(x: str, v: str, read: str) -> str:
    return f"{HEAD}x = {x}\nv = {v}\n{MODEL}{read}"


@pytest.mark.parametrize("v", ["queue(valid)", "records(valid)", "data(valid)", "whole(valid, True)"])
def test_a_loop_over_whole_batches_of_a_pipeline_is_told(v: str) -> None:
    text = script("queue(train)", v, COUNTED)
    loop = next(number for number, line in enumerate(text.splitlines(), 1) if "range(len(valid)" in line)
    assert [(d.code, d.line) for d in run(text).diagnostics] == [("TMG345", loop)]
    assert codes(text, batch="total") == []


@pytest.mark.parametrize(
    ("x", "v"),
    [
        ("queue(train)", "queue(valid, 1)"),
        ("queue(train)", "records(valid, 2)"),
        ("data(train)", "data(valid, drop_remainder=True)"),
        ("whole(train)", "whole(valid)"),
    ],
)
def test_a_pipeline_that_leaves_out_its_last_batch_is_told(x: str, v: str) -> None:
    assert codes(script(x, v, ENDLESS)) == ["TMG345"]
    assert codes(script(x, v, ENDLESS), batch="total") == []


@pytest.mark.parametrize(
    ("x", "v", "read"),
    [
        ("queue(train)", "queue(valid)", ENDLESS),  # begins again with the first row
        ("queue(train, 1)", "queue(valid)", ENDLESS),
        ("whole(train)", "whole(valid, True)", ENDLESS),
        ("whole(train)", "data(valid)", ENDLESS),
        ("whole(train)", "data(valid, 10, drop_remainder=True)", ENDLESS),
        ("data(train, drop_remainder=True)", "data(valid)", ENDLESS),
        ("queue(train)", "queue(valid)", COUNTED.replace("len(valid) // batch_size", "len(valid) // 10")),
        ("queue(train)", "queue(valid)", COUNTED.replace("len(valid) // batch_size", "1 + len(valid) // 25")),
        ("queue(train)", "queue(valid)", ""),
        ("queue(train)", "queue(valid)", "        print(sess.run([loss, error]))\n"),  # in the loop that trains
    ],
)
def test_others_leave_out_no_more_than_before(x: str, v: str, read: str) -> None:
    assert codes(script(x, v, read)) == []


def test_a_queue_with_a_smaller_last_batch_leaves_out_none() -> None:
    text = script("queue(train)", "queue(valid, 1)", ENDLESS)
    assert codes(text.replace("([row], batch_size)", "([row], batch_size, allow_smaller_final_batch=True)")) == []


@pytest.mark.parametrize(
    ("training", "validation", "expected"),
    [
        ("queue(train)", "queue(valid, 1)", ["TMG345"]),
        ("records(train)", "records(valid, 1)", ["TMG345"]),
        ("queue(train)", "queue(valid)", []),  # begins again with the first row
        ("queue(train, 1)", "queue(valid, 1)", []),  # no longer told from training than it was before
    ],
)
def test_a_mode_that_reads_its_data_once(training: str, validation: str, expected: list[str]) -> None:
    """A condition that is asked once chooses the pipeline, and what a step fetches."""
    text = f"""{HEAD}
def main(training):
    if training:
        rows = {training}
    else:
        rows = {validation}
    x = tf.placeholder(tf.float32, [None, 4])
    loss = tf.reduce_mean(tf.square(net(x) - x))
    train_op = tf.train.AdamOptimizer(0.01).minimize(loss)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for step in range(100):
            print(sess.run(train_op if training else loss, {{x: sess.run(rows)}}))


main(load('mode') == 'train')
"""
    assert codes(text) == expected
