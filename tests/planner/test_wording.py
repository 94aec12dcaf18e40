"""Messages of passes and checks: each stands on one page of rules, with just the fields that the code tells of it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

import pytest

from converter.planner.plan_faults import PlanFault
from converter.rule import Message, all_rules, message, messages_in
from tests.trees import nodes_of

ROOT = Path(__file__).resolve().parent.parent.parent
MESSAGES = [one for rule in all_rules() for one in rule.messages]
KEYS = {"finding": 2, "refuse": 2, "each": 1, "of_effects": 1}  # the place of a message's key among the arguments
CASES = {case.name for case in PlanFault}


def fields(said: Message) -> set[str]:
    """The {names} in a message and its advice."""
    parts = [*Formatter().parse(said.text), *Formatter().parse(said.advice)]
    return {name for _, name, _, _ in parts if name}


def keys_in(case: ast.expr) -> set[str]:
    """The messages that an expression names, by a member of PlanFault or by a code."""
    found = {n.attr for n in ast.walk(case) if isinstance(n, ast.Attribute) and n.attr in CASES}
    texts = {n.value for n in ast.walk(case) if isinstance(n, ast.Constant) and isinstance(n.value, str)}
    return found | {text for text in texts if text.startswith("TMG")}


def named() -> Iterator[tuple[str, set[str], set[str]]]:
    """Place, keys of messages and what is said about them, for each call that makes a finding."""
    for path in sorted([*(ROOT / "converter/planner").rglob("*.py"), *(ROOT / "rules").rglob("*.py")]):
        for node in nodes_of(path):
            called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
            if not isinstance(node, ast.Call) or called not in KEYS or len(node.args) <= KEYS[called]:
                continue
            told = {"each": set(), "of_effects": {"name"}}.get(called, {str(k.arg) for k in node.keywords})
            yield f"{path.name}:{node.lineno}", keys_in(node.args[KEYS[called]]), told


def test_each_message_has_its_own_key() -> None:
    keys = [said.key for said in MESSAGES]
    assert sorted(set(keys)) == sorted(keys)


def test_the_only_message_of_a_page_has_no_name() -> None:
    several = [rule for rule in all_rules() if len(rule.messages) > 1]
    assert [rule.code for rule in several if not all(said.name for said in rule.messages)] == []


def test_each_case_has_a_message() -> None:
    assert {said.key for said in MESSAGES if said.key.isupper() and not said.key.startswith("TMG")} == CASES


def test_each_message_of_a_check_is_used() -> None:
    paths = [path for room in ("converter", "rules") for path in (ROOT / room).rglob("*.py")]
    used = {node.value for path in paths for node in nodes_of(path) if isinstance(node, ast.Constant)}
    assert {said.key for said in MESSAGES} - CASES - used == set()


def test_each_case_is_come_upon() -> None:
    used = {
        node.attr
        for path in (ROOT / "converter/planner").rglob("*.py")
        for node in nodes_of(path)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "PlanFault"
    }
    assert used == CASES


def test_findings_say_what_their_messages_name() -> None:
    wrong = [
        (place, key, fields(message(key)), about)
        for place, keys, about in named()
        for key in keys
        if fields(message(key)) != about
    ]
    assert wrong == []


@pytest.mark.parametrize("key", ["TMG341", "TMG207 counts_rows", "SIZE_NOT_FOUND"])
def test_a_message_is_found_by_its_key(key: str) -> None:
    assert message(key) in MESSAGES and message(key).key == key


@pytest.mark.parametrize("key", ["TMG207", "TMG207 SIZE_NOT_FOUND", "TMG341 counts_rows", "LEFT"])
def test_other_keys_name_no_message(key: str) -> None:
    with pytest.raises(KeyError):
        message(key)


PAGE = (
    "---\ncode: TMG301\ntitle: x\n---\n\nWhy.\n\n## Messages\n\n{}\n\n## Before\n\n- `b`: no message\n  - no advice\n"
)


def test_messages_are_read() -> None:
    first = "- `a`: the loss,\n  `{name}`: x\n  - take\n    another"
    others = "- (error): said\n  - --loss global\n- `c` (warning): `d`: e\n  - f"
    assert messages_in("TMG301", PAGE.format(f"{first}\n{others}")) == (
        Message("TMG301", "a", "the loss, `{name}`: x", "take another"),
        Message("TMG301", "", "said", "--loss global", "error"),
        Message("TMG301", "c", "`d`: e", "f", "warning"),
    )


@pytest.mark.parametrize("text", ["- `a`: no advice", "- a\n  - b\n  - c"])
def test_messages_without_one_advice_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="TMG301 has a message of another form"):
        messages_in("TMG301", PAGE.format(text))
