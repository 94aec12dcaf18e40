"""Libraries that scripts import are imported once for all of a server's scripts, and nothing else is."""

from __future__ import annotations

from pathlib import Path

import pytest

from converter.source import parse
from converter.verify import Interpreters, VerifySettings, verify
from converter.verify.processes import libraries
from converter.verify.processes.libraries import shared_by
from tests.verify.test_failures import TRAINS

TRAIN = TRAINS.format(steps=2)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("import sklearn.datasets", ["sklearn.datasets"]),
        ("import numpy as np, pandas as pd", ["pandas"]),
        ("from sklearn import datasets", ["sklearn", "sklearn.datasets"]),
        ("try:\n    from PIL import Image\nexcept ImportError:\n    pass", ["PIL", "PIL.Image"]),
        ("import scipy\nimport scipy", ["scipy"]),
        ("def f():\n    import pandas", []),  # maybe nobody calls it
        ("if False:\n    import pandas", []),
        ("from . import scipy", []),
        ("import matplotlib.pyplot as plt", []),  # reads a file of the script's folder
        ("import tensorflow as tf, tf_slim", []),
        ("import scipyx, own.scipy", []),
        ("print 'Python 2'\nimport scipy", []),
        ("def", []),
    ],
)
def test_what_is_shared(tmp_path: Path, text: str, found: list[str]) -> None:
    (tmp_path / "train.py").write_text(text + "\n")
    assert list(shared_by(tmp_path / "train.py")) == found


@pytest.mark.parametrize("own", ["scipy.py", "scipy"])
def test_the_folder_has_its_own(tmp_path: Path, own: str) -> None:
    (tmp_path / "train.py").write_text("import scipy.stats, pandas\n")
    assert list(shared_by(tmp_path / "train.py")) == ["pandas", "scipy.stats"]
    (tmp_path / own).mkdir()
    assert list(shared_by(tmp_path / "train.py")) == ["pandas"]


def test_a_script_is_parsed_once_for_all_its_copies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parsed = []
    monkeypatch.setattr(libraries, "parse", lambda source: parsed.append(source) or parse(source))
    for number in range(4):
        copy = tmp_path / str(number) / "train.py"
        copy.parent.mkdir()
        copy.write_text("import scipy.special  # a script of this test alone\n")
        assert shared_by(copy) == ("scipy.special",)
    assert len(parsed) == 1


def test_no_script_shares_nothing(tmp_path: Path) -> None:
    assert shared_by(tmp_path / "nothing.py") == ()


@pytest.mark.one_in(5)
@pytest.mark.tf1
@pytest.mark.parametrize(
    ("text", "own", "verdict"),
    [
        ("import sys\nassert 'scipy.stats' in sys.modules\nimport scipy.stats\n", "", "passed"),
        ("import sklearn\nassert sklearn.mine\n", "mine = True\n", "passed"),
        ("import scipy.no_such_module\n", "", "not comparable"),  # as it is where nothing is shared
    ],
    ids=["shared", "its own", "missing"],
)
def test_scripts_find_their_libraries(
    tmp_path: Path, tensorflow_python: str, text: str, own: str, verdict: str
) -> None:
    script = tmp_path / "train.py"
    script.write_text(text + TRAIN)
    if own:
        (tmp_path / "sklearn.py").write_text(own)
    with Interpreters() as pool:
        report = verify(script, script, VerifySettings(gpus=1, steps=1, python=tensorflow_python), pool=pool)
    assert report.verdict == verdict, report
    assert verdict == "passed" or "No module named 'scipy.no_such_module'" in report.reason
