"""The tags of summaries that a model makes in the towers, as they are in the original."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

CHILD = Path(__file__).resolve().parents[3] / "converter/verify/child"


@pytest.fixture
def summary(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module of the watched process, which knows its siblings as the package tmgprobe."""
    monkeypatch.syspath_prepend(str(CHILD))
    from tmgprobe.values import summary

    yield summary
    for name in [name for name in sys.modules if name.split(".")[0] == "tmgprobe"]:
        monkeypatch.delitem(sys.modules, name)


@pytest.mark.parametrize(
    ("tag", "plain"),
    [
        ("loss", "loss"),
        ("tower_0/loss", "loss"),
        ("net/tower_0/net/loss", "net/loss"),  # the variable scope around the towers, opened anew in each
        ("outer/net/tower_12/net/loss", "outer/net/loss"),
        ("net/tower_0/loss", "net/loss"),  # a name scope is not
        ("net/tower_0/network/loss", "net/network/loss"),
        ("tower_0/tower_1/loss", "tower_1/loss"),
        ("watchtower_0/loss", "watchtower_0/loss"),
    ],
)
def test_a_tag_without_its_tower(summary: Any, tag: str, plain: str) -> None:
    assert summary.untowered(tag) == plain
