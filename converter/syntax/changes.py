"""Changes to a script's text by place; everything else stays byte for byte."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from converter.dataclass import dataclass
from converter.syntax.script import Script, all_arguments


@dataclass(frozen=True)
class Change:
    """A piece of the text gives way to another.

    begin, end: offsets in characters; equal where something is only added. code: of the rule behind it.
    """

    begin: int
    end: int
    text: str
    code: str


def replaced(script: Script, node: ast.expr, text: str, code: str) -> Change:
    """An expression gives way to another."""
    begin, end = script.span(node)
    return Change(begin, end, text, code)


def applied(text: str, changes: Iterable[Change]) -> tuple[str, tuple[tuple[int, tuple[str, ...]], ...]]:
    """The changed text, and on which of its lines changes end, each with the codes of their rules.

    Raises:
        ValueError: two changes overlap.
    """
    parts: list[str] = []
    lines: dict[int, set[str]] = {}
    place, line = 0, 1
    for change in sorted(dict.fromkeys(changes), key=lambda c: (c.begin, c.end)):
        if change.begin < place:
            raise ValueError(f"two changes at character {change.begin}")
        for part in (text[place : change.begin], change.text):
            parts.append(part)
            line += _ends(part)
        place = change.end
        written = change.text.rstrip(" \t")  # what is left are blanks in front of the script's own text
        lines.setdefault(line - written.endswith(("\n", "\r")), set()).add(change.code)
    return "".join([*parts, text[place:]]), tuple((at, tuple(sorted(codes))) for at, codes in sorted(lines.items()))


def _ends(text: str) -> int:
    return text.count("\n") + text.count("\r") - text.count("\r\n")


def lines_before(script: Script, stmt: ast.stmt, lines: Sequence[str], code: str) -> Change:
    """Lines above a statement, at its indentation; above its decorators and the comments that touch it from above."""
    begin = min([stmt.lineno, *(d.lineno for d in getattr(stmt, "decorator_list", ()))])
    indentation = script.indentation(stmt)
    while begin > 1 and script.line_text(begin - 1).startswith(indentation + "#"):
        begin -= 1
    text = "".join(indentation + line + script.newline if line else script.newline for line in lines)
    return Change(script.line(begin), script.line(begin), text, code)


def indented(script: Script, first: ast.stmt, last: ast.stmt, code: str) -> list[Change]:
    """Statements from `first` to `last` one level deeper; lines inside of strings stay where they are."""
    return [
        Change(script.line(number), script.line(number), script.unit, code)
        for number in range(first.lineno, (last.end_lineno or 0) + 1)
        if number not in script.inside_strings and script.line_text(number).strip()
    ]


def added_argument(script: Script, call: ast.Call, text: str, width: int, code: str) -> Change:
    """The change that adds an argument at the end of a call, on its own line if the others have theirs."""
    end = script.span(call)[1] - 1
    held = all_arguments(call)
    if not held:
        return Change(end, end, text, code)
    last = max(held, key=lambda node: (node.end_lineno or 0, node.end_col_offset or 0))
    after = script.span(last)[1]
    between = script.text[after:end]
    comma = "," in between.split("#")[0]
    place = after + between.index(",") + 1 if comma else after
    before = script.line_text(last.lineno)[: _column(script, last)]
    own_line = before.replace(" ", "").strip() in ("", _keyword(call, last))
    blanks = before[: len(before) - len(before.lstrip())]
    tail = "," if comma and "\n" in between else ""
    if own_line:
        return Change(place, place, ("" if comma else ",") + script.newline + blanks + text + tail, code)
    lead = " " if comma else ", "
    line_end = script.line_text(last.end_lineno or 0)
    if len(line_end) + len(lead + text) <= width:
        return Change(place, place, lead + text, code)
    begun = last.lineno > call.lineno  # the line holds arguments only: go on below them
    same = blanks if begun else " " * (_column(script, held[0]) - len(_keyword(call, held[0])))
    return Change(place, place, lead.rstrip() + script.newline + same + text, code)


def _keyword(call: ast.Call, value: ast.expr) -> str:
    return next((f"{k.arg}=" for k in call.keywords if k.value is value and k.arg), "")


def _column(script: Script, node: ast.expr) -> int:
    return script.span(node)[0] - script.line(node.lineno)


def without_statement(script: Script, stmt: ast.stmt, code: str) -> Change:
    """A statement that stands alone on its lines is taken out, with its lines."""
    return Change(script.line(stmt.lineno), script.line((stmt.end_lineno or 0) + 1), "", code)
