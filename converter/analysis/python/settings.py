"""Settings: flags, files of settings, and dicts and objects of settings that a file or the user may replace.

A batch size in such a dict is a default: what `config.update(json.load(f))` puts there is not seen. So it is scaled
where it is read, as a flag is.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from converter.analysis.counts.size_names import named_batch, named_batch_size
from converter.analysis.facts import Facts, Fallback, FlagDefinition
from converter.analysis.flow.undo import StateChange
from converter.analysis.frames import Place
from converter.analysis.python.naming import bind_in, name_numbers
from converter.analysis.traits import Trait, has
from converter.analysis.values import (
    ENTRIES,
    Absent,
    Class,
    Constant,
    Frame,
    Function,
    Host,
    Instance,
    Mapping,
    Module,
    Number,
    Typed,
    Value,
    needed,
)

if TYPE_CHECKING:
    from converter.analysis.walk import Walk

# modules that read files of settings, or the command line by a text that describes it
READERS = ("json.", "simplejson.", "yaml.", "toml.", "configparser.", "ConfigParser.", "docopt.")
PLAIN = ("int", "float", "str")  # types that make no None of a text
GETTERS = ("get", "getint", "getfloat")
Holder = Mapping | Instance | Class | Typed | Frame


def settings_of(holder: Value) -> Value | None:
    """The object of which a value is the dict: `vars(args)`, `config.__dict__`; None for any other value."""
    return holder.args[0] if isinstance(holder, Typed) and holder.kind == ENTRIES else None


def flag_value(walk: Walk, holder: Value, name: str, node: ast.AST) -> Number:
    """The value of a flag before the script sets it: an unknown number with an origin."""
    origin = walk.origin(node, "flag", name)
    return Number(None, frozenset((origin,)), frozenset((origin,)), (holder,))


def default_of(facts: Facts, value: Value | None) -> object:
    """The default of the flag that a value is read from, where it is known."""
    return next((flag.fallback for flag in flags_of(facts, value)), None)


def flags_of(facts: Facts, value: Value | None) -> list[FlagDefinition]:
    """The definitions of the flag that a value is read from; none for any other value."""
    names = {str(o.key[-1]) for o in value.origins if o.key[0] == "flag"} if isinstance(value, Number) else set()
    return [flag for flag in facts.flags if flag.name in names]


def is_always_given(facts: Facts, value: Value) -> bool:
    """Whether a value is that of a flag which no command line leaves None: it has a default, and is parsed plainly."""
    if not isinstance(value, Number) or value.op or value.chosen:
        return False
    if len(value.inputs) == 1 and isinstance(value.inputs[0], Number):
        return is_always_given(facts, value.inputs[0])
    flags = flags_of(facts, value)
    others = [fallback for fallback in facts.fallbacks if fallback.setting in {("flag", flag.name) for flag in flags}]
    plain = all(ast.unparse(flag.words.get("type", ast.Name("int"))) in PLAIN for flag in flags)
    given = all(flag.fallback is not None and "nargs" not in flag.words for flag in flags)
    return bool(flags) and given and plain and len(others) <= len(flags)


def read_setting(walk: Walk, name: str, node: ast.AST) -> Number:
    """A batch size that a file of settings holds, or another source that is not seen."""
    value = flag_value(walk, walk.settings, name, node)
    walk.read(Place("attr", walk.settings.uid, name, holder=walk.settings), value, node)
    return value


def read_from_file(walk: Walk, holder: Value, name: object, node: ast.AST) -> Number | None:
    """The batch size that a file of settings holds, a text of the command line, or what was made of all flags.

    None for anything else.
    """
    if not isinstance(holder, Host) or not isinstance(name, str) or not named_batch_size([name]):
        return None
    is_flag = bool(walk.facts.flags_named(name))
    for value in needed([holder]).values():
        if isinstance(value, Host) and value.call.startswith(READERS):
            return read_setting(walk, name, node)
        if is_flag and isinstance(value, Typed) and has(value.kind, Trait.SETTINGS):
            return read_setting(walk, name, node)
    return None


def asked_for(walk: Walk, function: Value, args: list[Value], node: ast.Call) -> Number | None:
    """The batch size that a method of settings is asked for: `config.getint('train', 'batch_size')`.

    What is given beside its name stands for it where the file has none: `config.get('batch_size', 64)`.
    """
    if not isinstance(function, Host) or function.call not in GETTERS or not function.inputs:
        return None
    names = [(at, arg.value) for at, arg in enumerate(args[:2]) if isinstance(arg, Constant)]
    at, name = next(((at, name) for at, name in names[::-1] if isinstance(name, str)), (0, None))
    found = read_from_file(walk, function.inputs[0], name, node)
    if found is not None:
        others = [*node.args[at + 1 :], *(k.value for k in node.keywords if k.arg in ("fallback", "default"))]
        walk.facts.fallbacks += [Fallback(("flag", name), other) for other in others]
    return found


def note_setting(walk: Walk, holder: Value | Frame, name: object, value: Value, node: ast.AST) -> None:
    """Notes that an entry is read that was replaced by one that is not seen: that read is one of a setting."""
    if (holder.uid, name) not in walk.replaced or not isinstance(holder, Holder) or not isinstance(value, Number):
        return
    if any(origin.key == ("flag", name) for origin in value.origins):
        walk.read(Place("attr", walk.settings.uid, str(name), holder=walk.settings), value, node)


def unseen_setting(walk: Walk, holder: Value, name: object, node: ast.AST) -> Number | None:
    """The batch size of a dict or an object that was given entries that are not seen; None for anything else."""
    size = isinstance(name, str) and named_batch_size([name])
    return read_setting(walk, str(name), node) if size and holder.uid in walk.filled else None


def may_hold_sizes(walk: Walk, given: Value) -> bool:
    """Whether values that are not seen may hold a batch size; parsed arguments hold nothing but the script's flags."""
    of = settings_of(given)
    parsed = isinstance(of, Typed) and has(of.kind, Trait.SETTINGS)
    return not parsed or any(named_batch([flag.name]) for flag in walk.facts.flags)


def fill(walk: Walk, holder: Mapping, given: Value, node: ast.AST) -> None:
    """Puts the entries of a dict that is not seen into another: under any key, in place of any value."""
    if may_hold_sizes(walk, given):
        replace_sizes(walk, holder, given, node)
    if isinstance(given, Host):
        walk.undo_log.append(StateChange(holder, given, holder.get(given)))
        holder.set(given, Host((given,)))


def replace_sizes(walk: Walk, holder: Value | Frame, given: Value, node: ast.AST) -> None:
    """What is put into a dict or an object under names that are not known may replace any setting, at any depth.

    A batch size is read from there as from a flag; of other settings no condition can be sure.
    """
    todo, seen = [holder.frame if isinstance(holder, Module) else holder], set[int]()
    while todo:
        inner = todo.pop()
        if inner.uid in seen or not isinstance(inner, Holder):
            continue
        seen.add(inner.uid)
        walk.filled.add(inner.uid)
        for key, name, old in _entries(inner):
            if isinstance(old, (Mapping, Instance)) and not isinstance(inner, Frame):
                todo.append(old)
            elif isinstance(old, Number) and old.origins and named_batch([name]) and old.value != 1:
                if (inner.uid, name) in walk.replaced and old.chosen:
                    continue
                number = flag_value(walk, walk.settings, name, node)
                made = Number(None, number.origins, number.linear, (old, given), chosen=True)
                _put(walk, inner, key, walk.stamp(made, node))
                walk.replaced.add((inner.uid, name))
            elif isinstance(old, (Constant, Number)):
                walk.assumed.add(old.uid)  # no condition can be sure of it


def _entries(holder: Holder) -> Iterator[tuple[Value | str, str, Value]]:
    """What a dict or an object holds: the key, the name and the value of each entry."""
    if isinstance(holder, Mapping):
        pairs = [(key, getattr(key, "value", None), value) for key, value in holder.pairs]
        yield from ((key, name, value) for key, name, value in pairs if isinstance(name, str))
        return
    found: dict[str, Value] = {}
    if isinstance(holder, Instance):
        for cls in reversed(list(holder.cls.lineage())) if holder.cls is not None else ():
            found.update(cls.attributes)
        found.update(holder.attributes)
    elif isinstance(holder, Frame):
        found.update(holder.locals)
    else:
        found.update(holder.state if isinstance(holder, Typed) else holder.attributes)
    yield from ((name, name, value) for name, value in found.items())


def _put(walk: Walk, holder: Holder, key: Value | str, value: Value) -> None:
    if isinstance(holder, Mapping):
        assert isinstance(key, Value)
        walk.undo_log.append(StateChange(holder, key, holder.get(key)))
        holder.set(key, value)
        return
    if isinstance(holder, Frame):
        own = holder.locals
    else:
        own = holder.state if isinstance(holder, Typed) else holder.attributes
    if holder is not walk.frame:
        walk.undo_log.append(StateChange(holder, key, own.get(str(key))))
    own[str(key)] = value


def set_attribute(walk: Walk, holder: Value, name: str, value: Value, target: ast.AST) -> None:
    """Executes `holder.name = value`."""
    if isinstance(holder, Module):
        bind_in(walk, holder.frame, name, value, target)
        return
    replaced = False
    name_numbers(walk, name, value)
    if isinstance(holder, (Instance, Class)):
        walk.undo_log.append(StateChange(holder, name, holder.attributes.get(name)))
        replaced = _takes_the_place_of_a_method(holder, name)
        holder.attributes[name] = value
        for option in holder.options if isinstance(holder, Instance) else ():  # whichever of them it is
            walk.undo_log.append(StateChange(option, name, option.attributes.get(name)))
            option.attributes[name] = value
    elif isinstance(holder, Typed):
        old = holder.state.get(name)
        if old is None and has(holder.kind, Trait.SETTINGS):  # a flag has a value before it is set
            old = flag_value(walk, holder, name, target)
        walk.undo_log.append(StateChange(holder, name, old))
        holder.state[name] = value
    place = Place("attr", holder.uid, name, holder=holder)
    if replaced:  # it was called by this name, as long as the object had nothing under it
        walk.read(place, Absent(), target)
    walk.write(place, value, target)


def _takes_the_place_of_a_method(holder: Value, name: str) -> bool:
    if not isinstance(holder, Instance) or holder.cls is None or name in holder.attributes:
        return False
    return isinstance(holder.cls.find(name), Function)


def set_all(walk: Walk, holder: Value, given: Value, node: ast.AST) -> None:
    """Sets attributes of an object from a dict: `config.__dict__.update(settings)`."""
    if not isinstance(given, Mapping):
        if may_hold_sizes(walk, given):
            replace_sizes(walk, holder, given, node)
        return
    for key, value in given.pairs:
        if isinstance(key, Constant) and isinstance(key.value, str):
            set_attribute(walk, holder, key.value, value, node)
        else:
            replace_sizes(walk, holder, value, node)
