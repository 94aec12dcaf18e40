"""Which placeholders are batches, and along which axis."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from converter.verify import VerifySettings, verify
from tests.scripts import INPUTS, MODEL, STEP, TRAINING, body, codes, converted, parts, run

HEAD = "import tensorflow as tf\n\nbatch_size = 32\n"
TARGET = "Y = tf.placeholder(tf.float32, [None, 1])\n"
LOSS = "loss = tf.reduce_mean(tf.square(tf.layers.dense(x, 1) - Y))\n"


def cut(script: str) -> str:
    """The line that cuts the batch."""
    return next(line for line in parts(script)[1] if "= shard" in line)


@pytest.mark.parametrize(
    ("inputs", "line"),
    [
        ("X = tf.placeholder(tf.float32, [8, None, 4])\n" + TARGET + "x = X[-1]\n", "shard_along([X_batch], [1], gpu)"),
        (
            "n = len(open('x').read())\nX = tf.placeholder(tf.float32, [n, None, 4])\n" + TARGET + "x = X[-1]\n",
            "shard_along([X_batch], [1], gpu)",
        ),
        (
            "X = tf.placeholder(tf.float32, [8, 3, None, 4])\n" + TARGET + "x = X[0][0]\n",
            "shard_along([X_batch], [2], gpu)",
        ),
        (
            "X = tf.placeholder(tf.float32, [4, None])\nT = tf.placeholder(tf.float32, [1, None])\n"
            "x, Y = tf.transpose(X), tf.transpose(T)\n",
            "shard_along([X_batch, T_batch], [1, 1], gpu)",
        ),
    ],
    ids=["time major", "of unknown length", "third axis", "column major"],
)
def test_the_one_open_dimension_is_the_batch(inputs: str, line: str) -> None:
    script = HEAD + inputs + LOSS + STEP + TRAINING.replace("Y: ys", "T: ys" if "T =" in inputs else "Y: ys")
    assert line in " ".join(parts(script)[1])


ONLY_T = "(T,), rows, weight = shard([T_batch], gpu)"


@pytest.mark.parametrize(
    ("inputs", "line", "found"),
    [
        (
            "X = tf.placeholder(tf.float32, [50, None])\nT = tf.placeholder(tf.float32, [50])\n",
            "(X, T), rows, weight = shard_static([X_batch, T_batch], gpu)",
            ["TMG303", "TMG302"],
        ),
        ("X = tf.placeholder(tf.float32, [1, None])\nT = tf.placeholder(tf.float32, [None])\n", ONLY_T, []),
        ("X = tf.placeholder(tf.float32, [8, None, None])\nT = tf.placeholder(tf.float32, [None])\n", ONLY_T, []),
    ],
    ids=["a batch size in front", "one sequence", "two open ones"],
)
def test_other_open_dimensions_are_no_batch(inputs: str, line: str, found: list[str]) -> None:
    script = HEAD + inputs + "loss = tf.reduce_mean(X) * tf.reduce_mean(T)\n" + STEP + TRAINING.replace("Y:", "T:")
    assert codes(script) == found and parts(script)[1][2] == line


def test_a_default_that_is_never_fed_goes_to_all_towers() -> None:
    inputs = "X = tf.placeholder(tf.float32, [None, 4])\n" + TARGET
    weights = "w = tf.placeholder_with_default(tf.ones([1]), [None])\nx = X * w\n"
    script = HEAD + inputs + weights + LOSS + STEP + TRAINING
    assert cut(script).endswith("shard([X_batch, Y_batch], gpu)")
    fed = script.replace("Y: ys", "Y: ys, w: ws")
    assert "w_batch" in cut(fed)


@pytest.mark.parametrize("pick", ["np.random.randint(0, 9, batch_size)", "rng.permutation(9)[:batch_size]", "idx[:9]"])
def test_rows_that_are_picked_make_a_batch(pick: str) -> None:
    script = HEAD.replace("\n\n", "\nimport numpy as np\n\n", 1) + "X = tf.placeholder(tf.float32)\n" + TARGET
    script += "x = tf.reshape(X, [-1, 4])\n" + LOSS + STEP
    script += TRAINING.replace("xs, ys = next_batch(batch_size)", f"rows = {pick}\n        xs, ys = a[rows], b[rows]")
    assert "X_batch" in cut(script)


FED_BACK = """\
X = tf.placeholder(tf.float32, [None, 4])
Y = tf.placeholder(tf.float32, [None, 1])
W = tf.placeholder(tf.float32)
errors = tf.square(tf.layers.dense(X, 1) - Y)
loss = tf.reduce_mean(errors * W)
"""
RUN_TWICE = """\
with tf.Session() as sess:
    for step in range(100):
        xs, ys = next_batch(batch_size)
        {first}
        sess.run(train_op, {{X: xs, Y: ys, W: {fed}}})
"""


@pytest.mark.parametrize(
    ("first", "fed", "batch"),
    [
        ("each = sess.run(errors, {X: xs, Y: ys})", "each", True),
        ("each = sess.run(errors, {X: xs, Y: ys})", "each / each.mean()", True),
        ("each = sess.run(errors, {X: xs, Y: ys})", "(each > 0.5) * 2.0", True),
        ("each = errors.eval({X: xs, Y: ys})", "np.exp(-each)", True),
        ("_, each = sess.run([loss, errors], {X: xs, Y: ys})", "each", True),
        ("_, each = sess.run([errors, loss], {X: xs, Y: ys})", "each", False),
        ("each = sess.run(loss, {X: xs, Y: ys})", "1.0 / each", False),
        ("each = sess.run(errors, {X: xs, Y: ys})", "each.mean()", False),
        ("each = sess.run(errors, {X: xs, Y: ys})", "np.mean(each)", False),
        ("each = sess.run(errors, {X: xs, Y: ys})", "0.5 if each.mean() > 1 else 0.1", False),
        ("pass", "np.float32(0.5)", False),
    ],
)
def test_what_the_model_gave_for_each_example_is_a_batch_when_it_is_fed_back(first: str, fed: str, batch: bool) -> None:
    script = "import numpy as np\n" + HEAD + FED_BACK + STEP + RUN_TWICE.format(first=first, fed=fed)
    assert ("W_batch" in cut(script)) == batch


@pytest.mark.parametrize("pick", ["np.random.randint(0, 9)", "random.randint(1, 9)", "np.random.choice(9)"])
def test_a_row_that_is_picked_makes_none(pick: str) -> None:
    script = HEAD.replace("\n\n", "\nimport random\nimport numpy as np\n\n", 1)
    script += "X = tf.placeholder(tf.float32, [None, 4])\na = tf.placeholder(tf.int32)\n" + TARGET
    script += "x = X + tf.one_hot(a, 4)\n" + LOSS + STEP
    script += TRAINING.replace("Y: ys", f"Y: ys, a: actions[{pick}]")
    assert cut(script) == "(X, Y), rows, weight = shard([X_batch, Y_batch], gpu)"


ROWS, FLAT = "tf.placeholder(tf.float32, [None, 2, 2])", "tf.placeholder(tf.float32, [None, 4])"
MODEL_OF_BOTH = "h = tf.layers.dense(X, 1) if flat() else tf.layers.dense(tf.reshape(X, [-1, 4]), 1)\n"


@pytest.mark.parametrize(
    ("one", "two", "found"),
    [
        (f"X = {FLAT}\n", f"X = {ROWS}\n", True),
        (f"X = {FLAT}\n", f"X = {FLAT}\n", True),
        (f"X = {FLAT}\nh0 = tf.layers.dense(X, 4)\n", f"X = {FLAT}\nh0 = X\n", False),
    ],
    ids=["two shapes", "one shape", "a model of its own"],
)
def test_placeholders_of_which_a_condition_makes_one(one: str, two: str, found: bool) -> None:
    branches = f"if flat():\n{textwrap.indent(one, '    ')}else:\n{textwrap.indent(two, '    ')}"
    model = MODEL_OF_BOTH.replace("dense(X, 1)", "dense(h0, 1)") if "h0" in one else MODEL_OF_BOTH
    loss = "loss = tf.reduce_mean(tf.square(h - Y))\n"
    script = INPUTS.replace(f"X = {FLAT}\n", branches) + model + loss + STEP + TRAINING
    if not found:
        assert "tower_inputs.whole(X)" in converted(script)
        return
    before, inside, _ = parts(script)
    assert "X_batch, Y_batch = X, Y" in before
    assert "if flat():" in before and "if flat():" not in inside
    (choice,) = [line for line in inside if "flat()" in line]
    assert choice == MODEL_OF_BOTH.strip()


def test_a_conditional_expression_makes_one_input() -> None:
    before, _, _ = parts(INPUTS.replace(f"X = {FLAT}", f"X = {FLAT} if flat() else {ROWS}") + MODEL + STEP + TRAINING)
    assert "X_batch, Y_batch = X, Y" in before


BRANCHES = """\
import tensorflow as tf

batch_size = 32


class Net(object):
    def __init__(self, kind):
        if kind == 'shown':
            self.x = tf.placeholder(tf.float32, [None, 4])
            self.h = tf.layers.dense(self.x, 1)
        else:
            self.x = tf.placeholder(tf.float32, [None, 4])
            self.y = tf.placeholder(tf.float32, [None, 1])
            self.h = tf.layers.dense(self.x, 1)
            self.loss = tf.reduce_mean(tf.square(self.h - self.y))
            self.train_op = tf.train.GradientDescentOptimizer(0.1).minimize(self.loss)


net = Net(kind())
with tf.Session() as sess:
    for step in range(100):
        xs, ys = next_batch(batch_size)
        sess.run(net.train_op, {net.x: xs, net.y: ys})
"""


def test_models_of_which_a_condition_builds_one_have_inputs_of_their_own() -> None:
    assert codes(BRANCHES) == []
    assert cut(BRANCHES).startswith("(self.x, self.y), rows, weight = shard(")


STATEFUL = """\
def net(x):
    zero = tf.zeros([tf.shape(x)[0], 3])
    state = {}
    return tf.layers.dense(tf.concat([x, state], 1), 1), state


h, state = net(X)
loss = tf.reduce_sum(tf.square(h - Y))
"""


def test_an_input_with_a_default_of_the_batch_is_in_the_way() -> None:
    state = "tf.placeholder_with_default(zero, [None, 3])"
    (finding,) = run(INPUTS + STATEFUL.format(state) + STEP + TRAINING).diagnostics
    assert finding.code == "TMG204" and "the default of this input is computed from the batch" in finding.message


TIME_MAJOR = """
import tensorflow as tf
X = tf.placeholder(tf.int32, [None, None])
Y = tf.placeholder(tf.int32, [None, None])
lengths = tf.placeholder(tf.int32, [None])
table = tf.get_variable("table", [50, 8])
cell = tf.nn.rnn_cell.GRUCell(8)
outputs, _ = {net}tf.nn.embedding_lookup(table, X), lengths, dtype=tf.float32{layout})
losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=Y, logits=tf.layers.dense({outputs}, 50))
loss = tf.reduce_mean(losses)
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    for step in range(100):
        xs, ys, n = next_batch(64)
        sess.run(train_op, {{X: xs, Y: ys, lengths: n}})
"""
ONE_WAY, BOTH_WAYS = "tf.nn.dynamic_rnn(cell, ", "tf.nn.bidirectional_dynamic_rnn(cell, cell, "


def cuts(text: str, **options: object) -> list[str]:
    """The calls that cut the inputs in the towers."""
    return [line.partition(" = ")[2] for line in parts(text, **options)[1] if " = shard" in line]


@pytest.mark.parametrize(("net", "outputs"), [(ONE_WAY, "outputs"), (BOTH_WAYS, "outputs[0]")])
def test_steps_in_front_of_open_examples(net: str, outputs: str) -> None:
    found = cuts(TIME_MAJOR.format(net=net, outputs=outputs, layout=", time_major=True"))
    assert found == ["shard_along([X_batch, Y_batch], [1, 1], gpu)", "shard([lengths_batch], gpu)"]
    found = cuts(TIME_MAJOR.format(net=net, outputs=outputs, layout=""))
    assert found == ["shard([X_batch, Y_batch, lengths_batch], gpu)"]


def test_an_option_goes_before_what_a_net_says_of_the_layout() -> None:
    """It says that the rows are the examples: the net makes one of the other then, and no shard can."""
    text = TIME_MAJOR.format(net=ONE_WAY, outputs="outputs", layout=", time_major=True")
    assert codes(text, batch_axes=(("X", 0), ("Y", 0))) == ["TMG218"]


SEQUENCE = """
import tensorflow as tf

batch_size = 32
X = tf.placeholder(tf.float32, [None, 4])
Y = tf.placeholder(tf.float32, [None, 4])
words = tf.placeholder(tf.int32, [None])
cell = tf.nn.rnn_cell.GRUCell(4)
zero = tf.zeros([4])
array = tf.TensorArray(tf.float32, size=0, dynamic_size=True, infer_shape=False)


def written(array, n):
    return array.write(n, tf.gather(zero, words[n])), n + 1


def read_again(array, n):
    return array.write(n, array.read(words[n])), n + 1


def below(array, n):
    return tf.less(n, tf.shape(words)[0])


{lines}
loss = tf.reduce_mean(tf.square(out - Y)) + tf.reduce_mean(tf.layers.dense(X, 1))
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    for step in range(100):
        xs, ys, n = next_batch(batch_size)
        sess.run(train_op, {{X: xs, Y: ys, words: n}})
"""


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        ("out = tf.nn.dynamic_rnn(cell, tf.expand_dims(X, 1), dtype=tf.float32, time_major=True)[0][:, 0]", "TMG218"),
        ("out = tf.nn.dynamic_rnn(cell, tf.expand_dims(X, 1), dtype=tf.float32)[0][:, 0]", ""),
        ("out = tf.stack(tf.nn.static_rnn(cell, tf.unstack(X, 8), dtype=tf.float32)[0])", "TMG218"),
        ("out = tf.scan(lambda state, row: 0.9 * state + row, X, zero)", "TMG218"),
        ("out = tf.reduce_sum(tf.scan(lambda state, row: 0.9 * state + row, X[1:], X[0]))", "TMG218"),
        ("out = tf.scan(lambda state, row: 2.0 * row, X, zero)", ""),
        ("out = tf.while_loop(below, read_again, [array, tf.constant(0)])[0].stack()", "TMG218"),
        ("out = tf.while_loop(below, written, [array, tf.constant(0)])[0].stack()", ""),
    ],
    ids=["time major", "batch major", "steps", "scan", "scan of the rest", "scan of rows", "tree", "row by row"],
)
def test_rows_that_are_steps_of_one_sequence(lines: str, found: str) -> None:
    """What is made of one row goes into the next: a shard would begin anew."""
    text = SEQUENCE.format(lines=lines).replace("{{", "{").replace("}}", "}")
    assert [code for code in codes(text) if code != "TMG302"] == [found][: len(found)]


METRIC = """
import tensorflow as tf

batch_size = 8


class Net(object):
    def __init__(self):
        self.x = tf.placeholder(tf.float32, [None, 4])
        self.y = tf.placeholder(tf.int64, [None])
        self.kinds = tf.placeholder(tf.int64, [None])
        self.loss = tf.losses.sparse_softmax_cross_entropy(self.y, self.build())

    def build(self):
        hidden = tf.layers.dense(self.x, 4)
        self.found = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(hidden, 1), self.kinds), tf.float32))
        return tf.layers.dense(hidden, 3)


net = Net()
train_op = tf.train.AdamOptimizer(0.01).minimize(net.loss)
with tf.Session() as sess:
    for step in range(10):
        xs, ys, kinds = next_batch(batch_size)
        found = sess.run([train_op, {fetched}], {{net.x: xs, net.y: ys{fed}}})[1]
        if found > 0.9:
            break
    print(sess.run(net.found, {{net.x: xs, net.kinds: kinds}}) > 0.9)
"""


def test_labels_of_a_metric_that_each_step_is_fed_are_cut_too() -> None:
    _, inside, after = parts(METRIC.format(fetched="net.found", fed=", net.kinds: kinds"))
    assert any(line.startswith("(self.x, self.y, self.kinds), rows, weight = shard(") for line in inside)
    assert "self.found = tf.add_n(tower_found)" in after


def test_labels_that_another_run_alone_is_fed_may_be_a_single_row() -> None:
    assert codes(METRIC.format(fetched="net.loss", fed="")) == ["TMG210"]


TWO_NETS = """
import tensorflow as tf

batch_size = 32
X = tf.placeholder(tf.float32, [None, None, 4])
lengths = tf.placeholder(tf.int32, [None])
Y = tf.placeholder(tf.float32, [None, 6])
fused = tf.contrib.rnn.LSTMBlockFusedCell(6)
if flag():
    {one}
else:
    {two}
loss = tf.reduce_mean(tf.square(state.h - Y))
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    for step in range(100):
        xs, ys, n = next_batch(batch_size)
        sess.run(train_op, {{X: xs, Y: ys, lengths: n}})
"""
FUSED = "_, state = fused(X, dtype=tf.float32, sequence_length=lengths)"
TURNED = "_, state = tf.nn.dynamic_rnn(tf.nn.rnn_cell.LSTMCell(6), tf.transpose(X, [1, 0, 2]), lengths, {})"
MAJOR = TURNED.format("dtype=tf.float32, time_major=True")


@pytest.mark.parametrize(
    ("one", "two", "found"),
    [
        pytest.param(FUSED, FUSED, None, id="both read steps first"),
        pytest.param(MAJOR, MAJOR, None, id="both turn the batch"),
        pytest.param(MAJOR, FUSED, "fused(X", id="one of two is given a batch that is not turned"),
    ],
)
def test_a_net_that_is_given_the_batch_wrongly_is_the_one_that_is_named(one: str, two: str, found: str | None) -> None:
    done = run(TWO_NETS.format(one=one, two=two))
    steps = [d for d in done.diagnostics if d.code == "TMG218"]
    assert bool(steps) is (found is not None)
    lines = TWO_NETS.format(one=one, two=two).splitlines()
    assert all(found is not None and found in lines[d.line - 1] for d in steps)


FED_STATE = """
import tensorflow as tf

batch_size = 32
X = tf.placeholder(tf.float32, [None, 5, 4])
Y = tf.placeholder(tf.float32, [None, 1])
S = tf.placeholder(tf.float32, [None, 4])
{parts}
state = tf.nn.rnn_cell.LSTMStateTuple(c, h)
_, last = tf.nn.dynamic_rnn(tf.nn.rnn_cell.BasicLSTMCell(4), X, initial_state=state)
loss = tf.reduce_mean(tf.square(tf.layers.dense(last.h, 1) - Y))
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    for step in range(100):
        xs, ys, s = next_batch(batch_size)
        sess.run(train_op, {X: xs, Y: ys, S: s})
"""


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        ("c, h = tf.split(S, 2, axis=0)", ["TMG215"]),
        ("c, h = tf.split(S, num_or_size_splits=2)", ["TMG215"]),
        ("c, h = tf.split(tf.concat([S, S], 0), 2)", []),
        ("c, h = tf.split(tf.layers.dense(S, 8), 2, axis=1)", []),
    ],
)
def test_pieces_of_a_batch_are_no_shards(lines: str, found: list[str]) -> None:
    assert codes(FED_STATE.replace("{parts}", lines)) == found


@pytest.mark.parametrize(
    ("shape", "lines"),
    [
        ("[batch_size * steps]", ["shard_static([X_batch], gpu)", "shard_static([Y_batch], gpu)"]),
        ("[batch_size, steps]", ["shard_static([X_batch, Y_batch], gpu)"]),
    ],
)
def test_inputs_with_other_numbers_of_rows_are_cut_apart(shape: str, lines: list[str]) -> None:
    text = HEAD + "steps = 5\nX = tf.placeholder(tf.int32, [batch_size, steps])\n"
    text += f"Y = tf.placeholder(tf.int32, {shape})\n"
    text += "rows = tf.reshape(tf.nn.embedding_lookup(tf.get_variable('table', [20, 4]), X), [-1, 4])\n"
    text += "losses = tf.nn.sparse_softmax_cross_entropy_with_logits(logits=rows, labels=tf.reshape(Y, [-1]))\n"
    assert cuts(text + "loss = tf.reduce_mean(losses)\n" + STEP + TRAINING) == lines


def test_a_setting_beside_a_batch_size_makes_rows() -> None:
    """`[batch_size * samples, None]`: the examples lie in front, not along the open dimension."""
    text = """
        import tensorflow as tf

        class Model(object):
            def __init__(self, config):
                self.batch_size = config['batch_size']
                self.samples = config['negatives'] + 1
                X = tf.placeholder(tf.float32, [self.batch_size, None])
                Z = tf.placeholder(tf.float32, [self.batch_size * self.samples, None])
                self.loss = tf.reduce_mean(tf.reduce_mean(X, 1)) + tf.reduce_mean(tf.reduce_mean(Z, 1))
                self.train_op = tf.train.AdamOptimizer(0.1).minimize(self.loss)
    """
    assert cuts(text) == ["shard_static([X_batch], gpu)", "shard_static([Z_batch], gpu)"]


DICT_OF_UNKNOWN = """
    import tensorflow as tf
    batch_size = 32
    {shapes}
    inputs = {{name: tf.placeholder(kind, shape, name=name) for name, (kind, shape) in SHAPES.items()}}
    weight = tf.placeholder_with_default(tf.ones([tf.shape(inputs['y'])[0]]), [None], name='weight')
    each = tf.square(tf.layers.dense(inputs['x'], 1) - inputs['y'])
    loss = tf.reduce_mean(each[:, 0] * weight)
    train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for step in range(100):
            xs, ys = next_batch(batch_size)
            sess.run(train_op, {{inputs['x']: xs, inputs['y']: ys}})
"""


def test_inputs_of_which_no_tower_can_be_given_its_part_are_refused() -> None:
    known = "SHAPES = {'x': (tf.float32, [None, 4]), 'y': (tf.float32, [None, 1])}"
    assert codes(DICT_OF_UNKNOWN.format(shapes="from shapes import SHAPES")) == ["TMG205"]
    assert "(inputs['x'], inputs['y'], weight), rows, tower" in cut(DICT_OF_UNKNOWN.format(shapes=known))


UNLESS_FED = """
import numpy as np
import tensorflow as tf

batch_size = 8
drawn = np.random.RandomState(1)
X = tf.placeholder(tf.float32, [None, 4])
Y = tf.placeholder(tf.float32, [None, 1])
other = tf.placeholder_with_default({default}, [None, 4])
out = tf.layers.dense({read}, 1)
loss = tf.reduce_mean(tf.square(out - Y)) + tf.reduce_mean(tf.square(other))
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(6):
        rows = drawn.rand(batch_size, 4)
        print(sess.run([train_op, loss], {{X: rows, Y: rows[:, :1]}}))
"""


@pytest.mark.parametrize("default", ["X", "tf.reverse(X, [1]) * 2.0", "tf.ones(tf.shape(X))"])
def test_an_input_that_is_a_batch_unless_it_is_fed_has_the_rows_of_a_tower(default: str) -> None:
    assert "other" in cut(UNLESS_FED.format(default=default, read="X + other"))


@pytest.mark.parametrize(("default", "found"), [("tf.ones([3, 4])", []), ("X - tf.reduce_mean(X, 0)", ["TMG204"])])
def test_a_default_of_its_own_size_is_whole_and_one_of_several_examples_is_refused(
    default: str, found: list[str]
) -> None:
    script = UNLESS_FED.format(default=default, read="X")
    assert [code for code in codes(script) if code < "TMG3"] == found
    assert found or "other" not in cut(script)


@pytest.mark.tf1
@pytest.mark.parametrize(("default", "gpus"), [("X", 2), ("tf.reverse(X, [1]) * 2.0", 3)])
def test_an_input_that_is_a_batch_unless_it_is_fed_is_proven(
    default: str, gpus: int, tmp_path: Path, tensorflow_python: str
) -> None:
    script = UNLESS_FED.format(default=default, read="X + other")
    (tmp_path / "single.py").write_text(script)
    (tmp_path / "multi.py").write_text(converted(script))
    settings = VerifySettings(gpus=gpus, python=tensorflow_python)
    assert verify(tmp_path / "single.py", tmp_path / "multi.py", settings).verdict == "passed"


HALVES = """\
import tensorflow as tf

batch_size = 8
half = batch_size // 2
X = tf.placeholder(tf.float32, [None, 4])
h = tf.layers.dense(X, 6)
loss = tf.reduce_mean(tf.square(tf.layers.dense({}, 1)))
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    for step in range(9):
        sess.run(train_op, {{X: next_batch(batch_size)}})
"""


@pytest.mark.parametrize(
    "part",
    [
        "tf.slice(h, [0, 0], [batch_size // 2, -1])",
        "tf.slice(h, [half, 0], [half, -1])",
        "tf.slice(h, [0, 0], [tf.shape(h)[0] // 2, -1])",
        "tf.strided_slice(h, [0, 0], [int(batch_size / 2), 6])",
        "h[:half]",
        "h[batch_size // 2:]",
        "h[:tf.shape(h)[0] // 2]",
    ],
)
def test_halves_of_a_batch(part: str) -> None:
    assert codes(HALVES.format(part)) == ["TMG215"]


@pytest.mark.parametrize(
    "part",
    [
        "tf.slice(h, [0, 0], [batch_size, -1])",
        "tf.slice(h, [0, 0], [half * 2, -1])",
        "tf.slice(h, [0, 0], [-1, half])",
        "tf.slice(h, [0, 0], [tf.shape(h)[0], 3])",
        "h[:, :half]",
    ],
)
def test_all_rows_of_a_batch(part: str) -> None:
    assert codes(HALVES.format(part)) == []


def test_a_batch_size_that_is_a_fraction_itself() -> None:
    script = HALVES.format("tf.slice(h, [0, 0], [batch_size, -1])")
    assert "TMG215" not in codes(script.replace("batch_size = 8", "total = 16\nbatch_size = total // 2"))


IN_FUNCTION = """\
def net(x):
    rate = {default}
    return tf.layers.dense(x * rate, 1){returned}


h{taken} = net(X)
loss = tf.reduce_mean(tf.square(h - Y))
"""


@pytest.mark.parametrize(
    ("default", "returned", "fed", "handed"),
    [
        ("tf.placeholder_with_default(1.0, [])", False, "", False),
        ("tf.placeholder_with_default(1.0, shape=[])", False, "", False),
        ("tf.placeholder_with_default(1.0, [])", True, "rate: 2.0", True),
        ("tf.placeholder_with_default(1.0, [], 'rate')", False, "", True),
        ("tf.placeholder_with_default(1.0, [], name='rate')", False, "", True),
        ("tf.placeholder(tf.float32, [])", True, "rate: 2.0", True),
    ],
)
def test_a_default_that_nothing_can_feed_may_be_made_by_each_tower(
    default: str, returned: bool, fed: str, handed: bool
) -> None:
    model = IN_FUNCTION.format(default=default, returned=", rate" * returned, taken=", rate" * returned)
    training = TRAINING.replace("Y: ys", f"Y: ys, {fed}" if fed else "Y: ys")
    text = converted(INPUTS + model + STEP + training)
    assert ("tower_inputs.tower(gpu)" in text) is handed


OTHER_NAME = """\
import sys
import tensorflow as tf

batch_size = 32
X = tf.placeholder(tf.float32, [None, 4])
M = tf.placeholder(tf.float32, [None, 1])
error = tf.square(tf.layers.dense(X, 1))
{}
{}
loss = tf.reduce_mean(error)
train_op = tf.train.AdamOptimizer().minimize(loss)
total = tf.constant(0.0)
if {}:
    total = tf.reduce_sum(w)
with tf.Session() as sess:
    for step in range(100):
        sess.run([train_op, total], {{X: next_batch(batch_size), M: next_mask(batch_size)}})
"""


@pytest.mark.parametrize(
    ("chosen", "applied", "read", "after"),
    [
        (
            "w = None\nif '--mask' in sys.argv:\n    w = M",
            "if w is not None:\n    error = error * w",
            "w is not None",
            "X, M, w = X_batch, M_batch, w if w is None else M_batch",
        ),
        ("w = M", "error = error * w", "True", "X, M, w = X_batch, M_batch, M_batch"),
        (
            "if '--mask' in sys.argv:\n    w = M\nelse:\n    w = 1.0",
            "error = error * w",
            "True",
            "X, M = X_batch, M_batch",
        ),
    ],
)
def test_another_name_of_an_input_means_after_the_loop_what_its_branch_left(
    chosen: str, applied: str, read: str, after: str
) -> None:
    lines = body(OTHER_NAME.format(chosen, applied, read))
    assert after in lines
    merges = [line.strip() for line in lines if "tower_w.append" in line]
    assert merges == (["tower_w.append(w[:rows])"] if "1.0" in chosen else [])


@pytest.mark.parametrize(
    "made",
    [
        "x = tf.placeholder(tf.float32, [None, 4])",
        "x = tf.data.Dataset.from_tensor_slices(inputs).batch(batch_size).make_one_shot_iterator().get_next()",
    ],
)
def test_a_helper_that_takes_a_tensor_or_a_list_is_given_an_input(made: str) -> None:
    """The second reading must decide of a tower's part of an input what was decided of the input."""
    script = f"""\
import tensorflow as tf

batch_size = 32


def linear(args, size):
    if isinstance(args, (list, tuple)):
        whole = tf.concat(args, 1)
    else:
        whole = args
    return tf.layers.dense(whole, size)


{made}
y = tf.placeholder(tf.float32, [None, 1])
first = linear(x, 3)
loss = tf.reduce_mean(tf.square(linear([first, x], 1) - y))
train_op = tf.train.AdamOptimizer(0.01).minimize(loss)
with tf.Session() as sess:
    for step in range(100):
        sess.run(train_op, {{y: next_batch(batch_size)}})
"""
    _, inside, _ = parts(script)
    assert "first = linear(x, 3)" in inside


LISTS = """\
rows, targets = [], []
for i in range(640):
    row = []
    for j in range(4):
        row.append(float(i % (j + 2)))
    rows.append(row)
    targets.append([0.5 * i])
data = tf.data.Dataset.from_tensor_slices({})
{}X, T = data.repeat().batch(batch_size).make_one_shot_iterator().get_next()
loss = tf.reduce_mean(tf.square(tf.layers.dense(X, 1) - T))
"""


@pytest.mark.parametrize(
    ("source", "mapped"),
    [
        ("(rows, targets)", ""),
        ("(rows, targets)", "data = data.map(lambda x, t: (2. * x, t))\n"),
        ("(rows, targets)", "data = data.map(lambda x, t: [2. * x, t])\n"),
        ("(np.array(rows), [[float(i)] for i in range(640)])", ""),
    ],
    ids=["as they are", "beside what a function changes", "in a list", "of a comprehension"],
)
def test_a_list_in_a_pipeline_is_one_tensor(source: str, mapped: str) -> None:
    training = TRAINING.replace(", {X: xs, Y: ys}", "").replace("        xs, ys = next_batch(batch_size)\n", "")
    script = "import numpy as np\n" + HEAD + LISTS.format(source, mapped) + STEP + training
    assert cut(script).startswith("(X, T), ") and "[X_batch, T_batch]" in cut(script)
