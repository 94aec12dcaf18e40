"""Chooses the target for a script, and takes the script through its passes."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from converter.dataclass import dataclass
from converter.diagnostics import DECISIVE, Diagnostic, Refusal
from converter.options import Options, fitting
from converter.plan.decisions import Decision, left_out
from converter.source.header import flags_changed, flags_given, lines_in_front
from converter.source.text import split_lines
from converter.syntax.changes import Change, applied
from converter.syntax.script import Script
from converter.targets.passes import Case, Fit, run
from converter.targets.registry import LEAVE_OUT, TARGETS, Target, unused_by

HEADER = "TMG009"
Trace = tuple[tuple[int, tuple[str, ...]], ...]


@dataclass(frozen=True)
class Chosen:
    """The target for a script.

    options: the conversion's, which name the target. decisions: on options of the configuration without effect for it.
    """

    target: Target
    fit: Fit
    script: Script
    options: Options
    decisions: tuple[Decision, ...] = ()


def may_be_chosen(text: str, options: Options) -> bool:
    """Whether a script, by its words alone, may be for another target than towers."""
    return any(_candidates(text, options))


def chosen(path: str, text: str, tree: ast.Module, options: Options, words: str = "") -> Chosen | None:
    """The target beside towers that is for a script; None where towers are.

    words: what else is looked at beside the text, to see which targets may be meant: words of other files.

    Raises:
        Refusal: TMG280, the target that the options name is not for it.
    """
    script = Script(path, text, tree)
    for target in _candidates(text + words, options):
        fit = target.fit(script)
        if fit is not None:
            fitted = fitting(options, unused_by(target.name, options))
            told = tuple(left_out(flags_changed(options, fitted), f"the target {target.name}"))
            return Chosen(target, fit, script, replace(fitted, target=target.name), told)
        if options.target == target.name:
            hint = "leave --target out: the tool chooses what fits the script"
            raise Refusal(Diagnostic("TMG280", path, 1, 1, message=target.lacking, hint=hint))
    return None


def _candidates(text: str, options: Options) -> Iterator[Target]:
    for target in TARGETS:
        automatic = options.target == "auto" and target.words and re.search(target.words, text)
        if automatic or options.target == target.name:
            yield target


@dataclass(frozen=True)
class Made:
    """A target's conversion of a script: its text ("" if refused), and the rules that each line comes from.

    modules: names and texts of the modules of helpers beside it. others: other files of its program that change.
    """

    text: str
    findings: tuple[Diagnostic, ...]
    trace: Trace = ()
    decisions: tuple[Decision, ...] = ()
    modules: tuple[tuple[str, str], ...] = ()
    others: tuple[Other, ...] = ()


@dataclass(frozen=True)
class Other:
    """Another file of a program, with its changed text and the rules that each line comes from."""

    path: str
    text: str
    trace: Trace


def converted(
    choice: Chosen, header: Callable[[Sequence[Decision]], str], of_other: Callable[[str], str], width: int
) -> Made:
    """Takes a script through the passes of its target.

    header: the header comment, by what they decided. of_other: that of another file of its program, by its path.
    """
    script = choice.script
    _check_options(choice)
    case = Case(script, choice.options, width)
    case = case if case.refused else run(case, choice.fit.passes)
    findings = tuple(sorted(script.findings, key=lambda finding: (finding.line, finding.column)))
    if case.refused:
        return Made("", _in_the_way(findings))
    text, trace = applied(script.text, [_header(script, header(case.decisions)), *case.changes])
    others = tuple(_other(file, case, of_other) for file in {id(file): file for file, _ in case.others}.values())
    decisions = (*case.decisions, *choice.decisions)
    return Made(text, findings, trace, decisions=decisions, modules=case.modules, others=others)


def _other(file: Script, case: Case, header: Callable[[str], str]) -> Other:
    """The converted text of another file of the program."""
    changes = [change for where, change in case.others if where is file]
    text, trace = applied(file.text, [_header(file, header(file.path)), *changes])
    return Other(file.path, text, trace)


def _in_the_way(findings: Sequence[Diagnostic]) -> tuple[Diagnostic, ...]:
    """The errors, and those first that no edit of a line mends; what a conversion would warn of is not asked for."""
    errors = [finding for finding in findings if finding.severity == "error"]
    return tuple(sorted(errors, key=lambda finding: finding.code not in DECISIVE))


def _check_options(choice: Chosen) -> None:
    """Refuse options that mean nothing for the target (TMG287)."""
    for flag in flags_given(choice.options, unused_by(choice.target.name, choice.options)):
        message = f"{flag} has no effect for the target {choice.target.name}, {choice.target.about}"
        choice.script.say(choice.fit.trains, "TMG287", message, LEAVE_OUT.format(flag=flag))


def _header(script: Script, header: str) -> Change:
    """The header comment, below the lines that must come first: shebang and coding cookie."""
    place = script.line(lines_in_front(split_lines(script.text)[:-1]) + 1)
    return Change(place, place, header.replace("\n", script.newline) + script.newline, HEADER)
