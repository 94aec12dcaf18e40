"""Optimizers of the script: classes that are derived from TensorFlow's, and functions that derive one."""

from __future__ import annotations

import pytest

from tests.scripts import INPUTS, MODEL, TRAINING, codes, converted, run

SIGNS = """\
class Signs({base}):
    def __init__(self, rate, name="Signs"):
        super(Signs, self).__init__(False, name)
        self._rate = rate

    def _create_slots(self, variables):
        for v in variables:
            self._zeros_slot(v, "m", self._name)

    def _apply_dense(self, grad, var):
        m = self.get_slot(var, "m")
        kept = m.assign(0.9 * m + 0.1 * grad)
        return tf.group(tf.assign_sub(var, self._rate * tf.sign(kept)), kept)


"""
OWN_COMPUTE = """\
class Scaled(tf.train.Optimizer):
    def __init__(self, inner, scale=128.0):
        super(Scaled, self).__init__(False, "Scaled")
        self.inner, self.scale = inner, scale

    def compute_gradients(self, loss, var_list=None, *args, **kwargs):
        pairs = self.inner.compute_gradients(loss * self.scale, var_list, *args, **kwargs)
        return [(g / self.scale, v) for g, v in pairs]

    def apply_gradients(self, *args, **kwargs):
        return self.inner.apply_gradients(*args, **kwargs)


"""
INHERITED = """\
class Clipped(tf.train.AdamOptimizer):
    def compute_gradients(self, loss, var_list=None, **kwargs):
        pairs = super(Clipped, self).compute_gradients(loss, var_list, **kwargs)
        return [(tf.clip_by_norm(g, 0.1), v) for g, v in pairs]

    def minimize(self, loss, global_step=None):
        return super(Clipped, self).minimize(loss, global_step)


"""


def trained_by(made: str, own: str = "") -> str:
    """A script that trains by an optimizer; own: its class."""
    return INPUTS + own + MODEL + f"train_op = {made}.minimize(loss)\n" + TRAINING


@pytest.mark.parametrize(
    "base",
    ["tf.train.Optimizer", "tf.train.MomentumOptimizer", "tf.contrib.opt.NadamOptimizer", "optimizer.Optimizer"],
)
def test_a_class_that_inherits_minimize(base: str) -> None:
    head = "from tensorflow.python.training import optimizer\n" if base.startswith("optimizer") else ""
    text = converted(head + trained_by("Signs(0.1)", SIGNS.format(base=base)))
    name = "tower_optimizer" if head else "optimizer"
    assert f"\n{name} = Signs(0.1)\ntrain_op = {name}.apply_gradients(tower_gradients({name}, tower_loss))\n" in text


def test_a_class_that_derives_from_one_of_the_script() -> None:
    script = trained_by("Mine(0.1)", SIGNS.format(base="tf.train.Optimizer") + "class Mine(Signs):\n    pass\n\n\n")
    assert "tower_gradients(optimizer, tower_loss)" in converted(script)


@pytest.mark.parametrize("base", ["tf.keras.optimizers.Optimizer", "object", "Unknown", "tf.train.SessionRunHook"])
def test_a_class_of_another_kind_inherits_no_training_step(base: str) -> None:
    assert codes(trained_by("Signs(0.1)", SIGNS.format(base=base))) == ["TMG201"]


def test_gradients_that_a_class_changes_are_those_of_the_whole_batch() -> None:
    """Its methods are executed once, behind the towers: what they do is not done for each tower."""
    text = converted(trained_by("Scaled(tf.train.MomentumOptimizer(0.1, 0.9))", OWN_COMPUTE))
    assert "*args, **dict(kwargs, colocate_gradients_with_ops=True))" in text
    assert "train_op = Scaled(tf.train.MomentumOptimizer(0.1, 0.9)).minimize(loss)\n" in text
    text = converted(trained_by("Clipped(0.1)", INHERITED))
    assert "tower_gradients(optimizer, loss.tower_losses, var_list=var_list, **kwargs)" in text
    assert "train_op = Clipped(0.1).minimize(loss)\n" in text


def test_arguments_that_may_hide_where_gradients_are_computed_behind_another_dict() -> None:
    own = "def dict(*given):\n    return given\n\n\n"
    assert codes(trained_by("Scaled(tf.train.AdamOptimizer(0.1))", own + OWN_COMPUTE)) == ["TMG219"]


def test_a_class_that_a_function_extends_by_weight_decay() -> None:
    made = "tf.contrib.opt.extend_with_decoupled_weight_decay(tf.train.AdamOptimizer)(0.01, learning_rate=0.1)"
    text = converted(trained_by(made), scale_lr="linear")
    assert "(tf.train.AdamOptimizer)(\n    0.01, learning_rate=0.1 * num_gpus\n)" in text
    assert "optimizer.apply_gradients(sum_gradients(tower_grads))" in text


@pytest.mark.parametrize(
    ("made", "own"),
    [
        ("Clipped()", INHERITED.partition("    def minimize")[0]),  # its own method is given it, too
        ("Signs(0.1)", SIGNS.format(base="tf.train.Optimizer")),
    ],
)
def test_a_given_gradient_is_known_behind_an_optimizer_of_the_script(made: str, own: str) -> None:
    step = f"train_op = {made}.minimize(prediction, grad_loss=Y)\n"
    (found,) = run(INPUTS + own + MODEL + step + TRAINING).diagnostics
    assert found.code == "TMG209" and "grad_loss" in found.message
