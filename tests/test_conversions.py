"""What of conversions is remembered, and what is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from converter.options import Options
from converter.source import from_bytes, read
from tests.conversions import FIXTURES, Conversions, conversion_of
from tests.scripts import SCRIPT

SINGLE = str(FIXTURES / "logistic_regression/single.py")


def test_the_same_script_with_the_same_options_is_converted_once() -> None:
    kept = Conversions()
    assert kept(read(SINGLE), Options()) is kept(read(SINGLE), Options()) and kept.made == 1
    text = from_bytes("train.py", SCRIPT.encode())
    assert kept(text, Options()) is kept(text, Options()) and kept.made == 2


def test_other_options_texts_and_names_are_other_conversions() -> None:
    kept = Conversions()
    for name, text in (("train.py", SCRIPT), ("train.py", SCRIPT + "x = 1\n"), ("net.py", SCRIPT)):
        kept(from_bytes(name, text.encode()), Options())
    kept(from_bytes("train.py", SCRIPT.encode()), Options(num_gpus="4"))
    assert kept.made == 4


def test_what_lies_in_folders_of_tests_is_converted_each_time(tmp_path: Path) -> None:
    kept = Conversions()
    source = from_bytes(str(tmp_path / "train.py"), SCRIPT.encode())
    assert kept(source, Options()) is not kept(source, Options()) and kept.made == 0


def test_a_test_that_changes_the_program_reads_no_record(monkeypatch: pytest.MonkeyPatch) -> None:
    assert conversion_of.fresh
    source = from_bytes("train.py", SCRIPT.encode())
    assert conversion_of(source, Options()) is not conversion_of(source, Options())


def test_other_tests_read_records() -> None:
    assert not conversion_of.fresh
