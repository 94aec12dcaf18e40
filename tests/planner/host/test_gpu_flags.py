"""The flag for the number of GPUs is defined once, beside the script's own flags."""

from __future__ import annotations

import pytest

from tests.scripts import SCRIPT, converted

HEAD = "import argparse\nparser = argparse.ArgumentParser()\nsettings = {'rate': 0.1, 'rows': 4}\n"
FLAG = "parser.add_argument('--num_gpus', type=int, default=num_gpus, help='number of GPUs to train on')\n"
PARSED = "args = parser.parse_args()\n"


@pytest.mark.parametrize(
    "block",
    [
        "for key, value in settings.items():\n    parser.add_argument('--' + key, type=type(value), default=None)\n",
        "for key in settings:\n    if key:\n        parser.add_argument('--' + key, type=float)\n",
        "if flag():\n    parser.add_argument('--batch_size', type=int, default=4)\n",
        "parser.add_argument('--batch_size', type=int, default=4)\n",
    ],
)
def test_it_stands_behind_loops_and_conditions(block: str) -> None:
    text = converted(HEAD + block + PARSED + SCRIPT)
    assert block + FLAG + PARSED in text


@pytest.mark.parametrize(
    "block",
    [
        "if flag():\n    parser.add_argument('--rate', type=float)\n    @args = parser.parse_args()\n",
        "for name in ['a']:\n    parser = argparse.ArgumentParser(name)\n"
        "    parser.add_argument('--rate', type=float)\n    @args = parser.parse_args()\n",
    ],
)
def test_it_stays_in_the_block_of_its_parser(block: str) -> None:
    assert block.replace("@", FLAG + "    ") in converted(HEAD + block.replace("@", "") + SCRIPT)


def test_a_flag_that_is_read_behind_the_towers_does_not_say_how_many_there_are() -> None:
    argument = "parser.add_argument('--batch_size', type=int, default=4)\n"
    assert FLAG not in converted(SCRIPT + HEAD + argument + PARSED)
    flags = "flags = tf.app.flags\nflags.DEFINE_integer('rate', 4, '')\nFLAGS = flags.FLAGS\n"
    assert "FLAGS.num_gpus" not in converted(SCRIPT + flags)
    assert "FLAGS.num_gpus" in converted(SCRIPT.replace("batch_size", flags + "batch_size", 1))
