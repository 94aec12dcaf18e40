"""Models whose last part, the loss and the step stand in a function of their own: its towers go on with the model's."""

from __future__ import annotations

from pathlib import Path

import pytest

from converter.verify import VerifySettings, verify
from tests.scripts import codes, converted, run

NET = """\
import tensorflow as tf

batch_size = 8


class Net(object):
    def __init__(self):
        self.x = tf.placeholder(tf.float32, [None, 4])
        self.y = tf.placeholder(tf.float32, [None, 1])
        self.layers = {{}}
        self.parts = []
        self.build()
        self.optimize()

    def build(self):
        self.hidden = tf.layers.dense(self.x, 3)
        self.layers['out'] = tf.layers.dense(self.hidden, 1)
        self.parts.append(self.hidden)
        self.pair = (self.hidden, self.x)
        self.size = tf.nn.l2_loss(self.hidden)
        self.states = tf.TensorArray(tf.float32, 1).write(0, self.hidden)
        {build}

    def optimize(self):
        {head}
        loss = {loss}
        self.loss = loss
        self.train_op = tf.train.AdamOptimizer(0.1).minimize(loss)


net = Net()
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(10):
        xs, ys = next_batch(batch_size)
        sess.run([net.train_op, net.loss], {{net.x: xs, net.y: ys}})
"""
SUM = "tf.nn.l2_loss(self.layers['out'] - self.y)"


def net(loss: str = SUM, build: str = "pass", head: str = "pass") -> str:
    return NET.format(loss=loss, build=build, head=head)


def lines(script: str, **options: object) -> list[str]:
    """The lines of a conversion, without their indentation."""
    return [line.strip() for line in converted(script, **options).splitlines()]


def in_order(found: list[str], *wanted: str) -> None:
    """Assert that lines follow each other, with others between them."""
    places = [found.index(line) for line in wanted]
    assert places == sorted(places)


def test_each_tower_goes_on_with_what_it_made() -> None:
    in_order(
        lines(net()),
        "(self.x,), rows, weight = shard([x_batch], gpu)",
        "self.build()",
        "own_out.append(self.layers['out'])",
        "self.x = x_batch",
        "self.layers['out'] = keep_parts(tf.concat(tower_out, 0), own_out)",
        "self.optimize()",
        "def optimize(self):",
        "y_batch, out_batch = self.y, self.layers['out']",
        "(self.y,), tower_rows, tower_weight = shard([y_batch], gpu)",
        "self.layers['out'] = part_of_tower(out_batch, gpu)",
        "tower_grads.append(optimizer.compute_gradients(loss * tower_weight))",
        "self.y, self.layers['out'] = y_batch, out_batch",
        "self.train_op = optimizer.apply_gradients(sum_gradients(tower_grads))",
    )


@pytest.mark.parametrize(
    "loss, carried",
    [
        ("tf.nn.l2_loss(self.hidden - self.y)", ["self.hidden"]),
        ("tf.nn.l2_loss(self.parts[0] - self.y)", ["self.parts[0]"]),
        ("tf.nn.l2_loss(self.hidden - self.y) + self.size", ["self.hidden", "self.size"]),
        ("tf.reduce_mean(tf.layers.dense(self.hidden, 1) - self.y)", ["self.hidden"]),
        ("tf.sqrt(tf.reduce_mean(tf.square(self.hidden - self.y)))", ["self.hidden"]),
    ],
)
def test_of_names_attributes_and_items(loss: str, carried: list[str]) -> None:
    found = [line.partition(" = ")[0] for line in lines(net(loss)) if "= part_of_tower(" in line]
    assert found == carried


def test_a_sum_is_the_towers_own_and_elsewhere_that_of_all() -> None:
    found = lines(net("tf.nn.l2_loss(self.hidden - self.y) + self.size"))
    assert "self.size = keep_parts(tf.add_n(tower_size), own_size)" in found
    assert "own_size.append(self.size)" in found and "self.size = part_of_tower(size_batch, gpu)" in found


@pytest.mark.parametrize(
    "loss, counted",
    [("tf.nn.l2_loss(self.hidden)", "hidden_batch"), ("2.0 * self.size", "self.x")],
)
def test_without_inputs_rows_are_counted_on_what_holds_as_many(loss: str, counted: str) -> None:
    name = "first_hidden" if counted == "hidden_batch" else "first_x"
    assert f"({name},), tower_rows, tower_weight = shard([{counted}], gpu)" in lines(net(loss))


def test_a_name_that_the_function_binds_anew() -> None:
    """Each tower begins with its own value, and behind the towers the name means what it meant before them."""
    found = lines(net(head="self.hidden = tf.nn.relu(self.hidden)", loss="tf.nn.l2_loss(self.hidden - self.y)"))
    in_order(
        found,
        "self.hidden = part_of_tower(hidden_batch, gpu)",
        "self.hidden = tf.nn.relu(self.hidden)",
    )
    assert "self.hidden = tf.concat(towers_hidden, 0)" in found


def test_a_dict_that_the_function_changes_is_set_back_before_a_tower_s_own_is_put_into_it() -> None:
    in_order(
        lines(net(head="self.layers['out'] = tf.nn.relu(self.layers['out'])")),
        "self.layers.update(first_layers)",
        "self.layers['out'] = part_of_tower(out_batch, gpu)",
        "self.layers['out'] = tf.nn.relu(self.layers['out'])",
    )


def test_an_input_that_the_function_makes() -> None:
    found = lines(net(head="self.z = tf.placeholder(tf.float32, [None, 1])", loss=f"{SUM} + tf.nn.l2_loss(self.z)"))
    in_order(
        found,
        "self.z = tf.placeholder(tf.float32, [None, 1])",
        "(self.y, self.z), tower_rows, tower_weight = shard([y_batch, z_batch], gpu)",
    )


def test_a_function_between_them() -> None:
    """Three loops: what each makes, the later ones go on with."""
    script = net("tf.nn.l2_loss(self.more - self.y) + self.size").replace("self.optimize()", "self.rest()")
    middle = "    def rest(self):\n        self.more = tf.nn.relu(self.layers['out'])\n        self.optimize()\n\n"
    found = lines(script.replace("    def optimize", f"{middle}    def optimize"))
    in_order(
        found,
        "self.layers['out'] = keep_parts(tf.concat(tower_out, 0), own_out)",
        "self.layers['out'] = part_of_tower(out_batch, gpu)",
        "self.more = keep_parts(tf.concat(tower_more, 0), own_more)",
        "self.more = part_of_tower(more_batch, gpu)",
        "self.size = part_of_tower(size_batch, gpu)",
    )


def test_a_class_that_is_made_twice_has_its_towers_each_time() -> None:
    script = net().replace("net = Net()", "net = Net()\nwith tf.variable_scope('other'):\n    other = Net()")
    assert "part_of_tower(out_batch, gpu)" in converted(script)


@pytest.mark.parametrize("options", [{"batch": "total"}, {"loss": "global"}])
def test_computed_once_where_that_is_asked_for(options: dict[str, str]) -> None:
    text = converted(net(), **options)
    assert "part_of_tower" not in text and "colocate_gradients_with_ops=True" in text


WHOLE = "tf.nn.l2_loss(tf.add_n(self.parts) - self.y)"
SCALED = "for i in range(len(sys.argv)):\n            self.parts[i] = self.parts[i] * 2.0"


@pytest.mark.parametrize(
    ("loss", "head", "name"),
    [
        ("tf.nn.l2_loss(self.pair[0] - self.y)", "pass", "pair"),
        (WHOLE, "pass", "parts"),
        (WHOLE, SCALED, "parts"),
        ("sum(tf.nn.l2_loss(part - self.y) for part in self.parts)", "pass", "parts"),
        ("tf.nn.l2_loss(self.list[0][0] - self.list[1])", "pass", "list"),
        ("tf.nn.l2_loss(sum(self.nest['a'][0]) - self.y)", "pass", "nest"),
    ],
)
def test_a_list_that_only_later_towers_read_is_handed_on(loss: str, head: str, name: str) -> None:
    build = "self.nest = {'a': [(self.hidden, self.hidden)]}\n        self.list = [[self.hidden], self.x[:, :1]]"
    found = lines("import sys\n" + net(loss, build=build, head=head))
    in_order(
        found,
        "self.build()",
        f"tower_{name}.append(self.{name})",
        f"self.{name} = hand_on(tower_{name})",
        "self.optimize()",
        f"self.{name} = part_of_tower({name}_batch, gpu)",
    )
    assert sum("= hand_on(" in line for line in found) == 1 and "first_parts" not in "".join(found)


GUESSED = "-tf.reduce_mean(self.guess.log_prob(self.y))"
MEAN = "tf.reduce_sum(tf.square(self.hidden)) / tf.cast(self.rows, tf.float32)"
ROWS = "tf.sqrt(tf.nn.l2_loss(self.hidden)) / tf.cast(self.rows, tf.float32)"


@pytest.mark.parametrize(
    ("made", "loss", "name"),
    [
        ("self.rows = tf.shape(self.x)[0]", ROWS, "rows"),
        ("self.rows = tf.shape(self.x)[0] * 2", ROWS, "rows"),
        ("self.guess = tf.distributions.Normal(self.hidden, 1.0)", GUESSED, "guess"),
    ],
)
def test_what_is_no_tensor_is_handed_on_to_later_towers(made: str, loss: str, name: str) -> None:
    in_order(
        lines(net(loss, build=made)),
        f"tower_{name}.append(self.{name})",
        f"self.{name} = hand_on(tower_{name})",
        "self.optimize()",
        f"self.{name} = part_of_tower({name}_batch, gpu)",
    )


def test_a_dict_is_read_for_its_keys_beside_what_is_handed_on() -> None:
    assert "TMG219" not in codes(net(f"{SUM} * len(list(self.layers.keys()))"))
    assert codes(net(f"{SUM} * len(list(self.layers.values()))")) == ["TMG219"]


REFUSED = {
    "a list of what has no rows that are known": net(
        "tf.nn.l2_loss(tf.add_n(self.list))", build="self.list = [tf.py_func(f, [self.hidden, self.x], tf.float32)]"
    ),
    "a list that is read in a run": net(WHOLE).replace("net.loss]", "net.loss, net.parts[0]]"),
    "a list that is read behind the step": net(WHOLE).replace("net = Net()", "net = Net()\nprint(len(net.parts))"),
    "a list that is read in front of the function": net(WHOLE).replace(
        "        self.optimize()", "        print(self.parts)\n        self.optimize()", 1
    ),
    "a list with an input that is not cut there": net(
        "tf.nn.l2_loss(tf.add_n(self.list))", build="self.list = [self.hidden, self.y]"
    ),
    "a collection": net(
        f"{SUM} + tf.add_n(tf.get_collection('terms'))", build="tf.add_to_collection('terms', self.size)"
    ),
    "an argument computed on the way": net("tf.nn.l2_loss(h - self.y)")
    .replace("self.optimize()", "self.optimize(tf.nn.relu(self.hidden))")
    .replace("def optimize(self)", "def optimize(self, h)"),
}


@pytest.mark.parametrize("script", REFUSED.values(), ids=REFUSED)
def test_refused_where_a_tower_cannot_be_given_its_own(script: str) -> None:
    assert codes(script) == ["TMG219"]


def test_what_is_no_tensor_and_is_read_elsewhere_is_refused() -> None:
    script = net(ROWS, build="self.rows = tf.shape(self.x)[0]")
    assert codes(script.replace("net.loss]", "net.loss, net.rows]")) == ["TMG219"]
    script = net(GUESSED, build="self.guess = tf.distributions.Normal(self.hidden, 1.0)")
    assert "TMG210" in codes(script.replace("net = Net()", "net = Net()\ndraw = net.guess.sample()"))


def test_a_number_of_rows_is_counted_once_more_where_one_loss_reads_it() -> None:
    """The loss is a mean over the examples, and is computed once from merged results."""
    script = net(MEAN, build="self.rows = tf.shape(self.x)[0]").replace("net.loss]", "net.loss, net.rows]")
    in_order(lines(script), "self.x = x_batch", "self.rows = tf.shape(self.x)[0]", "self.optimize()")


def test_an_object_that_holds_rows_is_refused() -> None:
    assert "TMG210" in codes(net("tf.nn.l2_loss(self.states.read(0) - self.y)"))


def test_what_only_one_branch_makes_is_refused_by_its_name() -> None:
    build = "if len(sys.argv) > 1:\n            self.extra = self.hidden\n        else:\n            self.extra = None"
    more = "\n        if self.extra is not None:\n            loss += tf.nn.l2_loss(self.extra)"
    loss = f"tf.nn.l2_loss(self.hidden - self.y){more}"
    (found,) = run("import sys\n" + net(loss, build=build)).diagnostics
    assert found.code == "TMG219" and "apart from self.extra" in found.message


TWICE = """\
import tensorflow as tf

batch_size = 8


def optimize(out, y):
    cost = tf.nn.l2_loss(out - y)
    return tf.train.AdamOptimizer(0.1).minimize(cost)


X = tf.placeholder(tf.float32, [None, 4])
Y = tf.placeholder(tf.float32, [None, 1])
Z = tf.placeholder(tf.float32, [None, 1])
out = tf.layers.dense(X, 1)
train_op = optimize(out, Y)
scale = tf.get_variable('scale', [1])
{other}
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(10):
        xs, ys = next_batch(batch_size)
        sess.run(train_op, {{X: xs, Y: ys}})
        sess.run(second, {{Z: ys, Y: ys}})
"""


def test_a_function_that_builds_the_loss_of_another_model_is_refused() -> None:
    """The other model has no towers whose parts could be taken."""
    assert run(TWICE.format(other="second = tf.nn.l2_loss(scale * Z - Y)")).status == "converted"
    assert run(TWICE.format(other="second = optimize(scale * Z, Y)")).status == "refused"


PREPARED = """\
import sys
import tensorflow as tf

batch_size = 8


class Net(object):
    def __init__(self):
        self.x = tf.placeholder(tf.float32, [None, 4])
        self.y = tf.placeholder(tf.int64, [None])
        {prepare}
        self.build()

    def build(self):
        x, y = {read}
        self.loss = tf.reduce_mean(tf.square(tf.layers.dense(x, 3) - y))
        self.train_op = tf.train.AdamOptimizer(0.1).minimize(self.loss)


net = Net()
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(10):
        xs, ys = next_batch(batch_size)
        sess.run([net.train_op, net.loss], {{net.x: xs, net.y: ys}})
"""


def prepared(prepare: str, read: str) -> str:
    """A class whose constructor prepares batches, and calls a method that builds its model and trains."""
    return PREPARED.format(prepare=prepare.replace("\n", "\n        "), read=read)


@pytest.mark.parametrize(
    "prepare, read, cut",
    [
        ("self.pair = (self.x / 255.0, tf.one_hot(self.y, 3))", "self.pair", "(x, y)"),
        (
            "self.scaled = self.x\nif len(sys.argv) > 1:\n    self.scaled = self.x / 255.0",
            "self.scaled, tf.one_hot(self.y, 3)",
            "(self.y, self.scaled)",
        ),
        (
            "self.data = {'x': self.x}\nif len(sys.argv) > 1:\n    self.data['x'] = self.x / 255.0",
            "self.data['x'], tf.one_hot(self.y, 3)",
            "(self.y, self.data['x'])",
        ),
    ],
)
def test_whole_batches_are_prepared_in_front_of_the_function(prepare: str, read: str, cut: str) -> None:
    found = lines(prepared(prepare, read))
    in_order(found, prepare.split("\n")[-1].strip(), "self.build()")
    assert [line.partition(",")[0] for line in found if "weight = shard(" in line] == [cut.partition(",")[0]]
    assert any(line.startswith(f"{cut}, rows, weight") for line in found) and "part_of_tower" not in "".join(found)


@pytest.mark.parametrize(
    "prepare, read",
    [
        ("self.pair = (self.x - tf.reduce_mean(self.x, 0), tf.one_hot(self.y, 3))", "self.pair"),
        ("self.pair = (self.x * tf.get_variable('scale', [4]), tf.one_hot(self.y, 3))", "self.pair"),
        ("self.pair = (tf.layers.dense(self.x, 4), tf.one_hot(self.y, 3))", "self.pair"),
    ],
)
def test_what_is_more_than_a_preparation_is_a_part_of_the_model(prepare: str, read: str) -> None:
    """Each tower does it, and goes on with what it made."""
    found = lines(prepared(prepare, read))
    in_order(found, prepare, "tower_pair.append(self.pair)", "self.pair = part_of_tower(pair_batch, gpu)")


CLASSES = """\
import sys
import numpy as np
import tensorflow as tf

batch_size = 8
drawn = np.random.RandomState(1)


def next_batch(n):
    return drawn.rand(n, 4), drawn.rand(n, 1)


class Model(object):
    {held}

    def __init__(self, width):
        self.x = tf.placeholder(tf.float32, [None, 4])
        self.y = tf.placeholder(tf.float32, [None, 1])
        self.width = width

    def optimize(self, hidden):
        out = tf.layers.dense(hidden, 1, name='out')
        self.loss = tf.reduce_mean(tf.square(out - self.y))
        {head}
        self.train_op = tf.train.AdamOptimizer(0.1).minimize(self.loss)


class Linear(Model):
    def __init__(self, width):
        super(Linear, self).__init__(width)
        self.hidden = tf.layers.dense(self.x, width)
        self.optimize(self.hidden)


class Deep(Model):
    def __init__(self, width):
        super(Deep, self).__init__(width)
        first = tf.layers.dense(self.x, 2 * width, tf.nn.relu)
        {deep}


if len(sys.argv) > 1:
    net = Linear(3)
else:
    net = Deep(3)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(10):
        xs, ys = next_batch(batch_size)
        sess.run([net.train_op, net.loss], {{net.x: xs, net.y: ys}})
"""
DEEP = "self.hidden = tf.layers.dense(first, width)\n        self.optimize(self.hidden)"


EXTRA = "self.extra = tf.reduce_mean(tf.square(first))\n        " + DEEP
IF_THERE = "if self.extra is not None: self.loss += self.extra"
FLAG = "self.more = True\n        " + EXTRA
IF_FLAG = "if self.more: self.loss += self.extra"


def classes(deep: str = DEEP, head: str = "pass", held: str = "extra = None") -> str:
    return CLASSES.format(deep=deep, head=head, held=held)


def test_one_last_part_of_models_of_several_classes() -> None:
    """Each class has towers in its constructor, and those of the common method go on with what either made."""
    found = lines(classes())
    assert len([line for line in found if line.startswith("(self.x,), ")]) == 2
    assert len([line for line in found if line.startswith("hidden = part_of_tower(")]) == 1
    assert len([line for line in found if line.startswith("self.hidden = keep_parts(")]) == 2


CHOICE = """\
if len(sys.argv) > 1:
    net = Linear(3)
else:
    net = Deep(3)
"""


def test_a_conditional_expression_chooses_the_class() -> None:
    chosen = "net = Linear(3) if len(sys.argv) > 1 else Deep(3)\n"
    found = converted(classes().replace(CHOICE, chosen))
    assert len([line for line in found.splitlines() if "hidden = part_of_tower(" in line]) == 1


@pytest.mark.parametrize(
    "both", ["net, other = Linear(3), Deep(3)\n", "net = (Linear(3), Deep(3))[len(sys.argv) > 1]\n"]
)
def test_refused_where_both_models_are_built(both: str) -> None:
    assert run(classes().replace(CHOICE, both)).status == "refused"


def test_a_part_of_the_loss_that_only_one_class_has() -> None:
    """It is None in the other class, or an attribute that is not there; behind the loop it is as it was."""
    found = converted(classes(EXTRA, IF_THERE))
    assert "hidden_batch, extra_batch = self.y, hidden, self.extra\n" in found
    assert found.count("            if extra_batch is not None:\n                ") == 1
    assert "self.y, hidden, self.extra = y_batch, hidden_batch, extra_batch\n" in found
    found = converted(classes(FLAG, IF_FLAG, "more = False"))
    assert "hidden_batch, extra_batch = self.y, hidden, getattr(self, 'extra', None)\n" in found
    assert "        if extra_batch is not None:\n            self.extra = extra_batch\n" in found


@pytest.mark.parametrize(
    ("deep", "head", "held"),
    [
        (EXTRA.replace("reduce_mean", "reduce_sum"), IF_THERE, "extra = None"),
        (EXTRA, "self.loss += self.extra", "extra = 0.5"),
        ("self.hidden = self.x\n        self.optimize(self.hidden)", "pass", "pass"),
        ("self.hidden = tf.layers.dense(first, width)\n        self.optimize(tf.ones([2, width]))", "pass", "pass"),
    ],
    ids=["a sum beside the mean", "a number in the other class", "without a first part", "of a constant"],
)
def test_refused_where_the_last_part_is_not_the_same_for_all_classes(deep: str, head: str, held: str) -> None:
    assert run(classes(deep, head, held)).status == "refused"


@pytest.mark.tf1
@pytest.mark.one_in(2)
@pytest.mark.parametrize("args", [(), ("linear",)])
@pytest.mark.parametrize(("deep", "head", "held"), [(DEEP, "pass", "pass"), (FLAG, IF_FLAG, "more = False")])
def test_models_of_several_classes_are_proven(
    deep: str, head: str, held: str, args: tuple[str, ...], tmp_path: Path, tensorflow_python: str
) -> None:
    (tmp_path / "single.py").write_text(classes(deep, head, held))
    (tmp_path / "multi.py").write_text(converted(classes(deep, head, held)))
    settings = VerifySettings(gpus=3, python=tensorflow_python, args=args)
    assert verify(tmp_path / "single.py", tmp_path / "multi.py", settings).verdict == "passed"


READER = """\
import numpy as np
import tensorflow as tf

batch_size = 8
drawn = np.random.RandomState(1)


class Reader(object):
    def __init__(self):
        self.images = tf.placeholder(tf.float32, [None, 6, 4])
        self.network()
        self.decoder()
        self.train_op = tf.train.AdamOptimizer(0.01).minimize(self.loss)

    def network(self):
        self.hidden = tf.layers.dense(self.images, 4)

    def decoder(self):
        by_time = tf.transpose(self.hidden, [1, 0, 2])
        {texts}
        self.lengths = tf.placeholder(tf.int32, [None])
        self.loss = tf.reduce_mean(tf.nn.ctc_loss(self.texts, by_time, self.lengths))
        self.saved = tf.placeholder(tf.float32, [None, None, 4])
        self.each = tf.nn.ctc_loss(self.texts, self.saved, self.lengths)


def next_batch(size):
    texts = drawn.randint(0, 3, (size, 2))
    indices = [[i, j] for i in range(size) for j in range(2)]
    return drawn.rand(size, 6, 4), (indices, texts.reshape(-1), [size, 2]), [6] * size


reader = Reader()
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(6):
        images, texts, lengths = next_batch(batch_size)
        feed = {{reader.images: images, reader.texts: texts, reader.lengths: lengths}}
        print(sess.run([reader.train_op, reader.loss], feed))
"""
IN_PARTS = (
    "self.texts = tf.SparseTensor(tf.placeholder(tf.int64, [None, 2]), tf.placeholder(tf.int32, [None]),"
    " tf.placeholder(tf.int64, [2]))"
)


def test_a_method_that_makes_inputs_in_parts_beside_the_end_of_the_model() -> None:
    """The towers of the first methods end in front of it, and those in it go on; the step is taken where it stood."""
    assert codes(READER.format(texts=IN_PARTS)) == []  # what a sparse input is fed are no three rows
    in_order(
        lines(READER.format(texts=IN_PARTS)),
        "(self.images,), rows, weight = shard_sparse([images_batch], gpu)",
        "self.network()",
        "self.hidden = keep_parts(tf.concat(tower_hidden, 0), own_hidden)",
        "self.decoder()",
        "tower_gradients(optimizer, self.loss.tower_losses)",
        IN_PARTS,
        "(self.texts, self.lengths), tower_rows, tower_weight = shard_sparse(",
        "self.hidden = part_of_tower(hidden_batch, gpu)",
    )


def test_an_input_that_is_the_model_s_result_unless_it_is_fed_has_its_rows() -> None:
    default = "self.first = tf.placeholder_with_default(self.hidden[:, :1], [None, 1])"
    for head in (default, default.replace("self.hidden", "self.x")):
        found = lines(net(f"{SUM} + tf.nn.l2_loss(self.first)", head=head))
        in_order(found, head, "(self.y, self.first), tower_rows, tower_weight = shard([y_batch, first_batch], gpu)")
    mean = "self.first = tf.placeholder_with_default(self.x - tf.reduce_mean(self.x, 0), [None, 4])"
    assert "TMG204" in codes(net(f"{SUM} + tf.nn.l2_loss(self.first)", head=mean))


@pytest.mark.tf1
@pytest.mark.parametrize("gpus", [2, 3])
def test_a_method_that_makes_inputs_is_proven(gpus: int, tmp_path: Path, tensorflow_python: str) -> None:
    (tmp_path / "single.py").write_text(READER.format(texts=IN_PARTS))
    (tmp_path / "multi.py").write_text(converted(READER.format(texts=IN_PARTS)))
    settings = VerifySettings(gpus=gpus, python=tensorflow_python)
    assert verify(tmp_path / "single.py", tmp_path / "multi.py", settings).verdict == "passed"
