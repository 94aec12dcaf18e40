"""Batch sizes that are the default of a flag: `BATCH_SIZE = 64`, `add_argument('--batch_size', default=BATCH_SIZE)`."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from converter.analysis.counts.size_names import named_batch
from converter.analysis.facts import Facts, Fallback
from converter.analysis.frames import Access
from converter.analysis.python.settings import default_of
from converter.analysis.values import Number, Origin, grows_with
from converter.planner.batch_size.written_out import counts_batches, counts_rows
from converter.planner.questions.statements import parents_of

CASTS = ("int", "str", "float")
SHOWS = ("print", "format", "info", "debug", "warning", "log")


def with_defaults(facts: Facts, found: set[Origin]) -> set[Origin]:
    """The batch sizes, with the flags that have one as their default, and constants that are the default of one.

    A script that reads both counts by both: where it loads batches by one of them, the other means their size, too.
    A constant that nothing but the flag reads stays what it is.
    """
    sizes = set(found) | _in_place_of_none(facts, found)
    links = list(_links(facts)) if sizes else []
    known = {o.key: o for _, number in facts.numbers if links for o in number.origins}
    defaults = {node for fallback in facts.fallbacks for node in ast.walk(fallback.node)}
    more = True
    while more:
        before = set(sizes)
        for setting, constant in links:
            flag = known.get(setting)
            if constant in sizes and flag is not None and _is_size(facts, flag):
                sizes.add(flag)
            if flag in sizes and facts.named_sizes([constant]) and _is_read(facts, constant, defaults):
                sizes.add(constant)
        more = sizes != before
    return sizes


def may_be_none(facts: Facts, origin: Origin) -> bool:
    """Whether a flag is None if the user does not give it."""
    for flag in facts.flags_named(origin.key[-1])[:1]:
        if isinstance(flag.default, ast.Constant):
            return flag.default.value is None
        return flag.default is None and flag.style == "argparse" and "required" not in flag.words
    return False


def by_default(facts: Facts, number: Number) -> object:
    """The value of a number; of a flag itself its default; None for any other number that only a run knows."""
    is_flag = not number.op and len(number.origins) == 1
    return default_of(facts, number) if number.value is None and is_flag else number.value


def _is_size(facts: Facts, flag: Origin) -> bool:
    """Whether a setting is named as a batch size, or batches, or their rows, are counted by it."""
    if named_batch([str(flag.key[-1])]) or facts.named_sizes([flag]):
        return True
    reads = (a for a, number in facts.numbers if not a.write and flag in number.linear)
    return any(counts_batches(facts, a.node) or counts_rows(facts, a.node) for a in reads)


def kept_defaults(facts: Facts, scaled: Iterable[Origin]) -> Iterator[ast.AST]:
    """Where the default of a flag, or of another setting, reads a number that is scaled where it is written.

    What the user gives there is the size of one tower, or has to do with another thing: so the default stays, too.
    """
    sizes = set(scaled)
    reads = {a.node for a, number in facts.numbers if number.factors() & sizes}
    seen: set[ast.AST] = set()
    for fallback in facts.fallbacks:
        for node in _factors(fallback.node):
            if node in reads and node not in seen:
                seen.add(node)
                yield node


def _in_place_of_none(facts: Facts, found: set[Origin]) -> set[Origin]:
    """Numbers that take the place of a flag that is not given: `args.batch_size or 64`."""
    optional = {o for o in found if o.key[0] == "flag" and may_be_none(facts, o)}
    numbers = (number for _, number in facts.numbers if number.origins & optional)
    chosen = [list(n.options()) for n in numbers if n.chosen and not n.linear]
    given = [options for options in chosen if any(grows_with(v, optional) for v in options)]
    written = (v for options in given for v in options if isinstance(v, Number) and v.value != 1)
    return {o for number in written for o in number.linear if o.key[0] == "literal"}


def _links(facts: Facts) -> Iterator[tuple[tuple[object, ...], Origin]]:
    """Settings, and the constants that are their defaults."""
    reads: dict[ast.AST, Access] = {a.node: a for a in facts.accesses if not a.write}
    for fallback in facts.fallbacks:
        access = reads.get(_bare(fallback))
        linear = access.value.linear if access is not None and isinstance(access.value, Number) else ()
        for origin in linear if len(linear) == 1 else ():
            if origin.key[0] == "literal" and getattr(origin.node, "value", None) != 1:
                yield fallback.setting, origin


def _bare(fallback: Fallback) -> ast.expr:
    """The default without the calls that make an integer or a text of it."""
    node = fallback.node
    while isinstance(node, ast.Call) and getattr(node.func, "id", "") in CASTS and len(node.args) == 1:
        node = node.args[0]
    return node


def _factors(node: ast.AST) -> Iterator[ast.AST]:
    """The expressions that an expression is a multiple of: itself, `n` in `10 * n`, `str(n)`."""
    yield node
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        yield from _factors(node.left)
        yield from _factors(node.right)
    elif isinstance(node, ast.Call) and getattr(node.func, "id", "") in CASTS:
        for argument in node.args:
            yield from _factors(argument)


def _is_read(facts: Facts, constant: Origin, defaults: set[ast.AST]) -> bool:
    """Whether anything but defaults of settings, and what only shows a number, reads it."""
    reads = (a for a, number in facts.numbers if not a.write and constant in number.linear)
    return any(a.node not in defaults and not _is_shown(facts, a.node) for a in reads)


def _is_shown(facts: Facts, node: ast.AST) -> bool:
    for above in parents_of(facts, node):
        if isinstance(above, ast.Call):
            return getattr(above.func, "id", getattr(above.func, "attr", "")) in SHOWS
        if isinstance(above, ast.stmt):
            return False
    return False
