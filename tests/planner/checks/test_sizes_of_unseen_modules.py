"""A variable whose size an unfollowed call gives that is given the batch size: the message says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from converter.conversion import convert
from converter.options import Options
from converter.source import read

SCRIPT = """\
import tensorflow as tf
{imported}

batch_size = 16
loader = Loader('words.txt'{given})
x = tf.placeholder(tf.int32, [None])
y = tf.placeholder(tf.int32, [None])
table = tf.get_variable('table', [{size}, 4])
out = tf.layers.dense(tf.nn.embedding_lookup(table, x), 10)
loss = tf.losses.sparse_softmax_cross_entropy(y, out)
train_op = tf.train.AdamOptimizer(0.01).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(20):
        words, labels = next_batch(batch_size)
        sess.run(train_op, {{x: words, y: labels}})
"""
LOADER = """\
class Loader(object):
    def __init__(self, path, batch_size=1):
        self.batch_size = batch_size
        {printed}
        self.words = len(open(path).read().split())
"""
OLD, NEW = LOADER.format(printed="print path path"), LOADER.format(printed="print(path)")
MAY_BE = (
    "this variable may be made with the batch size in it: its size comes from a call into {} that is given the batch "
)


def _found(tmp_path: Path, loader: str, **parts: str) -> list[tuple[str, str, str]]:
    (tmp_path / "loader.py").write_text(loader)
    parts = {"imported": "from loader import Loader", "given": ", batch_size", "size": "loader.words", **parts}
    (tmp_path / "train.py").write_text(SCRIPT.format(**parts))
    done = convert(read(str(tmp_path / "train.py")), Options())
    return [(one.code, one.message, one.hint) for one in done.diagnostics if one.severity == "error"]


def test_a_module_that_is_no_python_is_named(tmp_path: Path) -> None:
    ((code, message, hint),) = _found(tmp_path, OLD)
    assert code == "TMG224" and message.startswith(MAY_BE.format("loader"))
    assert hint.startswith("the module loader, imported in line 2, is valid neither in Python 3 nor in Python 2")


def test_a_package_is_named(tmp_path: Path) -> None:
    ((code, message, hint),) = _found(tmp_path, NEW, imported="from texts import Loader")
    assert code == "TMG224" and message.startswith(MAY_BE.format("texts"))
    assert hint.startswith("take the size from what is not given the batch size")


def test_a_size_that_holds_the_batch_size_is_still_told_so(tmp_path: Path) -> None:
    ((code, message, _),) = _found(tmp_path, OLD, size="batch_size")
    assert code == "TMG224"
    assert message.startswith("this variable is made with the batch size (batch_size, line ")


@pytest.mark.parametrize(("loader", "given"), [(NEW, ", batch_size"), (OLD, ""), (NEW, "")])
def test_sizes_without_the_batch_size_are_converted(tmp_path: Path, loader: str, given: str) -> None:
    assert _found(tmp_path, loader, given=given) == []
