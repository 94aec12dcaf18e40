"""Attributes that keep the last tower's value, and are read where the walk does not come."""

from __future__ import annotations

import pytest

from converter.rule import all_rules
from tests.scripts import codes, run

SCRIPT = next(rule.before for rule in all_rules() if rule.code == "TMG333")
SPREAD = "self.spread = tf.sqrt(tf.reduce_mean(tf.square(hidden)))"


def test_the_reader_is_named() -> None:
    (finding,) = run(SCRIPT).diagnostics
    reader = next(i for i, line in enumerate(SCRIPT.splitlines(), 1) if "model.spread" in line)
    assert finding.code == "TMG333" and f"train.py:{reader} reads" in finding.message


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("model.spread", "model.p", []),  # nothing reads it
        ("tf.sqrt(tf.reduce_mean(tf.square(hidden)))", "tf.reduce_mean(tf.square(hidden))", []),  # it is merged
        ("tf.sqrt(tf.reduce_mean(tf.square(hidden)))", "tf.square(hidden)", []),
        ("tf.sqrt(tf.reduce_mean(tf.square(hidden)))", "tf.zeros([4])", []),  # the same in all towers
        ("sess.run(train_op, {", "sess.run([train_op, model.spread], {", ["TMG393"]),
        ("sess.run(train_op, {", "keep(model.spread), sess.run(train_op, {", ["TMG210"]),
    ],
)
def test_others(old: str, new: str, found: list[str]) -> None:
    assert old in SCRIPT and codes(SCRIPT.replace(old, new)) == found


@pytest.mark.parametrize(
    ("test", "found"),
    [
        ("if False:", []),
        ("if 0:", []),
        ("if not True and sess:", []),
        ("if True:\n        pass\n    else:", []),
        ("while False:", []),
        ("if True:", ["TMG333"]),
        ("if sess:", ["TMG333"]),
        ("if False or sess:", ["TMG333"]),
        ("if False:\n        pass\n    else:", ["TMG333"]),
    ],
)
def test_a_branch_that_no_run_takes_reads_nothing(test: str, found: list[str]) -> None:
    line = "    return sess.run(model.spread, feed)\n"
    assert line in SCRIPT and codes(SCRIPT.replace(line, f"    {test}\n    {line}")) == found
