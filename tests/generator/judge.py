"""Converts a generated script and holds what the conversion prints against what it must print.

The judge shares nothing with `verify`: both scripts run bare to their end. A conversion with `--batch total` must end
with the original's numbers, one with `--batch per-gpu` with those of the original at N times the batch size.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from converter.conversion import Conversion, convert
from converter.options import BatchMode, Options
from converter.source import read
from tests.generator.interpreter import Ended, Interpreter
from tests.generator.recipe import Recipe
from tests.generator.script import write

RESULT = re.compile(r"^RESULT (\S+) (.+)$", re.MULTILINE)
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
SIZE = 8
# Warnings that say: the towers' losses are averaged, one GPU would have computed another number (TMG302); a number of
# steps was divided by a bare number and did not change (TMG338).
INEXACT = {"TMG302", "TMG338"}


@dataclass(frozen=True)
class Outcome:
    """What became of one script under one batch mode.

    kind: "same", "refused", "crashed" (the tool), "fails" (the converted script), "differs", "stuck" (the
        original itself fails).
    """

    kind: str
    batch: BatchMode
    gpus: int
    args: tuple[str, ...] = ()
    detail: str = ""

    @property
    def is_wrong(self) -> bool:
        return self.kind in ("crashed", "fails", "differs")


def judge(recipe: Recipe, interpreter: Interpreter, gpus: int = 2) -> list[Outcome]:
    """Every batch mode, and in each every choice of the script's flags."""
    originals = _Originals(recipe, interpreter)
    found = [outcome for batch in ("total", "per-gpu") for outcome in _of_mode(originals, batch, gpus)]
    if not recipe.is_exact_in_total and not recipe.is_random:  # each tower has its own statistics: one the original's
        found += _of_mode(originals, "total", 1)
    return found


class _Originals:
    """What a recipe's script comes to before its conversion, run once for each batch size and choice of its flags."""

    def __init__(self, recipe: Recipe, interpreter: Interpreter) -> None:
        self.recipe, self.interpreter = recipe, interpreter
        self._ended: dict[tuple[int, tuple[str, ...]], Ended] = {}

    def ended(self, size: int, args: tuple[str, ...]) -> Ended:
        if (size, args) not in self._ended:
            with TemporaryDirectory(prefix="original-") as temporary:
                folder = Path(temporary, "original")
                _lay(folder, write(self.recipe, size), self.interpreter)
                self._ended[size, args] = _run(self.recipe, self.interpreter, folder, args)
        return self._ended[size, args]


def _of_mode(originals: _Originals, batch: BatchMode, gpus: int) -> Iterator[Outcome]:
    recipe, interpreter = originals.recipe, originals.interpreter
    with TemporaryDirectory(prefix="generated-") as temporary:
        converted = Path(temporary, "converted")
        _lay(converted, write(recipe, SIZE), interpreter)
        try:
            made = convert(read(str(converted / "train.py")), Options(num_gpus=gpus, batch=batch), several=True)
        except Exception as error:
            yield Outcome("crashed", batch, gpus, detail=repr(error))
            return
        if made.status != "converted":
            yield Outcome("refused", batch, gpus, detail=" ".join(d.code for d in made.diagnostics))
            return
        _put(converted, made)
        actual = made.plan.options.batch if made.plan else batch  # a size that is not found is shared
        size = SIZE * gpus if actual == "per-gpu" else SIZE
        for number, args in enumerate(recipe.flag_choices()):
            folder = Path(shutil.copytree(converted, Path(temporary, f"choice{number}")))
            before, after = originals.ended(size, args), _run(recipe, interpreter, folder, args)
            exact = recipe.is_exact_in_total if actual == "total" else recipe.is_exact_per_gpu(gpus)
            exact |= gpus == 1 and not recipe.is_random
            exact &= gpus == 1 or not any(finding.code in INEXACT for finding in made.diagnostics)
            counted = exact or recipe.stop != "patience"  # which hangs on the losses
            yield _compare(before, after, exact, counted, Outcome("same", actual, gpus, args))


def _run(recipe: Recipe, interpreter: Interpreter, folder: Path, args: tuple[str, ...]) -> Ended:
    """Runs the script that trains, and the one that reads what it has trained."""
    ended = interpreter.run(folder, "train.py", args)
    if ended.status or recipe.companion == "none":
        return ended
    second = interpreter.run(folder, f"{recipe.companion}.py", args)
    return Ended(second.status, ended.output + second.output)


def _lay(folder: Path, files: dict[str, str], interpreter: Interpreter) -> None:
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(interpreter.spelled(text))


def _put(folder: Path, made: Conversion) -> None:
    assert made.text is not None
    (folder / "train.py").write_text(made.text)
    for part in made.parts:
        (folder / Path(part.path).name).write_text(part.text)


def _compare(before: Ended, after: Ended, exact: bool, counted: bool, same: Outcome) -> Outcome:
    def but(kind: str, detail: str) -> Outcome:
        return Outcome(kind, same.batch, same.gpus, same.args, detail)

    if before.status or not RESULT.search(before.output):
        return but("stuck", before.output.strip()[-300:])
    if after.status:
        return but("fails", after.output.strip()[-500:])
    one, two = dict(RESULT.findall(before.output)), dict(RESULT.findall(after.output))
    if one.keys() != two.keys():
        return but("differs", f"other results: {sorted(one.keys() ^ two.keys())}")
    for name, text in one.items():
        if (counted if name == "steps" else exact) and not _near(text, two[name]):
            return but("differs", f"{name}: {two[name]} instead of {text}")
    return same


def _near(one: str, two: str) -> bool:
    first, second = [float(n) for n in NUMBER.findall(one)], [float(n) for n in NUMBER.findall(two)]
    return (
        len(first) == len(second)
        and NUMBER.sub("", one) == NUMBER.sub("", two)
        and all(abs(a - b) <= 1e-3 + 2e-3 * abs(a) for a, b in zip(first, second, strict=True))
    )
