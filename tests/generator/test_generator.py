"""The generator writes the same script for the same seed, and the tool takes every one of them."""

from __future__ import annotations

import ast

import pytest

from converter.conversion import convert
from converter.options import Options
from converter.source import from_bytes
from tests.generator.recipe import OPTIONS, Recipe, draw, mended
from tests.generator.script import write


def test_a_seed_is_a_script() -> None:
    assert write(draw(3)) == write(draw(3)) != write(draw(4))


def test_every_option_is_drawn() -> None:
    drawn = [vars(draw(seed)) for seed in range(2000)]
    assert {name: {recipe[name] for recipe in drawn} for name in OPTIONS} == {n: set(o) for n, o in OPTIONS.items()}


@pytest.mark.parametrize("seed", range(300))
def test_scripts_are_python(seed: int) -> None:
    for text in write(draw(seed)).values():
        ast.parse(text)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("seed", range(5000, 5040))
def test_a_conversion_or_a_refusal(seed: int) -> None:
    files = write(draw(seed))
    if len(files) > 1:
        pytest.skip("a script of several files is converted in a folder only")
    made = convert(from_bytes("train.py", files["train.py"].encode()), Options(num_gpus=2))
    assert made.status in ("converted", "refused")
    assert "TMG290" not in [finding.code for finding in made.diagnostics]  # the second reading raises no false alarm
    if made.text is not None:
        again = convert(from_bytes("train.py", files["train.py"].encode()), Options(num_gpus=2))
        assert again.text == made.text
        ast.parse(made.text)


def test_shrinking_goes_towards_the_plain_script() -> None:
    recipe = mended(Recipe(first="conv", loss="sum", size="flag"))
    assert {r.first for r in recipe.simpler()} >= {"dense", "layers"}
    assert all(r != recipe and mended(r) == r for r in recipe.simpler())
    assert Recipe().simpler() == []
