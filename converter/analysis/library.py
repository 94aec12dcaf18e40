"""Handlers of calls that are not followed: TensorFlow's from rules/calls, Python's own from python/standard."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, TypeVar

from converter.analysis.call import Attribute, Context, Handler
from converter.analysis.values import Symbol, Value
from converter.dataclass import dataclass
from converter.rule import modules_below, rule_modules

if TYPE_CHECKING:
    from converter.analysis.walk import Walk

Entry = TypeVar("Entry")

STANDARD = f"{__name__.rpartition('.')[0]}.python.standard"  # the package that knows Python's own library


@cache
def handlers() -> Mapping[str, Handler]:
    """The handlers of calls, by name in the library ("nn.relu") or by "Type.method"."""
    return merged(*(getattr(module, "CALLS", {}) for module in (*rule_modules("calls"), *modules_below(STANDARD))))


@cache
def contexts() -> Mapping[str, Context]:
    """The functions that enter a `with` block, by the type of the library's object."""
    return merged(*(getattr(module, "CONTEXTS", {}) for module in rule_modules("calls")))


@cache
def attributes() -> Mapping[str, Attribute]:
    """The functions that give the value of an attribute: of a tensor by its name, of another object by "Type.name"."""
    return merged(*(getattr(module, "ATTRIBUTES", {}) for module in rule_modules("calls")))


@cache
def objects() -> Mapping[str, Callable[[Walk], Value]]:
    """Objects of which a program has only one, such as the flags, and constants of the library, by their names."""
    return merged(*(getattr(module, "OBJECTS", {}) for module in rule_modules("calls")))


@dataclass(frozen=True)
class Naming:
    """How the library is imported and what its functions are called.

    library: its short name. modules: for each root module by which it is imported, its name of what is imported from
    there, None where that belongs to another library. canonical: the one name of a function that has several.
    distributing: modules that spread training over GPUs by themselves. loading: prefixes of those of their parts that
    only load data.
    take_shapes, take_counts: the last parts of the names of functions that take a shape, or a number of examples.
    """

    library: str
    modules: Mapping[str, Callable[[str], str | None]]
    canonical: Callable[[str], str]
    distributing: tuple[str, ...]
    loading: tuple[str, ...]
    take_shapes: frozenset[str]
    take_counts: frozenset[str]


@cache
def naming() -> Naming:
    """The names of the library."""
    found = [module.NAMING for module in rule_modules("calls") if hasattr(module, "NAMING")]
    assert len(found) == 1 and isinstance(found[0], Naming)
    return found[0]


def symbol_of(root: str, rest: str) -> Symbol:
    """The symbol of an imported module or of a name in it."""
    known = naming().modules.get(root)
    name = known(rest) if known is not None else None
    return _builtin(Symbol(root, rest)) if name is None else Symbol(naming().library, name)


def member(symbol: Symbol, name: str) -> Symbol:
    """An attribute of a module or function of a library."""
    dotted = f"{symbol.name}.{name}" if symbol.name else name
    if symbol.library == naming().library:
        return Symbol(symbol.library, naming().canonical(dotted))
    return _builtin(Symbol(symbol.library, dotted))


# Where packages for both Pythons have the builtins of one of them.
BUILTINS_BY = {"six": "moves", "past": "builtins", "future": "builtins"}
BUILTINS = ("range", "xrange", "zip", "map", "filter")


def _builtin(symbol: Symbol) -> Symbol:
    """Python's own function, if that is what a package has under this name: `six.moves.xrange`."""
    module, _, name = symbol.name.rpartition(".")
    own = name in BUILTINS and module == BUILTINS_BY.get(symbol.library, "?")
    return Symbol("builtins", name) if own else symbol


def merged(*tables: Mapping[str, Entry]) -> Mapping[str, Entry]:
    """Several tables as one.

    Raises:
        ValueError: two of them know one name.
    """
    found: dict[str, Entry] = {}
    for table in tables:
        if twice := found.keys() & table.keys():
            raise ValueError(f"registered twice: {', '.join(sorted(twice))}")
        found.update(table)
    return found
