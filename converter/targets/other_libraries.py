"""Scripts trained by a library that no target is for: the refusal names the library's own way to several GPUs."""

from __future__ import annotations

import ast
import re

from converter.diagnostics import Diagnostic
from converter.options import Options
from converter.syntax.script import Script, argument, literal
from converter.targets.keras_package import trained_by_keras

CODE = "TMG216"
MAKERS = ("Trainer", "LightningCLI", "Fabric")  # of what trains; a script with a Trainer may use others beside it
_PACKAGES = re.compile(rf"(?:pytorch_lightning|lightning(?:_fabric)?)(?:\.\w+)*\.(?P<name>{'|'.join(MAKERS)})$")
_DEVICES = ("devices", "gpus", "num_nodes")  # numbers of devices; `gpus` is the older name
_ARGUMENTS = "accelerator='gpu', devices={number}, strategy='ddp'"
_OF_FABRIC = "fabric.launch() starts the processes, fabric.setup and fabric.setup_dataloaders share the work"
_SHARES = "Lightning starts a process for each GPU, and gives each a share of the DataLoader's batches"


def trained_elsewhere(path: str, text: str, tree: ast.Module, options: Options) -> Diagnostic | None:
    """The refusal of a script that PyTorch Lightning or the package `keras` trains; None for others."""
    script = Script(path, text, tree)
    return trained_by_lightning(script, options) or trained_by_keras(script, options)


def trained_by_lightning(script: Script, options: Options) -> Diagnostic | None:
    """The refusal of a script that Lightning trains, at the call that makes its Trainer; None for others.

    It starts a process for each GPU by itself, so there is nothing to convert.
    """
    found = ((call, _PACKAGES.match(script.name(call.func))) for call in script.calls)
    made = [(match["name"], call) for call, match in found if match is not None]
    if not made:
        return None
    name, call = min(made, key=lambda one: MAKERS.index(one[0]))
    how = "uses several GPUs already" if _is_told(call) else "uses several GPUs when its {name} is told to"
    message = f"PyTorch Lightning trains this script, and {how.format(name=name)}: there is nothing to convert"
    return script.diagnostic(call, CODE, message, _hint(name, options))


def _hint(name: str, options: Options) -> str:
    number = "-1" if options.num_gpus is None else str(options.num_gpus)
    told = _ARGUMENTS.format(number=number)
    if name == "LightningCLI":
        flags = f"--trainer.accelerator gpu --trainer.devices {number} --trainer.strategy ddp"
        return f"start the script with {flags}: {_SHARES}"
    return f"write {name}({told}) here, beside its other arguments: {_SHARES if name == 'Trainer' else _OF_FABRIC}"


def _is_told(call: ast.Call) -> bool:
    """Whether the call names more than one device."""
    given = [literal(argument(call, -1, name)) for name in _DEVICES]
    return any(isinstance(one, int) and one > 1 for one in given)
