"""The training data: each process loads its own share, a new one in each epoch."""

from __future__ import annotations

import ast

from converter.options import Options
from converter.syntax.changes import Change, added_argument, lines_before, replaced
from converter.syntax.script import Script, argument, is_given, is_spread, parameters
from converter.targets.ddp.scopes import Scopes
from converter.targets.ddp.training import LOADER, Training, looped_over, unmoved

SHARE = "TMG178"
# Losses that are means over the examples where neither reduction nor weights are given (torch.nn, torch.nn.functional).
_MEANS = frozenset(
    (
        "crossentropyloss nllloss mseloss l1loss smoothl1loss bceloss bcewithlogitsloss huberloss cross_entropy "
        "nll_loss mse_loss l1_loss smooth_l1_loss binary_cross_entropy binary_cross_entropy_with_logits huber_loss"
    ).split()
)


def data_changes(training: Training, options: Options, width: int) -> list[Change]:
    """The sampler of the loader, and its epoch."""
    script, call = training.script, training.loaded
    if any(isinstance(arg, ast.Starred) for arg in call.args):
        script.finding(call, "TMG294 arguments_by_star")
        return []
    for place, name in ((3, "sampler"), (4, "batch_sampler"), (-1, "generator"), (-1, "multiprocessing_context")):
        given = argument(call, place, name)
        if is_given(given):
            script.finding(given, "TMG294 own_sampler", name=name)
    data = argument(call, 0, "dataset")
    if data is None:
        script.finding(call, "TMG294 dataset_not_seen")
        return []
    _check_set(training, data)
    _check_loops(training)
    if is_spread(call) or not isinstance(data, ast.Name | ast.Attribute):
        changes = [replaced(script, call.func, "rank_loader", SHARE)]
    else:
        changes = [_sampler(script, call, data, width)]
    changes += [*_epoch(training), *_counts(training, data, options)]
    size = argument(call, 1, "batch_size")
    if options.batch == "total":
        changes += _total(training, size, options)
    return changes


def _sampler(script: Script, call: ast.Call, data: ast.expr, width: int) -> Change:
    shuffle = argument(call, 2, "shuffle")
    sampler = f"sampler=DistributedSampler({script.of(data)})"
    if shuffle is None:
        return added_argument(script, call, sampler[:-1] + ", shuffle=False)", width, SHARE)
    if not (isinstance(shuffle, ast.Constant) and shuffle.value is True):
        sampler = f"{sampler[:-1]}, shuffle={script.of(shuffle)})"
    keyword = next((k for k in call.keywords if k.value is shuffle), None)
    if keyword is None and len(call.args) > 3:
        script.finding(call, "TMG294 arguments_by_position")
    begin = script.at(keyword.lineno, keyword.col_offset) if keyword else script.span(shuffle)[0]
    return Change(begin, script.span(shuffle)[1], sampler, SHARE)


def _epoch(training: Training) -> list[Change]:
    """The statement in front of the training loop that shuffles anew."""
    script, loader = training.script, training.loader.id
    epoch = _number(training) or f"{loader}.sampler.epoch + 1"
    return [lines_before(script, training.loop, [f"{loader}.sampler.set_epoch({epoch})"], SHARE)]


def _number(training: Training) -> str:
    """The name of the epoch's number at the training loop, "" where none is seen."""
    scopes = training.scopes
    for loop in scopes.loops(training.loop):
        if isinstance(loop, ast.For) and isinstance(loop.target, ast.Name) and _counted(training.script, loop):
            return loop.target.id if loop.target.id.strip("_") else ""
    if not training.path:
        return ""
    function = training.path[-1]
    (call,) = scopes.calls_of(function)
    for name in parameters(function):
        given = scopes.given(call, function, name)
        rebound = any(origin.scope is function and origin.name == name for origin in scopes.bindings)
        for loop in scopes.loops(call):
            if not isinstance(loop, ast.For) or not _counted(training.script, loop) or rebound:
                continue
            if isinstance(given, ast.Name) and ast.unparse(loop.target) == given.id:
                return name
    return ""


def _counted(script: Script, loop: ast.For) -> bool:
    over = looped_over(script, loop)
    name = ast.unparse(over.func) if isinstance(over, ast.Call) else ""
    return name in ("range", "trange", "tqdm.trange")


def _check_set(training: Training, data: ast.expr) -> None:
    """Refuse datasets that can only be read in sequence (IterableDataset)."""
    script = training.script
    for made in [data, *training.scopes.calls_behind(data)]:
        name = made.func.id if isinstance(made, ast.Call) and isinstance(made.func, ast.Name) else ""
        for node in ast.walk(script.tree):
            if isinstance(node, ast.ClassDef) and node.name == name:
                bases = [script.name(base) or ast.unparse(base) for base in node.bases]
                if any(base.endswith("IterableDataset") for base in bases):
                    script.finding(node, "TMG294 iterable")


def _check_loops(training: Training) -> None:
    """Refuse other ways through the training data: each process sees only its share."""
    script = training.script
    for node in ast.walk(script.tree):
        if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Load) or not training.is_data(node):
            continue
        above = next(script.above(node))
        length = isinstance(above, ast.Call) and ast.unparse(above.func) == "len"
        if node is training.loader or length or getattr(above, "attr", "") in ("dataset", "sampler"):
            continue
        function = training.scopes.called(above) if isinstance(above, ast.Call) else None
        if isinstance(above, ast.keyword):
            call = next(one for one in script.above(above) if isinstance(one, ast.Call))
            function = training.scopes.called(call)
        if function is not None and function in training.path:
            continue
        if isinstance(above, ast.Tuple) and isinstance(next(script.above(above)), ast.Return):
            continue
        if isinstance(above, ast.Return):
            continue
        script.finding(node, "TMG294 share_of_data")


def _counts(training: Training, data: ast.expr, options: Options) -> list[Change]:
    """Lengths of the training data that values are divided by, or steps counted by: replaced by those of a share."""
    script, scopes, changes = training.script, training.scopes, []
    known = scopes.origins(data)
    here = (scopes.scope(training.loop), training.data.scope)
    bound = min(one.stmt.lineno for one in scopes.bindings[training.data])
    for call in script.calls:
        if not (isinstance(call.func, ast.Name) and call.func.id == "len" and len(call.args) == 1):
            continue
        given = call.args[0]
        by_loader = isinstance(given, ast.Attribute) and given.attr == "dataset" and training.is_data(given.value)
        if not by_loader and not scopes.origins(given) & known:
            continue
        if by_loader and isinstance(given, ast.Attribute):
            loader = script.of(given.value)
        else:
            loader = training.loader.id if scopes.scope(call) is here[0] else training.data.name
        above = next(script.above(call))
        whole = options.batch == "total" and isinstance(above, ast.BinOp) and above.left is call
        early = scopes.scope(call) is here[1] and call.lineno <= bound
        if whole or early or scopes.scope(call) not in here:
            if _is_shown(script, call):
                continue
            script.finding(call, "TMG294 counts_examples")
            continue
        changes.append(replaced(script, given, f"{loader}.sampler", SHARE))
    return changes


def _is_shown(script: Script, call: ast.Call) -> bool:
    """Whether a value is only printed."""
    stmt = script.statement(call)
    value = stmt.value if isinstance(stmt, ast.Expr) else None
    return isinstance(value, ast.Call) and ast.unparse(value.func) == "print"


def _total(training: Training, size: ast.expr | None, options: Options) -> list[Change]:
    """Each process takes its part of the script's batch."""
    script = training.script
    if size is None and is_spread(training.loaded):
        script.finding(training.loaded, "TMG298 size_not_seen")
        return []
    if size is None:
        script.finding(training.loaded, "TMG298 one_example")
        return []
    if script.name(size):
        script.finding(size, "TMG298 size_of_other_file", code=ast.unparse(size))
    number = script.value(size)
    whole = number.value if isinstance(number, ast.Constant) and isinstance(number.value, int) else 0
    if whole % (options.num_gpus or 1):
        script.finding(size, "TMG298 not_divisible", whole=whole, number=options.num_gpus)
    for node in ast.walk(script.tree):
        if isinstance(node, ast.Name | ast.Attribute) and ast.unparse(node) == ast.unparse(size):
            used = isinstance(node.ctx, ast.Load) and not _is_for_a_loader(script, node)
            if used:
                script.finding(node, "TMG298 size_is_used", code=ast.unparse(size))
    loss = mean_loss(training)
    if loss is not None:
        script.finding(loss, "TMG298 no_mean")
    return [replaced(script, size, f"rank_batch({script.of(size)})", SHARE)]


def _is_for_a_loader(script: Script, node: ast.AST) -> bool:
    return any(isinstance(one, ast.Call) and script.name(one.func) == LOADER for one in script.above(node))


def mean_loss(training: Training) -> ast.expr | None:
    """The expression that shows no mean over the examples in the loss; None if the loss is one."""
    script, scopes = training.script, training.scopes
    assert isinstance(training.backward.func, ast.Attribute)
    loss = training.backward.func.value
    if isinstance(loss, ast.Call) and isinstance(loss.func, ast.Attribute) and loss.func.attr == "scale" and loss.args:
        loss = loss.args[0]
    loss = undivided(loss)
    for _ in range(4):
        if not isinstance(loss, ast.Name):
            break
        values = [b for b in scopes.bound(loss) if training.in_loop(b.stmt)]
        values = [b for b in values if not _only_divides(b.value, loss.id)]
        if len(values) != 1 or values[0].value is None or values[0].place is not None:
            return loss
        loss = undivided(values[0].value)
    if not isinstance(loss, ast.Call):
        return loss
    called = criterion_of(scopes, loss)
    name = script.name(called.func).rpartition(".")[2]
    plain = not {k.arg for k in called.keywords} & {"reduction", "weight", "ignore_index", "size_average", "reduce"}
    most = 2 if name.islower() else 0  # a function's output and target, a class's nothing
    return None if name.lower() in _MEANS and plain and len(called.args) <= most else loss


def undivided(value: ast.expr) -> ast.expr:
    """What an expression divides; another expression itself."""
    return value.left if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Div) else value


def _only_divides(value: ast.expr | None, name: str) -> bool:
    """Whether a loss is only divided by a number: loss = loss / steps."""
    return value is not None and undivided(value) is not value and ast.unparse(undivided(value)) == name


def criterion_of(scopes: Scopes, loss: ast.Call) -> ast.Call:
    """The call that makes the loss's function, or the call itself."""
    made = [binding.value for binding in scopes.bound(loss.func)]
    calls = [value for value in map(unmoved, filter(None, made)) if isinstance(value, ast.Call)]
    return calls[0] if len(calls) == 1 == len(made) else loss
