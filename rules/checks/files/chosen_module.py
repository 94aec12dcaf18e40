"""A flag chooses a module that would have to change."""

from __future__ import annotations

import os
from collections.abc import Iterator

from converter.analysis.effects import EffectKind
from converter.diagnostics import Diagnostic
from converter.planner.cases import Shared
from converter.planner.checking import check
from converter.planner.writing.findings import error, warn
from converter.rule import Rule

_LOSS = """\
    loss = tf.losses.sparse_softmax_cross_entropy(y, tf.layers.dense(x, 10))
    return tf.train.AdamOptimizer(0.001).minimize(loss)
"""
_NETWORK_THERE = "def network(x):\n    return tf.layers.dense(x, 10)\n"
_STEP_THERE = "def train_step(x, y):\n" + _LOSS
_STEP_HERE = """\
loss = tf.losses.sparse_softmax_cross_entropy(Y, model.network(X))
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)"""
_CHOSEN = """\
# --- mlp.py ---
import tensorflow as tf


{model}

# --- train.py ---
import argparse
import importlib

import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument('--model', default='mlp')
args = parser.parse_args()
model = importlib.import_module(args.model)
batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
{train}
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels})
"""

RULES = (
    Rule(
        code="TMG266",
        title="a flag chooses a module that would have to change",
        why="importlib.import_module is called with a flag, and the tool reads the file that the flag's default "
        "names. If towers need changes in that file, the files of the other choices would not be changed, and each "
        "of them would have to be converted by itself. Build the loss and take the training step in the script, from "
        "what the module's functions give: then it needs no change. The example is converted in place.",
        before=_CHOSEN.replace("{model}", _STEP_THERE).replace("{train}", "train_op = model.train_step(X, Y)"),
        after=_CHOSEN.replace("{model}", _NETWORK_THERE)
        .replace("{train}", _STEP_HERE).replace("import_module(args.model)", "import_module('mlp')"),
    ),
    Rule(
        code="TMG331",
        title="a flag chooses the module that builds the model",
        why="importlib.import_module is called with a flag, and the tool reads the file that the flag's default "
        "names. The loop stands in the script and works for each choice whose functions take the same arguments and "
        "return the same kinds of values; prove it with each of them. The example is converted in place.",
        before=_CHOSEN.replace("{model}", _NETWORK_THERE)
        .replace("{train}", _STEP_HERE),
        after=_CHOSEN.replace("{model}", _NETWORK_THERE)
        .replace("{train}", _STEP_HERE).replace("import_module(args.model)", "import_module('mlp')"),
    ),
)


@check(Shared)
def module_chosen_by_a_flag(case: Shared) -> Iterator[Diagnostic]:
    """Modules that a flag names: the flag's default is read, another one would not be changed."""
    changed = {plan.path for plan in case.plans}
    for effect in case.facts.effects:
        if effect.kind is EffectKind.CHOSEN_MODULE and effect.name in changed:
            yield error(
                case.facts,
                effect.node,
                "TMG266",
                f"a flag chooses the module here, and {os.path.basename(effect.name)} must change",
                "build the loss and the training step in this script, or import it by name",
            )
        elif effect.kind is EffectKind.CHOSEN_MODULE:
            yield warn(
                case.facts,
                effect.node,
                "TMG331",
                "a flag chooses the module here: only the flag's default was read",
                "prove the conversion with each choice: tf-multigpu verify … -- --flag=choice",
            )
