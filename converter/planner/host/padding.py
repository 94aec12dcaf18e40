"""Padding of sequences: the longest sequence of the batch need not be in each tower's shard."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from converter.analysis.effects import EffectKind
from converter.analysis.facts import Decisions, Effect, Facts
from converter.analysis.inputs.embedded_data import DATA
from converter.analysis.tensors.masking import moved_from
from converter.analysis.traits import Trait, has
from converter.analysis.values import Input, Value
from converter.dataclass import dataclass
from converter.diagnostics import Diagnostic
from converter.plan import Replace
from converter.planner.outcome import Reread
from converter.planner.plan_faults import PlanFault
from converter.planner.region.prepared_batches import lengths_of
from converter.planner.region.region import Region
from converter.planner.wording import finding
from converter.planner.writing.aliases import Aliases
from converter.planner.writing.helper_names import called
from converter.planner.writing.source_text import SourceText

LENGTHS = ("lengths", "input_tensor", "input")  # what they are called


def longest_edits(
    facts: Facts, regions: Iterable[Region], text: SourceText, aliases: Aliases
) -> tuple[list[Replace], list[str]]:
    """Edits that read the longest length from the whole batch where the towers would read it from their shards.

    Returns the edits, and the helpers that they call.
    """
    regions = tuple(regions)
    found: dict[ast.AST, Replace] = {}
    helpers: dict[str, None] = {}
    for effect in facts.effects:
        if effect.kind is EffectKind.LONGEST and effect.node not in found and _counts(effect, regions):
            found[effect.node] = _edit(facts, effect, text, aliases)
            helpers["pad_steps" if has(effect.name, Trait.DECODES) else "whole_batch"] = None
    return list(found.values()), list(helpers)


def _counts(effect: Effect, regions: Iterable[Region]) -> bool:
    """True if an effect belongs to a model that is trained."""
    return any(
        region.in_tower(effect.site) and any(getattr(v, "node", None) is effect.node for v in region.needed.values())
        for region in regions
    )


def _edit(facts: Facts, effect: Effect, text: SourceText, aliases: Aliases) -> Replace:
    call = effect.node
    assert isinstance(call, ast.Call) and effect.value is not None
    decodes = has(effect.name, Trait.DECODES)
    given = _given(call)
    if decodes:
        decode = call.func
        return Replace(text.start(decode), text.end(decode), f"{called('pad_steps')}({text.of(decode)})", "TMG138")
    assert given is not None
    batch = f"{called('whole_batch')}({text.of(given)})"
    if not has(effect.name, Trait.TAKES_LONGEST):
        return Replace(text.start(given), text.end(given), batch, "TMG138")
    longest = f"{aliases.tensorflow(facts.path_of(call))}.reduce_max({batch})"
    unset = next(iter([*call.args[1:2], *(k.value for k in call.keywords if k.arg == "maxlen")]), None)
    if unset is not None:
        return Replace(text.start(unset), text.end(unset), longest, "TMG138")
    return Replace(text.start(call), text.end(call), text.with_argument(call, f"maxlen={longest}"), "TMG138")


def _is_cut(lengths: Value) -> bool:
    lengths = moved_from(lengths)
    return isinstance(lengths, Input) and lengths.op != DATA


@dataclass(frozen=True)
class Uncut:
    """A call that reads the longest sequence from lengths that are not cut with the batch.

    ready: expressions by which they are, if another reading of the script takes these for inputs.
    """

    call: ast.Call
    decodes: bool
    ready: Decisions


def uncut_lengths(facts: Facts, regions: Iterable[Region]) -> Iterator[Uncut]:
    """Calls of the model for whose lengths a tower would know only its own shard."""
    places = tuple(regions)
    for effect in facts.effects:
        if effect.kind is EffectKind.LONGEST and _counts(effect, places):
            call = effect.node
            assert isinstance(call, ast.Call) and effect.value is not None
            decodes = has(effect.name, Trait.DECODES)
            given = _given(call)
            if not _is_cut(effect.value) or not decodes and (given is None or isinstance(given, ast.Starred)):
                ready = (lengths_of(facts, region.block, effect.value) for region in places)
                yield Uncut(call, decodes, next(filter(None, ready), {}))


def lengths_to_read(facts: Facts, regions: Iterable[Region]) -> Reread | None:
    """A request to read the script again with some lengths as inputs; None if there are none."""
    for uncut in uncut_lengths(facts, regions):
        if uncut.ready:
            return Reread(uncut.ready, not_cut(facts, uncut))
    return None


def not_cut(facts: Facts, uncut: Uncut) -> Diagnostic:
    """The refusal for sequence lengths that are not cut with the batch."""
    return finding(facts, uncut.call, PlanFault.DECODER_OF_SHARD if uncut.decodes else PlanFault.MASK_OF_SHARD)


def _given(call: ast.Call) -> ast.expr | None:
    """The lengths, as the call is given them."""
    return call.args[0] if call.args else next((k.value for k in call.keywords if k.arg in LENGTHS), None)
