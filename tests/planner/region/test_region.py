"""Which statements of a script go before the tower loop, into it, and after it."""

from __future__ import annotations

import ast
import textwrap

import pytest

from tests.scripts import ABOVE, BELOW, INPUTS, MODEL, STEP, TRAINING, codes, converted, parts, run

BEFORE, INSIDE, AFTER = 0, 1, 2


def where(script: str, line: str) -> int:
    """The part of the converted script that holds a line, once."""
    found = [place for place, part in enumerate(parts(script)) for text in part if text == line]
    assert len(found) == 1, (line, parts(script))
    return found[0]


def between(line: str) -> str:
    """A script with a statement between the model's."""
    return (
        INPUTS
        + "prediction = tf.layers.dense(X, 1)\n"
        + line
        + "\nloss = tf.reduce_mean(tf.square(prediction - Y))\n"
        + (STEP + TRAINING)
    )


def cases(*listed: tuple[str, int]) -> list[object]:
    return [pytest.param(line, place, id=line) for line, place in listed]


@pytest.mark.parametrize(
    ("line", "place"),
    cases(
        # nothing of the batch in it
        ("rate = tf.placeholder(tf.float32)", BEFORE),
        ("global_step = tf.train.get_or_create_global_step()", BEFORE),
        ("rate = tf.train.exponential_decay(0.1, 0, 100, 0.9)", BEFORE),
        ("epochs = 10", BEFORE),
        ("import numpy as np", BEFORE),
        ("print('building')", AFTER),
        ("names = ['a', 'b']", BEFORE),
        ("data = load_data()", BEFORE),
        ("w2 = tf.get_variable('w2', [4, 1])", BEFORE),
        # read by the loss
        ("prediction = tf.nn.relu(prediction)", INSIDE),
        ("prediction += tf.layers.dense(X, 1)", INSIDE),
        ("prediction = 2 * prediction", INSIDE),
        ("prediction.set_shape([None, 1])", INSIDE),
        ("reg = tf.losses.get_regularization_loss()\nprediction += reg", INSIDE),
        ("reg = sum(tf.get_collection('penalties'))\nprediction += reg", INSIDE),
        ("reg = tf.add_n([tf.nn.l2_loss(v) for v in tf.trainable_variables()])\nprediction += reg", INSIDE),
        # made of the batch, not read by the loss
        ("error = prediction - Y", AFTER),
        ("tf.summary.histogram('prediction', prediction)", AFTER),
        ("summary = tf.summary.histogram('x', X)", AFTER),
        ("accuracy = tf.reduce_mean(tf.cast(tf.equal(prediction, Y), tf.float32))", AFTER),
        ("tf.add_to_collection('predictions', prediction)", AFTER),
        ("saver = tf.train.Saver()", AFTER),
        ("init = tf.global_variables_initializer()", AFTER),
        ("variables = tf.trainable_variables()", AFTER),
        ("update_ops = tf.get_collection(tf.GraphKeys.UPDATE_OPS)", AFTER),
        ("merged = tf.summary.merge_all()", AFTER),
        ("checks = tf.add_check_numerics_ops()", AFTER),
        ("made = tf.get_default_graph().get_operations()", AFTER),
        ("print([op.name for op in tf.get_default_graph().get_operations()])", AFTER),
        ("nodes = [node.name for node in tf.get_default_graph().as_graph_def().node]", AFTER),
        ("print(prediction)", AFTER),
        # tells of what stands above it
        ("print('built')", AFTER),
        ("start = time.time()", AFTER),
        ("print('took', time.time() - start)", AFTER),
        ("print(tf.constant(1))", BEFORE),
        ("start = time.time() - 1", BEFORE),
        ("start = clocks.second()", BEFORE),
        ("probabilities = tf.nn.softmax(prediction, name='probabilities')", AFTER),
        # in a branch that is not taken as long as a constant has its value
        ("if False:\n    prediction = tf.nn.relu(prediction)", INSIDE),
        ("if False:\n    prediction += 1", INSIDE),
        ("for _ in range(2):\n    if not True:\n        prediction = tf.nn.relu(X)", INSIDE),
        ("shown = prediction if False else None", AFTER),
        ("if True:\n    pass\nelse:\n    print(prediction)", AFTER),
        ("if False:\n    print('building')", BEFORE),
        ("if False:\n    show = lambda prediction: prediction", BEFORE),
    ),
)
def test_a_statement_between_those_of_the_model(line: str, place: int) -> None:
    assert where(between(line), line.splitlines()[0]) == place


@pytest.mark.parametrize(
    ("script", "inside"),
    [
        (INPUTS + MODEL + STEP + TRAINING, MODEL),
        (
            INPUTS + "hidden = tf.layers.dense(X, 8)\nprediction = tf.layers.dense(hidden, 1)\n"
            "loss = tf.reduce_mean(tf.square(prediction - Y))\n" + STEP + TRAINING,
            "hidden = tf.layers.dense(X, 8)\nprediction = tf.layers.dense(hidden, 1)\n"
            "loss = tf.reduce_mean(tf.square(prediction - Y))\n",
        ),
        (INPUTS + "x = X\n" + MODEL.replace("(X", "(x") + STEP + TRAINING, MODEL.replace("(X", "(x")),
        (
            INPUTS + "with tf.variable_scope('net'):\n    prediction = tf.layers.dense(X, 1)\n"
            "loss = tf.reduce_mean(tf.square(prediction - Y))\n" + STEP + TRAINING,
            "with tf.variable_scope('net'):\nprediction = tf.layers.dense(X, 1)\n"
            "loss = tf.reduce_mean(tf.square(prediction - Y))\n",
        ),
        (
            INPUTS + "h = X\nfor i in range(3):\n    h = tf.layers.dense(h, 4)\n"
            "loss = tf.reduce_mean(tf.square(tf.layers.dense(h, 1) - Y))\n" + STEP + TRAINING,
            "h = X\nfor i in range(3):\nh = tf.layers.dense(h, 4)\n"
            "loss = tf.reduce_mean(tf.square(tf.layers.dense(h, 1) - Y))\n",
        ),
        (
            INPUTS + "h = X\nif batch_size > 3:\n    h = tf.nn.relu(h)\n"
            "loss = tf.reduce_mean(tf.square(tf.layers.dense(h, 1) - Y))\n" + STEP + TRAINING,
            "h = X\nif batch_size > 3:\nh = tf.nn.relu(h)\n"
            "loss = tf.reduce_mean(tf.square(tf.layers.dense(h, 1) - Y))\n",
        ),
        (
            INPUTS + "def net(x):\n    return tf.layers.dense(x, 1)\n\n\n"
            "loss = tf.reduce_mean(tf.square(net(X) - Y))\n" + STEP + TRAINING,
            "loss = tf.reduce_mean(tf.square(net(X) - Y))\n",
        ),
        (
            INPUTS + "loss = tf.reduce_mean(tf.square(tf.layers.dense(X, 1) - Y))\n" + STEP + TRAINING,
            "loss = tf.reduce_mean(tf.square(tf.layers.dense(X, 1) - Y))\n",
        ),
    ],
    ids=["two statements", "three", "an alias before", "a scope", "a for loop", "an if", "a function", "one"],
)
def test_what_is_in_the_loop(script: str, inside: str) -> None:
    found = [line for line in parts(script)[INSIDE] if line in inside.splitlines()]
    missing = [line for line in inside.splitlines() if line not in found]
    assert [line for line in missing if line not in ("h = X",)] == []
    assert not {line for line in inside.splitlines() if line != "h = X"} & set(
        parts(script)[BEFORE] + parts(script)[AFTER]
    )


@pytest.mark.parametrize(
    ("head", "depth"),
    [
        ("", 0),
        ("def main():\n", 1),
        ("def main():\n    with tf.Graph().as_default():\n", 2),
        ("def main():\n    '''Trains.'''\n", 1),
        ("if __name__ == '__main__':\n", 1),
        ("with tf.Graph().as_default():\n", 1),
        ("class Net(object):\n    def __init__(self):\n", 2),
        ("try:\n", 1),
    ],
    ids=[
        "module",
        "function",
        "graph in a function",
        "documented function",
        "main guard",
        "graph",
        "method",
        "try",
    ],
)
def test_the_loop_stands_where_the_model_stands(head: str, depth: int) -> None:
    imports, _, rest = (INPUTS + MODEL + STEP + TRAINING).partition("\n\n")
    script = imports + "\n\n" + head + "".join("    " * depth + line + "\n" for line in rest.splitlines())
    if head.startswith("def main"):
        script += "\n\nmain()\n"
    elif head.startswith("class"):
        script += "\n\nNet()\n"
    elif head.startswith("try"):
        script += "except ValueError:\n    raise\n"
    text = converted(script)
    ast.parse(text)
    loop = next(line for line in text.splitlines() if line.lstrip().startswith("for gpu in range("))
    assert loop.startswith("    " * depth + "for")


@pytest.mark.parametrize(
    "model",
    [
        "def build(x, y):\n    p = tf.layers.dense(x, 1)\n    return tf.reduce_mean(tf.square(p - y))\n\n\n"
        "loss = build(X, Y)\n",
        "def predict(x):\n    return tf.layers.dense(x, 1)\n\n\ndef cost(p, y):\n"
        "    return tf.reduce_mean(tf.square(p - y))\n\n\n"
        "prediction = predict(X)\nloss = cost(prediction, Y)\n",
        "class Net(object):\n    def __init__(self, x, y):\n        self.p = tf.layers.dense(x, 1)\n"
        "        self.loss = tf.reduce_mean(tf.square(self.p - y))\n\n\nnet = Net(X, Y)\nloss = net.loss\n",
        "layers = [8, 8]\nh = X\nfor size in layers:\n    h = tf.layers.dense(h, size)\n"
        "loss = tf.reduce_mean(tf.square(tf.layers.dense(h, 1) - Y))\n",
        "net = lambda x: tf.layers.dense(x, 1)\nloss = tf.reduce_mean(tf.square(net(X) - Y))\n",
        "out = {}\nout['p'] = tf.layers.dense(X, 1)\nloss = tf.reduce_mean(tf.square(out['p'] - Y))\n",
        "hidden = []\nhidden.append(tf.layers.dense(X, 8))\nhidden.append(tf.layers.dense(hidden[-1], 1))\n"
        "loss = tf.reduce_mean(tf.square(hidden[-1] - Y))\n",
        "x, y = X, Y\nloss = tf.reduce_mean(tf.square(tf.layers.dense(x, 1) - y))\n",
        "loss, prediction = (lambda p: (tf.reduce_mean(tf.square(p - Y)), p))(tf.layers.dense(X, 1))\n",
    ],
    ids=[
        "function",
        "two functions",
        "class",
        "layers in a loop",
        "lambda",
        "dict",
        "list",
        "tuple",
        "several targets",
    ],
)
def test_models_of_all_kinds_convert(model: str) -> None:
    script = INPUTS + "\n\n" + model + STEP + TRAINING
    assert codes(script) == []
    ast.parse(converted(script))


def test_an_input_between_the_statements_of_the_model_goes_before_the_loop() -> None:
    script = between("mask = tf.placeholder(tf.float32, [None, 1])").replace(
        "square(prediction - Y)", "square(mask * (prediction - Y))"
    )
    before, inside, _ = parts(script)
    assert "mask = tf.placeholder(tf.float32, [None, 1])" in before
    assert any(line.startswith("(") and "mask" in line.split("=")[0] for line in inside)


def test_order_is_kept_within_each_part() -> None:
    script = between("a = tf.get_variable('a', [])\nb = prediction + 1\nc = a * 2\nd = b - Y")
    before, _, after = parts(script)
    assert before.index("a = tf.get_variable('a', [])") < before.index("c = a * 2")
    assert after.index("b = prediction + 1") < after.index("d = b - Y")


@pytest.mark.parametrize(
    ("script", "code"),
    [
        (INPUTS + MODEL + TRAINING.replace("train_op", "loss"), "TMG201"),
        (INPUTS + "loss = tf.nn.l2_loss(tf.get_variable('w', [4]))\n" + STEP + TRAINING, "TMG202"),
        (INPUTS + MODEL.rstrip("\n") + "; " + STEP + TRAINING, "TMG203"),
        (
            INPUTS + MODEL + "train_op = tf.contrib.layers.optimize_loss(loss, None, 0.1, pick())\n" + TRAINING,
            "TMG213",
        ),
        (
            INPUTS
            + MODEL
            + "arguments = {}\ntrain_op = tf.train.AdamOptimizer(0.1).minimize(loss, **arguments)\n"
            + TRAINING,
            "TMG213",
        ),
    ],
    ids=[
        "no step",
        "no batch",
        "step on the line of the loss",
        "optimize_loss",
        "**arguments",
    ],
)
def test_refusals(script: str, code: str) -> None:
    conversion = run(script)
    assert (conversion.status, [finding.code for finding in conversion.diagnostics]) == ("refused", [code])
    assert conversion.text is None


@pytest.mark.parametrize(
    "total",
    ["tf.add_n(tf.get_collection('losses'))", "sum(tf.get_collection('losses'))"],
    ids=["add_n", "sum"],
)
def test_what_the_loss_takes_from_a_collection_is_put_there_in_the_towers(total: str) -> None:
    script = INPUTS + MODEL.replace("loss =", "error =")
    script += f"tf.add_to_collection('losses', error)\nloss = {total}\n" + STEP + TRAINING
    assert where(script, "tf.add_to_collection('losses', error)") == INSIDE


def test_other_collections_are_filled_after_the_loop() -> None:
    script = INPUTS + MODEL.replace("loss =", "error =")
    script += "tf.add_to_collection('shown', error)\nloss = error * 2\n" + STEP + TRAINING
    assert where(script, "tf.add_to_collection('shown', error)") == AFTER


@pytest.mark.parametrize(
    ("made", "optimizer"),
    [
        (
            "tf.contrib.layers.optimize_loss(loss, None, 0.1, 'SGD')",
            "lambda rate: TowerOptimizer(tf.train.GradientDescentOptimizer(rate), tower_loss)",
        ),
        (
            "tf.contrib.layers.optimize_loss(loss, None, 0.1, optimizer='Momentum')",
            "optimizer=lambda rate: TowerOptimizer(tf.train.MomentumOptimizer(rate, 0.9), tower_loss)",
        ),
        (
            "tf.contrib.layers.optimize_loss(loss, None, 0.1, tf.train.AdamOptimizer)",
            "lambda *rate: TowerOptimizer((tf.train.AdamOptimizer)(*rate), tower_loss)",
        ),
        (
            "tf.contrib.layers.optimize_loss(loss, None, 0.1, lambda lr: tf.train.AdamOptimizer(lr))",
            "lambda *rate: TowerOptimizer((lambda lr: tf.train.AdamOptimizer(lr))(*rate), tower_loss)",
        ),
        (
            "tf.contrib.training.create_train_op(loss, tf.train.AdamOptimizer(0.1))",
            "TowerOptimizer(tf.train.AdamOptimizer(0.1), tower_loss)",
        ),
        (
            "tf.contrib.slim.learning.create_train_op(optimizer=tf.train.AdamOptimizer(0.1), total_loss=loss)",
            "optimizer=TowerOptimizer(tf.train.AdamOptimizer(0.1), tower_loss)",
        ),
    ],
    ids=["name", "momentum", "class", "function", "object", "keyword"],
)
def test_functions_that_build_the_step_get_the_towers_gradients(made: str, optimizer: str) -> None:
    _, _, after = parts(INPUTS + MODEL + f"train_op = {made}\n" + TRAINING)
    assert any(line.startswith("train_op = ") and optimizer in line for line in after)


def test_an_optimizer_around_another_one_is_one() -> None:
    scaled = "opt = tf.train.experimental.enable_mixed_precision_graph_rewrite(tf.train.AdamOptimizer(0.1))\n"
    _, _, after = parts(INPUTS + MODEL + scaled + "train_op = opt.minimize(loss)\n" + TRAINING)
    assert "train_op = opt.apply_gradients(tower_gradients(opt, tower_loss))" in after


def test_an_attribute_that_takes_a_value_of_the_towers_after_the_loop_is_not_theirs() -> None:
    script = INPUTS + "class Net(object):\n    def __init__(self):\n"
    script += "".join(f"        {line}\n" for line in (MODEL + "self.seen = prediction\n" + STEP).splitlines())
    script += "        self.train = train_op\n\n\nnet = Net()\n"
    script += TRAINING.replace("train_op,", "[net.train, net.seen],")
    _, inside, after = parts(script)
    assert "self.seen = prediction" in after and not any("self.seen" in line for line in inside)


def test_variables_on_one_line_are_placed_together() -> None:
    script = INPUTS + "w = tf.get_variable('w', [4, 1]); b = tf.get_variable('b', [1])\n"
    script += MODEL.replace("tf.layers.dense(X, 1)", "tf.matmul(X, w) + b") + STEP + TRAINING
    before, _, after = parts(script)
    line = "w = tf.get_variable('w', [4, 1]); b = tf.get_variable('b', [1])"
    assert before.index("with tf.device('/cpu:0'):") == before.index(line) - 1
    assert "with tf.Session(config=config) as sess:" in after


CLASS = """\
class Net(object):
    def __init__(self):
        self._inputs()
        self._model()
        self._loss()

    @classmethod
    def _inputs(cls):
        cls.x = tf.placeholder(tf.float32, [None, 4])
        cls.y = tf.placeholder(tf.float32, [None, 1])

    @classmethod
    def _model(cls):
        cls.out = tf.layers.dense(cls.x, 1)

    @classmethod
    def _loss(cls):
        cls.loss = tf.reduce_mean(tf.square(cls.out - cls.y))
        cls.train = tf.train.AdamOptimizer().minimize(cls.loss)


net = Net()
"""


@pytest.mark.parametrize("made", ["Net", "Deep"])
def test_what_class_methods_share_belongs_to_the_class(made: str) -> None:
    """The loop binds no `self.x`, an attribute of the object: the class methods would go on with the whole batch."""
    made_of = CLASS.replace("net = Net()", f"class Deep(Net):\n    pass\n\n\nnet = {made}()")
    script = "import tensorflow as tf\n\nbatch_size = 32\n\n\n" + made_of
    script += TRAINING.replace("train_op, {X: xs, Y: ys}", "net.train, {net.x: xs, net.y: ys}")
    _, inside, after = parts(script)
    assert inside[-3:] == [
        f"({made}.x,), rows, weight = shard([x_batch], gpu)",
        "self._model()",
        f"tower_out.append({made}.out[:rows])",
    ]
    restored = after.index(f"{made}.x = x_batch")
    assert after[restored + 1 : restored + 3] == [f"{made}.out = tf.concat(tower_out, 0)", "self._loss()"]


@pytest.mark.parametrize(
    ("line", "place"),
    cases(
        ("decay = 2.0 * 3", BEFORE),
        ("decay = tf.get_variable('decay', [])", BEFORE),
        ("decay = tf.add_n([tf.nn.l2_loss(v) for v in tf.trainable_variables()])", INSIDE),
        ("decay = tf.reduce_mean(prediction)", INSIDE),
        ("other = tf.trainable_variables()", AFTER),
    ),
)
def test_what_a_loss_reads_that_is_written_out_where_it_is_minimised(line: str, place: int) -> None:
    step = "shown = tf.trainable_variables()\n" + STEP.replace("(loss)", "(loss + decay)")
    model = MODEL + (line if line.startswith("decay") else "decay = 0.1\n" + line) + "\n"
    script = INPUTS + model + step + TRAINING
    assert where(script, line) == place
    assert where(script, "shown = tf.trainable_variables()") == AFTER


def test_what_stood_in_front_of_a_block_that_is_opened_again_stays_there() -> None:
    """A raw variable that is made behind those of the model, and read by the training step in a scope."""
    lines = """
        with tf.name_scope('hidden'):
            w = tf.Variable(tf.zeros([4, 3]))
            hidden = tf.matmul(X, w)
        with tf.name_scope('out'):
            out = tf.layers.dense(hidden, 1)
        global_step = tf.Variable(0, trainable=False)
        with tf.variable_scope('train'):
            loss = tf.reduce_mean(tf.square(out - Y))
            optimizer = tf.train.AdamOptimizer(0.1)
            train_op = optimizer.minimize(loss, global_step=global_step)
    """
    _, inside, after = parts(INPUTS + textwrap.dedent(lines) + TRAINING)
    made = "global_step = tf.Variable(0, trainable=False)"
    assert made not in inside and after.index(made) < after.index("with tf.variable_scope('train'):")


def test_layers_without_a_name_keep_their_numbers() -> None:
    model = """\
scaled = X * 2
seen = tf.layers.dense(X, 3)
loss = tf.reduce_mean(tf.square(tf.layers.dense(scaled, 1) - Y))
"""
    _, loop, after = parts(INPUTS + model + STEP + TRAINING + "print(seen)\n")
    assert "seen = tf.layers.dense(X, 3)" in loop and "seen = tf.concat(tower_seen, 0)" in after
    scaled, seen, loss = model.replace("(X, 3)", "(X, 3, name='seen')").splitlines()
    _, loop, after = parts(INPUTS + "\n".join([scaled, seen, loss, STEP]) + TRAINING + "print(seen)\n")
    assert loop == [*ABOVE, scaled, loss, *BELOW] and after[2] == seen


@pytest.mark.parametrize("turns", ["for _ in range(3):", "for _ in names:", "while more():"])
@pytest.mark.parametrize("term", ["tf.reduce_mean(tf.square(tf.layers.dense(X, 1) - Y))", "tf.norm(net(X) - Y)"])
def test_a_loss_that_a_loop_adds_up_has_all_turns_in_the_towers(turns: str, term: str) -> None:
    net = "def net(x):\n    return tf.layers.dense(x, 1)\n\n\nimport sys\nnames = sys.argv[1:]\nmore = names.pop\n"
    model = ["loss = 0.", turns, f"loss += {term}"]
    script = INPUTS + net + f"{model[0]}\n{model[1]}\n    {model[2]}\n" + STEP + TRAINING
    _, inside, after = parts(script)
    assert inside[-len(BELOW) - 3 :] == [*model, *BELOW]
    assert after.index("X, Y = X_batch, Y_batch") < after.index("loss = tf.add_n(tower_loss)")


def test_a_model_that_each_turn_builds_anew_has_its_towers_in_the_turn() -> None:
    model = "prediction = tf.layers.dense(X, 1)\nloss = tf.reduce_mean(tf.square(prediction - Y))\n"
    turn = textwrap.indent("tf.reset_default_graph()\n" + INPUTS.partition("\n\n")[2] + model + STEP + TRAINING, "    ")
    text = converted(INPUTS.partition("\n\n")[0] + "\n\nfor rate in (0.1, 0.01):\n" + turn)
    assert "\n    for gpu in range(num_gpus):\n" in text
