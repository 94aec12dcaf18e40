"""What crosses the border of the towers: it can be printed and read back, and names the helpers that its lines call."""

from __future__ import annotations

import pytest

from converter.plan import border
from converter.plan.border import Border, CutInput, Loss, Merge, Rebuild, Rows, Structure, helpers_of
from converter.runtime.catalog import catalog

ROWS = Rows("rows", "weight")
X = CutInput("x", "x_batch")
ALL = Border(
    shards=(border.Cut(ROWS, (X,), lead=X), border.Drawn(ROWS, "n"), border.HandedOut(ROWS, "x", "TowerInputs")),
    bound=(
        border.CutEach("xs", "xs_batch", 0, "shard"),
        border.CutOptional("x", "x_batch", 1, "shard_along", "x"),
        border.Remake("pair", "pair_batch", "(x, y)"),
        border.Resize("n", "global_n"),
        border.Keep("h", "h_batch"),
        border.Reset("made", "first_made", "list"),
        border.Remove("net.w"),
    ),
    restore=(("x", "x_batch"),),
    merges=(
        Merge("a", "tower_a", border.Concat(ROWS, steps=True), structure=Structure()),
        Merge("b", "tower_b", border.Fed(ROWS)),
        Merge("loss", "tower_loss", border.MaskedMean(ROWS, "n", "tower_count"), loss=Loss()),
        Merge("c", "tower_c", border.Shown(ROWS), name=border.AS_ON_ONE_GPU),
        Merge("d", "tower_d", border.Handed()),
        Merge("e", "tower_e", border.Mean(ROWS), own="own_e", losses="tower_losses"),
        Merge("f", "tower_f", border.First()),
    ),
    rebuilds=(Rebuild("pair", "({tower_a}, y)"),),
)


def test_it_is_read_back_as_it_was_printed() -> None:
    assert eval(repr(ALL), vars(border)) == ALL


def test_its_helpers_are_known() -> None:
    assert set(ALL.helpers) <= set(catalog())


@pytest.mark.parametrize(
    ("one", "helpers"),
    [
        (border.Resize("n", "global_n"), ("shard_size",)),
        (border.Resize("n", "global_n", rows_of=("x", 0, "int32")), ()),  # counted on a shard
        (border.Reset("x", "first_x", "value"), ()),
        (Merge("a", "tower_a", border.Concat(ROWS)), ()),
        (Merge("a", "tower_a", border.Concat(ROWS), structure=Structure(each=("part", "parts"))), ()),
        (Merge("a", "tower_a", border.Concat(ROWS), structure=Structure(kept="dict")), ("map_structure",)),
        (Merge("a", "tower_a", border.Mean(ROWS), name="loss"), ()),
        (Merge("a", "tower_a", border.Fed(ROWS)), ("merge_fed", "feed_towers")),
    ],
)
def test_helpers_of_one_thing(one: border.Bound | Merge, helpers: tuple[str, ...]) -> None:
    assert helpers_of(one) == helpers


def test_two_borders_are_one_behind_the_other() -> None:
    more = Border(bound=(border.Remove("net.b"),), restore=(("y", "y_batch"),))
    both = ALL + more
    assert (both.bound[-1], both.restore) == (border.Remove("net.b"), (("x", "x_batch"), ("y", "y_batch")))
    assert both.merges == ALL.merges
