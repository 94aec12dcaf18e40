"""The hooks, run by the real pre-commit on a repository of their own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
SHIPPED = (
    *("tf_multigpu", "converter", "rules", "tools", "pyproject.toml", "README.md", "LICENSE"),
    ".pre-commit-hooks.yaml",
)
SINGLE = ROOT / "fixtures/logistic_regression/single.py"
CONFIG = """\
repos:
- repo: {repository}
  rev: {revision}
  hooks:
  - id: tf-multigpu-check
  - id: tf-multigpu-pairs
  - id: tf-multigpu-convert
    args: [--num-gpus, "4"]
    files: ^train/
"""


@dataclass(frozen=True)
class Repository:
    """A git repository, and what its commands run with."""

    folder: Path
    variables: dict[str, str]

    def git(self, *arguments: str) -> str:
        command = ["git", "-c", "user.name=Test", "-c", "user.email=test@example.org", *arguments]
        done = subprocess.run(command, cwd=self.folder, env=self.variables, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def commit_all(self) -> str:
        self.git("init", "--quiet")
        self.git("add", "--all")
        self.git("commit", "--quiet", "--no-verify", "--message", "x")
        return self.git("rev-parse", "HEAD")

    def hook(self, name: str, *arguments: str) -> tuple[int, str]:
        """Runs one hook on what is staged, or as the arguments say."""
        command = [sys.executable, "-m", "pre_commit", "run", name, *arguments]
        done = subprocess.run(command, cwd=self.folder, env=self.variables, capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    def convert(self, *arguments: str) -> None:
        command = [sys.executable, "-m", "tf_multigpu", "convert", *arguments]
        variables = self.variables | {"PYTHONPATH": str(ROOT)}
        done = subprocess.run(command, cwd=self.folder, env=variables, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """Uses the hooks of this checkout as it stands, committed or not."""
    variables = os.environ | {
        "PRE_COMMIT_HOME": str(tmp_path / "cache"),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
    }
    for name in ("GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE", "PYTHONPATH", "PYTHONHOME"):
        variables.pop(name, None)
    hooks = tmp_path / "tf-multigpu"
    hooks.mkdir()
    for name in SHIPPED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, hooks / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, hooks / name)
    revision = Repository(hooks, variables).commit_all()
    used = Repository(tmp_path / "used", variables)
    (used.folder / "train").mkdir(parents=True)
    config = CONFIG.format(repository=hooks, revision=revision)
    (used.folder / ".pre-commit-config.yaml").write_text(config)
    (used.folder / "train/__init__.py").touch()
    (used.folder / "train/model.py").write_text("import tensorflow as tf\n\n\ndef net(x):\n    return x\n")
    (used.folder / "tools.py").write_text("import os\n")
    (used.folder / "notes.txt").write_text("tensorflow\n")
    used.commit_all()
    return used


@pytest.mark.slow
def test_both_hooks(repository: Repository) -> None:
    # One test for both: pre-commit takes its time to install them.
    code, said = repository.hook("tf-multigpu-convert", "--all-files")
    assert code == 0, said
    code, said = repository.hook("tf-multigpu-check", "--all-files")
    assert code == 0, said
    convert_hook_converts_in_place(repository)
    check_hook_compares_with_the_source(repository)
    pairs_hook_holds_outputs_in_step(repository)


def convert_hook_converts_in_place(repository: Repository) -> None:
    script = repository.folder / "train/train.py"
    shutil.copy(SINGLE, script)
    repository.git("add", "--all")
    code, said = repository.hook("tf-multigpu-convert")
    assert (code, "files were modified by this hook" in said) == (1, True), said
    assert "converted from train.py sha256:" in script.read_text()
    assert "with --num-gpus 4 --batch per-gpu" in script.read_text()
    repository.git("add", "--all")
    code, said = repository.hook("tf-multigpu-convert")
    assert code == 0, said
    script.write_text('import tensorflow as tf\nprint "x"\nf""\n')
    repository.git("add", "--all")
    code, said = repository.hook("tf-multigpu-convert")
    assert code == 0, said  # it is said with --verbose
    code, said = repository.hook("tf-multigpu-convert", "--verbose")
    assert (code, "train/train.py:2:1: TMG004 " in said) == (0, True), said
    (repository.folder / "pyproject.toml").write_text('[tool.tf-multigpu]\nrefused = "fail"\n')
    repository.git("add", "--all")
    code, said = repository.hook("tf-multigpu-convert")
    assert (code, "train/train.py:2:1: TMG004 " in said) == (1, True), said
    repository.git("rm", "--quiet", "--force", "pyproject.toml")
    shutil.copy(SINGLE, script)
    repository.convert("train/train.py", "--in-place", "--num-gpus", "2")  # and the hook's args say 4
    repository.git("add", "--all")
    code, said = repository.hook("tf-multigpu-convert")
    assert (code, "train/train.py:1:1: TMG021 converted before with --num-gpus 2" in said) == (1, True), said
    script.unlink()


def check_hook_compares_with_the_source(repository: Repository) -> None:
    single, multi = repository.folder / "single.py", repository.folder / "out/multi.py"
    multi.parent.mkdir()
    shutil.copy(SINGLE, single)
    repository.convert("single.py", "-o", "out/multi.py", "--batch", "total")
    repository.commit_all()
    code, said = repository.hook("tf-multigpu-check", "--all-files")
    assert code == 0, said
    single.write_text(single.read_text() + "# more\n")
    repository.git("add", "single.py")
    code, said = repository.hook("tf-multigpu-check")
    assert (code, "multi.py:" in said, "TMG011 not up to date" in said) == (1, True, True), said
    repository.convert("single.py", "-o", "out/multi.py", "--batch", "total")
    repository.git("add", "--all")
    code, said = repository.hook("tf-multigpu-check")
    assert code == 0, said
    multi.write_text(multi.read_text() + "# by hand\n")
    repository.git("add", "--all")
    code, said = repository.hook("tf-multigpu-check")
    assert (code, "edited by hand" in said) == (1, True), said


def pairs_hook_holds_outputs_in_step(repository: Repository) -> None:
    (repository.folder / "pyproject.toml").write_text(
        '[tool.tf-multigpu]\nbatch = "total"\npairs = [{source = "single.py", output = "out/multi.py"}]\n'
    )
    repository.convert("single.py", "-o", "out/multi.py", "--force")
    repository.commit_all()
    code, said = repository.hook("tf-multigpu-pairs", "--all-files")
    assert code == 0, said
    (repository.folder / "single.py").write_text((repository.folder / "single.py").read_text() + "# and more\n")
    repository.git("add", "--all")
    code, said = repository.hook("tf-multigpu-pairs")
    assert (code, "single.py: would change, for out/multi.py" in said) == (1, True), said
