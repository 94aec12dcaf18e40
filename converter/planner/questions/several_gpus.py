"""Finds the devices of scripts that place their model on several GPUs themselves."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from converter.analysis.effects import EffectKind
from converter.analysis.facts import Effect, Facts
from converter.analysis.values import Bound, Constant, Host, Number, Sequence, Tensor, Value, needed
from converter.planner.questions.statements import is_executed

ITEM = 2  # what an item that is not known is made of: the list, and its place there


def devices_of_several_gpus(facts: Facts) -> Iterator[Effect]:
    """The devices that differ from turn to turn of a loop, and each that names another GPU than those before it.

    Code that is executed and code that nothing calls are looked at apart: nobody uses the GPUs of both.
    """
    gpus: dict[bool, set[str]] = {}
    for effect in facts.effects_of(EffectKind.DEVICE):
        if _is_of_empty_list(facts, effect.value) or _is_of_tensor(effect.value):
            continue
        computed = effect.name == "None" and not _is_one_gpu(effect.value) and differs_by_turn(effect)
        named = gpus.setdefault(is_executed(effect.site), set())
        named |= set(_numbers(effect.name))
        if computed or len(named) > 1:
            yield effect


def _is_of_tensor(device: Value | None) -> bool:
    """True for the device on which a variable or tensor is already: `tf.device(var.device)`."""
    return isinstance(device, Bound) and device.name == "device" and isinstance(device.receiver, Tensor)


def _is_one_gpu(device: Value | None) -> bool:
    """Whether a device is one of several names, by a switch, and these name no more than one GPU."""
    names: set[object] = set()
    todo = [device]
    while todo:
        value = todo.pop()
        if isinstance(value, Constant):
            names.add(value.value)
        elif isinstance(value, Host) and not value.call and value.inputs:
            todo += value.inputs
        else:
            return False
    return len({number for name in names for number in _numbers(str(name))}) <= 1


def _is_of_empty_list(facts: Facts, device: Value | None) -> bool:
    """True if a device is named by an item of a list that nothing fills, `gpus=[]`: no run comes there."""
    if device is None:
        return False
    read = (v for v in needed([device]).values() if isinstance(v, Host) and not v.call and len(v.inputs) == ITEM)
    lists = [v.inputs[0] for v in read if isinstance(v.inputs[1], Number)]
    empty = [v for v in lists if isinstance(v, Sequence) and not v.elements and not v.unmeasured]
    return any(not _is_given_away(facts, one) for one in empty)


def _is_given_away(facts: Facts, value: Value) -> bool:
    """True if a value is an argument of a call that is not followed, which may fill it."""
    given = {arg for call in facts.unfollowed for arg in (*call.args, *(keyword.value for keyword in call.keywords))}
    return any(access.node in given for access in facts.accesses_of(value))


def _numbers(device: str) -> list[str]:
    """The numbers of the GPUs that a name of a device has."""
    return re.findall(r"gpu:(\d+)", device.lower())


def differs_by_turn(effect: Effect) -> bool:
    """Whether a device may be another one in each turn of a loop: `'/gpu:%d' % i`, and not `'/gpu:%d' % FLAGS.gpu`."""
    frame = effect.site.frame
    calls = [n.func for n in ast.walk(effect.node) if isinstance(n, ast.Call) and n is not effect.node]
    plain = all(getattr(f, "id", getattr(f, "attr", "")) in ("format", "str", "int") for f in calls)
    read = {node.id for node in ast.walk(effect.node) if isinstance(node, ast.Name)}
    fields = {node.attr for node in ast.walk(effect.node) if isinstance(node, ast.Attribute)}
    for site in effect.site.chain():
        if not isinstance(site.stmt, (ast.For, ast.While)):
            continue
        if not plain:
            return True
        if site.frame is not frame:  # the function that names the device is called in each turn
            if isinstance(site.stmt, ast.For) and any(name in frame.locals for name in read):
                return True
            continue
        names = (n for n in ast.walk(site.stmt) if isinstance(n, (ast.Name, ast.Attribute)))
        changed = [n for n in names if isinstance(n.ctx, ast.Store)]
        if any(n.id in read if isinstance(n, ast.Name) else n.attr in fields for n in changed):
            return True
    return False
