"""What a script without a training step of TensorFlow's own trains with, by what it imports and calls."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from converter.analysis.facts import Facts
from converter.diagnostics import Refusal
from converter.planner.writing.findings import refuse

# Parts of dotted names, the code, what the script does, what to do.
SEVERAL = "convert the script as it was for one GPU"
FOUND = (
    ("multi_gpu_model", "TMG216", "this script uses several GPUs already, by Keras' multi_gpu_model", SEVERAL),
    ("model_deploy", "TMG216", "this script spreads clones of its model over GPUs already (slim's model_deploy)",
     "give it the number of GPUs: DeploymentConfig(num_clones=...)"),
    ("torch", "TMG201", "this script trains by PyTorch, not by TensorFlow",
     "use torch.nn.parallel.DistributedDataParallel"),
    ("object_detection", "TMG201", "the training step lies in the package object_detection, this script configures it",
     "use that package's own options for several GPUs: num_clones, or model_main with a distribution strategy"),
    ("keras", "TMG201", "this script builds with Keras, and minimises nothing in a session",
     "use tf.distribute.MirroredStrategy for Model.fit"),
)  # fmt: skip


def no_training_step(facts: Facts) -> Refusal:
    """The refusal of a script that minimises nothing: it tells what is there instead."""
    imported = list(_imported(facts))
    for part, code, message, hint in FOUND:
        for name, node in imported:
            if part in name.split("."):
                return refuse(facts, node, code, message, hint)
    return refuse(facts, facts.tree, "TMG201", "no training step was found: nothing is minimised here",
                  "convert the script that calls minimize, compute_gradients or tf.gradients")  # fmt: skip


def several_gpus(facts: Facts) -> Refusal | None:
    """The refusal of a script that Keras spreads over several GPUs."""
    part, code, message, hint = FOUND[0]
    node = next((node for name, node in _imported(facts) if part in name.split(".")), None)
    return refuse(facts, node, code, message, hint) if node is not None else None


def _imported(facts: Facts) -> Iterator[tuple[str, ast.stmt]]:
    """The dotted names that are imported, the script's first."""
    for node in facts.nodes(ast.Import):
        yield from ((alias.name, node) for alias in node.names)
    for found in facts.nodes(ast.ImportFrom):
        yield from ((f"{found.module or ''}.{alias.name}", found) for alias in found.names)


def package_of(facts: Facts, call: ast.AST) -> str:
    """The package that a call goes into, as its file imports it; "" where that is not one that is imported."""
    function: ast.AST = call
    while isinstance(function, (ast.Call, ast.Attribute, ast.Subscript)):
        function = function.func if isinstance(function, ast.Call) else function.value
    if not isinstance(function, ast.Name):
        return ""
    tree = facts.tree_of(facts.path_of(call))
    for node in facts.nodes(ast.Import, tree):
        for alias in node.names:
            if function.id == (alias.asname or alias.name.split(".")[0]):
                return alias.name.split(".")[0]
    for found in facts.nodes(ast.ImportFrom, tree):
        if any(function.id == (alias.asname or alias.name) for alias in found.names) and not found.level:
            return (found.module or "").split(".")[0]
    return ""
