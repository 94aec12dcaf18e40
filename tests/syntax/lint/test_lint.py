"""Mistakes in towers written by hand: what is found, and the right scripts beside it in which nothing is."""

from __future__ import annotations

from pathlib import Path

import pytest

from converter.rule import all_rules
from converter.source import from_bytes, parse
from converter.syntax.lint import lint
from converter.syntax.lint.towers import TowerLoops
from converter.syntax.script import Script
from tests import goldens

ROOT = Path(__file__).resolve().parent.parent.parent.parent
RIGHT = next(rule.after for rule in all_rules() if rule.code == "TMG401")
CONVERTED = sorted(path for path in goldens.FIXTURES.rglob("*.py") if path.read_text()[:15] == "# tf-multigpu 0")
LOSS = "tower_loss = tf.losses.sparse_softmax_cross_entropy(labels[i], logits)"
GRADS = "tower_grads.append(optimizer.compute_gradients(tower_loss))"
STACKED = "        grads = tf.stack([g for g, _ in grads_and_vars])\n"
MEAN = "        average.append((tf.reduce_mean(grads, 0), grads_and_vars[0][1]))\n"
ADDED = "        average.append((tf.add_n([g for g, _ in grads_and_vars]), grads_and_vars[0][1]))\n"
APPLY = "train_op = optimizer.apply_gradients(average_gradients(tower_grads))"


def codes(text: str) -> list[str]:
    return [finding.code for finding in lint(from_bytes("train.py", text.encode()))]


def changed(*pairs: tuple[str, str]) -> str:
    """The right script with texts in place of others, each of which it has."""
    text = RIGHT
    for before, after in pairs:
        assert before in text, before
        text = text.replace(before, after)
    return text


def loops(path: Path) -> int:
    source = from_bytes(str(path), path.read_bytes())
    return len(TowerLoops(Script(source.path, source.text, parse(source))).loops)


def test_the_right_script_is_right() -> None:
    assert codes(RIGHT) == []


@pytest.mark.parametrize("path", CONVERTED, ids=lambda path: str(path.relative_to(goldens.FIXTURES)))
def test_nothing_is_found_in_conversions(path: Path) -> None:
    assert lint(from_bytes(str(path), path.read_bytes())) == ()


def test_the_loops_of_conversions_are_seen() -> None:
    seen = [path for path in CONVERTED if "python2" not in path.parts and loops(path)]
    assert len(seen) > 60


@pytest.mark.parametrize(
    ("fixture", "before", "after", "code"),
    [
        ("layers_cnn", "\nloss = tf.add_n(tower_loss)\n", "\n", "TMG408"),
        ("update_ops", ", \\\n            tower_collections.tower(gpu), first_tower_updates(gpu):", ":", "TMG404"),
    ],
)
def test_conversions_that_were_broken(fixture: str, before: str, after: str, code: str) -> None:
    text = (goldens.FIXTURES / fixture / "multi.py").read_text()
    assert before in text
    assert set(codes(text.replace(before, after))) == {code}


# -- gradients that are added (TMG401) ---------------------------------------------------------------


@pytest.mark.parametrize(
    "pairs",
    [
        [(STACKED + MEAN, ADDED)],
        [(STACKED + MEAN, ADDED.replace("tf.add_n([g for g, _ in grads_and_vars])", "sum(g for g, _ in pairs)"))],
        [(MEAN, MEAN.replace("reduce_mean", "reduce_sum"))],
        [(f"        {GRADS}\n", ""), (APPLY, "train_op = optimizer.minimize(tf.add_n(tower_losses))")],
        [(f"        {GRADS}\n", ""), (APPLY, "total = sum(tower_losses)\ntrain_op = optimizer.minimize(total)")],
    ],
)  # fmt: skip
def test_sums(pairs: list[tuple[str, str]]) -> None:
    assert codes(changed(*pairs)) == ["TMG401"]


@pytest.mark.parametrize(
    "pairs",
    [
        [(STACKED + MEAN, ADDED.replace("[g for", "[g / num_gpus for"))],
        [(STACKED + MEAN, ADDED.replace("grads_and_vars]), ", "grads_and_vars]) / num_gpus, "))],
        [(STACKED + MEAN, ADDED), (LOSS, LOSS + " / num_gpus")],
        [(STACKED + MEAN, ADDED), (GRADS, GRADS.replace("tower_loss)", "tower_loss * weights[i])"))],
        [(STACKED + MEAN, ADDED), (LOSS, LOSS + "\n        tower_loss /= num_gpus")],
        [(STACKED + MEAN, ADDED), (LOSS, LOSS + "\n        tower_loss = tf.divide(tower_loss, num_gpus)")],
        [(APPLY, APPLY.replace("average_gradients", "utils.merge"))],  # another file's
        [(STACKED + MEAN, ADDED.replace("tf.add_n", "mixed"))],
        [(f"        {GRADS}\n", ""), (APPLY, "train_op = optimizer.minimize(tf.add_n(tower_losses) / num_gpus)")],
        [(f"        {GRADS}\n", ""), (APPLY, "train_op = optimizer.minimize(tf.reduce_mean(tower_losses))")],
        [(f"        {GRADS}\n", ""), (APPLY, "train_op = optimizer.minimize(tf.add_n(others))")],
    ],
)
def test_no_sums(pairs: list[tuple[str, str]]) -> None:
    assert codes(changed(*pairs)) == []


# -- one batch for all (TMG402) ----------------------------------------------------------------------

SPLIT = "images, labels = tf.split(X, num_gpus), tf.split(Y, num_gpus)\n"


@pytest.mark.parametrize(
    "pairs",
    [
        [(SPLIT, ""), ("images[i]", "X"), ("labels[i]", "Y")],
        [(SPLIT, ""), ("images[i]", "X"), ("labels[i]", "Y"), ("    with tf.dev", "    print(i)\n    with tf.dev")],
        [(SPLIT, ""), ("images[i]", "X"), ("labels[i]", "Y"), ("[None, 784]", "[batch_size, 784]")],
    ],
)  # fmt: skip
def test_the_same_batch(pairs: list[tuple[str, str]]) -> None:
    assert codes(changed(*pairs)) == ["TMG402"]


@pytest.mark.parametrize(
    "pairs",
    [
        [(SPLIT, ""), ("images[i]", "tf.split(X, num_gpus)[i]"), ("labels[i]", "tf.split(Y, num_gpus)[i]")],
        [(SPLIT, "batches = iterator\n"), ("images[i]", "x"), ("labels[i]", "Y"),
         ("        logits", "        x = batches.get_next()\n        logits")],
        [(SPLIT, "def load():\n    return queue.dequeue()\n\n\n"), ("images[i]", "load()"), ("labels[i]", "Y")],
        [(SPLIT, ""), ("images[i]", "own[i]"), ("labels[i]", "Y")],
        # A placeholder that is no batch: what every tower needs whole.
        [("[None, 784]", "[]"), (SPLIT, ""), ("images[i]", "tf.fill([4, 4], X)"), ("labels[i]", "[1, 2, 3, 4]")],
        [("[None, 784]", "[20, 784]"), ("[None])", "[20])"), (SPLIT, ""), ("images[i]", "X"), ("labels[i]", "Y")],
    ],
)  # fmt: skip
def test_batches_of_their_own(pairs: list[tuple[str, str]]) -> None:
    assert codes(changed(*pairs)) == []


# -- regularisation, collections, updates (TMG403, TMG404, TMG405, TMG409) ---------------------------

REGULAR = "tf.add_n(tf.losses.get_regularization_losses())"


@pytest.mark.parametrize(
    ("pairs", "found"),
    [
        ([(LOSS, f"{LOSS} / num_gpus + {REGULAR}")], ["TMG403"]),
        ([(LOSS, f"decay = {REGULAR}\n        {LOSS} / num_gpus + decay")], ["TMG403"]),
        ([(LOSS, f"{LOSS} / num_gpus + {REGULAR} / num_gpus")], []),
        ([(LOSS, f"{LOSS} + {REGULAR}")], []),  # the mean over the towers counts it once
        ([(LOSS, f"{LOSS} / 2 + {REGULAR}")], []),  # another scale than the number of towers
        ([(LOSS, f"{LOSS} / num_gpus + tf.nn.l2_loss(logits)")], []),
        ([(LOSS, "tower_loss = tf.losses.get_total_loss()")], ["TMG409"]),
        ([(LOSS, "tower_loss = tf.add_n(tf.get_collection('losses'))")], ["TMG409"]),
        ([(LOSS, "tower_loss = tf.add_n(tf.get_collection(tf.GraphKeys.LOSSES))")], ["TMG409"]),
        ([(LOSS, "tower_loss = tf.losses.get_total_loss(scope=scope)")], []),
        ([(LOSS, "tower_loss = tf.add_n(tf.get_collection('losses', scope))")], []),
        ([(LOSS, f"{LOSS} + tf.add_n(tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES))")], []),
        ([(LOSS, "tower_loss = tf.add_n(tf.get_collection('outputs'))")], []),
        ([("num_gpus = 4", "num_gpus = 1"), (LOSS, "tower_loss = tf.losses.get_total_loss()")], []),
        # A context of the script's own may keep the collections of towers apart.
        ([("reuse=i > 0):", "reuse=i > 0), apart(i):"), (LOSS, "tower_loss = tf.losses.get_total_loss()")], []),
    ],
)
def test_what_a_tower_counts(pairs: list[tuple[str, str]], found: list[str]) -> None:
    assert codes(changed(*pairs)) == found


UPDATES = "updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)\nwith tf.control_dependencies(updates):\n    " + APPLY
NORMAL = (
    "        logits = tf.layers.dense(images[i],",
    "        h = tf.layers.batch_normalization(images[i])\n        logits = tf.layers.dense(h,",
)


@pytest.mark.parametrize(
    ("pairs", "found"),
    [
        ([NORMAL, (APPLY, UPDATES)], ["TMG404"]),
        ([(APPLY, UPDATES)], []),  # nothing is normalised: the collection is empty
        ([NORMAL, (APPLY, UPDATES.replace("UPDATE_OPS)", "UPDATE_OPS, 'tower_0/')"))], []),
        ([NORMAL, (APPLY, UPDATES.replace("UPDATE_OPS)", "UPDATE_OPS, scope=first)"))], []),
        ([NORMAL, ("reuse=i > 0):", "reuse=i > 0), first_updates(i):"), (APPLY, UPDATES)], []),
        ([NORMAL], []),
    ],
)
def test_update_operations(pairs: list[tuple[str, str]], found: list[str]) -> None:
    assert codes(changed(*pairs)) == found


@pytest.mark.parametrize(
    ("number", "scope", "found"),
    [
        ("16", "'tower_%d' % i", ["TMG405"]),
        ("FLAGS.num_gpus", "'tower_%d' % i", ["TMG405"]),
        ("16", "'tower_{}'.format(i)", ["TMG405"]),
        ("16", "f'tower_{i}'", ["TMG405"]),
        ("16", "'tower_' + str(i)", ["TMG405"]),
        ("16", "'tower_%d/' % i", []),
        ("16", "'tower_%d_bn' % i", []),
        ("16", "'other_%d' % i", []),
        ("16", "scope", []),
        ("10", "'tower_%d' % i", []),
        ("4", "'tower_%d' % i", []),
    ],
)
def test_prefixes(number: str, scope: str, found: list[str]) -> None:
    call = f"tf.get_collection(tf.GraphKeys.UPDATE_OPS, {scope})"
    assert codes(changed(("num_gpus = 4", f"num_gpus = {number}"), (GRADS, f"{GRADS}\n        ops = {call}"))) == found


# -- clipping, slices, what is told (TMG406, TMG407, TMG408) -----------------------------------------


@pytest.mark.parametrize(
    ("pairs", "found"),
    [
        ([(GRADS, "g = optimizer.compute_gradients(tower_loss)\n        "
                  "tower_grads.append([(tf.clip_by_value(a, -1., 1.), v) for a, v in g])")], ["TMG406"]),
        ([(GRADS, "g = tf.gradients(tower_loss, ws)\n        g, _ = tf.clip_by_global_norm(g, 5.0)\n        "
                  "tower_grads.append(list(zip(g, ws)))")], ["TMG406"]),
        ([(APPLY, "g = [(tf.clip_by_norm(a, 5.), v) for a, v in average_gradients(tower_grads)]\n"
                  "train_op = optimizer.apply_gradients(g)")], []),
        ([(LOSS, f"logits = tf.clip_by_value(logits, -10., 10.)\n        {LOSS}")], []),  # no gradient
        ([(LOSS, f"x = [tf.clip_by_value(a, 0., 1.) for a in parts]\n        {LOSS}")], []),
    ],
)  # fmt: skip
def test_clipping(pairs: list[tuple[str, str]], found: list[str]) -> None:
    assert codes(changed(*pairs)) == found


@pytest.mark.parametrize(
    ("images", "found"),
    [
        ("X[i * 64:(i + 1) * 64]", ["TMG407"]),
        ("X[i * 64:(i + 1) * 64, :]", ["TMG407"]),
        ("X[i::num_gpus]", []),
        ("X[:, i * 8:(i + 1) * 8]", []),
        ("full[i * 64:(i + 1) * 64]", []),
        ("images[i][0:64]", []),
    ],
)
def test_slices(images: str, found: list[str]) -> None:
    assert codes(changed(("dense(images[i]", f"dense({images}"))) == found


def test_slices_of_a_fixed_batch() -> None:
    assert codes(changed(("[None, 784]", "[batch_size, 784]"), ("images[i]", "X[i * 64:(i + 1) * 64]"))) == []


@pytest.mark.parametrize(
    ("pairs", "found"),
    [
        ([("sess.run(train_op,", "sess.run([train_op, tower_loss],")], ["TMG408"]),
        ([("sess.run(train_op,", "sess.run({'t': train_op, 'l': tower_loss},")], ["TMG408"]),
        ([("with tf.Session", "tf.summary.scalar('loss', tower_loss)\nwith tf.Session")], ["TMG408"]),
        ([("sess.run(train_op,", "sess.run([train_op, loss],")], []),
        # The same in every tower: made from the variables alone.
        ([("        tower_losses", "        decay = tf.add_n(tf.get_collection('decay'))\n        tower_losses"),
          ("with tf.Session", "tf.summary.scalar('decay', decay)\nwith tf.Session")], []),
        ([("sess.run(train_op,", "sess.run([train_op, tower_losses],")], []),
        ([("\nloss = tf.", "\ntower_loss = tf."), ("sess.run(train_op,", "sess.run([train_op, tower_loss],")], []),
        ([("sess.run(train_op,", "sess.run([train_op, step],")], []),
        ([("        tower_losses", "        tf.summary.scalar('loss', tower_loss)\n        tower_losses")], []),
    ],
)  # fmt: skip
def test_what_is_told(pairs: list[tuple[str, str]], found: list[str]) -> None:
    assert codes(changed(*pairs)) == found


# -- test loops (TMG408, TMG410) ---------------------------------------------------------------------

SLICED = "X[i * batch_size:(i + 1) * batch_size]"
HITS = "hits = tf.reduce_mean(tf.to_float(tf.equal(tf.argmax(logits, 1), labels[i])))"
FED = "sess.run({0}, {{X: test_x[{1}], Y: test_y[{1}]}})"
ONE = "at:at + batch_size"


def in_test_loop(tower: str, fetch: str, behind: str = "hits = hits") -> list[str]:
    """What is found where the towers slice batches, for some lines in the loop, behind it, and for a test loop."""
    text = changed(
        (SPLIT, "batch_size = 64\n"),
        ("images[i]", "images"),
        ("        logits", f"        images = {SLICED}  # tf-multigpu: ignore[TMG407]\n        logits"),
        (f"        {GRADS}", f"        {GRADS}\n        {tower}"),
        (APPLY, f"{APPLY}\n{behind if behind != 'hits = hits' else ''}"),
    )
    source = from_bytes("train.py", (text + f"    for at in range(0, 640, batch_size):\n        {fetch}\n").encode())
    return [finding.code for finding in lint(source) if finding.code != "TMG407"]


FIRST = f"if i == 0:\n            {HITS}"
LISTED = f"{HITS}\n        tower_losses.append(hits)"


@pytest.mark.parametrize(
    ("tower", "rows", "found"),
    [
        # The first tower's slice is all that is fed: its value is the test loop's.
        (FIRST, ONE, []),
        (FIRST.replace("i == 0", "not i"), ONE, []),
        (FIRST.replace("i == 0", "0 == i"), ONE, []),
        # The last tower gets no rows.
        (HITS, ONE, ["TMG410"]),
        (FIRST.replace("i == 0", "i == 1"), ONE, ["TMG410"]),
        (FIRST.replace("i == 0", "i >= 0"), ONE, ["TMG410"]),
        # More rows, or rows that nobody can count: the value is one tower's.
        (FIRST, "at:at + batch_size * num_gpus", ["TMG408"]),
        (FIRST, ":", ["TMG408"]),
        (FIRST, "at:end", ["TMG408"]),
        (HITS, "at:at + batch_size * num_gpus", ["TMG408"]),
        # A loss of tf.losses is 0 for no rows, not NaN.
        ("hits = tf.losses.mean_squared_error(images, images)", ONE, ["TMG408"]),
    ],
)
def test_values_of_one_tower_in_test_loops(tower: str, rows: str, found: list[str]) -> None:
    assert in_test_loop(tower, FED.format("hits", rows)) == found


@pytest.mark.parametrize(
    ("behind", "rows", "found"),
    [
        ("mean = tf.reduce_mean(tower_losses)", ONE, ["TMG410"]),
        ("mean = tf.add_n(tower_losses) / num_gpus", ONE, ["TMG410"]),
        ("mean = tf.reduce_mean(tower_losses)", ":batch_size", ["TMG410"]),
        ("mean = tf.reduce_mean(tower_losses)", "at:at + 64", ["TMG410"]),
        ("mean = tf.reduce_mean(tower_losses)", "at:at + batch_size * num_gpus", []),
        ("mean = tf.reduce_mean(tower_losses)", "at:at + 63", []),
        ("mean = tower_losses[0]", ONE, []),
        ("mean = tf.reduce_mean(others)", ONE, []),
    ],
)
def test_means_of_all_towers_in_test_loops(behind: str, rows: str, found: list[str]) -> None:
    assert in_test_loop(LISTED, FED.format("mean", rows), behind) == found


@pytest.mark.parametrize(
    ("fed", "found"),
    [
        ("x, y = data.test.next_batch(batch_size)\n        sess.run(mean, {X: x, Y: y})", ["TMG410"]),
        ("end = at + batch_size\n        sess.run(mean, {X: test_x[at:end], Y: test_y[at:end]})", ["TMG410"]),
        ("part = {X: test_x[:batch_size]}\n        sess.run([mean], feed_dict=part)", ["TMG410"]),
        ("x, y = data.test.next_batch(batch_size * num_gpus)\n        sess.run(mean, {X: x, Y: y})", []),
        ("sess.run(mean, {Y: test_y[:batch_size]})", []),  # what the towers do not slice
        ("sess.run(mean)", []),
    ],
)
def test_rows_that_are_fed(fed: str, found: list[str]) -> None:
    assert in_test_loop(LISTED, fed, "mean = tf.reduce_mean(tower_losses)") == found


def test_advice_beside_a_test_loop() -> None:
    text = changed(
        (SPLIT, "batch_size = 64\n"),
        ("images[i]", SLICED),
        (f"        {GRADS}", f"        {GRADS}\n        {FIRST}"),
        ("sess.run(train_op,", "sess.run([train_op, hits],"),
    )
    alone, beside = text, f"{text}    sess.run(hits, {{X: test_x[:batch_size]}})\n"
    for script, advice in ((alone, "collect it from all towers"), (beside, "keep hits for line")):
        found = [finding for finding in lint(from_bytes("train.py", script.encode())) if finding.code == "TMG408"]
        assert len(found) == 1 and advice in found[0].hint


# -- moving averages that each tower updates in place (TMG411) ----------------------------------------

IN_PLACE = "tf.contrib.layers.batch_norm(images[i], updates_collections=None, is_training=True)"
DENSE = "tf.contrib.layers.fully_connected(images[i], 8, normalizer_params="


@pytest.mark.parametrize(
    ("normal", "found"),
    [
        (IN_PLACE, ["TMG411"]),
        (IN_PLACE.replace(", is_training=True", ", is_training=training"), ["TMG411"]),
        (f"{DENSE}{{'updates_collections': None}})", ["TMG411"]),
        (f"{DENSE}settings)", ["TMG411"]),
        ("model(images[i])", ["TMG411"]),
        (IN_PLACE.replace("None", "None if i == 0 else 'unused'"), []),
        (IN_PLACE.replace("None", "'updates'"), []),
        (IN_PLACE.replace("is_training=True", "is_training=False"), []),
        (IN_PLACE.replace("updates_collections=None", "decay=None"), []),
        (f"{DENSE}{{'decay': None}})", []),
        ("other(images[i])", []),
    ],
)
def test_updates_in_place(normal: str, found: list[str]) -> None:
    above = (
        "settings = dict(updates_collections=None)\n\n\ndef model(x):\n"
        f"    return {IN_PLACE.replace('images[i]', 'x')}\n\n\ndef other(x):\n    return x\n\n\n"
    )
    call = ("tf.layers.dense(images[i],", f"tf.layers.dense({normal},")
    assert codes(changed(call, (SPLIT, above + SPLIT))) == found


def test_updates_in_place_around_towers_and_without_training() -> None:
    scope = "with slim.arg_scope([slim.batch_norm], updates_collections=None):\n    for i in range(num_gpus):\n"
    head, loop, body = changed().partition("for i in range(num_gpus):\n")
    inner, rest = body.split("loss = tf.reduce_mean", 1)
    indented = "".join(f"    {line}\n" for line in inner.rstrip().split("\n"))
    around = f"import tf_slim as slim\n{head}{scope}{indented}loss = tf.reduce_mean{rest}"
    assert codes(around) == ["TMG411"]
    assert codes(around.replace("updates_collections=None", "decay=0.9")) == []
    call = ("tf.layers.dense(images[i],", f"tf.layers.dense({IN_PLACE},")
    assert codes(changed(call, (f"        {GRADS}\n", ""), (APPLY, "train_op = logits"))) == []


# -- scripts without towers --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "import tensorflow as tf\nfor i in range(4):\n    y = tf.clip_by_norm(tf.gradients(a, b)[0], 1.)\n",
        "import tensorflow as tf\nwith tf.device('/gpu:0'):\n    for i in range(4):\n        tf.losses.get_losses()\n",
        "import os\nfor i in range(3):\n    pass\n",
    ],
)
def test_scripts_without_towers(text: str) -> None:
    assert codes(text) == []
