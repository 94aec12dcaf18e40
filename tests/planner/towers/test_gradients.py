"""Where the gradient is taken: in the towers, or over their losses where the script takes it."""

from __future__ import annotations

import re

import pytest

from converter.plan import Gradient, Plan
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
    assert not plan.loops[0].register


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
