"""Updates of variables that a model makes by itself and the script runs: the first tower's, as with batch norm."""

from __future__ import annotations

import pytest

from tests.scripts import INPUTS, STEP, TRAINING, codes, converted

AVERAGE = "moving_averages.assign_moving_average(average, mean, 0.9)"
ASSIGN = "tf.assign(average, 0.9 * average + 0.1 * mean)"
ENTRIES = "from tensorflow.python.training import moving_averages\n"
LOSS = "loss = tf.reduce_mean(tf.square(h - Y))\n"
RUN = TRAINING.replace("run(train_op,", "run(training,")


def norm(update: str, take: str) -> str:
    """A function that normalises by the batch's mean; take: what it does with the update."""
    return f"""\
def norm(h, ops=None):
    average = tf.get_variable('average', [1], initializer=tf.zeros_initializer(), trainable=False)
    mean = tf.reduce_mean(h, 0)
    update = {update}
    {take}


"""


def script(update: str, take: str, model: str, training: str = "training = tf.group(train_op, update)\n") -> str:
    return ENTRIES + INPUTS + norm(update, take) + model + LOSS + STEP + training + RUN


BOUND = "h, update = norm(tf.layers.dense(X, 1))\n"
FILLED = "ops = []\nh = norm(tf.layers.dense(X, 1), ops)\n"
GROUPED = "training = tf.group(train_op, *ops)\n"


@pytest.mark.parametrize("update", [AVERAGE, ASSIGN], ids=["moving average", "assign"])
def test_an_update_that_the_script_runs_is_the_first_towers(update: str) -> None:
    text = converted(script(update, "return h - mean, update", BOUND))
    assert "tower_update.append(update)" in text
    assert "\nupdate = tower_update[0]\n" in text
    assert "first_tower_updates(gpu)" in text


@pytest.mark.parametrize("update", [AVERAGE, ASSIGN], ids=["moving average", "assign"])
def test_a_list_that_the_model_fills_with_updates_holds_the_first_towers(update: str) -> None:
    take = "ops.append(update)\n    ops.append(tf.identity(update))\n    return h - mean"
    text = converted(script(update, take, FILLED, GROUPED))
    assert "tower_ops.append(list(ops))\n" in text
    assert "\nops = tower_ops[0]\n" in text


def test_a_list_from_before_the_towers_is_filled_with_the_first_towers() -> None:
    """Other names may stand for the list: it stays the same one."""
    held = "class Net(object):\n    def __init__(self):\n        self.ops = []\n\n\nnet = Net()\n"
    model = "h = norm(norm(tf.layers.dense(X, 1), net.ops), net.ops)\n"
    take = "ops.append(update)\n    return h - mean"
    text = converted(held + script(ASSIGN, take, model, "training = tf.group(train_op, *net.ops)\n"))
    assert "    net.ops[:] = first_ops\n" in text
    assert "\nnet.ops[:] = tower_ops[0]\n" in text


def test_what_waits_for_an_update_is_the_first_towers() -> None:
    take = "with tf.control_dependencies([update]):\n        done = tf.no_op()\n    return h - mean, done"
    assert "\nupdate = tower_update[0]\n" in converted(script(ASSIGN, take, BOUND))


def test_updates_in_a_dict_are_the_first_towers() -> None:
    model = BOUND.replace("update", "ops['mean']").replace("h, ", "ops = {}\nh, ", 1)
    text = converted(script(ASSIGN, "return h - mean, update", model, "training = tf.group(train_op, ops['mean'])\n"))
    assert "\nops['mean'] = tower_mean[0]\n" in text


@pytest.mark.parametrize(
    "update",
    ["tf.assign(average, 0.9 * average)", "tf.assign_add(average, [1.])"],
)
def test_updates_by_nothing_of_the_batch_are_alike_in_all_towers(update: str) -> None:
    assert "update = tower_update" not in converted(script(update, "return h - mean, update", BOUND))


def test_variables_and_constants_stay_as_they_are() -> None:
    text = converted(script("tf.constant(1.)", "return h - mean, average", BOUND, "training = [train_op, update]\n"))
    assert "update = tower_update" not in text


def test_a_tensor_that_waits_for_an_update_is_merged_as_what_it_is() -> None:
    take = "with tf.control_dependencies([update]):\n        kept = tf.identity(mean)\n    return h - kept, kept"
    text = converted(script(ASSIGN, take, BOUND, "training = [train_op, update]\n"))
    assert "\nupdate = tf.add_n(tower_update)\n" in text


def test_a_list_of_updates_and_of_tensors_of_the_batch_is_refused() -> None:
    take = "ops.append(update)\n    ops.append(h)\n    return h - mean"
    many = FILLED.replace("h = norm", "for _ in range(int(open('layers.txt').read())):\n    h = norm")
    assert codes(script(ASSIGN, take, many, GROUPED)) == ["TMG208"]


def test_an_average_that_the_model_reads_is_refused() -> None:
    assert "TMG234" in codes(script(AVERAGE, "return h - average, update", BOUND))
