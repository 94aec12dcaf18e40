"""Findings of the tool about places in a script: plain data until the command line prints them."""

from __future__ import annotations

from dataclasses import field
from typing import Literal

from converter.dataclass import dataclass

Severity = Literal["error", "warning", "info"]
DECISIVE = frozenset({"TMG216", "TMG217"})  # that a script trains on several GPUs already: no edit of a line mends it


@dataclass(frozen=True)
class Diagnostic:
    """One finding.

    An error means that the file is refused and nothing is written; a warning stands beside a
    conversion that leaves its reader something to decide. Lines and columns count from one;
    line 0 means the file as a whole.

    cell: of a notebook, from one among all its cells: line and column are those in the cell. 0 for a script.
    file_line: the line of the notebook's file in which that line of the cell is written. 0 for a script.

    text: that line of the script, without its end; "" where it is not known. It follows from the place, and so
        takes no part in comparisons.
    """

    code: str
    path: str
    line: int
    column: int
    message: str
    hint: str = ""
    severity: Severity = "error"
    text: str = field(default="", compare=False, repr=False)
    cell: int = 0
    file_line: int = 0

    @property
    def where(self) -> str:
        """The line, and of a notebook the cell, in words."""
        return f"cell {self.cell}, line {self.line}" if self.cell else f"line {self.line}"

    @property
    def place(self) -> str:
        """The path with the place in the file."""
        if self.cell:
            return f"{self.path}: {self.where}, column {self.column}"
        return f"{self.path}:{self.line}:{self.column}" if self.line else self.path


class Refusal(Exception):
    """Carries the diagnostic that ends the work on one file up to that file's border."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


def whole_file(code: str, path: str, message: str, hint: str = "", severity: Severity = "error") -> Diagnostic:
    """A finding about a file as a whole."""
    return Diagnostic(code, path, 0, 0, message=message, hint=hint, severity=severity)


def refusal_of(code: str, path: str, message: str, hint: str = "") -> Refusal:
    """The refusal of a file as a whole."""
    return Refusal(whole_file(code, path, message, hint))
