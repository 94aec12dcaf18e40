"""What the tests of the command line share: small scripts, and a stand-in for the engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from converter import __version__
from converter.cli.command_line import commands
from converter.cli.command_line.table import CommandRow
from converter.cli.files.convert_files import NO_TRAINING_STEP
from converter.conversion import Conversion
from converter.diagnostics import Diagnostic
from converter.options import Options
from converter.source import Source, parse
from converter.source.header import Header, format_header, is_converted, sealed

TRAINING = b"import tensorflow as tf\nminimize()\n"
NO_TRAINING = b"import tensorflow as tf\n"
PLAIN = b"import os\n"
BOTH_PYTHONS = b'import tensorflow\nprint "x"\nf""\n'  # Python 2 and Python 3 in one, which nothing runs


@dataclass(frozen=True)
class Done:
    """What one run came to."""

    code: int
    out: bytes
    err: str


Run = Callable[..., Done]


def given_by(words: Sequence[str]) -> tuple[str, dict[str, object]] | None:
    """The command and the values that a command line gives, None where none is run."""
    seen: list[tuple[str, dict[str, object]]] = []

    def run(self: CommandRow, values: Mapping[str, object]) -> int:
        seen.append((self.name, dict(values)))
        return 0

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CommandRow, "run", run)
        patch.setattr("converter.cli.config.layers.completed", lambda command, given: given)
        commands.run(words)
    return seen[0] if seen else None


def put(path: str, data: bytes = TRAINING) -> Path:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_bytes(data)
    return Path(path)


def files(root: Path) -> list[str]:
    """All files below a folder but the tool's own record of them."""
    found = (path for path in root.rglob("*") if path.is_file() and path.name != ".tf-multigpu.sha256")
    return sorted(str(path.relative_to(root)) for path in found)


@dataclass
class Engine:
    """Converts a script that says `minimize` by putting a header on it, and remembers what it was asked."""

    asked: list[tuple[str, Options]] = field(default_factory=list)
    line: str = "towers()"

    def convert(self, source: Source, options: Options, **_: object) -> Conversion:
        self.asked.append((source.path, options))
        if "crash" in source.text:
            raise KeyError("no such tower")
        if is_converted(source.text):
            known = Diagnostic("TMG009", source.path, 1, 1, "converted before", severity="info")
            return Conversion(source, "unchanged", None, (known,))
        parse(source)
        if "minimize" not in source.text:
            missing = Diagnostic(NO_TRAINING_STEP, source.path, 0, 0, "no training step found")
            return Conversion(source, "refused", None, (missing,))
        doubt = Diagnostic("TMG301", source.path, 2, 1, "doubtful", severity="warning")
        header = format_header(Header(__version__, "somewhere.py", source.sha256, options, text="-", command="-"))
        newline = "\r\n" if "\r\n" in source.text else "\n"
        text = sealed(header.replace("\n", newline) + newline + source.text + self.line)
        findings = (doubt,) if "doubt" in source.text else ()
        return Conversion(source, "converted", text, findings)
