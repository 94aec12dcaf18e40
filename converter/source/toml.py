"""The library that parses TOML: tomllib, or tomli before Python 3.11."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # type: ignore[import-not-found,unused-ignore]

TOMLDecodeError = tomllib.TOMLDecodeError
parsed: Callable[[str], dict[str, Any]] = tomllib.loads
