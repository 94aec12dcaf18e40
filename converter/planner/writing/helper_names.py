"""Chooses the helpers that a script needs, and their names in it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import fields, is_dataclass, replace
from typing import Any

from converter.choices import Variables
from converter.options import Options
from converter.plan import Plan
from converter.planner.writing.free_names import TakenNames
from converter.runtime.catalog import catalog, for_dense

# the suffix of the helpers that place variables
PLACED: dict[Variables, str] = {"gpu:0": "_gpu_0", "balanced": "_balanced", "partitioned": "_partitioned"}
ONE_GPU = "_or_one_gpu"  # suffix of the helpers that also serve where no towers are built
_CALLED = re.compile("\0(\\w+)\0")


def called(helper: str) -> str:
    """The mark for a helper in planned text: its name is known only when all helpers of the script are."""
    return f"\0{helper}\0"


def with_names(plan: Plan) -> Plan:
    """A plan whose texts call the helpers by the names that they have in the script."""
    given = {name.removesuffix(ONE_GPU): new for name, new in plan.helpers}

    def named(part: Any) -> Any:
        """A part of the plan, with names in all of its texts; the same object where none of them has a mark."""
        if isinstance(part, str):
            return _CALLED.sub(lambda found: given[found.group(1)], part) if "\0" in part else part
        if isinstance(part, tuple):
            made = [named(entry) for entry in part]
            changed = any(new is not old for new, old in zip(made, part, strict=True))
            return part if not changed else type(part)(*made) if hasattr(part, "_fields") else tuple(made)
        if not is_dataclass(part) or isinstance(part, type):
            return part
        held = {field.name: getattr(part, field.name) for field in fields(part)}
        new = {name: named(value) for name, value in held.items()}
        return replace(part, **new) if any(new[name] is not held[name] for name in held) else part

    result = named(plan)
    assert isinstance(result, Plan)
    return result


def helper_names(
    wanted: Iterable[str], options: Options, names: TakenNames
) -> tuple[tuple[tuple[str, str], ...], TakenNames]:
    """The wanted helpers and the helpers that these need, each with a free name; and the taken names."""
    known = catalog()
    suffix = PLACED.get(options.variables, "")

    def variant(name: str) -> str:
        if options.one_gpu and name + ONE_GPU in known:
            return name + ONE_GPU
        return name + suffix if name + suffix in known else name

    todo = [variant(name) for name in wanted]
    chosen: set[str] = set()
    while todo:
        name = todo.pop()
        if name not in chosen:
            chosen.add(name)
            todo += [variant(n) for n in known[name].needs if n in known]
    named = {}
    for name in known:
        if name in chosen:
            plain = name.removesuffix(suffix).removesuffix(ONE_GPU)
            named[name], names = names.fresh(plain, f"towers_{plain}")
    return tuple(named.items()), names


def read_by_helpers(helpers: Iterable[tuple[str, str]], dense: bool = False) -> tuple[set[str], set[str]]:
    """The names that helpers read which are not helpers, and the modules that they import; dense: as in Plan."""
    known = for_dense() if dense else catalog()
    chosen = [known[name] for name, _ in helpers]
    return {n for h in chosen for n in h.needs} - set(known), {m for h in chosen for m in h.imports if m != "tf"}
