"""The block of helpers that a converted script carries."""

from __future__ import annotations

import re

from converter.plan import Plan
from converter.runtime.catalog import catalog

BEGIN = "# tf-multigpu: helpers for training on several GPUs"
END = "# tf-multigpu: end of helpers"


def helper_text(plan: Plan, indent: str, imported: set[str]) -> str:
    """Marker, imports, the number of GPUs, and the helpers in the script's own names and indentation."""
    known = catalog()
    chosen = [known[name] for name, _ in plan.helpers]
    modules = sorted({m for helper in chosen for m in helper.imports if m != "tf"} - imported)
    names = {**dict(plan.helpers), "NUM_GPUS": plan.num_gpus, "tf": plan.tensorflow}
    lines = [BEGIN, *(f"import {module}" for module in modules)]
    if plan.import_tensorflow:
        lines.append(f"import tensorflow as {plan.tensorflow}")
    pieces = [_renamed(helper.source, names) for helper in chosen]
    counted = [p for h, p in zip(chosen, pieces, strict=True) if h.name == "count_gpus"]
    rest = [p for h, p in zip(chosen, pieces, strict=True) if h.name != "count_gpus"]
    head = "\n".join(lines)
    blocks = [*counted, plan.define, *rest] if counted else [head + ("\n" + plan.define if plan.define else ""), *rest]
    if counted:
        blocks.insert(0, head)
    text = "\n\n\n".join(block for block in blocks if block)
    if indent != "    ":
        text = "\n".join(_reindented(line, indent) for line in text.split("\n"))
    return text + "\n"


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
