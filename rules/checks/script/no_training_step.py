"""No training step was found."""

from __future__ import annotations

from collections.abc import Iterator

from converter.diagnostics import Diagnostic
from converter.planner.cases import Selected
from converter.planner.checking import check
from converter.planner.questions.imported import convert_importing, imported_names, library_run, unseen_modules
from converter.planner.writing.findings import error
from converter.rule import Rule

RULES = (
    Rule(
        code="TMG201",
        title="no training step was found",
        why="The tool looks for what a training script does: minimize(), compute_gradients() or "
        "tf.gradients() of a loss, in the script or in the functions that it calls. This file has none "
        "that can be reached: it only builds a model, evaluates one, or trains it in another file. "
        "Towers speed up training, so there is nothing to do here. Convert the script that trains.",
        before="""\
import tensorflow as tf

X = tf.placeholder(tf.float32, [None, 784])
logits = tf.layers.dense(X, 10)

with tf.Session() as sess:
    tf.train.Saver().restore(sess, 'model.ckpt')
    print(sess.run(logits, {X: load()}))
""",
        after="""\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
logits = tf.layers.dense(X, 10)
loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(logits=logits, labels=Y))
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels})
""",
    ),
)


# Parts of the names of packages that train, what the script does with them, what to do.
BY_PACKAGE = (
    ("torch", "this script trains by PyTorch, not by TensorFlow", "use torch.nn.parallel.DistributedDataParallel"),
    (
        "object_detection",
        "the training step lies in the package object_detection, this script configures it",
        "use that package's own options for several GPUs: num_clones, or model_main with a distribution strategy",
    ),
    (
        "keras",
        "this script builds with Keras, and minimises nothing in a session",
        "use tf.distribute.MirroredStrategy for Model.fit",
    ),
)

_OTHER = "convert the script that calls minimize, compute_gradients or tf.gradients"


@check(Selected, unless=("TMG216", "TMG220", "TMG235"))
def minimises_nothing(case: Selected) -> Iterator[Diagnostic]:
    """Scripts without a training step: says what there is instead."""
    facts = case.facts
    if facts.train_steps:
        return
    imported = list(imported_names(facts))
    for part, message, hint in BY_PACKAGE:
        for name, node in imported:
            if part in name.split("."):
                yield error(facts, node, "TMG201", message, hint)
                return
    for unseen in unseen_modules(facts):
        message = f"no training step was found: nothing is minimised here, and {unseen.module} is not followed"
        yield error(facts, unseen.node, "TMG201", message, unseen.hint)
        return
    for run in facts.runs:
        if package := library_run(run):
            message = f"no training step was found: what is run here comes from {package}, which is not followed"
            hint = f"if {package} is a file of this project, put it beside the script, or its folder into sys.path"
            yield error(facts, run.call, "TMG201", message, hint)
            return
    message = "no training step was found: nothing is minimised here"
    hint = convert_importing(facts, facts.tree, case.sources.users, _OTHER)
    yield error(facts, facts.tree, "TMG201", message, hint)
