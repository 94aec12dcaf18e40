"""Devices that the model names itself."""

from __future__ import annotations

import pytest

from tests.scripts import INPUTS, MODEL, STEP, TRAINING, body, codes

LINE = "prediction = tf.layers.dense(X, 1)\n"


def placed(device: str, around: str = LINE) -> str:
    """A script with a part of its model, or all of it, on a device."""
    block = f"with tf.device({device}):\n" + "".join(f"    {line}\n" for line in around.splitlines())
    return (INPUTS + MODEL + STEP).replace(around, block) + TRAINING


@pytest.mark.parametrize(
    ("device", "becomes", "found"),
    [
        ("'/gpu:0'", "''", []),
        ("'/gpu:1'", "''", []),
        ("'/device:GPU:0'", "''", []),
        ("device_name_or_function='gpu:0'", "device_name_or_function=''", []),
        ("'/gpu:%d' % chosen()", "''", []),
        ("'/gpu:{}'.format(chosen())", "''", []),
        ("'/cpu:0'", "'/cpu:0'", []),
        ("''", "''", []),
        ("chosen()", "chosen()", ["TMG314"]),
        ("'/gpu:0' if fast() else '/cpu:0'", "'/gpu:0' if fast() else '/cpu:0'", ["TMG314"]),
    ],
)
def test_devices_inside_the_towers(device: str, becomes: str, found: list[str]) -> None:
    text = placed(device)
    assert f"        with tf.device({becomes}):" in body(text)
    assert codes(text) == found


def test_a_name_for_the_device() -> None:
    assert "        with tf.device(''):" in body("DEVICE = '/gpu:0'\n" + placed("DEVICE"))


def test_devices_around_the_towers_stay() -> None:
    """The tower's device is inside of them, and counts."""
    text = placed("'/gpu:0'", MODEL + STEP)
    assert "with tf.device('/gpu:0'):" in body(text) and codes(text) == []
