"""What the pages give to be copied: command lines are ones that the program takes, blocks of files can be read."""

from __future__ import annotations

import ast
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml
from _pytest.mark.structures import ParameterSet

from converter.cli.command_line.table import COMMANDS, CommandRow
from converter.cli.config.file import load
from converter.cli.config.layers import Layers
from converter.source.toml import parsed
from tests import goldens
from tests.cli.standins import given_by
from tests.test_docs import OTHERS, ROOT, TEXTS, flags
from tests.trees import nodes_of

TOOL = "tf-multigpu "
ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
ENTRIES = {hook["id"]: hook["entry"] for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())}
# A row of a table, or a sentence, may name a command without the program: `convert train.py -o FILE`.
WITHOUT_TOOL = re.compile(rf"({'|'.join(COMMANDS)}) \S")
# What stands for a number.
NUMBERS = {"N", "K", "US", "SECONDS", "GIB", "T"}
# Commands of the program itself, which the table of commands does not have.
OF_PROGRAM = ("--show-completion", "--install-completion", "--help-all", "COMMAND --help", "--version")


class Block(NamedTuple):
    """A fenced block of a page: its language, "" without one, and its text."""

    page: Path
    line: int
    language: str
    text: str


def blocks(page: Path) -> Iterator[Block]:
    text = page.read_text()
    for found in re.finditer(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        yield Block(page, text.count("\n", 0, found.start()) + 1, found[1], found[2])


def command_lines(page: Path) -> Iterator[str]:
    """The command lines of a page, in its blocks, its sentences and its tables."""
    text = page.read_text()
    for block in blocks(page):
        for line in block.text.splitlines():
            line = re.sub(r"^(\s*- run:|\$) ", "", line)
            if line.startswith(TOOL):
                yield re.split(r"\s#\s|\s>\s|\s\|\s", line)[0]
    text = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    for span in re.findall(r"`([^`\n]+)`", text):
        if span.startswith(TOOL) or WITHOUT_TOOL.match(span):
            yield TOOL + span.removeprefix(TOOL)


RULES = sorted((ROOT / "rules").rglob("*.md"))
LINES = sorted({(page.name, line) for page in (*TEXTS, *RULES) for line in command_lines(page)})


@pytest.mark.parametrize(("page", "line"), LINES, ids=[f"{page}:{line}" for page, line in LINES])
def test_every_command_line_is_one_that_the_program_takes(page: str, line: str) -> None:
    words = shlex.split(line.replace("…", "").replace("|", " "))[1:]
    if " ".join(words).startswith(OF_PROGRAM):
        return
    # In a usage line what may be left out stands in brackets.
    words = [word.strip("[]").removesuffix("...") for word in words if word not in ("[OPTIONS]", "or")]
    words = ["2" if word in NUMBERS else word for word in words]
    if all(word.startswith("-") for word in words[1:]):  # a command that is spoken of, not one to be copied
        words += [argument.name for argument in COMMANDS[words[0]].arguments]
    assert given_by(words) is not None, f"the program does not read: {words}"


@pytest.mark.parametrize("command", COMMANDS.values(), ids=list(COMMANDS))
def test_the_command_lines_of_the_helps_are_read(command: CommandRow) -> None:
    for line, _ in command.examples:
        assert given_by(shlex.split(line)[1:]) is not None, line


EVERY = [block for page in TEXTS for block in blocks(page)]


def of(language: str, page: str = "") -> list[ParameterSet]:
    found = (block for block in EVERY if block.language == language and page in ("", block.page.name))
    return [pytest.param(block, id=f"{block.page.name}:{block.line}") for block in found]


@pytest.mark.parametrize("block", of("toml"))
def test_every_table_is_one_that_the_configuration_takes(block: Block) -> None:
    held = load(str(block.page), block.text.encode())
    assert held is not None
    for command in (COMMANDS["convert"], COMMANDS["verify"]):
        Layers(command, {}, held).check()


@pytest.mark.parametrize("block", of("yaml"))
def test_every_workflow_and_every_hook_names_what_is_there(block: Block) -> None:
    held = yaml.safe_load(block.text)
    entries = held if isinstance(held, list) else held["repos"] if "repos" in held else held["jobs"].values()
    for entry in entries:
        if "black" in entry.get("repo", ""):
            continue
        for hook in entry.get("hooks", ()):
            words = [*shlex.split(ENTRIES[hook["id"]]), *hook.get("args", ())]
            assert given_by([*words[1:], "train.py"]) is not None
        for step in entry.get("steps", ()):
            if step.get("uses", "").endswith("tf-multigpu"):
                assert step["with"].keys() <= ACTION["inputs"].keys()


@pytest.mark.parametrize("block", of("diff"))
def test_every_diff_shows_lines_as_the_program_writes_them(block: Block) -> None:
    """Of a conversion among the fixtures, or of the script that the page speaks of."""
    made = [path.read_text() for path in goldens.FIXTURES.rglob("multi*.py")]
    written = {line.strip() for text in made for line in text.splitlines()}
    for line in block.text.splitlines():
        if line.startswith("+"):
            assert any(_like(line[1:].strip(), one) for one in written), line


def _like(shown: str, written: str) -> bool:
    """Whether two lines are the same but for the names of a script."""
    return re.sub(r"\w+", "x", shown.partition("  #")[0]) == re.sub(r"\w+", "x", written.partition("  #")[0])


def test_the_pages_have_the_blocks_that_are_looked_at() -> None:
    assert len(LINES) > 60 and {"toml", "yaml", "python", "diff"} <= {block.language for block in EVERY}


@pytest.mark.slow
@pytest.mark.tf2
@pytest.mark.parametrize("block", of("python", "api.md"))
def test_the_program_runs(block: Block, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_bytes((goldens.FIXTURES / "logistic_regression/single.py").read_bytes())
    program = block.text.replace("/opt/tf1.15/bin/python", sys.executable)
    assert program != block.text
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "passed" in done.stdout and (tmp_path / "out/train.py").is_file()


# Options in the program's texts that are not its own: of other programs, of users' scripts, and of the header.
NOT_OF_THE_TOOL = {
    *("--args", "--batch_size", "--flag", "--format", "--inplace", "--max_steps", "--model"),
    "--num_processes",
    *("--no", "--no-"),
    *("--checkpoint_dir", "--eval_dir", "--input_type", "--logtostderr", "--output_directory", "--trainer"),
    *("--pipeline_config_path", "--train_dir", "--trained_checkpoint_prefix"),
    *("--asked-batch", "--attributes", "--other-scripts", "--own-num-gpus", "--part-of"),
    *("--serve", "--serve-plain"),
    "--query-gpu",  # of nvidia-smi
}


def test_every_option_that_a_message_names_exists() -> None:
    texts = [
        node.value
        for folder in ("converter", "rules", "tf_multigpu")
        for path in (ROOT / folder).rglob("*.py")
        for node in nodes_of(path)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    texts += [page.read_text() for page in RULES]
    named = {flag for text in texts for flag in re.findall(r"(?<![\w-])--[a-z][\w-]*", text)}
    assert named - flags() - OTHERS == NOT_OF_THE_TOOL


def test_every_make_target_and_every_extra_that_a_page_names_exists() -> None:
    texts = [page.read_text() for page in TEXTS]
    targets = set(re.findall(r"^([a-z][\w.-]*):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    shown = "\n".join(block.text for block in EVERY if not block.language)
    made = {name for text in texts for name in re.findall(r"`make ([a-z][\w.]*)", text)}
    made |= set(re.findall(r"^make ([a-z][\w.]*)", shown, re.MULTILINE))
    assert {"demo", "quick", "docs"} <= made <= targets
    extras = parsed((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"].keys()
    groups = (found for text in texts for found in re.findall(r"(?:'\.|tf-multigpu)\[([\w,]+)\]", text))
    named = {extra for group in groups for extra in group.split(",")}
    assert {"verify", "report", "torch"} <= named <= extras
