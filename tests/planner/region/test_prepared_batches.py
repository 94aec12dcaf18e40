"""Where the towers begin: behind what prepares a batch, inside of what makes inputs and model together."""

from __future__ import annotations

import pytest

from converter.analysis.values import Input
from converter.planner.region.prepared_batches import upstream
from tests.scripts import STEP, TRAINING, codes, converted, parts

HEAD = "import tensorflow as tf\n\nbatch_size = 32\n"
LOSS = "loss = tf.reduce_mean(tf.square(tf.layers.dense(X, 1) - Y))\n"
QUEUE = "[tf.constant([1.0]), tf.constant([2.0])], batch_size=batch_size"


def reading(*body: str) -> str:
    """A script with a function that reads batches, and a model after it."""
    lines = "".join(f"    {line}\n" for line in body)
    return HEAD + f"def read():\n{lines}\n\nX, Y = read()\n" + LOSS + STEP + TRAINING.replace(", {X: xs, Y: ys}", "")


@pytest.mark.parametrize(
    "body",
    [
        (f"x, y = tf.train.batch({QUEUE})", "x = tf.cast(x, tf.float32) / 255.0", "return x, tf.expand_dims(y, 1)"),
        (f"x, y = tf.train.batch({QUEUE})", "x.set_shape([32, 1])", "return x - 0.5, tf.one_hot(y, 2)"),
        (
            "x = tf.placeholder(tf.float32, [None, 4])",
            "y = tf.placeholder(tf.float32, [None])",
            "return tf.log(x), tf.expand_dims(y, 1)",
        ),
    ],
    ids=["queue", "encoded", "placeholders"],
)
def test_batches_are_prepared_once(body: tuple[str, ...]) -> None:
    before, inside, _ = parts(reading(*body))
    assert "X, Y = read()" in before
    assert any(line.startswith("(X, Y), rows, weight = shard") for line in inside)


def test_a_fixed_batch_stays_fixed() -> None:
    body = (f"x, y = tf.train.batch({QUEUE})", "return tf.sqrt(x), tf.reshape(y, [batch_size, 1])")
    assert "(X, Y), rows, weight = shard_static([X_batch, Y_batch], gpu)" in parts(reading(*body))[1]


@pytest.mark.parametrize(
    "last",
    ["x[:tf.shape(y)[0]] * 2", "tf.boolean_mask(x, y[:, 0] > 0)"],
    ids=["measured", "masked"],
)
def test_what_is_not_row_by_row_is_no_fixed_batch(last: str) -> None:
    script = reading(f"x, y = tf.train.batch({QUEUE})", f"return {last}, tf.reshape(y, [-1, 1])")
    assert codes(script) == ["TMG204"]


def test_a_function_that_the_model_uses_too_is_no_entrance() -> None:
    script = HEAD + "def scaled(t):\n    return t * 2.0\n\n\ndef read():\n"
    script += f"    x, y = tf.train.batch({QUEUE})\n    return scaled(x), y\n"
    script += "\n\nX, Y = read()\nX = scaled(X)\n" + LOSS + STEP + TRAINING.replace(", {X: xs, Y: ys}", "")
    assert codes(script) == ["TMG204"]


NETWORK = """\
def network():
    x = tf.placeholder(tf.float32, [None, 4])
    y = tf.placeholder(tf.float32, [None, 1])
    hidden = tf.layers.dense(x, 8)
    out = tf.layers.dense(hidden, 1)
    return x, y, out


X, Y, prediction = network()
"""


def test_a_function_that_makes_inputs_and_model_holds_the_towers() -> None:
    script = HEAD + NETWORK + "loss = tf.reduce_mean(tf.square(prediction - Y))\n" + STEP + TRAINING
    text = converted(script)
    inner = text.partition("def network():")[2].partition("X, Y, prediction = network()")[0]
    assert "\n    for gpu in range(num_gpus):\n" in inner and "out = tf.concat(tower_out, 0)" in inner
    assert "minimize(loss, colocate_gradients_with_ops=True)" in text


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("loss = tf.reduce_sum(tf.square(prediction - Y))\n", ["TMG301"]),
        ("loss = tf.sqrt(tf.reduce_mean(tf.square(prediction - Y)))\n", ["TMG302"]),
        ("loss = tf.reduce_mean(tf.square(tf.layers.dense(prediction, 1) - Y))\n", []),
    ],
    ids=["a sum", "a root", "a layer more"],
)
def test_what_is_no_end_of_a_mean_is_in_the_towers(line: str, found: list[str]) -> None:
    """They go around the function, and are handed the placeholders that it makes."""
    script = HEAD + NETWORK + line + STEP + TRAINING
    assert codes(script) == found
    _, inside, _ = parts(script)
    assert "X, Y, prediction = network()" in inside and line.strip() in inside


@pytest.mark.parametrize("around", ["", "with tf.device('/cpu:0'):\n    "], ids=["plain", "on the CPU"])
def test_batches_that_a_branch_changes_are_prepared_once(around: str) -> None:
    script = reading(f"x, y = tf.train.batch({QUEUE})", "if HALF:", "    x = tf.cast(x, tf.float16)", "return x, y")
    script = script.replace("X, Y = read()", f"{around}X, Y = read()")
    script = script.replace("def read", "HALF = unknown()\n\n\ndef read")
    before, inside, _ = parts(script)
    assert "X, Y = read()" in before
    assert any("rows, weight = shard_static(" in line and "X_batch" in line for line in inside)


def test_rows_and_columns_that_branches_join_are_no_entrance() -> None:
    script = reading(f"x, y = tf.train.batch({QUEUE})", "if HALF:", "    x, y = tf.transpose(x), y + 1", "return x, y")
    assert codes(script.replace("def read", "HALF = unknown()\n\n\ndef read")) == ["TMG204"]


LOOKED_UP = """\
x = tf.placeholder(tf.int32, [None, 4])
y = tf.placeholder(tf.float32, [None, 1])
table = tf.get_variable('table', [50, 8])
found = tf.nn.embedding_lookup(table, x)
return {}, y
"""


@pytest.mark.parametrize(
    ("result", "handed"),
    [
        ("found", False),
        ("tf.nn.embedding_lookup(tf.concat([tf.zeros([1, 8]), table[1:]], 0), x)", False),
        ("tf.reshape(found, [-1, 32]) * 2.0", False),
        ("tf.reshape(tf.gather(table, x), [-1, 32])", False),
        ("tf.layers.dense(tf.reshape(found, [-1, 32]), 8)", True),
        ("tf.matmul(tf.reshape(found, [-1, 32]), tf.get_variable('w', [32, 8]))", True),
        ("found + tf.get_variable('position', [4, 8])", True),
        ("found - tf.reduce_mean(found, 0)", True),
    ],
)
def test_what_is_looked_up_is_prepared_and_layers_are_not(result: str, handed: bool) -> None:
    script = reading(*LOOKED_UP.format(result).splitlines())
    script = script.replace("sess.run(train_op)", "sess.run(train_op, {'x:0': next_batch(batch_size)})")
    before, inside, _ = parts(script)
    if handed:
        assert "X, Y = read()" in inside
    else:
        assert "X, Y = read()" in before and any("= shard([X_batch" in line for line in inside)


LAYERS = """\
import tensorflow as tf

batch_size = 32


class Net(object):
    def __init__(self, x):
        self.rate = tf.placeholder_with_default(tf.constant(1.0), [])
        self.layers = {'x': x}
        self.build()

    def build(self):
        self.layers[OUT] = tf.layers.dense(self.layers['x'], 1)


X, Y = tf.train.batch(read(), batch_size=batch_size)
net = Net(X)
loss = tf.reduce_mean(tf.square(net.layers['out'] - Y))
"""
QUEUED = "with tf.Session() as sess:\n    for step in range(100):\n        sess.run(train_op)\n"


@pytest.mark.parametrize(("name", "outside"), [("'out'", True), ("name()", False)])
def test_a_loss_outside_takes_nothing_of_the_towers_but_what_is_merged(name: str, outside: bool) -> None:
    """An item with a name that is not known beside an input has no merge: the loss goes into the towers with it."""
    text = converted(LAYERS.replace("OUT", name) + STEP + QUEUED)
    assert ("self.layers['out'] = tf.concat(tower_out, 0)" in text) is outside
    assert ("        net = Net(X)\n" in text) is not outside


def test_inputs_come_in_the_order_in_which_the_script_makes_them() -> None:
    made = [Input("placeholder", (None,), None, "float32") for _ in range(64)]
    behind = Input("placeholder", (None,), None, "float32")
    behind.inputs = (made[3],)
    assert upstream([behind, *reversed(made)]) == (*made, behind)


CHANGED = """\
import tensorflow as tf

batch_size = 32


def build(features):
    test = tf.placeholder(tf.float32, [None, 4], name='test')
    with tf.variable_scope('net') as scope:
        out = tf.layers.dense(features, 3, name='d')
        scope.reuse_variables()
        shown = tf.layers.dense(test, 3, name='d')
    return test, shown, out


X = tf.placeholder(tf.float32, [None, 4])
Y = tf.placeholder(tf.float32, [None, 3])
test, shown, out = build(GIVEN)
loss = tf.reduce_mean(tf.square(out - Y))
train_op = tf.train.AdamOptimizer(0.01).minimize(loss)
with tf.Session() as sess:
    for step in range(100):
        xs, ys = next_batch(batch_size)
        sess.run(train_op, {X: xs, Y: ys})
    print(sess.run(shown, {test: xs}))
"""


@pytest.mark.parametrize(("given", "around"), [("X", False), ("X + tf.random_normal(tf.shape(X))", True)])
def test_a_model_that_is_given_what_the_caller_made_of_a_batch(given: str, around: bool) -> None:
    """Towers in the function would read all of a batch that is no input: they go around its call."""
    text = converted(CHANGED.replace("GIVEN", given))
    assert ("        test, shown, out = build(" in text) is around
