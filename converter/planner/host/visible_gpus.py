"""Scripts that restrict the visible GPUs: each tower needs one."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import chain

from converter.analysis.facts import Facts
from converter.analysis.values import Constant
from converter.dataclass import dataclass
from converter.diagnostics import Diagnostic
from converter.options import Options
from converter.plan import Replace
from converter.planner.host.gpu_count import GpuCount
from converter.planner.outcome import Faults
from converter.planner.plan_faults import PlanFault
from converter.planner.questions.statements import parents_of, runs_alone
from converter.planner.wording import finding
from converter.planner.writing.source_text import SourceText

VARIABLE = "CUDA_VISIBLE_DEVICES"
LIST = "visible_device_list"
COUNT = "device_count"
EXPORTS = ("setdefault", "putenv")


@dataclass(frozen=True)
class _Choice:
    """An expression that sets the visible GPUs, or their number; what: the setting, for messages."""

    node: ast.expr
    what: str


def visible_edits(
    facts: Facts, options: Options, text: SourceText, count: GpuCount, anywhere: bool
) -> tuple[list[Replace], list[Diagnostic]]:
    """Let a script that makes fewer GPUs visible than there are towers make the first ones visible, one for each.

    anywhere: whether other files than the script may change. What is not known before the script runs is warned of,
    where the towers find out themselves (CUDA_VISIBLE_DEVICES), and refused elsewhere: raises Faults.
    """
    replaces: list[Replace] = []
    warnings: list[Diagnostic] = []
    faults: list[Diagnostic] = []
    for node, choice in _places(facts):
        given = _given(facts, node)
        path = facts.path_of(node)
        hidden = given in ("", 0, "-1")
        if hidden and choice.what == VARIABLE and node is choice.node and not _is_in_branch(facts, node):
            warnings.append(finding(facts, node, PlanFault.GPUS_HIDDEN, what=choice.what, named=text.of(node)))
        if hidden or (given is not None and _size(given) >= (options.num_gpus or 1) > 1):
            continue
        if options.num_gpus == 1 or (path and not anywhere):
            continue
        if options.num_gpus is None or (choice.what == VARIABLE and given is None):
            warnings.append(finding(facts, node, PlanFault.GPUS_TOLD_WHEN_RUN, what=choice.what))
            continue
        if given is None and choice.what == LIST:
            faults.append(finding(facts, node, PlanFault.UNKNOWN_GPUS, what=choice.what, towers=options.num_gpus))
            continue
        of_flag = node is not choice.node
        made = _rewritten(VARIABLE if of_flag else choice.what, options.num_gpus, count.for_node(node))
        if given is None:
            made = _where_chosen(node, made, text)
        if text.of(node).startswith('"') and (of_flag or choice.what == VARIABLE):
            made = made.replace("'", '"')
        replaces.append(Replace(text.start(node), text.end(node), made, "TMG128"))
        if choice.what != COUNT:
            named = text.of(node)
            warnings.append(finding(facts, node, PlanFault.FEWER_GPUS_NAMED, what=choice.what, named=named))
    if faults:
        raise Faults(faults)
    return replaces, warnings


def _is_in_branch(facts: Facts, node: ast.AST) -> bool:
    return any(isinstance(around, (ast.If, ast.IfExp)) for around in parents_of(facts, node))


def _places(facts: Facts) -> list[tuple[ast.expr, _Choice]]:
    """What is set, with the expression that says it: the default of a flag, once, where a flag is set."""
    found: dict[ast.expr, _Choice] = {}
    for choice in _choices(facts):
        if not runs_alone(facts, choice.node):
            found.setdefault(_default(facts, choice) or choice.node, choice)
    return [*found.items()]


def _default(facts: Facts, choice: _Choice) -> ast.expr | None:
    """The text that a flag is by default, where the flag is what is set: `args.gpu`, '0' by default."""
    if choice.what == COUNT or not isinstance(choice.node, ast.Attribute):
        return None
    flags = facts.flags_named(choice.node.attr)
    if len(flags) != 1 or "choices" in flags[0].words:
        return None
    default = flags[0].default
    return default if isinstance(default, ast.Constant) and isinstance(default.value, str) else None


def _rewritten(what: str, towers: int, number: str) -> str:
    """The first GPUs, one for each tower; the environment is set, and flags are defined, before flags are parsed."""
    if what == VARIABLE:
        return repr(",".join(map(str, range(towers))))
    if what == LIST:
        return f"','.join(str(gpu) for gpu in range({number}))"
    return number


def _where_chosen(node: ast.expr, number: str, text: SourceText) -> str:
    """The number of GPUs where the script's own number is not 0; 0, for the CPU, stays."""
    bare = isinstance(node, (ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.Compare, ast.BoolOp))
    return f"{number} if {text.of(node) if bare else f'({text.of(node)})'} else 0"


def _given(facts: Facts, node: ast.expr) -> str | int | None:
    """The constant that is set, here or where its name is bound: a list of GPUs, or their number; None for others."""
    read = {access.value for access in facts.accesses_at(node)}
    found = {given.value for given in read if isinstance(given, Constant)} if read else {getattr(node, "value", None)}
    value = found.pop() if len(found) == 1 and all(isinstance(given, Constant) for given in read) else None
    return value.replace(" ", "") if isinstance(value, str) else value if isinstance(value, int) else None


def _size(given: str | int) -> int:
    return given if isinstance(given, int) else len(given.split(","))


def _choices(facts: Facts) -> Iterator[_Choice]:
    for assign in facts.nodes(ast.Assign):
        for target in assign.targets:
            if isinstance(target, ast.Subscript) and _is(target.slice, VARIABLE):
                yield _Choice(assign.value, VARIABLE)
            elif isinstance(target, ast.Attribute) and target.attr == LIST:
                yield _Choice(assign.value, LIST)
            elif (
                isinstance(target, ast.Subscript)
                and _is(target.slice, "GPU")
                and isinstance(target.value, ast.Attribute)
                and target.value.attr == COUNT
            ):
                yield _Choice(assign.value, COUNT)
    for call in facts.nodes(ast.Call):
        yield from _of_call(facts, call)


def _of_call(facts: Facts, call: ast.Call) -> Iterator[_Choice]:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    if name in EXPORTS and len(call.args) == 2 and _is(call.args[0], VARIABLE):
        yield _Choice(call.args[1], VARIABLE)
    for keyword in call.keywords:
        if keyword.arg == LIST:
            yield _Choice(keyword.value, LIST)
        elif keyword.arg == VARIABLE and name == "update":
            yield _Choice(keyword.value, VARIABLE)
        elif keyword.arg == COUNT:
            yield from _entries(facts, keyword.value, "GPU", COUNT)
    if name == "update" and call.args:
        yield from _entries(facts, call.args[0], VARIABLE, VARIABLE)
    if name == "update" and isinstance(call.func, ast.Attribute) and getattr(call.func.value, "attr", "") == COUNT:
        given = call.args[0] if call.args else call
        yield from _entries(facts, given, "GPU", COUNT)


def _entries(facts: Facts, node: ast.expr, key: str, what: str) -> Iterator[_Choice]:
    """The values that a dict display or `dict(…)`, here or where its name is bound, has under a key."""
    if isinstance(node, ast.Dict):
        yield from (_Choice(v, what) for k, v in zip(node.keys, node.values, strict=True) if k and _is(k, key))
    elif isinstance(node, ast.Call):
        yield from (_Choice(k.value, what) for k in node.keywords if k.arg == key)
    elif isinstance(node, ast.IfExp):
        yield from chain(_entries(facts, node.body, key, what), _entries(facts, node.orelse, key, what))
    elif isinstance(node, ast.Name):
        for bound, value in _bound_to(facts, node):
            if isinstance(bound, ast.Subscript) and _is(bound.slice, key):
                yield _Choice(value, what)
            elif isinstance(bound, ast.Name) and not isinstance(value, ast.Name):
                yield from _entries(facts, value, key, what)


def _bound_to(facts: Facts, name: ast.Name) -> Iterator[tuple[ast.expr, ast.expr]]:
    """The targets and values of assignments to a name, or to an entry of what it holds, in the scopes that see it."""
    scopes = {_scope(facts, name), None}
    for assign in facts.nodes(ast.Assign):
        for target in assign.targets:
            held = target.value if isinstance(target, ast.Subscript) else target
            same = isinstance(held, ast.Name) and held.id == name.id
            if same and facts.path_of(held) == facts.path_of(name) and _scope(facts, held) in scopes:
                yield target, assign.value


def _scope(facts: Facts, node: ast.AST) -> ast.AST | None:
    """The function that a node stands in; None at the top of a file."""
    while node in facts.parents:
        node = facts.parents[node]
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return node
    return None


def _is(node: ast.expr, text: str) -> bool:
    return isinstance(node, ast.Constant) and node.value == text
