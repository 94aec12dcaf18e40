"""The first commands of a new user work from a checkout, and no page promises what is not published."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
COMMAND = re.compile(r"^((?:make|pip|pipx|uv) [^#\n]*?)\s*(?:#.*)?$", re.MULTILINE)
CONVERT = "tf-multigpu convert fixtures/logistic_regression/single.py -o multi.py"
# The commands of the pages, and what works after each of them in a clean environment.
COMMANDS = {
    "make demo": "test -s build/demo/report.html && .venv/bin/tf-multigpu --version",
    "make test": ".venv/bin/tf-multigpu --version",
    "pip install .": CONVERT,
    "pipx install .": CONVERT,
    "uv tool install .": CONVERT,
    "pip install '.[verify]'": f"{CONVERT} --verify",
    "pip install '.[verify,report]'": f"{CONVERT} --verify --html report.html && test -s report.html",
    "pip install ./runtime": "pip show --files tf-multigpu-runtime | grep -q tf_multigpu_runtime.py",
}
TEXTS = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "action.yml", ".pre-commit-hooks.yaml")),
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / ".github").rglob("*.yml")),
    ROOT / "runtime/README.md",
    *(path for room in ("converter", "rules") for path in sorted((ROOT / room).rglob("*.py"))),
    *sorted((ROOT / "rules").rglob("*.md")),
]
PROMISE = re.compile(
    r"""(?:pipx?|uv\ tool|uv\ pip)\ (?:install|run)\ [^\n`]*(?<![./\w])tf[-_]multigpu  # from a registry
    | uvx\ [^\n`]*tf-multigpu
    | package:\ ['"]?tf-multigpu
    | rev:\ ['"]?v\d                   # a tag
    | /tf-multigpu@                    # a published action
    | https://\S*/tf-multigpu          # a repository
    """,
    re.VERBOSE,
)


def commands_of(page: str) -> list[str]:
    """The commands in a page's blocks that install the package, or make something."""
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", (ROOT / page).read_text(), re.MULTILINE | re.DOTALL)
    return [command for language, block in blocks if not language for command in COMMAND.findall(block)]


@pytest.mark.parametrize(
    ("page", "wanted"),
    [
        (
            "README.md",
            ["make demo", "make test", "pip install .", "pipx install .", "uv tool install .",
             "pip install '.[verify,report]'"],
        ),
        (
            "docs/start.md",
            ["make demo", "make test", "pip install .", "pipx install .", "uv tool install .",
             "pip install '.[verify]'"],
        ),
        ("docs/helpers.md", ["pip install ./runtime"]),
    ],
)  # fmt: skip
def test_the_commands_of_a_page_are_those_that_are_tried(page: str, wanted: list[str]) -> None:
    assert commands_of(page) == wanted
    assert COMMANDS.keys() >= set(wanted)


def test_the_first_command_of_the_readme_needs_no_registry() -> None:
    assert commands_of("README.md")[0] == "make demo"


@pytest.mark.programs
@pytest.mark.parametrize("target", ["demo", "test"])
def test_make_has_the_target(target: str) -> None:
    done = subprocess.run(["make", "--dry-run", target], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_nothing_is_promised_that_is_not_published() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {promise[0]}" for path in TEXTS for promise in PROMISE.finditer(path.read_text())
    ]
    assert found == []


@pytest.mark.parametrize(
    ("text", "promises"),
    [
        ("pip install tf-multigpu", True),
        ("pip install --upgrade 'tf-multigpu[verify]'", True),
        ("pipx install tf-multigpu", True),
        ("pipx run tf-multigpu convert", True),
        ("uv tool install tf-multigpu", True),
        ("uvx tf-multigpu --version", True),
        ("pip install tf-multigpu-runtime", True),
        ("          package: tf-multigpu[verify]", True),
        ("    rev: v0.2.0", True),
        ("      - uses: OWNER/tf-multigpu@v0.2.0", True),
        ("  - repo: https://github.com/OWNER/tf-multigpu", True),
        ("pip install .", False),
        ("pip install '.[verify]'", False),
        ("pip install ./tf-multigpu", False),
        ("          package: ./.tf-multigpu[verify]", False),
        ("      - uses: ./.tf-multigpu", False),
        ("  - repo: ../tf-multigpu", False),
        ("    rev: 0123abc", False),
        ("pip install jinja2\ntf-multigpu convert train.py", False),
    ],
)
def test_what_promises_something(text: str, promises: bool) -> None:
    assert bool(PROMISE.search(text)) is promises


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of the checkout as it is fetched, without what was built in it."""
    folder = tmp_path / "checkout"
    built = (".git", ".venv*", "build", "dist", "__pycache__", ".*_cache", ".hypothesis", "*.egg-info")
    shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(*built))
    return folder


@pytest.fixture
def variables(tmp_path: Path) -> dict[str, str]:
    """A clean environment: a new virtual environment for pip, pipx and uv in another one, their tools in neither."""
    for name in ("clean", "installers"):
        venv.create(tmp_path / name, with_pip=True)
    subprocess.run([tmp_path / "installers/bin/pip", "install", "--quiet", "pipx", "uv"], check=True)
    places = ["clean/bin", "tools", "installers/bin"]
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    return kept | {
        "PATH": os.pathsep.join([*(str(tmp_path / place) for place in places), os.environ["PATH"]]),
        "PIPX_HOME": str(tmp_path / "pipx"),
        "PIPX_BIN_DIR": str(tmp_path / "tools"),
        "UV_TOOL_DIR": str(tmp_path / "uv"),
        "UV_TOOL_BIN_DIR": str(tmp_path / "tools"),
        "UV_PYTHON": sys.executable,
    }


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.programs
@pytest.mark.parametrize("command", COMMANDS)
def test_the_command_works_in_a_clean_environment(command: str, checkout: Path, variables: dict[str, str]) -> None:
    line = command
    if command == "make test":  # all that it sets up, and its tests by name: they run wherever this one does
        line = "make test PYTEST='.venv/bin/python -m pytest --collect-only --quiet'"
    try:
        for each in (line, COMMANDS[command]):
            done = subprocess.run(
                ["bash", "-c", each], cwd=checkout, env=variables, capture_output=True, text=True, timeout=3600
            )
            assert done.returncode == 0, f"{each}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    finally:
        shutil.rmtree(checkout)
