"""Which other scripts of a project import the files that change."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from converter.source.project.users import users_of

GUARD = "if __name__ == '__main__':\n    main()\n"


def put(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def found(folder: Path, files: dict[str, str], changed: str = "model.py", script: str = "train.py") -> list[str]:
    put(folder, {"train.py": "import model\n", "model.py": "import tensorflow\n", **files})
    own = [str(folder / name) for name in files if name.startswith("own")]
    users = users_of(str(folder / script), [str(folder / changed)], own, {})
    return [str(Path(user.path).relative_to(folder)) for user in users]


@pytest.mark.parametrize(
    "text",
    [
        "import model\n",
        "import numpy, model as m\n",
        "from model import (\n    Net,\n)\n",
        "from model import *\n",
        "def f():\n    from model import Net\n",
        "try:\n    import model\nexcept ImportError:\n    pass\n",
        "import importlib\nm = importlib.import_module('model')\n",
        "m = __import__('model')\n",
        "print 'Python 2'\nimport model\n",
        "import os; import model\n",
        "try: import model\nexcept ImportError: pass\n",
        "from model \\\n    import Net\n",
        "from . import (\n    model)\n",
    ],
)
def test_an_import(tmp_path: Path, text: str) -> None:
    assert found(tmp_path, {"predict.py": text}) == ["predict.py"]


@pytest.mark.parametrize(
    "text",
    [
        "import models\n",
        "from data import model\n",
        "# import model\n",
        "text = 'import model'\n",
        "model = 1\n",
        "import os; import sys  # no model\n",
        "import numpy  # for the model\n",
        "# tf-multigpu 0.1.0: converted from predict.py sha256:0 with x\nimport model\n",
    ],
)
def test_no_import(tmp_path: Path, text: str) -> None:
    assert found(tmp_path, {"predict.py": text, "data.py": "model = 1\n"}) == []


def test_an_import_by_way_of_another_file(tmp_path: Path) -> None:
    files = {"lib.py": "from model import Net\n", "predict.py": "import lib\n", "other.py": "import numpy\n"}
    assert found(tmp_path, files) == ["lib.py", "predict.py"]


TRAINS = """\
import model
{0}    {1}:
        grads.append(opt.compute_gradients(model.loss()))
opt.apply_gradients(mean(grads))
"""


@pytest.mark.parametrize(
    ("turn", "entered", "trains"),
    [
        ("for i in range(2):\n", "with tf.device('/gpu:%d' % i)", False),
        ("for i, x in enumerate(xs):\n", "with tf.device(name(i)), tf.variable_scope('', reuse=i > 0)", False),
        ("for name in names:\n", "with g.device(device_name_or_function=name)", False),
        ("for i in range(2):\n", "with tf.device('/gpu:0')", True),
        ("for i in range(2):\n", "with tf.name_scope('tower_%d' % i)", True),
        ("if several:\n", "with tf.device('/gpu:%d' % i)", True),
        ("for i in range(2):\n    print 'Python 2'\n", "with tf.device('/gpu:%d' % i)", False),
    ],
)
def test_scripts_that_train_on_one_gpu(tmp_path: Path, turn: str, entered: str, trains: bool) -> None:
    put(tmp_path, {"train.py": "import model\n", "model.py": "", "other.py": TRAINS.format(turn, entered)})
    (user,) = users_of(str(tmp_path / "train.py"), [str(tmp_path / "model.py")], [], {})
    assert user.trains == trains


def test_files_that_the_script_imports_count_where_they_can_be_run(tmp_path: Path) -> None:
    assert found(tmp_path, {"own_lib.py": "import model\n", "own_eval.py": "import model\n" + GUARD}) == ["own_eval.py"]


def test_a_changed_file_that_can_be_run(tmp_path: Path) -> None:
    assert found(tmp_path, {"model.py": "import tensorflow\n" + GUARD}) == ["model.py"]


def test_packages(tmp_path: Path) -> None:
    files = {
        "pkg/__init__.py": "",
        "pkg/net.py": "x = 1\n",
        "pkg/evaluate.py": "from .net import x\n",
        "predict.py": "from pkg import net\n",
        "export.py": "import pkg.net as n\n",
        "tools/dump.py": "import pkg.net\n",
        "net.py": "",
        "other.py": "import net\n",
    }
    users = ["export.py", "pkg/evaluate.py", "predict.py", "tools/dump.py"]
    assert found(tmp_path, files, "pkg/net.py") == users


def test_a_script_in_a_package_is_imported_from_above(tmp_path: Path) -> None:
    files = {
        "pkg/__init__.py": "",
        "pkg/train.py": "from . import net\n",
        "pkg/net.py": "",
        "run.py": "import pkg.net\n",
    }
    assert found(tmp_path, files, "pkg/net.py", "pkg/train.py") == ["run.py"]


def test_folders_on_the_path(tmp_path: Path) -> None:
    run = "import sys\nsys.path.append('../nets')\nimport net\n"
    files = {"nets/net.py": "", "eval/run.py": run, "o.py": "import net\n"}
    assert found(tmp_path, files, "nets/net.py") == ["eval/run.py"]


def test_a_large_folder_is_listed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    listed: list[str] = []
    walk = os.walk
    monkeypatch.setattr("os.walk", lambda folder: (listed.append(folder), walk(folder))[1])
    run = "import sys\nsys.path.append('../nets')\nimport other_%d, net\n"
    files = {f"eval/run{i}.py": run % i for i in range(3)}
    assert found(tmp_path, {"nets/net.py": "", **files}, "nets/net.py") == sorted(files)
    assert len(listed) == 1


def test_notebooks(tmp_path: Path) -> None:
    def notebook(*lines: str) -> str:
        return json.dumps({"cells": [{"cell_type": "code", "source": list(lines)}], "nbformat": 4})

    files = {
        "a.ipynb": notebook("%matplotlib inline\n", "!ls\n", "import model"),
        "b.ipynb": notebook("import numpy"),
        "c.ipynb": "no JSON",
    }
    assert found(tmp_path, files) == ["a.ipynb"]


@pytest.mark.parametrize(
    ("text", "line", "trains"),
    [
        ("\nimport model\n", 2, False),
        ("import model\nmodel.Net().optimizer.minimize(x)\n", 1, True),
        ("import model\nsess.run(net.train_op)\n", 1, True),
        ("import model\ntraining = False\n", 1, False),
        ("import model, train\n", 1, True),
    ],
)
def test_what_is_told_of_them(tmp_path: Path, text: str, line: int, trains: bool) -> None:
    put(tmp_path, {"train.py": "import model\n", "model.py": "", "other.py": text})
    changed = [str(tmp_path / name) for name in ("model.py", "train.py")]
    (user,) = users_of(str(tmp_path / "train.py"), changed, [], {})
    assert (user.line, user.trains, user.folders) == (line, trains, {str(tmp_path)})


def test_a_folder_that_is_written_to(tmp_path: Path) -> None:
    put(tmp_path, {"train.py": "import model\n", "model.py": "", "out/predict.py": "import model\n"})
    changed = [str(tmp_path / "model.py")]
    assert len(users_of(str(tmp_path / "train.py"), changed, [], {})) == 1
    assert users_of(str(tmp_path / "train.py"), changed, [], {}, str(tmp_path / "out")) == []


def test_files_that_were_written_over(tmp_path: Path) -> None:
    tuned = "# tf-multigpu 0: converted from tune.py\n"
    put(tmp_path, {"train.py": "import model\n", "model.py": "", "tune.py": tuned})
    before = {str(tmp_path / "tune.py"): b"import model\n"}
    (user,) = users_of(str(tmp_path / "train.py"), [str(tmp_path / "model.py")], [], before)
    assert user.path == str(tmp_path / "tune.py")


def test_a_script_whose_path_another_module_widens(tmp_path: Path) -> None:
    widens = "import sys\nsys.path.insert(0, '../lib')\n"
    files = {
        "tools/train.py": "import set_path\nfrom nets.model import Net\n",
        "tools/set_path.py": widens,
        "tools/test.py": "import set_path\nfrom nets.model import Net\n",
        "tools/other.py": "import numpy\nfrom nets.model import Net\n",
        "lib/nets/__init__.py": "",
        "lib/nets/model.py": "import tensorflow\n",
    }
    assert found(tmp_path, files, "lib/nets/model.py", "tools/train.py") == ["tools/test.py"]
