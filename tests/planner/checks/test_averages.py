"""Moving averages of the model's own tensors: the first tower's, or refused."""

from __future__ import annotations

import pytest

from tests.scripts import ABOVE, BELOW, INPUTS, STEP, TRAINING, codes, parts, run

LAYER = "def normed(x):\n    ema = tf.train.ExponentialMovingAverage(0.9)\n    mean, var = tf.nn.moments(x, [0])\n"
NORM = "tf.nn.batch_normalization(x, mean, var, None, None, 1e-3)"
CHOICE = (
    "    m, v = mean, var\n"
    "    mean = tf.cond(flag, lambda: m, lambda: ema.average(m))\n"
    "    var = tf.cond(flag, lambda: v, lambda: ema.average(v))\n"
)
APART = LAYER + f"    update = ema.apply([mean, var])\n{CHOICE}    return {NORM}, update\n\n\n"
CALL = "flag = tf.placeholder(tf.bool)\nh, update = normed(tf.layers.dense(X, 1))\n"
LOSS = "loss = tf.reduce_mean(tf.square(h - Y))\n"
REFUSED = "TMG226"
BEFORE, INSIDE, AFTER = 0, 1, 2


def script(model: str, after: str = "") -> str:
    return INPUTS + model + LOSS + after + STEP + TRAINING


def test_the_first_tower_keeps_them() -> None:
    before, inside, after = parts(script(APART + CALL, "updates = tf.group(update, tf.no_op())\n"))
    assert "tower_averages = TowerAverages()" in before
    assert any("first_tower_updates(gpu)" in line for line in inside)
    assert any("tower_averages.tower(gpu)" in line for line in inside)
    assert "updates = tf.group(update, tf.no_op())" in after
    assert not any(line.startswith("update =") for line in after)  # the same operation in every tower


def test_averages_of_variables_after_the_step_need_nothing() -> None:
    after = "average = tf.train.ExponentialMovingAverage(0.9).apply(tf.trainable_variables())\n"
    before, inside, behind = parts(INPUTS + "h = tf.layers.dense(X, 1)\n" + LOSS + STEP + after + TRAINING)
    assert before[-2:] == ["X_batch, Y_batch = X, Y", "tower_loss, tower_grads = [], []"]
    assert inside == [*ABOVE, "h = tf.layers.dense(X, 1)", LOSS.strip(), *BELOW]
    assert behind[2:4] == ["train_op = optimizer.apply_gradients(sum_gradients(tower_grads))", after.strip()]


IN_COND = "    update = tf.cond(flag, lambda: ema.apply([mean, var]), lambda: tf.no_op())\n"
WAITING = "    with tf.control_dependencies([ema.apply([mean, var])]):\n        update = tf.no_op()\n"


@pytest.mark.parametrize(
    ("model", "after", "found"),
    [
        (LAYER + IN_COND + f"    return {NORM}, update\n\n\n" + CALL, "print(update)\n", REFUSED),
        (LAYER + IN_COND + f"    return {NORM}, update\n\n\n" + CALL, "all = tf.group(update)\n", REFUSED),
        (LAYER + WAITING + f"    return {NORM}, update\n\n\n" + CALL, "print(update)\n", REFUSED),
        (LAYER + IN_COND + f"    return {NORM}, update\n\n\n" + CALL, "", ""),
        (
            LAYER
            + WAITING.replace("update = tf.no_op()", "mean = tf.identity(mean)")
            + f"    return {NORM}, None\n\n\n"
            + CALL,
            "",
            "",
        ),
    ],
    ids=["under a condition", "grouped", "waited for", "not read", "a tensor waits"],
)
def test_updates_that_only_the_last_tower_would_have(model: str, after: str, found: str) -> None:
    assert codes(script(model, after)) == ([found] if found else [])


MEAN = "h = tf.layers.dense(X, 1)\nmean = tf.reduce_mean(h, 0)\nema = tf.train.ExponentialMovingAverage(0.9)\n"


@pytest.mark.parametrize(
    ("model", "after", "found"),
    [
        ("update = ema.apply([mean])\nh -= ema.average(mean)\n", "", ""),
        ("update = ema.apply([mean])\nkept = ema.average(mean)\nh -= kept\n", "print(kept[0])\n", ""),
        ("update = ema.apply([mean])\nh -= ema.average(mean)\n", "print(ema.average(mean)[0])\n", REFUSED),
        ("update = ema.apply([mean])\nh -= ema.average(mean)\n", "more = ema.apply([loss])\n", REFUSED),
        ("update = ema.apply([X])\nh -= ema.average(X)\n", "", REFUSED),
    ],
    ids=["in the model", "kept under a name", "asked for later", "applied later", "of the batch"],
)
def test_what_is_asked_of_them(model: str, after: str, found: str) -> None:
    assert codes(script(MEAN + model, after)) == ([found] if found else [])


def test_applied_where_the_model_can_ask_for_them() -> None:
    """What the loss does not need goes behind the loop, but .average() gives nothing before .apply()."""
    inside = parts(script(MEAN + "update = ema.apply([mean])\nh -= ema.average(mean)\n"))[INSIDE]
    assert inside.index("update = ema.apply([mean])") < inside.index("h -= ema.average(mean)")
    after = parts(script(MEAN + "update = ema.apply([mean])\n"))[AFTER]
    assert "update = ema.apply([mean])" in after  # of the merged mean


def test_a_refusal_says_where() -> None:
    model = MEAN + "update = ema.apply([mean])\nh -= ema.average(mean)\n"
    (finding,) = run(script(model, "late = ema.average(mean)\n")).diagnostics
    assert (finding.code, finding.line) == ("TMG226", 12)


def test_many_conditions_in_a_row_are_searched_once() -> None:
    """Each normalises its weights by a variable that it sets, or does not: not every combination is another way."""
    layer = (
        "def layer(x, n):\n    with tf.variable_scope('layer%d' % n):\n        w = tf.get_variable('w', [4, 4])\n"
        "        if normed:\n            u = tf.get_variable('u', [1, 4], trainable=False)\n"
        "            new = tf.nn.l2_normalize(tf.matmul(u, w))\n"
        "            with tf.control_dependencies([u.assign(new)]):\n"
        "                x = tf.matmul(x, w / tf.reduce_sum(new))\n        else:\n            x = tf.matmul(x, w)\n"
        "        return tf.nn.relu(x)\n\n\n"
    )
    flag = "flags = tf.app.flags\nflags.DEFINE_bool('normed', True, '')\nnormed = flags.FLAGS.normed\n"
    model = flag + layer + "h = X\n" + "".join(f"h = layer(h, {n})\n" for n in range(40))
    assert codes(script(model + "h = tf.layers.dense(h, 1)\n")) == []
