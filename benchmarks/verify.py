"""What a verification costs, and whether it ever calls a right conversion wrong.

    verify.py [--rounds 5] [--repeats 20] [--gpus 2] [--python INTERPRETER] [--processor] [fixture ...]

Cost: the wall time of `tf-multigpu verify` over that of the two scripts run as they are, one after the other, for
as many training steps, the imports of TensorFlow included; at most 2.5. And the processor time of all processes of a
proof over that of importing TensorFlow once and running the scripts' steps in three forked processes: the
conversion's, the original's, and the conversion's once more, as each runs in a proof; at most 1.3. Imports: the
processor time of a proof, and of each of several proofs, with one import of TensorFlow over that of a proof whose
scripts import it themselves. Repeats: how often each fixture's conversion passes.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from timing import TOOL, Figure, alternate, compile_tool, cpu_seconds, ratios, report, wall_seconds

from converter.verify import VerifySettings, verify
from tests.goldens import FIXTURES

STEPS = 3
BUDGET = 2.5
PROCESSOR = 1.3  # over one import of TensorFlow and three runs of the steps
IMPORTED_ONCE = 0.85  # of the processor time, in one proof
IMPORTED_ONCE_FOR_ALL = 0.5  # in each of SEVERAL proofs
SEVERAL = 5
BARE = [sys.executable, str(Path(__file__).with_name("bare.py")), str(STEPS)]


def cost(names: Sequence[str], gpus: int, rounds: int) -> list[Figure]:
    """The ratio for each fixture, round by round."""
    figures = []
    for name in names:
        single, multi = (str(FIXTURES / name / f"{script}.py") for script in ("single", "multi"))
        proof = [TOOL, "verify", single, multi, "--quiet", "--gpus", str(gpus), "--steps", str(STEPS)]
        measured = alternate([proof, [*BARE, single], [*BARE, multi]], rounds, wall_seconds)
        taken = tuple(proven / (first + second) for proven, first, second in measured)
        figures.append(Figure(f"{name}: verify over the two bare runs, wall time", taken, BUDGET))
    return figures


def processor_time(names: Sequence[str], gpus: int, rounds: int, python: str) -> list[Figure]:
    """The processor time of a proof over that of one import and the three runs that a proof is made of."""
    figures = []
    for name in names:
        single, multi = (str(FIXTURES / name / f"{script}.py") for script in ("single", "multi"))
        proof = [TOOL, "verify", single, multi, "--quiet", "--gpus", str(gpus), "--steps", str(STEPS)]
        floor = [python, BARE[1], str(STEPS), multi, single, multi]
        measured = ratios([*proof, "--python", python], floor, rounds)
        figures.append(Figure(f"{name}: proof over one import and three runs, processor time", measured, PROCESSOR))
        print(figures[-1].row(), file=sys.stderr, flush=True)
    return figures


# What a proof is run by; its arguments: how often, whether all share one import, the interpreter, both scripts.
PROOFS = """
import sys
from pathlib import Path
from converter.verify import Interpreters, Settings, verify
from converter.verify.processes import interpreters
times, way, python, single, multi, gpus, steps = sys.argv[1:]
if way == 'each script':
    interpreters._why_alone = lambda environment: 'for comparison'
with Interpreters() as pool:
    for _ in range(int(times)):
        settings = Settings(gpus=int(gpus), steps=int(steps), python=python)
        assert verify(Path(single), Path(multi), settings, pool=pool).verdict == 'passed'
"""


def imports(names: Sequence[str], gpus: int, rounds: int, python: str) -> list[Figure]:
    """The processor time with one import of TensorFlow over that with one for each script, round by round."""
    figures = []
    for name in names:
        scripts = [str(FIXTURES / name / f"{script}.py") for script in ("single", "multi")]

        def proofs(times: int, way: str, scripts: Sequence[str] = scripts) -> list[str]:
            return [sys.executable, "-c", PROOFS, str(times), way, python, *scripts, str(gpus), str(STEPS)]

        commands = [proofs(1, "each script"), proofs(1, "once"), proofs(SEVERAL, "once")]
        measured = alternate(commands, rounds, cpu_seconds)
        print(f"{name}: seconds of processor time {measured}", file=sys.stderr, flush=True)
        what = f"{name}: processor time with one import of TensorFlow"
        one, several = (tuple(row[index] / row[0] for row in measured) for index in (1, 2))
        figures.append(Figure(f"{what}, one proof", one, IMPORTED_ONCE))
        each = tuple(ratio / SEVERAL for ratio in several)
        figures.append(Figure(f"{what}, each of {SEVERAL} proofs", each, IMPORTED_ONCE_FOR_ALL))
    return figures


def repeat(names: Sequence[str], gpus: int, repeats: int) -> list[str]:
    """One row for each fixture: the verdicts, and what failed."""
    rows = ["| fixture | runs | passed | otherwise |", "| --- | --- | --- | --- |"]
    for name in names:
        folder, verdicts, reasons = FIXTURES / name, Counter[str](), Counter[str]()
        for _ in range(repeats):
            proof = verify(folder / "single.py", folder / "multi.py", VerifySettings(gpus=gpus, steps=STEPS))
            verdicts[proof.verdict] += 1
            if proof.verdict != "passed":
                reasons[proof.reason] += 1
        others = "; ".join(f"{count} x {reason}" for reason, count in reasons.items())
        rows.append(f"| {name} | {repeats} | {verdicts['passed']} | {others} |")
        print(rows[-1], file=sys.stderr, flush=True)
    return rows


def main() -> int:
    """Prints both tables; fails when a conversion does not pass."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("fixtures", nargs="*", help="default: all of fixtures/*/single.py")
    parser.add_argument("--rounds", type=int, default=5, help="how often to time each, 0: not at all")
    parser.add_argument("--repeats", type=int, default=20, help="how often to verify each, 0: not at all")
    parser.add_argument("--gpus", type=int, default=2, help="number of towers")
    parser.add_argument("--python", default=sys.executable, help="interpreter for the figures of imports")
    parser.add_argument("--processor", action="store_true", help="time no more than the processor time of proofs")
    given = parser.parse_args()
    names = given.fixtures or sorted(path.parent.name for path in FIXTURES.glob("*/single.py"))
    missed = 0
    if given.rounds:
        compile_tool()
        figures = processor_time(names, given.gpus, given.rounds, given.python)
        if not given.processor:
            figures += cost(names, given.gpus, given.rounds) + imports(names, given.gpus, given.rounds, given.python)
        missed = report(figures)
    if not given.repeats:
        return missed
    rows = repeat(names, given.gpus, given.repeats)
    print("\n".join(rows))
    return missed or int(any(row.split("|")[2].strip() != row.split("|")[3].strip() for row in rows[2:]))


if __name__ == "__main__":
    raise SystemExit(main())
