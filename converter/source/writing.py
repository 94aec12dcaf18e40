"""Writes a file whole or not at all, and never over what another process has just written."""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Iterator
from contextlib import suppress

from converter.diagnostics import Refusal, refusal_of

TEMPORARY = ".tf-multigpu-"  # begins the names of temporary files, behind it the number of their process
_LEFT_OVER = re.compile(r"(?:\.tf-multigpu-(\d+)-\w{8}\.tmp|tf_multigpu_(\d+)_\w{8}\.(?:py|ipynb))")
_FULL = "the disk is full, and what was there is untouched: free some space, and run the command again"
_ADVICE = {
    errno.ENOSPC: _FULL,
    getattr(errno, "EDQUOT", errno.ENOSPC): _FULL.replace("the disk is full", "your quota is used up"),
    errno.EROFS: "the file system is mounted read-only; name an output elsewhere",
    errno.ENAMETOOLONG: "the name is too long for this file system; name a shorter one",
    errno.EACCES: "the permissions of the file or of its folder do not allow it",
    errno.EPERM: "the permissions of the file or of its folder do not allow it",
    errno.ELOOP: "its symbolic links lead in a circle",
}
_cleared: set[str] = set()  # folders that this process has looked at for left-over temporary files


class Anything:
    """The default for the expected contents of a file: it may hold anything."""


def write(
    path: str,
    data: bytes,
    mode_from: str | None = None,
    make_folders: bool = False,
    before: bytes | None | type[Anything] = Anything,
) -> None:
    """Writes a file whole or not at all: a temporary file in the same folder takes its place.

    A link stays a link, and what it leads to is written. An existing file keeps its mode, a new one
    takes that of `mode_from`. Devices and pipes are written straight to. The folder has to be there,
    unless `make_folders`.

    before: what the file must hold until then, None for one that must not be there.

    Raises:
        Refusal: TMG007, the path cannot be written; TMG024, it holds something else than `before`. What was there is
            untouched.
    """
    target = os.path.realpath(path)
    try:
        if os.path.exists(target) and not os.path.isfile(target):
            _write_through(target, data)
        else:
            if make_folders:
                os.makedirs(os.path.dirname(target), exist_ok=True)
            _replace(path, target, data, mode_from, before)
    except (OSError, ValueError) as error:
        raise not_written(path, error) from error


def not_written(path: str, error: OSError | ValueError) -> Refusal:
    """The finding TMG007 for a file that cannot be written: the system's reason, and advice."""
    reason = getattr(error, "strerror", None) or str(error)
    target = os.path.realpath(path)
    return refusal_of("TMG007", path, f"cannot be written: {reason}", _advice(target, error))


def other_names(path: str) -> int:
    """How many other names (hard links) the file has that a path leads to."""
    with suppress(OSError, ValueError):
        found = os.stat(path)
        return found.st_nlink - 1 if stat.S_ISREG(found.st_mode) else 0
    return 0


def prefix(run: bool = False) -> str:
    """The beginning of this process's temporary file names, by which other processes recognise leftovers.

    run: for a conversion that is run from there, and has to have the name of a module.
    """
    return f"tf_multigpu_{os.getpid()}_" if run else f"{TEMPORARY}{os.getpid()}-"


def clear_left_over(folder: str) -> None:
    """Removes the temporary files that processes left in a folder when they were killed; once for each folder."""
    if folder in _cleared:
        return
    _cleared.add(folder)
    for name in _left_over(folder):
        with suppress(OSError):
            os.unlink(os.path.join(folder, name))


def is_alive(process: int) -> bool:
    """Whether a process of this number runs on this machine."""
    if os.name == "nt":  # where signal 0 would end it
        return False
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


def _left_over(folder: str) -> Iterator[str]:
    with suppress(OSError):
        for name in os.listdir(folder):
            found = _LEFT_OVER.fullmatch(name)
            process = int(found[1] or found[2]) if found else 0
            if process and process != os.getpid() and not is_alive(process) and _is_ours(os.path.join(folder, name)):
                yield name


def _is_ours(path: str) -> bool:
    """True if the file is a temporary one of this tool, not a user's script with such a name."""
    if path.endswith(".tmp"):
        return True
    with open(path, "rb") as file:
        return b"# tf-multigpu " in file.read(-1 if path.endswith(".ipynb") else 4096)


def _write_through(target: str, data: bytes) -> None:
    with open(target, "wb", buffering=0) as file:
        file.write(data)


def _replace(path: str, target: str, data: bytes, mode_from: str | None, before: bytes | None | type[Anything]) -> None:
    old = os.stat(target) if os.path.exists(target) else None
    if old is not None and not os.access(target, os.W_OK):
        # The folder's permissions would allow replacing the file, but the file itself is read-only on purpose.
        raise PermissionError(errno.EACCES, "the file is read-only")
    import tempfile  # 4 ms, which a run that writes nothing is spared

    folder = os.path.dirname(target)
    clear_left_over(folder)
    handle, temporary = tempfile.mkstemp(prefix=prefix(), suffix=".tmp", dir=folder)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        _give_mode(temporary, old, mode_from)
        if before is not Anything and _held(target) != before:
            message = "somebody else has written this file since it was read"
            hint = "nothing is written; run the command again, and it takes the file as it is now"
            raise refusal_of("TMG024", path, message, hint)
        os.replace(temporary, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


def _held(target: str) -> bytes | None:
    try:
        with open(target, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None


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


def _advice(target: str, error: OSError | ValueError) -> str:
    folder = os.path.dirname(target)
    if os.path.isdir(target):
        return "this is a folder; name a file, or end the path with / to write into it"
    if os.path.isfile(folder):
        return f"{folder} is a file, where a folder is wanted"
    known = _ADVICE.get(getattr(error, "errno", None) or 0)
    if known is None and not os.path.isdir(folder):
        return "the folder does not exist; make it first"
    return known or "check the permissions of the file and of its folder"
