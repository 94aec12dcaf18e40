"""What a conversion warns of is no fault for a long proof, and its ledger names the warning's code."""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from converter.conversion import convert
from converter.rule import Rule, all_rules
from converter.source import read
from converter.source.header import from_flags
from converter.verify import Report, VerifySettings, verify
from tests.rules.test_rules import FILE

np = pytest.importorskip("numpy")

GIVEN = Path(__file__).parent / "data" / "given.py"
WARNINGS = {rule.code: rule for rule in all_rules() if rule.kind == "warning"}
OTHER_TARGETS = "TMG370 TMG371 TMG372 TMG373 TMG374 TMG375 TMG376 TMG381 TMG382 TMG383 TMG384"  # not towers
NOT_RUN = {  # examples that need more than batches
    "TMG303": "with batches of a module that is read, nothing is refused or warned of for want of a batch size",
    "TMG305": "a function that nothing calls",
    "TMG307": "a project of several scripts",
    "TMG309": "a package that is not there",
    "TMG311": "a package that is not there",
    "TMG313": "a function of NumPy's that tf.py_func does not take",
    "TMG314": "a device that the reader chooses",
    "TMG316": "other batches for other inputs",
    "TMG330": "a device that the reader chooses",
    "TMG339": "arrays that the reader has",
    "TMG340": "other batches for other inputs",
    "TMG342": "arrays that the reader has",
    "TMG344": "thousands of steps, each of which draws a window",
    "TMG346": "steps in a thread",
    "TMG348": "a function that nothing calls",
    "TMG349": "sentences that the reader has",
    "TMG351": "a function that nothing calls",
    "TMG399": "arrays that the reader has",
}
# The script itself has to be mended, as the warning says: the proof fails until it is. A variable with a row for each
# example of a batch has another shape, and checkpoints of one script do not fit the other.
TO_MEND = {"TMG306": "session config", "TMG379": "variables"}
# The conversion that warns is of another file, or of the whole project.
ELSEWHERE = {"TMG306", "TMG350", "TMG356", "TMG390"}
RUN = sorted(WARNINGS.keys() - NOT_RUN.keys() - set(OTHER_TARGETS.split()))


def proof_of(folder: Path, rule: Rule, python: str, header: bool = True) -> Report:
    """A long proof of the conversion of a page's example, with made-up data."""
    names = FILE.findall(rule.before) or [rule.file]
    texts = FILE.split(rule.before)[2::2] or [rule.before]
    if "next_batch(" in texts[-1] and "def next_batch" not in texts[-1]:
        texts[-1] = re.sub(r"(?m)^(import tensorflow as tf)$", r"\1\nfrom given import next_batch", texts[-1], count=1)
    drawn = np.random.RandomState(0)
    for name, text in zip(names, texts, strict=True):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    single = folder / names[-1]
    shutil.copy(GIVEN, single.parent)
    for name in ("images.npy", "tests.npy"):
        np.save(single.parent / name, drawn.rand(192 if name == "images.npy" else 80, 784).astype("float32"))
    np.save(single.parent / "labels.npy", drawn.randint(10, size=192))
    np.save(single.parent / "codes.npy", drawn.randint(8, size=512))
    options = replace(from_flags(rule.options), line_length=100, configured=("line_length",))
    made = convert(read(str(single)), options, several=rule.code == "TMG331")
    assert made.text is not None, made.diagnostics
    assert rule.code in {finding.code for finding in made.diagnostics}
    multi = single.with_name("multi.py")
    multi.write_text(made.text if header else re.sub("(?m)^# .*tf-multigpu.*$", "#", made.text))
    parts = {os.path.relpath(part.path, single.parent): part.text.encode() for part in made.parts}
    return verify(single, multi, VerifySettings(python=python, steps="all", timeout=60, gpus=2), parts)


def test_each_warning_is_crossed_or_says_why_not() -> None:
    assert set(NOT_RUN) | set(OTHER_TARGETS.split()) | set(TO_MEND) | ELSEWHERE <= set(WARNINGS)
    assert len(RUN) >= 25


@pytest.mark.one_in(72)
@pytest.mark.tf1
@pytest.mark.parametrize("code", RUN)
def test_what_is_warned_of_is_no_fault(tmp_path: Path, tensorflow_python: str, code: str) -> None:
    report = proof_of(tmp_path, WARNINGS[code], tensorflow_python)
    failed = [check.name for check in report.checks if check.status == "failed"]
    assert failed == ([TO_MEND[code]] if code in TO_MEND else []), report.reason
    assert report.verdict == ("failed" if code in TO_MEND else "passed"), report.reason
    assert code in ELSEWHERE or code in {entry.what for entry in report.ledger if entry.fate != "same"}


@pytest.mark.tf1
@pytest.mark.matrix
@pytest.mark.parametrize("code", ["TMG341", "TMG345", "TMG347"])
def test_what_is_not_warned_of_is_a_fault(tmp_path: Path, tensorflow_python: str, code: str) -> None:
    """Without a header nothing says that the conversion has warned of it."""
    assert proof_of(tmp_path, WARNINGS[code], tensorflow_python, header=False).verdict == "failed"
