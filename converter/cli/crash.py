"""A report of an internal error that can be sent: it holds neither lines of the script nor names of folders."""

from __future__ import annotations

import hashlib
import platform
import re
import traceback
from collections.abc import Iterable, Iterator
from importlib import metadata
from pathlib import Path

from converter import __version__

PACKAGES = ("libcst", "black", "typer")
_MOST = 20  # frames at each end of a long trace
_ROOT = Path(__file__).resolve().parents[2]
_PROBE = re.compile(r'File "[^"]*[/\\](tmgprobe[/\\][^"]+)", line (\d+), in (\S+)')


def crash_report(error: BaseException, scripts: Iterable[str]) -> str:
    """Versions, features of the scripts, the kinds of the errors, and the functions on the way to them.

    What an error says is left out: it may quote the script.
    """
    lines = ["crash report of tf-multigpu, without any text of the script", _versions()]
    lines += map(_script, scripts)
    for one in _chain(error):
        lines.append(type(one).__name__)
        frames = traceback.extract_tb(one.__traceback__)
        lines += _shortened([f"  {_name(frame.filename)}:{frame.lineno} in {frame.name}" for frame in frames])
        lines += [f"  child {name}:{line} in {function}" for name, line, function in _PROBE.findall(str(one))]
    return "\n".join(lines)


def _versions() -> str:
    found = [f"tf-multigpu {__version__}", f"Python {platform.python_version()}"]
    for package in PACKAGES:
        try:
            found.append(f"{package} {metadata.version(package)}")
        except metadata.PackageNotFoundError:
            found.append(f"{package} is not installed")
    return ", ".join([*found, f"{platform.system()} {platform.machine()}"])


def _script(path: str) -> str:
    try:
        data = Path(path).read_bytes()
    except OSError:
        return "script: cannot be read"
    digest = hashlib.sha256(data).hexdigest()
    ends = data.count(b"\n")
    return f"script: sha256 {digest}, {len(data)} bytes, {ends} lines"


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The error and its causes (`__cause__`, `__context__`), each once."""
    seen: set[int] = set()
    one: BaseException | None = error
    while one is not None and id(one) not in seen:
        seen.add(id(one))
        yield one
        one = one.__cause__ or one.__context__


def _name(filename: str) -> str:
    """A file's path inside the tool or inside a package; 'elsewhere' for all others, which may be the user's."""
    path = Path(filename)
    if path.is_relative_to(_ROOT) and "site-packages" not in path.parts:
        return path.relative_to(_ROOT).as_posix()
    parts = path.parts
    return "/".join(parts[parts.index("site-packages") + 1 :]) if "site-packages" in parts else "elsewhere"


def _shortened(frames: list[str]) -> list[str]:
    if len(frames) <= 2 * _MOST:
        return frames
    return [*frames[:_MOST], f"  ... {len(frames) - 2 * _MOST} more", *frames[-_MOST:]]
