"""What is known of TensorFlow's calls stands with the calls: once each, and nowhere else."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from converter.analysis.library import handlers, merged
from converter.rule import rule_modules
from tests.trees import tree_of

ROOT = Path(__file__).resolve().parent.parent.parent
PYTHON = ("sys.", "importlib.", "builtins.", "collections.", "Sequence.", "Mapping.")  # calls that are not TensorFlow's

# What reads, plans, writes and reads again, for towers and for the targets beside them.
ROOMS = ("analysis", "planner", "rewrite", "conversion", "report", "targets", "syntax")

# Files whose sets of names are another library's.
OTHER_LIBRARIES = {
    "converter/analysis/arrays/shapes.py": "NumPy's functions",
    "converter/analysis/arrays/rows.py": "NumPy's functions",
    "converter/analysis/arrays/same_rows.py": "NumPy's functions",
    "converter/analysis/values.py": "Python's own operators",
    "converter/analysis/python/operators.py": "Python's own operators",
    "converter/analysis/python/standard/functions.py": "Python's own operators",
    "converter/analysis/counts/reading.py": "Python's own operators and NumPy's functions",
    "converter/planner/batch_size/sorted_buffers.py": "Python's and NumPy's functions",
    "converter/syntax/names.py": "how modules are imported",
    "converter/targets/keras_package.py": "modules of the package keras",
    "converter/targets/mirrored/batch_makers.py": "methods of the package keras",
    "converter/targets/mirrored/copies.py": "functions and methods of the package keras",
    "converter/targets/mirrored/rows_of_batches.py": "functions of NumPy, by which a script makes its batches",
    **{f"converter/targets/ddp/{name}.py": "PyTorch's" for name in ("calls", "data", "model", "processes", "training")},
}


@cache
def known_names() -> frozenset[str]:
    """The calls of TensorFlow, whole and by the last parts of their names."""
    calls = {name for module in rule_modules("calls") for name in getattr(module, "CALLS", {})}
    calls = {name for name in calls if not name.startswith(PYTHON)}
    return frozenset(calls | {name.rpartition(".")[2] for name in calls} | COLLECTIONS) - set(dir(builtins))


# Names of the graph's collections, of which one word may be an option's or a picture's name, too.
COLLECTIONS = {
    "losses",
    "update_ops",
    "summaries",
    "variables",
    "trainable_variables",
    "local_variables",
    "model_variables",
    "moving_average_variables",
    "regularization_losses",
}


def is_known(text: str) -> bool:
    """Whether a text names a function, a module or a collection of TensorFlow's."""
    return text in known_names() or text in ("layers.", "contrib.", "keras.") or bool(NAMED.fullmatch(text))


NAMED = re.compile(r"tf\.\w+(\.\w*)*")  # as targets that read a script's text have it: `tf.Session`, `tf.keras.`


def sets_of_names(tree: ast.AST) -> Iterator[tuple[int, list[str]]]:
    """Line and texts of each collection of texts that is written out, half of which or more are TensorFlow's names."""
    bound = {id(s.value): ast.unparse(s.targets[0]) for s in ast.walk(tree) if isinstance(s, ast.Assign)}
    for node in ast.walk(tree):
        if isinstance(node, (ast.Tuple, ast.List, ast.Set, ast.Dict)) and bound.get(id(node)) != "__slots__":
            parts = node.keys if isinstance(node, ast.Dict) else node.elts
            texts = [p.value for p in parts if isinstance(p, ast.Constant) and isinstance(p.value, str)]
            known = [text for text in texts if is_known(text)]
            if len(known) > 1 and 2 * len(known) >= len(texts):
                yield node.lineno, texts


def test_no_set_of_names_stands_outside_of_the_rules() -> None:
    rooms = [ROOT / "converter" / room for room in ROOMS]
    files = [path for room in rooms for path in sorted(room.rglob("*.py"))]
    found = [
        f"{path.relative_to(ROOT)}:{line} {texts}"
        for path in files
        if str(path.relative_to(ROOT)) not in OTHER_LIBRARIES
        for line, texts in sets_of_names(tree_of(path))
    ]
    assert found == []


# Lone texts that look like names of TensorFlow's and are not, or are no knowledge of a call.
OTHER_TEXTS = {
    "converter/analysis/facts.py compute_gradients": "the word for such a step in messages",
    "converter/analysis/walk.py app.flags.FLAGS": "the analysis' own stand-in for a script's flags",
    "converter/analysis/tensors/sparse.py sparse.get_next": "the analysis' own name for batches of sparse features",
    "converter/analysis/tensors/windows.py train.window": "the analysis' own name for windows that a producer gives",
    "converter/analysis/python/calling.py logging.": "Python's module",
    "converter/analysis/python/standard/threads.py Instance.start": "Python's threading.Thread",
    "converter/analysis/python/calling.py Host.": "methods of the analysis' own stand-in",
    "converter/analysis/python/calling.py Tensor.": "methods of the analysis' own stand-in",
    "converter/analysis/python/standard/builtins.py add_n": "the algebra's own name for a sum of tensors",
    "converter/analysis/python/standard/collections.py Record._asdict": "Python's named tuples",
    "converter/analysis/python/standard/collections.py Record._replace": "Python's named tuples",
    "converter/analysis/tensors/moving.py expand_dims": "the algebra's own name for a further axis",
    "converter/conversion/review/compare.py global_step": "an argument of apply_gradients",
    "converter/analysis/inputs/seen_in_a_run.py variables": "the facts' own word for what a call made",
    "converter/analysis/counts/size_names.py losses": "a word in names that are no batch sizes",
    "converter/planner/towers/partitioned/variable_lists.py variables": "a word in messages",
    "converter/report/page/html.py losses": "the name of a picture",
    "converter/report/page/plots.py losses": "the name of a picture",
    "converter/report/review.py variables": "a heading",
    "converter/targets/registry.py variables": "the option's name",
    "converter/targets/mirrored/decisions.py variables": "the name of a decision",
    "converter/targets/mirrored/losses.py add_loss": "a method of a model of Keras",
    "converter/targets/mirrored/replicated.py add_loss": "a method of a model of Keras",
    "converter/targets/mirrored/estimator.py train": "a method of the Estimator that a script made",
    "converter/syntax/lint/ways.py add_argument": "Python's argparse",
    "converter/rewrite/loop_text.py map_structure": "a helper's name",
    "converter/conversion/review/helpers.py map_structure": "a helper's name",
    "converter/planner/towers/gradients.py global_step": "an argument of apply_gradients",
    "converter/planner/towers/loop.py global_step": "the name of a variable",
    "converter/planner/towers/shards/starting_values.py Input.pop": "a method of the analysis' own stand-in",
}


def lone_names(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and text of each text that names a call of TensorFlow, or a module or type of it as `layers.`.

    A single word names nothing for sure, so that it counts only with an underscore, or as an attribute's name.
    """
    types = {name.partition(".")[0] for name in known_names() if "." in name}
    attributes = {
        constant
        for node in ast.walk(tree)
        if isinstance(node, ast.Compare) and isinstance(node.left, ast.Attribute) and node.left.attr in ("attr", "id")
        for constant in ast.walk(node)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            first, dot, _ = node.value.partition(".")
            dotted = bool(dot) and first in types and re.fullmatch(r"\w+(\.\w*)+", node.value)
            word = node.value in known_names() and "_" in node.value.strip("_")
            named = bool(NAMED.fullmatch(node.value)) or node.value in COLLECTIONS
            if dotted or word or named or (node in attributes and node.value in types):
                yield node.lineno, node.value


def test_no_lone_name_stands_outside_of_the_rules() -> None:
    rooms = [ROOT / "converter" / room for room in ROOMS]
    files = {str(path.relative_to(ROOT)): path for room in rooms for path in sorted(room.rglob("*.py"))}
    found = {
        f"{name} {text}"
        for name, path in files.items()
        if name not in OTHER_LIBRARIES
        for _, text in lone_names(tree_of(path))
    }
    assert found == OTHER_TEXTS.keys()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("name.startswith('layers.')", ["layers."]),
        ("'losses.' not in op", ["losses."]),
        ("effect.name == 'dynamic_decode'", ["dynamic_decode"]),
        ("LOSSES = {'get_losses': 1}", ["get_losses"]),
        ("op.startswith('train.dequeue')", ["train.dequeue"]),
        ("name == 'train.Saver'", ["train.Saver"]),
        ("node.attr in ('layers', 'contrib')", ["layers", "contrib"]),
        ("order = ('layers', 'train')", []),
        ("read = {'losses' for _ in found}", ["losses"]),
        ("name == 'tf.Session'", ["tf.Session"]),
        ("name.startswith('tf.keras.')", ["tf.keras."]),
        ("hint = 'write tf.Session()'", []),
        ("word = 'tfrecord.gz'", []),
        ("name == 'tower_loss'", []),
        ("text = 'The layers. They are many.'", []),
        ("made = f'{tensorflow}.train.Saver()'", []),
    ],
)
def test_the_search_finds_lone_names(text: str, found: list[str]) -> None:
    assert [name for _, name in lone_names(ast.parse(text))] == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("OPS = ('matmul', 'reshape')", 1),
        ("if op in {'nn.relu', 'nn.elu', 'mine'}: pass", 1),
        ("RATES = {'train.AdamOptimizer': 1, 'train.FtrlOptimizer': 2}", 1),
        ("name.startswith(('layers.', 'contrib.'))", 1),
        ("_SPARSE = ('tf.nn.embedding_lookup', 'tf.gather')", 1),
        ("read = ('losses', 'update_ops')", 1),
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
