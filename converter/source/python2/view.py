"""Writes a Python 2 text as one that Python 3 reads, line for line, with marks that lead back.

The constructs are those of Python 2.7's grammar (Grammar/Grammar) that Python 3's lacks.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import field

from converter.dataclass import dataclass
from converter.source.python2.marks import ahead, behind, indented, is_view, reindented, restored
from converter.source.python2.tokens import Token, lines_of, tokens_of

_BLOCKS = frozenset(["if", "elif", "else", "for", "while", "try", "except", "finally", "with", "def", "class"])
_NAMES = frozenset(("async", "await", "nonlocal"))  # words that only Python 3 keeps for itself
_OLD_OCTAL = re.compile(r"0[0-7]+")
_PREFIX = re.compile(r"""([uUbBrR]*)('''|\"{3}|'|")""")
_ESCAPED = re.compile(r"\\[uUN]")

Statement = Sequence[Token]


class NoView(Exception):
    """A construct of Python 2 that has no counterpart on the same line: its name, where it stands, and what helps."""

    def __init__(self, what: str, offset: int, hint: str) -> None:
        super().__init__(what)
        self.what, self.offset, self.hint = what, offset, hint


def view_of(text: str) -> str:
    """The view of a Python 2 text; unchanged if it has no construct of Python 2.

    The text need not be Python at all: what is not recognised stays, for Python's parser to judge.

    Raises:
        NoView: a construct cannot be written in the line where it stands.
    """
    if is_view(text):
        raise NoView("form feeds that the tool uses for its own marks", text.index("\f"), "take them out")
    edits = _Edits(text, frozenset(t.text for t in tokens_of(text) if t.kind == "name"))
    lines = list(lines_of(text))
    printed = not _imports_print(lines)
    statements = [list(_statements(line)) for line in lines]
    for number, line in enumerate(statements):
        for at, statement in enumerate(line):
            body = line[at + 1] if at + 1 < len(line) else next(iter(statements[number + 1 : number + 2]), [[]])[0]
            _translate(edits, statement, body, printed)
            _translate_tokens(edits, statement, first=at == 0)
    for token, original, lead in reindented(text):
        if original:
            edits.put(token.begin - len(original), token.begin, lead)
            edits.put(token.end, token.end, indented(lead, original))
    made = edits.applied()
    if restored(made) != text:
        raise AssertionError("a view of Python 2 does not lead back to its text")
    return made


@dataclass
class _Edits:
    """Replacements in a text, collected in any order; those at one place keep theirs."""

    text: str
    names: frozenset[str]
    made: list[tuple[int, int, str]] = field(default_factory=list)

    def put(self, begin: int, end: int, view: str) -> None:
        self.made.append((begin, end, view))

    def behind(self, begin: int, end: int, view: str) -> None:
        """Replace characters of the original, with a mark after the view's."""
        self.put(begin, end, behind(view, self.text[begin:end]))

    def open(self, at: int, view: str) -> None:
        """Insert characters that only the view has, with a mark after them."""
        self.put(at, at, behind(view))

    def close(self, at: int, view: str) -> None:
        """Insert characters that only the view has, with a mark before them."""
        self.put(at, at, ahead(view))

    def fresh(self, parts: str) -> str:
        """A name that the text does not have, made of the names in it."""
        name = "_".join(re.findall(r"\w+", parts)) + "_"
        while name in self.names:
            name += "_"
        return name

    def applied(self) -> str:
        parts, at = [], 0
        for begin, end, view in sorted(self.made, key=lambda edit: edit[:2]):
            parts += [self.text[at:begin], view]
            at = end
        return "".join([*parts, self.text[at:]])


def _imports_print(lines: Sequence[Statement]) -> bool:
    """True if print is a function in this text."""
    return any(
        [token.text for token in line[:2]] == ["from", "__future__"]
        and any(token.text == "print_function" for token in line)
        for line in lines
    )


def _statements(line: Statement) -> Iterator[Statement]:
    """The parts of a logical line: the head of a block with its colon, and simple statements."""
    begin, lambdas = 0, 0
    is_head = line[0].text in _BLOCKS
    for number, token in enumerate(line):
        if token.depth:
            continue
        if token.text == "lambda":
            lambdas += 1
        elif token.text == ":" and lambdas:
            lambdas -= 1
        elif token.text == ":" and is_head:
            yield line[begin : number + 1]
            begin, is_head = number + 1, False
        elif token.text == ";":
            if number > begin:
                yield line[begin:number]
            begin = number + 1
    if begin < len(line):
        yield line[begin:]


def _translate(edits: _Edits, statement: Statement, body: Statement, printed: bool) -> None:
    """Edits that turn a Python 2 statement (print, exec, raise, except …) into Python 3.

    body: the statement after it, the first of the block if this one is the head of a block.
    """
    word = statement[0].text
    if word == "print" and printed:
        _print(edits, statement)
    elif word == "exec":
        _exec(edits, statement)
    elif word == "raise":
        _raise(edits, statement)
    elif word == "except":
        _except(edits, statement, body)
    elif word == "def":
        tuples = list(_tuples(statement[2:-1], statement[2].depth + 1)) if len(statement) > 3 else []
        _bind(edits, [(one, _named(edits, one)) for one in tuples], body)
    for number, token in enumerate(statement):
        if token.text == "lambda":
            _lambda(edits, statement[number:])
        elif token.text == "[":
            _comprehension(edits, statement[number:])


def _is_call(rest: Statement) -> bool:
    """True if a pair of brackets holds all of the tokens."""
    if rest[0].text != "(":
        return False
    closing = next((t for t in rest if t.text == ")" and t.depth == rest[0].depth), None)
    return closing is rest[-1]


def _print(edits: _Edits, statement: Statement) -> None:
    rest = statement[1:]
    if not rest or _is_call(rest):
        return
    if rest[0].text == ">>":
        edits.behind(rest[0].begin, rest[0].end, "(")
    else:
        edits.open(statement[0].end, "(")
    edits.close(rest[-1].end, ")")


def _exec(edits: _Edits, statement: Statement) -> None:
    rest = statement[1:]
    if not rest or _is_call(rest):
        return
    edits.open(statement[0].end, "(")
    within = next((token for token in rest if token.text == "in" and not token.depth), None)
    if within is not None:
        edits.behind(within.begin, within.end, ",")
    edits.close(rest[-1].end, ")")


def _raise(edits: _Edits, statement: Statement) -> None:
    comma = next((token for token in statement if token.text == "," and not token.depth), None)
    if comma is not None:
        edits.behind(comma.begin, comma.end, "(")
        edits.close(statement[-1].end, ")")


def _except(edits: _Edits, statement: Statement, body: Statement) -> None:
    commas = [number for number, token in enumerate(statement) if token.text == "," and not token.depth]
    if len(commas) != 1 or any(token.text == "as" for token in statement):
        return
    comma, target = statement[commas[0]], statement[commas[0] + 1 : -1]
    edits.behind(comma.begin, comma.end, " as")
    if len(target) > 1:
        _bind(edits, [(target, _named(edits, target))], body)


def _tuples(tokens: Statement, depth: int) -> Iterator[Statement]:
    """The parameters in brackets, among the tokens of a list of parameters at this depth."""
    before = ""
    for number, token in enumerate(tokens):
        if token.text == "(" and token.depth == depth and before in ("", ",", "("):
            closing = next(n for n, t in enumerate(tokens) if n > number and t.text == ")" and t.depth == depth)
            yield tokens[number : closing + 1]
        if token.depth <= depth:
            before = token.text


def _named(edits: _Edits, target: Statement) -> str:
    """Replace a tuple that is unpacked by one new name, and return that name."""
    begin, end = target[0].begin, target[-1].end
    written = edits.text[begin:end]
    if "\n" in written or "\r" in written:
        raise NoView("a tuple to unpack that goes over several lines", begin, "write it on one line")
    name = edits.fresh(written)
    edits.behind(begin, end, name)
    return name


def _bind(edits: _Edits, named: Sequence[tuple[Statement, str]], body: Statement) -> None:
    """Unpacks names in front of the first statement of a block."""
    if not named:
        return
    if not body or body[0].text in _BLOCKS or body[0].text == "@":
        hint = "give it a name, and unpack that in the first line of the block"
        raise NoView("a tuple that is unpacked in front of a compound statement", named[0][0][0].begin, hint)
    texts = [f"{edits.text[one[0].begin : one[-1].end]} = {name}; " for one, name in named]
    edits.open(body[0].begin, "".join(texts))


def _lambda(edits: _Edits, tokens: Statement) -> None:
    """`lambda (k, v): k` becomes `lambda k_v_: [k for (k, v) in [k_v_]][0]`."""
    depth = tokens[0].depth
    colon = next((n for n, t in enumerate(tokens) if t.text == ":" and t.depth == depth), len(tokens))
    tuples = list(_tuples(tokens[1:colon], depth))
    if not tuples:
        return
    end = _end_of_lambda(tokens, colon + 1)
    named = [(edits.text[one[0].begin : one[-1].end], _named(edits, one)) for one in tuples]
    edits.open(tokens[colon].end, "[")
    edits.close(end, "".join(f" for {one} in [{name}]" for one, name in named) + "][0]")


def _comprehension(edits: _Edits, tokens: Statement) -> None:
    """`[x for x in 1, 2]` becomes `[x for x in (1, 2)]`."""
    inside: list[Token] = []
    begin = 0
    for token in tokens[1:]:
        if token.depth <= tokens[0].depth:
            closing = token
            break
        if token.depth == tokens[0].depth + 1:
            inside.append(token)
    else:
        return
    at = next((n for n, token in enumerate(inside) if token.text == "for"), len(inside))
    for number, token in enumerate([*inside[at:], closing]):
        if token.text in ("for", "if") or token is closing:
            part = inside[at + begin : at + number] if begin else []
            if any(one.text == "," for one in part):
                edits.open(part[0].begin, "(")
                edits.close(part[-1].end, ")")
            begin = 0
        elif token.text == "in" and not begin:
            begin = number + 1


def _end_of_lambda(tokens: Statement, begin: int) -> int:
    """The offset at which the value of a lambda ends."""
    depth, lambdas, end = tokens[0].depth, 0, tokens[begin - 1].end
    for token in tokens[begin:]:
        if token.depth < depth:
            break
        if token.depth == depth:
            lambdas += token.text == "lambda"
            if token.text in (",", "for", "=") or (token.text == ":" and not lambdas):
                break
            lambdas -= token.text == ":"
        end = token.end
    return end


def _translate_tokens(edits: _Edits, statement: Statement, first: bool) -> None:
    """Edits that turn single tokens of Python 2 (`<>`, `0777`, backquotes …) into Python 3.

    first: whether nothing stands on the line in front of the statement, so that a mark there would indent it.
    """
    quoted: list[int] = []
    for number, token in enumerate(statement):
        at_line = first and number == 0
        if token.text == "<>":
            edits.behind(token.begin, token.end, "!=")
        elif token.text == "`":
            if quoted and quoted[-1] == token.depth:
                quoted.pop()
                edits.put(token.begin, token.end, ahead(")", "`"))
            else:
                quoted.append(token.depth)
                edits.behind(token.begin, token.end, "repr(" if at_line else " repr(")
        elif token.kind == "number":
            _number(edits, token)
        elif token.kind == "string":
            _string(edits, token, statement if at_line else None)
        elif token.kind == "name" and token.text in _NAMES:
            edits.behind(token.begin, token.end, edits.fresh(token.text))


def _number(edits: _Edits, token: Token) -> None:
    number = token.text.rstrip("lL")
    if _OLD_OCTAL.fullmatch(number) and number.strip("0"):
        number = f"0o{number[1:]}"
    if number != token.text:
        edits.behind(token.begin, token.end, number)


def _string(edits: _Edits, token: Token, statement: Statement | None) -> None:
    """A string whose prefix or escapes Python 3 does not take.

    statement: the one that it begins at the beginning of a line, if it does.
    """
    found = _PREFIX.match(token.text)
    assert found is not None
    prefix = _prefix(found[1], token.text)
    if prefix == found[1]:
        return
    if statement is not None:
        edits.open(token.begin, "(")
    edits.put(token.begin, token.begin + len(found[0]), ahead(prefix + found[2], found[0]))
    if statement is not None:
        edits.close(statement[-1].end, ")")


def _prefix(prefix: str, text: str) -> str:
    """The prefix that makes Python 3 take a string."""
    kind = prefix.lower()
    if kind == "ur":
        return prefix[1:]
    if "b" in kind:
        return prefix if text.isascii() else re.sub("[bB]", "", prefix)
    if kind or not _ESCAPED.search(text):
        return prefix
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return "r"
    return prefix
