"""Command line flags: the number of GPUs becomes one beside them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from converter.analysis.call import Call, Handler
from converter.analysis.facts import Fallback, FlagDefinition
from converter.analysis.python.settings import replace_sizes
from converter.analysis.rows import makes, table
from converter.analysis.traits import Trait
from converter.analysis.values import (
    ENTRIES,
    Class,
    Constant,
    Function,
    Host,
    Instance,
    Mapping,
    Sequence,
    Typed,
    Value,
)

if TYPE_CHECKING:
    from converter.analysis.walk import Walk


def _option_group(call: Call) -> Value:
    """A part of the parser that it is given."""
    parser = call.get(0, "parser")
    return parser if isinstance(parser, Typed) else call.typed("ArgumentParser")


def _number(call: Call) -> int:
    """The number of the parser whose method is called; 0 if it is not known."""
    return call.receiver.uid if isinstance(call.receiver, Typed) else 0


def _add_argument(call: Call) -> Value:
    names = [a.value for a in call.args if isinstance(a, Constant) and isinstance(a.value, str)]
    long = next((n for n in names if n.startswith("--")), names[0] if names else "")
    destination = call.constant(-1, "dest")
    name = str(destination) if isinstance(destination, str) else long.lstrip("-").replace("-", "_")
    _define(call, name, "argparse")
    return Host(call.values(), "add_argument")


def _group(call: Call) -> Value:
    return call.receiver if isinstance(call.receiver, Typed) else call.typed("ArgumentParser")


def _define(call: Call, name: str, style: str) -> None:
    assert call.walk.site is not None
    position = 1 if style == "flags" else -1
    flag = FlagDefinition(
        name=name,
        call=call.node,
        site=call.walk.site,
        style=style,
        time=call.walk.clock,
        parser=_number(call),
        fallback=call.constant(position, "default", "default_value"),
        choices=_texts(call.get(2 if style == "flags" else -1, "choices", "enum_values")),
    )
    call.walk.facts.flags.append(flag)
    default = call.node_of(position, "default", "default_value")
    if default is not None:
        call.walk.facts.fallbacks.append(Fallback(("flag", name), default))


def _texts(value: Value | None) -> tuple[str, ...]:
    """The texts of a list, such as those of which the user may give one."""
    parts = value.parts() if isinstance(value, (Sequence, Mapping)) else ()
    return tuple(part.value for part in parts if isinstance(part, Constant) and isinstance(part.value, str))


def _set_defaults(call: Call) -> Value:
    named = [keyword for keyword in call.node.keywords if keyword.arg is not None]
    call.walk.facts.fallbacks += [Fallback(("flag", keyword.arg), keyword.value) for keyword in named]
    return Host(call.values(), "set_defaults")


def _parse_args(call: Call) -> Value:
    if isinstance(call.receiver, Typed) and call.receiver.name.startswith("optparse."):
        return Sequence([_parsed(call), Host()])  # the options, and the arguments that are left
    given = call.get(1, "namespace")
    if isinstance(given, (Instance, Class)):  # its attributes are the defaults of the flags
        replace_sizes(call.walk, given, Host(call.args), call.node)
        return given
    return _parsed(call)


def _parsed(call: Call) -> Value:
    namespace = call.typed("Namespace")
    assert call.walk.site is not None
    call.walk.stamp(namespace, call.node)
    call.walk.facts.namespaces.append((namespace, call.walk.site))
    call.walk.facts.parsers[namespace.uid] = _number(call)
    return namespace


def _parse_known(call: Call) -> Value:
    return Sequence([_parse_args(call), Host()])


def _define_flag(call: Call) -> Value:
    name = call.constant(0, "name", "flag_name")
    if isinstance(name, str):
        _define(call, name, "flags")
    return Constant(None)


def _values_of_flags(call: Call) -> Value:
    """The dict of all flags (absl/flags/_flagvalues.py of absl-py 1.4), read as `vars(args)` is."""
    return Typed(ENTRIES, call.name, [call.walk.flags], {}, None)


def _run_app(call: Call) -> Value:
    """tf.app.run(main): calls the script's main."""
    from converter.analysis.python.calling import call_function

    main = call.get(0, "main")
    if main is None or isinstance(main, Constant):
        main = call.walk.module.locals.get("main")
    if isinstance(main, Function):
        names = main.node.args.args
        return call_function(call.walk, main, [Host() for _ in names], {}, call.node)
    return Constant(None)


KINDS = "string integer float bool boolean enum list multi_integer multi_string".split()
DEFINES = [f"app.flags.DEFINE_{kind}" for kind in KINDS]

TRAITS: dict[Trait, str] = {
    Trait.SETTINGS: "Namespace Flags",
    Trait.HOLDS_SETTINGS: "builtins.dict collections.OrderedDict contrib.training.HParams",
}

OBJECTS: dict[str, Callable[[Walk], Value]] = {"app.flags.FLAGS": lambda walk: walk.flags}

CALLS: dict[str, Handler] = table(
    ("argparse.ArgumentParser optparse.OptionParser", makes("ArgumentParser")),
    ("optparse.OptionGroup", _option_group),
    ("ArgumentParser.add_argument ArgumentParser.add_option", _add_argument),
    ("ArgumentParser.add_argument_group", _group),
    ("ArgumentParser.set_defaults", _set_defaults),
    ("ArgumentParser.parse_args", _parse_args),
    ("ArgumentParser.parse_known_args", _parse_known),
    (DEFINES, _define_flag),
    ("Flags.flag_values_dict", _values_of_flags),
    ("app.run", _run_app),
)
