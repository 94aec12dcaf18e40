"""The block of helpers that a converted script carries."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Mapping
from dataclasses import replace

from converter.choices import Helpers
from converter.parsing import parse_text
from converter.plan import Plan
from converter.rewrite.formatting import fitted
from converter.rewrite.marks import mark_text, take_out
from converter.runtime.catalog import catalog, for_dense
from converter.runtime.whole import PACKAGE
from converter.source.header import HELPERS, HELPERS_END

BEGIN = HELPERS
_WORD = re.compile(r"\w+")
_DEFINED = re.compile(r"^(?:def |class )?(\w+)(?=\(| = )", re.MULTILINE)
IMPORT = "import tensorflow as"
END = HELPERS_END
FRAME, SHARED = "TMG112", "TMG115"  # the rules for what frames the helpers, and for importing them instead


def helper_text(plan: Plan, indent: str, imported: set[str]) -> str:
    """Marker, imports, the number of GPUs, and the helpers in the script's own names and indentation.

    Each piece ends with the mark of its rule.
    """
    known = for_dense() if plan.dense else catalog()
    chosen = [known[name] for name, _ in plan.helpers]
    imported = imported - {module for module, _ in plan.modules}
    modules = sorted({m for helper in chosen for m in helper.imports if m != "tf"} - imported)
    plain = {helper.removesuffix("_or_one_gpu"): name for helper, name in plan.helpers}
    names = {**plain, **dict(plan.helpers), "NUM_GPUS": plan.num_gpus, "tf": plan.tensorflow}
    given = dict(plan.modules)
    own = {**given, **{name: f"{plan.builtins}.{name}" for name in plan.hidden}}
    lines = [BEGIN, *(f"import {m} as {given[m]}" if m in given else f"import {m}" for m in modules)]
    lines += _builtins(plan.builtins)
    if plan.import_tensorflow:
        lines.append(f"{IMPORT} {plan.tensorflow}")
    pieces = [_renamed(_reading(helper.source, own), names) + mark_text(helper.why) for helper in chosen]
    counted = [p for h, p in zip(chosen, pieces, strict=True) if h.name == "count_gpus"]
    rest = [p for h, p in zip(chosen, pieces, strict=True) if h.name != "count_gpus"]
    define = plan.define and plan.define + mark_text(FRAME)
    if len(lines) > 1:
        lines[-1] += mark_text(FRAME)
    head = "\n".join(lines)
    blocks = [head, *counted, define, *rest] if counted else [head + ("\n" + define if define else ""), *rest]
    text = "\n\n\n".join(block for block in blocks if block)
    if indent != "    ":
        text = "\n".join(_reindented(line, indent) for line in text.split("\n"))
    return text + "\n"


def helper_imports(plan: Plan, written: set[str], width: int) -> str:
    """The import of helpers from their module, with the names that a file's text uses."""
    package, _, name = plan.helper_module.rpartition(".")
    package += "." if plan.helper_module.startswith(".") and not package.strip(".") else ""
    kind = plan.options.helpers
    module = PACKAGE if kind == "package" else plan.helper_module
    define = plan.define if kind != "inline" and not plan.path else ""
    written = written | set(_WORD.findall(define))
    lines = [BEGIN, *(_builtins(plan.builtins) if plan.builtins in written else [])]
    if plan.import_tensorflow and plan.tensorflow in written:
        lines.append(f"{IMPORT} {plan.tensorflow}")
    if name in written:
        own = name if module == plan.helper_module else f"{module} as {name}"
        lines.append(f"from {package} import {own}" if package else f"import {own}")
    used = sorted(_imported(helper, given, kind) for helper, given in plan.helpers if given in written)
    if used:
        lines.append(fitted(f"from {module} import {', '.join(used)}", width))
    if not lines[1:]:
        return ""
    lines[1:1] = _way(plan.helper_path) if plan.helper_path and kind != "package" else []
    return "\n".join(lines) + mark_text(SHARED) + "\n" + (define + mark_text(FRAME) + "\n" if define else "")


def _way(folder: str) -> list[str]:
    """Lines that let a file that is run itself find the module of helpers."""
    there = ", ".join(repr(part) for part in folder.split(os.sep))
    return [
        "if __name__ == '__main__':",
        "    import os",
        "    import sys",
        f"    sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), {there}))",
    ]


def _imported(helper: str, given: str, kind: Helpers) -> str:
    """A helper in an import: a module that is for all scripts has it under its own name."""
    return given if kind == "inline" or helper == given else f"{helper} as {given}"


def helper_module_text(plan: Plan, tensorflow: str, held: str) -> str:
    """The module that carries the helpers of several files.

    plan: of the script. tensorflow: its import, up to the name. held: what the module has for files that
    were converted before, which goes on having it.
    """
    name = plan.helper_module.lstrip(".")
    number = plan.num_gpus.removeprefix(f"{name}.") if plan.define.startswith("num_gpus") else "FLAGS.num_gpus"
    number = "towers()" if plan.num_gpus.endswith(".towers()") else number
    own_names = {given for _, given in plan.helpers}
    earlier = {given: given for given in _DEFINED.findall(held) if given in catalog() and given not in own_names}
    helpers = _with_needs({**earlier, **dict(plan.helpers)})
    own = replace(
        plan,
        tensorflow="tf",
        import_tensorflow=True,
        num_gpus=number,
        helpers=tuple(helpers.items()),
        builtins="",
        hidden=(),
        modules=(),
    )
    text, _ = take_out(helper_text(own, "    ", set()))
    return text.replace(f"{IMPORT} tf\n", f"{tensorflow} tf\n", 1)


def _with_needs(helpers: Mapping[str, str]) -> dict[str, str]:
    """Helpers by their names in a module, with those that they need, in the catalog's order.

    What a module held before may need other helpers now than in the version that wrote it. A form of a helper that
    serves other scripts of the module, too, has the plain form's name.
    """
    known, todo, found = catalog(), list(helpers), dict(helpers)
    while todo:
        there = {*found, *found.values()}
        needed = [name for name in known[todo.pop()].needs if name in known and name not in there]
        found.update((name, name) for name in needed)
        todo += needed
    return {name: found[name] for name in known if name in found}


def _builtins(name: str) -> list[str]:
    """The import of Python's builtins under a name; on Python 2 a package of their new name is something else."""
    if not name:
        return []
    new = "import builtins" if name == "builtins" else f"import builtins as {name}"
    return ["try:", f"    import __builtin__ as {name}", "except ImportError:", f"    {new}"]


def _reading(source: str, names: dict[str, str]) -> str:
    """A helper's source where it reads some of its names by others; helpers are ASCII."""
    lines = source.split("\n")
    found = [n for n in ast.walk(parse_text(source)) if isinstance(n, ast.Name) and n.id in names] if names else []
    for node in sorted(found, key=lambda n: (n.lineno, n.col_offset), reverse=True):
        line, begin = lines[node.lineno - 1], node.col_offset
        lines[node.lineno - 1] = line[:begin] + names[node.id] + line[begin + len(node.id) :]
    return "\n".join(lines)


def _renamed(source: str, names: dict[str, str]) -> str:
    changed = {old: new for old, new in names.items() if old != new}
    if not changed:
        return source
    pattern = re.compile(r"\b(" + "|".join(map(re.escape, changed)) + r")\b")
    return pattern.sub(lambda match: changed[match.group(1)], source)


def _reindented(line: str, indent: str) -> str:
    body = line.lstrip(" ")
    levels, rest = divmod(len(line) - len(body), 4)
    return indent * levels + " " * rest + body if body else ""
