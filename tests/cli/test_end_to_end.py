"""The whole program on real scripts: what a file is made of survives its conversion."""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.standins import Run, files, put

ROOT = Path(__file__).resolve().parent.parent.parent
SINGLE = (ROOT / "fixtures/logistic_regression/single.py").read_bytes()
BOM = b"\xef\xbb\xbf"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def with_crlf(data: bytes) -> bytes:
    return data.replace(b"\n", b"\r\n")


MAKE_UP: dict[str, Callable[[bytes], bytes]] = {
    "CRLF": with_crlf,
    "byte order mark": lambda data: BOM + data,
    "byte order mark and CRLF": lambda data: BOM + with_crlf(data),
    "no newline at the end": lambda data: data.rstrip(b"\n"),
    "latin-1 cookie": lambda data: b"# -*- coding: latin-1 -*-\n# gr\xf6\xdfe\n" + data,
    "shebang and cookie": lambda data: b"#!/usr/bin/env python\n# coding: cp1252\nprice = '\x80'\n" + data,
    "tabs and form feeds": lambda data: b"if True:\n\tstart = 1\n\x0c\n" + data + b"\x0c\nend = 1\n",
    "names beyond ASCII": lambda data: "größe = 'ä' * 3  # ≥ 1\n".encode() + data,
    "blanks at the ends of lines": lambda data: data.replace(b"numpy as np\n", b"numpy as np  \t\n"),
}


def lost(before: bytes, after: bytes) -> list[bytes]:
    """The lines that a conversion did not keep, but for blanks in front of them."""
    newline = b"\r\n" if b"\r\n" in before else b"\n"
    kept = {line.lstrip(b" \t") for line in after.removeprefix(BOM).split(newline)}
    return [line for line in before.removeprefix(BOM).split(newline) if line.lstrip(b" \t") not in kept]


@pytest.mark.parametrize("name", MAKE_UP)
def test_what_a_file_is_made_of_survives(run: Run, name: str) -> None:
    data = put("train.py", MAKE_UP[name](SINGLE)).read_bytes()
    put("plain.py", SINGLE)
    done = run("convert", "train.py", "-o", "multi.py")
    assert done.code == 0, done.err
    made = Path("multi.py").read_bytes()
    ast.parse(made)
    assert lost(data, made) == lost(SINGLE, run("convert", "plain.py").out)
    assert made.startswith(BOM) == data.startswith(BOM)
    assert made.endswith(b"\n") == data.endswith(b"\n")
    assert made.count(b"\r\n") == (made.count(b"\n") if b"\r\n" in data else 0)
    assert made.count(b"\x0c") == data.count(b"\x0c")


def test_a_conversion_is_up_to_date_until_its_source_changes(run: Run) -> None:
    put("src/train.py", SINGLE)
    assert run("convert", "src/train.py", "-o", "multi.py", "--num-gpus", "auto", "--batch", "total").code == 0
    assert run("convert", "--check", ".").code == 0
    assert run("convert", "--check", "src/train.py", "-o", "multi.py", "--num-gpus", "auto").code == 1
    put("src/train.py", SINGLE + b"\n")
    assert run("convert", "--check", ".").code == 1


def test_converting_in_place_twice_is_converting_once(run: Run) -> None:
    put("train.py", SINGLE)
    assert run("convert", "--in-place", "train.py").code == 0
    once = Path("train.py").read_bytes()
    assert once != SINGLE
    assert run("convert", "--in-place", "train.py").code == 0
    assert Path("train.py").read_bytes() == once


def test_the_diff_is_the_conversion(run: Run) -> None:
    put("train.py", with_crlf(SINGLE))
    diff = run("convert", "--diff", "train.py").out
    converted = run("convert", "train.py").out
    subprocess.run(["git", "apply", "--whitespace=nowarn", "-"], input=diff, check=True)
    assert Path("train.py").read_bytes() == converted


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "TMG003"),
        (b'import tensorflow as tf\nprint "x"\nf""\n', "TMG004"),
        (b"import tensorflow as tf\nf(\n", "TMG005"),
        (b"import tensorflow as tf\n#\xff\n", "TMG002"),
        (b"import tensorflow as tf\nx = tf.constant(1)\n", "TMG201"),
        (b"import os\n", "TMG201"),
    ],
)
def test_bad_input(run: Run, folder: Path, data: bytes, code: str) -> None:
    put("train.py", data)
    done = run("convert", "train.py", "-o", "multi.py")
    assert (done.code, done.out) == (2, b"")
    assert f" {code} " in done.err
    assert files(folder) == ["train.py"]


@pytest.mark.slow
@pytest.mark.tf2
def test_a_conversion_is_proven_before_it_is_written(run: Run, folder: Path) -> None:
    put("train.py", SINGLE)
    done = run("convert", "train.py", "-o", "multi.py", "--verify")
    assert done.code == 0, done.err
    assert "PASSED" in done.err
    assert files(folder) == ["multi.py", "train.py"]
