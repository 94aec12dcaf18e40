"""What the tool has to say about a place in a script: plain data until the command line prints it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning", "info"]


@dataclass(frozen=True)
class Diagnostic:
    """One finding.

    An error means that the file is refused and nothing is written; a warning stands beside a
    conversion that leaves its reader something to decide. Lines and columns count from one;
    line 0 means the file as a whole.
    """

    code: str
    path: str
    line: int
    column: int
    message: str
    hint: str = ""
    severity: Severity = "error"


class Refusal(Exception):
    """Carries the diagnostic that ends the work on one file up to that file's border."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic
