"""Prints a converted script without its helpers and the seal over its text.

Usage: python tools/without_helpers.py FILE… | FOLDER FOLDER

Of two folders it names the files that differ besides, and exits with 1 if there are any: what a change of the helpers
leaves as it was, byte for byte.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

_BEGIN, _END = "# tf-multigpu: helpers for", "# tf-multigpu: end of helpers"
_BLOCK = re.compile(rf"^{_BEGIN}.*?(?:^{_END}\n|\Z)", re.MULTILINE | re.DOTALL)
_SEAL = re.compile(r"^(# tf-multigpu: (?:decided: .*; )?text )[0-9a-f]+(?= by: |$)", re.MULTILINE)


def without_helpers(text: str) -> str:
    """The text with an empty block of helpers, and with no sum over its bytes; a module of helpers is nothing else."""
    return _SEAL.sub(r"\1-", _BLOCK.sub(f"{_BEGIN}\n{_END}\n", text))


def main(arguments: list[str]) -> int:
    """The exit status: 1 where two folders differ."""
    given = [Path(name) for name in arguments]
    if not all(path.is_dir() for path in given):
        for path in given:
            sys.stdout.write(without_helpers(path.read_text(encoding="utf-8")))
        return 0
    one, two = given
    names = {path.relative_to(folder) for folder in (one, two) for path in folder.rglob("*") if path.is_file()}
    differ = [name for name in sorted(names) if _read(one / name) != _read(two / name)]
    print("\n".join(map(str, differ)) or f"{len(names)} files, the same but for helpers")
    return 1 if differ else 0


def _read(path: Path) -> str | None:
    return without_helpers(path.read_text(encoding="utf-8")) if path.is_file() else None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
