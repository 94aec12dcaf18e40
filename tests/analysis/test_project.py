"""Other files of a project: where they are looked for, and what is not read."""

from __future__ import annotations

from pathlib import Path

import pytest

from converter.analysis.project import Project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    for name in ("net.py", "models/__init__.py", "models/vgg.py", "lib/ops.py", "broken.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("def f(:\n" if name == "broken.py" else "x = 1\n")
    return Project(str(tmp_path))


@pytest.mark.parametrize(
    ("module", "beside", "level", "wanted"),
    [
        ("net", "train.py", 0, "net.py"),
        ("models", "train.py", 0, "models/__init__.py"),
        ("models.vgg", "train.py", 0, "models/vgg.py"),
        ("vgg", "models/__init__.py", 0, "models/vgg.py"),
        ("vgg", "models/__init__.py", 1, "models/vgg.py"),
        ("net", "models/__init__.py", 2, "net.py"),
        ("vgg", "train.py", 0, None),
        ("ops", "train.py", 0, None),
        ("numpy", "train.py", 0, None),
    ],
)
def test_where_a_module_is_found(project: Project, module: str, beside: str, level: int, wanted: str | None) -> None:
    folder = Path(project.folder)
    found = project.find(module, str(folder / beside), level)
    assert found == (wanted and str(folder / wanted))


def test_folders_that_a_script_adds(project: Project) -> None:
    project.add_path("lib")
    assert project.find("ops", str(Path(project.folder) / "train.py"), 0) == str(Path(project.folder) / "lib/ops.py")
    project.add_path("/")
    assert project.paths == [str(Path(project.folder) / "lib")]


@pytest.mark.parametrize(("name", "read"), [("net.py", True), ("broken.py", False), ("missing.py", False)])
def test_what_can_be_read(project: Project, name: str, read: bool) -> None:
    assert (project.read(str(Path(project.folder) / name)) is not None) is read


def test_files_are_read_as_they_were_before_this_run(project: Project) -> None:
    path = str(Path(project.folder) / "net.py")
    found = Project(project.folder, {path: b"y = 2\n"}).read(path)
    assert found is not None and found[0] == b"y = 2\n"
