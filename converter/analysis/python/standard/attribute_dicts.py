"""Dicts whose entries are attributes, too: settings of many scripts are kept in `easydict.EasyDict`."""

from __future__ import annotations

from converter.analysis.call import Call, Handler
from converter.analysis.python.calling import SPREAD
from converter.analysis.python.settings import replace_sizes, set_all, set_attribute
from converter.analysis.values import ATTRIBUTES, Constant, Host, Instance, Mapping, Value
from converter.analysis.walk import Walk


def _made(walk: Walk, given: Mapping, node: Call) -> Instance:
    """The object of a dict; dicts in it become such objects, as the constructors of these classes do it."""
    made = Instance(None, ATTRIBUTES)
    walk.stamp(made, node.node)
    for key, value in given.pairs:
        held = _made(walk, value, node) if isinstance(value, Mapping) else value
        if isinstance(key, Constant) and isinstance(key.value, str):
            set_attribute(walk, made, key.value, held, node.node)
    return made


def _attribute_dict(call: Call) -> Value:
    made = _made(call.walk, Mapping(), call)
    _fill(call, made)
    return made


def _fill(call: Call, made: Instance) -> None:
    """Entries from a dict that is given, and from keywords; a dict that is not followed may hold any."""
    own = Mapping([(Constant(name), value) for name, value in call.kwargs.items() if name != SPREAD])
    for given in (*call.args[:1], own):
        if isinstance(given, Mapping):
            made.attributes.update(_made(call.walk, given, call).attributes)
        else:
            set_all(call.walk, made, given, call.node)
    if SPREAD in call.kwargs:
        replace_sizes(call.walk, made, call.kwargs[SPREAD], call.node)


def _update(call: Call) -> Value:
    assert isinstance(call.receiver, Instance)
    _fill(call, call.receiver)
    return Constant(None)


def _get(call: Call) -> Value:
    assert isinstance(call.receiver, Instance)
    name = call.constant(0, "key")
    default = call.get(1, "default") or Constant(None)
    if not isinstance(name, str):
        return Host(call.values(), call.name, call.node)
    from converter.analysis.python.items import get_attribute

    return get_attribute(call.walk, call.receiver, name, call.node) if name in call.receiver.attributes else default


MAKERS = ("easydict.EasyDict", "munch.Munch", "attrdict.AttrDict", "addict.Dict")
CALLS: dict[str, Handler] = {
    **dict.fromkeys(MAKERS, _attribute_dict),
    "types.SimpleNamespace": _attribute_dict,
    f"{ATTRIBUTES}.update": _update,
    f"{ATTRIBUTES}.get": _get,
}
