"""What IPython takes in a cell and Python does not: magics, shell lines and questions, masked so that Python parses it.

A masked line is a call with the line as a string, on as many lines, at its place and indentation: the analysis sees a
call that it does not know. `unmasked` puts the lines back, wherever the calls stand by then.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from converter.parsing import parse_text
from converter.source.python2 import readable

OWN = "_tf_multigpu_line"  # the method that a masked line calls; no notebook has it
HEAD = "# tf-multigpu-cell-magic "  # in front of a cell's magic in its first line
TIMED = "  # tf-multigpu-timed "  # behind a statement that a magic times, with what stood in front of it
# Cell magics below which Python is run as it is, in the notebook's own names.
_PYTHON = {"time", "capture"}
# Cell magics that show something and do nothing else.
_SHOWN = {"html", "HTML", "latex", "markdown", "javascript", "js", "svg", "SVG"}
# Line magics that run Python which stands behind them, or in another file.
_RUNS = {"run", "timeit", "prun", "memit", "mprun", "lprun", "macro", "load", "rerun", "recall", "exec", "execfile"}
_CELL = re.compile(r"\s*%%(\w*)")
_TIME = re.compile(r"%time[ \t]+(?=[^\s\-])")
_CALL = re.compile(rf"get_ipython\(\)\.{OWN}\(((?:'(?:[^'\\]|\\.)*')|(?:\"(?:[^\"\\]|\\.)*\"))(?:,(\s*))?\)", re.DOTALL)
_TIMED_LINE = re.compile(rf"^([ \t]*)([^\r\n]*?){re.escape(TIMED)}('(?:[^'\\]|\\.)*')(?=[\r\n]|\Z)", re.MULTILINE)
_ENDS = re.compile(r"\r\n|\n|\r")
_RIGHT = re.compile(r"=[ \t]*(?=[%!][^=\s])")
_QUOTES = re.compile(r"'''|\"\"\"|'|\"")


def cell_magic(source: str) -> str:
    """The name of the magic on a cell's first line, "" if there is none."""
    found = _CELL.match(source)
    return (found[1] or "%") if found else ""


def is_python(source: str) -> bool:
    """Whether a code cell is Python, which runs in the notebook's own names."""
    return cell_magic(source) in ("", *_PYTHON)


def shows_only(source: str) -> bool:
    """Whether a cell of another language does nothing that code could notice."""
    return cell_magic(source) in _SHOWN


def split_head(source: str) -> tuple[str, str]:
    """The lines of a cell up to its magic, "" without one, and the rest."""
    found = _CELL.match(source)
    if found is None:
        return "", source
    end = _ENDS.search(source, found.end())
    return (source[: end.end()], source[end.end() :]) if end else (source, "")


def masked(source: str) -> str:
    """A cell's lines below its magic, as Python."""
    if not any(mark in source for mark in "%!?"):
        return source
    parts, done = [], 0
    for begin, end in _foreign(source):
        parts += [source[done:begin], _mask(source[begin:end])]
        done = end
    return "".join([*parts, source[done:]])


def unmasked(text: str) -> str:
    """The lines of a cell with their magics restored.

    Raises:
        ValueError: a timed statement takes several lines now.
    """
    if TIMED in text:
        text = _TIMED_LINE.sub(_timed, text)
        if TIMED in text:
            raise ValueError("a statement behind %time has changed its form")
    return _CALL.sub(lambda found: str(ast.literal_eval(found[1])), text) if OWN in text else text


def idle(text: str) -> tuple[str, int]:
    """The masked script with magics that do nothing; and the first line that uses a magic's value, or 0.

    What a notebook has by itself, `display` and `get_ipython`, does nothing either.
    """
    for node in ast.walk(tree := parse_text(readable(text))):
        if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)) and node.value and _is_masked(node.value):
            return "", node.lineno
    text = text.replace(f"get_ipython().{OWN}(", "bool(")
    used = [name for name in ("display", "get_ipython") if re.search(rf"\b{name}\b", text)]
    place = next((stmt.lineno for stmt in tree.body if _may_follow(stmt)), 0)
    if not used or not place:
        return text, 0
    lines = _ENDS.split(text)
    begin = sum(len(line) for line in lines[: place - 1]) + len("".join(_ENDS.findall(text)[: place - 1]))
    return f"{text[:begin]}{' = '.join(used)} = (lambda *given, **named: None); {text[begin:]}", 0


def _is_masked(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == OWN


def _may_follow(stmt: ast.stmt) -> bool:
    """Whether something may stand in front of a statement, on its line."""
    first = isinstance(stmt, ast.ImportFrom) and stmt.module == "__future__"
    docstring = isinstance(stmt, ast.Expr) and isinstance(stmt.value, ast.Constant)
    return not (first or docstring or hasattr(stmt, "body"))


def hidden(source: str) -> Iterator[tuple[int, str]]:
    """The lines of a cell, from one, at which magics run Python that is not looked into, with their names."""
    if not is_python(source):
        if cell_magic(source) in ("timeit", "prun", "memit", "mprun", "lprun"):
            yield 1, "%%" + cell_magic(source)
        return
    head, rest = split_head(source)
    for begin, end in _foreign(rest):
        name = re.match(r"%(\w+)", rest[begin:end])
        if name and name[1] in _RUNS:
            yield len(_ENDS.findall(head + rest[:begin])) + 1, "%" + name[1]


def _mask(line: str) -> str:
    timed = _TIME.match(line)
    code = line[timed.end() :] if timed else ""
    if timed and _is_statement(code):
        return f"{code}{TIMED}{_quoted(line[: timed.end()])}"
    ends = "".join(_ENDS.findall(line))
    return f"get_ipython().{OWN}({_quoted(line)}{',' + ends if ends else ''})"


def _quoted(text: str) -> str:
    """A literal that takes no second line."""
    made = repr(text)
    return made if made.startswith("'") else "'" + made[1:-1].replace("'", "\\'") + "'"


def _is_statement(code: str) -> bool:
    if "#" in code or _ENDS.search(code):
        return False
    try:
        return len(parse_text(readable(code)).body) == 1
    except (SyntaxError, ValueError):
        return False


def _timed(found: re.Match[str]) -> str:
    """The line again, where its statement is whole; else it is left, and seen by that."""
    return f"{found[1]}{ast.literal_eval(found[3])}{found[2]}" if _is_statement(found[2]) else found[0]


def _foreign(source: str) -> Iterator[tuple[int, int]]:
    """Where lines, or the right sides of assignments, stand that are no Python."""
    at = 0
    while at < len(source):
        begin = at
        while begin < len(source) and source[begin] in " \t\f":
            begin += 1
        if source[begin : begin + 1] in ("%", "!", "?"):
            at = _line_end(source, begin, True)
            yield begin, at
        else:
            at, found = _statement(source, begin)
            if found is not None:
                yield found, at
        skipped = _ENDS.match(source, at)
        at = skipped.end() if skipped else at


def _line_end(source: str, at: int, goes_on: bool) -> int:
    """The end of a line, of the last one where backslashes join several."""
    while True:
        end = _ENDS.search(source, at)
        if end is None:
            return len(source)
        if not (goes_on and source[end.start() - 1 : end.start()] == "\\"):
            return end.start()
        at = end.end()


def _statement(source: str, begin: int) -> tuple[int, int | None]:
    """The end of a statement's lines, and where in them begins what is no Python; None where all of it is."""
    depth, at = 0, begin
    while at < len(source):
        letter = source[at]
        if letter in "'\"":
            at = _string_end(source, at)
        elif letter == "#":
            at = _line_end(source, at, False)
        elif letter == "\\" and (skipped := _ENDS.match(source, at + 1)):
            at = skipped.end()
        elif letter in "\r\n":
            if depth <= 0:
                return at, None
            at += 1
        elif letter == "?" and depth <= 0:
            return _line_end(source, at, False), begin
        elif letter == "=" and depth <= 0 and (right := _RIGHT.match(source, at)):
            return _line_end(source, right.end(), True), right.end()
        else:
            depth += (letter in "([{") - (letter in ")]}")
            at += 1
    return at, None


def _string_end(source: str, at: int) -> int:
    """Behind a string; one that its line does not end, ends with it."""
    found = _QUOTES.match(source, at)
    quote = found[0] if found else source[at]
    at += len(quote)
    while at < len(source):
        if source[at] == "\\":
            at += 3 if source.startswith("\r\n", at + 1) else 2
        elif source.startswith(quote, at):
            return at + len(quote)
        elif len(quote) == 1 and source[at] in "\r\n":
            return at
        else:
            at += 1
    return len(source)
