"""An import that several folders of the project answer, none of which is on Python's path."""

from __future__ import annotations

import os
from collections.abc import Iterator

from converter.diagnostics import Diagnostic
from converter.planner.cases import Selected
from converter.planner.checking import check
from converter.planner.questions.imported import imported_names
from converter.planner.writing.findings import error
from converter.rule import Rule

_NET = """\
import tensorflow as tf


def network(x):
    return tf.layers.dense(x, {size})
"""
_TWO = f"""\
# --- setup.py ---
import setuptools

setuptools.setup(name="nets")

# --- small/nets.py ---
{_NET.format(size=10)}
# --- large/nets.py ---
{_NET.format(size=1000)}
# --- examples/train.py ---
"""
_TRAIN = """\
import tensorflow as tf
import nets

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
loss = tf.losses.sparse_softmax_cross_entropy(Y, nets.network(X))
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels})
"""

RULES = (
    Rule(
        code="TMG237",
        title="which folder an import leads to is not known",
        why="A library that lies in a folder of the project, directly below the script's folder or one above it, is "
        "found although only PYTHONPATH leads there (TMG146). Here several folders have a module of that name, and "
        "nothing in the script says which of them is meant: what trains there could be the wrong one. Add the right "
        "folder to sys.path in front of the import.",
        before=_TWO + _TRAIN,
        after=_TWO + _TRAIN.replace("import nets\n", "import sys\nsys.path.append('../small')\nimport nets\n"),
    ),
)


@check(Selected)
def in_several_folders(case: Selected) -> Iterator[Diagnostic]:
    """Imports of the script that more than one folder of its project answers."""
    facts, told = case.facts, set[str]()
    followed = {name.partition(".")[0] for name, _ in facts.found}
    for name, node in imported_names(facts):
        top = name.partition(".")[0]
        folders = facts.project.unclear.get(top)
        if folders is None or top in followed | told or facts.path_of(node):
            continue
        told.add(top)
        here = os.path.dirname(os.path.abspath(facts.path))
        paths = [os.path.relpath(folder, here) for folder in folders]
        yield error(
            facts,
            node,
            "TMG237",
            f"{top} is not found from this script, and the folders {', '.join(paths)} each have a module of that name",
            f"say which: sys.path.append('{paths[0]}') in front of this import",
        )
