"""The passes for PyTorch scripts, in their order."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Callable, Iterator
from dataclasses import field, replace

from converter.dataclass import dataclass
from converter.plan.decisions import Command, Decision
from converter.syntax.changes import Change
from converter.syntax.script import (
    Script,
    all_arguments,
    argument,
    is_spread,
    method_name,
    names_bound,
    names_read,
    nodes_of,
    returns_in,
)
from converter.targets.ddp.data import criterion_of, data_changes, mean_loss, undivided
from converter.targets.ddp.differing_values import DifferingValues, check_decisions, figures
from converter.targets.ddp.imported_files import ImportedFiles, check_given, check_project
from converter.targets.ddp.model import model_changes
from converter.targets.ddp.processes import check_names, device_changes, process_changes
from converter.targets.ddp.rank_0 import RankZero, rank_0_changes
from converter.targets.ddp.training import Training, Unclear, backwards, fitting, training_of
from converter.targets.passes import Case, Fit, TargetPass, adding


def fit(script: Script) -> Fit | None:
    """What trains a script; None where PyTorch takes no gradients, by itself or in a package that trains."""
    found = backwards(script) if script.names.imports("torch") else []
    found = found or list(fitting(script))
    return Fit(found[0], PASSES) if found else None


@dataclass(frozen=True)
class ReadImports(Case):
    """A script whose imports from its project are known."""

    project: ImportedFiles = field(kw_only=True)


@dataclass(frozen=True)
class Trained(ReadImports):
    """The case once the training step is found."""

    training: Training = field(kw_only=True)


@dataclass(frozen=True)
class Wrapped(Trained):
    """A script in which the model has a wrapper of this name."""

    wrapper: str = field(kw_only=True)


@dataclass(frozen=True)
class Divided(Wrapped):
    """The case once it is settled which statements rank 0 runs alone."""

    by_rank_0: RankZero = field(kw_only=True)


def calls(case: Case) -> Case:
    """Check imports and calls that must not happen N times, and change those that choose a device."""
    project = check_project(case.script)
    check_names(case.script)
    return ReadImports(**vars(adding(case, device_changes(case.script))), project=project)


def step(case: ReadImports) -> Case:
    """The one training step; without one nothing else is looked at."""
    try:
        training = training_of(case.script)
    except Unclear:
        return case
    check_given(case.project, training)
    return Trained(**vars(case), training=training)


def model(case: Trained) -> Case:
    """The wrapper of the model."""
    training, wrapper = case.training, case.script.new(f"ddp_{case.training.net.name}")
    _check_carried(training)
    return Wrapped(**vars(adding(case, model_changes(training, wrapper))), wrapper=wrapper)


def data(case: Wrapped) -> Case:
    """Each process's share of the training data."""
    return adding(case, data_changes(case.training, case.options, case.width))


def rank_0(case: Wrapped) -> Case:
    """Evaluation and files."""
    by_rank_0, changes = rank_0_changes(case.training)
    return Divided(**vars(adding(case, changes)), by_rank_0=by_rank_0)


def decisions(case: Divided) -> Case:
    """Values that differ between processes, and what must not depend on them."""
    differing = DifferingValues(case.training, case.by_rank_0)
    check_decisions(differing)
    _warn(case.training, case.project)
    return adding(case, figures(differing))


def processes(case: Divided) -> Case:
    """The start and the end of the processes."""
    module = case.training.scopes.scope(case.training.wrap) is None
    added = process_changes(case.script, case.options, list(case.changes), case.wrapper if module else "")
    text = case.script.text
    ended = () if text.endswith(("\n", "\r")) else (Change(len(text), len(text), case.script.newline, "TMG176"),)
    return replace(case, changes=(*ended, *case.changes, *added), decisions=_decided(case))


PASSES = (
    TargetPass("what several processes may do", calls, ends=True),
    TargetPass("the training step", step, ends=True),
    TargetPass("the model in its wrapper", model),
    TargetPass("the shares of the training data", data),
    TargetPass("what rank 0 does alone", rank_0),
    TargetPass("decisions that part no process", decisions),
    TargetPass("the start and the end of the processes", processes),
)


def _check_carried(training: Training) -> None:
    """Refuse a state that one batch hands to the next: consecutive batches are other processes'."""
    script = training.script
    given = {name for value in all_arguments(training.forward) for name in names_read(value)}
    for name in sorted(given - names_bound(training.loop.target)):
        places = [node for node in nodes_of(ast.Name, *training.loop.body) if node.id == name]
        stores = [node for node in places if isinstance(node.ctx, ast.Store)]
        if not stores:
            continue
        first = script.statement(min(stores, key=lambda n: (n.lineno, n.col_offset)))
        if any(isinstance(n.ctx, ast.Load) and n.lineno <= (first.end_lineno or 0) for n in places):
            script.finding(first, "TMG292 carried", name=name)


def _warn(training: Training, project: ImportedFiles) -> None:
    """Warnings for the reader to judge."""
    script = training.script
    norm = next(_norms(script, project), None)
    if norm is not None:
        script.finding(norm, "TMG371")
    loss = mean_loss(training)
    if loss is not None and _is_sum(training, project, loss):
        script.finding(loss, "TMG372")
    for call in script.calls:
        if method_name(call) == "step" and call not in training.steps and training.in_loop(call):
            script.finding(call, "TMG373")


def _norms(script: Script, project: ImportedFiles) -> Iterator[ast.AST]:
    """Where batch normalisation comes in: a call, or the import of a model that has it."""
    for place, file in ((None, script), *((node, file.script) for node, file in project.brings)):
        for call in file.calls:
            name = file.name(call.func)
            if re.fullmatch(r"torch\.nn\.(Lazy)?BatchNorm[123]d", name) or name.startswith("torchvision.models."):
                yield place or call


def _is_sum(training: Training, project: ImportedFiles, loss: ast.expr) -> bool:
    """Whether the loss is a sum, as far as it is seen."""
    script = training.script
    told = any(_adds_up(call) for call in script.calls if not _shown_only(script, call))
    return (told or _is_computed_sum(training, project, loss)) and not _is_divided(training)


def _is_computed_sum(training: Training, project: ImportedFiles, loss: ast.expr) -> bool:
    """Whether an expression, or what a function returns that it calls, is a sum: loss = loss_of(output, target)."""
    script = training.script
    todo, seen = [loss, *script.bindings.get(ast.unparse(loss), [])], set[ast.expr]()
    while todo:
        one = todo.pop()
        function = training.scopes.called(one)
        returned = returns_in(function) if function is not None else []
        todo += [value for value in returned if value not in seen]
        seen.update(returned)
        parts = (one.left, one.right) if isinstance(one, ast.BinOp) else ()
        beside = isinstance(one, ast.Call) and _is_sum_beside(training, project, one)
        if beside or _sums(script, one) or any(map(_sum_of(script), parts)):
            return True
    return False


def _is_sum_beside(training: Training, project: ImportedFiles, loss: ast.Call) -> bool:
    """Whether a function or class of another file that makes the loss adds up."""
    made = criterion_of(training.scopes, loss)
    found = project.may.get(training.script.name(made.func))
    if found is None:
        return False
    file, node = found
    return any(map(_adds_up, nodes_of(ast.Call, node))) or any(map(_sum_of(file.script), returns_in(node)))


def _sum_of(script: Script) -> Callable[[ast.expr], bool]:
    return lambda node: _sums(script, script.value(node))


def _sums(script: Script, node: ast.expr) -> bool:
    """Whether an expression is the sum of all entries of a tensor: torch.sum(x), x.sum()."""
    if not isinstance(node, ast.Call) or any(k.arg in ("dim", "axis") for k in node.keywords):
        return False
    whole = len(node.args) == (1 if script.name(node.func) else 0)
    return whole and isinstance(node.func, ast.Attribute) and node.func.attr == "sum"


def _adds_up(call: ast.Call) -> bool:
    """Whether a loss is told to add up: reduction='sum', or size_average=False of older scripts."""
    given = {k.arg: k.value.value for k in call.keywords if isinstance(k.value, ast.Constant)}
    return given.get("reduction") == "sum" or (given.get("size_average") is False and given.get("reduce") is not False)


def _shown_only(script: Script, call: ast.Call) -> bool:
    """Whether a loss becomes a number at once, which trains nothing: F.nll_loss(…, reduction='sum').item()."""
    return getattr(script.parent(call), "attr", "") == "item"


def _is_divided(training: Training) -> bool:
    """Whether the loss is a sum that the script divides: by the number of its examples."""
    assert isinstance(training.backward.func, ast.Attribute)
    loss = training.backward.func.value
    values = [training.script.value(loss), loss]
    return any(undivided(one) is not one for one in values)


def _decided(case: Trained) -> tuple[Decision, ...]:
    training, script, options = case.training, case.script, case.options
    size = argument(training.loaded, 1, "batch_size")
    text = script.of(size) if size is not None else "as its settings say" if is_spread(training.loaded) else "1"
    batch = f"{text} for each process (line {training.loaded.lineno})"
    if options.batch == "total":
        batch = f"{text} for all processes (line {training.loaded.lineno})"
    brief = f"{training.net.name} wrapped in DistributedDataParallel"
    return (
        Decision("target", "ddp: PyTorch trains here, in a process for each GPU", "a process for each GPU"),
        Decision("model", f"{training.net.name}, wrapped before line {training.wrap.lineno}", brief),
        Decision("training", f"the loop in line {training.loop.lineno}; each process takes its share of the data"),
        Decision("batch size", batch),
        Decision("rank 0", "prints, evaluates on all of the data, and saves, with the original's keys"),
    )


def commands(path: str, origin: str, gpus: int | None) -> tuple[Command, ...]:
    """How a converted script is started and verified."""
    name = shlex.quote(path)
    number = "gpu" if gpus is None else str(gpus)
    return (
        Command("train", f"torchrun --nproc_per_node={number} {name}"),
        Command("next", f"tf-multigpu verify {shlex.quote(origin)} {name}"),
    )
