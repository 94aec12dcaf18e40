"""Repeats a conversion whose files are there, as they may have been written with those of other scripts."""

from __future__ import annotations

import os
from collections.abc import Callable

from converter import conversion
from converter.conversion import Conversion
from converter.options import Options
from converter.source import Source


def convert_again(source: Source, options: Options, several: bool, held: Callable[[str], bytes]) -> Conversion:
    """Repeat a conversion; if its helpers' module serves other scripts too, with the helpers that they need.

    options: of the conversion that is repeated. held: what lies beside the converted script, by the path that it would
    have beside the original; b"" for nothing.
    """
    again = conversion.convert(source, options, several=several, again=True)
    alone = {part.path: part.text.encode() for part in again.parts if part.source is None}
    more = {os.path.abspath(path): held(path) for path, text in alone.items() if held(path) not in (b"", text)}
    if not more:
        return again
    shared = conversion.convert(source, options, several=several, again=True, originals=more)
    return shared if {part.path for part in shared.parts if part.source is None} == alone.keys() else again
