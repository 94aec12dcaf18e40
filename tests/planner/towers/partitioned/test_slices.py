"""`--variables partitioned`: which variables are cut, and which scripts are refused because they know whole ones."""

from __future__ import annotations

import pytest

from converter.conversion import Conversion, convert
from converter.options import Options
from converter.source import from_bytes

SCRIPT = """\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
{model}
loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=Y, logits=logits))
optimizer = tf.train.AdamOptimizer(0.001)
{train}
saver = tf.train.Saver()

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        sess.run(train_op, {X: images(batch_size), Y: labels(batch_size)})
    {after}
"""
LAYER = "logits = tf.layers.dense(X, 10)"
MINIMIZE = "train_op = optimizer.minimize(loss)"
W = "w = tf.get_variable('w', [784, 10])\n"
IN_SCOPE = (
    "with tf.variable_scope('net'):\n    w = tf.get_variable('w', [784, 10], regularizer=tf.nn.l2_loss)\n"
    "logits = tf.matmul(X, w)"
)


def converted(model: str = LAYER, train: str = MINIMIZE, after: str = "pass") -> Conversion:
    text = SCRIPT.replace("{model}", model).replace("{train}", train).replace("{after}", after)
    return convert(from_bytes("train.py", text.encode()), Options(variables="partitioned"))


def codes(conversion: Conversion) -> list[str]:
    return [finding.code for finding in conversion.diagnostics]


def step(pair: str, gradients: str = "optimizer.compute_gradients(loss)") -> str:
    return f"pairs = {gradients}\ntrain_op = optimizer.apply_gradients([{pair} for g, v in pairs])"


@pytest.mark.parametrize(
    "train",
    [
        MINIMIZE,
        "train_op = optimizer.minimize(loss, var_list=tf.trainable_variables())",
        "train_op = optimizer.minimize(loss, var_list=tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, 'dense'))",
        "d = [v for v in tf.trainable_variables() if 'dense' in v.name]\n"
        "train_op = optimizer.minimize(loss, var_list=d)",
        "d = [v for v in tf.trainable_variables() if v.op.name.startswith('d')]\n"
        "train_op = optimizer.minimize(loss, var_list=d)",
        "d = [v for v in tf.trainable_variables() if v.op.name.split('/')[0] == 'dense']\n"
        "train_op = optimizer.minimize(loss, var_list=d)",
        "def chosen():\n    return [v for v in tf.trainable_variables() if 'bias' not in v.name]\n"
        "train_op = optimizer.minimize(loss, var_list=chosen())",
        step("(tf.clip_by_value(g, -1., 1.), v)"),
        step("[0.5 * g, v]"),
        step("(tf.clip_by_value(g, -1., 1.), v) if g is not None else (tf.zeros_like(v), v)"),
        step("(None if g is None else tf.clip_by_value(g, -1., 1.), v)"),
        "tvars = tf.trainable_variables()\ngrads, _ = tf.clip_by_global_norm(tf.gradients(loss, tvars), 5.0)\n"
        "train_op = optimizer.apply_gradients(zip(grads, tvars))",
        "tvars = tf.trainable_variables()\ngrads = tf.clip_by_global_norm(tf.gradients(loss, tvars), 5.0)[0]\n"
        "train_op = optimizer.apply_gradients(list(zip(grads, tvars)))",
        "grads, tvars = zip(*optimizer.compute_gradients(loss))\ngrads, _ = tf.clip_by_global_norm(grads, 5.0)\n"
        "train_op = optimizer.apply_gradients(zip(grads, tvars))",
        "capped = []\nfor g, v in optimizer.compute_gradients(loss):\n"
        "    capped.append((tf.clip_by_value(g, -1., 1.), v))\n"
        "train_op = optimizer.apply_gradients(capped)",
        "with tf.name_scope('train'):\n    train_op = optimizer.minimize(loss)",
        "step = optimizer.minimize(loss)\nwith tf.control_dependencies([step]):\n"
        "    train_op = tf.train.ExponentialMovingAverage(0.99).apply(tf.trainable_variables())",
        "step = optimizer.minimize(loss)\nwith tf.control_dependencies([step]):\n"
        "    train_op = tf.group(*[v.assign(tf.clip_by_value(v, -0.1, 0.1)) for v in tf.trainable_variables()])",
    ],
)
def test_what_means_the_same_of_slices(train: str) -> None:
    conversion = converted(train=train)
    assert (conversion.status, codes(conversion)) == ("converted", [])


@pytest.mark.parametrize(
    ("train", "line"),
    [
        (step("(tf.clip_by_norm(g, 1.), v)"), 10),
        (step("(g / tf.norm(g), v)"), 10),
        (step("(g + tf.random_normal(v.get_shape(), stddev=0.1), v)"), 10),
        ("train_op = optimizer.minimize(loss, var_list=tf.trainable_variables()[-2:])", 9),
        ("for v in tf.trainable_variables():\n    print(v.name, v.get_shape())\n" + MINIMIZE, 10),
        ("for v in tf.trainable_variables():\n    tf.summary.histogram(v.name, v)\n" + MINIMIZE, 10),
        ("for g, v in optimizer.compute_gradients(loss):\n    tf.summary.histogram(v.op.name, g)\n" + MINIMIZE, 10),
        ("copies = [tf.Variable(v.initialized_value()) for v in tf.trainable_variables()]\n" + MINIMIZE, 9),
        ("norms = [tf.norm(v) for v in tf.trainable_variables()]\n" + MINIMIZE, 9),
        ("named = {v.name: v for v in tf.global_variables()}\nchosen = tf.train.Saver(named)\n" + MINIMIZE, 9),
        ("first = tf.train.Saver({v.op.name: v for v in tf.global_variables()})\n" + MINIMIZE, 9),
        (
            "one = [v for v in tf.trainable_variables() if v.name.endswith('kernel:0')]\n"
            "train_op = optimizer.minimize(loss, var_list=one)",
            9,
        ),
        ("def report(variables):\n    print(len(variables))\nreport(tf.trainable_variables())\n" + MINIMIZE, 11),
        ("count = len(tf.trainable_variables())\n" + MINIMIZE, 9),
    ],
)
def test_what_would_meet_slices_is_refused_with_its_line(train: str, line: int) -> None:
    conversion = converted(train=train)
    assert (conversion.status, codes(conversion)) == ("refused", ["TMG245"])
    assert conversion.diagnostics[0].line == line


@pytest.mark.parametrize(
    ("model", "train", "code"),
    [
        ("logits = tf.layers.dense(X, 10, kernel_constraint=lambda w: w / tf.norm(w))", MINIMIZE, "TMG246"),
        ("logits = tf.layers.dense(X, 10, kernel_regularizer=lambda w: tf.norm(w))", MINIMIZE, "TMG246"),
        (LAYER, MINIMIZE.replace("optimizer", "tf.contrib.opt.LARSOptimizer(0.1)"), "TMG246"),
        ("with tf.variable_scope('net', custom_getter=scaled):\n    " + LAYER, MINIMIZE, "TMG246"),
        (
            W + "e = tf.train.ExponentialMovingAverage(0.9)\nlogits = tf.matmul(X, w)",
            "train_op = tf.group(optimizer.minimize(loss), e.apply([w]))\nshown = e.average(w)",
            "TMG246",
        ),
        (
            "def layer(i):\n    w = tf.get_variable('w_%d' % i, [784, 10])\n    decay = w.assign(0.9 * w)\n"
            "    return tf.matmul(X, w)\nlogits = layer(0)",
            MINIMIZE,
            "TMG246",
        ),
        (LAYER + "\nk = tf.get_default_graph().get_tensor_by_name('dense/kernel:0')", MINIMIZE, "TMG247"),
        (LAYER, "with tf.variable_scope('train'):\n    " + MINIMIZE, "TMG247"),
        (
            LAYER,
            "def train(loss):\n    return optimizer.minimize(loss)\n"
            "with tf.variable_scope('train'):\n    train_op = train(loss)",
            "TMG247",
        ),
        (
            LAYER,
            "train_op = tf.contrib.slim.learning.create_train_op(loss, optimizer, summarize_gradients=True)",
            "TMG246",
        ),
        (LAYER, "train_op = tf.contrib.layers.optimize_loss(loss, None, 0.1, 'Adam')", "TMG247"),
    ],
)
def test_what_treats_each_variable_as_a_whole_is_refused(model: str, train: str, code: str) -> None:
    conversion = converted(model, train)
    assert (conversion.status, codes(conversion)[-1:]) == ("refused", [code])


@pytest.mark.parametrize(
    ("model", "kept", "warned"),
    [
        (LAYER, "", []),
        (W + "logits = tf.matmul(X, w) + 0.0 * w[0] + 0.0 * tf.reduce_sum(-w)", "", []),
        (W + "logits = tf.matmul(X, w)\nprint(w.get_shape())", "", []),
        (IN_SCOPE, "", []),
        (W + "logits = tf.matmul(X, w)\nzero = w.assign(tf.zeros([784, 10]))", "'w'", ["TMG319"]),
        (W + "logits = tf.matmul(X, w)\nprint(w.name)", "'w'", ["TMG319"]),
        (W + "logits = tf.matmul(X, w)\nalone = tf.train.Saver([w])", "'w'", ["TMG319"]),
        (W + "logits = tf.matmul(X, w)\ntf.add_to_collection('kept', w)", "'w'", ["TMG319"]),
        (
            "table = tf.get_variable('table', [500, 784])\n"
            "logits = tf.layers.dense(X + tf.nn.embedding_lookup(table, Y), 10)",
            "rows=['table']",
            [],
        ),
        (
            "table = tf.get_variable('table', [500, 784])\n"
            "logits = tf.layers.dense(X + tf.nn.embedding_lookup(table, Y, 'mod'), 10)",
            "'table'",
            [],
        ),
        (
            "table = tf.get_variable('table', [500, 784])\n"
            "logits = tf.layers.dense(X + tf.nn.embedding_lookup(table, Y) + tf.gather(table, Y), 10)",
            "'table'",
            [],
        ),
        (
            "table = tf.get_variable('table', [500, 784])\ndef later(other):\n"
            "    return tf.nn.embedding_lookup(other, Y)\n"
            "logits = tf.layers.dense(X + tf.nn.embedding_lookup(table, Y), 10)",
            "'table'",
            [],
        ),
        (
            "table = tf.get_variable('table', [500, 784])\nprint(table.name)\n"
            "logits = tf.layers.dense(X + tf.nn.embedding_lookup(table, Y), 10)",
            "'table'",
            ["TMG319"],
        ),
        ("w = tf.Variable(tf.zeros([784, 10]))\nlogits = tf.matmul(X, w)", "", ["TMG318"]),
        ("logits = tf.keras.layers.Dense(10)(X)", "", ["TMG318"]),
        ("logits = tf.layers.Dense(10)(X)", "", []),
    ],
)
def test_which_variables_stay_whole(model: str, kept: str, warned: list[str]) -> None:
    conversion = converted(model)
    assert conversion.text is not None and codes(conversion) == warned
    assert f"tf.get_variable_scope().set_custom_getter(cut_variables({kept}))\n" in conversion.text


def test_look_ups_are_told_how_a_table_is_cut() -> None:
    model = "table = tf.get_variable('table', [500, 784])\nrows = tf.nn.embedding_lookup(table, Y)\n"
    text = converted(model + "logits = tf.layers.dense(X + rows, 10)").text or ""
    assert "rows = tf.nn.embedding_lookup(table, Y, partition_strategy='div')\n" in text


def test_variables_in_front_of_the_loop_are_cut_there() -> None:
    text = converted(W + "logits = tf.matmul(X, w)").text or ""
    getter = "tf.variable_scope(tf.get_variable_scope(), custom_getter=cut_variables())"
    assert f"with tf.device(variable_device), {getter}:\n    w = tf.get_variable('w', [784, 10])\n" in text


def test_a_variable_that_is_fetched_may_be_cut() -> None:
    conversion = converted(W + "logits = tf.matmul(X, w)", after="print(sess.run([loss, w]))")
    assert (conversion.status, codes(conversion)) == ("converted", [])


def test_a_model_built_again_within_the_scope_finds_the_slices() -> None:
    model = "def net(x):\n    return tf.layers.dense(x, 10, name='out', reuse=tf.AUTO_REUSE)\nlogits = net(X)"
    conversion = converted(model, MINIMIZE + "\nmore = net(tf.reverse(X, [1]))")
    assert (conversion.status, codes(conversion)) == ("converted", [])


def test_a_model_built_again_in_another_scope_is_refused() -> None:
    inside = SCRIPT.replace("{train}", MINIMIZE).replace("{model}", LAYER.replace("10)", "10, name='out')"))
    lines = inside.replace("{after}", "pass").splitlines()
    begin, end = lines.index("X = tf.placeholder(tf.float32, [None, 784])"), lines.index("saver = tf.train.Saver()")
    lines[begin:end] = [
        "with tf.variable_scope('net'):",
        *("    " + line for line in lines[begin:end]),
        "with tf.variable_scope('net', reuse=True):",
        "    again = tf.layers.dense(tf.reverse(X, [1]), 10, name='out')",
    ]
    conversion = convert(from_bytes("train.py", "\n".join(lines).encode()), Options(variables="partitioned"))
    assert codes(conversion)[-1:] == ["TMG247"]


def test_other_placements_take_all_of_these() -> None:
    text = SCRIPT.replace("{model}", LAYER).replace("{train}", step("(tf.clip_by_norm(g, 1.), v)"))
    for variables in ("cpu", "gpu:0", "balanced"):
        options = Options(variables=variables)
        conversion = convert(from_bytes("train.py", text.replace("{after}", "pass").encode()), options)
        assert (conversion.status, codes(conversion)) == ("converted", [])
