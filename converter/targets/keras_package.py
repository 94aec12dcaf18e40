"""Scripts that the package `keras` trains and that are not copied to GPUs, or that import all names of Keras by *."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from converter.analysis.traits import Trait, has
from converter.diagnostics import Diagnostic
from converter.options import Options
from converter.syntax.known import last_name
from converter.syntax.script import Script
from converter.targets.mirrored.copies import is_of_package, obstacle
from converter.targets.mirrored.keras import keras_fits
from converter.targets.mirrored.program import Program, program_of

PACKAGE = "keras"
SHOWN = 4  # import lines that a message writes out
# Arguments of Keras 1 and what Keras 2 calls them (keras/legacy/interfaces.py, 2.3); tf.keras refuses all but nb_epoch.
_RENAMED = {
    "nb_epoch": "epochs",
    "nb_filter": "filters",
    "nb_row": "kernel_size",
    "nb_col": "kernel_size",
    "border_mode": "padding",
    "subsample": "strides",
    "dim_ordering": "data_format",
    "init": "kernel_initializer",
    "W_regularizer": "kernel_regularizer",
    "b_regularizer": "bias_regularizer",
    "W_constraint": "kernel_constraint",
    "samples_per_epoch": "steps_per_epoch, which counts batches",
    "nb_val_samples": "validation_steps, which counts batches",
}
_UNITS = re.compile(r"^keras\.layers\.(?:\w+\.)?(?!Embedding)\w+$")  # layers whose output_dim is called units
_SIDES = re.compile(r"^keras\.layers\.(?:\w+\.)?(?:Convolution2D|Conv2D)$")
_MERGE = re.compile(r"^keras\.(?:layers|engine|legacy\.layers)(?:\.\w+)?\.(?:merge|Merge)$")
_MODEL = re.compile(r"^keras\.(?:models|engine)\.(?:\w+\.)?Model$")
# Modules of the package whose names tf.keras has one level up (keras 2.0 to 2.3, tensorflow 1.15).
_UP = re.compile(
    r"^(keras\.(?:layers|utils|preprocessing|engine))\."
    r"(?:core|convolutional|convolutional_recurrent|pooling|local|recurrent|embeddings|merge|advanced_activations|"
    r"normalization|noise|wrappers|np_utils|generic_utils|vis_utils|data_utils|topology|training)$"
)


def trained_by_keras(script: Script, options: Options) -> Diagnostic | None:
    """The refusal of a script that compiles and fits a model of the package `keras`; None for others."""
    minimises = any(has(last_name(script, call.func), Trait.TRAINS) for call in script.calls)
    program = program_of(script)
    if is_of_package(program) and program.trainings:
        return _of_package(program, options)
    if minimises or not keras_fits(script):
        return None
    stars = [node for node in _imports(script) if _is_star(node)]
    if stars and options.target in ("auto", "mirrored"):
        node = stars[0]
        message = "names of Keras are imported by *, so that it is not seen what builds the model"
        hint = f"import them by their names: from {_module(node)} import …"
        return script.diagnostic(node, "TMG289", message, hint)
    return None


def _of_package(program: Program, options: Options) -> Diagnostic | None:
    spread = [(file, call) for file, call in program.calls() if file.name(call.func).endswith(".multi_gpu_model")]
    if spread:
        message = "the script uses several devices already: multi_gpu_model"
        file, call = spread[0]
        return file.diagnostic(call, "TMG216", message, "convert the script as it was for one GPU")
    script, imports = _imports_of(program)
    old = list(dict.fromkeys(_of_keras_1(script)))
    if options.target == "cluster" and not old:
        return None  # it has sessions (2.2 and 2.3), whose runs the workers change
    gone = any(map(_is_gone, program.calls()))
    why = obstacle(program, options.batch == "total")
    if not why and not gone and options.target in ("auto", "mirrored"):
        return None  # multi_gpu_model copies it
    old = old if gone or options.target not in ("auto", "mirrored") else []
    lines = ", ".join(str(node.lineno) for node in imports)
    written = "; ".join(_of_tensorflow(node, bool(old)) for node in imports[:SHOWN])
    written += "; …" if len(imports) > SHOWN else ""
    where = f"line {lines}" if len(imports) == 1 else f"lines {lines}"
    message = "this script trains by the package keras, which a distribution strategy of TensorFlow does not reach"
    if why and not old and options.target in ("auto", "mirrored"):
        message += f"; its own multi_gpu_model is not written here, {why}"
    hint = f"import the same from tf.keras, in {where}: {written}; --target mirrored converts that"
    if not old and any(getattr(call.func, "attr", "") != "fit" for _, call in program.trainings):
        hint = "use --target cluster, which makes a process for each GPU; a strategy takes no generators"
    if old:
        message += ", and is written for Keras 1, which tf.keras is not"
        told = "; ".join(old[:SHOWN]) + ("; …" if len(old) > SHOWN else "")
        return script.diagnostic(imports[0], "TMG220", message, f"write it for Keras 2 ({told}), and {hint}")
    if not why and options.target not in ("auto", "mirrored"):
        hint += f". Or leave --target {options.target} out: with keras up to 2.3 its multi_gpu_model takes the script"
    return script.diagnostic(imports[0], "TMG220", message, hint)


def _imports_of(program: Program) -> tuple[Script, list[ast.Import | ast.ImportFrom]]:
    """The first file of a program that imports the package, and its imports."""
    found = ((file, [n for n in _imports(file) if _module(n).partition(".")[0] == PACKAGE]) for file in program.files)
    return next((file, imports) for file, imports in found if imports)


def _is_gone(place: tuple[Script, ast.Call]) -> bool:
    """Whether keras 2.2 and 2.3 do not take a call of Keras 1 as it was meant (keras/legacy/interfaces.py).

    They take its names of arguments, but have no merge(), and count batches where Keras 1 counted examples.
    """
    script, call = place
    trains = isinstance(call.func, ast.Attribute) and "fit" in call.func.attr
    counts = any(keyword.arg in ("samples_per_epoch", "nb_val_samples") for keyword in call.keywords)
    return _MERGE.match(script.name(call.func)) is not None or (trains and counts)


def _of_keras_1(script: Script) -> Iterator[str]:
    """Calls in the style of Keras 1, with their lines and the replacement in Keras 2."""
    for call in script.calls:
        name = script.name(call.func)
        given = {keyword.arg for keyword in call.keywords if keyword.arg}
        own = name.startswith(f"{PACKAGE}.") or (isinstance(call.func, ast.Attribute) and "fit" in call.func.attr)
        for old, new in _RENAMED.items() if own else ():
            if old in given:
                yield f"line {call.lineno}: {old} is {new}"
        if "output_dim" in given and _UNITS.match(name):
            yield f"line {call.lineno}: output_dim is units"
        if _SIDES.match(name) and len(call.args) > 2 and _is_number(call.args[2]):
            yield f"line {call.lineno}: rows and columns are one argument, ({_sides(call)}); the third is the stride"
        if _MERGE.match(name):
            yield f"line {call.lineno}: merge is add, multiply, concatenate or dot of keras.layers"
        if _MODEL.match(name) and given & {"input", "output"}:
            yield f"line {call.lineno}: input and output are inputs and outputs"


def _is_number(node: ast.expr) -> bool:
    return not isinstance(node, (ast.Tuple, ast.List, ast.Starred))


def _sides(call: ast.Call) -> str:
    return ", ".join(map(ast.unparse, call.args[1:3]))


def _imports(script: Script) -> Iterator[ast.Import | ast.ImportFrom]:
    """The imports of modules of Keras, of the package or of TensorFlow's."""
    imports = (node for node in ast.walk(script.tree) if isinstance(node, ast.Import | ast.ImportFrom))
    return (node for node in imports if PACKAGE in _module(node).split("."))


def _module(node: ast.Import | ast.ImportFrom) -> str:
    if isinstance(node, ast.ImportFrom):
        return "" if node.level else node.module or ""
    return next((alias.name for alias in node.names if PACKAGE in alias.name.split(".")), "")


def _is_star(node: ast.Import | ast.ImportFrom) -> bool:
    return isinstance(node, ast.ImportFrom) and any(alias.name == "*" for alias in node.names)


def _of_tensorflow(node: ast.Import | ast.ImportFrom, of_keras_1: bool) -> str:
    """An import of the package as one of tf.keras, which binds the same names, without what only Keras 1 has."""
    if isinstance(node, ast.ImportFrom):
        module = _UP.sub(r"\1", node.module or "").replace("keras.engine", "keras.models")
        kept = [alias for alias in node.names if not (of_keras_1 and _MERGE.match(f"{node.module}.{alias.name}"))]
        names = ", ".join(map(_alias, kept or node.names))
        return f"from tensorflow.{module} import {names}"
    name, bound = next((alias.name, alias.asname) for alias in node.names if alias.name.partition(".")[0] == PACKAGE)
    if bound is None or name == PACKAGE:  # `import keras.models` binds keras
        return f"from tensorflow import {PACKAGE}" + (f" as {bound}" if bound else "")
    module, _, last = name.rpartition(".")
    return f"from tensorflow.{module} import {last} as {bound}"


def _alias(alias: ast.alias) -> str:
    if alias.name == "*":
        return "…"  # by their names, so that it is seen what builds the model
    return f"{alias.name} as {alias.asname}" if alias.asname else alias.name
