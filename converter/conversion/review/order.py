"""Whether what adds to the graph stands in the original's order, where a name or a list depends on it."""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

from converter.analysis.effects import VARIABLES, EffectKind
from converter.analysis.facts import Effect, Facts
from converter.analysis.frames import Access
from converter.analysis.traits import Argument, Trait, has, positions
from converter.analysis.values import Constant, Site
from converter.conversion.review.compare import WalkComparison
from converter.conversion.review.helpers import SHARING
from converter.conversion.review.paths import ANYWHERE, Path, Paths
from converter.conversion.review.towers import REUSES, turn_of
from converter.dataclass import dataclass

Sized = tuple[str, ast.AST | None, ast.AST | None]
Key = tuple[Path, int, int]  # how a statement is reached, an expression of the original's in it, which execution of it
HELD = "variables of the graph"
TOLD = (None, "scope", "var_list")  # arguments that choose among the variables; None: `**options`, which may
UNKNOWN = "?"  # a scope that is not a constant


@dataclass(frozen=True)
class _Event:
    """Something that enters the graph, or that is made of all that the graph holds so far.

    after: whether the converted text does it behind the towers. inside: whether the first tower does it.
    block: how the block around it is reached, in a scope: names count anew in each block that enters it.
    """

    key: Key
    node: ast.AST
    time: int
    effect: Effect | None = None
    after: bool = False
    inside: bool = False
    block: Path = ANYWHERE


def orders_differ(comparison: WalkComparison, paths: Paths) -> Iterator[Sized]:
    """Layers that get another number in their names, and savers that hold other variables, with both lines."""
    sides = [_Side(comparison, paths, again) for again in (False, True)]
    variables = [side.effects(VARIABLES) for side in sides]
    walks = [side.facts for side in sides]
    yield from _names_differ(variables[0], variables[1], set(comparison.towers.helpers.values()))
    states = [side.effects((EffectKind.GRAPH_STATE,)) for side in sides]
    if states[0]:
        steps = [side.steps() for side in sides]
        whole = [[*made, *trained] for made, trained in zip(variables, steps, strict=True)]
        yield from _held_differ(_of(states, Trait.TAKES_ALL_VARIABLES, Trait.INITIALIZES), whole, HELD, walks)
        yield from _held_differ(_of(states, Trait.LISTS_VARIABLES), variables, HELD, walks)
    seeds = [side.seeds() for side in sides]
    if seeds[0]:
        drawn = [[*v, *side.drawn()] for v, side in zip(variables, sides, strict=True)]
        yield from _held_differ(seeds, drawn, "draws", walks)


def _of(sides: list[list[_Event]], *traits: Trait) -> list[list[_Event]]:
    """The events whose calls have one of these traits, without prints and without calls that are given variables."""
    return [[e for e in events if e.effect is not None and _takes_all(e.effect, traits)] for events in sides]


def _takes_all(effect: Effect, traits: tuple[Trait, ...]) -> bool:
    call = effect.node if isinstance(effect.node, ast.Call) else None
    told = call is not None and (call.args or any(k.arg in TOLD for k in call.keywords))
    shown = isinstance(effect.site.stmt, ast.Expr) and Trait.LISTS_VARIABLES in traits
    return not shown and any(has(effect.name, t) and (not told or t is Trait.INITIALIZES) for t in traits)


class _Side:
    """The events of one of the two walks; of the converted text's those outside of the towers and in the first."""

    def __init__(self, comparison: WalkComparison, paths: Paths, again: bool) -> None:
        self.comparison, self.paths, self.again = comparison, paths, again
        self.facts: Facts = comparison.second.facts if again else comparison.first
        self.begin = min((begin for begin, _, _ in comparison.towers.turns), default=0)

    def effects(self, kinds: Iterable[EffectKind]) -> list[_Event]:
        """Effects of some kinds."""
        wanted = set(kinds)
        return self._events((e.site, e.node, e.time, e) for e in self.facts.effects if e.kind in wanted)

    def steps(self) -> list[_Event]:
        """Training steps: they make the optimizers' slots."""
        return self._events((t.site, None, t.time, None) for t in self.facts.tensors if t.op == "train op")

    def drawn(self) -> list[_Event]:
        """Operations that draw random numbers."""
        made = (t for t in self.facts.tensors if t.node is not None and has(t.op, Trait.RANDOM))
        return self._events((t.site, t.node, t.time, None) for t in made)

    def seeds(self) -> list[_Event]:
        """Statements that seed the graph's random numbers."""
        calls = (call for call in self.comparison.first.nodes(ast.Call) if has(_called(call), Trait.SEEDS))
        roots = {_root(call.func) for call in calls}
        reads = (a for a in self.facts.accesses if not a.write) if roots else ()
        return self._events((a.site, a.node, a.time, None) for a in reads if self._original(a.node, a.site) in roots)

    def _original(self, node: ast.AST | None, site: Site) -> ast.AST | None:
        if not self.again:
            return site.stmt if node is None else node
        return self.paths.stmt(site) if node is None else self.paths.node(node)

    def _events(self, found: Iterable[tuple[Site | None, ast.AST | None, int, Effect | None]]) -> list[_Event]:
        """What was found with its place in the original; node: None for the statement itself."""
        events: list[_Event] = []
        count: Counter[tuple[Path, int]] = Counter()
        for site, node, time, effect in found:
            turn = turn_of(self.comparison.towers, time) if self.again else None
            original = self._original(node, site) if site is not None else None
            if turn or original is None or site is None:
                continue
            path = self.paths.again(site) if self.again else self.paths.first(site)
            number = count[path, id(original)]
            count[path, id(original)] += 1
            events.append(
                _Event(
                    key=(path, id(original), number),
                    node=site.stmt if node is None else node,
                    time=time,
                    effect=effect,
                    after=turn is None and time > self.begin > 0,
                    inside=turn is not None,
                    block=self._block(site),
                )
            )
        return events

    def _block(self, site: Site) -> Path:
        """How the innermost block of the original around a statement in a scope is reached."""
        blocks = (around for around in site.chain() if isinstance(around.stmt, ast.With) and around is not site)
        if not site.scopes:
            return ANYWHERE
        if not self.again:
            return next((self.paths.first(block) for block in blocks), ANYWHERE)
        return next((self.paths.again(block) for block in blocks if self.paths.stmt(block) is not None), ANYWHERE)


def _called(call: ast.Call) -> str:
    return getattr(call.func, "attr", getattr(call.func, "id", ""))


def _root(node: ast.expr) -> ast.expr:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node


# -- names ------------------------------------------------------------------------------------------


def _names_differ(first: list[_Event], second: list[_Event], helpers: set[str]) -> Iterator[Sized]:
    """Variables that get their names in another order; helpers: those of the converted text."""
    there, here = _groups(first), defaultdict[object, list[_Event]](list)
    group_of = {event.key: group for group, events in there.items() for event in events}
    for event in sorted(second, key=lambda e: e.time):
        if event.key in group_of:
            here[group_of[event.key]].append(event)
    for group, ones in there.items():
        twos = here[group]
        if len(ones) != len(twos):
            continue
        made_up = isinstance(group, tuple) and not group[-1]  # of one that is given, only the first is made
        alike = zip(ones, twos, strict=True) if made_up else zip(ones[:1], twos[:1], strict=True)
        moved = next(((a, b) for a, b in alike if a.key != b.key), None)
        if moved is not None:
            why = "variables are made, or found again, in another order: they would get other names"
            original = next((event for event in ones if event.key == moved[1].key), moved[0])
            yield why, original.node, moved[1].node
        inside = [b for b in twos if b.inside]
        late = next((b for b in twos if b.after), None)
        if made_up and inside and late is not None and not _counts_on(ones, helpers):
            original = next(event for event in ones if event.key == late.key)
            yield "a layer behind the towers gets the name of a layer in them", original.node, late.node


def _counts_on(made: list[_Event], helpers: set[str]) -> bool:
    """Whether the names of variables behind the towers are counted on from the towers' own, as they are on one GPU.

    made: what the original makes. SharedVariables makes the towers' raw variables in the original's scopes: without any
    scope the graph itself counts their names.
    """
    effects = [event.effect for event in made if event.effect is not None]
    raw = all(effect.kind is EffectKind.RAW_VARIABLE for effect in effects)
    unscoped = not any(effect.site.scopes for effect in effects)
    return bool({"LayerNames", "keep_names"} & helpers) or (raw and unscoped and not helpers.isdisjoint(SHARING))


def _groups(events: list[_Event]) -> dict[object, list[_Event]]:
    """Variables by what counts their names: the scope, the call, and the name that it is given."""
    groups: dict[object, list[_Event]] = defaultdict(list)
    for event in sorted(events, key=lambda e: e.time):
        effect = event.effect
        assert effect is not None
        name = _name_of(effect.node) if isinstance(effect.node, ast.Call) else None
        counted = effect.kind is not EffectKind.OBJECT_VARIABLE and UNKNOWN not in effect.site.scopes
        if name is not None and counted and isinstance(effect.node, ast.Call):
            block = ANYWHERE if name else event.block
            groups[effect.site.scopes, block, _called(effect.node), name].append(event)
    return groups


def _name_of(call: ast.Call) -> str | None:
    """The name that a call gives to what it makes: "" where TensorFlow makes one up, None where only a run can tell."""
    if any(k.arg is None for k in call.keywords) or any(isinstance(arg, ast.Starred) for arg in call.args):
        return None
    position = positions(Argument.NAME).get(_called(call), len(call.args))
    given = [*call.args[position : position + 1], *(k.value for k in call.keywords if k.arg in ("name", "scope"))]
    if not given:
        return ""
    return str(given[0].value) if isinstance(given[0], ast.Constant) else None


# -- what the graph holds ---------------------------------------------------------------------------


def _held_differ(
    states: list[list[_Event]], made: list[list[_Event]], what: str, walks: list[Facts]
) -> Iterator[Sized]:
    """Statements that come behind other makers than in the original: savers, initialisers, lists, seeds."""
    made = [_makers(side, walk) for side, walk in zip(made, walks, strict=True)]
    known = [{event.key for event in side} for side in made]
    both = known[0] & known[1]
    others = {event.key: event for event in states[1]}
    for one in states[0]:
        two = others.get(one.key)
        if two is None:
            continue
        before = [{e.key for e in side if e.time < at.time} & both for side, at in zip(made, (one, two), strict=True)]
        if before[0] != before[1]:
            more = len(before[1]) > len(before[0])
            why = f"more {what} come before it in the converted text" if more else f"fewer {what} come before it"
            yield why, one.node, two.node


def _makers(events: list[_Event], walk: Facts) -> list[_Event]:
    """The events that create variables; lookups in a scope that reuses its variables are left out."""
    given = [list(_reuse_given(event)) for event in events]
    read: dict[ast.AST, list[Access]] = {node: [] for nodes in given for node in nodes if isinstance(node, ast.Name)}
    for access in walk.accesses if read else ():
        if access.node in read:
            read[access.node].append(access)
    return [e for e, nodes in zip(events, given, strict=True) if not any(_is_true(n, e.time, read) for n in nodes)]


def _reuse_given(event: _Event) -> Iterator[ast.expr]:
    """The values of `reuse` in the variable scopes around a call that creates variables."""
    for site in event.effect.site.chain() if event.effect is not None else ():
        calls = [item.context_expr for item in site.stmt.items] if isinstance(site.stmt, ast.With) else []
        given = (k for call in calls if isinstance(call, ast.Call) for k in call.keywords)
        yield from (k.value for k in given if k.arg == REUSES)


def _is_true(node: ast.expr, time: int, read: dict[ast.AST, list[Access]]) -> bool:
    """Whether an expression was True when it was last read before a time, as the argument of a function may be."""
    if isinstance(node, ast.Constant):
        return node.value is True
    value = next((access.value for access in reversed(read.get(node, [])) if access.time <= time), None)
    return isinstance(value, Constant) and value.value is True


__all__ = ["orders_differ"]
