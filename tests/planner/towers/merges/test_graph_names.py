"""Tensors that are fetched and fed by their names in the graph."""

from __future__ import annotations

import pytest

from tests.scripts import INPUTS, STEP, TRAINING, body, codes, converted, parts

MODEL = """\
prediction = tf.layers.dense(X, 1)
scores = tf.sigmoid(prediction, name='scores')
loss = tf.reduce_mean(tf.square(scores - Y), name='loss')
"""
NAMED = STEP.replace("minimize(loss)", "minimize(loss, name='train')")
TRAINED = "train_op = optimizer.apply_gradients(sum_gradients(tower_grads))"
MERGED = "scores = tf.identity(tf.concat(tower_scores, 0), name='scores')"


def fetching(what: str) -> str:
    return TRAINING.replace("train_op,", f"[train_op, {what}],")


@pytest.mark.parametrize(
    "read",
    [
        fetching("'scores:0'"),
        fetching("['loss:0', {'s': 'scores:0'}]"),
        "t = tf.get_default_graph().get_tensor_by_name('scores:0')\n" + fetching("t"),
    ],
    ids=["fetch", "nested", "looked up"],
)
def test_what_is_asked_for_by_name_is_merged_under_it(read: str) -> None:
    assert MERGED in body(INPUTS + MODEL + STEP + read)


def test_other_names_merge_nothing() -> None:
    lines = body(INPUTS + MODEL + STEP + fetching("'loss:0'"))
    merged = [line for line in lines if " = tf.concat(" in line or " = tf.add_n(" in line]
    assert merged == ["loss = tf.add_n(tower_loss, name='loss')"]


def test_scopes_belong_to_the_name() -> None:
    model = MODEL.replace("scores = ", "with tf.name_scope('out'):\n    scores = ")
    assert MERGED.replace("'scores'", "'out/scores'") in body(INPUTS + model + STEP + fetching("'out/scores:0'"))
    _, _, after = parts(INPUTS + model + STEP + fetching("'scores:0'"))  # of nothing in the graph
    assert after[1:3] == ["loss = tf.add_n(tower_loss, name='loss')", TRAINED]


def test_a_train_op_and_inputs_by_name_tell_the_batch_size() -> None:
    inputs = INPUTS.replace("[None, 4])", "[None, 4], 'X')").replace("[None, 1])", "[None, 1], name='Y')")
    script = inputs + MODEL + NAMED + TRAINING.replace("train_op, {X: xs, Y: ys}", "'train', {'X:0': xs, 'Y:0': ys}")
    before, _, _ = parts(script)
    assert "batch_size = 32 * num_gpus" in before and codes(script) == []


def test_a_name_without_a_place_in_the_script_is_refused() -> None:
    model = "def net(x):\n    return tf.square(tf.sigmoid(x, name='inner'))\n\n\n"
    script = INPUTS + model + "loss = tf.reduce_mean(net(X) - Y)\n" + STEP + fetching("'inner:0'")
    assert codes(script) == ["TMG209"]


@pytest.mark.parametrize(
    ("step", "fetch", "known"),
    [
        (STEP, "'GradientDescent'", True),
        (STEP, "'Adam'", False),
        (STEP, "load_name()", False),
        (STEP.replace("train_op = tf", "with tf.name_scope('train'):\n    tf"), "'train/GradientDescent'", True),
        (STEP.replace("train_op = tf", "with tf.name_scope('train'):\n    tf"), "'GradientDescent'", False),
        (STEP.replace("(0.1)", "(0.1, name='descent')"), "'descent'", True),
        (STEP.replace("(0.1)", "(0.1, name=name())"), "'GradientDescent'", False),
        (NAMED, "'train'", True),
        (NAMED, "'GradientDescent'", False),
        (STEP + STEP.replace("train_op", "other"), "'GradientDescent'", False),
    ],
)
def test_a_train_op_without_a_name_has_its_optimizers(step: str, fetch: str, known: bool) -> None:
    found = codes(INPUTS + MODEL + step + TRAINING.replace("sess.run(train_op", f"sess.run({fetch}"))
    assert found == ([] if known else ["TMG303"])


SUMMARISED = "def net(x):\n    h = tf.layers.dense(x, 1)\n    tf.summary.histogram('h', h)\n    return h\n\n\n"


@pytest.mark.parametrize(
    ("model", "fetch", "found"),
    [
        (SUMMARISED + "scores = net(X)\n", "'h:0'", ["TMG209"]),
        (SUMMARISED + "scores = net(X)\n", "'other:0'", ["TMG315"]),
        ("scores = tf.layers.dense(X, 1)\ntf.summary.histogram('h', scores)\n", "'h:0'", []),  # made after the loop
    ],
)
def test_summaries_that_the_towers_make_have_other_names(model: str, fetch: str, found: list[str]) -> None:
    loss = "loss = tf.reduce_mean(tf.square(scores - Y))\n"
    assert codes(INPUTS + model + loss + STEP + fetching(fetch)) == found


BLOCK = """\
with tf.name_scope('{0}'):
    X = tf.placeholder(tf.float32, [None, 4])
    parts = []
    for i in range(2):
        parts.append(tf.layers.dense(X, 3, name='{0}%d' % i))
        parts.append(tf.square(parts[-1], name='part'))
    loss = tf.reduce_mean(tf.concat(parts, 1))
    train_op = tf.train.AdamOptimizer().minimize(loss)
"""


def test_a_name_that_two_models_fill_with_lists_of_named_tensors() -> None:
    training = TRAINING.replace(", Y: ys", "")
    lines = body(INPUTS + BLOCK.format("one") + training + BLOCK.format("two") + training)
    assert lines.count("    for gpu in range(num_gpus):") == 2
    assert [line.strip() for line in lines if " = tf.concat(" in line or " = tf.add_n(" in line] == [
        "loss = tf.add_n(tower_loss)",
        "loss = tf.add_n(towers_loss)",
    ]


KEPT = """\
import tensorflow as tf

batch_size = 8


class Net(object):
    def __init__(self):
        self.x = tf.placeholder(tf.float32, {shape}name='x')
        {before}
        self.out = self.build()
        self.loss = tf.reduce_mean(tf.square(self.out))
        {behind}
        self.step = tf.train.GradientDescentOptimizer(0.1).minimize(self.loss)

    def build(self):
        hidden = tf.layers.dense(tf.reshape(self.x, [-1, 4]), 3)
        {inside}
        return hidden


net = Net()
with tf.Session() as sess:
    for i in range(100):
        feed = {{}}
        feed[{key}] = next_batch(batch_size)
        sess.run([net.step, {fetch}], feed)
"""


def kept(key: str = "net.x.name", fetch: str = "net.loss", shape: str = "[None, 4], ", **places: str) -> str:
    filled = {"before": "pass", "behind": "pass", "inside": "pass", **places}
    return KEPT.format(key=key, fetch=fetch, shape=shape, **filled)


@pytest.mark.parametrize(
    "script",
    [
        kept(),
        kept(shape=""),
        kept(fetch="net.loss.name"),
        kept("net.named", before="self.named = self.x.name"),
        kept("net.named", behind="self.named = self.x.name"),
    ],
    ids=["an attribute", "no shape", "fetched", "kept before", "kept behind"],
)
def test_a_feed_by_the_name_of_an_input_is_one_of_the_input(script: str) -> None:
    assert codes(script) == []
    assert "batch_size = 8 * num_gpus" in converted(script)


def test_the_name_of_a_towers_rows_is_not_kept() -> None:
    assert codes(kept("net.named", inside="self.named = self.x.name")) == ["TMG208"]
    assert codes(kept(inside="self.named = self.x.name")) == []  # nothing reads it


TWO = """\
flag = unknown()
scores = prediction = tf.layers.dense(X, 1)
if flag:
    scores = tf.sigmoid(prediction, name='scores')
else:
    {}
loss = tf.reduce_mean(tf.square(scores - Y))
"""


@pytest.mark.parametrize(
    ("other", "found"),
    [
        ("scores = tf.tanh(prediction, name='scores')", []),
        ("scores = tf.tanh(tf.concat([X, prediction], 1), name='scores')", []),
        ("scores = tf.reduce_mean(prediction, name='scores')", ["TMG209"]),  # no row for each example
        ("other = tf.tanh(prediction, name='scores')", ["TMG209"]),  # no one place where the tensor is kept
        ("scores = tf.tanh(prediction, name='scores')\nagain = tf.exp(prediction, name='scores')", ["TMG209"]),
    ],
)
def test_a_name_that_either_branch_gives_is_kept(other: str, found: list[str]) -> None:
    script = INPUTS + TWO.format(other) + STEP + fetching("'scores:0'")
    assert codes(script) == found
    if not found:
        assert MERGED in body(script)
