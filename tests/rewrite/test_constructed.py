"""Scripts that a machine might write: each is converted, or refused with its reason, after a bounded amount of work."""

from __future__ import annotations

import pytest

from tests.scripts import INPUTS, MODEL, STEP, TRAINING, codes, run

LIMIT = 1000  # statements that are followed here; the real limit takes seconds to reach
MODEL_OF_H = MODEL.replace("dense(X", "dense(h")


def nested(head: str, body: str, levels: int = 18) -> str:
    """A block in a block in a block."""
    return "".join("    " * n + head.format(n=n) + "\n" for n in range(levels)) + "    " * levels + body + "\n"


def chained(first: str, each: str, count: int) -> str:
    """Statements that each build on the one before; `{n}` and `{before}` are their numbers."""
    return first + "".join(each.format(n=n, before=n - 1) for n in range(1, count))


BESIDE = {
    "nested for": nested("for i{n} in range(2):", "total = i17"),
    "nested while": "n = 0\n" + nested("while n < {n}:", "n += 1"),
    "nested with": nested("with tf.name_scope('s{n}'):", "k = 1"),
    "nested def": nested("def f{n}(a):", "return a"),
    "nested try": "".join("    " * n + "try:\n" for n in range(18))
    + "    " * 18
    + "k = 1\n"
    + "".join("    " * n + "finally:\n" + "    " * n + "    pass\n" for n in reversed(range(18))),
    "flags": chained("import argparse\np = argparse.ArgumentParser()\n", "p.add_argument('--a{n}', type=int)\n", 300)
    + "args = p.parse_args([])\n",
    "a walrus in a call": "print((size := 3), size)\n",
    "a walrus in a condition": "if (size := 3) > 2:\n    pass\n",
}
IN_THE_MODEL = {
    "nested if": "n = int(input())\nh = X\n" + nested("if n > {n}:", "h = h * 2"),
    "a sum": "h = X" + " + X" * 1000 + "\n",
    "a chain": chained("h0 = X\n", "h{n} = h{before} * 2\n", 500) + "h = h499\n",
    "branches": chained("n = int(input())\nh = X\n", "if n > {n}:\n    h = h * 2\nelse:\n    h = h + 1\n", 40),
    "a walrus": "h = tf.identity((k := X))\n",
}
REFUSED = {
    "nested for": ("h = X\n" + nested("for i{n} in range(2):", "h = tf.layers.dense(h, 1)"), ["TMG018"]),
    "nested comprehensions": (
        "k = " + "[" * 18 + "1" + "".join(f" for a{n} in range(2)]" for n in range(18)) + "\n",
        ["TMG018"],
    ),
    "functions that call the next twice": (
        chained("def f0(a):\n    return a\n", "def f{n}(a):\n    return f{before}(f{before}(a))\n", 25)
        + "h = f24(X)\n",
        ["TMG018"],
    ),
    "form feeds": ("\fa = 1\n\fb = 2\n", ["TMG005"]),
}


@pytest.mark.parametrize("text", BESIDE.values(), ids=BESIDE)
def test_beside_the_model(text: str) -> None:
    assert run(INPUTS + text + MODEL + STEP + TRAINING).status == "converted"


@pytest.mark.parametrize("text", IN_THE_MODEL.values(), ids=IN_THE_MODEL)
def test_in_the_model(text: str) -> None:
    assert run(INPUTS + text + MODEL_OF_H + STEP + TRAINING).status == "converted"


@pytest.mark.parametrize(("text", "expected"), REFUSED.values(), ids=REFUSED)
def test_refused(text: str, expected: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("converter.analysis.walk.MAX_STATEMENTS", LIMIT)
    monkeypatch.setattr("converter.analysis.walk.MAX_PER_LINE", 10)
    model = MODEL_OF_H if "h = " in text else MODEL
    assert sorted(set(codes(INPUTS + text + model + STEP + TRAINING))) == expected
