"""Settings that may be replaced under a name which only a run tells: no condition is sure of them."""

from __future__ import annotations

import pytest

from tests.analysis.readings import shown, value_of

SETTINGS = """
import sys

class Flags(dict):
    __getattr__ = dict.get
    __setattr__ = dict.__setitem__

class Config(object):
    pass

flags = Flags()
flags['train'] = False
config = Config()
config.train = False
settings = {{'train': False, 'inner': {{'train': False}}}}
{replace}
result = 1
if {read}:
    result = 2
"""


@pytest.mark.parametrize(
    "replace, read",
    [
        ("flags[sys.argv[1]] = True", "flags.train"),
        ("for name in sys.argv: flags[name] = True", "flags['train']"),
        ("setattr(config, sys.argv[1], True)", "config.train"),
        ("config.__dict__.update(read())", "config.train"),
        ("settings[sys.argv[1]] = True", "settings['train']"),
        ("settings.update(read())", "settings['inner']['train']"),
    ],
)
def test_a_condition_is_open(replace: str, read: str) -> None:
    assert shown(value_of(SETTINGS.format(replace=replace, read=read))) == "?"


@pytest.mark.parametrize(
    "replace, read",
    [
        ("flags['batch'] = True", "flags.train"),
        ("flags[sys.argv[1]] = True; flags.train = False", "flags.train"),
        ("setattr(config, 'batch', True)", "config.train"),
        ("setattr(config, sys.argv[1], True)", "settings['train']"),
        ("settings['batch'] = read()", "settings['train']"),
    ],
)
def test_a_condition_is_decided(replace: str, read: str) -> None:
    assert shown(value_of(SETTINGS.format(replace=replace, read=read))) == 1
