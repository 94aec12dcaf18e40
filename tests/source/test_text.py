"""Bytes become text and text becomes bytes, and nothing is lost."""

from __future__ import annotations

import codecs
import hashlib
import io
from contextlib import nullcontext
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from converter.diagnostics import Diagnostic, Refusal
from converter.source import encode, from_bytes, leads_to_tensorflow, load, mentions_tensorflow, read, whole

BOM = codecs.BOM_UTF8


def refusal(path: str, data: bytes) -> Diagnostic:
    with pytest.raises(Refusal) as caught:
        from_bytes(path, data)
    return caught.value.diagnostic


@pytest.mark.parametrize(
    ("data", "text", "encoding"),
    [
        (b"x = 1\n", "x = 1\n", "utf-8"),
        (b"x = 1", "x = 1", "utf-8"),
        (b"x = 1\r\ny = 2\r\n", "x = 1\r\ny = 2\r\n", "utf-8"),
        (b"x = 1\r\ny = 2\nz = 3\r\n", "x = 1\r\ny = 2\nz = 3\r\n", "utf-8"),
        (b"x = 1\r\ny = 2\nz = 3\n", "x = 1\r\ny = 2\nz = 3\n", "utf-8"),
        (b"x = 1\ry = 2\r", "x = 1\ry = 2\r", "utf-8"),
        (b"if x:\n\ty = 1\n\x0c\nz = 2\n", "if x:\n\ty = 1\n\x0c\nz = 2\n", "utf-8"),
        ("größe = 1\n".encode(), "größe = 1\n", "utf-8"),
        ("s = '\u2028'\r\n".encode(), "s = '\u2028'\r\n", "utf-8"),
        (b"# -*- coding: latin-1 -*-\n#\xe4\n", "# -*- coding: latin-1 -*-\n#ä\n", "iso-8859-1"),
        (
            b"#!/usr/bin/python\n# vim: set fileencoding=cp1252 :\n#\x80\n",
            "#!/usr/bin/python\n# vim: set fileencoding=cp1252 :\n#€\n",
            "cp1252",
        ),
        (b"# coding: latin-1\rx = '\xe4'\r", "# coding: latin-1\rx = 'ä'\r", "iso-8859-1"),
        (b"\n\n# coding: latin-1\nx = 1\n", "\n\n# coding: latin-1\nx = 1\n", "utf-8"),
        (b"x = 'coding: latin-1'\n", "x = 'coding: latin-1'\n", "utf-8"),
    ],
)
def test_what_is_read(data: bytes, text: str, encoding: str) -> None:
    source = from_bytes("train.py", data)
    assert (source.text, source.encoding) == (text, encoding)
    assert source.sha256 == hashlib.sha256(data).hexdigest()
    assert not source.bom
    assert encode(source, source.text) == data


@pytest.mark.parametrize("cookie", [b"", b"# coding: utf-8\n", b"# -*- coding: UTF_8 -*-\n"])
def test_a_byte_order_mark_is_kept_and_is_no_text(cookie: bytes) -> None:
    data = BOM + cookie + "x = 'ä'\r\n".encode()
    source = from_bytes("train.py", data)
    assert source.bom
    assert source.text == cookie.decode() + "x = 'ä'\r\n"
    assert encode(source, source.text) == data
    assert encode(source, "y\n") == BOM + b"y\n"


@pytest.mark.parametrize(
    ("data", "line", "column", "message"),
    [
        (b"x = '\xe4'\n", 1, 6, "0xe4 at offset 5 is not utf-8"),
        (b"x = 1\ny = 2\n# gr\xf6\xdfe\n", 3, 5, "0xf6 at offset 16"),
        (b"x = 1\r\n\r\n# \xff\r\n", 3, 3, "0xff at offset 11"),
        (b"\x0cx = 1\n#\xff", 2, 2, "0xff at offset 8"),
        ("ä = '".encode() + b"\xe4'\n", 1, 6, "0xe4 at offset 6"),
        (BOM + b"x = '\xe4'\n", 1, 6, "0xe4 at offset 5"),
        (b"# coding: ascii\nx = '\xc3\xa4'\n", 2, 6, "0xc3 at offset 21 is not ascii"),
        (b"# coding: nonsense\n", 1, 1, "unknown encoding: nonsense"),
        (b"#!/usr/bin/env python\n# coding: nonsense\n", 2, 1, "unknown encoding: nonsense"),
        (BOM + b"# coding: latin-1\n", 1, 1, "beside a byte order mark"),
        (BOM + b"# coding: utf8\n", 1, 1, "beside a byte order mark"),
        (b"# coding: rot13\nk = 1\n", 1, 1, "not a text encoding"),
        (b"# coding: utf-7\nx = '+AGE-'\n", 1, 1, "same bytes"),
        ("x = 1\n".encode("utf-16"), 1, 1, "UTF-16"),
        ("x = 1\n".encode("utf-32"), 1, 1, "UTF-32"),
    ],
)
def test_what_is_not_decodable(data: bytes, line: int, column: int, message: str) -> None:
    found = refusal("train.py", data)
    assert (found.code, found.line, found.column) == ("TMG002", line, column)
    assert message in found.message
    assert found.hint


@pytest.mark.parametrize("data", [b"", b"\n", b" \t\r\n\x0c\n", BOM, BOM + b"\n"])
def test_what_is_empty(data: bytes) -> None:
    found = refusal("train.py", data)
    assert (found.code, found.line) == ("TMG003", 0)


@pytest.mark.parametrize("data", [b"#", b"pass", b"'''\n'''", b"\\\n"])
def test_what_is_not_empty(data: bytes) -> None:
    assert from_bytes("train.py", data).data == data


def test_what_cannot_be_read(tmp_path: Path) -> None:
    for path, message in ((tmp_path, "folder"), (tmp_path / "gone.py", "no such file"), ("nul\0.py", "null")):
        with pytest.raises(Refusal, match=message) as caught:
            read(str(path))
        assert caught.value.diagnostic.code == "TMG001"


def test_a_file_without_an_end_is_not_read() -> None:
    with pytest.raises(Refusal, match="is larger than 256 MB, and no script is") as caught:
        load("/dev/zero")
    assert caught.value.diagnostic.code == "TMG001"


@pytest.mark.parametrize(("more", "refused"), [(0, False), (1, True)])
def test_the_largest_file(more: int, refused: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("converter.source.text.MOST_BYTES", 8)
    data = b"x" * (8 + more)
    with pytest.raises(Refusal) if refused else nullcontext():
        assert whole(io.BytesIO(data), "<stdin>") == data


def test_a_file_is_read_under_the_name_it_was_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "train.py").write_bytes(b"x = 1\r\n")
    monkeypatch.chdir(tmp_path)
    assert read("./train.py").path == "./train.py"
    assert read("./train.py").data == b"x = 1\r\n"


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"import tensorflow as tf\n", True),
        (b"from tensorflow.python import x", True),
        (b"import tensorflow.compat.v1 as tf", True),
        (b"importlib.import_module('tensorflow')", True),
        (b"", False),
        (b"import tensor_flow", False),
        (b"import torch\n# TensorFlow was here", False),
        (b"import tensor", False),
        ("import tensorflow".encode("utf-16"), False),
    ],
)
def test_the_look_for_tensorflow(data: bytes, expected: bool) -> None:
    assert mentions_tensorflow(data) is expected


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        (b"import model", True),
        (b"import os, model", True),
        (b"from model import *", True),
        (b"if True:\n    import model as m", True),
        (b"import nets.cnn", True),
        (b"from nets import cnn", True),
        (b"from nets import (cnn)", True),
        (b"import far", True),
        (b"import loop", False),
        (b"import torch, missing", False),
        (b"# import model", False),
        (b"from nets import plain", False),
    ],
)
def test_the_look_at_imports(script: bytes, expected: bool, tmp_path: Path) -> None:
    (tmp_path / "nets").mkdir()
    written = {"model": "import tensorflow", "far": "import near", "near": "import model", "loop": "import loop"}
    written |= {"nets/__init__": "", "nets/cnn": "import tensorflow", "nets/plain": "import os"}
    for name, text in written.items():
        (tmp_path / f"{name}.py").write_text(text)
    assert leads_to_tensorflow(str(tmp_path / "train.py"), script) is expected


@given(st.binary(max_size=200))
def test_whatever_is_read_can_be_written_back(data: bytes) -> None:
    try:
        source = from_bytes("train.py", data)
    except Refusal as refusal:
        assert refusal.diagnostic.code in ("TMG002", "TMG003")
    else:
        assert encode(source, source.text) == data


@given(st.text(), st.sampled_from(["utf-8", "latin-1", "cp1251", "shift_jis", "iso2022_jp", "gb18030", "koi8-r"]))
def test_any_codec_gives_back_what_it_took(text: str, codec: str) -> None:
    data = f"# coding: {codec}\n".encode() + text.encode(codec, "ignore")
    try:
        source = from_bytes("train.py", data)
    except Refusal as refusal:
        assert refusal.diagnostic.code == "TMG002"
    else:
        assert encode(source, source.text) == data
