"""The documentation: links that lead somewhere, options that the program has, diffs of real conversions."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from html import unescape
from pathlib import Path

import pytest

from converter.cli.command_line.table import COMMANDS, HELP, HELP_ALL, PROGRAM
from converter.rule import all_rules
from tools.command_docs import page as commands_page
from tools.site_hooks import conversion, on_page_markdown, pages
from tools.stops import filled, script_of, stale
from tools.terminal import SCRIPT

ROOT = Path(__file__).resolve().parent.parent
RULE_PAGES = pages(all_rules())  # made when the site is built
PAGES = sorted((ROOT / "docs").glob("*.md"))
TEXTS = [*PAGES, *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md"))]
LINK = re.compile(r"\]\(([^)#\s]+)(#[^)]*)?\)")
# Flags of scripts in examples, of the Object Detection API, torchrun and nbconvert, and of a converted script's header.
OTHERS = {
    *("--data_dir", "--lr", "--nproc_per_node", "--num_clones", "--num_gpus", "--optimizer", "--ps_tasks", "--test"),
    *("--to", "--nbformat", "--traced"),
}
# What a worker of a cluster takes.
OTHERS |= {"--worker_hosts", "--task_index"}
# SLURM's.
OTHERS |= {"--nodes", "--ntasks-per-node", "--gpus-per-task"}


def flags() -> set[str]:
    options = [option for command in (PROGRAM, *COMMANDS.values()) for option in command.options]
    return {flag for option in (*options, HELP, HELP_ALL) for flag in option.flags}


@pytest.mark.parametrize("page", TEXTS, ids=lambda page: page.name)
def test_links_lead_to_files(page: Path) -> None:
    for found in LINK.finditer(page.read_text()):
        target = found[1]
        made = target.removeprefix("rules/") in RULE_PAGES and page.parent.name == "docs"
        assert target.startswith("https://") or made or (page.parent / target).exists(), target


@pytest.mark.parametrize("page", TEXTS, ids=lambda page: page.name)
def test_options_exist(page: Path) -> None:
    named = set(re.findall(r"(?<![\w-])--[a-z][\w-]*", page.read_text()))
    assert named <= flags() | OTHERS


def test_every_page_is_in_the_site() -> None:
    listed = re.findall(r": (\S+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE)
    assert sorted(listed) == sorted([*(page.name for page in PAGES), "rules/README.md"])


def test_the_gallery_has_ten_conversions() -> None:
    page = (ROOT / "docs/gallery.md").read_text()
    names = re.findall(r"<!-- conversion: (\S+) -->", page)
    shown = on_page_markdown(page)
    assert len(names) == 10 and "<!--" not in shown
    assert all(conversion(name) in shown for name in names)
    for name in names:
        assert "+" in conversion(name) and "for gpu in range(" in conversion(name)
        assert "def check_gpus" not in conversion(name)
    assert conversion("projects/package").count("```diff") == 3


def test_a_conversion_that_is_not_there_stops_the_site() -> None:
    with pytest.raises(ValueError, match="fixtures/gone holds no conversion"):
        on_page_markdown("<!-- conversion: gone -->")


def test_the_page_of_commands_is_current() -> None:
    assert (ROOT / "docs/commands.md").read_text() == commands_page(), "run `make docs`"
    for command in COMMANDS.values():
        for option in command.options:
            assert f"`{option.flags[0]}`" in commands_page()


ARCHITECTURE = (ROOT / "docs/architecture.md").read_text()


def test_the_way_of_the_script_is_what_the_program_prints() -> None:
    assert stale(ARCHITECTURE) == []


def test_every_stop_of_the_way_follows_the_script() -> None:
    script = script_of(ARCHITECTURE)
    other = ARCHITECTURE.replace(script, re.sub(r"\by\b", "z", f"\n{script}"))  # other lines, and another name
    named = re.findall(r"<!-- stop: ([\w ]+) -->", ARCHITECTURE)
    assert len(named) == 8 and set(named) - set(stale(other)) == {"second reading"}  # which is the same for any script


def test_a_stop_that_the_program_does_not_have_is_an_error() -> None:
    with pytest.raises(ValueError, match="there is no stop 'gone': facts, "):
        filled(ARCHITECTURE + "<!-- stop: gone -->\n```text\n```\n")


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) < 150


def test_the_picture_loads_nothing() -> None:
    picture = (ROOT / "docs/terminal.svg").read_text()
    assert set(re.findall(r"https?://[^\"<) ]*", picture)) == {"http://www.w3.org/2000/svg"}
    # The commands stand in it as they are, spaces as entities.
    plain = picture.replace("&#160;", " ")
    assert "tf-multigpu convert train.py" in plain and "PASSED" in plain


def test_the_picture_shows_what_convert_says(tmp_path: Path) -> None:
    """What verify says beside it is of a run; `python tools/terminal.py docs/terminal.svg PYTHON` draws both."""
    (tmp_path / "train.py").write_bytes(SCRIPT.read_bytes())
    words = ["convert", "train.py", "-o", "train_mg.py", "--num-gpus", "4"]
    done = subprocess.run([sys.executable, "-m", "tf_multigpu", *words], cwd=tmp_path, capture_output=True, text=True,
                          env=os.environ | {"PYTHONPATH": str(ROOT)})  # fmt: skip
    drawn = re.findall(r"<text[^>]*>([^<]*)</text>", (ROOT / "docs/terminal.svg").read_text())
    shown = "".join(unescape("".join(drawn)).split())  # lines are broken to fit, and parts of them coloured
    for line in done.stderr.splitlines():
        assert "".join(line.split()) in shown, line


def test_the_picture_can_be_read_on_a_phone() -> None:
    """At 390 pixels a letter of its text is still 10 pixels high."""
    picture = (ROOT / "docs/terminal.svg").read_text()
    width = float(re.search(r'viewBox="0 0 ([\d.]+)', picture)[1])
    size = float(re.search(r"font-size: ([\d.]+)px", picture)[1])
    assert size * 390 / width >= 9


TEMPLATES = sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("[!c]*.yml"))


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.stem)
def test_issue_templates_ask_for_something(path: Path) -> None:
    text = path.read_text()
    assert re.match(r"name: .+\ndescription: .+\n", text)
    names = re.findall(r"^    id: (\w+)$", text, re.MULTILINE)
    assert names and len(names) == len(set(names)) == text.count("  - type: ")
    assert "required: true" in text
