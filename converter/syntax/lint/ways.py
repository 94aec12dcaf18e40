"""Scripts that use several GPUs already: how to set their number, and what the batch size then means."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from converter.syntax.lint.towers import TowerLoop, TowerLoops
from converter.syntax.script import Script, argument

SHARED = "the GPUs share the batch of fit(): multiply it by N for as many examples on each GPU as before"
CLONES = "each clone takes a batch from the queue: a step takes N batches unless the script divides their size"


def advice(script: Script) -> str:
    """Lines that say how to run a multi-GPU script on N GPUs; "" if no way is known."""
    return next((text for find in _WAYS for text in find(script)), "")


def _deployed(script: Script) -> Iterator[str]:
    """Slim's model_deploy (models repository, research/slim/deployment) builds the clones that it is configured for."""
    for call in script.calls:
        if _last(call) == "DeploymentConfig":
            number, on_cpu = argument(call, 0, "num_clones"), argument(call, 1, "clone_on_cpu")
            told = f"it builds one clone: write DeploymentConfig(num_clones=N) in line {call.lineno}"
            if number is not None:
                told = _how_to_change(script, number)
            if isinstance(on_cpu, ast.Constant) and on_cpu.value:
                told += f"; its clones are on the CPU: leave clone_on_cpu out in line {on_cpu.lineno}, to use GPUs"
            yield f"{told}\n{CLONES}"


def _multi_gpu_model(script: Script) -> Iterator[str]:
    """Keras' multi_gpu_model (TensorFlow 1.15, keras/utils/multi_gpu_utils.py) cuts each batch into sub-batches."""
    for call in script.calls:
        if _last(call) == "multi_gpu_model":
            number = argument(call, 1, "gpus")
            told = _how_to_change(script, number) if number is not None else f"it takes all GPUs (line {call.lineno})"
            yield f"{told}\n{SHARED}"


def _horovod(script: Script) -> Iterator[str]:
    """Horovod: one process for each GPU, which all run the script."""
    if script.names.imports("horovod"):
        yield (
            "it is started once for each GPU: horovodrun -np N python SCRIPT\n"
            "each process takes a batch of its own, so a step takes N batches"
        )


def _strategy(script: Script) -> Iterator[str]:
    """A strategy takes the devices that it is given, else all that are visible."""
    for call in script.calls:
        if _last(call) == "MirroredStrategy":
            devices = argument(call, 0, "devices")
            told = "it uses all visible GPUs: CUDA_VISIBLE_DEVICES=0,1 python SCRIPT"
            if devices is not None:
                told = f"its GPUs are named in line {devices.lineno}"
            estimator = "stimator" in script.text
            batch = (
                "each GPU takes a batch of the input function's size, so a step takes N batches"
                if estimator
                else SHARED
            )
            yield f"{told}\n{batch}"


_MERGED = ("append", "extend")  # what keeps the results of each tower for the merge


def _towers(script: Script) -> Iterator[str]:
    """Towers that the script builds in a loop."""
    for loop in TowerLoops(script).loops:
        calls = (n.func for n in ast.walk(loop.node) if isinstance(n, ast.Call))
        if not any(getattr(f, "attr", getattr(f, "id", "")) in _MERGED for f in calls):
            continue  # the layers of one model, on several GPUs
        yield f"{_number_of(script, loop)}\n`tf-multigpu lint` looks for what towers written by hand often get wrong"


def _number_of(script: Script, loop: TowerLoop) -> str:
    over = loop.node.iter
    if isinstance(over, ast.Call) and loop.counts:
        return _how_to_change(script, over.args[0])
    return f"it builds one tower for each round of the loop in line {loop.node.lineno}"


def _how_to_change(script: Script, number: ast.expr) -> str:
    """How the number of GPUs is changed that an expression holds."""
    text = ast.unparse(number)
    if isinstance(number, ast.Constant):
        return f"it uses {text}: change the number in line {number.lineno}"
    if isinstance(number, ast.Attribute) and _is_flag(script, number.attr):
        return f"start it with --{number.attr}=N"
    bound = script.bindings.get(text, [])
    if len(bound) == 1 and not isinstance(bound[0], ast.Constant) and ast.unparse(bound[0]) != text:
        return _how_to_change(script, bound[0])
    if len(bound) == 1:
        return f"it uses {ast.unparse(bound[0])}: change {text} in line {bound[0].lineno}"
    return f"it uses as many as {text} says (line {number.lineno})"


def _is_flag(script: Script, name: str) -> bool:
    """Whether the script defines a flag of this name, by argparse or by flags of TensorFlow or absl."""
    return any(
        isinstance(arg, ast.Constant) and isinstance(arg.value, str) and arg.value.lstrip("-").replace("-", "_") == name
        for call in script.calls
        if _last(call).startswith(("DEFINE_", "add_argument"))
        for arg in call.args
    )


def _last(call: ast.Call) -> str:
    """The last part of a called name."""
    return call.func.attr if isinstance(call.func, ast.Attribute) else ast.unparse(call.func)


_WAYS = (_deployed, _multi_gpu_model, _horovod, _strategy, _towers)
