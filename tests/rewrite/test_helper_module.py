"""The module of helpers that several files share."""

from __future__ import annotations

from converter.rewrite.helper_text import _with_needs


def test_each_helper_stands_once_where_one_form_of_it_serves_one_gpu_too() -> None:
    """`TowerOptimizer` needs `tower_gradients`, of which the script asks for the form without towers on one GPU."""
    found = _with_needs({"tower_gradients_or_one_gpu": "tower_gradients", "TowerOptimizer": "TowerOptimizer"})
    assert sorted(found.values()) == sorted(set(found.values()))
    assert found["tower_gradients_or_one_gpu"] == "tower_gradients" and "tower_gradients" not in found


def test_what_a_helper_needs_is_added_in_its_plain_form() -> None:
    assert _with_needs({"TowerOptimizer": "TowerOptimizer"})["tower_gradients"] == "tower_gradients"
