"""Training steps in several threads."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from converter.analysis.facts import Facts, Threaded
from converter.diagnostics import Diagnostic
from converter.planner.batch_size.written_out import parents_of
from converter.planner.cases import Selected
from converter.planner.checking import check
from converter.planner.writing.findings import error, warn
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

_WORKERS = """\
{imports}import tensorflow as tf

batch_size = 64


class Worker(object):
    def __init__(self, name, sess):
        self.sess = sess
        with tf.variable_scope(name):
            self.x = tf.placeholder(tf.float32, [None, 784])
            self.y = tf.placeholder(tf.int64, [None])
            loss = tf.losses.sparse_softmax_cross_entropy(self.y, tf.layers.dense(self.x, 10))
        self.train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

    def work(self):
        for step in range(100):
            images, labels = next_batch(batch_size)
            self.sess.run(self.train_op, {{self.x: images, self.y: labels}})


with tf.Session() as sess:
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
    Rule(
        code="TMG248",
        title="each thread trains by a training step of its own",
        why="Workers in threads with a model and a training step each, as in A3C, are a way to use several devices "
        "by themselves. Towers around each of them would build every worker's model on every GPU. Give each worker a "
        "GPU, or convert the script with one worker.",
        before=_WORKERS.format(
            imports="import threading\n\n",
            start="    workers = [Worker('worker_%d' % n, sess) for n in range(4)]\n"
            "    sess.run(tf.global_variables_initializer())\n"
            "    threads = [threading.Thread(target=worker.work) for worker in workers]\n"
            "    for thread in threads:\n        thread.start()\n    for thread in threads:\n        thread.join()\n",
        ),
        after=_WORKERS.format(
            imports="",
            start="    worker = Worker('worker', sess)\n"
            "    sess.run(tf.global_variables_initializer())\n    worker.work()\n",
        ),
        references=("docs: TMG346, threads that share one training step",),
    ),
)

REPEATED = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)


@check(Selected)
def overlap(case: Selected) -> Iterator[Diagnostic]:
    """Threads that train beside each other, or beside the script's own loop."""
    facts = case.facts
    training = [thread for thread in facts.threads if _steps_of(facts, thread)]
    several = len({thread.call for thread in training}) > 1 or any(_is_repeated(facts, thread) for thread in training)
    if not training or not several:
        return
    if len(set().union(*(_steps_of(facts, thread) for thread in training))) > 1:
        yield error(
            facts,
            training[0].call,
            "TMG248",
            "threads train here by a training step each, as workers of A3C do: each would build a model on every GPU",
            "let the workers share the GPUs: make the i-th one under tf.device('/gpu:%d' % (i % number)); or train "
            "with one worker, whose step the towers share",
        )
    else:
        yield warn(
            facts,
            training[0].call,
            "TMG346",
            "training steps run in several threads: each step takes a batch for every tower, the threads share the "
            "GPUs, and their updates overlap as before, which verify cannot compare",
            "train with one thread: the steps of the towers are synchronous",
        )


def _steps_of(facts: Facts, thread: Threaded) -> set[int]:
    """The training steps that a thread runs, by the uids of their results."""
    runs = [run for run in facts.runs if thread.begin < run.time <= thread.end]
    return {step.result.uid for step in facts.train_steps for run in runs if run.computes({step.result.uid})}


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
