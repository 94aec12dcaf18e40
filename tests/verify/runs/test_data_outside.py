"""Data outside of a script's folder: what counts as such, where its copies lie, and that the user's files stay."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from converter.source.project.above import start_of
from converter.verify import VerifyError, VerifySettings, verify
from converter.verify.processes import workspace
from converter.verify.processes.layout import copied, layout_of
from converter.verify.runs.data_outside import data_beside, with_data


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder `src` with data beside it and further up."""
    for name in ("up/data/a.csv", "up/data/b.csv", "up/more/c.csv", "far/d.csv", "up/src/inner/e.csv", "up/table.csv"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("1\n", encoding="utf-8")
    return tmp_path / "up" / "src"


@pytest.mark.parametrize(
    ("script", "args", "wanted"),
    [
        ("open('../data/a.csv')", (), ["data/a.csv"]),
        ("open('../table.csv')", (), ["table.csv"]),
        ("open('../data/%s.csv' % 'a')", (), ["data"]),
        ("read('../data')\nread('../data/a.csv')", (), ["data"]),
        ("read(f'../data/{name}')", (), ["data"]),
        ("os.path.join('..', 'data', name)", (), ["data"]),
        ("os.path.join(os.path.dirname(__file__), '..', 'data', 'a.csv')", (), ["data/a.csv"]),
        ("read('../../far')\nread('../more')", (), ["../far", "more"]),
        ("read(sys.argv[1])", ("../data",), ["data"]),
        ("read(FLAGS.data)", ("--data=../data", "--lr", "0.1"), ["data"]),
        # near misses: nothing is copied
        ("open('data/a.csv')", (), []),
        ("open('inner/../inner/e.csv')", (), []),
        ("open('../src/inner/e.csv')", (), []),  # in the folder itself
        ("open('../nothing/a.csv')", (), []),
        ("os.listdir('..')", (), []),  # holds the folder itself
        ("os.path.join('..', name)", (), []),
        ("'../../..'", (), []),
        ("print('../data\\0', '..data', '../' + 'x' * 9)", (), []),
        ("'../" + "x" * 5000 + "'", (), []),
        ("# ../data", (), []),
        ("','.join(['..', 'data'])", (), []),
    ],
)
def test_what_a_script_names(project: Path, script: str, args: tuple[str, ...], wanted: list[str]) -> None:
    path = project / "train.py"
    path.write_text("import os\n" + script + "\n", encoding="utf-8")
    found = data_beside(path, start_of(str(path)), args)
    assert [os.path.relpath(one, project.parent) for one in found] == wanted


def test_modules_that_it_imports_name_some_too(project: Path) -> None:
    (project / "train.py").write_text("import reader\n", encoding="utf-8")
    (project / "reader.py").write_text("open('../table.csv')\n", encoding="utf-8")
    (project / "unused.py").write_text("open('../data')\n", encoding="utf-8")
    found = data_beside(project / "train.py", start_of(str(project / "train.py")))
    assert found == (project.parent / "table.csv",)


@pytest.mark.parametrize(
    ("named", "message"),
    [("nowhere", "no such file or folder"), ("up/src/inner", "must lie outside of"), ("up", "must lie outside of")],
)
def test_an_option_that_names_none(project: Path, named: str, message: str) -> None:
    (project / "train.py").write_text("", encoding="utf-8")
    with pytest.raises(VerifyError, match=message):
        data_beside(project / "train.py", start_of(str(project / "train.py")), (), [str(project.parents[1] / named)])


def test_copies_lie_where_the_script_looks(project: Path, tmp_path: Path) -> None:
    script = project / "train.py"
    script.write_text("'../data/a.csv', '../../far'\n", encoding="utf-8")
    start = start_of(str(script))
    copy = copied(script, tmp_path / "copies" / "one", start, data_beside(script, start))
    again = copy.again(tmp_path / "copies" / "two")
    for one, top in ((copy, "one"), (again, "two")):
        assert one.script.read_text(encoding="utf-8") == script.read_text(encoding="utf-8")
        assert (one.script.parent / "../data/a.csv").is_file() and (one.script.parent / "../../far/d.csv").is_file()
        assert not (one.script.parent / "../data/b.csv").exists()
        assert tmp_path / "copies" / top in one.script.parents
    assert "../data/a.csv is outside of the script's folder: each run had a copy of it" in copy.notes


@pytest.mark.parametrize("named", ["../table.csv", "../data"])
def test_large_files_are_named(project: Path, tmp_path: Path, named: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workspace, "LARGEST_FILE", 1)
    script = project / "train.py"
    script.write_text(f"open('{named}')\n", encoding="utf-8")
    start = start_of(str(script))
    copy = copied(script, tmp_path / "copy", start, data_beside(script, start))
    assert any("(0 MB) was not copied" in note and note.startswith(named) for note in copy.notes)
    assert not list((tmp_path / "copy").rglob("*.csv"))


def test_a_conversion_elsewhere_finds_the_originals(project: Path, tmp_path: Path) -> None:
    (project / "train.py").write_text("open('../data/a.csv')\n", encoding="utf-8")
    (tmp_path / "mg").mkdir()
    (tmp_path / "mg" / "train.py").write_text("open('../data/a.csv')\n", encoding="utf-8")
    layout = with_data(layout_of(project / "train.py", tmp_path / "mg" / "train.py"), ())
    copy = layout.converted(tmp_path / "copy", {})
    assert (copy.script.parent / "../data/a.csv").is_file()


TRAINS = """import numpy as np
import tensorflow as tf

rows = np.loadtxt('../data/a.csv')
with open('../data/written.txt', 'w') as out:
    out.write('x')
x = tf.placeholder(tf.float32, [None])
w = tf.get_variable('w', [])
step = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_mean(tf.square(w - x)))
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(3):
        sess.run(step, {x: [float(rows), 2.0]})
"""


@pytest.mark.tf1
def test_both_scripts_find_it_and_the_users_stays(project: Path, tmp_path: Path, tensorflow_python: str) -> None:
    script = project / "train.py"
    script.write_text(TRAINS, encoding="utf-8")
    report = verify(script, script, VerifySettings(gpus=1, python=tensorflow_python))
    assert report.verdict == "passed"
    assert "../data is outside of the script's folder: each run had a copy of it" in report.notes
    assert sorted(os.listdir(project.parent / "data")) == ["a.csv", "b.csv"]


@pytest.mark.tf1
def test_what_only_a_run_names_is_given_by_option(project: Path, tensorflow_python: str) -> None:
    script = project / "train.py"
    text = TRAINS.replace("'../data/", "'.' + './data/")
    script.write_text(text, encoding="utf-8")
    settings = VerifySettings(gpus=1, python=tensorflow_python)
    assert verify(script, script, settings).verdict == "not comparable"
    given = VerifySettings(gpus=1, python=tensorflow_python, data=(str(project.parent / "data"),))
    report = verify(script, script, given)
    assert report.verdict == "passed" and f"--data-dir {project.parent / 'data'}" in report.command
    assert sorted(os.listdir(project.parent / "data")) == ["a.csv", "b.csv"]
