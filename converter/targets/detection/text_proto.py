"""Messages in protobuf's text format, with the place of each field.

The format: https://protobuf.dev/reference/protobuf/textformat-spec
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import field

from converter.dataclass import dataclass

_TOKEN = re.compile(
    r"""(?P<blank>[\s,;]+|\#[^\n]*)
      | (?P<string>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
      | (?P<open>[{<]) | (?P<close>[}>]) | (?P<list>[\[\]]) | (?P<colon>:)
      | (?P<word>[-+.\w]+)""",
    re.VERBOSE | re.ASCII,
)


class TextProtoError(ValueError):
    """A text that is not in the format.

    offset: where it stops being so, in characters from the text's beginning.
    """

    def __init__(self, offset: int, message: str) -> None:
        super().__init__(message)
        self.offset = offset


@dataclass(frozen=True)
class Scalar:
    """A scalar field: its text, and where that begins and ends, in characters."""

    name: str
    text: str
    begin: int
    end: int


@dataclass
class Message:
    """A field that holds other fields; the whole text is one with the name "".

    begin: where its name begins, in characters.
    """

    name: str
    begin: int
    values: list[Scalar] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)

    def value(self, name: str) -> Scalar | None:
        """The scalar field of this name; the last one, which is what protobuf takes where there are several."""
        return next((value for value in reversed(self.values) if value.name == name), None)

    def message(self, *path: str) -> Message | None:
        """The message at the end of a path of names, None where a part is missing.

        Raises:
            TextProtoError: the text has one of the messages twice; protobuf merges them field by field.
        """
        found: Message | None = self
        for name in path:
            here = [one for one in found.messages if one.name == name] if found else []
            if len(here) > 1:
                raise TextProtoError(here[1].begin, f"{name} is there twice")
            found = here[0] if here else None
        return found

    def walk(self) -> Iterator[Message]:
        """This message and all messages inside it."""
        yield self
        for one in self.messages:
            yield from one.walk()


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    begin: int


def parse(text: str) -> Message:
    """Reads a text as a message.

    Raises:
        TextProtoError: the text is not in the format.
    """
    tokens = list(_tokens(text))
    top = Message("", 0)
    open_: list[tuple[Message, str]] = [(top, "")]
    place = 0
    while place < len(tokens):
        token = tokens[place]
        inside, closing = open_[-1]
        if token.kind == "close":
            if token.text != closing:
                raise TextProtoError(token.begin, f"{token.text!r} closes no message that is open here")
            open_.pop()
            place += 1
        elif token.kind == "word":
            place = _field(tokens, place, inside, open_)
        else:
            raise TextProtoError(token.begin, f"a field was expected, not {token.text!r}")
    if len(open_) > 1:
        raise TextProtoError(open_[-1][0].begin, f"{open_[-1][0].name} is not closed")
    return top


def _field(tokens: list[_Token], place: int, inside: Message, open_: list[tuple[Message, str]]) -> int:
    """Reads a field's name and value, or opens a message; returns the place of the next token."""
    name, place = tokens[place], place + 1
    colon = place < len(tokens) and tokens[place].kind == "colon"
    place += colon
    if place == len(tokens):
        raise TextProtoError(name.begin, f"{name.text} has no value")
    token = tokens[place]
    if token.kind == "open":
        made = Message(name.text, name.begin)
        inside.messages.append(made)
        open_.append((made, "}" if token.text == "{" else ">"))
        return place + 1
    if token.text == "[":
        end = next((i for i in range(place, len(tokens)) if tokens[i].text == "]"), len(tokens))
        if end == len(tokens):
            raise TextProtoError(token.begin, f"the list of {name.text} is not closed")
        inside.values += [_value(name, one) for one in tokens[place + 1 : end] if one.kind in ("word", "string")]
        return end + 1
    if not colon or token.kind not in ("word", "string"):
        raise TextProtoError(token.begin, f"{name.text} has no value")
    inside.values.append(_value(name, token))
    place += 1
    while token.kind == "string" and place < len(tokens) and tokens[place].kind == "string":
        place += 1  # a string in several parts
    return place


def _value(name: _Token, token: _Token) -> Scalar:
    return Scalar(name.text, token.text, token.begin, token.begin + len(token.text))


def _tokens(text: str) -> Iterator[_Token]:
    place = 0
    while place < len(text):
        found = _TOKEN.match(text, place)
        if found is None:
            raise TextProtoError(place, f"{text[place]!r} has no meaning here")
        if found.lastgroup != "blank":
            yield _Token(str(found.lastgroup), found[0], place)
        place = found.end()
