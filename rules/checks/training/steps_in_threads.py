"""Training steps in several threads."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from converter.analysis.facts import Facts, Threaded
from converter.diagnostics import Diagnostic
from converter.planner.batch_size.written_out import parents_of
from converter.planner.cases import Selected
from converter.planner.checking import check
from converter.planner.writing.findings import warn
from converter.rule import Rule

_SCRIPT = """\
{imports}import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
logits = tf.layers.dense(X, 10)
loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)


def work(sess):
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {{X: images, Y: labels}})


with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
{start}"""

RULES = (
    Rule(
        code="TMG346",
        title="training steps run in several threads at once",
        why="Workers in threads, as in A3C, update the same variables without waiting for each other. In the "
        "converted script each step of each worker takes a batch for every tower and applies the mean of their "
        "gradients, so the steps of all workers share the GPUs, and the updates go on overlapping as they did. That is "
        "seldom what is wanted: workers are a way to use several devices themselves. With one worker the towers do "
        "the same work in synchronous steps. Steps that overlap have no order that two runs share: verify cannot "
        "compare them, and says so.",
        before=_SCRIPT.format(
            imports="import threading\n\n",
            start="    threads = [threading.Thread(target=work, args=(sess,)) for _ in range(4)]\n"
            "    for thread in threads:\n        thread.start()\n    for thread in threads:\n        thread.join()\n",
        ),
        after=_SCRIPT.format(imports="", start="    work(sess)\n"),
        references=("Mnih et al. 2016, Asynchronous Methods for Deep Reinforcement Learning",),
    ),
)

REPEATED = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)


@check(Selected)
def overlap(case: Selected) -> Iterator[Diagnostic]:
    """Threads that train beside each other, or beside the script's own loop."""
    facts = case.facts
    trained = {step.result.uid for step in case.steps}
    times = [run.time for run in facts.runs if run.computes(trained)]
    training = [thread for thread in facts.threads if any(thread.begin < time <= thread.end for time in times)]
    places = {thread.call for thread in training}
    several = len(places) > 1 or any(_is_repeated(facts, thread) for thread in training)
    if training and several:
        yield warn(
            facts,
            training[0].call,
            "TMG346",
            "training steps run in several threads: each step takes a batch for every tower, the threads share the "
            "GPUs, and their updates overlap as before, which verify cannot compare",
            "train with one thread: the steps of the towers are synchronous",
        )


def _is_repeated(facts: Facts, thread: Threaded) -> bool:
    """Whether a call may make more than one thread that runs at a time: not where each turn waits for its thread."""
    for above in parents_of(facts, thread.call):
        if isinstance(above, REPEATED):
            return True
        if isinstance(above, ast.FunctionDef | ast.Lambda):
            break
    return any(isinstance(site.stmt, ast.For | ast.While) and not _waits(site.stmt) for site in thread.site.chain())


def _waits(loop: ast.For | ast.While) -> bool:
    """Whether a loop waits for a thread in each turn."""
    calls = (node for stmt in loop.body for node in ast.walk(stmt) if isinstance(node, ast.Call))
    return any(isinstance(call.func, ast.Attribute) and call.func.attr == "join" and not call.args for call in calls)
