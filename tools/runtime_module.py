"""Writes the module of the wheel tf-multigpu-runtime; with --check, says whether it is up to date."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from converter import __version__
from converter.runtime.whole import PACKAGE, package_module

TARGET = Path(__file__).resolve().parent.parent / "runtime" / f"{PACKAGE}.py"


def main() -> int:
    """The exit status: 1 where --check finds another text."""
    text = package_module(__version__)
    if "--check" not in sys.argv[1:]:
        TARGET.write_text(text, encoding="utf-8")
        return 0
    if TARGET.is_file() and TARGET.read_text(encoding="utf-8") == text:
        return 0
    print(f"{TARGET.name} is not what converter/runtime gives: run python tools/runtime_module.py")
    return 1


if __name__ == "__main__":
    sys.exit(main())
