"""What a verification costs, and whether it ever calls a right conversion wrong.

    verify.py [--rounds 5] [--repeats 20] [--gpus 2] [fixture ...]

Cost: the wall time of `tf-multigpu verify` over that of the two scripts run as they are, one after the other, for
as many training steps, the imports of TensorFlow included; at most 2.5. Repeats: how often each fixture's
conversion passes.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from timing import ROOT, TOOL, Figure, alternate, report, wall_seconds

from converter.verify import Settings, verify

STEPS = 3
BUDGET = 2.5
FIXTURES = ROOT / "fixtures"
BARE = [sys.executable, str(Path(__file__).with_name("bare.py")), str(STEPS)]


def cost(names: Sequence[str], gpus: int, rounds: int) -> list[Figure]:
    """The ratio for each fixture, round by round."""
    figures = []
    for name in names:
        single, multi = (str(FIXTURES / name / f"{script}.py") for script in ("single", "multi"))
        proof = [TOOL, "verify", single, multi, "--quiet", "--gpus", str(gpus), "--steps", str(STEPS)]
        measured = alternate([proof, [*BARE, single], [*BARE, multi]], rounds, wall_seconds)
        ratios = tuple(proven / (first + second) for proven, first, second in measured)
        figures.append(Figure(f"{name}: verify over the two bare runs, wall time", ratios, BUDGET))
    return figures


def repeat(names: Sequence[str], gpus: int, repeats: int) -> list[str]:
    """One row for each fixture: the verdicts, and what failed."""
    rows = ["| fixture | runs | passed | otherwise |", "| --- | --- | --- | --- |"]
    for name in names:
        folder, verdicts, reasons = FIXTURES / name, Counter[str](), Counter[str]()
        for _ in range(repeats):
            proof = verify(folder / "single.py", folder / "multi.py", Settings(gpus=gpus, steps=STEPS))
            verdicts[proof.verdict] += 1
            if proof.verdict != "passed":
                reasons[proof.reason] += 1
        others = "; ".join(f"{count} x {reason}" for reason, count in reasons.items())
        rows.append(f"| {name} | {repeats} | {verdicts['passed']} | {others} |")
        print(rows[-1], file=sys.stderr, flush=True)
    return rows


def main() -> int:
    """Prints both tables; fails when a conversion does not pass."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("fixtures", nargs="*", help="default: all of fixtures/*/single.py")
    parser.add_argument("--rounds", type=int, default=5, help="how often to time each, 0: not at all")
    parser.add_argument("--repeats", type=int, default=20, help="how often to verify each, 0: not at all")
    parser.add_argument("--gpus", type=int, default=2, help="number of towers")
    given = parser.parse_args()
    names = given.fixtures or sorted(path.parent.name for path in FIXTURES.glob("*/single.py"))
    missed = report(cost(names, given.gpus, given.rounds)) if given.rounds else 0
    if not given.repeats:
        return missed
    rows = repeat(names, given.gpus, given.repeats)
    print("\n".join(rows))
    return missed or int(any(row.split("|")[2].strip() != row.split("|")[3].strip() for row in rows[2:]))


if __name__ == "__main__":
    raise SystemExit(main())
