"""Variables cut into slices (`--variables partitioned`): which stay whole, and what in a script knows only whole ones.

A slice has part of its variable's shape and a name of its own. Reading a variable, its updates by an optimizer and
checkpoints come to the same; what takes variables as objects may not.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from converter.analysis.effects import EffectKind
from converter.analysis.facts import Facts
from converter.analysis.inputs.graph_names import name_expression, pattern_of
from converter.analysis.traits import Trait, has
from converter.analysis.values import Variable
from converter.dataclass import dataclass
from converter.diagnostics import Diagnostic
from converter.plan import Replace
from converter.planner.plan_faults import PlanFault
from converter.planner.region.region import Region
from converter.planner.towers.partitioned.variable_lists import check_lists, last_name
from converter.planner.wording import finding, refuse
from converter.planner.writing.source_text import SourceText

# Calls of Python to which a variable is more than a tensor.
PYTHON = {"append", "extend", "isinstance", "getattr", "len", "list", "zip", "id", "print", "str"}

KEYWORDS = {
    "custom_getter",
    "constraint",
    "kernel_constraint",
    "recurrent_constraint",
    "gradient_multipliers",
    "clip_gradient_norm",
    "transform_grads_fn",
    "summarize_gradients",
}
REGULARIZERS = {"regularizer", "kernel_regularizer", "weights_regularizer", "recurrent_regularizer"}

# Effects of code that takes a variable for more than a tensor.
TOUCHES = (EffectKind.ASSIGN, EffectKind.AVERAGE, EffectKind.AVERAGE_READ, EffectKind.GRAPH_NAME, EffectKind.MUTATION)


@dataclass(frozen=True)
class SliceLayout:
    """How variables are cut for --variables partitioned.

    kept: the last parts of the names of those that are not cut. rows: the same of tables that are cut along their rows,
    with what tells their look-ups so. warnings: what the script's reader should know.
    """

    kept: tuple[str, ...]
    rows: tuple[str, ...]
    replaces: tuple[Replace, ...]
    warnings: tuple[Diagnostic, ...]


def cut_variables(facts: Facts, regions: tuple[Region, ...], text: SourceText) -> SliceLayout:
    """The edits that cut variables; raises Refusal where slices would mean something else."""
    check_lists(facts)
    _check_calls(facts)
    _check_regularizers(facts)
    _check_names(facts)
    _check_scopes(facts, regions)
    _check_slots(facts)
    kept: dict[str, None] = {}
    rows: dict[str, None] = {}
    calls: dict[ast.Call, None] = {}
    warnings: dict[ast.AST, Diagnostic] = {}
    for variable in facts.variables:
        if variable.raw or not isinstance(variable.node, ast.Call) or variable.dims == ():
            continue
        node = _touched(facts, variable)
        lookups = _lookups(facts, variable)
        if node is None and not lookups:
            continue
        name = pattern_of(name_expression(variable) or _first(variable.node))
        if "*" in name:
            raise refuse(facts, node or variable.node, PlanFault.COMPUTED_NAME)
        last = name.rpartition("/")[2]
        if node is None and _by_rows(facts, lookups):
            rows[last] = None
            calls.update(dict.fromkeys(lookups))
            continue
        kept[last] = None
        if node is not None:
            warnings.setdefault(node, finding(facts, node, PlanFault.TAKEN_FOR_ONE_OBJECT, name=name))
    replaces = tuple(_with_slice_strategy(call, text) for call in calls)
    return SliceLayout(tuple(kept), tuple(rows), replaces, (*_raw(facts, regions), *warnings.values()))


def _first(call: ast.Call) -> ast.expr | None:
    return call.args[0] if call.args else None


def _raw(facts: Facts, regions: tuple[Region, ...]) -> Iterator[Diagnostic]:
    """A warning where the model has variables that no getter makes."""
    used = {uid for region in regions for uid in region.needed}
    raw = [v for v in facts.variables if v.raw and v.uid in used and v.dims != ()]
    objects = [e.node for e in facts.effects_of(EffectKind.OBJECT_VARIABLE) if has(e.name, Trait.OF_OBJECTS)]
    nodes = [v.node for v in raw if v.node is not None] + objects
    if nodes:
        yield finding(facts, nodes[0], PlanFault.LEFT_WHOLE)


def _lookups(facts: Facts, variable: Variable) -> list[ast.Call]:
    """The calls that take rows of a variable."""
    calls = [t.node for t in facts.tensors if variable in t.inputs and has(last_name(t.node), Trait.TAKES_ROWS)]
    return list(dict.fromkeys(call for call in calls if isinstance(call, ast.Call)))


def _by_rows(facts: Facts, lookups: list[ast.Call]) -> bool:
    """Whether these can be told how a table is cut; a look-up of something unknown could be of its rows, too."""
    known = {t.node for t in facts.tensors if any(isinstance(value, Variable) for value in t.inputs)}
    others = any(has(last_name(call), Trait.TAKES_ROWS) and call not in known for call in facts.nodes(ast.Call))
    plain = all(
        has(last_name(c), Trait.TAKES_ROWS_OF_SLICES)
        and len(c.args) <= 2
        and not any(k.arg in (None, "partition_strategy") for k in c.keywords)
        for c in lookups
    )
    return plain and not others


def _with_slice_strategy(call: ast.Call, text: SourceText) -> Replace:
    """A look-up that knows that slices hold consecutive rows; by default TensorFlow takes them for every N-th."""
    head = text.of(call)
    head = head[: head.rindex(")")].rstrip().removesuffix(",")
    return Replace(text.start(call), text.end(call), f"{head}, partition_strategy='div')", "TMG139")


def _touched(facts: Facts, variable: Variable) -> ast.AST | None:
    """Where a script takes a variable for more than a tensor, if anywhere."""
    for effect in facts.effects:
        if effect.value is variable and effect.kind in TOUCHES:
            return effect.node
    reads = [a.node for a in facts.accesses_of(variable) if not a.write]
    return next((node for node in [variable.node, *reads] if node is not None and _is_object(facts, node)), None)


def _is_object(facts: Facts, node: ast.AST) -> bool:
    """Whether the place where a variable is read asks for more than its value."""
    parents = facts.walked[facts.tree_of(facts.path_of(node))].parents
    parent = parents.get(node)
    if isinstance(node, ast.Name) and _is_element(node, parents):
        return False  # the list that it comes from is followed, see variable_lists
    if isinstance(parent, ast.keyword):
        parent = parents.get(parent)
    if isinstance(parent, ast.Attribute):
        return not has(parent.attr, Trait.ALIKE_OF_SLICES) and not isinstance(node, ast.Call)
    if isinstance(parent, ast.Call) and node is not parent.func:
        return has(last_name(parent), Trait.TAKES_VARIABLE) or last_name(parent) in PYTHON or parent in facts.unfollowed
    if isinstance(parent, (ast.Tuple, ast.List)) and last_name(parents.get(parent)) == "run":
        return False
    if isinstance(parent, ast.Tuple):
        return not isinstance(parents.get(parent), (ast.Return, ast.Assign))
    return isinstance(parent, (ast.List, ast.Set, ast.Starred, ast.comprehension, ast.For, ast.Compare))


def _is_element(node: ast.Name, parents: dict[ast.AST, ast.AST]) -> bool:
    """Whether a name is that of the elements in a loop around it."""
    around: ast.AST | None = node
    while around is not None and not isinstance(around, (ast.FunctionDef, ast.Module)):
        loops = getattr(around, "generators", [around] if isinstance(around, ast.For) else [])
        if any(isinstance(n, ast.Name) and n.id == node.id for loop in loops for n in ast.walk(loop.target)):
            return True
        around = parents.get(around)
    return False


def _check_calls(facts: Facts) -> None:
    for call in facts.nodes(ast.Call):
        name = last_name(call)
        if has(name, Trait.MAKES_TABLES):
            raise refuse(facts, call, PlanFault.MAKES_ITS_TABLE, name=name)
        if has(name, Trait.BY_VARIABLE):
            raise refuse(facts, call, PlanFault.KNOWS_VARIABLES, name=name)
        for keyword in call.keywords:
            none = isinstance(keyword.value, ast.Constant) and not keyword.value.value
            if keyword.arg in KEYWORDS and not none:
                raise refuse(facts, keyword.value, PlanFault.WORKS_ON_VARIABLES, name=keyword.arg)
    for made in facts.nodes(ast.ClassDef):
        if any(last_name(base).endswith("Optimizer") for base in made.bases):
            raise refuse(facts, made, PlanFault.OWN_OPTIMIZER)
    asked = {node for e in facts.effects if e.kind is EffectKind.AVERAGE_READ for node in ast.walk(e.node)}
    for access in facts.accesses if asked else ():
        if access.node in asked and isinstance(access.value, Variable) and not access.value.raw:
            raise refuse(facts, access.node, PlanFault.AVERAGE_OF_VARIABLE)


def _check_regularizers(facts: Facts) -> None:
    """What the slices of a variable cost must add up to what the variable costs."""
    functions = {f.name: f for f in facts.nodes(ast.FunctionDef)}
    for call in facts.nodes(ast.Call):
        for keyword in call.keywords:
            value = keyword.value
            if keyword.arg not in REGULARIZERS:
                continue
            written = value if isinstance(value, ast.Lambda) else functions.get(last_name(value))
            inner = [n for n in ast.walk(written) if isinstance(n, ast.Call)] if written is not None else []
            if any(not has(last_name(n), Trait.ADDITIVE) for n in inner):
                raise refuse(facts, value, PlanFault.REGULARIZER_OF_VARIABLE)


def _check_names(facts: Facts) -> None:
    """Variables that are looked up in the graph by their names."""
    named = {node for tensor, _, node in facts.named if not isinstance(tensor, Variable)}
    for call in facts.nodes(ast.Call):
        if isinstance(call.func, ast.Attribute) and has(call.func.attr, Trait.ASKS_BY_NAME) and call not in named:
            raise refuse(facts, call, PlanFault.LOOKED_UP_BY_NAME)


def _check_slots(facts: Facts) -> None:
    """Slots of slices get the whole's name but for the scope that the optimizer stands in (slot_creator.py, 1.15)."""
    parents = {
        call: facts.walked[facts.tree_of(facts.path_of(call))].parents
        for call in facts.nodes(ast.Call)
        if has(last_name(call), Trait.TRAINS_IN_ANY_CALL)
    }
    for call, above in parents.items():
        around = [s.stmt for step in facts.train_steps if step.call is call for s in step.site.chain()]
        at: ast.AST | None = call
        while at is not None:
            around += [at] if isinstance(at, ast.With) else []
            at = above.get(at)
        items = (i for w in around if isinstance(w, ast.With) for i in w.items)
        scoped = any(has(last_name(i.context_expr), Trait.OPENS_VARIABLE_SCOPE) for i in items)
        if scoped or has(last_name(call), Trait.SLOTS_IN_SCOPE):
            raise refuse(facts, call, PlanFault.SLOTS_IN_SCOPE)


def _check_scopes(facts: Facts, regions: tuple[Region, ...]) -> None:
    """Models that are built again must find the slices: the scope around the loop has to hold them, too."""
    for region in regions:
        made = next((e for e in facts.effects_of(EffectKind.VARIABLE) if region.in_tower(e.site)), None)
        chain = list(made.site.chain()) if made is not None else []
        inner = next((place for place, site in enumerate(chain) if site.stmt in region.block.index), -1)
        if inner < 0 or not chain[inner].scopes:
            continue
        around = {site.stmt for site in chain[inner + 1 :] if isinstance(site.stmt, ast.With)}
        for effect in facts.effects:
            value = effect.value
            again = effect.kind is EffectKind.VARIABLE and not (isinstance(value, Variable) and value.dims == ())
            outside = not around <= {site.stmt for site in effect.site.chain()}
            if again and outside and effect.time > region.end and not any(r.in_any_tower(effect.site) for r in regions):
                raise refuse(facts, effect.node, PlanFault.ASKED_FOR_OUTSIDE_SCOPE)
