"""The batch size is multiplied where the host takes it from, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest

from converter.conversion import convert
from converter.options import Options
from converter.source import read
from tests.scripts import INPUTS, MODEL, STEP, TRAINING, body, codes, converted, parts, run

PLACEHOLDERS = "X = tf.placeholder(tf.float32, [None, 4])\nY = tf.placeholder(tf.float32, [None, 1])\n"
GRAPH = PLACEHOLDERS + MODEL + STEP


def training(loop: str, feed: str = "{X: xs, Y: ys}") -> str:
    lines = "".join(f"    {line}\n" for line in loop.splitlines())
    depth = (
        len(lines.splitlines()[-1]) - len(lines.splitlines()[-1].lstrip()) if not lines.rstrip().endswith(":") else 8
    )
    return "with tf.Session() as sess:\n" + lines + " " * depth + f"sess.run(train_op, {feed})\n"


def script(definition: str, loop: str, feed: str = "{X: xs, Y: ys}", graph: str = GRAPH) -> str:
    return f"import tensorflow as tf\n\n{definition}\n{graph}{training(loop, feed)}"


STEPS = "for step in range(100):\n    xs, ys = next_batch({})"


def changed(text: str, **options: object) -> list[str]:
    """Lines of the conversion that mention the number of GPUs, but for those of the tool's loop."""
    return [
        line.strip()
        for line in body(text, **options)
        if "num_gpus" in line.lower() and not line.lstrip().startswith(("for gpu in", "parser", "flags", "num_gpus ="))
    ]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (script("batch_size = 32", STEPS.format("batch_size")), ["batch_size = 32 * num_gpus"]),
        (script("BATCH_SIZE = 32", STEPS.format("BATCH_SIZE")), ["BATCH_SIZE = 32 * NUM_GPUS"]),
        pytest.param(
            script("batch_size = 2 * 16", STEPS.format("batch_size")),
            ["batch_size = 2 * 16 * num_gpus"],
        ),
        (script("bs = 32", STEPS.format("bs")), ["bs = 32 * num_gpus"]),
        (script("n = 32", STEPS.format("n")), ["n = 32 * num_gpus"]),
        (script("", STEPS.format("32")), ["xs, ys = next_batch(32 * num_gpus)"]),
        (script("", STEPS.format("batch_size=32")), ["xs, ys = next_batch(batch_size=32 * num_gpus)"]),
        (
            script("batch_size, epochs = 32, 10", STEPS.format("batch_size")),
            ["batch_size, epochs = 32 * num_gpus, 10"],
        ),
        (
            script("config = {'batch_size': 32, 'rate': 0.1}", STEPS.format("config['batch_size']")),
            ["config = {'batch_size': 32 * num_gpus, 'rate': 0.1}"],
        ),
        (
            script(
                "class Config(object):\n    batch_size = 32\n    rate = 0.1\n",
                STEPS.format("Config.batch_size"),
            ),
            ["batch_size = 32 * num_gpus"],
        ),
        (
            script(
                "batch_size = 32\nsteps = 1000 // batch_size",
                "for step in range(steps):\n    xs, ys = next_batch(batch_size)",
            ),
            ["batch_size = 32 * num_gpus"],
        ),
        (
            script(
                "batch_size = 32",
                "for i in range(0, len(data), batch_size):\n"
                "    xs, ys = data[i:i + batch_size], labels[i:i + batch_size]",
            ),
            ["batch_size = 32 * num_gpus"],
        ),
        (
            script(
                "batch_size = 32",
                "for i in range(len(data) // batch_size):\n    a, b = i * batch_size, (i + 1) * batch_size\n"
                "    xs, ys = data[a:b], labels[a:b]",
            ),
            ["batch_size = 32 * num_gpus"],
        ),
        (
            script("def train(batch_size=32):\n    return batch_size\n", STEPS.format("train()")),
            ["def train(batch_size=32 * num_gpus):"],
        ),
        (
            script("batch_size = 32", STEPS.format("batch_size").replace("next_batch", "mnist.train.next_batch")),
            ["batch_size = 32 * num_gpus"],
        ),
        (
            script(
                "batch_size = 32",
                "rng = np.random.RandomState(0)\nfor step in range(100):\n"
                "    rows = rng.choice(1000, batch_size)\n    xs, ys = data[rows], labels[rows]",
            ),
            ["batch_size = 32 * num_gpus"],
        ),
    ],
)
def test_where_it_is_defined(text: str, lines: list[str]) -> None:
    assert changed(text) == lines
    assert codes(text) == []


@pytest.mark.parametrize(
    "text",
    [
        script("batch_size = 32", STEPS.format("batch_size")),
        script("", STEPS.format("32")),
        script("config = {'batch_size': 32}", STEPS.format("config['batch_size']")),
    ],
)
def test_the_total_stays(text: str) -> None:
    assert changed(text, batch="total") == []


@pytest.mark.parametrize(
    ("definition", "expected"),
    [
        ("num_batches = 10", []),
        ("n_batches = 10\ntest_size = 100", []),
        ("display_step = 32", []),
        ("learning_rate = 0.1\nhidden = 32", []),
        ("test_batch_size = 100", []),
    ],
)
def test_other_numbers_stay(definition: str, expected: list[str]) -> None:
    text = script("batch_size = 32\n" + definition, STEPS.format("batch_size"))
    assert changed(text) == ["batch_size = 32 * num_gpus", *expected]


ARGPARSE = (
    "import argparse\nimport tensorflow as tf\n\nparser = argparse.ArgumentParser()\n"
    "parser.add_argument('--batch_size', type=int, default=32)\nargs = parser.parse_args()\n"
)
FLAGS = (
    "import tensorflow as tf\n\nflags = tf.app.flags\nflags.DEFINE_integer('batch_size', 32, 'Examples.')\n"
    "FLAGS = flags.FLAGS\n"
)


@pytest.mark.parametrize(
    ("head", "size", "line"),
    [
        (ARGPARSE, "args.batch_size", "xs, ys = next_batch(args.batch_size * num_gpus)"),
        (FLAGS, "FLAGS.batch_size", "xs, ys = next_batch(FLAGS.batch_size * FLAGS.num_gpus)"),
        (
            ARGPARSE + "batch_size = args.batch_size\n",
            "batch_size",
            "batch_size = args.batch_size * num_gpus",
        ),
        (
            FLAGS + "batch_size = FLAGS.batch_size\n",
            "batch_size",
            "batch_size = FLAGS.batch_size * FLAGS.num_gpus",
        ),
    ],
)
def test_a_flag_keeps_what_the_user_gives(head: str, size: str, line: str) -> None:
    text = head + GRAPH + training(STEPS.format(size))
    assert changed(text) == [line]
    assert "default=32)" in "\n".join(body(text)) or "'batch_size', 32," in "\n".join(body(text))


HELD = """\
class Net(object):
    def __init__(self, settings):
        self.settings = settings
        self.{0} = settings.batch_size
        self.x = tf.placeholder(tf.float32, [self.{0}, 4])
        h = tf.reshape(self.x, [self.{0}, 2, 2])
        self.loss = tf.reduce_mean(tf.layers.dense(h, 1))
        self.train_op = tf.train.GradientDescentOptimizer(0.1).minimize(self.loss)


net = Net({1})
with tf.Session() as sess:
    for step in range(1000 // net.{0}):
        sess.run(net.train_op, {{net.x: next_batch(net.{0})}})
"""


@pytest.mark.parametrize("name", ["batch_size", "size"])
@pytest.mark.parametrize(
    ("head", "flags", "gpus"), [(ARGPARSE, "args", "num_gpus"), (FLAGS, "FLAGS", "FLAGS.num_gpus")]
)
def test_a_flag_that_an_attribute_holds_is_scaled_once(head: str, flags: str, gpus: str, name: str) -> None:
    before, inside, after = parts(head + HELD.format(name, flags))
    assert f"self.{name} = settings.batch_size * {gpus}" in before
    assert f"self.x = tf.placeholder(tf.float32, [self.{name}, 4])" in before
    assert f"self.{name} = shard_size(global_{name}, gpu)" in inside
    assert f"for step in range(1000 // net.{name}):" in after


def test_a_flag_that_the_script_sets_again_is_scaled_once() -> None:
    lines = "args.batch_size = int(args.batch_size)\n"
    text = converted(ARGPARSE + lines + GRAPH + training(STEPS.format("args.batch_size")))
    assert "args.batch_size = int(args.batch_size) * num_gpus" in text  # it may be a text
    assert "xs, ys = next_batch(args.batch_size)" in text


def test_a_flag_in_arithmetic_gets_parentheses() -> None:
    text = (
        ARGPARSE
        + GRAPH
        + training("for step in range(1000 // args.batch_size):\n    xs, ys = next_batch(args.batch_size)")
    )
    assert "for step in range(1000 // (args.batch_size * num_gpus)):" in [line.strip() for line in body(text)]


@pytest.mark.parametrize(
    "line",
    [
        "print('batch size', args.batch_size)",
        "print('batch size %d' % args.batch_size)",
        "print('%d rows, %d steps' % (args.batch_size, 100))",
        "print('batch size {}'.format(args.batch_size))",
        "print(f'batch size {args.batch_size}')",
        "print('batch size ' + str(args.batch_size))",
        "logging.info('batch size %d', args.batch_size)",
        "folder = 'logs/%s_%d' % ('net', args.batch_size)",
        "folder = 'logs/net_{}'.format(args.batch_size)",
        "folder = '_'.join(['net', str(args.batch_size)])",
        "assert args.batch_size > 0, 'no batch'",
        "assert args.batch_size, 'no batch'",
        "assert args.batch_size > 0 and not args.batch_size == 13",
    ],
)
def test_a_text_shows_what_the_user_gave(line: str) -> None:
    text = ARGPARSE + line + "\n" + GRAPH + training(STEPS.format("args.batch_size"))
    assert line in body(text)


@pytest.mark.parametrize(
    ("line", "scaled"),
    [
        (
            "print(sess.run([train_op, loss], {{X: data[i:i + {}], Y: labels}})[1])",
            "print(sess.run([train_op, loss], {{X: data[i:i + ({})], Y: labels}})[1])",
        ),
        ("print('loss %f' % sess.run([loss, train_op], feeds({}))[0])", None),
        ("print('loss {{}}'.format(sess.run([loss, train_op], feeds(size={}))[0]))", None),
        ("print(f'loss {{sess.run([loss, train_op], feeds(size={}))[0]}}')", None),
        ("assert sess.run([loss, train_op], feeds({}))[0] > 0", None),
        ("log(sess.run([loss, train_op], feeds({}))[0])", None),
        ("logging.info('loss %f', sess.run([loss, train_op], feeds({}))[0])", None),
        ("assert len(data) % {} == 0", "assert len(data) % ({}) == 0"),
        ("assert len(xs) == {}", "assert len(xs) == ({})"),
        ("print('examples', step * {})", "print('examples', step * ({}))"),
        ("print('%d examples' % (step * {}))", "print('%d examples' % (step * ({})))"),
    ],
)
def test_a_number_that_is_used_is_scaled_where_it_is_shown_too(line: str, scaled: str | None) -> None:
    flag, count = "args.batch_size", line.count("{}")
    loop = STEPS.format(flag) + "\n    " + line.format(*[flag] * count)
    text = ARGPARSE + GRAPH + training(loop)
    expected = (scaled or line).format(*[f"{flag} * num_gpus"] * count)
    assert expected in [line.strip() for line in body(text)]


@pytest.mark.parametrize(
    ("graph", "inside"),
    [
        (GRAPH.replace("[None, 4]", "[batch_size, 4]").replace("[None, 1]", "[batch_size, 1]"), False),
        (
            GRAPH.replace("tf.layers.dense(X, 1)", "tf.layers.dense(X + tf.random_normal([batch_size, 4]), 1)"),
            True,
        ),
        (GRAPH.replace("tf.layers.dense(X, 1)", "tf.reshape(tf.layers.dense(X, 1), [batch_size, 1])"), True),
        (
            GRAPH.replace(
                "tf.reduce_mean(tf.square(prediction - Y))",
                "tf.reduce_sum(tf.square(prediction - Y)) / batch_size",
            ),
            True,
        ),
        (GRAPH, False),
    ],
)
def test_the_towers_read_the_size_of_a_shard(graph: str, inside: bool) -> None:
    lines = [line.strip() for line in body(script("batch_size = 32", STEPS.format("batch_size"), graph=graph))]
    assert ("batch_size = shard_size(global_batch_size, gpu)" in lines) is inside
    assert any(line.startswith("X, Y, batch_size = ") for line in lines) is inside
    assert "xs, ys = next_batch(batch_size)" in lines


def test_a_global_batch_size_read_in_a_function_is_declared_first() -> None:
    text = (
        "import tensorflow as tf\n\nbatch_size = 32\n\n\ndef build(X, Y):\n"
        "    noise = tf.random_normal([batch_size, 4])\n"
        + "".join("    " + line + "\n" for line in MODEL.replace("(X,", "(X + noise,").splitlines())
        + "    return tf.train.AdamOptimizer(0.1).minimize(loss)\n\n\n"
        + PLACEHOLDERS
        + "train_op = build(X, Y)\n"
        + training(STEPS.format("batch_size"))
    )
    made = "\n".join(body(text))
    compile(made, "train.py", "exec")
    assert "def build(X, Y):\n    global batch_size\n" in made


STATE = GRAPH.replace(" - Y", " + tf.zeros([batch_size, 1]) - Y")
GROWN = "series = []\nfor i in range(n):\n    series.append(read(i))\n"


@pytest.mark.parametrize("size", ["32", "len(series)", "count(labels)"])
def test_the_towers_read_the_size_of_a_shard_of_a_whole_data_set(size: str) -> None:
    """Nothing scales the number, but a tower has only its part of the examples."""
    made = script(f"{GROWN}batch_size = {size}", "for step in range(100):", "{X: series, Y: labels}", graph=STATE)
    lines = [line.strip() for line in body(made)]
    assert f"batch_size = {size}" in lines
    assert "batch_size = shard_size(global_batch_size, gpu)" in lines
    assert codes(made) == ["TMG304"]


def test_a_data_set_that_a_loop_reads_has_any_size() -> None:
    """The loop of the training would not be entered with what two turns of the reading give."""
    loop = "begin = 0\nwhile begin + batch_size < len(series):\n    xs = series[begin:begin + batch_size]\n"
    loop += "    ys = labels[begin:begin + batch_size]\n    begin += batch_size"
    made = script(f"{GROWN}batch_size = 32", loop)
    assert "batch_size = 32 * num_gpus" in [line.strip() for line in body(made)]
    assert codes(made) == []


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (script("", "for xs, ys in batches():"), "TMG303"),
        (script("loader = Loader()", "for step in range(100):\n    xs, ys = loader.get()"), "TMG303"),
        (
            script(
                "data = np.load('x.npy')\nlabels = np.load('y.npy')",
                "for step in range(100):",
                "{X: data, Y: labels}",
            ),
            "TMG304",
        ),
    ],
)
def test_a_size_that_is_not_found_is_said(text: str, code: str) -> None:
    assert codes(text) == [code]
    assert changed(text) == []


def test_a_queue_of_unknown_batches_is_no_data_set_that_is_fed() -> None:
    text = script("X, Y = reader(size())", "for step in range(100):", "{}", MODEL + STEP)
    queue = "def reader(size):\n    return tf.train.batch(read(), batch_size=size)\n\n\n"
    assert codes(text.replace("X, Y =", queue + "X, Y =")) == ["TMG303"]


QUEUES = """\
class Data(object):
    def __init__(self, batch_size):
        self.batch_size = batch_size

    def batch(self, parts):
        part_batch_size = int(self.batch_size / parts)
        return tf.train.batch(read(), batch_size=part_batch_size)


tf.app.flags.DEFINE_integer('batch_size', 32, '')
images, labels = Data(tf.app.flags.FLAGS.batch_size).batch(2)
shown, _ = Data(500).batch(1)
"""


def test_what_is_computed_of_a_size_is_not_scaled_again() -> None:
    loop = "for step in range(100):\n    xs, ys = sess.run([images, labels])"
    assert [line for line in changed(script(QUEUES, loop)) if "self.batch_size" in line] == []


def test_a_size_that_is_read_off_a_fetched_batch_follows_it() -> None:
    data = "rows = tf.data.Dataset.from_generator(read, tf.float32).batch(32).make_one_shot_iterator().get_next()\n"
    hot = "def one_hot(labels):\n    batch_size = labels.shape[0]\n    return np.zeros([batch_size, 1])\n"
    loop = "for step in range(100):\n    xs, ys = sess.run(rows)\n    ys = one_hot(ys)"
    assert codes(script(hot + data, loop)) == []
    assert len(changed(script(hot + data, loop))) == 1


def test_a_whole_data_set_beside_batches_keeps_the_total() -> None:
    """One header tells what a step of the script takes: what is fed whole cannot grow."""
    second = "other = tf.reduce_mean(tf.abs(tf.layers.dense(X, 1) - Y))\n"
    second += STEP.replace("train_op", "all_op").replace("loss", "other")
    loop = "with tf.Session() as sess:\n    for step in range(9):\n"
    script = INPUTS + "data = load()\n" + MODEL + STEP + second + TRAINING
    whole = script + "a, b = data[:, :4], data[:, 4:]\n" + loop + "        sess.run(all_op, {X: a, Y: b})\n"
    assert codes(whole) == ["TMG304"]
    assert "\nbatch_size = 32\n" in converted(whole)
    batches = script + loop + "        a, b = next_batch(batch_size)\n        sess.run(all_op, {X: a, Y: b})\n"
    assert codes(batches) == []
    assert "\nbatch_size = 32 * num_gpus\n" in converted(batches)


HANDED_ON = """\
import argparse
import tensorflow as tf


class Model(object):
    def __init__(self, batch_size):
        self.batch_size = batch_size
        self.X = tf.placeholder(tf.float32, [self.batch_size, 4])
        self.Y = tf.placeholder(tf.float32, [self.batch_size, 1])
        loss = tf.reduce_mean(tf.square(tf.layers.dense(self.X, 1) - self.Y))
        self.train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)


parser = argparse.ArgumentParser()
parser.add_argument('--batch_size', type=int, default=32)
args = parser.parse_args()
{hand}
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(len(xs) // model.batch_size):
        part = slice(i * model.batch_size, (i + 1) * model.batch_size)
        sess.run(model.train_op, {{model.X: xs[part], model.Y: ys[part]}})
"""


@pytest.mark.parametrize(
    ("hand", "scaled"),
    [
        ("model = Model(args.batch_size)", "model = Model(args.batch_size * num_gpus)"),
        (
            "params = {'batch_size': args.batch_size}\nmodel = Model(**params)",
            "params = {'batch_size': args.batch_size * num_gpus}",
        ),
    ],
)
def test_a_flag_that_is_handed_on_is_scaled_once(hand: str, scaled: str) -> None:
    lines = [line.strip() for line in body(HANDED_ON.format(hand=hand))]
    assert [line for line in lines if "batch_size" in line and "* num_gpus" in line] == [scaled]


@pytest.mark.parametrize(
    ("module", "settings"),
    [
        ("json", "json.load(open('settings.json'))"),
        ("json", "json.loads(open('settings.json').read())['training']"),
        ("yaml", "yaml.safe_load(open('settings.yml'))"),
    ],
)
@pytest.mark.parametrize("read", ["settings['batch_size']", "Bunch(settings).batch_size", "int(settings['batchSize'])"])
def test_a_batch_size_in_a_file_of_settings(module: str, settings: str, read: str) -> None:
    text = script(f"import {module}\nfrom bunch import Bunch\nsettings = {settings}", STEPS.format(read))
    assert changed(text) == [f"xs, ys = next_batch({read} * num_gpus)"]
    assert codes(text) == []


def test_the_model_reads_a_tower_s_size_from_a_file_of_settings() -> None:
    """The entry goes on being the size of one tower: what the script feeds is scaled where it is read."""
    feed = STEPS.format("settings['batch_size']")
    text = script("import json\nsettings = json.load(open('settings.json'))", feed)
    shaped = text.replace("tf.layers.dense(X, 1)", "tf.reshape(tf.layers.dense(X, 1), [settings['batch_size'], 1])")
    assert shaped != text and changed(shaped) == ["xs, ys = next_batch(settings['batch_size'] * num_gpus)"]
    assert not [line for line in body(shaped) if "shard_size" in line]


def test_other_entries_of_a_file_are_no_batch_size() -> None:
    text = script("import json\nsettings = json.load(open('settings.json'))", STEPS.format("settings['rows']"))
    assert changed(text) == [] and codes(text) == ["TMG303"]
    unread = script("settings = fetch()", STEPS.format("settings['batch_size']"))
    assert changed(unread) == [] and codes(unread) == ["TMG303"]


WRITER = """\
import tensorflow as tf


class Net(object):
    def __init__(self, batch_size, writes=False):
        if writes:
            batch_size = 1
        self.X = tf.placeholder(tf.float32, [batch_size, 4])
        self.Y = tf.placeholder(tf.float32, [batch_size, 1])
        with tf.variable_scope('net'):
            self.h = tf.layers.dense(self.X, 1, name='h')
        self.loss = tf.reduce_mean(tf.square(self.h - self.Y))
        {step}


net = Net(32)
with tf.variable_scope(tf.get_variable_scope(), reuse=True):
    writer = Net(32, writes=True)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        xs, ys = next_batch(32)
        sess.run(net.train_op, {{net.X: xs, net.Y: ys}})
    print(sess.run(writer.h, {{writer.X: xs[:1]}}))
"""
OWN_STEP = "self.train_op = tf.train.AdamOptimizer().minimize(self.loss)"


def test_a_batch_of_one_example_is_not_scaled_and_leaves_towers_without_a_row() -> None:
    text = WRITER.format(step=f"if not writes:\n            {OWN_STEP}")
    assert codes(text) == ["TMG316"]
    lines = [line.strip() for line in body(text)]
    assert "batch_size = 1" in lines and "net = Net(32 * num_gpus)" in lines
    loop = lines.index("for gpu in range(num_gpus):")
    assert lines[loop + 1 : loop + 14] == [
        "with tf.device(tower_device(gpu)), tf.name_scope('tower_%d' % gpu), \\",
        "tf.variable_scope(tf.get_variable_scope(), reuse=gpu > 0):",
        "(self.X, self.Y), rows, weight = shard([X_batch, Y_batch], gpu)",
        "with tf.variable_scope('net'):",
        "self.h = tf.layers.dense(self.X, 1, name='h')",
        "self.loss = tf.reduce_mean(tf.square(self.h - self.Y))",
        "tower_loss.append(self.loss * weight)",
        "tower_h.append(self.h[:rows])",
        "# From here on: the whole batch.",
        "self.X, self.Y = X_batch, Y_batch",
        "self.loss = tf.add_n(tower_loss)",
        "self.h = tf.concat(tower_h, 0)",
        "if not writes:",
    ]


def test_an_optimizer_that_is_made_again_with_the_model() -> None:
    assert "layer_names.resume()" in [line.strip() for line in body(WRITER.format(step=OWN_STEP))]


LATE = """
import argparse
import tensorflow as tf

{top}

def train(rate, batch_size={default}):
    {size}
    X = tf.placeholder(tf.float32, [None, 4])
    Y = tf.placeholder(tf.float32, [None, 1])
    loss = tf.reduce_mean(tf.square(tf.layers.dense(X, 1) - Y))
    train_op = tf.train.AdamOptimizer(rate).minimize(loss)
    with tf.Session() as sess:
        for step in range(100):
            xs, ys = next_batch(batch_size)
            sess.run(train_op, {X: xs, Y: ys})


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--rate', type=float, default=0.1)
    args = parser.parse_args()
    train(args.rate)


main()
"""


@pytest.mark.parametrize(
    ("top", "default", "size", "flag"),
    [
        ("", "32", "pass", False),
        ("SIZE = 32", "SIZE", "pass", False),
        ("SIZE = 32", "None", "batch_size = SIZE", False),
        ("", "None", "batch_size = 32", True),
        ("class Config(object):\n    size = 32\n", "None", "batch_size = Config.size", False),
    ],
    ids=["default", "constant as default", "constant", "in the function", "class"],
)
def test_numbers_that_are_computed_before_arguments_are_parsed(top: str, default: str, size: str, flag: bool) -> None:
    """A flag would not change them any more: the number of GPUs is a constant there."""
    text = LATE
    for name, value in (("top", top), ("default", default), ("size", size)):
        text = text.replace("{" + name + "}", value)
    lines = "\n".join(body(text))
    assert "32 * num_gpus" in lines.replace("NUM_GPUS", "num_gpus")
    assert ("--num_gpus" in lines) == flag


FLAGS = """\
import tensorflow as tf
import {module}

{top}
flags = tf.app.flags
flags.DEFINE_float('rate', 0.1, 'Learning rate.')
{between}
flags.DEFINE_integer('steps', 100, 'Steps.')
FLAGS = flags.FLAGS
{below}

def main(_):
    {size}
    X = tf.placeholder(tf.float32, [None, 4])
    Y = tf.placeholder(tf.float32, [None, 1])
    loss = tf.reduce_mean(tf.square(tf.layers.dense(X, 1) - Y))
    train_op = tf.train.AdamOptimizer(FLAGS.rate).minimize(loss)
    with tf.Session() as sess:
        for step in range(FLAGS.steps):
            xs, ys = {batch}
            sess.run(train_op, {{X: xs, Y: ys}})


if __name__ == '__main__':
    tf.app.run()
"""
FLAGS_WITH = dict.fromkeys(("top", "between", "below"), "") | {
    "module": "math",
    "size": "pass",
    "batch": "next_batch(SIZE)",
}


@pytest.mark.parametrize(
    ("given", "flag"),
    [
        ({"top": "SIZE = 32"}, False),
        ({"between": "SIZE = 32"}, False),
        ({"between": "def next_batch(n=32):\n    return read(n)\n", "batch": "next_batch()"}, False),
        ({"below": "SIZE = 32"}, True),
        ({"below": "def next_batch(n=32):\n    return read(n)\n", "batch": "next_batch()"}, True),
        ({"size": "SIZE = 32"}, True),
    ],
    ids=["above", "between", "default between", "below", "default below", "in the function"],
)
def test_numbers_that_are_computed_before_a_flag_is_defined(given: dict[str, str], flag: bool) -> None:
    """Reading the number of GPUs there would parse the command line, which has flags that are not known yet."""
    lines = "\n".join(body(FLAGS.format(**FLAGS_WITH | given)))
    assert ("32 * FLAGS.num_gpus" if flag else "32 * num_gpus") in lines.replace("NUM_GPUS", "num_gpus")
    assert ("DEFINE_integer('num_gpus'" in lines) == flag


READER = "def next_batch(n={}):\n    return read(n)\n"


@pytest.mark.parametrize(
    ("modules", "given", "flag"),
    [
        ({"data": READER.format(32)}, {"module": "data", "batch": "data.next_batch()"}, False),
        ({"data": "SIZE = 32\n"}, {"module": "data", "batch": "next_batch(data.SIZE)"}, False),
        (
            {"data": "class Config(object):\n    size = 32\n"},
            {"module": "data", "batch": "next_batch(data.Config.size)"},
            False,
        ),
        (
            {"data": READER.format("None") + "\n\ndef start():\n    return next_batch(32)\n"},
            {"module": "data", "batch": "data.start()"},
            True,
        ),
        ({"data": READER.format(32)}, {"below": "import data", "batch": "data.next_batch()"}, True),
    ],
    ids=["default", "constant", "class", "in a function", "imported below the flags"],
)
def test_numbers_of_a_file_that_is_imported_before_the_flags(
    tmp_path: Path, modules: dict[str, str], given: dict[str, str], flag: bool
) -> None:
    for name, text in modules.items():
        (tmp_path / f"{name}.py").write_text(text)
    script = tmp_path / "train.py"
    script.write_text(FLAGS.format(**FLAGS_WITH | given))
    conversion = convert(read(str(script)), Options(), several=True)
    assert conversion.status == "converted", conversion.diagnostics
    files = {Path(part.path).name: part.text for part in conversion.parts}
    assert f"32 * tower_helpers{'.FLAGS' if flag else ''}.num_gpus" in files["data.py"]


def test_models_of_one_class_are_fed_batches_of_their_own() -> None:
    script = """\
        import tensorflow as tf

        class Net(object):
            def __init__(self, units):
                self.x = tf.placeholder(tf.float32, [None, 4])
                self.y = tf.placeholder(tf.float32, [None, 1])
                hidden = tf.layers.dense(self.x, units)
                self.loss = tf.reduce_mean(tf.square(tf.layers.dense(hidden, 1) - self.y))
                self.step = tf.train.GradientDescentOptimizer(0.1).minimize(self.loss)

        small, large = Net(8), Net(64)
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            for xs, ys in batches(batchsize=100):
                sess.run(small.step, {small.x: xs, small.y: ys})
            for xs, ys in batches(batchsize=50):
                sess.run(large.step, {large.x: xs, large.y: ys})
        """
    text = converted(script)
    assert "batches(batchsize=100 * num_gpus)" in text and "batches(batchsize=50 * num_gpus)" in text


READER = """\
class Trainer(object):
    def __init__(self):
        self.at = 0
        self.X = tf.placeholder(tf.float32, [None, 4])
        self.Y = tf.placeholder(tf.float32, [None, 1])
        prediction = tf.layers.dense(self.X, 1)
        loss = tf.reduce_mean(tf.square(prediction - self.Y))
        self.train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)

    def next_batch(self, batch_size):
        start = self.at
        self.at += batch_size
        return self.xs[start:self.at], self.ys[start:self.at]

    def {name}(self, xs, ys):
        self.xs, self.ys = xs, ys
        sess = tf.Session()
        for step in range(100):
            batch = self.next_batch({size})
            sess.run(self.train_op, {{self.X: batch[0], self.Y: batch[1]}})
"""


@pytest.mark.parametrize("name", ["train", "fit"])
def test_methods_of_a_class_without_an_object_get_the_numbers_that_other_methods_give(name: str) -> None:
    """A position that is kept in the object holds the size of the batches before: it was scaled twice."""
    text = "import tensorflow as tf\n\n" + READER.format(name=name, size="100")
    assert changed(text) == []
    assert codes(text) == ["TMG339"]  # 100 steps would go N times as far through the rows
    text = text.replace("range(100)", "range(len(xs) // 100)")
    assert "batch = self.next_batch(100 * num_gpus)" in changed(text)


def test_a_method_that_no_other_one_calls_is_given_the_size_by_the_caller() -> None:
    reader = READER.format(name="fit", size="batch_size").replace("xs, ys):", "xs, ys, batch_size):")
    reader = reader.replace("range(100)", "range(len(xs) // batch_size)")
    text = "import tensorflow as tf\n\n" + reader
    assert changed(text) == ["batch_size *= num_gpus"]
    assert "TMG305" in codes(text)


GIVEN_SESSION = """\
import tensorflow as tf

class Trainer(object):
    def __init__(self, sess):
        self.sess = sess
        self.batch_size = 64
        self.X = tf.placeholder(tf.float32, [None, 4])
        self.Y = tf.placeholder(tf.float32, [None, 1])
        prediction = tf.layers.dense(self.X, 1)
        loss = tf.reduce_mean(tf.square(prediction - self.Y))
        self.train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)

    def train(self, data):
        for step in range(100):
            xs, ys = data.next_batch(self.batch_size)
            {run}
"""


@pytest.mark.parametrize(
    ("run", "found"),
    [
        ("self.sess.run(self.train_op, {self.X: xs, self.Y: ys})", True),
        ("self.sess.run([self.train_op], feed_dict={self.X: xs, self.Y: ys})", True),
        ("self.sess.run(self.train_op, {'X': xs, 'Y': ys})", False),
        ("self.sess.run(self.train_op, xs, ys)", False),
        ("self.sess.run()", False),
    ],
)
def test_a_session_that_is_given_runs_what_it_feeds(run: str, found: bool) -> None:
    """Another file makes the session: what is fed tensors is one."""
    text = GIVEN_SESSION.format(run=run)
    assert changed(text) == (["self.batch_size = 64 * num_gpus"] if found else [])
    assert ("TMG303" in codes(text)) != found


HANDED = "with tf.Session() as sess:\n    for step in range(9):\n        sess.run(train_op, {feed})\n"


@pytest.mark.parametrize(
    ("head", "feed", "code"),
    [
        ("def fit(x, y):\n", "{X: x, Y: y}", "TMG303"),
        ("class Trainer(object):\n    def fit(self, x, y):\n", "{X: x, Y: y}", "TMG303"),
        ("def fit(path):\n    x, y = np.load(path), np.load(path)\n", "{X: x, Y: y}", "TMG304"),  # read whole
        ("def fit(x):\n    y = np.ones([50, 1])\n", "{X: x, Y: y}", "TMG304"),
    ],
)
def test_what_the_caller_of_a_function_hands_over_is_not_called_a_data_set(head: str, feed: str, code: str) -> None:
    deep = "        " if head.startswith("class") else "    "
    training = "".join(deep + line + "\n" for line in HANDED.format(feed=feed).splitlines())
    found = run("import numpy as np\nimport tensorflow as tf\n\n" + GRAPH + head + training).diagnostics
    said = "what is fed here is an argument of a function that nothing in these files calls: "
    assert [d.code for d in found] == [code]
    assert (said in found[0].message) == (code == "TMG303")


EXPONENT = (
    "import numpy as np\nimport yaml\nconfig = yaml.safe_load(open('settings.yml'))\n"
    "batch_size = config['batch_size']\nrows = {}"
)


@pytest.mark.parametrize(
    "rows",
    [
        "2 ** batch_size",
        "1 << batch_size",
        "np.power(2, batch_size)",
        "int(2 ** batch_size / 2)",
        "2 ** (batch_size + 1)",
    ],
)
def test_an_exponent_is_no_batch_size(rows: str) -> None:
    text = script(EXPONENT.format(rows), STEPS.format("rows"))
    assert changed(text) == [] and codes(text) == ["TMG303"]


@pytest.mark.parametrize(
    "rows", ["2 * batch_size", "batch_size // 2", "2 ** 3 * batch_size", "int(batch_size * 2 ** width)"]
)
def test_a_multiple_of_a_batch_size_follows_it(rows: str) -> None:
    text = script(EXPONENT.format(rows), STEPS.format("rows"))
    assert "batch_size = config['batch_size'] * num_gpus" in changed(text) and codes(text) == []


BESIDE = """\
import numpy as np
import tensorflow as tf

batch_size = 32
X = tf.placeholder(tf.float32, [None, 4])
loss = tf.reduce_mean(tf.square(tf.layers.dense(X, 4) - X))
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)
data = np.load('data.npy')
sess = tf.Session()
for i in range(0, len(data), batch_size):
    sess.run(train_op, {{X: data[i:i + batch_size]}})
while waiting():
    {}
"""


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("sess.run(train_op, {X: episode()})", ["TMG303"]),
        ("sess.run([loss, train_op], {X: np.array(queue.get())})", ["TMG303"]),
        ("sess.run(loss, {X: episode()})", []),
        ("sess.run(train_op, {X: episode()[:batch_size]})", []),
        ("sess.run(train_op, {X: next_batch(batch_size)})", []),
    ],
)
def test_steps_of_no_known_size_beside_batches(line: str, found: list[str]) -> None:
    assert codes(BESIDE.format(line)) == found
    assert codes(BESIDE.format(line), batch="total") == []
