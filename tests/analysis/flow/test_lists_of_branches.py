"""Lists that one branch makes anew, where there was another one before."""

from __future__ import annotations

import pytest

from converter.analysis.flow.joined import choices
from converter.analysis.values import Input, Sequence, Tensor
from tests.scripts import case_of

SCRIPT = """\
import argparse

import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument('--wide', action='store_true')
args = parser.parse_args()


class Net(object):
    def __init__(self, x):
        self.layers = [tf.nn.relu(x), tf.nn.elu(x)]
        if args.wide:
            {made}
        self.top = self.layers[0]


x = tf.placeholder(tf.float32, [None, 4])
layers = Net(x).layers
"""
MADE = [
    "self.layers = []\n            self.layers.append(tf.tanh(x))\n            self.layers.append(tf.sin(x))",
    "made = [tf.tanh(x)]\n            made.append(tf.sin(x))\n            self.layers = made",
    "self.layers = [tf.cos(x), x]\n            self.layers[0], self.layers[1] = tf.tanh(x), tf.sin(x)",
    "self.layers = []\n            for name in (tf.tanh, tf.sin):\n                self.layers.append(name(x))",
]


@pytest.mark.parametrize("made", MADE)
def test_a_list_that_a_branch_makes_is_joined_as_it_left_it(made: str) -> None:
    facts = case_of(SCRIPT.replace("{made}", made)).facts
    held = [a.value for a in facts.accesses if a.write and a.place.key == "layers" and a.place.kind == "name"][-1]
    assert isinstance(held, Sequence)
    of_input = [t.op for e in held.elements for t in choices(e) if isinstance(t, Tensor) and not isinstance(t, Input)]
    assert {"tanh", "sin"} < set(of_input)
