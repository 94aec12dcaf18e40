"""Refusals of scripts that cannot run as one of N processes."""

from __future__ import annotations

import ast

from converter.targets.passes import Case

_OWN_FLAGS = ("worker_hosts", "task_index")
_UNSEEDED = ("numpy.random.RandomState", "numpy.random.default_rng", "random.Random")


def checks(case: Case) -> Case:
    """Refuse what would train in another way, or hang, as one of several processes."""
    script = case.script
    for call in script.calls:
        name = script.name(call.func)
        if _draws_of_its_own(name, call):
            script.finding(call, "TMG260", name=name)
    for node in script.nodes(ast.Constant):
        flag = node.value.lstrip("-") if isinstance(node.value, str) else ""
        if flag in _OWN_FLAGS:
            script.finding(node, "TMG259 flag", flag=flag)
    return case


def _draws_of_its_own(name: str, call: ast.Call) -> bool:
    """True for a generator that begins with the system's randomness."""
    return name == "random.SystemRandom" or (name in _UNSEEDED and not call.args and not call.keywords)
