"""`functools.reduce`, and functions of `operator`, over lists that are known."""

from __future__ import annotations

import pytest

from tests.analysis.readings import shown, value_of

HEAD = "import functools\nimport operator\nfrom functools import reduce\n"


@pytest.mark.parametrize(
    ("expression", "wanted"),
    [
        ("reduce(lambda a, b: a * b, [2, 3, 4])", 24),
        ("functools.reduce(operator.mul, [2, 3, 4], 10)", 240),
        ("reduce(operator.sub, (7,))", 7),
        ("reduce(operator.add, [], 1)", 1),
        ("operator.floordiv(7, 2)", 3),
        ("reduce(operator.mul, [])", "host functools.reduce"),
        ("reduce(operator.mul, data)", "host functools.reduce"),
        ("reduce(operator.mul, [2 for _ in data])", "host functools.reduce"),
        ("operator.mul(2)", "host operator.mul"),
    ],
)
def test_folding(expression: str, wanted: object) -> None:
    assert shown(value_of(f"{HEAD}result = {expression}")) == wanted


def test_python_2_has_reduce_by_itself() -> None:
    assert shown(value_of("result = reduce(lambda a, b: a * b, [2, 3])")) == 6
