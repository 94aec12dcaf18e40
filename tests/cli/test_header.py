"""The header comment says all that is needed to convert again, and survives every name."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from converter.options import Options
from converter.source.header import (
    Header,
    HeaderError,
    bare,
    find_header,
    format_header,
    from_flags,
    is_converted,
    relabel,
    to_flags,
)

SHA = "0123456789abcdef" * 4
LINE = f"# tf-multigpu 0.1.0: converted from train.py sha256:{SHA} with --num-gpus 2 --batch per-gpu"
HEADER = Header("0.1.0", "train.py", SHA, Options())

OPTIONS = st.builds(
    Options,
    num_gpus=st.one_of(st.none(), st.integers(1, 64)),
    batch=st.sampled_from(["per-gpu", "total"]),
    variables=st.sampled_from(["cpu", "gpu:0", "balanced", "partitioned"]),
    scale_lr=st.sampled_from(["none", "linear", "sqrt"]),
    scale_steps=st.sampled_from(["keep", "divide"]),
    eval_batch=st.sampled_from(["grow", "script"]),
    shard=st.sampled_from(["rows", "files"]),
    gpu_memory=st.one_of(st.sampled_from(["growth", "all"]), st.floats(0, 1, exclude_min=True)),
    shared=st.lists(st.sampled_from(["x", "self.images", "größe"]), unique=True).map(tuple),
    batch_axes=st.dictionaries(st.sampled_from(["y", "self.length", "µ.b"]), st.integers(0, 9)).map(
        lambda axes: tuple(axes.items())
    ),
    traced=st.dictionaries(
        st.from_regex(r"[1-9][0-9]?:[1-9][0-9]?", fullmatch=True),
        st.sampled_from(["mean/", "example:1/3x-", "(free/,host,sum/-)+updates+variables", "(host)"]),
    ).map(lambda traced: tuple(traced.items())),
    line_length=st.one_of(st.none(), st.integers(1, 200)),
)


def test_the_format() -> None:
    assert format_header(HEADER) == LINE
    assert find_header(LINE) == HEADER


SEAL = "text 0123456789abcdef by: tf-multigpu convert train.py"


@pytest.mark.parametrize(
    ("decided", "below"),
    [
        ((), f"# tf-multigpu: {SEAL}"),
        (("inputs X cut along axis 0",), f"# tf-multigpu: decided: inputs X cut along axis 0; {SEAL}"),
        (("100% of x; y", "ä"), f"# tf-multigpu: decided: 100%25 of x; y\n# tf-multigpu: decided: %C3%A4; {SEAL}"),
        ((f"text {SEAL}",), f"# tf-multigpu: decided: text {SEAL}; {SEAL}"),
    ],
)
def test_the_line_below_says_decisions_digest_and_command(decided: tuple[str, ...], below: str) -> None:
    header = replace(HEADER, decided=decided, text="0123456789abcdef", command="tf-multigpu convert train.py")
    assert format_header(header) == f"{LINE}\n{below}"
    assert find_header(f"{LINE}\n{below}\nx = 1\n") == header


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_headers_with_a_line_for_each_are_read(end: str) -> None:
    text = end.join([LINE, "# tf-multigpu: decided: a; b", f"# tf-multigpu: {SEAL}", "x = 1"])
    header = find_header(text)
    assert header == replace(HEADER, decided=("a; b",), text="0123456789abcdef", command="tf-multigpu convert train.py")
    assert bare(text) == f"{end}x = 1"


def test_decisions_without_a_digest_are_read() -> None:
    """What looks like the digest and is none, is a decision."""
    said = "a; text 0123 by: b"
    assert find_header(f"{LINE}\n# tf-multigpu: decided: {said}\n") == replace(HEADER, decided=(said,))


@given(OPTIONS)
def test_options_come_back_from_their_flags(options: Options) -> None:
    assert from_flags(to_flags(options)) == options


@given(OPTIONS, st.text(min_size=1).filter(lambda name: name == name.strip()))
def test_headers_come_back_from_their_text(options: Options, source: str) -> None:
    header = Header("1.2.3", source, SHA, options)
    line = format_header(header)
    assert line.isascii() and line.isprintable()
    assert find_header(f"#!/usr/bin/python\r\n{line}\r\nx = 1\r\n") == header


def test_a_name_that_is_not_utf_8_comes_back() -> None:
    header = Header("0.1.0", b"\xff.py".decode("utf-8", "surrogateescape"), SHA, Options())
    assert find_header(format_header(header)) == header


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (f"{LINE}\n", 1),
        (f'#!/usr/bin/python\n# coding: latin-1\n"""Doc.\n\nMore.\n"""\n{LINE}\nimport os\n', 7),
        (f"# License\r\n{LINE}\r\n", 2),
        (f"# License\r{LINE}\rx = 1\r", 2),
        (f"\x0c\n{LINE}", 2),
        (f"x = '''{LINE}'''\n{LINE}\nbroken(", 2),
    ],
)
def test_where_headers_stand(text: str, line: int) -> None:
    found = find_header(text)
    assert found == HEADER and found.line == line


@pytest.mark.parametrize(
    "text",
    [
        "",
        "import tensorflow as tf\n",
        "# tf-multigpu: helpers for training on several GPUs\n",
        "# tf-multigpu: shared\n",
        "# converted from train.py by tf-multigpu 0.1.0\n",
        f"'''\n{LINE}\n'''\n",
        f"x = 1  {LINE}\n",
        f"if x:\n    {LINE}\n    pass\n",
        f"# see {LINE}\n",
        f"x = '''\n{LINE}\n",
    ],
)
def test_what_is_no_header(text: str) -> None:
    assert find_header(text) is None
    assert not is_converted(text)
    assert relabel(text, "other.py") == text


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (LINE.replace("sha256:01", "sha256:"), "does not read"),
        (LINE.replace(" with ", " "), "does not read"),
        (LINE.replace("--batch", "--new-option"), "unknown option --new-option"),
        (LINE.replace("per-gpu", ""), "lacks its value"),
        (LINE.replace("per-gpu", "half"), "not one of"),
        (LINE + " '", "quotation"),
    ],
)
def test_headers_that_cannot_be_read(line: str, reason: str) -> None:
    with pytest.raises(HeaderError, match=reason) as caught:
        find_header(f"x = 1\n{line}\n")
    assert caught.value.line == 2
    assert is_converted(line)


def test_relabelling_touches_the_header_alone() -> None:
    text = f"# é\r\n{LINE}\r\n\tx = 1\x0c\r\ny"
    assert relabel(text, "../a b.py") == text.replace("train.py", "../a b.py")
    assert relabel(text, "train.py", version="9.9") == text.replace("0.1.0", "9.9")


@pytest.mark.parametrize(
    ("flags", "reason"),
    [
        (["--num-gpus", "0"], "--num-gpus"),
        (["--num-gpus", "-1"], "--num-gpus"),
        (["--num-gpus", "two"], "--num-gpus"),
        (["--num-gpus", "1.5"], "--num-gpus"),
        (["--num-gpus", "²"], "--num-gpus"),
        (["--num-gpus"], "lacks its value"),
        (["--batch", "Total"], "--batch"),
        (["--variables", "gpu:1"], "--variables"),
        (["--scale-lr", ""], "--scale-lr"),
        (["--gpu-memory", "0"], "--gpu-memory"),
        (["--gpu-memory", "1.1"], "--gpu-memory"),
        (["--gpu-memory", "nan"], "--gpu-memory"),
        (["--gpu-memory", "half"], "--gpu-memory"),
        (["--line-length", "0"], "--line-length"),
        (["--shared", "x y"], "--shared"),
        (["--shared", "x."], "--shared"),
        (["--shared", ""], "--shared"),
        (["--batch-axis", "x"], "--batch-axis"),
        (["--batch-axis", "x=-1"], "--batch-axis"),
        (["--batch-axis", "=1"], "--batch-axis"),
        (["--batch-axis", "x=1", "--batch-axis", "x=0"], "two batch axes"),
        (["--batch-axis", "x=1", "--shared", "x"], "contradict"),
        (["--in-place", "x"], "unknown option"),
    ],
)
def test_flags_that_are_refused(flags: list[str], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        from_flags(flags)


def test_what_is_said_twice_counts_once() -> None:
    flags = [
        "--shared",
        "x",
        "--shared",
        "x",
        "--batch-axis",
        "y=1",
        "--batch-axis",
        "y=1",
        "--num-gpus",
        "auto",
    ]
    assert from_flags(flags) == Options(None, shared=("x",), batch_axes=(("y", 1),))
