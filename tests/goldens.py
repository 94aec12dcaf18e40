"""The goldens of the fixtures: a line `# helper: NAME` stands for each helper, and fixtures/helpers.py has each once.

`python -m tests.goldens` takes the helpers out of goldens that `make goldens` has written. Tests, benchmarks and the
site read whole conversions, below FIXTURES: a copy of the folder with the helpers back in their places.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from converter.source.toml import parsed

ROOT = Path(__file__).resolve().parent.parent
KEPT = ROOT / "fixtures"
HELPERS = KEPT / "helpers.py"

_BEGIN, _END = b"# tf-multigpu: helpers for training on several GPUs\n", b"# tf-multigpu: end of helpers\n"
_BLOCK = re.compile(rb"(?<=%s).*?(?=%s)" % (_BEGIN, _END), re.DOTALL)
_BETWEEN = re.compile(rb"\n\n\n(?=\S)")
_NAME = re.compile(rb"^(?:def|class) (\w+)", re.MULTILINE)
_MARK = re.compile(rb"^# helper: (.+)\n", re.MULTILINE)
_NEXT = re.compile(rb"^(# helper: .+\n)(?=# helper: )", re.MULTILINE)
_APART = re.compile(rb"^(# helper: .+\n)\n\n(?=# helper: )", re.MULTILINE)


def kept() -> dict[bytes, bytes]:
    """The texts of fixtures/helpers.py by name; another text of one helper is `NAME (2)`."""
    _, *parts = _MARK.split(HELPERS.read_bytes()) if HELPERS.exists() else [b""]
    return dict(zip(parts[::2], (text.rstrip(b"\n") for text in parts[1::2]), strict=True))


def whole(golden: bytes, helpers: dict[bytes, bytes]) -> bytes:
    """A conversion, from the golden that is kept of it."""
    return _MARK.sub(lambda mark: helpers[mark[1]] + b"\n", _NEXT.sub(rb"\1\n\n", golden))


def shortened(conversion: bytes, helpers: dict[bytes, bytes]) -> bytes:
    """The golden to keep of a conversion. Helpers that are not known yet are added to `helpers`."""

    def marks(block: re.Match[bytes]) -> bytes:
        pieces = _BETWEEN.split(block[0].rstrip(b"\n"))
        end = block[0][len(block[0].rstrip(b"\n")) :]
        return _APART.sub(rb"\1", b"\n\n\n".join(_mark(piece, helpers) for piece in pieces) + end)

    return _BLOCK.sub(marks, conversion)


def _mark(piece: bytes, helpers: dict[bytes, bytes]) -> bytes:
    found = _NAME.search(piece)
    if found is None:
        return piece
    name, number = found[1], 1
    while helpers.setdefault(name, piece) != piece:
        number += 1
        name = b"%s (%d)" % (found[1], number)
    return b"# helper: " + name


def goldens() -> Iterator[Path]:
    """Every file that a conversion of a fixture has written."""
    for path in sorted(KEPT.rglob("*.py")):
        if path.name == "multi.py" or "multi" in path.relative_to(KEPT).parts[:-1]:
            yield path


def expected(folder: Path, what: str) -> list[str]:
    """What is said of a fixture in its file `expected.toml`; of one without the file, nothing.

    warnings: codes, in the order of their lines. moved: statements without a batch between those of the model, which
    go in front of the towers. changed: lines that a conversion may write otherwise, beside those that it may in any
    script. unproven: checks of `verify` that have nothing to compare.
    """
    file = folder / "expected.toml"
    found: dict[str, list[str]] = parsed(file.read_text(encoding="utf-8")) if file.exists() else {}
    assert found.keys() <= {"warnings", "moved", "changed", "unproven"}, file
    return found.get(what, [])


def _whole_copy() -> Path:
    """A copy of the fixtures with whole conversions, made anew where a file of them has changed."""
    files = sorted(path for path in KEPT.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    state = sha256(b"".join(str(path).encode() + sha256(path.read_bytes()).digest() for path in files)).hexdigest()
    target = ROOT / "build" / f"fixtures-{state[:16]}" / "fixtures"
    if not target.exists():
        target.parent.parent.mkdir(exist_ok=True)
        made = Path(tempfile.mkdtemp(dir=target.parent.parent))
        shutil.copytree(KEPT, made / "fixtures", ignore=shutil.ignore_patterns("__pycache__", "helpers.py"))
        helpers = kept()
        for path in goldens():
            (made / "fixtures" / path.relative_to(KEPT)).write_bytes(whole(path.read_bytes(), helpers))
        try:
            os.replace(made, target.parent)
        except OSError:  # another process was faster
            shutil.rmtree(made)
    return target


FIXTURES = _whole_copy()


def main() -> None:
    """Takes the helpers out of all goldens."""
    known, helpers = kept(), dict[bytes, bytes]()
    for path in goldens():
        path.write_bytes(shortened(whole(path.read_bytes(), known), helpers))
    parts = [b"# helper: %s\n%s\n" % (name, text) for name, text in sorted(helpers.items())]
    HELPERS.write_bytes(b"# The helpers that the goldens have, each once (tests/goldens.py).\n\n" + b"\n\n".join(parts))


if __name__ == "__main__":
    main()
