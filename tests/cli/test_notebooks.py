"""Notebooks on the command line: where they go, what is said of them, and what of them is refused."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from converter.source import read
from converter.source.notebook.json_text import scan
from tests.cli.standins import Run
from tests.source.notebook.books import SCRIPT, TRAINING, book, sources

JOINED = "# tf-multigpu: what stood here is in cell 3 now"
UNSIZED = TRAINING[0].replace("batch_size = 32", "shown = open('shown').read()")
UNSIZED_LOOP = TRAINING[5].replace("batch_size", "len(shown)")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def put(name: str, text: str) -> str:
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_bytes(text.encode())
    return text


def outside_of_sources(text: str) -> list[str]:
    """What stands between the sources of a notebook."""
    ends = [0]
    parts = []
    for cell in scan(text).cells:
        parts.append(text[ends[-1] : cell.begin])
        ends.append(cell.end)
    return [*parts, text[ends[-1] :]]


def test_a_notebook_becomes_a_notebook(run: Run) -> None:
    before = put("train.ipynb", book([("markdown", "# Title"), *TRAINING]))
    done = run("convert", "train.ipynb", "-o", "train_mg.ipynb")
    assert (done.code, done.out) == (0, b"")
    assert "train.ipynb: converted, written to train_mg.ipynb" in done.err
    assert "cells:         what stood in cell 5 is in cell 4 now: a loop cannot span cells" in done.err
    assert "towers:        built of train.ipynb, cell 4, line 1 to cell 5, line 1" in done.err
    after = Path("train_mg.ipynb").read_text()
    assert outside_of_sources(after) == outside_of_sources(before)
    cells = sources(after)
    assert cells[1].startswith("# tf-multigpu 0.2.0: converted from train.ipynb sha256:")
    assert cells[1].endswith("\nbatch_size = 32 * num_gpus")
    assert (cells[0], cells[2], cells[4]) == ("# Title", TRAINING[1], JOINED.replace("3", "4"))
    assert "        logits = tf.layers.dense(x, 3)\n\n        loss = tf.losses" in cells[3]
    assert cells[5].startswith("train_op = optimizer.apply_gradients(")


def test_the_same_options_write_nothing_and_check_holds_it(run: Run) -> None:
    put("train.ipynb", book(TRAINING))
    assert run("convert", "train.ipynb", "-o", "mg.ipynb").code == 0
    written = Path("mg.ipynb").read_bytes()
    for arguments in (("train.ipynb", "-o", "mg.ipynb", "--check"), ("--check", "mg.ipynb"), ("--check", ".")):
        assert run("convert", *arguments).code == 0, arguments
    put("train.ipynb", book([TRAINING[0].replace("32", "16"), *TRAINING[1:]]))
    done = run("convert", "--check", "mg.ipynb")
    assert (done.code, "mg.ipynb: cell 1, line 1, column 1: TMG011 not up to date" in done.err) == (1, True)
    assert Path("mg.ipynb").read_bytes() == written


def test_running_a_notebook_leaves_it_up_to_date(run: Run) -> None:
    """Neither what running the original leaves, nor what running the conversion leaves, counts."""
    text = put("train.ipynb", book(TRAINING))
    assert run("convert", "train.ipynb", "-o", "mg.ipynb").code == 0
    Path("mg.ipynb").write_text(Path("mg.ipynb").read_text().replace("cell 1: ü", "after three days: 0.99"))
    put("train.ipynb", text.replace("cell 2: ü", "another run"))
    assert run("convert", "--check", "mg.ipynb").code == 0
    assert run("convert", "train.ipynb", "-o", "mg.ipynb").code == 0
    assert "three days" in Path("mg.ipynb").read_text()


def test_results_are_not_written_over(run: Run) -> None:
    put("train.ipynb", book(TRAINING))
    assert run("convert", "train.ipynb", "-o", "mg.ipynb").code == 0
    ran = Path("mg.ipynb").read_text().replace("cell 1: ü", "after three days: 0.99")
    put("mg.ipynb", ran)
    put("train.ipynb", book([TRAINING[0].replace("32", "16"), *TRAINING[1:]]))
    done = run("convert", "train.ipynb", "-o", "mg.ipynb")
    assert (done.code, "TMG020 the output mg.ipynb holds results" in done.err) == (2, True)
    assert Path("mg.ipynb").read_text() == ran
    assert run("convert", "train.ipynb", "-o", "mg.ipynb", "--force").code == 0


def test_an_edit_by_hand_is_seen(run: Run) -> None:
    put("train.ipynb", book(TRAINING))
    assert run("convert", "train.ipynb", "-o", "mg.ipynb").code == 0
    edited = put("mg.ipynb", Path("mg.ipynb").read_text().replace("begin in range", "at in range"))
    assert "was edited by hand" in run("convert", "--check", "mg.ipynb").err
    done = run("convert", "train.ipynb", "-o", "mg.ipynb")
    assert (done.code, "TMG020" in done.err, Path("mg.ipynb").read_text() == edited) == (2, True, True)


def test_in_place_twice(run: Run) -> None:
    before = put("train.ipynb", book(TRAINING))
    assert run("convert", "train.ipynb", "--in-place").code == 0
    after = Path("train.ipynb").read_text()
    assert outside_of_sources(after) == outside_of_sources(before)
    assert run("convert", "train.ipynb", "--in-place").code == 0
    assert Path("train.ipynb").read_text() == after
    done = run("convert", "train.ipynb", "--in-place", "--num-gpus", "4")
    assert (done.code, "train.ipynb: cell 1, line 1, column 1: TMG021" in done.err) == (2, True)


def test_print_diff_and_standard_input(run: Run, tmp_path: Path) -> None:
    text = put("train.ipynb", book(TRAINING))
    printed = run("convert", "train.ipynb").out
    assert JOINED in sources(printed.decode())[3]
    assert JOINED in sources(run("convert", "-", stdin=text.encode()).out.decode())[3]
    done = run("convert", "train.ipynb", "--diff")
    Path("patch").write_bytes(done.out)
    assert done.code == 1
    assert os.system("git init -q . && git apply patch") == 0
    header = "converted from train.ipynb"
    assert sources(Path("train.ipynb").read_text())[3] == sources(printed.decode())[3]
    assert header in Path("train.ipynb").read_text()


@pytest.mark.parametrize("change", ["crlf", "bom", "escaped", "one line", "strings", "no newline"])
def test_layouts_are_kept(change: str, run: Run) -> None:
    cells = [TRAINING[0] + "\nname = 'ü'", *TRAINING[1:]]
    text = book(cells)
    if change == "strings":
        whole = json.loads(text)
        for cell in whole["cells"]:
            cell["source"] = "".join(cell["source"])
        text = json.dumps(whole, indent=2)
    text = {
        "crlf": text.replace("\n", "\r\n"), "bom": "\ufeff" + text, "escaped": book(cells, ensure_ascii=True),
        "one line": book(cells, indent=None), "no newline": text.rstrip("\n"),
    }.get(change, text)  # fmt: skip
    put("train.ipynb", text)
    assert run("convert", "train.ipynb", "-o", "mg.ipynb").code == 0
    after = Path("mg.ipynb").read_bytes().decode()
    mark = "\ufeff" if change == "bom" else ""
    assert after.startswith(mark)
    assert outside_of_sources(after.removeprefix(mark)) == outside_of_sources(text.removeprefix(mark))
    assert after.isascii() == text.isascii()
    assert after.count("\r\n") == (after.count("\n") if change == "crlf" else 0)
    assert run("convert", "--check", "mg.ipynb").code == 0


def test_magics_stay_where_they_were(run: Run) -> None:
    cells = ["%%time\n" + TRAINING[0], "%matplotlib inline\n!pip install x", *TRAINING[1:5]]
    cells += [TRAINING[5].replace("        sess.run", "        %time sess.run") + "\nnp.mean?"]
    put("train.ipynb", book(cells))
    assert run("convert", "train.ipynb", "-o", "mg.ipynb").code == 0
    after = sources(Path("mg.ipynb").read_text())
    assert after[0].startswith("%%time\n# tf-multigpu 0.2.0: converted from")
    assert after[1] == cells[1]
    assert "        %time sess.run(train_op, {x: images" in after[6]
    assert after[6].endswith("\nnp.mean?")
    assert run("convert", "--check", "mg.ipynb").code == 0


def test_cells_in_python_2(run: Run) -> None:
    """What does not change stays, and a statement among the towers goes with them, in Python 2."""
    printed = TRAINING[3] + "\nprint 'the model', `1`, 0777,"
    cells = [TRAINING[0] + "\nprint 'a'", *TRAINING[1:3], printed, *TRAINING[4:5]]
    cells += [TRAINING[5].rstrip() + "\n        print step"]
    put("train.ipynb", book([*cells, "try: pass\nexcept A, e: print e"]))
    done = run("convert", "train.ipynb", "-o", "mg.ipynb")
    assert done.code == 0, done.err
    after = sources(Path("mg.ipynb").read_text())
    assert after[0].endswith("print 'a'") and after[-1] == "try: pass\nexcept A, e: print e"
    assert "print 'the model', `1`, 0777," in "\n".join(after) and "\f" not in Path("mg.ipynb").read_text()
    assert run("convert", "--check", "mg.ipynb").code == 0


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        ([*TRAINING, "x = (1"], "cell 7, line 1, column 5: TMG005 syntax error: '(' was never closed"),
        ([TRAINING[0], "a = 1\nb = = 2", *TRAINING[1:]], "cell 2, line 2, column 5: TMG005"),
        ([*TRAINING, "a = 1\nawait f()"], "cell 7, line 2, column 1: TMG043 a cell waits by itself"),
        ([*TRAINING[:3], "%%bash\nls", *TRAINING[3:]], "cell 4, line 1, column 1: TMG044 the cell runs %%bash"),
        ([*TRAINING[:3], "%%time\n" + TRAINING[3], *TRAINING[4:]], "cell 4, line 1, column 1: TMG044 the cell begins"),
        ([*TRAINING, "_tf_multigpu_line = 1"], "cell 7, line 1, column 1: TMG043 the cell has a text"),
        ([*TRAINING, "a = 1\nb = '\ud800'"], r"cell 7, line 2, column 1: TMG002 the cell has \ud800, half of a"),
        ([TRAINING[0], "print 'a'\nf''", *TRAINING[1:]], "cell 2, line 1, column 1: TMG004 Python 2 syntax"),
        ([TRAINING[0], "print 'a'\nx = = 2", *TRAINING[1:]], "cell 2, line 2, column 5: TMG005"),
    ],
)
def test_cells_that_are_refused(cells: list[str], said: str, run: Run) -> None:
    before = put("train.ipynb", book(cells, ensure_ascii=True))
    done = run("convert", "train.ipynb", "-o", "mg.ipynb")
    assert (done.code, f"train.ipynb: {said}" in done.err) == (2, True), done.err
    assert not Path("mg.ipynb").exists()
    assert Path("train.ipynb").read_bytes() == before.encode()


@pytest.mark.parametrize(
    "cell",
    [
        "smile = '\U0001f600'",  # both halves, which JSON may write as two escapes
        "half = '\\ud800'",  # an escape of Python's
        ("markdown", "\ud800"),
    ],
)
def test_halves_of_characters_that_are_none_of_the_code(cell: str | tuple[str, str], run: Run) -> None:
    put("train.ipynb", book([*TRAINING, cell], ensure_ascii=True))
    done = run("convert", "train.ipynb", "-o", "mg.ipynb")
    assert done.code == 0, done.err
    assert sources(Path("mg.ipynb").read_text())[-1] == (cell if isinstance(cell, str) else cell[1])


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("import tensorflow", "TMG040"),
        ('{"cells": [], "metadata": "tensorflow"}', "TMG040"),
        ('{"worksheets": ["tensorflow"], "nbformat": 3, "nbformat_minor": 0}', "TMG041"),
        (book(["library(tensorflow)"], {"kernelspec": {"language": "R", "name": "ir"}}), "TMG042"),
        (book(["using tensorflow"], {"language_info": {"name": "julia"}}), "TMG042"),
        ("\ud800".encode("utf-16", "surrogatepass").decode("latin-1") + "tensorflow", "TMG040"),
    ],
)
def test_files_that_are_refused(text: str, code: str, run: Run) -> None:
    put("train.ipynb", text)
    done = run("convert", "train.ipynb", "-o", "mg.ipynb")
    assert (done.code, f": {code} " in done.err) == (2, True), done.err


def test_a_notebook_goes_to_no_script(run: Run) -> None:
    put("train.ipynb", book(TRAINING))
    put("train.py", SCRIPT.replace("---\n", ""))
    for source, target in (("train.ipynb", "out.py"), ("train.py", "out.ipynb")):
        done = run("convert", source, "-o", target)
        assert (done.code, f"{source}: TMG029" in done.err, Path(target).exists()) == (2, True, False)
    done = run("convert", "train.ipynb", "-o", "out.ipynb", "--trace")
    assert (done.code, "TMG029 --trace runs a script" in done.err) == (2, True)


def test_a_folder(run: Run) -> None:
    put("in/train.ipynb", book(TRAINING))
    others = {
        "plot.ipynb": book(["import tensorflow as tf\nprint(tf.__version__)"]),
        "text.ipynb": book([("markdown", "about tensorflow")]),
        "r.ipynb": book(["library(tensorflow)"], {"kernelspec": {"language": "R"}}),
        "sub/.ipynb_checkpoints/train-checkpoint.ipynb": book(TRAINING),
        "data.json": "{}",
    }
    for name, text in others.items():
        put(f"in/{name}", text)
    done = run("convert", "in", "-o", "out")
    assert done.code == 0, done.err
    assert "in/train.ipynb: converted" in done.err
    for name, text in others.items():
        assert Path("out", name).exists() != ("checkpoints" in name)
        assert "checkpoints" in name or Path("out", name).read_text() == text
    assert "sum_gradients" in Path("out/train.ipynb").read_text()
    assert run("convert", "in", "-o", "out", "--check").code == 0
    assert run("convert", "in", "-o", "out").code == 0


def test_a_module_of_the_folder_changes_with_the_notebook(run: Run) -> None:
    put("net.py", "import tensorflow as tf\n\n\ndef train(x, y):\n    loss = tf.losses.sparse_softmax_cross_entropy(y, "
        "tf.layers.dense(x, 3))\n    return tf.train.AdamOptimizer(0.01).minimize(loss)\n")  # fmt: skip
    cells = [TRAINING[0] + "\nfrom net import train", TRAINING[1], "train_op = train(x, y)", TRAINING[5]]
    put("train.ipynb", book(cells))
    done = run("convert", ".", "--in-place")
    assert done.code == 0, done.err
    assert "for gpu in range" in Path("net.py").read_text()
    assert "for gpu in range" not in Path("train.ipynb").read_text()
    assert "batch_size = 32 * " in sources(Path("train.ipynb").read_text())[0]


def test_warnings_name_cells_in_every_format(run: Run) -> None:
    put("train.ipynb", book([UNSIZED, *TRAINING[1:5], "%run -i other.py", UNSIZED_LOOP]))
    place = "cell 7, line 5, column 9"
    done = run("convert", "train.ipynb", "--check")
    assert f"train.ipynb: {place}: TMG303" in done.err
    assert "train.ipynb: cell 6, line 1, column 1: TMG045 %run runs Python that is not looked into" in done.err
    found = json.loads(run("convert", "train.ipynb", "--check", "--output-format", "json").out)
    first = next(one for one in found["files"][0]["diagnostics"] if one["code"] == "TMG303")
    assert (first["cell"], first["line"], first["column"]) == (7, 5, 9)
    line = Path("train.ipynb").read_text().split("\n")[first["file_line"] - 1]
    assert line.strip().startswith('"        sess.run(')
    github = run("convert", "train.ipynb", "--check", "--output-format", "github").out.decode()
    assert f"file=train.ipynb,line={first['file_line']},title=tf-multigpu TMG303::{place}: " in github
    sarif = json.loads(run("convert", "train.ipynb", "--check", "--output-format", "sarif").out)
    result = next(one for one in sarif["runs"][0]["results"] if one["ruleId"] == "TMG303")
    assert result["locations"][0]["physicalLocation"]["region"] == {"startLine": first["file_line"]}
    assert result["locations"][0]["logicalLocations"] == [{"name": "cell 7", "kind": "element"}]
    markdown = run("convert", "train.ipynb", "--check", "--output-format", "markdown").out.decode()
    assert f"`train.ipynb: {place}`" in markdown


def test_comments_for_the_tool(run: Run) -> None:
    cells = [*TRAINING[:5], "%run -i other.py  # tf-multigpu: ignore[TMG045]", TRAINING[5]]
    put("train.ipynb", book(["# tf-multigpu: skip-file\n" + TRAINING[0], *TRAINING[1:]]))
    assert run("convert", "train.ipynb", "--in-place").code == 0
    assert "sum_gradients" not in Path("train.ipynb").read_text()
    put("train.ipynb", book([*cells[:5], "a = 1  # tf-multigpu: ignore[TMG303]", cells[6]]))
    done = run("convert", "train.ipynb", "-o", "mg.ipynb")
    assert "train.ipynb: cell 6, line 1, column 8: TMG027 ignore[TMG303] suppresses no warning" in done.err
    ignored = UNSIZED_LOOP + "  # tf-multigpu: ignore[TMG303]"
    put("train.ipynb", book([UNSIZED, *TRAINING[1:5], ignored]))
    done = run("convert", "train.ipynb", "--check")
    assert ("TMG303" in done.err, "TMG027" in done.err) == (False, False)


def test_too_many_lines_are_those_of_the_code(run: Run) -> None:
    put("train.ipynb", book(TRAINING))
    lines = read("train.ipynb").text.count("\n")
    assert run("convert", "train.ipynb", "--check", "--max-lines", lines).code == 1
    assert "TMG019" in run("convert", "train.ipynb", "--check", "--max-lines", lines - 1).err


def test_lint_reads_notebooks(run: Run) -> None:
    put("train.ipynb", book(TRAINING))
    run("convert", "train.ipynb", "-o", "mg.ipynb")
    assert run("lint", "mg.ipynb").code == 0
