"""The engine's one public function: a source and options in, a conversion out."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Literal

from converter import __version__
from converter.conversion.large_stack import with_large_stack
from converter.conversion.project_style import Style, in_style, style_of
from converter.conversion.python2 import of_python_2, quoted, source_of, text_of
from converter.conversion.reading import Reading
from converter.dataclass import dataclass
from converter.diagnostics import Diagnostic, Refusal
from converter.options import Options, fitting
from converter.source import (
    is_pipeline,
    leads_to_tensorflow,
    lost_blank,
    mixed_indents,
    parse,
    read,
    same_file,
    skips_file,
    too_deep,
    with_lines,
)
from converter.source.header import (
    HELPERS,
    UNSEALED,
    Header,
    HeaderError,
    command_flags,
    find_header,
    flags_changed,
    flags_given,
    format_header,
    is_converted,
    sealed,
    to_flags,
)
from converter.source.python2 import restored
from converter.source.quick_checks import imports_keras, may_train_by_imported_keras, may_train_by_library
from converter.source.viewed import viewed

if TYPE_CHECKING:
    import ast

    from converter.analysis.facts import Decisions, Facts
    from converter.plan import Plan
    from converter.plan.decisions import Command, Decision, NamedFile
    from converter.planner.cases import Sources
    from converter.planner.outcome import Refused
    from converter.planner.own.examples import OwnExamples
    from converter.planner.passes import Decided, LossPlan
    from converter.planner.towers.global_loss.named_calls import CallsOnOwnLines
    from converter.rewrite import Rewritten
    from converter.source import Source
    from converter.source.project.users import ProjectFiles
    from converter.source.separated import Separated
    from converter.targets.choice import Other

Status = Literal["converted", "unchanged", "refused"]

ALREADY = ("TMG216", "TMG217")  # refusals of scripts that use several GPUs already
FLAT = 59  # levels of a tree, without contexts and operators, up to which nothing is looked at twice


@dataclass(frozen=True)
class OtherFile:
    """Another file of the project that changes with the script, or is added: then `source` is None.

    path: where it lies, as the script's own is given. plan, trace, named: as of the script's conversion.
    """

    path: str
    source: Source | None
    text: str
    plan: Plan | None = None
    trace: tuple[tuple[int, tuple[str, ...]], ...] = ()
    named: Separated | None = None


@dataclass(frozen=True)
class Conversion:
    """The result for one script.

    status: "converted" (`text` differs from the source), "unchanged" (nothing to do: no
        TensorFlow in it, or converted before), "refused" (error diagnostics say why).
    text: the converted script, None unless converted.
    plan: the decision behind it, None unless one was reached.
    parts: what else of the project changes; the module of the helpers comes last.
    trace: lines of the text, from one, at which an edit ends, with the codes of the rules behind it; an
        added line belongs to the first of them that does not come before it.
    named: the text that the plan belongs to, where calls of the script got names first; None where that is the
        source's.
    unread: what of the text could not be held against the original before it was given out, and differences of
        which that is not sure.
    decisions: what was decided, for whoever runs the tool.
    trains: False if the script only builds a training step that no run of its own takes, as a prediction does.
    reads: the project's files that a refused script reads, as its own path is given.
    above: the folders above the script that must be on Python's path for it, and those in which helpers lie.
    """

    source: Source
    status: Status
    text: str | None
    diagnostics: tuple[Diagnostic, ...]
    plan: Plan | None = None
    parts: tuple[OtherFile, ...] = ()
    trace: tuple[tuple[int, tuple[str, ...]], ...] = ()
    named: Separated | None = None
    unread: tuple[str, ...] = ()
    decisions: tuple[Decision, ...] = ()
    trains: bool = True
    reads: tuple[str, ...] = ()
    above: tuple[str, ...] = ()


def convert(
    source: Source,
    options: Options,
    several: bool = False,
    originals: Mapping[str, bytes] | None = None,
    again: bool = False,
    output: str | None = None,
) -> Conversion:
    """Converts one script; never raises for what a script contains.

    several: whether other files of its project may change with it; else it is refused where they must.
    originals: what other files are to be read as, by absolute path, where this run wrote over them; and what the module
        of helpers beside the script has to go on having, where this run wrote it for other scripts into another folder.
    again: whether the options are a conversion's own, which has looked for other scripts of the project and has held
        its text against the original.
    output: a folder that conversions go to; scripts in it are no part of the project.
    """
    done = _convert(source, options, several, originals or {}, again, output)
    said = with_advice(done.diagnostics, source) if done.status == "refused" else done.diagnostics
    done = replace(done, diagnostics=with_lines(said, source, originals or {}))
    if source.notebook is None:
        return done
    told = source.notebook.told
    return replace(
        done,
        decisions=tuple(replace(one, text=told(one.text)) for one in done.decisions),
        unread=tuple(map(told, done.unread)),
    )


def _convert(
    source: Source, options: Options, several: bool, originals: Mapping[str, bytes], again: bool, output: str | None
) -> Conversion:
    if source.text.startswith(HELPERS) or not leads_to_tensorflow(source.path, source.code):
        return Conversion(source, "unchanged", None, ())
    if is_converted(source.text):
        return Conversion(source, "unchanged", None, (_converted_before(source),))
    if pragma := skips_file(source.text):
        message, hint = "the script is not to be converted", "a comment says so: # tf-multigpu: skip-file"
        skipped = Diagnostic(
            "TMG032", source.path, pragma.line, pragma.column, message=message, hint=hint, severity="info"
        )
        return Conversion(source, "unchanged", None, (skipped,))

    if is_pipeline(source.path, source.data):
        return _pipeline(source, options)

    from converter.source.project.users import ProjectFiles

    project = ProjectFiles(source.path, originals, output, known=again, alone=not several)

    def made() -> Conversion:
        return _in_cells(_in_python_2(_converted(source, options, several, originals, project, again)))

    try:
        return with_large_stack(made)
    except Refusal as refusal:
        return Conversion(source, "refused", None, (refusal.diagnostic,))
    except RecursionError:
        return Conversion(source, "refused", None, (too_deep(source, 0).diagnostic,))


def _in_python_2(done: Conversion) -> Conversion:
    """The conversion with Python 2 texts: views that were changed are translated back."""
    files = [done.source, *(part.source for part in done.parts if part.source is not None)]
    return replace(
        done,
        source=source_of(done.source),
        text=None if done.text is None else text_of(done.source, done.text),
        parts=tuple(
            replace(part, source=source_of(part.source), text=text_of(part.source, part.text)) if part.source else part
            for part in done.parts
        ),
        decisions=(*map(quoted, done.decisions), *(of_python_2(files) if done.text is not None else ())),
        unread=tuple(map(restored, done.unread)),
    )


def _in_cells(done: Conversion) -> Conversion:
    """The conversion of a notebook, its statements put back into cells; raises Refusal where they do not fit."""
    from converter.plan.decisions import Decision

    notebook = done.source.notebook
    if notebook is None or done.text is None:
        return done
    settled = notebook.settled(done.text)
    trace = sorted((settled.moved[line - 1], codes) for line, codes in done.trace if settled.moved[line - 1])
    return replace(
        done,
        text=sealed(settled.script.text),
        trace=tuple(trace),
        diagnostics=(*done.diagnostics, *notebook.warnings()),
        decisions=(*done.decisions, *(Decision("cells", text) for text in settled.told())),
    )


def _converted(
    source: Source,
    options: Options,
    several: bool,
    originals: Mapping[str, bytes],
    project: ProjectFiles,
    again: bool,
) -> Conversion:
    """Source to facts to plans to texts, all of them as Python 3 reads them; raises Refusal."""
    from converter.conversion.constants import with_constants
    from converter.plan.decisions import decisions_of
    from converter.planner.outcome import Refused
    from converter.planner.steps import takes_a_step

    source = viewed(source)
    by_target = _by_target(source, options, several)
    if by_target is not None:
        return by_target
    options, left = _for_towers(source, options)
    asked = _asked(source, options, originals)
    if asked.beyond:
        return Conversion(source, "refused", None, asked.beyond)
    options = asked.options
    made_plans, read = with_constants(asked.reading, lambda read: _decided(read, several, project))
    if isinstance(made_plans, Refused):
        return _refused(source, read, _with_names(read.placed(made_plans.findings), asked.unknown))
    plans = tuple(_as_asked(plan, options) for plan in made_plans.plans)
    plans = tuple(_with_reasons(plan, read.named.get(plan.path)) for plan in plans)
    decided = decisions_of(plans, _shown(read, plans), {finding.code for finding in made_plans.findings})
    width = _style(source.path, options).width
    made = []
    for plan in plans:
        header = _header(read.original(plan.path), plan, source, decided)
        file, tree = read.file(plan.path), read.facts.tree_of(plan.path)
        one = _edited(file, read.facts, plan, header, width)
        one = _remarked(file, tree, one, options, made_plans.findings, width)
        made.append(_in_style(file, one, options))
    return Conversion(
        source=source,
        status="converted",
        text=sealed(made[0].text),
        diagnostics=(*read.placed(made_plans.findings), *asked.unknown, *asked.unused),
        plan=plans[0],
        parts=tuple(_parts(source, options, read, plans, made, project)),
        trace=made[0].trace,
        named=read.named.get(""),
        unread=() if again else _read_again(read, plans, made),
        decisions=(*decided, *left),
        trains=takes_a_step(read.facts),
        above=_above(read, plans[0]),
    )


def _for_towers(source: Source, options: Options) -> tuple[Options, tuple[Decision, ...]]:
    """Options without those that have no effect on towers; raises Refusal (TMG287) if the command line gives one."""
    from converter.plan.decisions import left_out
    from converter.targets.registry import LEAVE_OUT, UNUSED_BY_TOWERS

    fitted = fitting(options, UNUSED_BY_TOWERS)
    for flag in flags_given(fitted, UNUSED_BY_TOWERS):
        message = f"{flag} has no effect for towers, which share one process: it is for --target cluster"
        raise Refusal(Diagnostic("TMG287", source.path, 1, 1, message=message, hint=LEAVE_OUT.format(flag=flag)))
    return fitted, tuple(left_out(flags_changed(options, fitted), "towers"))


def _refused(source: Source, read: Reading, findings: tuple[Diagnostic, ...]) -> Conversion:
    """A refusal, with whether the script trains at all and which files of the project it reads."""
    from converter.planner.steps import takes_a_step

    facts = read.facts
    return Conversion(source, "refused", None, findings, trains=takes_a_step(facts), reads=tuple(facts.modules))


def _above(read: Reading, plan: Plan) -> tuple[str, ...]:
    """The folders above the script that are searched for modules, and that of the helpers."""
    from converter.planner.writing.aliases import helper_home

    found = [found.folder for found, _ in read.facts.found.values() if found.above]
    helpers = helper_home(read.file("").path, plan)
    found += [helpers] if plan.helper_folder and helpers not in read.facts.project.paths else []
    return tuple(dict.fromkeys(found))


def _shown(read: Reading, plans: Sequence[Plan]) -> dict[str, NamedFile]:
    """The files that plans change or speak of, by their paths."""
    from converter.plan import decisions

    counted = (at.path for at in plans[0].counted if not at.path or at.path in read.facts.modules)
    paths = dict.fromkeys((*(plan.path for plan in plans), *counted))
    return {path: decisions.NamedFile(os.path.basename(read.file(path).path), read.file(path).text) for path in paths}


@dataclass(frozen=True)
class _Asked:
    """A script's reading with all that options and comments say of its inputs.

    options: those of the run, without what comments override. unknown, unused, beyond: findings about names that no
    input has, comments without effect, and axes that an input does not have.
    """

    reading: Reading
    options: Options
    unknown: tuple[Diagnostic, ...]
    unused: tuple[Diagnostic, ...]
    beyond: tuple[Diagnostic, ...]


def _asked(source: Source, options: Options, originals: Mapping[str, bytes]) -> _Asked:
    """Reads a script; raises Refusal where comments contradict each other."""
    from converter.conversion.named_inputs import (
        axes_beyond_rank,
        before_the_project,
        marks_of,
        unknown_names,
        unused_marks,
        with_marks,
    )

    reading = Reading(source, options, originals)
    facts, marks = reading.facts, marks_of(source, reading.facts)
    kept = before_the_project(options, facts, marks)
    unknown, unused = unknown_names(kept, facts), unused_marks(kept, facts, marks)
    if (marked := with_marks(kept, facts, marks)) != options:
        reading = Reading(source, marked, originals)
    beyond = axes_beyond_rank(marked, reading.facts)
    return _Asked(reading, kept, tuple(unknown), tuple(unused), beyond)


def _parts(
    source: Source,
    options: Options,
    read: Reading,
    plans: Sequence[Plan],
    made: Sequence[Rewritten],
    project: ProjectFiles,
) -> list[OtherFile]:
    """The other files that change, and the module of their helpers."""
    from converter.planner.writing.aliases import import_line
    from converter.rewrite import helper_module_text, whole_module

    parts = [
        OtherFile(
            path=read.file(plan.path).path,
            source=read.original(plan.path),
            text=sealed(one.text),
            plan=plan,
            trace=one.trace,
            named=read.named.get(plan.path),
        )
        for plan, one in zip(plans[1:], made[1:], strict=True)
    ]
    if plans[0].helper_module and options.helpers != "package":
        name = plans[0].helper_module.lstrip(".")
        path = os.path.join(os.path.dirname(source.path), plans[0].helper_folder, name + ".py")
        path = os.path.normpath(path) if plans[0].helper_folder else path
        text = whole_module()
        if options.helpers == "inline":
            text = helper_module_text(plans[0], import_line(read.facts), held_helpers(path, project.originals))
            text, _ = in_style(None, text, (), _style(path, options))
        parts.append(OtherFile(path, None, sealed(text)))
    return parts


def _remarked(
    file: Source, tree: ast.Module, made: Rewritten, options: Options, findings: Sequence[Diagnostic], width: int
) -> Rewritten:
    """A converted file with its warnings above their lines, where the options ask for that."""
    if options.warnings == "report":
        return made
    from converter.conversion.warning_comments import with_remarks

    mine = [finding for finding in _not_ignored(file, findings) if same_file(finding.path, file.path)]
    text, trace = with_remarks(file.text, tree, made.text, made.trace, mine, width)
    return replace(made, text=text, trace=trace)


def _in_style(file: Source, made: Rewritten, options: Options) -> Rewritten:
    """A converted file as the project's formatter would write it; a notebook is returned unchanged."""
    style = _style(file.path, options)
    if file.notebook is not None:
        return made
    text, trace = in_style(file.text, made.text, made.trace, style)
    return replace(made, text=text, trace=trace)


def _style(path: str, options: Options) -> Style:
    """The style of a file's project; where the options give a line length, they go before its formatter."""
    return Style(width=options.line_length) if options.line_length else style_of(path)


def _not_ignored(file: Source, findings: Sequence[Diagnostic]) -> Sequence[Diagnostic]:
    """Findings without the warnings that comments of a file take away."""
    if "tf-multigpu:" not in file.text:
        return findings
    from converter.source.pragmas import pragmas_in, without_ignored

    kept = without_ignored(file.path, pragmas_in(file.text), tuple(findings))
    return [finding for finding in kept if finding in findings]


def _with_reasons(plan: Plan, named: Separated | None) -> Plan:
    """A plan that says why statements read names where they had calls (TMG167)."""
    from converter.plan import At, Replace

    uses = named.uses() if named else ()
    kept = [
        Replace(At(line, column, plan.path), At(line, column + len(name), plan.path), name, "TMG167")
        for line, column, name in uses
    ]
    return replace(plan, replaces=(*plan.replaces, *kept)) if kept else plan


def _read_again(read: Reading, plans: Sequence[Plan], made: Sequence[Rewritten]) -> tuple[str, ...]:
    """Values of the converted texts that could not be compared with the original; raises Refusal if some differ."""
    from converter.conversion.review import AddedNames, ConvertedFile, read_again

    if plans[0].options.traced:
        return ("facts from the run have other places in the converted text",)
    helpers = {given: own for plan in plans for own, given in plan.helpers}
    written = AddedNames(helpers, frozenset(plan.num_gpus for plan in plans), plans[0].options)
    texts = [ConvertedFile(p.path, read.file(p.path).text, one.text) for p, one in zip(plans, made, strict=True)]
    reading = read_again(read.facts, texts, written)
    if reading.findings:
        raise Refusal(read.placed(reading.findings[:1])[0])
    doubts = dict.fromkeys(f"line {doubt.line}: {doubt.message}" for doubt in reading.doubts)
    return (*reading.unread, *doubts)


def _decided(read: Reading, several: bool, project: ProjectFiles) -> tuple[Decided | Refused, Reading]:
    """The plans and the text that they belong to, or why there are none.

    Each tower takes a batch of its own where a pipeline gives single examples with shapes of their own, and where
    batches that are fed cannot be cut, or cannot grow.
    """
    from converter.planner.own.examples import own_examples
    from converter.planner.passes import Decided
    from converter.planner.steps import training_steps
    from converter.planner.towers.own.batches import own_batches

    if read.options.batch == "total":
        return _by_batches(read, several, project)
    steps = [*chain(*training_steps(read.facts))]
    taken = _by_examples(read, several, project, own_batches(read.facts, steps))
    if taken is not None:
        return taken, read
    made, named = _by_batches(read, several, project)
    if isinstance(made, Decided) and made.plans[0].options.batch != "total":
        return made, named
    fed = _by_examples(read, several, project, own_examples(read.facts, [*chain(*training_steps(read.facts))]))
    return (made, named) if fed is None else (fed, read)


def _by_examples(read: Reading, several: bool, project: ProjectFiles, own: OwnExamples | None) -> Decided | None:
    """The plans where each tower has inputs of its own; None where there are none."""
    from converter.planner.passes import Decided

    if own is None:
        return None
    facts = read.facts
    read.again(own.decisions)
    made = _plans(read, several, project, "averaged", own.decisions)
    if isinstance(made, Decided):
        return made
    read.facts = facts
    return None


def _by_batches(read: Reading, several: bool, project: ProjectFiles) -> tuple[Decided | Refused, Reading]:
    """As `_decided`, where towers share the batch of each step."""
    from converter.planner.passes import Decided
    from converter.planner.towers.global_loss.named_calls import CallsOnOwnLines

    made = _plans(read, several, project, "try")
    if not isinstance(made, CallsOnOwnLines):
        return made, read
    named = read.with_names(made.calls)
    if named is not None:
        once = _plans(named, several, project, "once")
        if isinstance(once, Decided):
            return once, named
    averaged = _plans(read, several, project, "averaged")
    assert not isinstance(averaged, CallsOnOwnLines)
    return averaged, read


def _plans(
    read: Reading, several: bool, project: ProjectFiles, losses: LossPlan, known: Decisions | None = None
) -> Decided | Refused | CallsOnOwnLines:
    """The plans for a text, after as many readings as it takes; known: decisions that it was read with already."""
    from converter.planner.cases import Sources
    from converter.planner.outcome import Refused
    from converter.planner.passes import is_further

    folder = os.path.dirname(read.file("").path)

    def taken(module: str, define: str) -> bool:
        path = os.path.join(folder, module)
        held = held_helpers(path + ".py", project.originals)
        there = held or os.path.exists(path + ".py")
        return os.path.isdir(path) or (bool(there) and f"\n{define}\n" not in held)

    def text(path: str) -> str:
        return read.file(path).text

    own = read.facts.modules
    found = (one.folder for one, _ in read.facts.found.values() if one.above)
    project = replace(project, above=tuple(dict.fromkeys(found)))
    sources = Sources(
        read=text,
        several=several,
        taken=taken,
        users=partial(project.users, own),
        mention=partial(project.mentions, own),
        readers=project.graph_readers,
        asked=project.names_asked,
        rows=project.rows_taken,
    )
    singles: Decisions = dict.fromkeys(read.facts.may_be_single)
    if not singles:
        return _after_readings(read, sources, losses, known)
    facts = read.facts
    read.again({**(known or {}), **singles})
    one = _after_readings(read, sources, losses, {**(known or {}), **singles})
    if not isinstance(one, Refused):
        return one
    last, read.facts = read.facts, facts  # single examples may share the towers with batches
    made = _after_readings(read, sources, losses, known)
    if isinstance(made, Refused) and is_further(one, made):
        read.facts = last
        return one
    return made


def _after_readings(
    read: Reading, sources: Sources, losses: LossPlan, known: Decisions | None
) -> Decided | Refused | CallsOnOwnLines:
    """The plans for a text, or why there are none, by the last of the readings that its inputs take."""
    from converter.planner.outcome import Refused, Reread, after_readings
    from converter.planner.passes import decide, is_further

    first = read.facts
    made: Decided | Refused | CallsOnOwnLines = after_readings(
        lambda: decide(read.facts, read.options, sources, losses), read.again, known
    )
    if isinstance(made, Refused) and read.facts is not first:
        last, read.facts = read.facts, first  # as the script was read first, towers may make the inputs themselves
        handed = decide(first, read.options, sources, losses, rereads=False)
        if not isinstance(handed, Reread) and (not isinstance(handed, Refused) or is_further(handed, made)):
            return handed
        read.facts = last
    return made


def with_advice(findings: tuple[Diagnostic, ...], source: Source) -> tuple[Diagnostic, ...]:
    """Add to the refusal of a script that uses several GPUs already how to set their number in that script."""
    own = [finding for finding in findings if finding.code in ALREADY and finding.path == source.path]
    if not own:
        return findings
    from converter.syntax.lint.ways import advice
    from converter.syntax.script import Script

    source = viewed(source)
    more = advice(Script(source.path, source.text, parse(source)))
    if not more:
        return findings
    return tuple(replace(one, hint=f"{more}\nor {one.hint}") if one in own else one for one in findings)


def _by_target(source: Source, options: Options, several: bool) -> Conversion | None:
    """The conversion for another target than towers, None where towers are right; raises Refusal."""
    from converter.targets.choice import chosen, converted, may_be_chosen

    words = _words_of_imports(source)
    if words or may_train_by_library(source.code):
        from converter.targets.other_libraries import trained_elsewhere

        trained = trained_elsewhere(source.path, source.text, parse(source), options)
        if trained is not None:
            raise Refusal(trained)
    if not may_be_chosen(source.text + words, options):
        return None
    tree = parse(source)
    choice = chosen(source.path, source.text, tree, options, words)
    if choice is None:
        return None
    style = _style(source.path, choice.options)
    made = converted(
        choice,
        lambda decided: _decided_header(source, choice.options, decided),
        lambda path: _header_of_part(read(path), source, choice.options),
        style.width,
    )
    if made.others and not several:
        raise Refusal(_other_files(source, [other.path for other in made.others]))
    text, trace = made.text, made.trace
    if text and source.notebook is None:
        text, trace = in_style(source.text, text, trace, style)
    if text and options.warnings == "comment":
        from converter.conversion.warning_comments import with_remarks

        text, trace = with_remarks(source.text, tree, text, trace, _not_ignored(source, made.findings), style.width)
    status: Status = "converted" if text else "refused"
    given = sealed(text) if text else None
    folder = os.path.dirname(source.path)
    parts = [_part_of(other, style) for other in made.others]
    parts += [OtherFile(os.path.join(folder, f"{name}.py"), None, sealed(body)) for name, body in made.modules]
    return Conversion(source, status, given, made.findings, parts=tuple(parts), trace=trace, decisions=made.decisions)


def _words_of_imports(source: Source) -> str:
    """The name of the library that trains in files that a script imports which names none itself; "" for others."""
    if source.notebook is not None or not may_train_by_imported_keras(source.code):
        return ""
    from converter.source.project.above import imported_files

    return " keras" if any(map(_imports_keras, imported_files(source.path, parse(source)))) else ""


def _imports_keras(path: str) -> bool:
    with suppress(OSError), open(path, "rb") as file:
        return imports_keras(file.read())
    return False


def _part_of(other: Other, style: Style) -> OtherFile:
    """Another file of a program that a target changes."""
    file = viewed(read(other.path))
    text, trace = in_style(file.text, other.text, other.trace, style)
    return OtherFile(other.path, file, sealed(text), trace=trace)


def _other_files(source: Source, paths: Sequence[str]) -> Diagnostic:
    """TMG221: other files must change, where only the script's conversion is written."""
    here = os.path.dirname(os.path.abspath(source.path))
    names = " and ".join(sorted(os.path.relpath(path, here) for path in paths))
    hint = "write all of them: --output-dir DIR, or --in-place"
    return Diagnostic("TMG221", source.path, 1, 1, message=f"{names} must change with the script", hint=hint)


def _pipeline(source: Source, options: Options) -> Conversion:
    """The conversion of a configuration of the Object Detection API."""
    from converter.plan.decisions import left_out
    from converter.targets.detection import convert_pipeline
    from converter.targets.registry import UNUSED_IN_PIPELINES

    given, options = options, fitting(options, UNUSED_IN_PIPELINES)
    told = left_out(flags_changed(given, options), "a configuration of the Object Detection API")
    done = convert_pipeline(
        source.path, source.text, options, lambda decided: _decided_header(source, options, decided)
    )
    if not done.text:
        return Conversion(source, "refused", None, done.findings)
    decisions = (*done.decisions, *told)
    return Conversion(source, "converted", sealed(done.text), (), trace=done.trace, decisions=decisions)


def commands_of(done: Conversion, path: str, options: Options) -> tuple[Command, ...]:
    """The commands that use a converted file, where it is not started as its source was.

    path: of the converted file. options: of the conversion.
    """
    if done.status != "converted" or done.text is None:
        return ()
    if is_pipeline(done.source.path, done.source.data):
        from converter.targets.detection import commands

        return commands(path, options.num_gpus) if options.num_gpus is not None else ()
    from converter.targets.registry import TARGETS

    header = find_header(done.text)
    told = (t.commands for t in TARGETS if header is not None and t.name == header.options.target)
    of_target = next((found(path, done.source.path, options.num_gpus) for found in told if found is not None), None)
    if of_target is not None or done.source.notebook is not None:
        return of_target or ()
    return _start_of(done.source.path, path, bool(done.above))


def _start_of(source: str, path: str, above: bool) -> tuple[Command, ...]:
    """The command that runs a converted script, where its name alone is not enough.

    above: whether it needs folders above it on the path that it does not put there itself.
    """
    from converter.plan.decisions import Command
    from converter.source.project.above import start_of

    if not os.path.isfile(source):
        return ()
    start = start_of(source)
    return () if not above and not start.package else (Command("run", start.at_target(path).command_here),)


def _as_asked(plan: Plan, asked: Options) -> Plan:
    """A plan whose options about inputs are those of the command line: comments in the script stay in the script."""
    return replace(plan, options=replace(plan.options, shared=asked.shared, batch_axes=asked.batch_axes))


def _converted_before(source: Source) -> Diagnostic:
    """TMG009, which names the script's source and how to restore it."""
    try:
        header = find_header(source.text)
    except HeaderError:
        header = None
    if header is None:
        return Diagnostic(
            "TMG009", source.path, 1, 1, message="converted before", hint="convert its source again", severity="info"
        )
    flags = shlex.join(to_flags(header.options))
    message = f"converted before, from {header.source} with {flags}"
    origin = os.path.join(os.path.dirname(source.path), header.source)
    if os.path.exists(origin) and not same_file(origin, source.path):
        hint = f"to convert with other options: tf-multigpu convert {shlex.quote(origin)}"
    else:
        hint = "to go back: restore the original from version control, as git checkout does"
    return Diagnostic("TMG009", source.path, header.line, 1, message=message, hint=hint, severity="info")


def _with_names(errors: Sequence[Diagnostic], unknown: Sequence[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Errors, of which the first also names the options without a matching input: that may be its cause."""
    said = "".join(f"\n{finding.message}: {finding.hint}" for finding in unknown)
    return (replace(errors[0], hint=errors[0].hint + said), *errors[1:])


def _edited(file: Source, facts: Facts, plan: Plan, header: str, width: int) -> Rewritten:
    """A file's text with the edits of its plan; raises Refusal where the text cannot be edited."""
    from converter.rewrite import DepthError, LossError, apply

    tree = facts.tree_of(plan.path)
    try:
        return apply(file.text, tree, plan, header, width, facts.walked[tree].depth > FLAT)
    except IndentationError:
        raise mixed_indents(file) from None
    except LossError as loss:
        raise lost_blank(file, loss.line) from None
    except DepthError as deep:
        raise too_deep(file, deep.line) from None


@dataclass(frozen=True)
class CallSite:
    """A call that the analysis does not follow; lines from one, columns in UTF-8 bytes as `ast` counts them.

    place: how `Options.traced` names it.
    """

    place: str
    begin: tuple[int, int]
    end: tuple[int, int]


def unfollowed_calls(source: Source, options: Options) -> tuple[CallSite, ...]:
    """The calls that a run of the script could tell about.

    Those of the script itself, and none where a batch is known to lie along another axis than the first: a run
    could not tell which one it saw.
    """
    from converter.analysis import read_facts
    from converter.analysis.inputs.seen_in_a_run import place_of
    from converter.analysis.walk import Known

    view = viewed(source)
    facts = read_facts(source.path, parse(view), options, before=Known(python2=view.python2))
    if any(value.batch.kind == "example" and (value.batch.axis or value.batch.packed) for value in facts.inputs):
        return ()
    sites = {}
    for node in (node for node in facts.unfollowed if node not in facts.foreign):
        end = (node.end_lineno or 0, node.end_col_offset or 0)
        sites[place_of(node)] = CallSite(place_of(node), (node.lineno, node.col_offset), end)
    return tuple(sites.values())


def held_helpers(path: str, originals: Mapping[str, bytes]) -> str:
    """The text of a module that carries the helpers of earlier conversions, "" where a file is no such module.

    originals: as of `convert`.
    """
    from converter.rewrite import BEGIN

    if text := originals.get(os.path.abspath(path), b"").decode("utf-8", "replace"):
        return text if text.startswith(BEGIN) else ""
    with suppress(OSError, UnicodeDecodeError), open(path, encoding="utf-8") as stream:
        text = stream.read()
        return text if text.startswith(BEGIN) else ""
    return ""


def _unnamed(source: Source, options: Options) -> Header:
    """The header of a file whose place is not known yet."""
    name = os.path.basename(source.path)
    command = shlex.join(["tf-multigpu", "convert", name, *command_flags(options)])
    style = _style(source.path, options)
    width = style.width if style.formatter and source.notebook is None else 0
    return Header(__version__, name, source.sha256, options, text=UNSEALED, command=command, width=width)


def _header(source: Source, plan: Plan, script: Source, decisions: Sequence[Decision]) -> str:
    header = _unnamed(source, plan.options)
    if source is not script:
        return _header_of_part(source, script, plan.options)
    return format_header(replace(header, decided=(_brief(decisions),)))


def _header_of_part(source: Source, script: Source, options: Options) -> str:
    """The header comment of another file that changes with a script."""
    main = os.path.relpath(script.path, os.path.dirname(source.path)).replace(os.sep, "/")
    return format_header(replace(_unnamed(source, options), script=main))


def _decided_header(source: Source, options: Options, decided: Sequence[Decision]) -> str:
    """The header comment of a converted file, with the decisions where they are to be written."""
    brief = _brief(decided)
    return format_header(replace(_unnamed(source, options), decided=(brief,) if brief else ()))


def _brief(decisions: Sequence[Decision]) -> str:
    """The decisions in one line, for the header."""
    return "; ".join(decision.brief for decision in decisions if decision.brief)
