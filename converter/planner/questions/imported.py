"""Packages that the script imports."""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Callable, Iterable, Iterator

from converter.analysis.facts import Facts, RunCall
from converter.analysis.library import naming
from converter.analysis.values import Bound, Host, Sequence, Symbol, Typed, Value
from converter.dataclass import dataclass
from converter.planner.questions.outside_calls import BUILTINS
from converter.source.project.folders import folder_above
from converter.source.project.users import User

IMPORTERS = ("importlib.import_module", "__import__", "imp.load_source")
CHOSEN = (
    "import the module by its name, or give the flag that names it a default: the file that this names is read "
    "(--trace runs the script instead)"
)
TRACE = "convert with --trace, which runs the script to see what it gives"
PICKED = f"pick it from a dict, as in {{'NAME': Class}}[name](…), which is followed; or {TRACE}"
LOOKUPS = ("builtins.eval", "eval", "getattr")
MOST_NAMED = 3  # scripts in one message


@dataclass(frozen=True)
class Unseen:
    """An import of a module of the project that is not followed.

    folder: the one above the script in which it lies, as a path from there; "" if it lies where imports are looked
    for, but is no valid Python. line: that of the module where Python stops reading it; 0 if it is not known.
    """

    node: ast.stmt
    module: str
    folder: str
    line: int = 0

    @property
    def all(self) -> bool:
        """Whether all names of the module are imported, with a star."""
        return isinstance(self.node, ast.ImportFrom) and any(alias.name == "*" for alias in self.node.names)

    @property
    def hint(self) -> str:
        """Advice that lets the analysis follow the module."""
        if not self.folder:
            where = f" its line {self.line}" if self.line else " it"
            return (
                f"the module {self.module}, imported in line {self.node.lineno}, is valid neither in Python 3 nor in "
                f"Python 2: correct{where}"
            )
        return (
            f"the module {self.module}, imported in line {self.node.lineno}, lies in {self.folder}/: "
            f"sys.path.append('{self.folder}') in front of that import lets it be followed"
        )


def imported_names(facts: Facts) -> Iterator[tuple[str, ast.stmt]]:
    """The dotted names that are imported, the script's first."""
    for node in facts.nodes(ast.Import):
        yield from ((alias.name, node) for alias in node.names)
    for found in facts.nodes(ast.ImportFrom):
        yield from ((f"{found.module or ''}.{alias.name}", found) for alias in found.names)


def convert_importing(
    facts: Facts, node: ast.AST, users_of: Callable[[list[str]], Iterable[User]], otherwise: str
) -> str:
    """Advice for a file that is not converted by itself: names scripts that import it."""
    users = users_of([os.path.abspath(facts.path_of(node) or facts.path)])
    folder = os.path.dirname(os.path.abspath(facts.path))
    names = [os.path.relpath(user.path, folder) for user in users if user.path != os.path.abspath(facts.path)]
    return f"convert a script that imports this file: {', '.join(names[:MOST_NAMED])}" if names else otherwise


def package_of(facts: Facts, call: ast.AST) -> str:
    """The imported package that a call leads into; "" if it is no imported one, or a module that has been read."""
    function: ast.AST = call
    while isinstance(function, (ast.Call, ast.Attribute, ast.Subscript)):
        function = function.func if isinstance(function, ast.Call) else function.value
    if not isinstance(function, ast.Name):
        return ""
    path = facts.path_of(call)
    module = _module_of(facts, function.id, facts.tree_of(path))
    read = facts.project.find(module, os.path.abspath(path or facts.path), 0) if module else None
    return "" if read in facts.modules else _package(module)


def _module_of(facts: Facts, name: str, tree: ast.Module) -> str:
    """The module that an import of a file binds to a name or takes it from; "" for other names."""
    for node in facts.nodes(ast.Import, tree):
        for alias in node.names:
            if name == (alias.asname or alias.name.split(".")[0]):
                return alias.name
    for found in facts.nodes(ast.ImportFrom, tree):
        if any(name == (alias.asname or alias.name) for alias in found.names) and not found.level:
            return found.module or ""
    return ""


def _package(module: str) -> str:
    """The package that holds a module; "" if it is one of Python's own, under the name that six gives it."""
    return "" if module.startswith("six.moves") else module.split(".")[0]


def unseen_modules(facts: Facts) -> list[Unseen]:
    """The script's imports of modules of the project that lie above its folder, or cannot be parsed."""
    folder = os.path.dirname(os.path.abspath(facts.path))
    found = []
    for node, module in _imports(facts):
        ending = os.path.join("", *module.split("."))
        followed = any(os.path.splitext(path)[0].removesuffix("/__init__").endswith(ending) for path in facts.modules)
        known = module.split(".")[0] in (*naming().modules, *sys.stdlib_module_names)
        if followed or known:
            continue
        path = facts.project.find(module, os.path.abspath(facts.path), 0)
        above = "" if path else folder_above(folder, module)
        if above or (path and facts.project.read(path) is None):
            found.append(Unseen(node, module, above, facts.project.faults.get(path or "", 0)))
    return found


def unseen_module(facts: Facts, value: Value) -> Unseen | None:
    """The import of a module above the script's folder that an unfollowed value comes from; None if there is none."""
    root = library_behind(value).split(".")[0]
    unbound = root == "builtins"  # any name that no statement binds: `from nets import *` may have brought it
    return next((u for u in unseen_modules(facts) if u.module.split(".")[0] == root or (unbound and u.all)), None)


def unbound_name(facts: Facts, value: Value) -> str:
    """The name that an unfollowed call begins with, if nothing binds it in its file; "" for any other call."""
    maker, node = _maker(value), getattr(value, "node", None)
    if maker is None or maker.library != "builtins" or node is None:
        return ""
    name = maker.name.split(".")[0]
    imports = facts.nodes(ast.ImportFrom, facts.tree_of(facts.path_of(node)))
    stars = any(alias.name == "*" for found in imports for alias in found.names)
    return "" if stars or name in BUILTINS else name


def package_behind(value: Value) -> str:
    """The package that an unfollowed value comes from; "" for any other value, and for what six only names anew."""
    maker = _maker(value)
    return "" if maker is None else _package(f"{maker.library}.{maker.name}")


def brought_by(value: Value) -> ast.Call | None:
    """The call that imports the module an unfollowed value comes from, under a name which only a run tells."""
    while isinstance(value, (Host, Bound)) and (maker := value.source) is not None:
        named = f"{maker.library}.{maker.name}" if isinstance(maker, Symbol) else getattr(value, "call", "")
        if named.removeprefix("builtins.") in IMPORTERS and isinstance(getattr(value, "node", None), ast.Call):
            found = value.node if isinstance(value, Host) and isinstance(value.node, ast.Call) else None
            written = found is not None and found.args and isinstance(found.args[0], ast.Constant)
            return None if written else found
        value = value.inputs[1] if named == "builtins.getattr" and len(value.inputs) > 1 else maker
    return None


def looked_up_by(value: Value) -> ast.Call | None:
    """The call of a class or function that the script looks up by a name, and that a value comes from."""
    while isinstance(value, (Host, Bound)) and (found := value.source) is not None:
        named = isinstance(found, Host) and (_is_lookup(found) or _is_global(found))
        if named and isinstance(value, Host) and isinstance(value.node, ast.Call):
            return value.node
        value = found
    return None


def _is_lookup(value: Host) -> bool:
    """Whether a value is what `eval(name)` or `getattr(module, name)` gives, of a name that is not written out."""
    args = value.node.args if value.call in LOOKUPS and isinstance(value.node, ast.Call) else []
    return bool(args) and not isinstance(args[-1], ast.Constant)


def _is_global(value: Host) -> bool:
    """Whether a value is an entry of `globals()`."""
    return value.call == "[]" and isinstance(value.inputs[0], Typed) and value.inputs[0].name == "globals"


def library_behind(value: Value) -> str:
    """The module that an unfollowed value comes from; "" for any other value."""
    maker = _maker(value)
    return "" if maker is None else maker.library


def _maker(value: Value) -> Symbol | None:
    """The function or class of a module whose call gave an unfollowed value; None for any other value."""
    while isinstance(value, (Host, Bound)) and value.source is not None:
        value = value.source
    return value if isinstance(value, Symbol) else None


def library_run(run: RunCall) -> str:
    """The unknown package whose code made the values that a run computes; "" if there is none."""
    known = ("", "numpy", naming().library, *naming().modules, *sys.stdlib_module_names, "builtins")
    fetched = [leaf for value in run.fetches for leaf in (value.elements if isinstance(value, Sequence) else [value])]
    roots = (package_behind(value) for value in fetched)
    return next((root for root in roots if root not in known), "")


def _imports(facts: Facts) -> Iterator[tuple[ast.stmt, str]]:
    """The absolute imports of the script, each with its module, and with the names that may be modules in a folder."""
    for node in facts.nodes(ast.Import):
        yield from ((node, alias.name) for alias in node.names)
    for found in facts.nodes(ast.ImportFrom):
        if not found.level and found.module:
            yield found, found.module
            if not _is_module(facts, found.module):  # a folder without __init__.py, from which modules are imported
                yield from ((found, f"{found.module}.{alias.name}") for alias in found.names)


def _is_module(facts: Facts, module: str) -> bool:
    script = os.path.abspath(facts.path)
    return facts.project.find(module, script, 0) is not None or bool(folder_above(os.path.dirname(script), module))
