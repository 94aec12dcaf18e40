"""Scripts that import packages of folders above them: run with `python -m`, or with PYTHONPATH."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from converter.cli.app import main
from converter.conversion import Conversion, commands_of, convert
from converter.options import Options
from converter.source import read
from converter.verify import VerifySettings, verify
from tests.proofs import skipped

pytestmark = pytest.mark.one_test_in(2)

NET = """\
import tensorflow as tf


class Net(object):
    def __init__(self):
        self.x = tf.placeholder(tf.float32, [None, 4])
        self.y = tf.placeholder(tf.int64, [None])
        self.loss = tf.losses.sparse_softmax_cross_entropy(self.y, tf.layers.dense(self.x, 3))
        self.train_op = tf.train.AdamOptimizer(0.01).minimize(self.loss)
"""
TRAIN = """\
import numpy as np
import tensorflow as tf
from pkg.models.net import Net

batch_size = 8
images = np.random.RandomState(1).rand(96, 4).astype('float32')
labels = np.random.RandomState(2).randint(3, size=96)


def main():
    net = Net()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for begin in range(0, len(images), batch_size):
            end = begin + batch_size
            batch = {net.x: images[begin:end], net.y: labels[begin:end]}
            print(sess.run([net.train_op, net.loss], batch)[1])


if __name__ == '__main__':
    main()
"""
BESIDE = TRAIN.replace("from pkg.models", "import util\nfrom pkg.models").replace("print(", "util.show(")
RELATIVE = TRAIN.replace("from pkg.models", "from .models")
UTIL = "def show(loss):\n    print('%.4f' % loss)\n"
NEEDED = "import tensorflow as tf\n\n\ndef scaled(x):\n    return x / 2.0\n"


def project(root: Path, script: str, text: str, **more: str) -> Path:
    """A repository with a package and a script; its path."""
    files = {"pkg/__init__.py": "", "pkg/models/__init__.py": "", "pkg/models/net.py": NET, script: text, **more}
    (root / ".git").mkdir(parents=True)
    for name, held in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(held)
    return root / script


def converted(path: Path) -> Conversion:
    return convert(read(str(path)), Options(line_length=100), several=True)


def found(done: Conversion) -> list[tuple[str, int, str, str]]:
    return [(d.code, d.line, d.severity, f"{d.message}; {d.hint}") for d in done.diagnostics]


def files(root: Path) -> dict[str, bytes]:
    return {str(p.relative_to(root)): p.read_bytes() for p in sorted(root.rglob("*")) if p.is_file()}


# --- What is followed -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("script", "text", "command", "helpers"),
    [
        ("pkg/train.py", TRAIN, "../: python -m pkg.train", "tower_helpers.py"),
        ("pkg/bin/train.py", TRAIN, "../../: python -m pkg.bin.train", "tower_helpers.py"),
        ("scripts/train.py", BESIDE, "../: PYTHONPATH=. python scripts/train.py", "tower_helpers.py"),
        ("pkg/train.py", RELATIVE, "", "pkg/tower_helpers.py"),
        ("pkg/bin/train.py", RELATIVE.replace(".models", "..models"), "", "tower_helpers.py"),
    ],
    ids=["package", "deeper", "beside", "relative", "relative above"],
)
def test_a_package_above_is_followed(script: str, text: str, command: str, helpers: str, tmp_path: Path) -> None:
    path = project(tmp_path, script, text, **{"scripts/util.py": UTIL})
    done = converted(path)
    line = 1 + text.splitlines().index(next(one for one in text.splitlines() if "import Net" in one))
    wanted = [("TMG146", line, "info")] if command else []
    assert [one[:3] for one in found(done)] == wanted and done.status == "converted"
    assert all(f"run it in {command}" in one[3] for one in found(done))
    assert [os.path.relpath(part.path, tmp_path) for part in done.parts] == ["pkg/models/net.py", helpers]


@pytest.mark.parametrize(
    ("script", "text", "more"),
    [
        ("pkg/train.py", TRAIN.replace("pkg.models", "models"), {}),
        (
            "scripts/train.py",
            TRAIN,
            {"scripts/pkg/__init__.py": "", "scripts/pkg/models/__init__.py": "", "scripts/pkg/models/net.py": NET},
        ),
        ("scripts/train.py", TRAIN.replace("from pkg", "import sys\nsys.path.append('..')\nfrom pkg"), {}),
        ("train.py", TRAIN, {}),
    ],
    ids=["beside", "of two", "by the script", "at the root"],
)
def test_what_is_found_already_needs_no_folder(script: str, text: str, more: dict[str, str], tmp_path: Path) -> None:
    path = project(tmp_path, script, text, **more)
    done = converted(path)
    assert (done.status, found(done), done.above) == ("converted", [], ())
    assert commands_of(done, str(path), Options()) == ()


@pytest.mark.parametrize(
    ("text", "more"),
    [
        (TRAIN.replace("pkg.models.net", "random.net"), {"random/__init__.py": "", "random/net.py": NET}),
        (TRAIN, {"scripts/setup.py": ""}),
        (BESIDE.replace("import util", "import pkg.util"), {"scripts/pkg/__init__.py": "", "scripts/pkg/util.py": ""}),
    ],
    ids=["Python's own", "beyond the root", "hidden"],
)
def test_what_is_not_looked_for_above(text: str, more: dict[str, str], tmp_path: Path) -> None:
    done = converted(project(tmp_path, "scripts/train.py", text, **more))
    assert done.status == "refused" and "TMG146" not in {code for code, *_ in found(done)}


def test_an_import_in_a_handler_that_finds_the_same_file(tmp_path: Path) -> None:
    both = "try:\n    from pkg.models.net import Net\nexcept ImportError:\n    from models.net import Net\n"
    path = project(tmp_path, "pkg/train.py", TRAIN.replace("from pkg.models.net import Net\n", both))
    done = converted(path)
    assert (done.status, found(done)) == ("converted", [])
    (tmp_path / "pkg/models/net.py").unlink()
    other = project(tmp_path / "b", "scripts/train.py", path.read_text().replace("models.net import", "nothing import"))
    other.write_text(path.read_text().replace("from models.net", "from nothing"))
    done = converted(other)
    assert done.status == "converted" and [one[0] for one in found(done)] == ["TMG146"]


def test_a_script_that_itself_never_names_tensorflow(tmp_path: Path) -> None:
    text, loop = "from pkg.models.loop import main\n\nmain()\n", TRAIN.partition("if __name__")[0]
    path = project(tmp_path, "scripts/train.py", text, **{"pkg/models/loop.py": loop})
    assert converted(path).status == "converted"


@pytest.mark.parametrize(
    ("script", "text", "command"),
    [
        ("examples/dch/train.py", TRAIN.replace("pkg.models", "models"), "../../: PYTHONPATH=pkg python "),
        ("examples/train.py", "from models.loop import main\n\nmain()\n", "../: PYTHONPATH=pkg python "),
        ("train.py", TRAIN.replace("pkg.models", "models"), ".: PYTHONPATH=pkg python "),
    ],
    ids=["deeper", "without the word TensorFlow", "below the script's folder"],
)
def test_a_library_in_a_folder_of_the_project(script: str, text: str, command: str, tmp_path: Path) -> None:
    loop = TRAIN.partition("if __name__")[0].replace("pkg.models", "models")
    path = project(tmp_path, script, text, **{"pkg/models/loop.py": loop, "docs/models.py": "PAGES = 1\n"})
    done = converted(path)
    notes = [one for one in found(done) if one[0] == "TMG146"]
    assert done.status == "converted" and len(notes) == 1
    where = command.replace(".: ", "run it in its own folder: ", 1) if command.startswith(".:") else command
    assert where in notes[0][3]


LIBRARY = {"lib/nets/__init__.py": NET}


@pytest.mark.parametrize(
    ("more", "codes"),
    [
        ({**LIBRARY, "old/nets/__init__.py": NET}, ["TMG237"]),
        ({"lib/nets/__init__.py": "class Net(object):\n    pass\n"}, ["TMG201"]),  # nothing of TensorFlow
        ({"lib/deeper/nets/__init__.py": NET}, ["TMG201"]),
        (
            {**LIBRARY, "examples/nets.py": "Net = None\n"},
            ["TMG201"],
        ),  # beside the script, so that Python takes this one
    ],
    ids=["two folders", "no TensorFlow", "too deep", "hidden"],
)
def test_a_library_that_is_not_taken(more: dict[str, str], codes: list[str], tmp_path: Path) -> None:
    done = converted(project(tmp_path, "examples/train.py", TRAIN.replace("pkg.models.net", "nets"), **more))
    assert (done.status, [one[0] for one in found(done)]) == ("refused", codes)


def test_a_library_of_a_folder_that_is_no_project(tmp_path: Path) -> None:
    path = project(
        tmp_path, "a/b/examples/train.py", TRAIN.replace("pkg.models.net", "nets"), **{"a/b/lib/nets.py": NET}
    )
    (tmp_path / ".git").rmdir()
    assert converted(path).status == "refused"
    (tmp_path / "a/b/README.md").write_text("Nets.\n")
    assert converted(path).status == "converted"


def test_two_libraries_are_never_passed_over_silently(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    more = {**LIBRARY, "old/nets/__init__.py": NET}
    project(tmp_path, "examples/train.py", "import nets\n\nnets.Net()\n", **more)
    assert run(str(tmp_path / "examples"), "-o", str(tmp_path / "out")) == 2
    assert "train.py:1:1: TMG237 nets is not found" in capsys.readouterr().err


def test_a_script_without_tensorflow_names_imports_that_are_not_found(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = project(tmp_path, "train.py", "import os\nimport numpy\nimport pkg\nimport nets.small\n\nnets.fit()\n")
    assert run(str(path), "-o", str(tmp_path / "out.py"), "-v") == 2
    said = capsys.readouterr().err
    assert "TMG201 there is nothing to convert: this file does not use TensorFlow" in said
    assert "not found in this project: nets; if" in said


# --- Two of a name ----------------------------------------------------------------------------------

TWO = TRAIN.replace("from pkg", "from utils import scaled\nfrom pkg").replace("images[begin", "scaled(images)[begin")


@pytest.mark.parametrize(
    ("more", "codes"),
    [
        ({"pkg/utils.py": NEEDED, "utils.py": NEEDED}, ["TMG356", "TMG146"]),
        ({"pkg/utils.py": NEEDED, "utils/notes.txt": ""}, ["TMG146"]),
        ({"pkg/utils.py": NEEDED}, ["TMG146"]),
        ({"utils.py": NEEDED}, ["TMG146"]),
    ],
    ids=["both", "no module", "beside", "above"],
)
def test_a_module_of_two_folders_is_warned_of(more: dict[str, str], codes: list[str], tmp_path: Path) -> None:
    done = converted(project(tmp_path, "pkg/train.py", TWO, **more))
    assert (done.status, sorted(one[0] for one in found(done))) == ("converted", sorted(codes))


@pytest.mark.parametrize(
    ("net", "second", "code"),
    [
        ("KEPT = []\n" + NET, "import models.net", "TMG262"),
        (NET, "import models.net", "TMG146"),  # two modules that do the same
        ("KEPT = []\n" + NET, "import pkg.models.net", "TMG146"),
    ],
)
def test_a_file_under_two_names(net: str, second: str, code: str, tmp_path: Path) -> None:
    text = TRAIN.replace("from pkg.models", f"{second}\nfrom pkg.models")
    done = converted(project(tmp_path, "pkg/train.py", text, **{"pkg/models/net.py": net}))
    assert code in [one[0] for one in found(done)]
    assert done.status == ("refused" if code == "TMG262" else "converted")


# --- Where it is written ----------------------------------------------------------------------------


def run(*words: str) -> int:
    return main(["convert", *words])


def test_an_output_folder_holds_the_folder_around_script_and_package(tmp_path: Path) -> None:
    path = project(tmp_path / "repo", "pkg/train.py", TRAIN, **{"notes.txt": "kept"})
    before = files(tmp_path / "repo")
    assert run(str(path), "--output-dir", str(tmp_path / "out")) == 0
    assert files(tmp_path / "repo") == before
    written = files(tmp_path / "out")
    assert set(written) - {".tf-multigpu.sha256"} == {*before, "tower_helpers.py"}
    assert {name for name in before if written[name] != before[name]} == {"pkg/train.py", "pkg/models/net.py"}
    assert b"--output-dir .. " in written["pkg/train.py"]
    assert run("--check", str(tmp_path / "out")) == 0
    (tmp_path / "out/tower_helpers.py").write_text("")
    assert run("--check", str(tmp_path / "out")) == 1
    assert sorted(os.listdir(tmp_path)) == ["out", "repo"]


def test_the_whole_repository(tmp_path: Path) -> None:
    project(tmp_path / "repo", "pkg/train.py", TRAIN)
    assert run(str(tmp_path / "repo"), "-o", str(tmp_path / "out")) == 0
    assert (tmp_path / "out/tower_helpers.py").is_file() and b"tower_helpers" in files(tmp_path / "out")["pkg/train.py"]


def test_in_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = project(tmp_path, "pkg/train.py", TRAIN)
    assert run("--in-place", str(path)) == 0
    said = capsys.readouterr().err
    assert "train.py:3:1: TMG146 pkg is found in ../" in said and "python -m pkg.train" in said
    assert "import tower_helpers" in (tmp_path / "pkg/models/net.py").read_text()
    assert (tmp_path / "tower_helpers.py").is_file() and not (tmp_path / "pkg/tower_helpers.py").exists()
    before = files(tmp_path)
    assert run("--in-place", str(path)) == 0 and files(tmp_path) == before


@pytest.mark.parametrize("words", [["-o", "OUT/"], ["-o", "OUT/train.py"]], ids=["folder", "file"])
def test_nothing_is_written_beside_an_output(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = project(tmp_path / "repo", "pkg/train.py", TRAIN)
    (tmp_path / "out").mkdir()
    before = files(tmp_path)
    words = [word.replace("OUT", str(tmp_path / "out")) for word in words]
    assert run(str(path), *words) == 2
    assert files(tmp_path) == before and "--output-dir" in capsys.readouterr().err
    assert run(str(path.parent), *words) == 2
    assert "folder" in capsys.readouterr().err
    assert b"tower_helpers" not in b"".join(files(tmp_path / "out").values())
    assert sorted(os.listdir(tmp_path)) == ["out", "repo"] and "tower_helpers.py" not in files(tmp_path / "repo")


def test_diffs_name_the_files_where_they_lie(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    project(tmp_path, "scripts/train.py", TRAIN)
    monkeypatch.chdir(tmp_path)
    run("--diff", "scripts/train.py")
    text = capsys.readouterr().out
    names = [line[6:] for line in text.splitlines() if line.startswith("+++ ")]
    assert names == ["scripts/train.py", "pkg/models/net.py", "tower_helpers.py"]
    subprocess.run(["git", "init", "-q"], check=True)
    subprocess.run(["git", "apply", "--check"], input=text.encode(), check=True)


def test_json_has_note_and_command(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = project(tmp_path, "scripts/train.py", BESIDE, **{"scripts/util.py": UTIL})
    run("--in-place", str(path), "--output-format", "json")
    (script, *_) = json.loads(capfd.readouterr().out)["files"]
    assert [(d["code"], d["severity"]) for d in script["diagnostics"]] == [("TMG146", "info")]
    assert [command["purpose"] for command in script["commands"]] == ["run"]


# --- Other scripts ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text", "code"),
    [
        ("other/evaluate.py", "from pkg.models.net import Net\nNet().train_op\n", "TMG307"),
        ("pkg/evaluate.py", "from .models.net import Net\nNet().train_op\n", "TMG307"),
        ("other/evaluate.py", "import sys\nsys.path.append('../pkg')\nfrom models.net import Net\n", "TMG265"),
        ("other/evaluate.py", "import numpy\n", ""),
    ],
    ids=["from above", "relative", "without the folder", "none"],
)
def test_other_scripts_of_the_repository(name: str, text: str, code: str, tmp_path: Path) -> None:
    done = converted(project(tmp_path, "pkg/train.py", TRAIN, **{name: text}))
    assert [one[0] for one in found(done) if one[0] != "TMG146"] == ([code] if code else [])


ADDED = TRAIN.replace(
    "from pkg", "import os\nimport sys\nsys.path.append(os.path.join(os.path.dirname(__file__), '..'))\nfrom pkg"
)
LATE = TRAIN.replace("from pkg.models.net import Net\n", "import sys\n").replace(
    "    net = Net()", "    sys.path.append('..')\n    from pkg.models.net import Net\n    net = Net()"
)
OTHER = "from pkg.models.net import Net\nnet = Net()\nprint(net.train_op.name)\n"


@pytest.mark.parametrize(
    ("text", "more", "helpers", "codes"),
    [
        (ADDED, {}, "scripts/tower_helpers.py", []),
        (ADDED, {"evaluate.py": OTHER}, "tower_helpers.py", ["TMG307"]),
        (ADDED, {"evaluate.py": OTHER, "scripts/evaluate.py": ADDED}, "tower_helpers.py", ["TMG307", "TMG307"]),
        (ADDED, {"scripts/evaluate.py": ADDED}, "scripts/tower_helpers.py", ["TMG307"]),
        # one of them looks elsewhere for the package, or the script knows the folder only when it runs
        (ADDED, {"evaluate.py": OTHER, "other/old.py": OTHER.replace("pkg.", "")}, "", ["TMG265", "TMG265"]),
        (LATE, {"evaluate.py": OTHER}, "", ["TMG265"]),
    ],
    ids=["alone", "at the root", "at the root and beside", "beside", "in the package", "late"],
)
def test_helpers_lie_where_all_scripts_look(
    text: str, more: dict[str, str], helpers: str, codes: list[str], tmp_path: Path
) -> None:
    more = {
        name: held.replace("from models", "import sys\nsys.path.append('../pkg')\nfrom models")
        for name, held in more.items()
    }
    done = converted(project(tmp_path, "scripts/train.py", text, **more))
    assert [one[0] for one in found(done)] == codes
    parts = [os.path.relpath(part.path, tmp_path) for part in done.parts if part.source is None]
    assert parts == ([helpers] if helpers else [])
    assert commands_of(done, "scripts/train.py", Options()) == ()  # the script finds all by itself


def test_other_scripts_beside_a_folder_that_is_no_package(tmp_path: Path) -> None:
    text = TRAIN.replace("pkg.models", "lib.nets")
    evaluate = "from lib.nets.net import Net\nNet().train_op\n"
    more = {"lib/nets/net.py": NET, "other/evaluate.py": evaluate}
    done = converted(project(tmp_path, "lib/bin/train.py", text, **more))
    assert [one[0] for one in found(done) if one[0] != "TMG146"] == ["TMG307"]


def test_a_changed_file_that_is_run_itself_finds_the_helpers(tmp_path: Path) -> None:
    path = project(tmp_path, "scripts/train.py", "from step import main\n\nmain()\n", **{"scripts/step.py": TRAIN})
    assert converted(path).status == "converted"


@pytest.mark.parametrize("way", ["models", "models/deeper"])
def test_a_package_s_file_that_is_run_itself_is_told_where_they_lie(way: str, tmp_path: Path) -> None:
    text = TRAIN.replace("pkg.models.net", f"{way.replace('/', '.')}.net")
    more = {f"{folder}/__init__.py": "" for folder in ("models", way)}
    own = NET + "\n\nif __name__ == '__main__':\n    print(Net().loss.op.type)\n"
    done = converted(project(tmp_path, "train.py", text, **more, **{f"{way}/net.py": own}))
    assert [one[0] for one in found(done)] == ["TMG307"] and done.status == "converted"
    (net,) = (part.text or "" for part in done.parts if part.source is not None)
    (added,) = (line.strip() for line in net.splitlines() if "sys.path" in line)
    (tmp_path / "tower_helpers.py").write_text("FOUND = 1\n")
    stub = net[net.index("if __name__") : net.index("import tower_helpers")] + "import tower_helpers\nprint(__name__)\n"
    (tmp_path / way / "net.py").write_text(stub)
    done_alone = subprocess.run([sys.executable, "net.py"], cwd=tmp_path / way, capture_output=True, text=True)
    assert done_alone.stdout == "__main__\n", (added, done_alone.stderr)
    codes = ["import sys; print(len(sys.path))", f"import {way.replace('/', '.')}.net, sys; print(len(sys.path))"]
    commands = [[sys.executable, "-c", code] for code in codes]
    before, after = (subprocess.run(one, cwd=tmp_path, capture_output=True, text=True).stdout for one in commands)
    assert after.splitlines()[-1] == before.strip()  # imported, it leaves the path as it is


# --- What runs --------------------------------------------------------------------------------------

RUNS = [
    pytest.param("pkg/train.py", TRAIN, id="package"),
    pytest.param("scripts/train.py", BESIDE, id="file"),
    pytest.param("pkg/train.py", RELATIVE, id="relative"),
]


@pytest.mark.tf1
@pytest.mark.parametrize(("script", "text"), RUNS)
def test_verify_on_1_15(script: str, text: str, tmp_path: Path, tensorflow_python: str) -> None:
    _proves(
        project(tmp_path / "repo", script, text, **{"scripts/util.py": UTIL}),
        script,
        tmp_path / "out",
        tensorflow_python,
    )


@pytest.mark.tf2
@pytest.mark.parametrize(("script", "text"), RUNS[:2])
def test_verify_on_2(script: str, text: str, tmp_path: Path, tensorflow_python: str) -> None:
    _proves(
        project(tmp_path / "repo", script, text, **{"scripts/util.py": UTIL}),
        script,
        tmp_path / "out",
        tensorflow_python,
    )


def _proves(path: Path, script: str, out: Path, python: str) -> None:
    assert run(str(path), "--output-dir", str(out)) == 0
    report = verify(path, out / script, VerifySettings(gpus=3, python=python))
    assert (report.verdict, skipped(report)) == ("passed", set()), report.reason
    lines = next(check for check in report.checks if check.name == "traced lines")
    assert lines.status == "passed"


@pytest.mark.tf1
def test_verify_sees_a_fault_in_the_package(tmp_path: Path, tensorflow_python: str) -> None:
    path = project(tmp_path / "repo", "pkg/train.py", TRAIN)
    assert run(str(path), "--output-dir", str(tmp_path / "out")) == 0
    net = tmp_path / "out/pkg/models/net.py"
    net.write_text(net.read_text().replace("self.loss * weight", "self.loss"))
    assert verify(path, tmp_path / "out/pkg/train.py", VerifySettings(python=tensorflow_python)).verdict == "failed"


@pytest.mark.one_in(2)
@pytest.mark.tf1
@pytest.mark.parametrize(("script", "text"), RUNS[:2])
def test_it_runs_as_the_note_says(script: str, text: str, tmp_path: Path, tensorflow_python: str) -> None:
    path = project(tmp_path, script, text, **{"scripts/util.py": UTIL})
    _, _, _, told = found(converted(path))[0]
    assert run("--in-place", str(path)) == 0
    command = told.partition("run it in ../: ")[2].replace("python ", f"{tensorflow_python} ", 1)
    done = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and len(done.stdout.split()) == 6, done.stderr[-2000:]
    alone = subprocess.run([tensorflow_python, path.name], cwd=path.parent, capture_output=True, text=True, timeout=300)
    assert alone.returncode != 0 and "No module named" in alone.stderr


@pytest.mark.tf1
def test_helpers_at_the_root_are_found_by_all(tmp_path: Path, tensorflow_python: str) -> None:
    path = project(tmp_path, "scripts/train.py", ADDED, **{"evaluate.py": OTHER})
    assert run("--in-place", str(path)) == 0
    for script, printed in ((path, 6), (tmp_path / "evaluate.py", 1)):
        command = [tensorflow_python, script.name]
        done = subprocess.run(command, cwd=script.parent, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0 and len(done.stdout.split()) == printed, done.stderr[-2000:]


TRIED = "try:\n    from {} import Net\nexcept ImportError:\n    from models.net import Net"


@pytest.mark.parametrize(
    ("tried", "status"), [("net", "converted"), ("otherlib", "refused"), ("models.net", "converted")]
)
def test_a_module_that_is_tried_without_its_package(tried: str, status: str, tmp_path: Path) -> None:
    """Python 2 finds it beside the file; another library's name is tried for what that library has."""
    text = TRAIN.replace("from pkg.models.net import Net", TRIED.format(tried))
    path = project(tmp_path, "train.py", text, **{"models/__init__.py": "", "models/net.py": NET})
    assert converted(path).status == status
