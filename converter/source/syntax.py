"""Parses a script as Python 3, or says what prevents that."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator

from converter.diagnostics import Diagnostic, Refusal
from converter.parsing import parse_text
from converter.source.python2 import Unread, readable, view_or_why
from converter.source.text import Source, split_lines


def parse(source: Source) -> ast.Module:
    """The syntax tree of a script that Python 3 reads; of Python 2, the source of its view (`viewed`).

    Raises:
        Refusal: TMG004 Python 2 syntax without a view, TMG005 any other syntax error, null bytes included.
    """
    if source.notebook is not None:
        _check_cells(source)
    if "\0" in source.text:
        lines = split_lines(source.text[: source.text.index("\0")])
        raise _refusal(source, len(lines), len(lines[-1]) + 1, "null byte", "is this a text file?")
    try:
        with warnings.catch_warnings():
            # Doubtful escapes such as "\d" are the script's business, not the tool's.
            warnings.simplefilter("ignore")
            return parse_text(source.text)
    except SyntaxError as error:
        raise _diagnose(source, error) from None
    except (RecursionError, MemoryError):
        raise _refusal(source, 0, 0, "nested too deeply for Python's own parser", "") from None


def _check_cells(source: Source) -> None:
    """Refuses a notebook of which a cell is not Python by itself: cells are compiled one by one."""
    assert source.notebook is not None
    for _, before, text in source.notebook.script.begins:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tree = parse_text(readable(text))
        except SyntaxError as error:
            error.lineno = (error.lineno or 1) + before
            raise _diagnose(source, error) from None
        except (RecursionError, MemoryError, ValueError):
            continue  # as the whole is
        for node in _awaits(tree):
            message = "a cell waits by itself (await), which only a notebook can"
            hint = "only code outside of `async` is converted"
            raise Refusal(
                Diagnostic("TMG043", source.path, before + node.lineno, node.col_offset + 1, message=message, hint=hint)
            )


def _awaits(tree: ast.Module) -> Iterator[ast.expr | ast.stmt]:
    """The nodes that use `await` outside of functions."""
    todo: list[ast.AST] = [tree]
    while todo:
        node = todo.pop()
        if isinstance(node, (ast.Await, ast.AsyncFor, ast.AsyncWith)):
            yield node
        elif not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            todo += ast.iter_child_nodes(node)


def _diagnose(source: Source, error: SyntaxError) -> Refusal:
    line, column = error.lineno or 0, max(error.offset or 1, 1)
    lines = split_lines(source.text)
    why = view_or_why(source.text)
    if isinstance(why, Unread) and why.hint:
        return Refusal(Diagnostic("TMG004", source.path, why.line, why.column, message=why.message, hint=why.hint))
    message = error.msg
    if isinstance(why, Unread):
        line, column, message = why.line, why.column, why.message
    text = lines[line - 1] if 0 < line <= len(lines) else ""
    return _refusal(source, line, column, message, _hint(text, error))


def mixed_indents(source: Source) -> Refusal:
    """Refuses a text with lines that are indented by tabs and others by blanks: LibCST does not take it."""
    lines = split_lines(source.text)
    for number, line in enumerate(lines, 1):
        if "\f" in line[: len(line) - len(line.lstrip())]:
            return lost_blank(source, number)
    first = next((line[0] for line in lines if line[:1] in (" ", "\t") and line.strip()), "")
    other = (i for i, line in enumerate(lines, 1) if line[:1] in (" ", "\t") and line[0] != first and line.strip())
    message = "blocks are indented by tabs and by blanks"
    return _refusal(source, next(other, 0), 1, message, "`expand -i -t 8` writes blanks only")


def lost_blank(source: Source, line: int) -> Refusal:
    """Refuses a text in which LibCST would change a line: it drops form feeds in front of statements."""
    lines = split_lines(source.text)
    if "\f" in "".join(lines[line - 1 : line]):
        message, hint = "a form feed stands in front of a statement, and would be lost", "put it on a line of its own"
    else:
        message, hint = "blanks on this line would be lost", "take out blanks and blank lines that nothing needs"
    return _refusal(source, line, 1, message, hint)


def too_deep(source: Source, line: int) -> Refusal:
    """Refuse a script with a statement nested too deeply; line 0 if its place is not known."""
    message = "expressions or statements are nested too deeply to be followed"
    hint = "write the longest chain of operators, calls, attributes or elif as a loop, a list or a dict"
    return Refusal(Diagnostic("TMG017", source.path, line, 1 if line else 0, message=message, hint=hint))


def _hint(text: str, error: SyntaxError) -> str:
    if isinstance(error, TabError):
        return "Python 2 took a tab for eight columns; `expand -i -t 8` writes blanks instead"
    if text.lstrip()[:1] in ("%", "!"):
        return "a notebook's command; take it out, or export with `jupyter nbconvert --to python`"
    return "Python stops at the same place: mend the line, or export the text anew from where it comes"


def _refusal(source: Source, line: int, column: int, message: str, hint: str) -> Refusal:
    return Refusal(Diagnostic("TMG005", source.path, line, column, message=f"syntax error: {message}", hint=hint))


def first_statement(function: ast.AST) -> ast.stmt:
    """The first statement of a function or a module, behind the text that says what it does."""
    assert isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Module))
    first, *rest = function.body
    return rest[0] if rest and isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) else first
