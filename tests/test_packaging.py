"""What gets installed: the two packages, whole, with few dependencies, one command and one version number."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from email.message import Message
from email.parser import Parser
from pathlib import Path
from zipfile import ZipFile

import pytest

import converter

pytestmark = pytest.mark.programs
ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ZipFile]:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (path,) = folder.glob("*.whl")
    with ZipFile(path) as archive:
        yield archive


@pytest.fixture(scope="module")
def metadata(wheel: ZipFile) -> Message:
    (name,) = (name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
    return Parser().parsestr(wheel.read(name).decode())


def required(metadata: Message, extra: str | None) -> set[str]:
    """The names of what an extra, or the core when None, depends on."""
    pattern = r"([\w.-]+)[^;]*" + (rf"; extra == '{extra}'" if extra else "")
    matches = (re.fullmatch(pattern, line) for line in metadata.get_all("Requires-Dist", []))
    return {match.group(1) for match in matches if match}


def test_one_package_holds_all(wheel: ZipFile) -> None:
    here = {
        path.relative_to(ROOT).as_posix().removeprefix("tf_multigpu/")
        for name in ("tf_multigpu", "converter", "rules")
        for path in (ROOT / name).rglob("*.*")
        if path.suffix in (".py", ".md", ".j2", ".typed", ".json")
    }
    shipped = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert shipped == {f"tf_multigpu/{name}" for name in here}


def test_the_code_that_runs_elsewhere_is_shipped_as_it_is(wheel: ZipFile) -> None:
    paths = sorted((ROOT / "converter/verify/child").rglob("*.py"))
    assert len(paths) > 10
    for path in paths:
        assert wheel.read(f"tf_multigpu/{path.relative_to(ROOT).as_posix()}") == path.read_bytes()


def test_the_version_stands_in_one_place(metadata: Message) -> None:
    assert metadata["Version"] == converter.__version__
    assert "version =" not in (ROOT / "pyproject.toml").read_text().split("[tool.")[0]


def test_all_that_is_published_names_the_version_and_its_day() -> None:
    version = converter.__version__
    heading = re.search(r"^## (\S+) - (\d{4}-\d\d-\d\d)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert heading is not None and heading[1] == version
    citation = (ROOT / "CITATION.cff").read_text()
    assert f"\nversion: {version}\ndate-released: {heading[2]}\n" in citation
    assert f"\n__version__ = '{version}'\n" in (ROOT / "runtime/tf_multigpu_runtime.py").read_text()


def test_each_hook_can_be_named_in_a_configuration() -> None:
    page = (ROOT / "docs/configuration.md").read_text()
    hooks = re.findall(r"^- id: (\S+)$", (ROOT / ".pre-commit-hooks.yaml").read_text(), re.MULTILINE)
    block = re.search(r"```yaml\n(repos:.*?)```", page, re.DOTALL)
    assert block is not None and hooks == re.findall(r"- id: (\S+)", block[1])


def test_the_core_depends_on_four_packages(metadata: Message) -> None:
    assert required(metadata, None) == {"black", "libcst", "pathspec", "typer"}


def test_tensorflow_comes_only_with_verify(metadata: Message) -> None:
    assert required(metadata, "verify") == {"scikit-learn", "tensorflow", "tf-keras", "tf-slim"}


def test_what_pages_are_made_with_comes_only_with_report(metadata: Message) -> None:
    assert required(metadata, "report") == {"jinja2", "matplotlib"}


def test_the_page_is_shipped(wheel: ZipFile) -> None:
    assert "tf_multigpu/converter/report/page/page.html.j2" in wheel.namelist()


def test_python_3_10_and_up(metadata: Message) -> None:
    assert metadata["Requires-Python"] == ">=3.10"
    named = [line.rpartition(" :: ")[2] for line in metadata.get_all("Classifier", []) if ":: Python ::" in line]
    assert named == ["Only", *(f"3.{minor}" for minor in range(10, 14))]


def test_the_licence_is_shipped(wheel: ZipFile, metadata: Message) -> None:
    assert metadata["License-Expression"] == "Apache-2.0"
    assert any(name.endswith("licenses/LICENSE") for name in wheel.namelist())


def test_the_command(wheel: ZipFile) -> None:
    (name,) = (name for name in wheel.namelist() if name.endswith("entry_points.txt"))
    assert "tf-multigpu = tf_multigpu.__main__:main" in wheel.read(name).decode()
