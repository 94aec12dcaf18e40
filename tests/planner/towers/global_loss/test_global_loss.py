"""Losses that are not a mean: computed once from merged results where there can be such, else averaged."""

from __future__ import annotations

import pytest

from tests.scripts import INPUTS, STEP, TRAINING, body, codes, converted, parts, run

ROOT = "loss = tf.sqrt(tf.reduce_mean(tf.square(p - Y)))\n"
DENSE = "p = tf.layers.dense(X, 1)\n"
GRADIENTS = ("sum_gradients(tower_grads)", "tower_gradients(optimizer, tower_loss)")


def script(loss: str, step: str = STEP) -> str:
    return INPUTS + loss + step + TRAINING


def is_once(text: str, **options: object) -> bool:
    """Whether the loss is computed once, of merged values; else the towers' losses are averaged."""
    lines = body(text, **options)
    once = any(line.endswith("colocate_gradients_with_ops=True)") for line in lines)
    assert once != is_averaged(lines), lines
    return once


def is_averaged(lines: list[str]) -> bool:
    """Whether the towers' losses are added, and their gradients averaged: inside the loop taken, or after it."""
    taken = {f"train_op = optimizer.apply_gradients({gradients})" for gradients in GRADIENTS}
    return "loss = tf.add_n(tower_loss)" in {line.strip() for line in lines} and bool(taken & set(lines))


def test_the_loss_stands_behind_the_towers_as_it_was() -> None:
    before, inside, after = parts(script(DENSE + ROOT), loss="global")
    assert before[-2:] == ["X_batch = X", "tower_p = []"]
    assert inside[-2:] == ["p = tf.layers.dense(X, 1)", "tower_p.append(p[:rows])"]
    step = STEP.strip().replace("(loss)", "(loss, colocate_gradients_with_ops=True)")
    assert after[:4] == ["X = X_batch", "p = tf.concat(tower_p, 0)", ROOT.strip(), step]


@pytest.mark.parametrize(("options", "once"), [({}, False), ({"loss": "global"}, True), ({"batch": "total"}, True)])
def test_who_asks_for_it(options: dict[str, str], once: bool) -> None:
    found = run(script(DENSE + ROOT), **options)
    assert [f.code for f in found.diagnostics] == ([] if once else ["TMG302"])
    assert once or "--loss global" in found.diagnostics[0].hint


@pytest.mark.parametrize(
    "loss",
    [
        DENSE + "loss = tf.reduce_mean(tf.square(p - Y))\n",
        DENSE + "loss = tf.reduce_mean(tf.square(p - Y)) + 0.1 * tf.nn.l2_loss(tf.trainable_variables()[0])\n",
        DENSE + "n = tf.reduce_sum(Y)\nloss = tf.reduce_sum(tf.square(p) * Y) / n\n",
        DENSE + "loss = tf.losses.mean_squared_error(Y, p)\n",
        DENSE + "loss = tf.reduce_sum(tf.square(p - Y)) / tf.cast(tf.shape(X)[0], tf.float32)\n",
        DENSE + "loss = tf.reduce_mean(p) - tf.reduce_mean(Y)\n",
    ],
)
@pytest.mark.parametrize("batch", ["per-gpu", "total"])
def test_means_stay_in_the_towers(loss: str, batch: str) -> None:
    made = converted(script(loss), batch=batch, loss="global")
    assert codes(script(loss), batch=batch, loss="global") == [] and is_averaged(made.splitlines())
    told, plain = "; --loss global changes nothing", converted(script(loss), batch=batch)
    assert told in made
    assert made.replace(told, "") == plain.replace(f"--batch {batch}", f"--batch {batch} --loss global")


@pytest.mark.parametrize(
    "loss",
    [
        DENSE + ROOT,
        DENSE + "loss = 1 - tf.reduce_sum(p * Y) / (tf.reduce_sum(p) + tf.reduce_sum(Y))\n",
        DENSE + "loss = tf.reduce_max(tf.abs(p - Y))\n",
        DENSE + "loss = tf.reduce_logsumexp(p)\n",
        DENSE + "loss = tf.norm(p - Y)\n",
        DENSE + "s = tf.matmul(p, p, transpose_b=True)\nz = tf.matmul(Y, Y, transpose_b=True)\n"
        "loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(logits=s, labels=z))\n",
        DENSE + "t = tf.get_variable('t', [])\nloss = tf.reduce_mean(tf.abs(t * tf.matmul(p, p, transpose_b=True)))\n",
        DENSE + "loss = tf.reduce_mean(tf.nn.relu(p - tf.transpose(p)))\n",
        "loss = tf.sqrt(tf.reduce_mean(tf.square(tf.layers.dense(X, 1) - Y)))\n",
        "loss = tf.sqrt(tf.losses.mean_squared_error(Y, tf.layers.dense(X, 1)))\n",
        "def net(x):\n    h = tf.layers.dense(x, 4)\n    return tf.layers.dense(h, 1)\n\n\n"
        "loss = tf.norm(net(X) - Y)\n",
        "def cost(x, y):\n    p = tf.layers.dense(x, 1)\n    return tf.norm(p - y)\n\n\nloss = cost(X, Y)\n",
        "def cost(x, y):\n    return tf.norm(tf.layers.dense(x, 1) - y)\n\n\nloss = cost(X, Y)\n",
        "loss = 0.1\nloss += tf.norm(tf.layers.dense(X, 1) - Y)\n",
        DENSE + "loss = tf.reduce_sum(tf.square(p - Y)) + tf.nn.l2_loss(tf.trainable_variables()[0])\n",
        "with tf.variable_scope('net'):\n    p = tf.layers.dense(X, 1)\n    loss = tf.norm(p - Y)\n",
        DENSE + "loss = tf.reduce_sum(tf.square(p - Y)) / batch_size\n",
        DENSE + "loss = tf.reduce_sum(tf.square(p - Y)) / batch_size + tf.nn.l2_loss(tf.trainable_variables()[0])\n",
    ],
)
def test_losses_of_the_whole_batch(loss: str) -> None:
    assert is_once(script(loss), batch="total") and codes(script(loss), batch="total") == []
    assert is_once(script(loss), loss="global") and codes(script(loss), loss="global") == []


@pytest.mark.parametrize(
    "loss",
    [
        # a layer behind what needs the whole batch
        DENSE + "s = tf.matmul(p, p, transpose_b=True)\n"
        "loss = tf.reduce_mean(tf.square(tf.layers.dense(tf.reshape(s, [-1, 1]), 1)))\n",
        "h = X - tf.reduce_max(X, 0)\np = tf.layers.dense(h, 1)\n" + ROOT,
        # layers and losses in one loop
        "loss = 0.\nfor _ in range(2):\n    loss += tf.norm(tf.layers.dense(X, 1) - Y)\n",
        # one branch of an expression, a lambda: the call may not be made at all
        "import sys\n"
        "loss = tf.norm(tf.layers.dense(X, 1) if len(sys.argv) > 1 else tf.layers.dense(X, 1, tf.nn.relu))\n",
    ],
)
def test_losses_that_cannot_be_computed_once(loss: str) -> None:
    assert [is_once(script(loss), batch="total"), is_once(script(loss), loss="global")] == [False, False]


def test_a_sum_by_the_batch_size_that_cannot_be_computed_once() -> None:
    text = script(
        "loss = 0.\nfor _ in range(2):\n    loss += tf.reduce_sum(tf.square(tf.layers.dense(X, 1) - Y)) / batch_size\n"
    )
    (found,) = run(text, batch="total").diagnostics
    assert found.code == "TMG302" and "divided by the batch size" in found.message and "tf.shape" in found.hint
    assert codes(text) == []


def test_a_sum_over_a_whole_data_set_in_the_graph_is_divided_by_a_number() -> None:
    data = INPUTS.replace("tf.placeholder(tf.float32, [None, 4])", "tf.constant(values)")
    data = data.replace("tf.placeholder(tf.float32, [None, 1])", "tf.constant(targets)")
    made = "import numpy as np\nvalues, targets = np.ones((44, 4), 'f'), np.ones((44, 1), 'f')\n"
    loss = DENSE + "loss = tf.reduce_sum(tf.square(p - Y)) / batch_size\n"
    training = TRAINING.replace("        xs, ys = next_batch(batch_size)\n", "").replace(", {X: xs, Y: ys}", "")
    lines = body(made + data + loss + STEP + training)
    assert "tower_loss.append(loss * tf.cast(tf.minimum(rows, 1), loss.dtype))" in {line.strip() for line in lines}


@pytest.mark.parametrize(
    "loss",
    [
        DENSE + "loss = tf.norm(p[:16] - p[16:])\n",
        DENSE + "loss = tf.norm(p[0] - p)\n",
        DENSE + "loss = tf.norm(tf.matmul(p, Y, transpose_b=True) - tf.eye(32))\n",
        DENSE + "loss = tf.norm(tf.reshape(p, [32, 1]) - Y)\n",
    ],
)
def test_rows_of_one_batch(loss: str) -> None:
    """With --batch total the batch is the script's; the batches of all towers have other rows in these places."""
    assert is_once(script(loss), batch="total")
    assert not is_once(script(loss), loss="global")


def test_a_call_in_the_loss_gets_a_line_of_its_own() -> None:
    loss = "# how far off\nloss = tf.sqrt(tf.reduce_mean(  # a root\n    tf.square(tf.layers.dense(X, 1) - Y)))\n"
    text = script(loss)
    _, inside, after = parts(text, loss="global")
    assert inside[-3:] == [
        "# how far off",
        "square_result = tf.square(tf.layers.dense(X, 1) - Y)",
        "tower_square_result.append(square_result[:rows])",
    ]
    assert "loss = tf.sqrt(tf.reduce_mean(  # a root" in after and "square_result))" in after


@pytest.mark.parametrize(
    "loss",
    [
        "a = 1; loss = tf.norm(tf.layers.dense(X, 1) - Y)\n",
        "if X is not None: loss = tf.norm(tf.layers.dense(X, 1) - Y)\n",
    ],
)
def test_a_statement_that_does_not_stand_alone(loss: str) -> None:
    assert codes(script(loss), loss="global") == codes(script(loss)) == ["TMG203"]


def test_findings_name_places_of_the_script_as_it_was() -> None:
    text = script("loss = tf.norm(tf.layers.batch_normalization(tf.layers.dense(X, 1), training=True) - Y)\n")
    found = run(text, batch="total").diagnostics
    line = next(i for i, line in enumerate(text.splitlines(), 1) if "batch_normalization" in line)
    column = text.splitlines()[line - 1].index("tf.layers.batch_normalization") + 1
    assert [(f.code, f.line, f.column) for f in found] == [("TMG302", line, column)]


def test_weight_decay_counts_once() -> None:
    decay = DENSE.replace("X, 1", "X, 1, kernel_regularizer=tf.contrib.layers.l2_regularizer(0.1)")
    text = script(decay + "tf.losses.add_loss(tf.norm(p - Y))\nloss = tf.losses.get_total_loss()\n")
    _, inside, after = parts(text, loss="global")
    assert "loss = tf.losses.get_total_loss()" in after and not any("get_total_loss" in line for line in inside)
