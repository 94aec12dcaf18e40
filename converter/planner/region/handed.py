"""Placeholders that the towers' own statements make: each tower is handed its rows of one for the whole batch.

Where the loop goes around `net = Net()`, and the constructor of `Net` makes `self.x = tf.placeholder(...)`, each tower
finds its own rows in `net.x`.
"""

from __future__ import annotations

import ast

from converter.analysis.facts import Facts
from converter.analysis.traits import Trait, has
from converter.analysis.values import Input, needed
from converter.parsing import parse_expression
from converter.planner.questions.batch_values import depends_on_batch
from converter.planner.region.block import Block
from converter.planner.writing.spelling import spelling

NAME = 2  # where `placeholder(dtype, shape, name)` and `placeholder_with_default(input, shape, name)` take the name


def handed_inside(facts: Facts, block: Block, tower: set[int]) -> tuple[Input, ...]:
    """The placeholders that the towers' statements make."""
    return tuple(
        value
        for value in facts.inputs
        if block.statement(value.site) in tower and not stays_at_default(facts, block, tower, value)
    )


def can_be_handed(value: Input, around: ast.stmt) -> bool:
    """True for a placeholder that a call of TensorFlow's module makes; around: the towers' statement that it is in."""
    call = value.node
    if has(value.op, Trait.HAS_DEFAULT) and value.is_batch:
        return False  # its default is made by each tower
    if not has(value.op, Trait.PLACEHOLDER) or isinstance(around, (ast.FunctionDef, ast.ClassDef)):
        return False
    default = any(depends_on_batch(v) for v in needed(value.inputs).values())
    called = call.func if isinstance(call, ast.Call) else None  # by the module's name: that is what is replaced
    return not default and isinstance(called, ast.Attribute) and has(called.attr, Trait.PLACEHOLDER)


def name_given(value: Input) -> str | None:
    """The name given to a placeholder: None if there is none, "" if it is computed."""
    call = value.node
    assert isinstance(call, ast.Call)
    node = next((k.value for k in call.keywords if k.arg == "name"), call.args[NAME] if len(call.args) > NAME else None)
    if node is None:
        return None
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def stays_at_default(facts: Facts, block: Block, tower: set[int], value: Input) -> bool:
    """True if nothing can feed a `placeholder_with_default` of the model: a tower may have one of its own."""
    call = value.node
    batched = value.batch.kind != "free" or any(depends_on_batch(v) for v in needed(value.inputs).values())
    if not has(value.op, Trait.HAS_DEFAULT) or batched or not isinstance(call, ast.Call):
        return False
    unpacked = any(keyword.arg is None for keyword in call.keywords)
    fed = any(key is value for run in facts.runs for key, _ in run.feeds)
    named = name_given(value) is not None or any(tensor is value for tensor, _, _ in facts.named)
    held = (a.place.kind != "name" or block.statement(a.site) not in tower for a in facts.accesses_of(value))
    return not unpacked and not named and not fed and not any(held)  # whoever has the object may feed an attribute


def item_guard(block: Block, text: str) -> str:
    """The test whether an entry of a dict is there, where only some branches of the model set it."""
    maybes = (one for one in block.facts.maybe if one.unset and one.place.kind == "item")
    if not any(spelling(block.frame, one.place) == text for one in maybes):
        return ""
    target = parse_expression(text)
    assert isinstance(target, ast.Subscript)
    return f"{ast.unparse(target.slice)} in {ast.unparse(target.value)}"
