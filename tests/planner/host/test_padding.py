"""The longest sequence of a batch is read off the whole batch, not off a tower's shard."""

from __future__ import annotations

import pytest

from tests.scripts import STEP, TRAINING, codes, converted, helpers, parts

PADDED = """\
import tensorflow as tf

batch_size = 32
X = tf.placeholder(tf.float32, [None, None, 4])
Y = tf.placeholder(tf.int32, [None, None])
n = tf.placeholder(tf.int32, [None])
losses = tf.nn.sparse_softmax_cross_entropy_with_logits(logits=tf.layers.dense(X, 3), labels=Y)
"""
FED = TRAINING.replace("Y: ys", "Y: ys, n: ns")
MASKED = "loss = tf.reduce_mean(tf.boolean_mask(losses, mask))\n"


@pytest.mark.parametrize(
    ("mask", "written"),
    [
        ("tf.sequence_mask(n)", "tf.sequence_mask(n, maxlen=tf.reduce_max(whole_batch(n)))"),
        ("tf.sequence_mask(lengths=n)", "tf.sequence_mask(lengths=n, maxlen=tf.reduce_max(whole_batch(n)))"),
        ("tf.sequence_mask(n, None)", "tf.sequence_mask(n, tf.reduce_max(whole_batch(n)))"),
        (
            "tf.sequence_mask(n, maxlen=None, dtype=tf.bool)",
            "tf.sequence_mask(n, maxlen=tf.reduce_max(whole_batch(n)), dtype=tf.bool)",
        ),
        ("tf.sequence_mask(n, tf.reduce_max(n))", "tf.sequence_mask(n, tf.reduce_max(whole_batch(n)))"),
        ("tf.sequence_mask(n + 1)", "tf.sequence_mask(n + 1, maxlen=tf.reduce_max(whole_batch(n + 1)))"),
        (
            "tf.sequence_mask(tf.subtract(n, 1), tf.reduce_max(tf.subtract(n, 1)))",
            "tf.sequence_mask(tf.subtract(n, 1), tf.reduce_max(whole_batch(tf.subtract(n, 1))))",
        ),
        ("tf.sequence_mask(n, tf.shape(X)[1])", "tf.sequence_mask(n, tf.shape(X)[1])"),
        ("tf.sequence_mask(n, 20)", "tf.sequence_mask(n, 20)"),
    ],
)
def test_masks_are_as_wide_as_the_padded_batch(mask: str, written: str) -> None:
    _, loop, _ = parts(PADDED + f"mask = {mask}\n" + MASKED + STEP + FED)
    assert f"mask = {written}" in loop


def test_a_denominator_that_is_written_out_again_reads_the_whole_batch_too() -> None:
    masked = "loss = tf.reduce_mean(tf.boolean_mask(losses, tf.sequence_mask(n)))\n"
    made = converted(PADDED + masked + STEP + FED)
    whole = "tf.boolean_mask(losses, tf.sequence_mask(n, maxlen=tf.reduce_max(whole_batch(n))))"
    assert f"loss = tf.reduce_mean({whole})" in made and "\0" not in made
    assert "".join(made.split()).count("".join(whole.split())) == 2  # in the loss, and in what the tower counts


def test_it_is_found_in_functions_that_the_towers_call() -> None:
    function = "def masked(lengths):\n    return tf.boolean_mask(losses, tf.sequence_mask(lengths))\n\n\n"
    script = PADDED.replace("losses =", function + "losses =") + "loss = tf.reduce_mean(masked(n))\n" + STEP + FED
    assert "tf.sequence_mask(lengths, maxlen=tf.reduce_max(whole_batch(lengths)))" in converted(script)


@pytest.mark.parametrize("lengths", ["n * 2", "1 + n", "n + tf.shape(X)[1]"])
def test_a_mask_of_computed_lengths_is_refused(lengths: str) -> None:
    assert codes(PADDED + f"mask = tf.sequence_mask({lengths})\n" + MASKED + STEP + FED) == ["TMG227"]


COUNTED = ["tf.reduce_sum(tf.sign(Y), 1)", "tf.count_nonzero(Y, 1, dtype=tf.int32)", "tf.cast(n * 2, tf.int32)"]


@pytest.mark.parametrize("mask", ["tf.sequence_mask(lengths)", "tf.sequence_mask(lengths, tf.reduce_max(lengths))"])
@pytest.mark.parametrize("lengths", COUNTED)
def test_lengths_that_a_statement_counts_are_cut_with_the_batch(lengths: str, mask: str) -> None:
    script = PADDED + f"lengths = {lengths}\nmask = {mask}\n" + MASKED + STEP + FED
    before, loop, _ = parts(script)
    assert f"lengths = {lengths}" in before and any("lengths_batch" in line for line in before)
    assert any("tf.reduce_max(whole_batch(lengths))" in line for line in loop)


def test_lengths_that_a_function_counts_are_refused() -> None:
    function = "def count(y):\n    lengths = tf.reduce_sum(tf.sign(y), 1)\n    return tf.sequence_mask(lengths)\n"
    assert codes(PADDED + function + "mask = count(Y)\n" + MASKED + STEP + FED) == ["TMG227"]


def test_what_a_model_computes_is_no_length() -> None:
    script = PADDED + "best = tf.argmax(tf.layers.dense(X[:, 0], 9), 1)\nmask = tf.sequence_mask(best)\n"
    assert codes(script + MASKED + STEP + FED) == ["TMG227"]


def test_masks_that_the_loss_does_not_need_stay() -> None:
    script = PADDED + "loss = tf.reduce_mean(losses)\n" + STEP + "mask = tf.sequence_mask(n)\n" + TRAINING
    assert helpers(script) == {"check_gpus", "sum_gradients", "shard", "tower_device"}


def test_a_maximum_of_measurements_is_that_of_the_shard() -> None:
    script = PADDED.replace("n = tf.placeholder(tf.int32", "n = tf.placeholder(tf.float32")
    script += "loss = tf.reduce_mean(losses) / tf.reduce_max(n)\n" + STEP + FED
    assert helpers(script) == {"check_gpus", "sum_gradients", "shard", "tower_device"}


DECODER = """\
import tensorflow as tf

batch_size = 32
X = tf.placeholder(tf.float32, [None, {time}, 4])
Y = tf.placeholder(tf.int32, [None, None])
n = tf.placeholder(tf.int32, [None])
cell = tf.contrib.rnn.GRUCell(8)
state = cell.zero_state(tf.shape(X)[0], tf.float32)
helper = tf.contrib.seq2seq.TrainingHelper(X, {lengths})
decoder = tf.contrib.seq2seq.BasicDecoder(cell, helper, state, tf.layers.Dense(3))
outputs, _, _ = tf.contrib.seq2seq.dynamic_decode(decoder)
logits = outputs.rnn_output
loss = tf.contrib.seq2seq.sequence_loss(logits, Y, tf.sequence_mask(n, tf.shape(Y)[1], tf.float32))
"""


@pytest.mark.parametrize("lengths", ["n", "n - 1", "tf.add(tf.cast(n, tf.int32), 1)"])
@pytest.mark.parametrize(("time", "padded"), [("None", True), ("20", False)])
def test_a_decoder_has_the_steps_of_the_whole_batch(time: str, padded: bool, lengths: str) -> None:
    _, loop, _ = parts(DECODER.format(time=time, lengths=lengths) + STEP + FED)
    wrapped = "outputs, _, _ = pad_steps(tf.contrib.seq2seq.dynamic_decode)(decoder)"
    assert (wrapped in loop) == padded


@pytest.mark.parametrize("lengths", ["tf.ones([tf.shape(X)[0]], tf.int32) * 20", "tf.ones(tf.shape(n), tf.int32)"])
def test_a_decoder_of_one_length_for_all_stays(lengths: str) -> None:
    _, loop, _ = parts(DECODER.format(time="None", lengths=lengths) + STEP + FED)
    assert "outputs, _, _ = tf.contrib.seq2seq.dynamic_decode(decoder)" in loop


@pytest.mark.parametrize("lengths", ["tf.ones([tf.shape(X)[0]], tf.int32) * n", "tf.ones_like(n) + n", "2 * n"])
def test_a_decoder_of_other_computed_lengths_is_refused(lengths: str) -> None:
    assert codes(DECODER.format(time="None", lengths=lengths) + STEP + FED) == ["TMG227"]


def test_what_a_decoder_writes_of_itself_is_padded_where_it_is_merged() -> None:
    writing = """\
first = tf.zeros([tf.shape(X)[0]], tf.int32)
table = tf.get_variable('table', [3, 4])
greedy = tf.contrib.seq2seq.GreedyEmbeddingHelper(table, first, 2)
writer = tf.contrib.seq2seq.BasicDecoder(cell, greedy, state, tf.layers.Dense(3))
written = tf.contrib.seq2seq.dynamic_decode(writer, maximum_iterations=9)[0].sample_id
loss += tf.reduce_mean(tf.to_float(written[:, 0]))
"""
    read = "    sess.run([written, logits], {X: xs})\n"
    _, _, after = parts(DECODER.format(time="None", lengths="n") + writing + STEP + FED + read)
    assert "written = concat_steps(tower_written, 0)" in after
    assert "logits = tf.concat(tower_logits, 0)" in after  # of which each tower has the steps of the whole batch


CUT = """\
import numpy as np
import tensorflow as tf
batch_size = 4


class Net(object):
    def __init__(self, batch):
        self.x, self.y = batch.get_next()
        self.mask = tf.cast(self.x, tf.bool)
        self.longest = {longest}
        self.x = tf.slice(self.x, [0, 0], [batch_size, self.longest])
        self.mask = self.mask[:, :self.longest]
        self.y = tf.slice(self.y, [0, 0], [batch_size, self.longest])
        self.forward()

    def forward(self):
        hidden = tf.layers.dense(tf.nn.embedding_lookup(tf.get_variable('e', [20, 5]), self.x), 1)
        self.out = tf.squeeze(hidden, 2)
        self.first = self.out[:, 0]
        self.loss = tf.reduce_mean(tf.square(self.out - self.y) * tf.cast(self.mask, tf.float32))


net = Net(tf.data.Dataset.from_tensor_slices((xs, ys)).repeat().batch(batch_size).make_one_shot_iterator())
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(net.loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(16):
        sess.run([train_op, net.out, net.y, net.first])
"""


@pytest.mark.parametrize(
    ("longest", "merged"),
    [("tf.reduce_max(tf.reduce_sum(tf.cast(self.mask, tf.int32), 1))", "concat_steps"), ("7", "tf.concat")],
)
def test_examples_that_each_tower_cuts_to_its_longest_are_padded(longest: str, merged: str) -> None:
    text = converted(CUT.format(longest=longest))
    assert all(f"self.{name} = {merged}(tower_{name}, 0)" in text for name in ("out", "y"))
    assert "self.first = tf.concat(tower_first, 0)" in text


UNROLLED = """\
import tensorflow as tf

batch_size = 32
X = tf.placeholder(tf.float32, [None, None, 4])
Y = tf.placeholder(tf.int32, [None, None])
n = tf.placeholder(tf.int32, [None])
steps = tf.TensorArray(tf.float32, tf.shape(X)[1]).unstack(tf.transpose(X, [1, 0, 2]))


def body(t, made, done):
    h = tf.layers.dense(steps.read(t), 3)
    return t + 1, made.write(t, h), tf.greater_equal(t + 1, n)


begin = 0, tf.TensorArray(tf.float32, 0, dynamic_size=True), tf.zeros([tf.shape(X)[0]], tf.bool)
_, made, done = tf.while_loop(lambda t, made, done: {until}, body, begin)
logits = tf.transpose(made.stack(), [1, 0, 2])
losses = {losses}
loss = tf.reduce_mean(losses)
"""
DONE = "tf.logical_not(tf.reduce_all(done))"
ENTROPY = "tf.nn.sparse_softmax_cross_entropy_with_logits(logits=logits, labels=Y)"


@pytest.mark.parametrize(
    ("until", "losses", "refused"),
    [
        (DONE, ENTROPY, True),
        (DONE, "tf.square(logits - X[:, :, :3])", True),
        (DONE, "tf.square(logits - tf.one_hot(Y, 3))", True),
        (DONE, "tf.square(logits - tf.reshape(tf.layers.dense(X, 3), tf.shape(logits)))", True),
        (DONE, "tf.square(logits - tf.reshape(X[:, :, :3], [-1, tf.shape(logits)[1], 3]))", True),
        (DONE, "tf.square(tf.reshape(tf.reshape(logits, [-1, 3]) + 1.0, tf.shape(logits)))", False),
        (DONE, "tf.square(logits - tf.reshape(X[:, :1, :3], [-1, 1, 3]))", False),
        (DONE, "tf.square(tf.reduce_sum(logits, 1) - tf.to_float(tf.reduce_sum(Y, 1, keepdims=True)))", False),
        (DONE, "tf.square(logits - tf.layers.dense(logits, 3))", False),
        ("t < tf.shape(X)[1]", ENTROPY, False),
        ("t < tf.shape(X)[1]", "tf.square(logits - tf.reshape(tf.layers.dense(X, 3), tf.shape(logits)))", False),
    ],
)
def test_a_loop_ends_with_the_longest_sequence_of_its_shard(until: str, losses: str, refused: bool) -> None:
    script = UNROLLED.format(until=until, losses=losses) + STEP + FED
    assert ("TMG227" in codes(script)) is refused


def test_what_a_loop_made_for_its_shard_is_padded_where_it_is_merged() -> None:
    losses = "tf.square(tf.reduce_sum(logits, 1) - 1.0)"
    script = UNROLLED.format(until=DONE, losses=losses) + STEP + FED + "        sess.run(logits, {X: xs, n: ns})\n"
    assert "concat_steps" in "\n".join(parts(script)[2])
    assert "concat_steps" not in "\n".join(parts(script.replace(DONE, "t < tf.shape(X)[1]"))[2])
