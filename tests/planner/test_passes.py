"""The passes of the planner: what each knows, and how many faults are told at once."""

from __future__ import annotations

import ast

import pytest

from converter.analysis.values import Tensor
from converter.diagnostics import Diagnostic
from converter.planner.cases import Placed, Selected, Started, WithBatchSize
from converter.planner.checking import findings
from converter.planner.outcome import Refused, Reread
from converter.planner.passes import MEASURING, PLACING, PLANNING, is_further, measure, place, select
from converter.planner.plan_faults import PlanFault
from converter.planner.wording import message_for
from tests.scripts import INPUTS, MODEL, SCRIPT, STEP, TRAINING, case_of, codes, run

THREE = """\
import tensorflow as tf

batch_size = 32
X = tf.placeholder(tf.float32, [None, 4], name='X')
Y = tf.placeholder(tf.float32, [None, 1])
scale = tf.placeholder(tf.float32)
state = tf.Variable(tf.zeros([batch_size, 4]))
prediction = tf.layers.dense(X, 1, name='prediction')
loss = tf.reduce_mean(tf.square(prediction - Y) * scale) + tf.reduce_sum(state)
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
found = tf.get_default_graph().get_tensor_by_name(names()[0])
with tf.Session() as sess:
    for step in range(100):
        xs, ys = next_batch(batch_size)
        sess.run(train_op, {X: xs, Y: ys, scale: weights()})
"""


def test_three_faults_are_told_at_once_in_the_order_of_their_lines() -> None:
    conversion = run(THREE)
    assert conversion.status == "refused"
    assert [(d.code, d.line) for d in conversion.diagnostics] == [("TMG253", 6), ("TMG224", 7), ("TMG209", 11)]


FIVE = """\
import os
import tensorflow as tf

options = tf.GPUOptions(visible_device_list=str(os.getpid()))
tf.app.flags.DEFINE_integer('batch_size', 64, 'Examples in a step.')
FLAGS = tf.app.flags.FLAGS


def shape(width):
    return [FLAGS.batch_size, width]


feeds = {'train': {'x': tf.placeholder(tf.float32, shape(4)), 'y': tf.placeholder(tf.float32, [None, 1])}}
given = feeds['train']
prediction = tf.layers.dense(feeds['train']['x'] + tf.random_normal(shape(4)), 1)
largest = tf.reduce_max(tf.nn.dropout(prediction, 0.5))
loss = tf.reduce_mean(tf.square(prediction - given['y'])) + 0.0 * largest
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
found = tf.get_default_graph().get_tensor_by_name(names()[0])
with tf.Session() as sess:
    for step in range(100):
        xs, ys = next_batch(FLAGS.batch_size)
        sess.run(train_op, {given['x']: xs, given['y']: ys})
    keep(sess.run(largest, {given['x']: xs, given['y']: ys}))
"""
# Each mended by itself, with its code and line: GPUs, batch size, a result, an input, a name.
MENDED = [
    ("str(os.getpid())", "'0'", ("TMG264", 4)),
    ("[FLAGS.batch_size, width]", "[None, width]", ("TMG205", 10)),
    ("    keep(sess.run(largest, {given['x']: xs, given['y']: ys}))\n", "", ("TMG210", 16)),
    ("feeds['train']['x'] +", "given['x'] +", ("TMG205", 17)),
    ("names()[0]", "'loss:0'", ("TMG209", 19)),
]


def faults_of(script: str) -> list[tuple[str, int]]:
    return [(d.code, d.line) for d in run(script).diagnostics if d.severity == "error"]


def test_faults_of_gpus_batch_size_results_inputs_and_names_are_told_at_once() -> None:
    assert faults_of(FIVE) == [fault for _, _, fault in MENDED]


@pytest.mark.parametrize(("fault", "mended", "told"), MENDED)
def test_a_fault_that_is_mended_takes_no_other_with_it(fault: str, mended: str, told: tuple[str, int]) -> None:
    assert faults_of(FIVE.replace(fault, mended)) == [other for _, _, other in MENDED if other != told]


def test_each_of_the_faults_is_told_where_it_stands_alone() -> None:
    for _, _, told in MENDED:
        script = FIVE
        for fault, mended, other in MENDED:
            script = script if other == told else script.replace(fault, mended)
        assert faults_of(script) == [told]


NAMES = """\
scores = tf.layers.dense(X, 3)
largest = tf.reduce_max(tf.nn.dropout(scores, 0.5))
middle = tf.reduce_max(tf.nn.dropout(scores, 0.9))
loss = tf.reduce_mean(tf.square(scores)) + 0.0 * (largest + middle)
"""


def test_every_value_that_has_no_merge_is_told() -> None:
    found = run(INPUTS + NAMES + STEP + "keep(largest, middle)\n" + TRAINING).diagnostics
    assert [(d.code, d.line) for d in found] == [("TMG210", 7), ("TMG210", 8)]


def test_warnings_are_left_out_of_a_refusal() -> None:
    def with_summary(script: str) -> str:
        return script.replace("prediction = tf.layers", "shown, prediction = tf.summary.histogram('h', X), tf.layers")

    assert codes(with_summary(SCRIPT)) == ["TMG315"]
    assert codes(with_summary(THREE)) == ["TMG253", "TMG224", "TMG209"]


def test_a_script_that_is_distributed_is_told_nothing_else() -> None:
    script = THREE.replace("batch_size = 32", "cluster = tf.train.ClusterSpec({})\nbatch_size = 32")
    assert codes(script) == ["TMG217"]


def test_each_pass_adds_to_what_is_known() -> None:
    script = case_of(SCRIPT)
    assert findings(script) == ()
    selected = select(script)
    assert (len(selected.steps), selected.unbatched) == (1, ())
    measured = measure(selected)
    assert {origin.line for origin in measured.size.origins} == {3}
    assert not measured.size.fixed
    placed = place(measured)
    assert isinstance(placed, Placed)
    (region,) = placed.regions
    lines = [region.block.body[index].lineno for index in sorted(region.tower)]
    assert [ast.unparse(stmt) for stmt in region.block.body if stmt.lineno in lines] == MODEL.splitlines()


def test_a_pass_leaves_what_it_takes_as_it_is() -> None:
    script = case_of(SCRIPT)
    known = dict(vars(script))
    measure(select(script))
    assert vars(script) == known


@pytest.mark.parametrize("model", ["train_op = build(X, Y)\n", "loss = tf.constant(1.0)\n" + STEP])
def test_a_refusal_is_a_result(model: str) -> None:
    case: Started | Refused | Reread = case_of(INPUTS + model + TRAINING)
    for step in (*MEASURING, *PLACING):
        assert isinstance(case, Started)
        if any(finding.severity == "error" for finding in findings(case)):
            break
        case = step.run(case)
    assert type(case) in (Selected, WithBatchSize)


SUM = """\
errors = tf.square(tf.layers.dense(X, 1) - Y)
loss = tf.reduce_sum(errors) / batch_size
half = tf.reduce_sum(errors) / 2
"""


def test_a_sum_over_the_batch_size_is_a_mean_before_the_passes_begin() -> None:
    facts = case_of(INPUTS + SUM + STEP + TRAINING).facts
    (step,), half = facts.train_steps, facts.module.locals["half"]
    assert isinstance(half, Tensor)
    assert (step.loss.batch.how, half.batch.how) == ("mean", "sum")


@pytest.mark.parametrize("model", [MODEL, SUM, NAMES])
def test_passes_leave_the_facts_as_they_are(model: str) -> None:
    case: Started = case_of(INPUTS + model + STEP + TRAINING)
    before = [(tensor.uid, tensor.batch) for tensor in case.facts.tensors]
    for step in (*MEASURING, *PLACING, *PLANNING):
        made = step.run(case)
        assert isinstance(made, Started)
        case = made
    assert [(tensor.uid, tensor.batch) for tensor in case.facts.tensors] == before


def test_of_two_readings_the_one_that_got_further_is_told() -> None:
    """Or the one in which inputs that the model makes are no hindrance any more."""

    inside = message_for(PlanFault.INPUT_BY_STATEMENT_OF_MODEL)

    def refused(*codes: str, placed: bool = False, hint: str = inside.advice) -> Refused:
        return Refused(tuple(Diagnostic(code, "train.py", 1, 1, "why", hint, "error") for code in codes), placed=placed)

    assert is_further(refused("TMG210", placed=True), refused("TMG219"))
    assert is_further(refused("TMG219"), refused("TMG204"))
    assert not is_further(refused("TMG210", placed=True), refused("TMG208", placed=True))
    assert not is_further(refused("TMG204"), refused("TMG204"))
    assert not is_further(refused("TMG219"), refused("TMG219", "TMG204"))
    assert is_further(refused("TMG204", hint="another reason of this code"), refused("TMG204"))
