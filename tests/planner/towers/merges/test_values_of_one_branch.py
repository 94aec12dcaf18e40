"""Values and inputs that only one branch of an unknown condition makes."""

from __future__ import annotations

import pytest

from tests.scripts import INPUTS, STEP, TRAINING, codes, converted, guarded

FLAGS = "import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('--wide', type=int, default=0)\n"
FLAGS += "args = parser.parse_args()\n"
LOSS = "loss = tf.reduce_mean(tf.square(out - Y))\n"
BRANCHES = """\
if args.wide:
    wide = tf.layers.dense(X, 8)
    out = tf.layers.dense(wide, 1)
else:
    out = tf.layers.dense(X, 1)
"""
READ = "if args.wide:\n    top = tf.reduce_max(wide, 1)\n"
CLASS = """
class Net(object):
    def __init__(self, wide{default}):
        self.X = tf.placeholder(tf.float32, [None, 4])
        self.Y = tf.placeholder(tf.float32, [None, 1])
        {before}
        if wide:
            self.more = {made}
        out = tf.layers.dense(self.X, 1)
        {use}
        self.loss = tf.reduce_mean(tf.square(out - self.Y))
        {term}
        self.train_op = tf.train.GradientDescentOptimizer(0.1).minimize(self.loss)
"""


def net(made: str, before: str = "pass", use: str = "pass", default: str = "", term: str = "pass") -> str:
    own = CLASS.format(made=made, before=before, use=use, default=default, term=term)
    return INPUTS.partition("X = ")[0].replace("batch_size = 32", "") + own


def test_a_name_that_one_branch_binds_begins_as_none_in_each_tower() -> None:
    text = converted(FLAGS + INPUTS + BRANCHES + LOSS + STEP + READ + TRAINING)
    assert "        wide = None\n" in text
    assert "        if wide is not None:\n            tower_wide.append(wide[:rows])\n" in text
    assert "\nif tower_wide:\n    wide = tf.concat(tower_wide, 0)\n" in text


def test_a_name_that_the_other_branch_leaves_at_none() -> None:
    branches = BRANCHES.replace("else:\n", "else:\n    wide = None\n")
    text = converted(FLAGS + INPUTS + branches + LOSS + STEP + READ + TRAINING)
    assert [line for line in text.splitlines() if "wide" in line and "arg" not in line] == [
        "tower_loss, tower_wide, tower_grads = [], [], []",
        "            wide = tf.layers.dense(X, 8)",
        "            out = tf.layers.dense(wide, 1)",
        "            wide = None",
        "        if wide is not None:",
        "            tower_wide.append(wide[:rows])",
        "if tower_wide:",
        "    wide = tf.concat(tower_wide, 0)",
        "    top = tf.reduce_max(wide, 1)",
    ]


@pytest.mark.parametrize("made", ["{} if args.wide else None", "None if args.wide else {}"])
def test_an_expression_that_may_give_none(made: str) -> None:
    read = "if wide is not None:\n    top = tf.reduce_max(wide, 1)\n"

    def script(made: str) -> str:
        model = f"wide = {made.format('tf.layers.dense(X, 8)')}\nout = tf.layers.dense(X, 1)\n"
        used = "if wide is not None:\n    loss += tf.reduce_mean(wide)\n"
        return FLAGS + INPUTS + model + LOSS + used + STEP + read + TRAINING

    assert guarded(script(made)) == {"wide": "wide is not None"}
    assert guarded(script(made.replace("None", "tf.nn.relu(tf.layers.dense(X, 8))"))) == {}


def test_what_both_branches_make_is_merged_as_ever() -> None:
    branches = BRANCHES.replace("else:\n", "else:\n    wide = tf.layers.dense(X, 8)\n")
    script = FLAGS + INPUTS + branches + LOSS + STEP + "top = tf.reduce_max(wide, 1)\n" + TRAINING
    assert "\nwide = tf.concat(tower_wide, 0)\n" in converted(script) and guarded(script) == {}


def test_a_condition_around_the_whole_model_needs_no_look() -> None:
    model = "".join(f"    {line}\n" for line in ("out = tf.layers.dense(X, 1)\n" + LOSS + STEP).splitlines())
    script = FLAGS + INPUTS + "if args.wide:\n" + model + "    top = tf.reduce_max(out)\n" + TRAINING
    assert "    out = tf.concat(tower_out, 0)\n" in converted(script) and guarded(script) == {}


def test_an_attribute_that_one_branch_sets() -> None:
    made, use = "tf.layers.dense(self.X, 3)", "if wide:\n            out += tf.layers.dense(self.more, 1)"
    text = converted(net(made, use=use))
    assert "if hasattr(self, 'more'):\n                    tower_more.append(self.more[:rows])\n" in text
    text = converted(net(made, "self.more = None", use))
    assert "if self.more is not None:\n                    tower_more.append(self.more[:rows])\n" in text


@pytest.mark.parametrize(
    ("before", "given"), [("pass", "getattr(self, 'more', None)"), ("self.more = None", "self.more")]
)
def test_an_input_that_one_branch_makes_is_cut_where_it_is_there(before: str, given: str) -> None:
    use = "if wide:\n            out += tf.layers.dense(self.more, 1)"
    text = converted(net("tf.placeholder(tf.float32, [None, 2])", before, use))
    assert f"= self.X, self.Y, {given}\n" in text
    assert "if more_batch is not None:\n                    self.more = shard([more_batch], gpu)[0][0]\n" in text


def test_an_input_of_one_branch_that_has_no_place_otherwise() -> None:
    script = FLAGS + INPUTS + "if args.wide:\n    Z = tf.placeholder(tf.float32, [None, 2])\n"
    script += "out = tf.layers.dense(X, 1)\nif args.wide:\n    out += tf.layers.dense(Z, 1)\n" + LOSS + STEP
    assert codes(script + TRAINING) == ["TMG205"]
    assert codes(script.replace("if args", "Z = None\nif args", 1) + TRAINING) == []


@pytest.mark.parametrize(
    ("default", "test"), [("=0.0", "wide > 0"), ("=False", "wide"), ("=None", "wide is not None"), ("=None", "wide")]
)
def test_a_default_is_not_what_callers_elsewhere_must_give(default: str, test: str) -> None:
    """A term that the default turns off goes into the gradients all the same."""
    term = f"if {test}:\n            self.loss += wide * tf.nn.l2_loss(tf.trainable_variables()[0])"
    text = converted(net("None", default=default, term=term))
    loop, _, behind = text.partition("tower_grads.append(")
    assert f"                if {test}:\n                    self.loss += wide" in loop and "l2_loss" not in behind


def test_what_the_towers_or_another_branch_make_is_merged() -> None:
    model = "".join(f"    {line}\n" for line in ("out = tf.layers.dense(X, 1)\n" + LOSS + STEP).splitlines())
    other = "else:\n    out = tf.layers.dense(X, 1)\n"
    text = converted(FLAGS + INPUTS + "if args.wide:\n" + model + other + "top = tf.reduce_max(out)\n" + TRAINING)
    assert "            tower_out.append(out[:rows])\n" in text and "    out = tf.concat(tower_out, 0)\n" in text


def test_what_another_branch_makes_of_unknown_code_is_refused() -> None:
    model = "".join(f"    {line}\n" for line in ("out = tf.layers.dense(act(X), 1)\n" + LOSS + STEP).splitlines())
    other = "else:\n    out = tf.layers.dense(act(X), 1)\n"
    script = FLAGS + INPUTS + "if args.wide:\n" + model + other + "top = tf.reduce_max(out)\n" + TRAINING
    assert set(codes(script)) <= {"TMG210", "TMG241"} and codes(script)


def test_no_gradient_is_taken_in_the_loop_where_the_function_may_return_before_it_is() -> None:
    own = net("tf.layers.dense(self.X, 1)", term="if not wide:\n            return")
    loop, _, behind = converted(own).partition("        self.loss = tf.add_n(tower_loss")
    assert "compute_gradients(" not in loop.partition("end of helpers")[2] and "return" in behind
    assert "tower_gradients(" in behind.partition("return")[2]


def test_a_method_that_takes_its_own_place_is_there_again_for_each_tower() -> None:
    text = converted(
        INPUTS.partition("X = ")[0]
        + """
class Net(object):
    def build(self):
        self.X = tf.placeholder(tf.float32, [None, 4])
        self.Y = tf.placeholder(tf.float32, [None, 1])
        self.out = tf.layers.dense(self.X, 1)
        self.loss()
        self.step = tf.train.GradientDescentOptimizer(0.1).minimize(self.loss)

    def loss(self):
        self.loss = tf.reduce_mean(tf.square(self.out - self.Y))


net = Net()
net.build()
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        xs, ys = next_batch(batch_size)
        sess.run(net.step, {net.X: xs, net.Y: ys})
"""
    )
    assert "                self.__dict__.pop('loss', None)  # each tower makes its own\n" in text


def test_a_method_that_is_handed_on_needs_nothing_that_is_set_later() -> None:
    text = converted(
        INPUTS.partition("X = ")[0]
        + """
class Net(object):
    def __init__(self):
        self.X = tf.placeholder(tf.float32, [None, 5, 4])
        self.Y = tf.placeholder(tf.float32, [None, 1])
        cell = tf.nn.rnn_cell.GRUCell(8, activation=self.bend)
        outputs, _ = tf.nn.dynamic_rnn(cell, self.X, dtype=tf.float32)
        self.loss = tf.reduce_mean(tf.square(tf.layers.dense(outputs[:, -1], 1) - self.Y))
        optimizer = tf.train.GradientDescentOptimizer(0.1)
        pairs = [(tf.clip_by_norm(g, 1.0), v) for g, v in optimizer.compute_gradients(self.loss)]
        self.step = optimizer.apply_gradients(pairs)

    def bend(self, x):
        return tf.nn.tanh(x)


net = Net()
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        xs, ys = next_batch(batch_size)
        sess.run(net.step, {net.X: xs, net.Y: ys})
"""
    )
    loop, _, behind = text.partition("        self.loss = tf.add_n(tower_loss)\n")
    assert "tower_gradients(" in behind and "apply_gradients(" not in loop.partition("end of helpers")[2]


TRAINED = """\
net = Net(args.wide)
sess = tf.Session()
for step in range(len(data) // batch_size):
    rows = slice(step * batch_size, (step + 1) * batch_size)
    sess.run(net.train_op, {net.X: data[rows], net.Y: labels[rows]})
"""


@pytest.mark.parametrize(
    ("last", "merged"),
    [
        ("self.more = tf.layers.dense(self.X, 1)", "self.more = tf.concat(tower_more, 0)"),
        ("self.more *= 2", "self.more = tf.add_n(tower_more)"),
        ("self.more /= tf.reduce_sum(self.Y)", ""),
    ],
)
def test_an_attribute_that_is_set_twice_is_what_the_last_statement_leaves(last: str, merged: str) -> None:
    made = f"tf.reduce_sum(tf.abs(self.X))\n            {last}"
    model = net(made, term="if wide:\n            self.loss += tf.reduce_mean(self.more)")
    text = converted(FLAGS + "batch_size = 32\n" + model + TRAINED)
    assert ("if hasattr(self, 'more'):" in text) is ("tower_more" in text) is bool(merged)
    assert merged in text


HELD = """\
class Part(object):
    def __init__(self, h):
        self.scores = tf.nn.softmax(tf.layers.dense(h, 4))


{before}
h = tf.layers.dense(X, 4)
if args.wide:
    part = {made}
    h = {scores} * h
{other}
out = tf.layers.dense(h, 1)
"""
MADE = {"Part(h)": "part.scores", "{'scores': tf.nn.softmax(tf.layers.dense(h, 4))}": "part['scores']"}


@pytest.mark.parametrize(("made", "scores"), MADE.items())
@pytest.mark.parametrize(
    ("before", "other", "bound"), [("", "", False), ("part = None", "", True), ("", "else:\n    part = None", True)]
)
def test_an_object_that_only_one_branch_binds(made: str, scores: str, before: str, other: str, bound: bool) -> None:
    model = HELD.format(before=before, made=made, scores=scores, other=other)
    read = f"if args.wide:\n    top = tf.reduce_max({scores}, 1)\n"
    (guard,) = guarded(FLAGS + INPUTS + model + LOSS + STEP + read + TRAINING).values()
    assert guard.startswith("'part' in locals()") is not bound


CALLED_TWICE = """\
import tensorflow as tf

batch_size = 8


class Net(object):
    def __init__(self, train):
        self.x = tf.placeholder(tf.float32, [None, 4])
        self.y = tf.placeholder(tf.float32, [None, 1])
        self.build(train)

    def build(self, train):
        hidden = tf.layers.dense(self.x, 4)
        if train:
            {made} = tf.square(hidden)
            hidden = {made} + hidden
        self.loss = tf.reduce_mean(tf.square(tf.layers.dense(hidden, 1) - self.y))
        {last}


with tf.variable_scope('net'):
    net = Net(True)
with tf.variable_scope('net', reuse=True):
    {again}
train_op = tf.train.AdamOptimizer(0.01).minimize(net.loss)
with tf.Session() as sess:
    for step in range(10):
        xs, ys = next_batch(batch_size)
        print(sess.run([train_op, {read}], {{net.x: xs, net.y: ys}}))
"""


def test_an_attribute_that_another_object_never_has() -> None:
    """The towers of a model that is built for tests leave out what that model does not make."""
    text = converted(CALLED_TWICE.format(made="self.both", last="pass", again="other = Net(False)", read="net.both"))
    assert (
        "                if hasattr(self, 'both'):\n                    tower_both.append(self.both[:rows])\n" in text
    )
    assert "        if tower_both:\n            self.both = tf.concat(tower_both, 0)\n" in text


@pytest.mark.parametrize(
    ("made", "last", "again", "read", "found"),
    [
        pytest.param("self.both", "pass", "net.build(False)", "net.both", "TMG290", id="the same object"),
        pytest.param("both", "print(sess.run(both))", "other = Net(False)", "net.loss", "TMG210", id="a name"),
    ],
)
def test_what_another_call_leaves_out_otherwise(made: str, last: str, again: str, read: str, found: str) -> None:
    assert codes(CALLED_TWICE.format(made=made, last=last, again=again, read=read)) == [found]
