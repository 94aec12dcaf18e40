"""Errors of TensorFlow as one line."""

from __future__ import annotations

from pathlib import Path

import pytest

CHILD = Path(__file__).resolve().parents[2] / "converter" / "verify" / "child"
SPLIT = "Number of ways to split should evenly divide the split dimension"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", ""),
        ("a\nb", "a"),
        ("\n  a\n", "a"),
        (f"2 root error(s) found.\n  (0) Invalid argument: {SPLIT}\n\t [[node]]\n  (1) Invalid argument: other", SPLIT),
        (f"2 root error(s) found.\n  (0) INVALID_ARGUMENT: {SPLIT}", SPLIT),
        ("2 root error(s) found.", "2 root error(s) found."),
        (f"Graph execution error:\n\nDetected at node 'a'\nNode: 'a'\n{SPLIT}\n\t [[a]]", SPLIT),
        (
            "Graph execution error:\n\nDetected at node 'b' defined at\nNode: 'b'\nDetected at node 'a' defined at\n"
            f"Node: 'a'\n2 root error(s) found.\n  (0) INVALID_ARGUMENT: {SPLIT}",
            SPLIT,
        ),
        ("Graph execution error:\n\nsomething else", "Graph execution error:"),
    ],
)
def test_the_line_that_says_what_went_wrong(text: str, line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(CHILD))
    from tmgprobe.values.errors import describe

    assert describe(ValueError(text)) == f"ValueError: {line}"
