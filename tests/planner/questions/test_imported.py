"""What a refusal says of code that is not seen: which import leads there, and which scripts lead here."""

from __future__ import annotations

from pathlib import Path

import pytest

from converter.conversion import convert
from converter.options import Options
from converter.source import read
from tests.scripts import INPUTS, STEP, TRAINING, run

NETS = "import tensorflow as tf\n\n\ndef net(x):\n    return tf.layers.dense(x, 1)\n"
LOSS = "loss = tf.reduce_mean(tf.square(nets.net(X) - Y))\n"
TRAIN = INPUTS + "IMPORT\n" + LOSS + STEP + TRAINING
RUN = """\
import tensorflow as tf
from net import Net

net = Net(32)
with tf.Session() as sess:
    for step in range(100):
        xs, ys = next_batch(32)
        sess.run([net.train_op, net.loss], {net.x: xs, net.y: ys})
"""
SOLVER = """\
import tensorflow as tf


class Solver(object):
    def __init__(self, model):
        self.model = model

    def train(self):
        with tf.Session() as sess:
            sess.run(self.model.train_op)
"""
UNCALLED = """\
import tensorflow as tf


def step(loss):
    return tf.train.AdamOptimizer().minimize(loss)
"""


def said(folder: Path, script: str, files: dict[str, str]) -> list[tuple[str, str, int, str]]:
    """The status and, for each finding, its code, line, message and advice."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    done = convert(read(str(folder / script)), Options(line_length=100), several=True)
    return [(done.status, d.code, d.line, f"{d.message}; {d.hint}") for d in done.diagnostics]


def train(statement: str) -> dict[str, str]:
    return {"scripts/train.py": TRAIN.replace("IMPORT", statement)}


FOLLOWED = [("import nets", "nets"), ("from project import nets", "project"), ("from project import *", "project")]
IMPORTS = pytest.mark.parametrize(("statement", "name"), FOLLOWED, ids=["module", "package", "star"])
ABOVE = {"nets.py": NETS, "project/nets.py": NETS, "project/__init__.py": "from project import nets\n"}


@IMPORTS
def test_a_module_above_the_script_is_followed(statement: str, name: str, tmp_path: Path) -> None:
    (found,) = said(tmp_path, "scripts/train.py", ABOVE | train(statement))
    assert found[:3] == ("converted", "TMG146", 6) and found[3].startswith(f"{name} is found in ../")


@IMPORTS
def test_a_module_above_the_root_is_named(statement: str, name: str, tmp_path: Path) -> None:
    files = {**ABOVE, "scripts/setup.py": ""}
    found = said(tmp_path, "scripts/train.py", files | train(statement))
    assert [f[:2] for f in found] == [("refused", "TMG241")]
    assert f"the module {name}, imported in line 6, lies in ../: sys.path.append('..')" in found[0][3]


def test_a_module_in_a_folder_above_that_is_no_package(tmp_path: Path) -> None:
    files = {"models/nets.py": NETS} | train("from models import nets")
    (found,) = said(tmp_path, "scripts/train.py", files)
    assert found[:2] == ("converted", "TMG146")
    (found,) = said(tmp_path, "scripts/train.py", {"scripts/setup.py": ""} | files)
    assert found[:2] == ("refused", "TMG241") and "models.nets, imported in line 6, lies in ../" in found[3]
    text = train("import sys\nsys.path.append('..')\nfrom models import nets")
    assert said(tmp_path, "scripts/train.py", {"models/nets.py": NETS} | text) == []


def test_the_advice_is_followed(tmp_path: Path) -> None:
    text = train("import sys\nsys.path.append('..')\nimport nets")
    assert said(tmp_path, "scripts/train.py", {"nets.py": NETS} | text) == []


def test_a_module_that_is_nowhere(tmp_path: Path) -> None:
    (found,) = said(tmp_path, "scripts/train.py", {"other.py": NETS} | train("import nets"))
    assert found[:2] == ("refused", "TMG241") and "--trace" in found[3]


DERIVED = """\
import tensorflow as tf


class Net(tf.keras.Model):
    def __init__(self):
        super(Net, self).__init__()
        self.inner = tf.keras.Sequential()

    def call(self, x, mask=None):
        return self.inner(x)


net = Net()
"""


def test_a_module_that_lies_beside_the_script_is_not_asked_for(tmp_path: Path) -> None:
    (found,) = said(tmp_path, "scripts/train.py", {"scripts/nets.py": DERIVED} | train("import nets"))
    assert found[:2] == ("refused", "TMG241") and "put it beside the script" not in found[3]
    assert "this call of an object whose class is derived from tf.keras.Model makes of a batch" in found[3]


def test_a_run_of_what_another_module_built(tmp_path: Path) -> None:
    (found,) = said(tmp_path, "scripts/train.py", {"net.py": "", "scripts/setup.py": "", "scripts/train.py": RUN})
    assert found[:3] == ("refused", "TMG201", 2) and "net is not followed" in found[3] and "'..'" in found[3]
    (found,) = said(tmp_path / "far" / "quite" / "alone", "scripts/train.py", {"scripts/train.py": RUN})
    assert found[:3] == ("refused", "TMG201", 8) and "comes from net, which is not followed" in found[3]


def test_scripts_that_import_this_one(tmp_path: Path) -> None:
    main = "from solver import Solver\nfrom model import Model\n\nSolver(Model()).train()\n"
    (found,) = said(tmp_path, "solver.py", {"solver.py": SOLVER, "main.py": main, "other.py": "import model\n"})
    assert found[:2] == ("refused", "TMG201") and found[3].endswith("convert a script that imports this file: main.py")
    (found,) = said(tmp_path, "steps.py", {"steps.py": UNCALLED, "main.py": "import steps\n"})
    assert found[:2] == ("refused", "TMG202") and found[3].endswith("that imports this file: main.py")
    (found,) = said(tmp_path, "alone.py", {"alone.py": UNCALLED})
    assert found[:2] == ("refused", "TMG202") and "convert the script that calls it" in found[3]


def test_a_module_that_cannot_be_parsed(tmp_path: Path) -> None:
    net = "class Net(object):\n    def __init__(self, n):\n        print n n\n"
    (found,) = said(tmp_path, "train.py", {"net.py": net, "train.py": RUN})
    assert found[:3] == ("refused", "TMG201", 2) and "net is not followed" in found[3]
    assert "the module net, imported in line 2, is valid neither in" in found[3] and "correct its line 3" in found[3]
    text = {"nets.py": NETS + "print 'made' 2\n", "train.py": TRAIN.replace("IMPORT", "import nets")}
    (found,) = said(tmp_path, "train.py", text)
    assert found[:2] == ("refused", "TMG241") and "the module nets, imported in line 6, is valid neither" in found[3]


def test_a_module_without_a_training_step_is_no_reason(tmp_path: Path) -> None:
    (found,) = said(tmp_path, "train.py", {"net.py": "def Net(n):\n    pass\n", "train.py": RUN})
    assert found[:2] == ("refused", "TMG201") and "is valid neither" not in found[3]


GIVEN = """\
import tensorflow as tf
{imported}

batch_size = 32
{made}
loss = {loss}
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)
with tf.Session() as sess:
    for step in range(100):
        sess.run(train_op)
"""
ENTROPY = "tf.losses.sparse_softmax_cross_entropy(labels, tf.layers.dense(images, 10))"


@pytest.mark.parametrize(
    ("imported", "made", "loss"),
    [
        ("from mylib.inputs import inputs", "images, labels = inputs(batch_size)", ENTROPY),
        ("import mylib.inputs as data", "images, labels = data.inputs(batch_size)", ENTROPY),
        ("import mylib", "made = mylib.inputs(batch_size)\nimages, labels = made.images, made.labels", ENTROPY),
        ("from mylib import Net", "net = Net(batch_size)", "net.loss"),
    ],
)
def test_a_package_that_hides_the_batch_is_named(imported: str, made: str, loss: str) -> None:
    (found,) = run(GIVEN.format(imported=imported, made=made, loss=loss)).diagnostics
    assert (found.code, found.line) == ("TMG202", 5)
    assert "this call into mylib gives" in found.message and "put it beside the script" in (found.hint or "")


def test_a_loss_of_variables_alone_needs_no_package() -> None:
    script = GIVEN.format(imported="import mylib", made="mylib.log()", loss="tf.nn.l2_loss(tf.get_variable('w', [9]))")
    (found,) = run(script).diagnostics
    assert found.code == "TMG202" and "mylib" not in found.message
