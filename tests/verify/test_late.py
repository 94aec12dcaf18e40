"""Wrong conversions whose fault comes late in a run, or in another branch: caught, or named as not checked."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from converter.conversion import convert
from converter.options import Options
from converter.source import read
from converter.verify import Report, VerifySettings
from converter.verify.runs.several_proofs import verify_more
from converter.verify.runs.stopping import early_stop, early_stopping, kept_by_values

pytestmark = pytest.mark.one_test_in(2)

DATA = Path(__file__).parent / "data" / "late"
# scripts without early stopping
LONG = {
    "fed": (r"if score < 0.3:\n +break", "pass"),
    "drawn": (r"if test < 0.01:\n +break", "pass"),
    "pulled": (r"if score > 0.99:\n +break", "pass"),
}
UNSEEDED = (r"shuffle\(100, seed=3\)", "shuffle(100)")
OF_BATCHES = (r"shuffle\(100, seed=3\)", "shuffle(batch_size * 10)")
END, SIX, EPOCH, EACH = "the end", "6 steps", "an epoch", "each choice"

# kind, script, a change of the original, what stands in the conversion, what the wrong one has, how it is looked for,
# the check that fails; or, after a "?", what is named as not checked
LATE = [
    ("early stopping by another value", "fed", "", "if score < 0.3", "if value < 0.3", END, "?early stopping"),
    ("early stopping by another value", "drawn", "", "if test < 0.01", "if got < 0.01", "", "?early stopping"),
    ("early stopping by another value", "pulled", "", "if score > 0.99", "if value < 0.1", END, "?early stopping"),
    ("checkpoints half as often", "fed", "long", "number % 10 == 0", "number % 20 == 0", END, "savers"),
    ("checkpoints twice as often", "drawn", "long", "i % 20 == 0", "i % 10 == 0", END, "savers"),
    ("checkpoints half as often", "pulled", "long", "number % 6 == 0", "number % 12 == 0", END, "savers"),
    ("checkpoints half as often", "pulled", "long", "number % 6 == 0", "number % 12 == 0", "", "?later steps"),
    ("another shuffle buffer", "pulled", "", "shuffle(100, seed=3)", "shuffle(50, seed=3)", "", "seeds"),
    ("another shuffle buffer", "pulled", UNSEEDED, "shuffle(100)", "shuffle(10)", "", "seeds"),
    ("another shuffle buffer", "pulled", OF_BATCHES, "batch_size * 10", "batch_size * 3", "", "seeds"),
    ("a last batch dropped", "pulled", "long", "dataset = dataset.batch(", "dataset = dataset.take(400).batch(", END,
     "?an epoch's end, whole run"),
    ("repeated too often", "pulled", "long", "repeat(2)", "repeat(3)", END, "whole run"),
    ("repeated too often", "pulled", ("repeat\\(2\\)", "repeat(1)"), "repeat(1)", "repeat(2)", END, "?early stopping"),
    ("repeated too often", "pulled", "long", "repeat(2)", "repeat()", "", "?later steps"),
    ("a term N times in one branch", "fed", "", "loss += 0.01", "loss += 0.02", EACH, "with --decay=weights"),
    ("a term N times in one branch", "drawn", "", "tf.reduce_mean(tf.abs(out - y))",
     "2 * tf.reduce_mean(tf.abs(out - y))", EACH, "with --loss=absolute"),
    ("a term N times in one branch", "pulled", "", "args.penalty *", "2 * args.penalty *", EACH, "with --penalty=1"),
    ("a term N times in one branch", "pulled", "", "args.penalty *", "2 * args.penalty *", "",
     "?choices of the command line"),
    ("other boundaries", "pulled", "long", "[12, 18]", "[4, 18]", END, "update"),
    ("other boundaries", "fed", "long", "[30, 50]", "[40, 50]", END, "update"),
    ("other boundaries", "drawn", "long", "[20, 40]", "[40, 80]", END, "update"),
    ("evaluation half as often", "fed", "long", "number % 5 ==", "number % 10 ==", END, "data of evaluations"),
    ("evaluation half as often", "drawn", "long", "i % 10 == 0", "i % 20 == 0", END, "evaluations, whole run"),
    ("evaluation twice as often", "pulled", "long", "number % 4", "number % 2", END, "?evaluations, whole run"),
    ("evaluation in each step", "pulled", "long", "number % 4", "number % 1", END, "evaluations, whole run"),
    ("printed steps", "fed", "", "'step %d' % number", "'step %d' % (2 * number)", SIX, "printed values"),
    ("printed steps", "drawn", "", "'step {}: {:.4f}'.format(i", "'step {}: {:.4f}'.format(2 * i", SIX,
     "printed values"),
    ("printed steps", "pulled", "", "'step', number", "'step', 2 * number", SIX, "printed values"),
    ("printed steps", "pulled", "", "'step', number", "'step', 2 * number", "", "?later steps"),
]  # fmt: skip


def original(name: str, change: str | tuple[str, str]) -> str:
    text = (DATA / f"{name}.py").read_text()
    pattern, new = LONG[name] if change == "long" else change or ("^", "")
    assert isinstance(pattern, str)
    changed = re.sub(pattern, new, text, count=1)
    assert changed != text or not change
    return changed


def run(folder: Path, python: str, single: str, change: tuple[str, str], how: str) -> Report:
    (folder / "single.py").write_text(single)
    made = convert(read(str(folder / "single.py")), Options(num_gpus=2)).text
    assert made is not None and change[0] in made
    (folder / "multi.py").write_text(made.replace(*change) if change[0] else made)
    settings = {
        END: VerifySettings(python=python, steps="all", timeout=300),
        SIX: VerifySettings(python=python, steps=6),
        EPOCH: VerifySettings(python=python, epochs=1),
        EACH: VerifySettings(python=python, each_choice=True),
    }.get(how, VerifySettings(python=python))
    return verify_more(folder / "single.py", folder / "multi.py", settings)


def of_kinds() -> list[object]:
    """The rows as parameters; the second of a kind, and on, run in the matrix only."""
    seen: set[str] = set()
    found: list[object] = []
    for number, (kind, *rest) in enumerate(LATE):
        marks = (pytest.mark.matrix,) if kind in seen else ()
        found.append(pytest.param(*rest, id=f"{kind}, {rest[0]}, {number}", marks=marks))
        seen.add(kind)
    return found


@pytest.mark.one_in(30)
@pytest.mark.tf1
@pytest.mark.parametrize(("name", "change", "old", "new", "how", "wanted"), of_kinds())
def test_a_late_fault(
    tmp_path: Path,
    tensorflow_python: str,
    name: str,
    change: str | tuple[str, str],
    old: str,
    new: str,
    how: str,
    wanted: str,
) -> None:
    report = run(tmp_path, tensorflow_python, original(name, change), (old, new), how)
    failed = [check.name for check in report.checks if check.status == "failed"]
    if wanted.startswith("?"):
        assert wanted[1:] in [entry.what for entry in report.ledger if entry.fate == "unchecked"], report
    else:
        assert report.verdict == "failed" and wanted in failed, failed or report


@pytest.mark.one_in(5)
@pytest.mark.tf1
@pytest.mark.parametrize("name", sorted(LONG))
@pytest.mark.parametrize("change", [pytest.param("", marks=pytest.mark.matrix), "long"])
def test_the_right_conversion_passes(name: str, change: str, tensorflow_python: str, tmp_path: Path) -> None:
    report = run(tmp_path, tensorflow_python, original(name, change), ("", ""), END)
    assert report.verdict == "passed", report


@pytest.mark.tf1
def test_a_buffer_may_grow_with_the_batch(tensorflow_python: str, tmp_path: Path) -> None:
    report = run(tmp_path, tensorflow_python, original("pulled", OF_BATCHES), ("", ""), "")
    assert report.verdict == "passed", report


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("loss = sess.run(a)\n    if loss < 1: break", 3),
        ("loss = sess.run(a)\n    if worse(loss):\n        bad += 1\n    if bad > 3: break", 5),
        ("loss = sess.run(a)\n    if np.isnan(loss): break", 0),
        ("loss = sess.run(a)\n    if number > 100: break", 0),
        ("_, step = sess.run([op, a])\n    if step > 100: break", 0),
        ("sess.run(op)\n    if evaluate(sess) > 0.9: sys.exit(0)", 3),
        ("loss = sess.run(a)\n    if loss < best: saver.save(sess, 'best')", 0),
        ("loss = sess.run(a)\n    if loss < best:\n        while True:\n            if done: break", 0),
        ("loss = sess.run(a)\n    if loss < best:\n        while True:\n            if done: raise Done()", 3),
    ],
)
def test_where_a_value_ends_the_training(body: str, line: int, tmp_path: Path) -> None:
    text = f"for number in range(9):\n    {body}\n\n\ndef evaluate(sess):\n    return sess.run(accuracy)\n"
    ast.parse(text)
    (tmp_path / "single.py").write_text(text)
    assert early_stop(tmp_path / "single.py") == (f"single.py:{line}" if line else "")
    assert len(list(early_stopping(tmp_path / "single.py"))) == bool(line)


@pytest.mark.parametrize(
    ("body", "kept"),
    [
        ("loss = sess.run(a)\n    if loss < best: saver.save(sess, 'best')", {"saved": 3}),
        ("loss = sess.run(a)\n    if loss < best:\n        keep(sess)\n    else: saver.restore(sess, 'best')",
         {"saved": 3, "restored": 3}),
        ("better = sess.run(a) < best\n    if better: writer.add_summary(s, number)", {"summary": 3}),
        ("loss = sess.run(a)\n    if number % 100 == 0: saver.save(sess, 'model')", {}),
        ("loss = sess.run(a)\n    if loss < best: best = loss\n    saver.save(sess, 'model')", {}),
        ("_, step = sess.run([op, a])\n    if step % 100 == 0: saver.save(sess, 'model')", {}),
    ],
)  # fmt: skip
def test_what_a_value_decides_to_keep(body: str, kept: dict[str, int], tmp_path: Path) -> None:
    text = f"for number in range(9):\n    {body}\n\n\ndef keep(sess):\n    saver.save(sess, 'best')\n"
    (tmp_path / "single.py").write_text(text)
    assert kept_by_values(tmp_path / "single.py") == {kind: f"single.py:{line}" for kind, line in kept.items()}
