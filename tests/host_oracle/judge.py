"""Whether the host part of a conversion does what the original's does, N times as much in each step.

A program is written with `@B` where it reads the batch size to count rows, and `@S` where the same number counts steps.
Its reference is the same program with twice as many rows: what a person would have written for two GPUs. One with `@D`
defines the batch size itself, and reads it as it likes; it is 16 there, and 32 in the reference.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

from converter.conversion import Conversion, convert
from converter.options import Options
from converter.source import from_bytes
from tests.host_oracle.stub import Trace, run

HEAD = """\
import numpy as np
import tensorflow as tf

{define}data = np.arange({rows}.0).reshape({rows}, 1)
x = tf.placeholder(tf.float32, [None, 1])
{labels}loss = tf.reduce_mean(tf.square(tf.layers.dense(x, 1){minus}))
train_op = tf.train.AdamOptimizer(0.01).minimize(loss)
sess = tf.Session()
"""
LABELS = "labels = np.array(data)\ny = tf.placeholder(tf.float32, [None, 1])\n"


class Outcome(Enum):
    """What became of a program."""

    SCALED = "scaled"
    KEPT = "kept at total"
    REFUSED = "refused"
    TOLD = "told"
    WRONG = "wrong"
    FAILED = "the original fails"


@dataclass(frozen=True)
class Verdict:
    """What became of a program, why, and whether a person would have scaled it."""

    outcome: Outcome
    why: str = ""
    scalable: bool = True
    text: str = ""

    @property
    def is_needless(self) -> bool:
        """Whether the conversion is right, and a person would have given more."""
        return self.scalable and self.outcome in (Outcome.KEPT, Outcome.REFUSED)


@dataclass(frozen=True)
class Program:
    """The host part of a script behind HEAD, with @B and @S for the batch size.

    size: how the batch size is written. rows: of the data. sequential: how many steps at the beginning must be fed the
        original's next batches, None for all: later ones may begin anew. wrapped: the same program within a function,
        a class or a generator, with `@B` for what it is given; the reference is the bare one.
    """

    host: str
    size: str = "batch_size"
    rows: int = 160
    sequential: int | None = None
    wrapped: str = ""

    @property
    def original(self) -> str:
        """The script."""
        host = (self.wrapped or self.host).replace("@B", self.size).replace("@S", self.size)
        return self._head(16) + host.replace("@D", "16")

    @property
    def reference(self) -> str:
        """The script as a person converts it: twice as many rows, as many steps."""
        host = self.host.replace("@B", f"(2 * {self.size})").replace("@S", self.size)
        return self._head(16) + host.replace("@D", "32")

    def _head(self, size: int) -> str:
        define = "" if self.size.isdigit() or "@D" in self.host else f"{self.size} = {size}\n"
        labels, minus = (LABELS, " - y") if "y: " in self.host else ("", "")
        return HEAD.format(define=define, rows=self.rows, labels=labels, minus=minus)


def judge(program: Program) -> Verdict:
    """Converts a program, and runs original, reference and conversion."""
    original, reference = run(program.original), run(program.reference)
    if original.error or not original.steps or _has_no_rows(original):
        return Verdict(Outcome.FAILED, original.error or "no step, or none with rows")
    again = run(program.original, seed=1)
    drawn = again.steps != original.steps
    why_not = _is_no_reference(original, reference, drawn, program.sequential)
    done = convert(from_bytes("train.py", program.original.encode()), Options())
    verdict = _outcome(done, original, reference, drawn, not why_not)
    return Verdict(*verdict, not why_not, done.text or "")


def _outcome(done: Conversion, original: Trace, reference: Trace, drawn: bool, scalable: bool) -> tuple[Outcome, str]:
    codes = [f"{d.code}:{d.line} {d.message}" for d in done.diagnostics]
    if done.text is None or done.status != "converted":
        return Outcome.REFUSED, "; ".join(codes)
    converted = run(done.text)
    if scalable and not _differ(converted, reference, drawn):
        return Outcome.SCALED, ""
    if drawn and not _differ(converted, _drawn_twice(original), drawn):
        return Outcome.SCALED, ""  # as many rows as two of its batches, by another number than the batch size
    kept = any(code.startswith(("TMG303", "TMG304", "TMG339")) for code in codes)
    if not _differ(converted, original, drawn) and kept:
        return Outcome.KEPT, "; ".join(codes)
    if codes and not kept:
        return Outcome.TOLD, "; ".join(codes)
    beside = reference if scalable else original
    return Outcome.WRONG, f"{_differ(converted, beside, drawn) or 'nothing is said'} {codes}"


def _has_no_rows(trace: Trace) -> bool:
    return not any(rows for step in trace.steps for rows in step.values())


def _has_empty_batch(trace: Trace) -> bool:
    return any(not rows for step in trace.steps for rows in step.values())


def _drawn_twice(trace: Trace) -> Trace:
    """The run of a program that draws twice as many rows in each step."""
    twice = [replace(event, rows=tuple((name, rows * 2) for name, rows in event.rows)) for event in trace.events]
    return Trace([two if two.kind == "train" else event for event, two in zip(trace.events, twice, strict=True)])


def _differ(one: Trace, two: Trace, drawn: bool) -> str:
    """In what two runs differ; "" in nothing."""
    if one.error != two.error:
        return f"{one.error or 'it ends'}, not {two.error or 'an end'}"
    if len(one.steps) != len(two.steps):
        return f"{len(one.steps)} steps, not {len(two.steps)}"
    for i, (step, other) in enumerate(zip(one.steps, two.steps, strict=True)):
        if drawn and [(k, len(v)) for k, v in step.items()] != [(k, len(v)) for k, v in other.items()]:
            return f"step {i}: {[len(v) for v in step.values()]} rows, not {[len(v) for v in other.values()]}"
        if not drawn and step != other:
            return f"step {i}: {step}, not {other}"
    if one.shown != two.shown:
        return f"shown behind steps {one.shown}, not {two.shown}"
    return "" if drawn or one.evaluated == two.evaluated else "other rows are evaluated"


def _is_no_reference(original: Trace, reference: Trace, drawn: bool, sequential: int | None) -> str:
    """Why a step of the reference is not two steps of the original; "" where it is."""
    if reference.error:
        return reference.error
    steps = original.steps
    pairs = [(steps[i], steps[i + 1] if i + 1 < len(steps) else None) for i in range(0, len(steps), 2)]
    if _has_empty_batch(reference) and not _has_empty_batch(original):
        return "batches without rows"
    if len(reference.steps) not in (len(steps), len(pairs), len(steps) // 2):
        return "another number of steps"
    for (one, two), both in list(zip(pairs, reference.steps, strict=False))[:sequential]:
        for name, rows in both.items():
            joined = one[name] + (two[name] if two is not None else ())
            other = sorted(joined) != sorted(rows)  # the order in a batch changes no mean
            if len(joined) != len(rows) if drawn and two is not None else (not drawn and other):
                return f"{len(rows)} rows of {name} are not two batches"
    return ""
