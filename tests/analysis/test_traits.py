"""What operations have in common, by their names and by patterns."""

from __future__ import annotations

import pytest

from converter.analysis.traits import Argument, Trait, default_rates, has, names, positions


@pytest.mark.parametrize("trait", Trait)
def test_each_trait_is_of_something(trait: Trait) -> None:
    assert names(trait)


@pytest.mark.parametrize(
    ("name", "trait", "wanted"),
    [
        ("identity", Trait.LINEAR, True),
        ("exp", Trait.LINEAR, False),
        ("layers.dense", Trait.LAYER, True),
        ("contrib.slim.conv2d", Trait.LAYER, True),
        ("nn.conv2d", Trait.LAYER, False),
        ("random_normal", Trait.RANDOM, True),
        ("nn.dropout", Trait.RANDOM, True),
        ("nn.relu", Trait.RANDOM, False),
        ("cast", Trait.OWN_DTYPE, True),
        ("matmul", Trait.OWN_DTYPE, False),
    ],
)
def test_traits(name: str, trait: Trait, wanted: bool) -> None:
    assert has(name, trait) is wanted


def test_where_arguments_stand() -> None:
    assert positions(Argument.NAME)["get_variable"] == 0
    assert positions(Argument.DTYPE)["random_normal"] == 3
    assert default_rates()["train.AdamOptimizer"] == "0.001"
