"""What a conversion decided, in words."""

from __future__ import annotations

import pytest

from converter.conversion import convert
from converter.source import from_bytes
from converter.source.header import from_flags
from tests.scripts import INPUTS, MODEL, STEP, TRAINING

SCRIPT = INPUTS + MODEL + STEP + TRAINING


def decided(*flags: str, script: str = SCRIPT) -> dict[str, str]:
    done = convert(from_bytes("train.py", script.encode()), from_flags(flags))
    assert done.status == "converted", done.diagnostics
    return {decision.topic: decision.text for decision in done.decisions}


def test_each_topic_is_said_once() -> None:
    assert decided() == {
        "towers": "built of train.py, lines 6 to 7",
        "inputs": "X, Y cut along axis 0",
        "batch size": "32 -> 32 * num_gpus for one step (train.py:3)",
        "epochs": (
            "no line was seen that counts steps by the batch size: if their number is fixed, they take 2 times the "
            "examples, and as long as before; --scale-steps divide trains on as many examples"
        ),
        "learning rate": "unchanged; --scale-lr linear or sqrt would scale it with the number of towers",
        "variables": "on the CPU",
    }


@pytest.mark.parametrize(
    ("model", "place"),
    [
        ("hidden = tf.layers.batch_normalization(X, training=True)", 6),
        ("_, spread = tf.nn.moments(X, [0, 1])\nhidden = X + tf.random_normal([4]) * tf.sqrt(spread)", 7),
        ("hidden = X - tf.reduce_mean(X, 0)", 6),
        ("hidden = tf.layers.batch_normalization(X, training=False)", 0),
        ("hidden = X - tf.reduce_mean(X, 1, keepdims=True)", 0),
    ],
)
@pytest.mark.parametrize("batch", ["per-gpu", "total"])
def test_statistics_of_the_examples_of_one_gpu_are_said(model: str, place: int, batch: str) -> None:
    script = INPUTS + model + "\n" + MODEL.replace("dense(X", "dense(hidden") + STEP + TRAINING
    size = "as many as the script's batch has" if batch == "per-gpu" else "a share of the script's batch"
    told = f"of each GPU's own examples, {size} (train.py:{place})"
    assert decided("--batch", batch, script=script).get("statistics") == (told if place else None)


@pytest.mark.parametrize(
    ("flags", "topic", "text"),
    [
        ((), "variables", "on the CPU"),
        (("--variables", "gpu:0"), "variables", "on the first GPU"),
        (("--scale-lr", "linear"), "learning rate", "times the number of towers"),
        (("--scale-lr", "sqrt"), "learning rate", "times the square root of the number of towers"),
        (("--batch", "total"), "epochs", "as many steps as before"),
    ],
)
def test_options_are_decisions(flags: tuple[str, ...], topic: str, text: str) -> None:
    assert decided(*flags)[topic] == text


def test_an_optimizer_that_holds_the_variables_on_the_first_gpu_is_named() -> None:
    made = "optimizer = tf.contrib.opt.MovingAverageOptimizer(tf.train.AdamOptimizer(0.1))\n"
    script = INPUTS + made + MODEL + "train_op = optimizer.minimize(loss)\n" + TRAINING
    told = "on the first GPU, where an optimizer averages them behind its update (train.py:6)"
    assert decided(script=script)["variables"] == told


@pytest.mark.parametrize(
    ("loss", "told"),
    [
        ("", "the towers' losses are averaged: --loss global changes nothing here"),
        ("reduce_sum", "the towers' sums are added, as --loss global asks"),
        ("sqrt", "computed once from the towers' merged results, as --loss global asks"),
    ],
)
def test_what_a_global_loss_comes_to_is_said(loss: str, told: str) -> None:
    mean = "tf.reduce_mean(tf.square(tf.layers.dense(x, 1) - y))"
    losses = {"": mean, "reduce_sum": mean.replace("reduce_mean", "reduce_sum"), "sqrt": f"tf.sqrt({mean})"}
    script = (
        "import numpy as np\nimport tensorflow as tf\nbatch_size = 8\nx = tf.placeholder(tf.float32, [None, 4])\n"
        f"y = tf.placeholder(tf.float32, [None, 1])\nloss = {losses[loss]}\n"
        "step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)\ndata = np.random.rand(64, 4)\n"
        "with tf.Session() as sess:\n    sess.run(tf.global_variables_initializer())\n"
        "    for i in range(0, 64, batch_size):\n"
        "        sess.run(step, {x: data[i:i + batch_size], y: data[i:i + batch_size, :1]})\n"
    )
    assert decided("--loss", "global", script=script)["loss"] == told
    assert "loss" not in decided(script=script)


@pytest.mark.parametrize(
    ("loop", "line"),
    [
        ("for step in range(len(xs) // batch_size):", 11),
        ("for step in range(int(np.ceil(len(xs) / float(batch_size)))):", 11),
        ("for at in range(0, len(xs), batch_size):", 11),
        ("while step * batch_size < examples:", 11),
        ("while end < len(xs):\n        end += batch_size", 12),
        ("while end < len(xs):\n        begin = end\n        end = begin + batch_size", 13),
        ("while step < 100 // batch_size:\n        step += 1", 11),
        ("for at in np.arange(0, 640, batch_size):", 11),
        ("while step < 100:", 0),
        ("while step < 100:\n        seen += batch_size", 0),
        ("while step < 100:\n        step += 1", 0),
        ("for step in range(len(xs) // parts):", 0),
        ("for part in np.split(xs, len(xs) // batch_size):", 11),
        ("for step in range(len(np.array_split(xs, len(xs) // batch_size))):", 11),
        ("for part in np.split(xs, 10):", 0),
        ("for part in np.split(xs, len(xs) // batch_size, axis=1):", 0),
    ],
)
@pytest.mark.parametrize("name", ["batch_size", "n"])
def test_a_line_that_counts_steps_is_named(loop: str, line: int, name: str) -> None:
    """By the batch size, whatever the script calls it."""
    text = SCRIPT.replace("for step in range(100):", loop).replace("batch_size", name)
    text = text.replace("as tf\n", "as tf; import numpy as np; end = seen = step = 0\n", 1)
    said = decided(script=text)["epochs"]
    counts = f"train.py:{line} counts by the batch size, so that an epoch takes 1/2 of the steps"
    assert (said == counts) == bool(line) and said.startswith("no line was seen") == (not line)


@pytest.mark.parametrize(
    ("loop", "line"),
    [
        ("for step in range(len(xs) // options['n']):", 12),
        ("for step in range(0, len(xs), options['n']):", 12),
        ("for step in range(int(len(xs) / 255.)):", 0),
        ("for step in range(len(xs) // options['parts']):", 0),
    ],
)
def test_a_batch_size_under_a_key_counts_steps(loop: str, line: int) -> None:
    """Whatever its key: and a number that has no name is none of that name."""
    text = SCRIPT.replace("batch_size = 32", "options = {'parts': 4}\noptions['n'] = 32")
    text = text.replace("for step in range(100):", loop).replace("batch_size", "options['n']")
    said = decided(script=text)["epochs"]
    counts = f"train.py:{line} counts by the batch size, so that an epoch takes 1/2 of the steps"
    assert (said == counts) == bool(line) and said.startswith("no line was seen") == (not line)


CHOSEN = """\
import sys
big, small = {'n': 32, 'other': 4}, {'n': 16, 'other': 4}


def pick(name):
    if name == 'big':
        return big
    return small


settings = pick(sys.argv[1])
batch_size = settings['n']"""


@pytest.mark.parametrize(
    ("size", "told"), [("batch_size", "counts by the batch size"), ("settings['other']", "no line was seen")]
)
def test_one_of_two_batch_sizes_counts_steps(size: str, told: str) -> None:
    """Only a run can tell which of two settings it is, and both grow."""
    text = SCRIPT.replace("batch_size = 32", CHOSEN).replace(
        "for step in range(100):", f"for step in range(len(xs) // {size}):"
    )
    assert told in decided(script=text)["epochs"]


BESIDE = """\
import tensorflow as tf

batch_size = 8
rows, labels = load()
x = tf.placeholder(tf.float32, [None, 4])
y = tf.placeholder(tf.int64, [None])


def net(x, reuse):
    with tf.variable_scope('net', reuse=reuse):
        return tf.layers.dense(x, 3)


logits = net(x, False)
loss = tf.losses.sparse_softmax_cross_entropy(y, logits)
train_op = tf.train.AdamOptimizer(0.01).minimize(loss)
hits = tf.equal(tf.argmax({tested}, 1), y)
with tf.Session() as sess:
    for i in range(0, 640, batch_size):
        sess.run({trained}, {{x: rows[i:i + batch_size], y: labels[i:i + batch_size]}})
        print(sess.run(hits, {{x: rows[{fed}], y: labels[{fed}]}}))
"""
WHOLE = "i:i + batch_size"


@pytest.mark.parametrize(
    ("tested", "trained", "fed", "flags", "told"),
    [
        ("net(x, True)", "train_op", WHOLE, (), True),
        ("net(x * 2, True)", "train_op", "next_rows(batch_size)", (), True),
        ("logits", "train_op", WHOLE, (), False),  # the towers' merged ones
        ("tf.nn.softmax(logits)", "train_op", WHOLE, (), False),
        ("net(x, True)", "train_op", "0:100", (), False),  # another number than the batch size
        ("net(x, True)", "train_op", ":", (), False),
        ("net(x, True)", "train_op", WHOLE, ("--batch", "total"), False),
        ("net(x, True)", "[train_op, hits]", ":", (), False),  # beside a training step, of which the report tells
    ],
)
def test_a_model_beside_the_towers(tested: str, trained: str, fed: str, flags: tuple[str, ...], told: bool) -> None:
    said = decided(*flags, script=BESIDE.format(tested=tested, trained=trained, fed=fed)).get("evaluation", "")
    model = "the model of train.py, line 11 stands outside of the towers"
    assert said == (f"{model}: GPU 0 computes it, on the batches of all GPUs" if told else "")
