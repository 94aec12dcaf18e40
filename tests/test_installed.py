"""The package as it is installed: one name, beside distributions that are called like its parts."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import venv
from dataclasses import dataclass, field
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.goldens import FIXTURES
from tests.scripts import as_written_by
from tools.one_package import rewritten

pytestmark = [pytest.mark.programs, pytest.mark.one_test_in(2)]
ROOT = Path(__file__).resolve().parent.parent
SINGLE = FIXTURES / "logistic_regression/single.py"
PARTS = ("converter", "rules")
# What imports TensorFlow, or runs beside it under other names.
BESIDE = (".runtime.", ".child.")


@dataclass(frozen=True)
class Installed:
    """An environment with the package and with distributions named `converter` and `rules`."""

    python: str
    variables: dict[str, str] = field(default_factory=dict)

    def run(self, *arguments: str, cwd: Path = ROOT.parent) -> str:
        command = [self.python, *arguments]
        variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | self.variables
        done = subprocess.run(command, cwd=cwd, env=variables, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout


def build(kind: str, root: Path, folder: Path) -> Path:
    command = [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(folder)]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (path,) = folder.glob("tf_multigpu-*.whl" if kind == "wheel" else "tf_multigpu-*.tar.gz")
    return path


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("wheel", ROOT, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    return environment_with(wheel, tmp_path_factory.mktemp("installed"))


def environment_with(wheel: Path, folder: Path) -> Installed:
    """A new environment with the package, and with distributions that are called like its parts."""
    venv.create(folder / "venv", with_pip=False)
    python = folder / "venv/bin/python"
    neighbours = [neighbour(name, folder) for name in PARTS]
    command = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-index", "--no-deps"]
    subprocess.run([*command, str(wheel), *neighbours], check=True)
    # Dependencies come from the environment of the tests; .pth files in there, and so the checkout, are not read.
    (site,) = (folder / "venv/lib").glob("python*/site-packages")
    lines = [path for path in sys.path if Path(path).name == "site-packages"]
    (site / "zz_dependencies.pth").write_text("\n".join(lines))
    return Installed(str(python))


def neighbour(name: str, folder: Path) -> str:
    """The wheel of a distribution that has this name, and a package of this name."""
    path = folder / f"{name}-1.0-py3-none-any.whl"
    info = f"{name}-1.0.dist-info"
    with ZipFile(path, "w") as archive:
        archive.writestr(f"{name}/__init__.py", "MINE = True\n")
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    return str(path)


@pytest.fixture
def hostile(installed: Installed, tmp_path: Path) -> Installed:
    """With modules on PYTHONPATH that end whoever imports them."""
    folder = tmp_path / "hostile"
    (folder / "converter").mkdir(parents=True)
    for path in (folder / "converter/__init__.py", folder / "rules.py"):
        path.write_text("raise SystemExit('imported the wrong module')\n")
    return Installed(installed.python, {"PYTHONPATH": str(folder)})


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with a training script, and with modules of its own that are called like the package's parts."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "train.py").write_bytes(SINGLE.read_bytes())
    (folder / "pyproject.toml").write_bytes((SINGLE.parent.parent / "pyproject.toml").read_bytes())
    (folder / "rules.py").write_text("raise SystemExit('imported the wrong module')\n")
    return folder


def test_the_wheel_has_one_name_at_the_top(wheel: Path) -> None:
    with ZipFile(wheel) as archive:
        tops = {name.split("/")[0] for name in archive.namelist()}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"tf_multigpu"}


def test_every_module_imports_and_none_from_elsewhere(installed: Installed) -> None:
    program = (
        "import pkgutil, sys, tf_multigpu\n"
        "from importlib import import_module\n"
        "names = [m.name for m in pkgutil.walk_packages(tf_multigpu.__path__, 'tf_multigpu.')]\n"
        f"names = [n for n in names if not any(part in n + '.' for part in {BESIDE!r}) or n.endswith('.catalog')]\n"
        "for name in names:\n"
        "    name.endswith('__main__') or import_module(name)\n"
        "print(len(names), sorted(set(sys.modules) & {'converter', 'rules'}))\n"
    )
    count, others = installed.run("-c", program).split(maxsplit=1)
    assert int(count) > 150 and others.strip() == "[]"


def test_neighbours_keep_their_names(installed: Installed) -> None:
    assert installed.run("-c", "import converter, rules; print(converter.MINE, rules.MINE)") == "True True\n"


@pytest.mark.parametrize("way", ["command", "module"])
def test_it_converts_as_the_checkout_does(hostile: Installed, project: Path, way: str) -> None:
    tool = [str(Path(hostile.python).with_name("tf-multigpu"))] if way == "command" else ["-m", "tf_multigpu"]
    said = hostile.run(*tool, "convert", "train.py", "-o", "out.py", cwd=project)
    golden = as_written_by("train.py -o out.py", SINGLE.with_name("multi.py"))
    assert (project / "out.py").read_bytes() == golden.replace(b"from single.py", b"from train.py", 1)
    assert said == ""


def test_rules_are_found(hostile: Installed) -> None:
    from converter.rule import all_rules

    assert len(hostile.run("-m", "tf_multigpu", "rules").splitlines()) == len(all_rules())
    assert "TMG101" in hostile.run("-m", "tf_multigpu", "explain", "TMG101")


def test_several_processes_convert_a_folder(hostile: Installed, project: Path) -> None:
    for number in range(4):
        (project / f"train_{number}.py").write_bytes(SINGLE.read_bytes())
    hostile.run("-m", "tf_multigpu", "convert", ".", "-o", "out/", "--jobs", "2", cwd=project)
    assert b"num_gpus = 2" in (project / "out/train_3.py").read_bytes()


@pytest.mark.slow
@pytest.mark.tf2
def test_it_verifies(hostile: Installed, project: Path) -> None:
    hostile.run("-m", "tf_multigpu", "convert", "train.py", "-o", "out.py", cwd=project)
    page = project / "page.html"
    said = hostile.run("-m", "tf_multigpu", "verify", "train.py", "out.py", "--html", str(page), cwd=project)
    assert "passed" in said.lower() and "<html" in page.read_text()


def test_programs_call_it(hostile: Installed, project: Path) -> None:
    program = (
        "import tf_multigpu as t\n"
        "done = t.convert('train.py', num_gpus=4)\n"
        "print(done.status, 'num_gpus = 4' in done.text, [f.path for f in done.files], t.__version__)\n"
    )
    from converter import __version__

    assert hostile.run("-c", program, cwd=project).strip() == f"converted True ['train.py'] {__version__}"


@pytest.mark.matrix
def test_a_source_archive_makes_the_same_wheel(wheel: Path, tmp_path: Path) -> None:
    archive = build("sdist", ROOT, tmp_path)
    with tarfile.open(archive) as tar:
        tar.extractall(tmp_path, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))  # from 3.11.4
    (root,) = (path for path in tmp_path.iterdir() if path.is_dir())
    assert contents(build("wheel", root, tmp_path / "again")) == contents(wheel)


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="an unpacked source archive lists no files")
def test_a_source_archive_has_all_that_the_tests_need(tmp_path: Path) -> None:
    """All but the records of conversions below fixtures, which tests write anew, and what a server runs."""
    with tarfile.open(build("sdist", ROOT, tmp_path)) as tar:
        packed = {name.partition("/")[2] for name in tar.getnames()}
    done = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True)
    tracked = {name for name in done.stdout.split("\0") if name}
    left_out = {name for name in tracked - packed if not name.endswith("/.tf-multigpu.sha256")}
    assert {Path(name).parts[0] for name in left_out} <= {".ci"}


def contents(wheel: Path) -> dict[str, bytes]:
    with ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_an_editable_install_has_the_checkout_on_the_path(tmp_path: Path) -> None:
    program = f"from hatchling.build import build_editable; print(build_editable({str(tmp_path)!r}))"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    with ZipFile(tmp_path / done.stdout.split()[-1]) as archive:
        files = [name for name in archive.namelist() if ".dist-info/" not in name]
        (name,) = files
        assert archive.read(name).decode().strip() == str(ROOT)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"from converter.plan import Plan\n", b"from tf_multigpu.converter.plan import Plan\n"),
        (b"def f():\n    import rules\n", b"def f():\n    from tf_multigpu import rules\n"),
        (b"import converter.plan as plan\n", b"import tf_multigpu.converter.plan as plan\n"),
        (b"x = '\xc3\xa9'; from rules import nn\n", b"x = '\xc3\xa9'; from tf_multigpu.rules import nn\n"),
        (b'"""from converter import x"""\n', b'"""from converter import x"""\n'),
        (b"import converters, rules_of\nfrom ruleset import rules\n",) * 2,
        (b"from tf_multigpu.api import convert\n",) * 2,
        (b"names = ['rules', 'converter']\n",) * 2,
    ],
)
def test_imports_are_rewritten(before: bytes, after: bytes) -> None:
    assert rewritten(before, "x.py") == after


@pytest.mark.parametrize(
    "source",
    [
        b"import converter.plan\n",
        b"import ast, rules\n",
        b"body = 'converter.cli.convert:convert_command'\n",
        b"x = import_module(f'rules.{name}')\n",
    ],
)
def test_what_cannot_be_rewritten_stops_the_build(source: bytes) -> None:
    with pytest.raises(ValueError, match=r"^x\.py:1: "):
        rewritten(source, "x.py")


@pytest.mark.matrix
def test_a_build_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    build("wheel", ROOT, tmp_path / "dist")
    assert [path.name for path in tmp_path.iterdir()] == ["dist"]
