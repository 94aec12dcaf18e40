"""What the user tells a script beside its flags: environment variables, `sys.argv`, answers to `input()`."""

from __future__ import annotations

import ast

from converter.analysis.values import Constant, Host, Number, Symbol, Value, needed

TOLD = (
    *("os.environ", "os.environ.get", "os.getenv", "sys.argv", "builtins.input", "builtins.raw_input"),
    *("getopt.getopt", "getopt.gnu_getopt"),
)
READ = ("[]", *TOLD)  # the calls and look-ups that give one of them
PARTS = ("", "item", "slice", "split", "rsplit", "partition", "rpartition", "strip", "lstrip", "rstrip", "replace")


def is_told(value: Value) -> bool:
    """True if a text comes from the user: `os.environ['N']`, `os.environ.get('N', 64)`, `sys.argv[1].split('=')[1]`.

    Also where a number that is written out takes its place: `os.environ.get('N') or 64`.
    """
    if isinstance(value, Number):
        options = list(value.options())
        written = all(isinstance(o, Host) or getattr(o, "value", None) is not None for o in options)
        return written and any(is_told(o) for o in options if isinstance(o, Host))
    behind = needed([value]).values()
    names = [f"{v.library}.{v.name}" for v in behind if isinstance(v, Symbol)]
    plain = all(isinstance(v, (Host, Symbol, Constant, Number)) for v in behind)
    read = all(v.call in (*READ, *PARTS) for v in behind if isinstance(v, Host))
    return plain and read and bool(names) and all(name in TOLD for name in names)


def name_of(value: Value) -> str | None:
    """The environment variable that a text comes from, or the place in `sys.argv`; None where another may be meant.

    What asks for it by a name, as `sys.argv[i]` does, may ask for several.
    """
    names = set()
    for behind in needed([value]).values():
        if not isinstance(behind, Host) or behind.call not in READ or len(behind.inputs) < 2:
            continue
        holder, key = behind.inputs[:2]
        asked = getattr(key, "value", None)
        if not isinstance(holder, Symbol) or not isinstance(asked, (str, int)) or not _is_written(behind.node):
            return None
        names.add(asked if isinstance(asked, str) else f"{holder.name}[{asked}]")
    return names.pop() if len(names) == 1 else None


def _is_written(asking: ast.AST | None) -> bool:
    """Whether a look-up or a call writes out what it asks for."""
    keys = [asking.slice] if isinstance(asking, ast.Subscript) else getattr(asking, "args", [])[:1]
    return bool(keys) and not any(isinstance(part, ast.Name) for part in ast.walk(keys[0]))
