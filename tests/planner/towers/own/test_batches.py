"""A batch of its own for each tower, out of a queue or an iterator that gives one example of any size a step."""

from __future__ import annotations

import pytest

from tests.scripts import body, codes, run

HEAD = """\
import numpy as np
import tensorflow as tf


def parse(record):
    kinds = {'high': tf.FixedLenFeature([], tf.int64), 'image': tf.FixedLenFeature([], tf.string),
             'boxes': tf.FixedLenFeature([], tf.string), 'name': tf.FixedLenFeature([], tf.string)}
    features = tf.parse_single_example(record, kinds)
    image = tf.reshape(tf.decode_raw(features['image'], tf.float32), [features['high'], -1, 3])
    boxes = tf.reshape(tf.decode_raw(features['boxes'], tf.float32), [-1, 4])
    return image, boxes, features['name']


def near(guess, boxes):
    return np.abs(guess - boxes.mean(0)).astype('float32')


"""
QUEUE = """\
def next_batch(path, batch_size):
    queue = tf.train.string_input_producer([path])
    _, record = tf.TFRecordReader().read(queue)
    return tf.train.batch(list(parse(record)), batch_size, dynamic_pad=True)


"""
DATA = """\
def next_batch(path, batch_size):
    data = tf.data.TFRecordDataset(path).map(parse).repeat().batch(batch_size)
    return data.make_one_shot_iterator().get_next()


"""
MODEL = """\
images, boxes_batch, names = next_batch('examples.tfrecord', 1)
boxes = tf.squeeze(boxes_batch, 0)
hidden = tf.layers.conv2d(images, 8, 3)
guess = tf.layers.dense(tf.reduce_mean(hidden, [1, 2]), 4)
far = tf.py_func(near, [guess, boxes], tf.float32)
far.set_shape([1, 4])
box_loss = tf.reduce_mean(tf.square(boxes - guess) * tf.to_float(tf.greater(far, 0.1)))
loss = box_loss + 0.1 * tf.reduce_mean(tf.square(hidden))
tf.summary.image('image', images)
summary = tf.summary.merge_all()
train_op = tf.train.MomentumOptimizer(0.01, 0.9).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    tf.train.start_queue_runners(sess)
    for step in range(100):
        _, value, part, name, _ = sess.run([train_op, loss, box_loss, names, summary])
        print(step, value, part, name)
"""
OWN = "        (images, boxes_batch), rows, weight = own_batches([images_batch, full_boxes_batch], gpu)"


@pytest.mark.parametrize("source", [QUEUE, DATA])
def test_batches_of_one_example(source: str) -> None:
    lines = body(HEAD + source + MODEL)
    assert OWN in lines
    assert "images, boxes_batch, names = next_batch('examples.tfrecord', 1)" in lines
    assert "tower_box_loss.append(box_loss * weight)" in "".join(lines)  # a term of the loss is a mean, as the loss is
    assert codes(HEAD + source + MODEL) == ["TMG393"]
    (warning,) = run(HEAD + source + MODEL).diagnostics
    assert ": names; " in warning.message  # the first tower's, as they are only printed


def test_examples_without_a_batch_axis() -> None:
    single = DATA.replace(".batch(batch_size)", "")
    model = MODEL.replace("images, boxes_batch,", "image, boxes,").replace(
        "boxes = tf.squeeze(boxes_batch, 0)", "images = tf.expand_dims(image, 0)"
    )
    assert "        (image, boxes), rows, weight = own_batches([image_batch, boxes_batch], gpu)" in body(
        HEAD + single + model
    )


@pytest.mark.parametrize(
    ("source", "old", "new"),
    [
        (DATA, ".batch(batch_size)", ".padded_batch(batch_size, ([None, None, 3], [None, 4], []))"),
        (DATA, ".repeat()", ".repeat(-1)"),
        (QUEUE, "([path])", "([path], num_epochs=None)"),
        (QUEUE, "for step in range(100)", "for step in range(10 * 20)"),
        (QUEUE, "for step in range(100)", "while not tf.train.Coordinator().should_stop()"),
    ],
)
def test_other_pipelines(source: str, old: str, new: str) -> None:
    script = HEAD + source + MODEL
    assert old in script
    if "while" in new:
        script = script.replace("print(step, ", "print(")
    assert OWN in body(script.replace(old, new))


# Near misses: examples would be left over, or counted, or are better cut from a batch of several.
@pytest.mark.parametrize(
    ("source", "old", "new"),
    [
        # the data ends: the last of them are fewer than the towers
        (QUEUE, "([path])", "([path], num_epochs=3)"),
        (QUEUE, "([path])", "([path], 3)"),
        (QUEUE, "([path])", "([path], **options)"),
        (DATA, ".repeat()", ""),
        (DATA, ".repeat()", ".repeat(5)"),
        (DATA, ".repeat()", ".repeat().take(50)"),
        # the loop counts examples
        (DATA, "range(100)", "range(num_examples)"),
        (DATA, "range(100)", "range(len(load()))"),
        (DATA, "in range(100)", "in load()"),
        (DATA, "print(step,", "if step % num_examples == 0:\n            print('epoch')\n        print(step,"),
        # several examples in each batch
        (QUEUE, "tfrecord', 1)", "tfrecord', 8)"),
        # a value of the first tower's example alone goes elsewhere
        (DATA, "print(step, value, part, name)", "np.save('name.npy', name)"),
        (DATA, "print(step, value, part, name)", "if name == b'last':\n            break"),
        (DATA, "loss, box_loss, names", "loss, tf.reduce_max(images), names"),
    ],
)
def test_near_misses(source: str, old: str, new: str) -> None:
    before = "num_examples, options = len(load()), {'num_epochs': 2}\n"
    script = HEAD + "from data import load\n" + source + before + MODEL
    assert "own_batches(" in (run(script).text or "")
    if "reduce_max" in new:
        script = script.replace("print(step, value, part,", "np.save('part.npy', part)\n        print(step, value,")
    assert old in script
    assert "own_batches(" not in (run(script.replace(old, new)).text or "")


def test_batches_of_one_shape_are_cut() -> None:
    fixed = QUEUE.replace("list(parse(record))", "fixed(*parse(record))")
    shapes = """\
def fixed(image, boxes, name):
    return [tf.reshape(image, [9, 9, 3]), tf.reshape(boxes, [2, 4]), name]


"""
    text = run(HEAD + shapes + fixed + MODEL).text or ""
    assert "own_batches(" not in text


def test_the_script_s_batch_as_the_total_cannot_be_shared() -> None:
    assert "own_batches(" not in (run(HEAD + DATA + MODEL, batch="total").text or "")


DRAWN = """\
def draw(image, boxes, scores):
    image = np.array(image * 255 / np.max(image), np.uint8)
    for box, score in zip(boxes.astype(int), scores):
        if score > 0:
            mark(image, box)
    return image


def mark(image, box):
    image[box[0]:box[2], box[1]:box[3]] = 255


def with_boxes(images, boxes, scores):
    picture = tf.cast(tf.squeeze(images, 0), tf.float32)
    boxes = tf.stop_gradient(boxes)
    drawn = tf.py_func(draw, inp=[picture, boxes, scores], Tout=[tf.uint8])
    return tf.reshape(drawn, tf.shape(images))


"""
PICKED = "found = tf.gather(boxes + guess, tf.reshape(tf.where(boxes[:, 0] > 0.5), [-1]))\n"
SHOWN = "tf.summary.image('boxes', with_boxes(images, found, tf.ones([tf.shape(found)[0]])))\n"


def drawn(old: str = "", new: str = "", shown: str = SHOWN) -> str:
    """The script with boxes of the example that are picked in the model, and drawn for a summary."""
    model = MODEL.replace("far = tf", PICKED + "far = tf").replace(
        "(hidden))", "(hidden)) + 0.1 * tf.reduce_sum(found)"
    )
    model = model.replace("summary = tf", shown + "summary = tf")
    script = HEAD + DRAWN + QUEUE + model
    assert old in script
    return script.replace(old, new)


def test_boxes_of_the_first_tower_are_drawn_on_its_picture() -> None:
    script = drawn()
    lines = body(script)
    assert "tower_found.append((found, rows, weight))" in "".join(lines)
    (warning,) = run(script).diagnostics
    assert warning.code == "TMG393" and "found" in warning.message


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("        if score > 0:", "        kept.append(box)\n        if score > 0:"),  # may decide something later
        ("image[box[0]:box[2], box[1]:box[3]] = 255", "last[0] = box"),
        ("    for box, score in", "    global count\n    for box, score in"),
        ("inp=[picture, boxes, scores]", "inp=[picture, boxes, limits]"),  # has the rows of another batch
        ("tf.py_func(draw,", "tf.py_func(drawing(),"),  # not seen
        ("tf.py_func(draw,", "tf.py_func(load,"),
    ],
)
def test_boxes_that_are_not_only_drawn(old: str, new: str) -> None:
    above = "from data import drawing, load\nkept, last = [], [0]\nlimits = tf.placeholder(tf.float32, [None, 4])\n"
    script = drawn(old, new).replace("def parse", above + "\n\ndef parse")
    assert "own_batches(" not in (run(script).text or "")
    assert "own_batches(" in (run(drawn().replace("def parse", above + "\n\ndef parse")).text or "")
