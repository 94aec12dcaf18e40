"""Numbers that are read before the arguments of the command line are, as those at the top of a file."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from converter.analysis.facts import Facts, FlagDefinition
from converter.analysis.frames import Site
from converter.analysis.values import Number, Origin
from converter.planner.text import Text

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def is_early(facts: Facts, text: Text, origins: Iterable[Origin], parsed: Site) -> bool:
    """Whether one of the script's numbers is computed before its arguments are parsed, which would change it."""
    outermost = list(parsed.chain())[-1].stmt
    time = min((a.time for a in facts.accesses if a.site is parsed and a.write), default=0)
    literals = {o.key: o for o in origins if o.key[0] == "literal"}
    if any(_at_top(text, o.node) and (facts.path_of(o.node) or o.line < outermost.lineno) for o in literals.values()):
        return True
    return any(
        a.time < time and isinstance(a.value, Number) and any(o.key in literals for o in a.value.origins)
        for a in facts.accesses
    )


def comes_before(facts: Facts, text: Text, origins: Iterable[Origin], flag: FlagDefinition) -> bool:
    """Whether one of the script's numbers is computed above the place where a flag is defined."""
    own = (o for o in origins if o.key[0] == "literal" and not facts.path_of(o.node))
    return any(_at_top(text, o.node) and o.line < flag.site.stmt.lineno for o in own)


def _at_top(text: Text, node: ast.AST) -> bool:
    """Whether an expression is computed while its file is executed, not when a function is called."""
    parent = text.parent(node)
    while parent is not None:
        if isinstance(parent, FUNCTIONS) and node is not parent.args:
            return False
        node, parent = parent, text.parent(parent)
    return True
