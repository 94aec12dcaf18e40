"""The text of `cluster.py`, which a script that is converted for a cluster carries."""

from __future__ import annotations

from pkgutil import get_data


def worker_source() -> str:
    """The module's source with plain line ends."""
    data = get_data(__package__, "cluster.py")
    assert data is not None
    return data.decode().replace("\r\n", "\n")
