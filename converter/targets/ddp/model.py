"""The model in several processes: wrapped once, called through the wrapper in the training loop, itself elsewhere."""

from __future__ import annotations

import ast

from converter.syntax.changes import Change, lines_before, replaced
from converter.syntax.script import Script, called_name, nodes_of, parameters
from converter.targets.ddp.training import Training

WRAP = "TMG177"
# Attributes that the wrapper has too, with the same meaning; all others are the model's own.
_SAME = ("train", "eval", "parameters", "zero_grad")
_ALLOWED = (*_SAME, "named_parameters", "state_dict", "buffers", "training")
# What a method may call that only makes values to begin with.
_MAKES = frozenset(
    (
        "zeros randn ones empty new new_zeros new_ones zero_ to cuda cpu next parameters Variable detach data tuple "
        "size zeros_like normal_ float len range"
    ).split()
)
_MOVED = ("to", "cuda", "cpu", "half", "float", "double", "requires_grad_", "apply", "register_parameter", "add_module")


def model_changes(training: Training, wrapper: str) -> list[Change]:
    """The wrapper, and the places that name it in place of the model."""
    script = training.script
    _check_uses(training)
    handed = _handed(training)
    changes = [_wrapped(training, wrapper)]
    for node in script.nodes(ast.Name):
        if not isinstance(node.ctx, ast.Load) or not training.is_net(node):
            continue
        if _is_wrapped_here(training, node):
            if node not in handed and not _means_the_same(training, node):
                changes.append(Change(end := script.span(node)[1], end, ".module", WRAP))
        elif node in handed or node is training.forward.func:
            changes.append(replaced(script, node, wrapper, WRAP))
    return changes


def _wrapped(training: Training, wrapper: str) -> Change:
    lines = [
        f"{wrapper} = DistributedDataParallel({training.net.name})",
        "torch.manual_seed(torch.initial_seed() + rank)  # dropout differs from process to process",
    ]
    return lines_before(training.script, training.wrap, lines, WRAP)


def _handed(training: Training) -> set[ast.expr | None]:
    """Arguments that bring the model to the function of the training loop, by the calls of its path."""
    found: set[ast.expr | None] = set()
    if not isinstance(training.forward.func, ast.Name):
        return found
    name, function = training.forward.func, training.scopes.scope(training.forward)
    while function is not None and training.scopes.home(name).scope is function:
        if name.id not in parameters(function):
            break
        (call,) = training.scopes.calls_of(function)
        given = training.scopes.given(call, function, name.id)
        if not isinstance(given, ast.Name):
            break
        found.add(given)
        name, function = given, training.scopes.scope(call)
    return found


def _is_wrapped_here(training: Training, node: ast.Name) -> bool:
    """Whether a name is a parameter that gets the wrapper."""
    home = training.scopes.home(node)
    if home == training.net or home.scope not in training.path:
        return False
    assert home.scope is not None
    call = training.scopes.calls_of(home.scope)[0]
    return training.scopes.given(call, home.scope, home.name) in _handed(training)


def _means_the_same(training: Training, node: ast.Name) -> bool:
    """Whether the wrapper does at this place what the model would."""
    above = training.script.parent(node)
    return node is training.forward.func or (isinstance(above, ast.Attribute) and above.attr in _SAME)


def _check_uses(training: Training) -> None:
    """Refuse uses of the model that go around the wrapper, or change the model behind its back."""
    script = training.script
    first = script.line(training.wrap.lineno)
    for node in filter(training.is_net, script.nodes(ast.Name)):
        above = script.parent(node)
        scope = training.scopes.scope(node)
        inner = scope in training.path and scope is not training.scopes.scope(training.wrap)
        late = inner or script.span(node)[0] >= first
        if isinstance(above, ast.Attribute):
            called = getattr(script.parent(above), "func", None) is above
            if late and not training.in_loop(node):
                _check_late(script, above, called)
            if training.in_loop(node) and not _is_harmless(training, above):
                script.finding(node, "TMG293 around_wrapper", code=ast.unparse(above))
        elif training.in_loop(node) and node is not training.forward.func and isinstance(above, ast.Call):
            harmless = script.name(above.func).startswith(("torch.nn.utils.", "torch.save"))
            if not harmless:
                script.finding(node, "TMG293 gets_model", code=ast.unparse(above.func))


def _is_harmless(training: Training, use: ast.Attribute) -> bool:
    """Whether an attribute of the model, in the training loop, takes no part in the gradients."""
    if use.attr in _ALLOWED:
        return True
    script = training.script
    methods = [one for one in script.functions.get(use.attr, []) if script.class_around(one) is not None]
    if len(methods) != 1 or not isinstance(script.parent(use), ast.Call):
        return False
    return all(called_name(call) in _MAKES for call in nodes_of(ast.Call, methods[0]))


def _check_late(script: Script, use: ast.Attribute, called: bool) -> None:
    """Refuse what changes the model's parameters once it is wrapped."""
    inner: ast.AST = use
    for above in script.above(use):
        if not isinstance(above, ast.Attribute):
            break
        inner = above
    stored = isinstance(getattr(inner, "ctx", None), ast.Store)
    if stored or (called and use.attr in _MOVED):
        script.finding(use, "TMG293 changed_when_wrapped", code=ast.unparse(inner))
