"""Protobuf's text format: what is read, with its place, and what is not in the format."""

from __future__ import annotations

import pytest

from converter.targets.detection.text_proto import Message, TextProtoError, parse


def fields(message: Message) -> dict[str, object]:
    """The names of a message with texts and messages below them."""
    return {value.name: value.text for value in message.values} | {m.name: fields(m) for m in message.messages}


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("", {}),
        ("# only a comment", {}),
        ("a: 1", {"a": "1"}),
        ("a:1 b:-2.5e-3,c:X;", {"a": "1", "b": "-2.5e-3", "c": "X"}),
        ("a { b: 1 }", {"a": {"b": "1"}}),
        ("a: { b: 1 }", {"a": {"b": "1"}}),
        ("a < b: 1 >", {"a": {"b": "1"}}),
        ("a\n{\n}\n", {"a": {}}),
        ("a { b { c: true } d: 2 }", {"a": {"b": {"c": "true"}, "d": "2"}}),
        ("a: 'x # no comment { '", {"a": "'x # no comment { '"}),
        ('a: "x \\" y" b: 1', {"a": '"x \\" y"', "b": "1"}),
        ('a: "one" "two" b: 1', {"a": '"one"', "b": "1"}),
        ("a: [1, 2] b: 3", {"a": "2", "b": "3"}),
        ("a: 1 # b: 2\nc: 3", {"a": "1", "c": "3"}),
        ("a: 1\r\nb: 2\r\n", {"a": "1", "b": "2"}),
    ],
)
def test_what_is_read(text: str, read: dict[str, object]) -> None:
    assert fields(parse(text)) == read


def test_a_value_knows_where_it_stands() -> None:
    text = "# ä\ntrain { batch_size : 24# here\n}"
    train = parse(text).message("train")
    value = train.value("batch_size") if train else None
    assert value and text[value.begin : value.end] == "24"


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("a { b: 1", "a {"),
        ("a: 1 }", "}"),
        ("a { b: 1 >", ">"),
        ("a < b: 1 }", "}"),
        ("a 1", "1"),
        ("a:", "a:"),
        ("a", "a"),
        ("{ b: 1 }", "{"),
        ("a: 'x", "'x"),
        ("a: 1 // b", "// b"),
        ("a: [1, 2", "[1"),
        ("a: }", "}"),
        ("a: 1 & 2", "& 2"),
        ("b: 1 'x'", "'x'"),
    ],
)
def test_what_is_not_in_the_format(text: str, rest: str) -> None:
    with pytest.raises(TextProtoError) as error:
        parse(text)
    assert text[error.value.offset :].startswith(rest)


def test_a_message_that_is_there_twice_is_not_guessed_at() -> None:
    text = "a { b: 1 } a { b: 2 }"
    with pytest.raises(TextProtoError, match="a is there twice") as error:
        parse(text).message("a")
    assert error.value.offset == text.rindex("a")
