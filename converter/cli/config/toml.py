"""The library that reads TOML: Python's own, or the one that it was before."""

from __future__ import annotations

import sys
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # type: ignore[import-not-found,unused-ignore]

TOMLDecodeError = tomllib.TOMLDecodeError


def parsed(text: str) -> dict[str, Any]:
    """The values in a TOML text, whatever its line ends are.

    Raises:
        TOMLDecodeError: it is none.
    """
    values: dict[str, Any] = tomllib.loads(text.replace("\r\n", "\n"))
    return values
