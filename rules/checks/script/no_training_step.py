"""No training step was found."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator

from converter.analysis.effects import EffectKind
from converter.analysis.facts import Facts, RunCall
from converter.analysis.library import handlers, naming
from converter.analysis.values import Host, Tensor, tensors_in
from converter.diagnostics import Diagnostic
from converter.planner.cases import Selected
from converter.planner.checking import check
from converter.planner.questions.imported import (
    CHOSEN,
    PICKED,
    brought_by,
    convert_importing,
    imported_names,
    library_run,
    looked_up_by,
    package_behind,
    package_of,
    unseen_modules,
)
from converter.planner.wording import finding

CODES = ("TMG201",)


BY_PACKAGE = {  # messages about what a script does with packages that train, by a part of their names
    "torch": "TMG201 torch",
    "object_detection": "TMG201 object_detection",
    "keras": "TMG201 keras",
}
# Packages that compute and train by themselves, as they call themselves.
OTHER_LIBRARIES = {
    "theano": "Theano",
    "lasagne": "Theano and Lasagne",
    "mxnet": "MXNet",
    "chainer": "Chainer",
    "caffe": "Caffe",
    "caffe2": "Caffe2",
    "cntk": "CNTK",
    "paddle": "PaddlePaddle",
    "jax": "JAX",
    "sklearn": "scikit-learn",
}
TRAINS = re.compile("_?(train|fit|learn|optimize)(_.*)?")  # names of methods and functions that may train
_NOT_TRAINING = {"numpy", "tqdm", *sys.stdlib_module_names} - {"builtins"}
RESTORES = ("restore", "import_meta_graph", "load_model", "ParseFromString", "load_weights")

_OTHER = "convert the script that calls minimize, compute_gradients or tf.gradients"


@check(Selected, unless=("TMG216", "TMG220", "TMG235", "TMG237"))
def minimises_nothing(case: Selected) -> Iterator[Diagnostic]:
    """Scripts without a training step: says what there is instead."""
    facts = case.facts
    if facts.train_steps:
        return
    imported = list(imported_names(facts))
    for part, key in BY_PACKAGE.items():
        for name, node in imported:
            if part in name.split(".") and (part != "torch" or _takes_gradients(facts, node)):
                yield finding(facts, node, key)
                return
    if not any(name.split(".")[0] in (*naming().modules, "keras") for name, _ in imported):
        for name, node in imported:
            if library := OTHER_LIBRARIES.get(name.split(".")[0]):
                yield finding(facts, node, "TMG201 other_library", library=library)
                return
    for unseen in unseen_modules(facts):
        yield finding(facts, unseen.node, "TMG201 unseen_module", module=unseen.module, advice=unseen.hint)
        return
    for run in facts.runs:
        if package := library_run(run):
            yield finding(facts, run.call, "TMG201 run_of_package", package=package)
            return
    yield (
        _run_of_tensorflow(facts)
        or _may_train(facts)
        or _unseen_code(facts)
        or _of_other_kind(facts, convert_importing(facts, facts.tree, case.sources.users, _OTHER))
    )


def _takes_gradients(facts: Facts, node: ast.AST) -> bool:
    """True if the script itself imports PyTorch by this statement, and calls backward()."""
    calls = (call.func for call in facts.nodes(ast.Call, facts.tree))
    own = facts.path_of(node) == facts.path
    return own and any(isinstance(func, ast.Attribute) and func.attr == "backward" for func in calls)


def _run_of_tensorflow(facts: Facts) -> Diagnostic | None:
    """A run of what a module of TensorFlow's examples made: they are files that may be copied."""
    for run in facts.runs:
        for made in _fetched(run):
            name = made.op if isinstance(made, Tensor) else ""
            if not name.startswith("examples.") or name in handlers():
                continue
            module = name.rpartition(".")[0]
            file = module.rpartition(".")[2]
            return finding(facts, run.call, "TMG201 module_of_tensorflow", module=module, file=file)
    return None


def _fetched(run: RunCall) -> Iterator[object]:
    for value in run.fetches:
        yield value
        yield from tensors_in(value)


def _may_train(facts: Facts) -> Diagnostic | None:
    """A call that is not followed and whose name says that it trains."""
    for effect in facts.effects_of(EffectKind.UNFOLLOWED):
        call, made = effect.node, effect.value
        if not isinstance(call, ast.Call) or not isinstance(made, Host):
            continue
        name = getattr(call.func, "attr", getattr(call.func, "id", ""))
        root = package_behind(made)
        if not TRAINS.fullmatch(name) or root in _NOT_TRAINING:
            continue
        if (brought := _known_to_a_run(facts, call, made)) is not None:
            return brought
        package = package_of(facts, call) or ("" if root == "builtins" else root)
        comes = f" of the package {package}" if package else ""
        name, advice = ast.unparse(call.func), _where_from(facts, package)
        return finding(facts, call, "TMG201 may_train", name=name, comes=comes, advice=advice)
    return None


def _unseen_code(facts: Facts) -> Diagnostic | None:
    """Code whose module or class only a run tells, whatever its name: the step may lie there, and not elsewhere."""
    if _only_defines_all(facts):
        return None
    made = [(e.node, e.value) for e in facts.effects_of(EffectKind.UNFOLLOWED)]
    calls = ((call, value) for call, value in made if isinstance(call, ast.Call) and isinstance(value, Host))
    return next((found for call, value in calls if (found := _known_to_a_run(facts, call, value)) is not None), None)


def _known_to_a_run(facts: Facts, call: ast.Call, made: Host) -> Diagnostic | None:
    """What may train is code of a module, or of a class, that is named by what only a run tells."""
    chosen, looked_up = brought_by(made), looked_up_by(made)
    if chosen is None and looked_up is None:
        return None
    kind, hint = ("module that is imported", CHOSEN) if chosen is not None else ("class that is looked up", PICKED)
    name, node = ast.unparse(call.func), chosen or looked_up or call
    return finding(facts, node, "TMG201 known_to_a_run", name=name, kind=kind, advice=hint)


def _where_from(facts: Facts, package: str) -> str:
    """How code of a package that is not followed is seen; "" for one that an import with a star may have brought."""
    stars = [n for n in facts.nodes(ast.ImportFrom, facts.tree) if any(a.name == "*" for a in n.names) and n.module]
    unseen = [n for n in stars if not n.level and facts.project.find(n.module or "", facts.path, 0) is None]
    if not package and unseen:
        named = ", ".join(f"{n.module} (line {n.lineno})" for n in unseen)
        return (
            f"put the modules that are imported with a star, {named}, beside the script, or their folder into sys.path"
        )
    if package:
        return (
            f"if {package} is a part of this project, put it beside the script, or its folder into sys.path; {_OTHER}"
        )
    return _OTHER


def _of_other_kind(facts: Facts, advice: str) -> Diagnostic:
    """What a script does instead of training: it restores, only defines, or computes without a loss."""
    defined = [s.name for s in facts.tree.body if isinstance(s, (ast.FunctionDef, ast.ClassDef))]
    if defined and _only_defines_all(facts):
        shown = ", ".join(defined[:3]) + (", …" if len(defined) > 3 else "")
        return finding(facts, facts.tree, "TMG201 only_defines", shown=shown, advice=advice)
    calls = ((c, getattr(c.func, "attr", getattr(c.func, "id", ""))) for c in facts.nodes(ast.Call, facts.tree))
    restored = next((call for call, name in calls if name in RESTORES), None)
    if restored is not None:
        return finding(facts, restored, "TMG201 restores", name=ast.unparse(restored.func), advice=advice)
    if facts.runs:
        return finding(facts, facts.runs[0].call, "TMG201 evaluates", advice=advice)
    return finding(facts, facts.tree, "TMG201 none", advice=advice)


def _only_defines_all(facts: Facts) -> bool:
    return all(map(_only_defines, facts.tree.body))


def _only_defines(stmt: ast.stmt) -> bool:
    """Whether a statement of a module runs nothing: imports, definitions, constants, texts."""
    if isinstance(stmt, (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign)):
        return True
    return isinstance(stmt, (ast.Expr, ast.Try)) and not any(isinstance(n, ast.Call) for n in ast.walk(stmt))
