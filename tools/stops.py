"""Writes the printed data into docs/architecture.md: the way of the script on that page through the program.

The page names each stop by `<!-- stop: NAME -->`, and the block below it is written here. The script itself stands on
the page. With --check nothing is written: the stops that differ are named, and the exit status is 1.
"""

from __future__ import annotations

import argparse
import dataclasses
import re
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from converter.analysis.facts import Facts
from converter.analysis.values import Batch, Input, Tensor
from converter.conversion import Conversion, convert
from converter.conversion.reading import Reading
from converter.conversion.review import AddedNames, ConvertedFile, read_again
from converter.options import Options
from converter.plan import At, Plan
from converter.planner.cases import Placed, Planned, Selected, Shared, Started, WithBatchSize, single_file
from converter.planner.passes import MEASURING, PLACING, PLANNING
from converter.planner.writing.free_names import names_in
from converter.report.results import FileResult
from converter.report.text import decisions, diagnostic, outcome
from converter.rewrite.helper_text import END
from converter.rewrite.loop_text import loop_text
from converter.source import Source, from_bytes

PAGE = Path(__file__).resolve().parent.parent / "docs" / "architecture.md"
WIDTH = 100
_SCRIPT = re.compile(r"<!-- script -->\n```python\n(.*?)```\n", re.DOTALL)
_STOP = re.compile(r"(<!-- stop: ([\w ]+) -->\n```\w+\n)(.*?)(```\n)", re.DOTALL)


def script_of(page: str) -> str:
    """The script on the page."""
    found = _SCRIPT.search(page)
    if found is None:
        raise ValueError("the page holds no script")
    return found[1]


def filled(page: str) -> str:
    """The page with every stop as the program prints it now."""
    stops = Stops(script_of(page))
    return _STOP.sub(lambda found: f"{found[1]}{stops.printed(found[2])}\n{found[4]}", page)


def stale(page: str) -> list[str]:
    """The names of the stops that are not what the program prints."""
    pairs = zip(_STOP.finditer(page), _STOP.finditer(filled(page)), strict=True)
    return [before[2] for before, after in pairs if before[3] != after[3]]


class Stops:
    """One script, and what each room of the program makes of it."""

    def __init__(self, text: str) -> None:
        self.source: Source = from_bytes("train.py", text.encode())
        self.options = Options(line_length=WIDTH)
        self.reading = Reading(self.source, self.options, {})
        self.facts: Facts = self.reading.facts
        case = Started(self.facts, self.options, single_file(text), names_in(*self.facts.walked.values()))
        self.known: list[tuple[str, Started]] = []
        for step in (*MEASURING, *PLACING, *PLANNING[:-1]):  # the last one only runs checks
            made = step.run(case)
            assert isinstance(made, Started), f"refused: {made}"
            case = made
            self.known.append((step.name, case))
        assert isinstance(case, Shared)
        self.plan: Plan = case.plans[0]
        self.made: Conversion = convert(self.source, self.options)
        assert self.made.text is not None and self.made.plan == self.plan, "convert() takes another way than this page"

    def printed(self, name: str) -> str:
        """One stop, as lines."""
        stops: dict[str, Callable[[], Iterator[str]]] = {
            "facts": self._facts,
            "passes": self._passes,
            "plan": lambda: _shown(self.plan),
            "edits": self._edits,
            "text": self._text,
            "second reading": partial(self._second_reading, lambda text: text),
            "wrong text": partial(self._second_reading, _unweighted),
            "report": self._report,
        }
        if name not in stops:
            raise ValueError(f"there is no stop {name!r}: {', '.join(stops)}")
        return "\n".join(line.rstrip() for line in stops[name]())

    def _facts(self) -> Iterator[str]:
        """What is bound at the script's top level, the training steps, and where examples are counted."""
        for access in self.facts.accesses:
            if access.write and isinstance(access.value, Tensor):
                kind = type(access.value).__name__
                kind = kind if isinstance(access.value, Input) else access.value.op or kind
                yield f"line {access.site.stmt.lineno:2}  {access.place.key:10}{kind:37}{_batch(access.value.batch)}"
        yield ""
        for step in self.facts.train_steps:
            yield f"training step: {step.function}, line {step.call.lineno}; its loss: {_batch(step.loss.batch)}"
        runs = {run.call: run for run in self.facts.runs}  # the body of a loop is walked twice
        for call, run in runs.items():
            fed = ", ".join(key.label for key, _ in run.feeds) or "nothing"
            yield f"session.run, line {call.lineno}; fed: {fed}"

    def _passes(self) -> Iterator[str]:
        """What each pass of the planner adds."""
        for name, case in self.known:
            yield f"{type(case).__name__}, after the pass '{name}'"
            yield from (f"    {line}" for line in self._added(case))

    def _added(self, case: Started) -> Iterator[str]:
        if isinstance(case, Shared):
            yield f"users: {len(case.users)} other scripts import what changes"
        elif isinstance(case, Planned):
            yield f"plans: {len(case.plans)}, shown below; noted: {len(case.noted)} warnings"
        elif isinstance(case, Placed):
            for region in case.regions:
                for field in ("before", "tower", "after"):
                    lines = sorted(region.block.body[index].lineno for index in getattr(region, field))
                    yield f"{field}: {'lines ' + ', '.join(map(str, lines)) if lines else 'nothing'}"
        elif isinstance(case, WithBatchSize):
            origins = (f"{'/'.join(sorted(self.facts.names_of(o)))}, line {o.line}" for o in case.size.origins)
            yield f"size: {'; '.join(sorted(origins))}; fixed: {case.size.fixed}"
        elif isinstance(case, Selected):
            steps = ", ".join(f"{step.function}, line {step.call.lineno}" for step in case.steps)
            yield f"steps: {steps}; unbatched: {len(case.unbatched)}"

    def _edits(self) -> Iterator[str]:
        """The lines that the loop adds, by their places, with the rules behind them."""
        text = loop_text(self.plan, self.plan.loops[0], WIDTH)
        for field in dataclasses.fields(text):
            lines = getattr(text, field.name)
            if lines:
                yield f"{field.name}:"
            yield from (_row(line.why, part) for line in lines for part in line.text.split("\n"))

    def _text(self) -> Iterator[str]:
        """The converted text below its helpers, each line with the rules of the edits that end there."""
        assert self.made.text is not None
        codes = {number: ",".join(codes) for number, codes in self.made.trace}
        lines = self.made.text.splitlines()
        for number, line in enumerate(lines[lines.index(END) + 1 :], lines.index(END) + 2):
            yield _row(codes.get(number, ""), line)

    def _second_reading(self, change: Callable[[str], str]) -> Iterator[str]:
        """How a text compares with the script: the converted one, or one that was changed."""
        assert self.made.text is not None
        helpers = {given: own for own, given in self.plan.helpers}
        written = AddedNames(helpers, frozenset({self.plan.num_gpus}), self.plan.options)
        reading = read_again(self.facts, [ConvertedFile("", self.source.text, change(self.made.text))], written)
        yield f"values compared: {reading.reads}; not compared: {len(reading.unread)}"
        yield f"differences: {len(reading.findings)}"
        for finding in reading.findings[:1]:  # without the line below the helpers, which change more often than the way
            yield f"line {finding.line}: {re.sub(r'line [0-9]+ of ', '', finding.message)}"

    def _report(self) -> Iterator[str]:
        """What the command says."""
        made = self.made
        result = FileResult("train.py", "converted", made.diagnostics, "train_mg.py", True, decisions=made.decisions)
        yield from (diagnostic(finding) for finding in result.diagnostics)
        yield outcome(result)
        yield decisions(result)


def _row(codes: str, line: str) -> str:
    return f"{codes:22}{line}"


def _batch(batch: Batch) -> str:
    """`example 0`: along axis 0; `mean`, `sum`: reduced; `free`."""
    if batch.kind == "example":
        return f"one entry an example, along axis {batch.axis}"
    return {"free": "free of the batch", "reduced": f"reduced: {batch.how}"}.get(batch.kind, batch.kind)


def _shown(value: object, name: str = "", depth: int = 0) -> Iterator[str]:
    """A dataclass as lines: its fields that are not what they are without being given."""
    indent, head = "    " * depth, f"{name} = " if name else ""
    if dataclasses.is_dataclass(value):
        held = [(field, getattr(value, field.name)) for field in dataclasses.fields(value)]
        given = [(f.name, one) for f, one in held if one != f.default and one not in ((), "", False, None)]
        yield f"{indent}{head}{type(value).__name__}{':' if given else ''}"
        for field_name, one in given:
            yield from _shown(one, field_name, depth + 1)
    elif isinstance(value, tuple) and any(dataclasses.is_dataclass(part) for part in value):
        for part in value:
            yield from _shown(part, name, depth)
    else:
        yield f"{indent}{head}{_plain(value)}"


def _plain(value: object) -> str:
    if isinstance(value, At):
        return f"{value.line}:{value.column}"
    if isinstance(value, tuple):
        return f"({', '.join(map(_plain, value))})"
    return repr(value)


def _unweighted(text: str) -> str:
    """A wrong conversion: the gradients of a tower do not carry its weight."""
    wrong = text.replace("compute_gradients(loss * weight)", "compute_gradients(loss)")
    assert wrong != text
    return wrong


def main() -> int:
    """Writes the page, or checks it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    page = PAGE.read_text(encoding="utf-8")
    if not parser.parse_args().check:
        PAGE.write_text(filled(page), encoding="utf-8")
        return 0
    names = stale(page)
    for name in names:
        print(f"docs/architecture.md: stop {name!r} is not what the program prints; run `make docs`", file=sys.stderr)
    return 1 if names else 0


if __name__ == "__main__":
    sys.exit(main())
