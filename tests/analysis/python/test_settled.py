"""Functions whose calls show nothing again and again are followed no longer; others are, however often."""

from __future__ import annotations

import pytest

from converter.analysis.python.settled import SHOWN
from converter.analysis.values import Host, Number, Sequence
from tests.analysis.flow.test_repeats import walked
from tests.scripts import INPUTS, MODEL, STEP, TRAINING, codes

HEAD = """\
import numpy as np
import tensorflow as tf

lines, seen, kept, total = open('x').readlines(), [], {{}}, 0
x = tf.placeholder(tf.float32, [None, 4])


class Log:
    last = ''


def g(line):
    seen.append(line)


def f(line):
    {body}


"""
CALLS = 3 * SHOWN
PLAIN = {
    "text": "return line.strip()",
    "printing": "print(line)",
    "numbers": "words = line.split()\n    return len(words) / 2, len(set(words))",
    "a list of its own": "words = []\n    words.append(line)\n    return str(words)",
    "a text": "return 'word'",
}
TELLING = {
    "builds": "return tf.constant(line)",
    "counts": "global total\n    total += 1\n    return line",
    "collects": "seen.append(line)\n    return line",
    "sets": "Log.last = line\n    return line",
    "reads the model": "print(x)\n    return line",
    "gives a list": "return [line]",
    "takes away": "seen.pop()\n    return line",
    "sorts": "seen.sort()\n    return line",
    "fills": "kept['a'] = line\n    return line",
    "calls one that counts": "g(line)\n    return line",
}


def executed(body: str, given: str = "'line %d' % {n}") -> int:
    calls = "".join(f"made = f({given.format(n=n)})\n" for n in range(CALLS))
    return walked(HEAD.format(body=body) + calls).executed


@pytest.mark.parametrize("body", PLAIN.values(), ids=PLAIN)
def test_what_shows_nothing_is_followed_so_many_times(body: str) -> None:
    lines = body.count("\n") + 1
    most = CALLS + 20 + SHOWN * lines
    assert executed(body, "lines[{n}]") <= most


@pytest.mark.parametrize("body", TELLING.values(), ids=TELLING)
def test_what_shows_something_is_followed_each_time(body: str) -> None:
    assert executed(body, "lines[{n}]") >= 2 * CALLS


@pytest.mark.parametrize("given", ["x", "[x]", "{{'x': x}}", "x[:, {n}]", "Log()", "f"])
def test_what_is_given_a_part_of_the_model_or_an_object_is_followed_each_time(given: str) -> None:
    assert executed("return str(line)", given) >= 2 * CALLS


def test_a_result_has_the_form_of_the_earlier_ones() -> None:
    body = "words = line.split()\n    return len(words) / 2, words[0], None"
    plain = walked(HEAD.format(body=body) + "made = f(lines[0])\n" * CALLS)
    result = plain.module.locals["made"]
    assert isinstance(result, Sequence)
    assert [type(part).__name__ for part in result.elements] == ["Host", "Host", "Constant"]


def test_a_number_of_a_settled_call_is_not_known() -> None:
    script = HEAD.format(body="return len(line.split()) + 1") + "made = f(lines[0])\n" * CALLS
    result = walked(script).module.locals["made"]
    assert isinstance(result, Host) and not isinstance(result, Number)
    assert any(isinstance(v, Host) for v in result.inputs)  # the line that it depends on


RECURSIVE = """\
class Node:
    def __init__(self, text):
        self.text, self.below = text, []


def f(data):
    if isinstance(data, dict):
        return {{f(key): f(value) for key, value in data.items()}}
    if isinstance(data, list):
        {first}node = Node(str(data))
        node.below = [f(one) for one in data]
        return node
    return data.strip()


settings = [f(line) for line in open('x')]
tree = f(json.load(open('y')))
rate = {last}
"""


def codes_of(first: str, last: str) -> list[str]:
    script = "import json\nfound = []\n" + INPUTS + RECURSIVE.format(first=first, last=last)
    return codes(script + MODEL.replace("tf.square(", "rate * tf.square(") + STEP + TRAINING)


def test_what_a_function_that_calls_itself_makes_of_data_is_data() -> None:
    assert codes_of("", "len(f(json.load(open('z'))))") == []
    assert codes_of("", "0.5\n" + "f(json.load(open('z')))\n" * 60) == []


def test_what_such_a_function_collects_is_said_to_be_followed_no_longer() -> None:
    assert codes_of("found.append(data)\n        ", "0.5\n" + "f(json.load(open('z')))\n" * 60) == ["TMG018"]
