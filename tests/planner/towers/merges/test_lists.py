"""Lists and dicts that a loop or a branch fills: a flag may give their length, and they are merged as what they are."""

from __future__ import annotations

import ast

import pytest

from tests.scripts import INPUTS, STEP, TRAINING, codes, converted, loops, merged, parts

COUNT = "count = int(open('layers.txt').read())\n"
LOSS = "prediction = tf.layers.dense(h, 1)\nloss = tf.reduce_mean(tf.square(prediction - Y))\n"
LAYERS = """\
outs = []
h = X
for i in range(count):
    h = tf.layers.dense(h, 3)
    outs.append(h)
"""
CONCAT = "[tf.concat(parts, 0) for parts in zip(*tower_outs)]"
TREE = "map_structure(lambda *parts: tf.concat(parts, 0), *tower_outs)"
BEFORE, INSIDE, AFTER = 0, 1, 2


def script(model: str, read: str, more: str = "") -> str:
    training = TRAINING.replace("run(train_op,", f"run([train_op, {read}],")
    return INPUTS + COUNT + model + LOSS + STEP + more + training


@pytest.mark.parametrize(
    ("model", "read", "kept", "merged"),
    [
        (LAYERS, "outs", "[part[:rows] for part in outs]", f"outs[:] = {CONCAT}"),
        (LAYERS, "outs[-1]", "[part[:rows] for part in outs]", f"outs[:] = {CONCAT}"),
        (LAYERS, "outs[1:]", "[part[:rows] for part in outs]", f"outs[:] = {CONCAT}"),
        (
            LAYERS.replace("outs.append(h)", "outs += [h]"),
            "outs",
            "[part[:rows] for part in outs]",
            f"outs[:] = {CONCAT}",
        ),
        (
            LAYERS.replace("outs.append(h)", "outs = outs + [h]"),
            "outs",
            "[part[:rows] for part in outs]",
            f"outs = {CONCAT}",
        ),
        (
            LAYERS.replace("outs = []\nh = X", "h = X * 2\nouts = [h]"),
            "outs",
            "[part[:rows] for part in outs]",
            f"outs = {CONCAT}",
        ),
        (
            "outs = [X * i for i in range(count)]\nh = outs[0]\n",
            "outs",
            "[part[:rows] for part in outs]",
            f"outs = {CONCAT}",
        ),
        (
            LAYERS.replace("(h)", "(tf.reduce_mean(h))"),
            "outs",
            "[part * weight for part in outs]",
            "outs[:] = [tf.add_n(parts) for parts in zip(*tower_outs)]",
        ),
        (LAYERS.replace("(h)", "((h, h + 1))"), "outs", "map_structure(lambda t: t[:rows], outs)", f"outs[:] = {TREE}"),
        (
            LAYERS.replace("= []", "= {}").replace(".append(h)", "['l%d' % i] = h"),
            "outs",
            "map_structure(lambda t: t[:rows], outs)",
            f"outs.update({TREE})",
        ),
        (
            "h = tf.layers.dense(X, 3)\nouts = [h]\nif count > 2:\n    h = tf.layers.dense(h, 3)\n    outs.append(h)\n",
            "outs",
            "[part[:rows] for part in outs]",
            f"outs = {CONCAT}",
        ),
        (
            LAYERS.replace("tf.layers.dense(h, 3)", "tf.tanh(h, name='act')"),
            "outs",
            "[part[:rows] for part in outs]",
            "outs[:] = [tf.identity(tf.concat(parts, 0), name=plain_name(part))"
            " for part, parts in zip(outs, zip(*tower_outs))]",
        ),
        (LAYERS.replace("range(count)", "range(3)"), "outs", "[part[:rows] for part in outs]", f"outs[:] = {CONCAT}"),
        ("outs = [X * 2, X + 1]\nh = sum(outs)\n", "outs", "[part[:rows] for part in outs]", f"outs = {CONCAT}"),
        (
            "outs = {'all': [X * 2, X + 1], 'mean': tf.reduce_mean(X)}\nh = sum(outs['all'])\n",
            "outs",
            "[part[:rows] for part in outs['all']]",
            "outs['all'] = [tf.concat(parts, 0) for parts in zip(*tower_all)]",
        ),
    ],
    ids=[
        "append",
        "last",
        "slice",
        "augmented",
        "bound anew",
        "begun in the towers",
        "comprehension",
        "means",
        "pairs",
        "dict",
        "branch",
        "names",
        "known length",
        "written out",
        "in a dict",
    ],
)
def test_lists_are_merged_as_lists(model: str, read: str, kept: str, merged: str) -> None:
    text = script(model, read)
    found = parts(text, line_length=120)
    assert any(line.endswith(f".append({kept})") for line in found[INSIDE])
    assert merged in found[AFTER]
    ast.parse(converted(text))


def test_a_list_that_was_there_before_begins_anew_in_each_tower() -> None:
    before, inside, after = parts(script(LAYERS, "outs"))
    assert any("first_outs = " in line for line in before) and "outs[:] = first_outs" in inside
    assert f"outs[:] = {CONCAT}" in after


@pytest.mark.parametrize(
    ("model", "read", "more"),
    [
        (LAYERS, "loss", ""),
        (LAYERS, "loss", "print(len(outs))\n"),
        (LAYERS.replace("(h)", "(tf.get_variable('w%d' % i, [3]))"), "outs", ""),
    ],
    ids=["not read", "only its length", "variables"],
)
def test_lists_that_need_no_merge(model: str, read: str, more: str) -> None:
    assert merged(script(model, read, more)) == ["loss"]


SCOPED = """\
with tf.name_scope('net'):
    X = tf.placeholder(tf.float32, [None, 4])
    Y = tf.placeholder(tf.float32, [None, 1])
    outs = []
    for i in range(2):
        outs.append(tf.square(tf.layers.dense(X, 3), name='square'))
    loss = tf.reduce_mean(tf.square(tf.layers.dense(tf.concat(outs, 1), 1) - Y))
    train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
"""


def test_the_list_of_another_model_of_the_file_is_not_merged() -> None:
    one = SCOPED + TRAINING
    text = "import tensorflow as tf\nbatch_size = 32\n" + one + "tf.reset_default_graph()\n" + one
    assert [[merge.place for merge in loop.border.merges] for loop in loops(text)] == [["loss"], ["loss"]]


def test_one_tensor_of_a_known_list_is_merged_alone() -> None:
    model = script("outs = [X * 2, X + 1]\nh = sum(outs)\n", "outs[1]")
    assert merged(model) == ["loss", "outs[1]"] and "outs[1] = tf.concat(tower_outs_1, 0)" in converted(model)


def test_a_list_that_a_loss_is_taken_from_is_merged_by_its_tensors() -> None:
    model = "h = X * 2\nouts = [tf.reduce_mean(tf.square(h - Y)), tf.reduce_mean(h)]\n"
    text = converted(script(model, "outs").replace("minimize(loss)", "minimize(outs[0])"))
    assert "outs[0] = tf.add_n(tower_outs_0)" in text and "outs[1] = tf.add_n(tower_outs_1)" in text


@pytest.mark.parametrize(
    "filled",
    [LAYERS + "outs.append(tf.reduce_mean(h))\n", LAYERS.replace("(h)", "(tf.reduce_max(h))")],
    ids=["rows beside a mean", "no merge"],
)
@pytest.mark.parametrize(("kept", "found"), [("save", ["TMG208"]), ("print", ["TMG393"])])
def test_lists_of_any_length_that_cannot_be_merged_may_only_be_shown(filled: str, kept: str, found: list[str]) -> None:
    run = f"{kept}(sess.run([train_op, outs], {{X: xs, Y: ys}}))"
    assert codes(script(filled, "outs").replace("sess.run([train_op, outs], {X: xs, Y: ys})", run)) == found


HIDDEN = "zip = None\n"


def test_builtins_that_the_script_has_bound_are_read_by_their_module() -> None:
    text = script(LAYERS, "outs").replace(COUNT, COUNT + HIDDEN)
    assert "builtins.zip(*tower_outs)" in converted(text)


# -- in --------------------------------------------------------------------------------------------

LISTED = """\
import argparse
import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument('--parts', type=int, default=3)
args = parser.parse_args()
batch_size = 32
xs = []
for i in range(args.parts):
    xs.append(tf.placeholder(tf.float32, [None, 3], name='x%d' % i))
Y = tf.placeholder(tf.float32, [None, 1])
h = tf.layers.dense(xs[0], 3)
for i in range(1, args.parts):
    h = tf.layers.dense(h + xs[i], 3)
"""
MADE = "xs = []\nfor i in range(args.parts):\n    xs.append(tf.placeholder(tf.float32, [None, 3], name='x%d' % i))\n"
FEED = """\
with tf.Session() as sess:
    for step in range(100):
        data, ys = next_batch(batch_size)
        feed = {Y: ys}
        for x, rows in zip(xs, data):
            feed[x] = rows
        sess.run(train_op, feed)
"""
BY_INDEX = FEED.replace("x, rows in zip(xs, data)", "i in range(args.parts)").replace("[x] = rows", "[xs[i]] = data[i]")


@pytest.mark.parametrize(
    "made",
    [MADE, "xs = [tf.placeholder(tf.float32, [None, 3]) for _ in range(args.parts)]\n"],
    ids=["loop", "comprehension"],
)
@pytest.mark.parametrize("feed", [FEED, BY_INDEX], ids=["zip", "index"])
def test_a_list_of_placeholders_of_any_length_is_cut_as_a_list(made: str, feed: str) -> None:
    before, inside, after = parts(LISTED.replace(MADE, made) + LOSS + STEP + feed)
    rows = "tower_rows" if feed == FEED else "rows"
    assert inside[2:5] == [
        f"(first_xs, Y), {rows}, weight = shard([xs_batch[0], Y_batch], gpu)",
        "xs = map_structure(lambda t: shard([t], gpu)[0][0], xs_batch)",
        "h = tf.layers.dense(xs[0], 3)",
    ]
    assert after[:2] == ["Y, xs = Y_batch, xs_batch", "loss = tf.add_n(tower_loss)"]
