"""Generators of random numbers are watched, and stay what they are."""

from __future__ import annotations

import os
import random
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

np = pytest.importorskip("numpy")

CHILD = Path(__file__).resolve().parents[2] / "converter" / "verify" / "child"
sys.path.insert(0, str(CHILD))
try:
    from tmgprobe.session.draws import Draws
    from tmgprobe.values import own_random
finally:
    sys.path.remove(str(CHILD))

STATES = random.getstate(), np.random.get_state()


@pytest.fixture
def draws(monkeypatch: pytest.MonkeyPatch) -> Iterator[Draws]:
    """A watch that ends with the test."""
    for owner, name in (
        (np.random, "RandomState"),
        (np.random, "seed"),
        (np.random, "default_rng"),
        (random, "seed"),
        (random.Random, "__init__"),
        (os, "fork"),
    ):
        monkeypatch.setattr(owner, name, getattr(owner, name))
    found = Draws()
    found.install(None)
    yield found


@pytest.mark.parametrize(
    ("make", "seeds"),
    [
        (lambda: random.Random(3), [["random.Random", 3]]),
        (lambda: random.Random(), []),
        (lambda: random.SystemRandom(), []),
        (lambda: random.seed(4), [["random.seed", 4]]),
        (lambda: np.random.RandomState(5), [["numpy.random.RandomState", 5]]),
        (lambda: np.random.default_rng(6), [["numpy.random.default_rng", 6]]),
    ],
)
def test_seeds_are_seen(draws: Draws, make: Any, seeds: list[Any]) -> None:
    make()
    assert draws.seeds == seeds
    draws.state()


def test_generators_of_the_comparison_are_no_draws_of_the_script(draws: Draws) -> None:
    before = draws.state()
    own_random.Generator(3).rand()
    assert draws.state() == before
    np.random.RandomState(3).rand()
    assert draws.state() != before


def test_whatever_is_drawn_changes_the_state(draws: Draws) -> None:
    made = [random.Random(1).random, np.random.RandomState(1).rand, np.random.default_rng(1).random, random.random]
    for draw in made:
        before = draws.state()
        assert draws.state() == before
        draw()
        assert draws.state() != before


def test_classes_go_on_as_classes(draws: Draws) -> None:
    class Own(random.Random):
        pass

    # as Random's own methods do in Python 2: the name in the module is the class of its generators
    super(random.Random, Own(1)).seed(2)
    assert isinstance(random.Random(1), random.Random) and issubclass(Own, random.Random)
    assert isinstance(np.random.mtrand._rand, np.random.RandomState)


@pytest.mark.parametrize(
    "seed",
    [
        lambda: random.seed(time.time()),
        lambda: random.seed(int(time.time())),
        lambda: random.seed(),
        lambda: np.random.seed(int(time.time())),
        lambda: np.random.seed(),
    ],
)
def test_a_seed_by_the_clock_gives_both_scripts_the_same_numbers(draws: Draws, seed: Any) -> None:
    drawn = []
    for number in (1, 2, 1):
        random.setstate(STATES[0])
        np.random.set_state(STATES[1])
        draws._timed = number
        seed()
        drawn.append((random.random(), np.random.rand()))
        time.sleep(0.01)
    assert draws.seeds == []
    assert drawn[0] == drawn[2] != drawn[1]


@pytest.mark.parametrize("given", [7, 1.5, "text", 10**8 - 1])
def test_any_other_seed_stays(draws: Draws, given: Any) -> None:
    random.seed(given)
    assert random.random() == random.Random(given).random()


def test_forked_processes_may_draw_at_any_time(draws: Draws) -> None:
    """Each has a seed of its own, so that two runs draw differently, which nobody here sees."""
    before = draws.state()
    assert draws.state() == before
    pid = os.fork()
    if not pid:
        os._exit(0)
    os.waitpid(pid, 0)
    forked = draws.state()
    assert forked != before and draws.state() != forked
