"""`dataclass` of the standard library, with methods that cost next to nothing until they are called.

`dataclasses.dataclass` compiles up to six methods of each class whenever its module is imported: 0.3 ms a class, which
for 136 of ours and 170 of LibCST's was a third of a short conversion. Here the fields are the standard library's
(`fields`, `replace`, `asdict` and `match` work as ever), and `__init__`, `__eq__` and `__hash__` are made when they are
first asked for; the other methods all classes share.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError
from functools import partial
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

_standard: Callable[..., Any] = dataclasses.dataclass


def record(cls: Any = None, /, *, frozen: bool = False, repr: bool = True, eq: bool = True, **more: bool) -> Any:
    """The class that `dataclass` makes of a class; with other options than these it is the standard library that does.

    Base classes that are dataclasses have to be made in the same way.
    """
    if cls is None:
        return partial(record, frozen=frozen, repr=repr, eq=eq, **more)
    if more:
        return _standard(cls, frozen=frozen, repr=repr, eq=eq, **more)
    own = dict(vars(cls))
    methods: dict[str, Any] = {"__init__": _Later("__init__", _init)}
    if repr:
        methods["__repr__"] = _repr
    if eq:
        methods["__eq__"] = _Later("__eq__", _eq)
        if own.get("__hash__") is None:  # which it is, too, where the class has an `__eq__` of its own
            own.pop("__hash__", None)
            methods["__hash__"] = _Later("__hash__", _hash) if frozen else None
    if frozen:
        methods |= {"__setattr__": _setattr, "__delattr__": _delattr}
    cls.__doc__ = cls.__doc__ or cls.__name__  # else the standard library reads the signature to say it
    _standard(cls, init=False, repr=False, eq=False)
    for name in methods.keys() - own.keys():
        setattr(cls, name, methods[name])
    return cls


class _Later:
    """A method that is made for its class, and put in its own place, when somebody first asks for it."""

    def __init__(self, name: str, make: Callable[[Any], Any]) -> None:
        self.name, self.make = name, make

    def __get__(self, value: object, owner: type) -> Any:
        classes = value.__mro__ if isinstance(value, type) else owner.__mro__  # `inspect` asks for a class's own
        cls = next((cls for cls in classes if vars(cls).get(self.name) is self), None)
        if cls is None:  # another thread was quicker
            return getattr(owner if value is None else value, self.name)
        method = self.make(cls)
        method.__qualname__ = f"{cls.__qualname__}.{self.name}"
        setattr(cls, self.name, method)
        return method if value is None else method.__get__(value)


def _init(cls: Any) -> Any:
    """The `__init__` that the standard library would give a class."""
    fields = dataclasses.fields(cls)
    store = "_set(self, {0!r}, {1})" if cls.__setattr__ is _setattr else "self.{0} = {1}"
    body = [store.format(one.name, _value(one)) for one in fields if one.init or one.default_factory is not MISSING]
    if hasattr(cls, "__post_init__"):
        body.append("self.__post_init__()")
    given = [_parameter(one) for one in fields if one.init and not one.kw_only]
    named = [_parameter(one) for one in fields if one.init and one.kw_only]
    parameters = ", ".join(["self", *given, *(["*", *named] if named else [])])
    known = {f"_default_{one.name}": one.default for one in fields if one.default is not MISSING}
    known |= {f"_make_{one.name}": one.default_factory for one in fields if one.default_factory is not MISSING}
    known |= {"_set": object.__setattr__, "_MADE": _MADE}
    exec(f"def __init__({parameters}):\n " + "\n ".join(body or ["pass"]), known)
    made: Any = known["__init__"]
    made.__annotations__ = {one.name: one.type for one in fields if one.init} | {"return": None}
    return made


class _Made:
    """The default of a parameter whose value a factory makes."""

    def __repr__(self) -> str:
        return "<factory>"


_MADE = _Made()


def _parameter(one: Field[Any]) -> str:
    if one.default_factory is not MISSING:
        return f"{one.name}=_MADE"
    return one.name if one.default is MISSING else f"{one.name}=_default_{one.name}"


def _value(one: Field[Any]) -> str:
    """The value that `__init__` assigns to a field."""
    made = f"_make_{one.name}()"
    if one.default_factory is MISSING:
        return one.name
    return f"{made} if {one.name} is _MADE else {one.name}" if one.init else made


@recursive_repr()
def _repr(self: Any) -> str:
    shown = ", ".join(f"{one.name}={getattr(self, one.name)!r}" for one in dataclasses.fields(self) if one.repr)
    return f"{type(self).__qualname__}({shown})"


def _eq(cls: Any) -> Any:
    compared = _compared(cls)

    def __eq__(self: Any, other: Any) -> Any:
        if self is other:
            return True
        return compared(self) == compared(other) if other.__class__ is self.__class__ else NotImplemented

    return __eq__


def _hash(cls: Any) -> Any:
    compared = _compared(cls)

    def __hash__(self: Any) -> int:
        return hash(compared(self))

    return __hash__


def _compared(cls: Any) -> Callable[[Any], tuple[object, ...]]:
    """A function from an object of a class to the values by which it is compared."""
    names = [one.name for one in dataclasses.fields(cls) if one.compare]
    if len(names) > 1:
        return attrgetter(*names)
    return lambda value: tuple(getattr(value, name) for name in names)


def _setattr(self: Any, name: str, value: object) -> None:
    _check_frozen(self, name, "assign to")
    object.__setattr__(self, name, value)


def _delattr(self: Any, name: str) -> None:
    _check_frozen(self, name, "delete")
    object.__delattr__(self, name)


def _check_frozen(value: Any, name: str, change: str) -> None:
    """Raise unless a class that is no dataclass itself sets something beside the fields of a frozen base."""
    if "__dataclass_fields__" in vars(type(value)) or name in value.__dataclass_fields__:
        raise FrozenInstanceError(f"cannot {change} field {name!r}")


if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:
    dataclass = record
