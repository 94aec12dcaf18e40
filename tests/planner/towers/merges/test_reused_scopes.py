"""Scopes that the model sets to be reused between two of its statements."""

from __future__ import annotations

import textwrap

import pytest

from tests.scripts import ABOVE, BELOW, STEP, TRAINING, codes, converted, parts

HEAD = """\
import tensorflow as tf

batch_size = 32
X = tf.placeholder(tf.float32, [None, 4])
Y = tf.placeholder(tf.float32, [None, 4])
"""
ONE = "p = tf.layers.dense(X, 1, name='d')\n"
TWO = "q = tf.layers.dense(Y, 1, name='d')\n"
LOSS = "loss = tf.reduce_mean(tf.square(p - q))\n"
OWN = "tf.get_variable_scope().reuse_variables()"
TRAINED = "train_op = optimizer.apply_gradients(sum_gradients(tower_grads))"
BEFORE, INSIDE = 0, 1


def script(model: str, before: str = "") -> str:
    return HEAD + before + model + TRAINING


def within(model: str) -> str:
    return "with tf.variable_scope('net') as scope:\n" + textwrap.indent(model, "    ")


@pytest.mark.parametrize(
    ("text", "own", "outer"),
    [
        (script(within(ONE + "scope.reuse_variables()\n" + TWO + LOSS + STEP)), OWN, "scope.reuse_variables()"),
        (
            script(
                within(
                    "with tf.name_scope('nets'):\n"
                    + textwrap.indent(ONE + "scope.reuse_variables()\n" + TWO + LOSS + STEP, "    ")
                )
            ),
            OWN,
            "scope.reuse_variables()",
        ),
        (script(ONE + OWN + "\n" + TWO + LOSS + STEP), OWN, OWN),
        (
            script(ONE + "scope.reuse_variables()\n" + TWO + LOSS + STEP, "scope = tf.get_variable_scope()\n"),
            OWN,
            "scope.reuse_variables()",
        ),
        (
            script(
                within(
                    ONE + "scope.reuse_variables()\n" + TWO + "scope.reuse_variables()\n"
                    "r = tf.layers.dense(X + Y, 1, name='d')\np += r\n" + LOSS + STEP
                )
            ),
            OWN,
            "scope.reuse_variables()",
        ),
    ],
    ids=["the scope around", "with names between", "the current scope", "kept in a name", "twice"],
)
def test_the_towers_and_the_script_set_their_own_scopes(text: str, own: str, outer: str) -> None:
    before, inside, after = parts(text)
    assert inside.index(own) > inside.index(ONE.strip()) and inside.index(own) < inside.index(TWO.strip())
    assert after.count(outer) == 1 and own not in before and outer not in before


@pytest.mark.parametrize(
    "model",
    [
        within(ONE) + "with tf.variable_scope(scope):\n    scope.reuse_variables()\n" + textwrap.indent(TWO, "    "),
        within(ONE) + "scope.reuse_variables()\nwith tf.variable_scope(scope):\n" + textwrap.indent(TWO, "    "),
        within(ONE + "scope.reuse_variables()\n" + TWO),
    ],
    ids=["opened again", "left", "the towers' own"],
)
def test_scopes_that_are_not_around_the_towers_stay_as_they_are(model: str) -> None:
    _, inside, after = parts(script(model + LOSS + STEP))
    lines = (model + LOSS).splitlines()
    assert inside == [*ABOVE, *(line.strip() for line in lines), *BELOW]
    assert after[:3] == ["X, Y = X_batch, Y_batch", "loss = tf.add_n(tower_loss)", TRAINED]


def test_behind_the_last_variable_it_stays_behind_the_towers() -> None:
    other = "q = tf.reduce_sum(Y, 1, keepdims=True)\n"
    _, inside, after = parts(script(within(ONE + "scope.reuse_variables()\n" + other + LOSS + STEP)))
    assert inside == [*ABOVE, ONE.strip(), other.strip(), LOSS.strip(), *BELOW]
    assert after[1:4] == ["loss = tf.add_n(tower_loss)", "scope.reuse_variables()", TRAINED]


def test_a_sampler_that_reuses_its_own_scope_stays_behind_the_towers() -> None:
    net = """\
def net(x, reuse=False):
    with tf.variable_scope('net') as scope:
        if reuse:
            scope.reuse_variables()
        return tf.layers.dense(x, 1, name='d')


"""
    model = "p = net(X)\nshown = net(X, True)\nq = net(Y, True)\n"
    _, inside, after = parts(script(model + LOSS + STEP, net))
    assert "shown = net(X, True)" in after and "q = net(Y, True)" in inside


def test_a_scope_that_another_function_sets() -> None:
    again = "def again(scope):\n    scope.reuse_variables()\n\n\n"
    assert codes(script(within(ONE + "again(scope)\n" + TWO + LOSS + STEP), again)) == ["TMG231"]


@pytest.mark.parametrize(
    ("found", "place"),
    [
        ("with tf.variable_scope('', reuse=True):\n    w = tf.get_variable('d/kernel', [4, 1])\n", INSIDE),
        ("with tf.variable_scope('d', reuse=tf.AUTO_REUSE):\n    w = tf.get_variable('kernel', [4, 1])\n", INSIDE),
        ("with tf.variable_scope('new', reuse=False):\n    w = tf.get_variable('kernel', [4, 1])\n", BEFORE),
        ("w = tf.get_variable('new', [4, 1])\n", BEFORE),
    ],
    ids=["reused", "reused if there", "new in a scope", "new"],
)
def test_a_variable_that_the_model_has_made_is_looked_up_behind_it(found: str, place: int) -> None:
    text = script(ONE + found + "loss = tf.reduce_mean(tf.square(p - Y)) + tf.nn.l2_loss(w)\n" + STEP)
    assert [i for i, part in enumerate(parts(text)) if any(line.startswith("w = ") for line in part)] == [place]


def test_a_variable_that_is_looked_up_is_no_new_one() -> None:
    """What lists the variables between is behind the loop: it lists the same there."""
    found = "with tf.variable_scope('', reuse=True):\n    w = tf.get_variable('d/kernel', [4, 1])\n"
    average = "average = tf.train.ExponentialMovingAverage(0.9).apply(tf.trainable_variables())\n"
    loss = "loss = tf.reduce_mean(tf.square(p - Y)) + tf.nn.l2_loss(w)\n"
    _, inside, after = parts(script(ONE + average + found + loss + STEP))
    assert average.strip() in after and "w = tf.get_variable('d/kernel', [4, 1])" in inside


LAYER = """\
def layer(x, **scope):
    with tf.variable_scope('a', **scope):
        return tf.matmul(x, tf.get_variable('w', [4, 4]))


"""
STEPS = """\
h = X
for i in range(3):
    h = layer(h)
    if i == 0:
        tf.get_variable_scope().reuse_variables()
"""
NEAR = "loss = tf.reduce_mean(tf.square(h - Y))\n"
SHOWN = "print(sess.run(g, {X: test}))\n"


def unrolled(made: str, steps: str = STEPS) -> str:
    return script(steps + made + NEAR + STEP, LAYER) + SHOWN


@pytest.mark.parametrize("made", ["g = layer(X)\n", "g = tf.layers.dense(X, 4, name='d')\n"])
def test_a_scope_that_a_turn_of_the_model_reuses_is_refused_where_layers_behind_the_towers_need_it(made: str) -> None:
    assert codes(unrolled(made)) == ["TMG231"]


@pytest.mark.parametrize(
    "text",
    [
        unrolled("g = h\n"),
        unrolled("g = tf.nn.relu(X)\n"),
        unrolled(OWN + "\ng = layer(X)\n"),
        unrolled("with tf.variable_scope('a', reuse=True):\n    g = tf.matmul(X, tf.get_variable('w', [4, 4]))\n"),
        unrolled("g = tf.layers.dense(X, 4, name='d', reuse=True)\n"),
        unrolled("g = layer(X)\n", "h = layer(X)\n" + OWN + "\nh = layer(h)\n"),
        unrolled("g = layer(X)\n", within(STEPS)),
    ],
)
def test_layers_behind_the_towers_that_need_no_such_scope_are_converted(text: str) -> None:
    assert [code for code in codes(text) if code.startswith("TMG2")] == []


APART = """\
def train():
    h = X
    for i in range(3):
        if i > 0:
            tf.get_variable_scope().reuse_variables()
        h = layer(h)
    loss = tf.reduce_mean(tf.square(h - Y))
    train_op = tf.train.AdamOptimizer(0.01).minimize(loss)
{behind}    sess = tf.Session()
    for step in range(100):
        xs, ys = next_batch(batch_size)
        sess.run(train_op, {{X: xs, Y: ys}})


def test():
    print(tf.Session().run(layer(X), {{X: next_batch(7)[0]}}))
"""


@pytest.mark.parametrize(
    ("behind", "calls", "found"),
    [
        pytest.param("", "", [], id="neither function is called"),
        pytest.param("", "\n\ntrain()\ntest()\n", ["TMG231"], id="both are called"),
        pytest.param("    print(layer(X))\n", "", ["TMG231"], id="a layer of the same function"),
    ],
)
def test_layers_of_another_function_that_nothing_calls(behind: str, calls: str, found: list[str]) -> None:
    assert codes(HEAD + LAYER + APART.format(behind=behind) + calls) == found


DECAYED = """\
def net(x):
    with tf.variable_scope('net') as scope:
        w = tf.get_variable('w', [4, 1])
{asked}
        return tf.matmul(x, w)


"""


@pytest.mark.parametrize(
    ("asked", "helped"),
    [
        ("        assert tf.get_variable_scope().reuse is False", True),
        ("        if not scope.reuse:\n            tf.add_to_collection('losses', tf.nn.l2_loss(w))", True),
        ("        with tf.variable_scope('in', reuse=scope.reuse):\n            x = tf.layers.dense(x, 4)", True),
        ("        tf.get_variable_scope().reuse_variables()", False),
        ("        x = tf.layers.dense(x, 4, reuse=False)", False),
        ("        x.reuse = False", False),
    ],
    ids=["asserted", "weight decay", "handed on", "set", "an argument", "of something else"],
)
def test_a_scope_that_the_model_asks_whether_it_is_reused(asked: str, helped: bool) -> None:
    """Each tower gets the answer of one GPU, though all but the first find the variables that are there."""
    model = "p = net(X)\nloss = tf.reduce_mean(tf.square(p - Y))\n" + STEP
    text = converted(script(model, DECAYED.format(asked=asked)))
    assert ("scope_reuse = ScopeReuse()" in text and "scope_reuse.tower(gpu)" in text) == helped
    assert "reuse=gpu > 0" in text


def test_a_scope_that_is_asked_behind_the_model() -> None:
    behind = "print(tf.get_variable_scope().reuse)\n"
    assert "ScopeReuse" not in converted(script(ONE + TWO + LOSS + STEP + behind))
