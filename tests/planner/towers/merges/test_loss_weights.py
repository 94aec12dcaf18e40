"""Losses that are means over what a mask leaves: each tower counts with what the mask leaves of its shard."""

from __future__ import annotations

import pytest

from converter.plan.border import MaskedMean
from tests.scripts import INPUTS, STEP, TRAINING, body, codes, converted, loops, parts

MASKED = (
    INPUTS.replace("[None, 1]", "[None]")
    + """\
M = tf.placeholder(tf.float32, [None])
error = tf.square(tf.squeeze(tf.layers.dense(X, 1), 1) - Y)
"""
)
FUNCTION = """\
def masked(values, mask):
    values *= mask
    return tf.reduce_sum(values) / tf.reduce_sum(mask)


loss = masked(error, M)
"""
UNSEEN = """\
def cost(values):
    m = tf.sign(M)
    return tf.reduce_sum(values * m) / tf.reduce_sum(m * m)


loss = cost(error)
"""
RENAMED = """\
m = M * M
first = tf.reduce_sum(error * m) / tf.reduce_sum(m)
m = m + 1
loss = first * tf.stop_gradient(tf.cast(tf.rank(m), tf.float32))
"""
SEVERAL = """\
n = tf.reduce_sum(M)
first = tf.reduce_sum(error * M) / n
loss = 2 * first + tf.reduce_sum(tf.abs(error) * M) / n
"""


def script(loss: str) -> str:
    return MASKED + loss + "\n" + STEP + TRAINING.replace("Y: ys", "Y: ys, M: ms" if "M" in loss else "Y: ys")


@pytest.mark.parametrize(
    ("loss", "count"),
    [
        ("loss = tf.reduce_sum(error * M) / tf.reduce_sum(M)", "tf.reduce_sum(M)"),
        ("loss = tf.reduce_sum(error * M) / (tf.reduce_sum(M) + 1e-8)", "tf.reduce_sum(M) + 1e-8"),
        (
            "loss = tf.div(tf.reduce_sum(error * M), tf.maximum(tf.reduce_sum(M), 1e-6))",
            "tf.maximum(tf.reduce_sum(M), 1e-6)",
        ),
        ("n = tf.reduce_sum(M)\nloss = tf.reduce_sum(error * M) / n", "n"),
        ("m = tf.cast(Y > 0, tf.float32)\nloss = tf.reduce_sum(error * m) / tf.reduce_sum(m)", "tf.reduce_sum(m)"),
        ("m = tf.to_float((Y > 0) & ~(Y > 9))\nloss = tf.reduce_sum(error * m) / tf.reduce_sum(m)", "tf.reduce_sum(m)"),
        (
            "n = tf.cast(tf.count_nonzero(M), tf.float32)\n"
            "loss = tf.reduce_sum(error * M) / n + 0.1 * tf.nn.l2_loss(w)",
            "n",
        ),
        (SEVERAL, "n"),
        (FUNCTION, "tf.reduce_sum(M)"),
        ("loss = tf.losses.mean_squared_error(Y, error, weights=M)", "tf.count_nonzero(M)"),
        ("loss = tf.losses.compute_weighted_loss(error, M)", "tf.count_nonzero(M)"),
        ("loss = tf.losses.absolute_difference(Y, error, M, reduction=tf.losses.Reduction.MEAN)", "tf.reduce_sum(M)"),
        ("kept = tf.boolean_mask(error, M > 0)\nloss = tf.reduce_mean(kept)", "tf.shape(kept)[0]"),
    ],
    ids=[
        "sum",
        "guarded",
        "at least",
        "named",
        "compared",
        "two conditions",
        "beside weight decay",
        "one count for two",
        "in a function",
        "tf.losses",
        "weighted loss",
        "mean of weights",
        "rows",
    ],
)
def test_the_towers_count_with_the_denominator_of_the_loss(loss: str, count: str) -> None:
    text = script("w = tf.get_variable('w', [3])\n" * ("l2_loss" in loss) + loss)
    lines = [line.strip() for line in body(text, line_length=140)]
    assert f"tower_count.append(tf.cast({count}, tf.float32) * tf.sign(weight))" in lines
    assert "tower_loss.append(loss)" in lines
    weighed = lines.index("tower_loss = weigh_losses(tower_loss, tower_count)")
    assert weighed < lines.index("loss = tf.add_n(tower_loss)")
    assert any(line.endswith("apply_gradients(tower_gradients(optimizer, tower_loss))") for line in lines)
    assert codes(text) == []


def test_a_ratio_of_means_counts_the_rows_too() -> None:
    lines = body(script("loss = tf.reduce_mean(error * M) / tf.reduce_mean(M)"))
    assert "        tower_count.append(tf.cast(tf.reduce_mean(M), tf.float32) * weight)" in lines


@pytest.mark.parametrize(
    "loss",
    [
        "loss = tf.reduce_mean(tf.reduce_sum(tf.reshape(error * M, [batch_size, 1]), 1))",
        "loss = tf.losses.mean_squared_error(Y, error)",
        "loss = tf.losses.mean_squared_error(Y, error, weights=0.5)",
        "loss = tf.losses.mean_squared_error(Y, error, M, reduction=tf.losses.Reduction.SUM_OVER_BATCH_SIZE)",
    ],
    ids=["plain", "no weights", "one weight", "over the batch size"],
)
def test_means_over_the_examples_count_by_their_rows(loss: str) -> None:
    text = converted(script(loss))
    assert "        tower_loss.append(loss * weight)\n" in text
    assert not any(isinstance(merge.how, MaskedMean) for loop in loops(script(loss)) for merge in loop.border.merges)


@pytest.mark.parametrize(
    "loss",
    [
        "p = tf.sigmoid(error)\nloss = 1 - tf.reduce_sum(p * M) / tf.reduce_sum(p)",
        "loss = tf.reduce_sum(error * M) / (tf.reduce_sum(M) + 1.0)",
        "loss = (tf.reduce_sum(error * M) + 1.0) / tf.reduce_sum(M)",
        "loss = tf.reduce_sum(error * M) / tf.reduce_sum(M) + tf.reduce_mean(error)",
        "loss = tf.sqrt(tf.reduce_sum(error * M) / tf.reduce_sum(M))",
        UNSEEN,
    ],
    ids=["trained", "smoothed", "term above", "two parts", "root", "not seen"],
)
def test_what_is_no_masked_mean_is_averaged_with_a_warning(loss: str) -> None:
    assert "TMG302" in codes(script(loss))
    assert not any(isinstance(merge.how, MaskedMean) for loop in loops(script(loss)) for merge in loop.border.merges)


HELD = """\
import tensorflow as tf


class Model(object):
    def __init__(self):
        self.x = tf.placeholder(tf.float32, [None, 4])
        self.mask = tf.placeholder(tf.float32, [None])
        self.build()

    def build(self):
        error = tf.reduce_sum(tf.layers.dense(self.x, 3), 1)
        {made}
        self.loss = {loss}
        self.train = tf.train.AdamOptimizer(0.1).minimize(self.loss)


batch_size = 8
model = Model()
with tf.Session() as sess:
    for step in range(9):
        x, m = next_batch(batch_size)
        sess.run(model.train, {{model.x: x, model.mask: m}})
"""


@pytest.mark.parametrize(
    ("made", "loss", "count"),
    [
        ("", "tf.reduce_sum(error * self.mask) / tf.reduce_sum(self.mask)", "tf.reduce_sum(self.mask)"),
        ("self.n = tf.reduce_sum(self.mask)", "tf.reduce_sum(error * self.mask) / self.n", "self.n"),
        ("w = self.mask * 2.", "tf.einsum('b,b->', error, w) / tf.reduce_sum(w)", "tf.reduce_sum(w)"),
        ("m = self.mask * 2.", "tf.reduce_sum(error * m) / tf.reduce_sum(m)", "tf.reduce_sum(m)"),
    ],
)
def test_masks_that_are_attributes(made: str, loss: str, count: str) -> None:
    text = HELD.format(made=made, loss=loss)
    assert "TMG302" not in codes(text)
    assert f"tower_count.append(tf.cast({count}, tf.float32) * tf.sign(weight))" in converted(text)


def test_a_mask_whose_name_means_something_else_since_is_written_out() -> None:
    assert codes(script(RENAMED)) == []
    count = "tower_count.append(tf.cast(tf.reduce_sum(M * M), tf.float32) * tf.sign(weight))"
    assert count in parts(script(RENAMED))[1]


NORM = "X = tf.layers.batch_normalization(X{0})\n"
MEAN_LEFT = "loss = tf.reduce_sum(error * M) / tf.reduce_sum(M)"


def of_rows(text: str) -> str:
    """A script whose inputs take one number of rows."""
    return text.replace("[None", "[batch_size")


def normed(training: str) -> str:
    """A script with a batch norm in front of the layer."""
    return script(MEAN_LEFT).replace("error = ", NORM.format(training) + "error = ", 1)


@pytest.mark.parametrize(
    "text",
    [
        of_rows(script(MEAN_LEFT)),
        normed(", training=True"),
        normed("").replace("tf.layers.batch_normalization", "tf.contrib.layers.batch_norm"),
    ],
    ids=["fixed size", "in training", "in training unless told"],
)
def test_a_masked_mean_that_one_gpu_cannot_take_of_the_whole_batch_is_warned_of(text: str) -> None:
    assert "weigh_losses" in converted(text)
    assert codes(text) == ["TMG322"]


@pytest.mark.parametrize(
    "text",
    [
        normed(""),
        normed(", training=False"),
        of_rows(script("loss = tf.reduce_mean(error * M)")),
        script(MEAN_LEFT),
        normed(", training=True").replace(MEAN_LEFT, "loss = tf.reduce_mean(error)").replace(", M: ms", ""),
    ],
    ids=["norm not in training", "told so", "a mean of a fixed batch", "any size", "a mean with a norm"],
)
def test_other_losses_are_not_warned_of(text: str) -> None:
    assert codes(text) == []


def test_a_fixed_batch_that_towers_share_is_the_whole_batch() -> None:
    assert codes(of_rows(script(MEAN_LEFT)), batch="total") == []


OTHERWISE = """\
import sys
{}
loss = tf.losses.mean_squared_error(Y, tf.squeeze(tf.layers.dense(X, 1), 1), weights=w)
"""


@pytest.mark.parametrize(
    ("weights", "warned"),
    [
        ("if '--mask' in sys.argv:\n    w = M\nelse:\n    w = 1.0", ["TMG302"]),
        ("w = 1.0\nif '--mask' in sys.argv:\n    w = M", ["TMG302"]),
        ("w = 1.0\nif '--mask' in sys.argv:\n    w = tf.cast(M > 0, tf.float32)", ["TMG302"]),
        ("w = M", []),
        ("w = 1.0", []),
        ("if '--mask' in sys.argv:\n    w = tf.sign(M)\nelse:\n    w = tf.cast(M > 0, tf.float32)", []),
    ],
)
def test_weights_that_one_branch_gives_do_not_count_in_the_others(weights: str, warned: list[str]) -> None:
    text = script(OTHERWISE.format(weights))
    assert codes(text) == warned
    assert ("weigh_losses" in converted(text)) == (not warned and weights != "w = 1.0")


BRANCHES = """\
if kind():
    part = tf.reduce_sum(error * M) / tf.reduce_sum(M)
else:
    part = tf.reduce_sum(tf.abs(error) * M) / tf.reduce_sum({mask})
loss = part + 0.1 * tf.nn.l2_loss(w)
"""


def test_branches_that_sum_one_mask_anew_have_one_denominator() -> None:
    lines = [line.strip() for line in body(script("w = tf.get_variable('w', [3])\n" + BRANCHES.format(mask="M")))]
    assert "tower_count.append(tf.cast(tf.reduce_sum(M), tf.float32) * tf.sign(weight))" in lines
    assert "tower_loss = weigh_losses(tower_loss, tower_count)" in lines


@pytest.mark.parametrize("mask", ["Y", "M * M", "M + 1", "M, 0, True"])
def test_branches_with_other_denominators(mask: str) -> None:
    text = script("w = tf.get_variable('w', [3])\n" + BRANCHES.format(mask=mask))
    assert "TMG302" in codes(text)


READ = """\
def masked(values):
    with tf.variable_scope('masked'):
        scale = tf.get_variable('scale', [])
    m = tf.sign(M)
    return scale * tf.reduce_sum(values * {mask}) / tf.reduce_sum({mask})


part = masked(error)
loss = part + 0.1 * tf.nn.l2_loss(tf.get_variable('w', [3]))
"""


def deciding(loss: str) -> str:
    text = script(loss).replace("sess.run(train_op,", "_, value = sess.run([train_op, part],")
    return text + "        if value < 0.1:\n            break\n"


def test_a_masked_mean_that_decides_is_weighed_as_the_loss_is() -> None:
    lines = [line.strip() for line in body(deciding(READ.format(mask="M")))]
    assert lines.count("tower_part.append(part)") == 1
    assert "tower_part = weigh_losses(tower_part, tower_counts)" in lines
    assert "part = tf.add_n(tower_part)" in lines


def test_a_masked_mean_whose_denominator_has_no_name_in_the_towers() -> None:
    assert "TMG210" in codes(deciding(READ.format(mask="m")))


def test_means_with_a_denominator_for_each_column_have_no_common_weight() -> None:
    both = "tf.stack([M, M * 2], 1)"
    loss = f"loss = tf.reduce_mean(tf.reduce_sum(tf.stack([error] * 2, 1) * {both}, 0) / tf.reduce_sum({both}, 0))"
    assert codes(script(loss)) == ["TMG302"]


SEGMENTS = """\
import tensorflow as tf

batch_size, classes = 4, 5
X = tf.placeholder(tf.float32, [None, SIDE, SIDE, 3])
Y = tf.placeholder(tf.int32, [None, None, None, 1])
net = tf.layers.conv2d(X, 8, 3, padding='same', strides=STRIDES)
net = tf.layers.conv2d(net, classes, 1) + tf.layers.conv2d(net, classes, 3, padding='same')
rows = tf.reshape(net, [-1, classes])
flat = tf.reshape(tf.image.resize_images(Y, SIZE, method=1), [-1])
kept = tf.squeeze(tf.where(tf.less_equal(flat, classes - 1)), 1)
each = tf.nn.sparse_softmax_cross_entropy_with_logits(logits=tf.gather(rows, kept), labels=tf.gather(flat, kept))
loss = tf.reduce_mean(each)
step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    for begin in range(0, 32, batch_size):
        sess.run(step, {X: images[begin:begin + batch_size], Y: masks[begin:begin + batch_size]})
"""


@pytest.mark.parametrize(
    ("side", "strides", "size", "masked"),
    [
        ("None", "2", "tf.shape(net)[1:3]", True),
        ("None", "2", "tf.stack(net.get_shape()[1:3])", True),
        ("8", "1", "[8, 8]", True),
        ("None", "1", "[8, 8]", True),  # as many rows as the net gives, or the script itself ends
        ("8", "1", "[4, 4]", False),
        ("8", "1", "[8, 9], preserve_aspect_ratio=True", True),  # 8 by 8 of square labels
        ("8", "1", "[8, 4]", False),
    ],
)
def test_pixels_that_a_mask_of_resized_labels_leaves(side: str, strides: str, size: str, masked: bool) -> None:
    """Resized labels are as high and wide as their size says, and a mask of these picks pixels of the net."""
    text = SEGMENTS.replace("SIDE", side).replace("STRIDES", strides).replace("SIZE", size)
    assert ("TMG302" in codes(text)) != masked
    assert ("weigh_losses(" in converted(text)) == masked
