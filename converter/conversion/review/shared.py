"""Whether towers see what another one has left: in collections, variables and lists; and their sessions."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from converter.analysis.effects import BATCH_NORMS, READS_COLLECTION, EffectKind
from converter.analysis.facts import Facts
from converter.analysis.traits import Trait, name_of
from converter.analysis.values import Constant, Mapping, Sequence, Value
from converter.conversion.review.compare import WalkComparison
from converter.conversion.review.helpers import SHARING
from converter.conversion.review.towers import REUSES, turn_of

COLLECTIONS = {"TowerCollections", "TowerPenalties", "MergedCollections"}


def unshared(comparison: WalkComparison) -> Iterator[tuple[str, ast.AST | None, ast.AST | None]]:
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
        elif effect.kind is EffectKind.RAW_VARIABLE and entered.isdisjoint(SHARING):
            why = "each tower makes a variable of its own"
        elif effect.kind is EffectKind.VARIABLE and REUSES not in entered:
            why = "the towers behind the first do not find its variables"
        if why:
            yield why, comparison.nodes.get(effect.node), effect.node


def filled_again(comparison: WalkComparison) -> Iterator[tuple[str, ast.AST | None, ast.AST | None]]:
    """Lists and dicts that hold more or less after the towers than on one GPU where the host reads them, or others."""
    facts, end = comparison.second.facts, max((end for _, end, _ in comparison.towers.turns), default=0)
    runs = {run.call for run in facts.runs}
    for one, two in comparison.filled:
        late = [access for access in facts.looks_into(two) if access.time > end]
        sizes = [_length(value) for value in (one, two)]
        if not late or None in sizes:
            continue
        if sizes[0] != sizes[1]:
            why = f"{sizes[0]} entries in the script, {sizes[1]} in the converted text: each tower changes it"
            yield why, comparison.nodes.get(late[0].node), late[0].node
            continue
        filled = _filled_until(facts, two)
        fetched = (a for a in late if a.time > filled and facts.parents.get(a.node) in runs)
        read = next((access for access in fetched if access.node in comparison.nodes), None)
        differs = comparison.differ(one, two, None) if read is not None else None
        if read is not None and differs is not None and not differs.doubtful:
            yield differs.why, comparison.nodes.get(read.node), read.node


def _filled_until(facts: Facts, value: Value) -> int:
    """When the last entry was put into a list or dict, or taken out: what it holds in the end it holds since then."""
    changes = [effect.time for effect in facts.changes_of(value)]
    return max([*changes, *(access.time for access in facts.item_writes(value))], default=0)


def not_there(comparison: WalkComparison) -> Iterator[tuple[str, ast.AST | None, ast.AST | None]]:
    """Entries of lists that a line of the tool's reads before the script has put them there."""
    for held, node in comparison.towers.missing:
        made = comparison.statements.get(held.site.stmt) if held.site is not None else None
        yield "an entry of this list is read before it is there", made, node


def _length(value: Value) -> int | None:
    if isinstance(value, Mapping):
        return len(value.pairs) if all(isinstance(key, Constant) for key, _ in value.pairs) else None
    return len(value.elements) if isinstance(value, Sequence) and not value.unmeasured else None


def sessions_left(comparison: WalkComparison) -> Iterator[tuple[str, ast.AST | None, ast.AST | None]]:
    """Sessions without the settings that towers need: operations without a GPU kernel would fail in them."""
    facts = comparison.second.facts
    if not comparison.towers.turns:
        return
    for made in facts.sessions:
        if made.config is None and facts.path_of(made.call) in comparison.second.changed:
            why = "this session does not let operations without a GPU kernel go to the CPU"
            yield why, comparison.nodes.get(made.call), made.call
