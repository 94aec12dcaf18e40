"""Folders and --output-dir give a whole working tree: each file has one status, and the counts add up."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.cli.standins import BOTH_PYTHONS, NO_TRAINING, PLAIN, TRAINING, Run, files, put


@pytest.fixture
def tree(project: Path) -> Path:
    put("src/train.py")
    put("src/old.py", BOTH_PYTHONS)
    put("src/pkg/__init__.py", b"")
    put("src/pkg/data.py", PLAIN)
    put("src/data/a b.csv", b"1\n")
    put("src/data/sub/größe.bin", b"\0" * 10)
    put("src/config.yml", b"k: 1\n")
    put("src/run.sh", b"#!/bin/sh\n").chmod(0o755)
    put("src/.hidden/x.py", PLAIN)
    put("src/__pycache__/x.pyc", b"x")
    Path("src/empty").mkdir()
    return project


EVERYTHING = [
    "config.yml",
    "data/a b.csv",
    "data/sub/größe.bin",
    "old.py",
    "pkg/__init__.py",
    "pkg/data.py",
    "run.sh",
    "train.py",
]


LOOP = """\
import numpy as np
import tensorflow as tf
from {module} import Net

batch_size = {size}
net = Net()
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(10):
        x, y = np.random.rand(batch_size, 8), np.zeros(batch_size)
        sess.run(net.train_op, {{net.x: x, net.y: y}})
"""


def statuses(out: bytes) -> dict[str, str]:
    rows = [(row["path"], row["outcome"]) for row in json.loads(out)["files"]]
    assert len(rows) == len(dict(rows)), "a file has two statuses"
    return dict(rows)


def test_a_folder(tree: Path, run: Run) -> None:
    done = run("convert", "src", "-o", "out")
    assert files(tree / "out") == EVERYTHING
    assert Path("out/empty").is_dir()
    assert os.access("out/run.sh", os.X_OK)
    assert done.code == 2 and done.err.endswith("1 converted, 6 copied, 1 left out, 1 refused\n")
    assert Path("out/old.py").read_bytes() == BOTH_PYTHONS  # it goes on running as it did


def test_output_dir_of_a_script(tree: Path, run: Run) -> None:
    done = run("convert", "src/train.py", "--output-dir", "out")
    assert (done.code, files(tree / "out")) == (0, EVERYTHING)
    assert done.err.endswith("1 converted, 7 copied, 1 left out\n")
    assert Path("out/train.py").read_bytes() != TRAINING


def test_output_dir_inside_of_the_folder(tree: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("src")
    for _ in range(2):
        assert run("convert", "train.py", "--output-dir", "mg").code == 0
        assert files(Path("mg")) == EVERYTHING


def test_nothing_is_written_for_a_script_that_is_refused(tree: Path, run: Run) -> None:
    assert run("convert", "src/old.py", "--output-dir", "out").code == 2
    assert not Path("out").exists()


def test_check_says_what_convert_would_do(tree: Path, run: Run) -> None:
    before = run("convert", "--check", "src", "-o", "out", "--json")
    assert (before.code, Path("out").exists()) == (2, False)
    assert set(statuses(before.out).values()) == {"would change", "left out", "refused"}
    Path("src/old.py").unlink()
    assert run("convert", "--check", "src", "-o", "out").code == 1
    run("convert", "src", "-o", "out")
    assert run("convert", "--check", "src", "-o", "out").code == 0
    put("src/data/a b.csv", b"2\n")
    done = run("convert", "--check", "src", "-o", "out", "--json")
    assert done.code == 1
    assert [path for path, status in statuses(done.out).items() if status == "would change"] == ["src/data/a b.csv"]


def test_what_gitignore_and_exclude_name_is_left_out(tree: Path, run: Run) -> None:
    Path("src/old.py").unlink()
    put("src/.gitignore", b"data/\n*.log\n!keep.log\n")
    put("src/pkg/.gitignore", b"data.py\n")
    for name in ("x.log", "keep.log", "junk/y.py", "pkg/keep.log"):
        put(f"src/{name}", b"x")
    done = run("convert", "src", "-o", "out", "--exclude", "junk", "--exclude", "/run.sh", "--json")
    assert done.code == 0
    assert files(tree / "out") == [
        ".gitignore",
        "config.yml",
        "keep.log",
        "pkg/.gitignore",
        "pkg/__init__.py",
        "pkg/keep.log",
        "train.py",
    ]
    left = {path for path, status in statuses(done.out).items() if status == "left out"}
    assert left == {"src/.hidden", "src/data", "src/junk", "src/pkg/data.py", "src/run.sh", "src/x.log"}


def test_folders_that_are_no_part_of_a_project_are_named(tree: Path, run: Run) -> None:
    Path("src/old.py").unlink()
    for name in (".secret/key", ".git/HEAD", "env/pyvenv.cfg", "pkg/__pycache__/data.pyc", "node_modules/a.js"):
        put(f"src/{name}", b"x")
    done = run("convert", "src", "-o", "out", "-v")
    assert done.code == 0
    said = [line for line in done.err.splitlines() if "TMG030" in line]
    assert said == [
        "src/.hidden: TMG030 left out: a hidden folder",
        "src/.secret: TMG030 left out: a hidden folder",
        "src/env: TMG030 left out: a virtual environment",
        "src/node_modules: TMG030 left out: installed packages",
    ]
    assert "--data link" not in done.err and "4 left out" in done.err
    assert not any(name.startswith((".secret", ".git/", "env", "node_modules")) for name in files(tree / "out"))


def test_a_folder_that_is_named_is_looked_into_though_git_ignores_it(tree: Path, run: Run) -> None:
    Path(".git").mkdir()
    put(".gitignore", b"src/\n")
    assert run("convert", "src", "-o", "out").err.endswith("1 converted, 6 copied, 1 left out, 1 refused\n")


def test_a_folder_gets_a_line_for_each_script_and_a_summary(tree: Path, run: Run) -> None:
    put("src/run.log", b"x")
    put("src/.gitignore", b"*.log\n")
    done = run("convert", "src", "-o", "out")
    assert done.err.splitlines() == [
        "src/old.py:2:1: TMG004 Python 2 syntax: the print statement; and an f-string, line 3, is Python 3's; "
        "refused, copied as it is to out/old.py",
        "src/train.py: converted, written to out/train.py",
        "left out: src/.hidden (a hidden folder), src/run.log (.gitignore)",
        "-v shows what was decided, and the lines and advice behind each code",
        "1 converted, 7 copied, 2 left out, 1 refused",
    ]
    assert "-v shows" not in run("convert", "src", "-o", "new", "-v").err
    quiet = run("convert", "src", "-o", "quiet", "-q").err
    assert quiet.startswith("src/old.py:2:1: TMG004 Python 2 syntax: the print statement; and an f-string, line 3, is")


def test_many_files_that_are_left_out_are_counted(project: Path, run: Run) -> None:
    for number in range(15):
        put(f"src/{number:02}.log", b"x")
    put("src/train.py")
    put("src/.gitignore", b"*.log\n")
    (left,) = (line for line in run("convert", "src", "-o", "out").err.splitlines() if line.startswith("left out: "))
    assert left.startswith("left out: src/00.log (.gitignore), src/01.log (.gitignore), ")
    assert left.endswith(", src/11.log (.gitignore), and 3 more")


def test_what_git_tracks_is_copied_though_gitignore_names_it(project: Path, run: Run) -> None:
    put("src/train.py")
    put("src/.gitignore", b"*.npy\nweights/\nhidden.py\n")
    tracked = ("mean.npy", "weights/a.npy", "weights/deep/b.bin", "hidden.py")
    for name in (*tracked, "other.npy", "weights/c.npy", "weights/deep/d.bin", "weights/more/e.bin"):
        put(f"src/{name}", b"x = 1\n")
    for words in (["init", "--quiet"], ["add", "--force", *(f"src/{name}" for name in tracked)]):
        subprocess.run(["git", *words], check=True)
    done = run("convert", "src", "-o", "out")
    assert files(project / "out") == sorted([".gitignore", *tracked, "train.py"])
    ignored = ("other.npy", "weights/c.npy", "weights/deep/d.bin", "weights/more")
    named = [f"src/{name} (.gitignore)" for name in ignored]
    assert f"left out: {', '.join(named)}\n" in done.err


def test_large_files_are_left_out_with_a_word_or_linked(tree: Path, run: Run) -> None:
    Path("src/old.py").unlink()
    put("src/weights.bin", b"x" * 2_000_000)
    done = run("convert", "src", "-o", "out", "--copy-limit", "1")
    assert done.code == 0 and "src/weights.bin: TMG030 left out: 2,000,000 bytes" in done.err
    assert not Path("out/weights.bin").exists()
    assert run("convert", "src", "-o", "out", "--copy-limit", "1", "--strict").code == 2
    assert run("convert", "src", "-o", "out", "--copy-limit", "1", "--data", "link").code == 2  # data/ is copied there
    done = run("convert", "src", "-o", "new", "--copy-limit", "1", "--data", "link")
    assert done.code == 0
    assert os.path.samefile("new/weights.bin", "src/weights.bin") and os.path.islink("new/data")
    assert Path("new/data/a b.csv").read_bytes() == b"1\n" and not os.path.islink("new/pkg")
    assert run("convert", "src", "-o", "new", "--copy-limit", "1", "--data", "link", "--check").code == 0


def test_data_that_git_ignores_is_linked(tree: Path, run: Run) -> None:
    put("src/.gitignore", b"data/\n")
    run("convert", "src", "-o", "out", "--data", "link")
    assert Path("out/data/a b.csv").read_bytes() == b"1\n"


def test_data_is_left_out(tree: Path, run: Run) -> None:
    run("convert", "src", "-o", "out", "--data", "none")
    assert files(tree / "out") == [name for name in EVERYTHING if not name.startswith("data/")]


def test_links_stay_links(tree: Path, run: Run) -> None:
    put("elsewhere/big.csv", b"3\n")
    Path("src/a_link.py").symlink_to("train.py")
    Path("src/latest").symlink_to("data")
    Path("src/far").symlink_to(Path("elsewhere").resolve())
    Path("src/broken").symlink_to("nowhere")
    assert "1 converted, 6 copied, 4 linked, 1 left out, 1 refused\n" in run("convert", "src", "-o", "out").err
    assert os.readlink("out/a_link.py") == "train.py" and os.readlink("out/latest") == "data"
    assert os.path.samefile("out/far", "elsewhere") and os.readlink("out/broken") == "nowhere"
    assert Path("out/a_link.py").read_bytes().endswith(b"towers()")


def test_two_folders_that_have_a_file_in_common(tree: Path, run: Run) -> None:
    put("other/config.yml", b"k: 2\n")
    put("other/second.py")
    done = run("convert", "src", "other", "-o", "out")
    assert done.code == 2
    assert Path("out/config.yml").read_bytes() == b"k: 1\n"
    assert Path("out/second.py").exists()
    assert "other/config.yml: TMG008" in done.err


def test_modules_have_one_status(project: Path, run: Run) -> None:
    # With the stand-in a module is refused for having no training step, as a script alone would be.
    put("src/a_model.py", NO_TRAINING)
    put("src/train.py", b"import a_model\n" + TRAINING)
    put("src/eval.py", b"import train\n" + NO_TRAINING)
    done = run("convert", "src", "-o", "out", "--json")
    assert (done.code, statuses(done.out)) == (
        0,
        {"src/eval.py": "copied", "src/train.py": "converted", "src/a_model.py": "copied"},
    )


@pytest.mark.parametrize("chain", [("z_model", "m_train", "a_main"), ("a_model", "m_train", "z_main")])
def test_models_are_taken_with_the_script_that_trains_them(
    tmp_path: Path, run: Run, chain: tuple[str, str, str]
) -> None:
    from tests.test_projects import MODEL, TRAIN

    model, train, main = chain
    put(f"{tmp_path}/src/{model}.py", MODEL.encode())
    put(f"{tmp_path}/src/{train}.py", TRAIN.replace("model", model).encode())
    put(f"{tmp_path}/src/{main}.py", f"import tensorflow as tf\nfrom {model} import Net\nnet = Net()\n".encode())
    done = run("convert", tmp_path / "src", "-o", tmp_path / "out", "--json", "--jobs", "1")
    found = {os.path.basename(path): status for path, status in statuses(done.out).items()}
    assert (done.code, found) == (
        0,
        {
            f"{train}.py": "converted",
            f"{model}.py": "converted",
            "tower_helpers.py": "added",
            f"{main}.py": "copied",
        },
    )


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_module_stays_as_it_is_where_the_script_that_trains_with_it_is_refused(
    tmp_path: Path, run: Run, jobs: str
) -> None:
    from tests.test_projects import MODEL

    made = MODEL + "        self.train_op = tf.train.AdamOptimizer().minimize(self.loss)\n"
    single = LOOP.replace("np.random.rand(batch_size, 8), np.zeros(batch_size)", "np.random.rand(8)[None], np.zeros(1)")
    texts = {
        "model.py": made,
        "train.py": single.format(module="model", size=1),
        "script.py": made + "\n\nif __name__ == '__main__':\n    Net()\n",
        "train_script.py": single.format(module="script", size=1),
        "shared.py": made,
        "one.py": single.format(module="shared", size=1),
        "many.py": LOOP.format(module="shared", size=16),
    }
    for name, text in texts.items():
        put(f"{tmp_path}/src/{name}", text.encode())
    done = run("convert", tmp_path / "src", "-o", tmp_path / "out", "--json", "--jobs", jobs)
    found = {os.path.basename(path): status for path, status in statuses(done.out).items()}
    refused = dict.fromkeys(["train.py", "model.py", "train_script.py", "one.py"], "refused")
    taken = dict.fromkeys(["script.py", "shared.py", "many.py"], "converted")
    assert found == {**refused, **taken, "tower_helpers.py": "added"}
    assert (tmp_path / "out/model.py").read_bytes() == made.encode()
    assert f"{tmp_path}/src/train.py trains with this file, and is refused (TMG218)".encode() in done.out
    named = run("convert", tmp_path / "src/model.py", "-o", tmp_path / "named.py")
    assert named.code == 0 and "TMG038" not in named.err


@pytest.mark.parametrize("option", [("--refused", "fail"), ("--refused", "pass"), ()])
def test_a_refused_file_fails_where_asked(tree: Path, run: Run, option: tuple[str, ...]) -> None:
    done = run("convert", "src", "-o", "out", *option)
    assert done.code == (0 if "pass" in option else 2)
    assert "src/old.py:2:1: TMG004" in done.err


def test_strict_takes_no_warnings(project: Path, run: Run) -> None:
    put("train.py", TRAINING + b"# doubt\n")
    done = run("convert", "train.py", "-o", "multi.py", "--strict")
    assert (done.code, files(project)) == (2, ["train.py"])
    assert "TMG301" in done.err and "train.py: TMG031 --strict takes no warnings, and there is TMG301" in done.err
    put("train.py")
    assert run("convert", "train.py", "-o", "multi.py", "--strict").code == 0


@pytest.mark.parametrize("command", [("--in-place", "train.py"), ("--in-place", "."), ("--check", "--in-place", ".")])
def test_in_place_with_other_options_is_never_passed_over(project: Path, run: Run, command: tuple[str, ...]) -> None:
    put("train.py")
    run("convert", "--in-place", "train.py", "--num-gpus", "4")
    held = Path("train.py").read_bytes()
    done = run("convert", *command, "--num-gpus", "8")
    assert (done.code, Path("train.py").read_bytes()) == (2, held)
    assert "TMG021 converted before with --num-gpus 4 --batch per-gpu; this run asks for --num-gpus 8" in done.err
    assert run("convert", *command).code == 2  # options left out are others, too
    assert run("convert", *command, "--num-gpus", "4").code == 0


def test_the_way_back_is_named(project: Path, run: Run) -> None:
    import subprocess

    def git(*words: str) -> str:
        command = ["git", "-c", "user.name=T", "-c", "user.email=t@example.org", *words]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    put("train.py")
    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "x")
    commit = git("rev-parse", "--short", "HEAD")
    run("convert", "--in-place", "train.py", "--num-gpus", "4")
    git("commit", "-qam", "y")
    assert f"git checkout {commit} -- train.py" in run("convert", "--in-place", "train.py").err
