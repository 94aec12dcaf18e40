"""The script uses several GPUs already."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from converter.analysis.effects import EffectKind
from converter.analysis.facts import Effect, Facts
from converter.analysis.values import Constant, Host, Value
from converter.diagnostics import Diagnostic
from converter.planner.cases import Script, Selected
from converter.planner.checking import check
from converter.planner.questions.imported import imported_names
from converter.planner.steps import takes_a_step
from converter.planner.writing.findings import error
from converter.rule import Rule

RULES = (
    Rule(
        code="TMG216",
        title="the script uses several GPUs already",
        why="It places parts of its model on GPUs of its own choice, or builds them in a loop over devices. "
        "Towers around that would ask for the same devices again, each for all of its parts. Convert "
        "the script as it was for one GPU; where the parts of one model are spread over the GPUs "
        "because it does not fit on one of them, towers are not what is needed.",
        before="""\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
with tf.device('/gpu:0'):
    hidden = tf.layers.dense(X, 64)
with tf.device('/gpu:1'):
    logits = tf.layers.dense(hidden, 10)
loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels})
""",
        after="""\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
hidden = tf.layers.dense(X, 64)
logits = tf.layers.dense(hidden, 10)
loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels})
""",
        references=("docs: TMG109, where variables and towers are placed",),
    ),
)


TOGETHER = "convert both scripts at once, from their originals"
SEVERAL = "convert the script as it was for one GPU"
BY_PACKAGE = (
    ("multi_gpu_model", "this script uses several GPUs already, by Keras' multi_gpu_model", SEVERAL),
    ("model_deploy", "this script spreads clones of its model over GPUs already (slim's model_deploy)", SEVERAL),
)


@check(Script, unless=("TMG217",))
def places_on_several_gpus(case: Script) -> Iterator[Diagnostic]:
    """Scripts that name several GPUs for their model, or import a file that was converted before."""
    facts = case.facts
    gpus: set[str] = set()
    for effect in facts.effects:
        if effect.kind is EffectKind.CONVERTED_MODULE:
            message = f"{effect.name} was converted before, with another script"
            if takes_a_step(facts):
                yield error(facts, effect.node, "TMG216", message, TOGETHER)
            else:  # it goes on as it is: the module builds its model for one GPU here
                message = f"no training step was found, and {message}"
                yield error(facts, facts.tree, "TMG201", message, "leave it as it is: it builds the model for one GPU")
        if effect.kind is EffectKind.DEVICE:
            computed = effect.name == "None" and not _is_one_gpu(effect.value) and _differs_by_turn(effect)
            gpus |= set(_numbers(effect.name))
            if computed or len(gpus) > 1:
                yield error(
                    facts, effect.node, "TMG216", "this script places its model on several GPUs already", SEVERAL
                )
                return


def _is_one_gpu(device: Value | None) -> bool:
    """Whether a device is one of several names, by a switch, and these name no more than one GPU."""
    names: set[object] = set()
    todo = [device]
    while todo:
        value = todo.pop()
        if isinstance(value, Constant):
            names.add(value.value)
        elif isinstance(value, Host) and not value.call and value.inputs:
            todo += value.inputs
        else:
            return False
    return len({number for name in names for number in _numbers(str(name))}) <= 1


def _numbers(device: str) -> list[str]:
    """The numbers of the GPUs that a name of a device has."""
    return re.findall(r"gpu:(\d+)", device.lower())


def _differs_by_turn(effect: Effect) -> bool:
    """Whether a device may be another one in each turn of a loop: `'/gpu:%d' % i`, and not `'/gpu:%d' % FLAGS.gpu`."""
    frame = effect.site.frame
    calls = [n.func for n in ast.walk(effect.node) if isinstance(n, ast.Call) and n is not effect.node]
    plain = all(getattr(f, "id", getattr(f, "attr", "")) in ("format", "str", "int") for f in calls)
    read = {node.id for node in ast.walk(effect.node) if isinstance(node, ast.Name)}
    fields = {node.attr for node in ast.walk(effect.node) if isinstance(node, ast.Attribute)}
    for site in effect.site.chain():
        if not isinstance(site.stmt, (ast.For, ast.While)):
            continue
        if not plain:
            return True
        if site.frame is not frame:  # the function that names the device is called in each turn
            if isinstance(site.stmt, ast.For) and any(name in frame.locals for name in read):
                return True
            continue
        names = (n for n in ast.walk(site.stmt) if isinstance(n, (ast.Name, ast.Attribute)))
        changed = [n for n in names if isinstance(n.ctx, ast.Store)]
        if any(n.id in read if isinstance(n, ast.Name) else n.attr in fields for n in changed):
            return True
    return False


@check(Selected)
def spread_by_a_package(case: Selected) -> Iterator[Diagnostic]:
    """Scripts without a training step of their own that a package spreads over GPUs."""
    if case.steps:
        return
    if not case.facts.train_steps or any(e.kind is EffectKind.OTHER_TRAINING for e in case.facts.effects):
        yield from several_gpus(case.facts)


def several_gpus(facts: Facts) -> Iterator[Diagnostic]:
    """The packages that spread a model over GPUs, where the script imports one of them."""
    for part, message, hint in BY_PACKAGE:
        for name, node in imported_names(facts):
            if part in name.split("."):
                yield error(facts, node, "TMG216", message, hint)
                return
