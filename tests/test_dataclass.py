"""`dataclass` of converter/dataclass.py makes the classes that the standard library's makes, in less time."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, FrozenInstanceError, field
from pathlib import Path
from typing import Any, ClassVar

import pytest

from converter.dataclass import record
from tests.trees import nodes_of

ROOT = Path(__file__).resolve().parent.parent
BOTH = pytest.mark.parametrize("dataclass", [dataclasses.dataclass, record], ids=["standard", "record"])
Decorator = Callable[..., Any]


class Plain:
    """A point."""

    x: int
    y: int = 2
    kind: ClassVar[str] = "point"


class Rich:
    a: int
    b: list[int] = field(default_factory=list)
    c: str = field(default="c", compare=False, repr=False)
    d: int = field(default=4, init=False)
    e: list[int] = field(default_factory=list, init=False)
    _: KW_ONLY
    self_: int = 7
    needed: int

    def __post_init__(self) -> None:
        self.e.append(self.a)


class Nothing:
    """No fields."""


class OwnMethods:
    a: int

    def __eq__(self, other: object) -> bool:
        return True

    def __repr__(self) -> str:
        return "own"


class OwnHash:
    a: int

    def __hash__(self) -> int:
        return 7


class OwnInit:
    a: int

    def __init__(self) -> None:
        object.__setattr__(self, "a", 5)


def made(dataclass: Decorator, body: type, **options: bool) -> Any:
    """A class of that body; the body itself stays as it is."""
    own = {name: value for name, value in vars(body).items() if name not in ("__dict__", "__weakref__")}
    own["__annotations__"] = dict(own.get("__annotations__", {}))
    return dataclass(type(body)(body.__name__, (), own), **options)


def outcome(of: Callable[[], object]) -> str:
    """What is returned or raised, as text."""
    try:
        return repr(of())
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def behaviour(dataclass: Decorator, body: type, options: dict[str, bool]) -> Iterator[str]:
    """What a class does that can be seen from outside."""
    cls = made(dataclass, body, **options)
    yield str(inspect.signature(cls))
    yield str([(one.name, one.default, one.init, one.compare, one.kw_only) for one in dataclasses.fields(cls)])
    yield repr(cls.__match_args__)
    arguments: list[tuple[tuple[int, ...], dict[str, int]]] = [
        ((), {}), ((1,), {}), ((1, 3), {}), ((1,), {"y": 3}), ((1, 2, 3, 4, 5), {}), ((), {"x": 1, "z": 1}),
        ((1,), {"needed": 9}), ((1,), {"needed": 9, "self_": 3, "c": 8}), ((2,), {"needed": 9}), ((1,), {"c": 4}),
    ]  # fmt: skip
    values = []
    for given, named in arguments:
        yield outcome(lambda given=given, named=named: values.append(cls(*given, **named)))
    for one in values:
        yield repr(one).rpartition(" object at ")[0] or repr(one)
        yield outcome(lambda one=one: one.__hash__ and hash(one) == hash(copy.copy(one)))
        yield repr([one == other for other in values])
        yield repr([one == 1, one != copy.deepcopy(one)])
        yield outcome(lambda one=one: sorted(dataclasses.asdict(one).items()))
        yield outcome(lambda one=one: vars(dataclasses.replace(one, a=6)))
        yield outcome(lambda one=one: vars(dataclasses.replace(one, x=6)))
        yield outcome(lambda one=one: setattr(one, "x", 6))
        yield outcome(lambda one=one: setattr(one, "other", 6))
        yield outcome(lambda one=one: delattr(one, "x"))
        yield repr(sorted(vars(one).items()))
        vars(one)["x"] = 6


@pytest.mark.parametrize(
    "options", [{}, {"frozen": True}, {"eq": False}, {"frozen": True, "eq": False}, {"repr": False}], ids=str
)
@pytest.mark.parametrize("body", [Plain, Rich, Nothing, OwnMethods, OwnHash, OwnInit])
def test_classes_behave_as_those_of_the_standard_library(body: type, options: dict[str, bool]) -> None:
    assert list(behaviour(record, body, options)) == list(behaviour(dataclasses.dataclass, body, options))


@BOTH
def test_derived_classes(dataclass: Decorator) -> None:
    base = made(dataclass, Plain, frozen=True)

    class Beside(base):
        """No dataclass itself: it may have an attribute beside the fields."""

        def __init__(self) -> None:
            super().__init__(1)
            self.z = 3

    @dataclass(frozen=True)
    class Deep(base):
        z: int = 3

    beside = Beside()
    with pytest.raises(FrozenInstanceError):
        beside.x = 2
    assert (beside.x, beside.z) == (1, 3)
    assert repr(Deep(5)).endswith("Deep(x=5, y=2, z=3)") and Deep(5) == Deep(5, 2, 3) != base(5)
    assert len({Deep(5), Deep(5, 2, 3), base(5), base(5)}) == 2
    with pytest.raises(FrozenInstanceError):
        Deep(5).other = 2


@BOTH
def test_an_object_that_holds_itself_has_a_text(dataclass: Decorator) -> None:
    cls = made(dataclass, Plain)
    one = cls(1)
    one.x = one
    assert repr(one) == "Plain(x=..., y=2)"


@record(frozen=True)
class Sent:
    """What goes to another process."""

    a: int
    b: tuple[int, ...] = ()


def test_objects_go_to_other_processes() -> None:
    assert pickle.loads(pickle.dumps(Sent(1, (2,)))) == Sent(1, (2,))


def test_init_is_compiled_when_it_is_asked_for() -> None:
    cls = made(record, Plain)
    assert "function" not in repr(vars(cls)["__init__"])
    assert cls(1).x == 1
    assert "function" in repr(vars(cls)["__init__"])


def test_a_method_that_another_thread_has_made_meanwhile_is_taken() -> None:
    cls = made(record, Plain, frozen=True)
    stale = {name: vars(cls)[name] for name in ("__init__", "__eq__", "__hash__")}
    one = cls(1)
    assert one == cls(1) and hash(one) == hash(cls(1))
    assert stale["__init__"].__get__(None, cls) is vars(cls)["__init__"]
    assert stale["__eq__"].__get__(one, cls)(cls(1)) is True
    assert stale["__hash__"].__get__(one, cls)() == hash(one)


ALONE = ("dataclass.py", "nodes.py", "family.py")  # the module itself, its use for LibCST, a script that runs alone


def test_every_dataclass_of_the_tool_is_made_so() -> None:
    """But for those that another interpreter runs, and a script that imports nothing of the tool."""
    standard = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for package in ("tf_multigpu", "converter", "rules")
        for path in sorted((ROOT / package).rglob("*.py"))
        if not {"child", "runtime"} & set(path.parts[:-1]) and path.name not in ALONE
        for node in nodes_of(path)
        if type(node).__name__ == "ImportFrom" and getattr(node, "module", "") == "dataclasses"
        if "dataclass" in {alias.name for alias in getattr(node, "names", [])}
    ]
    assert standard == []
