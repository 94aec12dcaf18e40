"""Names that people give to a batch size."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

BATCH_SIZES = frozenset(("bs", "mb_size", "mbsize", "bsz", "bsize", "n_b", "mb", "n_seqs", "num_seqs"))
# Words beside "batch" in names of what is counted in batches, or has to do with them in another way.
NO_SIZES = frozenset(
    ("n", "num", "number", "nb", "no", "nr", "count", "counter", "idx", "index", "ind", "id", "i", "j", "k")
    + ("start", "begin", "beginning", "end", "stop", "first", "last", "step", "steps", "pos", "position", "offset")
    + ("pointer", "ptr", "iter", "iters", "iteration", "iterations", "cur", "current", "next", "epoch", "epochs")
    + ("norm", "normalization", "bn", "loss", "losses", "cost", "acc", "accuracy", "time", "interval", "every")
    + ("freq", "frequency", "decay", "momentum")
)


def named_batch(names: Iterable[str]) -> bool:
    """Names that people give to a batch size."""
    return any(name.lower() in BATCH_SIZES or _names_size(name) for name in names)


def named_batch_size(names: Iterable[str]) -> bool:
    """Names that can mean nothing but a batch size, whatever the value."""
    return any(named_batch([name]) and "size" in name.lower() for name in names)


@cache
def _names_size(name: str) -> bool:
    words = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name).lower().split("_")
    if not any("batch" in word and "batches" not in word for word in words):
        return False
    return "size" in words or NO_SIZES.isdisjoint(word.rstrip("0123456789") or word for word in words)
