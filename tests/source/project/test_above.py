"""Folders above a script: which are looked through, and how a script is started that needs them."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from converter.source.project.above import start_of
from converter.source.project.folders import folders_above, in_any


def tree(root: Path, *names: str, **texts: str) -> Path:
    for name in (*names, *texts):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if name.endswith("/"):
            path.mkdir(exist_ok=True)
        else:
            path.write_text(texts.get(name, ""))
    return root


def above(root: Path, folder: str) -> list[str]:
    """The folders above one below a root, as seen from the root; those around the root are left out."""
    found = [os.path.relpath(one, root) for one in folders_above(str(root / folder))]
    return [one for one in found if not one.startswith("..")]


@pytest.mark.parametrize(
    ("names", "folder", "wanted"),
    [
        (["a/b/c/d/e/x.py"], "a/b/c/d/e", ["a/b/c/d", "a/b/c", "a/b"]),
        ([".git/", "a/b/c/d/e/x.py"], "a/b/c/d/e", ["a/b/c/d", "a/b/c", "a/b", "a", "."]),
        (["a/setup.py", "a/b/x.py"], "a/b", ["a"]),
        (["a/pyproject.toml", "a/b/x.py"], "a", []),
        (["a/setup.py", "a/__init__.py", "a/b/x.py"], "a/b", ["a", "."]),
        ([".git/", "__init__.py", "a/setup.py", "a/__init__.py", "a/b/x.py"], "a/b", ["a", "."]),
        (["setup.cfg", "src/pkg/net.py", "examples/x.py"], "examples", [".", "src"]),
        (["setup.py", "src/pkg/net.py", "x.py"], ".", ["src"]),
        ([".git/", "src/pkg/net.py", "examples/x.py"], "examples", ["."]),
    ],
)
def test_folders_above(names: list[str], folder: str, wanted: list[str], tmp_path: Path) -> None:
    assert above(tree(tmp_path / "root", *names), folder) == wanted


def test_the_home_folder_and_folders_for_everybody_are_not_searched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tree(tmp_path, "home/work/scripts/x.py", "open/work/scripts/x.py")
    monkeypatch.setenv("HOME", str(root / "home"))
    assert above(root, "home/work/scripts") == ["home/work"]
    (root / "open").chmod(0o777)
    assert above(root, "open/work/scripts") == ["open/work"]


@pytest.mark.parametrize(
    ("module", "wanted"),
    [
        ("pkg.net", "a/pkg/net.py"),  # the nearest
        ("pkg.far", None),  # the nearest pkg ends the search
        ("space.net", "space/net.py"),  # a folder without __init__.py does not
        ("alone", "alone.py"),
        ("random", None),  # Python's own
        ("tensorflow.contrib", None),
        ("missing", None),
    ],
)
def test_where_a_module_is_found(module: str, wanted: str | None, tmp_path: Path) -> None:
    names = ["a/pkg/__init__.py", "a/pkg/net.py", "pkg/__init__.py", "pkg/net.py", "pkg/far.py", "a/space/x.py"]
    names += ["space/net.py", "alone.py", "random.py", "tensorflow/contrib.py"]
    root = tree(tmp_path, *names)
    found = in_any(module, [str(root / "a"), str(root)])
    assert (found and os.path.relpath(found[0], root)) == wanted


PKG = ["pkg/__init__.py", "pkg/net.py"]


@pytest.mark.parametrize(
    ("names", "script", "text", "command", "at"),
    [
        (PKG, "pkg/train.py", "from pkg.net import f", "python -m pkg.train", "."),
        (PKG, "pkg/train.py", "from pkg import net", "python -m pkg.train", "."),
        (PKG, "pkg/train.py", "from .net import f", "python -m pkg.train", "."),
        (PKG, "pkg/train.py", "from .net import f\nimport net", "PYTHONPATH=pkg python -m pkg.train", "."),
        ([*PKG, "pkg/sub/x.py"], "pkg/sub/train.py", "from ..net import f", "python -m pkg.sub.train", "."),
        (["src/net.py"], "scripts/train.py", "from src.net import f", "python -m scripts.train", "."),
        ([*PKG, "my-tools/x"], "my-tools/train.py", "import pkg.net", "PYTHONPATH=. python my-tools/train.py", "."),
        ([*PKG, "run/util.py"], "run/train.py", "import util, pkg.net", "PYTHONPATH=. python run/train.py", "."),
        ([*PKG, "run/x.py"], "run/train.py", "import pkg.net\nopen('x.py')", "PYTHONPATH=.. python train.py", "run"),
        ([*PKG, "pkg/pkg.py"], "pkg/train.py", "import pkg.net", "python -m pkg.train", "."),
        ([*PKG, "pkg/pkg/__init__.py"], "pkg/train.py", "from pkg.net import f", "python -m pkg.train", "."),
        (PKG, "run/train.py", "sys.path.append('..')\nimport pkg.net", "PYTHONPATH=.. python train.py", "run"),
        (PKG, "train.py", "import pkg.net", "python train.py", "."),
        (PKG, "pkg/train.py", "import net", "python train.py", "pkg"),
        (["setup.py", "src/pkg/net.py"], "run/train.py", "import pkg.net", "PYTHONPATH=src python run/train.py", "."),
    ],
)
def test_how_a_script_is_started(
    names: list[str], script: str, text: str, command: str, at: str, tmp_path: Path
) -> None:
    root = tree(tmp_path, ".git/", *names)
    (root / script).parent.mkdir(exist_ok=True)
    (root / script).write_text(text + "\n")
    start = start_of(str(root / script))
    assert (start.command, os.path.relpath(start.at, root)) == (command, at)


def test_a_notebook_runs_in_its_own_folder(tmp_path: Path) -> None:
    root = tree(tmp_path, ".git/", *PKG, "books/x.py")
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": ["import pkg.net"]}
    book = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 2}
    (root / "books/train.ipynb").write_text(json.dumps(book))
    start = start_of(str(root / "books/train.ipynb"))
    assert (start.command, start.at) == ("PYTHONPATH=.. jupyter notebook train.ipynb", str(root / "books"))


def test_what_imported_files_import_counts(tmp_path: Path) -> None:
    root = tree(tmp_path, ".git/", "run/util.py", *PKG)
    (root / "run/train.py").write_text("import util\n")
    (root / "run/util.py").write_text("import pkg.net\n")
    assert start_of(str(root / "run/train.py")).command == "PYTHONPATH=. python run/train.py"


@pytest.mark.parametrize(
    ("target", "command"),
    [
        ("root/pkg/train_mg.py", "python -m pkg.train_mg"),
        ("out/pkg/train.py", "python -m pkg.train"),
        ("elsewhere/train.py", "PYTHONPATH=../root python train.py"),
    ],
)
def test_how_its_conversion_is_started(target: str, command: str, tmp_path: Path) -> None:
    root = tree(tmp_path / "root", ".git/", *PKG)
    (root / "pkg/train.py").write_text("from pkg.net import f\n")
    assert start_of(str(root / "pkg/train.py")).at_target(str(tmp_path / target)).command == command
