"""Losses and other values that differ by branch: what each choice of the flags makes is what is trained and merged."""

from __future__ import annotations

from tests.scripts import INPUTS, STEP, TRAINING, converted, parts

FLAGS = """\
import argparse
parser = argparse.ArgumentParser()
parser.add_argument('--kind', default='d')
parser.add_argument('--l2', type=float, default=0)
args = parser.parse_args()
"""
THREE = """\
out = tf.layers.dense(X, 1)
if args.kind == 'a':
    one = tf.reduce_mean(tf.abs(out - Y))
    loss = one
elif args.kind == 'b':
    one = tf.reduce_mean(tf.square(out - Y))
    loss = 2 * one
elif args.kind == 'c':
    loss = tf.reduce_mean(out - Y)
else:
    {last}
"""
READ = "if args.kind in 'ab':\n    shown = one + 1\n"


def test_a_name_that_some_of_four_branches_bind() -> None:
    _, inside, after = parts(FLAGS + INPUTS + THREE.format(last="loss = tf.reduce_max(out)") + STEP + READ + TRAINING)
    assert "one = None" in inside and "if one is not None:" in inside
    assert after[after.index("if tower_one:") + 1] == "one = tf.add_n(tower_one)"
    assert "loss = None" not in inside and "if loss is not None:" not in inside


def test_a_branch_that_fails_binds_nothing() -> None:
    _, inside, _ = parts(FLAGS + INPUTS + THREE.format(last="raise ValueError(args.kind)") + STEP + READ + TRAINING)
    assert "one = None" in inside and "if loss is not None:" not in inside


def test_a_number_in_place_of_a_tensor() -> None:
    branches = "if args.l2:\n    one = tf.abs(out)\nelif args.kind == 'a':\n    one = 0.0\nelse:\n    one = None\n"
    script = FLAGS + INPUTS + "out = tf.layers.dense(X, 1)\n" + branches
    loss = "loss = tf.reduce_mean(tf.square(out - Y))\nif args.l2:\n    loss += tf.reduce_mean(one)\n"
    text = converted(script + loss + STEP + "shown = one\n" + TRAINING)
    assert "if isinstance(one, tf.Tensor):\n            tower_one.append(one[:rows])" in text


def test_a_name_that_all_branches_bind_is_merged_as_ever() -> None:
    last = "one = tf.reduce_mean(out)\n    loss = one"
    script = THREE.replace("    loss = tf.reduce_mean(out - Y)\n", "    one = loss = tf.reduce_mean(out - Y)\n")
    _, inside, _ = parts(FLAGS + INPUTS + script.format(last=last) + STEP + "shown = one\n" + TRAINING)
    assert "one = None" not in inside and "if one is not None:" not in inside


RETURNED = """
def build(x, y, l2):
    out = tf.layers.dense(x, 1)
    mean = tf.reduce_mean(tf.square(out - y))
    if l2 is None:
        return mean
    return mean + l2 * tf.add_n([tf.nn.l2_loss(v) for v in tf.trainable_variables()])


if args.l2 == 0:
    args.l2 = None
"""


def test_a_flag_that_the_script_sets_in_a_branch_stays_unknown() -> None:
    """Both returns are followed: the towers hold what either of them gives."""
    _, inside, after = parts(FLAGS + INPUTS + RETURNED + "loss = build(X, Y, args.l2)\n" + STEP + TRAINING)
    assert "loss = build(X, Y, args.l2)" in inside and "loss = tf.add_n(tower_loss)" in after


def test_a_flag_that_the_script_sets_for_all_is_known() -> None:
    always = RETURNED.replace("if args.l2 == 0:\n    args.l2 = None", "args.l2 = None")
    _, inside, _ = parts(FLAGS + INPUTS + always + "loss = build(X, Y, args.l2)\n" + STEP + TRAINING)
    assert not any("add_n([" in line for line in inside)


def test_a_loss_that_is_minimised_elsewhere_carries_its_towers() -> None:
    train = "\n\ndef train(loss):\n    return tf.train.GradientDescentOptimizer(0.1).minimize(loss)\n\n\n"
    loss = "loss = tf.reduce_mean(tf.square(tf.layers.dense(X, 1) - Y))\n"
    text = converted(INPUTS + loss + train + "train_op = train(loss)\n" + TRAINING)
    assert "loss.tower_losses = tower_losses" in text and "tower_gradients(optimizer, loss.tower_losses)" in text
