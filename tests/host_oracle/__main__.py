"""What becomes of generated host programs: `python -m tests.host_oracle N SEED`; without numbers, of the families."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable

from tests.host_oracle.families import OTHERS, SCALED
from tests.host_oracle.generated import generated
from tests.host_oracle.judge import Outcome, Program, Verdict, judge

SHOWN = 400  # characters of a reason


def main(args: list[str]) -> int:
    """Prints the programs whose conversion is wrong, those that are left at total without need, and counts of all."""
    if args and args[0].isdigit():
        seeds = range(int(args[1]), int(args[1]) + int(args[0]))
        return _judged("generated", ((f"seed {seed}", generated(seed)) for seed in seeds))
    wrong = 0
    for family, hosts in {**SCALED, **OTHERS}.items():
        if not args or family in args:
            wrong += _judged(family, ((family, Program(host)) for host in hosts))
    return wrong


def _judged(title: str, programs: Iterable[tuple[str, Program]]) -> int:
    counts: Counter[str] = Counter()
    for name, program in programs:
        verdict = judge(program)
        counts[verdict.outcome.value] += 1
        counts["scalable"] += verdict.scalable and verdict.outcome is not Outcome.FAILED
        counts["needless"] += verdict.is_needless
        if verdict.outcome is Outcome.WRONG or verdict.is_needless:
            _show(name, program, verdict)
    print("====", title, dict(counts), flush=True)
    return counts[Outcome.WRONG.value]


def _show(name: str, program: Program, verdict: Verdict) -> None:
    print("---", name, verdict.outcome.value, "(needless)" if verdict.is_needless else "", verdict.why[:SHOWN])
    print(program.size, "=", 16, "of", program.rows)
    print((program.wrapped or program.host).replace("@S", program.size).replace("@B", program.size))


if __name__ == "__main__":
    sys.exit(1 if main(sys.argv[1:]) else 0)
