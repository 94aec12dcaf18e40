"""Numbers that are computed before the command line is parsed, such as those at the top of a file."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from math import inf

from converter.analysis.facts import Facts, FlagDefinition
from converter.analysis.frames import Access
from converter.analysis.values import Number, Origin, Site, Typed
from converter.planner.writing.source_text import SourceText

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def is_early(facts: Facts, text: SourceText, origins: Iterable[Origin], parsed: Site) -> bool:
    """True if a number is computed before the arguments are parsed, which is too early to change it."""
    outermost = list(parsed.chain())[-1].stmt
    time = min((a.time for a in facts.accesses if a.site is parsed and a.write), default=0)
    literals = {o.key: o for o in origins if o.key[0] == "literal"}
    if any(_at_top(text, o.node) and (facts.path_of(o.node) or o.line < outermost.lineno) for o in literals.values()):
        return True
    if any(a.time < time for a in _settings_read(facts, origins)) or _first_loss(facts) < time:
        return True
    return any(
        a.time < time and isinstance(a.value, Number) and any(o.key in literals for o in a.value.origins)
        for a in facts.accesses
    )


def comes_before(facts: Facts, text: SourceText, origins: Iterable[Origin]) -> bool:
    """True if a number is computed at import, and a flag of the project is defined only later.

    Reading the number of GPUs there would parse the command line with that flag still unknown. The flag for the GPUs is
    itself one that is defined later: files other than the script are imported before it is. The towers read it, too.
    """
    if any(flag.style == "flags" and flag.time > _first_loss(facts) for flag in facts.flags):
        return True
    if any(facts.path_of(a.node) and _at_top(text, a.node) for a in _read(facts, origins)):
        return True
    at_top = [o.node for o in origins if o.key[0] == "literal" and _at_top(text, o.node)]
    at_top += [a.node for a in _settings_read(facts, origins) if _at_top(text, a.node)]
    return any(_is_defined_later(facts, flag, node) for node in at_top for flag in facts.flags)


def _first_loss(facts: Facts) -> float:
    """When the first loss was built."""
    return min((step.loss.time for step in facts.train_steps), default=inf)


def is_parsed_by_imports(facts: Facts) -> bool:
    """True if a file reads a flag while the script imports it: this parses the command line."""
    early = (a for a in facts.accesses if not a.write and _is_flag(a) and facts.path_of(a.node))
    outermost = (list(a.site.chain())[-1].stmt for a in early)
    return any(isinstance(stmt, (ast.Import, ast.ImportFrom)) for stmt in outermost)


def _is_flag(read: Access) -> bool:
    holder = read.place.holder
    return isinstance(holder, Typed) and holder.kind == "Flags"


def _settings_read(facts: Facts, origins: Iterable[Origin]) -> list[Access]:
    """Where a batch size is read that no flag gives: from a file of settings, or from the environment."""
    reads = _read(facts, origins)
    return [a for a in reads if isinstance(a.place.holder, Typed) and a.place.holder.kind == "Settings"]


def _read(facts: Facts, origins: Iterable[Origin]) -> list[Access]:
    """Where a batch size is read."""
    sizes = set(origins)
    return [a for a, number in facts.numbers if not a.write and number.origins & sizes]


def _is_defined_later(facts: Facts, flag: FlagDefinition, node: ast.AST) -> bool:
    """Whether a flag is defined below an expression of its file, or after another file's import has begun."""
    path = facts.path_of(node)
    if facts.path_of(flag.site.stmt) == path:
        return getattr(node, "lineno", 0) < flag.site.stmt.lineno
    return bool(path) and flag.time > facts.frame_of(path).began


def _at_top(text: SourceText, node: ast.AST) -> bool:
    """Whether an expression is computed while its file is executed, not when a function is called."""
    parent = text.parent(node)
    while parent is not None:
        if isinstance(parent, FUNCTIONS) and node is not parent.args:
            return False
        node, parent = parent, text.parent(parent)
    return True
