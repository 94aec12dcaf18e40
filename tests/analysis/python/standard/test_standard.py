"""Python's own functions, the methods of its containers, and `collections`, on values of the script."""

from __future__ import annotations

import pytest

from tests.analysis.readings import shown, value_of

T = "tf.constant(1.0)"


@pytest.mark.parametrize(
    ("expression", "wanted"),
    [
        ("len([1, 2])", 2),
        ("len({'a': 1})", 1),
        ("len(data)", "?"),
        ("list(range(3))", [0, 1, 2]),
        ("list(range(1, 6, 2))", [1, 3, 5]),
        ("list(zip([1, 2], [3, 4]))", [[1, 3], [2, 4]]),
        ("list(enumerate(['a', 'b']))", [[0, "a"], [1, "b"]]),
        ("tuple([1, 2])", [1, 2]),
        ("dict([('a', 1)], b=2)", {"a": 1, "b": 2}),
        ("int(2.7)", 2),
        ("float(2)", 2.0),
        ("int(data)", "host int"),
        ("abs(-3)", "host abs"),
        ("sum([1, 2])", "host sum"),
        (f"sum([{T}, {T}])", "free"),
        ("list(map(lambda a: a + 1, [1, 2]))", [2, 3]),
        ("list(map(lambda a, b: a + b, [1, 2], (3, 4)))", [4, 6]),
        ("list(map(lambda a: a, {'a': 1}))", ["a"]),
        ("list(map(lambda d: d, tf.zeros([2, 3]).get_shape()))", [2, 3]),
        ("map(lambda a, b: a, [1, 2], data)", "host map"),
        ("len(list(tf.zeros([2, 3]).get_shape()))", 2),
        ("len(list(tf.placeholder(tf.float32).get_shape()))", "?"),
        ("isinstance([], list)", True),
        ("isinstance([], set)", "host isinstance"),
        ("hasattr(data, 'x')", "host hasattr"),
        ("hasattr()", "host hasattr"),
        ("bool([])", "host bool"),
        ("callable(len)", "host callable"),
    ],
)
def test_functions(expression: str, wanted: object) -> None:
    assert shown(value_of(f"result = {expression}")) == wanted


@pytest.mark.parametrize(
    ("script", "wanted"),
    [
        ("result = [1]\nresult.append(2)", [1, 2]),
        ("result = [1]\nresult.extend((2, 3))", [1, 2, 3]),
        ("result = [1, 3]\nresult.insert(1, 2)", [1, 2, 3]),
        ("result = [1, 2]\nresult.insert(0, 0)", [0, 1, 2]),
        ("result = [1, 2]\nresult.insert(-1, 0)", [1, 0, 2]),
        ("result = [1, 2]\nresult.insert(*[])", [1, 2, "host"]),
        ("result = [1]\nresult.insert(len(result), 2)", [1, 2]),
        ("a = [1, 2]\nb = a.pop()\nresult = [a, b]", [[1], 2]),
        ("a = [1, 2]\nb = a.pop(0)\nresult = [a, b]", [[2], 1]),
        ("a = [1, 2, 3]\nb = a.pop(-2)\nresult = [a, b]", [[1, 3], 2]),
        ("result = [1, 2]\nresult.reverse()", [2, 1]),
        ("result = {'a': 1}\nresult.update({'b': 2})", {"a": 1, "b": 2}),
        ("a = {'a': 1}\nb = a.setdefault('b', 2)\nresult = [a, b]", [{"a": 1, "b": 2}, 2]),
        ("a = {'a': 1}\nb = a.pop('a')\nresult = [a, b]", [{}, 1]),
        ("result = {'a': 1}.get('b', 2)", 2),
        ("class A: n = 1\na = A()\nsetattr(a, 'n', 2)\nresult = a.n", 2),
        ("class A: n = 1\na = A()\nsetattr(a, *['n', 2])\nresult = a.n", 2),
        ("class A: n = 1\na = A()\nsetattr(a)\nresult = a.n", 1),
        ("result = list({'a': 1}.items())", [["a", 1]]),
        ("result = list({'a': 1}.values())", [1]),
        ("from collections import OrderedDict\nresult = OrderedDict([('a', 1)])", {"a": 1}),
        ("from collections import namedtuple\nresult = namedtuple('P', 'x y')(1, y=2)", [1, 2]),
    ],
)
def test_containers(script: str, wanted: object) -> None:
    assert shown(value_of(script)) == wanted
