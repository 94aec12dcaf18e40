"""A file's bytes as text, and text as a file's bytes, with nothing lost on the way."""

from __future__ import annotations

import codecs
import os
import re
import tokenize
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import field, replace
from typing import TYPE_CHECKING, BinaryIO

from converter.dataclass import dataclass
from converter.diagnostics import Diagnostic, Refusal, refusal_of

if TYPE_CHECKING:
    from converter.source.notebook import Notebook

_COOKIE_HINT = "save the file as UTF-8, or name its encoding in the first line: # -*- coding: latin-1 -*-"
MOST_BYTES = 256 * 2**20  # of a file: notebooks with their pictures are the largest
# Form feeds and the Unicode separators end a line for str.splitlines, but not for Python.
_LINE_END = re.compile(r"\r\n|\n|\r")


@dataclass(frozen=True)
class Source:
    """One file as it was read.

    path: as the user named it, or `<stdin>`.
    data: the file's bytes.
    text: those bytes decoded, without the byte order mark, newlines exactly as in the file; of a notebook its Python
        cells, one after the other.
    encoding: the codec that Python reads the file with (PEP 263).
    bom: whether a UTF-8 byte order mark stands in front.
    notebook: what the file is, where it is no script.
    python2: whether the text is the view of a Python 2 file (`converter.source.python2`), not what stands in it.
    """

    path: str
    data: bytes = field(repr=False)
    text: str = field(repr=False)
    encoding: str = "utf-8"
    bom: bool = False
    notebook: Notebook | None = None
    python2: bool = False

    @property
    def code(self) -> bytes:
        """The Python code of the file: its bytes, or the code cells of a notebook."""
        return self.data if self.notebook is None else _own_text(self, self.text).encode("utf-8", "surrogatepass")

    @property
    def sha256(self) -> str:
        """The hash of the file's code, 64 hexadecimal digits: a notebook stays the same when it is run."""
        return sha256(self.code)


def sha256(data: bytes) -> str:
    """The hash of a file's bytes, 64 hexadecimal digits."""
    import hashlib  # 3 ms, which a file without TensorFlow is spared

    return hashlib.sha256(data).hexdigest()


def load(path: str) -> bytes:
    """A file's bytes.

    Raises:
        Refusal: TMG001, the file cannot be read, or is larger than any script.
    """
    try:
        with open(path, "rb") as file:
            return whole(file, path)
    except IsADirectoryError:
        message, hint = "is a folder, not a file", "name a script, or the folder where folders are taken"
    except FileNotFoundError:
        message, hint = "no such file", "check the path"
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        message, hint = f"cannot be read: {reason}", "check the permissions"
    raise refusal_of("TMG001", path, message, hint)


def whole(file: BinaryIO, path: str) -> bytes:
    """All bytes of an open file, which may be a device or a pipe without an end.

    Raises:
        Refusal: TMG001, there are more than MOST_BYTES.
    """
    data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        message = f"is larger than {MOST_BYTES >> 20} MB, and no script is"
        raise refusal_of("TMG001", path, message, "name a script or a notebook")
    return data


def read(path: str) -> Source:
    """Reads and decodes one script.

    Raises:
        Refusal: TMG001 unreadable, TMG002 not decodable, TMG003 empty.
    """
    return from_bytes(path, load(path))


def from_bytes(path: str, data: bytes) -> Source:
    """Decodes one script as Python does: byte order mark, coding cookie, else UTF-8.

    Raises:
        Refusal: TMG002 not decodable, TMG003 empty.
    """
    bom = data.startswith(codecs.BOM_UTF8)
    body = data[len(codecs.BOM_UTF8) :] if bom else data
    if path.endswith(".ipynb") or (path == "<stdin>" and body.lstrip()[:1] == b"{" and b'"nbformat"' in body):
        return _notebook(path, data, body, bom)
    encoding = _encoding_of(path, data)
    try:
        text = body.decode(encoding)
        # A codec with several spellings for one text (UTF-7, the stateful Asian ones) cannot give the
        # untouched parts of a file back byte for byte.
        if text.encode(encoding) != body:
            raise UnicodeError("it does not give the same bytes back")
    except UnicodeDecodeError as error:
        raise _undecodable(path, body, encoding, error) from None
    except (UnicodeError, LookupError) as error:
        message = f"the encoding {encoding} cannot be used here: {error}"
        raise Refusal(Diagnostic("TMG002", path, 1, 1, message=message, hint="save the file as UTF-8")) from None
    if not text.strip():
        message = "the file is empty" if not data else "the file holds nothing but blanks"
        raise refusal_of("TMG003", path, message, "name the training script")
    return Source(path, data, text, encoding, bom)


def _notebook(path: str, data: bytes, body: bytes, bom: bool) -> Source:
    """A notebook's cells as a script; one without code is empty."""
    from converter.source.notebook import read_notebook

    try:
        notebook = read_notebook(path, body.decode())
    except UnicodeDecodeError as error:
        raise _undecodable(path, body, "utf-8", error) from None
    return Source(path=path, data=data, text=notebook.script.text, encoding="utf-8", bom=bom, notebook=notebook)


def in_script(finding: Diagnostic, source: Source) -> Diagnostic:
    """A finding about a notebook's cell, placed in the script; other findings unchanged."""
    notebook = source.notebook
    if notebook is None or not finding.cell or finding.path != source.path:
        return finding
    return replace(finding, line=notebook.script_line(finding.cell, finding.line), cell=0, file_line=0)


def too_long(source: Source, most: int) -> Refusal:
    """Refuses a script of more lines than may be read."""
    lines = source.code.count(b"\n")
    hint = f"move data into files of their own, or allow it: --max-lines {lines}"
    found = Diagnostic("TMG019", source.path, most + 1, 1, message=f"{lines:,} lines are more than {most:,}", hint=hint)
    return Refusal(in_cells(found, source))


def encode(source: Source, text: str) -> bytes:
    """The bytes of a text that takes the place of `source`'s: same codec, same byte order mark.

    Raises:
        Refusal: TMG044, a notebook's cells cannot be those of the text.
    """
    text = _own_text(source, text)
    text = source.notebook.with_script(text) if source.notebook else text
    return (codecs.BOM_UTF8 if source.bom else b"") + text.encode(source.encoding)


def _own_text(source: Source, text: str) -> str:
    """A text of the source in the file's own language: of a view, Python 2."""
    if not source.python2:
        return text
    from converter.source.python2 import restored

    return restored(text)


def with_lines(
    findings: tuple[Diagnostic, ...], source: Source, originals: Mapping[str, bytes]
) -> tuple[Diagnostic, ...]:
    """Adds to each finding the text of its line, in the script or in another file of its project.

    Those of a notebook get the places in its cells; those in the view of a Python 2 file, the columns in the file.

    originals: what files are read as, by absolute path, where this run wrote over them.
    """
    texts = {source.path: source.text}
    found = [finding if finding.cell else _with_line(finding, texts, originals) for finding in findings]
    return tuple(in_cells(_in_python_2(finding), source) for finding in found)


def _in_python_2(finding: Diagnostic) -> Diagnostic:
    """A finding that quotes the script as it is written; the view of Python 2 has marks in it."""
    if "\f" not in finding.message + finding.hint:
        return finding
    from converter.source.python2 import restored

    return replace(finding, message=restored(finding.message), hint=restored(finding.hint))


def in_cells(finding: Diagnostic, source: Source) -> Diagnostic:
    """A finding about a notebook's script, placed in its cell; other findings unchanged."""
    notebook = source.notebook
    if notebook is None or finding.cell:
        return finding
    told = replace(finding, message=notebook.told(finding.message), hint=notebook.told(finding.hint))
    cell, line = notebook.place(finding.line) if finding.path == source.path else (0, 0)
    return replace(told, cell=cell, line=line, file_line=notebook.file_line(cell, line)) if cell else told


def _with_line(finding: Diagnostic, texts: dict[str, str], originals: Mapping[str, bytes]) -> Diagnostic:
    if not finding.line:
        return finding
    if finding.path not in texts:
        with suppress(Refusal):  # unreadable files have findings of their own
            data = originals.get(os.path.abspath(finding.path))
            texts[finding.path] = from_bytes(finding.path, load(finding.path) if data is None else data).text
    text = texts.get(finding.path, "")
    lines = split_lines(text)
    if finding.line > len(lines):
        return finding
    from converter.source.python2 import original_place, readable

    _, column = original_place(text, readable(text), finding.line, finding.column)
    return replace(finding, text=lines[finding.line - 1], column=column)


def split_lines(text: str) -> list[str]:
    """The lines as Python counts them, without their ends."""
    return _LINE_END.split(text)


def line_ends(text: str) -> list[int]:
    """Where the end of each line is over that has one, as offsets."""
    return [found.end() for found in _LINE_END.finditer(text)]


def _encoding_of(path: str, data: bytes) -> str:
    for mark, name in (
        (codecs.BOM_UTF32_LE, "UTF-32"),
        (codecs.BOM_UTF16_LE, "UTF-16"),
        (codecs.BOM_UTF32_BE, "UTF-32"),
        (codecs.BOM_UTF16_BE, "UTF-16"),
    ):
        if data.startswith(mark):
            message = f"the file is {name}, which Python does not read"
            raise Refusal(Diagnostic("TMG002", path, 1, 1, message=message, hint="save the file as UTF-8"))
    lines = iter(data[:1024].splitlines(keepends=True)[:2])
    try:
        encoding, _ = tokenize.detect_encoding(lambda: next(lines, b""))
    except SyntaxError as error:
        # The cookie names no codec, or one that the byte order mark contradicts. Bytes that are not
        # UTF-8 in the first two lines come here too; decoding the whole says where they are.
        if "encoding" in str(error) and "missing" not in str(error):
            reason = error.msg
            if data.startswith(codecs.BOM_UTF8):
                reason = "beside a byte order mark Python takes only utf-8"
            message = f"the coding cookie cannot be followed: {reason}"
            line = 1 + (b"coding" not in data.splitlines()[0])
            raise Refusal(Diagnostic("TMG002", path, line, 1, message=message, hint=_COOKIE_HINT)) from None
        return "utf-8"
    return "utf-8" if encoding == "utf-8-sig" else encoding


def _undecodable(path: str, body: bytes, encoding: str, error: UnicodeDecodeError) -> Refusal:
    lines = split_lines(body[: error.start].decode(encoding, "replace"))
    message = f"byte 0x{body[error.start]:02x} at offset {error.start} is not {encoding}: {error.reason}"
    return Refusal(Diagnostic("TMG002", path, len(lines), len(lines[-1]) + 1, message=message, hint=_COOKIE_HINT))
