"""Methods of texts: known ones are computed, those of flags and files are not."""

from __future__ import annotations

import pytest

from tests.analysis.readings import shown, value_of
from tests.scripts import INPUTS, MODEL, STEP, TRAINING, codes

FLAG = "tf.app.flags.DEFINE_string('net', 'big_net', '')\nname = tf.app.flags.FLAGS.net\n"


@pytest.mark.parametrize(
    ("expression", "wanted"),
    [
        ("'net_train'.split('_')[1]", "train"),
        ("'a/b'.partition('/')", ["a", "/", "b"]),
        ("'Net'.lower() == 'net'", True),
        ("'net_train'.startswith('net_')", True),
        ("'a-b'.replace('-', '_').upper()", "A_B"),
        ("'net'.split(name)", "host split"),
        ("name.split('_')[0]", "host []"),
        ("name.startswith('big')", "host startswith"),
        ("open('name.txt').read().strip()", "host strip"),
        ("'net'.split(*name)", "host split"),
        ("'net'.split(3)", "host split"),  # fails when it runs
    ],
)
def test_methods_of_texts(expression: str, wanted: object) -> None:
    assert shown(value_of(f"{FLAG}result = {expression}")) == wanted


FACTORY = """\
class Trained(object):
    def __init__(self):
        self.out = tf.layers.dense(X, 1)


class Tested(object):
    def __init__(self):
        self.kept = tf.placeholder(tf.float32, [None, 4])
        self.out = tf.layers.dense(self.kept, 1)


def make(name):
    if name.split('_')[1] == 'test':
        return Tested()
    elif name.split('_')[1] == 'train':
        return Trained()
    raise KeyError(name)


prediction = make(NAME).out
"""


@pytest.mark.parametrize(("name", "runs"), [("'net_train'", True), ("tf.app.flags.FLAGS.net", False)])
def test_a_factory_makes_the_class_that_its_text_names(name: str, runs: bool) -> None:
    model = FACTORY.replace("NAME", name) + MODEL.replace("prediction = tf.layers.dense(X, 1)\n", "")
    flag = "tf.app.flags.DEFINE_string('net', 'a_train', '')\n"
    assert (codes(INPUTS + flag + model + STEP + TRAINING) == []) is runs
