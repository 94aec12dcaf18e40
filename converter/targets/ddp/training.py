"""Finds the training of a PyTorch script: the loop over the batches, the model, its optimizer; or why it is refused."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from converter.dataclass import dataclass
from converter.syntax.script import Script, argument, method_name, plain_name
from converter.targets.ddp.scopes import Binding, ScopedName, Scopes
from converter.targets.ddp.trainer_class import advice

LOADER = "torch.utils.data.DataLoader"
_SCHEDULERS = ("torch.optim.lr_scheduler.", "torch.optim.swa_utils.")
_MOVES = ("to", "cuda", "cpu", "float", "double", "train", "apply")
_PARAMETERS = ("parameters", "named_parameters")
_BARS = ("tqdm.tqdm", "tqdm.auto.tqdm", "tqdm.notebook.tqdm", "tqdm.trange", "tqdm.auto.trange")


class Unclear(Exception):
    """The script is refused; its findings say why."""


@dataclass
class Training:
    """The one training step of a script.

    loop: over the batches. loader: as the loop names it; loaded: the call that makes it, bound by `data`.
    net: where the model is bound; forward: its call in the loop. path: the functions that lead to the loop, the one
    that holds it last. wrap: the statement before which all of the model is ready.
    """

    script: Script
    scopes: Scopes
    loop: ast.For
    backward: ast.Call
    steps: list[ast.Call]
    optimizer: ast.Call
    loader: ast.Name
    loaded: ast.Call
    data: ScopedName
    net: ScopedName
    built: list[Binding]
    forward: ast.Call
    path: list[ast.FunctionDef]
    wrap: ast.stmt

    def is_net(self, node: ast.AST) -> bool:
        """Whether a name stands for the model."""
        return isinstance(node, ast.Name) and self.net in self.scopes.origins(node)

    def is_data(self, node: ast.AST) -> bool:
        """Whether a name stands for the loader of the training data."""
        return isinstance(node, ast.Name) and self.data in self.scopes.origins(node)

    def in_loop(self, node: ast.AST) -> bool:
        """Whether a node stands inside the loop over the batches."""
        return self.script.is_inside(node, self.loop)


def backwards(script: Script) -> list[ast.Call]:
    """The calls that take gradients."""
    return [call for call in script.calls if script.method(call) == "backward"]


def fitting(script: Script) -> Iterator[ast.Call]:
    """The calls that train where a package of PyTorch has the loop: trainer.fit(model, loader) of Lightning."""
    if any(map(script.names.imports, ("pytorch_lightning", "lightning"))):
        yield from (call for call in script.calls if script.method(call) == "fit")


def is_loader(scopes: Scopes, node: ast.expr) -> bool:
    """Whether a name stands for a loader, of whatever data."""
    return any(scopes.script.name(made.func) == LOADER for made in scopes.calls_behind(node))


def training_of(script: Script) -> Training:
    """The training step; raises Unclear."""
    scopes = Scopes(script)
    (backward,) = _one(script, backwards(script), "TMG292 several_gradients")
    optimizers = [call for call in script.calls if _is_optimizer(script, call)]
    (optimizer,) = _one(script, optimizers or [backward], "TMG292 several_optimizers")
    if optimizer is backward:
        raise _unclear(script, backward, "TMG292 optimizer_elsewhere")
    loop, loader = _loop(script, scopes, backward)
    data, loaded = _loader(script, scopes, loader)
    steps = _steps(script, scopes, loop, optimizer)
    net = _net(script, scopes, optimizer)
    built = _built(script, scopes, net)
    calls = [call for call in script.calls if net in scopes.origins(call.func) and script.is_inside(call, loop)]
    if len(calls) != 1:
        key = "TMG293 called_twice" if calls else "TMG293 not_called"
        raise _unclear(script, calls[1] if calls else loop, key)
    path = _path(script, scopes, loop)
    wrap = _wrap(script, scopes, built, loop)
    return Training(
        script=script,
        scopes=scopes,
        loop=loop,
        backward=backward,
        steps=steps,
        optimizer=optimizer,
        loader=loader,
        loaded=loaded,
        data=data,
        net=net,
        built=built,
        forward=calls[0],
        path=path,
        wrap=wrap,
    )


def _unclear(script: Script, node: ast.AST, key: str, **about: object) -> Unclear:
    script.finding(node, key, **about)
    return Unclear()


def _one(script: Script, found: list[ast.Call], key: str) -> list[ast.Call]:
    if len(found) > 1:
        raise _unclear(script, found[1], key)
    return found


def _is_optimizer(script: Script, call: ast.Call) -> bool:
    name = script.name(call.func)
    return name.startswith("torch.optim.") and not name.startswith(_SCHEDULERS)


def looped_over(script: Script, loop: ast.For) -> ast.expr:
    """The iterable of a loop, without enumerate() and progress bars around it."""
    found = loop.iter
    while isinstance(found, ast.Call) and found.args:
        if script.name(found.func) not in _BARS and plain_name(found) != "enumerate":
            break
        found = found.args[0]
    return found


def _loop(script: Script, scopes: Scopes, backward: ast.Call) -> tuple[ast.For, ast.Name]:
    """The innermost loop around the gradients that goes over a loader."""
    if script.class_around(backward) is not None:
        script.say(backward, "TMG292", *advice(script, backward))
        raise Unclear()
    for loop in scopes.loops(backward):
        over = looped_over(script, loop) if isinstance(loop, ast.For) else None
        if isinstance(loop, ast.For) and isinstance(over, ast.Name) and is_loader(scopes, over):
            return loop, over
        if isinstance(over, ast.Subscript):
            raise _unclear(script, over, "TMG294 several_loaders_in_loop", code=ast.unparse(over))
    raise _unclear(script, backward, "TMG294 no_loader")


def _loader(script: Script, scopes: Scopes, loader: ast.Name) -> tuple[ScopedName, ast.Call]:
    origins, values = scopes.origins(loader), scopes.bound(loader)
    if len(origins) != 1 or len(values) != 1 or not isinstance(values[0].value, ast.Call):
        raise _unclear(script, loader, "TMG294 several_loaders", name=loader.id)
    call = values[0].value
    if scopes.loops(call):
        raise _unclear(script, call, "TMG294 loader_in_loop")
    (origin,) = origins
    return origin, call


def _steps(script: Script, scopes: Scopes, loop: ast.For, optimizer: ast.Call) -> list[ast.Call]:
    """The calls of the optimizer's step, by itself or by a scaler of gradients."""
    found = []
    for call in script.calls:
        if isinstance(call.func, ast.Attribute) and call.func.attr == "step":
            direct = _stands_for(scopes, call.func.value, optimizer)
            if direct and (call.args or call.keywords):
                raise _unclear(script, call, "TMG292 closure")
            if direct or any(_stands_for(scopes, one, optimizer) for one in call.args[:1]):
                found.append(call)
    if len(found) != 1 or not script.is_inside(found[0], loop):
        raise _unclear(script, found[-1] if found else loop, "TMG292 no_step")
    return found


def _stands_for(scopes: Scopes, node: ast.expr, value: ast.expr) -> bool:
    return any(binding.value is value for binding in scopes.bound(node))


def _net(script: Script, scopes: Scopes, optimizer: ast.Call) -> ScopedName:
    """Where the model is bound whose parameters the optimizer has."""
    given = argument(optimizer, 0, "params")
    found: set[ScopedName] = set()
    for node in _behind(scopes, given) if given is not None else ():
        if isinstance(node, ast.Call) and method_name(node) in _PARAMETERS:
            base = node.func
            while isinstance(base, ast.Attribute | ast.Subscript):
                base = base.value
            found |= scopes.origins(base)
    if len(found) != 1:
        key = "TMG292 several_models" if len(found) > 1 else "TMG292 parameters"
        raise _unclear(script, given or optimizer, key)
    (net,) = found
    return net


def _behind(scopes: Scopes, node: ast.expr) -> Iterator[ast.AST]:
    """The nodes of an expression, and of the expressions that its names are bound to."""
    todo, seen = [node], set[int]()
    while todo:
        one = todo.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        for inner in ast.walk(one):
            yield inner
            if isinstance(inner, ast.Name):
                values = [b.value for b in scopes.bound(inner) if b.value is not None]
                todo += [value for value in values if not isinstance(value, ast.Call) or _filters(value)]


def _filters(call: ast.Call) -> bool:
    """Whether a call only picks parameters or puts them into a list."""
    return plain_name(call) in ("filter", "list") or method_name(call) in _PARAMETERS


def _built(script: Script, scopes: Scopes, net: ScopedName) -> list[Binding]:
    """The statements that bind the model: it is made once, and may be moved to its device."""
    bindings = scopes.bindings.get(net, [])
    made = [b for b in bindings if not _is_moved(scopes, b, net)]
    if len(made) != 1 or not isinstance(made[0].value, ast.Call) or made[0].place is not None:
        node = made[1].stmt if len(made) > 1 else script.tree.body[0]
        raise _unclear(script, node, "TMG292 not_made_once", name=net.name)
    value = unmoved(made[0].value)
    name = script.name(value.func) if isinstance(value, ast.Call) else ""
    if name in ("torch.load", "torch.compile", "torch.jit.script", "torch.jit.trace", "torch.jit.load"):
        raise _unclear(script, value, "TMG292 from_file", name=name)
    block = script.block(made[0].stmt)
    if any(standing_in(script, block, b.stmt) is None for b in bindings):
        raise _unclear(script, bindings[-1].stmt, "TMG292 several_blocks", name=net.name)
    if scopes.loops(made[0].stmt):
        raise _unclear(script, made[0].stmt, "TMG292 made_in_loop")
    return bindings


def standing_in(script: Script, block: list[ast.stmt], stmt: ast.stmt) -> ast.stmt | None:
    """The statement of a block that is or holds a statement; None for one that stands elsewhere, or in a loop."""
    for one in (stmt, *script.above(stmt)):
        if isinstance(one, ast.stmt) and one in block:
            return one
        if isinstance(one, ast.For | ast.While | ast.FunctionDef):
            break
    return None


def _is_moved(scopes: Scopes, binding: Binding, net: ScopedName) -> bool:
    base = unmoved(binding.value) if binding.value is not None else None
    return isinstance(base, ast.Name) and net in scopes.origins(base)


def unmoved(value: ast.expr) -> ast.expr:
    """A model without the calls that move it to a device."""
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in _MOVES:
        if isinstance(value.func.value, ast.Name) and value.func.value.id in ("torch", "nn"):
            break
        value = value.func.value
    return value


def _path(script: Script, scopes: Scopes, loop: ast.For) -> list[ast.FunctionDef]:
    """The functions that lead from the module to the loop, each called once; the one with the loop comes last."""
    path: list[ast.FunctionDef] = []
    function = scopes.scope(loop)
    while function is not None:
        if function in path or function.name not in scopes.functions:
            raise _unclear(script, function, "TMG292 not_followed", name=function.name)
        path.insert(0, function)
        calls = scopes.calls_of(function)
        named = script.uses(function.name)
        if len(calls) != 1 or len(named) != 1:
            node = calls[1] if len(calls) > 1 else function
            key = "TMG292 several_calls" if calls else "TMG292 never_called"
            raise _unclear(script, node, key, name=function.name)
        function = scopes.scope(calls[0])
    return path


def _wrap(script: Script, scopes: Scopes, built: list[Binding], loop: ast.For) -> ast.stmt:
    """The first statement after the model is made that leads to the training loop, in the block of both."""
    block = script.block(built[0].stmt)
    node: ast.AST = loop
    while True:
        function = scopes.scope(node)
        chain: list[ast.AST] = [node, *script.above(node)]
        found = next((s for s in block if s in chain and not isinstance(s, ast.FunctionDef)), None)
        if found is not None:
            break
        calls = scopes.calls_of(function) if function else []
        if not calls:
            raise _unclear(script, built[0].stmt, "TMG292 made_out_of_sight")
        node = calls[0]
    bound = [standing_in(script, block, b.stmt) for b in built]
    if block.index(found) <= max(block.index(stmt) for stmt in bound if stmt is not None):
        raise _unclear(script, found, "TMG292 bound_late")
    return found
