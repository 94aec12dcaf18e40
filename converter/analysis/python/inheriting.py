"""Classes of a script that are derived from classes of a library, whose objects the rules know by their kind."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from converter.analysis.call import Call
from converter.analysis.library import handlers, naming
from converter.analysis.rows import Makes
from converter.analysis.traits import Trait, has
from converter.analysis.values import Bound, Class, Instance, Symbol, Value

if TYPE_CHECKING:
    from converter.analysis.walk import Walk

# What methods of the library ask the object for, so that a class which defines that changes them.
ASKS = {Trait.BY_OWN_CALL: "call", Trait.BY_OWN_BUILD: "build", Trait.STARTING_STATE: "state_size"}


def dotted(symbol: Symbol) -> str:
    """The full name of what a library holds; without the library's own name where that is the one of the rules."""
    own = symbol.library == naming().library
    return symbol.name if own else f"{symbol.library}.{symbol.name}".strip(".")


def library_bases(cls: Class) -> list[Symbol]:
    """The classes of libraries that a class is derived from, directly or through other classes of the script."""
    return [base for each in cls.lineage() for base in each.bases if isinstance(base, Symbol)]


def make_base(
    walk: Walk, instance: Instance, owner: Class, args: list[Value], kwargs: dict[str, Value], node: ast.Call
) -> bool:
    """Executes `super().__init__(…)` where that is the constructor of a library's class; owner: whose method calls it.

    False where nothing is known of the object. Kept is only what can be called, such as cells and layers; an object
    that is made twice, as two branches may do, is not known.
    """
    base = next(iter(library_bases(owner)), None)
    made = handlers().get(dotted(base)) if base is not None else None
    if base is None or not isinstance(made, Makes) or f"{made.kind}.__call__" not in handlers():
        return False
    extended = made(Call(walk=walk, name=dotted(base), args=args, kwargs=kwargs, node=node, receiver=None))
    walk.stamp(extended, node)
    instance.base = extended if instance.base is None else None
    return True


def inherited(instance: Instance, name: str) -> Bound | None:
    """A method that an object has of the library's class which its own is derived from; None where it is not known."""
    base, cls = instance.base, instance.cls
    if base is None or cls is None or f"{base.kind}.{name}" not in handlers():
        return None
    overridden = any(has(name, trait) and cls.find(asked) is not None for trait, asked in ASKS.items())
    return None if overridden else Bound(base, name)
