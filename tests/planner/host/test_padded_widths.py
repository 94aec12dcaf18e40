"""Batches that are padded to their longest sequence: the larger batch is wider, which a loss may depend on."""

from __future__ import annotations

import pytest

from tests.scripts import codes

HEAD = """\
import numpy as np
import tensorflow as tf
from keras.preprocessing.sequence import pad_sequences
from tensorflow.python.keras.preprocessing import sequence

batch_size = 8
data, tags, classes = load_sentences()
"""
MODEL = """\
x = tf.placeholder(tf.int32, [None, None])
y = tf.placeholder(tf.int32, {shape})
n = tf.placeholder(tf.int32, [None])
e = tf.nn.embedding_lookup(tf.get_variable('table', [40, 6]), x)
cell = tf.nn.rnn_cell.GRUCell(5)
out, state = tf.nn.dynamic_rnn(cell, e, {lengths}dtype=tf.float32)
{loss}
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
"""
LOSSES = "losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=tf.layers.dense(out, 3))\n"
MASK = LOSSES + "mask = tf.sequence_mask(n, dtype=tf.float32)\n"
TOLD = "sequence_length=n, "
LOOP = """\
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(0, len(data), batch_size):
        batch = data[i:i + batch_size]
        sess.run(train_op, {x: pad(batch), y: TARGETS, n: [len(s) for s in batch]})
"""
FILLED = """\
    rows = np.full(({rows}, longest), 1)
    for i, s in enumerate(batch):
        rows[i, :len(s)] = s
    return rows
"""
LONGEST = "def pad(batch):\n    longest = max(map(len, batch))\n" + FILLED.format(rows="batch_size")


def script(pad: str = LONGEST, loss: str = LOSSES + "loss = tf.reduce_mean(losses)", lengths: str = TOLD) -> str:
    """A tagger, or a classifier where the loss is one of the state."""
    tagged = "state" not in loss
    model = MODEL.format(shape="[None, None]" if tagged else "[None]", lengths=lengths, loss=loss)
    given = "pad(tags[i:i + batch_size])" if tagged else "classes[i:i + batch_size]"
    return HEAD + pad + model + LOOP.replace("TARGETS", given)


CLASSES = "loss = tf.losses.sparse_softmax_cross_entropy(y, tf.layers.dense(state, 3))"


@pytest.mark.parametrize(
    ("loss", "lengths", "found"),
    [
        (LOSSES + "loss = tf.reduce_mean(losses)", TOLD, ["TMG349"]),  # over all positions
        (MASK + "loss = tf.reduce_mean(losses * mask)", TOLD, ["TMG349"]),  # its denominator counts all
        ("loss = tf.losses.sparse_softmax_cross_entropy(y, tf.layers.dense(out, 3))", TOLD, ["TMG349"]),
        (LOSSES.replace("labels=y", "labels=tf.reshape(y, [-1])").replace("(out,", "(tf.reshape(out, [-1, 5]),")
         + "loss = tf.reduce_mean(losses)", TOLD, ["TMG349"]),
        (CLASSES, "", ["TMG349"]),  # the state behind the padding
        (CLASSES, "sequence_length=None, ", ["TMG349"]),
        (CLASSES, TOLD, []),
        (CLASSES, "n, ", []),
        (CLASSES, "tf.reduce_sum(tf.sign(x), 1), ", []),
        (MASK + "loss = tf.reduce_sum(losses * mask) / tf.reduce_sum(mask)", TOLD, []),
        (MASK + "loss = tf.reduce_mean(tf.reduce_sum(losses * mask, 1))", TOLD, []),
        (LOSSES + "loss = tf.reduce_mean(tf.boolean_mask(losses, tf.sequence_mask(n)))", TOLD, []),
        ("loss = tf.reduce_mean(-tf.contrib.crf.crf_log_likelihood(tf.layers.dense(out, 3), y, n)[0])", TOLD, []),
        ("loss = tf.contrib.seq2seq.sequence_loss(tf.layers.dense(out, 3), y, tf.sequence_mask(n, dtype=tf.float32))",
         TOLD, []),
    ],
)  # fmt: skip
def test_losses_that_depend_on_the_padding(loss: str, lengths: str, found: list[str]) -> None:
    assert codes(script(loss=loss, lengths=lengths)) == found
    assert codes(script(loss=loss, lengths=lengths), batch="total") == []  # the batch is the original's


LISTS = "def pad(batch):\n    longest = {}\n    return [s + [1] * (longest - len(s)) for s in batch]\n"


@pytest.mark.parametrize(
    "pad",
    [
        LISTS.format("max([len(s) for s in batch])"),
        LISTS.format("max(len(s) for s in batch)"),
        LISTS.format("len(max(batch, key=len))"),
        LISTS.format("np.max([len(s) for s in batch])"),
        "def pad(batch):\n    longest = max(map(lambda s: len(s), batch))\n    rows = []\n    for s in batch:\n"
        "        rows.append(s[:longest] + [0] * max(longest - len(s), 0))\n    return rows\n",
        "def pad(batch):\n    lengths = np.array([len(s) for s in batch])\n    longest = lengths.max()\n"
        + FILLED.format(rows="len(batch)"),
        "def pad(batch):\n    longest = 0\n    for s in batch:\n        longest = max(longest, len(s))\n"
        + FILLED.format(rows="len(batch)"),
        "def pad(batch):\n    longest = 0\n    for s in batch:\n        if len(s) > longest:\n"
        "            longest = len(s)\n" + FILLED.format(rows="len(batch)"),
        "def pad(batch):\n    return pad_sequences(batch, padding='post')\n",
        "def pad(batch):\n    return sequence.pad_sequences(batch, padding='post')\n",
        "def pad(batch):\n    return pad_sequences(batch, maxlen=max(len(s) for s in batch))\n",
    ],
)
def test_ways_to_pad(pad: str) -> None:
    assert codes(script(pad)) == ["TMG349"]


@pytest.mark.parametrize(
    "pad",
    [
        "longest = 20\n\n\ndef pad(batch):\n" + FILLED.format(rows="batch_size"),
        "longest = max(map(len, data))\n\n\ndef pad(batch):\n" + FILLED.format(rows="batch_size"),  # of all data
        "longest = 0\nfor s in data:\n    longest = max(longest, len(s))\n\n\ndef pad(batch):\n"
        "    return [s + [1] * (longest - len(s)) for s in batch]\n",
        "def pad(batch):\n    return pad_sequences(batch, 20)\n",
        "def pad(batch):\n    return pad_sequences(batch, maxlen=20)\n",
        "data = pad_sequences(data)\ntags = pad_sequences(tags)\n\n\ndef pad(batch):\n    return batch\n",
        "def pad(batch):\n    longest = 20\n    rows = np.zeros((batch_size, longest))\n    return rows / rows.max()\n",
    ],
)
def test_batches_of_one_width(pad: str) -> None:
    assert codes(script(pad)) == []


def test_a_width_that_is_read_off_data() -> None:
    pad = """\
memory = np.zeros([100], dtype=object)
memory[0] = max(len(s) for s in data[0:batch_size])


def pad(batch):
    rows = np.zeros([batch_size, memory[0].size])
    return rows
"""
    assert codes(script(pad)) == []


@pytest.mark.parametrize("part", ["rows[:, np.max(rows, axis=0) > 1]", "rows[np.argsort(np.max(rows, axis=1))]"])
def test_columns_that_are_picked_by_values(part: str) -> None:
    pad = "def pad(batch):\n    rows = np.full((batch_size, 20), 1)\n" + f"    return {part}\n"
    assert codes(script(pad)) == []


def test_batches_that_a_generator_pads() -> None:
    made = "def batches():\n    xs, ys, ns = [], [], []\n    for s, t in zip(data, tags):\n" + "".join(
        f"        {line}\n"
        for line in (
            "xs.append(s)", "ys.append(t)", "ns.append(len(s))", "if len(xs) == batch_size:",
            "    yield pad(xs), pad(ys), ns", "    xs, ys, ns = [], [], []",
        )
    )  # fmt: skip
    loop = "    for xs, ys, ns in batches():\n        sess.run(train_op, {x: xs, y: ys, n: ns})\n"
    text = script(LONGEST + "\n\n" + made)
    assert codes(text[: text.index("    for i in range(0")] + loop) == ["TMG349"]


PIPELINE = """\
import tensorflow as tf

batch_size = 8
data = tf.data.TextLineDataset('words.txt').map(lambda line: (words_of(line), tags_of(line)))
{batches}
e = tf.nn.embedding_lookup(tf.get_variable('table', [40, 6]), x)
out, _ = tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(5), e, dtype=tf.float32)
loss = tf.losses.sparse_softmax_cross_entropy(y, tf.layers.dense(out, 3))
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(5):
        sess.run(train_op)
"""
SHAPED = (
    "words, tags = tf.train.slice_input_producer([all_words, all_tags])\n{}\n"
    "x, y = tf.train.batch([words, tags], batch_size, dynamic_pad=True)"
)
NEXT = "x, y = data.{}.make_one_shot_iterator().get_next()"


@pytest.mark.parametrize(
    ("batches", "found"),
    [
        (NEXT.format("padded_batch(batch_size, padded_shapes=([None], [None]))"), ["TMG349"]),
        (NEXT.format("padded_batch(batch_size, (tf.TensorShape([-1]), tf.TensorShape([-1])))"), ["TMG349"]),
        (NEXT.format("padded_batch(batch_size, data.output_shapes)"), ["TMG349"]),
        (NEXT.format("apply(tf.data.experimental.bucket_by_sequence_length(f, [9], [batch_size] * 2))"), ["TMG349"]),
        ("x, y = tf.train.batch([words, tags], batch_size, dynamic_pad=True)", ["TMG349"]),
        (NEXT.format("padded_batch(batch_size, padded_shapes=([20], [20]))"), []),
        (NEXT.format("padded_batch(batch_size, (tf.TensorShape([20]), tf.TensorShape([20])))"), []),
        (NEXT.format("batch(batch_size)"), []),
        ("x, y = tf.train.batch([words, tags], batch_size)", []),
        (SHAPED.format("words.set_shape([20])\ntags.set_shape([20])"), []),
        (SHAPED.format("words.set_shape([None])\ntags.set_shape([None])"), ["TMG349"]),
    ],
)
def test_pipelines(batches: str, found: list[str]) -> None:
    assert codes(PIPELINE.format(batches=batches)) == found


WHITENED = """\
import numpy as np
import tensorflow as tf

batch_size = 8
x = tf.placeholder(tf.float32, [None, 4, 4, 3])
loss = tf.reduce_mean(tf.square(tf.layers.dense(tf.layers.flatten(x), 1)))
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
data = np.random.rand(64, 4, 4, 3)


def whiten(images):
    made = np.zeros(len(images) * 48).reshape(len(images), 4, 4, 3)
    for i in range(len(images)):
        made[i] = images[i] / np.max([np.std(images[i]), 0.1])
    return made


with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for begin in range(0, len(data), batch_size):
        sess.run(train_op, {x: whiten(data[begin:begin + batch_size])})
"""


def test_the_largest_of_values_that_are_put_into_an_array_is_no_width() -> None:
    assert codes(WHITENED) == []


HOLDER = """\
import numpy as np
import tensorflow as tf

batch_size = 8
x = tf.placeholder(tf.float32, [None, None])
loss = tf.reduce_mean(tf.square(tf.layers.dense(tf.expand_dims(x, 2), 1)))
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)


class Memory(object):
    def __init__(self, size):
        self.size = size
        self.rows = np.zeros([1000, 4])
        self.count, self.current = load_counts()

    def add(self, row):
        self.rows[self.current] = row
        self.count = max(self.count, self.current + 1)
        self.current = (self.current + 1) % 1000

    def sample(self):
        {sample}


memory = Memory(batch_size)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(500):
        memory.add(new_row())
        sess.run(train_op, {{x: memory.sample()}})
"""


@pytest.mark.parametrize(
    ("sample", "found"),
    [
        ("return np.zeros([self.size, 4]) + self.rows[np.random.randint(0, self.count, self.size)]", []),
        ("return np.zeros([self.size, self.count])", []),
        ("drawn = words[: self.size]\n        return np.zeros([self.size, max(len(w) for w in drawn)])", ["TMG349"]),
        (
            "self.drawn = words[: self.size]\n        return np.zeros([self.size, max(map(len, self.drawn))])",
            ["TMG349"],
        ),
    ],
)
def test_an_object_that_holds_the_batch_size_is_no_batch(sample: str, found: list[str]) -> None:
    """How many rows a memory of replays has is the largest of two counts of the object, not of a batch."""
    assert codes(HOLDER.format(sample=sample)) == found
