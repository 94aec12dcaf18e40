"""tf-multigpu: rewrites single-GPU TensorFlow 1.x training scripts for several GPUs, and proves the result.

`convert` and `verify` do what the commands of the same names do, without writing a file. What they return is plain
data. Names are loaded when they are first used: `import tf_multigpu` by itself costs next to nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from converter import __version__
    from tf_multigpu.api import (
        ConvertResult,
        Difference,
        File,
        Finding,
        VerifyError,
        VerifyResult,
        convert,
        verify,
    )

__all__ = [
    "ConvertResult",
    "Difference",
    "File",
    "Finding",
    "VerifyError",
    "VerifyResult",
    "__version__",
    "convert",
    "verify",
]


def __getattr__(name: str) -> object:
    if name == "__version__":
        from converter import __version__

        return __version__
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from tf_multigpu import api

    return getattr(api, name)


def __dir__() -> list[str]:
    return __all__
