"""One script from reading to writing, and a run of many: one after the other, or in several processes."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

from converter.cli.files.request import STDIN, Job, Request, imported_jobs, importers_first, jobs_of, trees_of
from converter.diagnostics import Diagnostic, Refusal, refusal_of, whole_file
from converter.report.results import FileResult, Outcome
from converter.source import from_bytes, is_pipeline, leads_to_tensorflow, load, may_train, too_long, whole
from converter.source.header import BEGIN as HEADER
from converter.source.quick_checks import (
    imports_lightning,
    imports_torch,
    may_train_by_library,
    reads_tf,
    torch_trains_in,
)

if TYPE_CHECKING:
    from converter.cli.files.delivery import WrittenFiles
    from converter.conversion import Conversion
    from converter.source import Source

# No refusal for a file in a folder: most files of a project train nothing.
NO_TRAINING_STEP = "TMG201"
# The script could be converted, but not as asked: an error also with --refused pass.
UNWRITTEN = frozenset({"TMG020", "TMG021", "TMG023", "TMG024"})
PILED_UP = 500_000  # objects that the collector watches, made and not freed since it last ran: some 100 MB
# Refusals of modules: whether these train can be said only of the script that imports them.
OF_NO_SCRIPT = {NO_TRAINING_STEP, "TMG202"}
# Refusals of what a folder may hold beside the project's Python: notebooks in other languages.
FOREIGN = "TMG042"
NOTEBOOK = ".ipynb"
_MAIN = b"__main__"  # in a file that is a script, whoever imports it
# What is said of named files without TensorFlow: of the file, and what to do.
WITHOUT_TENSORFLOW = (
    "does not use TensorFlow",
    "name the script that trains the model; it brings the files that it imports",
)
WITHOUT_ITS_IMPORT = (
    "reads names of tf, and imports TensorFlow neither itself nor by a module that lies here",
    "write import tensorflow as tf at its top, or put the modules that it imports beside it",
)
SEEN = "sys.path.append('FOLDER') in front of the import lets it be followed; else name the script that trains"
MOST_NAMED = 5  # modules in one message
WITH_PYTORCH = (
    "uses PyTorch, not TensorFlow",
    "PyTorch's own way is torch.nn.parallel.DistributedDataParallel: one process for each GPU, started by torchrun",
)
LIGHTNING_TOLD = "where its Trainer is made, write Trainer(accelerator='gpu', devices=N, strategy='ddp')"
WITH_LIGHTNING = ("makes what PyTorch Lightning trains, which uses several GPUs when told to", LIGHTNING_TOLD)
JOURNAL = ".tf-multigpu-journal.json"  # as in cli.journal, which costs an import

Findings = tuple[Diagnostic, ...]
Rows = Generator[tuple[Job, list[FileResult]], None, None]  # each script with what became of it
Tell = Callable[[int, int, str], None]  # scripts done, scripts in all, the next one


def results_of(request: Request, workers: int = 1, tell: Tell | None = None) -> Generator[FileResult, None, None]:
    """Works on all files; whatever happens to one, the others are worked on.

    The results, and what is written, are the same for any number of workers, and in the same order.
    """
    if not (request.verify or request.trace):
        yield from _results(request, workers, tell)
        return
    from converter.verify.processes.interpreters import opened

    with opened(None) as pool:
        yield from _results(replace(request, pool=pool), 1, tell)  # running scripts takes the most by far


def _results(request: Request, workers: int, tell: Tell | None) -> Generator[FileResult, None, None]:
    jobs, problems = jobs_of(request)
    yield from (FileResult(problem.path, "refused", (problem,)) for problem in problems)
    yield from _not_followed(request, jobs)
    jobs = importers_first(jobs)
    run = _Run(request, jobs)
    blocked = yield from run.finished_first()
    if blocked:
        return
    with closing(run.side_by_side(workers) if workers > 1 else run.one_by_one()) as results:
        for number, (job, of_job) in enumerate(results, 1):
            yield from run.settled(job, of_job)
            if tell:
                tell(number, len(jobs), job.script.path)
    for job, of_job in run.late():
        yield from run.settled(job, of_job)
    yield from run.rest()


def _not_followed(request: Request, jobs: Sequence[Job]) -> Iterator[FileResult]:
    """TMG036 for configurations further down in named folders: a run follows one."""
    if request.layers is None or not request.layers.searched:
        return
    from converter.cli.config.file import further

    folders: set[str] = set()
    for job in jobs:
        folder, below = os.path.dirname(job.script.path), os.path.dirname(job.script.relative)
        while below and not job.script.named and folder not in folders:
            folders.add(folder)
            folder, below = os.path.dirname(folder), os.path.dirname(below)
    for path in further(sorted(folders), request.layers.file):
        message = "this configuration is not followed: the run has that of the folder that is named, or none"
        hint = f"run it for {os.path.dirname(path)} by itself, or say there is one for all: --config FILE, --no-config"
        yield FileResult(path, "unchanged", (whole_file("TMG036", path, message, hint, severity="warning"),))


class _Run:
    """The scripts of one run, in their order, and what it has written so far."""

    def __init__(self, request: Request, jobs: Sequence[Job]) -> None:
        self.request = request
        self.jobs = jobs
        self.names = frozenset(os.path.abspath(job.script.path) for job in jobs)
        self._written: WrittenFiles | None = None
        self._imported: frozenset[str] | None = None
        self._held: list[tuple[Job, FileResult]] = []  # refused files that scripts of the run import
        self._late: list[tuple[Job, Conversion]] = []  # scripts that train nothing: those that do change files first
        self._refused_users: dict[str, tuple[str, str]] = {}  # files that refused training scripts read: which, why
        self._converted = 0
        self._unknown: dict[str, int] = {}  # messages about option names that no input has: scripts with each
        self._taken = False  # whether any script was converted
        self._completed: set[str] = set()  # files that a killed run had left to be written

    def finished_first(self) -> Generator[FileResult, None, bool]:
        """Finishes what a killed run left, reports it, and says whether this run may go on."""
        blocked = False
        for folder in sorted({os.path.dirname(job.script.path) for job in self.jobs if job.script.path != STDIN}):
            if not os.path.exists(os.path.join(folder, JOURNAL)):
                continue
            from converter.cli.files.journal import interrupted

            try:
                finished = interrupted(folder, self.request.mode == "in-place" and not self.request.compares)
            except Refusal as refusal:
                blocked = True
                yield FileResult(refusal.diagnostic.path, "refused", (refusal.diagnostic,))
            else:
                self._completed.update(map(os.path.abspath, finished))
                yield from (FileResult(path, "converted", output=path, written=True) for path in finished)
        return blocked

    def settled(self, job: Job, results: list[FileResult]) -> Generator[FileResult, None, None]:
        """The results of one script, as the run's options have them; those of modules are held back."""
        for result in results:
            if result.path == job.script.path and result.outcome in ("refused", "failed", "unverified"):
                if not job.script.named and self._is_imported(job):
                    self._held.append((job, result))
                    continue
                result = self._refused(job, result)
            if result.outcome == "unchanged" and os.path.abspath(result.path) in self._completed:
                continue  # it has its result already
            self._names(result)
            self._taken = self._taken or result.outcome in ("converted", "would change", "up to date")
            yield result

    def _names(self, result: FileResult) -> None:
        """Counts the scripts in which a name given to an option matches no input (TMG022)."""
        if result.decisions:
            self._converted += 1
            for finding in result.diagnostics:
                if finding.code == "TMG022":
                    self._unknown[finding.message] = self._unknown.get(finding.message, 0) + 1

    def _refused(self, job: Job, result: FileResult) -> FileResult:
        """The result for a refused script, which is copied unchanged to an output folder."""
        unwritten = any(finding.code in UNWRITTEN for finding in result.diagnostics)
        if not job.script.named and {finding.code for finding in result.diagnostics} == {FOREIGN}:
            told = tuple(replace(finding, severity="info") for finding in result.diagnostics)
            result = replace(result, outcome="copied" if job.copies else "unchanged", diagnostics=told)
        if self.request.of(job.script.path).refused == "pass" and result.outcome == "refused" and not unwritten:
            result = replace(result, passes=True)
        target = job.target
        if not job.copies or target is None or os.path.abspath(target) in self.written.targets:
            return result
        if self.written.keeps(target):
            return result
        from converter.cli.files.delivery import put

        try:
            is_new = put(job, self.request, self.written, target, load(job.script.path))
        except Refusal as refusal:
            # What cannot be read is refused for that already.
            known = refusal.diagnostic.code in {finding.code for finding in result.diagnostics}
            return result if known else replace(result, diagnostics=(*result.diagnostics, refusal.diagnostic))
        return replace(result, output=target, written=is_new and not self.request.compares)

    def rest(self) -> Generator[FileResult, None, None]:
        """The results that need all scripts to be done: modules that changed with none, and copied files."""
        for job, result in self._held:
            if os.path.abspath(job.target or job.script.path) in self.written.parts:
                continue  # it was converted with the script that trains it
            result = self._refused(job, result)
            codes = {finding.code for finding in result.diagnostics}
            if codes <= OF_NO_SCRIPT and not result.passes:
                outcome: Outcome = "copied" if result.output else "unchanged"
                result = replace(result, outcome=outcome, diagnostics=())
            yield result
        for message, number in self._unknown.items():
            if number == self._converted:
                finding = whole_file("TMG022", "tf-multigpu", f"{message}, in no script", "check the name")
                yield FileResult(", ".join(self.request.sources), "refused", (finding,))
        if not (trees_of(self.request) and (self._taken or any(job.copies for job in self.jobs))):
            return
        from converter.cli.files.tree import rest_of_trees

        yield from rest_of_trees(self.request, self.jobs, self.written)
        if self.written.record is not None and self.request.writes:
            self.written.record.save()

    def _is_imported(self, job: Job) -> bool:
        if self._imported is None:
            self._imported = imported_jobs(self.jobs)
        return job.script.path in self._imported

    @property
    def written(self) -> WrittenFiles:
        """The record of written files, made at first use: a file without TensorFlow is spared the import."""
        if self._written is None:
            from converter.cli.files.delivery import WrittenFiles

            self._written = WrittenFiles(self.names)
            if self.request.mode == "folder" and self.request.output:
                from converter.cli.files.guard import record_of

                self._written.record = record_of(self.request.output)
        return self._written

    def one_by_one(self) -> Rows:
        """Convert all scripts in this process, one after the other."""
        for job in self.jobs:
            _collect()
            yield job, self._whole(job)

    def side_by_side(self, workers: int) -> Rows:
        """Conversions in processes of their own; what is written is written by this one, in the scripts' order."""
        long = [job for job in self.jobs if self._takes_long(job)]
        workers = min(workers, len(long) // 2)  # starting a process takes as long as a conversion
        if workers < 2:
            yield from self.one_by_one()
            return
        from converter.cli.files.worker_pool import in_turn, may_fork

        if may_fork():
            import_all()  # once, for all
        with closing(in_turn(partial(_attempt, self.request, self.names), long, workers, _lost)) as attempts:
            # Nothing is written among the scripts before all of them are read.
            made = iter(list(attempts)) if self._writes_among_scripts() else iter(attempts)
            taken = {id(job) for job in long}
            for job in self.jobs:
                _collect()
                attempt = next(made) if id(job) in taken else None
                if attempt is None or self._has_changed(job) or self._adds_helpers(attempt):
                    yield job, self._whole(job)
                elif isinstance(attempt, list):
                    yield job, attempt
                else:
                    yield job, _within_its_border(job, partial(self._finished, job, attempt))

    def _finished(self, job: Job, done: Conversion) -> list[FileResult]:
        """The results of a conversion; those of a script that takes no training step come when all others are done.

        A module is not converted for itself where the script that trains with it was refused: that one would go on as
        it is, with a model that is no longer what it was read with.
        """
        if done.status == "refused" and done.trains:
            self._note_refused(job, done)
        user = self._refused_users.get(os.path.abspath(job.script.path))
        if user and done.status == "converted" and not job.script.named and _MAIN not in done.source.code:
            return [_refused_with(job, *user)]
        if not done.trains and not job.script.named and self.request.mode not in ("print", "diff", "check"):
            self._late.append((job, done))
            return []
        return _finish(job, self.request.of(job.script.path), done, self.written)

    def _note_refused(self, job: Job, done: Conversion) -> None:
        """Remembers what a refused training script reads of the project, with its name and the first error's code."""
        codes = [finding.code for finding in done.diagnostics if finding.severity == "error"]
        if set(codes) <= OF_NO_SCRIPT:
            return
        for path in done.reads:
            self._refused_users.setdefault(os.path.abspath(path), (job.script.path, codes[0]))

    def late(self) -> Rows:
        """Scripts that build a model and do not train it: they stay as they are where one that trains changed a file.

        That conversion leaves them working: it has looked at the scripts that import what it changes. What would refuse
        them says nothing then: nobody wants them to train.
        """
        for job, done in self._late:
            if os.path.abspath(job.target or job.script.path) in self.written.parts:
                continue
            request = self.request.of(job.script.path)
            if self._has_done(job, request, done):
                results = [_left_alone(job, request, done.source.data, self.written if job.copies else None)]
            else:
                results = _within_its_border(job, partial(_finish, job, request, done, self.written))
            yield job, results

    def _has_done(self, job: Job, request: Request, done: Conversion) -> bool:
        """Whether a file that would change with a script has changed with another one, or is converted itself.

        Of a refused script nothing would change: there it is a file that the script reads.
        """
        from converter.cli.files.delivery import files_of, target_of

        found = [f.target for f in files_of(job, request, done)[1:] if f.source]
        found += [target_of(job, request, path) for path in done.reads]
        targets = {os.path.abspath(target) for target in found if target}
        return not targets.isdisjoint({*self.written.parts, *self.written.targets})

    def _whole(self, job: Job) -> list[FileResult]:
        if self._written and os.path.abspath(job.target or job.script.path) in self._written.parts:
            return []  # changed with another script
        return _within_its_border(job, lambda: self._work_on(job))

    def _work_on(self, job: Job) -> list[FileResult]:
        data = whole(sys.stdin.buffer, STDIN) if job.script.path == STDIN else load(job.script.path)
        if _is_passed_over(job, self.request, data):
            return [_left_alone(job, self.request, data, self.written if job.copies else None)]
        request = self.request.of(job.script.path)
        done = _prepared(job, request, data, self.written)
        return done if isinstance(done, list) else self._finished(job, done)

    def _takes_long(self, job: Job) -> bool:
        """True if a script is large enough to be worth a process of its own."""
        try:
            return not _is_passed_over(job, self.request, load(job.script.path))
        except Refusal:
            return False

    def _writes_among_scripts(self) -> bool:
        """True if this run may write into a folder that holds one of its scripts, where Python looks for modules."""
        if not self.request.writes:
            return False
        folders = {os.path.dirname(name) for name in self.names}
        return any(_is_below(os.path.abspath(job.target or job.script.path), folders) for job in self.jobs)

    def _has_changed(self, job: Job) -> bool:
        """Whether this run has written a file that the script may read, other than over another script of the run."""
        if self._written is None:
            return False
        if os.path.abspath(job.target or job.script.path) in self._written.parts:
            return True
        return self.request.mode == "in-place" and any(
            _is_below(path, {os.path.dirname(os.path.abspath(job.script.path))}) for path in self._written.beside
        )

    def _adds_helpers(self, attempt: list[FileResult] | Conversion) -> bool:
        """Whether the module of the helpers was written for another script of this run, without all that this one has.

        The conversion in another process did not know of it, and would take the other script's helpers away.
        """
        if self._written is None or isinstance(attempt, list):
            return False
        for part in attempt.parts:
            held = self._written.originals.get(os.path.abspath(part.path)) if part.source is None else None
            if held is not None and held != part.text.encode():
                return True
        return False


def import_all() -> None:
    """Imports all modules that a conversion needs, which are otherwise imported at first use."""
    from converter.rule import rule_modules

    for name in ("analysis", "planner", "rewrite", "conversion"):
        import_module(f"...{name}", __package__)
    rule_modules("checks")


def _is_below(path: str, folders: set[str]) -> bool:
    return any(path.startswith(os.path.join(folder, "")) for folder in folders)


def _collect() -> None:
    """Before a script, not after it: behind the last one nothing needs the room."""
    if gc.get_count()[0] > PILED_UP:
        gc.collect()


def _attempt(request: Request, names: frozenset[str], job: Job) -> list[FileResult] | Conversion:
    """The part of the work on one script that runs in another process: all but writing."""
    from converter.cli.files.delivery import WrittenFiles, without_plans

    _collect()
    made: list[Conversion] = []
    request = request.of(job.script.path)

    def work() -> list[FileResult]:
        done = _prepared(job, request, load(job.script.path), WrittenFiles(names))
        if isinstance(done, list):
            return done
        made.append(without_plans(done))
        return []

    results = _within_its_border(job, work)
    return made[0] if made else results


def _lost(job: Job, why: str) -> list[FileResult]:
    hint = "please report it to the project, with the script; --jobs 1 works on all files in one process"
    finding = whole_file("TMG090", job.script.path, f"internal error: the process at work on it {why}", hint)
    return [FileResult(job.script.path, "failed", (finding,))]


def _within_its_border(job: Job, work: Callable[[], list[FileResult]]) -> list[FileResult]:
    path = _name_of(job)
    try:
        return work()
    except Refusal as refusal:
        return [FileResult(path, "refused", (refusal.diagnostic,))]
    except Exception as error:
        import traceback

        from converter.cli.crash import crash_report

        message = f"internal error: {type(error).__name__}: {error}"
        hint = "please report it to the project, with the script and what --verbose shows, or with what --debug shows"
        finding = whole_file("TMG090", path, message, hint)
        crash = crash_report(error, [job.script.path])
        return [FileResult(path, "failed", (finding,), traceback=traceback.format_exc(), crash=crash)]


def _is_passed_over(job: Job, request: Request, data: bytes) -> bool:
    """Whether a look at a script's bytes is enough."""
    if _passes_without_training(job, request) and not may_train(job.script.path, data):
        return True
    return request.mode == "check" and not job.script.named and job.target is None and HEADER.encode() not in data


def _check_kinds(job: Job, request: Request, source: Source) -> None:
    """TMG029 where a notebook would become a script or the other way round, or would be run as a script."""
    is_notebook, target = source.notebook is not None, job.target or ""
    if is_notebook and request.trace:
        hint = "leave --trace out, or write its cells into a script: jupyter nbconvert --to python"
        raise refusal_of("TMG029", source.path, "--trace runs a script, and this is a notebook", hint)
    if target and os.path.splitext(target)[1] in (".py", NOTEBOOK) and is_notebook != target.endswith(NOTEBOOK):
        what, ending = ("a notebook", NOTEBOOK) if is_notebook else ("a script", ".py")
        message = f"this is {what}, and the output {target} is not"
        raise refusal_of("TMG029", source.path, message, f"name an output that ends in {ending}")


def _prepared(job: Job, request: Request, data: bytes, written: WrittenFiles) -> list[FileResult] | Conversion:
    """A script's conversion, which is still to be delivered; or a converted one compared with its source."""
    if (request.verify or request.trace) and is_pipeline(job.script.path, data):
        flag = "--verify" if request.verify else "--trace"
        message = f"{flag} runs a script, and this is a configuration of the Object Detection API"
        raise refusal_of("TMG271", job.script.path, message, f"leave {flag} out")
    source = from_bytes(_name_of(job), data)
    _check_kinds(job, request, source)
    if HEADER in source.text:
        from converter.cli.files.freshness import check, check_options, header_of, run_options

        header = header_of(source)
        if request.mode == "check" and header is not None:
            origin = os.path.normpath(os.path.join(os.path.dirname(source.path), header.script or header.source))
            return [check(source, header, run_options(request.of(origin), origin))]
        if request.mode == "in-place" and header is not None:
            check_options(source, header, run_options(request, source.path))
    if not leads_to_tensorflow(source.path, source.code):
        return [_not_converted(job, request, source, written)]
    if source.code.count(b"\n") > request.max_lines:
        raise too_long(source, request.max_lines)
    from converter import conversion
    from converter.cli.files.delivery import takes_several

    several = takes_several(job, request)
    done = conversion.convert(
        source, request.options, several=several, originals=written.originals, output=request.output
    )
    if done.status == "refused" and request.trace:
        from converter.cli.files.proof import traced

        done = traced(done, request, several, written.originals)
    return _without_ignored(done)


def _without_ignored(done: Conversion) -> Conversion:
    """A conversion without the warnings that comments of its files take away."""
    findings = done.diagnostics
    for source in (done.source, *(part.source for part in done.parts)):
        if source is not None and "tf-multigpu:" in source.text:
            from converter.source.pragmas import pragmas_in, without_ignored
            from converter.source.text import in_cells, in_script

            placed = tuple(in_script(finding, source) for finding in findings)
            placed = without_ignored(source.path, pragmas_in(source.text), placed)
            findings = tuple(in_cells(finding, source) for finding in placed)
    return replace(done, diagnostics=findings)


def _refused_with(job: Job, user: str, code: str) -> FileResult:
    """TMG038 for a module of a refused script."""
    path = job.script.path
    message = f"{user} trains with this file, and is refused ({code})"
    hint = f"make the edit that is named there, or convert this file by its name: tf-multigpu convert {path}"
    return FileResult(path, "refused", (whole_file("TMG038", path, message, hint),))


def _finish(job: Job, request: Request, done: Conversion, written: WrittenFiles) -> list[FileResult]:
    if done.status == "converted":
        from converter.cli.files.delivery import deliver

        return deliver(job, request, done, written)
    return [_not_converted(job, request, done.source, written, done.status, done.diagnostics)]


def _name_of(job: Job) -> str:
    return "<stdin>" if job.script.path == STDIN else job.script.path


def _passes_without_training(job: Job, request: Request) -> bool:
    """True if a file that trains nothing is skipped; False if the user named it and asked for its converted text."""
    if not job.script.named or request.skip or job.copies or request.mode == "in-place":
        return True
    return request.mode == "check" and job.target is None


def _not_converted(
    job: Job,
    request: Request,
    source: Source,
    written: WrittenFiles,
    status: str = "unchanged",
    findings: Findings = (),
) -> FileResult:
    """The result for a script that stays as it is: passed over, or refused if the user asked for its conversion."""
    if status == "unchanged" and not findings and (library := _library_of(source)) is not None:
        status, findings = "refused", (library,)
    errors = [finding for finding in findings if finding.severity == "error"]
    trains_nothing = all(finding.code == NO_TRAINING_STEP for finding in errors)
    may_pass = not job.script.named or request.skip or job.copies
    if status == "unchanged" and (may_pass or request.mode in ("in-place", "diff", "check")):
        return _left_alone(job, request, source.data, written, findings)
    if errors and trains_nothing and may_pass:
        return _left_alone(job, request, source.data, written)
    return FileResult(source.path, "refused", findings or (_nothing_in(source),))


def _nothing_in(source: Source) -> Diagnostic:
    """The refusal (TMG201) for a file that has no training step."""
    trained = torch_trains_in(source.path, source.code)
    if trained is not None:
        place, what, line = trained
        if not what:
            message = f"PyTorch Lightning trains in {place}, another file, and uses several GPUs when told to"
            return Diagnostic(NO_TRAINING_STEP, source.path, line, 1, message=message, hint=LIGHTNING_TOLD)
        message = f"PyTorch takes its gradients in {place}, another file: a training loop is converted where it is made"
        stays = "models, datasets and functions that only compute may stay there"
        hint = f"move {what}, and what makes its loader and optimizer, into this file; {stays}"
        return Diagnostic(NO_TRAINING_STEP, source.path, line, 1, message=message, hint=hint)
    if (library := _library_of(source)) is not None:
        return library
    without = WITHOUT_ITS_IMPORT if reads_tf(source.code) else WITHOUT_TENSORFLOW
    message, hint = WITH_PYTORCH if imports_torch(source.code) else without
    if imports_lightning(source.code):
        message, hint = WITH_LIGHTNING
    message = f"there is nothing to convert: this file {message}"
    from converter.source.project.libraries import not_found

    missing = not_found(source.path, source.code) if message.endswith(WITHOUT_TENSORFLOW[0]) else []
    if missing:
        hint = f"not found in this project: {', '.join(missing[:MOST_NAMED])}; if one of these is a part of it, {SEEN}"
    return whole_file(NO_TRAINING_STEP, source.path, message, hint)


def _library_of(source: Source) -> Diagnostic | None:
    """The refusal of a script without TensorFlow that the package `keras` trains."""
    if not may_train_by_library(source.code):
        return None
    from converter.conversion.engine import with_advice
    from converter.options import Options
    from converter.source import parse, with_lines
    from converter.source.viewed import viewed
    from converter.targets.other_libraries import trained_elsewhere

    try:
        read = viewed(source)
        found = trained_elsewhere(source.path, read.text, parse(read), Options())
    except Refusal:  # no Python
        return None
    return None if found is None else with_lines(with_advice((found,), source), source, {})[0]


def _left_alone(
    job: Job, request: Request, data: bytes, written: WrittenFiles | None, findings: Findings = ()
) -> FileResult:
    """A file that needs no conversion; an output folder gets a copy, for the scripts that import it."""
    if not job.copies or job.target is None or written is None:
        return FileResult(_name_of(job), "unchanged", findings)
    from converter.cli.files.delivery import put

    if written.keeps(job.target):
        return FileResult(_name_of(job), "unchanged", findings)
    is_new = put(job, request, written, job.target, data)
    if request.compares:
        return FileResult(_name_of(job), "would change" if is_new else "unchanged", findings, job.target)
    return FileResult(_name_of(job), "copied", findings, job.target, is_new)
