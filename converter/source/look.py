"""What can be said of files before anything that takes time is imported."""

from __future__ import annotations

import os

_NOT_OF_THE_PROJECT = {"__pycache__", "node_modules", "site-packages"}


def mentions_tensorflow(data: bytes) -> bool:
    """Whether a file's bytes name TensorFlow at all; where they do not, there is nothing to convert."""
    return b"tensorflow" in data


def scripts_in(folder: str, leave_out: str | None = None) -> list[str]:
    """The `.py` files under a folder, relative to it, sorted.

    Hidden folders, virtual environments, installed packages and the folder `leave_out` (where a
    former conversion may have written) are not looked into; links to folders are not followed.
    """
    outside = os.path.realpath(leave_out) if leave_out else None
    found = []
    for where, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not _is_foreign(os.path.join(where, name), outside)]
        found += [
            os.path.relpath(os.path.join(where, name), folder)
            for name in files
            if name.endswith(".py") and not name.startswith(".")
        ]
    return sorted(found)


def _is_foreign(folder: str, outside: str | None) -> bool:
    name = os.path.basename(folder)
    return (
        name.startswith(".")
        or name in _NOT_OF_THE_PROJECT
        or os.path.exists(os.path.join(folder, "pyvenv.cfg"))
        or (outside is not None and os.path.realpath(folder) == outside)
    )
