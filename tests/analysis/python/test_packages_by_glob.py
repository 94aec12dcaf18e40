"""Packages that look for their modules in their folder and import them: scripts find what these hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from converter.conversion import convert
from converter.options import Options
from converter.source import read
from converter.source.project.users import users_of

NET = """\
import tensorflow as tf


class {name}(object):
    def __init__(self, batch_size):
        self.batch_size = batch_size
        self.x = tf.placeholder(tf.float32, [None, 4])
        self.loss = tf.reduce_mean(tf.square(tf.layers.dense(self.x, 2)))
        self.train_op = tf.train.AdamOptimizer(0.01).minimize(self.loss)
"""
TRAIN = """\
import tensorflow as tf
{imports}

batch_size = 16
net = {net}(batch_size)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        sess.run(net.train_op, {{net.x: next_batch(batch_size)}})
"""
BY_NAME = """\
import glob, os
from importlib import import_module
for path in glob.glob(os.path.join(os.path.dirname(__file__), '*.py')):
    if not path.endswith('__init__.py'):
        {}
"""
MODULES = BY_NAME.format("import_module('nets.' + os.path.basename(path)[:-3])")
NAMES = BY_NAME.format("globals().update(vars(import_module('nets.' + os.path.basename(path)[:-3])))")
LISTED = """\
import os
__all__ = [name[:-3] for name in os.listdir(os.path.dirname(__file__)) if not name.startswith('_')]
"""


def project(folder: Path, init: str, train: str, **modules: str) -> str:
    """A project's training script with a package of nets, and its path."""
    (folder / "nets").mkdir()
    (folder / "nets" / "__init__.py").write_text(init)
    for name, text in {"deep": NET.format(name="Deep"), "flat": NET.format(name="Flat"), **modules}.items():
        (folder / "nets" / f"{name}.py").write_text(text)
    (folder / "train.py").write_text(train)
    return str(folder / "train.py")


def changed(path: str) -> list[str]:
    """The files that change with a script, or the codes of what refuses it."""
    done = convert(read(path), Options(), several=True)
    assert done.status == "converted", done.diagnostics
    parts = (part.path for part in done.parts if Path(part.path).exists())
    return sorted({Path(other).name for other in (path, *parts)})


@pytest.mark.parametrize(
    ("init", "imports", "net"),
    [
        (MODULES, "from nets import *", "deep.Deep"),
        (MODULES, "import nets", "nets.deep.Deep"),
        (LISTED, "from nets import *", "deep.Deep"),
        (NAMES, "from nets import Deep", "Deep"),
    ],
)
def test_a_model_of_a_package_that_imports_its_folder(tmp_path: Path, init: str, imports: str, net: str) -> None:
    path = project(tmp_path, init, TRAIN.format(imports=imports, net=net))
    assert changed(path) == ["deep.py", "train.py"]


@pytest.mark.parametrize("init", ["", "import glob\nFILES = glob.glob('*.npy')\n"])
def test_other_packages_import_nothing_by_themselves(tmp_path: Path, init: str) -> None:
    path = project(tmp_path, init, TRAIN.format(imports="from nets import *", net="deep.Deep"))
    assert convert(read(path), Options()).status != "converted"


def test_a_name_that_two_modules_have_may_be_either(tmp_path: Path) -> None:
    train = TRAIN.format(imports="from nets import Deep", net="Deep")
    path = project(tmp_path, NAMES, train, other=NET.format(name="Deep"))
    assert changed(path) == ["deep.py", "other.py", "train.py"]


def test_names_of_all_modules(tmp_path: Path) -> None:
    path = project(tmp_path, NAMES, TRAIN.format(imports="from nets import *", net="Deep"))
    assert {"deep.py", "train.py"} <= set(changed(path))


@pytest.mark.parametrize(("init", "found"), [(MODULES, True), (LISTED, True), ("", False)])
def test_scripts_that_import_a_changed_file_so(tmp_path: Path, init: str, found: bool) -> None:
    path = project(tmp_path, init, TRAIN.format(imports="from nets import *", net="deep.Deep"))
    (tmp_path / "test.py").write_text("from nets import *\nprint(deep.Deep(1))\n")
    users = users_of(path, [str(tmp_path / "nets" / "deep.py")], (), {})
    assert (str(tmp_path / "test.py") in [user.path for user in users]) == found
