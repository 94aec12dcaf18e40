"""LibCST as the rewrite imports it is LibCST as anybody does."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
DESCRIBE = """
import dataclasses, inspect, json, pickle, sys
plain = dataclasses.dataclass
{before}
import libcst, libcst.metadata
assert dataclasses.dataclass is plain
found = {{}}
for module in [module for name, module in sorted(sys.modules.items()) if name.startswith("libcst")]:
    for name, cls in sorted(vars(module).items()):
        if isinstance(cls, type) and dataclasses.is_dataclass(cls):
            all_methods = [getattr(cls, m) for m in ("__init__", "__repr__", "__eq__", "__hash__", "__setattr__")]
            written = [m for m in all_methods if hasattr(m, "__code__") and "libcst" in m.__code__.co_filename]
            methods = [method.__qualname__ for method in written]
            fields = [(f.name, str(f.type), f.init, f.repr, f.compare) for f in dataclasses.fields(cls)]
            found[f"{{module.__name__}}.{{name}}"] = [methods, fields, str(inspect.signature(cls)), cls.__match_args__]
print(json.dumps(found))
"""


def described(before: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-c", DESCRIBE.format(before=before)], cwd=ROOT, capture_output=True, text=True, check=True
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_its_classes_are_the_same() -> None:
    plain, lean = described(""), described("import converter.rewrite")
    assert len(plain) > 170 and plain.keys() <= lean.keys()
    assert {name: lean[name] for name in plain} == plain


def test_dataclasses_of_others_are_left_alone() -> None:
    import dataclasses

    import converter.rewrite

    assert converter.rewrite
    assert dataclasses.dataclass.__module__ == "dataclasses"
