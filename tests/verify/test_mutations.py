"""Every fault of a conversion is caught, and named: one changed line each."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from converter.verify import Report, VerifySettings, verify

pytestmark = pytest.mark.one_test_in(2)

DATA = Path(__file__).parent / "data"

WEIGHTED = "optimizer.compute_gradients(loss * weight)"
APPLY = "optimizer.apply_gradients("
AVERAGED = "[(tf.add_n([g for g, _ in pairs]), pairs[0][1]) for pairs in zip(*tower_grads)]"
SHARD = "begin, end = total * gpu // num_gpus, total * (gpu + 1) // num_gpus"
WEIGHT = "weight = tf.cast(end - begin, tf.float32) / tf.cast(total, tf.float32)"
SCOPE = "tf.variable_scope(tf.get_variable_scope(), reuse=gpu > 0):"

# subject, what stands in the right conversion, what the wrong one has instead, the check, its words
PLAIN = [
    ("summed", WEIGHTED, "optimizer.compute_gradients(loss)", "gradients", "summed over the towers"),
    (
        "divided twice",
        WEIGHTED,
        "optimizer.compute_gradients(loss * weight / num_gpus)",
        "gradients",
        "divided",
    ),
    ("same shard", SHARD, "begin, end = 0 * gpu, total // num_gpus", "gradients", "same shard"),
    (
        "last shard",
        SHARD,
        "begin, end = total - total // num_gpus, total",
        "gradients",
        "only tower 1's shard",
    ),
    (
        "only one tower applied",
        "zip(*tower_grads)",
        "zip(*tower_grads[:1])",
        "gradients",
        "only the first tower's",
    ),
    ("equal weights", WEIGHT, "weight = 1.0 / num_gpus", "uneven batch", "equal weights"),
    (
        "empty shards",
        "last = first + tf.maximum(end - begin, 1)",
        "last = first + end - begin",
        "fewer examples than towers",
        "not finite",
    ),
    (
        "fixed batch",
        "tf.float32, [None, 3]",
        "tf.float32, [batch_size, 3]",
        "uneven batch",
        "fixed batch size",
    ),
    (
        "batch not grown",
        "batch_size = 8 * num_gpus",
        "batch_size = 8",
        "batch",
        "8 examples instead of 16 (2 x 8)",
    ),
    (
        "one device",
        "tf.device('/gpu:%d' % gpu)",
        "tf.device('/gpu:0')",
        "placement",
        "all towers compute on one device",
    ),
    ("host only", "tf.device('/gpu:%d' % gpu)", "tf.device('/cpu:0')", "placement", "one device (cpu:0)"),
    (
        "step twice",
        "train_op = " + APPLY,
        "pairs = list(" + AVERAGED + ")\n"
        "first = optimizer.apply_gradients(pairs)\nwith tf.control_dependencies([first]):\n    train_op = " + APPLY,
        "train op",
        "more than once",
    ),
    ("other learning rate", "MomentumOptimizer(0.01", "MomentumOptimizer(0.02", "update", "another value"),
    ("other initial momentum", "Optimizer(0.01, 0.9)", "Optimizer(0.01, 0.8)", "update", "another value"),
    (
        "other shape",
        "tf.get_variable('b', [1]",
        "tf.get_variable('b', [1, 1]",
        "variables",
        "b:0 has shape [1, 1]",
    ),
    (
        "not trained",
        "tf.get_variable('b', [1]",
        "tf.get_variable('b', [1], trainable=False",
        "variables",
        "trainable",
    ),
    ("wrong weight", WEIGHT, WEIGHT.replace("end - begin", "end - begin + gpu"), "gradients", "they differ"),
    ("last example dropped", SHARD, SHARD.replace("total", "(total - 1)"), "gradients", "they differ"),
    (
        "optimizer inside the loop",
        "train_op = " + APPLY,
        "train_op = tf.group(*[optimizer.apply_gradients(pairs) for pairs in tower_grads])\nunused = " + APPLY,
        "train op",
        "more than once",
    ),
    (
        "broken",
        WEIGHTED,
        "optimizer.compute_gradients(los * weight)",
        "",
        "failed before its first training step",
    ),
    ("no training", "sess.run(train_op,", "sess.run(error,", "", "without a training step"),
]
TOWERS = [
    (
        "unshared",
        SCOPE,
        "tf.variable_scope('copy_%d' % gpu if gpu else tf.get_variable_scope()):",
        "variables",
        "do not share variables",
    ),
    (
        "under the tower's name",
        SCOPE,
        "tf.variable_scope('tower_%d' % gpu):",
        "variables",
        "variable names changed",
    ),
    ("renamed", "name='hidden'", "name='hidden_layer'", "variables", "lacks hidden/bias:0"),
    (
        "update ops of all towers",
        "        if gpu == 0:\n            update_ops",
        "        update_ops",
        "update",
        "update ops of all towers run",
    ),
    (
        "a collection grown",
        "tf.get_collection_ref(tf.GraphKeys.UPDATE_OPS)[:] = update_ops\n",
        "\n",
        "collections",
        "'update_ops' holds 4 entries instead of 2",
    ),
    (
        "clipped per tower",
        "tower_grads.append(" + WEIGHTED + ")",
        "pairs = optimizer.compute_gradients(loss)\n"
        "        cut, _ = tf.clip_by_global_norm([g for g, _ in pairs], 0.2)\n"
        "        cut = [tf.convert_to_tensor(g) * weight for g in cut]\n"
        "        tower_grads.append([(g, v) for g, (_, v) in zip(cut, pairs)])",
        "gradients",
        "before the averaging, not after",
    ),
    (
        "made dense",
        "if isinstance(grads[0], tf.IndexedSlices):",
        "if False:",
        "sparse gradients",
        "became dense",
    ),
    (
        "steps counted twice",
        "with tf.Session(",
        "train_op = tf.group(train_op, tf.assign_add(global_step, 1))\nwith tf.Session(",
        "update",
        "global_step:0 is counted up by 2 instead of 1",
    ),
    (
        "loss of one tower",
        "loss = tf.add_n(tower_loss)",
        "loss = tower_loss[0] * num_gpus",
        "loss",
        "instead of",
    ),
]
UPDATES = "tf.get_collection(tf.GraphKeys.UPDATE_OPS)"
TOWERS += [
    (
        "update ops of the last tower",
        "        if gpu == 0:\n            update_ops = " + UPDATES,
        "        update_ops = " + UPDATES + "[-2:]",
        "update",
        "norm/moving_mean:0, norm/moving_variance:0 gets another value",
    ),
    (
        "a lost control dependency",
        "with tf.control_dependencies(" + UPDATES + "):",
        "with tf.control_dependencies([]):",
        "writes",
        "norm/moving_mean is written 0 times in one step instead of 1",
    ),
]
OTHERS = [
    (
        "gathered sums",
        "gathered",
        WEIGHTED,
        "optimizer.compute_gradients(loss)",
        "fetches",
        "the whole times the number of towers",
    ),
    (
        "gathered from one tower",
        "gathered",
        "zip(*tower_grads)",
        "zip(*tower_grads[:1])",
        "fetches",
        "what is kept in Variable",
    ),
    (
        "gathered on one device",
        "gathered",
        "tf.device('/gpu:%d' % gpu)",
        "tf.device('/gpu:0')",
        "placement",
        "one device",
    ),
    ("gathered small batches", "gathered", "batch_size = 8 * num_gpus", "batch_size = 8", "batch", "8 examples"),
    (
        "weight decay counted twice",
        "dataset",
        "tf.losses.get_regularization_loss()",
        "num_gpus * tf.losses.get_regularization_loss()",
        "gradients",
        "weight decay",
    ),
    (
        "wrong axis",
        "time_major",
        "recurrent(X[:, begin:end])",
        "recurrent(tf.reshape(X, [num_gpus, 7, batch_size, 2])[gpu])",
        "gradients",
        "they differ",
    ),
]
FIRST_ROWS = "[:tf.shape(tower_logits[0])[0]]"
RATIO = "2 * tf.reduce_sum(p * y) / (tf.reduce_sum(p) + tf.reduce_sum(y))"
WATCHED = [
    (
        "metrics of tower 0 only",
        "tf.equal(predictions, Y)",
        f"tf.equal(predictions{FIRST_ROWS}, Y{FIRST_ROWS})",
        "fetches",
        "the value of tower 0 only",
    ),
    (
        "a count that became a mean",
        "tf.int32), name='num_correct')",
        "tf.int32)) // num_gpus",
        "fetches",
        "num_correct:0 is",
    ),
    (
        "towers in another order",
        "tf.concat(tower_logits, 0)",
        "tf.concat(tower_logits[::-1], 0)",
        "fetches",
        "(",
    ),
    (
        "predictions in another order",
        "num_correct, predictions], feed)",
        "num_correct, tf.reverse(predictions, [0])], feed)",
        "fetches",
        "the same numbers in another order (step 1)",
    ),
    (
        "a ratio averaged over the towers",
        "f1 = 2 * hits / (tf.reduce_sum(predictions) + tf.reduce_sum(Y))",
        f"f1 = sum({RATIO} for p, y in zip(tf.split(predictions, num_gpus), tf.split(Y, num_gpus))) / num_gpus",
        "fetches",
        "(a run after step 1)",
    ),
    (
        "the first tower's maximum",
        "tf.abs(logits[:, 1] - logits[:, 0])",
        "tf.abs(tower_logits[0][:, 1] - tower_logits[0][:, 0])",
        "fetches",
        "the value of tower 0 only",
    ),
    (
        "summaries of all towers",
        "    tf.get_collection_ref(key)[:] = first[key]",
        "    pass",
        "fetches",
        "the summary 'hidden_1' is written twice",
    ),
    ("a lost summary", "tf.summary.scalar('accuracy', accuracy)", "", "fetches", "the summaries lack accuracy_2"),
    (
        "another tag",
        "tf.summary.scalar('accuracy'",
        "tf.summary.scalar('tower_accuracy'",
        "fetches",
        "lack accuracy_2 and also have tower_accuracy",
    ),
    (
        "the summary of one tower",
        "tf.summary.scalar('loss', loss)",
        "tf.summary.scalar('loss', tower_loss[0] * num_gpus)",
        "fetches",
        "the summary 'loss' is",
    ),
    ("a schedule ahead of its time", "0.1, global_step, 1", "0.1, global_step * num_gpus, 1", "fetches", "rate:0 is"),
    (
        "a schedule advanced twice",
        "0.1, global_step, 1",
        "0.1, global_step * num_gpus, 1",
        "update",
        "the learning rate is 0.081 instead of 0.09 (step 2)",
    ),
    ("a value that got lost", "[train_op, loss, ", "[train_op, loss.op, ", "fetches", "and none in the conversion"),
    (
        "a metric in every tower",
        "_, streaming = tf.metrics.accuracy(Y, predictions)",
        "streaming = [tf.metrics.accuracy(Y, predictions)[1] for gpu in range(num_gpus)][0]",
        "collections",
        "holds 4 entries instead of 2",
    ),
    (
        "a metric of one tower",
        "tf.metrics.accuracy(Y, predictions)",
        f"tf.metrics.accuracy(Y{FIRST_ROWS}, predictions{FIRST_ROWS})",
        "fetches",
        "update_op:0 is",
    ),
]


def mutated(tmp_path: Path, subject: str, old: str, new: str) -> tuple[Path, Path]:
    """A copy of a subject whose conversion has `new` where `old` stood."""
    folder = tmp_path / subject
    shutil.copytree(DATA / subject, folder)
    multi = folder / "multi.py"
    text = multi.read_text()
    assert old in text, "the fault would change nothing"
    multi.write_text(text.replace(old, new))
    return folder / "single.py", multi


def assert_named(report: Report, check: str, words: str) -> None:
    assert report.verdict == "failed"
    details = [found.detail for found in report.checks if found.name == check and found.status == "failed"]
    assert any(words in detail for detail in details or [report.reason]), details or report.reason


VERSIONS = [
    pytest.param("1.15", marks=pytest.mark.tf1),
    pytest.param("2", marks=[pytest.mark.tf2, pytest.mark.matrix]),
]


@pytest.mark.one_in(20)
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("old", "new", "check", "words"), [case[1:] for case in PLAIN], ids=[case[0] for case in PLAIN]
)
def test_plain(
    tmp_path: Path, tensorflow_python: str, version: str, old: str, new: str, check: str, words: str
) -> None:
    single, multi = mutated(tmp_path, "plain", old, new)
    assert_named(verify(single, multi, VerifySettings(python=tensorflow_python)), check, words)


@pytest.mark.one_in(20)
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("old", "new", "check", "words"), [case[1:] for case in TOWERS], ids=[case[0] for case in TOWERS]
)
def test_towers(
    tmp_path: Path, tensorflow_python: str, version: str, old: str, new: str, check: str, words: str
) -> None:
    single, multi = mutated(tmp_path, "towers", old, new)
    assert_named(verify(single, multi, VerifySettings(python=tensorflow_python)), check, words)


@pytest.mark.one_in(10)
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("subject", "old", "new", "check", "words"), [case[1:] for case in OTHERS], ids=[case[0] for case in OTHERS]
)
def test_others(
    tmp_path: Path, tensorflow_python: str, version: str, subject: str, old: str, new: str, check: str, words: str
) -> None:
    single, multi = mutated(tmp_path, subject, old, new)
    assert_named(verify(single, multi, VerifySettings(python=tensorflow_python)), check, words)


@pytest.mark.one_in(20)
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("old", "new", "check", "words"), [case[1:] for case in WATCHED], ids=[case[0] for case in WATCHED]
)
def test_watched(
    tmp_path: Path, tensorflow_python: str, version: str, old: str, new: str, check: str, words: str
) -> None:
    single, multi = mutated(tmp_path, "watched", old, new)
    assert_named(verify(single, multi, VerifySettings(python=tensorflow_python, args=("norm",))), check, words)
