"""What scripts print is kept in part: beginning and end, whatever lies between."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from converter.verify.processes.output import HEAD, TAIL, Output


@pytest.fixture
def output(tmp_path: Path) -> Iterator[Output]:
    output = Output(tmp_path / "log")
    yield output
    output.close()


def write(path: Path, *texts: bytes) -> None:
    with path.open("wb", buffering=0) as stream:
        for text in texts:
            stream.write(text)


@pytest.mark.parametrize("text", ["", "one line\n", "no end of line", "gr\u00fc\u00dfe\n", "x" * (HEAD + 5)])
def test_a_short_output_is_whole(output: Output, tmp_path: Path, text: str) -> None:
    write(tmp_path / "log", text.encode())
    assert output.text() == text


def test_bytes_that_are_no_text_are_marked(output: Output, tmp_path: Path) -> None:
    write(tmp_path / "log", b"\xff\n")
    assert output.text() == "\ufffd\n"


def test_of_a_long_output_the_beginning_and_the_end_are_kept(output: Output, tmp_path: Path) -> None:
    write(tmp_path / "log", b"first line\n", *[b"y" * 2**20] * 40, b"\nlast line\n")
    text = output.text()
    assert text.startswith("first line\nyyy") and text.endswith("yyy\nlast line\n")
    assert "\n[39.8 MB of output not kept]\n" in text
    assert len(text) < HEAD + TAIL + 100


def test_what_was_kept_stays_after_the_end(tmp_path: Path) -> None:
    output = Output(tmp_path / "log")
    write(tmp_path / "log", b"said\n")
    output.close()
    output.close()
    assert output.text() == "said\n"
    assert not any(os.readlink(f"/proc/self/fd/{name}").endswith("/log") for name in _open_files())


def _open_files() -> list[str]:
    return [name for name in os.listdir("/proc/self/fd") if os.path.islink(f"/proc/self/fd/{name}")]


def test_writers_that_end_and_others_that_begin(output: Output, tmp_path: Path) -> None:
    for number in range(5):
        write(tmp_path / "log", b"%d" % number)
        time.sleep(0.01)
    assert output.text() == "01234"


def test_where_the_system_has_no_pipes_in_files_it_is_read_from_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "mkfifo")
    output = Output(tmp_path / "log")
    assert output.text() == ""
    write(tmp_path / "log", b"first\n", b"z" * (HEAD + TAIL), b"last\n")
    text = output.text()
    assert text.startswith("first\nz") and text.endswith("zlast\n") and "[11 bytes of output not kept]" in text
    output.close()
