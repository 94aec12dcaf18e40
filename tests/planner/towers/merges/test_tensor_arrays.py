"""Tensor arrays of the towers: what they hold is merged, they are not."""

from __future__ import annotations

import pytest

from tests.scripts import INPUTS, STEP, TRAINING, codes, parts, run

ARRAY = """\
hidden = tf.layers.dense(X, 3)
array = tf.TensorArray(tf.float32, 2).write(0, hidden).write(1, tf.nn.relu(hidden))
"""
LOSS = """\
prediction = tf.layers.dense(tf.reduce_sum(array.stack(), 0), 1)
loss = tf.reduce_mean(tf.square(prediction - Y))
"""
DECODER = """\
attention = tf.contrib.seq2seq.LuongAttention(6, X)
cell = tf.contrib.seq2seq.AttentionWrapper(tf.nn.rnn_cell.GRUCell(6), attention, alignment_history={history})
helper = tf.contrib.seq2seq.TrainingHelper(Y, tf.fill([tf.shape(X)[0]], 5))
decoder = tf.contrib.seq2seq.BasicDecoder(cell, helper, cell.zero_state(tf.shape(X)[0], tf.float32))
outputs, final, lengths = tf.contrib.seq2seq.dynamic_decode(decoder)
loss = tf.reduce_mean(tf.square(outputs.rnn_output - Y))
"""
SEQUENCES = INPUTS.replace("[None, 4]", "[None, 6, 4]").replace("[None, 1]", "[None, 5, 6]")


@pytest.mark.parametrize("read", ["print(array.stack())", "print(array)", "both = array.stack()\nprint(both)"])
def test_an_array_that_is_read_after_the_loss_is_refused(read: str) -> None:
    """It was sliced as if it were a tensor, which ended the script."""
    array = ARRAY.replace(".write(1", "\narray = array.write(1")
    assert codes(INPUTS + array + LOSS + STEP + read + "\n" + TRAINING) == ["TMG210"]


def test_an_array_that_one_statement_fills_is_filled_again_from_merged_values() -> None:
    _, _, after = parts(INPUTS + ARRAY + LOSS + STEP + "print(array.stack())\n" + TRAINING)
    made = ARRAY.splitlines()[1]
    assert after.index("hidden = tf.concat(tower_hidden, 0)") < after.index(made)


@pytest.mark.parametrize("late", [False, True])
def test_what_an_array_holds_is_merged(late: bool) -> None:
    stacked = "both = array.stack()\n"
    script = INPUTS + ARRAY + ("" if late else stacked) + LOSS.replace("loss =", (stacked if late else "") + "loss =")
    _, inside, after = parts(script + STEP + "print(both)\n" + TRAINING)
    assert "tower_both.append(both[:, :rows])" in inside and "both = tf.concat(tower_both, 1)" in after


def test_the_history_of_an_attention_is_refused_where_it_is_read() -> None:
    read = "print(final.alignment_history.stack())\n"
    assert codes(SEQUENCES + DECODER.format(history=True) + STEP + read + TRAINING) == ["TMG210"]


ALIGNED = """\
attention = tf.contrib.seq2seq.BahdanauAttention(6, X)
cell = tf.contrib.seq2seq.AttentionWrapper(tf.nn.rnn_cell.GRUCell(6), attention, alignment_history=True)
outputs, final = tf.nn.dynamic_rnn(cell, Y, {lengths}dtype=tf.float32)
alignments = tf.transpose(final.alignment_history.stack(), [1, 2, 0])
loss = tf.reduce_mean(tf.square(outputs - Y))
"""


def test_the_history_of_all_steps_of_the_inputs_is_merged() -> None:
    script = SEQUENCES + ALIGNED.format(lengths="") + STEP + "print(alignments)\n" + TRAINING
    assert "alignments = tf.concat(tower_alignments, 0)" in parts(script)[2]


def test_of_a_history_to_the_end_of_the_longest_sequence_the_first_towers_is_shown() -> None:
    script = SEQUENCES + ALIGNED.format(lengths="tf.fill([tf.shape(X)[0]], 5), ") + STEP
    assert codes(script + "print(alignments)\n" + TRAINING) == ["TMG393"]


@pytest.mark.parametrize(
    ("history", "read", "line"),
    [
        (True, "final.attention", "final = final._replace(attention=tf.concat(tower_attention, 0))"),
        (False, "final", "alignments=tf.concat(tower_alignments, 0),"),
        (True, "outputs", "outputs = map_structure(lambda *parts: tf.concat(parts, 0), *tower_outputs)"),
    ],
)
def test_the_rest_of_an_attentions_state_is_merged(history: bool, read: str, line: str) -> None:
    script = SEQUENCES + DECODER.format(history=history) + STEP + f"print({read})\n" + TRAINING
    assert line in parts(script)[2]


MADE = "array = tf.TensorArray(tf.float32, 2)\n"
FILLED = """\
hidden = tf.layers.dense(X, 3)
array = array.write(0, hidden)
array = array.write(1, tf.nn.relu(hidden))
"""
LOOP = """\
hidden = tf.layers.dense(X, 3)
_, array = tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, a.write(i, hidden)), [0, array])
"""


@pytest.mark.parametrize("filled", [FILLED, LOOP])
@pytest.mark.parametrize("between", ["", "other = tf.zeros([3])\n"])
def test_an_array_in_front_of_the_model_is_made_by_each_tower(filled: str, between: str) -> None:
    """Its entries can be written once: the second tower would end the script."""
    _, inside, _ = parts(INPUTS + MADE + between + filled + LOSS + STEP + TRAINING)
    assert inside.index(MADE.strip()) < inside.index("hidden = tf.layers.dense(X, 3)")


def test_an_array_of_constants_is_filled_by_each_tower() -> None:
    """An entry can be read once, too."""
    table = "table = tf.TensorArray(tf.float32, 2)\ntable = table.unstack([[1.0], [2.0]])\n"
    loss = LOSS.replace("prediction - Y)", "prediction - Y) * table.read(0)")
    _, inside, _ = parts(INPUTS + table + ARRAY + loss + STEP + TRAINING)
    assert "table = table.unstack([[1.0], [2.0]])" in inside


def test_an_array_of_a_statement_that_joins_the_towers_is_made_by_each_tower() -> None:
    """The towers need no drawn rows, but they are drawn beside a name that the model binds again."""
    drawn = """\
state = tf.zeros([batch_size, 3])
drawn = tf.TensorArray(tf.float32, 2)
_, drawn = tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, a.write(i, state)), [0, drawn])
"""
    loop = LOOP.replace("hidden = tf.layers.dense(X, 3)", "hidden = tf.layers.dense(X, 3) + state")
    _, inside, _ = parts(INPUTS + drawn + MADE + loop + LOSS + STEP + TRAINING)
    assert {"drawn = tf.TensorArray(tf.float32, 2)", MADE.strip()} <= set(inside)


def test_an_array_of_another_function_is_refused() -> None:
    build = "def build(X, array):\n" + "".join(f"    {line}\n" for line in (FILLED + LOSS).splitlines())
    build = build.replace("- Y", "- 1.0") + "    return tf.train.AdamOptimizer(0.01).minimize(loss)\n\n\n"
    training = TRAINING.replace(", Y: ys", "").replace(", loss", "")
    (found,) = run(INPUTS + build + MADE + "train_op = build(X, array)\n" + training).diagnostics
    assert (found.code, found.message.split(",")[0]) == (
        "TMG231",
        "the tensor array array is made in front of the model",
    )
