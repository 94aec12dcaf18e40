"""The statement that makes the strategy, and what must hold of any script that trains under one."""

from __future__ import annotations

import ast

from converter.options import Options
from converter.syntax.changes import Change, lines_before
from converter.syntax.script import Script
from converter.targets.passes import Known


def strategy_lines(script: Script, stmt: ast.stmt, name: str, options: Options, code: str) -> list[Change]:
    """The lines above a statement that make the strategy, and the import of TensorFlow where the script lacks it."""
    changes = []
    tensorflow = script.names.tensorflow()
    if not tensorflow:
        tensorflow = script.new("tf")
        changes.append(_import(script, tensorflow, code))
    number, lines = options.num_gpus, []
    if number is not None and options.fewer_gpus == "refuse":
        found = f"{tensorflow}.config.experimental.list_physical_devices('GPU')"
        lines.append(f"if len({found}) < {number}:  # replicas would share a GPU without a word")
        lines.append(f"{script.unit}raise RuntimeError('this script trains on {number} GPUs')")
    lines.append(f"{name} = {tensorflow}.distribute.MirroredStrategy({_devices(number)})")
    return [*changes, lines_before(script, stmt, lines, code)]


def _devices(number: int | None) -> str:
    if number is None:
        return ""
    if number > 4:
        return f"['/gpu:%d' % gpu for gpu in range({number})]"
    return "[" + ", ".join(f"'/gpu:{gpu}'" for gpu in range(number)) + "]"


def _import(script: Script, tensorflow: str, code: str) -> Change:
    """Below the first import of a part of TensorFlow."""
    first = next(
        stmt
        for stmt in script.tree.body
        if isinstance(stmt, ast.Import | ast.ImportFrom)
        and (getattr(stmt, "module", None) or stmt.names[0].name).partition(".")[0] == "tensorflow"
    )
    place = script.line((first.end_lineno or 0) + 1)
    return Change(place, place, f"import tensorflow as {tensorflow}{script.newline}", code)


def check_shares(script: Script, size: ast.expr, options: Options) -> None:
    """Refuse a batch that the GPUs cannot share evenly, where both numbers are known (TMG288)."""
    number = script.value(size)
    if not isinstance(number, ast.Constant) or not isinstance(number.value, int) or options.num_gpus is None:
        return
    if number.value % options.num_gpus:
        message = f"a batch of {number.value} cannot be shared by {options.num_gpus} GPUs"
        script.say(size, "TMG288", message, "choose a multiple")


_OTHER_MEANS = (
    "MirroredStrategy",
    "ParameterServerStrategy",
    "multi_gpu_model",
    "replicate_model_fn",
    "TowerOptimizer",
    "MultiWorkerMirroredStrategy",
    "CollectiveAllReduceStrategy",
    "TPUStrategy",
    "SyncReplicasOptimizer",
)


def no_other_means(case: Known) -> Known:
    """Refuse scripts that use several GPUs (TMG216) or machines (TMG217) by their own means."""
    for call in case.script.calls:
        name = case.script.name(call.func)
        if name.endswith(_OTHER_MEANS) or name.startswith("horovod."):
            message = f"the script uses several devices already: {name.rpartition('.')[2]}"
            case.script.say(call, "TMG216", message, "convert the script as it was for one GPU")
    for node in ast.walk(case.script.tree):
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store) and _is_cluster(node.slice):
            message = "the script names the machines of a cluster itself: TF_CONFIG"
            case.script.say(node, "TMG217", message, "take it out: the strategy is for the GPUs of one machine")
    return case


def _is_cluster(key: ast.expr) -> bool:
    return isinstance(key, ast.Constant) and key.value == "TF_CONFIG"
