"""A `convert` command line as plain data: mode, options, places to write to, and the scripts to convert."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from converter.choices import COPY_LIMIT, MAX_LINES, Data, Refused
from converter.cli.command_line.table import CONVERT, WHAT
from converter.dataclass import dataclass
from converter.diagnostics import Diagnostic, whole_file
from converter.options import Options
from converter.source import InputFile, expand, same_file
from converter.source.header import field_of, from_flags
from converter.source.ignored import Excluded
from converter.source.quick_checks import SCRIPTS, code_of, imported_by

if TYPE_CHECKING:
    from converter.cli.config.layers import Layers
    from converter.verify import Interpreters

STDIN = "-"
Mode = Literal["print", "file", "folder", "in-place", "diff", "check"]
MODES: tuple[Mode, ...] = ("in-place", "diff", "check")  # those that have a flag


@dataclass(frozen=True)
class Request:
    """A whole run.

    mode: where converted text goes; "print" is standard output, "check" compares only.
    output: the file or folder of -o, or the folder of --output-dir; None without one.
    whole: whether named scripts go into the output folder with all that lies in their folders.
    trace: whether a script may be run where reading it does not tell enough. python: runs it, and the proof.
    verify: whether a conversion has to be proven before it is written.
    skip: whether named files without a training step are passed over, as those in folders are.
    html: the file for the proof as a page; "" for none.
    pool: what runs the scripts of all proofs and traces; None before the run begins.
    max_lines: what a script may have; longer ones are refused.
    ignore_space: whether diffs leave out lines that change in blanks alone.
    network: whether scripts may use it while they are proven.
    compares: whether nothing is written, and what would be is compared ("check" with a place to go).
    force: whether files that are somebody's own are written over.
    strict: whether warnings refuse a conversion. refused: whether a refused script fails the run.
    data, copy_limit: what an output folder gets of data: see `source.tree`; the limit is in megabytes.
    exclude: patterns of what is left out of folders.
    layers: where the options come from, and what they are for single files; None for a caller's own.
    """

    sources: tuple[str, ...]
    mode: Mode
    output: str | None = None
    options: Options = Options()
    verify: bool = False
    skip: bool = False
    whole: bool = False
    html: str = ""
    trace: bool = False
    python: str | None = None
    pool: Interpreters | None = None
    max_lines: int = MAX_LINES
    ignore_space: bool = False
    network: bool = False
    compares: bool = False
    force: bool = False
    strict: bool = False
    refused: Refused = "fail"
    data: Data = "copy"
    copy_limit: int = COPY_LIMIT
    exclude: tuple[str, ...] = ()
    layers: Layers | None = None

    @property
    def excluded(self) -> Excluded:
        """The files to leave out; patterns of a configuration are relative to the folder of that configuration."""
        file = self.layers.file if self.layers and "exclude" not in self.layers.given else None
        return Excluded(self.exclude, file.folder if file else "")

    @property
    def command(self) -> str:
        """The command line that writes what a run with --check compares."""
        import shlex

        words = ["tf-multigpu", "convert", *self.sources]
        words += ["--in-place"] if self.mode == "in-place" else []
        words += ["--output-dir" if self.whole else "-o", self.output] if self.output else []
        if self.layers is not None and not self.layers.searched:
            words += ["--config", self.layers.file.path] if self.layers.file else ["--no-config"]
        return shlex.join([*words, *_flags(self.layers.given if self.layers is not None else {})])

    def of(self, path: str) -> Request:
        """The request for one script, with the configuration's values for that file."""
        if self.layers is None or self.layers.file is None or not self.layers.file.overrides or path == STDIN:
            return self
        values: Any = self.layers.values(path)
        return replace(
            self,
            options=options_of(values, self.layers, path),
            strict=values["strict"],
            refused=values["refused"],
            max_lines=values["max_lines"],
        )

    @property
    def writes(self) -> bool:
        """Whether anything is written at all."""
        return self.mode not in ("print", "diff", "check") and not self.compares


@dataclass(frozen=True)
class Job:
    """One script and where its conversion goes.

    target: the file for it; None where it goes to no file.
    into_folder: whether the target lies in an output folder.
    copies: whether that folder takes the script as it is, where it is not converted.
    """

    script: InputFile
    target: str | None
    into_folder: bool = False
    copies: bool = False


def options_of(values: Mapping[str, object], layers: Layers, path: str = "") -> Options:
    """The conversion options for one script, from the values of the command line and of the configuration.

    path: the script that they are for, "" for all.

    Raises:
        ValueError: a value out of range, or two that contradict each other; the message names it.
    """
    options = from_flags(list(_flags(values)))
    configured = layers.configured(path) - set(layers.given)
    names = [*options.shared] if "shared" in configured else []
    names += [name for name, _ in options.batch_axes] if "batch_axis" in configured else []
    fields = (field_of(option.name) for option in CONVERT.options if option.panel == WHAT and option.name in configured)
    return replace(options, of_project=tuple(names), configured=tuple(fields))


def _flags(values: Mapping[str, object]) -> Iterator[str]:
    """The values of the options that change the converted text, as flags."""
    for option in CONVERT.options:
        value = values.get(option.name) if option.panel == WHAT else None
        for one in value if isinstance(value, tuple) else () if value is None else (value,):
            yield from (option.flags[0], str(one))


def make_request(asked: Request, switches: Iterable[Mode], output_dir: str | None = None) -> Request:
    """Combines the flags of a command line into one request; flags that are not given leave their part open.

    asked: with the output that --output names. switches: the modes that are asked for.

    Raises:
        ValueError: what is asked for contradicts itself or lacks something; the message says what.
    """
    output = None if asked.output == STDIN else asked.output
    if output and output_dir:
        raise ValueError("--output and --output-dir exclude each other")
    whole = bool(output_dir)
    output = output or (os.path.join(output_dir, "") if output_dir else None)
    modes = list(switches)
    compares = "check" in modes and (bool(output) or "in-place" in modes)
    modes = [mode for mode in modes if mode != "check" or not compares]
    if len(modes) > 1:
        raise ValueError(f"--{modes[0]} and --{modes[1]} exclude each other")
    mode: Mode = modes[0] if modes else "print"
    if output and mode == "print":
        mode = "folder" if _into_folder(asked.sources, output) else "file"
    request = replace(asked, mode=mode, output=output, whole=whole, compares=compares)
    for message, holds in _contradictions(request):
        if holds:
            raise ValueError(message)
    return request


def _contradictions(request: Request) -> Iterator[tuple[str, bool]]:
    """Messages about options that exclude or need each other, each with whether it applies to this request."""
    mode, compares, several = request.mode, request.compares, is_several(request.sources)
    only_compares, typed = mode == "check" or compares, STDIN in request.sources
    to = "--output-dir" if request.whole else "--output"
    yield f"--{mode} and {to} exclude each other", bool(request.output) and mode in ("in-place", "diff")
    message = "--check and --verify exclude each other: the one compares texts, the other trains"
    yield message, request.verify and only_compares
    message = "--html is the page of one script's proof: it needs --verify and one script"
    yield message, bool(request.html) and (not request.verify or several)
    message = "--trace runs a script from its folder, which --check and standard input do not"
    yield message, request.trace and (only_compares or typed)
    message = "--python is the interpreter of --verify and --trace: it needs one of them"
    yield message, bool(request.python) and not (request.trace or request.verify)
    message = "standard input is one script, without --in-place, --check, --verify or -o DIR"
    alone = len(request.sources) == 1 and not (request.verify or only_compares or mode in ("in-place", "folder"))
    yield message, typed and not alone
    message = "--force writes over files: it needs --output, --output-dir or --in-place"
    yield message, request.force and mode in ("print", "diff", "check")
    message = "--helpers module writes a second file: it needs --output, --in-place, --diff or --check"
    yield message, mode == "print" and request.options.helpers == "module"
    yield "several scripts need --output DIR, --in-place, --diff or --check", mode == "print" and several


def jobs_of(request: Request) -> tuple[list[Job], list[Diagnostic]]:
    """The scripts to work on with their targets, and what is wrong with the rest (TMG006, TMG008)."""
    into_folder = request.output is not None and _into_folder(request.sources, request.output)
    if request.sources == (STDIN,):
        return [Job(InputFile(STDIN, "", True), request.output)], []
    leave_out = request.output if into_folder else None
    scripts, problems = expand(request.sources, leave_out, request.excluded, request.skip)
    if request.whole:
        scripts = tuple(_in_tree(script) if script.named else script for script in scripts)
    jobs = [
        Job(script, _target(script, request, into_folder), into_folder, into_folder and not script.named)
        for script in scripts
    ]
    clashes = {job.script.path: finding for job in jobs if (finding := _own_input(job, jobs, request))}
    clashes |= _shared_targets(jobs)
    good = [job for job in jobs if job.script.path not in clashes]
    return good, [*problems, *clashes.values()]


def trees_of(request: Request) -> list[str]:
    """The source folders whose other files are copied into an output folder, each once."""
    if request.mode != "folder":
        return []
    folders = [path for path in request.sources if os.path.isdir(path)]
    if request.whole:
        folders += [_tree_of(path) for path in request.sources if not os.path.isdir(path)]
    return list({os.path.realpath(folder): folder for folder in folders}.values())


def _tree_of(path: str) -> str:
    """The folder that a script needs as a whole: its own, or the one around it and the packages that it imports."""
    folder = os.path.dirname(path)
    if not path.endswith(SCRIPTS) or not os.path.isfile(path):
        return folder or "."
    from converter.source.project.above import seen_from, start_of

    root = start_of(path).root
    return folder or "." if root == os.path.abspath(folder) else seen_from(folder, root)


def _in_tree(script: InputFile) -> InputFile:
    """A named script with its place below the folder that is copied for it."""
    return replace(script, relative=os.path.relpath(os.path.abspath(script.path), _tree_of(script.path)))


def importers_first(jobs: Sequence[Job]) -> list[Job]:
    """Reorders jobs so that a file comes after the scripts that import it: it may change with them."""
    imports = {path: names - {_stem(path)} for path, names in _imported_names(jobs).items()}
    left, ordered = list(jobs), []
    while left:
        wanted = {name for job in left for name in imports.get(job.script.path, ())}
        free = [job for job in left if _stem(job.script.path) not in wanted]
        ordered += free or left[:1]  # files that import each other come in their order
        left = [job for job in left if job not in free] if free else left[1:]
    return ordered


def imported_jobs(jobs: Sequence[Job]) -> frozenset[str]:
    """The paths of the scripts that others of a run import, as far as names tell."""
    imports = _imported_names(jobs)
    others = {job.script.path: [names for path, names in imports.items() if path != job.script.path] for job in jobs}
    return frozenset(path for path, all_of in others.items() if any(_stem(path) in names for names in all_of))


def _imported_names(jobs: Sequence[Job]) -> dict[str, set[str]]:
    """The parts of the names that each of several scripts imports, by its path."""
    found: dict[str, set[str]] = {}
    for job in jobs if len(jobs) > 1 else ():
        with suppress(OSError), open(job.script.path, "rb") as file:
            imported = imported_by(code_of(job.script.path, file.read()))
            found[job.script.path] = {part for name in imported for part in name.split(".")}
    return found


def _stem(path: str) -> str:
    """The name of a script's module, that of a package for its `__init__.py`."""
    folder, name = os.path.split(path)
    return os.path.basename(os.path.abspath(folder)) if name == "__init__.py" else os.path.splitext(name)[0]


def is_several(sources: Sequence[str]) -> bool:
    """Whether the paths may stand for more than one script."""
    return len(sources) > 1 or any(os.path.isdir(source) for source in sources)


def _into_folder(sources: Sequence[str], output: str) -> bool:
    return is_several(sources) or os.path.isdir(output) or output.endswith(("/", os.sep))


def _target(script: InputFile, request: Request, into_folder: bool) -> str | None:
    if request.mode == "in-place":
        return script.path
    if request.output is None:
        return None
    return os.path.join(request.output, script.relative) if into_folder else request.output


def _own_input(job: Job, jobs: Sequence[Job], request: Request) -> Diagnostic | None:
    """TMG008 where a script would be written over, itself or by another's conversion."""
    if job.target is None or request.mode == "in-place" or not os.path.exists(job.target):
        return None
    for other in jobs:
        if same_file(job.target, other.script.path):
            which = "the script itself" if other is job else f"the script {other.script.path}"
            message, hint = f"the output {job.target} is {which}", "name another output, or use --in-place"
            return whole_file("TMG008", job.script.path, message, hint)
    return None


def _shared_targets(jobs: Sequence[Job]) -> dict[str, Diagnostic]:
    """TMG008 for all scripts that would be written to one file, by path."""
    writers: dict[str, list[str]] = defaultdict(list)
    for job in jobs:
        if job.target is not None:
            writers[os.path.realpath(job.target)].append(job.script.path)
    clashes: dict[str, Diagnostic] = {}
    for target, paths in writers.items():
        message = f"{' and '.join(paths)} have one output, {target}"
        if len(paths) > 1:
            hint = "convert them to separate folders"
            clashes |= {path: whole_file("TMG008", path, message, hint) for path in paths}
    return clashes
