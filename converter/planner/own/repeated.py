"""Whether the call of a reader can be made N times in a row, one after the other, in place of once.

Then N steps of the script's reader are one step of the conversion. The loop around must not count examples, and must
not look at how far the reader has come.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cached_property

from converter.analysis.effects import EffectKind
from converter.analysis.facts import Facts, RunCall
from converter.analysis.frames import Access, Place
from converter.analysis.values import Count, Host, Length, Number, Site, needed
from converter.dataclass import dataclass
from converter.planner.own.names import bound_in, enclosing, function_of, uses_of

LOOPS = (ast.For, ast.AsyncFor, ast.While)
FILLED_IN = (ast.Tuple, ast.Dict)  # on the right of a text
RANGES = ("range", "xrange", "trange")
SAVES = ("dump", "dumps", "save", "savez")  # what writes the state of a reader to a file
SETTINGS = ("literal", "flag")  # the kinds of origins of numbers that are no count of examples
COUNTS = re.compile(r"example|sample|image|data|_size|len|num_train|n_train|per_epoch|_in_epoch", re.IGNORECASE)


def can_be_repeated(facts: Facts, reader: ast.Call, run: RunCall) -> bool:
    """Whether each step may call a reader once for each tower; run: the training step that is fed what it gives."""
    outside = list(enclosing(facts, reader))
    loops = [node for node in outside if isinstance(node, LOOPS)]
    around = [site.stmt for site in run.site.chain()]
    if not loops or loops[-1] not in around:
        return False
    beyond = around[around.index(loops[-1]) :]  # what stands inside of it, and not around the reader, reads nothing
    if any(map(_catches, (*beyond, *outside))):
        return False
    if not all(counts_steps(facts, stmt) for stmt in around if isinstance(stmt, LOOPS)):
        return False
    key = reader, loops[-1]
    if key not in facts.repeated:
        looped = _Looped(facts, *key)
        facts.repeated[key] = looped.is_followed() and looped.gives_another() and looped.is_left_alone()
    return facts.repeated[key]


def _catches(stmt: ast.AST) -> bool:
    """Whether a statement goes on where a reader has come to its end: the last examples would be left out."""
    if not isinstance(stmt, ast.Try):
        return False
    caught = [getattr(handler.type, "id", "") for handler in stmt.handlers]
    return any(name != "KeyboardInterrupt" for name in caught)


# -- the loops --------------------------------------------------------------------------------------


def counts_steps(facts: Facts, loop: ast.stmt) -> bool:
    """Whether a loop is given its number of steps by a setting, and its remainders are taken by settings too."""
    if not all(is_setting(facts, node.right) for node in _remainders(loop)):
        return False
    if isinstance(loop, ast.For):
        call = loop.iter
        name = getattr(call.func, "id", getattr(call.func, "attr", "")) if isinstance(call, ast.Call) else ""
        if not isinstance(call, ast.Call) or name not in RANGES or len(call.args) not in (1, 2):
            return False
        return not call.keywords and is_setting(facts, call.args[-1])
    if not isinstance(loop, ast.While):
        return False
    test = loop.test
    if isinstance(test, ast.Constant):
        return bool(test.value)
    grown = (node.target for node in ast.walk(loop) if isinstance(node, ast.AugAssign))
    counted = {target.id for target in grown if isinstance(target, ast.Name)}
    if not isinstance(test, ast.Compare):
        return False
    return all(getattr(part, "id", "") in counted or is_setting(facts, part) for part in (test.left, *test.comparators))


def _remainders(loop: ast.stmt) -> Iterator[ast.BinOp]:
    """`step % every`, `step // every`; not texts that are filled in by `%`."""
    computed = (node for node in ast.walk(loop) if isinstance(node, ast.BinOp))
    for node in computed:
        text = isinstance(node.left, (ast.JoinedStr, ast.Constant)) or isinstance(node.right, FILLED_IN)
        if isinstance(node.op, (ast.Mod, ast.FloorDiv)) and not text:
            yield node


def is_setting(facts: Facts, node: ast.expr) -> bool:
    """Whether an expression is a number that is written in the script, or given by a flag: no count of its data."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, (int, float))
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub, ast.Mult)):
        return is_setting(facts, node.left) and is_setting(facts, node.right)
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "int" and len(node.args) == 1:
        return is_setting(facts, node.args[0])
    value = facts.read_or_written.get(node)
    if not isinstance(node, (ast.Name, ast.Attribute)) or not isinstance(value, Number) or not value.origins:
        return False
    if any(origin.key[0] not in SETTINGS for origin in value.origins):
        return False
    behind = needed([value]).values()
    return not COUNTS.search(ast.unparse(node)) and not any(isinstance(v, (Host, Count, Length)) for v in behind)


# -- the reader -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Looped:
    """A reader in a training loop."""

    facts: Facts
    reader: ast.Call
    loop: ast.AST

    def is_followed(self) -> bool:
        """Whether the code of the reader was walked: a method or a function of the project, or a generator of it."""
        return any(self._reads(site) for site, _ in self.facts.accesses_by_site)

    @cached_property
    def _calls(self) -> list[ast.AST]:
        """The call, and that of the generator whose next example it asks for: that one's code runs now and then."""
        func = self.reader.func
        if getattr(func, "id", getattr(func, "attr", "")) not in ("next", "__next__"):
            return [self.reader]
        asked = [*self.reader.args, *([func.value] if isinstance(func, ast.Attribute) else [])]
        values = [self.facts.read_or_written.get(node) for node in asked]
        made = {value.uid for value in values if value is not None and value.uid in self.facts.generators}
        return [self.reader, *(call for (_, call), value in self.facts.results.items() if value.uid in made)]

    def gives_another(self) -> bool:
        """Whether nothing that the call is given is bound in the loop: the same example would be read N times."""
        bound = bound_in(self.loop)
        for node in ast.walk(self.reader):
            if isinstance(node, ast.Name) and node.id in bound:
                return False
            written = (write for place in self.facts.places_read.get(node, ()) for write in self.facts.writes_to(place))
            if any(self._in_loop(write.site) and not self._reads(write.site) for write in written):
                return False
        inner = (ast.Subscript, ast.Call, ast.BinOp, ast.Starred, ast.Lambda)
        parts = [*self.reader.args, *(keyword.value for keyword in self.reader.keywords)]
        return not any(isinstance(node, inner) for part in parts for node in ast.walk(part))

    def is_left_alone(self) -> bool:
        """Whether nothing else in the loop reads or changes what the reader reads or changes."""
        own = {id(node) for node in ast.walk(self.reader)}
        texts = {ast.unparse(node) for node in self._taken()}
        others = (n for n in ast.walk(self.loop) if isinstance(n, (ast.Name, ast.Attribute)) and id(n) not in own)
        if any(ast.unparse(node) in texts for node in others):
            return False
        sites = (accesses for site, accesses in self.facts.accesses_by_site if self._in_loop(site))
        inside = [access for accesses in sites for _, access in accesses if self._is_kept(access.place)]
        mine = [access for access in inside if self._reads(access.site)]
        rest = [access for access in inside if not self._reads(access.site)]
        written = {access.place for access in mine if access.write}
        read = {access.place for access in mine if not access.write}
        changed = self._changed()
        for access in rest:
            if access.write and access.place in read | written:
                return False
            seen = access.place in written or access.value.uid in changed
            if not access.write and seen and not _is_only_saved(self.facts, access):
                return False
        return not any(
            effect.value is not None and any(one.value.uid == effect.value.uid for one in mine)
            for effect in self.facts.effects_of(EffectKind.MUTATION)
            if self._in_loop(effect.site) and not self._reads(effect.site)
        )

    def _taken(self) -> Iterator[ast.expr]:
        """The object whose method is called, and what the call is given: they may hold how far it has come."""
        func = self.reader.func
        parts = [*self.reader.args, *(keyword.value for keyword in self.reader.keywords)]
        value = self.facts.read_or_written.get(func.value) if isinstance(func, ast.Attribute) else None
        if isinstance(func, ast.Attribute) and value is not None:  # else a module
            parts.append(func.value)
        yield from (part for part in parts if isinstance(part, (ast.Name, ast.Attribute)))

    def _changed(self) -> set[int]:
        """The lists, dicts and objects that the reader changes in place, but for those that it makes."""
        return {
            effect.value.uid
            for effect in self.facts.effects_of(EffectKind.MUTATION)
            if effect.value is not None and self._reads(effect.site) and not self._made(effect.value.site)
        }

    def _is_kept(self, place: Place) -> bool:
        """Whether a place outlives a call of the reader: no name of its functions, no item of what it makes."""
        if place.kind == "name":
            return place.frame is not None and place.frame.call is None and place.frame.call_site is None
        return place.holder is None or not self._made(place.holder.site)

    def _made(self, site: Site | None) -> bool:
        return site is not None and self._reads(site)

    def _reads(self, site: Site) -> bool:
        """Whether something happens while the reader is called."""
        return self._placed(site)[0]

    def _in_loop(self, site: Site) -> bool:
        return any(self._placed(site))

    def _placed(self, site: Site) -> tuple[bool, bool]:
        """Whether a site is reached by the reader, and whether it stands in the loop; looked up once for each."""
        ahead: list[Site] = []
        step: Site | None = site
        while step is not None and id(step) not in self._known:
            ahead.append(step)
            step = step.parent
        reads, looped = self._known[id(step)] if step is not None else (False, False)
        for around in reversed(ahead):
            reads = reads or (around.frame.call is not None and around.frame.call in self._calls)
            looped = looped or around.stmt is self.loop
            self._known[id(around)] = reads, looped
        return reads, looped

    @cached_property
    def _known(self) -> dict[int, tuple[bool, bool]]:
        """What is known of the sites so far, which the facts keep."""
        return {}


def _is_only_saved(facts: Facts, access: Access) -> bool:
    """Whether the state of a reader goes to a file, and to nothing else: `cur = layer._cur; pickle.dump(cur, file)`."""
    stmt = facts.parents.get(access.node)
    if not isinstance(stmt, ast.Assign) or len(stmt.targets) != 1 or not isinstance(stmt.targets[0], ast.Name):
        return isinstance(facts.parents.get(access.node), ast.Attribute)  # on the way to an attribute that is read
    uses = uses_of(function_of(facts, stmt), stmt.targets[0].id)
    calls = [facts.parents.get(use) for use in uses if isinstance(use.ctx, ast.Load)]
    return all(isinstance(c, ast.Call) and getattr(c.func, "attr", getattr(c.func, "id", "")) in SAVES for c in calls)
