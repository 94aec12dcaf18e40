"""Which files are meant, and that a file is written whole or not at all."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from converter.diagnostics import Diagnostic, Refusal
from converter.source import expand, same_file, write


def refusal(path: Path, **options: bool) -> Diagnostic:
    with pytest.raises(Refusal) as caught:
        write(str(path), b"new", **options)
    return caught.value.diagnostic


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def make(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


def found(root: Path, *paths: str, leave_out: str | None = None) -> list[str]:
    scripts, problems = expand([str(root / path) for path in paths], leave_out)
    assert not problems
    return [script.relative for script in scripts]


def test_a_folder_stands_for_its_scripts(tmp_path: Path) -> None:
    make(
        tmp_path,
        *("train.py", "nets/cnn.py", "nets/deep/rnn.py", "z.py", "build/lib/a.py"),
        *(
            "notes.txt",
            "train.pyc",
            "data.pyx",
            "script",
            ".hidden.py",
            ".git/hooks/a.py",
            "nets/__pycache__/b.py",
        ),
        *("venv/pyvenv.cfg", "venv/lib/c.py", "node_modules/d.py", "lib/site-packages/e.py"),
    )
    assert found(tmp_path, "") == ["build/lib/a.py", "nets/cnn.py", "nets/deep/rnn.py", "train.py", "z.py"]
    assert found(tmp_path, "nets") == ["cnn.py", "deep/rnn.py"]


def test_a_virtual_environment_that_is_named_is_meant(tmp_path: Path) -> None:
    make(tmp_path, "venv/pyvenv.cfg", "venv/a.py", ".hidden/b.py")
    assert found(tmp_path, "venv", ".hidden") == ["a.py", "b.py"]


def test_the_output_folder_is_left_out(tmp_path: Path) -> None:
    make(tmp_path, "a.py", "out/a.py", "other/out/b.py")
    assert found(tmp_path, "", leave_out=str(tmp_path / "out")) == ["a.py", "other/out/b.py"]


def test_a_script_that_is_meant_twice_is_meant_once(tmp_path: Path) -> None:
    make(tmp_path, "a.py", "b.py")
    (tmp_path / "link.py").symlink_to("a.py")
    assert found(tmp_path, "b.py", "", "./a.py") == ["b.py", "a.py"]
    scripts, _ = expand([str(tmp_path / "b.py"), str(tmp_path)])
    assert [script.named for script in scripts] == [True, False]


def test_a_file_that_is_named_is_meant_whatever_it_is_called(tmp_path: Path) -> None:
    make(tmp_path, "script", ".hidden.py")
    assert found(tmp_path, "script", ".hidden.py", "gone.py") == ["script", ".hidden.py", "gone.py"]


def test_a_circle_of_links_ends(tmp_path: Path) -> None:
    make(tmp_path, "nets/a.py")
    (tmp_path / "nets/up").symlink_to("..")
    assert found(tmp_path, "") == ["nets/a.py"]


def test_a_folder_without_scripts(tmp_path: Path) -> None:
    make(tmp_path, "empty/notes.txt", "full/a.py")
    scripts, (problem,) = expand([str(tmp_path / "empty"), str(tmp_path / "full")])
    assert (problem.code, problem.path) == ("TMG006", str(tmp_path / "empty"))
    assert [script.relative for script in scripts] == ["a.py"]


def test_same_file(tmp_path: Path) -> None:
    make(tmp_path, "a.py", "b.py")
    (tmp_path / "link.py").symlink_to("a.py")
    a = str(tmp_path / "a.py")
    assert same_file(a, str(tmp_path / "link.py"))
    assert same_file(str(tmp_path / "gone.py"), str(tmp_path / "." / "gone.py"))
    assert not same_file(a, str(tmp_path / "b.py"))
    assert not same_file(a, str(tmp_path / "gone.py"))


@pytest.mark.parametrize("old", [0o600, 0o644, 0o755, 0o4711])
def test_a_file_keeps_its_mode(tmp_path: Path, old: int) -> None:
    make(tmp_path, "out.py", "like.py")
    (tmp_path / "out.py").chmod(old)
    (tmp_path / "like.py").chmod(0o640)
    write(str(tmp_path / "out.py"), b"new", mode_from=str(tmp_path / "like.py"))
    assert (tmp_path / "out.py").read_bytes() == b"new"
    assert mode(tmp_path / "out.py") == old


@pytest.mark.parametrize(("like", "expected"), [(0o755, 0o755), (0o600, 0o600), (0o444, 0o644), (None, 0o640)])
def test_a_new_file_takes_its_mode_from_another(tmp_path: Path, like: int | None, expected: int) -> None:
    before = os.umask(0o027)
    try:
        if like is not None:
            make(tmp_path, "like.py")
            (tmp_path / "like.py").chmod(like)
        write(str(tmp_path / "out.py"), b"new", mode_from=str(tmp_path / "like.py"))
    finally:
        assert os.umask(before) == 0o027
    assert mode(tmp_path / "out.py") == expected


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    make(tmp_path, "real/out.py")
    (tmp_path / "link.py").symlink_to("real/out.py")
    (tmp_path / "dangling.py").symlink_to("real/new.py")
    for name in ("link.py", "dangling.py"):
        write(str(tmp_path / name), b"new")
        assert (tmp_path / name).is_symlink()
        assert (tmp_path / name).read_bytes() == b"new"
    assert sorted(path.name for path in (tmp_path / "real").iterdir()) == ["new.py", "out.py"]


def test_a_device_is_written_to_and_stays(tmp_path: Path) -> None:
    write(os.devnull, b"new")
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write(str(pipe), b"new")
    assert os.read(reader, 10) == b"new"
    os.close(reader)


def test_what_cannot_be_written(tmp_path: Path) -> None:
    make(tmp_path, "file", "folder/a")
    for path, hint in (
        (tmp_path / "gone/out.py", "make it first"),
        (tmp_path / "file/out.py", "is a file"),
        (tmp_path / "folder", "end the path with /"),
        (tmp_path / ("x" * 300), "shorter one"),
    ):
        problem = refusal(path)
        assert (problem.code, problem.path) == ("TMG007", str(path))
        assert hint in problem.hint
    assert not (tmp_path / "gone").exists()


def test_folders_are_made_where_asked_for(tmp_path: Path) -> None:
    write(str(tmp_path / "a/b/out.py"), b"new", make_folders=True)
    assert (tmp_path / "a/b/out.py").read_bytes() == b"new"
    assert refusal(tmp_path / "a/b/out.py/c.py", make_folders=True).code == "TMG007"


def test_a_read_only_file_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path, "out.py")
    monkeypatch.setattr(os, "access", lambda path, how: False)
    assert "read-only" in refusal(tmp_path / "out.py").message
    assert (tmp_path / "out.py").read_bytes() == b""


@pytest.mark.parametrize("step", ["replace", "fsync", "chmod"])
@pytest.mark.parametrize("failure", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_failure_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, failure: BaseException
) -> None:
    (tmp_path / "out.py").write_bytes(b"old")

    def fail(*args: object) -> None:
        raise failure

    monkeypatch.setattr(os, step, fail)
    with pytest.raises((Refusal, KeyboardInterrupt)):
        write(str(tmp_path / "out.py"), b"new")
    monkeypatch.undo()
    assert [path.name for path in tmp_path.iterdir()] == ["out.py"]
    assert (tmp_path / "out.py").read_bytes() == b"old"
