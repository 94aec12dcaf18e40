"""Finds scripts beside a script that read the graph it saves: `tf.train.import_meta_graph('model.ckpt.meta')`."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache

from converter.dataclass import dataclass
from converter.source.header import is_converted
from converter.source.quick_checks import code_of, scripts_beside
from converter.source.viewed import tree_or_none

IMPORTS = "import_meta_graph"
ASKS = re.compile(  # what a script calls that looks for operations of a graph by their names
    rb"\b(?:import_meta_graph|import_graph_def|get_tensor_by_name|get_operation_by_name|output_node_names|"
    rb"convert_variables_to_constants|extract_sub_graph)\b"
)
LARGEST = 2_000_000  # bytes of a file that is looked at
_STEP = re.compile(r"(?:-\d+)?(?:\.meta)?$")


@dataclass(frozen=True)
class GraphReader:
    """A call that reads a graph.

    path: absolute. line, column: from one; 0 in a notebook. stem: the file's name without the step and `.meta`, ""
    where it is not written out.
    """

    path: str
    line: int
    column: int
    stem: str


def graph_readers(script: str, above: Sequence[str] = ()) -> list[GraphReader]:
    """The calls in other scripts of the script's folder that read a graph with its devices, where these must exist.

    above: further folders that are searched.
    Not those with `clear_devices=True`, nor those in scripts whose sessions may place operations elsewhere.
    """
    return [reader for seen in _other_scripts(script, above) for reader in seen.readers]


def names_asked(script: str, above: Sequence[str] = ()) -> frozenset[str]:
    """The texts in other scripts of the folder that may be names of operations of a graph, without `:0`."""
    return frozenset().union(*(seen.names for seen in _other_scripts(script, above)))


def names_in_texts(texts: Iterable[str]) -> frozenset[str]:
    """The names of operations that some texts may hold, several with commas between them, without `:0`."""
    return frozenset(name.strip().partition(":")[0] for text in texts for name in text.split(","))


@dataclass(frozen=True)
class _Seen:
    """The ways in which a script reads graphs that other scripts save, and names that it may look up in them."""

    readers: tuple[GraphReader, ...] = ()
    names: frozenset[str] = frozenset()


def _other_scripts(script: str, above: Sequence[str]) -> Iterator[_Seen]:
    """How the other scripts of a script's folder, and of folders above it, read saved graphs."""
    for path, changed, size in scripts_beside(script, above, LARGEST):
        yield _read(path, changed, size)


@lru_cache(maxsize=4096)
def _read(path: str, changed: int, size: int) -> _Seen:
    """How one script reads saved graphs; `changed` and `size` only key the cache."""
    data = code_with(path, lambda code: ASKS.search(code) is not None)
    nodes = syntax_of(data)
    texts = [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    calls = [node for node in nodes if isinstance(node, ast.Call) and last_of(node.func) == IMPORTS]
    soft = b"allow_soft_placement" in data
    return _Seen(tuple(_reader(path, call) for call in calls if not soft and not _clears(call)), names_in_texts(texts))


def syntax_of(data: bytes) -> list[ast.AST]:
    """The nodes of a script, none if it cannot be read."""
    tree = tree_or_none(data) if data else None
    return [] if tree is None else list(ast.walk(tree))


def code_with(path: str, asks: Callable[[bytes], bool]) -> bytes:
    """The code of another script if `asks` accepts its bytes and it is not a conversion; else b""."""
    with suppress(OSError, ValueError), open(path, "rb") as file:
        data = file.read()
        code = code_of(path, data) if asks(data) else b""
        return b"" if is_converted(code.decode("latin-1")) else code
    return b""


def _reader(path: str, call: ast.Call) -> GraphReader:
    place = (0, 0) if path.endswith(".ipynb") else (call.lineno, call.col_offset + 1)
    return GraphReader(path, *place, _stem(call))


def last_of(node: ast.expr) -> str:
    """The last part of a dotted name; "" for another expression."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _clears(call: ast.Call) -> bool:
    """Whether a call drops the devices, or may do so: `clear_devices`, also in second place."""
    given = [*call.args[1:2], *(k.value for k in call.keywords if k.arg in (None, "clear_devices"))]
    return any(not (isinstance(value, ast.Constant) and value.value is False) for value in given)


def _stem(call: ast.Call) -> str:
    first = call.args[0] if call.args else next((k.value for k in call.keywords if k.arg == "meta_graph_or_file"), None)
    written = first.value if isinstance(first, ast.Constant) else None
    return _STEP.sub("", os.path.basename(written)) if isinstance(written, str) else ""
