"""Models of Sonnet 1 and tflearn in a session: layers that the rules know, and layers that stay unfollowed."""

from __future__ import annotations

import ast

import pytest

from converter.analysis import read_facts
from converter.analysis.effects import EffectKind
from converter.analysis.values import Constant
from converter.options import Options
from tests.scripts import INPUTS, STEP, TRAINING, codes, converted

LOSS = "loss = tf.reduce_mean(tf.square(prediction - Y))\n"


def script(package: str, model: str) -> str:
    return package + "\n" + INPUTS + model + LOSS + STEP + TRAINING


OWN = """\
class Net(snt.AbstractModule):
    def __init__(self, units, name='net'):
        super(Net, self).__init__(name=name)
        self.units = units

    def {method}(self, given):
        h = snt.BatchFlatten()(given)
        return snt.Linear(1)(tf.nn.relu(snt.Linear(self.units)(h)))


prediction = Net(8)({given})
"""
SONNET = "import sonnet as snt"


@pytest.mark.parametrize(
    ("package", "model"),
    [
        (SONNET, "prediction = snt.Linear(1)(X)\n"),
        ("from sonnet import Linear", "layer = Linear(output_size=1)\nprediction = layer(inputs=X)\n"),
        (SONNET, "prediction = snt.nets.MLP([8, 1])(X)\n"),
        (SONNET, "prediction = snt.Linear(1)(snt.BatchFlatten()(snt.LayerNorm()(X)))\n"),
        (SONNET, OWN.format(method="_build", given="X")),
        ("import tflearn", "prediction = tflearn.fully_connected(X, 1)\n"),
        ("from tflearn.layers.core import fully_connected", "prediction = fully_connected(X, 1, 'relu')\n"),
        (
            "import tflearn",
            "h = tflearn.layers.conv.conv_1d(tf.expand_dims(X, 2), 4, 3)\n"
            "prediction = tflearn.fully_connected(tflearn.flatten(h), 1)\n",
        ),
    ],
)
def test_models_are_looped_over(package: str, model: str) -> None:
    text = converted(script(package, model))
    assert "tf.variable_scope(tf.get_variable_scope(), reuse=gpu > 0), \\\n" in text
    assert "tower_collections.tower(gpu):" in text  # each call adds itself to a collection of its package


@pytest.mark.parametrize(
    ("package", "model"),
    [
        (SONNET, "prediction = snt.Linear(1)(snt.BatchNorm(axis=[1])(X, is_training=True))\n"),
        (SONNET, "prediction = snt.Linear(1)(snt.BatchNorm([0])(X, is_training=True))\n"),
        (SONNET, "prediction = snt.Linear(1)(snt.BatchNorm(update_ops_collection='own')(X, is_training=True))\n"),
        (SONNET, "prediction = snt.Linear(1)(snt.BatchApply(snt.Linear(4))(X))\n"),
        (SONNET, OWN.format(method="build", given="X")),
        (SONNET, OWN.format(method="_build", given="X").replace("snt.AbstractModule", "Unknown")),
        ("import tflearn", "prediction = tflearn.fully_connected(X, 1, regularizer='L2')\n"),
        ("import tflearn", "prediction = tflearn.fully_connected(X, 1, 'relu', True, 'xavier', 'zeros', 'L2')\n"),
        ("import tflearn", "prediction = tflearn.fully_connected(tflearn.batch_normalization(X), 1)\n"),
        ("import tflearn", "prediction = tflearn.fully_connected(tflearn.dropout(X, 0.5), 1)\n"),
    ],
)
def test_layers_that_towers_cannot_repeat_are_not_followed(package: str, model: str) -> None:
    assert "TMG241" in codes(script(package, model))


@pytest.mark.parametrize(
    "collection", ["", "update_ops_collection=None", "update_ops_collection=tf.GraphKeys.UPDATE_OPS"]
)
def test_averages_of_batches_are_the_first_towers(collection: str) -> None:
    text = converted(script(SONNET, f"prediction = snt.Linear(1)(snt.BatchNorm({collection})(X, is_training=True))\n"))
    assert "tower_collections.tower(gpu), first_tower_updates(gpu):" in text


@pytest.mark.parametrize(
    ("told", "training"),
    [
        ("True", True),
        ("False", True),  # it normalises with the statistics of the batch all the same
        ("False, test_local_stats=False", False),
    ],
)
def test_whose_statistics_a_batch_norm_takes(told: str, training: bool) -> None:
    text = script(SONNET, f"prediction = snt.Linear(1)(snt.BatchNorm()(X, is_training={told}))\n")
    (norm,) = read_facts("train.py", ast.parse(text), Options()).effects_of(EffectKind.BATCH_NORM)
    assert isinstance(norm.value, Constant) and norm.value.value is training


def test_a_layer_over_the_batch_is_not_taken_for_a_mean() -> None:
    assert codes(script(SONNET, "prediction = snt.Linear(1)(tf.transpose(X))\n")) == ["TMG302"]
