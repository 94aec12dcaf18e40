"""Operations of loaded libraries and functions of Python: rows that the script says are those of the examples."""

from __future__ import annotations

import pytest

from tests.scripts import codes, converted, run

SCRIPT = """\
import tensorflow as tf

library = tf.load_op_library('points.so')
batch_size = 32
x = tf.placeholder(tf.float32, [batch_size, 6, 3])
y = tf.placeholder(tf.int32, [batch_size])
points = {points}
net = tf.reshape(points, [batch_size, -1])
logits = tf.layers.dense(net, 3)
loss = {loss}
train_op = tf.train.AdamOptimizer(0.01).minimize(loss)
with tf.Session() as sess:
    for step in range(100):
        xs, ys = next_batch(batch_size)
        kept = sess.run([train_op, {read}], {{x: xs, y: ys}})
        save(kept)
"""
CUSTOM = "library.gather_point(x, 4)"
PAIRED = "tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels={labels}, logits=logits))"


def script(points: str = CUSTOM, loss: str = PAIRED.format(labels="y"), read: str = "logits") -> str:
    return SCRIPT.format(points=points, loss=loss, read=read)


def test_rows_that_the_loss_sets_against_labels_are_those_of_the_examples() -> None:
    text = script()
    (finding,) = run(text).diagnostics
    assert finding.code == "TMG313" and finding.message.startswith("gather_point ")
    assert "logits = tf.concat(tower_logits, 0)" in converted(text)


@pytest.mark.parametrize(
    "loss",
    [
        PAIRED.format(labels="tf.gather(y, order())"),
        PAIRED.format(labels="tf.reverse(y, [0])"),
        "tf.reduce_mean(tf.square(logits))",
        "tf.reduce_mean(tf.square(logits - tf.cast(tf.reshape(y, [-1, 1]), tf.float32)))",
    ],
    ids=["picked", "reversed", "no labels", "broadcast"],
)
def test_other_rows_beside_a_custom_operation_are_refused(loss: str) -> None:
    refused = [d for d in run(script(loss=loss)).diagnostics if d.code == "TMG210"]
    assert refused and "gather_point is an operation of a library" in refused[0].message


def test_rows_that_a_loss_of_tf_losses_sets_against_labels_are_those_of_the_examples() -> None:
    text = converted(script(loss="tf.losses.sparse_softmax_cross_entropy(labels=y, logits=logits)"))
    assert "logits = tf.concat(tower_logits, 0)" in text


@pytest.mark.parametrize(
    ("joined", "refused"),
    [
        ("tf.concat([library.gather_point(x, 4), x[:, :4]], axis=2)", False),
        ("tf.concat(axis=-1, values=[x[:, :4], library.gather_point(x, 4)])", False),
        ("tf.concat([x, tf.py_func(choose, [x], tf.float32)], 1)", False),
        ("tf.concat([library.gather_point(x, 4), x[:, :4]], 0)", True),
        ("tf.concat([library.gather_point(x, 4), x[:, :4]], axis())", True),
        ("tf.concat([library.gather_point(x, 4), tf.zeros([32, 4, 3])], 2)", True),
        ("tf.concat([library.gather_point(x, 4), library.gather_point(x, 4)], 2)", True),
        ("tf.concat([tf.transpose(library.gather_point(x, 4)), tf.transpose(x)], 2)", True),
        ("tf.concat([tf.gather(x, order()), x], 2)", True),
    ],
)
def test_rows_joined_beside_those_of_a_batch_are_those_of_the_examples(joined: str, refused: bool) -> None:
    text = script(points=joined, loss="tf.reduce_mean(tf.square(logits))")
    assert ("TMG210" in codes(text)) is refused


def test_an_operation_without_rule_is_no_unseen_code() -> None:
    assert "TMG210" in codes(script(points="tf.strange_operation(x)"))


SHAPED = """\
points = {points}
points.set_shape([{rows}, 4, 3])
"""


@pytest.mark.parametrize(
    ("points", "rows", "refused"),
    [
        (CUSTOM, "batch_size", False),
        (CUSTOM, "None", False),
        (CUSTOM, "x.get_shape()[0].value", False),
        (CUSTOM, "16", True),
        ("tf.gather_nd(x, tf.py_func(choose, [x], tf.int32))", "x.get_shape()[0].value", False),
        ("tf.gather_nd(tf.transpose(x, [1, 0, 2]), tf.py_func(choose, [x], tf.int32))", "batch_size", True),
        ("tf.gather_nd(x, choose())", "batch_size", True),
    ],
)
def test_a_shape_says_that_rows_are_those_of_the_examples(points: str, rows: str, refused: bool) -> None:
    text = script(loss="tf.reduce_mean(tf.square(logits))", read="net")
    text = text.replace(f"points = {CUSTOM}\n", SHAPED.format(points=points, rows=rows))
    assert ("TMG210" in codes(text)) is refused
