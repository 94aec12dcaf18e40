"""Formats lines that the tool wrote and that came out too long: by black, imported only for them."""

from __future__ import annotations


def fitted(line: str, width: int) -> str:
    """A statement of the tool's own, wrapped by black if it is longer than `width` characters."""
    if all(len(part) <= width for part in line.split("\n")) or "\\\n" in line:
        return line
    from black import format_str
    from black.mode import Mode, TargetVersion

    # Python 3.3 is the nearest target to 2.7 that black knows: no comma after * and ** arguments.
    mode = Mode({TargetVersion.PY33}, max(width, 40), string_normalization=False)
    return format_str(line, mode=mode).rstrip("\n")
