"""Models that statements at the top of an imported module build: the module is executed once, and no tower after it."""

from __future__ import annotations

from pathlib import Path

import pytest

from converter.conversion import convert
from converter.options import Options
from converter.source import read

NET = """\
import tensorflow as tf

x = tf.placeholder(tf.float32, [None, 6])
y_ = tf.placeholder(tf.float32, [None, 1])
hidden = tf.layers.dense(x, 8, tf.nn.relu)
y = tf.layers.dense(hidden, 1)
"""
TRAIN = """\
import tensorflow as tf
{imported}

batch_size = 32
loss = {loss}
train_step = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        xs, ys = next_batch(batch_size)
        sess.run(train_step, {{{feed}}})
"""
BY_NAME, OF_MODULE = "x: xs, y_: ys", "net.x: xs, net.y_: ys"
MEAN = "tf.reduce_mean(tf.square(net.y_ - net.y))"
FROM = "from net import *"


@pytest.mark.parametrize(
    ("imported", "loss", "feed"),
    [
        ("import net", MEAN, OF_MODULE),
        ("import net", f"{MEAN} + 0.1 * tf.add_n([tf.nn.l2_loss(v) for v in tf.trainable_variables()])", OF_MODULE),
    ],
)
def test_the_towers_stand_in_the_module_that_is_imported(imported: str, loss: str, feed: str, tmp_path: Path) -> None:
    """The loss is computed once then, behind them."""
    (tmp_path / "net.py").write_text(NET)
    (tmp_path / "train.py").write_text(TRAIN.format(imported=imported, loss=loss, feed=feed))
    made = convert(read(str(tmp_path / "train.py")), Options(), several=True)
    (net,) = [one.text for one in made.parts if one.path.endswith("net.py")]
    assert net is not None and "y = tf.concat(tower_y, 0)" in net and "import net" not in net
    assert made.text is not None and "for gpu in" not in made.text and "minimize(loss" in made.text


@pytest.mark.parametrize(
    ("net", "imported", "loss", "feed"),
    [
        (NET + "y = tf.cumsum(y)\n", "import net", MEAN, OF_MODULE),
        (NET.replace("hidden = ", "x = tf.reshape(x, [6, -1])\nhidden = "), "import net", MEAN, OF_MODULE),
    ],
    ids=["over the batch", "another batch axis"],
)
def test_models_that_are_refused(net: str, imported: str, loss: str, feed: str, tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(net)
    (tmp_path / "train.py").write_text(TRAIN.format(imported=imported, loss=loss, feed=feed))
    made = convert(read(str(tmp_path / "train.py")), Options(), several=True)
    assert made.text is None and "TMG290" not in {d.code for d in made.diagnostics}
    assert [d.message for d in made.diagnostics if d.code == "TMG214"] == [
        "the model is built while the module net is imported, which Python does once: there is nothing that the second "
        "tower could call"
    ]


def test_a_model_whose_names_a_star_brings(tmp_path: Path) -> None:
    """The towers would stand in the module, and the loss read another file's name of what they make."""
    (tmp_path / "net.py").write_text(NET)
    loss = "tf.reduce_mean(tf.square(y_ - y))"
    (tmp_path / "train.py").write_text(TRAIN.format(imported=FROM, loss=loss, feed=BY_NAME))
    made = convert(read(str(tmp_path / "train.py")), Options(), several=True)
    assert made.text is None and {d.code for d in made.diagnostics} == {"TMG209"}


@pytest.mark.parametrize("net", ["def layer(x):\n    return tf.layers.dense(x, 1)\n", "decay = tf.constant(0.1)\n"])
def test_a_module_that_builds_nothing_of_the_batch(net: str, tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text("import tensorflow as tf\n\n" + net)
    name = "net.layer(x)" if "def" in net else "net.decay * x"
    loss = f"tf.reduce_mean(tf.square({name} - y_))"
    made = NET.partition("hidden")[0].partition("\n\n")[2]
    (tmp_path / "train.py").write_text(TRAIN.format(imported=made + "import net", loss=loss, feed=BY_NAME))
    assert "TMG214" not in {
        d.code for d in convert(read(str(tmp_path / "train.py")), Options(), several=True).diagnostics
    }
