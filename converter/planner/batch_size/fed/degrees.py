"""Whether the rows that a step is fed are a multiple of the batch size: then N batches have N times as many."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from converter.analysis.arrays.rows import rows_of, terms_of
from converter.analysis.counts.degrees import degree_in
from converter.analysis.counts.terms import Atom, Of, Terms, atom
from converter.analysis.facts import Facts, RunCall
from converter.analysis.values import Host, Input, Origin, Value

UNKNOWN = "an unknown number of"  # where the sum has a number without a name in the script


def other_degrees(
    facts: Facts, run: RunCall, fed: list[tuple[Input, Value]], sizes: frozenset[Origin]
) -> Iterator[str]:
    """The numbers of rows that a run is fed, as sums, that depend on the batch size and are no multiple of it.

    A number that is written out counts where the rows are some of a batch: `rows[:10]`.
    """
    for key, value in fed:
        rows = rows_of(facts, value, run.site) if key.batch.axis == 0 else None
        if rows is None or (sizes.isdisjoint(rows.origins) and not _is_cut_off(facts, run, value, sizes)):
            continue
        terms = terms_of(facts, rows, sizes, run.site)
        if degree_in(terms) != 1:
            named = {one: _named(facts, one) for one in terms.atoms}
            yield UNKNOWN if atom(UNKNOWN) in named.values() else str(terms.replaced(named.get))


def _is_cut_off(facts: Facts, run: RunCall, value: Value, sizes: frozenset[Origin]) -> bool:
    """Whether a value is a part of an array that has as many rows as a batch."""
    whole = rows_of(facts, value.inputs[0], run.site) if isinstance(value, Host) and value.call == "[]" else None
    return whole is not None and not sizes.isdisjoint(whole.origins)


def _named(facts: Facts, one: Atom) -> Terms | None:
    """A number by its name in the script, or as it is written there."""
    if isinstance(one, Origin):
        names = sorted(facts.names_of(one))
        return atom(names[0] if names else one.name or ast.unparse(one.node))
    plain = isinstance(one, str) or (isinstance(one, Of) and one.name.isidentifier())
    return None if plain else atom(UNKNOWN)
