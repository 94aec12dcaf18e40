"""Imports that lead to folders above the script, which must be on Python's path."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator

from converter.analysis.facts import Facts
from converter.analysis.project import Found
from converter.diagnostics import Diagnostic
from converter.planner.cases import Selected, Shared
from converter.planner.checking import check
from converter.planner.writing.findings import at_node, error, warn
from converter.rule import Rule
from converter.source.project.folders import in_folder

_NETS = """\
# --- pkg/__init__.py ---
# --- pkg/nets.py ---
import tensorflow as tf

LAYERS = []


def net(x):
    LAYERS.append(tf.layers.dense(x, 10))
    return LAYERS[-1]
"""
_TRAIN = """\
import tensorflow as tf
from pkg.nets import net

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
loss = tf.losses.sparse_softmax_cross_entropy(Y, net(X))
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels})
"""

RULES = (
    Rule(
        code="TMG146",
        title="a package above the script is followed",
        why="An import that leads to nothing beside the script, and to nothing that its sys.path statements name, "
        "is looked for in the folders above it, as Python does if such a folder is on its path: the nearest that has "
        "the module, up to the root of the project (.git, setup.py, setup.cfg, pyproject.toml; with one of the last "
        "three, its folder src as well). A library that only one folder directly below these holds, as lib/model/ for "
        "`import model` in examples/train.py, is found there: users put such a folder on PYTHONPATH (TMG237 where "
        "several folders have it). A note names the folder and the command that runs the script, as `python -m "
        "pkg.train` where that finds everything, else with PYTHONPATH. Files that change there share their helpers "
        "in a module in that folder. Names of Python's own modules and of TensorFlow are never looked for above.",
        before=_NETS.replace(
            "LAYERS.append(tf.layers.dense(x, 10))\n    return LAYERS[-1]", "return tf.layers.dense(x, 10)"
        ).replace("LAYERS = []\n\n\n", "\n")
        + "# --- pkg/train.py ---\n"
        + _TRAIN,
        after="""\
batch_size = 64 * num_gpus
""",
    ),
    Rule(
        code="TMG262",
        title="a file is imported under two names",
        why="A module that is imported once as beside the script and once as a part of its package is two modules for "
        "Python: its code runs twice, and what the one sets the other does not see. The tool follows a file once, and "
        "what it would write could differ from what runs. Import it under one name everywhere.",
        before=_NETS.replace(
            "    return LAYERS[-1]\n",
            "    return LAYERS[-1]\n# --- pkg/heads.py ---\nfrom pkg import nets\n"
            "\n\ndef head(x):\n    return nets.net(x)\n",
        )
        + "# --- pkg/train.py ---\nimport nets\n"
        + _TRAIN.replace("pkg.nets import net", "pkg.heads import head").replace("net(X)", "head(nets.net(X))"),
        after=_NETS.replace(
            "    return LAYERS[-1]\n",
            "    return LAYERS[-1]\n# --- pkg/heads.py ---\nimport nets\n\n\ndef head(x):\n    return nets.net(x)\n",
        )
        + "# --- pkg/train.py ---\nimport nets\n"
        + _TRAIN.replace("pkg.nets import net", "heads import head").replace("net(X)", "head(nets.net(X))"),
    ),
    Rule(
        code="TMG356",
        title="a module is found in two folders",
        why="The script needs a folder above it on Python's path, and an import of it, or of a file that it imports, "
        "is found both there and in a folder that is searched before. Which of the two Python takes depends on how the "
        "script is started: `python -m` begins with the current folder, `python FILE` with the file's own. The message "
        "says which of them is followed. Rename one, or start the script as the note of TMG146 says.",
        before="# --- utils.py ---\nimport tensorflow as tf\n\n\ndef scaled(x):\n    return x\n"
        "# --- net.py ---\nimport tensorflow as tf\n\n\ndef net(x):\n    return tf.layers.dense(x, 10)\n"
        "# --- pkg/utils.py ---\ndef scaled(x):\n    return x / 255\n"
        "# --- pkg/train.py ---\n"
        + _TRAIN.replace("from pkg.nets import net", "from net import net\nfrom utils import scaled").replace(
            "net(X)", "net(scaled(X))"
        ),
        after="# --- net.py ---\nimport tensorflow as tf\n\n\ndef net(x):\n    return tf.layers.dense(x, 10)\n"
        "# --- pkg/utils.py ---\ndef scaled(x):\n    return x / 255\n"
        "# --- pkg/train.py ---\n"
        + _TRAIN.replace("from pkg.nets import net", "from net import net\nfrom utils import scaled").replace(
            "net(X)", "net(scaled(X))"
        ),
    ),
)


@check(Shared)
def folders_on_the_path(case: Shared) -> Iterator[Diagnostic]:
    """Folders above the script that must be on the path, each at the first import that needs it."""
    facts, here = case.facts, os.path.dirname(os.path.abspath(case.facts.path))
    seen: set[str] = set()
    for (module, folder), (found, node) in facts.found.items():
        if not found.above or folder in seen:
            continue
        seen.add(folder)
        start = facts.project.start
        at = os.path.relpath(start.at, here)
        where = "run it in its own folder" if at == os.curdir else f"run it in {at}/"
        yield at_node(
            facts,
            node,
            "TMG146",
            f"{module.partition('.')[0]} is found in {os.path.relpath(folder, here)}/, which must be on Python's path "
            "when the script is run",
            f"{where}: {start.command}",
            "info",
        )


@check(Selected)
def found_twice(case: Selected) -> Iterator[Diagnostic]:
    """Modules of which folders on the path have two, where how the script is started decides which is imported."""
    facts = case.facts
    above = _above(facts)
    script = os.path.dirname(os.path.abspath(facts.path))
    told: set[str] = set()
    for (module, folder), (found, node) in facts.found.items() if above else ():
        others = [f for f in (script, *facts.project.paths, *above) if f != folder]
        if script in others and facts.project.start.package:
            others.remove(script)
        other = next((path for f in others if (path := in_folder(module, f)) and not _same(path, found)), None)
        if other is None or module.partition(".")[0] in told:
            continue
        told.add(module.partition(".")[0])
        yield warn(
            facts,
            node,
            "TMG356",
            f"{module} is followed to {os.path.relpath(found.path, script)}, and {os.path.relpath(other, script)} has "
            "that name, too: how the script is started decides which is imported",
            "rename one of them, or start the script only as the note TMG146 says",
        )


@check(Selected)
def under_two_names(case: Selected) -> Iterator[Diagnostic]:
    """Files that are two modules for Python, as they are imported as beside the script and as parts of a package."""
    facts = case.facts
    tops = {os.path.dirname(os.path.abspath(facts.path)), *facts.project.paths, *_above(facts)}
    names: dict[str, str] = {}
    for (module, folder), (found, node) in facts.found.items() if _above(facts) else ():
        if folder not in tops:
            continue  # beside the importing file, which Python 2 names as a part of its package
        first = names.setdefault(found.path, module)
        if first != module and _keeps_something(facts, found.path):
            yield error(
                facts,
                node,
                "TMG262",
                f"{os.path.basename(found.path)} is imported as {first} and as {module}: Python makes two modules of "
                "it, and what one of them sets the other does not see",
                f"import it as {module} everywhere",
            )


def _above(facts: Facts) -> list[str]:
    return list(dict.fromkeys(found.folder for found, _ in facts.found.values() if found.above))


def _same(path: str, found: Found) -> bool:
    return os.path.realpath(path) == os.path.realpath(found.path)


def _keeps_something(facts: Facts, path: str) -> bool:
    """Whether a module's own statements do more than define functions, classes and plain constants."""
    if path not in facts.modules:
        return False
    tree = facts.modules[path].tree
    plain = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef)
    rest = [stmt for stmt in tree.body if not isinstance(stmt, plain) and not _is_constant(stmt)]
    return bool(rest) or any(isinstance(node, ast.Global) for node in ast.walk(tree))


def _is_constant(stmt: ast.stmt) -> bool:
    return isinstance(getattr(stmt, "value", None), ast.Constant) and isinstance(
        stmt, (ast.Expr, ast.Assign, ast.AnnAssign)
    )
