"""The original's text with its batch size multiplied where it is defined, in a copy of its folder.

The conversion multiplies the same numbers by the number of towers (TMG110); a flag gets another value instead.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from converter.source import encode
from converter.source.notebook.magics import idle
from converter.source.python2 import readable, restored
from converter.syntax.changes import Change, applied
from converter.verify.processes.layout import Copy
from converter.verify.processes.workspace import run_as
from converter.verify.runs.flags import flags_of

if TYPE_CHECKING:
    from converter.conversion import Conversion, OtherFile
    from converter.plan import At, Plan

RULE = "TMG110"
_NUMBER = re.compile(r"\d+")
_FLAG = re.compile(r"""(\w+)['"\]]*$""")  # `batch_size` of FLAGS.batch_size and args["batch_size"]
_PARAMETER = re.compile(r"(\w+) \*= ")


def resize(
    copy: Copy, files: Mapping[str, Conversion | OtherFile], args: tuple[str, ...], share: Fraction
) -> tuple[str, ...] | None:
    """Multiplies the batch size in a copy of the original; gives the arguments to run it with.

    None where nothing tells which number it is, or a share of it is no whole number. files: of the original's
    conversion with --batch per-gpu, see origin.convert_anew.
    """
    found = {path: (made.source, made.named, made.plan) for path, made in files.items()}
    changes, flags = dict[str, list[Change]](), set[str]()
    texts = dict[str, str]()
    for path, (source, named, plan) in found.items():
        if source is not None and plan is not None:
            texts[path] = readable(source.text) if named is None else named.text
            changes[path] = list(_changes(texts[path], plan, share))
            flags |= set(_flags(texts[path], plan))
    given = _arguments(copy.script, flags, args, share)
    if given is None or not (flags or any(changes.values())):
        return None
    for path, several in changes.items():
        source = found[path][0]
        if several and source is not None:
            text, _ = applied(texts[path], several)
            target = copy.script.parent / run_as(path)
            target.write_bytes(encode(source, restored(text)) if source.notebook is None else idle(text)[0].encode())
    return given


def _changes(text: str, plan: Plan, share: Fraction) -> Iterator[Change]:
    """Numbers that are written in the text, and parameters that a caller in another file gives a value."""
    factor = f" * {share.numerator} // {share.denominator}"
    for edit in plan.replaces:
        begin, end = _offset(text, edit.at), _offset(text, edit.end)
        if edit.why == RULE and _NUMBER.fullmatch(text[begin:end]) and edit.text.startswith(f"{text[begin:end]} * "):
            yield Change(begin, end, f"({text[begin:end]}{factor})", RULE)
    for insert in plan.inserts:
        named = (
            [_PARAMETER.match(line) for line in insert.lines] if insert.why == RULE and insert.where == "top" else []
        )
        for name in filter(None, named):
            begin = _offset(text, insert.at)
            yield Change(begin, begin, f"{name[1]} = {name[1]}{factor}; ", RULE)


def _flags(text: str, plan: Plan) -> Iterator[str]:
    """The names of flags that hold a batch size: they are scaled where they are read."""
    for edit in plan.replaces:
        read = text[_offset(text, edit.at) : _offset(text, edit.end)]
        if edit.why == RULE and "//" not in edit.text and not _NUMBER.fullmatch(read) and (name := _FLAG.search(read)):
            yield name[1]


def _arguments(script: Path, names: set[str], args: tuple[str, ...], share: Fraction) -> tuple[str, ...] | None:
    """The arguments with other values for these flags; None where a value is not known."""
    flags = flags_of(script)
    more = []
    for name in sorted(names):
        if name not in flags:
            return None
        words = [part for arg in args for part in arg.split("=", 1)]
        said = [value for option, value in pairwise(words) if option == flags[name].option]
        value = str(said[-1] if said else flags[name].default)
        if not _NUMBER.fullmatch(value) or (int(value) * share).denominator > 1:
            return None
        more.append(f"{flags[name].option}={int(value) * share}")
    return (*args, *more)


def _offset(text: str, at: At) -> int:
    lines = text.splitlines(keepends=True)
    return sum(map(len, lines[: at.line - 1])) + at.column
