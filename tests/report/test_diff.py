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
    assert unified(before, after, "t.py") == ("" if body is None else f"--- t.py\n+++ t.py\n{body}")


def test_the_second_name() -> None:
    assert unified("a\n", "b\n", "single.py", "multi.py").startswith("--- single.py\n+++ multi.py\n")


def test_colours_stand_around_lines_and_not_around_their_ends() -> None:
    painted = coloured("--- a\n+++ a\n@@ -1,2 +1 @@\n-x\r\n+y\n z\n\\ No newline at end of file\n")
    assert painted == (
        "\x1b[1m--- a\x1b[0m\n\x1b[1m+++ a\x1b[0m\n\x1b[36m@@ -1,2 +1 @@\x1b[0m\n"
        "\x1b[31m-x\x1b[0m\r\n\x1b[32m+y\x1b[0m\n z\n\\ No newline at end of file\n"
    )


LINES = st.lists(st.sampled_from(["a\n", "b\n", "a\r\n", "\n", "\tc\n", "ä\x0c\n", "d\u2028e\n"]), max_size=12)


@settings(max_examples=40, deadline=None)
@given(LINES, LINES, st.sampled_from(["", "x", "y"]), st.sampled_from(["", "x", "y"]))
def test_git_applies_every_diff(
    tmp_path_factory: pytest.TempPathFactory, before: list[str], after: list[str], last: str, end: str
) -> None:
    old, new = "".join(before) + last, "".join(after) + end
    assume(old and new and old != new)
    folder: Path = tmp_path_factory.mktemp("apply")
    (folder / "t.py").write_bytes(old.encode())
    command = ["git", "apply", "-p0", "--whitespace=nowarn", "-"]
    subprocess.run(command, cwd=folder, input=unified(old, new, "t.py").encode(), check=True, capture_output=True)
    assert (folder / "t.py").read_bytes() == new.encode()
