"""Looks up properties of the functions that a script calls, for targets that work on its text."""

from __future__ import annotations

import ast

from converter.analysis.library import naming
from converter.analysis.traits import Trait, has
from converter.syntax.script import Script


def is_known(script: Script, function: ast.expr, *traits: Trait) -> bool:
    """Whether an expression is a function or a class of TensorFlow that has one of these properties."""
    package, _, name = script.name(function).partition(".")
    return package == naming().library and any(has(naming().canonical(name), trait) for trait in traits)


def last_name(script: Script, function: ast.expr) -> str:
    """The last part of the name of the called function, also for a method of an unknown object: `minimize`."""
    return script.name(function).rpartition(".")[2] or getattr(function, "attr", "")
