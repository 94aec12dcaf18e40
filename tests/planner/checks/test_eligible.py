"""What the towers cannot hold is refused, and its near misses are not."""

from __future__ import annotations

import pytest

from tests.scripts import INPUTS, STEP, TRAINING, codes, converted, parts, run

MODEL = "loss = tf.reduce_mean(tf.square(tf.layers.dense(X, 1) - Y)) + tf.reduce_sum(state)\n"


@pytest.mark.parametrize(
    ("variable", "found"),
    [
        ("tf.Variable(tf.zeros([batch_size, 4]))", ["TMG224"]),
        ("tf.Variable(tf.random_normal(shape=[3, batch_size]))", ["TMG224"]),
        ("tf.get_variable('state', [batch_size, 4])", ["TMG224"]),
        ("tf.Variable(tf.zeros([3, 4]))", []),
        ("tf.get_variable('state', [3, 4])", []),
        ("tf.Variable(tf.zeros([X.get_shape()[1], 4]))", []),
    ],
)
def test_variables_of_the_size_of_a_batch(variable: str, found: list[str]) -> None:
    assert codes(INPUTS + f"state = {variable}\n" + MODEL + STEP + TRAINING) == found


RATES = "rates = tf.placeholder(tf.float32, [None])\n"
NET = """\
hidden = tf.nn.dropout(tf.layers.dense(X, 3), rates[0])
loss = tf.reduce_mean(tf.square(tf.layers.dense(tf.nn.dropout(hidden, rates[1]), 1) - Y{}))
"""
FED = TRAINING.replace("Y: ys", "Y: ys, rates: [0.5, 0.8]")


def test_a_vector_of_settings_goes_to_all_towers() -> None:
    """Only single entries of it are used: it has no examples."""
    _, inside, _ = parts(INPUTS + RATES + NET.format("") + STEP + FED)
    assert "(X, Y), rows, weight = shard([X_batch, Y_batch], gpu)" in inside


def test_a_vector_that_is_used_as_a_whole_too_has_examples() -> None:
    _, inside, _ = parts(INPUTS + RATES + NET.format(" * rates") + STEP + FED)
    assert [line for line in inside if "shard(" in line and "rates_batch" in line]


METHOD = """\
import tensorflow as tf


class Net(object):
    def __init__(self):
        self.x = tf.placeholder(tf.float32, [None, 4])
        self.prediction = tf.layers.dense(self.x, 1)
        {}
        self.loss = tf.reduce_mean(tf.square(self.prediction - self.y))
        self.train_op = tf.train.AdamOptimizer(0.1).minimize(self.loss)


net = Net()
with tf.Session() as sess:
    for step in range(100):
        xs, ys = next_batch(batch_size=32)
        sess.run(net.train_op, {{net.x: xs, net.y: ys}})
"""


def test_a_placeholder_among_the_statements_of_a_model_in_a_class() -> None:
    """Its statement reads `self`, which holds the model by then, but nothing of it."""
    before, inside, _ = parts(METHOD.format("self.y = tf.placeholder(tf.float32, [None, 1])"))
    assert "self.y = tf.placeholder(tf.float32, [None, 1])" in before
    assert "self.prediction = tf.layers.dense(self.x, 1)" in inside


def test_a_placeholder_that_takes_its_shape_from_the_model() -> None:
    script = METHOD.format("self.y = tf.placeholder(tf.float32, self.prediction.shape)")
    assert "self.x, self.y = x_batch, tower_inputs.whole(self.y)" in converted(script)


@pytest.mark.parametrize("branch", ["{X: xs, Y: ys, state: last}", "dict({X: xs}, **{})"])
def test_a_state_of_one_example_that_one_branch_feeds(branch: str) -> None:
    script = INPUTS + "cell = tf.nn.rnn_cell.LSTMCell(4)\nstate = cell.zero_state(batch_size=1, dtype=tf.float32)\n"
    script += "outputs, final = tf.nn.dynamic_rnn(cell, tf.expand_dims(X, 1), initial_state=state)\n"
    script += "loss = tf.reduce_mean(tf.square(tf.layers.dense(outputs[:, 0], 1) - Y))\n" + STEP
    script += TRAINING.replace(
        "        sess.run(train_op, {X: xs, Y: ys})\n",
        "        feed = {X: xs, Y: ys}\n        if step:\n"
        f"            feed = {branch}\n        _, last = sess.run([train_op, final], feed)\n",
    ).replace("next_batch(batch_size)", "next_example()")
    assert ("TMG218" in codes(script)) == ("state" in branch)


@pytest.mark.parametrize(
    ("made", "found"),
    [
        ("importlib.import_module(name()).Net()(X)", ["TMG241"]),
        ("__import__(name()).net(X)", ["TMG241"]),
        ("importlib.import_module('nets' + '.' + 'mlp').Net()(X)", ["TMG241"]),
        ("globals()[name()](X)", ["TMG241"]),
        ("getattr(nets, name())(X)", ["TMG241"]),
        ("eval(name())(X)", ["TMG241"]),
        ("net(X)", ["TMG241"]),
        ("Net().build(X)", ["TMG241"]),
        ("copy.copy(X)", []),
        ("tuple(X)", []),
    ],
)
def test_what_only_a_run_can_find_may_make_variables(made: str, found: list[str]) -> None:
    script = "import copy\nimport importlib\nfrom nets import *\nimport nets\n" + INPUTS + f"h = {made}\n"
    loss = "loss = tf.reduce_mean(tf.square(tf.layers.dense(h, 1) - Y))\n"
    assert [code for code in codes(script + loss + STEP + TRAINING) if code == "TMG241"] == found


@pytest.mark.parametrize(
    ("size", "found"),
    [
        ("X.get_shape()[1:4].num_elements()", []),
        ("X.shape[1:].num_elements()", []),
        ("int(X.get_shape()[1])", []),
        ("count_features(X)", ["TMG241"]),
    ],
)
def test_numbers_of_a_shape_are_no_calls_elsewhere(size: str, found: list[str]) -> None:
    script = "from features import count_features\n" + INPUTS
    script += f"w = tf.Variable(tf.truncated_normal([{size}, 1]))\n"
    assert codes(script + "loss = tf.reduce_mean(tf.square(tf.matmul(X, w) - Y))\n" + STEP + TRAINING) == found


LATER = "\n\ndef later(held):\n    return tf.reduce_max(held.z)\n\n\n"
KEPT = "class Kept(object):\n    def __init__(self, z):\n        self.z = z\n\n\n{}"


@pytest.mark.parametrize(
    ("use", "found"),
    [
        ("", []),
        ("hidden = extern(Z)\n", ["TMG222"]),
        ("spread = tf.reduce_max(Z)\n", []),
        ("spread = tf.reduce_max(Z)\nprint(spread)\n", []),
        ("hidden = extern(tf.reduce_max(Z))\n", ["TMG222"]),
        ("held = {}\nheld['z'] = tf.reduce_max(Z)\n", []),
        ("held = Box()\nheld.put(tf.reduce_max(Z))\n", ["TMG222"]),
        ("tf.add_to_collection('z', tf.reduce_max(Z))\n", ["TMG222"]),
        ("print(Z)\n", []),
        ("print(Z.op.name)\n", []),
        ("late = tf.get_default_graph().get_tensor_by_name(renamed(Z.op.name))\n", ["TMG209", "TMG222"]),
        ("extern(Z)\n", ["TMG222"]),
        (KEPT.format("held = Kept(Z)\n"), []),
        (KEPT.format("held = Kept(Z)\nextern(held.z)\n"), ["TMG222"]),
        (KEPT.format("held = Kept(Z)\n" + LATER), []),  # nothing calls it
        (KEPT.format("held = Kept(Z)\n" + LATER + "\n\ndef last(held):\n    return later(held)\n\n\n"), []),
        (KEPT.format("held = Kept(Z)\n" + LATER + "extern(later)\n"), ["TMG222"]),
        (KEPT.format("held = Kept(Z)\n" + LATER + "extern('later')\n"), ["TMG222"]),
    ],
)
def test_an_input_that_is_only_fed_stays_whole(use: str, found: list[str]) -> None:
    """Where code reads it that is not followed, a way from it to the loss may have been missed."""
    script = INPUTS + "Z = tf.placeholder(tf.float32, [None, 2])\n" + use
    script += "loss = tf.reduce_mean(tf.square(tf.layers.dense(X, 1) - Y))\n" + STEP
    script += TRAINING.replace("Y: ys", "Y: ys, Z: xs[:, :2]")
    assert codes(script) == found
    if not found:
        assert "(X, Y), rows, weight = shard([X_batch, Y_batch], gpu)" in parts(script)[1]


@pytest.mark.parametrize(("shown", "found"), [("save(sess.run(largest, {Z: zs}))", []), ("save(largest)", ["TMG222"])])
def test_code_that_gets_what_a_run_gave_sees_no_input(shown: str, found: list[str]) -> None:
    """Pictures of a latent that is fed with each step: what draws them is given numbers, and no tensor."""
    script = INPUTS + "Z = tf.placeholder(tf.float32, [None, 2])\nlargest = tf.reduce_max(Z)\n"
    script += "loss = tf.reduce_mean(tf.square(tf.layers.dense(X, 1) - Y))\n" + STEP
    script += TRAINING.replace("Y: ys", "Y: ys, Z: xs[:, :2]") + f"        {shown}\n"
    assert codes(script) == found


HOST = "features = tf.py_func(work, [X], tf.float32)\n"
ON_FEATURES = """\
out = tf.layers.dense(features, 1)
loss = tf.reduce_mean(tf.square(out - Y))
"""


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        (HOST + "features.set_shape([None, 4])\n", ["TMG313"]),
        (HOST + "features.set_shape([batch_size, 4])\n", ["TMG313"]),
        (HOST.replace("py_func", "numpy_function") + "features.set_shape([None, 4])\n", ["TMG313"]),
        ("features, _ = tf.py_func(work, [X], [tf.float32, tf.int32])\nfeatures.set_shape([None, 4])\n", ["TMG313"]),
        (HOST, ["TMG210"]),
        (HOST + "features.set_shape([32, 4])\n", ["TMG210"]),
        (HOST.replace("[X]", "[tf.transpose(X)]") + "features.set_shape([None, 4])\n", ["TMG210"]),
        ("features = X\nfeatures.set_shape([None, 4])\n", []),
        ("features = X + tf.py_func(work, [3], tf.float32)\n", []),
    ],
)
def test_functions_of_the_host(lines: str, found: list[str]) -> None:
    assert codes(INPUTS + lines + ON_FEATURES + STEP + TRAINING + "    keep(sess.run(out, {X: xs}))\n") == found


NOISY = "loss = tf.reduce_mean(tf.square(tf.layers.dense(X + Z, 1) - Y))\n"
EVALUATED = "    print(sess.run(loss, {X: xs, Y: ys}))\n"


@pytest.mark.parametrize(
    ("default", "evaluated", "found"),
    [
        ("tf.zeros([1, 4])", EVALUATED, ["TMG243"]),
        ("tf.zeros([1, 4])", EVALUATED.replace("Y: ys", "Y: ys, Z: xs"), []),
        ("tf.zeros([1, 4])", "    print(sess.run(w))\n", []),
        ("tf.zeros([tf.shape(X)[0], 4])", EVALUATED, []),
        ("tf.zeros([batch_size, 4])", EVALUATED, []),
    ],
)
def test_defaults_of_one_row(default: str, evaluated: str, found: list[str]) -> None:
    script = INPUTS + f"w = tf.Variable(1.0)\nZ = tf.placeholder_with_default({default}, [None, 4])\n" + NOISY
    assert codes(script + STEP + TRAINING.replace("Y: ys", "Y: ys, Z: xs") + evaluated) == found


@pytest.mark.parametrize("head", ["def train(loss):\n", "class Trainer(object):\n    def train(self, loss):\n    "])
def test_a_training_step_that_nothing_calls(head: str) -> None:
    body = "    return tf.train.AdamOptimizer(0.1).minimize(loss)\n"
    (found,) = run("import tensorflow as tf\n\n\n" + head + body).diagnostics
    assert found.code == "TMG202" and "nothing here calls" in found.message and "the script that calls it" in found.hint


@pytest.mark.parametrize(
    ("call", "term", "found"),
    [
        ("weights.decay(v)", "tf.add_n(tf.get_collection('decay'))", ["TMG203"]),
        ("weights.decay(v)", "tf.losses.get_total_loss()", ["TMG203"]),
        ("print('of size {}'.format(v.get_shape()))", "tf.add_n(tf.get_collection('decay'))", []),
        ("tf.add_to_collection('decay', tf.nn.l2_loss(v))", "tf.add_n(tf.get_collection('decay'))", []),
        ("weights.decay(v)", "tf.nn.l2_loss(p)", []),
    ],
)
def test_what_other_packages_may_add_to_a_collection(call: str, term: str, found: list[str]) -> None:
    """The loss would be built in the towers before what stood in front of it, and without its terms."""
    model = f"p = tf.layers.dense(X, 1)\nfor v in tf.trainable_variables():\n    {call}\n"
    loss = f"loss = tf.reduce_mean(tf.square(p - Y)) + {term}\n"
    assert [c for c in codes("import weights\n" + INPUTS + model + loss + STEP + TRAINING) if c == "TMG203"] == found


@pytest.mark.parametrize(("base", "found"), [("nets.Net", ["TMG241"]), ("object", [])])
def test_what_methods_of_another_package_may_set_is_not_seen(base: str, found: list[str]) -> None:
    net = f"""\
class Net({base}):
    def build(self, x):
        self.x = x
        {'self.dense(x)' if found else 'self.layers = [tf.layers.dense(x, 1)]'}


net = Net()
net.build(X)
loss = tf.reduce_mean(tf.square(net.layers[-1] - Y))
"""
    assert codes("import nets\n" + INPUTS + net + STEP + TRAINING) == found


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        ("count = load()\nrows = tf.reshape(X, [count, 2, -1])\nout = tf.reduce_mean(rows, 1)[:, :1]\n", ["TMG207"]),
        ("count = load()\nrows = tf.reshape(X, [-1, 2, 2])\nout = tf.reduce_mean(rows, 1)[:, :1]\n", []),
        ("rows = tf.reshape(X, [batch_size, 2, -1])\nout = tf.reduce_mean(rows, 1)[:, :1]\n", []),
        ("rows = tf.reshape(X, [tf.shape(X)[0], 2, -1])\nout = tf.reduce_mean(rows, 1)[:, :1]\n", []),
    ],
)
def test_rows_of_an_unknown_number(lines: str, found: list[str]) -> None:
    """A number that has nothing to do with the batch is the same in each tower, and the rest of the shape is not."""
    script = INPUTS.replace("[None, 4]", "[batch_size, 4]").replace("[None, 1]", "[batch_size, 1]") + lines
    assert codes(script + "loss = tf.reduce_mean(tf.square(out - Y))\n" + STEP + TRAINING) == found


@pytest.mark.parametrize(
    ("size", "used", "found"),
    [
        ("tf.placeholder(tf.int32, [])", "tf.reshape(X, tf.stack([size, 4]))", []),
        ("tf.placeholder(tf.float32, [])", "X * size", ["TMG207"]),
        ("tf.placeholder(tf.int32, [])", "X", []),
        ("tf.shape(X)[0]", "tf.reshape(X, tf.stack([size, 4]))", []),
    ],
)
def test_batch_sizes_that_are_fed(size: str, used: str, found: list[str]) -> None:
    """Each tower would take the size of the whole batch for that of its shard."""
    script = INPUTS + f"bsz = {size}\nsize = bsz\nout = tf.layers.dense({used}, 1)\n"
    script += "loss = tf.reduce_mean(tf.square(out - Y))\n" + STEP
    assert codes(script + TRAINING.replace("Y: ys", "Y: ys, bsz: 32")) == found


NUMBERS = """\
import tensorflow as tf

a = tf.placeholder(tf.float32)
b = tf.placeholder(tf.float32)
w = tf.Variable(1.0)
loss = tf.reduce_mean(tf.square(w * a - b))
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)


def train(sess, xs, ys):
    for i in range({count}):
        sess.run(train_op, {{a: {fed}, b: {beside}}})


with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    train(sess, {data}, load())
"""


@pytest.mark.parametrize(
    ("count", "fed", "beside", "data", "code"),
    [
        ("len(xs)", "xs[i]", "ys[i]", "load()", "TMG218"),
        ("100", "xs[i % 2]", "0.5", "[0.1, 0.2]", "TMG218"),
        ("len(xs)", "xs", "0.5", "load()", "TMG304"),  # a number beside data of any shape
        ("100", "xs[i]", "ys[i]", "load()", "TMG202"),  # what may be a list of batches
    ],
)
def test_single_numbers_that_a_function_feeds(count: str, fed: str, beside: str, data: str, code: str) -> None:
    assert codes(NUMBERS.format(count=count, fed=fed, beside=beside, data=data)) == [code]


@pytest.mark.parametrize(
    ("units", "rows", "found"),
    [
        ("size", "[-1, 3, size]", ["TMG218"]),
        ("size", "[-1, 3, 1, size]", ["TMG218"]),
        ("3 * size", "[-1, 3, size]", []),
        ("size", "[-1, 1, size]", []),
        ("other", "[-1, 3, size]", []),
    ],
    ids=["triplets", "further axes", "heads", "an axis of one", "another number"],
)
def test_rows_of_a_layer_are_joined(units: str, rows: str, found: list[str]) -> None:
    """Three rows of a layer as one, whose units a flag gives: shards would cut triplets apart."""
    flags = "import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('--size', type=int, default=8)\n"
    flags += "parser.add_argument('--other', type=int, default=24)\nargs = parser.parse_args()\n"
    model = "size, other = args.size, args.other\n"
    model += f"h = tf.nn.l2_normalize(tf.layers.dense(X, {units}), 1)\nthrees = tf.reshape(h, {rows})\n"
    loss = "loss = tf.reduce_mean(tf.square(threes)) + tf.reduce_mean(tf.square(Y))\n"
    assert codes(flags + INPUTS + model + loss + STEP + TRAINING) == found


TAKEN = """\
def slow(loss):
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    return optimizer.apply_gradients(optimizer.compute_gradients(loss))


def fast(loss):
    return tf.train.AdamOptimizer(0.1).minimize(loss)


"""
NETWORK = "loss = tf.reduce_mean(tf.square(tf.layers.dense(X, 1) - Y))\n"


@pytest.mark.parametrize("taken", ["fast(loss)", "slow(loss)", "tf.train.AdamOptimizer(0.1).minimize(loss)"])
def test_a_step_of_a_function_that_is_never_called(taken: str) -> None:
    text = INPUTS + TAKEN + NETWORK + f"train_op = {taken}\n" + TRAINING
    assert codes(text) == []


def test_steps_of_functions_alone_that_are_never_called() -> None:
    assert codes(INPUTS + TAKEN + NETWORK + "train_op = OPS[0]\n" + TRAINING) == ["TMG202"]


def test_a_step_without_a_batch_that_the_script_takes_itself() -> None:
    other = "other_op = fast(tf.nn.l2_loss(tf.get_variable('w', [3])))\n"
    assert "TMG202" in codes(INPUTS + TAKEN + NETWORK + other + STEP + TRAINING)
