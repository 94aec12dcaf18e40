"""Devices that the model names itself."""

from __future__ import annotations

import pytest

from tests.scripts import INPUTS, MODEL, STEP, TRAINING, body, codes

LINE = "prediction = tf.layers.dense(X, 1)\n"


def placed(device: str, around: str = LINE) -> str:
    """A script with a part of its model, or all of it, on a device."""
    block = f"with tf.device({device}):\n" + "".join(f"    {line}\n" for line in around.splitlines())
    return (INPUTS + MODEL + STEP).replace(around, block) + TRAINING


@pytest.mark.parametrize(
    ("device", "becomes", "found"),
    [
        ("'/gpu:0'", "''", []),
        ("'/gpu:1'", "''", []),
        ("'/device:GPU:0'", "''", []),
        ("device_name_or_function='gpu:0'", "device_name_or_function=''", []),
        ("'/gpu:%d' % chosen()", "''", []),
        ("'/gpu:{}'.format(chosen())", "''", []),
        ("'/cpu:0'", "''", ["TMG326"]),
        ("''", "''", []),
        ("chosen()", "chosen()", ["TMG314"]),
        ("None", "''", []),  # which would take the tower's device away
        ("tf.train.replica_device_setter(0)", "''", []),  # None, too
        ("tf.train.replica_device_setter()", "''", []),
        ("'/gpu:0' if fast() else '/cpu:0'", "'/gpu:0' if fast() else '/cpu:0'", ["TMG314"]),
    ],
)
def test_devices_inside_the_towers(device: str, becomes: str, found: list[str]) -> None:
    text = placed(device)
    assert f"        with tf.device({becomes}):" in body(text)
    assert codes(text) == found


def test_a_name_for_the_device() -> None:
    assert "        with tf.device(''):" in body("DEVICE = '/gpu:0'\n" + placed("DEVICE"))


def test_devices_around_the_towers_stay() -> None:
    """The tower's device is inside of them, and counts."""
    text = placed("'/gpu:0'", MODEL + STEP)
    assert "with tf.device('/gpu:0'):" in body(text) and codes(text) == []


@pytest.mark.parametrize(
    ("device", "becomes", "found"),
    [
        ("'/gpu:3'", "''", ["TMG352"]),
        ("'/device:GPU:12'", "''", ["TMG352"]),
        ("'/job:localhost/gpu:1'", "''", ["TMG352"]),
        ("'/gpu:%d' % chosen()", "''", ["TMG352"]),
        ("'/gpu:*'", "'/gpu:*'", []),
        ("'/device:GPU:0'", "'/device:GPU:0'", []),
        ("'/cpu:0'", "'/cpu:0'", []),
        ("chosen()", "chosen()", []),
    ],
)
def test_another_gpu_around_the_towers_gives_way(device: str, becomes: str, found: list[str]) -> None:
    text = placed(device, MODEL + STEP)
    assert f"with tf.device({becomes}):" in body(text) and codes(text) == found


def test_another_gpu_beside_the_towers_stays() -> None:
    """What only reads the weights may stand on a GPU of its own."""
    beside = "with tf.device('/gpu:1'):\n    norms = [tf.norm(w) for w in tf.trainable_variables()]\n"
    text = INPUTS + MODEL + STEP + beside + TRAINING
    assert "with tf.device('/gpu:1'):" in body(text) and codes(text) == []


UNBUILT = """
def towers({parameters}):
    optimizer = tf.train.AdamOptimizer(0.1)
    pairs = []
    for i in range(num_gpus):
        with tf.device('/gpu:%d' % i):
            pairs.append(optimizer.compute_gradients(tf.reduce_mean(tf.layers.dense(X, 1))))
    return optimizer.apply_gradients(pairs[0])


{call}"""


@pytest.mark.parametrize(
    ("call", "trains", "found"),
    [
        ("", True, []),
        ("", False, ["TMG216"]),  # another file may call it
        ("other = towers(2)\n", True, ["TMG216"]),
        ("if FLAGS.several:\n    other = towers(2)\n", True, ["TMG216"]),
    ],
)
def test_towers_that_nothing_builds(call: str, trains: bool, found: list[str]) -> None:
    text = INPUTS + UNBUILT.format(parameters="num_gpus", call=call) + (MODEL + STEP + TRAINING if trains else "")
    assert codes(text) == found


def test_a_function_around_the_towers_gives_way() -> None:
    """TensorFlow asks the outermost function last, and takes what it says."""
    function = "\n\ndef pick(op):\n    return '/cpu:0' if op.type.startswith('Variable') else '/gpu:0'\n\n\n"
    assert "with tf.device(''):" in body(function + placed("pick", MODEL + STEP))


@pytest.mark.parametrize(
    "kept",
    [
        "table = tf.get_variable('table', [10, 4])\nrows = tf.nn.embedding_lookup(table, tf.cast(X[:, 0], tf.int32))\n",
        "table = tf.get_variable('table', [4])\nrows = X * 1.5\n",
    ],
)
def test_variables_and_lookups_stay_on_the_cpu(kept: str) -> None:
    block = "with tf.device('/cpu:0'):\n" + "".join(f"    {line}\n" for line in kept.splitlines())
    model = MODEL.replace("dense(X,", "dense(rows,")
    assert "        with tf.device('/cpu:0'):" in body(INPUTS + block + model + STEP + TRAINING)
    assert codes(INPUTS + block + model + STEP + TRAINING) == []


CONSTRUCTED = """
class Net(object):
    def __init__(self):
        self.w = tf.get_variable('w', [4, 1])

    def build(self, x, y):
        out = tf.matmul(x, self.w)
        self.loss = tf.reduce_mean(tf.square(out - y))


def train():
    X = tf.placeholder(tf.float32, [None, 4])
    Y = tf.placeholder(tf.float32, [None, 1])
    net = Net()
    net.build(X, Y)
    train_op = tf.train.GradientDescentOptimizer(0.1).minimize(net.loss)
    with tf.Session() as sess:
        for step in range(100):
            xs, ys = next_batch(batch_size)
            sess.run(train_op, {X: xs, Y: ys})


if __name__ == '__main__':
    train()
"""


def test_variables_of_a_constructor_live_where_variables_do() -> None:
    """The constructor is called by a function that the last statement calls, which leads to the loop as well."""
    lines = body(INPUTS.partition("X = ")[0] + CONSTRUCTED)
    assert lines[lines.index("    with tf.device(variable_device):") + 1] == "        net = Net()"


LOOPED = """\
import tensorflow as tf

tf.app.flags.DEFINE_integer('gpu', 0, 'the GPU')
FLAGS = tf.app.flags.FLAGS
batch_size = 32
X = tf.placeholder(tf.float32, [None, 4])
Y = tf.placeholder(tf.float32, [None, 1])
h = X
for {turn}:
    with tf.device({device}):
        h = tf.layers.dense(h, 8)
loss = tf.reduce_mean(tf.square(tf.layers.dense(h, 1) - Y))
"""


@pytest.mark.parametrize(
    ("turn", "device", "found"),
    [
        ("i in range(2)", "'/gpu:%d' % FLAGS.gpu", []),  # the same one in each turn
        ("units in (8, 4)", "'/gpu:{}'.format(FLAGS.gpu)", []),
        ("v in [tf.get_variable('a', [2]), tf.get_variable('b', [2])]", "v.device", []),  # where the variable is
        ("t in [X, Y]", "t.device", []),
        ("v in towers()", "v.device", ["TMG216"]),
        ("i in range(2)", "'/gpu:%d' % i", ["TMG216"]),
        ("i in range(2)", "devices[i]", ["TMG216"]),
        ("i in range(2)", "next(devices)", ["TMG216"]),
        ("name in names()", "name", ["TMG216"]),
    ],
)
def test_a_device_in_a_loop(turn: str, device: str, found: list[str]) -> None:
    text = LOOPED.format(turn=turn, device=device) + STEP + TRAINING
    assert [code for code in codes(text) if code == "TMG216"] == found


@pytest.mark.parametrize(
    ("chosen", "found"),
    [
        ("device = '/gpu:0' if FLAGS.gpu else '/cpu:0'", []),
        ("device = '/cpu:0'\n    if FLAGS.gpu:\n        device = '/gpu:0'", []),
        ("device = '/gpu:0' if n == 8 else '/gpu:1'", ["TMG216"]),
        ("device = devices.get(n)", ["TMG216"]),
        ("device = '/gpu:%d' % n", ["TMG216"]),
    ],
)
def test_a_device_that_a_function_chooses_among_texts(chosen: str, found: list[str]) -> None:
    """A function that is called in a loop: the GPU or the CPU is no second GPU."""
    layer = f"def layer(h, n):\n    {chosen}\n    with tf.device(device):\n        return tf.layers.dense(h, n)\n"
    text = LOOPED.format(turn="units in (8, 4)", device="'/cpu:0'")
    head, turn, rest = text.replace("tf.layers.dense(h, 8)", "layer(h, units)").partition("batch_size = 32\n")
    text = head + layer + turn + rest.replace("    with tf.device('/cpu:0'):\n        h", "    h") + STEP + TRAINING
    assert [code for code in codes(text) if code == "TMG216"] == found


PLACED = """\
def net(h, gpus=[]):
    for i in range(3):
        if gpus:
            with tf.device('/gpu:%d' % gpus[i % len(gpus)]):
                h = tf.layers.dense(h, 8)
        else:
            h = tf.layers.dense(h, 8)
    return h


"""


@pytest.mark.parametrize(
    ("call", "found"),
    [
        ("net(X)", []),  # no run comes to the device
        ("net(X, [])", []),
        ("net(X, [0, 1])", ["TMG216"]),
        ("net(X, FLAGS.gpus)", ["TMG216"]),
        ("net(X, lib.gpus())", ["TMG216"]),
        ("net(X, lib.filled(gpus))", ["TMG216"]),
        ("net(X, filled)", ["TMG216"]),
        ("net(X, given)", ["TMG216"]),
        ("net(X, [g for g in FLAGS.gpus.split(',') if g])", ["TMG216"]),
    ],
)
def test_layers_on_the_gpus_of_a_list(call: str, found: list[str]) -> None:
    imports = "import tensorflow as tf\nimport lib\n\ntf.app.flags.DEFINE_string('gpus', '', '')\n"
    lists = "FLAGS = tf.app.flags.FLAGS\ngpus, filled, given = [], [], []\nlib.fill(given)\n"
    lists += "for part in FLAGS.gpus.split(','):\n    filled.append(int(part))\n\n\n"
    text = LOOPED.split("batch_size = 32\n")[1]
    model = text.replace("h = X\n", f"h = {call}\n")
    model = model[: model.index("\nfor ") + 1] + model[model.index("loss = ") :]
    script = imports + lists + PLACED + "batch_size = 32\n" + model + STEP + TRAINING
    assert [code for code in codes(script) if code == "TMG216"] == found


def test_a_device_that_a_function_is_given_in_a_loop() -> None:
    layer = "def layer(h, gpu):\n    with tf.device('/gpu:%d' % {}):\n        return tf.layers.dense(h, 8)\n\n\n"
    block = "    with tf.device(None):\n        h = tf.layers.dense(h, 8)"
    text = LOOPED.format(turn="i in range(n)", device="None").replace(block, "    h = layer(h, i)")
    text += STEP + TRAINING
    head, rest = text.split("batch_size = 32\n")
    assert "TMG216" in codes(head + layer.format("gpu") + "batch_size = 32\n" + rest)
    assert "TMG216" not in codes(head + layer.format("FLAGS.gpu") + "batch_size = 32\n" + rest)


@pytest.mark.parametrize(
    ("first", "second", "found"),
    [("'/gpu:0'", "'/cpu:0'", []), ("'/gpu:0'", "'/gpu:1'", ["TMG216"]), ("'/gpu:0'", "names[i]", ["TMG216"])],
)
def test_a_device_that_a_switch_chooses_in_a_function_called_in_a_loop(
    first: str, second: str, found: list[str]
) -> None:
    layer = (
        "def layer(h, i):\n"
        "    if FLAGS.gpu > 0:\n"
        f"        device = {first}\n"
        "    else:\n"
        f"        device = {second}\n"
        "    with tf.device(device):\n"
        "        return tf.layers.dense(h, 8)\n\n\n"
    )
    block = "    with tf.device(None):\n        h = tf.layers.dense(h, 8)"
    text = LOOPED.format(turn="i in range(2)", device="None").replace(block, "    h = layer(h, i)") + STEP + TRAINING
    head, rest = text.split("batch_size = 32\n")
    text = head + layer + "batch_size = 32\n" + rest
    assert [code for code in codes(text) if code == "TMG216"] == found
