"""Lists, tuples and dicts of tensors at the border of the loop: cut and merged as a whole."""

from __future__ import annotations

import pytest

from tests.scripts import INPUTS, STEP, TRAINING, body, codes, converted, helpers, parts, run

LOSS = "loss = tf.reduce_mean(tf.square(prediction - Y))\n"
CELLS = """\
cell = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.BasicLSTMCell(8) for _ in range(2)])
state = cell.zero_state(batch_size, tf.float32)
outputs, final = tf.nn.dynamic_rnn(cell, tf.expand_dims(X, 1), initial_state=state)
prediction = tf.layers.dense(outputs[:, -1], 1)
"""
FIXED = INPUTS.replace("[None, 4]", "[batch_size, 4]").replace("[None, 1]", "[batch_size, 1]")
CONCAT = "map_structure(lambda *parts: tf.concat(parts, 0), "


def fetching(what: str) -> str:
    return TRAINING.replace("run(train_op,", f"run([train_op, {what}],")


# -- out -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("made", "name"),
    [
        ("both = (prediction, prediction * 2)", "both"),
        ("both = [(prediction, prediction * 2), [prediction]]", "both"),
        ("both = {'a': (prediction, prediction * 2)}", "both"),
        (
            "steps = tf.expand_dims(X, 1)\n"
            "outputs, both = tf.nn.dynamic_rnn(tf.nn.rnn_cell.LSTMCell(4), steps, dtype=tf.float32)",
            "both",
        ),
        (
            "both, states = tf.nn.bidirectional_dynamic_rnn(tf.nn.rnn_cell.GRUCell(4), tf.nn.rnn_cell.GRUCell(4),\n"
            "                                               tf.expand_dims(X, 1), dtype=tf.float32)",
            "both",
        ),
    ],
    ids=["tuple", "nested", "in a dict", "lstm state", "both directions"],
)
def test_rows_of_examples_are_merged_as_a_whole(made: str, name: str) -> None:
    used = (
        "tf.reduce_mean(both[0][0])"
        if "[(" in made or "dynamic" in made
        else ("tf.reduce_mean(both['a'][0])" if "{" in made else "tf.reduce_mean(both[0])")
    )
    script = INPUTS + "n = len(str(batch_size))\nprediction = tf.layers.dense(X, 1)\n" + made + "\n"
    script += LOSS.replace("- Y))", f"- Y)) + {used}") + STEP + fetching(name)
    lines = body(script)
    assert f"        tower_{name}.append(map_structure(lambda t: t[:rows], {name}))" in lines
    assert f"{name} = {CONCAT}*tower_{name})" in lines


@pytest.mark.parametrize("field", ["c", "h"])
def test_the_fields_of_a_state_are_followed(field: str) -> None:
    script = INPUTS + "steps = tf.expand_dims(X, 1)\n"
    script += "_, state = tf.nn.dynamic_rnn(tf.nn.rnn_cell.LSTMCell(4), steps, dtype=tf.float32)\n"
    script += f"prediction = tf.layers.dense(state.{field}, 1)\n" + LOSS + STEP + fetching(f"state.{field}")
    _, inside, after = parts(script)
    assert inside[-1] == "tower_state.append(map_structure(lambda t: t[:rows], state))"
    assert after[:3] == [
        "X, Y = X_batch, Y_batch",
        "loss = tf.add_n(tower_loss)",
        f"state = {CONCAT}*tower_state)",
    ]


def test_a_nest_of_several_kinds_is_made_once_more() -> None:
    script = INPUTS + "prediction = tf.layers.dense(X, 1)\nboth = (prediction, tf.reduce_max(prediction))\n"
    script += LOSS.replace("- Y))", "- Y)) + both[1]") + STEP + fetching("both")
    _, _, after = parts(script)
    made = after.index("both = (prediction, tf.reduce_max(prediction))")
    assert made > after.index("prediction = tf.concat(tower_prediction, 0)")


@pytest.mark.parametrize(("kept", "found"), [("save", ["TMG210"]), ("print", ["TMG393"])])
def test_a_nest_of_several_kinds_that_a_function_makes(kept: str, found: list[str]) -> None:
    script = INPUTS + "def both(x):\n    p = tf.layers.dense(x, 1)\n    return p, tf.reduce_max(p)\n\n\n"
    script += "pair = both(X)\n"
    run = f"{kept}(sess.run([train_op, pair], {{X: xs, Y: ys}}))"
    script += LOSS.replace("prediction", "pair[0]") + STEP + TRAINING.replace("sess.run(train_op, {X: xs, Y: ys})", run)
    assert codes(script) == found


# -- in --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "made",
    [
        "xs = [tf.placeholder(tf.float32, [None, 4]) for _ in range(3)]\n",
        "xs = []\nfor i in range(3):\n    xs.append(tf.placeholder(tf.float32, [None, 4]))\n",
        "xs = tuple(tf.placeholder(tf.float32, [None, 4]) for _ in range(3))\n",
    ],
    ids=["comprehension", "loop", "tuple"],
)
def test_a_list_of_inputs_is_cut_as_a_whole(made: str) -> None:
    script = INPUTS.replace("X = tf.placeholder(tf.float32, [None, 4])\n", made)
    script += "outputs, _ = tf.nn.static_rnn(tf.nn.rnn_cell.GRUCell(4), xs, dtype=tf.float32)\n"
    script += "prediction = tf.layers.dense(outputs[-1], 1)\n" + LOSS + STEP
    script += TRAINING.replace("{X: xs, Y: ys}", "{xs[0]: batch[0], xs[1]: batch[1], xs[2]: batch[2], Y: ys}")
    before, inside, after = parts(script)
    assert inside.index("xs = map_structure(lambda t: shard([t], gpu)[0][0], xs_batch)") > 0
    assert "Y, xs = Y_batch, xs_batch" in after
    # Rows are counted on an input that every fetch of the towers needs.
    assert "(first_xs, Y), rows, weight = shard([xs_batch[0], Y_batch], gpu)" in inside


def test_inputs_read_by_their_keys_are_cut_one_by_one() -> None:
    script = "import tensorflow as tf\n\nbatch_size = 32\n"
    script += "d = {'x': tf.placeholder(tf.float32, [None, 4]), 'y': tf.placeholder(tf.float32, [None, 1])}\n"
    script += "loss = tf.reduce_mean(tf.square(tf.layers.dense(d['x'], 1) - d['y']))\n" + STEP
    script += TRAINING.replace("{X: xs, Y: ys}", "{d['x']: xs, d['y']: ys}")
    text = converted(script)
    assert "(d['x'], d['y']), rows, weight = shard([x_batch, y_batch], gpu)" in text
    assert helpers(script) == {"check_gpus", "sum_gradients", "shard", "tower_device"}


def test_inputs_read_together_with_settings_are_refused() -> None:
    script = "import tensorflow as tf\n\nbatch_size = 32\n"
    script += "d = [tf.placeholder(tf.float32, [None, 4]), tf.placeholder(tf.float32, [])]\n"
    script += "Y = tf.placeholder(tf.float32, [None, 1])\nx, keep = [v * 1 for v in d]\n"
    script += "prediction = tf.layers.dense(tf.nn.dropout(x, keep), 1)\n" + LOSS + STEP
    script += TRAINING.replace("X: xs", "d[0]: xs, d[1]: 0.5")
    assert codes(script) == ["TMG205"]


ZERO = "zero_state(batch_size, tf.float32)"


@pytest.mark.parametrize("zero", [ZERO, "zero_state(dtype=tf.float32, batch_size=batch_size)"])
@pytest.mark.parametrize("feed", ["state: s", "state[0]: s[0], state[1]: s[1]"])
def test_a_state_that_is_fed_is_cut_like_the_batch(feed: str, zero: str) -> None:
    script = (FIXED + CELLS + LOSS + STEP).replace(ZERO, zero)
    script += TRAINING.replace("for step", "s = sess.run(state)\n    for step")
    fetches = f"_, s = sess.run([train_op, final], {{X: xs, Y: ys, {feed}}}"
    script = script.replace("sess.run(train_op, {X: xs, Y: ys}", fetches)
    before, inside, after = parts(script)
    assert f"state = cell.{zero}" in before
    assert "state = map_structure(lambda t: shard_static([t], gpu)[0][0], state_batch)" in inside
    assert f"final = {CONCAT}*tower_final)" in after


def test_a_state_that_is_not_fed_is_made_in_each_tower() -> None:
    _, inside, _ = parts(FIXED + CELLS + LOSS + STEP + fetching("final"))
    assert "state = cell.zero_state(batch_size, tf.float32)" in inside


def test_a_state_of_the_model_that_is_fed_is_refused() -> None:
    script = FIXED + CELLS + LOSS + STEP + TRAINING.replace("X: xs", "X: xs, final: s")
    assert codes(script) == ["TMG223"]


@pytest.mark.parametrize(
    ("fetched", "advice"),
    [("train_op", "make a placeholder"), ("prediction", "convert the script that runs the training step")],
)
def test_a_script_that_only_builds_the_step_is_told_so(fetched: str, advice: str) -> None:
    training = TRAINING.replace("X: xs", "X: xs, final: s").replace("run(train_op", f"run({fetched}")
    (found,) = run(FIXED + CELLS + LOSS + STEP + training).diagnostics
    assert found.code == "TMG223"
    assert (found.hint or "").startswith(advice)


def test_what_only_another_run_feeds_is_built_again() -> None:
    training = TRAINING + "    print(sess.run(prediction, {final: s}))\n"
    (found,) = run(FIXED + CELLS + LOSS + STEP + training).diagnostics
    assert (found.code, (found.hint or "")[:29]) == ("TMG223", "build what follows it once mo")


ENDS = """\
ends = {{}}
h = X
for {turns}:
    h = tf.layers.dense(h, 4)
    ends[{key}] = h
prediction = tf.layers.dense(h, 1)
"""


UNKNOWN = ["i, size in enumerate(sizes)", "i in range(len(sizes))"]
NUMBERED = "'layer%d' % i"


@pytest.mark.parametrize(
    ("turns", "key", "whole"),
    [
        *((turns, key, True) for turns in UNKNOWN for key in (NUMBERED, "'layer' + str(i)", "i")),
        ("i in range(3)", NUMBERED, False),
        ("i, size in enumerate([4, 4, 4])", NUMBERED, False),
    ],
)
def test_a_dict_with_an_entry_for_each_turn_of_a_loop(turns: str, key: str, whole: bool) -> None:
    """Where the number of turns is not known, its entries are not: it is merged as a whole."""
    script = "import sys\nsizes = sys.argv[1].split(',')\n" + INPUTS + ENDS.format(turns=turns, key=key) + LOSS + STEP
    lines = body(script + fetching("ends"))
    assert (f"ends.update({CONCAT}*tower_ends))" in lines) is whole
    assert any(line.startswith("ends['layer2'] = ") for line in lines) is not whole
