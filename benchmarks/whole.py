"""Whole proofs of right conversions: what each reaches, and whether any is called wrong.

    whole.py [--python INTERPRETER] [--timeout SECONDS] [--gpus N] [fixture ...]

For each fixture one row: the verdict of `tf-multigpu verify --whole`, how many steps were compared, how many checks
passed, what was reached and what not, the seconds, and the reason where it did not pass. Fails if one did not.
"""

from __future__ import annotations

import argparse
import sys

from converter.verify import Interpreters, Report, VerifySettings, verify_more
from tests.goldens import FIXTURES

THIRTY = (
    "accumulated_steps argparse_main attention autoencoder averaged_moments base_model clipped_gradients crf "
    "decay_per_epoch drawn_noise embedding_text fed_batch_size flags_main full_batch functions_between "
    "gradient_penalty graph_dict layers_cnn lazy_property listed_inputs logistic_regression masked_sequences "
    "model_by_flag moving_averages optimize_loss recurrent sparse_features step_functions three_train_ops weights_dict"
)


def row(name: str, report: Report) -> str:
    """One row of the table."""
    words, _, left = report.reason.partition("; not: ")
    reached = words.partition("; reached: ")[2]
    passed = sum(check.status == "passed" for check in report.checks)
    reason = "" if report.verdict == "passed" else report.reason
    cells = [name, report.verdict, report.steps, passed, reached, left, f"{report.seconds:.0f}", reason]
    return "| " + " | ".join(str(cell).replace("|", "/") for cell in cells) + " |"


def main() -> int:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("fixtures", nargs="*", default=THIRTY.split(), help="default: thirty of fixtures/*/single.py")
    parser.add_argument("--python", default=sys.executable, help="interpreter with TensorFlow")
    parser.add_argument("--timeout", type=float, default=90.0, help="seconds for each proof")
    parser.add_argument("--gpus", type=int, help="number of towers")
    given = parser.parse_args()
    settings = VerifySettings(gpus=given.gpus, python=given.python, timeout=given.timeout, whole=True)
    print("| fixture | verdict | steps | checks passed | reached | not reached | seconds | reason |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |", flush=True)
    missed = 0
    with Interpreters() as pool:
        for name in given.fixtures:
            folder = FIXTURES / name
            report = verify_more(folder / "single.py", folder / "multi.py", settings, None, pool)
            missed += report.verdict != "passed"
            print(row(name, report), flush=True)
    return int(missed > 0)


if __name__ == "__main__":
    raise SystemExit(main())
