"""`super()` in methods of a class, and keys of dicts that are partly known."""

from __future__ import annotations

import pytest

from tests.analysis.readings import shown, value_of

CLASSES = """
class Base(object):
    @{kind}
    def settings({given}):
        return {{'units': 3, 'rate': 0.1}}

class Net(Base):
    @classmethod
    def settings(cls):
        made = dict({base}.settings())
        made.update({{'batch_size': 64}})
        return made

result = [Net.settings()['units'], Net().settings()['units'], Net.settings()['batch_size']]
"""


@pytest.mark.parametrize("base", ["super(Net, cls)", "super()", "Base"])
@pytest.mark.parametrize(("kind", "given"), [("classmethod", "cls"), ("staticmethod", "")])
def test_class_methods_of_a_base_class_are_followed(kind: str, given: str, base: str) -> None:
    """A setting of the base class was taken for one of the class that is derived from it."""
    assert shown(value_of(CLASSES.format(kind=kind, given=given, base=base))) == [3, 3, 64]


def test_a_class_method_calls_a_method_of_a_base_class_for_the_class() -> None:
    script = """
class Base(object):
    @classmethod
    def name(cls):
        return cls.size

class Net(Base):
    size = 5

    @classmethod
    def name(cls):
        return super(Net, cls).name()

result = Net.name()
"""
    assert shown(value_of(script)) == 5


@pytest.mark.parametrize(
    ("made", "key", "found"),
    [
        ("{'a': 3}", "'a'", 3),
        ("dict(load())", "'b'", "host"),
        ("dict(load(), a=3)", "'b'", "host"),  # not what lies under another key
        ("dict(load(), a=3)", "name()", "?"),  # which may be one of those that are not seen
        ("{name(): 3, 'a': 4}", "'b'", 3),
        ("{1: 3, 2: 4}", "load()", "?"),
    ],
)
def test_what_lies_under_a_key_of_a_dict(made: str, key: str, found: object) -> None:
    assert shown(value_of(f"made = {made}\nresult = made[{key}]")) == found
