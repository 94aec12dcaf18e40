"""The text of `cluster.py`, which a script that is converted for a cluster carries, or imports."""

from __future__ import annotations

from converter.runtime.catalog import source_of
from converter.source.header import HELPERS

MODULE = "cluster_helpers"  # beside scripts
PACKAGE = "tf_multigpu_cluster"  # installed


def worker_source() -> str:
    """The module's source with plain line ends."""
    return source_of("cluster")


def worker_module() -> str:
    """The text of the module beside scripts."""
    return f"{HELPERS}\n{worker_source()}"


def worker_package(version: str) -> str:
    """The text of the module that is installed."""
    return worker_source().replace("\n\n\nclass ", f"\n\n__version__ = '{version}'\n\n\nclass ", 1)
