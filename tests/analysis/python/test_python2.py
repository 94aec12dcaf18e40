"""What a script means if Python 2 runs it: because of its own syntax, or of a module's."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from converter.analysis import read_facts
from converter.analysis.walk import Known
from converter.options import Options
from tests.analysis.readings import shown


@pytest.mark.parametrize(
    ("script", "in_2", "in_3"),
    [
        ("result = 7 / 2", 3, 3.5),
        ("result = -7 / 2", -4, -3.5),
        ("result = 7 / 2.0", 3.5, 3.5),
        ("result = 7 // 2", 3, 3),
        ("result = 7\nresult /= 2", 3, 3.5),
        ("def f(n):\n    return n / 2\nresult = f(9)", 4, 4.5),
        ("result = long(7.5) / 2", 3, 3.5),
        ("from __future__ import division\nresult = 7 / 2", 3.5, 3.5),
        ("from __future__ import print_function\nresult = 7 / 2", 3, 3.5),
        ("result = {'a': 1}.has_key('a')", True, True),
        ("result = {'a': 1}.has_key('b')", False, False),
        ("result = {'a': 1}.has_key(b)", "host compare", "host compare"),
        ("result = list({'a': 1}.iterkeys())", ["a"], ["a"]),
    ],
)
def test_values(script: str, in_2: object, in_3: object) -> None:
    for python2, wanted in ((True, in_2), (False, in_3)):
        facts = read_facts("script.py", ast.parse(script), Options(), before=Known(python2=python2))
        assert shown(facts.module.locals["result"]) == wanted


@pytest.mark.parametrize(
    ("call", "once_in_2"),
    [("zip(a, b)", False), ("map(f, a)", False), ("filter(f, a)", False), ("enumerate(a)", True), ("iter(a)", True)],
)
def test_lists_of_python_2_are_read_more_than_once(call: str, once_in_2: bool) -> None:
    tree = ast.parse(f"a, b = [1, 2], [3, 4]\nf = lambda x: x\nresult = {call}")
    for python2, once in ((True, once_in_2), (False, True)):
        facts = read_facts("script.py", tree, Options(), before=Known(python2=python2))
        assert (facts.module.locals["result"].uid in facts.iterators) == once


@pytest.mark.parametrize(
    ("module", "wanted"),
    [
        ("print 'x'\n", 3),  # Python 2 alone reads this, so it runs the script, too
        ("print('x')\n", 3.5),
        ("from __future__ import division\nprint 'x'\n", 3),  # of that module alone
        ("print 'x'\nf''\n", 3.5),  # nothing reads this
    ],
)
def test_a_module_tells_what_runs_the_script(tmp_path: Path, module: str, wanted: object) -> None:
    (tmp_path / "late.py").write_text(module)
    script = tmp_path / "script.py"
    script.write_text("result = 7 / 2\nimport late\n")
    facts = read_facts(str(script), ast.parse(script.read_text()), Options())
    assert shown(facts.module.locals["result"]) == wanted


@pytest.mark.parametrize(("line", "wanted"), [("print 'x'", "beside"), ("print('x')", "above")])
def test_python_2_looks_beside_the_importing_module_first(tmp_path: Path, line: str, wanted: str) -> None:
    (tmp_path / "nets").mkdir()
    for path, text in (
        ("nets/__init__.py", ""),
        ("nets/model.py", f"{line}\nimport parts\nresult = parts.result\n"),
        ("nets/parts.py", "result = 'beside'\n"),
        ("parts.py", "result = 'above'\n"),
    ):
        (tmp_path / path).write_text(text)
    script = tmp_path / "script.py"
    script.write_text("from nets.model import result\n")
    facts = read_facts(str(script), ast.parse(script.read_text()), Options())
    assert shown(facts.module.locals["result"]) == wanted
