"""The facts of small scripts: inputs and their axes, effects, training steps, runs, sizes."""

from __future__ import annotations

import pytest

from tests.analysis.readings import batch, effects, facts_of, inputs

CLASSIFIER = """
batch_size = 32
x = tf.placeholder(tf.float32, [None, 4])
y = tf.placeholder(tf.int64, [None])
rate = tf.placeholder(tf.float32, [])
logits = tf.layers.dense(x, 3)
loss = tf.losses.sparse_softmax_cross_entropy(y, logits)
step = tf.train.AdamOptimizer(rate).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(9):
        images, labels = data.next_batch(batch_size)
        sess.run([step, loss], {x: images, y: labels, rate: 0.1})
"""


def test_a_classifier() -> None:
    facts = facts_of(CLASSIFIER)
    assert inputs(facts) == {"x": "example 0", "y": "example 0", "rate": "free"}
    assert effects(facts) == ["VARIABLE", "COLLECTION", "GRAPH_STATE"]
    assert [(step.function, batch(step.loss.batch), step.loss.label) for step in facts.train_steps] == [
        ("minimize", "mean", "loss")
    ]
    assert [len(run.feeds) for run in facts.runs] == [0, 3, 3]  # two turns of the loop
    assert [session.name for session in facts.sessions] == ["Session"]
    assert [names for names in facts.origin_names.values() if "batch_size" in names] == [{"batch_size"}]


@pytest.mark.parametrize(
    ("script", "wanted"),
    [
        ("x = tf.placeholder(tf.float32, [None, 2])", {"x": "example 0"}),
        ("x = tf.placeholder(tf.float32, [8, 2])", {"x": "free"}),
        ("batch_size = 8\nx = tf.placeholder(tf.float32, [batch_size, 2])", {"x": "example 0"}),
        ("batch_size = 8\nx = tf.placeholder(tf.float32, [5, batch_size])", {"x": "example 1"}),
        ("x = tf.placeholder(tf.float32, [])", {"x": "free"}),
        ("x = tf.placeholder_with_default(1.0, [])", {"x": "free"}),
        ("x = tf.data.Dataset.range(9).batch(3).make_one_shot_iterator().get_next()", {"x": "example 0"}),
        ("x = tf.data.Dataset.range(9).make_one_shot_iterator().get_next()", {"x": "free"}),
    ],
)
def test_inputs_and_their_axes(script: str, wanted: dict[str, str]) -> None:
    assert inputs(facts_of(script)) == wanted


@pytest.mark.parametrize(
    ("script", "wanted"),
    [
        ("v = tf.Variable(1.0)", ["RAW_VARIABLE"]),
        ("v = tf.get_variable('v', [2])", ["VARIABLE"]),
        ("v = tf.constant(1.0)", []),
        ("with tf.variable_scope('a'):\n    pass", ["SCOPE"]),
        ("with open('a'):\n    pass", []),
        ("tf.get_variable_scope().reuse_variables()", ["REUSE"]),
        ("with tf.device('/gpu:0'):\n    pass", ["DEVICE"]),
        ("tf.get_collection('losses')", ["GET_COLLECTION"]),
        ("tf.add_to_collection('losses', tf.constant(1.0))", ["COLLECTION"]),
        ("a = []\na.append(1)", ["MUTATION"]),
        ("a = {}\na.update(b=1)", ["MUTATION"]),
        ("a = []\nlen(a)", []),
        ("name = tf.constant(1.0).name", ["GRAPH_NAME"]),
        ("shape = tf.constant(1.0).shape", []),
        ("tf.enable_eager_execution()", ["EAGER"]),
        ("import horovod.tensorflow as hvd", ["DISTRIBUTED"]),
        ("import numpy as np", []),
        ("def f(n):\n    return f(n - 1)\nf(9)", ["RECURSION"]),
        ("tf.get_default_graph().get_tensor_by_name('x:0')", ["LOOKUP"]),
        ("y = tf.identity(1.0, name='y')\ntf.get_default_graph().get_tensor_by_name('x:0')", ["LOOKUP"]),
        ("x = tf.identity(1.0, name='x')\ntf.get_default_graph().get_tensor_by_name('x:0')", []),
    ],
)
def test_effects(script: str, wanted: list[str]) -> None:
    assert effects(facts_of(script)) == wanted


@pytest.mark.parametrize(
    ("call", "wanted"),
    [
        ("opt.minimize(loss)", [("minimize", "mean")]),
        ("opt.compute_gradients(loss)", [("compute_gradients", "mean")]),
        ("tf.gradients(loss, tf.trainable_variables())", [("gradients", "mean")]),
        ("opt.minimize(tf.reduce_sum(x))", [("minimize", "sum")]),
        ("opt.minimize(tf.reduce_max(x))", [("minimize", "other")]),
        ("opt.get_slot_names()", []),
    ],
)
def test_training_steps(call: str, wanted: list[tuple[str, str]]) -> None:
    script = "x = tf.placeholder(tf.float32, [None])\nloss = tf.reduce_mean(x)\nopt = tf.train.AdamOptimizer()\n" + call
    assert [(step.function, batch(step.loss.batch)) for step in facts_of(script).train_steps] == wanted


@pytest.mark.parametrize(
    ("script", "wanted"),
    [
        ("if f():\n    a = tf.constant(1.0)", [("a", True, False, False)]),
        ("a = None\nif f():\n    a = tf.constant(1.0)", [("a", False, True, False)]),
        ("a = 1.0\nif f():\n    a = tf.constant(1.0)", [("a", False, False, True)]),
        ("if f():\n    a = tf.constant(1.0)\nelse:\n    a = tf.constant(2.0)", []),
        ("if True:\n    a = tf.constant(1.0)", []),
    ],
)
def test_what_only_some_branches_leave(script: str, wanted: list[tuple[str, bool, bool, bool]]) -> None:
    assert [(m.place.key, m.unset, m.none, m.plain) for m in facts_of(script).maybe] == wanted
