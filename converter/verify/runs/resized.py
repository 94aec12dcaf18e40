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
    flags, changed = set[str](), dict[Path, bytes]()
    for path, made in files.items():
        if made.source is not None and made.plan is not None:
            before = readable(made.source.text) if made.named is None else made.named.text
            flags |= set(_flags(before, made.plan))
            text = _scaled(before, made.plan, share)
            if text != before:
                cells = made.source.notebook is not None
                data = idle(text)[0].encode() if cells else encode(made.source, restored(text))
                changed[copy.script.parent / run_as(path)] = data
    given = _arguments(copy.script, flags, args, share)
    if given is None or not (flags or changed):
        return None
    for target, data in changed.items():
        target.write_bytes(data)
    return given


def _scaled(text: str, plan: Plan, share: Fraction) -> str:
    """A text with other numbers where they are written, and where a caller in another file gives them."""
    factor, changes = f" * {share.numerator} // {share.denominator}", []
    for edit in plan.replaces:
        begin, end = _offset(text, edit.at), _offset(text, edit.end)
        if edit.why == RULE and _NUMBER.fullmatch(text[begin:end]) and edit.text.startswith(f"{text[begin:end]} * "):
            changes.append((begin, end, f"({text[begin:end]}{factor})"))
    for insert in plan.inserts:
        names = map(_PARAMETER.match, insert.lines if insert.why == RULE and insert.where == "top" else ())
        begin = _offset(text, insert.at)
        changes += [(begin, begin, f"{name[1]} = {name[1]}{factor}; ") for name in names if name]
    for begin, end, new in sorted(changes, reverse=True):
        text = text[:begin] + new + text[end:]
    return text


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
