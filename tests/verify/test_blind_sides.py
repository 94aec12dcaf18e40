"""Wrong conversions that keep every step's gradients: caught by the check that looks there, or named as not checked."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from converter.verify import Report, VerifySettings, verify
from tests.goldens import FIXTURES

pytestmark = pytest.mark.one_test_in(2)

DATA = Path(__file__).parent / "data"

# kind, fixture, what stands in the right conversion, what the wrong one has instead, the check, its words
INITIAL = [
    ("a deviation of 30", "weights_dict", "[64, n_classes], stddev=0.1)", "[64, n_classes], stddev=30.)",
     "is drawn from another distribution"),
    ("uniform for normal", "raw_in_functions", "tf.truncated_normal(shape, stddev=0.1)",
     "tf.random_uniform(shape, -0.1, 0.1)", "RandomUniform drawn instead of TruncatedNormal"),
    ("ones for zeros", "recurrent", "[num_classes], initializer=tf.zeros_initializer()",
     "[num_classes], initializer=tf.ones_initializer()", "mean 1 instead of 0"),
    ("set anew after the initialisers", "layers_cnn", "sess.run(tf.global_variables_initializer())",
     "sess.run(tf.global_variables_initializer())\nsess.run([v.assign(v * 5) for v in tf.trainable_variables()])",
     "other values when training starts"),
]  # fmt: skip


def of_cases(cases: Sequence[tuple[str, ...]]) -> list[Any]:
    """Parameters of a table whose rows begin with a kind; the second of a kind, and on, run in the matrix only."""
    seen: set[str] = set()
    found = []
    for kind, fixture, *rest in cases:
        marks = (pytest.mark.matrix,) if kind in seen else ()
        found.append(pytest.param(fixture, *rest, id=f"{kind} {fixture}", marks=marks))
        seen.add(kind)
    return found


def settings(python: str) -> VerifySettings:
    return VerifySettings(python=python)


def wrong(tmp_path: Path, fixture: str, old: str, new: str) -> tuple[Path, Path]:
    """A copy of a fixture whose conversion has `new` where `old` stood."""
    folder = tmp_path / fixture
    shutil.copytree((FIXTURES if (FIXTURES / fixture).exists() else DATA) / fixture, folder)
    multi = folder / "multi.py"
    text = multi.read_text()
    assert old in text, "the fault would change nothing"
    multi.write_text(text.replace(old, new))
    return folder / "single.py", multi


def assert_caught(report: Report, check: str, words: str) -> None:
    """That this check fails with these words, and no other one does."""
    failed = {found.name: found.detail for found in report.checks if found.status == "failed"}
    assert list(failed) == [check], failed or report.reason
    assert words in failed[check]


@pytest.mark.one_in(12)
@pytest.mark.tf1
@pytest.mark.parametrize(("fixture", "old", "new", "words"), of_cases(INITIAL))
def test_initial_values(tmp_path: Path, tensorflow_python: str, fixture: str, old: str, new: str, words: str) -> None:
    report = verify(*wrong(tmp_path, fixture, old, new), settings(tensorflow_python))
    assert_caught(report, "initial values", words)


# kind, fixture, what stands in the right conversion, what the wrong one has instead, the check, its words
BATCH = "for begin in range(0, 400, batch_size):"
PLAIN_FEED = "{X: data[begin:begin + batch_size], Y: target[begin:begin + batch_size]}"
BESIDE = [
    ("fewer variables saved", "argparse_main", "tf.train.Saver()", "tf.train.Saver(tf.trainable_variables())",
     "savers", "does not write"),
    ("fewer variables saved", "flags_main", "tf.train.Saver()", "tf.train.Saver(tf.trainable_variables())",
     "savers", "does not write"),
    ("saved under other names", "sessions", "tf.train.Saver()",
     "tf.train.Saver({'model/' + v.op.name: v for v in tf.global_variables()})", "savers", "also writes model/"),
    ("summary steps doubled", "clipped_gradients", "writer.add_summary(summary, step)",
     "writer.add_summary(summary, 2 * step)", "summaries", "has the step 2 instead of 1"),
    ("summary steps doubled", "optimize_loss", "writer.add_summary(summary, step)",
     "writer.add_summary(summary, 2 * step)", "summaries", "has the step"),
    ("summary steps doubled", "train_op_function", "writer.add_summary(summary, step)",
     "writer.add_summary(summary, 2 * step)", "summaries", "has the step"),
    ("a printed loss doubled", "recurrent", "format(step, batch_loss, acc)", "format(step, 2 * batch_loss, acc)",
     "printed values", "2 times the value fetched"),
    ("a printed loss doubled", "layers_cnn", "(step, train_loss, train_accuracy)",
     "(step, 2 * train_loss, train_accuracy)", "printed values", "2 times the value fetched"),
    ("a printed loss doubled", "slim_cnn", "% (step, batch_loss, batch_acc)", "% (step, 2 * batch_loss, batch_acc)",
     "printed values", "2 times the value fetched"),
    ("in reverse order", "plain", BATCH, "for begin in range(400 - batch_size, -1, -batch_size):", "data", "examples"),
    ("in reverse order", "layers_cnn", "index = order[position", "index = order[::-1][position", "data", "examples"),
    ("in reverse order", "recurrent", "train.next_batch(batch_size)\n        sess.run(train_op",
     "[part[::-1] for part in train.next_batch(batch_size)]\n        sess.run(train_op", "data", "in another order"),
    ("each batch twice", "plain", PLAIN_FEED,
     "{X: np.tile(data[begin:begin + 8], (2, 1)), Y: np.tile(target[begin:begin + 8], (2, 1))}",
     "data", "each tower is fed the same examples"),
    ("each batch twice", "layers_cnn", "images, labels = next_batch(batch_size)",
     "images, labels = [np.concatenate([half, half]) for half in next_batch(batch_size // 2)]",
     "data", "each tower is fed the same examples"),
    ("each batch twice", "recurrent", "batch_x, batch_y = train.next_batch(batch_size)\n        sess.run(train_op",
     "halves = train.next_batch(batch_size // 2)\n        "
     "batch_x, batch_y = [np.concatenate([half, half]) for half in halves]\n        sess.run(train_op",
     "data", "each tower is fed the same examples"),
    ("validation rows in training", "plain", "{X: data[begin:begin + batch_size], Y: target[begin:begin + batch_size]}",
     "{X: data[384 - begin:400 - begin], Y: target[384 - begin:400 - begin]}", "data", "examples"),
    ("validation rows in training", "layers_cnn", "return train_images[index], train_labels[index]",
     "return all_images[index + 397], all_labels[index + 397]", "data", "examples"),
    ("the training batch in evaluation", "watched", "accuracy.eval({X: data[600:], Y: classes[600:]})",
     "accuracy.eval({X: data[:100], Y: classes[:100]})", "data of evaluations", "fed"),
    ("half of the validation set", "watched", "accuracy.eval({X: data[600:], Y: classes[600:]})",
     "accuracy.eval({X: data[600:650], Y: classes[600:650]})", "data of evaluations",
     "50 of the original's 100 examples"),
    ("a switch for training ignored", "layers_cnn",
     "sess.run(accuracy, feed_dict={X: images, Y: labels, is_training: False})",
     "sess.run(accuracy, feed_dict={X: images, Y: labels, is_training: True})", "data of evaluations",
     "is_training:0 is fed 1 instead of 0"),
]  # fmt: skip
SEEDS = [
    ("of NumPy", "plain", "np.random.RandomState(1)", "np.random.RandomState(2)", "is given the seed 2 instead of 1"),
    ("of NumPy", "layers_cnn", "rng = np.random.RandomState(1234)", "rng = np.random.RandomState(1235)",
     "1235 instead of 1234"),
    ("of a data set", "dataset", "shuffle(50, seed=3)", "shuffle(50, seed=4)",
     "the order of a data set is given the seed 4 instead of 3"),
    ("of the graph", "layers_cnn", "tf.set_random_seed(1234)", "tf.set_random_seed(5)",
     "the graph has the seed 5 instead of 1234"),
]  # fmt: skip


@pytest.mark.one_in(10)
@pytest.mark.tf1
@pytest.mark.parametrize(("fixture", "old", "new", "check", "words"), of_cases(BESIDE))
def test_beside_the_steps(
    tmp_path: Path, tensorflow_python: str, fixture: str, old: str, new: str, check: str, words: str
) -> None:
    report = verify(*wrong(tmp_path, fixture, old, new), settings(tensorflow_python))
    failed = {found.name: found.detail for found in report.checks if found.status == "failed"}
    assert words in failed.get(check, ""), failed or report


@pytest.mark.one_in(5)
@pytest.mark.tf1
@pytest.mark.parametrize(("fixture", "old", "new", "words"), of_cases(SEEDS))
def test_seeds(tmp_path: Path, tensorflow_python: str, fixture: str, old: str, new: str, words: str) -> None:
    report = verify(*wrong(tmp_path, fixture, old, new), settings(tensorflow_python))
    failed = {found.name: found.detail for found in report.checks if found.status == "failed"}
    assert words in failed.get("seeds", ""), failed or report


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "version",
    [pytest.param("1.15", marks=pytest.mark.tf1), pytest.param("2", marks=[pytest.mark.tf2, pytest.mark.matrix])],
)
@pytest.mark.parametrize("graph_seed", ["", "tf.set_random_seed(7)\n"], ids=["alone", "with the graph's"])
def test_a_seed_inside_a_function_of_a_data_set(
    tmp_path: Path, tensorflow_python: str, version: str, graph_seed: str
) -> None:
    single, multi = wrong(tmp_path, "dataset", "seed=3", "seed=4")
    for script in (single, multi):
        text = script.read_text().replace(".repeat().shuffle(50, ", ".repeat().batch(50).flat_map(\n    lambda x, y: "
                                          "tf.data.Dataset.from_tensor_slices((x, y)).shuffle(50, ")  # fmt: skip
        assert "flat_map" in text
        text = text.replace("=3).batch(", "=3)).batch(").replace("=4).batch(", "=4)).batch(")
        script.write_text(text.replace("dataset = ", graph_seed + "dataset = "))
    report = verify(single, multi, settings(tensorflow_python))
    failed = {found.name: found.detail for found in report.checks if found.status == "failed"}
    assert "a data set is given the seed 4 instead of 3" in failed.get("seeds", ""), failed or report


@pytest.mark.tf1
@pytest.mark.parametrize(
    ("steps", "status", "words"),
    [
        ("steps_per_epoch", "passed", "ends at 0.4"),
        ("steps_per_epoch * NUM_GPUS", "skipped", "wrong if it counts batches"),
    ],
    ids=["follows the batch", "stays"],
)
def test_rates_after_an_epoch(tmp_path: Path, tensorflow_python: str, steps: str, status: str, words: str) -> None:
    constants = "global_step, steps_per_epoch"
    single, multi = wrong(tmp_path, "decay_per_epoch", constants, f"global_step, {steps}")
    report = verify(single, multi, VerifySettings(python=tensorflow_python, epochs=1))
    assert report.verdict == "passed", report
    (check,) = (check for check in report.checks if check.name == "learning rate, whole run")
    assert check.status == status and words in check.detail, check
    left = {entry.what for entry in report.ledger if entry.fate == "unchecked"}
    assert ("learning rate, whole run" in left) == (status == "skipped")


@pytest.mark.tf1
def test_epochs_that_end_within_a_batch(tensorflow_python: str) -> None:
    """1500 examples in batches of 64: those of the conversion hold less than half of the next epoch there."""
    fixture = FIXTURES / "slim_cnn"
    report = verify(fixture / "single.py", fixture / "multi.py", VerifySettings(python=tensorflow_python, epochs=1))
    assert report.verdict == "passed", report
    found = {check.name: check for check in report.checks}
    assert found["whole run"].status == found["data of evaluations, whole run"].status == "passed"
    assert found["whole run"].detail.startswith("11 steps on 1408 examples, the original's 23 on 1472")
