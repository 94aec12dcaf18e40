"""What the towers change and read again begins in each as it was before: in other modules, too."""

from __future__ import annotations

from pathlib import Path

import pytest

from converter.conversion import Conversion, convert
from converter.options import Options
from converter.source import read
from converter.verify import VerifySettings, verify
from tests.scripts import INPUTS, STEP, TRAINING, codes, converted, parts, run

LAYERS = """\
import tensorflow as tf

count = 0


def dense(x, units):
    global count
    count += 1
    return tf.layers.dense(x, units, name='dense%d' % count)
"""
MODEL = "loss = tf.reduce_mean(tf.square(dense(dense(X, 3), 1) - Y))\n"


def conversion(folder: Path, imports: str, text: str = INPUTS + MODEL + STEP + TRAINING) -> Conversion:
    """The conversion of a script that imports `dense`, beside the modules that may have it."""
    for name in ("layers.py", "nets/__init__.py", "nets/layers.py"):
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("" if "init" in name else LAYERS)
    script = folder / "train.py"
    script.write_text(imports + text)
    return convert(read(str(script)), Options())


@pytest.mark.parametrize(
    ("imports", "added", "name"),
    [
        ("from layers import *\n", "import layers\nfrom layers import *\n", "layers"),
        ("from layers import dense\n", "import layers\nfrom layers import dense\n", "layers"),
        ("from nets.layers import dense\n", "import nets.layers as layers\nfrom nets.layers import dense\n", "layers"),
        ("from layers import dense\nlayers = 3\n", "import layers as layers_2\nfrom layers import dense\n", "layers_2"),
        ("import layers\ndense = layers.dense\n", "import layers\ndense = layers.dense\n", "layers"),
        (
            "import os\nif os.name:\n    from layers import dense\nfrom layers import *\n",
            "import layers\nfrom layers import *\n",
            "layers",
        ),
    ],
)
def test_a_counter_of_another_module_begins_anew_in_each_tower(
    tmp_path: Path, imports: str, added: str, name: str
) -> None:
    made = conversion(tmp_path, imports)
    assert made.status == "converted", made.diagnostics
    assert made.text is not None
    assert added in made.text
    assert f"        {name}.count = first_count\n" in made.text
    assert made.unread == ()


NUMBERED = """\
import tensorflow as tf

counts = {}
made = []


def dense(x, units):
    counts['dense'] = counts.get('dense', 0) + 1
    made.append(x)
    return tf.layers.dense(x, units, name='dense%d' % counts['dense'])
"""


def numbered(folder: Path, imports: str) -> Conversion:
    """The same of a script whose layers are numbered by a dict, and kept in a list, of their module."""
    (folder / "layers.py").write_text(NUMBERED)
    (folder / "train.py").write_text(imports + INPUTS + MODEL + STEP + TRAINING)
    return convert(read(str(folder / "train.py")), Options())


@pytest.mark.parametrize("imports", ["from layers import dense\n", "import layers\ndense = layers.dense\n"])
def test_a_dict_and_a_list_of_another_module_begin_anew_in_each_tower(tmp_path: Path, imports: str) -> None:
    made = numbered(tmp_path, imports)
    assert made.text is not None, made.diagnostics
    assert made.text.count("import layers\n") == 1
    for line in ("layers.counts.clear()", "layers.counts.update(first_counts)", "layers.made[:] = first_made"):
        assert f"        {line}\n" in made.text


def test_a_dict_of_a_module_that_is_imported_elsewhere_is_refused_with_the_import(tmp_path: Path) -> None:
    found = numbered(tmp_path, LOCAL).diagnostics[0]
    assert found.code == "TMG231" and "changes counts of the module layers" in found.message
    assert found.hint.endswith("at the top of train.py, where the towers are built: import layers")
    assert numbered(tmp_path, "import layers\n" + LOCAL).status == "converted"


LOCAL = "def dense(x, units):\n    from layers import dense as made\n    return made(x, units)\n"


@pytest.mark.parametrize("imports", [LOCAL, "from between import dense\n"], ids=["in a function", "by another module"])
def test_a_module_that_is_imported_elsewhere_is_refused_and_the_named_import_helps(
    tmp_path: Path, imports: str
) -> None:
    (tmp_path / "between.py").write_text("from layers import dense\n")
    (found,) = conversion(tmp_path, imports).diagnostics
    assert (found.code, found.line) == ("TMG231", 8)
    assert "changes count of the module layers" in found.message
    assert found.hint.endswith("at the top of train.py, where the towers are built: import layers")
    made = conversion(tmp_path, "import layers\n" + imports)
    assert made.text is not None and "        layers.count = first_count\n" in made.text


def test_a_module_that_a_tower_imports_and_that_keeps_nothing_is_not_in_the_way(tmp_path: Path) -> None:
    local = LOCAL.replace("from layers import dense as made", "from plain import dense as made")
    (tmp_path / "plain.py").write_text(LAYERS.replace("    global count\n    count += 1\n", ""))
    assert conversion(tmp_path, local.replace("made(x, units)", "tf.layers.dense(x, units)")).status == "converted"


NAMED_AGAIN = """\
import tensorflow as tf
batch_size = 8


def build(scope=None):
    with tf.variable_scope(scope or 'net') as {bound}:
        x = tf.placeholder(tf.float32, [None, 4])
        y = tf.placeholder(tf.float32, [None, 1])
        with tf.variable_scope({bound}):
            hidden = tf.layers.dense(x, 3)
    with tf.variable_scope('train'):
        loss = tf.reduce_mean(tf.square(tf.layers.dense(hidden, 1) - y))
        train_op = tf.train.AdamOptimizer().minimize(loss)
    return x, y, train_op


x, y, train_op = build()
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(10):
        xs, ys = next_batch(batch_size)
        sess.run(train_op, {{x: xs, y: ys}})
"""


def test_a_block_that_binds_what_it_reads_begins_with_what_was_there_before_it() -> None:
    """`scope or 'net'` would read the scope of the placeholders' block, which takes no reuse from around it."""
    before, inside, _ = parts(NAMED_AGAIN.format(bound="scope"))
    opened = "with tf.variable_scope(scope or 'net') as scope:"
    placeholder = "x = tf.placeholder(tf.float32, [None, 4])"
    assert before.index("first_scope = scope") < before.index(opened) < before.index(placeholder)
    assert inside.index("scope = first_scope") < inside.index(opened)


def test_so_it_does_where_the_model_may_be_built_without_towers() -> None:
    """There the block is opened again, too: its first value is kept and given back under no condition."""
    text = converted(NAMED_AGAIN.format(bound="scope"), one_gpu=True)
    lines = text[text.index("def build(") :].splitlines()
    kept, back = lines.index("    first_scope = scope"), lines.index("            scope = first_scope")
    assert "with tf.variable_scope(scope or 'net') as scope:" in lines[kept + 1]
    assert lines[back - 1].lstrip().startswith("with enter_tower(")


def test_a_block_that_binds_another_name_is_opened_again() -> None:
    assert codes(NAMED_AGAIN.format(bound="opened")) == []


def test_a_block_that_binds_what_it_reads_is_opened_once_around_the_towers() -> None:
    made = "        x = tf.placeholder(tf.float32, [None, 4])\n        y = tf.placeholder(tf.float32, [None, 1])\n"
    script = NAMED_AGAIN.format(bound="scope").replace(made, "")
    opening = "    with tf.variable_scope(scope or"
    assert codes(script.replace(opening, made.replace("        ", "    ") + opening, 1)) == []


OTHER_NAME = """\
import tensorflow as tf

batch_size = 32


class Net(object):
    def __init__(self):
        self.x = tf.placeholder(tf.float32, [None, 4])
        self.ends = []
        self.build()

    def build(self):
        {bound}
        h = self.x
        for i in range(3):
            h = tf.layers.dense(h, 4)
            {filled}.append(h)
        self.loss = tf.reduce_mean(tf.square(tf.concat(self.ends, 1)))
        self.train_op = tf.train.AdamOptimizer().minimize(self.loss)


net = Net()
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(10):
        sess.run(net.train_op, {{net.x: next_batch(batch_size)}})
"""


@pytest.mark.parametrize(
    ("bound", "filled"), [("ends = self.ends", "ends"), ("pass", "self.ends"), ("out = first = self.ends", "out")]
)
def test_a_list_that_the_towers_give_another_name_is_set_back_by_the_one_from_before(bound: str, filled: str) -> None:
    _, inside, _ = parts(OTHER_NAME.format(bound=bound, filled=filled))
    assert "self.ends[:] = first_ends" in inside


NAMED = """\
import tensorflow as tf

made = []


def dense(x, units):
    FILL
    return tf.layers.dense(x, units)


def names():
    return made
"""
SHOW = "def show():\n    from layers import names\n    print(len(names()))\nshow()\n"


@pytest.mark.parametrize(
    ("fill", "asks", "found"),
    [
        ("made.append(units)", "", None),
        ("made.extend([units])", "", None),
        ("made.append(units)", SHOW, "TMG231"),
        ("made.append(len(made))", "", "TMG231"),
        ("last = made.append(units) or made", "", "TMG231"),
        ("made.append(units)\n    units = units + len(made) - 1", "", "TMG231"),
    ],
)
def test_a_list_that_is_only_filled_may_grow_in_each_tower(
    tmp_path: Path, fill: str, asks: str, found: str | None
) -> None:
    (tmp_path / "layers.py").write_text(NAMED.replace("FILL", fill))
    (tmp_path / "train.py").write_text(LOCAL + INPUTS + MODEL + STEP + asks + TRAINING)
    made = convert(read(str(tmp_path / "train.py")), Options())
    assert [d.code for d in made.diagnostics if d.severity == "error"] == ([found] if found else [])
    assert (made.status == "converted") == (found is None)


HOPS = """\
import sys
import numpy as np
import tensorflow as tf

batch_size = 8
drawn = np.random.RandomState(1)


class Net(object):
    def __init__(self):
        self.x = tf.placeholder(tf.float32, [None, 4])
        self.y = tf.placeholder(tf.float32, [None, 1])
        self.hops = []
        {first}
        self.build()
        out = tf.layers.dense(self.hops[-1], 1)
        self.loss = tf.reduce_mean(tf.square(out - self.y))
        self.last = tf.reduce_sum(self.hops[-1], 1)
        self.train_op = tf.train.AdamOptimizer(0.01).minimize(self.loss)

    def build(self):
        for hop in range({turns}):
            {hop}


net = Net()
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(6):
        x = drawn.rand(batch_size, 4)
        print(sess.run([net.train_op, net.loss, net.last], {{net.x: x, net.y: x[:, :1]}}))
"""
HOP = "self.hops.append(tf.layers.dense(self.hops[-1], 4))"
UNKNOWN_TURNS = "len(sys.argv) + 1"


@pytest.mark.parametrize("turns", ["2", UNKNOWN_TURNS])
def test_a_list_that_begins_with_an_input_holds_the_rows_of_a_tower_once_it_is_set_back(turns: str) -> None:
    before, inside, after = parts(HOPS.format(first="self.hops.append(self.x)", turns=turns, hop=HOP))
    assert any("first_hops = " in line and "list(self.hops)" in line for line in before)
    cut = next(line for line in inside if "(self.hops[0], self.y), rows, weight = shard(" in line)
    assert inside.index("self.hops[:] = first_hops") < inside.index(cut)
    assert any(line.startswith("self.hops[0], self.y = hops_0_batch,") for line in after)


@pytest.mark.parametrize(
    "more", ["self.hops.insert(0, self.hops[-1])", "self.hops.pop(0)", "self.hops.reverse()", "del self.hops[0]"]
)
def test_an_input_in_a_list_whose_place_changes_is_refused(more: str) -> None:
    hop = f"{HOP}\n            {more}"
    assert run(HOPS.format(first="self.hops.append(self.x)", turns="2", hop=hop)).status == "refused"
    assert run(HOPS.format(first="self.hops.append(self.x)", turns=UNKNOWN_TURNS, hop=hop)).status == "refused"


@pytest.mark.tf1
@pytest.mark.parametrize(("gpus", "turns"), [(2, "2"), (3, UNKNOWN_TURNS)])
def test_a_list_that_begins_with_an_input_is_proven(
    gpus: int, turns: str, tmp_path: Path, tensorflow_python: str
) -> None:
    script = HOPS.format(first="self.hops.append(self.x)", turns=turns, hop=HOP)
    (tmp_path / "single.py").write_text(script)
    (tmp_path / "multi.py").write_text(converted(script))
    settings = VerifySettings(gpus=gpus, python=tensorflow_python)
    assert verify(tmp_path / "single.py", tmp_path / "multi.py", settings).verdict == "passed"


CELLS = """\
import numpy as np
import tensorflow as tf

tf.flags.DEFINE_string('model', 'own', '')
FLAGS = tf.flags.FLAGS
batch_size = 8


class Cell(object):
    def __init__(self):
        {begin}
        self.inner = tf.nn.rnn_cell.GRUCell(4)

    def zero_state(self, rows, dtype):
        begin = np.zeros([rows, 2])
        begin[..., 0] = 1
        first = tf.get_variable('first', [2])
        return tf.concat([tf.constant(begin, dtype), tf.concat([first[None] for _ in range(rows)], 0)], 1)

    def __call__(self, x, state):
        with tf.variable_scope('own', reuse=self.step > 0):
            out, state = self.inner(x, state)
        self.step += 1
        return out, state


if FLAGS.model == 'own':
    cell = Cell()
else:
    cell = tf.nn.rnn_cell.GRUCell(4)
x = tf.placeholder(tf.float32, [batch_size, 3])
state = cell.zero_state(batch_size, tf.float32)
for _ in range(3):
    out, state = cell(x, state)
loss = tf.reduce_mean(tf.square(out - x[:, :1]))
train_op = tf.train.AdamOptimizer(0.01).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(6):
        print(sess.run([train_op, loss], {{x: np.random.rand(batch_size, 3)}}))
"""


def test_an_attribute_that_only_one_of_two_kinds_of_objects_has() -> None:
    before, inside, _ = parts(CELLS.format(begin="self.step = 0"))
    assert any("getattr(cell, 'step', None)" in line for line in before)
    assert inside[inside.index("if first_step is not None:") + 1] == "cell.step = first_step"


@pytest.mark.parametrize("begin", ["self.step = None", "self.step = read()"])
def test_an_attribute_that_may_be_none_is_refused_there(begin: str) -> None:
    assert "TMG231" in [finding.code for finding in run(CELLS.format(begin=begin)).diagnostics]


@pytest.mark.tf1
@pytest.mark.parametrize(("gpus", "model"), [(2, "own"), (3, "gru")])
def test_such_an_attribute_is_proven(gpus: int, model: str, tmp_path: Path, tensorflow_python: str) -> None:
    script = CELLS.format(begin="self.step = 0").replace("'own', '')", f"'{model}', '')")
    (tmp_path / "single.py").write_text(script)
    (tmp_path / "multi.py").write_text(converted(script))
    settings = VerifySettings(gpus=gpus, python=tensorflow_python)
    assert verify(tmp_path / "single.py", tmp_path / "multi.py", settings).verdict == "passed"
