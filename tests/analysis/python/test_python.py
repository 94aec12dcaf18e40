"""Python is followed: what names stand for at the end of small scripts."""

from __future__ import annotations

import pytest

from tests.analysis.readings import shown, value_of


@pytest.mark.parametrize(
    ("script", "wanted"),
    [
        # statements
        ("result = 1", 1),
        ("result = 1\nresult += 2", 3),
        ("a, (b, c) = 1, (2, 3)\nresult = [a, b, c]", [1, 2, 3]),
        ("result = 0\nfor i in range(3):\n    result = i", "?"),
        ("result = []\nfor i in range(3):\n    result.append(tf.constant(0.0))", ["free", "free", "free"]),
        ("result = 1\nwhile False:\n    result = 2", 1),
        ("try:\n    result = 1\nexcept ValueError:\n    result = 2", 1),
        ("result: int = 4", 4),
        ("result = [1 << 5, 40 >> 3, 6 & 3, 6 | 1, 6 ^ 3]", [32, 5, 2, 7, 5]),
        ("result = 1.5 & 2", "?"),
        ("class A:\n    pass\na = A()\ntry:\n    result = a.b\nexcept AttributeError:\n    result = a.b = 2", 2),
        ("class A:\n    b = 1\na = A()\ntry:\n    result = a.b\nexcept AttributeError:\n    result = a.b = 2", 1),
        ("class A(B):\n    pass\na = A()\ntry:\n    r = a.b\nexcept AttributeError:\n    r = 2\nresult = r", "Bound"),
        (
            "class A:\n    def f(self):\n        try:\n            return self.x\n        except AttributeError:\n"
            "            self.x = [3]\n        return self.x\na = A()\nresult = [a.f(), a.f()]",
            [[3], [3]],
        ),
        ("result = 1\ndel result\nresult = 2", 2),
        # branches
        ("result = 1 if f() else 2", "?"),
        ("result = 1 if 2 > 1 else 2", 1),
        ("if f():\n    result = 1\nelse:\n    result = 2", "?"),
        ("if f():\n    result = tf.constant(1.0)\nelse:\n    result = tf.placeholder(tf.float32, [None])", "example 0"),
        ("result = {'a': 1}\nif f():\n    result['a'] = 2", {"a": "?"}),
        # functions and classes
        ("def f(a, b=2, *c, **d):\n    return [a, b, c, d]\nresult = f(1, 3, 4, e=5)", [1, 3, [4], {"e": 5}]),
        ("def f():\n    pass\nresult = f()", None),
        ("a, *result = 2, 3, 4", [3, 4]),
        ("*result, a = 2, 3, 4", [2, 3]),
        ("a, *result, b = [2, 3, 4, 5]", [3, 4]),
        ("a, *b, result = [2, 3, 4, 5]", 5),
        ("a, *result = [2]", []),
        ("a, *b, result = 2, 3", 3),
        ("a, *result = tf.zeros([2, 3]).shape.as_list()", [3]),
        ("(a, *b), *c = (1, 2, 3), 4, 5\nresult = [a, b, c]", [1, [2, 3], [4, 5]]),
        ("result = (lambda a: a * 2)(3)", 6),
        ("from functools import partial\nresult = partial(lambda a, b: a - b, 5)(3)", 2),
        ("class A:\n    b = 1\n    def f(self):\n        return self.b + 1\nresult = A().f()", 2),
        ("class A:\n    @property\n    def f(self):\n        return 3\nresult = A().f", 3),
        ("import functools\nclass A:\n  @functools.cached_property\n  def f(self):\n    return 3\nresult = A().f", 3),
        (
            "from lazy import lazy\nn = [1]\nclass A:\n    @lazy\n    def f(self):\n        n[0] = n[0] + 1\n"
            "        return n[0]\na = A()\na.f\nresult = a.f",
            2,
        ),
        (
            "class A:\n    def f(self):\n        return 1\n"
            "class B(A):\n    def f(self):\n        return super().f() + 1\n"
            "result = B().f()",
            2,
        ),
        (
            "def twice(f):\n    def g():\n        return f() * 2\n    return g\n@twice\ndef three():\n    return 3\n"
            "result = three()",
            6,
        ),
        ("def f():\n    yield tf.constant(1.0)\nresult = next(f())", "free"),
        # expressions
        ("result = [i * 2 for i in (1, 2)]", [2, 4]),
        ("result = [i for i in f()]", ["host item", "host item", "..."]),
        ("result = {k: v for k, v in (('a', 1),)}", {"a": 1}),
        ("result = not 1", False),
        ("result = 1 < 2", True),
        ("result = None is None", True),
        ("result = 'a' in {'a': 1}", True),
        ("result = 0 or 'b'", "b"),
        ("result = '%s-%d' % ('a', 1)", "a-1"),
        ("result = [1, 2, 3][1:]", [2, 3]),
        ("result = (1, 2)[-1]", 2),
        ("result = f(1)", "host builtins.f"),
        # containers and Python's own functions
        ("result = len([1, 2])", 2),
        ("result = list(zip([1, 2], [3, 4]))", [[1, 3], [2, 4]]),
        ("result = dict(a=1).get('b', 2)", 2),
        ("result = [1]\nresult.extend([2])", [1, 2]),
        ("result = getattr(object(), 'x', 1)", "host x"),
        ("from collections import namedtuple\nresult = namedtuple('P', 'x y')(1, y=2).y", 2),
        ("from collections import OrderedDict\nresult = OrderedDict([('a', 1)])", {"a": 1}),
        ("result = list(map(lambda a: a + 1, [1, 2]))", [2, 3]),
    ],
)
def test_what_a_name_stands_for(script: str, wanted: object) -> None:
    assert shown(value_of(script)) == wanted


@pytest.mark.parametrize(
    ("expression", "wanted"),
    [
        # as far as it is small, the result is known
        ("10 ** 3", 1000),
        ("2 ** 999 % 2 ** 998", 0),
        ("(-2) ** 3", -8),
        ("2 ** -1", 0.5),
        ("1 << 10", 1024),
        ("[0] * 99", [0] * 99),
        ("'%03d' % 3", "003"),
        ("'a' + 'b'", "ab"),
        # and is not computed beyond that
        ("10 ** 10 ** 10", "?"),
        ("10 ** 5000", "?"),
        ("2 ** 999 * 2 ** 999", "?"),
        ("-2 ** 1000", "?"),
        ("7.5 ** 10 ** 10", "?"),
        ("1 << 10 ** 9", "?"),
        ("1 << -1", "?"),
        ("1 << 900 << 900 << 900", "?"),
        ("(-8) ** 0.5", "?"),
        ("1e999", "?"),
        ("int(1e999)", "?"),
        ("float(10 ** 5000)", "?"),
        ("[1, 2] * 99 * 99 * 99", [1, 2] * 99 + ["..."]),
        ("'%1000000000d' % 3", "host str"),
        ("'%.1000000000f' % 3", "host str"),
        ("'%*d' % (10 ** 9, 3)", "host str"),
        ("'%-*.*f' % (10 ** 9, 2, 3)", "host str"),
        ("'a' * 10 ** 10", "host str"),
        ("'{:>1000000000}'.format(3)", "host format"),
        ("f'{3:>1000000000}'", "host str"),
        ("'a'.zfill(10 ** 10)", "host zfill"),
        ("pow(10, 10 ** 10)", "host builtins.pow"),
        ("tf.dynamic_partition(tf.zeros([4]), [0, 1, 0, 1], 10 ** 9)", ["free", "..."]),
        ("tf.dynamic_partition(tf.zeros([4]), [0, 1, 0, 1], 2)", ["free", "free"]),
    ],
)
def test_only_small_results_are_computed(expression: str, wanted: object) -> None:
    assert shown(value_of(f"result = {expression}")) == wanted


@pytest.mark.parametrize(
    ("doubling", "wanted"),
    [
        ("l = l + l", [1, 2, "..."]),
        ("l += l", [1, 2, "..."]),
        ("l.extend(l)", [1, 2, "?", "..."]),
        ("l = [*l, *l]", ["?", "..."]),
        ("l = l + l * 2", [1, 2, "..."]),
        ("l = l + [3]", [1, 2, *[3] * 60]),  # grows by one
    ],
)
def test_lists_that_double_in_many_lines_stay_small(doubling: str, wanted: list[object]) -> None:
    result = shown(value_of("l = [1, 2]\n" + f"{doubling}\n" * 60 + "result = l"))
    assert isinstance(result, list) and len(result) <= 20_001
    assert list(dict.fromkeys(result)) == list(dict.fromkeys(wanted))
    assert result == wanted or "..." in wanted


@pytest.mark.parametrize(
    ("script", "wanted"),
    [
        ("[1, 2] * 3 + [4]", [1, 2, 1, 2, 1, 2, 4]),
        ("[1] * 99 * 1000 * 2", [*[1] * 198, "..."]),  # twice a list of a length that is not known
        ("len([1] * 99 * 1000 * 2)", "?"),
        ("(1, 2) * 2", [1, 2, 1, 2]),
    ],
)
def test_lists_times_a_number(script: str, wanted: object) -> None:
    assert shown(value_of(f"result = {script}")) == wanted


@pytest.mark.parametrize(
    ("block", "wanted"),
    [
        ("with tf.variable_scope('a'):\n    with tf.name_scope('b'):\n        result = tf.constant(1.0)", ("a", "b")),
        ("with tf.variable_scope(name()):\n    result = tf.constant(1.0)", ("?",)),
        ("with open('a'):\n    result = tf.constant(1.0)", ()),
        ("with tf.name_scope('a'):\n    pass\nresult = tf.constant(1.0)", ()),
    ],
)
def test_scopes_around_a_tensor(block: str, wanted: tuple[str, ...]) -> None:
    assert value_of(block).scopes == wanted


def test_a_tensor_waits_for_its_control_dependencies() -> None:
    first = "first = tf.constant(1.0)\nwith tf.control_dependencies([first]):\n    result = tf.constant(2.0)\n"
    assert len(value_of(first).control) == 1
    assert value_of(first + "result = tf.constant(3.0)").control == ()


DATA = "from dataclasses import dataclass\n@dataclass\nclass A:\n    b: int\n"
OF_C = DATA.replace("A:", "A(C):")


@pytest.mark.parametrize(
    ("script", "wanted"),
    [
        (f"{DATA}    c: int = 2\na = A(1)\nresult = [a.b, a.c]", [1, 2]),
        (f"{DATA}    c: int = 2\na = A(1, c=3)\nresult = [a.b, a.c]", [1, 3]),
        (f"{DATA}    def __post_init__(self):\n        self.c = self.b + 1\nresult = A(1).c", 2),
        (f"{DATA}@dataclass(frozen=True)\nclass B(A):\n    c: int\na = B(1, 2)\nresult = [a.b, a.c]", [1, 2]),
        (f"{DATA}    k: ClassVar[int] = 5\n    n: int = field(init=False)\n    c: int = 1\nresult = A(3, 4).c", 4),
        (f"{DATA}a = A(**f())\nresult = a.b", "host"),
        (f"{DATA}    def __init__(self, c):\n        self.b = c + 1\nresult = A(3).b", 4),
        (f"class C:\n    def __init__(self, b):\n        self.b = 0\n{OF_C}result = A(3).b", 3),
        ("class A:\n    b: int\n    def __post_init__(self):\n        self.b = 2\nresult = A(b=1).b", 1),
    ],
)
def test_a_data_class_takes_its_fields(script: str, wanted: object) -> None:
    assert shown(value_of(script)) == wanted
