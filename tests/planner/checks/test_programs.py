"""Functions, classes and branches: what a name may stand for, and what is refused."""

from __future__ import annotations

import pytest

from tests.scripts import INPUTS, MODEL, SCRIPT, STEP, TRAINING, codes, converted, helpers, parts, run

LOSS = "loss = tf.reduce_mean(tf.square(h - Y))\n"
BEFORE, INSIDE, AFTER = 0, 1, 2


def script(model: str, loss: str = LOSS, step: str = STEP, training: str = TRAINING) -> str:
    return INPUTS + model + loss + step + training


NORMED = "def normed(x):\n    return tf.layers.batch_normalization(tf.layers.dense(x, 1), training=True)\n\n\n"
PLAIN = "def plain(x):\n    return tf.layers.dense(x, 1)\n\n\n"


@pytest.mark.parametrize(
    "choice",
    [
        "h = {'plain': plain, 'normed': normed}[name()](X)\n",
        "net = plain if name() else normed\nh = net(X)\n",
        "if name():\n    net = plain\nelse:\n    net = normed\nh = net(X)\n",
        "def get(which):\n    if which == 'plain':\n        return plain\n    return normed\n\n\nh = get(name())(X)\n",
        "nets = {'plain': plain, 'normed': lambda x: normed(x)}\nh = nets.get(name(), normed)(X)\n",
    ],
    ids=["dict", "conditional", "if", "function", "lambda"],
)
def test_what_any_of_several_functions_does_counts(choice: str) -> None:
    assert "first_tower_updates" in converted(script(PLAIN + NORMED + choice))
    other = NORMED.replace("batch_normalization", "dropout")
    assert helpers(script(PLAIN + other + choice)) == {"check_gpus", "sum_gradients", "shard", "tower_device"}


@pytest.mark.parametrize(
    "switch",
    [
        "deep = False\nif name() == 'deep':\n    deep = True\n",
        "deep = True\nif name() == 'deep':\n    pass\nelif name():\n    pass\nelse:\n    deep = False\n",
        "deep = None\nif name():\n    deep = 'deep'\n",
    ],
)
@pytest.mark.parametrize("holder", ["", "net."])
def test_a_switch_that_a_branch_may_have_set_is_not_known(switch: str, holder: str) -> None:
    """Whichever branch the script took, both ways of the model are read."""
    nets = "class Net(object):\n    pass\n\n\nnet = Net()\n" + PLAIN + NORMED
    for one, two in (("plain", "normed"), ("normed", "plain")):
        model = f"if deep:\n    h = {one}(X)\nelse:\n    h = {two}(X)\n"
        assert "first_tower_updates" in converted(script(nets + (switch + model).replace("deep", f"{holder}deep")))


@pytest.mark.parametrize("branches", ["if deep():\n    {}\n", "if deep():\n    pass\nelse:\n    {}\n"])
@pytest.mark.parametrize("place", ["h", "net.h", "net['h']"])
def test_what_either_branch_changes_may_stand_as_it_was(place: str, branches: str) -> None:
    head = "class Net(dict):\n    pass\n\n\n" if place == "net.h" else ""
    net = {"h": "", "net.h": "net = Net()\n", "net['h']": "net = {}\n"}[place]
    model = head + net + f"{place} = tf.reduce_max(X)\n" + branches.format(f"{place} = tf.layers.dense(X, 1)")
    assert codes(script(model, f"loss = tf.reduce_mean(tf.square({place}))\n")) == ["TMG302"]


@pytest.mark.parametrize(
    ("model", "loss"),
    [
        (
            "class Net(object):\n    pass\n\n\nnet = Net()\n"
            "if deep():\n    net.h = tf.layers.dense(X, 1)\nelse:\n    net.h = X\n",
            "loss = tf.reduce_mean(tf.square(net.h - Y))\n",
        ),
        (
            "net = {}\nif deep():\n    net['h'] = tf.layers.dense(X, 1)\nelse:\n    net['h'] = X\n",
            "loss = tf.reduce_mean(tf.square(net['h'] - Y))\n",
        ),
        ("if deep():\n    h = tf.layers.dense(X, 1)\nelse:\n    h = X\n", LOSS),
    ],
    ids=["attribute", "item", "name"],
)
def test_branches_that_bind_the_same(model: str, loss: str) -> None:
    inside = parts(script(model, loss))[INSIDE]
    assert "if deep():" in inside


@pytest.mark.parametrize("chosen", ["adam", "sgd", "momentum"])
def test_each_of_several_training_steps_is_converted(chosen: str) -> None:
    """Another value of the constant takes another one."""
    steps = "".join(
        f"{head} optimizer == '{name}':\n    train_op = tf.train.{cls}(0.1).minimize(loss)\n"
        for head, name, cls in (("if", "adam", "AdamOptimizer"), ("elif", "sgd", "GradientDescentOptimizer"))
    )
    model = f"optimizer = '{chosen}'\nh = tf.layers.dense(X, 1)\n"
    text = converted(script(model, step=steps + "else:\n    raise ValueError\n"))
    assert [line for line in text.splitlines() if "train_op = " in line] == [
        "    train_op = tower_optimizer.apply_gradients(tower_gradients(tower_optimizer, tower_loss))",
        "    train_op = tower_optimizer.apply_gradients(tower_gradients(tower_optimizer, tower_loss))",
    ]


@pytest.mark.parametrize("mode", ["train", "eval"])
def test_a_training_step_that_is_not_taken_stays_as_it_is(mode: str) -> None:
    model = f"mode = '{mode}'\nh = tf.layers.dense(X, 1)\n"
    step = "if mode == 'train':\n    train_op = tf.train.AdamOptimizer().minimize(loss)\n"
    found = codes(script(model, step=step + "else:\n    train_op = tf.no_op()\n"))
    assert found == ([] if mode == "train" else ["TMG201"])


@pytest.mark.parametrize(
    ("more", "found"),
    [
        ("if deep():\n    loss += 0.1 * tf.add_n([tf.nn.l2_loss(v) for v in tf.trainable_variables()])\n", []),
        ("if deep():\n    loss = tf.reduce_mean(tf.abs(h - Y))\n", []),
        ("if deep():\n    loss = tf.reduce_sum(tf.abs(h - Y))\n", ["TMG302"]),
    ],
    ids=["a term", "another mean", "a sum"],
)
def test_losses_under_a_condition(more: str, found: list[str]) -> None:
    assert codes(script("h = tf.layers.dense(X, 1)\n", LOSS + more)) == found


LAZY = """\
def lazy(function):
    name = '_' + function.__name__

    @property
    def wrapper(self):
        if not hasattr(self, name):
            setattr(self, name, function(self))
        return getattr(self, name)

    return wrapper


class Net(object):
    def __init__(self, x, y):
        self.x, self.y = x, y
        self.h
        self.train

    @lazy
    def h(self):
        return tf.layers.dense(self.x, 1)

    @lazy
    def train(self):
        loss = {loss}
        return tf.train.GradientDescentOptimizer(0.1).minimize(loss)


net = Net(X, Y)
"""
MEAN = "tf.reduce_mean(tf.square(self.h - self.y))"


@pytest.mark.parametrize(
    ("loss", "found"),
    [
        (MEAN, []),
        (f"{MEAN} + 0.1 * tf.nn.l2_loss(tf.trainable_variables()[0])", []),
        ("tf.reduce_sum(tf.square(self.h - self.y))", ["TMG301"]),
        (f"tf.sqrt({MEAN})", ["TMG302"]),
    ],
    ids=["mean", "regularised", "sum", "root"],
)
def test_properties_that_train(loss: str, found: list[str]) -> None:
    text = INPUTS + LAZY.format(loss=loss) + TRAINING.replace("train_op", "net.train")
    assert codes(text) == found
    inside = parts(text)[INSIDE]
    assert inside.index("self.__dict__.pop('_h', None)  # each tower makes its own") == inside.index("self.h") - 1
    assert ("colocate_gradients_with_ops=True" in converted(text)) is (not found)
    assert ("self._h = part_of_tower(h_batch, gpu)" in converted(text)) is bool(found)


@pytest.mark.parametrize(
    "given",
    [
        "colocate_gradients_with_ops=True",
        "colocate_gradients_with_ops=False",
        "colocate_gradients_with_ops=near()",
        "**settings",
    ],
)
def test_a_property_that_trains_may_say_where_gradients_are_computed(given: str) -> None:
    model = LAZY.format(loss=MEAN).replace("minimize(loss)", f"minimize(loss, {given})")
    assert given in model
    done = run(INPUTS + model + TRAINING.replace("train_op", "net.train"))
    assert done.text is not None and not done.diagnostics
    assert given.lstrip("*") in done.text.partition("end of helpers")[2]


@pytest.mark.parametrize(
    ("model", "again"),
    [
        ("top = tf.reduce_max(X)\nh = tf.layers.dense(X / top, 1)\n", True),
        (
            "places = tf.where(X > 0)\nh = tf.layers.dense(X, 1) + tf.reduce_sum(tf.gather_nd(X, places))\n"
            "top = places\n",
            True,
        ),
        ("top = tf.reduce_max(tf.layers.dense(X, 4))\nh = tf.layers.dense(X / top, 1)\n", False),
        ("top = tf.reduce_max(X + tf.random_normal(tf.shape(X)))\nh = tf.layers.dense(X / top, 1)\n", False),
        (
            "if deep():\n    top = tf.reduce_max(X)\nelse:\n    top = tf.reduce_min(X)\n"
            "h = tf.layers.dense(X / top, 1)\n",
            False,
        ),
        ("x = X\nx = x * 2\ntop = tf.reduce_max(x)\nx = x / top\nh = tf.layers.dense(x, 1)\n", False),
    ],
    ids=["of an input", "places", "of a variable", "random", "in a branch", "of a name bound again"],
)
def test_what_has_no_merge_is_computed_again(model: str, again: bool) -> None:
    text = script(model, step=STEP + "tf.py_func(decide, [top], [])\n")
    refused = [code for code in codes(text) if code != "TMG302"]
    assert refused == ([] if again else ["TMG210"])
    if again:
        first = model.splitlines()[0]
        assert first in parts(text)[INSIDE] and first in parts(text)[AFTER]


@pytest.mark.parametrize(
    ("model", "found"),
    [
        (
            "def net(x, n):\n    return x if n == 0 else net(tf.layers.dense(x, 4), n - 1)\n\n\nh = net(X, 8)\n",
            ["TMG232"],
        ),
        (
            "def net(x, n):\n    return x if n == 0 else net(tf.layers.dense(x, 4), n - 1)\n\n\nh = net(X, 2)\n",
            [],
        ),
        (
            "def net(x, n):\n    return x if n < 1 else net(tf.layers.dense(x, 4), n - 1)\n\n\nh = net(X, depth())\n",
            [],
        ),
        (
            "def fact(n):\n    return 1 if n < 2 else n * fact(n - 1)\n\n\nh = tf.layers.dense(X, 1)\nprint(fact(4))\n",
            [],
        ),
        (
            "import os\n\n\ndef found(folder):\n    files = []\n    for name in os.listdir(folder):\n"
            "        path = os.path.join(folder, name)\n"
            "        files += found(path) if os.path.isdir(path) else [path]\n    return files\n\n\n"
            "h = tf.layers.dense(tf.layers.dense(X, len(found('data'))), 1)\n",
            [],
        ),
        (
            "import json\n\n\ndef flat(part):\n"
            "    return sum(map(flat, part), []) if isinstance(part, list) else [part]\n\n\nh = X\n"
            "for width in flat(json.load(open('widths.json'))):\n    h = tf.layers.dense(h, width)\n",
            [],
        ),
        (
            "def grow(depth):\n    global h\n    h = tf.layers.dense(h, 4)\n    return depth and grow(depth - 1)\n\n\n"
            "h = X\nh = h * float(grow(9))\n",
            ["TMG232"],
        ),
        ("def twice(f):\n    return lambda x: f(f(x))\n\n\nh = twice(twice(lambda x: tf.layers.dense(x, 4)))(X)\n", []),
    ],
    ids=[
        "the model",
        "few calls",
        "any number of calls",
        "something else",
        "folders",
        "numbers",
        "by a name of the module",
        "one closure calls another",
    ],
)
def test_recursion(model: str, found: list[str]) -> None:
    assert codes(script(model)) == found


SPARSE = "S = tf.sparse_placeholder(tf.float32, [None, 4])\n"


@pytest.mark.parametrize(
    ("model", "found"),
    [
        ("h = tf.matmul(tf.layers.dense(X, 1), tf.ones([1, 1]))\n", []),
        ("h = tf.matmul(A, tf.layers.dense(X, 1))\n", ["TMG233"]),
        ("h = tf.matmul(tf.constant(load()), tf.layers.dense(X, 1))\n", ["TMG233"]),
        ("h = tf.sparse_tensor_dense_matmul(A, tf.layers.dense(X, 1))\n", ["TMG233"]),
        (SPARSE + "h = tf.sparse_tensor_dense_matmul(S, tf.py_func(load, [X], tf.float32))\n", ["TMG233"]),
        (SPARSE + "h = tf.sparse_tensor_dense_matmul(S, tf.get_variable('w', [4, 1])) + X\n", []),
        ("e = tf.layers.dense(X, 4)\nh = tf.matmul(e, e, transpose_b=True)\n", ["TMG302"]),
        ("e = tf.layers.dense(X, 4)\nh = tf.layers.dense(tf.matmul(X, tf.matmul(e, X, transpose_a=True)), 1)\n", []),
    ],
    ids=[
        "weights",
        "matrix that is fed",
        "constant matrix",
        "sparse",
        "sparse, of nodes that are not followed",
        "sparse features",
        "each with each",
        "covariance",
    ],
)
def test_whole_graphs(model: str, found: list[str]) -> None:
    assert codes(script("A = tf.placeholder(tf.float32, [None, None])\n" + model)) == found


STATE = (
    "c = tf.get_variable('c', [4], trainable=False)\nk = tf.get_variable('k', [], trainable=False)\n"
    "n = tf.get_variable('n', initializer=[0.0], trainable=False)\n"
)
BALANCED = "h = tf.layers.dense(X, 1)\nreal = tf.reduce_mean(tf.abs(h)) * k\n"


@pytest.mark.parametrize(
    ("model", "after", "found"),
    [
        ("h = tf.layers.dense(X, 1) - c\n", "update = tf.assign(c, tf.reduce_mean(h, 0))\n", ["TMG234"]),
        ("h = tf.layers.dense(X, 1) - tf.assign(c, tf.reduce_mean(X[:, :1], 0))\n", "", ["TMG234"]),
        ("h = tf.layers.dense(X, 1)\n", "update = tf.assign(c, tf.reduce_mean(h, 0))\n", []),
        ("h = tf.layers.dense(X, 1) - c\n", "update = tf.assign(c, c * 0.9)\n", []),
        (
            "h = tf.layers.dense(X, 1)\n",
            "clip = [v.assign(tf.clip_by_value(v, -0.1, 0.1)) for v in tf.trainable_variables()]\n",
            [],
        ),
    ],
    ids=["read and set", "set in the model", "set only", "a decay", "clipped weights"],
)
def test_state_in_variables(model: str, after: str, found: list[str]) -> None:
    assert codes(script(STATE + model, step=STEP + after)) == found


@pytest.mark.parametrize(
    ("read", "found"),
    [
        ("tf.stop_gradient(update)", ["TMG234"]),
        ("update", ["TMG234"]),
        ("(update if unknown() else mean)", ["TMG234"]),
        ("tf.stop_gradient(mean)", []),
        ("mean", []),
    ],
)
def test_an_update_that_the_loss_waits_for_may_also_be_read_by_it(read: str, found: list[str]) -> None:
    model = (
        "h = tf.layers.dense(X, 1)\nmean = tf.reduce_mean(h, 0)\nupdate = tf.assign(c, 0.9 * c + 0.1 * mean)\n"
        f"with tf.control_dependencies([update]):\n    h = tf.identity(h) - {read}\n"
    )
    assert codes(script(STATE + model)) == found


COUNTING = "def model(h):\n    count = {update}\n    return h * {read}\n\n\nh = model(tf.layers.dense(X, 1))\n"


@pytest.mark.parametrize(
    ("update", "read", "found"),
    [
        ("tf.assign_add(c, [1.0])", "count", ["TMG234"]),
        ("tf.assign(c, c * 0.9)", "count", ["TMG234"]),
        ("tf.assign(c, [0.9])", "count", []),
        ("tf.assign_add(c, [1.0])", "2.0", []),
    ],
)
def test_a_count_that_each_tower_would_raise(update: str, read: str, found: list[str]) -> None:
    assert codes(script(STATE + COUNTING.format(update=update, read=read))) == found


def test_a_count_that_is_raised_before_the_towers_is_raised_once() -> None:
    text = script(STATE + "count = tf.assign_add(c, [1.0])\nh = tf.layers.dense(X, 1) * count\n")
    assert "count = tf.assign_add(c, [1.0])" in parts(text)[BEFORE]


@pytest.mark.parametrize(
    ("update", "found"),
    [
        ("tf.assign(k, tf.clip_by_value(k + 0.1 * (0.5 * real - loss), 0, 1))", []),
        ("k.assign_add(loss)", []),
        ("tf.assign(k, tf.reduce_max(h))", []),
        ("tf.assign(k, tf.sqrt(real))", []),
        ("tf.assign(c, [loss])", []),
        ("tf.assign(n, n + [loss])", []),
        ("tf.assign(c, tf.reduce_mean(h, 0))", ["TMG234"]),
    ],
    ids=["clipped", "added", "of all rows", "a root", "not read", "in brackets", "no scalar"],
)
def test_a_number_of_the_whole_batch_may_be_carried(update: str, found: list[str]) -> None:
    """It is set after the loop, from merged values, once."""
    model = BALANCED + ("h -= c\n" if found else "h -= n\n")
    text = script(STATE + model, LOSS.replace("(h - Y))", "(h - Y)) + real"), STEP + f"update = {update}\n")
    assert codes(text) == found
    if not found:
        assert f"update = {update}" in parts(text)[AFTER]


@pytest.mark.parametrize(("variables", "found"), [("trainable_variables", []), ("global_variables", ["TMG234"])])
def test_weight_decay_is_taken_of_trainable_variables(variables: str, found: list[str]) -> None:
    """So the moving average is not behind the loss, in which all weights are summed up."""
    average = "m = tf.get_variable('m', [1], trainable=False)\nh = tf.layers.dense(X, 1)\n"
    average += "with tf.control_dependencies([tf.assign(m, 0.9 * m + 0.1 * tf.reduce_mean(h, 0))]):\n    h = h - 1.0\n"
    decay = f"loss = loss + 0.01 * tf.add_n([tf.nn.l2_loss(v) for v in tf.{variables}() if 'bias' not in v.name])\n"
    assert codes(script(average, LOSS + decay)) == found


def test_moving_averages_that_only_the_evaluation_reads_are_no_state() -> None:
    model = STATE + (
        "train = tf.placeholder_with_default(True, [])\nh = tf.layers.dense(X, 1)\nmean = tf.reduce_mean(h, 0)\n"
        "with tf.control_dependencies([tf.assign(c, 0.9 * c + 0.1 * mean)]):\n"
        "    h = h - tf.cond(train, lambda: mean, lambda: c)\n"
    )
    assert codes(script(model)) == []


NORMALISED = """\
training = tf.placeholder(tf.bool)
h = tf.layers.dense(X, 1)
mean = tf.reduce_mean(h, 0)
def train():
    with tf.control_dependencies([tf.assign(c, 0.9 * c + 0.1 * mean)]):
        return h - {by_batch}
def test():
    return h - {by_average}
h = {chosen}
"""


@pytest.mark.parametrize(
    ("by_batch", "by_average", "chosen", "found"),
    [
        ("mean", "c", "tf.cond(training, train, test)", []),
        ("mean", "c", "train() if unknown() else test()", []),
        ("mean", "0.5 * (c + 1.0)", "tf.cond(training, train, test)", []),
        ("c", "c", "tf.cond(training, train, test)", ["TMG234"]),
        ("mean - 0.1 * c", "mean", "tf.cond(training, train, test)", ["TMG234"]),
        ("mean", "c", "tf.cond(training, train, test) - c", ["TMG234"]),
        ("mean", "c", "train() + test()", ["TMG234"]),
    ],
)
def test_averages_that_one_branch_sets_and_another_reads(
    by_batch: str, by_average: str, chosen: str, found: list[str]
) -> None:
    """The branch that sets them is training's, as in batch normalisation written by hand."""
    model = NORMALISED.format(by_batch=by_batch, by_average=by_average, chosen=chosen)
    assert codes(script(STATE + model)) == found


ACTING = """\
env = make()
with tf.Session() as sess:
    state, states = env.reset(), []
    for step in range(100):
        action = sess.run(h, {X: [state]})
        states.append(state)
        state = env.step(action)
        sess.run(train_op, {X: states, Y: states})
"""


@pytest.mark.parametrize(
    ("training", "found"),
    [
        (ACTING, ["TMG311"]),
        (ACTING.replace("env.step(action)", "env.observe()"), ["TMG303"]),
        (ACTING.replace("env.step(action)", "env.step()"), ["TMG303"]),
    ],
    ids=["acts", "only looks", "steps without an action"],
)
def test_acting(training: str, found: list[str]) -> None:
    assert codes(script("h = tf.layers.dense(X, 1)\n", training=training)) == found


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("import horovod.tensorflow as hvd", "TMG217"),
        ("from tensorpack import *", "TMG217"),
        ("from tensorpack.train import Trainer", "TMG217"),
        ("import tensorpack.dataflow as df, tensorpack", "TMG217"),
        ("import tensorpack.dataflow as df", ""),  # loads data, and leaves the training to the script
        ("from tensorpack.dataflow import BatchData, RNGDataFlow", ""),
        ("from tensorpack import dataflow", ""),
        ("from tensorpack.utils import logger", ""),
        ("device = tf.train.replica_device_setter(1)", "TMG217"),
        ("device = tf.train.replica_device_setter(tasks)", "TMG217"),
        ("device = tf.train.replica_device_setter(cluster=hosts)", "TMG217"),
        ("device = tf.train.replica_device_setter(0)", ""),  # None
        ("device = tf.train.replica_device_setter(ps_tasks=0)", ""),
        ("import horovodish", ""),
    ],
)
def test_libraries_that_distribute(line: str, code: str) -> None:
    text = script("h = tf.layers.dense(X, 1)\n")
    text = text.replace("\n", f"\n{line}\n", 1) if line.startswith("device") else f"{line}\n{text}"
    assert codes(text) == ([code] if code else [])


@pytest.mark.parametrize(
    ("shape", "feed", "code"),
    [
        ("[4]", "for xs, ys in zip(data, labels):", "TMG218"),
        ("[4]", "for i in range(100):\n        xs, ys = data[i], labels[i]", "TMG202"),
        ("[1, 4]", "for i in range(100):\n        xs, ys = data[i:i + 1], labels[i:i + 1]", "TMG202"),
    ],
)
def test_one_example_in_a_step(shape: str, feed: str, code: str) -> None:
    inputs = INPUTS.replace("[None, 4]", shape).replace("[None, 1]", "[1]")
    model = "h = tf.reduce_sum(X * tf.get_variable('w', [4]))\n"
    training = TRAINING.replace("for step in range(100):\n        xs, ys = next_batch(batch_size)", feed)
    assert codes(inputs + model + LOSS + STEP + training) == [code]


@pytest.mark.parametrize(
    ("row", "refused"),
    [
        ("[{}]", True),
        ("{}[None]", True),
        ("{}[np.newaxis, :]", True),
        ("{}.reshape(1, 4)", True),
        ("np.reshape({}, (1, 4))", True),
        ("np.expand_dims({}, 0)", True),
        ("np.array([{}])", True),
        ("2.0 * np.expand_dims({}, 0) - 1.0", True),
        ("{}[None] / 255", True),
        ("np.array([{}]) ** power", False),
        ("np.array([{}]) + np.ones([16, 1])", False),
        ("2.0 * np.array({}) - 1.0", False),
        ("2.0 * np.array([{0}] * 16)", False),
        ("[{0}] * 16", False),
        ("[{0}, {0}]", False),
        ("{}[:, None]", False),
        ("{}.reshape(-1, 4)", False),
        ("np.expand_dims({}, 1)", False),
        ("np.array({})", False),
        ("rows", False),
    ],
)
def test_batches_of_a_single_row(row: str, refused: bool) -> None:
    one_by_one = "for x, y in zip(data, labels):\n        rows = [x]\n        rows.append(x)"
    training = TRAINING.replace("for step in range(100):\n        xs, ys = next_batch(batch_size)", one_by_one)
    training = training.replace("X: xs, Y: ys", f"X: {row.format('x')}, Y: {row.format('y')}")
    found = codes("import numpy as np\n" + INPUTS + "h = tf.layers.dense(X, 1)\n" + LOSS + STEP + training)
    assert ("TMG218" in found) == refused


def test_single_rows_of_arrays_whose_rank_is_known() -> None:
    one_by_one = "for x, y in zip([np.ones(4) for _ in range(n)], labels):"
    training = TRAINING.replace("for step in range(100):\n        xs, ys = next_batch(batch_size)", one_by_one)
    training = training.replace("X: xs, Y: ys", "X: np.array([x]), Y: np.array([y])")
    assert "TMG218" in codes("import numpy as np\n" + INPUTS + "h = tf.layers.dense(X, 1)\n" + LOSS + STEP + training)


@pytest.mark.parametrize(
    ("made", "refused"),
    [("data = data[None]", True), ("data = np.expand_dims(data, 0)", True), ("data = data[:, np.newaxis]", False)],
)
def test_parts_of_a_data_set_of_one_example(made: str, refused: bool) -> None:
    feed = "X: data[i:i + batch_size], Y: labels[i:i + batch_size]"
    training = TRAINING.replace("X: xs, Y: ys", feed)
    training = training.replace("xs, ys = next_batch(batch_size)", "i = step * batch_size")
    start = f"import numpy as np\nfrom data import data, labels\n{made}\n"
    found = codes(start + INPUTS + "h = tf.layers.dense(X, 1)\n" + LOSS + STEP + training)
    assert ("TMG218" in found) == refused


def test_a_single_row_beside_batches() -> None:
    again = "        sess.run(train_op, {X: xs[0][None], Y: ys[0][None]})\n"
    assert codes(script("h = tf.layers.dense(X, 1)\n", training=TRAINING + again)) == []


def test_a_data_set_of_one_example_is_fed_whole() -> None:
    training = TRAINING.replace("xs, ys = next_batch(batch_size)", "pass")
    data = "xs, ys = [[1.0, 2.0, 3.0, 4.0]], [[1.0]]\n"
    assert codes(data + script("h = tf.layers.dense(X, 1)\n", training=training)) == ["TMG304"]


def test_gradients_of_one_example_at_a_time() -> None:
    step = """\
optimizer = tf.train.AdamOptimizer(0.1)
pairs = optimizer.compute_gradients(loss)
fed = [(tf.placeholder(tf.float32, g.get_shape()), v) for g, v in pairs]
train_op = optimizer.apply_gradients(fed)
"""
    training = """\
with tf.Session() as sess:
    for game in range(100):
        found = [sess.run([g for g, _ in pairs], {X: x[None], Y: y[None]}) for x, y in play()]
        sess.run(train_op, {p: mean(found, i) for i, (p, _) in enumerate(fed)})
"""
    model = INPUTS + "h = tf.layers.dense(X, 1)\n" + LOSS + step
    assert codes(model + training) == ["TMG218"]
    assert codes(model + training.replace("[None]", "")) == ["TMG303"]


EAGERLY = """\
import tensorflow as tf

{first}w = tf.Variable(tf.zeros([4, 1]))
optimizer = tf.train.AdamOptimizer(0.1)
for step in range(100):
    xs, ys = next_batch(32)
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(tf.matmul(xs, w) - ys))
    optimizer.apply_gradients(zip(tape.gradient(loss, [w]), [w]))
"""


@pytest.mark.parametrize(("first", "line"), [("tf.enable_eager_execution()\n", 3), ("", 7)])
def test_eager_code(first: str, line: int) -> None:
    from tests.scripts import run

    (finding,) = run(EAGERLY.format(first=first)).diagnostics
    assert (finding.code, finding.line) == ("TMG235", line)


def test_arguments_of_a_session_in_a_dict() -> None:
    training = TRAINING.replace("with tf.Session()", "settings = {'graph': None}\nwith tf.Session(**settings)")
    after = parts(script("h = tf.layers.dense(X, 1)\n", training=training))[AFTER]
    assert "config = settings.get('config') or tf.ConfigProto()" in after
    assert "with tf.Session(**dict(settings, config=config)) as sess:" in after


STACK = """\
stack = []
while left():
    stack.append(0)
stack.pop()
stack.pop()
print(stack[-1])
"""


@pytest.mark.parametrize(
    "line", ["show = lambda x: sess.run('out:0', {X: x})", STACK], ids=["a function that nothing calls", "a stack"]
)
def test_lines_that_do_not_matter(line: str) -> None:
    assert codes(SCRIPT + line + "\n") == []


def test_lines_that_are_indented_by_tabs_and_lines_that_are_by_blanks() -> None:
    more = "\t\tif step:\n\t\t\tfor j in range(2):\n" + " " * 32 + "print(j)\n\t\tprint(step)\n"
    text = INPUTS + "if batch_size:\n    print(batch_size)\n" + MODEL + STEP + TRAINING.replace("    ", "\t") + more
    (found,) = run(text).diagnostics
    assert (found.code, found.line) == ("TMG005", text.partition("\t")[0].count("\n") + 1)
    assert "expand" in (found.hint or "")


def test_such_lines_are_none_of_the_tools_business_where_nothing_changes() -> None:
    more = "for i in range(2):\n\tif i:\n\t\tfor j in range(2):\n" + " " * 24 + "print(j)\n\tprint(i)\n"
    assert converted(SCRIPT + more).endswith(more)


def test_a_flag_for_the_number_comes_too_late_for_a_number_above_it() -> None:
    flags = "tf.app.flags.DEFINE_string('phase', 'train', '')\nFLAGS = tf.app.flags.FLAGS\n"
    above = SCRIPT.replace("batch_size = 32\n", "batch_size = 32\n" + flags)
    below = SCRIPT.replace("batch_size = 32\n", flags + "batch_size = 32\n")
    own, number = "tf.app.flags.DEFINE_string('phase', 'train', '')", "'num_gpus', 2, 'Number of GPUs to train on.'"

    def sizes(text: str) -> list[str]:
        begins = ("batch_size = ", "num_gpus = ", "tf.app.flags.DEFINE")
        return [line for line in converted(text).splitlines() if line.startswith(begins)]

    assert sizes(above) == ["num_gpus = 2", "batch_size = 32 * num_gpus", own]
    assert sizes(below) == [own, f"tf.app.flags.DEFINE_integer({number})", "batch_size = 32 * FLAGS.num_gpus"]


def test_an_optimizer_that_gets_a_name_where_it_minimises() -> None:
    named = converted(SCRIPT.replace("tf.train.GradientDescentOptimizer(0.1)", "(o := tf.train.AdamOptimizer(0.1))"))
    assert "\noptimizer = (o := tf.train.AdamOptimizer(0.1))\n" in named
