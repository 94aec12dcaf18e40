"""What is known of how a converted script was made: its header, and the rules behind its lines."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from converter.dataclass import dataclass
from converter.diagnostics import Refusal
from converter.source.header import Header, HeaderError, find_header, relabel
from converter.verify.data import Changed, ConversionOrigin

if TYPE_CHECKING:
    from converter.conversion import Conversion, OtherFile


# The script and the files that change with it, by their paths from its folder.
ChangedFiles = Mapping[str, "Conversion | OtherFile"]


@dataclass(frozen=True)
class Repeated:
    """The original converted once more, as the converted script's header says; origin: what that tells."""

    origin: ConversionOrigin
    header: Header
    conversion: Conversion
    files: ChangedFiles


def repeat(single: Path, multi: Path, parts: Mapping[str, bytes]) -> Repeated | None:
    """Converts the original once more and compares; None where the header cannot be read.

    parts: other files as they are to be in the converted script's folder, by their paths from there.
    """
    from converter.conversion.repeat_conversion import convert_again
    from converter.source import from_bytes, read

    try:
        made = read(str(multi))
        header = find_header(made.text)
        source = read(str(single))
    except (Refusal, HeaderError):
        return None
    if header is None:
        return None

    def beside(path: str) -> bytes:
        name = os.path.relpath(path, single.parent)
        there = multi.parent / name
        return parts[name] if name in parts else there.read_bytes() if there.is_file() else b""

    again = convert_again(source, header.options, True, beside)
    files: dict[str, Conversion | OtherFile] = {single.name: again, **_beside(again, single)}
    same_text = again.text is not None and _bare(again.text) == _bare(made.text)
    edited = [("", () if again.text is None else _edited_lines(again.text, made.text))]
    for part in again.parts:
        name = os.path.relpath(part.path, single.parent)
        data = beside(part.path)
        text = from_bytes(name, data).text if data else ""
        same_text = same_text and _bare(text) == _bare(part.text)
        edited.append((name, _edited_lines(part.text, text)))
    notebook = made.notebook
    origin = ConversionOrigin(
        header=header,
        same_source=header.sha256 == source.sha256,
        rewritten=same_text,
        files=tuple(
            Changed(name, part.source.text if part.source else "", part.text or "", part.trace)
            for name, part in files.items()
            if same_text
        ),
        findings=again.diagnostics if again.status == "converted" else (),
        edited=tuple((name, lines) for name, lines in edited if lines),
        cells=tuple(notebook.place(line + 1) for line in range(len(made.text.splitlines()))) if notebook else (),
    )
    return Repeated(origin, header, again, files)


def convert_anew(single: Path) -> ChangedFiles:
    """The original as the tool converts it: the script and the files that change with it; see `Repeated`."""
    from converter.conversion import convert
    from converter.options import Options
    from converter.source import read

    try:
        made = convert(read(str(single)), Options(), several=True, again=True)
    except Refusal:
        return {}
    return {single.name: made, **_beside(made, single)}


def _beside(made: Conversion, single: Path) -> dict[str, Conversion | OtherFile]:
    """The other files that a conversion changes, by their paths from the script's folder."""
    return {os.path.relpath(part.path, single.parent): part for part in made.parts if part.source is not None}


def _edited_lines(written: str, held: str) -> tuple[int, ...]:
    """The lines of the second text, from one, that the first has not; where lines are missing, the one before."""
    header = _header_line(held)  # further lines of the header are not compared
    lines = len(held.splitlines())
    written, held = _bare(written), _bare(held)
    if written == held:
        return ()
    left_out = lines - len(held.splitlines())
    import difflib

    found: list[int] = []
    matcher = difflib.SequenceMatcher(None, written.splitlines(), held.splitlines(), autojunk=False)
    for tag, _, _, first, last in matcher.get_opcodes():
        if tag != "equal":
            found += range(first + 1, last + 1) if last > first else [max(first, 1)]
    return tuple(dict.fromkeys(line + left_out if line > header else line for line in found))


def _header_line(text: str) -> int:
    """The line of a file's header, 0 where it has none that can be read."""
    try:
        header = find_header(text)
    except HeaderError:
        return 0
    return header.line if header else 0


def _bare(text: str) -> str:
    """A converted file without names and version in its header."""
    return relabel(text, "", version="0", script="", text="", command="", width=0)


def origin_of(repeated: Repeated | None) -> ConversionOrigin:
    """What the header says, and the rules behind the lines of a conversion that can be repeated."""
    return ConversionOrigin() if repeated is None else repeated.origin
