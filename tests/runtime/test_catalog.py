"""The helpers by name are the definitions of the runtime's modules, as Python's own parser finds them."""

from __future__ import annotations

import ast
from pathlib import Path

import converter.runtime
from converter.runtime.catalog import MODULES, REASONS, catalog
from tools.without_helpers import without_helpers

FOLDER = Path(converter.runtime.__file__).parent


def test_each_definition_is_found_whole() -> None:
    found = {}
    for module in MODULES:
        text = (FOLDER / f"{module}.py").read_text(encoding="utf-8")
        for stmt in ast.parse(text).body:
            first = min([stmt.lineno, *(decorator.lineno for decorator in getattr(stmt, "decorator_list", ()))])
            source = "\n".join(text.splitlines()[first - 1 : stmt.end_lineno])
            if isinstance(stmt, (ast.FunctionDef, ast.ClassDef)):
                found[stmt.name] = source
            elif isinstance(stmt, ast.Assign):
                assert isinstance(stmt.targets[0], ast.Name)
                found[stmt.targets[0].id] = source
    del found["NUM_GPUS"]  # each script has its own
    assert list(catalog()) == list(found)
    assert {name: helper.source for name, helper in catalog().items()} == found


def test_helpers_know_what_they_read() -> None:
    assert catalog()["count_gpus"].imports == ("os", "subprocess")
    for helper in catalog().values():
        names = {node.id for node in ast.walk(ast.parse(helper.source)) if isinstance(node, ast.Name)}
        assert set(helper.needs) == names - {helper.name}
        assert helper.name in REASONS[helper.why]


def test_every_reason_is_of_a_helper() -> None:
    assert sorted(name for names in REASONS.values() for name in names) == sorted(catalog())


def test_a_text_without_its_helpers() -> None:
    begin, end = "# tf-multigpu: helpers for training", "# tf-multigpu: end of helpers"
    text = f"# tf-multigpu: text 12ab by: x\na = 1\n{begin} on\ndef f():\n    pass\n{end}\nb = 2\n"
    left = "# tf-multigpu: text - by: x\na = 1\n# tf-multigpu: helpers for\n# tf-multigpu: end of helpers\nb = 2\n"
    assert without_helpers(text) == left == without_helpers(text.replace("pass", "return 1"))
    assert without_helpers(text.replace("b = 2", "b = 3")) != left
    told = "# tf-multigpu: decided: a; text 12ab by: x\n"
    assert without_helpers(told) == told.replace("12ab", "-")
