"""Whether the rows that a step is fed are a multiple of the batch size: then N batches have N times as many."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from converter.analysis.arrays.rows import rows_of, terms_of
from converter.analysis.counts.degrees import degree_in
from converter.analysis.counts.terms import Atom, Of, Terms, atom
from converter.analysis.facts import Facts, RunCall
from converter.analysis.tensors.sparse import is_sparse
from converter.analysis.values import Input, Origin, Value
from converter.planner.batch_size.fed.rows import only_turns

UNKNOWN = "an unknown number of"  # where the sum has a number without a name in the script


def other_degrees(
    facts: Facts, run: RunCall, fed: list[tuple[Input, Value]], sizes: frozenset[Origin]
) -> Iterator[str]:
    """The numbers of rows that a run is fed, as sums, that depend on the batch size and are no multiple of it.

    A number that has nothing to do with it counts where the rows are made of those of a batch: `rows[:10]`.
    """
    for key, value in fed:
        counted = key.batch.axis == 0 and not is_sparse(key)  # that is fed indices, values and a shape
        rows = rows_of(facts, value, run.site) if counted else None
        if rows is None or (sizes.isdisjoint(rows.origins) and only_turns(facts, value, sizes)):
            continue
        terms = terms_of(facts, rows, sizes, run.site)
        if degree_in(terms) != 1:
            named = {one: _named(facts, one) for one in terms.atoms}
            yield UNKNOWN if atom(UNKNOWN) in named.values() else str(terms.replaced(named.get))


def _named(facts: Facts, one: Atom) -> Terms | None:
    """A number by its name in the script, or as it is written there."""
    if isinstance(one, Origin):
        names = sorted(facts.names_of(one))
        return atom(names[0] if names else one.name or ast.unparse(one.node))
    plain = isinstance(one, str) or (isinstance(one, Of) and one.name.isidentifier())
    return None if plain else atom(UNKNOWN)
