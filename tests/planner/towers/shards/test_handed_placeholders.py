"""Placeholders that the model makes: each tower is handed its rows, and the script gets the whole ones back."""

from __future__ import annotations

from pathlib import Path

import pytest

from converter.conversion import convert
from converter.options import Options
from converter.source import from_bytes
from tests.scripts import codes, converted, parts, run

CLASS = """\
class Model(object):
    def __init__(self{taken}):
        {x}
        self.y = tf.placeholder(tf.float32, [None, 3], name='y')
        self.out = tf.layers.dense({of_x}, 3)


"""
HEAD = "import collections\nimport tensorflow as tf\n\nbatch_size = 12\n\n\n"
X, WHOLE_X = "self.x = tf.placeholder(tf.float32, [None, 8], name='x')", "tower_inputs.whole(model.x)"
# The layer behind the model keeps the loss in the towers, which then go around the call of the constructor.
REST = """\
loss = tf.reduce_mean(tf.square(tf.layers.dense({out}, 3) - {y}))
train_op = tf.train.AdamOptimizer(0.01).minimize(loss)
with tf.Session() as sess:
    for step in range(100):
        xs, ys = next_batch(batch_size)
        sess.run(train_op, {{{x}: xs, {y}: ys}})
"""


def script(model: str, out: str = "model.out", x: str = "model.x", y: str = "model.y") -> str:
    return HEAD + model + REST.format(out=out, x=x, y=y)


def of_class(x: str = X, of_x: str = "self.x", taken: str = "", given: str = "") -> str:
    return script(CLASS.format(x=x, of_x=of_x, taken=taken) + f"model = Model({given})\n")


BUILT = """\
def build():
    x = tf.placeholder(tf.float32, [None, 8], name='x')
    y = tf.placeholder(tf.float32, [None, 3], name='y')
    return {returned}


"""
NET = "Net = collections.namedtuple('Net', 'x y out')\n\n\n" + BUILT.format(returned="Net(x, y, tf.layers.dense(x, 3))")
NESTED = """\
class Inputs(object):
    def __init__(self):
        self.x = tf.placeholder(tf.float32, [None, 8], name='x')
        self.y = tf.placeholder(tf.float32, [None, 3], name='y')


class Model(object):
    def __init__(self):
        self.inputs = Inputs()
        self.out = tf.layers.dense(self.inputs.x, 3)


model = Model()
"""
DICT = """\
def build():
    net = {}
    net['x'] = tf.placeholder(tf.float32, [None, 8], name='x')
    net['y'] = tf.placeholder(tf.float32, [None, 3], name='y')
    net['out'] = tf.layers.dense(net['x'], 3)
    return net


model = build()
"""
TWO_BRANCHES = CLASS.format(x=X, of_x="self.x", taken=", width") + (
    "if flag():\n    model = Model(8)\nelse:\n    model = Model(16)\n"
)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (of_class(), f"model.x, model.y = {WHOLE_X}, tower_inputs.whole(model.y)"),
        (
            script(BUILT.format(returned="x, y, tf.layers.dense(x, 3)") + "x, y, out = build()\n", "out", "x", "y"),
            "x, y = tower_inputs.whole(x), tower_inputs.whole(y)",
        ),
        (
            script(NET + "model = build()\n"),
            f"model = model._replace(x={WHOLE_X}, y=tower_inputs.whole(model.y))",
        ),
        (
            script(DICT, "model['out']", "model['x']", "model['y']"),
            "model['x'], model['y'] = tower_inputs.whole(model['x']), tower_inputs.whole(model['y'])",
        ),
        (
            script(NESTED.replace("inputs", "fed"), x="model.fed.x", y="model.fed.y"),
            "model.fed.x, model.fed.y = tower_inputs.whole(model.fed.x), tower_inputs.whole(model.fed.y)",
        ),
        (script(TWO_BRANCHES), f"model.x, model.y = {WHOLE_X}, tower_inputs.whole(model.y)"),
    ],
    ids=["class", "tuple", "named tuple", "dict", "object in an object", "called in two branches"],
)
def test_what_holds_a_part_gets_the_whole_back(text: str, line: str) -> None:
    _, inside, after = parts(text)
    assert any("tower_inputs.tower(gpu)" in one for one in inside) and line in after


@pytest.mark.parametrize(
    ("x", "of_x", "told"),
    [
        (X, "self.x", "TowerInputs()"),
        (X.replace("[", "[20, "), "tf.reduce_mean(self.x, 0)", "TowerInputs({'x': 1})"),
        (f"{X}\n        self.rate = tf.placeholder(tf.float32, [])", "self.x * self.rate", "TowerInputs()"),
        (
            f"{X}\n        self.table = tf.placeholder(tf.float32, [8, 8], name='table')",
            "tf.matmul(self.x, self.table)",
            "TowerInputs({'table': None})",
        ),
    ],
    ids=["first axis", "second axis", "scalar", "no batch"],
)
def test_what_a_shape_does_not_tell_is_told_by_name(x: str, of_x: str, told: str) -> None:
    before, _, _ = parts(of_class(x, of_x))
    assert f"tower_inputs = {told}" in before


@pytest.mark.parametrize(
    ("size", "given", "told"),
    [
        ("size", "batch_size", "TowerInputs(size=batch_size)"),
        ("batch_size", "", None),
    ],
)
def test_a_fixed_number_of_examples_is_the_whole_batchs(size: str, given: str, told: str | None) -> None:
    """In the model it is a tower's, unless the loop re-binds no name for it."""
    taken = ", size" if given else ""
    text = of_class(X.replace("None", size), taken=taken, given=given).replace("[None, 3]", f"[{size}, 3]")
    before, _, _ = parts(text)
    assert f"tower_inputs = {told or 'TowerInputs(size=batch_size)'}" in before


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (of_class(X.replace("[None, 8], name='x'", "[20, None, 8]"), "tf.reduce_mean(self.x, 0)"), ["TMG230"]),
        (
            of_class(f"{X}\n        self.t = tf.placeholder(tf.float32, [8, 8])", "tf.matmul(self.x, self.t)"),
            ["TMG230"],
        ),
        (
            of_class(
                f"{X}\n        self.batch_size = tf.placeholder(tf.int32, [])",
                "tf.reshape(self.x, [self.batch_size, 8])",
            ),
            ["TMG230"],
        ),
        (of_class(X.replace("None", "2 * size"), taken=", size", given="batch_size"), ["TMG230"]),
        (
            of_class().replace("tf.pl", "pl").replace("as tf\n", "as tf\nfrom tensorflow import placeholder\n", 1),
            ["TMG204"],
        ),
        (of_class(X.replace("tf.placeholder(", "tf.placeholder_with_default(tf.zeros([1, 8]), ")), ["TMG204"]),
    ],
    ids=["axis of one without name", "whole one without name", "size", "twice the size", "imported by name", "default"],
)
def test_near_misses(text: str, found: list[str]) -> None:
    assert codes(text) == found


def in_function(text: str) -> str:
    """A script whose loss, a sum, and training step a function builds, with layers of its own."""
    loss, step = text[text.index("loss = tf.reduce_mean") :].splitlines()[:2]
    function = f"def train(model):\n    {loss}\n    {step}\n    return train_op\n\n\nmodel = Model("
    text = text.replace(f"{loss}\n{step}", "train_op = train(model)").replace("model = Model(", function, 1)
    return text.replace("reduce_mean", "reduce_sum")


def test_a_function_goes_on_with_the_model_of_inputs_that_this_makes() -> None:
    lines = [line.strip() for line in converted(in_function(of_class())).splitlines()]
    assert lines.index("model = Model()") < lines.index("train_op = train(model)")
    assert "model.out = part_of_tower(out_batch, gpu)" in lines
    assert "(model.y,), tower_rows, tower_weight = shard([y_batch], gpu)" in lines


def test_what_stands_in_the_way_besides_the_inputs_is_said_in_their_place() -> None:
    """The towers would be handed the model's placeholders; the step that a function takes with the loss they lack."""
    text = of_class().replace("self.out = ", "self.made = (").replace(", 3)\n\n\n", ", 3), self.x)\n\n\n", 1)
    text = in_function(text.replace("model.out", "model.made[0]")) + "    print(model.made)\n"
    (found,) = run(text).diagnostics
    assert (found.code, found.line) == ("TMG219", text[: text.index("train_op = train(model)")].count("\n") + 1)


def test_a_model_of_two_inputs_that_are_fed_apart_counts_the_rows_of_each() -> None:
    z = f"{X}\n        self.z = tf.placeholder(tf.float32, [None, 8], name='z')"
    sample = "        self.sample = tf.layers.dense(self.z, 3, name='other')\n"
    text = of_class(z).replace("\n\n\nmodel = ", f"\n{sample}\n\nmodel = ")
    text += "    print(sess.run(model.sample, {model.z: read()}))\n"
    _, inside, _ = parts(text)
    assert "rows_z, weight_z = tower_inputs.share(model.z)" in inside
    assert "tower_sample.append(model.sample[:rows_z])" in inside


def test_labels_that_only_training_makes_get_the_whole_back_where_they_are() -> None:
    text = of_class(taken=", training", given="flag()").replace(
        "        self.y = tf", "        if training:\n            self.y = tf"
    )
    _, _, after = parts(text)
    assert "if hasattr(model, 'y'):" in after and "model.y = tower_inputs.whole(model.y)" in after


def test_an_input_between_the_statements_of_the_model_may_take_its_shape_from_it() -> None:
    model = "x = tf.placeholder(tf.float32, [None, 8])\nh = tf.layers.dense(x, 3)\n{}\n"
    shaped = "y = tf.placeholder(tf.float32, h.get_shape())"
    _, inside, after = parts(script(model.format(shaped), "h", "x", "y"))
    assert shaped in inside and "x, y = x_batch, tower_inputs.whole(y)" in after
    before, inside, _ = parts(script(model.format("y = tf.placeholder(tf.float32, [None, 3])"), "h", "x", "y"))
    assert not any("tower_inputs" in line for line in inside)


def test_towers_that_need_no_handing_are_not_handed() -> None:
    """A constructor that makes the whole model has the loop inside of it, behind its placeholders."""
    whole = CLASS.format(x=X, of_x="self.x", taken="").replace(
        "3)\n\n\n", "3)\n        self.loss = tf.reduce_mean(tf.square(self.out - self.y))\n\n\n", 1
    )
    text = script(whole + "model = Model()\n")
    text = text.replace(text[text.index("loss = tf.reduce_mean(tf.square(tf.layers") :].splitlines()[0] + "\n", "")
    assert "tower_inputs" not in converted(text.replace("minimize(loss)", "minimize(model.loss)"))


def test_a_place_that_the_loop_cannot_name_is_refused() -> None:
    kept = "KEPT = []\n\n\n" + CLASS.format(x=f"x = {X[9:]}\n        KEPT.append(lambda: x)", of_x="x", taken="")
    (found,) = run(script(kept + "model = Model()\n", x="KEPT[0]()")).diagnostics
    assert found.code in ("TMG202", "TMG204", "TMG230")


NET = """\
import tensorflow as tf


class Net(object):
    def __init__(self, layers):
        self.layers = dict(layers)
        self.use_dropout = tf.placeholder_with_default(tf.constant(1.0), shape=[])
        self.setup()

    def layer(self, name, given):
        if isinstance(given, str):
            given = self.layers[given]
        self.layers[name] = tf.layers.dense(given, 3, name=name)
        return self.layers[name]

    def setup(self):
        first = self.layer('first', 'data')
        second = self.layer('second', first)
        self.layer('third', second * self.use_dropout)
"""
TRAINED = """\
import tensorflow as tf
from net import Net

batch_size = 12
x = tf.placeholder(tf.float32, [None, 8])
y = tf.placeholder(tf.float32, [None, 3])
net = Net({'data': x})
loss = tf.reduce_mean(tf.square(net.layers['third'] - y))
train_op = tf.train.AdamOptimizer(0.01).minimize(loss)
with tf.Session() as sess:
    for step in range(100):
        xs, ys = next_batch(batch_size)
        sess.run(train_op, {x: xs, y: ys})
"""


def test_a_net_of_another_file_stays_as_it_is_where_its_placeholder_can_be_handed(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(NET)
    done = convert(from_bytes(str(tmp_path / "train.py"), TRAINED.encode()), Options(), several=True)
    assert done.status == "converted" and done.text is not None, done.diagnostics
    assert "    net = Net({'data': x})\n" in done.text and not done.parts


PREPARED = """\
import tensorflow as tf

batch_size = 8


class Net(object):
    def __init__(self):
        self.init_placeholders()
        self.build()
        self.optimize()

    def init_placeholders(self):
        self.x = tf.placeholder(tf.int32, [None, None])
        self.size = tf.shape(self.x)[0]
        start = tf.ones([self.size, 1], tf.int32)
        self.inputs = tf.concat([start, self.x], 1)
        self.targets = tf.concat([self.x, start], 1)

    def build(self):
        table = tf.get_variable('table', [20, 4])
        cell = tf.nn.rnn_cell.GRUCell(5)
        state = cell.zero_state({size}, tf.float32)
        out, _ = tf.nn.dynamic_rnn(cell, tf.nn.embedding_lookup(table, self.inputs), initial_state=state)
        logits = tf.layers.dense(out, 20)
        each = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=self.targets, logits=logits)
        self.loss = tf.reduce_mean(each)

    def optimize(self):
        self.train_op = tf.train.AdamOptimizer(0.1).minimize(self.loss)


net = Net()
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(10):
        sess.run([net.train_op, net.loss], {{net.x: next_batch(batch_size)}})
"""


def test_inputs_that_are_prepared_and_counted_where_they_are_made() -> None:
    """The towers make them, as each counts its own; what is prepared alone is prepared once, in front of them."""
    _, inside, after = parts(PREPARED.format(size="self.size"))
    assert inside.index("self.init_placeholders()") < inside.index("self.build()")
    assert "self.x = tower_inputs.whole(self.x)" in after
    before, inside, _ = parts(PREPARED.format(size="batch_size"))
    assert "self.init_placeholders()" in before and "tower_inputs" not in "".join(inside)


PHASES = """\
import argparse
import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument('--mode', default='train')
parser.add_argument('--fine', type=int, default=1)
args = parser.parse_args()
batch_size = 12


class Model(object):
    def __init__(self, mode, fine):
        self.train = True if mode == 'train' else False
        self.fine = fine
        self.build()

    def features(self):
        self.x = tf.placeholder(tf.float32, [None, 8])
        self.hidden = tf.layers.dense(self.x, 4, name='hidden')

    def head(self):
        if self.train:
            {given}
            self.y = tf.placeholder(tf.float32, [None, 3])
        else:
            {own}
        {kept}
        self.out = tf.layers.dense(given, 3, name='out')
        {reused}
        if self.train:
            self.loss = tf.reduce_mean(tf.square(self.out - self.y))

    def build(self):
        self.features()
        self.head()
        if self.train:
            self.train_op = tf.train.AdamOptimizer(0.01).minimize(self.loss)


if args.mode == 'train':
    model = Model(args.mode, args.fine)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for step in range(100):
            xs, ys = next_batch(batch_size)
            sess.run(model.train_op, {{model.x: xs, model.y: ys}})
else:
    model = Model(args.mode, args.fine)
    with tf.Session() as sess:
        print(sess.run(model.out, {{model.x: test_images()}}))
"""
READ = "given = self.hidden"


def phases(given: str = READ, own: str = READ, kept: str = "pass", reused: str = "pass") -> list[str]:
    return codes(PHASES.format(given=given, own=own, kept=kept, reused=reused))


def test_a_model_made_in_branches_of_the_script_is_handed_what_it_always_makes() -> None:
    assert phases() == []


def test_a_scope_that_only_a_branch_in_the_place_of_this_one_goes_on_with_may_be_reused() -> None:
    assert phases(reused="if self.fine:\n            tf.get_variable_scope().reuse_variables()") == []


def test_an_attribute_that_is_a_placeholder_in_some_branches_only_cannot_be_given_back() -> None:
    own = "given = tf.placeholder(tf.float32, [None, 4])"
    assert phases(own=own, kept="self.given = given") == ["TMG230"]
    assert phases(own=own) == []


OF_FILE = """\
import json
import tensorflow as tf

opts = json.load(open('settings.json'))


class Model(object):
    def __init__(self, opts):
        self.cell = tf.contrib.rnn.BasicLSTMCell(8)
        self.state = self.cell.zero_state(opts['batch_size'], tf.float32)

    def build(self, opts):
        x = tf.placeholder(tf.float32, [opts['batch_size'], 8])
        y = tf.placeholder(tf.float32, [opts['batch_size'], 8])
        if opts['weighted']:
            w = tf.placeholder(tf.float32, [opts['batch_size'], 8])
        out, self.state = self.cell(tf.layers.dense(x, 8), self.state)
        out = tf.reshape(out, [opts['batch_size'], 8])
        if opts['weighted']:
            out = out * w
        inputs = {'x': x, 'y': y}
        if opts['weighted']:
            inputs['w'] = w
        return inputs, tf.reduce_mean(tf.square(out - y))


model = Model(opts)
inputs, loss = model.build(opts)
train_op = tf.train.AdamOptimizer(0.01).minimize(loss)
with tf.Session() as sess:
    for step in range(100):
        xs, ys, ws = next_batch(opts['batch_size'])
        feed = {inputs['x']: xs, inputs['y']: ys}
        if opts['weighted']:
            feed[inputs['w']] = ws
        sess.run(train_op, feed)
"""


def test_a_placeholder_of_one_branch_is_given_back_to_its_dict_where_it_is_there() -> None:
    _, inside, after = parts(OF_FILE, line_length=200)
    assert "rows, weight = tower_inputs.share(inputs['x'])" in inside
    assert "if 'w' in inputs:\ninputs['w'] = tower_inputs.whole(inputs['w'])" in "\n".join(after)


def test_the_whole_size_is_known_in_front_of_the_towers_where_others_build_the_model_for_one_gpu() -> None:
    """What only towers need is saved behind the line that makes the object which hands out rows."""
    text = OF_FILE.replace("json.load(open('settings.json'))", "{'batch_size': 32, 'weighted': flag}")
    before, _, _ = parts(text, one_gpu=True, line_length=200)
    assert "tower_inputs = TowerInputs(size=opts['batch_size'])" in before


CALLED_IN_BRANCHES = """\
Net = collections.namedtuple('Net', 'x y')
Losses = collections.namedtuple('Losses', 'total')


class Model(object):
    def build(self, wide=False):
        x = tf.placeholder(tf.float32, [None, 8], name='x')
        loss = tf.reduce_mean(tf.square(tf.layers.dense(x, 3)))
        y = tf.placeholder(tf.float32, [None, 3], name='y')
        if wide:
            loss = loss + tf.reduce_mean(tf.square(tf.layers.dense(y, 4)))
        self.net = {made}
        self.losses = Losses(total=loss)


model = Model()
if flag():
    model.build(wide=True)
else:
    model.build()
train_op = tf.train.AdamOptimizer(0.01).minimize(model.losses.total)
with tf.Session() as sess:
    for step in range(100):
        xs, ys = next_batch(batch_size)
        sess.run(train_op, {{model.net{x}: xs, model.net{y}: ys}})
"""


@pytest.mark.parametrize(
    ("made", "x", "y", "whole"),
    [
        ("Net(x, y)", ".x", ".y", "model.net = model.net._replace(x={}, y={})"),
        ("(x, y)", "[0]", "[1]", "model.net = ({}, {})"),
    ],
)
def test_tuples_of_placeholders_of_several_calls(made: str, x: str, y: str, whole: str) -> None:
    text = converted(HEAD + CALLED_IN_BRANCHES.format(made=made, x=x, y=y))
    wholes = [f"tower_inputs.whole(model.net{part})" for part in (x, y)]
    assert whole.format(*wholes) in " ".join(text.split()).replace("( ", "(").replace(" )", ")")


FILLED = """\
import tensorflow as tf

batch_size = 32


class Model(object):
    def __init__(self, names):
        self.inputs = {{}}
        self.make(names)
        self.train_op = tf.train.GradientDescentOptimizer(0.1).minimize(self.loss)

    def prepare(self, names):
        self.inputs['keep'] = tf.placeholder(tf.float32, None)
        {made}
        self.hidden = tf.layers.dense(self.inputs['x'], 3)

    def make(self, names):
        self.inputs['y'] = tf.placeholder(tf.float32, [None, 1])
        with tf.variable_scope('net'):
            self.prepare(names)
            out = tf.layers.dense({hidden}, 1) * self.inputs['keep']
        self.loss = tf.reduce_mean(tf.square(out - self.inputs['y']))


model = Model(['x'])
with tf.Session() as sess:
    for step in range(100):
        xs, ys = next_batch(batch_size)
        sess.run(model.train_op, {{model.inputs['x']: xs, model.inputs['y']: ys, model.inputs['keep']: 1.0}})
"""
ENTRY = "self.inputs['x'] = tf.placeholder(tf.float32, [None, 4])"
SCALED = "self.hidden * tf.add_n([tf.reduce_mean(v) for v in self.inputs.values()])"


def test_an_entry_that_the_model_puts_into_a_dict_is_given_back_to_it() -> None:
    _, inside, after = parts(FILLED.format(made=ENTRY, hidden="self.hidden"))
    assert "(self.inputs['y'],), rows_y, weight_y = shard([y_batch], gpu)" in inside
    assert "rows_x, weight_x = tower_inputs.share(self.inputs['x'])" in inside
    assert "self.inputs['y'], self.inputs['x'] = y_batch, tower_inputs.whole(self.inputs['x'])" in after


@pytest.mark.parametrize(
    ("made", "hidden", "found"),
    [
        (ENTRY, SCALED, "TMG205"),  # all entries are read at once
        (
            f"for name in next_names():\n            {ENTRY.replace(chr(39) + 'x' + chr(39), 'name')}",
            "self.hidden",
            "TMG230",
        ),
    ],
    ids=["read as a whole", "of a key that is not known"],
)
def test_dicts_of_inputs_that_no_tower_can_be_handed(made: str, hidden: str, found: str) -> None:
    assert codes(FILLED.format(made=made, hidden=hidden))[0] == found
