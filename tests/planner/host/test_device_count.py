"""ConfigProto's device_count, in each way to write its dict: fewer GPUs than towers make towers share one."""

from __future__ import annotations

import pytest

from tests.scripts import INPUTS, MODEL, STEP, TRAINING, body, codes, converted

SESSION = TRAINING.replace("tf.Session()", "tf.Session(config=config)")


def script(config: str) -> str:
    return INPUTS + MODEL + STEP + config + "\n" + SESSION


@pytest.mark.parametrize(
    ("given", "made"),
    [
        ("config = tf.ConfigProto(device_count=dict(GPU=1))", "device_count=dict(GPU=num_gpus)"),
        ("config = tf.ConfigProto(device_count=dict(CPU=4, GPU=1))", "device_count=dict(CPU=4, GPU=num_gpus)"),
        ("config = tf.ConfigProto(device_count=dict(GPU=gpus()))", "dict(GPU=num_gpus if gpus() else 0)"),
        ("config = tf.ConfigProto()\nconfig.device_count.update({'GPU': 1})", "update({'GPU': num_gpus})"),
        ("config = tf.ConfigProto()\nconfig.device_count.update(GPU=1)", "device_count.update(GPU=num_gpus)"),
    ],
)
def test_it_counts_the_towers(given: str, made: str) -> None:
    assert any(made in line for line in body(script(given))), body(script(given))


@pytest.mark.parametrize(
    "given",
    [
        "config = tf.ConfigProto(device_count=dict(CPU=1))",
        "config = tf.ConfigProto(device_count=dict(GPU=0))",
        "config = tf.ConfigProto(device_count=dict(GPU=4))",
        "config = tf.ConfigProto()\nsettings.update(GPU=1)",
        "config = tf.ConfigProto()\nsettings.update({'GPU': 1})",
    ],
)
def test_other_dicts_stay(given: str) -> None:
    text = script(given)
    assert given.splitlines()[-1].partition("(")[2].rstrip(")") in "\n".join(body(text)) and codes(text) == []


@pytest.mark.parametrize("given", ["{'CUDA_VISIBLE_DEVICES': '3'}", "dict(CUDA_VISIBLE_DEVICES='3')"])
def test_the_environment_is_updated_by_a_dict(given: str) -> None:
    text = f"import os\nos.environ.update({given})\n" + INPUTS + MODEL + STEP + TRAINING
    assert codes(text) == ["TMG332"] and given.replace("'3'", "'0,1'") in converted(text)
