"""Losses and other values that differ by branch: what each choice of the flags makes is what is trained and merged."""

from __future__ import annotations

from tests.scripts import INPUTS, STEP, TRAINING, converted, guarded, parts

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
    script = FLAGS + INPUTS + THREE.format(last="loss = tf.reduce_max(out)") + STEP + READ + TRAINING
    _, inside, after = parts(script)
    assert "one = None" in inside and guarded(script) == {"one": "one is not None"}
    assert after[after.index("if tower_one:") + 1] == "one = tf.add_n(tower_one)"


def test_a_branch_that_fails_binds_nothing() -> None:
    script = FLAGS + INPUTS + THREE.format(last="raise ValueError(args.kind)") + STEP + READ + TRAINING
    assert guarded(script) == {"one": "one is not None"} and "one = None" in parts(script)[1]


def test_a_number_in_place_of_a_tensor() -> None:
    branches = "if args.l2:\n    one = tf.abs(out)\nelif args.kind == 'a':\n    one = 0.0\nelse:\n    one = None\n"
    script = FLAGS + INPUTS + "out = tf.layers.dense(X, 1)\n" + branches
    loss = "loss = tf.reduce_mean(tf.square(out - Y))\nif args.l2:\n    loss += tf.reduce_mean(one)\n"
    text = converted(script + loss + STEP + "shown = one\n" + TRAINING)
    assert "if isinstance(one, tf.Tensor):\n            tower_one.append(one[:rows])" in text


def test_a_name_that_all_branches_bind_is_merged_as_ever() -> None:
    last = "one = tf.reduce_mean(out)\n    loss = one"
    script = THREE.replace("    loss = tf.reduce_mean(out - Y)\n", "    one = loss = tf.reduce_mean(out - Y)\n")
    assert guarded(FLAGS + INPUTS + script.format(last=last) + STEP + "shown = one\n" + TRAINING) == {}


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
    always = RETURNED.replace("if args.l2 == 0:\n    args.l2 = None", "args.l2 = None\nargs.l2 = None")
    _, inside, after = parts(FLAGS + INPUTS + always + "loss = build(X, Y, args.l2)\n" + STEP + TRAINING)
    _, _, *model = (line.strip() for line in RETURNED.splitlines())
    assert inside[-3:] == [*model[:2], "tower_mean.append(mean * weight)"]
    assert after[1:5] == ["mean = merge_loss(tower_mean)", *model[2:5]]


def test_a_loss_that_is_minimised_elsewhere_carries_its_towers() -> None:
    train = "\n\ndef train(loss):\n    return tf.train.GradientDescentOptimizer(0.1).minimize(loss)\n\n\n"
    loss = "loss = tf.reduce_mean(tf.square(tf.layers.dense(X, 1) - Y))\n"
    text = converted(INPUTS + loss + train + "train_op = train(loss)\n" + TRAINING)
    assert "loss.tower_losses = tower_losses" in text and "tower_gradients(optimizer, loss.tower_losses)" in text


IMPORT, _, FEED = INPUTS.partition("X = ")
PAIR = (
    IMPORT
    + """
class A(object):
    def __init__(self{x}):
        {own}self.out = tf.layers.dense({read}, 1)
        self.loss = tf.reduce_mean(tf.square(self.out - 1))


class B(object):
    def __init__(self{x}):
        {own}self.wide = tf.layers.dense({read}, 8)
        self.out = tf.layers.dense(self.wide, 1)
        self.loss = tf.reduce_mean(tf.abs(self.out - 1))


"""
)
CHOOSE = "if args.kind == 'a':\n    m = A({x})\nelse:\n    m = B({x})\n"
ELSEWHERE = STEP.replace("(loss)", "(m.loss)")


def test_models_of_two_classes_share_one_loop() -> None:
    classes = PAIR.format(x=", x", own="", read="x") + "X = " + FEED.partition("\n")[0] + "\n" + CHOOSE.format(x="X")
    training = TRAINING.replace(", Y: ys", "")
    _, inside, after = parts(FLAGS + classes + ELSEWHERE + "shown = m.out\n" + training)
    assert "m = A(X)" in inside and "m = B(X)" in inside and "m.out = tf.concat(tower_out, 0)" in after


def test_models_with_inputs_of_their_own_have_loops_of_their_own() -> None:
    own = "self.x = tf.placeholder(tf.float32, [None, 4])\n        "
    classes = PAIR.format(x="", own=own, read="self.x") + CHOOSE.format(x="")
    training = TRAINING.replace("X: xs, Y: ys", "m.x: xs")
    text = converted(FLAGS + classes + ELSEWHERE + training)
    assert text.count("for gpu in range(num_gpus):") == 2 and text.count("m.loss.tower_losses") == 1


def test_what_one_of_two_dicts_holds() -> None:
    branches = """\
out = tf.layers.dense(X, 1)
if args.l2:
    made = {'loss': tf.reduce_mean(tf.square(out - Y)), 'top': tf.reduce_max(out, 1)}
else:
    made = {'loss': tf.reduce_mean(tf.abs(out - Y))}
"""
    step = STEP.replace("(loss)", "(made['loss'])")
    read = "if args.l2:\n    shown = made['top']\n"
    _, inside, after = parts(FLAGS + INPUTS + branches + step + read + TRAINING)
    assert "if 'top' in made:" in inside and "if made['loss']" not in " ".join(inside)
    assert "made['top'] = tf.concat(tower_top, 0)" in after


def test_none_in_a_returned_tuple() -> None:
    function = """
def build(x, y, l2):
    out = tf.layers.dense(x, 1)
    mean = tf.reduce_mean(tf.square(out - y))
    if l2:
        top = tf.reduce_max(out, 1)
        return mean + tf.reduce_mean(top), top
    return mean, None


"""
    script = FLAGS + INPUTS + function + "loss, top = build(X, Y, args.l2)\n" + STEP
    _, inside, _ = parts(script + "if top is not None:\n    shown = top + 1\n" + TRAINING)
    assert "if top is not None:" in inside


def test_a_condition_on_what_one_branch_leaves_at_none() -> None:
    """Both of its branches are followed: `spread` is made where there is no regulariser."""
    branches = """\
reg = None
if args.l2 > 0:
    reg = tf.contrib.layers.l2_regularizer(args.l2)
out = tf.layers.dense(X, 1, kernel_regularizer=reg)
loss = tf.reduce_mean(tf.square(out - Y))
if reg is not None:
    loss += tf.losses.get_regularization_loss()
else:
    spread = tf.reduce_mean(tf.abs(out))
    loss += spread
"""
    _, inside, after = parts(FLAGS + INPUTS + branches + STEP + "if reg is None:\n    shown = spread\n" + TRAINING)
    assert "if spread is not None:" in inside and "spread = tf.add_n(tower_spread)" in after


def test_two_objects_of_one_class_are_one_model() -> None:
    classes = PAIR.format(x=", x", own="", read="x").partition("class B")[0] + "X = " + FEED.partition("\n")[0]
    choose = "\nif args.kind == 'a':\n    m = A(X)\nelse:\n    m = A(X * 2)\n"
    _, inside, _ = parts(FLAGS + classes + choose + ELSEWHERE + TRAINING.replace(", Y: ys", ""))
    assert any(line.startswith("self.loss = ") for line in inside) or "m = A(X)" in inside
