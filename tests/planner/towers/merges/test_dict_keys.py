"""Dicts that the towers make and of which the script reads the keys: what lies under them needs no merge."""

from __future__ import annotations

import pytest

from tests.scripts import INPUTS, STEP, TRAINING, codes, converted

MODEL = """\
def net(x):
    points = {{'hidden': tf.layers.dense(x, 8)}}
    points['largest'] = tf.reduce_max(points['hidden'])
    return tf.layers.dense(points['hidden'], 1) / points['largest'], points


out, points = net(X)
loss = tf.reduce_mean(tf.square(out - Y))
{read}
"""


def script(read: str) -> str:
    return INPUTS + MODEL.format(read=read) + STEP + TRAINING


@pytest.mark.parametrize(
    "read",
    [
        "for key in points:\n    print(key)",
        "for key in sorted(points.keys()):\n    log(key)",
        "names = [key + ':' for key in points]",
        "if 'hidden' in points:\n    log('hidden')",
        "for key in list(points):\n    log(key)",
    ],
)
def test_keys_alone(read: str) -> None:
    assert codes(script(read)) == ["TMG302"] and "tower_points" not in converted(script(read))


@pytest.mark.parametrize(
    "read",
    ["for key, value in points.items():\n    log(value)", "for key in points:\n    log(points[key])", "log(points)"],
)
def test_what_lies_under_the_keys_is_read(read: str) -> None:
    assert set(codes(script(read))) <= {"TMG208", "TMG210"} and codes(script(read))


SLIM = """\
slim = tf.contrib.slim


def net(x):
    with tf.variable_scope('net') as sc:
        with slim.arg_scope([slim.fully_connected], outputs_collections='points'):
            x = slim.fully_connected(x, 8, scope='one')
            return slim.fully_connected(x, 1, scope='two'), slim.utils.convert_collection_to_dict('points')


out, points = net(X)
loss = tf.reduce_mean(tf.square(out - Y)) + 0.1 * tf.reduce_mean(points['net/one'])
{read}
"""


@pytest.mark.parametrize(
    ("read", "refused"),
    [
        ("for key in points:\n    print(key)", False),
        ("for key in points:\n    tf.logging.info(key)", False),
        ("for key in points:\n    keep(key)", True),
        ("if 'net/one' in points:\n    keep(1)", True),
        ("names = [key for key in points]", True),
    ],
)
def test_names_of_layers_as_keys_may_only_be_shown(read: str, refused: bool) -> None:
    """Some of them begin with the tower's scope in the last tower."""
    found = codes(INPUTS + SLIM.format(read=read) + STEP + TRAINING)
    assert ("TMG208" in found) is refused
