"""Where the helpers of a conversion are: in the script, in a module beside it, or in an installed package."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from statistics import median
from types import ModuleType
from typing import Any
from zipfile import ZipFile

import pytest

from converter import __version__
from converter.choices import Helpers
from converter.cli.app import main
from converter.conversion import convert
from converter.options import Options
from converter.runtime.catalog import catalog
from converter.runtime.whole import PACKAGE, package_module, whole_module
from converter.runtime.worker import PACKAGE as CLUSTER_PACKAGE
from converter.runtime.worker import worker_package
from converter.source import read
from converter.verify import VerifySettings, verify
from tests.goldens import FIXTURES
from tests.scripts import INPUTS, MODEL, SCRIPT, STEP, TRAINING, converted
from tests.test_projects import MODEL as NET
from tests.test_projects import TRAIN, put, tree

pytestmark = pytest.mark.one_test_in(2)

ROOT = Path(__file__).resolve().parent.parent
SHARED: tuple[Helpers, ...] = ("module", "package")
FLAGS = SCRIPT.replace("batch_size = 32\n", "flags = tf.app.flags\nflags.DEFINE_integer('batch_size', 32, '')\n"
                       "FLAGS = flags.FLAGS\n").replace("batch_size)", "FLAGS.batch_size)")  # fmt: skip
ARGPARSE = "import argparse\nparser = argparse.ArgumentParser()\n"
ARGPARSE += "parser.add_argument('--batch_size', type=int, default=32)\nargs = parser.parse_args()\n"
ARGPARSE += SCRIPT.replace("batch_size = 32\n", "").replace("batch_size)", "args.batch_size)")


# --- What a script says ---------------------------------------------------------------------------


def imports(text: str) -> list[str]:
    """The lines between the marks of the helpers."""
    _, _, rest = text.partition("# tf-multigpu: helpers for training on several GPUs\n")
    return rest.partition("# tf-multigpu: end of helpers")[0].splitlines()


@pytest.mark.parametrize(("helpers", "module"), [("module", "tower_helpers"), ("package", PACKAGE)])
def test_a_script_imports_what_it_uses_and_says_its_number(helpers: Helpers, module: str) -> None:
    text = converted(SCRIPT, helpers=helpers)
    own = "" if helpers == "module" else " as tower_helpers"
    assert imports(text) == [
        f"import {module}{own}",
        f"from {module} import check_gpus, shard, sum_gradients, tower_device",
        "tower_helpers.num_gpus = 2",
    ]
    assert "batch_size = 32 * tower_helpers.num_gpus\n" in text and "range(tower_helpers.num_gpus)" in text


@pytest.mark.parametrize("helpers", SHARED)
@pytest.mark.parametrize(
    ("script", "options", "says"),
    [
        (SCRIPT, {"num_gpus": None}, ["tower_helpers.num_gpus = count_gpus()"]),
        (SCRIPT, {"fewer_gpus": "allow"}, ["tower_helpers.num_gpus = 2", "tower_helpers.fewer_gpus = 'allow'"]),
        (FLAGS, {}, ["tower_helpers.num_gpus = lambda: FLAGS.num_gpus"]),
        (ARGPARSE, {"num_gpus": 4}, ["tower_helpers.num_gpus = 4"]),
        (SCRIPT, {"one_gpu": True}, ["if __name__ == '__main__':", "    tower_helpers.num_gpus = 2"]),
    ],
)
def test_how_the_number_is_told(helpers: Helpers, script: str, options: dict[str, Any], says: list[str]) -> None:
    assert imports(converted(script, helpers=helpers, **options))[-len(says) :] == says


@pytest.mark.parametrize("helpers", SHARED)
def test_parsed_arguments_tell_another_number(helpers: Helpers) -> None:
    text = converted(ARGPARSE, helpers=helpers)
    assert "default=tower_helpers.num_gpus" in text and "\ntower_helpers.num_gpus = args.num_gpus\n" in text


@pytest.mark.parametrize("helpers", SHARED)
def test_names_of_the_script_stay_its_own(helpers: Helpers) -> None:
    text = converted("shard = tower_helpers = 3\n" + SCRIPT, helpers=helpers, variables="balanced")
    lines = imports(text)
    assert {"    shard as towers_shard,", "    tower_device_balanced as tower_device,"} <= set(lines)
    assert "tower_helpers_2.num_gpus = 2" in lines and "] = towers_shard(" not in text and "= towers_shard([" in text


def test_only_what_the_options_leave_is_in_the_script() -> None:
    assert converted(SCRIPT) == converted(SCRIPT, helpers="inline")
    written = [line for line in converted(SCRIPT).split("\n") if "import" in line]
    assert written == ["import tensorflow as tf", "import os"]


@pytest.mark.parametrize("name", ["layers_cnn", "raw_in_functions", "sessions", "update_ops", "model_by_flag"])
@pytest.mark.parametrize("helpers", SHARED)
def test_the_second_reading_reads_as_much(name: str, helpers: Helpers) -> None:
    single = read(str(FIXTURES / name / "single.py"))
    inline, shared = (convert(single, Options(helpers=kind), several=True) for kind in ("inline", helpers))
    assert (shared.status, len(shared.unread)) == ("converted", len(inline.unread)), shared.unread
    assert [d.code for d in shared.diagnostics] == [d.code for d in inline.diagnostics]


# --- The module ------------------------------------------------------------------------------------


def test_the_module_holds_all_helpers_and_what_they_read() -> None:
    text = ast.parse(whole_module())
    bound = {n.name for n in text.body if isinstance(n, (ast.FunctionDef, ast.ClassDef))}
    bound |= {t.id for n in text.body if isinstance(n, ast.Assign) for t in n.targets if isinstance(t, ast.Name)}
    assert bound == {*catalog(), "num_gpus", "fewer_gpus", "towers"} - {"sum_gradients_dense"}  # it serves all
    bound |= {alias.asname or alias.name for n in ast.walk(text) if isinstance(n, ast.Import) for alias in n.names}
    read_ = {name for helper in catalog().values() for name in (*helper.needs, *helper.imports)} - {"NUM_GPUS"}
    assert {name for name in read_ if name in catalog() or name in ("tf", "os", "re", "contextlib")} <= bound
    assert "NUM_GPUS" not in whole_module()


def test_the_installed_module_is_up_to_date() -> None:
    done = subprocess.run([sys.executable, "tools/runtime_module.py", "--check"], cwd=ROOT, capture_output=True)
    assert done.returncode == 0, done.stdout
    assert (ROOT / "runtime" / f"{PACKAGE}.py").read_text() == package_module(__version__)
    assert (ROOT / "runtime" / f"{CLUSTER_PACKAGE}.py").read_text() == worker_package(__version__)


def loaded(monkeypatch: pytest.MonkeyPatch, text: str) -> ModuleType:
    """The module, with a stand-in for TensorFlow before 1.13."""
    tensorflow = ModuleType("tensorflow")
    tensorflow.train = type("train", (), {"Optimizer": object})  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "tensorflow", tensorflow)
    for name in ("tensorflow.compat", "tensorflow.compat.v1"):
        monkeypatch.setitem(sys.modules, name, None)
    module = ModuleType("tower_helpers")
    exec(text, vars(module))
    return module


@pytest.mark.parametrize(("told", "number"), [(None, 1), (3, 3), (lambda: 4, 4)])
def test_the_number_of_towers(monkeypatch: pytest.MonkeyPatch, told: object, number: int) -> None:
    module = loaded(monkeypatch, whole_module())
    module.num_gpus = told  # type: ignore[attr-defined]
    assert module.towers() == number


@pytest.mark.parametrize(
    ("said", "environment", "ends"),
    [("refuse", None, True), ("allow", None, False), ("refuse", "allow", False), ("allow", "refuse", True)],
)
def test_fewer_gpus(monkeypatch: pytest.MonkeyPatch, said: str, environment: str | None, ends: bool) -> None:
    module = loaded(monkeypatch, whole_module())
    monkeypatch.setattr(os.path, "isdir", lambda path: True)
    monkeypatch.setattr(os, "listdir", lambda path: ["one"])
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.delenv("FEWER_GPUS", raising=False)
    if environment:
        monkeypatch.setenv("FEWER_GPUS", environment)
    module.num_gpus, module.fewer_gpus = 2, said  # type: ignore[attr-defined]
    if ends:
        with pytest.raises(RuntimeError, match="2 towers need 2 GPUs, but this script sees 1"):
            module.check_gpus()
    else:
        module.check_gpus()


# --- Files -----------------------------------------------------------------------------------------


def run(*words: object) -> int:
    return main([str(word) for word in words])


def test_one_module_for_all_scripts_of_a_folder(tmp_path: Path) -> None:
    layers = INPUTS + MODEL.replace("X, 1", "tf.layers.batch_normalization(X), 1") + STEP + TRAINING
    put(tmp_path, one=SCRIPT, two=layers)
    assert run("convert", tmp_path, "-o", tmp_path / "all", "--helpers", "module") == 0
    assert sorted(tree(tmp_path / "all")) == ["one.py", "tower_helpers.py", "two.py"]
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        assert run("convert", tmp_path / f"{name}.py", "-o", tmp_path / name / "mg.py", "--helpers", "module") == 0
    texts = {(tmp_path / name / "tower_helpers.py").read_bytes() for name in ("all", "one", "two")}
    assert len(texts) == 1


def test_a_project_has_the_same_module(tmp_path: Path) -> None:
    put(tmp_path, train=TRAIN, model=NET, alone=SCRIPT)
    assert run("convert", tmp_path / "train.py", "--output-dir", tmp_path / "a", "--helpers", "module") == 0
    assert run("convert", tmp_path / "alone.py", "-o", tmp_path / "mg.py", "--helpers", "module") == 0
    files = tree(tmp_path / "a")
    assert files["tower_helpers.py"] == (tmp_path / "tower_helpers.py").read_bytes()
    train, model = files["train.py"].decode(), files["model.py"].decode()
    assert "tower_helpers.num_gpus = 2\nfrom model import Net\n" in train
    assert "for gpu in range(tower_helpers.towers()):" in model


def test_a_project_with_the_package(tmp_path: Path) -> None:
    put(tmp_path, train=TRAIN, model=NET, evaluate="import model\nnet = model.Net()\n")
    assert run("convert", tmp_path / "train.py", "--output-dir", tmp_path / "a", "--helpers", "package") == 0
    files = tree(tmp_path / "a")
    assert sorted(files) == ["evaluate.py", "model.py", "train.py"]
    assert f"import {PACKAGE} as tower_helpers\n" in files["model.py"].decode()


def test_a_module_of_somebody_else_has_its_name(tmp_path: Path) -> None:
    put(tmp_path, train=SCRIPT, tower_helpers="mine = 1\n")
    assert run("convert", tmp_path / "train.py", "--in-place", "--helpers", "module") == 0
    assert (tmp_path / "tower_helpers.py").read_text() == "mine = 1\n"
    assert "import tower_helpers_2\n" in (tmp_path / "train.py").read_text()
    assert (tmp_path / "tower_helpers_2.py").is_file()


def test_a_module_that_was_edited_is_not_written_over(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(tmp_path, train=SCRIPT, other=SCRIPT)
    words = ("convert", tmp_path / "train.py", "-o", tmp_path / "mg.py", "--helpers", "module")
    assert run(*words) == 0
    module = tmp_path / "tower_helpers.py"
    whole = module.read_text()
    module.write_text(whole.replace("return max(count, 1)", "return count"))
    capsys.readouterr()
    assert run("convert", "--check", tmp_path / "mg.py") == 1
    assert run("convert", tmp_path / "other.py", "-o", tmp_path / "mg2.py", "--helpers", "module") == 2
    assert "TMG020" in capsys.readouterr().err and not (tmp_path / "mg2.py").exists()
    assert run(*words, "--force") == 0
    assert module.read_text() == whole
    assert run("convert", "--check", tmp_path / "mg.py") == 0


@pytest.mark.parametrize("helpers", SHARED)
def test_check_and_other_options(tmp_path: Path, helpers: Helpers, capsys: pytest.CaptureFixture[str]) -> None:
    put(tmp_path, train=SCRIPT)
    script, multi = tmp_path / "train.py", tmp_path / "mg.py"
    assert run("convert", script, "-o", multi, "--helpers", helpers) == 0
    assert f"by: tf-multigpu convert train.py -o mg.py --num-gpus 2 --batch per-gpu --helpers {helpers}" in (
        multi.read_text()
    )
    assert run("convert", "--check", multi) == 0
    script.write_text(SCRIPT.replace("0.1", "0.2"))
    assert run("convert", "--check", multi) == 1
    assert run("convert", script, "--in-place", "--helpers", helpers) == 0
    capsys.readouterr()
    assert run("convert", script, "--in-place") == 2
    assert "TMG021" in capsys.readouterr().err
    assert run("convert", script, "--in-place", "--helpers", helpers) == 0


def test_a_check_misses_the_module(tmp_path: Path) -> None:
    put(tmp_path, train=SCRIPT)
    assert run("convert", tmp_path / "train.py", "-o", tmp_path / "mg.py", "--helpers", "module") == 0
    (tmp_path / "tower_helpers.py").unlink()
    assert run("convert", "--check", tmp_path / "mg.py") == 1


def test_standard_output_takes_one_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(tmp_path, train=SCRIPT)
    assert run("convert", tmp_path / "train.py", "--helpers", "module") == 2
    assert "--helpers module writes a second file" in capsys.readouterr().err
    assert run("convert", tmp_path / "train.py", "--helpers", "package") == 0
    assert run("convert", tmp_path / "train.py", "--helpers", "module", "--diff") == 1
    assert "+++ b/" in (shown := capsys.readouterr().out) and "tower_helpers.py" in shown


# --- The wheel, and runs ---------------------------------------------------------------------------


def test_the_wheel_holds_modules_for_both_pythons(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "runtime", tmp_path / "runtime")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    done = subprocess.run(command, cwd=tmp_path / "runtime", capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (wheel,) = tmp_path.glob("*.whl")
    assert wheel.name == f"{PACKAGE}-{__version__}-py2.py3-none-any.whl"
    with ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if ".dist-info/" not in name}
        assert held == {f"{PACKAGE}.py", f"{CLUSTER_PACKAGE}.py"}
        (metadata,) = (name for name in archive.namelist() if name.endswith("METADATA"))
        assert b"Requires-Dist" not in archive.read(metadata)


def proofs() -> list[object]:
    """Ways and versions; `make test` proves each shared way on one TensorFlow: inline ones are all other proofs."""
    chosen = {("module", "2"), ("package", "1.15")}
    return [
        pytest.param(helpers, marks=marks, id=f"{helpers}-{version}")
        for version, mark in (("2", pytest.mark.tf2), ("1.15", pytest.mark.tf1))
        for helpers in ("inline", *SHARED)
        for marks in [[mark] if (helpers, version) in chosen else [mark, pytest.mark.matrix]]
    ]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("helpers", proofs())
def test_proof(helpers: Helpers, tensorflow_python: str, tmp_path: Path) -> None:
    shutil.copy(FIXTURES / "raw_in_functions/single.py", tmp_path)
    single, multi = tmp_path / "single.py", tmp_path / "out/multi.py"
    multi.parent.mkdir()
    assert run("convert", single, "-o", multi, "--helpers", helpers, "--num-gpus", 3) == 0
    report = verify(single, multi, VerifySettings(python=tensorflow_python))
    assert (report.verdict, report.gpus) == ("passed", 3), report
    assert any(PACKAGE in note for note in report.notes) == (helpers == "package")


def test_the_page_has_the_figures_of_the_fixtures() -> None:
    """Lines of helpers, and of the script's own, in the median: within a tenth of what docs/helpers.md says."""
    helpers, own = [], []
    for multi in sorted(FIXTURES.glob("*/multi.py")):
        lines = multi.read_text().splitlines()
        begin = next((i for i, line in enumerate(lines) if line.startswith("# tf-multigpu: helpers")), None)
        end = next((i for i, line in enumerate(lines) if line.startswith("# tf-multigpu: end of helpers")), None)
        if begin is not None and end is not None:
            helpers.append(end - begin + 1)
            own.append(len(lines) - helpers[-1] - len(multi.with_name("single.py").read_text().splitlines()))
    module = len((ROOT / "runtime/tf_multigpu_runtime.py").read_text().splitlines())
    page = " ".join((ROOT / "docs/helpers.md").read_text().split())
    patterns = (r"\((\d+) lines in the median", r"where the module has (\d+)\)", r"same fixtures (\d+) are added")
    for pattern, figure in zip(patterns, (median(helpers), module, median(own)), strict=True):
        [told] = re.findall(pattern, page)
        assert abs(int(told) - figure) <= figure / 10, (pattern, figure)
