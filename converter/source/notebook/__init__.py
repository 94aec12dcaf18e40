"""Notebooks: reads their code cells as one script, and writes changed cells back."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from dataclasses import field

from converter.dataclass import dataclass
from converter.diagnostics import Diagnostic, Refusal, Severity, refusal_of
from converter.source.notebook.json_text import FormatError, Scanned, scan, with_sources
from converter.source.notebook.magics import OWN, hidden
from converter.source.notebook.script import CellError, NotebookScript, Settled, runs, script_of, settled

__all__ = ["Notebook", "Settled", "code_in", "read_notebook", "results_in", "same_cells"]

_FORMAT = 4
# Lines of the notebook in what the tool says, and not those of a module beside it.
_LINES = (
    r"(?<!\.py )(?<!\.py, )\b(?:lines (?P<first>\d+) (?P<word>to|and) (?P<last>\d+)|line (?P<one>\d+))\b"
    r"(?! of [\w./]+\.py)"
)
_HALF = re.compile("[\ud800-\udfff]")  # JSON can hold one half of a surrogate pair; no encoding of Python's files can
_OWN_MARKS = (OWN, "# tf-multigpu-cell", "# tf-multigpu-timed")


@dataclass(frozen=True)
class Notebook:
    """A notebook as it was read.

    path: as the user named it. json: its text, without a byte order mark. script: its Python cells as one text.
    """

    path: str
    json: str = field(repr=False)
    scanned: Scanned = field(repr=False)
    script: NotebookScript = field(repr=False)

    def place(self, line: int) -> tuple[int, int]:
        """The cell of a line of the script, and the line there, from one; for line 0 both are 0."""
        if not 0 < line <= len(self.script.places):
            return 0, 0
        return self.script.places[line - 1]

    def script_line(self, number: int, line: int) -> int:
        """The line of the script at which a line of a cell stands."""
        places = self.script.places
        return max((at for at, place in enumerate(places, 1) if place == (number, line)), default=0)

    def file_line(self, number: int, line: int) -> int:
        """The line of the JSON text at which a line of a cell begins."""
        cell = self.scanned.cells[number - 1]
        raw = self.json[cell.begin : cell.end]
        begin = self.json.count("\n", 0, cell.begin) + 1
        if not raw.startswith("["):
            return begin
        wanted, before = line - 1, 0
        decoder, at = json.JSONDecoder(), 0
        while (at := raw.find('"', at)) >= 0:
            value, end = decoder.raw_decode(raw, at)
            if wanted < before + max(value.count("\n"), 1):
                return begin + raw.count("\n", 0, at)
            before, at = before + value.count("\n"), end
        return begin

    def told(self, words: str) -> str:
        """A sentence of the tool, with the places in cells of the lines of the script that it names."""
        named = rf"(?P<name>{re.escape(os.path.basename(self.path))}):(?P<at>\d+)\b"
        return re.sub(f"{named}|{_LINES}", self._in_cell, words)

    def _in_cell(self, found: re.Match[str]) -> str:
        if found["name"]:
            return f"{found['name']}, {self._where(found['at'])}"
        if found["one"]:
            return self._where(found["one"])
        return f"{self._where(found['first'])} {found['word']} {self._where(found['last'])}"

    def _where(self, line: str) -> str:
        cell, inner = self.place(int(line))
        return f"cell {cell}, line {inner}" if cell else f"line {line}"

    def settled(self, text: str, whole: bool = False) -> Settled:
        """A changed script as cells; `whole` for one that was made of such cells.

        Raises:
            Refusal: TMG044, the cells cannot be those of the changed script.
        """
        try:
            found = settled(text, self.scanned.cells, whole)
        except CellError as error:
            place = self._diagnostic("TMG044", error.cell, str(error), error.hint)
            raise Refusal(place) from None
        return found

    def with_script(self, text: str) -> str:
        """The notebook's JSON text with another script in its cells, as `settled` gives it."""
        return with_sources(self.json, self.scanned, dict(self.settled(text, True).sources))

    def warnings(self) -> Iterator[Diagnostic]:
        """TMG045 for magics that run Python which is not looked into."""
        for cell in self.scanned.cells:
            for line, name in hidden(cell.source) if cell.kind == "code" else ():
                message = f"{name} runs Python that is not looked into"
                hint = "where it trains or builds the model, write it into a cell without the magic"
                yield self._diagnostic("TMG045", cell.number, message, hint, line, "warning")

    def _diagnostic(
        self, code: str, cell: int, message: str, hint: str, line: int = 1, severity: Severity = "error"
    ) -> Diagnostic:
        return Diagnostic(
            code,
            self.path,
            line,
            1,
            message=message,
            hint=hint,
            severity=severity,
            cell=cell,
            file_line=self.file_line(cell, line),
        )


def read_notebook(path: str, text: str) -> Notebook:
    """A notebook from its JSON text.

    Raises:
        Refusal: TMG002 half a character, TMG040 no notebook, TMG041 an old format, TMG042 another language than
            Python, TMG043 a cell that cannot be followed.
    """
    try:
        scanned = scan(text)
    except FormatError as error:
        raise Refusal(_no_notebook(path, text, error)) from None
    if scanned.version != _FORMAT:
        from shlex import quote

        message = f"the notebook has format {scanned.version}, and {_FORMAT} is read"
        hint = f"write it anew: jupyter nbconvert --to notebook --nbformat {_FORMAT} --inplace {quote(path)}"
        raise refusal_of("TMG041", path, message, hint)
    language = _language(scanned)
    if not language.lower().startswith(("python", "ipython")):
        message = f"the notebook's language is {language}, not Python"
        raise refusal_of("TMG042", path, message, "only Python is converted")
    notebook = Notebook(path, text, scanned, script_of(scanned.cells))
    for cell in scanned.cells:
        if runs(cell) and (half := _HALF.search(cell.source)):
            message = f"the cell has \\u{ord(half[0]):x}, half of a character, which Python cannot read"
            line = cell.source.count("\n", 0, half.start()) + 1
            hint = "take it out, or write it with a backslash into the string, as an escape"
            raise Refusal(notebook._diagnostic("TMG002", cell.number, message, hint, line))
        if runs(cell) and any(mark in cell.source for mark in _OWN_MARKS):
            message = "the cell has a text that tf-multigpu uses for its own marks"
            raise Refusal(notebook._diagnostic("TMG043", cell.number, message, "take it out"))
    return notebook


def code_in(data: bytes) -> bytes:
    """The Python code of a notebook; the bytes unchanged if they are no notebook."""
    try:
        return script_of(scan(data.decode("utf-8-sig")).cells).text.encode("utf-8", "replace")
    except (ValueError, RecursionError):
        return data


def same_cells(one: bytes, other: bytes) -> bool:
    """Whether two notebooks have the same cells, whatever results stand in them."""
    try:
        cells = [scan(data.decode("utf-8-sig")).cells for data in (one, other)]
    except (ValueError, RecursionError):
        return False
    return [(c.kind, c.source) for c in cells[0]] == [(c.kind, c.source) for c in cells[1]]


def results_in(data: bytes) -> set[str]:
    """The outputs that running has left in the cells of a notebook, as JSON; none for other files."""
    try:
        cells = json.loads(data.decode("utf-8-sig"))["cells"]
        return {json.dumps(cell["outputs"]) for cell in cells if cell.get("outputs")}
    except (ValueError, RecursionError, TypeError, KeyError, AttributeError):
        return set()


def _language(scanned: Scanned) -> str:
    for key, name in (("kernelspec", "language"), ("language_info", "name")):
        held = scanned.metadata.get(key)
        value = held.get(name) if isinstance(held, dict) else None
        if isinstance(value, str) and value:
            return value
    return "python"


def _no_notebook(path: str, text: str, error: FormatError) -> Diagnostic:
    line = text.count("\n", 0, error.at) + 1 if error.at >= 0 else 0
    column = error.at - text.rfind("\n", 0, error.at) if error.at >= 0 else 0
    hint = "open it in Jupyter and save it, or take it from version control again"
    return Diagnostic("TMG040", path, line, column, message=f"this is not a notebook: {error}", hint=hint)
