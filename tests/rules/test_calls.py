"""What is known of TensorFlow's calls stands with the calls: once each, and nowhere else."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from converter.analysis.library import handlers, merged
from converter.rule import rule_modules

ROOT = Path(__file__).resolve().parent.parent.parent
PYTHON = ("sys.", "importlib.", "builtins.", "collections.", "Sequence.", "Mapping.")  # calls that are not TensorFlow's

# Files whose sets of names are another library's.
OTHER_LIBRARIES = {
    "converter/analysis/arrays/shapes.py": "NumPy's functions",
    "converter/analysis/arrays/rows.py": "NumPy's functions",
    "converter/analysis/python/operators.py": "Python's own operators",
}


@cache
def known_names() -> frozenset[str]:
    """The calls of TensorFlow, whole and by the last parts of their names."""
    calls = {name for module in rule_modules("calls") for name in getattr(module, "CALLS", {})}
    calls = {name for name in calls if not name.startswith(PYTHON)}
    return frozenset(calls | {name.rpartition(".")[2] for name in calls}) - set(dir(builtins))


def sets_of_names(tree: ast.AST) -> Iterator[tuple[int, list[str]]]:
    """Line and texts of each collection of texts that is written out, half of which or more are TensorFlow's names."""
    bound = {id(s.value): ast.unparse(s.targets[0]) for s in ast.walk(tree) if isinstance(s, ast.Assign)}
    for node in ast.walk(tree):
        if isinstance(node, (ast.Tuple, ast.List, ast.Set, ast.Dict)) and bound.get(id(node)) != "__slots__":
            parts = node.keys if isinstance(node, ast.Dict) else node.elts
            texts = [p.value for p in parts if isinstance(p, ast.Constant) and isinstance(p.value, str)]
            known = [text for text in texts if text in known_names() or text in ("layers.", "contrib.", "keras.")]
            if len(known) > 1 and 2 * len(known) >= len(texts):
                yield node.lineno, texts


def test_no_set_of_names_stands_outside_of_the_rules() -> None:
    rooms = [ROOT / "converter" / room for room in ("analysis", "planner", "rewrite")]
    files = [path for room in rooms for path in sorted(room.rglob("*.py"))]
    found = [
        f"{path.relative_to(ROOT)}:{line} {texts}"
        for path in files
        if str(path.relative_to(ROOT)) not in OTHER_LIBRARIES
        for line, texts in sets_of_names(ast.parse(path.read_bytes()))
    ]
    assert found == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("OPS = ('matmul', 'reshape')", 1),
        ("if op in {'nn.relu', 'nn.elu', 'mine'}: pass", 1),
        ("RATES = {'train.AdamOptimizer': 1, 'train.FtrlOptimizer': 2}", 1),
        ("name.startswith(('layers.', 'contrib.'))", 1),
        ("names = ('mean', 'major', 'minor')", 0),
        ("numbers = (1, 2)", 0),
        ("x = 'matmul'", 0),
    ],
)
def test_the_search_finds_sets_of_names(text: str, found: int) -> None:
    assert len(list(sets_of_names(ast.parse(text)))) == found


def test_each_call_has_one_handler() -> None:
    assert len(handlers()) > 1000
    with pytest.raises(ValueError, match="registered twice: nn.relu"):
        merged({"nn.relu": str}, {"nn.relu": repr})
