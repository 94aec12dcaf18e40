"""Cases that the passes name: each is said in words by one file of rules, with just what the pass says about it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

import pytest

from converter.planner.plan_faults import PlanFault
from converter.planner.wording import Words, all_words
from converter.rule import rule_modules
from tests.trees import nodes_of

ROOT = Path(__file__).resolve().parent.parent.parent


def fields(words: Words) -> set[str]:
    """The {names} in a case's message and hint."""
    parts = [*Formatter().parse(words.message), *Formatter().parse(words.hint)]
    return {name for _, name, _, _ in parts if name}


def named() -> Iterator[tuple[str, set[str], set[str]]]:
    """Place, cases and what is said about them, for each call in the planner that names a case."""
    for path in sorted((ROOT / "converter/planner").rglob("*.py")):
        for node in nodes_of(path):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("finding", "refuse") and len(node.args) > 2:
                cases = {n.attr for n in ast.walk(node.args[2]) if isinstance(n, ast.Attribute)}
                yield f"{path.name}:{node.lineno}", cases, {str(k.arg) for k in node.keywords}


def test_each_case_has_words() -> None:
    assert set(all_words()) == set(PlanFault)


def test_each_case_is_come_upon() -> None:
    used = {
        node.attr
        for path in (ROOT / "converter/planner").rglob("*.py")
        for node in nodes_of(path)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "PlanFault"
    }
    assert used == {case.name for case in PlanFault}


@pytest.mark.parametrize("case", PlanFault, ids=lambda case: case.name)
def test_words_stand_beside_their_page(case: PlanFault) -> None:
    words = all_words()[case]
    (module,) = (m for m in rule_modules("checks") if case in getattr(m, "WORDS", {}))
    assert (Path(str(module.__file__)).parent / f"{words.code}.md").exists()


def test_passes_say_what_the_words_name() -> None:
    wrong = [
        (place, case, fields(all_words()[PlanFault[case]]), about)
        for place, cases, about in named()
        for case in cases & {member.name for member in PlanFault}
        if fields(all_words()[PlanFault[case]]) != about
    ]
    assert wrong == []
