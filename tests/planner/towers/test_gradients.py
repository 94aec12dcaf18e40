"""Where the gradient is taken: in the towers, or over their losses where the script takes it."""

from __future__ import annotations

import re
from textwrap import dedent

import pytest

from converter.plan import Gradient, Plan
from converter.plan.border import Loss
from tests.scripts import INPUTS, MODEL, STEP, TRAINING, codes, converted, run


def planned(step: str, model: str = MODEL) -> Plan:
    plan = run(INPUTS + model + step + TRAINING).plan
    assert plan is not None
    return plan


def edits(plan: Plan) -> list[str]:
    """The texts that take the place of what trains in the script."""
    return [edit.text for edit in plan.replaces if edit.why in ("TMG101", "TMG102")]


def test_minimize_becomes_one_optimizer_in_front_of_the_loop() -> None:
    plan = planned(STEP)
    made = "tf.train.GradientDescentOptimizer(0.1)"
    assert plan.loops[0].gradient == Gradient("optimizer", made, "tower_loss", "tower_grads")
    assert edits(plan) == ["optimizer.apply_gradients(sum_gradients(tower_grads))"]
    assert [merge.loss for merge in plan.loops[0].border.merges] == [Loss()]  # which carries no losses of towers


def test_an_optimizer_that_is_made_behind_the_loss_takes_the_towers_losses() -> None:
    plan = planned("opt = tf.train.AdamOptimizer()\ntrain_op = opt.minimize(loss)\n")
    assert plan.loops[0].gradient is None
    assert edits(plan) == ["opt.apply_gradients(tower_gradients(opt, tower_loss))"]


def test_an_optimizer_that_is_made_before_the_loop_is_used_in_it() -> None:
    plan = planned("train_op = opt.minimize(loss)\n", "opt = tf.train.AdamOptimizer()\n" + MODEL)
    assert plan.loops[0].gradient == Gradient("opt", "", "tower_loss", "tower_grads")
    assert edits(plan) == ["opt.apply_gradients(sum_gradients(tower_grads))"]


@pytest.mark.parametrize(
    ("step", "after"),
    [
        ("train_op = tf.train.AdamOptimizer().minimize(loss, global_step)\n", ", global_step=global_step"),
        ("train_op = tf.train.AdamOptimizer().minimize(loss, global_step=global_step)\n", ", global_step=global_step"),
        ("train_op = tf.train.AdamOptimizer().minimize(loss, name='train')\n", ", name='train'"),
    ],
)
def test_arguments_go_to_the_call_that_takes_them(step: str, after: str) -> None:
    plan = planned(step, "global_step = tf.train.get_or_create_global_step()\n" + MODEL)
    assert edits(plan) == [f"optimizer.apply_gradients(sum_gradients(tower_grads){after})"]


def test_gradients_that_the_script_changes_are_averaged_before() -> None:
    plan = planned(
        "opt = tf.train.AdamOptimizer()\npairs = opt.compute_gradients(loss)\n"
        "train_op = opt.apply_gradients([(tf.clip_by_norm(g, 1.0), v) for g, v in pairs])\n"
    )
    assert edits(plan) == ["tower_gradients(opt, tower_loss)"]


@pytest.mark.parametrize(
    ("given", "after"),
    [
        ("loss, xs", "tower_loss, xs"),
        ("loss, xs, None, 'g'", "tower_loss, xs, None, 'g'"),
        ("ys=loss, xs=xs", "tower_loss, xs"),
        ("xs=xs, name='g', ys=loss", "tower_loss, xs, name='g'"),
        ("loss, xs=xs, **more", "tower_loss, xs, **more"),
    ],
)
def test_variables_come_right_behind_the_losses(given: str, after: str) -> None:
    step = f"xs = tf.trainable_variables()\nmore = {{}}\ngrads = tf.gradients({given})\n"
    plan = planned(step + "train_op = tf.train.AdamOptimizer().apply_gradients(zip(grads, xs))\n")
    assert edits(plan) == [f"gradients_of_towers({after})"]


@pytest.mark.parametrize("given", ["*[loss, xs]", "loss, *[xs]", "loss, **{'xs': xs}"])
def test_variables_that_are_not_written_out_are_refused(given: str) -> None:
    step = f"xs = tf.trainable_variables()\ngrads = tf.gradients({given})\n"
    step += "train_op = tf.train.AdamOptimizer().apply_gradients(zip(grads, xs))\n"
    assert codes(INPUTS + MODEL + step + TRAINING) == ["TMG213"]


GIVEN = """\
g = tf.placeholder(tf.float32, [None, 1])
out = tf.layers.dense(X, 1)
loss = tf.reduce_mean(tf.square(out - Y))
xs = tf.trainable_variables()
opt = tf.train.AdamOptimizer()
"""
APPLIED = "train_op = opt.apply_gradients(zip(grads, xs))\n"


@pytest.mark.parametrize(
    ("step", "argument"),
    [
        ("grads = tf.gradients(out, xs, grad_ys=g)\n" + APPLIED, "grad_ys"),
        ("grads = tf.gradients(out, xs, g)\n" + APPLIED, "grad_ys"),
        ("grads = tf.gradients(out, xs, [-g])\n" + APPLIED, "grad_ys"),
        ("grads = tf.gradients(out, xs, tf.ones([32, 1]))\n" + APPLIED, "grad_ys"),  # as many rows as a batch
        ("grads = tf.gradients(loss, xs, grad_ys=tf.reduce_mean(out))\n" + APPLIED, "grad_ys"),
        ("train_op = opt.minimize(out, grad_loss=g)\n", "grad_loss"),
        ("train_op = opt.apply_gradients(opt.compute_gradients(out, grad_loss=g))\n", "grad_loss"),
    ],
)
def test_gradients_that_begin_with_one_of_the_whole_batch_are_refused(step: str, argument: str) -> None:
    (found,) = run(INPUTS + GIVEN + step + TRAINING).diagnostics
    assert found.code == "TMG209" and f"begin with what {argument} gives for the whole batch" in found.message
    assert "tf.reduce_sum(y * tf.stop_gradient(g))" in found.hint


@pytest.mark.parametrize(
    ("step", "after"),
    [
        ("grads = tf.gradients(loss, xs, grad_ys=2.0)\n" + APPLIED, "tower_loss, xs, grad_ys=2.0"),
        ("grads = tf.gradients(loss, xs, [None])\n" + APPLIED, "tower_loss, xs, [None]"),
        ("grads = tf.gradients(out, xs, None)\n" + APPLIED, "tower_losses, xs, None"),
        ("train_op = opt.minimize(loss, grad_loss=tf.constant(2.0))\n", "grad_loss=tf.constant(2.0)"),
    ],
)
def test_a_number_that_multiplies_the_gradients_goes_to_the_towers(step: str, after: str) -> None:
    assert f"{after})" in converted(INPUTS + GIVEN + step + TRAINING)


def test_the_edit_that_is_told_for_a_given_gradient_is_followed() -> None:
    """Each tower multiplies its rows, so that the gradients begin with the tower's own."""
    step = "total = tf.reduce_sum(out * tf.stop_gradient(g))\ngrads = tf.gradients(total, xs)\n" + APPLIED
    feeds = TRAINING.replace("Y: ", "g: ")
    text = converted(INPUTS + GIVEN.replace("loss = tf.reduce_mean(tf.square(out - Y))\n", "") + step + feeds)
    assert "shard([X_batch, g_batch], gpu)" in text and "gradients_of_towers(tower_total, xs)" in text


def test_a_given_gradient_in_another_function_is_not_told_to_sum_the_loss_alone() -> None:
    """`tf.reduce_sum` of the values would have no place for the rows of the gradient."""
    method = "def train(out):\n    return opt.minimize(out, grad_loss=g)\ntrain_op = train(out)\n"
    (found,) = run(INPUTS + GIVEN + method + TRAINING).diagnostics
    assert found.code == "TMG209" and "grad_loss" in found.message


STOPPED = """\
before = tf.square(tf.get_variable("w", [1]))
h = tf.layers.dense(X, 3)
k = tf.square(tf.get_variable("k", [3]))
loss = tf.reduce_mean(tf.square(tf.layers.dense(h * k, 1) * before - Y))
xs = tf.trainable_variables()
grads = tf.gradients(loss, xs, stop_gradients={})
train_op = tf.train.AdamOptimizer().apply_gradients([(g, v) for g, v in zip(grads, xs) if g is not None])
"""


@pytest.mark.parametrize("stops", ["h", "[h]", "[before, h]", "read()"])
def test_gradients_that_end_inside_of_the_towers_are_refused(stops: str) -> None:
    """The name stands for the merged tensor by then, from which no tower's loss is computed."""
    (found,) = run(INPUTS + STOPPED.format(stops) + TRAINING).diagnostics
    assert found.code == "TMG209" and "stop_gradients" in found.message and "tf.stop_gradient()" in found.hint


@pytest.mark.parametrize("stops", ["None", "xs[0]", "[before]", "xs[:1]"])
def test_gradients_that_end_at_what_the_towers_share_are_taken_there(stops: str) -> None:
    text = converted(INPUTS + STOPPED.format(stops) + TRAINING)
    assert f"gradients_of_towers(tower_loss, xs, stop_gradients={stops})" in text


def test_gradients_of_a_loss_of_merged_values_may_not_end_inside_of_the_towers() -> None:
    model = """\
        def build():
            x = tf.placeholder(tf.float32, [None, 4])
            y = tf.placeholder(tf.float32, [None, 1])
            h = tf.layers.dense(x, 3)
            return x, y, h, tf.layers.dense(h, 1)
        X, Y, h, out = build()
        loss = tf.reduce_mean(tf.square(out - Y))
        xs = tf.trainable_variables()
        grads = tf.gradients(loss, xs{})
        train_op = tf.train.AdamOptimizer().apply_gradients([(g, v) for g, v in zip(grads, xs) if g is not None])
"""
    begin = "import tensorflow as tf\nbatch_size = 32\n"
    assert codes(begin + dedent(model.format(", stop_gradients=[h]")) + TRAINING) == ["TMG209"]
    assert codes(begin + dedent(model.format("")) + TRAINING) == []


SPARSE = "isinstance(grad, tf.IndexedSlices)"


@pytest.mark.parametrize(
    ("model", "dense"),
    [
        ("tf.layers.dense(X, 1)", True),
        ("tf.matmul(X, tf.get_variable('w', [4, 1])) + tf.get_variable('b', [1])", True),
        ("tf.layers.dense(X + tf.nn.embedding_lookup(tf.get_variable('t', [9, 4]), 0), 1)", False),
        ("tf.layers.dense(X + tf.gather(tf.get_variable('t', [9, 4]), 0), 1)", False),
        ("tf.layers.dense(X + tf.boolean_mask(tf.get_variable('t', [9, 4]), MASK), 1)", False),
        ("tf.layers.dense(X + tf.get_variable('t', [9, 4])[0], 1)", False),  # is dense, but not known
    ],
)
def test_gradients_that_cannot_be_sparse_are_averaged_in_fewer_lines(model: str, dense: bool) -> None:
    mask = "MASK = [True] + [False] * 8\n" if "MASK" in model else ""
    script = INPUTS + mask + MODEL.replace("tf.layers.dense(X, 1)", model) + STEP + TRAINING
    text = converted(script)
    assert (SPARSE in text) is not dense
    assert "def sum_gradients(tower_grads):\n" in text and "sum_gradients_dense" not in text
    module = run(script, helpers="package").plan
    assert module is not None and not module.dense


def test_each_helper_stands_by_itself() -> None:
    script = INPUTS + MODEL + "opt = tf.train.AdamOptimizer()\ntrain_op = opt.minimize(loss)\n" + TRAINING
    names = re.findall(r"^def (\w+)\(", converted(script), re.MULTILINE)
    assert names == ["check_gpus", "tower_device", "shard_bounds", "shard", "sum_gradients", "tower_gradients"]
