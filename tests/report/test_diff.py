"""Diffs that `patch` takes."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from converter.report.diff import coloured, unified


@pytest.mark.parametrize(
    ("before", "after", "body"),
    [
        ("a\n", "a\n", None),
        ("", "", None),
        ("a\n", "b\n", "@@ -1 +1 @@\n-a\n+b\n"),
        ("a", "b", "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n"),
        ("a", "a\n", "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n"),
        ("a\nb", "c\nb", "@@ -1,2 +1,2 @@\n-a\n+c\n b\n\\ No newline at end of file\n"),
        ("a\r\n", "b\r\n", "@@ -1 +1 @@\n-a\r\n+b\r\n"),
        ("a\n", "a\r\n", "@@ -1 +1 @@\n-a\n+a\r\n"),
        ("a\x0cb\u2028c\n", "a\x0cb\u2028d\n", "@@ -1 +1 @@\n-a\x0cb\u2028c\n+a\x0cb\u2028d\n"),
        ("\ufeffa\n", "\ufeffb\n", "@@ -1 +1 @@\n-\ufeffa\n+\ufeffb\n"),
        ("", "a\n", "@@ -0,0 +1 @@\n+a\n"),
    ],
)
def test_diffs(before: str, after: str, body: str | None) -> None:
    assert unified(before, after, "t.py") == ("" if body is None else f"--- a/t.py\n+++ b/t.py\n{body}")


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("sub/t.py", "--- a/sub/t.py\n+++ b/sub/t.py\n"),
        ("./t.py", "--- a/t.py\n+++ b/t.py\n"),
        ("a b.py", "--- a/a b.py\t\n+++ b/a b.py\t\n"),
        ('q"\\\n.py', '--- "a/q\\042\\134\\012.py"\n+++ "b/q\\042\\134\\012.py"\n'),
        ("ä.py", "--- a/ä.py\n+++ b/ä.py\n"),
        ("../t.py", "--- a/../t.py\n+++ b/../t.py\n"),
    ],
)
def test_names(path: str, names: str) -> None:
    assert unified("a\n", "b\n", path).startswith(names + "@@")


def test_an_absolute_path_is_shown_from_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert unified("a\n", "b\n", str(tmp_path / "sub/t.py")).startswith("--- a/sub/t.py\n")
    assert unified("a\n", "b\n", "/else/where/t.py").startswith("--- a/else/where/t.py\n+++ b/else/where/t.py\n")


def test_a_new_file() -> None:
    assert unified("", "b\n", "t.py", is_new=True) == "--- /dev/null\n+++ b/t.py\n@@ -0,0 +1 @@\n+b\n"


@pytest.mark.parametrize(
    ("before", "after", "body"),
    [
        ("x\ny\n", "  x\n  y\n", ""),
        ("x\ny\n", "for:\n  x\n  z\n", "@@ -1,2 +1,3 @@\n+for:\n   x\n-y\n+  z\n"),
        ("a b\n", "ab\n", ""),
        ("x\n\ny\n", "x\ny\n", "@@ -1,3 +1,2 @@\n x\n-\n y\n"),
        ("x\n", "\tx", ""),
    ],
)
def test_blanks_are_ignored(before: str, after: str, body: str) -> None:
    head = "--- a/t.py\n+++ b/t.py\n" if body else ""
    assert unified(before, after, "t.py", ignore_space=True) == head + body


def test_colours_stand_around_lines_and_not_around_their_ends() -> None:
    painted = coloured("--- a\n+++ a\n@@ -1,2 +1 @@\n-x\r\n+y\n z\n\\ No newline at end of file\n")
    assert painted == (
        "\x1b[1m--- a\x1b[0m\n\x1b[1m+++ a\x1b[0m\n\x1b[36m@@ -1,2 +1 @@\x1b[0m\n"
        "\x1b[31m-x\x1b[0m\r\n\x1b[32m+y\x1b[0m\n z\n\\ No newline at end of file\n"
    )


LINES = st.lists(st.sampled_from(["a\n", "b\n", "a\r\n", "\n", "\tc\n", "ä\x0c\n", "d\u2028e\n"]), max_size=12)


@settings(max_examples=40, deadline=None)
@given(
    LINES,
    LINES,
    st.sampled_from(["", "x", "y"]),
    st.sampled_from(["", "x", "y"]),
    st.sampled_from(["t.py", "a b.py", 'q"\\.py', "ä.py"]),
)
def test_git_applies_every_diff(
    tmp_path_factory: pytest.TempPathFactory, before: list[str], after: list[str], last: str, end: str, name: str
) -> None:
    old, new = "".join(before) + last, "".join(after) + end
    assume(old and new and old != new)
    folder: Path = tmp_path_factory.mktemp("apply")
    (folder / name).write_bytes(old.encode())
    command = ["git", "apply", "--whitespace=nowarn", "-"]
    subprocess.run(command, cwd=folder, input=unified(old, new, name).encode(), check=True, capture_output=True)
    assert (folder / name).read_bytes() == new.encode()


def test_git_applies_a_diff_with_a_new_file(tmp_path: Path) -> None:
    (tmp_path / "t.py").write_text("a\n")
    both = unified("a\n", "b\n", "t.py") + unified("", "new\n", "sub/helpers.py", is_new=True)
    subprocess.run(["git", "apply"], cwd=tmp_path, input=both.encode(), check=True, capture_output=True)
    assert ((tmp_path / "t.py").read_text(), (tmp_path / "sub/helpers.py").read_text()) == ("b\n", "new\n")
