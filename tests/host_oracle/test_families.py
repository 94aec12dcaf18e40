"""Host programs do after their conversion what they did, N times as much in each step, in whatever spelling."""

from __future__ import annotations

import pytest

from tests.host_oracle.families import OTHERS, SCALED, WINDOW
from tests.host_oracle.generated import generated
from tests.host_oracle.judge import Outcome, Program, judge
from tests.host_oracle.stub import run

NEEDLESS = ("min(@B, 160)",)  # what is kept at total today, and a person would scale
SAFE = (Outcome.KEPT, Outcome.TOLD, Outcome.REFUSED)
TURN = [(family, host) for family, hosts in SCALED.items() for host in hosts]
NEAR = [(family, host) for family, hosts in OTHERS.items() for host in hosts]


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("family", "host"), TURN)
def test_a_program_of_a_family_is_scaled_in_each_spelling(family: str, host: str) -> None:
    verdict = judge(Program(host))
    kept = any(text in host for text in NEEDLESS)
    assert verdict.outcome is (Outcome.KEPT if kept else Outcome.SCALED), verdict.why


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("family", "host"), NEAR)
def test_what_no_larger_batch_is_stays_or_is_told(family: str, host: str) -> None:
    verdict = judge(Program(host))
    assert verdict.outcome in SAFE and not (verdict.scalable and not any(text in host for text in NEEDLESS))


@pytest.mark.parametrize("seed", range(40))
def test_no_generated_program_is_converted_wrongly(seed: int) -> None:
    verdict = judge(generated(seed))
    assert verdict.outcome is not Outcome.WRONG, verdict.why


@pytest.mark.parametrize(
    "host",
    [
        WINDOW.replace("160 // @B", "10").replace("%s", "i * @B:(i + 1) * @B"),
        "a = 0\nfor i in range(10):\n    sess.run(train_op, {x: data[a:a + @B]})\n    a += @B\n",
    ],
)
def test_a_walk_of_a_fixed_number_of_steps_is_not_led_past_its_end(host: str) -> None:
    verdict = judge(Program(host))
    assert verdict.outcome is Outcome.KEPT and not verdict.scalable, verdict.why


EACH = "for i in range(160 // batch_size):\n    sess.run(train_op, {x: data[i * batch_size:(i + 1) * batch_size]})\n"


@pytest.mark.parametrize(
    ("host", "steps", "rows"),
    [
        (EACH, 10, 16),
        (EACH.replace("160 //", "320 //"), 20, 16),
        (EACH.replace("(i + 1) * batch_size", ""), 10, 160),
        ("sess.run([train_op, loss], feed_dict={x: data[:3]})\n", 1, 3),
        ("sess.run(loss, {x: data})\n", 0, 0),
        ("raise ValueError\n", 0, 0),
        ("while True: pass\n", 0, 0),
        ("while True: sess.run(train_op, {x: data[:1]})\n", 600, 1),
    ],
)
def test_the_stub_records_steps_and_their_rows(host: str, steps: int, rows: int) -> None:
    trace = run(Program(host).original)
    first = [len(fed) for step in trace.steps[:1] for fed in step.values()]
    assert len(trace.steps) == steps and first == [rows] * (steps > 0)
    assert bool(trace.error) == ("raise" in host or "True" in host)


def test_prints_and_evaluations_are_recorded() -> None:
    shown = EACH + "    if i % 4 == 0: print(i)\nsess.run(loss, {x: data[150:]})\n"
    trace = run(Program(shown).original)
    assert trace.shown == [1, 5, 9] and trace.evaluated == [float(n) for n in range(150, 160)]


@pytest.mark.parametrize(
    ("host", "scalable"),
    [
        (EACH.replace("batch_size", "@B"), True),
        (EACH.replace("batch_size", "@B").replace("(i + 1) * @B", "(i + 1) * @B - 1"), False),
        (EACH.replace("batch_size", "@B").replace("160 // @B", "10"), False),  # later windows would be empty
    ],
)
def test_a_reference_is_one_whose_steps_are_two_steps_of_the_original(host: str, scalable: bool) -> None:
    assert judge(Program(host)).scalable is scalable
