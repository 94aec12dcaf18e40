"""Wrong conversions that keep every step's gradients: caught by the check that looks there, or named as not checked."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from converter.verify import Report, Settings, verify

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"

# kind, fixture, what stands in the right conversion, what the wrong one has instead, the check, its words
INITIAL = [
    ("a deviation of 30", "weights_dict", "[128, n_classes], stddev=0.1)", "[128, n_classes], stddev=30.)",
     "is drawn from another distribution"),
    ("uniform for normal", "raw_in_functions", "tf.truncated_normal(shape, stddev=0.1)",
     "tf.random_uniform(shape, -0.1, 0.1)", "RandomUniform drawn instead of TruncatedNormal"),
    ("ones for zeros", "recurrent", "[num_classes], initializer=tf.zeros_initializer()",
     "[num_classes], initializer=tf.ones_initializer()", "mean 1 instead of 0"),
    ("set anew after the initialisers", "layers_cnn", "sess.run(tf.global_variables_initializer())",
     "sess.run(tf.global_variables_initializer())\nsess.run([v.assign(v * 5) for v in tf.trainable_variables()])",
     "other values when training starts"),
]  # fmt: skip


def wrong(tmp_path: Path, fixture: str, old: str, new: str) -> tuple[Path, Path]:
    """A copy of a fixture whose conversion has `new` where `old` stood."""
    folder = tmp_path / fixture
    shutil.copytree(FIXTURES / fixture, folder)
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


@pytest.mark.tf2
@pytest.mark.parametrize(
    ("fixture", "old", "new", "words"), [case[1:] for case in INITIAL], ids=[case[0] for case in INITIAL]
)
def test_initial_values(tmp_path: Path, fixture: str, old: str, new: str, words: str) -> None:
    assert_caught(verify(*wrong(tmp_path, fixture, old, new), Settings()), "initial values", words)
