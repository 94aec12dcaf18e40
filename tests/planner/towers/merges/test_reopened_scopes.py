"""Scopes on both sides of the loop keep the name that they got in front of it."""

from __future__ import annotations

import textwrap

import pytest

from tests.scripts import INPUTS, MODEL, STEP, TRAINING, parts

NET = "with tf.name_scope('net'):\n    prediction = tf.layers.dense(X, 1)\n"
TAIL = """\
    target = tf.placeholder(tf.float32, [None, 1])
    loss = tf.reduce_mean(tf.square(prediction - target))
    train_op = tf.train.AdamOptimizer(0.1).minimize(loss)
"""
TRAINED = TRAINING.replace("Y: ys", "target: ys")


@pytest.mark.parametrize(
    ("head", "front", "behind"),
    [
        (
            "with tf.name_scope('loss')",
            ["with tf.name_scope('loss') as scope:"],
            "with tf.name_scope(scope):",
        ),
        (
            "with tf.name_scope('loss') as name",
            ["with tf.name_scope('loss') as name:", "scope = name"],
            "with tf.name_scope(scope) as name:",
        ),
        (
            "with tf.variable_scope('loss')",
            ["with tf.variable_scope('loss') as scope:"],
            "with tf.variable_scope(scope), tf.name_scope(scope.original_name_scope):",
        ),
        (
            "with tf.device('/cpu:0'), tf.name_scope('loss')",
            ["with tf.device('/cpu:0'), tf.name_scope('loss') as scope:"],
            "with tf.device('/cpu:0'), tf.name_scope(scope):",
        ),
        ("with tf.device('/cpu:0')", ["with tf.device('/cpu:0'):"], "with tf.device('/cpu:0'):"),
    ],
)
def test_a_scope_on_both_sides(head: str, front: list[str], behind: str) -> None:
    before, inside, after = parts(INPUTS + NET + f"{head}:\n" + TAIL + TRAINED)
    start = before.index(front[0])
    assert before[start : start + len(front) + 1] == [*front, "target = tf.placeholder(tf.float32, [None, 1])"]
    assert f"{head}:" in inside
    assert behind in after


def test_a_scope_behind_the_loop_only() -> None:
    script = INPUTS + MODEL.replace("loss =", "with tf.name_scope('loss'):\n    loss =") + "    " + STEP + TRAINING
    _, inside, after = parts(script)
    assert "with tf.name_scope('loss'):" in inside
    assert "with tf.name_scope('loss'):" in after


@pytest.mark.parametrize(
    ("model", "later", "kept"),
    [
        ("with tf.name_scope('loss'):\n    {}", "tf.summary.scalar('loss', loss)\n", True),
        ("with tf.name_scope('Loss'):\n    {}", "tf.summary.scalar('loss', loss)\n", True),
        ("with tf.name_scope('loss'):\n    {}", "with tf.name_scope('loss'):\n    double = loss * 2\n", True),
        ("with tf.name_scope('loss'):\n    {}", "tf.summary.scalar('cost', loss)\n", False),
        (
            "with tf.name_scope('model'):\n    with tf.name_scope('loss'):\n        {}",
            "tf.summary.scalar('loss', loss)\n",
            False,
        ),
        ("{}", "tf.summary.scalar('loss', loss)\n", False),
    ],
)
def test_names_that_the_model_has_taken_stay_taken(model: str, later: str, kept: bool) -> None:
    depth = len(model.partition("{}")[0].rpartition("\n")[2])
    lines = ("\n" + " " * depth).join(["error = prediction - Y", "loss = tf.reduce_mean(error)"])
    script = INPUTS + "prediction = tf.layers.dense(X, 1)\n" + model.format(lines) + "\n"
    _, _, after = parts(script + STEP + later + TRAINING)
    assert ("keep_names()" in after) == kept


@pytest.mark.parametrize(
    ("summary", "kept"),
    [
        ("tf.summary.scalar('mean', loss)", True),
        ("tf.summary.scalar('mean_{}'.format(1 + len(tf.trainable_variables())), loss)", True),
        ("tf.summary.scalar('dense_1', loss)", True),
        ("tf.summary.scalar('cost', loss)", False),
    ],
)
def test_a_summary_named_as_an_operation_of_the_model(summary: str, kept: bool) -> None:
    after = parts(INPUTS + MODEL + STEP + summary + "\n" + TRAINING)[2]
    assert ("keep_names()" in after) == kept


# --- Models that other scripts build on one GPU ---------------------------------------------------

SPLIT = """\
{head}:
    loss = tf.reduce_mean(tf.square(prediction - Y))
    train_op = tf.train.AdamOptimizer(0.1).minimize(loss)
"""
CURRENT = "tf.get_default_graph().get_name_scope() + '/'"


@pytest.mark.parametrize(
    ("head", "behind"),
    [
        ("with tf.name_scope('train')", ["with tf.name_scope(scope if num_gpus == 1 else 'train'):"]),
        ("with tf.name_scope('train') as s", ["with tf.name_scope(scope if num_gpus == 1 else 'train') as s:"]),
        (
            "with tf.device('/cpu:0'), tf.name_scope('a' + 'b')",
            ["with tf.device('/cpu:0'), tf.name_scope(scope if num_gpus == 1 else 'a' + 'b'):"],
        ),
        (
            "with tf.name_scope('a'), tf.name_scope('b')",
            ["with tf.name_scope('a'), tf.name_scope(scope if num_gpus == 1 else 'b'):"],
        ),
        (
            "with tf.variable_scope('train') as s",
            [f"with tf.variable_scope('train') as s, tf.name_scope(scope if num_gpus == 1 else {CURRENT}):"],
        ),
        (
            "with tf.name_scope('train', values=[X])",
            [f"with tf.name_scope('train', values=[X]), tf.name_scope(scope if num_gpus == 1 else {CURRENT}):"],
        ),
    ],
)
def test_a_scope_that_is_left_and_entered_again_is_one_scope_on_one_gpu(head: str, behind: list[str]) -> None:
    """Beside towers it has its name for itself, behind them; on one GPU the loop's statements are in it, too."""
    _, inside, after = parts(INPUTS + NET + SPLIT.format(head=head) + TRAINING, one_gpu=True, line_length=200)
    assert inside[inside.index(f"{head}:") + 1] == f"scope = {CURRENT}"
    assert [line for line in after if line.startswith("with tf") and "Session" not in line] == behind


FRONT = "{head}:\n    X = tf.placeholder(tf.float32, [None, 4])\n    prediction = tf.layers.dense(X, 1)\n"
WHOLE = "scope.original_name_scope"


@pytest.mark.parametrize(
    ("head", "front", "within"),
    [
        ("with tf.name_scope('net')", "with tf.name_scope('net') as scope:", "tf.name_scope({0} if {1} else 'net')"),
        (
            "with tf.name_scope('net') as s",
            "with tf.name_scope('net') as s:",
            "tf.name_scope({0} if {1} else 'net') as s",
        ),
        (
            "with tf.device('/cpu:0'), tf.name_scope('net')",
            "with tf.device('/cpu:0'), tf.name_scope('net') as scope:",
            "tf.device('/cpu:0'), tf.name_scope({0} if {1} else 'net')",
        ),
        (
            "with tf.variable_scope('net')",
            "with tf.variable_scope('net') as scope:",
            f"tf.variable_scope('net'), tf.name_scope({WHOLE} if {{1}} else {CURRENT})",
        ),
    ],
)
def test_a_scope_that_inputs_stand_in_is_one_scope_on_one_gpu(head: str, front: str, within: str) -> None:
    """`tf.Variable` and optimizers name variables by it: a second `net` would be net_1, which no checkpoint has."""
    script = INPUTS + FRONT.format(head=head) + MODEL.partition("\n")[2] + STEP + TRAINING
    before, inside, _ = parts(script, one_gpu=True, line_length=200)
    assert front in before
    assert f"with {within.format('scope', 'num_gpus == 1')}:" in inside


@pytest.mark.parametrize(
    ("head", "options"),
    [
        ("with tf.name_scope('net')", {}),  # one tower opens a scope of its own
        ("with tf.name_scope(None)", {"one_gpu": True}),  # the outermost
    ],
)
def test_other_blocks_around_inputs_are_opened_as_they_were(head: str, options: dict[str, bool]) -> None:
    script = INPUTS + FRONT.format(head=head) + MODEL.partition("\n")[2] + STEP + TRAINING
    before, inside, _ = parts(script, line_length=200, **options)
    assert f"{head}:" in before and f"{head}:" in inside


def test_scopes_in_one_another_are_each_one_scope_on_one_gpu() -> None:
    nested = "with tf.name_scope('a'):\n" + textwrap.indent(SPLIT.format(head="with tf.name_scope('b')"), "    ")
    _, inside, after = parts(INPUTS + NET + nested + TRAINING, one_gpu=True)
    begin = inside.index("with tf.name_scope('a'):")
    assert inside[begin + 1 : begin + 4] == [
        f"model_scope = {CURRENT}",
        "with tf.name_scope('b'):",
        f"scope = {CURRENT}",
    ]
    begin = after.index("with tf.name_scope(model_scope if num_gpus == 1 else 'a'):")
    assert after[begin + 1] == "with tf.name_scope(scope if num_gpus == 1 else 'b'):"


@pytest.mark.parametrize(
    ("head", "options"),
    [
        ("with tf.name_scope('train')", {}),  # one tower opens a scope of its own
        ("with tf.device('/cpu:0')", {"one_gpu": True}),
        ("with tf.name_scope(None)", {"one_gpu": True}),  # the outermost
        ("with tf.variable_scope(tf.get_variable_scope())", {"one_gpu": True}),
    ],
)
def test_other_blocks_on_both_sides_are_opened_as_they_were(head: str, options: dict[str, bool]) -> None:
    _, inside, after = parts(INPUTS + NET + SPLIT.format(head=head) + TRAINING, line_length=200, **options)
    assert f"{head}:" in inside and f"{head}:" in after
    assert not any(CURRENT in line for line in (*inside, *after))


AVERAGED = """\
error = tf.reduce_mean(tf.abs(prediction - Y){name})
averages = tf.train.ExponentialMovingAverage(0.9)
with tf.control_dependencies([train_op]):
    {made}
"""


@pytest.mark.parametrize(
    ("name", "made", "kept"),
    [
        ("", "keep = averages.apply([error])", True),
        (", name='error'", "keep = averages.apply([error])", False),
        ("", "print(error.name)", False),
    ],
)
def test_the_average_of_a_numbered_tensor_keeps_its_name(name: str, made: str, kept: bool) -> None:
    """`Mean_1/ExponentialMovingAverage`: the model's own mean would have left the first number to this one."""
    after = parts(INPUTS + MODEL + STEP + AVERAGED.format(name=name, made=made) + TRAINING)[2]
    assert ("keep_names()" in after) is kept
