"""What a loop does in turns that are not followed one by one."""

from __future__ import annotations

import pytest

from converter.analysis.values import Sequence
from tests.analysis.readings import shown, value_of
from tests.scripts import ABOVE, BELOW, INPUTS, MODEL, STEP, TRAINING, body, codes, parts

SESSION = """\
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
"""
STEPS = """\
    step = 1
    while step < 100:
        xs, ys = next_batch(batch_size)
        sess.run(train_op, {X: xs, Y: ys})
"""
LATE = "            sess.run(prediction, {X: xs})\n"
MERGED = "prediction = tf.concat(tower_prediction, 0)"


@pytest.mark.parametrize(
    ("loop", "late"),
    [
        (STEPS, "if step % 10 == 0:\nLATE        step += 1\n"),
        (STEPS, "if step == 99:\nLATE        step = step + 1\n"),
        (STEPS.replace("step < 100", "True"), "step += 1\n        if step > 50:\nLATE"),
        (STEPS, "step += 1\n        if step % 10:\n            continue\n        if 1:\nLATE"),
        (STEPS.replace("while step < 100", "for _ in range(9)"), "if step > 5:\nLATE        step += 1\n"),
        (
            STEPS.replace("step = 1", "at = {'step': 1}").replace("step < 100", "True"),
            "if at['step'] % 10 == 0:\nLATE        at['step'] += 1\n",
        ),
        (STEPS.replace("while step < 100", "for name in ('a', 'b', 'c')"), "if name == 'c':\nLATE"),
        (STEPS.replace("while step < 100", "for epoch in range(1, 13)"), "if epoch % 10 == 0:\nLATE"),
        (STEPS.replace("while step < 100", "for epoch in range(1, 13)"), "if epoch < 3: continue\n        if 1:\nLATE"),
    ],
)
def test_a_branch_that_no_early_turn_takes_is_seen(loop: str, late: str) -> None:
    script = INPUTS + MODEL + STEP + SESSION + loop + "        " + late.replace("LATE", LATE)
    assert MERGED in body(script) and codes(script) == []


@pytest.mark.parametrize(
    "late",
    [
        "if False:\nLATE",
        "if False and step % 10 == 0:\nLATE",
        "if step == 1:\n            seen = xs\n",
    ],
)
def test_a_branch_that_no_turn_takes_merges_nothing(late: str) -> None:
    loop = SESSION + STEPS + "        " + late.replace("LATE", LATE) + "        step += 1\n"
    before, inside, after = parts(INPUTS + MODEL + STEP + loop)
    assert before[0] == "batch_size = 32 * num_gpus" and before[-1] == "tower_loss, tower_grads = [], []"
    assert inside == [*ABOVE, *MODEL.splitlines(), *BELOW]
    assert after[:2] == ["X, Y = X_batch, Y_batch", "loss = tf.add_n(tower_loss)"]


def test_batches_that_are_fed_late_tell_their_size() -> None:
    """A replay memory is drawn from when it is full: by its own number, which no early turn of the loop shows."""
    loop = """\
    step = 0
    while True:
        if step > 100:
            rows = random.sample(memory, batch_size)
            sess.run(train_op, {X: [row[0] for row in rows], Y: [row[1] for row in rows]})
        step += 1
"""
    script = "import random\n" + INPUTS + MODEL + STEP + "memory = []\n" + SESSION + loop
    assert "batch_size = 32 * num_gpus" in body(script) and codes(script) == []


def test_layers_of_a_counted_loop_have_their_own_numbers() -> None:
    """Where turns build the model, each is followed with its numbers: the first two layers alone are narrow."""
    layers = "h = X\nfor i in range(4):\n    if i < 2:\n        h = tf.layers.dense(h, 8, name='h%d' % i)\n"
    script = INPUTS + layers + MODEL.replace("dense(X", "dense(h") + STEP + SESSION + STEPS + "        step += 1\n"
    assert codes(script) == [] and "tower_loss.append(loss * weight)" in "\n".join(body(script))


FLAG = "tf.app.flags.DEFINE_integer('parts', 3, '')\nparts = tf.app.flags.FLAGS.parts\nasked = []\n"


@pytest.mark.parametrize(
    ("turns", "asked", "wanted"),
    [
        ("range(parts)", "i == 0", [True, False]),
        ("range(parts)", "i != 0", [False, True]),
        ("range(parts)", "i > 0", [False, True]),
        ("range(parts)", "i < 1", [True, "host compare"]),
        ("range(parts)", "i == 1", [False, "host compare"]),
        ("range(2, parts)", "i == 2", [True, False]),
        ("range(2, parts)", "i <= 0", [False, False]),
        ("range(first, parts)", "i == 0", ["host compare", "host compare"]),
        ("range(parts, 0, -1)", "i == 0", ["host compare", "host compare"]),
        ("range(parts)", "i == parts - 1", ["host compare", "host compare"]),
        ("range(parts)", "i + 1 == 1", ["host compare", "host compare"]),
    ],
)
def test_the_first_turn_of_a_count_that_is_not_known(turns: str, asked: str, wanted: list[object]) -> None:
    found = value_of(f"{FLAG}for i in {turns}:\n    h = tf.constant(1.0)\n    asked.append({asked})\n", "asked")
    assert isinstance(found, Sequence) and [shown(value) for value in found.elements] == wanted


def test_a_tensor_that_the_first_turn_makes_and_later_ones_join() -> None:
    """Each tower begins with the first turn: nothing of another tower goes into what it joins."""
    model = (
        "rows = []\nfor i in range(parts):\n    part = tf.layers.dense(X, 1)\n    if i == 0:\n        joined = part\n"
        "    else:\n        joined = tf.concat([joined, part], 1)\n"
        "loss = tf.reduce_mean(tf.square(tf.reduce_mean(joined, 1, keepdims=True) - Y))\n"
    )
    assert codes(INPUTS + FLAG + model + STEP + TRAINING) == []


@pytest.mark.parametrize("blocks", [1, 2, 3])
def test_a_comprehension_goes_over_all_variables(blocks: int) -> None:
    made = "[tf.get_variable('w%d' % i, [3]) for i in range(30)]\n"
    regularised = "result = [tf.nn.l2_loss(v) for v in tf.trainable_variables()]\n"
    found = value_of(f"made = {made}" * blocks + regularised)
    assert isinstance(found, Sequence) and len(found.elements) == 30 * blocks + 1  # and others that are not seen


@pytest.mark.parametrize(("length", "many"), [(9, False), (40, False), (41, True)])
def test_a_comprehension_over_a_long_list_has_any_number(length: int, many: bool) -> None:
    found = value_of(f"rows = [0] * {length}\nresult = [row + 1 for row in rows]\n")
    assert isinstance(found, Sequence) and found.many is many
