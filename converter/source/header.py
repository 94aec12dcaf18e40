"""The comment that a converted script carries near its top, and the options in it as flags.

`# tf-multigpu 0.2.0: converted from train.py sha256:<64 hex> with --num-gpus 2 --batch per-gpu`

It is printable ASCII on one line whatever the file is called (Python 2 refuses anything else in a file
without a coding cookie): other characters stand percent-encoded. The line below it says what was decided, and holds a
digest of the rest of the file, which shows whether somebody edited it, and the command that makes the file again:

`# tf-multigpu: decided: inputs X, Y cut along axis 0; …; text 0123456789abcdef by: tf-multigpu convert train.py …`

Headers of earlier versions have the first line alone, or the decisions on a line of their own. In a project with a
formatter each line is broken at blanks, to the project's width; the lines that it goes on in begin with `#   | `.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import field, fields, replace
from typing import Any, get_args

from converter.choices import (
    BatchMode,
    EvalBatch,
    FewerGpus,
    Helpers,
    LossMode,
    ScaleLr,
    ScaleSteps,
    Shard,
    Target,
    Variables,
    Warnings,
)
from converter.dataclass import dataclass
from converter.options import Options

BEGIN = "# tf-multigpu "
HELPERS = "# tf-multigpu: helpers for training on several GPUs"  # how a module of helpers begins
HELPERS_END = "# tf-multigpu: end of helpers"  # below those that stand in a script
PART_OF = "--part-of"  # in the header of a file that was converted with the script that imports it
_PRINTABLE = "".join(chr(code) for code in range(0x20, 0x7F) if chr(code) != "%")
# Patterns as text: `re` compiles them when they are first used, which for most files without TensorFlow is never.
_ODD = f"[^{re.escape(_PRINTABLE)}]"
_LINE_END = r"\r\n|\n|\r"
_LINE = r"(?:\A|(?<=[\r\n]))# tf-multigpu \S+: converted from [^\r\n]*"
_PARTS = (
    r"# tf-multigpu (?P<version>\S+): converted from (?P<source>.+) "
    r"sha256:(?P<sha256>[0-9a-f]{64}) with (?P<flags>.*)"
)
_BELOW = (
    r"(?P<decided>(?:(?:\r\n|\n|\r)# tf-multigpu: decided: [^\r\n]*)*)"
    r"(?:(?:\r\n|\n|\r)# tf-multigpu: text (?P<text>[0-9a-f]{16}|-+) by: (?P<command>[^\r\n]*))?"
)
_SEALED = r"(?P<decided>.*); text (?P<text>[0-9a-f]{16}|-+) by: (?P<command>.*)"
_SEAL = r"(\A[^\r\n]*(?:\r\n|\n|\r)# tf-multigpu: text )([0-9a-f]{16}|-+)(?=[\r\n])"
_FURTHER = "#   | "  # how the further lines of a broken one begin
_BEGINS = rf"{re.escape(_FURTHER)}|# tf-multigpu: decided: |# tf-multigpu: text (?:[0-9a-f]{{16}}|-+) "
_BLOCK = rf"[^\r\n]*(?:(?:{_LINE_END})(?:{_BEGINS})[^\r\n]*)*"
_DECIDED = "# tf-multigpu: decided: "
_DIGITS = 16  # of the digest of the text
UNSEALED = "-" * _DIGITS  # stands for the digest before it is known, so that the header keeps its lines
_PART = r"(?:(?:example:\d+|mean|sum|free)/(?:(?:\d+|-)(?:x(?:\d+|-))*)?|host)"
# Options whose flags are not called as their fields, and those that a command names where they are not the defaults.
_FLAGS = {"batch_axes": "--batch-axis", "traced": "--trace"}
_SHOWN = (
    *("loss", "variables", "scale_lr", "scale_steps", "eval_batch", "gpu_memory", "fewer_gpus", "target", "helpers"),
    *("warnings", "shard", "line_length"),
)
_TRACED = rf"\d+:\d+=(?:{_PART}|\({_PART}(?:,{_PART})*\))(?:\+(?:variables|collections|updates))*"


@dataclass(frozen=True)
class Header:
    """The data in the header comment of a converted script.

    version: of the tool that wrote it.
    source: the script it was made from, relative to its own folder, with slashes.
    sha256: of that script's bytes, 64 hexadecimal digits.
    options: what the conversion was asked for.
    script: the script that the file belongs to, relative to the file's folder; "" for a script itself.
    decided: what the conversion decided, a line each.
    text: the first hexadecimal digits of the digest of the file without its header; "" in headers of earlier versions,
        hyphens before it is known.
    command: what makes the file again, as seen from the file's folder.
    line: where the header stands, from one; no part of what it says. width: of its lines, in characters; 0 for as long
        as they are.
    """

    version: str
    source: str
    sha256: str
    options: Options
    script: str = ""
    decided: tuple[str, ...] = ()
    text: str = ""
    command: str = ""
    line: int = field(default=1, compare=False)
    width: int = field(default=0, compare=False)


class HeaderError(ValueError):
    """A line that begins like a header and cannot be read as one."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line = line


def lines_in_front(lines: Sequence[str]) -> int:
    """How many of a script's lines stay above the header: shebang and coding cookie."""
    place = 0
    for index, line in enumerate(lines[:2]):
        if (index == 0 and line.startswith("#!")) or (line.startswith("#") and "coding" in line):
            place = index + 1
    return place


def format_header(header: Header) -> str:
    """The header as a comment; its lines are joined by newlines, the last one has none."""
    import shlex

    source = _quoted(header.source)
    script = (PART_OF, header.script) if header.script else ()
    flags = _quoted(shlex.join((*to_flags(header.options), *script)))
    lines = [f"# tf-multigpu {header.version}: converted from {source} sha256:{header.sha256} with {flags}"]
    lines += [_DECIDED + _quoted(line) for line in header.decided]
    if header.text:
        seal = f"text {header.text} by: {_quoted(header.command)}"
        lines[1:] = [*lines[1:-1], f"{lines[-1]}; {seal}"] if header.decided else [f"# tf-multigpu: {seal}"]
    return "\n".join(part for line in lines for part in _broken(line, header.width))


def _broken(line: str, width: int) -> list[str]:
    """A line of the header in parts no longer than a width, as far as its words allow; 0 for no limit."""
    if not width:
        return [line]
    words = re.split(r"(?<! ) (?! )", line)  # several blanks stay together
    parts = [words[0]]
    for word in words[1:]:
        if len(parts[-1]) + 1 + len(word) <= width:
            parts[-1] += f" {word}"
        else:
            parts.append(_FURTHER + word)
    return parts


def _joined(block: str) -> tuple[str, int]:
    """The text of a header without breaks in its lines, and the width to which they were broken."""
    lines = re.split(_LINE_END, block)
    if not any(line.startswith(_FURTHER) for line in lines):
        return block, 0
    return re.sub(rf"(?:{_LINE_END}){re.escape(_FURTHER)}", " ", block), max(map(len, lines))


def _quoted(text: str) -> str:
    """Percent-encoded where it is not printable."""
    if not re.search(_ODD, text):
        return text
    from urllib.parse import quote  # 2 ms, which hardly any script needs

    return quote(text, safe=_PRINTABLE, errors="surrogateescape")


def _unquoted(text: str) -> str:
    if "%" not in text:
        return text
    from urllib.parse import unquote

    return unquote(text, errors="surrogateescape")


def is_converted(text: str) -> bool:
    """Whether a script carries a header, readable or not."""
    return _find_line(text) is not None


def find_header(text: str) -> Header | None:
    """The header of a converted script, None where the script was not converted.

    Raises:
        HeaderError: a header is there, but cannot be read: edited, or with options unknown to this version.
    """
    found = _find_line(text)
    if found is None:
        return None
    import shlex

    line = len(re.split(_LINE_END, text[: found.start()]))
    block, width = _joined(text[found.start() : _end(text, found)])
    first = re.match(r"[^\r\n]*", block)
    assert first is not None  # it matches nothing at all, too
    parts = re.fullmatch(_PARTS, first[0].rstrip())
    if parts is None:
        raise HeaderError(line, "it does not read `converted from SOURCE sha256:HASH with OPTIONS`")
    try:
        flags = shlex.split(_unquoted(parts["flags"]))
        script = flags.pop() if flags[-2:-1] == [PART_OF] else ""
        options = from_flags(flags[:-1] if script else flags)
    except ValueError as error:
        raise HeaderError(line, str(error)) from error
    source = _unquoted(parts["source"])
    below = re.compile(_BELOW).match(block, first.end())
    assert below is not None  # it matches nothing at all, too
    lines = [part.removeprefix(_DECIDED) for part in re.split(_LINE_END, below["decided"])[1:]]
    seal: re.Match[str] | None = below
    if below["text"] is None and lines and (seal := re.fullmatch(_SEALED, lines[-1])):
        lines[-1] = seal["decided"]
    command = _unquoted((seal and seal["command"]) or "")
    return Header(
        version=parts["version"],
        source=source,
        sha256=parts["sha256"],
        options=options,
        script=script,
        decided=tuple(map(_unquoted, lines)),
        text=(seal and seal["text"]) or "",
        command=command,
        line=line,
        width=width,
    )


def relabel(converted: str, source: str, **changes: str | int) -> str:
    """A converted file with `source` and the given entries in its header; other texts unchanged."""
    header = find_header(converted)
    if header is None:
        return converted
    return _with_header(converted, replace(header, source=source, **changes))  # type: ignore[arg-type]


def sealed(text: str) -> str:
    """A converted file, or a module of helpers, whose header has the digest of the text below it."""
    if text.startswith(HELPERS):
        if not re.search(_SEAL, text):
            text = text.replace("\n", "\n# tf-multigpu: text -\n", 1)
        return re.sub(_SEAL, rf"\g<1>{_digest(bare(text))}", text, count=1)
    header = find_header(text)
    return text if header is None else _with_header(text, replace(header, text=_digest(bare(text))))


def is_as_written(text: str) -> bool | None:
    """Whether a file is as a conversion wrote it: True, False for one that was edited since or has no header.

    None where its header is of an earlier version, which left no digest.
    """
    if text.startswith(HELPERS):
        seal = re.search(_SEAL, text)
        return None if seal is None else seal[2] == _digest(bare(text))
    try:
        header = find_header(text)
    except HeaderError:
        return False
    if header is None:
        return False
    return header.text == _digest(bare(text)) if header.text else None


def bare(text: str) -> str:
    """A file without its header, or a module of helpers without its digest; other texts unchanged."""
    if text.startswith(HELPERS):
        return re.sub(_SEAL, r"\g<1>-", text, count=1)
    found = _find_line(text)
    return text if found is None else text[: found.start()] + text[_end(text, found) :]


def _with_header(text: str, header: Header) -> str:
    found = _find_line(text)
    assert found is not None
    end = _end(text, found)
    newline = re.search(_LINE_END, text)
    block = format_header(header).replace("\n", newline[0] if newline else "\n")
    return text[: found.start()] + block + text[end:]


def _end(text: str, found: re.Match[str]) -> int:
    """Where a header ends that begins with this line."""
    block = re.compile(_BLOCK).match(text, found.start())
    return block.end() if block else found.end()


def _digest(text: str) -> str:
    """Of a text, whatever its line ends are: version control may write others."""
    import hashlib

    return hashlib.sha256(re.sub(_LINE_END, "\n", text).encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]


def _find_line(text: str) -> re.Match[str] | None:
    """The first line that is a header and a comment: a string may quote one."""
    return next((found for found in re.finditer(_LINE, text) if _is_comment(text[: found.end()])), None)


def _is_comment(head: str) -> bool:
    """Whether the last line of a script's beginning is a comment, and not part of a string."""
    import io
    import tokenize

    last = None
    with suppress(tokenize.TokenError, SyntaxError):
        for token in tokenize.generate_tokens(io.StringIO(head, newline=None).readline):
            if token.type == tokenize.COMMENT:
                last = token
    return last is not None and last.start == (len(re.split(_LINE_END, head)), 0)


def flag_of(name: str) -> str:
    """The flag of an option, by the name of its field."""
    return _FLAGS.get(name) or "--" + name.replace("_", "-")


def field_of(name: str) -> str:
    """The field of an option, by the name that its flag has."""
    return {"batch_axis": "batch_axes"}.get(name, name)


def flags_given(options: Options, fields: Iterable[str]) -> Iterator[str]:
    """The flags of those among some options that do not have their defaults."""
    usual = Options()
    return (flag_of(name) for name in fields if getattr(options, name) != getattr(usual, name))


def flags_changed(before: Options, after: Options) -> list[str]:
    """The flags of the options that two sets of options have different values of."""
    return [flag_of(one.name) for one in fields(Options) if getattr(before, one.name) != getattr(after, one.name)]


def as_asked(options: Options) -> Options:
    """Options as somebody gave them, without what a conversion found out itself."""
    batch = options.asked_batch or options.batch
    found: dict[str, Any] = {"one_gpu": False, "flag_elsewhere": False, "merge_all": False}
    options = replace(options, **found, traced=(), of_project=(), configured=())
    return replace(options, batch=batch, asked_batch=None)


def command_flags(options: Options, also: Collection[str] = ()) -> tuple[str, ...]:
    """The flags of a command line that gives these options.

    also: options that are given even if they have their defaults, as a configuration says otherwise.
    """
    flags = to_flags(as_asked(options), also)
    return (*flags, "--trace") if options.traced else flags


def to_flags(options: Options, also: Collection[str] = ()) -> tuple[str, ...]:
    """Options as flags: the two that every reader wants to see, those in `also`, and whatever is not the default."""
    default = Options()
    flags = ["--num-gpus", _number(options.num_gpus), "--batch", options.batch]
    for name in _SHOWN:
        value = getattr(options, name)
        if value != getattr(default, name) or (name in also and value is not None):
            flags += [flag_of(name), str(value)]
    flags += ["--asked-batch", options.asked_batch] if options.asked_batch else []
    flags += ["--other-scripts", "one-gpu"] if options.one_gpu else []
    flags += ["--own-num-gpus", "elsewhere"] if options.flag_elsewhere else []
    flags += ["--attributes", "all"] if options.merge_all else []
    for name in options.shared:
        flags += ["--shared", name]
    for name, axis in options.batch_axes:
        flags += ["--batch-axis", f"{name}={axis}"]
    for place, fact in options.traced:
        flags += ["--traced", f"{place}={fact}"]
    return tuple(flags)


def from_flags(flags: Sequence[str]) -> Options:
    """Options from command-line flags, each with its value.

    Raises:
        ValueError: an unknown flag, a flag without a value, or a value out of range; the message names it.
    """
    options = Options()
    if len(flags) % 2:
        raise ValueError(f"{flags[-1]} lacks its value")
    for flag, value in zip(flags[::2], flags[1::2], strict=True):
        if flag not in _SETTERS:
            raise ValueError(f"unknown option {flag}")
        try:
            options = _SETTERS[flag](options, value)
        except ValueError as error:
            raise ValueError(f"{flag}: {error}") from None
    both = set(options.shared) & {name for name, _ in options.batch_axes}
    if both:
        raise ValueError(f"--shared and --batch-axis contradict each other about {min(both)}")
    return options


def _number(num_gpus: int | None) -> str:
    return "auto" if num_gpus is None else str(num_gpus)


def _natural(value: str, least: int) -> int:
    if not (value.isascii() and value.isdecimal()) or int(value) < least:
        raise ValueError(f"{value!r} is not a whole number from {least} up")
    return int(value)


def _choice(value: str, *choices: str) -> str:
    if value not in choices:
        raise ValueError(f"{value!r} is not one of {', '.join(choices)}")
    return value


def _set_num_gpus(options: Options, value: str) -> Options:
    return replace(options, num_gpus=None if value == "auto" else _natural(value, 1))


def _set_choice(name: str, words: tuple[str, ...]) -> Callable[[Options, str], Options]:
    """A function that sets an option to one of these words."""

    def set_to(options: Options, value: str) -> Options:
        return replace(options, **{name: _choice(value, *words)})  # type: ignore[arg-type]

    return set_to


def _set_gpu_memory(options: Options, value: str) -> Options:
    if value in ("growth", "all"):
        return replace(options, gpu_memory=value)
    try:
        fraction = float(value)
    except ValueError:
        fraction = 0.0
    if not 0 < fraction <= 1:
        raise ValueError(f"{value!r} is not growth, all, or a fraction above 0 and up to 1")
    return replace(options, gpu_memory=fraction)


def _set_line_length(options: Options, value: str) -> Options:
    return replace(options, line_length=_natural(value, 1))


def _set_other_scripts(options: Options, value: str) -> Options:
    return replace(options, one_gpu=_choice(value, "one-gpu") == "one-gpu")


def _set_own_num_gpus(options: Options, value: str) -> Options:
    return replace(options, flag_elsewhere=_choice(value, "elsewhere") == "elsewhere")


def _set_attributes(options: Options, value: str) -> Options:
    return replace(options, merge_all=_choice(value, "all") == "all")


def _add_shared(options: Options, value: str) -> Options:
    name = _name(value)
    return options if name in options.shared else replace(options, shared=(*options.shared, name))


def _add_batch_axis(options: Options, value: str) -> Options:
    name, _, number = value.rpartition("=")
    axis = _natural(number, 0)
    axes = dict(options.batch_axes)
    if axes.setdefault(_name(name), axis) != axis:
        raise ValueError(f"{name} has two batch axes, {axes[name]} and {axis}")
    return replace(options, batch_axes=tuple(axes.items()))


def _add_traced(options: Options, value: str) -> Options:
    if not re.fullmatch(_TRACED, value):
        raise ValueError(f"{value!r} is not LINE:COLUMN=FACT")
    place, _, fact = value.partition("=")
    return replace(options, traced=(*options.traced, (place, fact)))


def _name(value: str) -> str:
    """A name as a script writes it: `x`, `self.images`."""
    if not all(part.isidentifier() for part in value.split(".")):
        raise ValueError(f"{value!r} is not a name")
    return value


# The options whose values are words, by their fields.
_WORDS = {
    "batch": BatchMode,
    "asked_batch": BatchMode,
    "loss": LossMode,
    "variables": Variables,
    "scale_lr": ScaleLr,
    "scale_steps": ScaleSteps,
    "eval_batch": EvalBatch,
    "fewer_gpus": FewerGpus,
    "target": Target,
    "helpers": Helpers,
    "warnings": Warnings,
    "shard": Shard,
}
_SETTERS: dict[str, Callable[[Options, str], Options]] = {
    **{flag_of(name): _set_choice(name, get_args(words)) for name, words in _WORDS.items()},
    "--num-gpus": _set_num_gpus,
    "--gpu-memory": _set_gpu_memory,
    "--line-length": _set_line_length,
    "--other-scripts": _set_other_scripts,
    "--own-num-gpus": _set_own_num_gpus,
    "--attributes": _set_attributes,
    "--shared": _add_shared,
    "--batch-axis": _add_batch_axis,
    "--traced": _add_traced,
}
