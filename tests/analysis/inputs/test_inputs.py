"""How batches enter: fed, read, embedded in the graph, asked for by name, seen in a run."""

from __future__ import annotations

from dataclasses import replace

import pytest

from converter.analysis.values import Sequence, Tensor
from converter.options import Options
from tests.analysis.readings import batch, facts_of, inputs, shown, value_of

RUN = """
step = tf.train.AdamOptimizer().minimize(tf.reduce_mean(x * 1.0))
with tf.Session() as sess:
    sess.run(step, {x: FED})
"""


@pytest.mark.parametrize(
    ("made", "fed", "wanted"),
    [
        ("x = tf.placeholder(tf.float32)", "images[i:i + 32]", "example 0"),
        ("x = tf.placeholder(tf.float32)", "0.5", "free"),
        ("x = tf.placeholder(tf.float32)", "data.next_batch(32)", "example 0"),
        ("x = tf.placeholder(tf.float32, [None])", "[0.5]", "example 0"),
        ("x = tf.placeholder(tf.float32, [4, None])", "images", "free"),
    ],
)
def test_what_is_fed_tells_inputs_from_settings(made: str, fed: str, wanted: str) -> None:
    found = inputs(facts_of(made + RUN.replace("FED", fed)))
    assert found["x"] == wanted


@pytest.mark.parametrize(
    ("shape", "met", "wanted"),
    [
        ("[1, None]", "out[:, 0] - y[0, :]", "example 1"),
        ("[1, None]", "out[:, 0] - y[0]", "example 1"),
        ("[2, None]", "out[:, 0] * (y[0] - y[1])", "example 1"),
        ("[2, 3, None]", "tf.transpose(out) - y[1]", "example 2"),
        ("[1, None]", "tf.squared_difference(out[:, 0], tf.reshape(y, [-1]))", "free"),  # that length is not known
        ("[1, None]", "out * y", "free"),  # a weight for each column
        ("[1, None]", "out[:, 0] * tf.reduce_sum(y)", "free"),
        ("[1, None]", "out[:, 0] * y[0, 0]", "free"),
        ("[1, None]", "tf.matmul(out[:, :1], y)", "free"),
        ("[None, None, 1]", "out[:, 0] * y[0, 0]", "example 0"),
    ],
)
def test_an_open_length_that_meets_the_examples_counts_them(shape: str, met: str, wanted: str) -> None:
    script = f"x = tf.placeholder(tf.float32, [None, 4])\ny = tf.placeholder(tf.float32, {shape})\n"
    script += f"out = tf.layers.dense(x, 3)\nloss = tf.reduce_mean(tf.square({met}))\n"
    assert inputs(facts_of(script)) == {"x": "example 0", "y": wanted}


def test_an_input_that_meets_the_examples_by_two_lengths_is_left() -> None:
    script = "x = tf.placeholder(tf.float32, [None, 4])\ny = tf.placeholder(tf.float32, [1, None, None])\n"
    script += "out = tf.layers.dense(x, 1)[:, 0]\nloss = tf.reduce_mean((out - y[0, 0]) * (out - y[0, :, 0]))\n"
    assert inputs(facts_of(script)) == {"x": "example 0", "y": "free"}


def test_options_say_what_the_script_does_not() -> None:
    script = "x = tf.placeholder(tf.float32, [None, 2])\ny = tf.placeholder(tf.float32, [5, 2])"
    options = replace(Options(), shared=("x",), batch_axes=(("y", 1),))
    assert inputs(facts_of(script, options)) == {"x": "free", "y": "example 1"}


def test_a_tensor_that_is_fed_is_an_input() -> None:
    script = "p = tf.placeholder(tf.float32, [None])\nx = p * 2.0" + RUN.replace("FED", "images")
    assert inputs(facts_of(script)) == {"p": "example 0", "x": "example 0"}


@pytest.mark.parametrize(
    ("data", "wanted"),
    [
        ("np.zeros((30, 4), 'float32')", {"data": "example 0"}),
        ("3.0", {}),
        ("np.float32(3)", {}),
    ],
)
def test_arrays_that_the_graph_holds(data: str, wanted: dict[str, str]) -> None:
    script = f"""
import numpy as np
data = {data}
w = tf.get_variable('w', [4, 1])
loss = tf.reduce_mean(tf.square(tf.matmul(data, w) if {"zeros" in data} else w * data))
step = tf.train.AdamOptimizer().minimize(loss)
"""
    assert inputs(facts_of(script)) == wanted


@pytest.mark.parametrize(
    ("asked", "wanted"),
    [
        ("'loss:0'", "free"),
        ("'a/loss:0'", "host"),
        ("'lo' + 'ss:0'", "free"),
    ],
)
def test_tensors_are_found_by_their_names(asked: str, wanted: str) -> None:
    script = f"tf.identity(1.0, name='loss')\nresult = tf.get_default_graph().get_tensor_by_name({asked})"
    assert str(shown(value_of(script))).startswith(wanted)


@pytest.mark.parametrize(
    ("fact", "wanted"),
    [
        ("example:0/-x3", "example 0"),
        ("mean/", "mean"),
        ("free/3", "free"),
    ],
)
def test_what_a_run_told_of_a_call_that_is_not_followed(fact: str, wanted: str) -> None:
    script = "from net import model\nx = tf.placeholder(tf.float32, [None, 2])\nresult = model(x)\n"
    place = "4:17"  # behind the call's parenthesis, with the import of TensorFlow in front
    found = facts_of(script, replace(Options(), traced=((place, fact),))).module.locals["result"]
    assert batch(found.batch) == wanted
    assert shown(value_of(script)) == "host net.model"


@pytest.mark.parametrize(
    "size",
    [
        "size = 50",
        "size = config['batch_size']\nif not training:\n    size = 1",
        "size = 1\nif training:\n    size = config['batch_size']",
    ],
)
def test_an_open_dimension_behind_the_rows_of_other_inputs_is_no_batch(size: str) -> None:
    made = f"{size}\ny = tf.placeholder(tf.float32, [size])\nx = tf.placeholder(tf.float32, [size, None])"
    feed = RUN.replace("{x: FED}", "{x: batch['x'], y: batch['y']}").replace("x * 1.0", "x * y[:, None]")
    assert inputs(facts_of(made + feed)) == {"x": "free", "y": "free"}


@pytest.mark.parametrize(
    ("shape", "axis"),
    [
        ("[hps.batch_size, None]", 0),  # by the name of what is read, though the object is not seen
        ("[None, hps.batch_size]", 1),
        ("[hps.batch_count, None]", 1),  # counts batches: the open dimension holds the examples
        ("[hps.steps, None]", 1),
    ],
)
def test_an_attribute_that_is_named_as_a_batch_size(shape: str, axis: int) -> None:
    facts = facts_of(
        f"""
        import lib
        hps = lib.make()
        x = tf.placeholder(tf.float32, {shape})
        y = tf.placeholder(tf.float32, [None])
        loss = tf.reduce_mean(tf.layers.dense(x, 1)) + tf.reduce_mean(y)
        train_op = tf.train.AdamOptimizer().minimize(loss)
        """
    )
    assert (facts.inputs[0].batch.kind, facts.inputs[0].batch.axis) == ("example", axis)


@pytest.mark.parametrize(
    ("given", "lengths"),
    [
        ("tf.convert_to_tensor(np.zeros([n, 7]), tf.int32)", (None, 7)),
        ("tf.constant(np.zeros([n, 7]))", (None, 7)),
        ("tf.zeros([n, 7, 3])", (None, 7, 3)),
        ("np.zeros([n, 7])", (None, 7)),
        ("np.zeros(9)", (None,)),
        ("np.zeros(n)", None),
        ("tf.convert_to_tensor(load())", None),
        ("load()", None),
    ],
)
def test_a_queue_of_slices_gives_batches_of_a_shape_that_is_known(given: str, lengths: tuple[int, ...] | None) -> None:
    """The first axis of what is sliced is that of the examples."""
    rows = f"rows = tf.train.slice_input_producer([{given}])\n"
    made = value_of(f"import numpy as np\nn = count()\n{rows}result = tf.train.batch(rows, 8)\n")
    (one,) = made.elements if isinstance(made, Sequence) else [made]
    assert isinstance(one, Tensor) and one.dims == lengths


@pytest.mark.parametrize(
    ("image", "rank"),
    [
        ("tf.image.decode_image(tf.read_file('x.png'))", None),
        ("tf.placeholder(tf.float32, [64, 64, 3])", 3),
        ("tf.placeholder(tf.float32, [None, 64, 64, 3])", 4),
    ],
)
def test_an_image_keeps_its_rank(image: str, rank: int | None) -> None:
    made = value_of(f"result = tf.image.resize_image_with_crop_or_pad({image}, 32, 32)\n")
    assert isinstance(made, Tensor) and made.rank == rank


@pytest.mark.parametrize(
    ("row", "wanted"), [("x[i]", "example 0"), ("x[i - 1]", "opaque"), ("x[tf.argmax(x)]", "opaque")]
)
def test_a_row_of_a_batch_of_unknown_shape(row: str, wanted: str) -> None:
    """A tensor for its number takes no component of what a dataset gives, but a row."""
    script = """
    x = tf.data.Dataset.from_tensor_slices(load()).batch(8).make_one_shot_iterator().get_next()
    array = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
    filled = tf.while_loop(lambda i, a: i < tf.shape(x)[0], lambda i, a: (i + 1, a.write(i, ROW)), [0, array])
    result = filled[1].stack()
    """
    made = value_of(script.replace("ROW", row))
    assert isinstance(made, Tensor) and batch(made.batch) == wanted
