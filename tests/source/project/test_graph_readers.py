"""Scripts of a folder that read the graph another one saves, and the names that they ask for."""

from __future__ import annotations

from pathlib import Path

import pytest

from converter.conversion import convert
from converter.options import Options
from converter.source import read

TRAIN = """\
import tensorflow as tf

batch_size = 16
x = tf.placeholder(tf.float32, [None, 4], name='x')
y = tf.placeholder(tf.int64, [None])
with tf.name_scope('net'):
    inner = tf.identity(tf.layers.dense(x, 3), name='inner')
scores = tf.nn.softmax(inner, name='scores')
loss = tf.losses.sparse_softmax_cross_entropy(y, inner + 0 * scores)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)
saver = tf.train.Saver()
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(9):
        xs, ys = next_batch(batch_size)
        sess.run(train_op, {x: xs, y: ys})
    saver.save(sess, './out/net', global_step=9)
"""
PREDICT = """\
import tensorflow as tf

sess = tf.Session()
saver = tf.train.import_meta_graph({})
saver.restore(sess, tf.train.latest_checkpoint('out'))
"""


def outcome(folder: Path, train: str = TRAIN, name: str = "predict.py", **others: str) -> tuple[list[str], str]:
    """The findings, with their places but for the folder, and the converted text."""
    for other, text in others.items():
        (folder / name.replace("predict", other)).write_text(text)
    (folder / "train.py").write_text(train)
    done = convert(read(str(folder / "train.py")), Options())
    return [f"{Path(d.path).name}:{d.line}:{d.column} {d.code}" for d in done.diagnostics], done.text or ""


@pytest.mark.parametrize(
    "given", ["'out/net-9.meta'", "path + '.meta'", "'net.meta', False", "meta_graph_or_file='net.meta'"]
)
def test_a_graph_that_is_read_with_its_devices(tmp_path: Path, given: str) -> None:
    assert outcome(tmp_path, predict=PREDICT.format(given))[0] == ["predict.py:4:9 TMG350"]


@pytest.mark.parametrize(
    "predict",
    [
        PREDICT.format("'out/net-9.meta', clear_devices=True"),
        PREDICT.format("'out/net-9.meta', True"),
        PREDICT.format("'out/net-9.meta', **settings"),
        PREDICT.format("'pretrained/vgg.meta'"),  # another graph
        PREDICT.format("'net.meta'").replace("Session()", "Session(config=tf.ConfigProto(allow_soft_placement=True))"),
        PREDICT.format("'net.meta'") + "syntax error",
        "import tensorflow as tf\n\ntf.train.Saver().restore(sess, 'out/net')  # import_meta_graph\n",
    ],
)
def test_graphs_that_are_read_without_devices(tmp_path: Path, predict: str) -> None:
    assert outcome(tmp_path, predict=predict)[0] == []


@pytest.mark.parametrize(
    "train",
    [
        TRAIN.replace(", global_step=9", ", write_meta_graph=False"),
        TRAIN.replace("    saver.save(sess, './out/net', global_step=9)\n", ""),
    ],
)
def test_scripts_that_save_no_graph(tmp_path: Path, train: str) -> None:
    assert outcome(tmp_path, train, predict=PREDICT.format("'net.meta'"))[0] == []


MERGED = "scores = tf.identity(tf.concat(tower_scores, 0), name='scores')"
ASKS = PREDICT.format("'net.meta', True") + "scores = sess.graph.get_tensor_by_name({})\n"


@pytest.mark.parametrize(
    ("predict", "merged"),
    [
        (ASKS.format("'scores:0'"), True),
        ("freeze_graph(input_graph, output_node_names='x,scores')\n", True),
        ("tf.import_graph_def(graph, return_elements=['scores:0'])\n", True),
        (ASKS.format("'scores_1:0'"), False),
        ("print('scores')\n", False),  # looks into no graph
    ],
)
def test_names_that_other_scripts_ask_for(tmp_path: Path, predict: str, merged: bool) -> None:
    found, text = outcome(tmp_path, predict=predict)
    assert found == [] and (MERGED in text) == merged


def test_names_within_scopes(tmp_path: Path) -> None:
    _, text = outcome(tmp_path, predict=ASKS.format("'net/inner:0'"))
    assert "inner = tf.identity(tf.concat(tower_inner, 0), name='net/inner')" in text
    _, text = outcome(tmp_path, predict=ASKS.format("'inner:0'"))
    assert "tower_inner" not in text


@pytest.mark.parametrize(
    "call",
    [
        "tf.graph_util.convert_variables_to_constants(sess, sess.graph_def, ['scores'])",
        "convert_variables_to_constants(sess, sess.graph_def, output_node_names=['scores'])",
        "graph_util.extract_sub_graph(sess.graph_def, ['x', 'scores'])",
    ],
)
def test_names_that_a_script_writes_a_graph_for(tmp_path: Path, call: str) -> None:
    found, text = outcome(tmp_path, TRAIN + f"    graph = {call}\n")
    assert MERGED in text and found == ["train.py:18:13 TMG350"]
    assert MERGED not in outcome(tmp_path, TRAIN + "    show(['scores'])\n")[1]


@pytest.mark.parametrize(
    ("given", "warned"), [("sess, ['serve']", True), ("sess, ['serve'], clear_devices=True", False), ("**told", False)]
)
def test_saved_models(tmp_path: Path, given: str, warned: bool) -> None:
    found, _ = outcome(tmp_path, TRAIN + f"    builder.add_meta_graph_and_variables({given})\n")
    assert found == (["train.py:18:5 TMG350"] if warned else [])
