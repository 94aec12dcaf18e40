"""The statement that makes the strategy, and what must hold of any script that trains under one."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from converter.analysis.traits import Trait
from converter.options import Options
from converter.syntax.changes import Change, lines_before
from converter.syntax.known import is_known
from converter.syntax.script import Script, literal, method_name
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
    number = literal(script.value(size))
    if isinstance(number, int) and options.num_gpus is not None and number % options.num_gpus:
        script.finding(size, "TMG288 not_divisible", size=number, number=options.num_gpus)


def check_devices(case: Known) -> Known:
    """Refuse what hides GPUs from the whole program (TMG286)."""
    script, number = case.script, case.options.num_gpus
    if number == 1:
        return case
    for node, what in _hidden(script):
        value = literal(script.value(node))
        named = len(value.split(",")) if isinstance(value, str) else value if isinstance(value, int) else 0
        counted = what == VARIABLE and value is None  # the first lines of the strategy count what is visible then
        if counted or (number is not None and named >= number):
            continue
        message = f"{what} leaves the program fewer GPUs than the strategy is for"
        if what == VARIABLE:
            hint = f"say it where the script is started: {VARIABLE}=0,1 python …"
        else:
            hint = f"take {what} out, or let it name all GPUs"
        script.say(node, "TMG286", message, hint)
    return case


VARIABLE = "CUDA_VISIBLE_DEVICES"
_LIST = "visible_device_list"


def _hidden(script: Script) -> Iterator[tuple[ast.expr, str]]:
    """The expressions that say which GPUs are seen, or how many; with the name of the setting."""
    for stmt in script.nodes(ast.Assign):
        for target in stmt.targets:
            key, held = (target.slice, target.value) if isinstance(target, ast.Subscript) else (None, target)
            if isinstance(target, ast.Attribute) and target.attr == _LIST:
                yield stmt.value, _LIST
            elif literal(key) == VARIABLE:
                yield stmt.value, VARIABLE
            elif literal(key) == "GPU" and ast.unparse(held).endswith("device_count"):
                yield stmt.value, "device_count"
    for call in script.calls:
        yield from _named_devices(script, call)


def _named_devices(script: Script, call: ast.Call) -> Iterator[tuple[ast.expr, str]]:
    if is_known(script, call.func, Trait.SHOWS_DEVICES):
        yield call, ast.unparse(call.func).rpartition(".")[2]
    exports = len(call.args) == 2 and method_name(call) in ("setdefault", "putenv")
    if exports and literal(call.args[0]) == VARIABLE:
        yield call.args[1], VARIABLE
    for keyword in call.keywords:
        if keyword.arg == _LIST:
            yield keyword.value, _LIST
        elif keyword.arg == "device_count" and isinstance(keyword.value, ast.Dict):
            counts = zip(keyword.value.keys, keyword.value.values, strict=True)
            yield from ((value, "device_count") for key, value in counts if literal(key) == "GPU")


_OTHER_MEANS = tuple(
    (
        "MirroredStrategy ParameterServerStrategy multi_gpu_model replicate_model_fn TowerOptimizer "
        "MultiWorkerMirroredStrategy CollectiveAllReduceStrategy TPUStrategy SyncReplicasOptimizer"
    ).split()
)


def no_other_means(case: Known) -> Known:
    """Refuse scripts that use several GPUs (TMG216) or machines (TMG217) by their own means."""
    for call in case.script.calls:
        name = case.script.name(call.func)
        if name.endswith(_OTHER_MEANS) or name.startswith("horovod."):
            message = f"the script uses several devices already: {name.rpartition('.')[2]}"
            case.script.say(call, "TMG216", message, "convert the script as it was for one GPU")
    for node in case.script.nodes(ast.Subscript):
        if isinstance(node.ctx, ast.Store) and literal(node.slice) == "TF_CONFIG":
            case.script.finding(node, "TMG217 no_other_means")
    return case
