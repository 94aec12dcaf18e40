"""Plans made by hand, and what is printed of them: nothing that is not in the plan is decided by printing."""

from __future__ import annotations

import ast
from dataclasses import replace

from converter.options import Options
from converter.plan import At, Block, Gradient, Insert, Loop, Plan, Replace
from converter.plan.border import Border, Concat, Cut, CutInput, Loss, Mean, Merge, Resize, Rows, Sum
from converter.rewrite import apply

ROWS = Rows("rows", "weight")
LOSS = Merge("loss", "tower_loss", Mean(ROWS), loss=Loss())
LOGITS = Merge("logits", "tower_logits", Concat(ROWS))
BORDER = Border(shards=(Cut(ROWS, (CutInput("X", "X_batch"),)),), restore=(("X", "X_batch"),), merges=(LOSS,))
LOOP = Loop(
    before=(),
    tower=(),
    after=(),
    gpu="gpu",
    border=BORDER,
    gradient=None,
    contexts=(),
    splits=(),
    behind=(),
    scopes=(),
    again=(),
    keep_names=False,
)
PLAN = Plan(
    loops=(LOOP,),
    replaces=(),
    inserts=(),
    pinned=(),
    helpers=tuple((name, name) for name in ("tower_device", "shard", "shard_size", "sum_gradients")),
    tensorflow="tf",
    import_tensorflow=False,
    num_gpus="tower_helpers.num_gpus",
    define="",
    options=Options(),
    helper_module="tower_helpers",
)


def printed(text: str, plan: Plan) -> str:
    """What is written of a script, below the helpers."""
    made = apply(text, ast.parse(text), plan, "# header", 100).text
    return made.partition("# tf-multigpu: end of helpers\n")[2]


def place(text: str, part: str) -> At:
    """Where a part of a script begins."""
    before = text[: text.index(part)]
    return At(before.count("\n") + 1, len(before) - before.rfind("\n") - 1)


def change(text: str, part: str, new: str, why: str) -> Replace:
    at = place(text, part)
    return Replace(at, At(at.line, at.column + len(part)), new, why)


FED = """\
import tensorflow as tf

X = tf.placeholder(tf.float32, [None, 3])
logits = tf.layers.dense(X, 1)
loss = tf.reduce_mean(tf.square(logits))
step = tf.train.AdamOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    sess.run(step, {X: load()})
"""


def test_a_script_that_feeds() -> None:
    optimizer = "tf.train.AdamOptimizer(0.1)"
    loop = replace(
        LOOP,
        tower=(place(FED, "logits"), place(FED, "loss")),
        gradient=Gradient("optimizer", optimizer, "tower_loss", "tower_grads"),
    )
    session = place(FED, "with tf.Session")
    plan = replace(
        PLAN,
        loops=(loop,),
        replaces=(
            change(FED, f"{optimizer}.minimize(loss)", "optimizer.apply_gradients(towers)", "TMG101"),
            change(FED, "tf.Session()", "tf.Session(config=config)", "TMG111"),
        ),
        inserts=(Insert(session, ("config = made()",), "before", "TMG111"),),
    )
    assert (
        printed(FED, plan)
        == """\

X = tf.placeholder(tf.float32, [None, 3])
optimizer = tf.train.AdamOptimizer(0.1)
X_batch = X
tower_loss, tower_grads = [], []
# Each GPU computes its share of the batch.
for gpu in range(tower_helpers.num_gpus):
    with tf.device(tower_device(gpu)), tf.name_scope('tower_%d' % gpu), \\
            tf.variable_scope(tf.get_variable_scope(), reuse=gpu > 0):
        (X,), rows, weight = shard([X_batch], gpu)
        logits = tf.layers.dense(X, 1)
        loss = tf.reduce_mean(tf.square(logits))
        tower_grads.append(optimizer.compute_gradients(loss * weight))
        tower_loss.append(loss * weight)
# From here on: the whole batch.
X = X_batch
loss = tf.add_n(tower_loss)
step = optimizer.apply_gradients(towers)
config = made()
with tf.Session(config=config) as sess:
    sess.run(step, {X: load()})
"""
    )


READ = """\
import tensorflow as tf

batch_size = 64
X = tf.data.Dataset.range(100).batch(batch_size).make_one_shot_iterator().get_next()
logits = model(X)
writer = tf.summary.FileWriter('logs')
loss = tf.reduce_sum(logits) / batch_size
step = minimize(loss)
"""


def test_a_script_that_reads_a_dataset() -> None:
    loop = replace(
        LOOP,
        tower=(place(READ, "logits ="), place(READ, "loss =")),
        before=(place(READ, "writer"),),
        border=BORDER + Border(bound=(Resize("batch_size", "whole_size"),), restore=(("batch_size", "whole_size"),)),
    )
    size = change(READ, "64", "64 * tower_helpers.num_gpus", "TMG110")
    assert (
        printed(READ, replace(PLAN, loops=(loop,), replaces=(size,)))
        == """\

batch_size = 64 * tower_helpers.num_gpus
X = tf.data.Dataset.range(100).batch(batch_size).make_one_shot_iterator().get_next()
writer = tf.summary.FileWriter('logs')
X_batch, whole_size = X, batch_size
tower_loss = []
# Each GPU computes its share of the batch.
for gpu in range(tower_helpers.num_gpus):
    with tf.device(tower_device(gpu)), tf.name_scope('tower_%d' % gpu), \\
            tf.variable_scope(tf.get_variable_scope(), reuse=gpu > 0):
        (X,), rows, weight = shard([X_batch], gpu)
        batch_size = shard_size(whole_size, gpu)
        logits = model(X)
        loss = tf.reduce_sum(logits) / batch_size
        tower_loss.append(loss * weight)
# From here on: the whole batch.
X, batch_size = X_batch, whole_size
loss = tf.add_n(tower_loss)
step = minimize(loss)
"""
    )


def test_values_that_leave_the_towers() -> None:
    text = FED.replace("step =", "shown = logits\nstep =")
    total = Merge("total", "tower_total", Sum(ROWS), name="all")
    columns = replace(LOGITS, how=Concat(ROWS, axis=1))
    border = BORDER + Border(merges=(columns, total))
    loop = replace(LOOP, tower=(place(text, "logits"), place(text, "loss")), border=border)
    assert (
        printed(text, replace(PLAN, loops=(loop,)))
        == """\

X = tf.placeholder(tf.float32, [None, 3])
X_batch = X
tower_loss, tower_logits, tower_total = [], [], []
# Each GPU computes its share of the batch.
for gpu in range(tower_helpers.num_gpus):
    with tf.device(tower_device(gpu)), tf.name_scope('tower_%d' % gpu), \\
            tf.variable_scope(tf.get_variable_scope(), reuse=gpu > 0):
        (X,), rows, weight = shard([X_batch], gpu)
        logits = tf.layers.dense(X, 1)
        loss = tf.reduce_mean(tf.square(logits))
        tower_loss.append(loss * weight)
        tower_logits.append(logits[:, :rows])
        tower_total.append(total * tf.cast(tf.minimum(rows, 1), total.dtype))
# From here on: the whole batch.
X = X_batch
loss = tf.add_n(tower_loss)
logits = tf.concat(tower_logits, 1)
total = tf.add_n(tower_total, name='all')
shown = logits
step = tf.train.AdamOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    sess.run(step, {X: load()})
"""
    )


BLOCKS = """\
import tensorflow as tf

X = tf.placeholder(tf.float32, [None, 3])
with tf.name_scope('net'):
    logits = tf.layers.dense(X, 1)
    tf.summary.histogram('logits', logits)
old = tf.get_variable('old', [4])
older = tf.get_variable('older', [4])
copy = old.assign(older)
with tf.name_scope('out'):
    loss = tf.reduce_mean(tf.square(logits))
    step = train(loss)
"""


def test_pinned_variables_stay_between_blocks_that_are_opened_again() -> None:
    net, out = place(BLOCKS, "with tf.name_scope('net')"), place(BLOCKS, "with tf.name_scope('out')")
    made = [place(BLOCKS, part) for part in ("old =", "older =", "copy =")]
    behind = (Block(net, (place(BLOCKS, "tf.summary"),)), Block(out, (place(BLOCKS, "step ="),)))
    loop = replace(LOOP, tower=(net, out), after=tuple(made), behind=behind)
    text = printed(BLOCKS, replace(PLAN, loops=(loop,), pinned=((made[0], made[1]),)))
    assert (
        text.partition("loss = tf.add_n(tower_loss)\n")[2]
        == """\
with tf.name_scope('net'):
    tf.summary.histogram('logits', logits)
with tf.device('/cpu:0'):
    old = tf.get_variable('old', [4])
    older = tf.get_variable('older', [4])
copy = old.assign(older)
with tf.name_scope('out'):
    step = train(loss)
"""
    )
