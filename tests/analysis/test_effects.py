"""Effects: kinds that belong together."""

from __future__ import annotations

from converter.analysis.effects import BATCH_NORMS, VARIABLES


def test_kinds_that_belong_together() -> None:
    assert [kind.name for kind in VARIABLES] == ["VARIABLE", "RAW_VARIABLE", "OBJECT_VARIABLE"]
    assert [kind.name for kind in BATCH_NORMS] == ["BATCH_NORM", "BATCH_NORM_SCOPE"]
