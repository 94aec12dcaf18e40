"""What comments of a script tell the tool: `# tf-multigpu: shared`, `batch-axis=1`, `ignore[TMG303]`, `skip-file`."""

from __future__ import annotations

import io
import re
import tokenize
from contextlib import suppress
from dataclasses import replace

from converter.dataclass import dataclass
from converter.diagnostics import Diagnostic

_MARK = "tf-multigpu:"
_COMMENT = re.compile(r"#\s*tf-multigpu:\s*(.*?)\s*$")
_KNOWN = re.compile(r"(shared|skip-file|batch-axis|ignore)(?:=(\d+)|\[([A-Z0-9, ]*)\])?")
# Comments that conversions write themselves, which are no pragmas.
_OWN = re.compile(r"(?:text |decided: |helpers for |end of |what stood here |TMG\d{3}\b)")
_TAKES = {"shared": (False, False), "skip-file": (False, False), "batch-axis": (True, False), "ignore": (False, True)}


@dataclass(frozen=True)
class Pragma:
    """One comment for the tool.

    line, column: of the comment, from one. name: shared, batch-axis, ignore or skip-file; "" for what is none of them.
    axis: of batch-axis. codes: of ignore. text: as written.
    """

    line: int
    column: int
    name: str
    axis: int = 0
    codes: tuple[str, ...] = ()
    text: str = ""


def pragmas_in(text: str) -> tuple[Pragma, ...]:
    """All pragmas of a script, in their order; none of a text that is no Python."""
    if _MARK not in text:
        return ()
    found = []
    with suppress(tokenize.TokenError, SyntaxError):
        for token in tokenize.generate_tokens(io.StringIO(text, newline=None).readline):
            said = _COMMENT.match(token.string) if token.type == tokenize.COMMENT else None
            if said and not _OWN.match(said[1]):
                found.append(replace(_read(said[1]), line=token.start[0], column=token.start[1] + 1))
    return tuple(found)


def skips_file(text: str) -> Pragma | None:
    """The pragma that keeps a script from being converted; None without one."""
    return next((pragma for pragma in pragmas_in(text) if pragma.name == "skip-file"), None)


def misread(path: str, pragmas: tuple[Pragma, ...]) -> list[Diagnostic]:
    """TMG027 for comments that are no pragmas, though they begin like one."""
    import difflib

    found = []
    for pragma in (pragma for pragma in pragmas if not pragma.name):
        near = difflib.get_close_matches(re.split(r"[=\[]", pragma.text)[0], _TAKES, 1, 0.5)
        meant = f"; {near[0]} is meant?" if near else ""
        message = f"`{pragma.text}` has no meaning for tf-multigpu{meant}"
        hint = "write shared, batch-axis=K, ignore[CODE] or skip-file"
        found.append(
            Diagnostic("TMG027", path, pragma.line, pragma.column, message=message, hint=hint, severity="warning")
        )
    return found


def without_ignored(path: str, pragmas: tuple[Pragma, ...], findings: tuple[Diagnostic, ...]) -> tuple[Diagnostic, ...]:
    """Findings without the warnings of one file that its `ignore` takes away, and TMG027 for each that takes none."""
    kept, used = list(findings), set()
    ignores = [pragma for pragma in pragmas if pragma.name == "ignore"]
    for pragma in ignores:
        for code in pragma.codes:
            gone = [f for f in kept if (f.path, f.line, f.code, f.severity) == (path, pragma.line, code, "warning")]
            kept = [finding for finding in kept if finding not in gone]
            used |= {(pragma, code)} if gone else set()
    for pragma in ignores:
        unused = [code for code in pragma.codes if (pragma, code) not in used]
        if unused:
            message = f"ignore[{', '.join(unused)}] suppresses no warning of this line"
            hint = "remove the comment, or put it on the line that the warning names"
            kept.append(
                Diagnostic("TMG027", path, pragma.line, pragma.column, message=message, hint=hint, severity="warning")
            )
    return tuple(kept)


def _read(said: str) -> Pragma:
    nothing = Pragma(0, 0, "", text=said)
    parts = _KNOWN.fullmatch(said)
    if parts is None or _TAKES[parts[1]] != (parts[2] is not None, parts[3] is not None):
        return nothing
    codes = tuple(code.strip() for code in (parts[3] or "").split(",") if code.strip())
    if parts[1] == "ignore" and not codes:
        return nothing
    return Pragma(line=0, column=0, name=parts[1], axis=int(parts[2] or 0), codes=codes, text=said)
