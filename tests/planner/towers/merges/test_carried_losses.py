"""A loss with a value for each example that another function minimises: the merged one carries the towers' there."""

from __future__ import annotations

from dataclasses import replace

import pytest

from converter.plan import Loop, Plan
from converter.plan.border import Merge
from converter.rewrite import loop_text
from tests.scripts import INPUTS, TRAINING, codes, converted

SCRIPT = """\
import sys

import tensorflow as tf

batch_size = 32


class Model(object):
    def __init__(self):
        self.x = tf.placeholder(tf.float32, [None, 4])
        self.y = tf.placeholder(tf.float32, [None, 1])
        error = tf.square(tf.layers.dense(self.x, 3) - self.y)
        {made}


def train(m, loss):
    opt = tf.train.AdamOptimizer()
    return {step}


def main():
    m = Model()
    train_op = train(m, {loss})
    with tf.Session() as sess:
        for step in range(9):
            xs, ys = next_batch(batch_size)
            sess.run(train_op, {{m.x: xs, m.y: ys}})


main()
"""
ROWS = "self.loss = tf.reduce_mean(error, 1)"
KEPT = "self.loss = keep_losses(tf.concat(tower_loss, 0), tower_losses)"
LOSSES = "tower_losses.append(self.loss * weight)"
CHOICE = "if len(sys.argv) > 1:\n            " + ROWS


def script(made: str = ROWS, step: str = "opt.minimize(loss)", loss: str = "m.loss") -> str:
    return SCRIPT.format(made=made, step=step, loss=loss)


def lines(text: str, **options: object) -> list[str]:
    return [line.strip() for line in converted(text, **options).splitlines()]


@pytest.mark.parametrize(
    ("step", "written"),
    [
        ("opt.minimize(loss)", "opt.apply_gradients(tower_gradients(opt, loss.tower_losses))"),
        ("opt.compute_gradients(loss)", "tower_gradients(opt, loss.tower_losses)"),
        (
            "tf.gradients(loss, tf.trainable_variables())",
            "gradients_of_towers(loss.tower_losses, tf.trainable_variables())",
        ),
        (
            "[tf.train.AdamOptimizer().minimize(one) for one in (loss, m.loss)]",
            "[TowerOptimizer(tf.train.AdamOptimizer(), one.tower_losses).minimize(one) for one in (loss, m.loss)]",
        ),
    ],
)
def test_the_gradients_are_those_of_the_towers_losses(step: str, written: str) -> None:
    made = lines(script(step=step))
    assert LOSSES in made and KEPT in made and f"return {written}" in made
    assert codes(script(step=step)) == ["TMG301"]


def test_the_sums_of_the_towers_are_added_up_where_that_is_asked_for() -> None:
    for options in ({"batch": "total"}, {"loss": "global"}):
        made = lines(script(), **options)
        assert "tower_losses.append(self.loss * tf.cast(tf.minimum(rows, 1), self.loss.dtype))" in made
        assert KEPT in made and codes(script(), **options) == []


@pytest.mark.parametrize(
    ("made", "loss", "kept"),
    [
        (ROWS + "\n        self.cost = self.loss", "m.cost", KEPT),
        (CHOICE + "\n        else:\n            self.loss = tf.reduce_sum(error, 1)", "m.loss", KEPT),
        ("self.loss = tf.transpose(error)", "m.loss", KEPT.replace(", 0)", ", 1)")),
        (
            "self.losses = {'a': tf.reduce_mean(error, 1)}",
            "m.losses['a']",
            "self.losses['a'] = keep_losses(tf.concat(tower_a, 0), tower_losses)",
        ),
    ],
    ids=["two names", "branches", "other axis", "dict"],
)
def test_places_of_such_a_loss(made: str, loss: str, kept: str) -> None:
    assert kept in lines(script(made, loss=loss))


def test_a_loss_that_carries_the_rows_of_the_towers_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their gradients are not weighted: the conversion reads its own text again, and refuses it."""
    written = loop_text._with_parts

    def wrong(plan: Plan, merge: Merge, loop: Loop, names: dict[str, str]) -> str:
        return written(plan, replace(merge, losses=merge.losses and merge.towers), loop, names)

    monkeypatch.setattr(loop_text, "_with_parts", wrong)
    assert "TMG290" in codes(script())


def test_several_losses_in_turn() -> None:
    both = ROWS + "\n        self.b = tf.reduce_mean(error)"
    made = lines(script(both, "[tf.train.AdamOptimizer().minimize(one) for one in (loss, m.b)]"))
    assert KEPT in made and "self.b = merge_loss(tower_b)" in made


@pytest.mark.parametrize(
    ("made", "loss", "code"),
    [
        (CHOICE, "m.loss", "TMG209"),  # it may not be there
        ("self.pair = (tf.reduce_mean(error, 1), error)", "m.pair[0]", "TMG209"),  # merged with its tuple
        ("self.loss = tf.concat([error, error], 0)", "m.loss", "TMG210"),  # its rows are no examples' in order
        (CHOICE + "\n        else:\n            self.loss = tf.reduce_mean(error)", "m.loss", "TMG210"),
        (ROWS, "m.loss * 2.0", "TMG219"),  # another tensor, which carries nothing
        (ROWS, "tf.identity(m.loss)", "TMG219"),
    ],
    ids=["one branch", "tuple", "twice", "a number in one branch", "product", "identity"],
)
def test_losses_that_nothing_can_carry(made: str, loss: str, code: str) -> None:
    assert code in codes(script(made, loss=loss))


def test_a_loss_of_a_tuple_that_is_merged_as_a_whole_is_not_set_apart() -> None:
    pair = "pair = (tf.square(tf.layers.dense(X, 1) - Y), X)\n"
    step = "opt = tf.train.AdamOptimizer()\ntrain_op = opt.minimize(pair[0])\nmean = tf.reduce_mean(pair[0])\n"
    made = lines(INPUTS + pair + step + TRAINING)
    assert "pair = map_structure(lambda *parts: tf.concat(parts, 0), *tower_pair)" in made
    assert not any(line.startswith("pair[0] =") for line in made)
