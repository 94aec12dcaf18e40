"""Parses only the statements that edits touch, and puts the others back into the result.

LibCST takes most of the time of a conversion, for parsing and for generating the code, and most of a long script are
functions and classes that stay as they are. Where these stand, Python's own tree says; in what LibCST sees, a call with
a string of as many lines takes their place. Where a statement on its own line at most moves as a whole, a name does.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import groupby, zip_longest
from typing import cast

import libcst as cst
from libcst.metadata import CodeRange, PositionProvider
from libcst.metadata.position_provider import PositionProvidingCodegenState

from converter.dataclass import dataclass

Positions = Mapping[cst.CSTNode, CodeRange]

REST = re.compile(r"[ \t]*(?:#.*)?")  # what may stand behind a statement on a line of its own
BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+$")  # as the parsers see them


class LossError(ValueError):
    """Something on a line, counted from 1, is not in the tree."""

    def __init__(self, line: int) -> None:
        super().__init__(f"line {line} would change")
        self.line = line


@dataclass(frozen=True)
class Outline:
    """The statements of a script that edits touch, parsed.

    positions: of every node in it; lines are those of the whole script.
    held: what the calls and the names that begin with a certain name stand for.
    """

    module: cst.Module
    positions: Positions
    name: str
    held: tuple[str, ...]

    def filled(self, code: str, more: Sequence[str] = ()) -> str:
        """Code that was made from the outline with what is held put back.

        more: what further names stand for, as `stand_in` makes them.
        """
        held = (*self.held, *more)
        if not held:
            return code
        call = re.compile(rf'{self.name}(?:\((\d+), """\s*"""\)|_(\d+)_)')
        return call.sub(lambda match: held[int(match[1] or match[2])], code)

    def stand_in(self, text: str, more: list[str]) -> str:
        """A name that stands for a text, which is added to further ones."""
        more.append(text)
        return f"{self.name}_{len(self.held) + len(more) - 1}_"


def outline(
    text: str, tree: ast.Module, edited: Callable[[int, int], bool], inside: Callable[[int, int], bool] | None = None
) -> Outline:
    """Parse the statements of a script that edits may change.

    text, tree: the script, and as Python parses it; edited(first, last): whether an edit concerns one of these lines;
    inside(first, last): whether one changes something on them, other than that their statements move as a whole.

    Raises:
        LossError: LibCST does not give the text back as it is.
    """
    lines = LINE.findall(text)
    spans = list(_spans(tree, edited))
    name = "held"
    while name in text:
        name += "_"
    held: list[str] = []
    if inside is not None:
        lines = _without_plain(lines, spans, inside, name, held)
    left = _left(lines, spans, name, held)
    if held:
        with suppress(cst.ParserSyntaxError):
            module, places = _parsed("".join(left))
            starts = {places[stmt].start.line for stmt in module.body}
            agree = all(span.free or span.stmt.lineno in starts for span in spans)
            if agree and module.default_indent == _indent(tree, lines):
                return Outline(module, places, name, tuple(held))
    module, places = _parsed(text)
    return Outline(module, places, name, ())


def _parsed(text: str) -> tuple[cst.Module, Positions]:
    """The tree of a text, in which nothing is lost, such as a form feed in front of a statement; and its positions."""
    module = _parsed_as_it_is(text)
    if "\f" in module.default_indent:  # LibCST takes that for the usual one, and then cannot parse with it
        module = module.with_changes(default_indent=module.default_indent.replace("\f", ""))
    if text.endswith("\r"):  # which LibCST takes for no newline there
        module = module.with_changes(has_trailing_newline=True)
    code, positions = _generated(module)
    if code != text:
        pairs = zip_longest(LINE.findall(text), LINE.findall(code))
        raise LossError(next(number for number, (one, other) in enumerate(pairs, 1) if one != other))
    return module, positions


def _parsed_as_it_is(text: str) -> cst.Module:
    """The tree of a text; blank lines and comments at its end are set by hand where LibCST loses some.

    LibCST 1.9 loses blank lines in front of an indented blank line or comment that no statement follows.
    """
    module = cst.parse_module(text)
    lines = LINE.findall(text)
    end = next((i for i in range(len(lines), 0, -1) if not REST.fullmatch(lines[i - 1].rstrip("\r\n"))), 0)
    if not end or not any(line[:1] in (" ", "\t") for line in lines[end:]) or module.code == text:
        return module
    module = cst.parse_module("".join(lines[:end]))
    return module.with_changes(
        footer=[*module.footer, *map(_empty, lines[end:])],
        default_newline=lines[0][len(lines[0].rstrip("\r\n")) :],
        has_trailing_newline=text.endswith(("\n", "\r")),
    )


def _empty(line: str) -> cst.EmptyLine:
    """A line that holds at most a comment."""
    text = line.rstrip("\r\n")
    comment = text.lstrip(" \t")
    return cst.EmptyLine(
        indent=False,
        whitespace=cst.SimpleWhitespace(text[: len(text) - len(comment)]),
        comment=cst.Comment(comment) if comment else None,
        newline=cst.Newline(value=line[len(text) :] or None),
    )


@dataclass(frozen=True)
class _Span:
    """The lines from `first` to `last`, from 1, of a statement and of those that share its lines.

    free: whether they may be left out.
    """

    stmt: ast.stmt
    first: int
    last: int
    free: bool


def _spans(tree: ast.Module, edited: Callable[[int, int], bool]) -> Iterator[_Span]:
    together: list[ast.stmt] = []
    last = 0
    for stmt in [*tree.body, None]:
        if together and (stmt is None or _first(stmt) > last):
            head, first = together[0], _first(together[0])
            docstring = head is tree.body[0] and isinstance(head, ast.Expr)
            kept = docstring or isinstance(head, (ast.Import, ast.ImportFrom, ast.Try))  # helpers stand below them
            yield _Span(head, first, last, not kept and not edited(first, last))
            together = []
        if stmt is not None:
            together.append(stmt)
            last = stmt.end_lineno or 0


def _first(stmt: ast.stmt) -> int:
    decorators = getattr(stmt, "decorator_list", [])
    return int(decorators[0].lineno) if decorators else stmt.lineno


def _without_plain(
    lines: list[str], spans: list[_Span], inside: Callable[[int, int], bool], name: str, held: list[str]
) -> list[str]:
    """The lines with a name in place of each statement on a line of its own that no edit changes; adds to what is held.

    Imports and docstrings stay: helpers stand below them.
    """
    made = list(lines)
    todo: list[ast.AST] = [span.stmt for span in spans if not span.free]
    while todo:
        node = todo.pop()
        blocks = [block for field in BLOCKS if isinstance(block := getattr(node, field, None), list)]
        if blocks:
            todo += (child for block in blocks for child in block)
        elif isinstance(node, ast.stmt) and not _seen(node) and not inside(node.lineno, node.end_lineno or 0):
            line = lines[node.lineno - 1]
            whole = line.rstrip("\r\n")
            margin = len(line) - len(line.lstrip(" \t"))
            if node.end_lineno == node.lineno and margin == node.col_offset and REST.fullmatch(_behind(node, whole)):
                made[node.lineno - 1] = f"{line[:margin]}{name}_{len(held)}_{line[len(whole) :]}"
                held.append(whole[margin:])
    return made


def _seen(stmt: ast.stmt) -> bool:
    """Whether LibCST has to see a statement."""
    text = isinstance(stmt, ast.Expr) and isinstance(stmt.value, ast.Constant)
    return text or isinstance(stmt, (ast.Import, ast.ImportFrom))


def _behind(stmt: ast.stmt, line: str) -> str:
    """The text after a statement on its last line."""
    end = stmt.end_col_offset or 0
    return line[end:] if line.isascii() else line.encode()[end:].decode()


def _left(lines: list[str], spans: list[_Span], name: str, held: list[str]) -> list[str]:
    """The script with a call in place of each run of free statements; adds the text of these runs to what is held."""
    left: list[str] = []
    done = 0
    for free, run in groupby(spans, key=lambda span: span.free):
        if not free:
            continue
        members = list(run)
        begin, end = members[0].first - 1, _end(lines, members[-1].last)
        chunk = "".join(lines[begin:end])
        kept = chunk.rstrip("\r\n")
        ends = "".join(re.findall("[\r\n]", kept))
        left += [*lines[done:begin], f'{name}({len(held)}, """{ends}""")', chunk[len(kept) :]]
        held.append(kept)
        done = end
    return [*left, *lines[done:]]


def _end(lines: list[str], last: int) -> int:
    """The line on which a statement ends, with the comments that are indented as what is in it."""
    end = last
    for number in range(last, len(lines)):
        if lines[number].strip() and not lines[number].lstrip().startswith("#"):
            break
        if lines[number].strip() and lines[number][0].isspace():
            end = number + 1
    return end


def _indent(tree: ast.Module, lines: list[str]) -> str:
    """How the first block of a script is indented, as LibCST takes for all of them."""
    todo: list[ast.AST] = list(reversed(tree.body))
    while todo:
        node = todo.pop()
        if isinstance(node, ast.stmt):
            begin = _first(node)
            margin = lines[begin - 1][: len(lines[begin - 1]) - len(lines[begin - 1].lstrip())]
            if margin and node.col_offset == len(margin):
                return margin
        if not isinstance(node, ast.expr):
            todo += reversed(list(ast.iter_child_nodes(node)))
    return "    "


def _generated(module: cst.Module) -> tuple[str, Positions]:
    """The code of a module and the positions of its nodes, which LibCST finds by generating the code: once for both."""
    provider = PositionProvider()
    state = PositionProvidingCodegenState(
        default_indent=module.default_indent, default_newline=module.default_newline, provider=provider
    )
    module._codegen(state)
    return "".join(state.tokens), cast("Positions", provider._computed)
