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
    text = converted(script(summary))
    assert summary in text and "name_without_tower" not in text


OWN = """
def {name}(*given):
    return given


"""


@pytest.mark.parametrize("name", ["average_gradients", "name_without_tower", "count_gpus"])
def test_helpers_are_called_by_their_names_where_the_script_has_others(name: str) -> None:
    text = converted(INPUTS + OWN.format(name=name) + script(NAMED)[len(INPUTS):], num_gpus=None)
    calls = text.replace(f"def {name}(", "").replace(f"def towers_{name}(", "")
    assert f"towers_{name}(" in calls and f" {name}(" not in calls and f"({name}(" not in calls
    assert f"\ndef {name}(*given):\n" in text and "\0" not in text
