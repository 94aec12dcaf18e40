"""Writes the modules of the wheel tf-multigpu-runtime; with --check, says whether they are up to date."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from converter import __version__
from converter.runtime.whole import PACKAGE, package_module
from converter.runtime.worker import PACKAGE as CLUSTER_PACKAGE
from converter.runtime.worker import worker_package

FOLDER = Path(__file__).resolve().parent.parent / "runtime"
MODULES = {PACKAGE: package_module, CLUSTER_PACKAGE: worker_package}


def main() -> int:
    """The exit status: 1 where --check finds another text."""
    stale = 0
    for name, text_of in MODULES.items():
        target, text = FOLDER / f"{name}.py", text_of(__version__)
        if "--check" not in sys.argv[1:]:
            target.write_text(text, encoding="utf-8")
        elif not target.is_file() or target.read_text(encoding="utf-8") != text:
            print(f"{target.name} is not what converter/runtime gives: run python tools/runtime_module.py")
            stale = 1
    return stale


if __name__ == "__main__":
    sys.exit(main())
