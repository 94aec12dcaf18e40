"""The GitHub action: its scripts, run as a runner runs them, and what action.yml says of them."""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml

pytestmark = [pytest.mark.programs, pytest.mark.one_test_in(2)]
ROOT = Path(__file__).resolve().parent.parent
SCRIPTS = ROOT / "tools/action"
TOOL = Path(sys.executable).with_name("tf-multigpu")
SINGLE = (ROOT / "fixtures/logistic_regression/single.py").read_bytes()
PAIRS = """\
[tool.tf-multigpu]
num-gpus = 4
pairs = [{source = "a/train.py", output = "a/multi.py"}, {source = "b/train.py", output = "b/multi.py"}]
"""


@dataclass(frozen=True)
class Step:
    """What one step of a job came to."""

    code: int
    log: str
    outputs: dict[str, str]
    summary: str


@dataclass(frozen=True)
class Job:
    """A repository in a runner's workspace."""

    folder: Path
    temporary: Path

    def git(self, *arguments: str) -> str:
        command = ["git", "-c", "user.name=Test", "-c", "user.email=test@example.org", *arguments]
        return subprocess.run(command, cwd=self.folder, check=True, capture_output=True, text=True).stdout.strip()

    def commit(self) -> str:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", "x")
        return self.git("rev-parse", "HEAD")

    def convert(self, *arguments: str) -> None:
        subprocess.run([TOOL, "convert", *arguments], cwd=self.folder, check=True, capture_output=True)

    def step(self, script: str = "check.py", below: str = ".", **inputs: str) -> Step:
        """Runs a script of the action with inputs and a runner's variables."""
        files = {name: self.temporary / name for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
        for path in files.values():
            path.write_text("")
        variables = {name: value for name, value in os.environ.items() if not name.startswith("GITHUB_")}
        variables |= {name: str(path) for name, path in files.items()}
        variables |= {"GITHUB_WORKSPACE": str(self.folder), "RUNNER_TEMP": str(self.temporary)}
        variables |= {"GITHUB_ACTION_PATH": str(ROOT), "TF_MULTIGPU": str(TOOL)} | inputs
        command = [str(SCRIPTS / script)] if script == "install" else [sys.executable, str(SCRIPTS / script)]
        done = subprocess.run(command, cwd=self.folder / below, env=variables, capture_output=True, text=True)
        outputs = dict(line.split("=", 1) for line in files["GITHUB_OUTPUT"].read_text().splitlines())
        return Step(done.returncode, done.stdout + done.stderr, outputs, files["GITHUB_STEP_SUMMARY"].read_text())


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = Job(tmp_path_factory.mktemp("template"), Path())
    for name in ("a", "b"):
        (made.folder / name).mkdir(parents=True)
        (made.folder / name / "train.py").write_bytes(SINGLE)
    (made.folder / "pyproject.toml").write_text(PAIRS)
    made.git("init", "--quiet")
    made.convert()
    made.commit()
    return made.folder


@pytest.fixture
def job(template: Path, tmp_path: Path) -> Job:
    """A repository with two pairs that are in step."""
    made = Job(tmp_path / "repository", tmp_path / "runner")
    made.temporary.mkdir()
    shutil.copytree(template, made.folder)
    return made


def test_all_is_well(job: Job) -> None:
    done = job.step()
    assert (done.code, done.outputs) == (0, {"status": "0", "checked": "2", "verified": "0"}), done.log
    assert "2 of 2 pairs" in done.log and "::error" not in done.log


def test_what_is_out_of_step_is_annotated_and_summed_up(job: Job) -> None:
    (job.folder / "a/train.py").write_bytes(SINGLE + b"# more\n")
    done = job.step()
    assert (done.code, done.outputs["status"]) == (1, "1")
    assert re.search(r"^::error file=a/multi\.py,line=1,col=1,title=tf-multigpu TMG011::", done.log, re.M)
    assert re.search(r"^::error file=a/train\.py,", done.log, re.M)
    assert "#### Not up to date" in done.summary and "#### Refused" not in done.summary
    assert "TMG011" in done.summary and "- to write it: `tf-multigpu convert a/train.py -o a/multi.py`" in done.summary
    assert not re.search(r"^::error file=b/", done.log, re.M)


def test_annotations_name_files_from_the_repository(job: Job) -> None:
    (job.folder / "a/pyproject.toml").write_text("[tool.tf-multigpu]\npairs = [{source='train.py', output='new.py'}]\n")
    done = job.step(below="a", TF_MULTIGPU_PATHS="")
    assert done.code == 1
    assert re.search(r"^::error file=a/train\.py,", done.log, re.M)
    # Of a folder of its own, and of pairs that a configuration above names.
    (job.folder / "a/pyproject.toml").unlink()
    (job.folder / "a/train.py").write_bytes(SINGLE + b"# more\n")
    (job.folder / "b/train.py").write_bytes(SINGLE + b"# more\n")
    done = job.step(below="a", TF_MULTIGPU_PATHS=".\n ../b \n")
    assert set(re.findall(r"^::error file=([^,]*),", done.log, re.M)) == {
        *("a/multi.py", "a/train.py", "b/multi.py", "b/train.py")
    }  # fmt: skip


def test_names_with_blanks_and_letters_beyond_ascii(job: Job) -> None:
    folder = job.folder / "my mödels, 1"
    folder.mkdir()
    (folder / "träin me.py").write_bytes(SINGLE)
    pair = 'pairs = [{source = "my mödels, 1/träin me.py", output = "my mödels, 1/mg.py"}]'
    (job.folder / "pyproject.toml").write_text(f"[tool.tf-multigpu]\n{pair}\n")
    job.convert()
    assert job.step(TF_MULTIGPU_PATHS=" my mödels, 1 \n").outputs == {"status": "0", "checked": "1", "verified": "0"}
    (folder / "träin me.py").write_bytes(SINGLE + b"# more\n")
    done = job.step(TF_MULTIGPU_PATHS="")
    assert done.code == 1 and "::error file=my mödels%2C 1/träin me.py,title=" in done.log
    assert "to write it: `tf-multigpu convert 'my mödels, 1/träin me.py' -o 'my mödels, 1/mg.py'`" in done.summary


def test_changed_pairs_alone(job: Job) -> None:
    base = job.git("rev-parse", "HEAD")
    (job.folder / "notes.txt").write_text("x\n")
    job.commit()
    inputs = {"TF_MULTIGPU_CHANGED_ONLY": "true", "TF_MULTIGPU_BASE": base}
    assert job.step(**inputs).outputs["checked"] == "0"
    (job.folder / "b/net.py").write_text("x = 1\n")
    job.commit()
    assert job.step(**inputs).outputs["checked"] == "1"
    (job.folder / "pyproject.toml").write_text(PAIRS + "strict = true\n")
    job.commit()
    assert job.step(**inputs).outputs["checked"] == "2"


@pytest.mark.parametrize("name", ["pull_request", "push"])
def test_the_event_says_what_to_compare_with(job: Job, name: str) -> None:
    base = job.git("rev-parse", "HEAD")
    (job.folder / "a/train.py").write_bytes(SINGLE + b"# more\n")
    job.commit()
    event = {"pull_request": {"base": {"sha": base}}} if name == "pull_request" else {"before": base}
    (job.temporary / "event.json").write_text(json.dumps(event))
    done = job.step(TF_MULTIGPU_CHANGED_ONLY="true", GITHUB_EVENT_PATH=str(job.temporary / "event.json"))
    assert (done.code, done.outputs["checked"]) == (1, "1")


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("event", "said"),
    [({}, "::notice::all pairs"), ({"before": "0" * 40}, "::notice::all"), ({"before": "1" * 40}, "::warning::all")],
)
def test_where_nothing_can_be_compared_all_is_looked_at(job: Job, event: dict[str, str], said: str) -> None:
    (job.temporary / "event.json").write_text(json.dumps(event))
    done = job.step(TF_MULTIGPU_CHANGED_ONLY="true", GITHUB_EVENT_PATH=str(job.temporary / "event.json"))
    assert (done.code, done.outputs["checked"]) == (0, "2") and said in done.log


@pytest.mark.parametrize(
    ("inputs", "table", "said"),
    [
        ({"TF_MULTIGPU_VERIFY": "yes"}, "", "::error::the input verify is true or false, not yes"),
        ({}, "num-gpu = 2\n", "TMG033 unknown key num-gpu"),
    ],
)
def test_what_cannot_be_followed(job: Job, inputs: dict[str, str], table: str, said: str) -> None:
    (job.folder / "pyproject.toml").write_text("[tool.tf-multigpu]\n" + table)
    done = job.step(**inputs)
    assert (done.code, done.outputs["status"]) == (2, "2") and said in done.log


def test_pairs_are_verified(job: Job) -> None:
    """With a stand-in for the tool: its verification is tested elsewhere."""
    tool = job.temporary / "tool"
    tool.write_text(
        f"#!{sys.executable}\nimport os, sys\n"
        "if sys.argv[1] == 'verify':\n"
        "    print(' '.join(sys.argv[1:])); sys.exit(3 if 'b/train.py' in sys.argv else 0)\n"
        f"os.execv({str(TOOL)!r}, sys.argv)\n"
    )
    tool.chmod(tool.stat().st_mode | stat.S_IXUSR)
    done = job.step(TF_MULTIGPU=str(tool), TF_MULTIGPU_VERIFY="true", TF_MULTIGPU_PYTHON="py")
    assert "verify a/train.py a/multi.py --python py --output-format github" in done.log
    assert (done.code, done.outputs) == (3, {"status": "3", "checked": "2", "verified": "1"})


def test_a_repository_without_anything_to_check(job: Job) -> None:
    (job.folder / "pyproject.toml").unlink()
    done = job.step(TF_MULTIGPU_PATHS="")
    assert done.code == 0 and "::warning::there is nothing to check" in done.log


@pytest.mark.slow
def test_it_installs_itself(job: Job, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    # Tests ask no registry: what --version needs is found where these tests have it.
    offline = {"PIP_NO_INDEX": "1", "PIP_NO_DEPS": "1", "TF_MULTIGPU_PACKAGE": str(wheel)}
    done = job.step("install", **offline, PYTHONPATH=str(Path(typer.__file__).parents[1]))
    assert done.code == 0, done.log
    assert Path(done.outputs["tool"]).is_file() and "tf-multigpu " in done.log


# --- action.yml --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def action() -> Any:
    return yaml.safe_load((ROOT / "action.yml").read_text())


def test_its_parts_are_those_of_a_composite_action(action: Any) -> None:
    """As https://docs.github.com/en/actions/reference/metadata-syntax-for-github-actions has them."""
    assert action.keys() == {"name", "description", "author", "branding", "inputs", "outputs", "runs"}
    assert action["runs"].keys() == {"using", "steps"} and action["runs"]["using"] == "composite"
    for part in action["inputs"].values():
        assert part.keys() <= {"description", "required", "default", "deprecationMessage"}
        assert all(isinstance(value, str) for value in part.values())
    for part in action["outputs"].values():
        assert part.keys() == {"description", "value"}
    for step in action["runs"]["steps"]:
        assert step.keys() <= {"name", "id", "if", "shell", "run", "env", "working-directory", "uses", "with"}
        assert ("run" in step) == ("shell" in step) and ("run" in step) != ("uses" in step)


def test_what_it_names_is_there(action: Any) -> None:
    text = (ROOT / "action.yml").read_text()
    assert set(re.findall(r"inputs\.([\w-]+)", text)) == action["inputs"].keys()
    ids = {step["id"] for step in action["runs"]["steps"]}
    assert {step for step, _ in re.findall(r"steps\.(\w+)\.outputs\.(\w+)", text)} <= ids
    scripts = re.findall(r"\$GITHUB_ACTION_PATH/([\w/.]+)", text)
    assert scripts and all((ROOT / script).is_file() for script in scripts)
    assert os.access(SCRIPTS / "install", os.X_OK)


def test_no_input_becomes_a_part_of_a_command(action: Any) -> None:
    """A pull request may choose them; as environment variables they are data."""
    assert not any("${{" in step["run"] for step in action["runs"]["steps"])


def test_its_variables_are_those_that_the_scripts_read(action: Any) -> None:
    given = {name for step in action["runs"]["steps"] for name in step["env"]}
    read = set(
        re.findall(
            r"TF_MULTIGPU(?:_[A-Z_]+)?\b", (SCRIPTS / "check.py").read_text() + (SCRIPTS / "install").read_text()
        )
    )
    switches = {"TF_MULTIGPU_VERIFY", "TF_MULTIGPU_CHANGED_ONLY"}  # by their inputs' names
    assert given == (read | switches) - {"TF_MULTIGPU_"}
