"""Conversions that tests ask for: of the same script with the same options one is made in a process."""

from __future__ import annotations

from pathlib import Path

from converter.conversion import Conversion, convert
from converter.options import Options
from converter.source import Source
from tests.goldens import FIXTURES

ROOT = Path(__file__).resolve().parent.parent


class Conversions:
    """Converts single scripts, and remembers those whose folders no test writes to.

    These are the fixtures, and texts that are converted as if they lay in the checkout. `fresh` is whether the test
    that runs may change the program, so that nothing is read from the record or written to it.
    """

    def __init__(self) -> None:
        self.fresh = False
        self.made = 0
        self._known: dict[tuple[str, str, bytes, Options], Conversion] = {}

    def __call__(self, source: Source, options: Options) -> Conversion:
        """The conversion of a script."""
        place = Path(source.path).absolute()
        if self.fresh or not (place.is_relative_to(FIXTURES) or place.parent == ROOT):
            return convert(source, options)
        key = source.path, str(place), source.data, options
        if key not in self._known:
            self.made += 1
            self._known[key] = convert(source, options)
        return self._known[key]


conversion_of = Conversions()
