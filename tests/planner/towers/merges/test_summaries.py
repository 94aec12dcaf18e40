"""Summaries that the model makes, and names that it makes of its operations'."""

from __future__ import annotations

import pytest

from tests.scripts import INPUTS, STEP, TRAINING, converted, run

IN_MODEL = """
def model(x):
    with tf.name_scope('model'):
        hidden = tf.layers.dense(x, 8)
    {}
    return tf.layers.dense(hidden, 1)


prediction = model(X)
loss = tf.reduce_mean(tf.square(prediction - Y))
"""
PLAIN = "tf.summary.histogram('hidden', hidden)"
NAMED = "tf.summary.histogram(hidden.op.name + '/values', hidden)"


def script(summary: str) -> str:
    return INPUTS + IN_MODEL.format(summary) + STEP + TRAINING


def test_a_summary_of_the_model_is_warned_of() -> None:
    found = run(script(PLAIN)).diagnostics
    assert [(d.code, d.line, d.column, d.severity) for d in found] == [("TMG315", 10, 5, "warning")]


def test_one_warning_is_enough() -> None:
    codes = [d.code for d in run(script(PLAIN + "; tf.summary.scalar('mean', tf.reduce_mean(hidden))")).diagnostics]
    assert codes == ["TMG315"]


def test_summaries_after_the_loss_show_the_whole_batch() -> None:
    after = "tf.summary.scalar('loss', loss)\ntf.summary.histogram(prediction.op.name, prediction)\n"
    conversion = run(INPUTS + IN_MODEL.format("pass") + after + STEP + TRAINING)
    assert conversion.status == "converted" and not conversion.diagnostics
    assert conversion.text is not None and "histogram(prediction.op.name, prediction)" in conversion.text


@pytest.mark.parametrize(
    ("summary", "there"),
    [
        (NAMED, "tf.summary.histogram(name_without_tower(hidden) + '/values', hidden)"),
        ("name = hidden.op.name", "name = name_without_tower(hidden)"),
        ("name = tf.nn.relu(hidden).op.name", "name = name_without_tower(tf.nn.relu(hidden))"),
    ],
)
def test_the_name_of_an_operation_is_that_on_one_gpu(summary: str, there: str) -> None:
    text = converted(script(summary))
    assert f"    {there}\n" in text and "\ndef name_without_tower(tensor):\n" in text


@pytest.mark.parametrize("summary", ["w = tf.get_variable('w', [1])\n    name = w.op.name", "name = x.name"])
def test_other_names_stay(summary: str) -> None:
    below = converted(script(summary)).partition("# tf-multigpu: end of helpers\n")[2]
    assert IN_MODEL.format(summary).partition("\n\n\n")[0] in below


OWN = """
def {name}(*given):
    return given


"""


@pytest.mark.parametrize("name", ["sum_gradients", "name_without_tower", "count_gpus"])
def test_helpers_are_called_by_their_names_where_the_script_has_others(name: str) -> None:
    text = converted(INPUTS + OWN.format(name=name) + script(NAMED)[len(INPUTS) :], num_gpus=None)
    calls = text.replace(f"def {name}(", "").replace(f"def towers_{name}(", "")
    assert f"towers_{name}(" in calls and f" {name}(" not in calls and f"({name}(" not in calls
    assert f"\ndef {name}(*given):\n" in text and "\0" not in text


NESTED = """\
with tf.variable_scope('train'):
    with tf.variable_scope('loss'):
        loss = tf.reduce_mean(tf.square(prediction - Y))
        tf.summary.scalar('loss', loss)
    with tf.variable_scope('optimizer'):
        train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
"""


def test_a_summary_of_the_loss_in_a_block_of_its_own_shows_the_whole_batch() -> None:
    conversion = run(INPUTS + "prediction = tf.layers.dense(X, 1)\n" + NESTED + TRAINING)
    assert conversion.status == "converted" and not conversion.diagnostics
    _, _, behind = str(conversion.text).partition("loss = tf.add_n(")
    assert (
        "with tf.variable_scope('train'):\n    with tf.variable_scope('loss'):\n"
        "        tf.summary.scalar('loss', loss)\n    with tf.variable_scope('optimizer'):\n"
    ) in behind


def test_what_the_towers_read_stays_beside_the_loss() -> None:
    kept = NESTED.replace("tf.summary.scalar('loss', loss)", "tf.add_to_collection('all', loss)")
    total, step = "    loss = tf.add_n(tf.get_collection('all'))\n", "    with tf.variable_scope('optimizer')"
    kept = kept.replace(step, total + step)
    conversion = run(INPUTS + "prediction = tf.layers.dense(X, 1)\n" + kept + TRAINING)
    assert conversion.status == "converted"
    tower, _, _ = str(conversion.text).partition("tower_loss.append(")
    assert "tf.add_to_collection('all', loss)\n" in tower


def test_a_summary_of_a_weight_is_no_share_of_a_batch() -> None:
    weight = "w = tf.get_variable('w', [8])\n    tf.summary.histogram('w', w)"
    found = run(script(weight)).diagnostics
    said = "this summary is made by the model: its tag has tower_0 in it"
    assert [(d.code, d.line, d.message) for d in found] == [("TMG315", 11, said)]
    both = run(script(weight + "; " + PLAIN)).diagnostics
    assert [(d.code, d.line, d.column) for d in both] == [("TMG315", 11, 35)]
