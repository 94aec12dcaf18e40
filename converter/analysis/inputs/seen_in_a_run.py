"""Facts from a run of the script about calls that the walk does not follow.

A fact is text, so that the header of a converted script can hold it: `example:0/-x16`, a tensor with one row for
each example along axis 0 and 16 columns; `mean/`, a scalar that is a mean over the examples; `sum/`; `free/3`, a
tensor that does not depend on a batch; `(example:0/-x16,host)`, a tuple or list of a tensor and of something that
is no tensor. `+variables`, `+collections` and `+updates` say what else the call made.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence as Items
from typing import TYPE_CHECKING

from converter.analysis.effects import EffectKind
from converter.analysis.values import FREE, Batch, Host, Sequence, Tensor, Value, needed

if TYPE_CHECKING:
    from converter.analysis.walk import Walk

# what a call made beside its value -> the effects that the rules note for it
EFFECTS = {
    "variables": (EffectKind.VARIABLE, EffectKind.RAW_VARIABLE),
    "collections": (EffectKind.COLLECTION,),
    "updates": (EffectKind.BATCH_NORM,),
}


def place_of(node: ast.Call) -> str:
    """The place of a call's closing parenthesis, which no other call shares: line and column from one."""
    return f"{node.end_lineno}:{node.end_col_offset}"


def traced_value(walk: Walk, values: Items[Value], node: ast.Call, name: str) -> Value | None:
    """The value of a call that is not followed, as a run told; None if no run told or the facts do not fit.

    values: the function and what it is given.
    """
    walk.facts.unfollowed.append(node)
    if node in walk.facts.foreign:
        return None
    fact = walk.traced.get(place_of(node))
    if fact is None:
        return None
    whole, *made = fact.split("+")
    parts = whole.strip("()").split(",")
    if not any(value.roots for value in values) and any(not part.startswith(("free", "host")) for part in parts):
        return None  # a batch that came some other way
    if any(_is_unknown(walk, value) for value in needed(values).values()):
        return None  # what was made on the way, variables perhaps, is not known
    for effect in (effect for one in made for effect in EFFECTS[one]):
        walk.effect(effect, name, None, node)
    walk.effect(EffectKind.TRACED, fact, None, node)
    found = [_value(part, values, name, node) for part in parts]
    return Sequence(found) if whole.startswith("(") else found[0]


def _is_unknown(walk: Walk, value: Value) -> bool:
    """True if the value was computed by a call that got a batch and about which the run gave no fact."""
    if not isinstance(value, Host) or not value.roots:
        return False
    return not isinstance(value.node, ast.Call) or place_of(value.node) not in walk.traced


def _value(part: str, values: Items[Value], name: str, node: ast.Call) -> Value:
    if part == "host":
        return Host(values, name, node)
    how, _, shape = part.partition("/")
    dims = tuple(None if size == "-" else int(size) for size in shape.split("x")) if shape else ()
    if how == "free":
        result = Tensor(FREE, values, dims, name)
        result.roots = frozenset()
        return result
    if how in ("mean", "sum"):
        return Tensor(Batch("reduced", how="mean" if how == "mean" else "sum"), values, dims, name)
    return Tensor(Batch("example", axis=int(how.partition(":")[2])), values, dims, name)
