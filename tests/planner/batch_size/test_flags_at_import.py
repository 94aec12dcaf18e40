"""A batch size that is read from a flag while another file is imported: a flag for the GPUs is not there yet."""

from __future__ import annotations

from pathlib import Path

import pytest

from converter.conversion import Conversion, convert
from converter.options import Options
from converter.source import read

SETTINGS = "import tensorflow as tf\ntf.app.flags.DEFINE_integer('batch_size', 8, '')\nFLAGS = tf.app.flags.FLAGS\n"
TRAIN = """\
import tensorflow as tf
from feeder import Feeder
from settings import FLAGS

x = tf.placeholder(tf.float32, [FLAGS.batch_size, 5])
loss = tf.reduce_mean(tf.abs(tf.layers.dense(x, 1)))
step = tf.train.AdamOptimizer(0.01).minimize(loss)
with tf.Session() as sess:
    feeder = Feeder()
    for _ in range(9):
        sess.run(step, {x: feeder.rows()})
"""
FEEDER = """\
import numpy as np
from settings import FLAGS


class Feeder(object):
    size = FLAGS.batch_size

    def rows(self):
        return np.random.rand(self.size, 5)
"""
DEFAULT = """\
import numpy as np
from settings import FLAGS


class Feeder(object):
    def __init__(self, size=FLAGS.batch_size):
        self.size = size

    def rows(self):
        return np.random.rand(self.size, 5)
"""
CALLED = FEEDER.replace("    size = FLAGS.batch_size\n\n", "").replace("self.size", "FLAGS.batch_size")


def converted(folder: Path, feeder: str, settings: str = SETTINGS) -> Conversion:
    for name, text in (("train", TRAIN), ("settings", settings), ("feeder", feeder)):
        (folder / f"{name}.py").write_text(text)
    done = convert(read(str(folder / "train.py")), Options(line_length=100), several=True)
    assert done.status == "converted", done.diagnostics
    return done


def text_of(done: Conversion, name: str) -> str:
    return next(part.text or "" for part in done.parts if Path(part.path).name == name)


@pytest.mark.parametrize("feeder", [FEEDER, DEFAULT], ids=["of a class", "a default"])
def test_the_number_of_gpus_is_no_flag_then(feeder: str, tmp_path: Path) -> None:
    done = converted(tmp_path, feeder)
    assert "FLAGS.batch_size * tower_helpers.num_gpus" in text_of(done, "feeder.py")
    assert "import tower_helpers" in text_of(done, "feeder.py")
    assert "DEFINE" not in text_of(done, "tower_helpers.py") and "num_gpus = 2\n" in text_of(done, "tower_helpers.py")


def test_it_is_one_where_the_size_is_read_in_a_call(tmp_path: Path) -> None:
    done = converted(tmp_path, CALLED)
    assert "FLAGS.batch_size * FLAGS.num_gpus" in text_of(done, "feeder.py")
    assert "DEFINE_integer('num_gpus'" in text_of(done, "tower_helpers.py")


NAMED = SETTINGS + "tf.app.flags.DEFINE_string('run', 'a', '')\n"
BEGIN = "# tf-multigpu: helpers for training on several GPUs\nimport tower_helpers\n"


def imports_of(folder: Path, settings: str) -> str:
    """The imports of the converted script, where a size is read in a call."""
    done = converted(folder, CALLED, settings)
    assert "DEFINE_integer('num_gpus'" in text_of(done, "tower_helpers.py")
    return done.text or ""


def test_the_flag_is_there_before_a_file_reads_another_one(tmp_path: Path) -> None:
    """Reading one parses the command line: `--num_gpus 4` would be unknown."""
    text = imports_of(tmp_path, NAMED + "folder = 'logs_' + FLAGS.run\n")
    assert 0 < text.index(BEGIN) < text.index("from feeder import Feeder")


@pytest.mark.parametrize("behind", ["", "\n\ndef folder():\n    return 'logs_' + FLAGS.run\n"])
def test_its_place_is_below_the_imports_where_none_reads_flags(behind: str, tmp_path: Path) -> None:
    text = imports_of(tmp_path, NAMED + behind)
    assert text.index("from settings import FLAGS") < text.index("# tf-multigpu: helpers")
