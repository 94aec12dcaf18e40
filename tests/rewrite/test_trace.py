"""Every line that a conversion adds names the rules that it comes from."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from pathlib import Path

import pytest

from converter.conversion import Conversion
from converter.options import Options
from converter.rule import Rule, all_rules
from converter.source import read
from tests import goldens
from tests.conversions import conversion_of
from tests.rules.test_rules import converted as converted_example
from tests.scripts import INPUTS, MODEL, SCRIPT, STEP, TRAINING, run

ROOT = Path(__file__).resolve().parent.parent.parent
FIXTURES = sorted(goldens.FIXTURES.glob("*/single.py"))
CONVERSIONS = [rule for rule in all_rules() if rule.kind == "conversion"]
CODES = {rule.code for rule in CONVERSIONS} | {"TMG009"}
READS = {"TMG146"}  # rules of what is read, which write no line


def squeezed(text: str) -> list[str]:
    return ["".join(line.split()) for line in text.splitlines()]


def added(conversion: Conversion) -> Iterator[tuple[range, list[str]]]:
    """The runs of lines that `diff -w` shows as added, from one, with their text."""
    before, after = squeezed(conversion.source.text), squeezed(conversion.text or "")
    for tag, _, _, first, last in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag in ("insert", "replace"):
            yield range(first + 1, last + 1), after[first:last]


def rules_of(conversion: Conversion) -> dict[str, tuple[str, ...]]:
    """Added lines, stripped, with their rules; what only stands elsewhere is left out."""
    lines = (conversion.text or "").splitlines()
    kept = set(squeezed(conversion.source.text))
    found = {}
    for numbers, _ in added(conversion):
        for number in numbers:
            if "".join(lines[number - 1].split()) not in kept:
                found[lines[number - 1].strip()] = next(codes for line, codes in conversion.trace if line >= number)
    return found


def check(conversion: Conversion) -> None:
    """Each run of added lines ends in a line with a rule, unless that line only stands elsewhere."""
    assert conversion.status == "converted"
    marked = dict(conversion.trace)
    kept, lines = set(squeezed(conversion.source.text)), ["", *squeezed(conversion.text or ""), "end"]
    assert {code for codes in marked.values() for code in codes} <= CODES
    for numbers, texts in added(conversion):
        new = [number for number, text in zip(numbers, texts, strict=True) if text not in kept]
        while not lines[numbers.stop]:  # blank lines behind what is added may be the script's own
            numbers = range(numbers.start, numbers.stop + 1)
        ends = [number for number in numbers if number in marked]
        assert not new or (ends and ends[-1] >= new[-1]), texts


@pytest.mark.one_in(20)
@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.parent.name)
@pytest.mark.parametrize("batch", ["per-gpu", "total"])
def test_every_line_added_to_a_fixture_has_a_rule(path: Path, batch: str) -> None:
    check(conversion_of(read(str(path)), Options(num_gpus=2, batch=batch)))


@pytest.mark.parametrize("rule", CONVERSIONS, ids=lambda rule: rule.code)
def test_a_rule_is_named_where_its_example_shows_it(rule: Rule) -> None:
    conversion = converted_example(rule, rule.before)
    check(conversion)
    implicit = ("TMG114", "TMG136")  # batches of tf.data and of queues are cut as others are
    wanted = "TMG103" if rule.code in implicit else rule.code
    assert any(wanted in codes for _, codes in conversion.trace) == (rule.code not in READS)


def test_what_each_line_comes_from() -> None:
    conversion = run(SCRIPT, num_gpus=2)
    found = rules_of(conversion)
    wanted = {
        "num_gpus = 2": "TMG112",
        "def shard(tensors, gpu):": "TMG103",
        "def sum_gradients(tower_grads):": "TMG101",
        "batch_size = 32 * num_gpus": "TMG110",
        "optimizer = tf.train.GradientDescentOptimizer(0.1)": "TMG101",
        "X_batch, Y_batch = X, Y": "TMG103",
        "for gpu in range(num_gpus):": "TMG101",
        "tower_loss.append(loss * weight)": "TMG104",
        "loss = tf.add_n(tower_loss)": "TMG104",
        "train_op = optimizer.apply_gradients(sum_gradients(tower_grads))": "TMG101",
        "with tf.Session(config=config) as sess:": "TMG111",
    }
    assert {line: found[line] for line in wanted} == {line: (code,) for line, code in wanted.items()}


def test_lines_that_several_rules_ask_for_name_them_all() -> None:
    found = rules_of(run(SCRIPT, num_gpus=2))
    assert found["tower_loss, tower_grads = [], []"] == ("TMG104", "TMG101")
    (header,) = (codes for line, codes in found.items() if line.startswith("with tf.device(tower"))
    assert header == ("TMG101", "TMG109")


def test_moved_statements() -> None:
    model = MODEL.replace("loss =", "rate = tf.Variable(0.1)\nloss =")
    conversion = run(INPUTS + model + STEP.replace("0.1", "rate") + TRAINING)
    line = (conversion.text or "").splitlines().index("rate = tf.Variable(0.1)") + 1
    assert dict(conversion.trace)[line] == ("TMG121",)


def test_a_scaled_learning_rate() -> None:
    parts = "opt = tf.train.GradientDescentOptimizer(0.1)\ntrain_op = opt.minimize(loss)\n"
    found = rules_of(run(INPUTS + MODEL + parts + TRAINING, num_gpus=2, scale_lr="linear"))
    assert found["opt = tf.train.GradientDescentOptimizer(0.1 * num_gpus)"] == ("TMG113",)


def test_marks_leave_no_trace_in_the_text() -> None:
    script = SCRIPT.replace("batch_size = 32", "batch_size = 32  # of one GPU #").replace("loss)\n", "loss)  \n")
    text = run(script).text or ""
    assert "\0" not in text
    assert "batch_size = 32 * num_gpus  # of one GPU #\n" in text
    assert "sum_gradients(tower_grads))  \n" in text
