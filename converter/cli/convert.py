"""`tf-multigpu convert`."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import fields, replace
from typing import Any

from converter.choices import OutputFormat
from converter.cli import formats
from converter.cli.command_line.table import UsageError
from converter.cli.config.layers import Layers
from converter.cli.files.request import MODES, STDIN, Mode, Request, is_several, make_request, options_of, trees_of
from converter.cli.terminal import has_color, say
from converter.report import text
from converter.report.results import EXIT_CODES, FileResult, exit_code

_AS_THEY_WERE = ("copied", "linked", "left out", "unchanged")

# Refusals of what is asked for, of other libraries and of scripts that several GPUs train already.
NO_OFFER = {"TMG201", "TMG216", "TMG217", "TMG259", "TMG260", "TMG271", "TMG280", "TMG287"}


def cores() -> int:
    """The processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def convert_command(*, layers: Layers, **given: Any) -> int:
    """`tf-multigpu convert`; given: the values of its parameters, of which the table says what each means."""
    layers.check()
    try:
        requests = _requests(layers, given)
    except ValueError as error:
        raise UsageError(str(error)) from None
    form = formats.chosen(given["output_format"], given["json"], requests[0].mode)
    return _run(requests, form, given)


def _requests(layers: Layers, given: Mapping[str, Any]) -> list[Request]:
    """The runs that a command line asks for: one, or one for each pair of the configuration.

    Raises:
        ValueError: what is asked for contradicts itself or lacks something; the message says what.
    """
    jobs, html = given["jobs"], given["html"]
    if given["quiet"] and given["verbose"]:
        raise ValueError("--quiet and --verbose exclude each other")
    if jobs is not None and jobs > 1 and (given["verify"] or given["trace"]):
        raise ValueError("--verify and --trace run one script after the other: they go with --jobs 1 only")
    options = options_of(given, layers)
    modes = [mode for mode in MODES if given[mode.replace("-", "_")]]
    same = {one.name: given[one.name] for one in fields(Request) if one.name in given}
    skip, ignore = given["skip_non_training"], given["ignore_all_space"]
    asked = Request(**same, mode="print", options=options, skip=skip, ignore_space=ignore, layers=layers)
    named: list[tuple[Sequence[str], str | None]] = [(asked.sources, asked.output)]
    if not asked.sources:
        named = _pairs(layers, modes, asked.output or given["output_dir"])
    runs = (replace(asked, sources=tuple(scripts), output=target) for scripts, target in named)
    requests = [make_request(one, modes, given["output_dir"]) for one in runs]
    _check_for_folders(layers, requests)
    if asked.network and not asked.verify:
        raise ValueError("--network lets scripts that --verify runs use the network")
    if ignore and not given["diff"]:
        raise ValueError("-w says which lines --diff shows: it needs --diff")
    if html:
        from converter.cli.page import problem_with_page

        if problem := problem_with_page(html):
            raise ValueError(problem)
    return requests


def _check_for_folders(layers: Layers, requests: Sequence[Request]) -> None:
    """Raises ValueError for an option of the command line that is about folders, where none is converted."""
    has_output = any(request.mode == "folder" and trees_of(request) for request in requests)
    scripts = [source for request in requests for source in request.sources if source == "-" or os.path.isfile(source)]
    has_folder = has_output or len(scripts) < sum(len(request.sources) for request in requests)
    for name, what in (("data", "folders without code"), ("copy_limit", "large files")):
        if name in layers.given and not has_output:
            flag = f"--{name.replace('_', '-')}"
            raise ValueError(f"{flag} says what becomes of {what} in an output folder: it needs -o DIR or --output-dir")
    if layers.given.get("exclude") and not has_folder:
        raise ValueError("--exclude leaves files out of folders: name a folder, or leave the script itself out")


def _pairs(layers: Layers, modes: Sequence[Mode], output: str | None) -> list[tuple[Sequence[str], str | None]]:
    """The sources and outputs of the configuration, which are meant where no script is named.

    Raises:
        UsageError: there are none. ValueError: the outputs are elsewhere, too.
    """
    if layers.file is None or not layers.file.pairs:
        where = f"{layers.file.path} has no pairs" if layers.file else "there is no configuration with pairs"
        raise UsageError(f"Missing argument 'SRC...': name a script or a folder; {where} to make", None)
    if output or "in-place" in modes:
        raise ValueError("the pairs of a configuration have their own outputs: name a script, or no output")
    return [((pair.source,), None if "diff" in modes else pair.output) for pair in layers.file.pairs]


def _run(requests: Sequence[Request], form: OutputFormat, given: Mapping[str, Any]) -> int:
    quiet, is_text, mode = given["quiet"], form == "text", requests[0].mode
    # The printed text itself shows the progress; a bar would stand in it.
    printed = mode in ("print", "diff") and is_text and sys.stdout.isatty()
    done: list[FileResult] = []
    for request in requests:
        first = len(done)
        for result, tell in _results(request, given["jobs"], quiet, printed):
            if request.compares and result.outcome == "would change":
                result = replace(result, again=request.command)
            done.append(result)
            if is_text:
                _print(request, result, given, tell)
        if is_text:
            _print_end(request, done[first:], given)
    if not is_text:
        print(formats.of_results(form, done), end="")
    elif not quiet:
        if mode not in ("print", "diff") and (given["verbose"] or _is_worth_saying(requests, done)):
            say(text.summary(done))
        untouched = mode == "folder" and all(result.outcome in _AS_THEY_WERE for result in done)
        if untouched and not requests[0].compares:
            say("nothing was converted: no training step was found here; name one script to see why")
    sys.stdout.flush()
    return exit_code(done)


def _results(
    request: Request, workers: int | None, quiet: bool, printed: bool
) -> Iterator[tuple[FileResult, Callable[[str], None]]]:
    """The results of one run, each with what prints lines above the progress bar.

    printed: whether the results' texts go to the terminal one by one, which leaves no place for a bar.
    """
    from converter.cli.files.convert_files import results_of
    from converter.cli.progress import files_bar, timed

    if workers is None:
        workers = cores() if is_several(request.sources) else 1
    typed = STDIN in request.sources  # on the same terminal, perhaps
    one = os.path.basename(request.sources[0]) if not is_several(request.sources) else ""
    doing = f"converting {one}" if one else "converting"
    with files_bar(quiet or printed) as (tell, say), closing(results_of(request, workers, tell)) as results:
        for result in timed(results, doing, quiet or typed):
            yield result, say


def _is_brief(request: Request, given: Mapping[str, Any]) -> bool:
    """True if each file of a run gets one line: a folder is converted, and nobody asks for more or for less."""
    writes = request.mode in ("folder", "in-place") and not request.compares
    return writes and not (given["quiet"] or given["verbose"]) and any(map(os.path.isdir, request.sources))


def _print_line(result: FileResult, tell: Callable[[str], None]) -> None:
    """Prints one line for a file of a folder; files that stay as they were are only counted, at the end."""
    if result.outcome not in _AS_THEY_WERE:
        tell(text.line(result))
        if result.report:
            tell(f"    {result.report.splitlines()[0]}")
    elif any(finding.severity != "info" for finding in result.diagnostics):
        tell(text.line(result))


def _print_end(request: Request, done: Sequence[FileResult], given: Mapping[str, Any]) -> None:
    """Prints what is left out, what -v would show, and the command that writes what a check found."""
    if _is_brief(request, given):
        if named := text.left_out(done):
            say(named)
        if any(result.decisions or result.diagnostics for result in done if result.outcome not in _AS_THEY_WERE):
            say("-v shows what was decided, and the lines and advice behind each code")
    if not given["quiet"] and any(result.again for result in done):
        say(text.again(request.command))


def _print(request: Request, result: FileResult, given: Mapping[str, Any], tell: Callable[[str], None]) -> None:
    """One file's findings on standard error, its text or diff on standard output."""
    if _is_brief(request, given) and result.outcome not in ("failed", "unverified"):
        _print_line(result, tell)
        return
    quiet, refused, news = given["quiet"], result.outcome == "refused", _is_news(result) and not given["quiet"]
    verbose = given["verbose"] or (not quiet and _is_alone(request, result))
    severe = ("error", "warning")
    shown = [one for one in result.diagnostics if verbose or refused or news or one.severity in severe]
    told = (
        result.report if not quiet or result.outcome == "unverified" else "",
        text.diagnostics(shown),
        _offer(result) if refused and not quiet else "",
        result.traceback if verbose else "",
        text.outcome(result) if verbose or news else "",
        text.decisions(result, bool(result.report)) if result.written and not quiet else "",
    )
    for one in filter(None, told):
        tell(one)
    if result.text is not None:
        _emit(result.text.encode(result.encoding))
    if result.diff:
        _emit_diff(result.diff, result.encoding)
    if given["debug"] and result.crash:
        tell(result.crash)


def _offer(result: FileResult) -> str:
    """Whether the cluster target would convert a script that towers refuse; "" where that is no question."""
    codes = {finding.code for finding in result.diagnostics if finding.severity == "error"}
    if not any(code.startswith("TMG2") for code in codes) or not result.path.endswith(".py") or codes & NO_OFFER:
        return ""
    import shlex

    from converter.source import read
    from converter.targets.cluster.offer import takes

    if not takes(read(result.path)):
        return ""
    made = f"{result.path.removesuffix('.py')}_cluster.py"
    command = shlex.join(["tf-multigpu", "convert", result.path, "--target", "cluster", "-o", made])
    why = "--target cluster would convert it: one process for each GPU, with the script's own graph"
    return f"    {why}\n        {command}"


def _is_alone(request: Request, result: FileResult) -> bool:
    """True if one script is named and nothing is written or compared, for a reason that is printed.

    Files without TensorFlow are passed over in silence, here as on the shorter way (command_line/shortcut.py).
    """
    named = len(request.sources) == 1 and not is_several(request.sources) and not request.skip
    silent = {"in-place": "unchanged", "check": "up to date"}.get(request.mode) == result.outcome
    return named and silent and bool(result.diagnostics)


def _is_news(result: FileResult) -> bool:
    """True if the outcome of a file does not follow from its findings, text or diff, and so gets a line of its own."""
    if result.outcome in ("copied", "linked"):  # the summary counts them
        return False
    errors = [finding for finding in result.diagnostics if finding.severity == "error"]
    elsewhere = result.outcome == "refused" and errors and all(finding.path != result.path for finding in errors)
    return result.written or bool(elsewhere) or (result.outcome == "would change" and result.diff is None)


def _is_worth_saying(requests: Sequence[Request], done: list[FileResult]) -> bool:
    """True if the summary line says something that the lines for each file do not."""
    said = [result for result in done if result.outcome != "unchanged" or result.written]
    checks = any(request.compares or request.mode == "check" for request in requests)
    return bool(said) and (len(done) > 1 or checks and not EXIT_CODES[said[0].outcome])


def _emit(data: bytes) -> None:
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def _emit_diff(diff: str, encoding: str) -> None:
    """In the file's own encoding, so that `patch` takes it; on a terminal in the terminal's."""
    if sys.stdout.isatty():
        encoding = sys.stdout.encoding
    if has_color(sys.stdout):
        from converter.report.diff import coloured

        diff = coloured(diff)
    # Only a path in the two first lines can hold what the encoding lacks.
    _emit(diff.encode(encoding, "backslashreplace"))
