"""Temporary copies of the two scripts' folders, and the number of towers written into the converted one."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from converter import __version__
from converter.dataclass import dataclass
from converter.diagnostics import Refusal
from converter.runtime.whole import PACKAGE, package_module
from converter.runtime.worker import PACKAGE as CLUSTER_PACKAGE
from converter.runtime.worker import worker_package
from converter.source import read
from converter.source.quick_checks import code_of, is_pipeline
from converter.verify.data import BatchMode, VerifyError
from converter.verify.processes.family import remove
from converter.verify.processes.guard import Guard

MARKER = "# tf-multigpu: helpers for training on several GPUs"
NOTEBOOK = ".ipynb"
LARGEST_FILE = 256 * 2**20  # bytes
LARGEST_COPY = 2 * 2**30  # bytes
SKIPPED = {".git", ".hg", ".svn", "__pycache__", "node_modules", ".tox", ".mypy_cache", ".pytest_cache"}
WORK = "tf-multigpu-verify-"  # how the names of temporary folders begin; other runs' may lie beside the script

_PART = re.compile(rb"^# tf-multigpu \S+: converted from .* --part-of ", re.MULTILINE)
_CONSTANT = re.compile(
    rb"^([ \t]*[\w.]*num_gpus[ \t]*=[ \t]*)(\d+)((?: if __name__ == '__main__' else 1)?[ \t]*(?:#.*)?\r?)$",
    re.IGNORECASE | re.MULTILINE,
)
# The comments beside numbers that are no number of towers: of scripts that only import a file, and of modes that
# train nothing.
_NOT_THE_NUMBER = (b"the script that trains on several GPUs sets it", b"nothing trains here")
_FLAG = re.compile(rb"""(--num[_-]gpus)\b|['"](num_gpus)['"]""")
_FLAG_DEFAULT = re.compile(rb"""['"](?:--)?num[_-]gpus['"][^\n]*?\b(\d+)\b""")
_HEADER = re.compile(
    rb"^# tf-multigpu(?: |: text |: decided: )[^\r\n]*(?:(?:\r\n|\n|\r)#   \| [^\r\n]*)*", re.MULTILINE
)
_BROKEN = re.compile(rb"(?:\r\n|\n|\r)#   \| ")  # where a line of the header goes on in the next one


@dataclass(frozen=True)
class ConversionHeader:
    """What the converted script says about itself.

    gpus: the number of towers it is written for, None when it counts them as it runs.
    way: how that number can be changed: "constant", "flag" or "environment".
    """

    gpus: int | None
    batch: BatchMode | None
    way: str
    rate: str = "none"  # how the learning rate follows the number of towers
    target: str = "towers"
    shard: str = "rows"  # what a worker of a cluster takes of the data
    loss: str = "towers"  # whose loss it is that is no mean over the examples: each tower's, or the whole batch's


def read_towers(path: Path, parts: Mapping[str, bytes] | None = None, root: Path | None = None) -> ConversionHeader:
    """Reads the number of towers and the meaning of the batch size from a converted script and its `parts`.

    root: the folder of its project, if that is not its own.
    """
    parts = parts or {}
    text = code_of(str(path), path.read_bytes())
    header = _HEADER.search(text)
    options = _BROKEN.sub(b" ", header.group()).decode("utf-8", "replace").split() if header else []
    given = dict(zip(options, options[1:], strict=False))
    named = given.get("--batch")
    batch: BatchMode | None = "total" if named == "total" else "per-gpu" if named == "per-gpu" else None
    number = given.get("--num-gpus", "")
    gpus = int(number) if number.isdigit() else None
    found = ConversionHeader(gpus, batch, "none", given.get("--scale-lr", "none"))
    if given.get("--target") in ("mirrored", "ddp", "cluster"):
        return replace(found, target=given["--target"], shard=given.get("--shard", found.shard))
    found = replace(found, loss=given.get("--loss", found.loss))
    beside = (file.read_bytes() for file in _neighbours(path, root) if os.path.relpath(file, path.parent) not in parts)
    texts = [text, *parts.values(), *beside]
    if constant := next(filter(None, map(_constant, texts)), None):
        return replace(found, gpus=int(constant.group(2)), way="constant")
    flagged = next((body for body in (_HEADER.sub(b"", held) for held in texts) if _FLAG.search(body)), None)
    if flagged is None:
        return replace(found, way="environment")
    default = _FLAG_DEFAULT.search(flagged)
    return replace(found, gpus=int(default.group(1)) if default else gpus, way="flag")


def _neighbours(path: Path, root: Path | None) -> Iterator[Path]:
    """The Python files of the script's project that were converted with it, or carry the helpers."""
    for file in sorted((root or path.parent).rglob("*.py")):
        if file == path or not file.is_file() or file.stat().st_size >= 2**20:
            continue
        text = file.read_bytes()
        if MARKER.encode() in text or _PART.search(_BROKEN.sub(b" ", text)):
            yield file


def _constant(text: bytes) -> re.Match[bytes] | None:
    begin = text.find(MARKER.encode())
    found = _CONSTANT.finditer(text, begin) if begin >= 0 else iter(())
    return next((one for one in found if not any(words in one[3] for words in _NOT_THE_NUMBER)), None)


@contextmanager
def work_folder(guard: Guard) -> Iterator[Path]:
    """A temporary folder that goes with the block, and with this process if that is killed."""
    with tempfile.TemporaryDirectory(prefix=WORK, ignore_cleanup_errors=True) as folder:
        path = Path(folder).resolve()
        with guard.removes(path):
            try:
                yield path
            finally:
                remove(folder)


def lay_over(folder: Path, parts: Mapping[str, bytes]) -> None:
    """Writes files into a copied folder."""
    for name, data in parts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)


def check_scripts(*paths: Path) -> None:
    """Looks whether files can be run.

    Raises:
        VerifyError: one is missing, or is no script.
    """
    for path in paths:
        if not path.is_file():
            raise VerifyError(f"{path}: {'is not a file' if path.exists() else 'no such file'}")
        if is_pipeline(str(path), path.read_bytes()):
            raise VerifyError(f"{path} is a configuration of the Object Detection API, not a script to run")
        if path.suffix == NOTEBOOK:
            runnable(path)


def run_as(name: str) -> str:
    """The name under which a file runs: a notebook runs as a script beside it, in the copy of its folder."""
    return name.removesuffix(NOTEBOOK) + "_ipynb.py" if name.endswith(NOTEBOOK) else name


def runnable(path: Path) -> str:
    """The Python of a notebook, in which magics do nothing.

    Raises:
        VerifyError: the file is no notebook that can be read, or uses what a magic returns.
    """
    from converter.source.notebook.magics import idle

    try:
        source = read(str(path))
    except Refusal as refusal:
        raise VerifyError(f"{path.name}: {refusal.diagnostic.message}") from None
    assert source.notebook is not None
    text, used = idle(source.text)
    if used:
        cell, line = source.notebook.place(used)
        message = "uses what a magic or a shell command returns, which is not run here"
        raise VerifyError(f"{path.name}: cell {cell}, line {line} {message}")
    return text


def copy_folder(script: Path, target: Path, fill: bool = False, root: Path | None = None) -> tuple[Path, list[str]]:
    """Copies the folder of a script; returns the script's copy and what was left out.

    fill: whether files that the target has already stay as they are. root: a folder above the script's, which is
    copied in place of that.
    """
    source = root or script.parent
    there = target / script.parent.relative_to(source)
    notes, _ = _copy_tree(source, target, fill=fill, always=script)
    if script.suffix == NOTEBOOK and not fill:
        (there / run_as(script.name)).write_text(runnable(script), encoding="utf-8", newline="")
    notes += dict.fromkeys(note for place in {there, target} for note in _with_runtime(script, place))
    return there / run_as(script.name), notes


def copy_data(data: Iterable[Path], root: Path, there: Path) -> list[str]:
    """Copies folders and files that lie outside of a root to the same places as seen from `there`; returns notes.

    They are copies, never links: whatever a script writes there, the user's files stay as they are.
    """
    notes, copied = [], 0
    for path in data:
        name = os.path.relpath(path, root)
        target = Path(os.path.normpath(there / name))
        if path.is_dir():
            left_out, copied = _copy_tree(path, target, copied)
            notes += [f"{name}{os.sep}{note}" for note in left_out]
        elif _is_too_large(path, copied):
            notes.append(f"{name} ({path.stat().st_size >> 20} MB) was not copied")
            continue
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
            copied += path.stat().st_size
        notes.append(f"{name} is outside of the script's folder: each run had a copy of it")
    return notes


def _is_too_large(file: Path, copied: int) -> bool:
    size = file.stat().st_size
    return size > LARGEST_FILE or copied + size > LARGEST_COPY


def _copy_tree(
    source: Path, target: Path, copied: int = 0, fill: bool = False, always: Path | None = None
) -> tuple[list[str], int]:
    """Copies a folder; returns which files were too large, and how many bytes were copied in all.

    copied: bytes before that. fill: as of `copy_folder`. always: a file that is copied whatever its size.
    """
    notes = []
    for folder, folders, files in os.walk(source):
        folders[:] = sorted(
            name
            for name in folders
            if name not in SKIPPED and not name.startswith(WORK) and not Path(folder, name, "pyvenv.cfg").exists()
        )
        place = target / Path(folder).relative_to(source)
        place.mkdir(parents=True, exist_ok=True)
        for name in sorted(files):
            file = Path(folder, name)
            if not file.is_file() or (fill and (place / name).exists()):
                continue
            size = file.stat().st_size
            if file != always and _is_too_large(file, copied):
                notes.append(f"{file.relative_to(source)} ({size >> 20} MB) was not copied")
                continue
            copied += size
            shutil.copyfile(file, place / name)
    return notes, copied


def _with_runtime(script: Path, folder: Path) -> list[str]:
    """Puts the installed module of helpers into a folder whose script imports it, and says so.

    The interpreter that runs the script need not have it; and what is proven is what this version of the tool writes.
    """
    text, said = script.read_bytes(), []
    for name, words, module in (
        (PACKAGE, f"import {PACKAGE} as", package_module),
        (CLUSTER_PACKAGE, f"from {CLUSTER_PACKAGE} import", worker_package),
    ):
        if words.encode() in text and not (folder / f"{name}.py").exists():
            (folder / f"{name}.py").write_text(module(__version__), encoding="utf-8")
            said.append(f"the scripts ran with {name} {__version__} of this tool, whichever is installed")
    return said


def set_gpus(script: Path, gpus: int, args: tuple[str, ...], way: str, root: Path | None = None) -> tuple[str, ...]:
    """Makes the copied script build this many towers; returns the arguments to give it. root: as of `read_towers`."""
    if way == "constant":
        for file in [script, *_neighbours(script, root)]:
            text = file.read_bytes()
            found = _constant(text)
            if found:
                number = str(gpus).encode()
                file.write_bytes(text[: found.start(2)] + number + text[found.end(2) :])
    given = any(argument.split("=")[0] in ("--num_gpus", "--num-gpus") for argument in args)
    if way != "flag" or given:
        return args
    texts = (_HEADER.sub(b"", file.read_bytes()) for file in (script, *_neighbours(script, root)))
    flag = "--num-gpus" if any(b"--num-gpus" in text for text in texts) else "--num_gpus"
    return (*args, f"{flag}={gpus}")
