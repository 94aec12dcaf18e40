"""Workers of a cluster: what is written, and what is refused with its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from converter.conversion import Conversion, convert
from converter.options import Options
from converter.source import encode, from_bytes, read
from tests.scripts import as_written_by

FIXTURES = Path(__file__).resolve().parent.parent.parent.parent / "fixtures" / "cluster"
SCRIPT = """\
import numpy as np
import tensorflow as tf

batch_size = 64
images, labels = np.load('images.npy'), np.load('labels.npy')
x = tf.placeholder(tf.float32, [None, 784])
y = tf.placeholder(tf.int64, [None])
rate = 0.001
logits = tf.layers.dense(x, 10)
loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
optimizer = tf.train.AdamOptimizer(rate)
train_op = optimizer.minimize(loss)
init = tf.global_variables_initializer()

with tf.Session() as sess:
    sess.run(init)
    for begin in range(0, len(images), batch_size):
        feed = {x: images[begin:begin + batch_size], y: labels[begin:begin + batch_size]}
        sess.run(train_op, feed_dict=feed)
    print(sess.run(loss, {x: images, y: labels}))
"""
TRAINS = "        sess.run(train_op, feed_dict=feed)\n"


def converted(text: str, **options: object) -> Conversion:
    given = Options(target="cluster", **options)  # type: ignore[arg-type]
    return convert(from_bytes("train.py", text.encode()), given)


def changed(*edits: tuple[str, str]) -> Conversion:
    text = SCRIPT
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    return converted(text)


@pytest.mark.parametrize("name", sorted(path.parent.name for path in FIXTURES.glob("*/single.py")))
def test_the_golden_is_the_conversion(name: str) -> None:
    source = read(str(FIXTURES / name / "single.py"))
    conversion = convert(source, Options(target="cluster"))
    assert conversion.text is not None
    assert encode(source, conversion.text) == as_written_by("single.py", FIXTURES / name / "multi.py")


def test_the_statements_of_the_script_are_kept() -> None:
    done = converted(SCRIPT)
    assert done.status == "converted" and done.diagnostics == () and done.text is not None
    own = [line.strip() for line in SCRIPT.splitlines()]
    kept = [line.strip() for line in done.text.splitlines()]
    assert [line for line in own if line not in kept] == [
        "batch_size = 64",
        "optimizer = tf.train.AdamOptimizer(rate)",
        "with tf.Session() as sess:",
        "sess.run(init)",
        "sess.run(train_op, feed_dict=feed)",
    ]
    compile(done.text, "train.py", "exec")
    assert converted(done.text).status == "unchanged"


def test_names_of_the_script_are_left_to_it() -> None:
    done = changed(("rate = 0.001", "cluster = 0.001"), ("(rate)", "(cluster)"))
    assert done.text is not None
    assert "cluster_2 = Cluster()" in done.text and "tf.train.AdamOptimizer(cluster)" in done.text


def test_the_weight_of_regularisation_and_the_rate_may_follow_the_global_step() -> None:
    step = "step = tf.train.get_or_create_global_step()\nrate = tf.train.exponential_decay(0.1, step, 10, 0.9)\n"
    done = changed(("rate = 0.001\n", step), ("minimize(loss)", "minimize(loss, global_step=step)"))
    assert done.status == "converted"


def test_gradients_may_be_applied_as_they_are() -> None:
    whole = "train_op = optimizer.minimize(loss)"
    done = changed((whole, "pairs = optimizer.compute_gradients(loss)\ntrain_op = optimizer.apply_gradients(pairs)"))
    assert done.status == "converted" and done.text is not None
    assert "optimizer = cluster.synchronous(tf.train.AdamOptimizer(rate))" in done.text


def test_scalars_are_fed_to_all_workers() -> None:
    done = changed(
        ("logits = ", "keep = tf.placeholder(tf.float32)\nlogits = "),
        ("dense(x, 10)", "dense(tf.nn.dropout(x, keep), 10)"),
        ("feed = {x", "feed = {keep: 0.5, x"),
        ("{x: images, y", "{keep: 1.0, x: images, y"),
    )
    assert done.text is not None and "cluster.share(feed, [x, y])" in done.text


def test_results_of_a_step_are_warned_of() -> None:
    done = changed(("sess.run(train_op,", "sess.run([train_op, loss],"))
    assert [(d.code, d.line, d.severity) for d in done.diagnostics] == [("TMG361", 19, "warning")]


@pytest.mark.parametrize(
    ("old", "new", "code", "line"),
    [
        (TRAINS, TRAINS + "        if begin > 99:\n            break\n", "TMG259", 21),
        (TRAINS, TRAINS + "        if begin > 99:\n            continue\n", "TMG259", 21),
        (TRAINS, "        if begin:\n            sess.run(train_op, feed_dict=feed)\n", "TMG259", 20),
        (TRAINS, TRAINS + TRAINS, "TMG259", 20),
        (TRAINS, "        sess.run(train_op, feed)\n        sess.run(train_op, feed)\n", "TMG259", 20),
        (TRAINS, "        sess.run(train_op, dict(feed))\n", "TMG259", 19),
        ("    for begin in", "    begin = 0\n    while begin in", "TMG259", 20),
        ("    sess.run(init)\n", "    sess.run(tf.zeros([]))\n    sess.run(init)\n", "TMG259", 16),
        ("    sess.run(init)\n", "    sess.run(init)\n    other = tf.train.Saver()\n", "TMG259", 17),
        ("    sess.run(init)\n", "    sess.run(init)\n    print(loss.eval({x: images, y: labels}))\n", "TMG259", 17),
        ("    sess.run(init)\n", "    sess.run(init)\n    help(sess)\n", "TMG259", 17),
        ("with tf.Session()", "with tf.Session('grpc://host')", "TMG259", 15),
        ("with tf.Session()", "with tf.Session(graph=tf.get_default_graph())", "TMG259", 15),
        ("[None, 784]", "[64, 784]", "TMG259", 18),
        ("rate = 0.001", "rate = '--job_name'", "TMG259", 8),
        ("rate = 0.001", "rate = tf.placeholder(tf.float32)", "TMG260", 11),
        ("rate = 0.001", "rate = np.random.RandomState()", "TMG260", 8),
        ("tf.layers.dense(x, 10)", "tf.layers.dense(tf.layers.batch_normalization(x, training=True), 10)", "TMG260", 9),
        ("tf.layers.dense(x, 10)", "tf.gather(tf.get_variable('t', [9, 10]), tf.cast(x[:, 0], tf.int32))", "TMG260", 9),
        (
            "train_op = optimizer.minimize(loss)",
            "pairs = optimizer.compute_gradients(loss)\n"
            "train_op = optimizer.apply_gradients([(tf.clip_by_norm(g, 5.), v) for g, v in pairs])",
            "TMG260",
            13,
        ),
    ],
)  # fmt: skip
def test_what_is_refused(old: str, new: str, code: str, line: int) -> None:
    done = changed((old, new))
    assert done.status == "refused" and done.text is None
    assert (code, line) in [(d.code, d.line) for d in done.diagnostics if d.severity == "error"], done.diagnostics


def test_what_a_step_hands_on_to_the_next_is_refused() -> None:
    start, feed = SCRIPT.index("    for begin"), SCRIPT.index("        feed = ")
    loop = "    begin = 0\n    for _ in range(9):\n" + SCRIPT[feed : SCRIPT.index(TRAINS)]
    done = converted(SCRIPT[:start] + loop + TRAINS + "        begin += batch_size\n")
    assert [(d.code, d.severity) for d in done.diagnostics][1:] == [("TMG339", "warning")]
    assert done.diagnostics[0].message == "begin is handed on from one step to the next"
    above = loop.replace("        feed", "        begin += batch_size\n        feed")
    assert converted(SCRIPT[:start] + above + TRAINS).status == "converted"


def test_placeholders_of_a_fixed_size_are_refused() -> None:
    fixed = SCRIPT.replace("[None, 784]", "[batch_size, 784]").replace("[None]", "[batch_size]")
    done = converted(fixed.replace("    print(sess.run(loss, {x: images, y: labels}))\n", ""))
    errors = [d.message for d in done.diagnostics if d.severity == "error"]
    assert errors == ["the batch is not cut along the first axis of placeholders"]


def test_a_script_without_a_session_is_refused() -> None:
    done = converted("import tensorflow as tf\n")
    assert [d.code for d in done.diagnostics] == ["TMG280"]
