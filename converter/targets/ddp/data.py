"""The training data: each process loads its own share, a new one in each epoch."""

from __future__ import annotations

import ast

from converter.options import Options
from converter.syntax.changes import Change, added_argument, lines_before, replaced
from converter.syntax.script import Script, argument, is_given, is_spread, literal, method_name, parameters, plain_name
from converter.targets.ddp.scopes import Scopes
from converter.targets.ddp.training import LOADER, Training, looped_over, unmoved

SHARE = "TMG178"
_SAME_FOR_ALL = ("dataset", "sampler")  # attributes of a loader that are read to count
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
        return script.refused(call, "TMG294 arguments_by_star")
    for place, name in ((3, "sampler"), (4, "batch_sampler"), (-1, "generator"), (-1, "multiprocessing_context")):
        given = argument(call, place, name)
        if is_given(given):
            script.finding(given, "TMG294 own_sampler", name=name)
    data = argument(call, 0, "dataset")
    if data is None:
        return script.refused(call, "TMG294 dataset_not_seen")
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
    if literal(shuffle) is not True:
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
    return isinstance(over, ast.Call) and ast.unparse(over.func) in ("range", "trange", "tqdm.trange")


def _check_set(training: Training, data: ast.expr) -> None:
    """Refuse datasets that can only be read in sequence (IterableDataset)."""
    script = training.script
    makers = {plain_name(made) for made in [data, *training.scopes.calls_behind(data)]}
    for node in script.nodes(ast.ClassDef):
        bases = [script.name(base) or ast.unparse(base) for base in node.bases]
        if node.name in makers and any(base.endswith("IterableDataset") for base in bases):
            script.finding(node, "TMG294 iterable")


def _check_loops(training: Training) -> None:
    """Refuse other ways through the training data: each process sees only its share."""
    script = training.script
    for node in filter(training.is_data, script.nodes(ast.Name)):
        above = script.parent(node)
        if not isinstance(node.ctx, ast.Load) or node is training.loader or plain_name(above) == "len":
            continue
        call = script.parent(above) if isinstance(above, ast.keyword) else above
        handed_on = training.scopes.called(call) in training.path or getattr(above, "attr", "") in _SAME_FOR_ALL
        value = script.parent(above) if isinstance(above, ast.Tuple) else above
        if not handed_on and not isinstance(value, ast.Return):
            script.finding(node, "TMG294 share_of_data")


def _counts(training: Training, data: ast.expr, options: Options) -> list[Change]:
    """Lengths of the training data that values are divided by, or steps counted by: replaced by those of a share."""
    script, scopes, changes = training.script, training.scopes, []
    known = scopes.origins(data)
    here = (scopes.scope(training.loop), training.data.scope)
    bound = min(one.stmt.lineno for one in scopes.bindings[training.data])
    for call in script.calls:
        if plain_name(call) != "len" or len(call.args) != 1:
            continue
        given = call.args[0]
        if isinstance(given, ast.Attribute) and given.attr == "dataset" and training.is_data(given.value):
            loader = script.of(given.value)
        elif scopes.origins(given) & known:
            loader = training.loader.id if scopes.scope(call) is here[0] else training.data.name
        else:
            continue
        above = script.parent(call)
        whole = options.batch == "total" and isinstance(above, ast.BinOp) and above.left is call
        early = scopes.scope(call) is here[1] and call.lineno <= bound
        if not whole and not early and scopes.scope(call) in here:
            changes.append(replaced(script, given, f"{loader}.sampler", SHARE))
        elif not _is_shown(script, call):
            script.finding(call, "TMG294 counts_examples")
    return changes


def _is_shown(script: Script, call: ast.Call) -> bool:
    """Whether a value is only printed."""
    stmt = script.statement(call)
    return isinstance(stmt, ast.Expr) and plain_name(stmt.value) == "print"


def _total(training: Training, size: ast.expr | None, options: Options) -> list[Change]:
    """Each process takes its part of the script's batch."""
    script = training.script
    if size is None and is_spread(training.loaded):
        return script.refused(training.loaded, "TMG298 size_not_seen")
    if size is None:
        return script.refused(training.loaded, "TMG298 one_example")
    if script.name(size):
        script.finding(size, "TMG298 size_of_other_file", code=ast.unparse(size))
    whole = literal(script.value(size))
    if isinstance(whole, int) and whole % (options.num_gpus or 1):
        script.finding(size, "TMG298 not_divisible", whole=whole, number=options.num_gpus)
    named: list[ast.Name | ast.Attribute] = [*script.nodes(ast.Name), *script.nodes(ast.Attribute)]
    for node in named:
        same = isinstance(node.ctx, ast.Load) and ast.unparse(node) == ast.unparse(size)
        if same and not _is_for_a_loader(script, node):
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
    if isinstance(loss, ast.Call) and method_name(loss) == "scale" and loss.args:
        loss = loss.args[0]
    loss = undivided(loss)
    for _ in range(4):
        name = loss.id if isinstance(loss, ast.Name) else ""
        values = [b for b in scopes.bound(loss) if training.in_loop(b.stmt) and not _only_divides(b.value, name)]
        if len(values) != 1 or values[0].value is None or values[0].place is not None:
            break
        loss = undivided(values[0].value)
    if not isinstance(loss, ast.Call):
        return loss
    called = criterion_of(scopes, loss)
    name = script.name(called.func).rpartition(".")[2]
    plain = not {k.arg for k in called.keywords} & {"reduction", "weight", "ignore_index", "size_average", "reduce"}
    most = 2 if name.islower() else 0  # a function's output and target, a class's nothing
    return None if name.lower() in _MEANS and plain and len(called.args) <= most else loss


def undivided(value: ast.expr) -> ast.expr:
    """The dividend of a division; any other expression unchanged."""
    return value.left if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Div) else value


def _only_divides(value: ast.expr | None, name: str) -> bool:
    """Whether a loss is only divided by a number: loss = loss / steps."""
    return value is not None and undivided(value) is not value and ast.unparse(undivided(value)) == name


def criterion_of(scopes: Scopes, loss: ast.Call) -> ast.Call:
    """The call that makes the loss's function, or the call itself."""
    made = [binding.value for binding in scopes.bound(loss.func)]
    calls = [value for value in map(unmoved, filter(None, made)) if isinstance(value, ast.Call)]
    return calls[0] if len(calls) == 1 == len(made) else loss
