"""`--eval-batch script`: which evaluations keep the script's batch size, and which share it with training."""

from __future__ import annotations

import re

import pytest

from tests.scripts import codes, converted, run

CONSTANT = "batch_size = 16"
FLAG = """\
import argparse
parser = argparse.ArgumentParser()
parser.add_argument('--batch_size', type=int, default=16)
args = parser.parse_args()"""
SCRIPT = """\
import numpy as np
import tensorflow as tf

{size}
data, tests = np.load('data.npy'), np.load('tests.npy')
X = tf.placeholder(tf.float32, [None, 4])


def batches(rows, size):
    for i in range(0, len(rows) - size + 1, size):
        yield rows[i:i + size]


def evaluate(rows, size):
    count = len(rows) // size
    return sum(sess.run(loss, {{X: rows[i * size:(i + 1) * size]}}) for i in range(count)) / count


loss = tf.reduce_mean(tf.square(tf.layers.dense(X, 4) - X))
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)
{before}
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for epoch in range(3):
        for i in range(0, len(data), B):
            batch = data[i:i + B]
            sess.run(train_op, {{X: batch}})
{body}
"""
# Evaluations behind each epoch; `B` is how the script writes its batch size.
APART = [
    """\
total = 0.
for i in range(len(tests) // B):
    total += sess.run(loss, {X: tests[i * B:(i + 1) * B]})
print(total / (len(tests) // B))""",
    """\
losses, start = [], 0
while start < len(tests):
    losses.append(sess.run(loss, {X: tests[start:start + B]}) * B / len(tests))
    start += B
print(sum(losses))""",
    """\
count = len(tests) // B
print(np.mean([sess.run(loss, {X: tests[i * B:i * B + B]}) for i in range(count)]))""",
    "print(np.mean([sess.run(loss, {X: rows}) for rows in batches(tests, B)]))",
    "print(evaluate(tests, B))",
    "print(sess.run(loss, {X: tests[:B]}))",
    """\
chosen = np.random.choice(len(tests), B)
print(sess.run(loss, {X: tests[chosen]}))""",
]


def script(body: str, size: str = CONSTANT, before: str = "") -> str:
    name = "batch_size" if size == CONSTANT else "args.batch_size"
    lines = "".join(f"        {line}\n" for line in body.splitlines())
    text = SCRIPT.format(size=size, before=before, body=lines)
    return re.sub(r"\bB\b", name, text)


def own_lines(text: str, **options: str) -> str:
    """What the conversion makes of the script's lines behind the towers, from the first epoch on."""
    done = run(text, eval_batch="script", **options)
    assert done.text is not None, done.diagnostics
    assert "TMG363" not in {d.code for d in done.diagnostics}, done.diagnostics
    assert "TMG345" not in {d.code for d in done.diagnostics}, done.diagnostics
    return done.text.partition("for epoch in")[2]


@pytest.mark.parametrize("body", APART)
def test_a_size_that_is_read_from_a_flag_is_left_as_it_is(body: str) -> None:
    text = script(body, FLAG)
    evaluation = own_lines(text).partition("train_op, {X: batch}")[2]
    assert evaluation == text.partition("train_op, {X: batch}")[2]


@pytest.mark.parametrize("body", APART)
def test_a_size_that_grew_is_divided_once(body: str) -> None:
    evaluation = own_lines(script(body)).partition("train_op, {X: batch}")[2]
    before, _, after = evaluation.partition("batch_size // num_gpus")
    assert "// num_gpus" in evaluation and "eval_batch_size" not in before.replace("eval_batch_size = ", "")
    # Either it is read in one place, or it has a name there.
    rest = after.replace("eval_batch_size", "").replace("(batch_size // num_gpus)", "")
    assert "batch_size" not in rest.replace("batch_size // num_gpus", ""), evaluation


def test_a_number_for_the_evaluation_alone_may_stand_before_it() -> None:
    body = "print(np.mean([sess.run(loss, {X: tests[i * B:i * B + B]}) for i in range(count)]))"
    done = run(script(body, FLAG, "count = len(tests) // B"), eval_batch="script")
    assert done.text is not None
    assert "count = len(tests) // args.batch_size\n" in done.text
    assert [d.code for d in done.diagnostics] == []


def test_data_sets_of_their_own() -> None:
    text = """
    import tensorflow as tf

    batch_size = 16
    train, tests = load()
    x = tf.data.Dataset.from_tensor_slices(train).repeat().batch(batch_size).make_one_shot_iterator().get_next()
    y = tf.data.Dataset.from_tensor_slices(tests).batch(batch_size).make_one_shot_iterator().get_next()


    def net(rows):
        with tf.variable_scope('net', reuse=tf.AUTO_REUSE):
            return tf.reduce_mean(tf.square(tf.layers.dense(rows, 4, name='d') - rows))


    loss = net(x)
    train_op = tf.train.AdamOptimizer(0.01).minimize(loss)
    error = net(y)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for step in range(100):
            sess.run(train_op)
        print(sess.run(error))
    """
    done = run(text, eval_batch="script")
    assert done.text is not None and done.diagnostics == ()
    assert "from_tensor_slices(tests).batch(batch_size // num_gpus)" in done.text
    assert "from_tensor_slices(train).repeat().batch(batch_size)" in done.text
    assert not [d for d in done.decisions if d.topic == "evaluation"]  # no longer on batches of all GPUs
    assert [d.text for d in done.decisions if d.topic == "eval batch"]


@pytest.mark.parametrize("size", [CONSTANT, FLAG])
def test_a_number_that_counts_training_steps_too_is_told(size: str) -> None:
    body = """\
for i in range(count):
    sess.run(train_op, {X: data[i * B:(i + 1) * B]})
for i in range(count):
    print(sess.run(loss, {X: tests[i * B:(i + 1) * B]}))"""
    text = script(body, size, "count = len(data) // B")
    done = run(text, eval_batch="script")
    found = [d for d in done.diagnostics if d.code == "TMG363"]
    assert len(found) == 1 and "is read for training and for the evaluation in line" in found[0].message
    assert done.text == relabelled(run(text).text, done.text)


def relabelled(text: str | None, like: str | None) -> str:
    """A conversion with the header of another."""
    assert text is not None and like is not None
    return "\n".join([*like.split("\n")[:2], *text.split("\n")[2:]])


@pytest.mark.parametrize("size", [CONSTANT, FLAG])
def test_a_function_that_reads_the_size_for_both_is_told(size: str) -> None:
    runs = "sess.run(fetch, {X: rows[i:i + B]}) for i in range(0, len(rows), B)"
    function = f"def step(fetch, rows):\n    return [{runs}]\n"
    text = script("step(train_op, data)\nprint(step(loss, tests))", size, function)
    done = run(text, eval_batch="script")
    assert "TMG363" in {d.code for d in done.diagnostics}
    assert done.text == relabelled(run(text).text, done.text)


def test_an_input_with_the_size_of_a_training_batch_is_told() -> None:
    text = script("print(evaluate(tests, B))").replace("[None, 4]", "[batch_size, 4]")
    found = [d for d in run(text, eval_batch="script").diagnostics if d.code == "TMG363"]
    assert len(found) == 1 and "takes as many rows as a training step" in found[0].message
    assert text.split("\n")[found[0].line - 1].startswith("X = ")


def test_a_model_that_is_built_for_the_size_is_told() -> None:
    text = script("print(evaluate(tests, B))")
    text = text.replace("tf.layers.dense(X, 4)", "tf.reshape(tf.layers.dense(X, 4), [batch_size, 4])")
    found = [d for d in run(text, eval_batch="script").diagnostics if d.code == "TMG363"]
    assert len(found) == 1 and "the model is built for batches of this size" in found[0].message


def test_the_batch_that_was_trained_on_stays_what_it_is() -> None:
    text = script("print(sess.run(loss, {X: batch}))")
    done = run(text, eval_batch="script")
    assert [d.code for d in done.diagnostics] == ["TMG363"]
    assert "--eval-batch changes nothing" in done.diagnostics[0].message
    assert done.text == relabelled(run(text).text, done.text)


def test_with_a_total_it_changes_nothing() -> None:
    text = script(APART[0])
    assert "TMG363" in codes(text, eval_batch="script", batch="total")


MODES = """\
import numpy as np
import tensorflow as tf

{size}
data, tests = np.load('data.npy'), np.load('tests.npy')


def build():
    X = tf.placeholder(tf.float32, [None, 4])
    output = {model}
    loss = tf.reduce_mean(tf.square(output - X))
    return X, loss, tf.train.AdamOptimizer(0.01).minimize(loss)


def train():
    X, loss, train_op = build()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for i in range(len(data) // B):
            sess.run(train_op, {{X: data[i * B:(i + 1) * B]}})


def test():
    X, loss, _ = build()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        total = 0.
        for i in range(len(tests) // B):
            total += sess.run(loss, {{X: tests[i * B:(i + 1) * B]}})
        print(total * B / len(tests))


if mode() == 'train':
    train()
else:
    test()
"""


def in_modes(size: str, model: str) -> str:
    name = "batch_size" if size == CONSTANT else "args.batch_size"
    return re.sub(r"\bB\b", name, MODES.format(size=size, model=model))


def test_a_mode_that_trains_nothing() -> None:
    """It builds the same towers, and takes the script's batches."""
    text = in_modes(FLAG, "tf.layers.dense(X, 4)")
    done = run(text, eval_batch="script")
    assert done.text is not None and done.diagnostics == ()
    after = "total = 0."
    assert done.text.partition(after)[2] == text.partition(after)[2]
    assert "args.batch_size * num_gpus" in done.text
    constant = run(in_modes(CONSTANT, "tf.layers.dense(X, 4)"), eval_batch="script")
    assert constant.text is not None and constant.diagnostics == ()
    assert "        eval_batch_size = batch_size // num_gpus\n" in constant.text.partition("def test():")[2]


def test_a_mode_whose_model_has_the_size_of_training() -> None:
    model = "tf.reshape(tf.layers.dense(X, 4), [B, 4])"
    assert "TMG363" in codes(in_modes(CONSTANT, model), eval_batch="script")
    assert codes(in_modes(FLAG, model), eval_batch="script") == ["TMG205"]


def test_a_mode_whose_model_has_the_size_of_training_takes_larger_batches() -> None:
    """In both modes the towers have what the flag says, and the host N times as much."""
    text = converted(in_modes(FLAG, "tf.reshape(tf.layers.dense(X, 4), [B, 4])"))
    assert "            output = tf.reshape(tf.layers.dense(X, 4), [args.batch_size, 4])\n" in text
    assert "args.batch_size * num_gpus" in text.partition("def test():")[2]


def test_of_a_configuration_it_is_no_matter_for_each_script() -> None:
    """It is meant for the scripts of the project that evaluate; what shares its size is told all the same."""
    without = script("print(sess.run(loss, {X: batch}))")
    assert codes(without, eval_batch="script", configured=("eval_batch",)) == []
    shared = script("print(evaluate(tests, B))").replace("[None, 4]", "[batch_size, 4]")
    assert "TMG363" in codes(shared, eval_batch="script", configured=("eval_batch",))


@pytest.mark.parametrize("body", APART[:5])
def test_without_the_option_nothing_is_divided(body: str) -> None:
    done = run(script(body))
    assert done.text is not None and "// num_gpus" not in done.text.partition("for epoch in")[2]
