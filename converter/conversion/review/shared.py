"""Whether towers see what another one has added to the graph: its collections, its variables."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from converter.analysis.effects import BATCH_NORMS, READS_COLLECTION, EffectKind
from converter.analysis.traits import Trait, name_of
from converter.conversion.review.compare import Comparison
from converter.conversion.review.towers import turn_of

COLLECTIONS = {"TowerCollections", "MergedCollections"}


def unshared(comparison: Comparison) -> Iterator[tuple[str, ast.AST | None, ast.AST | None]]:
    """Additions to collections or variables that each tower makes and no helper separates, with their lines."""
    towers, facts = comparison.towers, comparison.second.facts
    read = {effect.name for kind in READS_COLLECTION for effect in facts.effects_of(kind)}
    for effect in facts.effects:
        if turn_of(towers, effect.time) is None:
            continue
        entered = next((names for begin, end, names in towers.entered if begin < effect.time <= end), set())
        added = name_of(Trait.UPDATES_COLLECTION) if effect.kind in BATCH_NORMS else effect.name
        adds = effect.kind is EffectKind.COLLECTION or effect.kind in BATCH_NORMS
        why = ""
        if adds and added in read and not COLLECTIONS & entered:
            why = f"each tower adds to the collection {added}, which is read, what the others add too"
        elif effect.kind is EffectKind.RAW_VARIABLE and "SharedVariables" not in entered:
            why = "each tower makes a variable of its own"
        if why:
            yield why, comparison.nodes.get(effect.node), effect.node
