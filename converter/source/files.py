"""Which files are meant, and how one is written."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from converter.diagnostics import Diagnostic, Refusal
from converter.source.look import scripts_in


@dataclass(frozen=True)
class Script:
    """One script to work on.

    path: where it is. relative: its place below the folder that was named, or its bare name.
    named: whether the user named it, rather than a folder that holds it.
    """

    path: str
    relative: str
    named: bool


def expand(
    paths: Sequence[str], leave_out: str | None = None
) -> tuple[tuple[Script, ...], tuple[Diagnostic, ...]]:
    """The scripts that files and folders stand for, each once, and TMG006 for folders without one.

    leave_out: a folder below the named ones that is not looked into.
    """
    scripts: dict[str, Script] = {}
    empty = []
    for path in paths:
        if not os.path.isdir(path):
            scripts.setdefault(os.path.realpath(path), Script(path, os.path.basename(path), True))
            continue
        found = scripts_in(path, leave_out)
        if not found:
            message = "no Python script in this folder"
            empty.append(Diagnostic("TMG006", path, 0, 0, message, "hidden folders are not looked into"))
        for name in found:
            inside = os.path.join(path, name)
            scripts.setdefault(os.path.realpath(inside), Script(inside, name, False))
    return tuple(scripts.values()), tuple(empty)


def same_file(one: str, other: str) -> bool:
    """Whether two paths lead to one file, or would if it were there."""
    with suppress(OSError, ValueError):
        return os.path.samefile(one, other)
    return os.path.realpath(one) == os.path.realpath(other)


def write(path: str, data: bytes, mode_from: str | None = None, make_folders: bool = False) -> None:
    """Writes a file whole or not at all: a temporary file in the same folder takes its place.

    A link stays a link, and what it leads to is written. An existing file keeps its mode, a new one
    takes that of `mode_from`. Devices and pipes are written straight to. The folder has to be there,
    unless `make_folders`.

    Raises:
        Refusal: TMG007, the path cannot be written; what was there is untouched.
    """
    target = os.path.realpath(path)
    try:
        if os.path.exists(target) and not os.path.isfile(target):
            _write_through(target, data)
        else:
            if make_folders:
                os.makedirs(os.path.dirname(target), exist_ok=True)
            _replace(target, data, mode_from)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        message = f"cannot be written: {reason}"
        raise Refusal(Diagnostic("TMG007", path, 0, 0, message, _advice(target))) from error


def _write_through(target: str, data: bytes) -> None:
    with open(target, "wb", buffering=0) as file:
        file.write(data)


def _replace(target: str, data: bytes, mode_from: str | None) -> None:
    old = os.stat(target) if os.path.exists(target) else None
    if old is not None and not os.access(target, os.W_OK):
        # The folder would allow it, but whoever took the permission away did not mean that.
        raise PermissionError(13, "the file is read-only")
    import tempfile  # 4 ms, which a run that writes nothing is spared

    handle, temporary = tempfile.mkstemp(prefix=".tf-multigpu-", suffix=".tmp", dir=os.path.dirname(target))
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        _give_mode(temporary, old, mode_from)
        os.replace(temporary, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


def _give_mode(temporary: str, old: os.stat_result | None, mode_from: str | None) -> None:
    """The old file's mode and owner; for a new one the mode of `mode_from`, and it can be written again."""
    mode = 0o666 & ~_umask()
    if old is not None:
        mode = stat.S_IMODE(old.st_mode)
        if hasattr(os, "chown"):
            with suppress(OSError):  # only the superuser may give files away
                os.chown(temporary, old.st_uid, old.st_gid)
    elif mode_from is not None:
        with suppress(OSError):
            mode = stat.S_IMODE(os.stat(mode_from).st_mode) | stat.S_IWUSR
    os.chmod(temporary, mode)


def _umask() -> int:
    """The process's file mode mask, which can be read only by setting it."""
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


def _advice(target: str) -> str:
    folder = os.path.dirname(target)
    if os.path.isdir(target):
        return "this is a folder; name a file, or end the path with / to write into it"
    if os.path.isfile(folder):
        return f"{folder} is a file, where a folder is wanted"
    if not os.path.isdir(folder):
        return "the folder does not exist; make it first"
    return "check the permissions of the file and of its folder"
