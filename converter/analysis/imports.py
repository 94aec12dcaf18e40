"""Imports: which names stand for TensorFlow, under any import style, and which for other libraries."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from converter.analysis.frames import Place
from converter.analysis.values import Symbol, Value

if TYPE_CHECKING:
    from converter.analysis.walk import Walk

TENSORFLOW = "tf"

# Modules that stand for others: the longest match is replaced.
ALIASES = {
    "compat.v1.": "",
    "_api.v1.": "",
    "python.framework.ops.": "",
    "python.ops.rnn_cell.": "nn.rnn_cell.",
    "python.ops.rnn_cell_impl.": "nn.rnn_cell.",
    "python.ops.rnn.": "nn.",
    "python.ops.nn.": "nn.",
    "python.ops.math_ops.": "",
    "python.ops.array_ops.": "",
    "python.platform.flags.": "app.flags.",
    "contrib.rnn.python.ops.core_rnn_cell.": "contrib.rnn.",
    "contrib.framework.python.ops.arg_scope.": "contrib.framework.",
    "contrib.slim.python.slim.": "contrib.slim.",
    "models.rnn.": "nn.",
    "math.": "",
    "flags.": "app.flags.",
    "random.": "random_",
    "io.gfile.": "gfile.",
}


def canonical(name: str) -> str:
    """The name by which the rules know something: `compat.v1.math.add` is `add`."""
    for alias, meaning in ALIASES.items():
        if name.startswith(alias):
            rest = name[len(alias) :]
            return canonical(meaning + rest)
        if name + "." == alias:
            return meaning.rstrip(".") if meaning != "random_" else name
    return name


def import_module(walk: Walk, alias: ast.alias, stmt: ast.Import) -> None:
    root, _, rest = alias.name.partition(".")
    if alias.asname is None:
        value = _symbol(walk, root, "")
        _bind(walk, root, value, stmt)
    else:
        _bind(walk, alias.asname, _symbol(walk, root, rest), stmt)


def import_from(walk: Walk, stmt: ast.ImportFrom, alias: ast.alias) -> None:
    module = stmt.module or ""
    root, _, rest = module.partition(".")
    if alias.name == "*" or alias.name == "__future__" or root == "__future__":
        return
    name = f"{rest}.{alias.name}" if rest else alias.name
    if stmt.level:
        root, name = "." * stmt.level + root, name
    _bind(walk, alias.asname or alias.name, _symbol(walk, root, name), stmt)


def _symbol(walk: Walk, root: str, rest: str) -> Symbol:
    if root == "tensorflow":
        return Symbol(TENSORFLOW, canonical(rest))
    if root == "tf_slim":
        return Symbol(TENSORFLOW, "contrib.slim" + ("." + rest if rest else ""))
    if root == "absl" and rest in ("flags", "app"):
        return Symbol(TENSORFLOW, "app.flags" if rest == "flags" else "app")
    return Symbol(root, rest)


def _bind(walk: Walk, name: str, value: Value, stmt: ast.stmt) -> None:
    walk.stamp(value, stmt)
    walk.frame.locals[name] = value
    if isinstance(value, Symbol) and value.library == TENSORFLOW and walk.frame is walk.module:
        walk.facts.imports.setdefault(name, value.name)
    walk.write(Place("name", walk.frame.uid, name, frame=walk.frame), value, stmt)
