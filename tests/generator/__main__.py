"""Generates, converts and judges scripts: python -m tests.generator N SEED [--python PYTHON] [--gpus 2]."""

from __future__ import annotations

import argparse
import sys
from collections import Counter

from tests.generator.interpreter import Interpreter
from tests.generator.judge import Outcome, judge
from tests.generator.recipe import Recipe, draw, without_contrib
from tests.generator.script import write


def main() -> int:
    """Prints each script that is converted wrongly, as small as it can be made; 1 where there was one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("number", type=int)
    parser.add_argument("seed", type=int)
    parser.add_argument("--python", default=sys.executable, help="an interpreter with TensorFlow 1.15 or 2")
    parser.add_argument("--gpus", type=int, default=2)
    parser.add_argument("--no-shrink", action="store_true")
    options = parser.parse_args()
    counts: Counter[str] = Counter()
    refusals: Counter[str] = Counter()
    with Interpreter(options.python) as interpreter:
        for seed in range(options.seed, options.seed + options.number):
            recipe = without_contrib(draw(seed)) if interpreter.is_2 else draw(seed)
            outcomes = judge(recipe, interpreter, options.gpus)
            counts.update(outcome.kind for outcome in outcomes)
            refusals.update(outcome.detail for outcome in outcomes if outcome.kind == "refused")
            wrong = next((outcome for outcome in outcomes if outcome.is_wrong), None)
            stuck = next((outcome for outcome in outcomes if outcome.kind == "stuck"), None)
            if seed % 10 == 9:
                print(seed, dict(counts), flush=True)
            if wrong:
                small = recipe if options.no_shrink else shrunk(recipe, wrong, interpreter)
                report(seed, small, wrong)
            elif stuck:
                print(f"seed {seed}: the original fails: {stuck.detail[-200:]}\n{differences(recipe)}", flush=True)
    print(dict(counts), "refused:", dict(refusals.most_common()))
    return 1 if counts["crashed"] + counts["fails"] + counts["differs"] else 0


def shrunk(recipe: Recipe, wrong: Outcome, interpreter: Interpreter) -> Recipe:
    """The plainest recipe that goes wrong in the same way."""
    for simpler in recipe.simpler():
        found = judge(simpler, interpreter, wrong.gpus)
        if any(outcome.kind == wrong.kind for outcome in found):
            return shrunk(simpler, wrong, interpreter)
    return recipe


def differences(recipe: Recipe) -> str:
    """What of a recipe is not plain."""
    return ", ".join(f"{k}={v}" for k, v in vars(recipe).items() if v != getattr(Recipe(), k))


def report(seed: int, recipe: Recipe, wrong: Outcome) -> None:
    """Prints one wrong conversion with the script that shows it."""
    print(f"seed {seed}: {wrong.kind} with --batch {wrong.batch} {' '.join(wrong.args)}: {wrong.detail}")
    print(differences(recipe))
    for name, text in write(recipe).items():
        print(f"--- {name}\n{text}")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
