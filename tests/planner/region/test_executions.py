"""A class whose constructor is called in two branches with other arguments: the loop in it serves both models."""

from __future__ import annotations

import pytest

from tests.scripts import converted, parts, run

SCRIPT = """\
import sys
import tensorflow as tf

batch_size = 12


class Net(object):
    def __init__(self, classes=None, width=8):
        self.x = tf.placeholder(tf.float32, [None, 8], name='x')
        if classes:
            self.y = tf.placeholder(tf.float32, [None, classes], name='y')
        else:
            {none}
        self.out = self.layers(self.x, self.y)
        {between}
        self.loss = tf.reduce_mean(tf.square(self.out - self.x))

    def layers(self, x, y):
        if y is not None:
            x = tf.concat([x, y], 1)
        return tf.layers.dense(x, 8)


if len(sys.argv) > 1:
    net = Net(classes=3)
else:
    net = Net()
{step}
with tf.Session() as sess:
    for i in range(100):
        xs, ys = next_batch(batch_size)
        sess.run(train_op, {{net.x: xs, net.y: ys}} if len(sys.argv) > 1 else {{net.x: xs}})
"""
STEP = "train_op = tf.train.AdamOptimizer(0.01).minimize(net.loss)"


def script(none: str = "self.y = None", between: str = "pass", step: str = STEP) -> str:
    return SCRIPT.format(none=none, between=between, step=step)


def test_an_input_that_one_of_the_models_lacks_is_cut_where_it_is() -> None:
    before, inside, after = parts(script())
    assert "x_batch, y_batch = self.x, self.y" in before
    assert inside[inside.index("if y_batch is not None:") + 1].startswith("self.y = shard([y_batch], gpu)")
    assert "self.x, self.y = x_batch, y_batch" in after or "self.y, self.x = y_batch, x_batch" in after


def test_models_that_leave_other_values_do_not_share_a_loop() -> None:
    """The towers go around the two calls, and are handed the placeholders."""
    text = script(none="self.y = tf.zeros([1, 3])")
    conversion = run(text)
    assert conversion.text is None or "net = Net()" in parts(text)[1]


def test_an_attribute_that_one_of_the_models_lacks_is_merged_where_it_is() -> None:
    between = "if classes:\n            self.out = self.more = tf.layers.dense(self.out, 8)"
    _, inside, after = parts(script(between=between))
    assert inside[inside.index("if hasattr(self, 'more'):") + 1] == "tower_more.append(self.more[:rows])"
    assert after[after.index("if tower_more:") + 1] == "self.more = tf.concat(tower_more, 0)"


def test_models_side_by_side_are_built_by_one_loop_around_both() -> None:
    text = script().replace("if len(sys.argv) > 1:\n    net = Net(classes=3)\nelse:\n    net = Net()\n", "")
    two = "net = Net(classes=3)\nother = Net()\n" + STEP + "\ntf.train.AdamOptimizer(0.01).minimize(other.loss)"
    _, inside, after = parts(text.replace(STEP, two).replace("net.y: ys}", "net.y: ys, other.x: xs}"))
    assert {"net = Net(classes=3)", "other = Net()"} <= set(inside)
    assert sum("tower_gradients(" in line for line in after) == 2


STATES = """\
import tensorflow as tf

batch_size = 12


class Net(object):
    def __init__(self, steps, reuse=False):
        self.x = tf.placeholder(tf.float32, [batch_size, steps, 3])
        self.states, self.top = [], None
        state = tf.zeros([batch_size, 4])
        for t in range(steps):
            with tf.variable_scope('cell', reuse=reuse or t > 0):
                state = tf.layers.dense(tf.concat([self.x[:, t, :], state], 1), 4, tf.tanh)
            self.states.append({held})
            self.top = tf.reduce_max(state)
        self.loss = tf.reduce_mean(tf.square(state))
        with tf.variable_scope('optimizer', reuse=reuse):
            self.train_op = tf.train.RMSPropOptimizer(0.01).minimize(self.loss)


{nets}
with tf.Session() as sess:
    for i in range(100):
        steps = i % 2 + 1
        net = one if steps == 1 else two
        feed = {{net.x: next_batch(batch_size, steps)}}
        sess.run(net.train_op, feed)
        print(sess.run({shown}, {{FED.x: next_batch(batch_size, 1)}}))
"""
TWO = "one, two = Net(1), Net(2, True)"
LISTED = "nets = [Net(1)]\nnets.append(Net(2, True))\none, two = nets"


@pytest.mark.parametrize("held", ["state", "{'h': state, 'w': [state, state]}"], ids=["tensors", "dicts"])
@pytest.mark.parametrize("nets", [TWO, LISTED, LISTED.replace("append(", "insert(1, ")])
@pytest.mark.parametrize("read", ["one", "two", "net"])
def test_what_code_reads_of_any_of_the_models_is_merged(held: str, nets: str, read: str) -> None:
    """Lists were those of the last tower where the model that a loop is planned for is not the one that is read."""
    text = STATES.format(held=held, nets=nets, shown=f"{read}.states").replace("FED", read)
    _, inside, after = parts(text)
    assert "tower_states.append(" in " ".join(inside)
    assert any(line.startswith("self.states = ") and "tf.concat(parts, 0)" in line for line in after)


@pytest.mark.parametrize("nets", [TWO, LISTED])
def test_what_no_code_reads_of_any_is_left(nets: str) -> None:
    text = STATES.format(held="state", nets=nets, shown="one.loss").replace("FED", "one")
    assert "tower_states" not in converted(text)


@pytest.mark.parametrize("read", ["one", "two", "net"])
@pytest.mark.parametrize(
    ("line", "wanted"),
    [("print(sess.run(READ.top, feed))", []), ("if sess.run(READ.top, feed) > 3: break", ["TMG210"])],
    ids=["shown", "decides"],
)
def test_what_any_of_the_models_decides_is_not_merged_by_its_form(read: str, line: str, wanted: list[str]) -> None:
    text = STATES.replace("tf.reduce_max(state)", "tf.py_func(f, [state], tf.float32)")
    text = text.format(held="state", nets=TWO, shown="one.loss").replace("FED", "one")
    found = run(f"{text}        {line.replace('READ', read)}\n").diagnostics
    assert [one.code for one in found if one.severity == "error"] == wanted
