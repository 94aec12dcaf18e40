"""Execution of statements on stand-in values."""

from __future__ import annotations

import ast
from collections.abc import Callable, Set
from itertools import count, product
from math import inf
from typing import TYPE_CHECKING, Any

from converter.analysis.arrays.shapes import shape_of
from converter.analysis.counts.size_names import named_batch, named_batch_size
from converter.analysis.effects import EffectKind
from converter.analysis.flow.collected import Collected
from converter.analysis.flow.undo import Changes, StateChange, take_back
from converter.analysis.frames import Place
from converter.analysis.inputs.decided import after_branches
from converter.analysis.python.calling import iterated
from converter.analysis.python.containers import (
    drop_item,
    item_place,
    iterate,
    note_position,
    of_length,
    put_item,
    put_key,
)
from converter.analysis.python.contexts import bind_with, enter_with
from converter.analysis.python.functions.decorators import decorate, may_give_arguments
from converter.analysis.python.imports import import_from, import_module, imported_beside
from converter.analysis.python.inheriting import library_bases
from converter.analysis.python.joins import choices_differ, data_differ, join, join_contents, one_of, sizes_differ
from converter.analysis.python.loops import Turns, is_short
from converter.analysis.python.naming import bind_name, defaults_of, is_given, name_numbers
from converter.analysis.python.operators import binary, decide, truth
from converter.analysis.python.settings import is_always_given, replace_sizes, set_all, set_attribute, settings_of
from converter.analysis.python.unbound_names import ends_with_import_error, ends_with_name_error
from converter.analysis.tensors.shaping import rows_of
from converter.analysis.traits import Trait, has
from converter.analysis.values import (
    ATTRIBUTES,
    MEMBER,
    Choice,
    Class,
    Constant,
    Frame,
    Function,
    Host,
    Instance,
    Mapping,
    Number,
    Sequence,
    ShapeOf,
    Symbol,
    Value,
)
from converter.dataclass import dataclass

if TYPE_CHECKING:
    from converter.analysis.walk import Switch, Walk

Signal = str | None  # how a block ended early: "return", "raise", "break", "continue"

LOOP_TURNS = 40  # turns of a loop that builds a part of the graph each time


def execute_block(walk: Walk, body: list[ast.stmt]) -> Signal:
    """Executes statements in the current frame; tells how they ended early, None if they did not."""
    parent = walk.site if walk.site is not None and walk.site.frame is walk.frame else walk.frame.call_site
    for stmt in body:
        walk.count()
        with walk.at(stmt, parent):
            signal = (walk.written.get(stmt) or EXECUTE.get(type(stmt), _skip))(walk, stmt)
        if signal:
            return signal
    return None


def _skip(walk: Walk, stmt: ast.stmt) -> Signal:
    return None


def _expression(walk: Walk, stmt: ast.Expr) -> Signal:
    walk.evaluate(stmt.value)
    return None


def _assign(walk: Walk, stmt: ast.Assign) -> Signal:
    value = walk.evaluate(stmt.value)
    names = [getattr(t, "id", getattr(t, "attr", "")) for t in stmt.targets]
    if isinstance(value, Host) and named_batch_size(names) and not (shape_of(value) or rows_of(value)):
        computed = frozenset((walk.origin(stmt.value, "computed"),))  # an array is no size, and rows are known as such
        value = walk.stamp(Number(None, computed, computed, (value,)), stmt.value)
    elif isinstance(value, Number) and named_batch(names) and (kind := _kind_of_size(walk, value, stmt.value)):
        origin = frozenset((walk.origin(stmt.value, kind),))
        value = walk.stamp(Number(value.value, origin, origin, (value,)), stmt.value)
    if isinstance(stmt.value, ast.Constant):
        walk.note_constant(stmt, value)
    for target in stmt.targets:
        assign(walk, target, value)
    return None


def _kind_of_size(walk: Walk, number: Number, node: ast.expr) -> str:
    """The kind of a number that is scaled as a whole where it is written; "" for one that is scaled elsewhere."""
    return _chosen(walk, number, node) or _product(number)


def _product(number: Number) -> str:
    """The kind of a number that was computed from several that are written out: `2 * 64`; "" for any other."""
    literal = all(o.key[0] == "literal" for o in number.origins)
    return "literal" if literal and len(number.origins) > 1 and number.value is not None else ""


def _chosen(walk: Walk, number: Number, node: ast.expr) -> str:
    """The kind of a number that is one of several, as `args.batch_size or 64` is; "" where one place does not say all.

    What is written there is scaled as a whole: a flag that was not given may be None, which nothing multiplies.
    Numbers that are written elsewhere are scaled there, and flags with a default where they are read, as other places
    may read them, too.
    """
    given = [leaf for leaf in number.options() if not (isinstance(leaf, Constant) and leaf.value is None)]
    if not isinstance(node, (ast.BoolOp, ast.IfExp)) or len(given) < 2:
        return ""
    if any(isinstance(leaf, Host) and leaf.call != "int" for leaf in given):
        return "computed"
    here = set(ast.walk(node))
    if all(_is_written_elsewhere(leaf, here) or is_always_given(walk.facts, leaf) for leaf in given):
        return ""
    known = all(isinstance(leaf, Host) or is_given(leaf) for leaf in given)
    return "literal" if known else ""


def _is_written_elsewhere(value: Value, here: Set[ast.AST]) -> bool:
    """Whether a number is written out in other places than these."""
    origins = value.origins if isinstance(value, Number) else frozenset()
    return bool(origins) and all(origin.key[0] == "literal" and origin.node not in here for origin in origins)


def _annotated(walk: Walk, stmt: ast.AnnAssign) -> Signal:
    if stmt.value is not None:
        assign(walk, stmt.target, walk.evaluate(stmt.value))
    return None


PATHS = ("sys", "path")  # the list of folders in which modules are looked for


def _augmented(walk: Walk, stmt: ast.AugAssign) -> Signal:
    load = ast.copy_location(_as_load(stmt.target), stmt.target)
    if stmt in walk.facts.foreign:
        walk.facts.foreign[load] = walk.facts.foreign[stmt]
    old, given = walk.evaluate(load), walk.evaluate(stmt.value)
    if isinstance(old, Symbol) and (old.library, old.name) == PATHS and isinstance(stmt.op, ast.Add):
        from converter.analysis.python.calling import call_value

        extend = Symbol(old.library, f"{old.name}.extend")  # `sys.path += [folder]`
        call_value(walk, extend, [given], {}, ast.copy_location(ast.Call(load, [stmt.value], []), stmt))
        return None
    new = walk.stamp(binary(walk, stmt.op, old, given, stmt), stmt)
    if isinstance(old, Sequence) and old.mutable and isinstance(new, Sequence):
        walk.undo_log.append(StateChange(old, "", old.copy()))
        old.take(new)
        new = old
        walk.effect(EffectKind.MUTATION, "+=", old, stmt.target)
    assign(walk, stmt.target, new)
    return None


def _as_load(target: ast.expr) -> ast.expr:
    if isinstance(target, ast.Name):
        return ast.Name(target.id, ast.Load())
    if isinstance(target, ast.Attribute):
        return ast.Attribute(target.value, target.attr, ast.Load())
    if isinstance(target, ast.Subscript):
        return ast.Subscript(target.value, target.slice, ast.Load())
    return target


def assign(walk: Walk, target: ast.expr, value: Value) -> None:
    """Executes an assignment to a target of any form."""
    if isinstance(target, ast.Name):
        bind_name(walk, target.id, value, target)
    elif isinstance(target, (ast.Tuple, ast.List)):
        _unpack(walk, target.elts, value)
    elif isinstance(target, ast.Starred):
        assign(walk, target.value, value)
    elif isinstance(target, ast.Attribute):
        set_attribute(walk, walk.evaluate(target.value), target.attr, value, target)
    elif isinstance(target, ast.Subscript):
        holder, key = walk.evaluate(target.value), walk.evaluate(target.slice)
        settings = settings_of(holder)
        if settings is not None:
            set_all(walk, settings, Mapping([(key, value)]), target)
            return
        if isinstance(holder, Instance) and holder.kind == ATTRIBUTES and isinstance(getattr(key, "value", None), str):
            set_attribute(walk, holder, str(getattr(key, "value", "")), value, target)
        elif isinstance(holder, Mapping):
            put_key(walk, holder, key, value, target)
            if isinstance(key, Constant) and isinstance(key.value, str):
                name_numbers(walk, key.value, value)
        elif isinstance(holder, Sequence):
            put_item(walk, holder, key, value, target)
        elif isinstance(holder, Host):
            holder.inputs = (*holder.inputs, value)
        if isinstance(holder, (Host, Instance)) and not isinstance(key, (Constant, Number)):
            replace_sizes(walk, _picked_from(holder), value, target)
        walk.write(item_place(holder, key), value, target)


def _picked_from(holder: Value) -> Value:
    """The object in which a part is found by names that are not known: `config` of `config[section][name] = value`."""
    while isinstance(holder, Host) and holder.call == "[]" and holder.inputs:
        holder = holder.inputs[0]
    return holder


def _unpack(walk: Walk, targets: list[ast.expr], value: Value) -> None:
    star = next((i for i, target in enumerate(targets) if isinstance(target, ast.Starred)), None)
    value = of_length(value, len(targets)) if star is None else value
    elements = iterate(value, len(targets))
    note_position(walk, value)
    if star is not None:
        elements = _with_rest(value, elements, star, len(targets) - star - 1)
    for index, target in enumerate(targets):
        element = elements[min(index, len(elements) - 1)] if elements else walk.host((value,))
        assign(walk, target, walk.stamp(element, target))


def _with_rest(value: Value, elements: list[Value], star: int, behind: int) -> list[Value]:
    """The elements that `a, *rest, z = value` gives to its targets: those of `rest` as one list.

    star: the number of targets in front of the list. behind: the number of targets behind it.
    """
    end = max(len(elements) - behind, star)
    if isinstance(value, (Sequence, Mapping)) or (isinstance(value, ShapeOf) and value.tensor.rank is not None):
        many = isinstance(value, Sequence) and value.many and star < end
        rest = Sequence(elements[star:end], mutable=True, many=many).like(value)
    else:
        rest = Sequence(elements[star : star + 1], mutable=True, many=bool(elements[star : star + 1]))
    return [*elements[:star], rest, *elements[end:]]


def _function(walk: Walk, stmt: ast.FunctionDef) -> Signal:
    function: Value = Function(stmt, walk.frame, defaults_of(walk, stmt.args))
    for decorator in reversed(stmt.decorator_list):
        function = decorate(walk, decorator, function)
    bind_name(walk, stmt.name, walk.stamp(function, stmt), stmt)
    return None


def _class(walk: Walk, stmt: ast.ClassDef) -> Signal:
    """A class; where its base is one of several, one class for each of these."""
    several = [_classes_among(walk.as_taken(walk.evaluate(base))) for base in stmt.bases]
    made = [_class_of(walk, stmt, list(bases)) for bases in product(*several)]
    bind_name(walk, stmt.name, walk.stamp(made[0] if len(made) == 1 else Choice(made), stmt), stmt)
    return None


def _classes_among(base: Value) -> list[Value]:
    """What a base stands for: several classes, of which only a run can tell which, or a single value."""
    options = base.options if isinstance(base, Choice) else ()
    return [*options] if options and all(isinstance(option, Class) for option in options) else [base]


def _class_of(walk: Walk, stmt: ast.ClassDef, bases: list[Value]) -> Class:
    cls = Class(stmt, bases)
    frame = Frame(stmt, walk.frame, walk.site)
    with walk.inside(frame):
        execute_block(walk, stmt.body)
    cls.attributes = frame.locals
    if any((base.library, base.name) == ("enum", "Enum") for base in library_bases(cls)):
        _make_members(walk, cls)
    for value in frame.locals.values():
        for function in (value, *getattr(value, "args", ())):
            if isinstance(function, Function) and function.owner is None:
                function.owner = cls
                if function.closure is frame:  # methods do not see the names of their class
                    function.closure = walk.frame
    init = cls.attributes.get("__init__")
    if isinstance(init, Function) and any(may_give_arguments(walk.evaluate(d)) for d in stmt.decorator_list):
        init.injected = True
    return cls


def _make_members(walk: Walk, cls: Class) -> None:
    """The members of an `enum.Enum`: each is an object of the class, and the same one wherever it is read."""
    for name, value in list(cls.attributes.items()):
        if isinstance(value, (Constant, Number, Sequence)) and not name.startswith("_"):
            member = Instance(cls, MEMBER)
            member.attributes = {"name": Constant(name), "value": value}
            cls.attributes[name] = walk.stamp(member, cls.node)


def _return(walk: Walk, stmt: ast.Return) -> Signal:
    walk.facts.returned.add(stmt)
    walk.frame.returns.append(walk.evaluate(stmt.value) if stmt.value else Constant(None))
    return "return"


def _raise(walk: Walk, stmt: ast.Raise) -> Signal:
    return "raise"


def _break(walk: Walk, stmt: ast.stmt) -> Signal:
    return "break"


_branchings = count(1)  # executions of an `if` of which both branches are followed


@dataclass(frozen=True)
class Branching:
    """One execution of an `if`.

    number: what tells it from all others; 0 for what is none. switch: what it asks for, where that is a single flag.
    """

    number: int = 0
    switch: Switch | None = None


NO_BRANCHING = Branching()


def _continue(walk: Walk, stmt: ast.stmt) -> Signal:
    return "continue"


def _if(walk: Walk, stmt: ast.If) -> Signal:
    known = decide(walk, stmt)
    known = None if known is not None and _trains_either_way(walk, stmt) else known
    if walk.site is not None:
        walk.facts.sides.setdefault(walk.site, set()).update((True, False) if known is None else (known,))
    if known is not None:
        built = walk.graph_clock
        signal = execute_block(walk, stmt.body if known else stmt.orelse)
        if stmt in walk.facts.decided and walk.graph_clock != built:
            walk.facts.decided[stmt].builds = True
        return signal
    before, mark, branches, began = dict(walk.frame.locals), len(walk.undo_log), Turns(walk, stmt), walk.clock
    switch, collected = walk.switch, Collected(walk.collections)
    with walk.taking(switch, True), walk.having_one_row(walk.counted):
        first = _branch(walk, stmt.body)
    after_body, changed = walk.frame.locals, take_back(walk.undo_log, mark, walk.frame)
    walk.frame.locals, mark = dict(before), len(walk.undo_log)
    collected.next_branch()
    with walk.taking(switch, False):
        second = _branch(walk, stmt.orelse)
    collected.join()
    changed_too = take_back(walk.undo_log, mark, walk.frame)
    branches.leave_open()
    branching = Branching(next(_branchings), switch)
    changed, changed_too = _with_own_filled(changed, began), _with_own_filled(changed_too, began)
    if bool(first) is not bool(second):
        gone, stays = (changed, changed_too) if first else (changed_too, changed)
        for change, value in stays:
            change.put(value)
        if "raise" not in (first, second):  # a caller, or a further turn, sees what the other branch puts into lists
            left, kept = ([pair for pair in each if isinstance(pair[0].holder, Sequence)] for each in (gone, stays))
            put_back(walk, left, kept, stmt, branching)
    else:
        put_back(walk, changed, changed_too, stmt, branching)
    if second and not first:
        walk.frame.locals = after_body
    elif not second and not first:  # objects that a branch has made have their attributes again
        _join_branches(walk, after_body, walk.frame.locals, stmt, branching)
    return first if first and second else None


def _with_own_filled(changes: Changes, began: int) -> Changes:
    """The changes of a branch without those of lists that it made itself; all that it made is as it left it again."""
    left: Changes = []
    for change, value in changes:
        own = not isinstance(change.holder, Frame) and change.holder.time > began
        if own:
            change.put(value)
        if not own or not isinstance(change.holder, Sequence):
            left.append((change, value))
    return left


def _branch(walk: Walk, body: list[ast.stmt]) -> Signal:
    """Executes one of two branches of which a run takes either."""
    ends = ends_with_name_error(walk, body) or ends_with_import_error(walk, body)
    return "raise" if ends else execute_block(walk, body)


def _trains_either_way(walk: Walk, stmt: ast.If) -> bool:
    """Whether several branches of an `if … elif … else` train: another value of a constant takes another step."""
    if stmt not in walk.alternatives:
        chain = [stmt]
        while len(chain[-1].orelse) == 1 and isinstance(inner := chain[-1].orelse[0], ast.If):
            chain.append(inner)
        several = sum(map(_trains, [*(s.body for s in chain), chain[-1].orelse])) > 1
        walk.alternatives.update(dict.fromkeys(chain, several))  # the rest of a chain in which at most one trains, too
    return walk.alternatives[stmt]


def _trains(body: list[ast.stmt]) -> bool:
    calls = (n.func for stmt in body for n in ast.walk(stmt) if isinstance(n, ast.Call))
    return any(isinstance(f, ast.Attribute) and has(f.attr, Trait.TRAINS) for f in calls)


def put_back(walk: Walk, one: Changes, two: Changes, stmt: ast.stmt, branching: Branching = NO_BRANCHING) -> None:
    """Puts the joined values of both branches into changed attributes and items."""
    places, places_too = ({change.place(): value for change, value in side} for side in (one, two))
    for change, value in one:
        _settle(walk, change, value, places_too.get(change.place(), change.old), stmt, branching)
    for change, value in two:
        if change.place() not in places:
            _settle(walk, change, change.old, value, stmt, branching)


def _settle(
    walk: Walk,
    change: StateChange,
    one: Value | None,
    two: Value | None,
    stmt: ast.stmt,
    branching: Branching = NO_BRANCHING,
) -> None:
    if isinstance(one, Sequence) and isinstance(two, Sequence) and isinstance(change.holder, Sequence):
        held = join_contents(one, two)
        for element in held.elements:
            after_branches(walk, element, stmt)
        change.put(held)
        return
    key = change.key
    if isinstance(change.holder, Frame):
        place = Place("name", change.holder.uid, str(key), frame=change.holder)
    elif isinstance(key, Value):
        place = item_place(change.holder, key)
    else:
        place = Place("attr", change.holder.uid, key, holder=change.holder)
    one, two = walk.left_there(place, one, two, branching.switch)
    if one is two and one is None:
        change.put(None)
        return
    joined = after_branches(walk, _joined(walk, str(getattr(key, "value", key)), (one, two), stmt, branching), stmt)
    walk.chosen_by(branching.switch, one, two, joined)
    walk.maybe(place, one, two, joined)
    change.put(joined)
    if joined not in (one, two):
        walk.write(place, joined, stmt)
    walk.note_only(place, one, two, joined, branching.switch)


def _joined(
    walk: Walk, name: str, either: tuple[Value | None, Value | None], stmt: ast.stmt, branching: Branching
) -> Value:
    """The value after two branches; numbers that the same branches leave are told by the `if` that chose them."""
    for one, other in (either, either[::-1]):
        if not isinstance(other, Number) or other.value == 1 or not named_batch([name]):
            continue
        setting = _single_example(stmt, one)
        if setting is not None:
            if setting in walk.decisions:
                walk.facts.single.add(setting)
                return other
            walk.facts.may_be_single.add(setting)
    made = join(*either)
    if isinstance(made, Number) and made.chosen and made.inputs == either:
        made.branching = branching.number
    return made


def _single_example(stmt: ast.stmt, value: Value | None) -> ast.Assign | None:
    """The statement of a branch that sets a number to a written 1: `if slow: batch_size = 1`."""
    if not isinstance(stmt, ast.If) or not isinstance(value, Number) or value.value != 1 or len(value.origins) != 1:
        return None
    (origin,) = value.origins
    set_to = (one for one in (*stmt.body, *stmt.orelse) if isinstance(one, ast.Assign) and one.value is origin.node)
    return next(set_to, None)


def _join_branches(
    walk: Walk,
    one: dict[str, Value],
    two: dict[str, Value],
    stmt: ast.stmt,
    branching: Branching,
) -> None:
    """Binds each name to the joined value of both branches; a name with a new value counts as written."""
    walk.frame.locals = {}
    for name in (*one, *(n for n in two if n not in one)):
        value = after_branches(walk, _joined(walk, name, (one.get(name), two.get(name)), stmt, branching), stmt)
        walk.chosen_by(branching.switch, one.get(name), two.get(name), value)
        walk.maybe(Place("name", walk.frame.uid, name, frame=walk.frame), one.get(name), two.get(name), value)
        walk.frame.locals[name] = value
        if value is not one.get(name) and value is not two.get(name):
            bind_name(walk, name, value, stmt)


def _for(walk: Walk, stmt: ast.For) -> Signal:
    iterable = iterated(walk, walk.evaluate(stmt.iter), stmt.iter)
    if walk.site is not None:
        walk.facts.turned[walk.site] = iterable
    elements = iterate(iterable, None)
    known = isinstance(iterable, Sequence) and not iterable.many
    signal: Signal = None
    told = len(elements) if known else inf
    turns, whole = Turns(walk, stmt, is_short(iterable)), told <= LOOP_TURNS
    for turn, element in enumerate(elements[:LOOP_TURNS]):
        built = walk.graph_clock
        turns.begin()
        with walk.repeats.turn(turn, None if known or turns.brief else element):
            assign(walk, stmt.target, walk.stamp(element, stmt.iter))
            signal = execute_block(walk, stmt.body)
        if signal in ("return", "raise"):
            return None if not known else signal
        if signal == "break" or turns.shows_nothing_new(turn, built):
            whole &= turn == len(elements) - 1
            break  # a training loop: more turns show nothing new
    if elements and signal != "break" and not whole and turns.may_go_on_otherwise():
        turns.begin()
        with walk.repeats.turn(turn + 1):
            assign(walk, stmt.target, walk.stamp(_of_later_turns(elements[turn + 1 :] or elements[-1:]), stmt.iter))
            signal = execute_block(walk, stmt.body)
    turns.end(whole)
    if signal != "break":
        execute_block(walk, stmt.orelse)
    return None


def _of_later_turns(elements: list[Value]) -> Value:
    """The loop variable for all iterations that were not followed: a number or a string may be any of them."""
    plain = all(isinstance(e, (Number, Constant)) for e in elements)
    return one_of(elements) if plain else elements[-1]


def _while(walk: Walk, stmt: ast.While) -> Signal:
    test = truth(walk.evaluate(stmt.test))
    if test is False:
        return execute_block(walk, stmt.orelse)
    turns = Turns(walk, stmt)
    for turn in range(3):
        if turn == 2 and not turns.may_go_on_otherwise():
            break
        built = walk.graph_clock
        turns.begin()
        with walk.repeats.turn(turn):
            signal = execute_block(walk, stmt.body)
            if signal in ("return", "raise", "break"):
                return "return" if signal == "return" and test else None
            walk.evaluate(stmt.test)
        if turns.brief and walk.graph_clock == built:
            break
    turns.end(whole=False)
    return None


def _with(walk: Walk, stmt: ast.With) -> Signal:
    entered = []
    for item in stmt.items:
        context = walk.evaluate(item.context_expr)
        entered.append(enter_with(walk, context, item.context_expr))
        if item.optional_vars is not None:
            assign(walk, item.optional_vars, bind_with(context))
    signal = execute_block(walk, stmt.body)
    for leave in reversed(entered):
        leave()
    return signal


def _try(walk: Walk, stmt: ast.Try) -> Signal:
    if (missing := _missing(walk, stmt)) is not None:
        signal = execute_block(walk, missing.body)
        return execute_block(walk, stmt.finalbody) or (signal if signal == "return" else None)
    signal = execute_block(walk, imported_beside(walk, stmt) or stmt.body)
    imports = any(isinstance(one, (ast.Import, ast.ImportFrom)) for one in stmt.body)
    for handler in stmt.handlers:
        _handler(walk, handler, imports)
    if not signal:
        signal = execute_block(walk, stmt.orelse)
    return execute_block(walk, stmt.finalbody) or (signal if signal == "return" else None)


def _missing(walk: Walk, stmt: ast.Try) -> ast.ExceptHandler | None:
    """The handler that begins at once, as the body first reads an attribute that the object does not have yet.

    `try: return self._loss` before `except AttributeError: self._loss = ...`: it is made when it is first asked for.
    """
    handler = stmt.handlers[0] if stmt.handlers else None
    first = stmt.body[0]
    read = first.value if isinstance(first, (ast.Return, ast.Assign, ast.Expr)) else None
    if handler is None or not isinstance(read, ast.Attribute) or not isinstance(read.value, ast.Name):
        return None
    if getattr(handler.type, "id", "") != AttributeError.__name__:
        return None
    holder = walk.frame.locals.get(read.value.id)
    known = holder is not None and holder.uid not in walk.filled
    return handler if known and _lacks(holder, read.attr) else None


def _lacks(holder: Value | None, name: str) -> bool:
    """Whether no class of an object, nor a statement so far, gives it an attribute."""
    if not isinstance(holder, Instance) or name in holder.attributes or holder.cls is None:
        return False
    classes = list(holder.cls.lineage())
    written = [pair for cls in classes for pair in zip(cls.bases, cls.node.bases, strict=False)]
    followed = all(isinstance(base, Class) or getattr(node, "id", "") == "object" for base, node in written)
    return followed and all(holder.cls.find(other) is None for other in (name, "__getattr__", "__getattribute__"))


def _handler(walk: Walk, handler: ast.ExceptHandler, imports: bool) -> None:
    """A handler's bindings count for names that the body did not bind; sizes and settings may be those of either.

    imports: whether the body imports modules. What stands in for one does not count: the script runs where it is there.
    """
    either = _are_sizes if imports else _are_settings
    before, mark = dict(walk.frame.locals), len(walk.undo_log)
    if handler.name:
        bind_name(walk, handler.name, walk.host(), handler)
    execute_block(walk, handler.body)
    bound = dict(walk.frame.locals)
    walk.frame.locals = {**bound, **before}
    for name, old in before.items():
        if either(old, other := bound.get(name)) and other is not old:
            bind_name(walk, name, join(old, other), handler.body[0])
    for change, value in take_back(walk.undo_log, mark, walk.frame):
        if either(change.old, value):
            _settle(walk, change, change.old, value, handler.body[0])
        else:
            change.put(value if change.old is None else change.old)


def _are_sizes(one: Value | None, two: Value | None) -> bool:
    """Whether values are numbers of something, or hold such: neither 0 nor 1, which are switches and first steps."""
    numbers = all(isinstance(each, Number) and each.value not in (0, 1) for each in (one, two))
    return numbers or data_differ(one, two) or (one is not None and two is not None and sizes_differ(one, two))


def _are_settings(one: Value | None, two: Value | None) -> bool:
    """Whether values are numbers of something, or texts, switches, functions or objects of other kinds."""
    return _are_sizes(one, two) or (one is not None and two is not None and choices_differ(one, two))


def _global(walk: Walk, stmt: ast.Global | ast.Nonlocal) -> Signal:
    walk.frame.globals.update(stmt.names)
    return None


def _import(walk: Walk, stmt: ast.Import) -> Signal:
    for alias in stmt.names:
        import_module(walk, alias, stmt)
    return None


def _import_from(walk: Walk, stmt: ast.ImportFrom) -> Signal:
    for alias in stmt.names:
        import_from(walk, stmt, alias)
    return None


def _delete(walk: Walk, stmt: ast.Delete) -> Signal:
    for target in stmt.targets:
        if isinstance(target, ast.Name):
            walk.frame.locals.pop(target.id, None)
        elif isinstance(target, ast.Subscript):
            _delete_item(walk, target)
        elif isinstance(target, ast.Attribute) and isinstance(holder := walk.evaluate(target.value), Instance):
            walk.undo_log.append(StateChange(holder, target.attr, holder.attributes.pop(target.attr, None)))
    return None


def _delete_item(walk: Walk, target: ast.Subscript) -> None:
    holder, key = walk.evaluate(target.value), walk.evaluate(target.slice)
    if isinstance(holder, Mapping):
        walk.undo_log.append(StateChange(holder, key, holder.get(key)))
        holder.drop(key)
    elif isinstance(holder, Sequence):
        drop_item(walk, holder, key)
    walk.effect(EffectKind.MUTATION, "del", holder, target)


def _assert(walk: Walk, stmt: ast.Assert) -> Signal:
    walk.evaluate(stmt.test)
    return None


EXECUTE: dict[type[ast.stmt], Callable[[Walk, Any], Signal]] = {
    ast.Expr: _expression,
    ast.Assign: _assign,
    ast.AnnAssign: _annotated,
    ast.AugAssign: _augmented,
    ast.FunctionDef: _function,
    ast.AsyncFunctionDef: _function,
    ast.ClassDef: _class,
    ast.Return: _return,
    ast.Raise: _raise,
    ast.Break: _break,
    ast.Continue: _continue,
    ast.If: _if,
    ast.For: _for,
    ast.While: _while,
    ast.With: _with,
    ast.Try: _try,
    ast.Global: _global,
    ast.Nonlocal: _global,
    ast.Import: _import,
    ast.ImportFrom: _import_from,
    ast.Delete: _delete,
    ast.Assert: _assert,
}
