"""Batch sizes that optparse, docopt, configparser and files of settings give are scaled where they are read."""

from __future__ import annotations

import pytest

from tests.planner.batch_size.fed.test_rows import GRAPH, scaled
from tests.scripts import codes, converted

LOOP = """\
with tf.Session() as sess:
    for i in range(0, len(data), n):
        sess.run(train_op, {X: data[i:i + n, :4], Y: data[i:i + n, 4:]})
"""
DOCOPT = "from docopt import docopt\n{} = docopt(__doc__)\n"
CONFIG = "import configparser\ncfg = configparser.ConfigParser()\ncfg.read('train.ini')\n"
EITHER = """\
try:
    from ConfigParser import SafeConfigParser
except ImportError:
    from configparser import SafeConfigParser
cfg = SafeConfigParser()
cfg.read('train.ini')
"""
JSON = "import json\ncfg = json.load(open('train.json'))\n"
YAML = "import yaml\nwith open('train.yml') as file:\n    cfg = yaml.safe_load(file)\n"


@pytest.mark.parametrize(
    ("head", "read"),
    [
        (DOCOPT.format("args"), "int(args['--batch_size'])"),
        (DOCOPT.format("args"), "int(args['--batch-size'])"),
        (CONFIG, "cfg.getint('train', 'batch_size')"),
        (CONFIG, "cfg.getint('train', 'batch_size', fallback=64)"),
        (CONFIG, "int(cfg.get('train', 'batch_size'))"),
        (CONFIG, "int(cfg['train']['batch_size'])"),
        (CONFIG, "cfg['train'].getint('batch_size', 64)"),
        (EITHER, "cfg.getint('train', 'batch_size')"),
        (JSON, "cfg.get('batch_size')"),
        (JSON, "cfg.get('batch_size', 64)"),
        (JSON, "cfg['train'].get('batch_size', 64)"),
        (YAML, "cfg['train']['batch_size']"),
        (YAML, "int(cfg.get('batch_size', 64))"),
    ],
)
def test_settings(head: str, read: str) -> None:
    assert scaled(GRAPH + head + f"n = {read}\n" + LOOP) == [f"n = {read} * num_gpus"]


FLAGS = "tf.app.flags.DEFINE_integer('batch_size', 64, '')\nFLAGS = tf.app.flags.FLAGS\n"
COPIED = """\
from collections import namedtuple
hps_dict = {}
for key, val in FLAGS.__flags.items():
    if key in ['batch_size', 'lr']:
        hps_dict[key] = val
hps = namedtuple('HParams', hps_dict.keys())(**hps_dict)
"""
PARSED = (
    "import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('--batch_size', type=int, default=64)\n"
)


def below(settings: str) -> str:
    """The graph below settings, which say how many GPUs it is built for."""
    return GRAPH.replace("X = tf", settings + "X = tf", 1)


@pytest.mark.parametrize(
    "head",
    [
        FLAGS + COPIED,
        FLAGS + COPIED.replace("FLAGS.__flags.items()", "FLAGS.__flags.iteritems()"),
        FLAGS + "hps = Config(**FLAGS.flag_values_dict())\n",
        FLAGS + "hps = make_config(FLAGS)\n",
        PARSED + "hps = make_config(parser.parse_args())\n",
    ],
)
def test_flags_that_are_copied_as_a_whole(head: str) -> None:
    text = "from config import Config, make_config\n" + below(head) + "n = hps.batch_size\n" + LOOP
    gpus = "FLAGS.num_gpus" if FLAGS in head else "num_gpus"
    assert f"n = hps.batch_size * {gpus}" in scaled(text)
    other = text.replace("'batch_size', 64", "'rows', 64").replace("--batch_size", "--rows")
    assert not any(line.startswith("n = ") for line in scaled(other))


def test_the_default_stays_as_it_is() -> None:
    text = converted(GRAPH + JSON + "BATCH_SIZE = 64\nn = cfg.get('batch_size', BATCH_SIZE)\n" + LOOP)
    assert "\nBATCH_SIZE = 64\nn = cfg.get('batch_size', BATCH_SIZE) * NUM_GPUS\n" in text


@pytest.mark.parametrize(
    ("head", "read"),
    [
        (JSON, "cfg.get('size')"),
        (JSON, "cfg.get('num_batches')"),
        (CONFIG, "cfg.getint('batch_size', 'rows')"),
        ("import requests\ncfg = requests.Session()\n", "cfg.get('batch_size')"),
    ],
)
def test_other_entries(head: str, read: str) -> None:
    assert codes(GRAPH + head + f"n = {read}\n" + LOOP) == ["TMG303"]


OPTIONS = """\
{head}
parser = {parser}
{group}.add_option('-b', '--batch_size', dest='{name}', type='int', default=64)
{target} = parser.parse_args(){rest}
n = {read}
"""


@pytest.mark.parametrize("name", ["batch_size", "rows"])
@pytest.mark.parametrize(
    ("target", "rest", "read"),
    [
        ("(options, args)", "", "options.{}"),
        ("options, _", "", "options.{}"),
        ("options", "[0]", "options.{}"),
        ("options", "[0]", "vars(options)['{}']"),
    ],
)
@pytest.mark.parametrize(
    ("head", "parser"),
    [
        ("from optparse import OptionParser", "OptionParser()"),
        ("import optparse", "optparse.OptionParser(usage='train')"),
    ],
)
def test_options(head: str, parser: str, target: str, rest: str, read: str, name: str) -> None:
    read = read.format(name)
    made = OPTIONS.format(head=head, parser=parser, group="parser", name=name, target=target, rest=rest, read=read)
    text = converted(below(made) + LOOP)
    assert f"n = {read} * num_gpus\n" in text
    assert "\nparser.add_option('--num_gpus', type=int, default=num_gpus, help='number of GPUs to train on')\n" in text
    assert "\nnum_gpus = " + ("options.num_gpus" if "vars" not in read else "vars(options).pop('num_gpus')") in text


def test_a_group_of_options() -> None:
    head = "import optparse\n"
    parser = "optparse.OptionParser()\ngroup = optparse.OptionGroup(parser, 'Training')"
    made = OPTIONS.format(
        head=head, parser=parser, group="group", name="rows", target="options, args", rest="", read="options.rows"
    )
    assert "group.add_option('--num_gpus', type=int" in converted(below(made) + LOOP)


ENTRY = "n = cfg['batch_size']\n"
GLOBAL = "n = cfg['batch_size'] * num_gpus"
LIMIT = "if cfg['batch_size'] > limit:\n    "


@pytest.mark.parametrize(
    "again",
    [
        LIMIT + "cfg.update({'batch_size': limit})\n",
        LIMIT + "cfg.update(batch_size=limit)\n",
        LIMIT + "cfg['batch_size'] = limit\n",
        "cfg['batch_size'] = min(cfg['batch_size'], limit)\n",
        "cfg['batch_size'] = int(cfg['batch_size'])\n",
        "cfg['batch_size'] = cfg['batch_size'] or 64\n",
        "cfg['batch_size'] *= 2\n",
        "if limit < 100:\n    cfg['batch_size'] = 8\n",
        "cfg.setdefault('batch_size', 64)\n",
    ],
)
def test_an_entry_that_the_script_sets_again_is_scaled_once(again: str) -> None:
    """The entry stays the size of one tower, also in the condition; it is scaled where the batches are made."""
    assert scaled(GRAPH + JSON + "limit = data.shape[0]\n" + again + ENTRY + LOOP) == [GLOBAL]


def test_an_entry_is_scaled_once_that_a_function_sets_again() -> None:
    fit = "def fit(held, limit):\n    if held['batch_size'] > limit:\n        held['batch_size'] = limit\n\n\n"
    assert scaled(GRAPH + JSON + fit + "fit(cfg, len(data))\n" + ENTRY + LOOP) == [GLOBAL]


@pytest.mark.parametrize(
    ("above", "read"),
    [
        ("    cfg['rows'] = cfg['batch_size']\n", "cfg['batch_size'] * num_gpus"),
        ("    cfg.update({'rows': 10})\n", "cfg['batch_size'] * num_gpus"),
    ],
)
def test_other_entries_change_nothing(above: str, read: str) -> None:
    lines = scaled(GRAPH + JSON + "limit = len(data)\nif cfg['batch_size'] > limit:\n" + above + ENTRY + LOOP)
    assert "if (cfg['batch_size'] * num_gpus) > limit:" in lines and f"n = {read}" in lines


def test_a_condition_on_a_copy_of_the_entry_is_refused() -> None:
    """The copy is the size of all towers, the entry that of one."""
    again = ENTRY + "if n > len(data):\n    cfg['batch_size'] = len(data)\n" + ENTRY
    assert codes(GRAPH + JSON + again + LOOP) == ["TMG279"]
