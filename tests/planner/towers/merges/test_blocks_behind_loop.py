"""The training step in the same block as the model: the block is opened once more behind the loop."""

from __future__ import annotations

import textwrap

import pytest

from tests.scripts import INPUTS, TRAINING, codes, converted, parts, run

MODEL = "h = tf.layers.dense(X, 4)\n"
LOSS = "loss = tf.reduce_mean(tf.square(tf.layers.dense(h, 1) - Y))\n"
STEP = "train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)\n"
AFTER = 2


def within(*heads: str, text: str = LOSS + STEP) -> str:
    for head in reversed(heads):
        text = f"{head}:\n{textwrap.indent(text, '    ')}"
    return text


def script(block: str, before: str = "", after: str = "") -> str:
    return INPUTS + before + MODEL + block + after + TRAINING


@pytest.mark.parametrize(
    "heads",
    [
        ("if training",),
        ("if mode == 'train' and not deep",),
        ("with tf.variable_scope('out')", "if training"),
        ("with tf.variable_scope('out')", "with tf.name_scope('in')"),
        ("if training", "with tf.variable_scope('out')"),
        ("with tf.variable_scope('out')", "if training", "if net.kind == 'deep'"),
    ],
)
def test_nested_blocks_are_opened_once_more(heads: tuple[str, ...]) -> None:
    found = script(within(*heads), before="training = len(argv) > 1\n")
    _, inside, after = parts(found)
    opened = [f"{head}:" for head in heads]
    assert [line for line in inside if line in opened] == opened
    assert [line for line in after if line in opened] == opened
    assert after.index(opened[-1]) + 2 == next(i for i, line in enumerate(after) if line.startswith("train_op ="))
    made = ["if loss is not None:"] if any(head.startswith("if") for head in heads) else []
    assert inside[inside.index(opened[-1]) + 1 :] == [LOSS.strip(), *made, "tower_loss.append(loss * weight)"]


def test_what_follows_in_outer_blocks_stays_behind_and_in_order() -> None:
    inner = within("if training", text=LOSS + "a = tf.train.Saver()\n" + STEP + "b = tf.train.Saver()\n")
    block = within("with tf.variable_scope('out')", text=inner + "c = tf.train.Saver()\n")
    text = converted(script(block))
    outer = text.rindex("with tf.variable_scope('out'):\n    if training:\n        a = tf.train.Saver()\n")
    assert text.index("        b = tf.train.Saver()\n    c = tf.train.Saver()\n") > outer
    assert text.count("Saver()") == 3


def test_the_other_branch_stays_in_the_towers() -> None:
    block = within("if training") + within("else", text="g = tf.nn.relu(h)\n")
    _, inside, after = parts(script(block))
    assert inside[inside.index("else:") + 1] == "g = tf.nn.relu(h)"
    assert after[:6] == [
        "X, Y = X_batch, Y_batch",
        "if tower_loss:",
        "loss = tf.add_n(tower_loss)",
        "if training:",
        "optimizer = tf.train.GradientDescentOptimizer(0.1)",
        "train_op = optimizer.apply_gradients(tower_gradients(optimizer, tower_loss))",
    ]


@pytest.mark.parametrize(
    ("block", "before"),
    [
        (within("if training()"), ""),
        (within("if mode == 'train'", text="mode = 'trained'\n" + LOSS + STEP), "mode = 'train'\nmode = read()\n"),
        (within("for i in range(1)"), ""),
        (within("try") + within("finally", text="pass\n"), ""),
    ],
    ids=["a call", "written inside", "a loop", "try"],
)
def test_blocks_that_are_not_have_a_loop_of_their_own(block: str, before: str) -> None:
    """They stand in the script once, and their towers go on with those of what stands in front of them."""
    text = converted(script(block, before))
    head = block.splitlines()[0]
    assert text.count(f"\n{head}\n") == 1 and text.count("for gpu in range(num_gpus):") == 2
    assert text.index(f"\n{head}\n") < text.index("h = part_of_tower(h_batch, gpu)")


@pytest.mark.parametrize(
    ("block", "before", "after"),
    [
        (within("if training", text=STEP) + within("else", text=LOSS + STEP), LOSS.replace("(h,", "(X,"), ""),
        (
            within("if training", text=LOSS + STEP + "scale = 2.0\n"),
            "",
            "loss = loss * scale\ntrain2 = tf.train.GradientDescentOptimizer(0.1).minimize(loss)\n",
        ),
    ],
    ids=["both branches", "read later"],
)
def test_blocks_that_are_not(block: str, before: str, after: str) -> None:
    assert codes(script(block, before, after))[:1] == ["TMG219"]


def test_the_refusal_says_whether_the_model_goes_on() -> None:
    two = "loss = loss * scale\ntrain2 = tf.train.GradientDescentOptimizer(0.1).minimize(loss)\n"
    (later,) = run(script(within("if training", text=LOSS + STEP + "scale = 2.0\n"), "", two)).diagnostics
    (within_one,) = run(
        script(within("if training", text=STEP) + within("else", text=LOSS + STEP), LOSS.replace("(h,", "(X,"))
    ).diagnostics
    assert "goes on behind this training step, in line 11" in later.message
    assert "in the same branch as the loss" in within_one.message


def test_blocks_in_which_another_batch_is_evaluated_follow_each_other() -> None:
    """What the second block does with it is behind the loop by then, so that the first one's can be, too."""
    nets = "with tf.variable_scope('net', reuse=tf.AUTO_REUSE):\n    p = tf.layers.dense(X, 1, name='d')\n"
    nets += "    q = tf.layers.dense(V, 1, name='d')\n"
    ends = "with tf.name_scope('loss'):\n    loss = tf.reduce_mean(tf.square(p - Y))\n"
    ends += "    other = tf.reduce_mean(tf.square(q))\n"
    _, inside, after = parts(INPUTS + "V = tf.placeholder(tf.float32, [None, 4])\n" + nets + ends + STEP + TRAINING)
    assert not any(line.startswith(("q =", "other =")) for line in inside)
    opened = after.index("with tf.variable_scope('net', reuse=tf.AUTO_REUSE):")
    assert after[opened + 1 : opened + 4] == [
        "q = tf.layers.dense(V, 1, name='d')",
        "with tf.name_scope('loss'):",
        "other = tf.reduce_mean(tf.square(q))",
    ]


def test_an_input_that_goes_in_front_of_the_loop_is_not_made_again_behind_it() -> None:
    block = "with tf.name_scope('in'):\n    h = tf.nn.relu(X)\n    step = tf.Variable(0, trainable=False)\n"
    block += "    rate = tf.placeholder(tf.float32, [])\n"
    step = STEP.replace("(0.1)", "(rate)")
    before, inside, after = parts(INPUTS + block + LOSS + step + TRAINING.replace("Y: ys", "Y: ys, rate: 0.1"))
    line = "rate = tf.placeholder(tf.float32, [])"
    assert [part.count(line) for part in (before, inside, after)] == [1, 0, 0]
