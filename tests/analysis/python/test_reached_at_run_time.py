"""Training that a script reaches by a text: methods named by flags, modules imported by name, folders on the path."""

from __future__ import annotations

from pathlib import Path

import pytest

from converter.conversion import convert
from converter.options import Options
from converter.source import read
from converter.source.project.leading import leads_to_tensorflow

MODEL = """\
import tensorflow as tf
import numpy as np

class Model(object):
    def build(self):
        self.x = tf.placeholder(tf.float32, [None, 4])
        self.loss = tf.reduce_mean(tf.square(tf.layers.dense(self.x, 1)))
        self.step = tf.train.AdamOptimizer(0.01).minimize(self.loss)

    def train(self):
        self.build()
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            for i in range(10):
                sess.run(self.step, {self.x: np.random.rand(16, 4)})

    def test(self):
        self.build()
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            print(sess.run(self.loss, {self.x: np.random.rand(7, 4)}))

def train():
    Model().train()
"""
FLAG = """\
import argparse
parser = argparse.ArgumentParser()
parser.add_argument('--option', default='train')
args = parser.parse_args()
"""
CHOSEN = """\
import argparse
from names import NETS
parser = argparse.ArgumentParser()
parser.add_argument('--option', default=NETS[0], choices=NETS)
args = parser.parse_args()
"""
INSIDE = "import os, sys\nsys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'sub'))\n"
CONVERTED = [
    FLAG + "from lib import Model\ngetattr(Model(), args.option)()\n",
    FLAG + "from lib import Model\nassert args.option in ['train', 'test']\ngetattr(Model(), args.option)()\n",
    FLAG.replace("'train'", "'Model'") + "import lib\ngetattr(lib, args.option)().train()\n",
    FLAG.replace("'train'", "'Model'") + "import chosen\nchosen.run(args)\n",
    CHOSEN + "import lib\ngetattr(lib, args.option)().train()\n",
    CHOSEN.replace("default=NETS[0], ", "required=True, ") + "import lib\ngetattr(lib, args.option)().train()\n",
    FLAG + "import lib\n{'train': lib.Model().train, 'test': lib.Model().test}[args.option]()\n",
    "import importlib\nimportlib.import_module('lib').Model().train()\n",
    "__import__('lib').Model().train()\n",
    INSIDE + "import inner\ninner.Model().train()\n",
    "import sys\nsys.path.append('sub')\nfrom inner import Model\nModel().train()\n",
    "import paths\nimport inner\ninner.Model().train()\n",
]
# What no flag names, private methods and names that are computed are not followed.
LEFT = [
    "import os\nfrom lib import Model\ngetattr(Model(), os.environ['WHAT'])()\n",
    FLAG + "from lib import Model\ngetattr(Model(), '_' + args.option)()\n",
    "__import__('lib.' + name).Model().train()\n",
    CHOSEN.replace("NETS[0], choices=NETS", "None") + "import lib\ngetattr(lib, args.option)().train()\n",
    CHOSEN.replace("NETS[0], choices=NETS", "make()[0]") + "import lib\ngetattr(lib, args.option)().train()\n",
]
# Files that lead to no TensorFlow are left alone, whatever they do with the path.
PLAIN = [
    "import sys\nsys.path.append('data')\nimport numbers_of_rows\n",
    "import importlib\nimportlib.import_module('json')\n",
    "import lib_of_others\n",
]


def project(folder: Path, script: str) -> Path:
    for name, text in {
        "train.py": script,
        "lib.py": MODEL,
        "chosen.py": "import lib\n\n\ndef run(args):\n    getattr(lib, args.option)().train()\n",
        "sub/inner.py": MODEL,
        "paths.py": INSIDE,
        "names.py": "NETS = ['Model']\n",
        "data/numbers_of_rows.py": "rows = 3\n",
    }.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    return folder / "train.py"


@pytest.mark.parametrize("script", CONVERTED)
def test_converted(tmp_path: Path, script: str) -> None:
    path = project(tmp_path, script)
    assert leads_to_tensorflow(str(path), script.encode())
    done = convert(read(str(path)), Options(), several=True)
    assert done.status == "converted", done.diagnostics
    assert any("sum_gradients(" in part.text for part in done.parts)


@pytest.mark.parametrize("script", LEFT)
def test_not_followed(tmp_path: Path, script: str) -> None:
    done = convert(read(str(project(tmp_path, script))), Options(), several=True)
    assert done.status == "refused" and {d.code for d in done.diagnostics} == {"TMG201"}


@pytest.mark.parametrize("script", PLAIN)
def test_nothing_to_convert(tmp_path: Path, script: str) -> None:
    assert not leads_to_tensorflow(str(project(tmp_path, script)), script.encode())


def test_methods_begin_alike_whichever_is_called(tmp_path: Path) -> None:
    """What one method leaves in the object is not there when the flag calls another."""
    script = FLAG + "from lib import Model\nassert args.option in ['train', 'test']\ngetattr(Model(), args.option)()\n"
    path = project(tmp_path, script)
    asserted = "assert not hasattr(self, 'step')\n            print(sess"
    (tmp_path / "lib.py").write_text(MODEL.replace("print(sess", asserted))
    assert convert(read(str(path)), Options(), several=True).status == "converted"


STAR = """\
from tensorflow.contrib.layers import *
import tensorflow as tf
x = tf.placeholder(tf.float32, [None, 4])
loss = tf.reduce_mean(tf.square({layer}(x, 1)))
step = tf.train.AdamOptimizer(0.01).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(10):
        sess.run(step, {{x: load(16)}})
"""


@pytest.mark.parametrize(("layer", "status"), [("fully_connected", "converted"), ("own_layer", "refused")])
def test_names_of_a_star_import(tmp_path: Path, layer: str, status: str) -> None:
    assert convert(read(str(project(tmp_path, STAR.format(layer=layer)))), Options(), several=True).status == status
